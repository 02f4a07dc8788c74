//! What a grammar means: its parser by definition, and the check that an automaton follows it.
//!
//! Nothing here shares code with `lr`, which computes the tables that are used, except for what precedences mean
//! (`rules/precedence.rs`).

pub(crate) mod canonical;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod translation;
