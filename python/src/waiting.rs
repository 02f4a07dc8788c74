//! Long calls without the interpreter's lock: progress goes to a Python function, and Ctrl-C stops them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use echostack::{Control, Stage};
use pyo3::prelude::*;

/// How often the interpreter is asked and told.
const PAUSE: Duration = Duration::from_millis(100);

/// The control of one call.
pub(crate) struct Waiting {
    progress: Option<Py<PyAny>>,
    last: Mutex<Instant>,
    stopped: AtomicBool,
}

impl Waiting {
    pub(crate) fn new(progress: Option<Py<PyAny>>) -> Self {
        Self { progress, last: Mutex::new(Instant::now()), stopped: AtomicBool::new(false) }
    }

    /// Whether the pause is over; then it begins anew.
    fn is_time(&self) -> bool {
        let Ok(mut last) = self.last.try_lock() else { return false };
        let over = last.elapsed() >= PAUSE;
        if over {
            *last = Instant::now();
        }
        over
    }

    fn tell(&self, stage: Stage, done: usize, total: usize) {
        if self.stopped.load(Ordering::Relaxed) || !self.is_time() {
            return;
        }
        Python::attach(|py| {
            let told = self.progress.as_ref().map_or(Ok(()), |progress| {
                let name = format!("{stage:?}").to_lowercase();
                progress.call1(py, (name, done, total)).map(|_| ())
            });
            // An interrupt or an error in the function stops the call.
            if told.is_err() || py.check_signals().is_err() {
                self.stopped.store(true, Ordering::Relaxed);
            }
        });
    }
}

impl Control for Waiting {
    fn progress(&self, stage: Stage, done: usize, total: usize) {
        self.tell(stage, done, total);
    }

    fn cancelled(&self) -> bool {
        if !self.stopped.load(Ordering::Relaxed) && self.is_time() {
            let interrupted = Python::attach(|py| py.check_signals().is_err());
            if interrupted {
                self.stopped.store(true, Ordering::Relaxed);
            }
        }
        self.stopped.load(Ordering::Relaxed)
    }
}
