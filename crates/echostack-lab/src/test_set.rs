//! The words that models are tested on.

use echostack::language::WordKind;
use echostack::tasks::Split;
use serde::{Deserialize, Serialize};

/// Words that models are tested on. The copy tasks have the paper's examples only: valid words of the paper's lengths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestSet {
    /// The name in records and tables.
    pub name: String,
    /// Which words.
    #[serde(default)]
    pub kind: WordKind,
    /// The least and the greatest length.
    #[serde(default = "test_lengths")]
    pub lengths: (usize, usize),
    /// How many words.
    #[serde(default = "test_words")]
    pub words: usize,
}

fn test_lengths() -> (usize, usize) {
    Split::Test.lengths().into_inner()
}

fn test_words() -> usize {
    100
}

impl Default for TestSet {
    fn default() -> Self {
        Self { name: "valid".into(), kind: WordKind::Valid, lengths: test_lengths(), words: test_words() }
    }
}
