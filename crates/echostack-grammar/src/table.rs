//! The LR(1) table of a grammar, as plain data.

/// What a parser does in a state on a lookahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Read the token and go to this state.
    Shift(usize),
    /// Reduce by this production.
    Reduce(usize),
    /// The word is accepted.
    Accept,
    /// The token cannot stand here.
    Error,
}

/// A production of a grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Production {
    /// Its left side.
    pub left: usize,
    /// Its right side.
    pub right: Vec<usize>,
}

/// An LR(1) table. Symbols are numbers: terminals first, then nonterminals. State 0 is the start.
#[derive(Clone, Debug)]
pub struct LrTable {
    pub(crate) names: Vec<String>,
    pub(crate) terminals: usize,
    pub(crate) start: usize,
    pub(crate) productions: Vec<Production>,
    /// For each state the action on each terminal and, last, on the end.
    pub(crate) actions: Vec<Vec<Action>>,
    /// For each state the state after each symbol.
    pub(crate) next: Vec<Vec<Option<usize>>>,
    /// Whether tokens have precedences, by which actions may have been left out.
    pub(crate) has_precedences: bool,
}

impl LrTable {
    /// The names of the symbols, terminals first.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of terminals.
    pub fn terminals(&self) -> usize {
        self.terminals
    }

    /// The productions.
    pub fn productions(&self) -> &[Production] {
        &self.productions
    }

    /// The number of states.
    pub fn states(&self) -> usize {
        self.actions.len()
    }

    /// What to do in a state on a lookahead; the end is the number of terminals.
    pub fn action(&self, state: usize, lookahead: usize) -> Action {
        self.actions[state][lookahead]
    }

    /// The state after a symbol.
    pub fn next(&self, state: usize, symbol: usize) -> Option<usize> {
        self.next[state][symbol]
    }

    /// The production by which a state reduces whatever comes next, if it never does anything else.
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

    /// The productions of a nonterminal.
    pub(crate) fn productions_of(&self, left: usize) -> impl Iterator<Item = (usize, &Production)> {
        self.productions.iter().enumerate().filter(move |(_, production)| production.left == left)
    }
}
