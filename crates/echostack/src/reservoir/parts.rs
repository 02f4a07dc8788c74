//! The weights of reservoirs as plain data, in the form in which model files store them.

use serde::{Deserialize, Serialize};

/// The weights of a reservoir, as stored in a model file.
#[derive(Clone, Debug, PartialEq)]
pub enum ReservoirParts {
    /// The weights of a [`MatrixReservoir`](super::MatrixReservoir); random reservoirs are of this kind.
    Matrix(MatrixParts),
    /// The weights of a [`CycleReservoir`](super::CycleReservoir).
    Cycle(CycleParts),
    /// The weights of a [`LegendreReservoir`](super::LegendreReservoir).
    Legendre(LegendreParts),
}

/// The function applied to each neuron (the paper's sigma).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Activation {
    /// The hyperbolic tangent.
    Tanh,
    /// The identity: no activation function.
    Identity,
}

/// The matrices of a [`MatrixReservoir`](super::MatrixReservoir), row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixParts {
    /// The number of neurons, m.
    pub neurons: usize,
    /// The number of input channels, n: one per symbol of the alphabet.
    pub channels: usize,
    /// The input weights U: m rows of n weights.
    pub input: Vec<f64>,
    /// The recurrent weights W: m rows of m weights.
    pub recurrent: Recurrent,
    /// The values added to the neurons before the activation, one per neuron; empty for no bias.
    pub bias: Vec<f64>,
    /// The leak rate: the fraction of the new state in the mixture with the old state, above 0 and at most 1.
    pub leak: f64,
    /// The activation function.
    pub activation: Activation,
}

/// Recurrent weights.
#[derive(Clone, Debug, PartialEq)]
pub enum Recurrent {
    /// All m * m weights, row by row. If most of them are zero, the reservoir stores them sparsely anyway.
    Dense(Vec<f64>),
    /// The nonzero weights as (row, column, weight), sorted by row and column, without duplicates.
    Sparse(Vec<(u32, u32, f64)>),
}

/// The weights of a [`CycleReservoir`](super::CycleReservoir).
#[derive(Clone, Debug, PartialEq)]
pub struct CycleParts {
    /// The number of neurons.
    pub neurons: usize,
    /// The input weights, channel by channel.
    pub columns: Vec<f64>,
    /// The weight from each neuron to the next on the ring.
    pub cycle: f64,
    /// The weight of the jumps.
    pub jump: f64,
    /// The length of a jump, in neurons.
    pub jump_length: usize,
    /// The biases, one per neuron; empty for no bias.
    pub bias: Vec<f64>,
    /// The leak rate: the fraction of the new state in the mixture with the old state.
    pub leak: f64,
}

impl CycleParts {
    /// Returns the endpoints of each jump. The parts must be in range.
    pub(crate) fn jumps(&self) -> Vec<(u32, u32)> {
        let (m, l) = (self.neurons, self.jump_length);
        let mut jumps: Vec<(u32, u32)> = (0..=m - l).step_by(l).map(|i| (i as u32, ((i + l) % m) as u32)).collect();
        if m == 2 * l {
            jumps.truncate(1); // the jump from 0 to l and the jump from l back to 0 are the same
        }
        jumps
    }
}

/// The weights of a [`LegendreReservoir`](super::LegendreReservoir).
#[derive(Clone, Debug, PartialEq)]
pub struct LegendreParts {
    /// The number of input channels.
    pub channels: usize,
    /// The recurrent weights of one channel's neurons, column by column.
    pub recurrent: Vec<f64>,
    /// The input weights of one channel's neurons. Their number is the order of the network.
    pub input: Vec<f64>,
}
