//! Why a machine cannot be proved right or wrong.

use crate::automaton::AutomatonError;
use crate::control::Cancelled;
use crate::file::FileError;

/// Why a machine cannot be proved right or wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CertifyError {
    /// The alphabets differ.
    #[error("the machine and the automaton have different symbols, so that no two of their stacks are equal")]
    Alphabet,
    /// The machine is tolerant.
    #[error(
        "the machine is tolerant; a proof is about a strict one, which rejects where a word goes wrong: train it in strict mode"
    )]
    Tolerant,
    /// The reservoir's type is not one of the library's.
    #[error(
        "the reservoir is of a type of your own, so its parts may not say what it computes; save the machine and read it back, and prove what was read"
    )]
    Foreign,
    /// A number of the machine is outside the range for which rounding is bounded.
    #[error("nothing can be proved of this machine: {what} is {given:e}, but must be {needed}")]
    Scale {
        /// Which number.
        what: String,
        /// The number.
        given: f64,
        /// What it must be.
        needed: &'static str,
    },
    /// The reservoir's states cannot be enclosed.
    #[error(
        "no enclosure of the states is known for this reservoir: it must forget, and its activation must be tanh unless it is a Legendre network"
    )]
    Reservoir,
    /// The output is a regression.
    #[error("the machine's output is a regression; a proof is about machines that accept or reject")]
    Regression,
    /// The automaton is too large, or says of a stack that cannot become a word that it can.
    #[error(transparent)]
    Automaton(AutomatonError),
    /// The machine has no file form.
    #[error(transparent)]
    File(#[from] FileError),
    /// The control asked to stop.
    #[error("the proof was cancelled")]
    Cancelled,
    /// A certificate does not hold.
    #[error("the certificate does not prove it: {0}")]
    Refused(String),
}

impl From<AutomatonError> for CertifyError {
    fn from(error: AutomatonError) -> Self {
        match error {
            AutomatonError::Cancelled => Self::Cancelled,
            error => Self::Automaton(error),
        }
    }
}

impl From<Cancelled> for CertifyError {
    fn from(Cancelled: Cancelled) -> Self {
        Self::Cancelled
    }
}
