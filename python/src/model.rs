//! The methods of the Python class `Model`, which machines and tables have in common, and the class `Session`, which
//! reads a word token by token.

use std::sync::{Arc, Mutex, PoisonError};

use echostack::file::{self, FileError, FileLimits};
use echostack::model::ModelSession;
use echostack::recognize::Status;
use echostack::symbol::Input;
use echostack::{Recognizer as _, Session as _};
use echostack_grammar::{Encoding, Subject};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use pyo3_arrow::PyRecordBatch;

use crate::classes::{Machine, Model, Table};
use crate::convert::{self, GivenLimits};
use crate::errors::{self, Kind};
use crate::{arrow, judging};

#[pymethods]
impl Model {
    /// The names of the terminals and of the nonterminals.
    #[getter]
    fn symbols(&self) -> (Vec<String>, Vec<String>) {
        convert::symbols(self.0.alphabet())
    }

    #[getter]
    fn manifest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        convert::manifest(py, self.0.manifest())
    }

    #[pyo3(signature = (words, limits=(None, None), in_turn=false))]
    fn judge<'py>(
        &self,
        py: Python<'py>,
        words: &Bound<'py, PyAny>,
        limits: GivenLimits,
        in_turn: bool,
    ) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        judging::verdicts(py, &self.0, words, convert::limits(limits), in_turn)
    }

    #[pyo3(signature = (words, limits=(None, None), in_turn=false))]
    fn accepts<'py>(
        &self,
        py: Python<'py>,
        words: &Bound<'py, PyAny>,
        limits: GivenLimits,
        in_turn: bool,
    ) -> PyResult<Bound<'py, PyArray1<bool>>> {
        judging::accepts(py, &self.0, words, convert::limits(limits), in_turn)
    }

    #[pyo3(signature = (words, limits=(None, None), in_turn=false))]
    fn check_arrow(
        &self,
        py: Python<'_>,
        words: &Bound<'_, PyAny>,
        limits: GivenLimits,
        in_turn: bool,
    ) -> PyResult<PyRecordBatch> {
        arrow::judge(py, self.0.clone(), words, convert::limits(limits), in_turn)?.batch()
    }

    #[pyo3(signature = (words, limits=(None, None), in_turn=false))]
    fn accepts_arrow<'py>(
        &self,
        py: Python<'py>,
        words: &Bound<'py, PyAny>,
        limits: GivenLimits,
        in_turn: bool,
    ) -> PyResult<Bound<'py, PyArray1<bool>>> {
        Ok(arrow::judge(py, self.0.clone(), words, convert::limits(limits), in_turn)?.accepts()?.into_pyarray(py))
    }

    fn trace<'py>(
        &self,
        py: Python<'py>,
        word: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyTuple>)> {
        judging::trace(py, &self.0, word)
    }
}

/// Opens a grammar, which is compiled to a table, or reads the file of a machine or a table within limits.
#[pyfunction]
#[pyo3(signature = (path, limits=None))]
pub(crate) fn load(
    py: Python<'_>,
    path: std::path::PathBuf,
    limits: Option<convert::Numbers>,
) -> PyResult<Bound<'_, PyAny>> {
    let mut within = FileLimits::default();
    convert::limits_of(limits, &FileLimits::NAMES, |name, most| within.set(name, most))?;
    if Subject::is_grammar(&path) {
        let compile = || Subject::open_grammar(&path, Encoding::Auto)?.table(&());
        let table = py.detach(compile).map_err(errors::subject)?;
        return Ok(Table::object(py, table)?.into_any());
    }
    let bytes = py.detach(|| file::read_within(&path, within.bytes)).map_err(errors::file)?;
    let is_table = echostack::Table::is_table(&bytes);
    let kind = if is_table { "table" } else { "machine" };
    let read = py.detach(|| echostack::Model::from_bytes_within(&bytes, &within));
    let model = read.map_err(|error| match error {
        error @ (FileError::Damaged(_) | FileError::Version(_)) => {
            Kind::File.error(format!("{} is the file of a {kind}, but {error}", path.display()))
        }
        other => Kind::File.error(format!("{}: {other}", path.display())),
    })?;
    Ok(match (model.machine(), model.table()) {
        (Some(machine), _) => Machine::object(py, machine.clone())?.into_any(),
        (None, Some(table)) => Table::object(py, table.clone())?.into_any(),
        (None, None) => py.None().into_bound(py),
    })
}

/// A session, which reads one word token by token.
#[pyclass(module = "echostack._native", frozen)]
pub(crate) struct Session {
    alphabet: Arc<echostack::Alphabet>,
    session: Mutex<ModelSession>,
}

impl Session {
    fn with<R>(&self, f: impl FnOnce(&mut ModelSession) -> R) -> R {
        f(&mut self.session.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[pymethods]
impl Session {
    /// Starts reading a word with a machine or a table.
    #[new]
    #[pyo3(signature = (judge, limits=(None, None)))]
    fn new(judge: &Bound<'_, PyAny>, limits: GivenLimits) -> PyResult<Self> {
        let model = judge.cast::<Model>().map_err(|_| Kind::Parameter.error("a session needs a machine or a table"))?;
        let model = &model.get().0;
        let session = Mutex::new(model.start(convert::limits(limits)));
        Ok(Self { alphabet: model.alphabet().clone(), session })
    }

    /// Reads one token, and returns whether more can follow.
    fn feed(&self, token: &Bound<'_, PyAny>) -> PyResult<bool> {
        let input = Input::Symbol(convert::symbol(token, &self.alphabet)?);
        let status = self.with(|session| session.feed(input, &mut ()));
        Ok(status == Status::Open)
    }

    /// Returns the tokens that can come next; `None` is the end.
    fn expected(&self) -> Vec<Option<String>> {
        let expected = self.with(|session| session.expected());
        expected.into_iter().map(|next| convert::lookahead(&self.alphabet, next)).collect()
    }

    /// The number of tokens read.
    #[getter]
    fn position(&self) -> u64 {
        self.with(|session| session.position())
    }

    /// Returns the verdict if the word ended here. The session can still read more tokens.
    fn verdict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let verdict = self.with(|session| session.clone()).finish(&mut ());
        convert::verdict(py, &self.alphabet, &verdict)
    }

    /// Returns a copy of the session, which continues independently.
    fn fork(&self) -> Self {
        Self { alphabet: self.alphabet.clone(), session: Mutex::new(self.with(|session| session.clone())) }
    }
}
