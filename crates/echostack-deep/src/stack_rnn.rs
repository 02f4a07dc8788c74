//! The stack recurrent network of Suzgun, Gehrmann, Belinkov and Shieber (2019), with a softmax over push and pop.

use burn::tensor::{Tensor, activation::sigmoid, activation::softmax};

use crate::maps::{Drawing, MapId, Pass, zeros};
use crate::regression::Recurrent;

/// The number of values in an element of the stack. The reference implementation uses 5 by default; the paper does not
/// specify a number.
pub const ELEMENT: usize = 8;

/// A layer of tanh units with a stack of real-valued vectors:
///
/// h' = tanh(x U + (h + s_1 S) W), (push, pop) = softmax(h' A), v = sigmoid(h' V),
/// s' = push [v; s_1; s_2; ...] + pop [s_2; s_3; ...; 0],
///
/// where each product stands for a map with its own bias.
pub struct StackRnn {
    units: usize,
    input: MapId,
    state: MapId,
    top: MapId,
    action: MapId,
    value: MapId,
}

impl StackRnn {
    pub fn draw(drawing: &mut Drawing<'_>, channels: usize, units: usize) -> Self {
        Self {
            units,
            input: drawing.recurrent(channels, units),
            state: drawing.recurrent(units, units),
            top: drawing.linear(ELEMENT, units),
            action: drawing.linear(units, 2),
            value: drawing.linear(units, ELEMENT),
        }
    }

    /// Returns the stack after a step. It has one more row, because everything on it may have been pushed down.
    fn act(&self, pass: &mut Pass<'_>, state: &Tensor<2>, stack: Tensor<2>) -> Tensor<2> {
        let action = softmax(pass.apply(self.action, state.clone()), 1);
        let value = sigmoid(pass.apply(self.value, state.clone()));
        let [rows, _] = stack.dims();
        let below = stack.clone().slice_dim(0, 1..rows);
        let pushed = Tensor::cat(vec![value, stack], 0);
        let popped = Tensor::cat(vec![below, zeros(ELEMENT), zeros(ELEMENT)], 0);
        pushed * action.clone().slice_dim(1, 0..1) + popped * action.slice_dim(1, 1..2)
    }
}

impl Recurrent for StackRnn {
    fn states(&self, pass: &mut Pass<'_>, inputs: &Tensor<2>) -> Vec<Tensor<2>> {
        let mut state = zeros(self.units);
        // The rows that can be nonzero, followed by two rows of zeros, so that even the empty stack has a top.
        let mut stack = Tensor::cat(vec![zeros(ELEMENT); 2], 0);
        let readings = pass.apply_each(self.input, inputs.clone());
        let states = readings.into_iter().map(|input| {
            let top = pass.apply(self.top, stack.clone().slice_dim(0, 0..1));
            state = (pass.apply(self.state, state.clone() + top) + input).tanh();
            stack = self.act(pass, &state, stack.clone());
            state.clone()
        });
        states.collect()
    }
}
