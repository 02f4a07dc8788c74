//! Inferring a language from examples and a Python function.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use echostack_infer::program::{Failure, Program, Reply};
use echostack_infer::{Asking, Ending, InferError, Proved, Settings, Stop};
use pyo3::prelude::*;

use crate::classes::Language;
use crate::errors::{self, Kind};
use crate::waiting::Waiting;

/// A Python function that says whether a text is valid. Its first exception ends the run.
struct Function<'a> {
    called: Py<PyAny>,
    exception: Mutex<Option<PyErr>>,
    waiting: &'a Waiting,
}

impl Function<'_> {
    fn exception(&self) -> std::sync::MutexGuard<'_, Option<PyErr>> {
        self.exception.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Program for Function<'_> {
    fn ask(&self, text: &str) -> Reply {
        if self.exception().is_some() {
            return Reply::Failed(Failure::Crash);
        }
        let answer = Python::attach(|py| self.called.bind(py).call1((text,))?.is_truthy());
        match answer {
            Ok(true) => Reply::Yes,
            Ok(false) => Reply::No,
            Err(exception) => {
                self.exception().get_or_insert(exception);
                self.waiting.stop();
                Reply::Failed(Failure::Crash)
            }
        }
    }

    fn name(&self) -> String {
        let name = Python::attach(|py| {
            let name = self.called.bind(py).getattr("__name__").and_then(|name| name.extract::<String>());
            name.ok()
        });
        name.unwrap_or_else(|| "a function".to_string())
    }
}

/// Infers a language. Returns the language, if there is one; the report; and the reason why the run did not settle, if
/// it did not.
#[pyfunction]
#[pyo3(signature = (examples, oracle, *, name, tests, rounds, hold_out, queries, time_limit, seed, progress=None))]
pub(crate) fn infer(
    py: Python<'_>,
    examples: Vec<String>,
    oracle: Py<PyAny>,
    name: &str,
    tests: usize,
    rounds: usize,
    hold_out: Option<f64>,
    queries: usize,
    time_limit: f64,
    seed: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Option<Language>, String, Option<String>)> {
    let time = Duration::try_from_secs_f64(time_limit).map_err(|_| {
        Kind::Parameter.error(format!("time_limit is {time_limit}, but must be a number of at least 0"))
    })?;
    if let Some(fraction) = hold_out.filter(|fraction| !(0. ..=0.9).contains(fraction)) {
        return Err(Kind::Parameter.error(format!("hold_out is {fraction}, but must be from 0 to 0.9")));
    }
    let asking = Asking { queries, time, ..Asking::default() };
    let settings = Settings { seed, tests, rounds, hold_out, asking, ..Settings::default() };
    let waiting = Waiting::new(progress);
    let function = Function { called: oracle, exception: Mutex::new(None), waiting: &waiting };
    let inferred = waiting.work(py, || echostack_infer::infer(&examples, &function, &settings, &waiting));
    if let Some(exception) = function.exception().take() {
        return Err(exception);
    }
    let inferred = inferred.map_err(|error| match error {
        InferError::Stopped(Stop::Cancelled) => errors::cancelled(),
        InferError::NoExamples | InferError::NoneValid { .. } => Kind::Data.error(error),
        other => Kind::Fit.error(other),
    })?;
    let language = inferred.language().map(|language| language.subject(name)).transpose().map_err(errors::grammar)?;
    let reason = match inferred.ending() {
        Ending::Settled => None,
        Ending::NotSettled(reason) => Some(reason.clone()),
    };
    let report = inferred.report(&function.name(), Proved::NotTried);
    Ok((language.map(Language), report, reason))
}
