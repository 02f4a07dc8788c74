//! The weights of reservoirs as plain data: what a model file keeps of them.

use serde::{Deserialize, Serialize};

/// The weights of a reservoir, as a model file keeps them.
#[derive(Clone, Debug, PartialEq)]
pub enum ReservoirParts {
    /// Of a [`MatrixReservoir`](super::MatrixReservoir), and so of a random reservoir.
    Matrix(MatrixParts),
    /// Of a [`CycleReservoir`](super::CycleReservoir).
    Cycle(CycleParts),
    /// Of a [`LegendreReservoir`](super::LegendreReservoir).
    Legendre(LegendreParts),
}

/// The function applied to each neuron (the paper's sigma).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Activation {
    /// The hyperbolic tangent.
    Tanh,
    /// None.
    Identity,
}

/// The matrices of a [`MatrixReservoir`](super::MatrixReservoir), row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixParts {
    /// The number of neurons, m.
    pub neurons: usize,
    /// The number of input channels, n: one for each symbol of the alphabet.
    pub channels: usize,
    /// U, m rows of n weights.
    pub input: Vec<f64>,
    /// W, m rows of m weights.
    pub recurrent: Recurrent,
    /// A value added to each neuron before the activation; none if empty.
    pub bias: Vec<f64>,
    /// The part of the new state in the mixture with the old, above 0 and at most 1.
    pub leak: f64,
    /// The activation.
    pub activation: Activation,
}

/// Recurrent weights.
#[derive(Clone, Debug, PartialEq)]
pub enum Recurrent {
    /// All m * m weights, row by row. If most are zero they are stored sparsely all the same.
    Dense(Vec<f64>),
    /// The weights that are not zero: row, column, weight, sorted by row and column, each place once.
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
    /// How far a jump reaches.
    pub jump_length: usize,
    /// A value for each neuron, or none at all.
    pub bias: Vec<f64>,
    /// The part of the new state in the mixture with the old.
    pub leak: f64,
}

impl CycleParts {
    /// The ends of each jump. The parts are in range.
    pub(crate) fn jumps(&self) -> Vec<(u32, u32)> {
        let (m, l) = (self.neurons, self.jump_length);
        let mut jumps: Vec<(u32, u32)> = (0..=m - l).step_by(l).map(|i| (i as u32, ((i + l) % m) as u32)).collect();
        if m == 2 * l {
            jumps.truncate(1); // the way there and the way back are the same jump
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
    /// The input weights of one channel's neurons; their number is the order.
    pub input: Vec<f64>,
}
