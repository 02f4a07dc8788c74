//! Specifications of experiments, which are TOML files that say what to measure.

use std::collections::BTreeSet;

use echostack::tasks::Task;
use echostack_grammar::SubjectError;
use serde::{Deserialize, Serialize};

use crate::problem::Problem;
use crate::test_set::TestSet;

/// The specification of an experiment. Fields that are left out have the paper's values.
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
    /// The names of the tasks; `grammar:PATH` is a language of your own.
    pub tasks: Vec<String>,
    /// The names of the models.
    pub models: Vec<String>,
    /// The seed that determines everything random.
    pub seed: u64,
    /// The number of sets of hyperparameters that are tried.
    pub draws: usize,
    /// The number of data sets that each set of hyperparameters is tried on.
    pub validation_sets: usize,
    /// The number of times that the best set is trained and tested, each time on new data.
    pub repeats: usize,
    /// The numbers of training words. Each number is a separate experiment.
    pub train_words: Vec<usize>,
    /// The fraction of training words that are invalid: half of these are near misses, and half are random words.
    pub negatives: f64,
    /// The test sets that the models are tested on.
    pub tests: Vec<TestSet>,
    /// A hyperparameter whose values are compared instead of searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sweep: Option<Sweep>,
}

/// A hyperparameter with fixed values. Each value is a separate experiment, and the others are searched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// The name of the hyperparameter.
    pub name: String,
    /// Its values.
    pub values: Vec<f64>,
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
            sweep: None,
        }
    }
}

/// The reason why a specification cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpecificationError {
    /// The text is not valid TOML, or has an unknown or invalid field.
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    /// A value is out of range.
    #[error("{name} is {given}, but must be {needed}")]
    Range {
        /// The field.
        name: &'static str,
        /// The value that was given.
        given: String,
        /// The values that are allowed.
        needed: &'static str,
    },
    /// A name is neither a task nor a grammar that can be used.
    #[error(transparent)]
    Problem(#[from] SubjectError),
}

impl Specification {
    /// Reads a specification from TOML and checks it.
    ///
    /// # Errors
    /// If the specification is invalid.
    pub fn from_toml(text: &str) -> Result<Self, SpecificationError> {
        let this: Self = toml::from_str(text)?;
        this.problems()?;
        Ok(this)
    }

    /// Returns the specification as TOML.
    ///
    /// # Errors
    /// If a number is too large for the format.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    /// Returns the settings that differ from the paper's, in words. If there are any, the published figures are not
    /// comparable. The number of repeats does not count, nor do other tests or numbers of training words, which are
    /// separate measurements.
    pub fn unlike_paper(&self) -> Vec<String> {
        let paper = Self::default();
        let [given, wanted] = [self, &paper].map(|this| {
            let test = this.tests.iter().find(|test| test.name == paper.tests[0].name);
            let lengths = test.map_or((0, 0), |test| test.lengths);
            [
                ("draws", this.draws.to_string()),
                ("validation sets", this.validation_sets.to_string()),
                ("as the fraction of wrong training words", this.negatives.to_string()),
                ("test words", test.map_or(0, |test| test.words).to_string()),
                ("tokens per test word", format!("{} to {}", lengths.0, lengths.1)),
            ]
        });
        let differs = |((what, given), (_, wanted)): ((&str, String), (&str, String))| {
            (given != wanted).then(|| format!("{given} instead of {wanted} {what}"))
        };
        let swept = self.sweep.iter().map(|sweep| format!("{} not searched but compared", sweep.name));
        given.into_iter().zip(wanted).filter_map(differs).chain(swept).collect()
    }

    /// Checks the specification and opens its tasks.
    ///
    /// # Errors
    /// If a value is out of range, or if a name is neither a task nor a grammar that can be used.
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
            within("the end of lengths", test.lengths.1, 10_000_000, "from 1 to 10000000")?;
            within("the start of lengths", test.lengths.0, test.lengths.1, "from 1 to the end of lengths")?;
        }
        let names: BTreeSet<&str> = self.tests.iter().map(|test| test.name.as_str()).collect();
        within("the number of tests", names.len(), self.tests.len(), "at least 1")?;
        if names.len() < self.tests.len() || !(0. ..=1.).contains(&self.negatives) {
            let (name, needed) = ("negatives, or the name of a test,", "from 0 to 1, or used only once");
            return Err(SpecificationError::Range { name, given: self.negatives.to_string(), needed });
        }
        if let Some(Sweep { values, .. }) = &self.sweep {
            within("the number of values of sweep", values.len(), 1_000, "from 1 to 1000")?;
        }
        self.tasks.iter().map(|name| Problem::named(name).map_err(SpecificationError::Problem)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_settings_that_differ_from_the_paper_are_named() {
        assert!(Specification::default().unlike_paper().is_empty());
        let spec = |text: &str| Specification::from_toml(text).unwrap().unlike_paper();
        assert!(spec("tasks = ['dyck1']\ntrain_words = [10, 100]").is_empty());
        assert!(spec("repeats = 3").is_empty());
        let few = spec("draws = 5\n[[tests]]\nname = 'valid'\nwords = 20");
        assert_eq!(few, ["5 instead of 20 draws", "20 instead of 100 test words"]);
    }
}
