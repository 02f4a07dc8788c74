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
    /// True if conflicts were resolved, by precedences or by default, which removed actions.
    pub(crate) has_resolutions: bool,
    /// Whether there is a lookahead in each state that the rules allow, but `%nonassoc` forbids.
    pub(crate) forbids: Vec<bool>,
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

    /// Returns the production by which a state reduces, if it can do so on every lookahead: it has no other actions and
    /// forbids none, so that an error is found later, but before the next shift.
    pub(crate) fn only_reduction(&self, state: usize) -> Option<usize> {
        if self.forbids[state] {
            return None;
        }
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

    /// Returns whether the parser accepts a word. The parser must not be [endless](Self::endless).
    pub(crate) fn accepts(&self, word: &[usize]) -> bool {
        let mut stack = vec![0];
        let mut rest = word.iter().copied().chain([self.terminals]).peekable();
        while let (Some(&state), Some(&lookahead)) = (stack.last(), rest.peek()) {
            let next = match self.actions[state][lookahead] {
                Action::Accept => return true,
                Action::Error => return false,
                Action::Shift(next) => {
                    rest.next();
                    Some(next)
                }
                Action::Reduce(number) => {
                    let production = &self.productions[number];
                    stack.truncate(stack.len() - production.right.len());
                    stack.last().and_then(|&state| self.next[state][production.left])
                }
            };
            stack.extend(next);
        }
        false
    }

    /// Returns a production by which a parser could reduce again and again without reading anything. This takes a
    /// conflict that was resolved in favor of an empty production.
    pub(crate) fn endless(&self) -> Option<usize> {
        let starts = (0..self.states()).flat_map(|state| (0..=self.terminals).map(move |lookahead| (state, lookahead)));
        starts.into_iter().find_map(|(state, lookahead)| self.endless_from(state, lookahead))
    }

    /// Reduces on top of a state for as long as the state stays on the stack. If the stack grows beyond the number of
    /// states, then it contains one of them twice, between which nothing was read, and this repeats forever.
    fn endless_from(&self, state: usize, lookahead: usize) -> Option<usize> {
        let mut stack = vec![state];
        while let Action::Reduce(number) = self.actions[*stack.last()?][lookahead] {
            let production = &self.productions[number];
            let rest = stack.len().checked_sub(production.right.len()).filter(|&rest| rest > 0)?;
            stack.truncate(rest);
            stack.push(self.next[stack[rest - 1]][production.left]?);
            if stack.len() > self.states() {
                return Some(number);
            }
        }
        None
    }

    /// Returns the productions of a nonterminal, with their numbers.
    pub(crate) fn productions_of(&self, left: usize) -> impl Iterator<Item = (usize, &Production)> {
        self.productions.iter().enumerate().filter(move |(_, production)| production.left == left)
    }
}
