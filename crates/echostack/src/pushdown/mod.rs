//! What a machine is, as an automaton: read back out of it, with no automaton given.

mod extract;
mod grammar;
mod rules;

pub use extract::{ExtractError, Extraction, Undecided, extract};
pub use grammar::{Notation, Part, WordGrammar};
