//! Events of a session, and the observers that see them.

use crate::symbol::SymbolId;

/// One action on the stack: pop some symbols, then push one symbol or none (the paper's j and A).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reduction {
    /// The number of symbols to pop.
    pub pop: u32,
    /// The nonterminal to push after the pop, if any.
    pub push: Option<SymbolId>,
}

impl Reduction {
    /// The reduction without a pop or a push. This decision ends the loop over one token.
    pub const NONE: Self = Self { pop: 0, push: None };
}

/// An event of a session. For each token and for the end of the word, there are decisions up to and including one that
/// is [`Reduction::NONE`], then one output and, for a token, one shift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a> {
    /// A decision about the stack, and its margin over any other decision, which is infinite for an automaton.
    Decide {
        /// The action.
        reduction: Reduction,
        /// The margin over any other decision.
        margin: f64,
    },
    /// The output on this token, before it is shifted (the paper's y).
    Output {
        /// The values. A recognizer of a language has a single value, 0 or 1.
        values: &'a [f64],
    },
    /// The decision whether to shift the token onto the stack.
    Shift {
        /// Whether the token was shifted. If not, it is refused in strict mode and skipped in tolerant mode.
        shifted: bool,
        /// The margin over the other decision.
        margin: f64,
    },
}

/// An observer that sees each step of a session. `()` ignores all events, and any closure that takes the position and
/// the event is an observer.
pub trait Observer {
    /// Called for each event on the token at this position. On the end of the word, the position is the length of the
    /// word.
    fn event(&mut self, position: u64, event: Event<'_>);

    /// Returns whether the session should stop. It is asked before each decision, and the verdict is then
    /// [`Limit::Cancelled`](super::Limit::Cancelled).
    fn cancelled(&self) -> bool {
        false
    }

    /// Returns whether the observer reads the margins of decisions. If it does not, a machine may save itself the work,
    /// and margins are NaN.
    fn reads_margins(&self) -> bool {
        true
    }
}

impl Observer for () {
    fn event(&mut self, _: u64, _: Event<'_>) {}

    fn reads_margins(&self) -> bool {
        false
    }
}

impl<F: FnMut(u64, Event<'_>)> Observer for F {
    fn event(&mut self, position: u64, event: Event<'_>) {
        self(position, event);
    }
}
