//! The progress bar of long-running commands, and their time limit. The bar is shown only on a terminal.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use echostack::Control;
use echostack::control::{Deadline, Stage};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A progress bar.
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

    /// Shows the progress of work that is not a [`Stage`] of training.
    pub(crate) fn show(&self, what: &str, done: usize, total: usize) {
        if !self.bar.is_hidden() {
            self.bar.set_message(what.to_string());
            self.bar.set_length(total as u64);
            self.bar.set_position(done as u64);
        }
    }

    /// Prints a line to standard error, above the bar.
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
                Stage::Collect => "running words",
                Stage::Test => "testing",
                Stage::Prove => "proving",
                _ => "training",
            });
        }
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
    }
}

/// The time limit of a command.
#[derive(clap::Args)]
pub(crate) struct TimeLimit {
    /// Give up after this many seconds
    #[arg(long, value_name = "N")]
    seconds: Option<f64>,
}

impl TimeLimit {
    /// Returns whether a limit is set.
    pub(crate) fn is_set(&self) -> bool {
        self.seconds.is_some()
    }

    /// Runs `work` under the limit. If the time is up, the error says so.
    pub(crate) fn keep<R>(&self, bar: &Bar, work: impl FnOnce(&dyn Control) -> Result<R>) -> Result<R> {
        let Some(seconds) = self.seconds else {
            return work(bar).inspect_err(|_| bar.finish());
        };
        let time = Duration::try_from_secs_f64(seconds);
        let time = time.with_context(|| format!("--seconds is {seconds}, but must be a number of at least 0"))?;
        let deadline = Deadline::new(time, bar);
        let done = work(&deadline);
        if done.is_err() {
            bar.finish();
            if deadline.is_over() {
                bail!("the time is up: nothing was proved in {seconds} seconds");
            }
        }
        done
    }
}
