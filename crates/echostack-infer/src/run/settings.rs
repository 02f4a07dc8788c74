//! What is wanted of a run.

use crate::ask::queries::Asking;

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The seed of all random choices. Together with the examples and the oracle it determines the result.
    pub seed: u64,
    /// The number of random tests in a round.
    pub tests: usize,
    /// The maximum number of rounds.
    pub rounds: usize,
    /// The fraction of the examples that is held out from the beginning, to measure recall. If it is `None`, a fifth of
    /// at least 50 examples is held out, and none of fewer examples.
    pub hold_out: Option<f64>,
    /// The most token strings that are compared with the oracle after learning. All of up to a length are.
    pub strings: usize,
    /// The number of texts in each sample that is compared with the oracle after learning. There are more if learning took
    /// more than 200,000 queries.
    pub fresh: usize,
    /// The most texts that differ from an example in one character. All of the shortest examples are asked about before a
    /// run settles, and what they show is learned.
    pub neighbors: usize,
    /// One minus the confidence of the bounds.
    pub delta: f64,
    /// The lexer in Lex syntax, if the tokens are known. One that does not read all examples, or that is given together with
    /// [`Self::tokens`], is a part of a lexer: it is kept, and the other tokens are looked for.
    pub lexer: Option<String>,
    /// Whether to look for tokens before anything is learned, besides those that are given. If they do not explain the
    /// language, characters are used.
    pub tokens: bool,
    /// Whether to learn reductions of given tokens instead of modules: for languages without visible brackets.
    pub reductions: bool,
    /// Whether characters outside of ASCII are left out, with the examples that have some.
    pub ascii: bool,
    /// How texts are asked.
    pub asking: Asking,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            seed: 0,
            tests: 4000,
            rounds: 1000,
            hold_out: None,
            strings: 5000,
            fresh: 1000,
            neighbors: 100_000,
            delta: 0.05,
            lexer: None,
            tokens: false,
            reductions: false,
            ascii: false,
            asking: Asking::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_hold_nothing_out_on_their_own() {
        let settings = Settings::default();
        assert_eq!((settings.seed, settings.hold_out, settings.ascii, settings.reductions), (0, None, false, false));
        assert!(settings.lexer.is_none() && settings.delta == 0.05);
    }
}
