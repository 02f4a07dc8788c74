//! Preconditions on the machines that a proof can be about.

use std::any::Any;

use super::error::CertifyError;
use crate::automaton::Automaton;
use crate::machine::{Machine, Readout};
use crate::recognize::Mode;
use crate::reservoir::{CycleReservoir, LegendreReservoir, MatrixReservoir};

/// Checks that a proof about this machine and this automaton can be attempted.
pub(super) fn comparable(machine: &Machine, automaton: &Automaton) -> Result<(), CertifyError> {
    if machine.alphabet() != automaton.alphabet() {
        return Err(CertifyError::Alphabet);
    }
    provable(machine)
}

/// Checks that a machine is of a kind that proofs cover.
pub(crate) fn provable(machine: &Machine) -> Result<(), CertifyError> {
    if machine.mode() != Mode::Strict {
        return Err(CertifyError::Tolerant);
    }
    if !machine.heads().iter().any(|(readout, _)| *readout == Readout::Output) {
        return Err(CertifyError::Regression);
    }
    let reservoir: &dyn Any = &**machine.reservoir();
    let own =
        reservoir.is::<MatrixReservoir>() || reservoir.is::<CycleReservoir>() || reservoir.is::<LegendreReservoir>();
    if own { Ok(()) } else { Err(CertifyError::Foreign) }
}
