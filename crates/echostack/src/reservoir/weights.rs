//! The parts that matrix and cycle reservoirs share: input weights, and the bias, activation and leak of a step.

use super::network::Drive;
use super::parts::Activation;
use crate::simd::Simd;

/// Input weights, one column per channel.
#[derive(Clone, Debug)]
pub(super) struct InputWeights {
    pub(super) neurons: usize,
    pub(super) columns: Vec<f64>,
}

impl InputWeights {
    pub(super) fn column(&self, channel: usize) -> &[f64] {
        &self.columns[channel * self.neurons..][..self.neurons]
    }

    pub(super) fn channels(&self) -> usize {
        self.columns.len() / self.neurons
    }

    /// Computes `to += U x`.
    pub(super) fn add(&self, simd: Simd, drive: Drive<'_>, to: &mut [f64]) {
        match drive {
            Drive::Silence => {}
            Drive::Channel(channel) => simd.add_scaled(1., self.column(channel), to),
            Drive::Values(values) => {
                for (channel, &value) in values.iter().enumerate().filter(|&(_, &value)| value != 0.) {
                    simd.add_scaled(value, self.column(channel), to);
                }
            }
        }
    }
}

/// The end of a step, after the weighted sums: bias, activation and leak.
#[derive(Clone, Debug)]
pub(super) struct Finish {
    pub(super) activation: Activation,
    pub(super) leak: f64,
    /// One value per neuron, or empty for no bias.
    pub(super) bias: Vec<f64>,
}

impl Finish {
    pub(super) fn apply(&self, simd: Simd, from: &[f64], to: &mut [f64]) {
        simd.add_scaled(1., &self.bias, to);
        if self.activation == Activation::Tanh {
            simd.tanh(to);
        }
        if self.leak < 1. {
            for (to, from) in to.iter_mut().zip(from) {
                *to = (1. - self.leak) * from + self.leak * *to;
            }
        }
    }
}
