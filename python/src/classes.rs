//! The Python classes that refer to each other. The methods of each class are in a separate file.

use std::sync::Arc;

use echostack::Oracle;
use echostack::certify::Proof;
use echostack::recognize::Mode;
use echostack_grammar::Subject;
use pyo3::prelude::*;

use crate::errors;

/// A language that words are drawn from and that machines learn.
#[pyclass(module = "echostack._native", frozen)]
pub(crate) struct Language(pub(crate) Subject);

impl Language {
    /// Returns the strict oracle.
    pub(crate) fn strict(&self) -> PyResult<Oracle> {
        self.oracle(Mode::Strict)
    }

    pub(crate) fn oracle(&self, mode: Mode) -> PyResult<Oracle> {
        self.0.oracle(mode, &()).map_err(errors::subject)
    }
}

/// A machine or a table: what words are judged with.
#[pyclass(module = "echostack._native", frozen, subclass)]
pub(crate) struct Model(pub(crate) echostack::Model);

/// A trained machine.
#[pyclass(module = "echostack._native", frozen, extends = Model)]
pub(crate) struct Machine(pub(crate) echostack::Machine);

impl Machine {
    /// Returns the machine as a Python object.
    pub(crate) fn object(py: Python<'_>, machine: echostack::Machine) -> PyResult<Bound<'_, Self>> {
        Bound::new(py, (Self(machine.clone()), Model(machine.into())))
    }
}

/// A compiled table.
#[pyclass(module = "echostack._native", frozen, extends = Model)]
pub(crate) struct Table(pub(crate) echostack::Table);

impl Table {
    /// Returns the table as a Python object.
    pub(crate) fn object(py: Python<'_>, table: echostack::Table) -> PyResult<Bound<'_, Self>> {
        Bound::new(py, (Self(table.clone()), Model(table.into())))
    }
}

/// A reservoir, built for a number of channels.
#[pyclass(module = "echostack._native", frozen)]
pub(crate) struct Reservoir(pub(crate) Arc<dyn echostack::reservoir::Reservoir>);

/// A proof that a machine behaves like an automaton on every word.
#[pyclass(module = "echostack._native", frozen)]
pub(crate) struct Certificate(pub(crate) Arc<echostack::Certificate>);

impl Certificate {
    /// Returns the certificate of a proof, if the proof succeeded.
    pub(crate) fn of(proof: Proof) -> Option<Self> {
        match proof {
            Proof::Proved(certificate) => Some(Self(Arc::new(*certificate))),
            Proof::Open { .. } => None,
        }
    }
}
