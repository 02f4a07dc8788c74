//! Errors of the proof search and of the checker.

use crate::automaton::AutomatonError;
use crate::control::Cancelled;
use crate::file::FileError;

/// The reason why a machine cannot be proved right or wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CertifyError {
    /// The alphabets differ.
    #[error("the machine and the automaton have different alphabets; both need the same symbols in the same order")]
    Alphabet,
    /// The machine is tolerant.
    #[error(
        "the machine is tolerant, but only a strict machine, which rejects where a word goes wrong, can be proved: train it in strict mode"
    )]
    Tolerant,
    /// The reservoir's type is not one of the library's.
    #[error(
        "the reservoir has a user-defined type, so its parts may not describe what it computes; save the machine, load it again, and prove the loaded machine"
    )]
    Foreign,
    /// A number of the machine is outside the range for which rounding is bounded.
    #[error("nothing can be proved about this machine: {what} is {given:e}, but must be {needed}")]
    Scale {
        /// The name of the number.
        what: String,
        /// The number.
        given: f64,
        /// The range that it must be in.
        needed: &'static str,
    },
    /// The reservoir's states cannot be enclosed.
    #[error(
        "the states of this reservoir cannot be enclosed: it must forget earlier inputs, and its activation must be tanh unless it is a Legendre network"
    )]
    Reservoir,
    /// The output is a regression.
    #[error("the machine's output is a regression, but only machines that accept or reject can be proved")]
    Regression,
    /// The automaton is too large, or it treats a stack as viable from which no word can be reached.
    #[error(transparent)]
    Automaton(AutomatonError),
    /// The machine cannot be written to a file.
    #[error(transparent)]
    File(#[from] FileError),
    /// The control asked to stop.
    #[error("the proof was cancelled")]
    Cancelled,
    /// The automaton is not that of the grammar.
    #[error("the automaton does not follow the grammar: {0}")]
    Translation(String),
    /// The model splits texts into tokens in another way than the grammar's lexer.
    #[error("the model's lexer is not that of the grammar: {0}")]
    Lexer(String),
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

/// Refuses a certificate.
pub(crate) fn refuse<T>(why: impl Into<String>) -> Result<T, CertifyError> {
    Err(CertifyError::Refused(why.into()))
}
