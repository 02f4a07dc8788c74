//! The error for automata that are invalid or too large.

use super::rule::MAX_POP;
use crate::control::Cancelled;

/// The reason why an automaton was rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AutomatonError {
    /// A symbol of a rule is not in the alphabet.
    #[error("rule {rule} names symbol number {symbol}, but the alphabet has {len} symbols")]
    UnknownSymbol {
        /// The rule, counted from 0.
        rule: usize,
        /// The symbol's index.
        symbol: usize,
        /// The size of the alphabet.
        len: usize,
    },
    /// A rule pops more than [`MAX_POP`] symbols.
    #[error("rule {rule} pops {pop} symbols; at most {MAX_POP} are allowed")]
    PopsTooMuch {
        /// The rule, counted from 0.
        rule: usize,
        /// The number of symbols that it pops.
        pop: u32,
    },
    /// The given viable stacks do not fit the alphabet, or their table is empty or too large.
    #[error("the viable stacks name a state or symbol that does not exist, have no states, or have too many")]
    Viable,
    /// A rule pushes a terminal, or has a nonterminal as its lookahead.
    #[error("rule {rule} has {name:?} as {role}, which must be a {needed}")]
    WrongKind {
        /// The rule, counted from 0.
        rule: usize,
        /// The symbol's name.
        name: String,
        /// The role of the symbol in the rule.
        role: &'static str,
        /// The kind of symbol that is needed.
        needed: &'static str,
    },
    /// An accepting symbol is not a nonterminal of the alphabet.
    #[error("accepting symbol number {0} is not a nonterminal of the alphabet")]
    Accepting(usize),
    /// Something that is computed from the automaton, such as its viable stacks, exceeds a limit on its size.
    #[error("the viable stacks of this automaton take too much work to compute; use fewer symbols or shorter suffixes")]
    TooLarge,
    /// A stack counts as viable, but no continuation from it is accepted.
    #[error(
        "the automaton's list of viable stacks contains {stack:?}{}, but no continuation is accepted from there; \
         leave the list out, so that it is computed from the rules",
        word.as_ref().map_or(String::new(), |word| format!(" (the stack after {word:?})"))
    )]
    DeadEnd {
        /// The names of the symbols on the stack, the topmost last.
        stack: String,
        /// A word that leads to the stack, if one was found.
        word: Option<String>,
    },
    /// The automaton accepts no words.
    #[error("the automaton accepts no words; a proof needs an automaton that accepts at least one")]
    NoWords,
    /// The control requested cancellation.
    #[error("the work was cancelled")]
    Cancelled,
}

impl From<Cancelled> for AutomatonError {
    fn from(Cancelled: Cancelled) -> Self {
        Self::Cancelled
    }
}
