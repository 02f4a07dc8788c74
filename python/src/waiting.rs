//! Runs long calls without holding the interpreter's lock. Progress is reported to a Python function, and Ctrl-C stops
//! the call.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use echostack::Control;
use echostack::control::Stage;
use pyo3::prelude::*;

use crate::errors::Kind;
use crate::threads::pool;

/// The interval at which the interpreter is checked for signals, and progress is reported.
const PAUSE: Duration = Duration::from_millis(100);

/// The control of one call, with its progress function and time limit.
pub(crate) struct Waiting {
    progress: Option<Py<PyAny>>,
    last: Mutex<Instant>,
    stopped: AtomicBool,
    /// The time at which the call has to end, and the limit in seconds.
    until: Option<(Instant, f64)>,
}

impl Waiting {
    pub(crate) fn new(progress: Option<Py<PyAny>>) -> Self {
        Self { progress, last: Mutex::new(Instant::now()), stopped: AtomicBool::new(false), until: None }
    }

    /// Creates the control of a call with a time limit in seconds.
    pub(crate) fn within(progress: Option<Py<PyAny>>, time_limit: Option<f64>) -> PyResult<Self> {
        let until = |seconds: f64| {
            let time = Duration::try_from_secs_f64(seconds).map_err(|_| {
                Kind::Parameter.error(format!("time_limit is {seconds}, but must be a number of at least 0"))
            })?;
            Ok::<_, PyErr>(Instant::now().checked_add(time).map(|until| (until, seconds)))
        };
        let until = time_limit.map(until).transpose()?.flatten();
        Ok(Self { until, ..Self::new(progress) })
    }

    /// Ends the call as soon as possible.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.until.is_some_and(|(until, _)| Instant::now() >= until)
    }

    /// Returns the result of a call. If the call failed because its time was up, the error says so.
    pub(crate) fn timely<R>(&self, done: PyResult<R>) -> PyResult<R> {
        match (done, self.until) {
            (Err(_), Some((_, seconds))) if self.is_over() && !self.stopped.load(Ordering::Relaxed) => {
                Err(Kind::Proof.error(format!("the time is up: nothing was proved in {seconds} seconds")))
            }
            (done, _) => done,
        }
    }

    /// Returns whether the interval is over. If so, starts the next interval.
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
            // An exception in the function stops the call.
            if told.is_err() {
                self.stopped.store(true, Ordering::Relaxed);
            }
        });
    }

    /// Releases the interpreter's lock and runs `f` on the process's thread pool, while the calling thread checks for
    /// Ctrl-C, which is delivered only to the interpreter's main thread.
    pub(crate) fn work<R: Send>(&self, py: Python<'_>, f: impl FnOnce() -> R + Send) -> R {
        py.detach(|| {
            let Some(pool) = pool() else { return f() };
            let (sender, receiver) = mpsc::channel();
            pool.in_place_scope(|scope| {
                scope.spawn(move |_| sender.send(f()).unwrap_or_default());
                loop {
                    match receiver.recv_timeout(PAUSE) {
                        Ok(done) => return Some(done),
                        Err(RecvTimeoutError::Disconnected) => return None,
                        Err(RecvTimeoutError::Timeout) if Python::attach(|py| py.check_signals().is_err()) => {
                            self.stopped.store(true, Ordering::Relaxed);
                        }
                        Err(RecvTimeoutError::Timeout) => {}
                    }
                }
            })
            .expect("work that ends without a result has panicked, and the scope propagates the panic")
        })
    }
}

impl Control for Waiting {
    fn progress(&self, stage: Stage, done: usize, total: usize) {
        self.tell(stage, done, total);
    }

    fn cancelled(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) || self.is_over()
    }
}
