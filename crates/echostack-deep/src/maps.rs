//! The linear maps of a network: forward passes, gradients and training.
//!
//! A recurrent network applies the same few maps at every step. By default, automatic differentiation would compute the
//! gradient of the whole weight matrix (an outer product) for each application, and add them all up. To avoid this, the
//! weights are constants for automatic differentiation: it only computes the gradient of the *result* of each
//! application, through a leaf that is added there. The gradient of the weights, the sum of those outer products, is
//! then a single matrix product per word.

use burn::optim::{Adam, AdamConfig, AdamState, Optimizer, decay::WeightDecayConfig};
use burn::tensor::{Device, Tensor, TensorData};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Creates a matrix from the values of its rows, one row after the other.
pub fn matrix(values: Vec<f32>, width: usize) -> Tensor<2> {
    let rows = values.len() / width;
    Tensor::from_data(TensorData::new(values, [rows, width]), &Device::flex())
}

/// Returns a row of zeros: the state of a network before its first input.
pub fn zeros(width: usize) -> Tensor<2> {
    Tensor::zeros([1, width], &Device::flex())
}

/// Returns the values of a matrix, row by row.
pub fn values(matrix: Tensor<2>) -> Vec<f32> {
    matrix.try_into_vec_as().expect("a matrix holds 32-bit values")
}

/// The index of a map in the [`Maps`] of its network.
#[derive(Clone, Copy)]
pub struct MapId(usize);

/// All linear maps of a network.
pub struct Maps(Vec<Map>);

/// The map x W + b, applied to row vectors.
struct Map {
    weights: Learned,
    bias: Learned,
}

/// A trainable matrix, and Adam's moments of its gradients.
struct Learned {
    value: Tensor<2>,
    memory: Option<AdamState<2>>,
}

impl Learned {
    fn draw(random: &mut ChaCha8Rng, [rows, width]: [usize; 2], bound: f32) -> Self {
        let drawn = (0..rows * width).map(|_| random.random_range(-bound..=bound)).collect();
        Self { value: matrix(drawn, width), memory: None }
    }

    fn learn(&mut self, gradient: Tensor<2>, teacher: &Teacher) {
        let (value, memory) = teacher.adam.step(teacher.rate, self.value.clone(), gradient, self.memory.take());
        (self.value, self.memory) = (value, memory);
    }
}

/// Adam, as in PyTorch: the weight decay is added to the gradient, and epsilon is 1e-8.
pub struct Teacher {
    adam: Adam,
    rate: f64,
}

impl Teacher {
    pub fn new(rate: f64, weight_decay: f64) -> Self {
        let decay = WeightDecayConfig::new(weight_decay as f32);
        Self { adam: AdamConfig::new().with_epsilon(1e-8).with_weight_decay(Some(decay)).build(), rate }
    }
}

/// A builder of maps whose weights and biases are drawn uniformly between two bounds.
pub struct Drawing<'a> {
    maps: Vec<Map>,
    random: &'a mut ChaCha8Rng,
}

impl<'a> Drawing<'a> {
    pub fn new(random: &'a mut ChaCha8Rng) -> Self {
        Self { maps: Vec::new(), random }
    }

    /// Adds a map that is part of a recurrent layer. As in PyTorch, its weights are bounded by 1/sqrt(units), whatever
    /// its inputs.
    pub fn recurrent(&mut self, inputs: usize, units: usize) -> MapId {
        self.bounded(inputs, units, units)
    }

    /// Adds a map that is a layer of its own. As in PyTorch, its weights are bounded by 1/sqrt(inputs).
    pub fn linear(&mut self, inputs: usize, outputs: usize) -> MapId {
        self.bounded(inputs, outputs, inputs)
    }

    fn bounded(&mut self, inputs: usize, outputs: usize, spread: usize) -> MapId {
        let bound = (spread as f32).sqrt().recip();
        let weights = Learned::draw(self.random, [inputs, outputs], bound);
        let bias = Learned::draw(self.random, [1, outputs], bound);
        self.maps.push(Map { weights, bias });
        MapId(self.maps.len() - 1)
    }

    pub fn finish(self) -> Maps {
        Maps(self.maps)
    }
}

/// The gradients of a map's weights and of its bias.
pub struct Gradient {
    pub weights: Tensor<2>,
    pub bias: Tensor<2>,
}

impl Maps {
    /// Takes one training step, given one gradient for each map.
    pub fn learn(&mut self, gradients: Vec<Gradient>, teacher: &Teacher) {
        for (map, gradient) in self.0.iter_mut().zip(gradients) {
            map.weights.learn(gradient.weights, teacher);
            map.bias.learn(gradient.bias, teacher);
        }
    }
}

/// A forward pass of one word through the maps.
pub struct Pass<'a> {
    maps: &'a [Map],
    /// In a pass for training, the inputs of each map and the leaves that were added to its results.
    tape: Option<Vec<Applied>>,
}

#[derive(Clone, Default)]
struct Applied {
    inputs: Vec<Tensor<2>>,
    leaves: Vec<Tensor<2>>,
}

impl<'a> Pass<'a> {
    /// Starts a pass that only computes results.
    pub fn new(maps: &'a Maps) -> Self {
        Self { maps: &maps.0, tape: None }
    }

