//! Errors of the libraries as exceptions of `echostack.errors`.

use std::path::PathBuf;

use echostack_grammar::{GrammarError, SubjectError};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError};
use pyo3::prelude::*;
use pyo3::types::PyType;

/// The exceptions that are raised from here, by their name in `echostack.errors`.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// A parameter is out of range or does not fit the others.
    Parameter,
    /// Words, traces or arrays are not what is needed.
    Data,
    /// A grammar or an automaton is no use.
    Grammar,
    /// Training failed.
    Fit,
    /// There is no proof, or no certificate, or it does not hold.
    Proof,
    /// A file is damaged, or is something else.
    File,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Parameter => "ParameterError",
            Self::Data => "DataError",
            Self::Grammar => "GrammarError",
            Self::Fit => "FitError",
            Self::Proof => "ProofError",
            Self::File => "FileFormatError",
        }
    }

    /// An exception of this kind.
    pub(crate) fn error(self, message: impl std::fmt::Display) -> PyErr {
        let message = message.to_string();
        Python::attach(|py| {
            let class = py.import("echostack.errors").and_then(|module| module.getattr(self.name()));
            match class.and_then(|class| Ok(class.cast_into::<PyType>()?)) {
                Ok(class) => PyErr::from_type(class, message),
                Err(error) => error,
            }
        })
    }
}

/// What the operating system says, as Python's own functions raise it.
fn os_error(error: &std::io::Error, path: PathBuf) -> PyErr {
    PyOSError::new_err((error.raw_os_error(), error.to_string(), path))
}

/// An error while a file was read or written.
pub(crate) fn file(error: echostack::file::FileError) -> PyErr {
    match error {
        echostack::file::FileError::Io { error, path } => os_error(&error, path),
        other => Kind::File.error(other),
    }
}

/// An error while a grammar was read.
pub(crate) fn grammar(error: GrammarError) -> PyErr {
    match error {
        GrammarError::Io { error, path } => os_error(&error, path.into()),
        other => Kind::Grammar.error(other),
    }
}

/// An error of a subject: the words are vectors, or the automaton is of no use.
pub(crate) fn subject(error: SubjectError) -> PyErr {
    match error {
        SubjectError::NoLanguage(_) => Kind::Data.error(error),
        other => Kind::Grammar.error(other),
    }
}

/// An error of a study.
pub(crate) fn study(error: echostack::study::StudyError) -> PyErr {
    use echostack::automaton::AutomatonError;
    use echostack::certify::CertifyError;
    use echostack::machine::FitError;
    use echostack::study::StudyError;
    match error {
        StudyError::Fit(FitError::Cancelled)
        | StudyError::Certify(CertifyError::Cancelled)
        | StudyError::Automaton(AutomatonError::Cancelled) => cancelled(),
        StudyError::Automaton(error) => Kind::Grammar.error(error),
        StudyError::Certify(error) => Kind::Proof.error(error),
        other => Kind::Fit.error(other),
    }
}

/// What a call ends with that was interrupted.
pub(crate) fn cancelled() -> PyErr {
    PyKeyboardInterrupt::new_err(())
}
