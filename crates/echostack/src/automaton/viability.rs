//! The table of viable stacks, those that can still be completed to a word.

use std::collections::BTreeMap;

use super::error::AutomatonError;
use crate::index::index;
use crate::symbol::SymbolId;

index! {
    /// The state of a stack in [`Viability`]. A run keeps one beside each symbol on the stack, so that a pop restores
    /// it.
    pub StackState
}

/// A finite automaton that reads a stack from the bottom and decides whether it is viable.
///
/// ```
/// use echostack::automaton::Viability;
/// use echostack::tasks::Task;
/// let automaton = Task::Anbn.automaton().unwrap();
/// let viability = Viability::new(&automaton)?;
/// let [a, s] = ["a", "S"].map(|name| automaton.alphabet().symbol(name).unwrap());
/// let state = |stack: &[_]| stack.iter().fold(viability.bottom(), |state, &symbol| viability.push(state, symbol));
/// assert!(viability.is_viable(state(&[a, a, s])));
/// assert!(!viability.is_viable(state(&[s, a])));
/// # Ok::<(), echostack::automaton::AutomatonError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Viability {
    pub(super) symbols: usize,
    /// For each state and symbol, the state of the stack with that symbol pushed.
    pub(super) next: Vec<StackState>,
    pub(super) viable: Vec<bool>,
}

impl Viability {
    /// The maximum number of transitions if the viable stacks are given, unless a caller allows more: one for each symbol
    /// in each state, and in one more state.
    pub const MAX_TRANSITIONS: usize = 1 << 25;

    /// Creates the finite automaton from known viable stacks: for each state, `rows` has the symbols that can be pushed,
    /// each with the state of the stack after that. State 0 is the empty stack.
    ///
    /// # Errors
    /// [`AutomatonError::Viable`] if there are no states, a symbol or a state does not exist, or there are too many
    /// transitions.
    pub fn given(symbols: usize, rows: &[Vec<(SymbolId, usize)>]) -> Result<Self, AutomatonError> {
        Self::given_within(symbols, rows, Self::MAX_TRANSITIONS)
    }

    /// Creates the finite automaton like [`Viability::given`], with a maximum number of transitions.
    ///
    /// # Errors
    /// Those of [`Viability::given`].
    pub fn given_within(symbols: usize, rows: &[Vec<(SymbolId, usize)>], most: usize) -> Result<Self, AutomatonError> {
        let states = rows.len();
        let fits = |&(symbol, state): &(SymbolId, usize)| symbol.index() < symbols && state < states;
        let is_small = states.saturating_add(1).saturating_mul(symbols) <= most;
        if states == 0 || !is_small || !rows.iter().flatten().all(fits) {
            return Err(AutomatonError::Viable);
        }
        // One more state for all other stacks, from which nothing leads back.
        let mut next = vec![StackState::new(states); (states + 1) * symbols];
        for (state, row) in rows.iter().enumerate() {
            row.iter().for_each(|&(symbol, to)| next[state * symbols + symbol.index()] = StackState::new(to));
        }
        let viable = (0..=states).map(|state| state < states).collect();
        Ok(Self { symbols, next, viable })
    }

    /// Returns, for each viable state, the viable states that symbols lead to, by the symbols' names. This is meant for
    /// viable stacks that were given: all their states except the last are viable, so the states keep their numbers.
    pub(super) fn rows(&self, name: impl Fn(SymbolId) -> String) -> Vec<BTreeMap<String, usize>> {
        let row = |state: usize| {
            let next = self.next[state * self.symbols..][..self.symbols].iter().map(|to| to.index()).enumerate();
            let leads = next.filter(|&(_, to)| self.viable[to]);
            leads.map(|(symbol, to)| (name(SymbolId::new(symbol)), to)).collect()
        };
        (0..self.states()).filter(|&state| self.viable[state]).map(row).collect()
    }

    /// Returns the number of symbols.
    pub fn symbols(&self) -> usize {
        self.symbols
    }

    /// Returns the state of the empty stack.
    #[allow(clippy::unused_self, reason = "a state is only meaningful for its automaton")]
    pub fn bottom(&self) -> StackState {
        StackState::new(0)
    }

    /// Returns the state of the stack with one more symbol.
    ///
    /// # Panics
    /// If the symbol is not in the automaton's alphabet; it may also panic if the state is from another automaton.
    pub fn push(&self, state: StackState, symbol: SymbolId) -> StackState {
        assert!(symbol.index() < self.symbols, "symbol {} is not in an alphabet of {}", symbol.index(), self.symbols);
        self.next[state.index() * self.symbols + symbol.index()]
    }

    /// Returns whether some continuation leads from the stack to acceptance.
    pub fn is_viable(&self, state: StackState) -> bool {
        self.viable[state.index()]
    }

    /// Returns the number of states.
    pub fn states(&self) -> usize {
        self.viable.len()
    }
}
