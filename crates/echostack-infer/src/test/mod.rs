//! Words that a hypothesis is tested on: ways through it, what it suggests, and near misses.

pub(crate) mod edits;
pub(crate) mod probe;
pub(crate) mod suggest;
