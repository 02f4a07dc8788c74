//! The progress of long-running commands, and their time limit. On a terminal, progress is a bar; elsewhere, it is a
//! line every two seconds.

use std::io::IsTerminal;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use echostack::Control;
use echostack::control::{Deadline, Stage};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::{note, percent};

/// The time between two lines of progress.
const PERIOD: Duration = Duration::from_secs(2);

/// What is shown while a program is asked about texts. There is no total to compare with.
const ASKING: &str = "asking";
/// What is shown while a proof is searched for.
const PROVING: &str = "proving";

/// The progress of a command.
pub(crate) struct Bar {
    bar: ProgressBar,
    lines: Option<Lines>,
}

impl Bar {
    pub(crate) fn new(quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let target = if terminal && !quiet { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{msg:18} {bar:30} {pos}/{len}") {
            bar.set_style(style);
        }
        Self { bar, lines: (!terminal && !quiet).then(Lines::start) }
    }

    /// Shows what is being done, if it reports no progress.
    pub(crate) fn begin(&self, what: &str) {
        self.update(what, (0, 0), false);
    }

    /// Shows the progress of work that is not a [`Stage`] of training.
    pub(crate) fn show(&self, what: &str, done: usize, total: usize) {
        self.update(what, (done, total), false);
    }

    fn update(&self, what: &str, (done, total): (usize, usize), grows: bool) {
        if let Some(lines) = &self.lines {
            lines.update(what, (done, total), grows);
        } else if !self.bar.is_hidden() {
            if what == ASKING {
                self.bar.set_message(format!("{what}, {:.0}/s", self.bar.per_sec()));
            } else if self.bar.message() != what {
                self.bar.set_message(what.to_string());
            }
            self.bar.set_length(total as u64);
            self.bar.set_position(done as u64);
        }
    }

    /// Prints a line to standard error, above the bar.
    pub(crate) fn say(&self, line: &str) {
        self.bar.suspend(|| note(line));
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
        if let Some(lines) = &self.lines {
            lines.shared.set(State::Idle);
        }
    }
}

impl Control for Bar {
    fn progress(&self, stage: Stage, done: usize, total: usize) {
        let what = match stage {
            Stage::Collect => "running words",
            Stage::Test => "testing",
            Stage::Explore => "exploring",
            Stage::Prove => PROVING,
            Stage::Check => "checking the proof",
            Stage::Query => ASKING,
            _ => "training",
        };
        self.update(what, (done, total), matches!(stage, Stage::Explore | Stage::Prove | Stage::Query));
    }
}

/// A thread that prints a line of progress whenever [`PERIOD`] has passed, also if nothing was reported meanwhile.
struct Lines {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
enum State {
    /// Work has begun, but has not yet reported anything.
    #[default]
    Silent,
    Working(Work),
    /// There is nothing to report.
    Idle,
    /// The command has ended.
    Ended,
}

struct Work {
    what: String,
    done: usize,
    total: usize,
    /// Whether the total grows while the work is done, so that it says nothing about the time that is left.
    grows: bool,
    since: Instant,
}

impl Shared {
    fn set(&self, state: State) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
        self.changed.notify_all();
    }

    /// Prints lines until the command ends.
    fn print(&self) {
        let start = Instant::now();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let ended = |state: &mut State| !matches!(state, State::Ended);
            let waited = self.changed.wait_timeout_while(state, PERIOD, ended);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            let seconds = start.elapsed().as_secs();
            match &*state {
                State::Ended => return,
                State::Idle => {}
                State::Silent => note(format_args!("progress: preparing; {seconds} s so far")),
                State::Working(work) => {
                    note(format_args!("progress: {}; {seconds} s so far{}", work.tell(), work.left()));
                }
            }
        }
    }
}

impl Work {
    fn tell(&self) -> String {
        match self {
            Self { what, done, since, .. } if what == ASKING => {
                format!("{done} queries, {:.0} per second", *done as f64 / since.elapsed().as_secs_f64().max(1e-3))
            }
            Self { what, total: 0, .. } => what.clone(),
            // The next work has not reported anything yet.
            Self { what, done, total, .. } if done >= total => what.clone(),
            // The total grows, so this is the fraction of what is known to be necessary.
            Self { what, done, total, .. } if what == PROVING => {
                format!("{} % of the proof done", percent(*done, *total))
            }
            Self { what, done, total, grows: true, .. } => format!("{what}, {done} of at least {total}"),
            Self { what, done, total, .. } => format!("{what}, {done} of {total}"),
        }
    }

    /// Returns an estimate of the time that is left, if there is one.
    fn left(&self) -> String {
        if self.grows || self.done == 0 || self.done >= self.total {
            return String::new();
        }
        let each = self.since.elapsed().as_secs_f64() / self.done as f64;
        format!(", about {:.0} s left for this step", each * (self.total - self.done) as f64)
    }
}

impl Lines {
    fn start() -> Self {
        let shared = Arc::new(Shared::default());
        let thread = std::thread::spawn({
            let shared = shared.clone();
            move || shared.print()
        });
        Self { shared, thread: Some(thread) }
    }

    fn update(&self, what: &str, (done, total): (usize, usize), grows: bool) {
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *state {
            // Much less is done if the same work begins again, and a little less if threads report out of order.
            State::Working(work) if work.what == what && done >= work.done / 2 => {
                (work.done, work.total) = (done, total);
            }
            _ => *state = State::Working(Work { what: what.to_string(), done, total, grows, since: Instant::now() }),
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.shared.set(State::Ended);
        _ = self.thread.take().map(JoinHandle::join);
    }
}

/// The time limit of a command.
#[derive(clap::Args, Clone, Copy)]
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
