//! The methods of the Python class `Certificate`.

use std::sync::Arc;

use echostack::certify::CertifyError;
use pyo3::prelude::*;

use crate::classes::{Certificate, Language, Machine};
use crate::errors::{Kind, cancelled};
use crate::waiting::Waiting;

#[pymethods]
impl Certificate {
    /// Reads a certificate from its JSON.
    #[staticmethod]
    pub(crate) fn from_json(text: &str) -> PyResult<Self> {
        let read = echostack::Certificate::from_json(text).map_err(|error| Kind::File.error(error))?;
        Ok(Self(Arc::new(read)))
    }

    fn to_json(&self) -> String {
        self.0.to_json()
    }

    /// Verifies that the certificate proves that the machine behaves like the language's automaton and, if the language
    /// is a grammar, that the automaton follows its text. Raises an exception if it does not.
    fn check(&self, py: Python<'_>, machine: &Machine, language: &Language) -> PyResult<()> {
        let oracle = language.strict()?;
        let waiting = Waiting::new(None);
        let check = || {
            language.0.check_lexer_of(machine.0.manifest())?;
            language.0.check_covered(&self.0, &oracle, &waiting)?;
            echostack::certify::check(&self.0, &machine.0, &oracle, &waiting)
        };
        match waiting.work(py, check) {
            Err(CertifyError::Cancelled) => Err(cancelled()),
            checked => checked.map_err(|error| Kind::Proof.error(error)),
        }
    }

    /// The number of cells that are proved, and the maximum numbers of stack symbols and of input tokens that a
    /// decision needs.
    #[getter]
    fn size(&self) -> (usize, usize, usize) {
        let size = self.0.size();
        (size.cells, size.depth, size.input)
    }
}
