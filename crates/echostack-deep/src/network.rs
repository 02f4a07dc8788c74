//! What the baselines have in common.

use burn::tensor::Tensor;
use echostack::{Trace, Word};

use crate::maps::Pass;

/// What the baselines do differently.
pub trait Network: Send + Sync {
    /// How far the network is from what a trace teaches.
    fn loss(&self, pass: &mut Pass<'_>, trace: &Trace) -> Tensor<1>;

    /// The outputs on a word, step by step.
    fn outputs(&self, pass: &mut Pass<'_>, word: &Word) -> Vec<f64>;
}
