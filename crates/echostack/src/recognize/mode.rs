//! What a machine may be asked to be: strict or tolerant, and how it sees its input.

use serde::{Deserialize, Serialize};

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
