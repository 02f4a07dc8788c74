//! The end of an input, as far as a decision depends on it.

use crate::symbol::{Lookahead, SymbolId};

/// The end of an input, as far as it is looked at.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Look {
    pub(crate) next: Lookahead,
    /// The tokens before it, the last one first.
    pub(crate) before: Vec<SymbolId>,
    /// Whether these are all.
    pub(crate) whole: bool,
}
