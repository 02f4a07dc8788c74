//! The plain rows of a table: for each state of the stack, the action to take and the states that pushes lead to.

use std::collections::{BTreeSet, HashMap};

use crate::automaton::reach::{ElementId, Phase, Reach, Strict};
use crate::automaton::{AutomatonError, Oracle};
use crate::control::{Control, Poll};
use crate::recognize::Reduction;
use crate::symbol::{Lookahead, SymbolId};

/// The state of a table, which represents what is known about a stack; 0 is the empty stack.
pub type State = u16;

/// The plain rows of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rows {
    pub(super) terminals: usize,
    pub(super) symbols: usize,
    /// For each state, whether a word may end there.
    pub(crate) accepting: Vec<bool>,
    pub(super) reductions: Vec<Reduction>,
    /// For each state and lookahead, the number of a reduction, counted from 1, or 0 if there is nothing to do.
    pub(super) actions: Vec<u32>,
    /// For each state and symbol, the state that results from pushing the symbol, counted from 1, or 0 if it is never
    /// pushed there. A token is pushed where it may follow.
    pub(super) pushes: Vec<u32>,
}

/// The maximum number of entries of the rows before states are merged.
const MAX_ENTRIES: usize = 1 << 27;

impl Rows {
    fn look(&self, lookahead: Lookahead) -> usize {
        lookahead.token().map_or(self.terminals, SymbolId::index)
    }

    /// Returns the reduction of a stack in this state, or `None` if there is nothing to do.
    pub(crate) fn action(&self, state: State, lookahead: Lookahead) -> Option<Reduction> {
        let number = self.actions[state as usize * (self.terminals + 1) + self.look(lookahead)];
        number.checked_sub(1).map(|number| self.reductions[number as usize])
    }

    /// Returns the state after a push, if the symbol is ever pushed there.
    pub(crate) fn push(&self, state: State, symbol: SymbolId) -> Option<State> {
        let number = self.pushes[state as usize * self.symbols + symbol.index()];
        number.checked_sub(1).map(|state| state as State)
    }

    /// Returns the number of states.
    pub(super) fn states(&self) -> usize {
        self.accepting.len()
    }

    /// Returns for each state the symbol that leads there, or `None` if the rows are inconsistent.
    pub(super) fn tops(&self) -> Option<Vec<Option<SymbolId>>> {
        let mut tops = vec![None; self.states()];
        for row in self.pushes.chunks_exact(self.symbols.max(1)) {
            for (symbol, &to) in row.iter().enumerate().filter(|(_, to)| **to > 0) {
                let top = tops.get_mut(to as usize - 1)?;
                if to == 1 || top.is_some_and(|known| known != SymbolId::new(symbol)) {
                    return None;
                }
                *top = Some(SymbolId::new(symbol));
            }
        }
        Some(tops)
    }

    /// Computes the rows of a strict automaton, for everything that can be reached.
    pub(super) fn of(oracle: &Oracle, control: &dyn Control) -> Result<Self, AutomatonError> {
        let alphabet = oracle.automaton().alphabet();
        let mut strict = Strict::new(oracle, 0)?;
        let (reach, _) = Reach::new(&mut strict, control)?;
        let states = strict.elements().count();
        let (terminals, symbols) = (alphabet.terminals().len(), alphabet.len());
        if states.saturating_mul(symbols + 1) > MAX_ENTRIES {
            return Err(AutomatonError::TooLarge);
        }
        let mut rows = Self {
            terminals,
            symbols,
            accepting: (0..states).map(|state| strict.accepts(ElementId::new(state))).collect(),
            reductions: Vec::new(),
            actions: vec![0; states * (terminals + 1)],
            pushes: vec![0; states * symbols],
        };
        let mut numbers: HashMap<Reduction, u32> = HashMap::new();
        let decided: BTreeSet<(ElementId, Lookahead)> = reach
            .tops
            .iter()
            .filter_map(|top| match top.phase {
                Phase::Reduce(sight) => Some((top.element, sight.next)),
                _ => None,
            })
            .collect();
        for (element, next) in decided {
            let reduction = strict.reduction(element, next);
            if reduction != Reduction::NONE {
                let number = *numbers.entry(reduction).or_insert_with(|| {
                    rows.reductions.push(reduction);
                    rows.reductions.len() as u32
                });
                let look = rows.look(next);
                rows.actions[element.index() * (terminals + 1) + look] = number;
            }
        }
        for ((on, symbol), to) in strict.pushes() {
            rows.pushes[on.index() * symbols + symbol.index()] = to.index() as u32 + 1;
        }
        Ok(rows)
    }

    /// Returns equivalent rows with as few states as possible. States are merged if the same is done in them, and if
    /// the same symbols lead from them to states that are merged, too. States for different symbols are not merged.
    pub(super) fn merged(self, control: &dyn Control) -> Result<Self, AutomatonError> {
        let looks = self.terminals + 1;
        let Some(tops) = self.tops() else { return Ok(self) };
        let mut classes: Vec<u32> = vec![0; self.states()];
        let mut count = 0;
        let mut poll = Poll::new(control);
        loop {
            poll.steps(self.pushes.len())?;
            let mut numbers = HashMap::new();
            let next: Vec<u32> = (0..self.states())
                .map(|state| {
                    let pushes = &self.pushes[state * self.symbols..][..self.symbols];
                    let led: Vec<u32> =
                        pushes.iter().map(|to| to.checked_sub(1).map_or(u32::MAX, |to| classes[to as usize])).collect();
                    let does = (&self.actions[state * looks..][..looks], self.accepting[state], tops[state]);
                    let fresh = numbers.len() as u32;
                    *numbers.entry((does, led)).or_insert(fresh)
                })
                .collect();
            classes = next;
            if numbers.len() == count {
                break;
            }
            count = numbers.len();
        }
        // The first state of each class represents it. Classes are numbered in the order in which they are found, so
        // the bottom is still 0.
        let mut first = vec![None; count];
        classes.iter().enumerate().rev().for_each(|(state, &class)| first[class as usize] = Some(state));
        let kept: Vec<usize> = first.into_iter().flatten().collect();
        let moved = |to: &u32| to.checked_sub(1).map_or(0, |to| classes[to as usize] + 1);
        Ok(Self {
            accepting: kept.iter().map(|&state| self.accepting[state]).collect(),
            actions: kept.iter().flat_map(|&state| &self.actions[state * looks..][..looks]).copied().collect(),
            pushes: kept
                .iter()
                .flat_map(|&state| &self.pushes[state * self.symbols..][..self.symbols])
                .map(moved)
                .collect(),
            ..self
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;

    /// Changes a few entries: a push to that of another state, and the reduction of that state to any.
    pub(in super::super) fn changed(mut rows: Rows, random: &mut ChaCha8Rng) -> Rows {
        for _ in 0..random.random_range(1..4) {
            let [to, from] = [(); 2].map(|()| random.random_range(0..rows.states()));
            let symbol = random.random_range(0..rows.symbols);
            rows.pushes[to * rows.symbols + symbol] = rows.pushes[from * rows.symbols + symbol];
            let look = random.random_range(0..=rows.terminals);
            rows.actions[from * (rows.terminals + 1) + look] = random.random_range(0..=rows.reductions.len()) as u32;
        }
        rows
    }
}
