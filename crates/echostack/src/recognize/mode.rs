//! What a machine may be asked to be: strict or tolerant, and how it sees its input.

use serde::{Deserialize, Serialize};

use crate::name::named;

/// What a token means that cannot follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The paper's machine: a refused token is skipped and the word is judged at its end.
    #[default]
    Tolerant,
    /// A refused token rejects the word at its position.
    Strict,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 2] = [Self::Tolerant, Self::Strict];

    /// Its name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tolerant => "tolerant",
            Self::Strict => "strict",
        }
    }
}

named!(Mode, "mode");

/// How a machine sees its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum View {
    /// The state of the reservoir over the whole input so far, as in the paper.
    #[default]
    Reservoir,
    /// The encoding of the next token alone: all that an LR(1) decision needs.
    Symbol,
}

impl View {
    /// All views.
    pub const ALL: [Self; 2] = [Self::Reservoir, Self::Symbol];

    /// Its name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reservoir => "reservoir",
            Self::Symbol => "symbol",
        }
    }
}

named!(View, "view");
