//! What happens in a session, and the observers that see it.

use crate::symbol::SymbolId;

/// One action on the stack: pop so many symbols, then push one or none. (The paper's j and A.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reduction {
    /// How many symbols are popped.
    pub pop: u32,
    /// The nonterminal that is pushed then.
    pub push: Option<SymbolId>,
}

impl Reduction {
    /// No pop and no push: the decision that ends the loop over one token.
    pub const NONE: Self = Self { pop: 0, push: None };
}

/// What happens in a session. For each token and for the end: decisions up to one that is [`Reduction::NONE`], one
/// output, and for a token one shift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a> {
    /// What is done to the stack, and how far the decision was from another (infinite for an automaton).
    Decide {
        /// The action.
        reduction: Reduction,
        /// The distance to another decision.
        margin: f64,
    },
    /// The output on this token, before it is shifted (the paper's y).
    Output {
        /// The values; a recogniser of a language has one, 0 or 1.
        values: &'a [f64],
    },
    /// Whether the token was shifted onto the stack.
    Shift {
        /// False: refused in strict mode, skipped in tolerant mode.
        shifted: bool,
        /// The distance to another decision.
        margin: f64,
    },
}

/// Sees each step of a session. `()` sees nothing; a closure over the position and the event is an observer.
pub trait Observer {
    /// Something happened on the token at this position (the word's length: on its end).
    fn event(&mut self, position: u64, event: Event<'_>);
}

impl Observer for () {
    fn event(&mut self, _: u64, _: Event<'_>) {}
}

impl<F: FnMut(u64, Event<'_>)> Observer for F {
    fn event(&mut self, position: u64, event: Event<'_>) {
        self(position, event);
    }
}
