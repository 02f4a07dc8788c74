//! A rule of an automaton.

use crate::symbol::{Lookahead, SymbolId};

/// One rule (s, x, j, A): with `suffix` on top of the stack and `lookahead` next, pop `pop` symbols and push `push`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    /// Whether the suffix must be the whole stack.
    pub anchored: bool,
    /// The symbols that must be on top of the stack, the topmost last.
    pub suffix: Vec<SymbolId>,
    /// What must come next, or `None` if that does not matter (the paper's epsilon).
    pub lookahead: Option<Lookahead>,
    /// How many symbols are popped. It may be more than the suffix shows, where the suffix says enough of what is
    /// beneath.
    pub pop: u32,
    /// The nonterminal that is pushed then.
    pub push: SymbolId,
}

impl Rule {
    /// Whether the rule applies to this stack and lookahead.
    pub fn matches(&self, stack: &[SymbolId], lookahead: Lookahead) -> bool {
        self.lookahead.is_none_or(|wanted| wanted == lookahead)
            && stack.ends_with(&self.suffix)
            && (!self.anchored || stack.len() == self.suffix.len())
    }
}

/// The most symbols that a rule pops.
pub const MAX_POP: u32 = 4096;