    /// Starts a pass for training, which [`Pass::gradients`] needs.
    pub fn learning(maps: &'a Maps) -> Self {
        Self { maps: &maps.0, tape: Some(vec![Applied::default(); maps.0.len()]) }
    }

    /// Applies a map to each row of a matrix.
    pub fn apply(&mut self, id: MapId, rows: Tensor<2>) -> Tensor<2> {
        let Map { weights, bias } = &self.maps[id.0];
        let product = rows.clone().matmul(weights.value.clone());
        let mut bias = bias.value.clone();
        if let Some(tape) = &mut self.tape {
            bias = bias.expand(product.dims()).autodiff().require_grad();
            tape[id.0].inputs.push(rows.inner());
            tape[id.0].leaves.push(bias.clone());
        }
        product + bias
    }

    /// Applies a map to each row of a matrix of constants, and returns the resulting rows one by one. Each of them may
    /// be used many times.
    pub fn apply_each(&mut self, id: MapId, rows: Tensor<2>) -> Vec<Tensor<2>> {
        let Map { weights, bias } = &self.maps[id.0];
        let results = (rows.clone().matmul(weights.value.clone()) + bias.value.clone()).split(1, 0);
        let Some(tape) = &mut self.tape else { return results };
        let leaves: Vec<_> = results.into_iter().map(|row| row.autodiff().require_grad()).collect();
        tape[id.0].inputs.push(rows);
        tape[id.0].leaves.extend_from_slice(&leaves);
        leaves
    }

    /// Returns the gradients of all maps for a loss that was computed in this pass. Each map must have been applied at
    /// least once.
    pub fn gradients(self, loss: &Tensor<1>) -> Vec<Gradient> {
        let mut flow = loss.backward();
        let mut gradient = |Applied { inputs, leaves }| {
            let unreached = |leaf: &Tensor<2>| leaf.clone().inner().zeros_like();
            let flows = leaves.iter().map(|leaf| leaf.grad_remove(&mut flow).unwrap_or_else(|| unreached(leaf)));
            let flows = Tensor::cat(flows.collect(), 0);
            let weights = Tensor::cat(inputs, 0).transpose().matmul(flows.clone());
            Gradient { weights, bias: flows.sum_dim(0) }
        };
        self.tape.into_iter().flatten().map(&mut gradient).collect()
    }
}

#[cfg(test)]
mod tests {
    use echostack::tasks::{Split, Task};
    use rand::SeedableRng;

    use super::*;
    use crate::{Architecture, Trained};

    impl Maps {
        /// Makes a map return the same result for every input.
        pub fn fix(&mut self, id: MapId, result: Vec<f32>) {
            let Map { weights, bias } = &mut self.0[id.0];
            weights.value = weights.value.zeros_like();
            bias.value = matrix(result, bias.value.dims()[1]);
        }
    }

    fn part(map: &mut Map, is_bias: bool) -> &mut Tensor<2> {
        if is_bias { &mut map.bias.value } else { &mut map.weights.value }
    }

    /// Compares every gradient with central differences of the loss. The two must agree to one percent of the
    /// gradient's length; because the loss has 32 bits, they differ by up to half of that.
    #[test]
    fn gradients_are_those_of_finite_differences() {
        const STEP: f32 = 1e-2;
        for task in [Task::Anbn, Task::Copy] {
            let examples = task.examples(Split::Train, 30, 0);
            let trace =
                examples.iter().filter(|trace| trace.steps().len() >= 5).min_by_key(|trace| trace.steps().len());
            let trace = trace.unwrap();
            for architecture in Architecture::ALL {
                let mut random = ChaCha8Rng::seed_from_u64(1);
                let mut trained = Trained::new(architecture, &task.alphabet(), &[trace], 4, &mut random);
                let loss = |trained: &Trained| -> f32 {
                    trained.network.loss(&mut Pass::new(&trained.maps), trace).into_scalar()
                };
                let mut pass = Pass::learning(&trained.maps);
                let found = trained.network.loss(&mut pass, trace);
                let gradients = pass.gradients(&found);
                assert_eq!(found.into_scalar::<f32>(), loss(&trained), "both kinds of pass compute the same loss");
                for (number, Gradient { weights, bias }) in gradients.into_iter().enumerate() {
                    for (is_bias, gradient) in [(false, weights), (true, bias)] {
                        let width = gradient.dims()[1];
                        let gradient = values(gradient);
                        let before = values(part(&mut trained.maps.0[number], is_bias).clone());
                        let mut moved = |at: usize, step: f32| {
                            let mut after = before.clone();
                            after[at] += step;
                            *part(&mut trained.maps.0[number], is_bias) = matrix(after, width);
                            loss(&trained)
                        };
                        let differences: Vec<f32> =
                            (0..gradient.len()).map(|at| (moved(at, STEP) - moved(at, -STEP)) / (2. * STEP)).collect();
                        *part(&mut trained.maps.0[number], is_bias) = matrix(before, width);
                        let length = |of: &mut dyn Iterator<Item = f32>| of.map(|x| x * x).sum::<f32>().sqrt();
                        let error = length(&mut differences.iter().zip(&gradient).map(|(a, b)| a - b));
                        let scale = length(&mut gradient.iter().copied());
                        assert!(
                            scale > 0. && error < 0.01 * scale + 1e-4,
                            "{architecture}, map {number}: {error} of {scale}"
                        );
                    }
                }
            }
        }
    }
}
