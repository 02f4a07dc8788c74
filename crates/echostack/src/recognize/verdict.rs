//! Verdicts on words, and limits that can stop a run before it reaches one.

use std::fmt;

use crate::symbol::Lookahead;

/// The verdict on a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The word is in the language.
    Accept,
    /// The word is a proper prefix of a word in the language, but not in the language itself (strict mode only).
    Incomplete {
        /// The lookaheads that could have followed.
        expected: Vec<Lookahead>,
    },
    /// The word is not in the language.
    Reject {
        /// The position of the token that cannot follow, counted from 0. A tolerant recognizer judges at the end; its
        /// position is the length of the word, unless an input is outside the alphabet.
        position: u64,
        /// The lookaheads that were possible there instead. Empty in tolerant mode, which does not know them.
        expected: Vec<Lookahead>,
    },
    /// A limit was reached; the word is neither accepted nor rejected.
    Stopped {
        /// The position of the token that was being read.
        position: u64,
        /// The limit that was reached.
        limit: Limit,
    },
}

/// A [`Verdict`] without the expected tokens, which take longer to find than everything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The word is in the language.
    Accept,
    /// The word is a proper prefix of a word in the language, but not in the language itself (strict mode only).
    Incomplete,
    /// The word is not in the language.
    Reject {
        /// The position of the token that cannot follow, as in [`Verdict::Reject`].
        position: u64,
    },
    /// A limit was reached; the word is neither accepted nor rejected.
    Stopped {
        /// The position of the token that was being read.
        position: u64,
        /// The limit that was reached.
        limit: Limit,
    },
}

impl Outcome {
    /// Returns whether the word is accepted.
    pub fn is_accept(self) -> bool {
        self == Self::Accept
    }

    /// Returns the name: `accept`, `incomplete`, `reject` or `stopped`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Incomplete => "incomplete",
            Self::Reject { .. } => "reject",
            Self::Stopped { .. } => "stopped",
        }
    }

    /// Returns the position of the token that cannot follow, or on which a limit was reached, counted from 0.
    pub fn position(self) -> Option<u64> {
        match self {
            Self::Reject { position } | Self::Stopped { position, .. } => Some(position),
            Self::Accept | Self::Incomplete => None,
        }
    }
}

/// What is asked about a word: a [`Verdict`], or only an [`Outcome`], for which no expected tokens are computed.
pub trait Judged: Clone + Send {
    /// Creates the answer. The expected tokens are computed if the answer has them.
    fn new(outcome: Outcome, expected: impl FnOnce() -> Vec<Lookahead>) -> Self;
}

impl Judged for Outcome {
    fn new(outcome: Outcome, _: impl FnOnce() -> Vec<Lookahead>) -> Self {
        outcome
    }
}

impl Judged for Verdict {
    fn new(outcome: Outcome, expected: impl FnOnce() -> Vec<Lookahead>) -> Self {
        match outcome {
            Outcome::Accept => Self::Accept,
            Outcome::Incomplete => Self::Incomplete { expected: expected() },
            Outcome::Reject { position } => Self::Reject { position, expected: expected() },
            Outcome::Stopped { position, limit } => Self::Stopped { position, limit },
        }
    }
}

impl Verdict {
    /// Returns the verdict without the expected tokens.
    pub fn outcome(&self) -> Outcome {
        match *self {
            Self::Accept => Outcome::Accept,
            Self::Incomplete { .. } => Outcome::Incomplete,
            Self::Reject { position, .. } => Outcome::Reject { position },
            Self::Stopped { position, limit } => Outcome::Stopped { position, limit },
        }
    }

    /// Returns whether the word is accepted.
    pub fn is_accept(&self) -> bool {
        self.outcome().is_accept()
    }

    /// Returns the verdict's name: `accept`, `incomplete`, `reject` or `stopped`.
    pub fn name(&self) -> &'static str {
        self.outcome().name()
    }

    /// Returns the position of the token that cannot follow, or on which a limit was reached, counted from 0.
    pub fn position(&self) -> Option<u64> {
        self.outcome().position()
    }

    /// Returns the limit that was reached, if any.
    pub fn limit(&self) -> Option<Limit> {
        match self {
            Self::Stopped { limit, .. } => Some(*limit),
            _ => None,
        }
    }

    /// Returns the lookaheads that were possible where the word goes wrong or ends. There are none if it was accepted
    /// or stopped.
    pub fn expected(&self) -> &[Lookahead] {
        match self {
            Self::Reject { expected, .. } | Self::Incomplete { expected } => expected,
            Self::Accept | Self::Stopped { .. } => &[],
        }
    }
}

/// The reason a run was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Limit {
    /// The stack would have grown beyond [`Limits::depth`].
    Depth,
    /// More decisions were taken on one token than [`Limits::actions`] and [`Limits::actions_per_symbol`] allow. The
    /// machine may be in a loop.
    Actions,
    /// A decision was to pop more symbols than the stack has.
    Underflow,
    /// The [observer](super::Observer::cancelled) asked to stop.
    Cancelled,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Depth => "depth",
            Self::Actions => "actions",
            Self::Underflow => "underflow",
            Self::Cancelled => "cancelled",
        })
    }
}

/// The resources that a run may use. The defaults are safe for hostile input and large enough for a stack of a million
/// symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of symbols on the stack.
    pub depth: usize,
    /// The number of decisions allowed on one token, in addition to those allowed for the depth of the stack.
    pub actions: u64,
    /// The number of decisions allowed on one token per symbol that is on the stack when the token is read. A closing
    /// bracket may reduce everything that is open, so a constant alone would be wrong.
    pub actions_per_symbol: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 1 << 22, actions: 1024, actions_per_symbol: 8 }
    }
}

impl Limits {
    pub(crate) fn actions_at(&self, depth: usize) -> u64 {
        self.actions_per_symbol.saturating_mul(depth as u64).saturating_add(self.actions)
    }
}
