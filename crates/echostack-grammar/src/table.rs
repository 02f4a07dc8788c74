//! LR(1) tables of grammars, as plain data.

/// An action of a parser in a state on a lookahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Read the token, and go to this state.
    Shift(usize),
    /// Reduce by this production.
    Reduce(usize),
    /// Accept the word.
    Accept,
    /// Reject the token, because it cannot follow.
    Error,
}

/// A production of a grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Production {
    /// The nonterminal on its left side.
    pub left: usize,
    /// The symbols on its right side.
    pub right: Vec<usize>,
}

/// An LR(1) table. Symbols are numbers: terminals first, then nonterminals. State 0 is the start state.
#[derive(Clone, Debug)]
pub struct LrTable {
    pub(crate) names: Vec<String>,
    pub(crate) terminals: usize,
    pub(crate) start: usize,
    pub(crate) productions: Vec<Production>,
    /// The action of each state on each terminal and, as the last entry, at the end of the word.
    pub(crate) actions: Vec<Vec<Action>>,
    /// The state after each state and symbol.
    pub(crate) next: Vec<Vec<Option<usize>>>,
    /// True if tokens have precedences, which may have removed actions.
    pub(crate) has_precedences: bool,
}

impl LrTable {
    /// Returns the names of the symbols, terminals first.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the number of terminals.
    pub fn terminals(&self) -> usize {
        self.terminals
    }

    /// Returns the productions.
    pub fn productions(&self) -> &[Production] {
        &self.productions
    }

    /// Returns the number of states.
    pub fn states(&self) -> usize {
        self.actions.len()
    }

    /// Returns the action in a state on a lookahead, which is a terminal, or the number of terminals for the end of the
    /// word.
    pub fn action(&self, state: usize, lookahead: usize) -> Action {
        self.actions[state][lookahead]
    }

    /// Returns the state after a symbol.
    pub fn next(&self, state: usize, symbol: usize) -> Option<usize> {
        self.next[state][symbol]
    }

    /// Returns the production by which a state reduces, if the state has no other actions.
    pub(crate) fn only_reduction(&self, state: usize) -> Option<usize> {
        let mut only = None;
        for action in &self.actions[state] {
            match (*action, only) {
                (Action::Error, _) => {}
                (Action::Reduce(production), None) => only = Some(production),
                (Action::Reduce(production), Some(known)) if production == known => {}
                _ => return None,
            }
        }
        only
    }

    /// Returns the productions of a nonterminal, with their numbers.
    pub(crate) fn productions_of(&self, left: usize) -> impl Iterator<Item = (usize, &Production)> {
        self.productions.iter().enumerate().filter(move |(_, production)| production.left == left)
    }
}
