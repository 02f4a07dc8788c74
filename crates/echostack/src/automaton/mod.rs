//! LR(1) automata as the paper defines them (Definition 2): ordered lists of rules that act on a stack.
//!
//! An [`Automaton`] is data; an [`Oracle`] runs it (Algorithm 1). Oracles teach machines and are the reference that
//! machines are measured against. The set of stacks that can still be completed to a word ([`Viability`]) is computed
//! once, by saturation, and tells a strict oracle which tokens cannot follow.

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
pub use grammar::{Part, WordGrammar};
pub use json::AutomatonJsonError;
pub use lr::Automaton;
pub use oracle::{Oracle, OracleStack};
pub use rule::{MAX_POP, Rule};
pub use viability::{StackState, Viability};
