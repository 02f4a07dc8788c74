//! The interface of the baselines.

use burn::tensor::Tensor;
use echostack::{Trace, Word};

use crate::maps::Pass;

/// A baseline, which differs from the others in its loss and its outputs.
pub trait Network: Send + Sync {
    /// Returns the training loss on a trace.
    fn loss(&self, pass: &mut Pass<'_>, trace: &Trace) -> Tensor<1>;

    /// Returns the outputs on a word, step by step.
    fn outputs(&self, pass: &mut Pass<'_>, word: &Word) -> Vec<f64>;
}
