//! LR(1) tables of grammars, as plain data.

use std::collections::{HashSet, VecDeque};

use crate::rules::Production;

/// The maximum number of beginnings of words that are searched for a difference between two parsers.
const MAX_SEARCHED: usize = 20_000;

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

    /// Returns the states that follow a state along some symbols, one for each symbol, if the parser can get there.
    pub(crate) fn path(&self, mut state: usize, symbols: &[usize]) -> Option<Vec<usize>> {
        let mut after = |&symbol: &usize| {
            state = self.next[state][symbol]?;
            Some(state)
        };
        symbols.iter().map(&mut after).collect()
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

    /// Returns whether the parser accepts a word.
    pub fn accepts(&self, word: &[usize]) -> bool {
        let mut stack = vec![0];
        let mut read = |lookahead| self.read(&mut stack, lookahead, &mut |_| {});
        word.iter().all(|&token| read(token)) && read(self.terminals)
    }

    /// Reads a token or the end of the word, with the states on the stack. Calls `reduced` with each production that it
    /// reduces by. Returns whether the token is shifted or the word accepted.
    pub(crate) fn read(&self, stack: &mut Vec<usize>, lookahead: usize, reduced: &mut impl FnMut(usize)) -> bool {
        while let Some(&state) = stack.last() {
            match *self.actions[state].get(lookahead).unwrap_or(&Action::Error) {
                Action::Accept => return true,
                Action::Error => return false,
                Action::Shift(next) => {
                    stack.push(next);
                    return true;
                }
                Action::Reduce(number) => {
                    reduced(number);
                    let production = &self.productions[number];
                    stack.truncate(stack.len() - production.right.len());
                    let next = stack.last().and_then(|&state| self.next[state][production.left]);
                    stack.extend(next);
                }
            }
        }
        false
    }

    /// Searches for a shortest word that one of two parsers of the same symbols accepts and the other does not. Neither
    /// may be [endless](Self::endless).
    pub(crate) fn difference(&self, other: &Self) -> Option<Vec<usize>> {
        // The stacks of both after each word that is examined; `None` once a token is refused.
        type Stacks = [Option<Vec<usize>>; 2];
        let start: Stacks = [Some(vec![0]), Some(vec![0])];
        let mut seen: HashSet<Stacks> = HashSet::from([start.clone()]);
        let mut queue = VecDeque::from([(Vec::new(), start)]);
        while let Some((word, stacks)) = queue.pop_front() {
            let after = |lookahead: usize| -> Stacks {
                let read = |table: &Self, stack: &Option<Vec<usize>>| {
                    let mut stack = stack.clone()?;
                    table.read(&mut stack, lookahead, &mut |_| {}).then_some(stack)
                };
                [read(self, &stacks[0]), read(other, &stacks[1])]
            };
            let ends = after(self.terminals);
            if ends[0].is_some() != ends[1].is_some() {
                return Some(word);
            }
            for token in 0..self.terminals {
                let stacks = after(token);
                if stacks.iter().any(Option::is_some) && seen.len() < MAX_SEARCHED && seen.insert(stacks.clone()) {
                    queue.push_back(([&word[..], &[token]].concat(), stacks));
                }
            }
        }
        None
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
