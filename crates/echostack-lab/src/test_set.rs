//! Test sets, which describe the words that models are tested on.

use echostack::language::WordKind;
use echostack::tasks::Split;
use serde::{Deserialize, Serialize};

/// A description of words that models are tested on. The copy tasks have only the paper's examples: valid words of the
/// paper's lengths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestSet {
    /// The name in records and tables.
    pub name: String,
    /// The kind of the words.
    #[serde(default)]
    pub kind: WordKind,
    /// The minimum and the maximum length.
    #[serde(default = "test_lengths")]
    pub lengths: (usize, usize),
    /// The number of words.
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
