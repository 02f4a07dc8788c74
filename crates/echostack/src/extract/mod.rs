//! Converts machines to automata and back: extracts the automaton that a machine implements, and constructs a machine
//! from an automaton without training.

mod construct;
mod explore;
mod graph;
mod read_back;
mod rules;

pub use construct::{ConstructError, construct};
pub use explore::{ExtractError, Undecided};
pub use read_back::{Extraction, extract, replicate};
