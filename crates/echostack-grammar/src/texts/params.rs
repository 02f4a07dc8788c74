//! Which texts are drawn, and what is known about them.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use echostack::name::{self, UnknownName};

use super::damage::TextEdit;
use crate::judge::Fault;

/// A kind of texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TextKind {
    /// Drawn from the rules of the grammar and of its lexer.
    #[default]
    Valid,
    /// A valid text after one small edit, which is not valid any more.
    NearMiss,
    /// A valid text made from parts of examples.
    Spliced,
}

impl TextKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Valid, Self::NearMiss, Self::Spliced];

    /// Returns the name of the kind: `valid`, `near-miss` or `spliced`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::NearMiss => "near-miss",
            Self::Spliced => "spliced",
        }
    }
}

impl fmt::Display for TextKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for TextKind {
    type Err = UnknownName;

    fn from_str(given: &str) -> Result<Self, UnknownName> {
        name::find("kind of text", given, Self::ALL, Self::name)
    }
}

/// Which texts are drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextParams {
    /// The kind of texts.
    pub kind: TextKind,
    /// The number of tokens that a text may have. That of a near miss is the number before the edit.
    pub tokens: RangeInclusive<usize>,
    /// The number of characters that a text may have.
    pub characters: RangeInclusive<usize>,
    /// Whether no text is drawn twice. If there are no others, the texts end. Otherwise, they are independent of each other.
    pub distinct: bool,
    /// The seed. The same seed leads to the same texts.
    pub seed: u64,
}

impl Default for TextParams {
    fn default() -> Self {
        Self { kind: TextKind::Valid, tokens: 0..=50, characters: 0..=usize::MAX, distinct: true, seed: 0 }
    }
}

/// A text that was drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampledText {
    /// The text.
    pub text: String,
    /// What was done to a valid text, and the first mistake, as a [`Judge`](crate::Judge) reports it. A valid text has
    /// none.
    pub mistake: Option<(TextEdit, Fault)>,
}
