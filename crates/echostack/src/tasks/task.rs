//! The tasks by name: their automata, examples and parameters.

use std::ops::RangeInclusive;
use std::sync::Arc;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::copy;
use super::definition::{self, Definition};
use super::language::TaskLanguage;
use crate::automaton::{Automaton, Oracle};
use crate::language::{Language, WordKind, examples};
use crate::machine::{OutputReadout, Params};
use crate::name::named;
use crate::readout::Svm;
use crate::reservoir::{Legendre, ReservoirKind, ReservoirParams};
use crate::symbol::Alphabet;
use crate::teach::Trace;

/// A task of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Task {
    /// Words with an odd number of ones.
    Latch,
    /// Copying a sequence of bit vectors once.
    Copy,
    /// Copying a sequence of bit vectors several times.
    RepeatCopy,
    /// Balanced brackets of one kind.
    Dyck1,
    /// Balanced brackets of two kinds.
    Dyck2,
    /// Balanced brackets of three kinds.
    Dyck3,
    /// The words a^n b^n: some number of a, then the same number of b.
    Anbn,
    /// Palindromes with a marked center.
    Palindrome,
    /// A simplified version of JSON.
    Json,
}

/// One of the two sets of examples of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Split {
    /// Words of length 1 to 50 (copy: up to 20 vectors; repeat copy: up to 10 vectors and 10 repeats).
    Train,
    /// Words of length 50 to 200 (copy: as in training; repeat copy: up to 20 repeats).
    Test,
}

impl Split {
    /// Returns the range of word lengths for symbolic tasks.
    pub fn lengths(self) -> RangeInclusive<usize> {
        match self {
            Self::Train => 1..=50,
            Self::Test => 50..=200,
        }
    }

    /// Returns the random number generator for examples. With the same seed, the two splits have different streams.
    pub fn generator(self, seed: u64) -> ChaCha8Rng {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(match self {
            Self::Train => 0,
            Self::Test => 1,
        });
        random
    }
}

impl Task {
    /// All tasks, in the paper's order.
    pub const ALL: [Self; 9] = [
        Self::Latch,
        Self::Copy,
        Self::RepeatCopy,
        Self::Dyck1,
        Self::Dyck2,
        Self::Dyck3,
        Self::Anbn,
        Self::Palindrome,
        Self::Json,
    ];

