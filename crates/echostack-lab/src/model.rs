//! What is compared: anything that learns outputs from traces.

use std::collections::BTreeMap;

use echostack::teach::output_error;
use echostack::{Trace, Word};
use rand_chacha::ChaCha8Rng;

use crate::problem::Problem;

/// Hyperparameters by their names, as a record keeps them.
pub type Choice = BTreeMap<String, f64>;

/// Why a model could not be trained.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ModelError(pub String);

impl ModelError {
    /// From any error.
    pub fn new(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

/// A model that takes part in the experiments. To add one, implement this and put it into a [`crate::models::all`] of
/// your own; docs/add-a-baseline.md follows that once.
pub trait Model: Send + Sync {
    /// The name in tables and records.
    fn name(&self) -> &str;

    /// Whether it can be taught this task at all.
    fn takes(&self, _problem: &Problem) -> bool {
        true
    }

    /// Draws hyperparameters for a task, or none if there is nothing to choose: then no search takes place.
    fn draw(&self, problem: &Problem, random: &mut ChaCha8Rng) -> Option<Choice>;

    /// Makes what does not depend on the data. The same arguments give the same model.
    ///
    /// # Errors
    /// If the choice is none of this model.
    fn prepare(&self, problem: &Problem, choice: &Choice, seed: u64) -> Result<Box<dyn Prepared>, ModelError>;
}

/// A model with its hyperparameters.
pub trait Prepared: Send + Sync {
    /// Trains on traces.
    ///
    /// # Errors
    /// If it cannot be trained.
    fn train(&self, traces: &[Trace]) -> Result<Box<dyn Trained>, ModelError>;
}

/// A trained model.
pub trait Trained: Send + Sync {
    /// For each word all outputs of all steps, the last one at its end, one after the other.
    fn outputs(&self, words: &[&Word]) -> Vec<Vec<f64>>;
}

/// How far a model is from the truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// The paper's metric: the mean of [`output_error`] over words.
    pub error: f64,
    /// The part of words whose last output is off by more than a half: in a language, the words whose verdict is wrong.
    pub wrong: f64,
}

/// Compares a model with traces.
pub fn score(model: &dyn Trained, traces: &[Trace]) -> Score {
    let words: Vec<&Word> = traces.iter().map(Trace::word).collect();
    let one = |(trace, given): (&Trace, Vec<f64>)| {
        let wanted: Vec<f64> = trace.steps().iter().flat_map(|step| step.output.iter().copied()).collect();
        let last = wanted.len().saturating_sub(1);
        let right = given.get(last).zip(wanted.last()).is_some_and(|(given, wanted)| (given - wanted).abs() <= 0.5);
        (output_error(&given, &wanted), if right { 0. } else { 1. })
    };
    let all: Vec<(f64, f64)> = traces.iter().zip(model.outputs(&words)).map(one).collect();
    let mean = |of: fn(&(f64, f64)) -> f64| all.iter().map(of).sum::<f64>() / all.len().max(1) as f64;
    Score { error: mean(|word| word.0), wrong: mean(|word| word.1) }
}
