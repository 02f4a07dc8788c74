//! Gated recurrent units.

use burn::tensor::{Tensor, activation::sigmoid};

use crate::maps::{Drawing, MapId, Pass, zeros};
use crate::regression::Recurrent;

/// A layer of gated recurrent units, as in PyTorch:
///
/// r = sigmoid(x U_r + h W_r), z = sigmoid(x U_z + h W_z), n = tanh(x U_n + r (h W_n)), h' = (1 - z) n + z h,
///
/// where each product stands for a map with its own bias.
pub struct Gru {
    units: usize,
    reset: Gate,
    update: Gate,
    new: Gate,
}

/// The maps with which a gate reads the input and the previous state.
#[derive(Clone, Copy)]
struct Gate {
    input: MapId,
    state: MapId,
}

/// The contribution of one input to each gate.
pub struct Reading {
    reset: Tensor<2>,
    update: Tensor<2>,
    new: Tensor<2>,
}

impl Gru {
    pub fn draw(drawing: &mut Drawing<'_>, channels: usize, units: usize) -> Self {
        let mut gate = || Gate { input: drawing.recurrent(channels, units), state: drawing.recurrent(units, units) };
        Self { units, reset: gate(), update: gate(), new: gate() }
    }

    /// Returns the state before the first input.
    pub fn start(&self) -> Tensor<2> {
        zeros(self.units)
    }

    /// Returns the contribution of each input to the gates. These contributions do not depend on each other.
    pub fn read(&self, pass: &mut Pass<'_>, inputs: &Tensor<2>) -> Vec<Reading> {
        let [reset, update, new] =
            [self.reset, self.update, self.new].map(|gate| pass.apply_each(gate.input, inputs.clone()));
        let gates = reset.into_iter().zip(update).zip(new);
        gates.map(|((reset, update), new)| Reading { reset, update, new }).collect()
    }

    /// Returns the state after one more input.
    pub fn step(&self, pass: &mut Pass<'_>, state: &Tensor<2>, input: &Reading) -> Tensor<2> {
        let reset = sigmoid(pass.apply(self.reset.state, state.clone()) + input.reset.clone());
        let update = sigmoid(pass.apply(self.update.state, state.clone()) + input.update.clone());
        let new = (reset * pass.apply(self.new.state, state.clone()) + input.new.clone()).tanh();
        new.clone() + update * (state.clone() - new)
    }
}

impl Recurrent for Gru {
    fn states(&self, pass: &mut Pass<'_>, inputs: &Tensor<2>) -> Vec<Tensor<2>> {
        let mut state = self.start();
        let readings = self.read(pass, inputs);
        let states = readings.iter().map(|input| {
            state = self.step(pass, &state, input);
            state.clone()
        });
        states.collect()
    }
}