    /// Returns the name of the task.
    pub fn name(self) -> &'static str {
        match self {
            Self::Latch => "latch",
            Self::Copy => "copy",
            Self::RepeatCopy => "repeat-copy",
            Self::Dyck1 => "dyck1",
            Self::Dyck2 => "dyck2",
            Self::Dyck3 => "dyck3",
            Self::Anbn => "anbn",
            Self::Palindrome => "palindrome",
            Self::Json => "json",
        }
    }

    /// Returns whether the task is a language, with an automaton and with words that consist of symbols.
    pub fn is_symbolic(self) -> bool {
        self.definition().is_some()
    }

    /// Returns the definition of a symbolic task, or `None` for the copy tasks.
    pub(super) fn definition(self) -> Option<&'static Definition> {
        match self {
            Self::Copy | Self::RepeatCopy => None,
            Self::Latch => Some(&definition::LATCH),
            Self::Dyck1 => Some(&definition::DYCK1),
            Self::Dyck2 => Some(&definition::DYCK2),
            Self::Dyck3 => Some(&definition::DYCK3),
            Self::Anbn => Some(&definition::ANBN),
            Self::Palindrome => Some(&definition::PALINDROME),
            Self::Json => Some(&definition::JSON),
        }
    }

    /// Returns the automaton of a symbolic task, with the paper's rules, or `None` for the copy tasks. Mistakes in the
    /// paper's rules are corrected; comments in `tasks/definition.rs` point them out.
    pub fn automaton(self) -> Option<Automaton> {
        self.definition().map(Definition::automaton)
    }

    /// Returns the alphabet of the task.
    pub fn alphabet(self) -> Arc<Alphabet> {
        match self.automaton() {
            Some(automaton) => automaton.alphabet().clone(),
            None => copy::alphabet(),
        }
    }

    /// Returns a symbolic task as a language whose words are drawn from the task's probabilistic grammar, or `None` for
    /// the copy tasks.
    pub fn language(self) -> Option<Arc<dyn Language>> {
        Some(Arc::new(TaskLanguage::new(self.name(), self.definition()?)))
    }

    /// Returns the probabilistic grammar that words are drawn from, one production per line, or `None` for the copy
    /// tasks.
    pub fn sampling_grammar(self) -> Option<String> {
        self.definition().map(Definition::describe)
    }

    /// Draws examples of the task as the paper does, each with its teaching signal in tolerant mode. The same seed
    /// gives the same examples; the two splits are drawn independently.
    pub fn examples(self, split: Split, count: usize, seed: u64) -> Vec<Trace> {
        let mut random = split.generator(seed);
        let Some(language) = self.language() else {
            let repeats = match (self, split) {
                (Self::Copy, _) => None,
                (_, Split::Train) => Some(10),
                (_, Split::Test) => Some(20),
            };
            return (0..count).map(|number| copy::example(&mut random, repeats, number)).collect();
        };
        let oracle = Oracle::tolerant(language.automaton().clone());
        examples(&*language, &oracle, WordKind::Valid, split.lengths(), count, &mut random)
    }

    /// Returns parameters that do well on the task with a reservoir of this kind. The seed determines the reservoir.
    ///
    /// For languages, these are the parameters of [`Params::standard`]. The copy tasks use a longer memory in the
    /// Legendre network, a regression for the output, and a gamma of 0.1, because their decisions depend on a small
    /// part of a state full of random bits. The benchmark `zero_error` measures the error with all of these parameters.
    pub fn params(self, kind: ReservoirKind, neurons: usize, seed: u64) -> Params {
        let params = Params::standard(kind, neurons, seed);
        let theta = match self {
            Self::Copy => 28.,
            Self::RepeatCopy => 16.,
            _ => return params,
        };
        let reservoir = match params.reservoir {
            ReservoirParams::Legendre(legendre) => ReservoirParams::Legendre(Legendre { theta, ..legendre }),
            other => other,
        };
        let svm = Svm { gamma: 0.1, ..params.svm };
        Params { reservoir, svm, output: OutputReadout::Ridge { penalty: 1e-7 }, ..params }
    }
}

named!(Task, "task");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_have_their_lengths_and_repeat_with_the_seed() {
        for task in Task::ALL {
            let test = task.examples(Split::Test, 20, 5);
            assert_eq!(test.len(), 20, "{task}");
            assert_eq!(test, task.examples(Split::Test, 20, 5));
            assert_ne!(test, task.examples(Split::Test, 20, 6));
            if task.is_symbolic() {
                assert!(test.iter().all(|trace| (50..=200).contains(&trace.word().len())));
                let train = task.examples(Split::Train, 20, 5);
                assert!(train.iter().all(|trace| (1..=50).contains(&trace.word().len())));
                // The words are valid, so the last output is 1.
                assert!(test.iter().all(|trace| trace.steps()[trace.steps().len() - 1].output == [1.]), "{task}");
            }
        }
        let anbn = Task::Anbn.language().unwrap();
        assert_eq!(anbn.word(&mut ChaCha8Rng::seed_from_u64(0), 3..=3), None);
    }

    #[test]
    fn near_misses_are_outside_the_language_and_close_to_it() {
        let mut random = ChaCha8Rng::seed_from_u64(9);
        for task in Task::ALL.into_iter().filter(|task| task.is_symbolic()) {
            let language = task.language().unwrap();
            let oracle = Oracle::tolerant(language.automaton().clone());
            for kind in [WordKind::NearMiss, WordKind::Random] {
                let traces = examples(&*language, &oracle, kind, 50..=200, 50, &mut random);
                assert_eq!(traces.len(), 50);
                assert!(traces.iter().all(|trace| (47..=203).contains(&trace.word().len())));
                let accepted = traces.iter().filter(|trace| trace.steps()[trace.word().len()].output == [1.]).count();
                match kind {
                    WordKind::NearMiss => assert_eq!(accepted, 0, "{task}"),
                    _ => assert_eq!(accepted > 0, task == Task::Latch, "{task}"),
                }
            }
        }
        assert!(Task::Copy.language().is_none());
    }
}
