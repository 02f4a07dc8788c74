//! Runs long calls without holding the interpreter's lock. Progress is reported to a Python function, and Ctrl-C stops
//! the call.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use echostack::Control;
use echostack::control::Stage;
use echostack::recognize::{Event, Observer};
use pyo3::prelude::*;

use crate::errors::{self, Kind};
use crate::threads::pool;

/// The interval at which the interpreter is checked for signals.
const SIGNAL_PAUSE: Duration = Duration::from_millis(20);
/// The interval at which progress is reported.
const PROGRESS_PAUSE: Duration = Duration::from_millis(100);

/// The control of one call, with its progress function and time limit.
pub(crate) struct Waiting {
    progress: Option<Py<PyAny>>,
    /// The time of the last report of progress or, if the work is done on the calling thread, of the last check for
    /// signals.
    last: Mutex<Instant>,
    stopped: Arc<AtomicBool>,
    /// True if the work is done on the calling thread, which then has to check for signals itself.
    in_turn: bool,
    /// The time at which the call has to end, and the limit in seconds.
    until: Option<(Instant, f64)>,
}

impl Waiting {
    pub(crate) fn new(progress: Option<Py<PyAny>>) -> Self {
        let (last, stopped) = (Mutex::new(Instant::now()), Arc::default());
        Self { progress, last, stopped, in_turn: false, until: None }
    }

    /// Creates the control of a call whose work is done on all threads or, if `in_turn`, on the calling thread.
    pub(crate) fn turns(in_turn: bool) -> Self {
        Self { in_turn, ..Self::new(None) }
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

    /// Returns whether the work is done on the calling thread.
    pub(crate) fn is_in_turn(&self) -> bool {
        self.in_turn
    }

    /// Returns the flag that is set once the call is stopped.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        self.stopped.clone()
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
    fn is_time(&self, pause: Duration) -> bool {
        let Ok(mut last) = self.last.try_lock() else { return false };
        let over = last.elapsed() >= pause;
        if over {
            *last = Instant::now();
        }
        over
    }

    fn tell(&self, stage: Stage, done: usize, total: usize) {
        let Some(progress) = &self.progress else { return };
        if self.stopped.load(Ordering::Relaxed) || !self.is_time(PROGRESS_PAUSE) {
            return;
        }
        let name = format!("{stage:?}").to_lowercase();
        // An exception in the function stops the call.
        if Python::attach(|py| progress.call1(py, (name, done, total)).is_err()) {
            self.stop();
        }
    }

    /// Stops the call if the interpreter has received a signal, such as Ctrl-C. Only the interpreter's main thread
    /// receives signals.
    fn heed_signals(&self) {
        if Python::attach(|py| py.check_signals().is_err()) {
            self.stop();
        }
    }

    /// Releases the interpreter's lock and runs `f`, on the calling thread or on the process's thread pool. In the
    /// second case, the calling thread checks for signals meanwhile.
    pub(crate) fn work<R: Send>(&self, py: Python<'_>, f: impl FnOnce() -> R + Send) -> R {
        py.detach(|| {
            let pool = if self.in_turn { None } else { pool() };
            let Some(pool) = pool else { return f() };
            let (sender, receiver) = mpsc::channel();
            pool.in_place_scope(|scope| {
                scope.spawn(move |_| sender.send(f()).unwrap_or_default());
                loop {
                    match receiver.recv_timeout(SIGNAL_PAUSE) {
                        Ok(done) => return Some(done),
                        Err(RecvTimeoutError::Disconnected) => return None,
                        Err(RecvTimeoutError::Timeout) => self.heed_signals(),
                    }
                }
            })
            .expect("work that ends without a result has panicked, and the scope propagates the panic")
        })
    }

    /// Does what [`Waiting::work`] does, for work that cannot be interrupted. If the call is stopped, its result is not
    /// waited for: the work ends by itself.
    pub(crate) fn leave<R: Send + 'static>(
        &self,
        py: Python<'_>,
        f: impl FnOnce() -> R + Send + 'static,
    ) -> PyResult<Option<R>> {
        py.detach(|| {
            let (sender, receiver) = mpsc::channel();
            let pool = pool();
            std::thread::spawn(move || {
                let done = match pool {
                    Some(pool) => pool.install(f),
                    None => f(),
                };
                sender.send(done).unwrap_or_default();
            });
            loop {
                match receiver.recv_timeout(SIGNAL_PAUSE) {
                    Ok(done) => return Ok(Some(done)),
                    Err(RecvTimeoutError::Disconnected) => return Ok(None),
                    Err(RecvTimeoutError::Timeout) => self.heed_signals(),
                }
                if self.cancelled() {
                    return Err(errors::cancelled());
                }
            }
        })
    }

    /// Does what [`Waiting::work`] does, for work whose result is worthless if the call was stopped.
    pub(crate) fn finish<R: Send + 'static>(&self, py: Python<'_>, f: impl FnOnce() -> R + Send) -> PyResult<R> {
        let done = self.work(py, f);
        if !self.cancelled() {
            return Ok(done);
        }
        std::thread::spawn(move || drop(done)); // freeing many small objects takes a while
        Err(errors::cancelled())
    }
}

impl Control for Waiting {
    fn progress(&self, stage: Stage, done: usize, total: usize) {
        self.tell(stage, done, total);
    }

    fn cancelled(&self) -> bool {
        if self.in_turn && self.is_time(SIGNAL_PAUSE) {
            self.heed_signals();
        }
        self.stopped.load(Ordering::Relaxed) || self.is_over()
    }
}

/// An observer that passes events on, and stops a session when its call is stopped.
#[derive(Clone)]
pub(crate) struct Stopping<'w, W>(pub(crate) &'w Waiting, pub(crate) W);

impl<W: Observer> Observer for Stopping<'_, W> {
    fn event(&mut self, position: u64, event: Event<'_>) {
        self.1.event(position, event);
    }

    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }

    fn reads_margins(&self) -> bool {
        self.1.reads_margins()
    }
}
