//! Verdicts on words, and the limits of a run that can end it without one.

use std::fmt;

use crate::symbol::Lookahead;

/// The judgement of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The word is in the language.
    Accept,
    /// The word is the beginning of a word of the language, but no whole one (strict mode only).
    Incomplete {
        /// What could have followed.
        expected: Vec<Lookahead>,
    },
    /// The word is not in the language.
    Reject {
        /// The token that cannot stand where it stands, counted from 0. A tolerant recogniser judges at the end: then it
        /// is the length of the word, unless an input is outside the alphabet.
        position: u64,
        /// What could have stood there instead. Empty in tolerant mode, which does not know.
        expected: Vec<Lookahead>,
    },
    /// A limit was reached: neither accepted nor rejected.
    Stopped {
        /// The token that was being read.
        position: u64,
        /// The limit.
        limit: Limit,
    },
}

impl Verdict {
    /// Whether the word is accepted.
    pub fn is_accept(&self) -> bool {
        matches!(self, Self::Accept)
    }

    /// Its name: `accept`, `incomplete`, `reject` or `stopped`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Incomplete { .. } => "incomplete",
            Self::Reject { .. } => "reject",
            Self::Stopped { .. } => "stopped",
        }
    }

    /// The token that cannot stand where it stands, or at which a limit was reached, counted from 0.
    pub fn position(&self) -> Option<u64> {
        match self {
            Self::Reject { position, .. } | Self::Stopped { position, .. } => Some(*position),
            Self::Accept | Self::Incomplete { .. } => None,
        }
    }

    /// The limit that was reached, if one was.
    pub fn limit(&self) -> Option<Limit> {
        match self {
            Self::Stopped { limit, .. } => Some(*limit),
            _ => None,
        }
    }

    /// What could have stood where the word goes wrong or ends; nothing if it is accepted or was stopped.
    pub fn expected(&self) -> &[Lookahead] {
        match self {
            Self::Reject { expected, .. } | Self::Incomplete { expected } => expected,
            Self::Accept | Self::Stopped { .. } => &[],
        }
    }
}

/// Why a run was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Limit {
    /// The stack would have grown beyond [`Limits::depth`].
    Depth,
    /// More decisions were taken on one token than [`Limits::actions`] allows: the machine may loop.
    Actions,
    /// A decision asked to pop more symbols than the stack has.
    Underflow,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Depth => "depth",
            Self::Actions => "actions",
            Self::Underflow => "underflow",
        })
    }
}

/// What a run may use. The defaults are safe for hostile input and large enough for a million symbols of depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The greatest number of symbols on the stack.
    pub depth: usize,
    /// The decisions allowed on one token, apart from those for the depth.
    pub actions: u64,
    /// The decisions allowed on one token for each symbol on the stack when it is read. A closing bracket may reduce
    /// all that is open, so a constant alone would be wrong.
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
