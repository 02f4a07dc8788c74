//! Single decisions to train on, without the words that lead to them.

use std::fmt;

use crate::recognize::Reduction;
use crate::symbol::{Lookahead, SymbolId};

/// The answer of a readout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Answer {
    /// The action on the stack: the answer of the readouts for pop and push.
    Act(Reduction),
    /// Whether the next token is shifted.
    Shift(bool),
    /// Whether the output means acceptance.
    Output(bool),
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Act(Reduction::NONE) => f.write_str("leave the stack"),
            Self::Act(Reduction { pop, push: None }) => write!(f, "pop {pop}"),
            Self::Act(Reduction { pop, push: Some(symbol) }) => write!(f, "pop {pop}, push symbol {}", symbol.index()),
            Self::Shift(shift) => f.write_str(if *shift { "shift" } else { "refuse" }),
            Self::Output(accepts) => f.write_str(if *accepts { "accept" } else { "do not accept" }),
        }
    }
}

/// The right answer of a readout on one input and one stack: a single training sample, in addition to those of the
/// traces.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Exercise {
    /// The tokens before the next one. Only a machine that sees all of its input uses them.
    pub before: Vec<SymbolId>,
    /// The next token, or the end of the word.
    pub next: Lookahead,
    /// The stack, topmost last.
    pub stack: Vec<SymbolId>,
    /// The answer.
    pub answer: Answer,
}
