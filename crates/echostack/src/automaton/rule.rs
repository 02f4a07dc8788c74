//! The rules of an automaton.

use crate::symbol::{Lookahead, SymbolId};

/// A rule (s, x, j, A): if `suffix` is on top of the stack and `lookahead` comes next, pop `pop` symbols and push
/// `push`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    /// Whether the suffix must be the whole stack.
    pub anchored: bool,
    /// The symbols that must be on top of the stack, the topmost last.
    pub suffix: Vec<SymbolId>,
    /// The required lookahead, or `None` if any will do (the paper's epsilon).
    pub lookahead: Option<Lookahead>,
    /// The number of symbols to pop. It may exceed the length of the suffix, if the suffix says enough about the
    /// symbols below it.
    pub pop: u32,
    /// The nonterminal that is pushed after the pop.
    pub push: SymbolId,
}

impl Rule {
    /// Returns whether the rule applies to a stack and a lookahead.
    pub fn matches(&self, stack: &[SymbolId], lookahead: Lookahead) -> bool {
        self.lookahead.is_none_or(|wanted| wanted == lookahead)
            && stack.ends_with(&self.suffix)
            && (!self.anchored || stack.len() == self.suffix.len())
    }
}

/// The maximum number of symbols that a rule may pop.
pub const MAX_POP: u32 = 4096;
