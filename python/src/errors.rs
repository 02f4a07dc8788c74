//! Conversion of the libraries' errors to the exceptions in `echostack.errors`.

use std::path::PathBuf;

use echostack::automaton::AutomatonError;
use echostack::certify::CertifyError;
use echostack::machine::{FitError, ParamError};
use echostack::reservoir::ReservoirError;
use echostack::study::StudyError;
use echostack_grammar::{GrammarError, LearnError, SubjectError};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError};
use pyo3::prelude::*;
use pyo3::types::PyType;

/// The exceptions in `echostack.errors` that the native module raises.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// A parameter is out of range or does not fit the others.
    Parameter,
    /// Words, traces or arrays do not have the required form.
    Data,
    /// A grammar or an automaton cannot be used.
    Grammar,
    /// Training failed.
    Fit,
    /// There is no proof or no certificate, or the certificate is not valid.
    Proof,
    /// A file is damaged, or is not of the expected kind.
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

    /// Creates an exception of this kind.
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

/// Converts an error of the operating system to the exception that Python's own functions would raise.
pub(crate) fn os(error: &std::io::Error, path: PathBuf) -> PyErr {
    PyOSError::new_err((error.raw_os_error(), error.to_string(), path))
}

/// Converts an error from reading or writing a file.
pub(crate) fn file(error: echostack::file::FileError) -> PyErr {
    match error {
        echostack::file::FileError::Io { error, path } => os(&error, path),
        other => Kind::File.error(other),
    }
}

/// Converts an error from reading a grammar.
pub(crate) fn grammar(error: GrammarError) -> PyErr {
    match error {
        GrammarError::Io { error, path } => os(&error, path.into()),
        other => Kind::Grammar.error(other),
    }
}

/// Converts an error of a subject: its words are vectors, or its automaton cannot be used.
pub(crate) fn subject(error: SubjectError) -> PyErr {
    match error {
        SubjectError::NoLanguage(_) => Kind::Data.error(error),
        SubjectError::Grammar { source, .. } => grammar(source),
        other => Kind::Grammar.error(other),
    }
}

/// The names of parameters in the library, and what they are called in Python.
const NAMES: [(&str, &str); 8] = [
    ("svm.cost", "C"),
    ("svm.gamma", "gamma"),
    ("svm.tolerance", "tol"),
    ("output.penalty", "ridge"),
    ("input", "input_scale"),
    ("bias", "bias_scale"),
    ("neurons times channels", "the number of neurons times the number of channels"),
    ("recurrent", "W"),
];

fn name(name: &'static str) -> &'static str {
    NAMES.iter().find(|(ours, _)| *ours == name).map_or(name, |(_, theirs)| theirs)
}

/// Converts an error from building a reservoir.
pub(crate) fn reservoir(error: ReservoirError) -> PyErr {
    Kind::Parameter.error(match error {
        ReservoirError::Range { name, given, needed } => {
            ReservoirError::Range { name: self::name(name), given, needed }
        }
        ReservoirError::Channels { given, needed } => {
            let message = format!("the reservoir has {given} input channels, but {needed} are needed");
            return Kind::Parameter.error(message);
        }
        other => other,
    })
}

/// Converts an error from checking the parameters of a machine.
pub(crate) fn param(error: ParamError) -> PyErr {
    match error {
        ParamError::Reservoir(error) => reservoir(error),
        ParamError::Range { name, given, needed } => {
            Kind::Parameter.error(ParamError::Range { name: self::name(name), given, needed })
        }
        other => Kind::Parameter.error(other),
    }
}

/// Converts an error from training a machine.
pub(crate) fn fit(error: FitError) -> PyErr {
    match error {
        FitError::Cancelled => cancelled(),
        FitError::Param(error) => param(error),
        FitError::Reservoir(error) => reservoir(error),
        FitError::NoTraces => Kind::Fit.error("there are no words to learn from; give at least one"),
        FitError::NotConverged(steps) => {
            Kind::Fit.error(format!("a support vector machine did not converge in {steps} steps; lower C or raise tol"))
        }
        FitError::NotFinite => {
            Kind::Fit.error("a value became infinite or NaN; use smaller inputs, reservoir weights, C or gamma")
        }
        FitError::Singular => Kind::Fit.error("the regression has no unique solution; raise ridge"),
        other => Kind::Fit.error(other),
    }
}

/// Converts an error from learning or constructing a machine.
pub(crate) fn learn(error: LearnError) -> PyErr {
    match error {
        LearnError::Subject(error) => subject(error),
        LearnError::Params(error) => param(error),
        LearnError::Study(StudyError::Fit(error)) => fit(error),
        LearnError::Certify(CertifyError::Cancelled)
        | LearnError::Study(
            StudyError::Certify(CertifyError::Cancelled) | StudyError::Automaton(AutomatonError::Cancelled),
        ) => cancelled(),
        LearnError::Study(StudyError::Automaton(error)) => Kind::Grammar.error(error),
        LearnError::Construct(_) | LearnError::Certify(_) | LearnError::Study(StudyError::Certify(_)) => {
            Kind::Proof.error(error)
        }
        other => Kind::Fit.error(other),
    }
}

/// Returns the exception for a call that was interrupted.
pub(crate) fn cancelled() -> PyErr {
    PyKeyboardInterrupt::new_err(())
}
