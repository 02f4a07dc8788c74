//! What is compared: anything that learns outputs from traces.

use std::collections::BTreeMap;

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

/// The paper's metric: the mean absolute error of the output over the steps of a word, averaged over words. A step
/// without an output, or with one that is no number, counts as an error of 1.
pub fn error(model: &dyn Trained, traces: &[Trace]) -> f64 {
    let words: Vec<&Word> = traces.iter().map(Trace::word).collect();
    let given = model.outputs(&words);
    let one = |(trace, given): (&Trace, &Vec<f64>)| {
        let wanted = trace.steps().iter().flat_map(|step| &step.output);
        let difference = |(at, wanted): (usize, &f64)| match given.get(at) {
            Some(value) if value.is_finite() => (value - wanted).abs(),
            _ => 1.,
        };
        let count = trace.steps().iter().map(|step| step.output.len()).sum::<usize>();
        wanted.enumerate().map(difference).sum::<f64>() / count.max(1) as f64
    };
    traces.iter().zip(&given).map(one).sum::<f64>() / traces.len().max(1) as f64
}
