//! The paper's LR(1)-automaton (Definition 2): an ordered list of rules over a stack.
//!
//! An [`Automaton`] is data; an [`Oracle`] runs it (Algorithm 1) and is the teacher and the measure of every machine.
//! Which stacks can still be completed to a word is computed once, by saturation ([`Viability`]), so that a strict
//! oracle knows which token cannot follow.

pub(crate) mod complete;
mod error;
mod grammar;
mod json;
mod lr;
mod oracle;
pub(crate) mod reach;
mod rule;
mod suffixes;
pub(crate) mod summarize;
mod viability;
mod viable;

pub use error::AutomatonError;
pub use grammar::{Notation, Part, WordGrammar};
pub use json::AutomatonJsonError;
pub use lr::Automaton;
pub use oracle::{Oracle, OracleStack};
pub use rule::{MAX_POP, Rule};
pub use viability::{StackState, Viability};
