//! The methods of the Python class `Table`.

use echostack::table::{Prefix, SourceLanguage};
use echostack_grammar::Judge;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::classes::Table;
use crate::errors::{self, Kind};

#[pymethods]
impl Table {
    #[staticmethod]
    fn from_bytes<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, Self>> {
        Self::object(py, echostack::Table::from_bytes(bytes).map_err(errors::file)?)
    }

    fn save(&self, py: Python<'_>, path: std::path::PathBuf) -> PyResult<()> {
        py.detach(|| self.0.save(path)).map_err(errors::file)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.to_bytes().map_err(errors::file)?))
    }

    /// The number of states, the number of actions, and the number of bytes that they take.
    #[getter]
    fn size(&self) -> (usize, usize, usize) {
        let (actions, bytes) = self.0.size();
        (self.0.states(), actions, bytes)
    }

    /// Returns the table, with its lexer if there is one, as a source file in Rust or C.
    fn source(&self, language: &str) -> PyResult<String> {
        let language = match language {
            "rust" => SourceLanguage::Rust,
            "c" => SourceLanguage::C,
            other => return Err(Kind::Parameter.error(format!("language is {other:?}, but must be rust or c"))),
        };
        let judge = Judge::new(self.0.clone().into()).map_err(|error| Kind::Grammar.error(error))?;
        let source = judge.source(language, &Prefix::default()).map_err(|error| Kind::Grammar.error(error))?;
        Ok(source.map(|source| source.code(None)).unwrap_or_default())
    }
}
