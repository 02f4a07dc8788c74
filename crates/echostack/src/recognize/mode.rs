//! The modes of a machine: whether it is strict or tolerant, and how it sees its input.

use serde::{Deserialize, Serialize};

use crate::name::named;

/// How tokens that cannot follow are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// A refused token is skipped, and the word is judged at its end, as in the paper.
    #[default]
    Tolerant,
    /// A refused token rejects the word at its position.
    Strict,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 2] = [Self::Tolerant, Self::Strict];

    /// Returns the mode's name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tolerant => "tolerant",
            Self::Strict => "strict",
        }
    }
}

named!(Mode, "mode");

/// The representation of the input that a machine sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum View {
    /// The state of the reservoir over the whole input so far, as in the paper.
    #[default]
    Reservoir,
    /// The encoding of the next token alone, which is all that an LR(1) decision needs.
    Symbol,
}

impl View {
    /// All views.
    pub const ALL: [Self; 2] = [Self::Reservoir, Self::Symbol];

    /// Returns the view's name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reservoir => "reservoir",
            Self::Symbol => "symbol",
        }
    }
}

named!(View, "view");
