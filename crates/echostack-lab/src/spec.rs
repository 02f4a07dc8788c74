//! What is to be measured: the specification of an experiment, a TOML file.

use std::collections::BTreeSet;

use echostack::tasks::Task;
use echostack_grammar::SubjectError;
use serde::{Deserialize, Serialize};

use crate::problem::Problem;
use crate::test_set::TestSet;

/// The specification of an experiment. What is left out is as in the paper.
///
/// ```
/// let spec = echostack_lab::Specification::from_toml(r#"
///     tasks = ["dyck1"]
///     models = ["CRJ-RSM"]
///     repeats = 2
/// "#)?;
/// assert_eq!((spec.draws, spec.train_words.as_slice()), (20, [100].as_slice()));
/// # Ok::<(), echostack_lab::SpecificationError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Specification {
    /// The tasks, by their names; `grammar:PATH` is a language of your own.
    pub tasks: Vec<String>,
    /// The models, by their names.
    pub models: Vec<String>,
    /// Everything random follows from this.
    pub seed: u64,
    /// How many sets of hyperparameters are tried.
    pub draws: usize,
    /// On how many data sets each of them is tried.
    pub validation_sets: usize,
    /// How often the best set is trained and tested, each time on new data.
    pub repeats: usize,
    /// The number of training words; several numbers are several experiments.
    pub train_words: Vec<usize>,
    /// The part of training words that is wrong: near misses and random words, half each.
    pub negatives: f64,
    /// What the models are tested on.
    pub tests: Vec<TestSet>,
}

impl Default for Specification {
    fn default() -> Self {
        Self {
            tasks: Task::ALL.iter().map(|task| task.name().to_string()).collect(),
            models: Vec::new(),
            seed: 0,
            draws: 20,
            validation_sets: 3,
            repeats: 10,
            train_words: vec![100],
            negatives: 0.,
            tests: vec![TestSet::default()],
        }
    }
}

/// Why a specification cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpecificationError {
    /// It is no TOML, or has an unknown or a wrong field.
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    /// A value is out of range.
    #[error("{name} is {given}, but must be {needed}")]
    Range {
        /// The field.
        name: &'static str,
        /// What was given.
        given: String,
        /// What it must be.
        needed: &'static str,
    },
    /// A name is no task's, and no grammar's.
    #[error(transparent)]
    Problem(#[from] SubjectError),
}

impl Specification {
    /// Reads a specification and checks it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn from_toml(text: &str) -> Result<Self, SpecificationError> {
        let this: Self = toml::from_str(text)?;
        this.problems()?;
        Ok(this)
    }

    /// The specification as a file.
    ///
    /// # Errors
    /// If a number is too large for the format.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    /// Checks the specification and opens its tasks.
    ///
    /// # Errors
    /// What is out of range; a name that is no task's, and no grammar's.
    pub fn problems(&self) -> Result<Vec<Problem>, SpecificationError> {
        let within = |name, given: usize, most: usize, needed| {
            let wrong = SpecificationError::Range { name, given: given.to_string(), needed };
            if (1..=most).contains(&given) { Ok(()) } else { Err(wrong) }
        };
        within("draws", self.draws, 10_000, "from 1 to 10000")?;
        within("validation_sets", self.validation_sets, 1_000, "from 1 to 1000")?;
        within("repeats", self.repeats, 10_000, "from 1 to 10000")?;
        for &words in self.train_words.iter().chain(self.tests.iter().map(|test| &test.words)) {
            within("train_words or words", words, 1_000_000, "from 1 to 1000000")?;
        }
        for test in &self.tests {
            within("the lengths' end", test.lengths.1, 10_000_000, "from 1 to 10000000")?;
            within("the lengths' beginning", test.lengths.0, test.lengths.1, "from 1 to the end")?;
        }
        let names: BTreeSet<&str> = self.tests.iter().map(|test| test.name.as_str()).collect();
        within(
            "the number of tests with different names",
            names.len(),
            self.tests.len(),
            "that of all, and at least 1",
        )?;
        if names.len() < self.tests.len() || !(0. ..=1.).contains(&self.negatives) {
            let (name, needed) = ("negatives, or a test's name,", "from 0 to 1, or used once");
            return Err(SpecificationError::Range { name, given: self.negatives.to_string(), needed });
        }
        self.tasks.iter().map(|name| Problem::named(name).map_err(SpecificationError::Problem)).collect()
    }
}
