//! Hypotheses and how they are learned: from queries, brackets as modules (`learner.rs`) or by reductions
//! (`reductions.rs`), and from given words alone (`merging.rs`).

pub(crate) mod automaton;
pub(crate) mod draw;
pub(crate) mod hypothesis;
pub(crate) mod learner;
pub(crate) mod merging;
pub(crate) mod reductions;
pub(crate) mod tree;
