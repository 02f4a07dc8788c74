//! Why an automaton is refused.

use super::rule::MAX_POP;
use crate::control::Cancelled;

/// Why an automaton was refused.
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
    /// A rule pops more than any sensible one does.
    #[error("rule {rule} pops {pop} symbols; at most {MAX_POP} are allowed")]
    PopsTooMuch {
        /// The rule, counted from 0.
        rule: usize,
        /// What it pops.
        pop: u32,
    },
    /// Viable stacks were given that do not fit the alphabet.
    #[error("the viable stacks name a state or symbol that is not there, or have no state at all")]
    Viable,
    /// A rule pushes a terminal, or waits for a nonterminal.
    #[error("rule {rule} has {name:?} as {role}, which must be a {needed}")]
    WrongKind {
        /// The rule, counted from 0.
        rule: usize,
        /// The symbol's name.
        name: String,
        /// What it stands for in the rule.
        role: &'static str,
        /// The kind of symbol that is needed.
        needed: &'static str,
    },
    /// An accepting symbol is no nonterminal of the alphabet.
    #[error("accepting symbol number {0} is no nonterminal of the alphabet")]
    Accepting(usize),
    /// The set of viable stacks needs more states than we are willing to build.
    #[error("the viable stacks of this automaton take too much work to compute; use fewer symbols or shorter suffixes")]
    TooLarge,
    /// A stack counts as viable, and a word leads to it, but no continuation is accepted.
    #[error(
        "{} cannot become a word, but the automaton's list of viable stacks has its stack, {stack:?}; \
         leave the list out, so that it is computed from the rules",
        word.as_ref().map_or("what leads there".to_string(), |word| format!("{word:?}"))
    )]
    DeadEnd {
        /// The names of its symbols, topmost last.
        stack: String,
        /// The tokens that lead there, if any do.
        word: Option<String>,
    },
    /// Not a single word is accepted.
    #[error("the automaton accepts no word at all; a proof is about one that accepts some")]
    NoWords,
    /// The control asked to stop.
    #[error("the work was cancelled")]
    Cancelled,
}

impl From<Cancelled> for AutomatonError {
    fn from(Cancelled: Cancelled) -> Self {
        Self::Cancelled
    }
}
