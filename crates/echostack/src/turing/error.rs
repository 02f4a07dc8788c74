//! What can be wrong with the text of a teacher.

use super::rules::TwoStackRulesError;
use crate::symbol::AlphabetError;

/// The reason why a text is not a Turing machine or a list of rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// A line is not what it should be.
    #[error("line {line}: {reason}")]
    Line {
        /// The number of the line, counted from 1.
        line: usize,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// Something is missing in the whole text.
    #[error("{0}")]
    Whole(String),
    /// The names of the symbols are invalid.
    #[error(transparent)]
    Alphabet(#[from] AlphabetError),
    /// The rules are invalid.
    #[error(transparent)]
    TwoStackRules(#[from] TwoStackRulesError),
}
