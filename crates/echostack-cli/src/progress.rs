//! A progress bar for long work, on a terminal only.

use std::io::IsTerminal;
use std::sync::Mutex;

use echostack::{Control, Stage};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shows how far training is.
pub(crate) struct Bar {
    bar: ProgressBar,
    stage: Mutex<Option<Stage>>,
}

impl Bar {
    pub(crate) fn new(quiet: bool) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{msg:18} {bar:30} {pos}/{len}") {
            bar.set_style(style);
        }
        Self { bar, stage: Mutex::new(None) }
    }

    /// Shows how far work is that is no stage of training.
    pub(crate) fn show(&self, what: &str, done: usize, total: usize) {
        if !self.bar.is_hidden() {
            self.bar.set_message(what.to_string());
            self.bar.set_length(total as u64);
            self.bar.set_position(done as u64);
        }
    }

    /// Prints a line of its own to standard error.
    pub(crate) fn say(&self, line: &str) {
        self.bar.suspend(|| eprintln!("{line}"));
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Control for Bar {
    fn progress(&self, stage: Stage, done: usize, total: usize) {
        if self.bar.is_hidden() {
            return;
        }
        if let Ok(mut shown) = self.stage.lock()
            && *shown != Some(stage)
        {
            *shown = Some(stage);
            self.bar.set_message(match stage {
                Stage::Collect => "running the words",
                Stage::Test => "testing",
                Stage::Prove => "proving",
                _ => "training",
            });
        }
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
    }
}
