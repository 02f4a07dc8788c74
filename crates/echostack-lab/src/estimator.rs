//! The models that experiments compare: anything that learns outputs from traces.

use std::collections::BTreeMap;

use echostack::teach::output_error;
use echostack::{Trace, Word};

use crate::problem::Problem;

/// Hyperparameters by name, as stored in records.
pub type Choice = BTreeMap<String, f64>;

/// The hyperparameters that a search chooses from: the name of each, and its possible values.
pub type Space = BTreeMap<String, Vec<f64>>;

/// The reason why a model could not be trained.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct EstimatorError(pub String);

impl EstimatorError {
    /// Creates the error from any other error.
    pub fn new(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

/// A model that takes part in the experiments.
///
/// To add a model, implement this trait and put it into a list of your own, such as the one that [`crate::models::all`]
/// returns; docs/add-a-baseline.md shows an example.
pub trait Estimator: Send + Sync {
    /// Returns the name of the model in tables and records.
    fn name(&self) -> &str;

    /// Returns whether the model can be trained on this problem.
    fn takes(&self, _problem: &Problem) -> bool {
        true
    }

    /// Returns the hyperparameters to choose from for a problem. If there are several spaces, the search takes turns.
    /// If there are none, there is no search.
    fn spaces(&self, problem: &Problem) -> Vec<Space>;

    /// Builds the part of the model that does not depend on the data. The same arguments give the same model.
    ///
    /// # Errors
    /// If these are not hyperparameters of this model.
    fn prepare(&self, problem: &Problem, choice: &Choice, seed: u64) -> Result<Box<dyn Prepared>, EstimatorError>;
}

/// A model with its hyperparameters, before training.
pub trait Prepared: Send + Sync {
    /// Trains the model on traces.
    ///
    /// # Errors
    /// If the model cannot be trained.
    fn train(&self, traces: &[Trace]) -> Result<Box<dyn Trained>, EstimatorError>;
}

/// A trained model.
pub trait Trained: Send + Sync {
    /// Returns the outputs on each word: the outputs of all steps, one after the other. The last step is at the end of
    /// the word.
    fn outputs(&self, words: &[&Word]) -> Vec<Vec<f64>>;
}

/// Errors of a model, measured against reference traces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TestErrors {
    /// The paper's metric: the mean of [`output_error`] over words.
    pub error: f64,
    /// The mean over words of the root mean square error over their outputs.
    pub root_mean_square: f64,
    /// The fraction of words whose last output is off by more than 0.5. For a language, these are the words with a
    /// wrong verdict.
    pub wrong: f64,
}

/// Compares the outputs of a model with those of traces.
pub fn score(model: &dyn Trained, traces: &[Trace]) -> TestErrors {
    let words: Vec<&Word> = traces.iter().map(Trace::word).collect();
    let one = |(trace, given): (&Trace, Vec<f64>)| {
        let wanted: Vec<f64> = trace.steps().iter().flat_map(|step| step.output.iter().copied()).collect();
        let last = wanted.len().saturating_sub(1);
        let right = given.get(last).zip(wanted.last()).is_some_and(|(given, wanted)| (given - wanted).abs() <= 0.5);
        let square = |(at, wanted): (usize, &f64)| match given.get(at) {
            Some(given) if given.is_finite() => (given - wanted) * (given - wanted),
            _ => 1., // as in `output_error`
        };
        let squares = wanted.iter().enumerate().map(square).sum::<f64>() / wanted.len().max(1) as f64;
        (output_error(&given, &wanted), squares.sqrt(), if right { 0. } else { 1. })
    };
    let all: Vec<(f64, f64, f64)> = traces.iter().zip(model.outputs(&words)).map(one).collect();
    let mean = |of: fn(&(f64, f64, f64)) -> f64| all.iter().map(of).sum::<f64>() / all.len().max(1) as f64;
    TestErrors { error: mean(|word| word.0), root_mean_square: mean(|word| word.1), wrong: mean(|word| word.2) }
}
