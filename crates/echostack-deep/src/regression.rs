//! Networks whose output is a map of their state: the GRU and the stack recurrent network.

use burn::tensor::{Tensor, activation::sigmoid};
use echostack::symbol::Input;
use echostack::{Trace, Word};

use crate::maps::{Drawing, MapId, Pass, matrix, values};
use crate::network::Network;

/// A recurrent layer.
pub trait Recurrent: Send + Sync {
    /// Returns the state after each input. The inputs are the rows of a matrix.
    fn states(&self, pass: &mut Pass<'_>, inputs: &Tensor<2>) -> Vec<Tensor<2>>;
}

/// A recurrent layer, and the map from its states to the outputs, which is linear, or linear followed by a sigmoid.
///
/// The loss is the mean squared error over steps and output values, for languages as well. This is our interpretation
/// of the paper, which does not name a loss.
pub struct Regression<R> {
    channels: usize,
    layer: R,
    output: MapId,
    squashes: bool,
}

impl<R: Recurrent> Regression<R> {
    pub fn new(layer: R, drawing: &mut Drawing<'_>, [channels, units, outputs]: [usize; 3]) -> Self {
        Self { channels, layer, output: drawing.linear(units, outputs), squashes: false }
    }

    /// Applies a sigmoid to the outputs.
    pub fn with_sigmoid(self) -> Self {
        Self { squashes: true, ..self }
    }

    fn predict(&self, pass: &mut Pass<'_>, word: &Word, steps: usize) -> Tensor<2> {
        let states = self.layer.states(pass, &encode(self.channels, inputs(word).take(steps)));
        let outputs = pass.apply(self.output, Tensor::cat(states, 0));
        if self.squashes { sigmoid(outputs) } else { outputs }
    }
}

impl<R: Recurrent> Network for Regression<R> {
    fn loss(&self, pass: &mut Pass<'_>, trace: &Trace) -> Tensor<1> {
        let predicted = self.predict(pass, trace.word(), trace.steps().len());
        let targets = trace.steps().iter().flat_map(|step| &step.output).map(|&value| value as f32);
        let error = predicted - matrix(targets.collect(), trace.output_width());
        error.slice_dim(0, trace.taught()).square().mean()
    }

    fn outputs(&self, pass: &mut Pass<'_>, word: &Word) -> Vec<f64> {
        values(self.predict(pass, word, word.len() + 1)).into_iter().map(f64::from).collect()
    }
}

/// Returns the inputs of a word, followed by `None` for its end.
pub fn inputs(word: &Word) -> impl Iterator<Item = Option<Input<'_>>> {
    word.inputs().map(Some).chain([None])
}

/// Encodes inputs as the rows of a matrix: symbols one-hot, vectors in the first channels, the end as zeros.
pub fn encode<'a>(channels: usize, inputs: impl Iterator<Item = Option<Input<'a>>>) -> Tensor<2> {
    let mut rows = Vec::new();
    for input in inputs {
        let start = rows.len();
        rows.resize(start + channels, 0.);
        match input {
            Some(Input::Symbol(symbol)) => rows[start + symbol.index()] = 1.,
            Some(Input::Vector(vector)) => {
                rows[start..].iter_mut().zip(vector).for_each(|(channel, &value)| *channel = value as f32);
            }
            None => {}
        }
    }
    matrix(rows, channels)
}
