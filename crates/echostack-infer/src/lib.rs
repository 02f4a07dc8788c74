//! Infers a grammar and a lexer from example texts and a program that says whether a text is valid.
//!
//! This crate is for people who have no grammar, but a program that accepts or rejects texts, and a folder of texts that
//! it accepts. Nothing is known about the program: it is only run. If you have a grammar, use `echostack-grammar`.
//!
//! ```
//! use echostack_infer::{Ending, Settings, infer};
//! // Sums of numbers.
//! let oracle = |text: &str| text.split('+').all(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()));
//! let examples = ["1".to_string(), "12+3".to_string()];
//! let inferred = infer(&examples, &oracle, &Settings::default(), &())?;
//! assert_eq!(*inferred.ending(), Ending::Settled);
//! assert!(inferred.accepts("1+2+345") && !inferred.accepts("1++2"));
//! # Ok::<(), echostack_infer::InferError>(())
//! ```
//!
//! # How it works
//! A hypothesis is a *modular nested-word automaton*: a finite automaton for the top level, and one for each opener, over
//! classes of characters and closed words. It is found in these steps:
//! 1. Long examples, and many, are decomposed into short texts that are valid and show the same (`shrink`).
//! 2. Characters that can stand for each other are put into *classes* (`classes`, `charset`).
//! 3. *Tags*, which open and close, are found by pumping (`tags`).
//! 4. States are found by exact active learning (`learner`, `tree`).
//! 5. The hypothesis is tested on *suggestions*, which are exhaustive (`suggest`, `probe`), on random words (`rounds`,
//!    `draw`), and on whole examples (`whole`), until a whole round finds nothing.
//! 6. The hypothesis is written as a grammar with few rules (`readable`), which is used if it is shown to be the same
//!    language.
//!
//! With [`Settings::tokens`], tokens are found first (`tokens`): what stands between spaces that can be inserted, sorted by
//! the places that take it. Then, or if the tokens are known, the first two steps are left out. For given tokens there is also a second learner, of
//! languages without visible brackets (`reductions`).
//!
//! Without an oracle, [`guess`] makes an automaton from valid and invalid texts alone (`merging`).
//!
//! The same seed, examples and oracle give the same result, with any number of workers.

mod ask;
mod compare;
mod learn;
pub mod program;
mod run;
mod test;
#[cfg(test)]
mod testing;
mod text;
mod tokens;
mod write;

pub use ask::queries::{Asking, Stop};
pub use compare::{
    CompareError, CompareSettings, Disagreements, Kind, KnownKinds, Said, Side, Statement, UnreadableKinds, Vote,
    compare,
};
pub use run::attempt::Ending;
pub use run::bound::error_bound;
pub use run::checks::{Checks, Exhaustive, Neighbors, Sample};
pub use run::guess::{Guess, Texts, guess};
pub use run::infer::{InferError, Inferred, infer};
pub use run::inference::Spent;
pub use run::report::{FILES, Proved};
pub use run::settings::Settings;
pub use write::export::Files;
pub use write::grammar::{GrammarSize, InferredGrammar};
