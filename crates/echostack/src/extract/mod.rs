//! From a machine to the automaton that it implements, and back: a machine built from an automaton without training.

mod construct;
#[expect(clippy::module_inception, reason = "the extraction itself")]
mod extract;
mod rules;

pub use construct::{ConstructError, construct};
pub use extract::{ExtractError, Extraction, Undecided, extract};
