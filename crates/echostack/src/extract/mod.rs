//! From a machine to the automaton that it implements, and back: a machine built from an automaton without training.

mod construct;
mod explore;
mod graph;
mod rules;

pub use construct::{ConstructError, construct};
pub use explore::{ExtractError, Extraction, Undecided, extract};
