//! Words that a hypothesis is tested on: ways through it, what it suggests, and near misses.

pub(crate) mod edits;
pub(crate) mod kinds;
pub(crate) mod probe;
pub(crate) mod reserved;
pub(crate) mod suggest;
