//! The trait that all reservoirs implement: one step from state to state, Equation (1) of the paper.

use std::any::Any;
use std::fmt::Debug;

use super::parts::ReservoirParts;
use crate::simd::Simd;

/// The input to a reservoir in one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Drive<'a> {
    /// The zero vector, which stands for the end of a word.
    Silence,
    /// The value 1 on this channel and 0 on the others, which stands for a symbol.
    Channel(usize),
    /// These values on the first channels and 0 on the others.
    Values(&'a [f64]),
}

/// One of several independent steps that are taken side by side.
#[derive(Debug)]
pub struct Transition<'a> {
    /// The current state.
    pub from: &'a [f64],
    /// The input.
    pub drive: Drive<'a>,
    /// The buffer for the next state.
    pub to: &'a mut [f64],
}

/// A recurrent network with fixed weights.
///
/// To use your own network, implement this trait and pass the network as
/// [`ReservoirParams::Given`](super::ReservoirParams::Given). Learning requires the echo state property: inputs read
/// long ago must fade from the state.
///
/// ```
/// use echostack::reservoir::{Drive, Reservoir, Simd};
/// /// Remembers the last input and half of the state before it.
/// #[derive(Debug)]
/// struct Fading(usize);
/// impl Reservoir for Fading {
///     fn neurons(&self) -> usize { self.0 }
///     fn channels(&self) -> usize { self.0 }
///     fn step(&self, simd: Simd, from: &[f64], drive: Drive<'_>, to: &mut [f64]) {
///         to.iter_mut().zip(from).for_each(|(to, from)| *to = 0.5 * from);
///         match drive {
///             Drive::Silence => {}
///             Drive::Channel(channel) => to[channel] += 1.0,
///             Drive::Values(values) => to.iter_mut().zip(values).for_each(|(to, x)| *to += x),
///         }
///         simd.tanh(to);
///     }
/// }
/// let mut state = [0.0; 2];
/// Fading(2).step(Simd::default(), &[0.0; 2], Drive::Channel(1), &mut state);
/// assert_eq!(state, [0.0, 1f64.tanh()]);
/// ```
pub trait Reservoir: Any + Send + Sync + Debug {
    /// Returns the number of neurons, which is the length of a state.
    fn neurons(&self) -> usize;

    /// Returns the number of input channels.
    fn channels(&self) -> usize;

    /// Takes one step from the state `from` to the state `to`, which have [`Reservoir::neurons`] values each.
    fn step(&self, simd: Simd, from: &[f64], drive: Drive<'_>, to: &mut [f64]);

    /// Takes several steps that do not depend on each other. Override this method if taking several steps at once is
    /// faster than one by one. The states must be those of [`Reservoir::step`], bit for bit.
    fn steps(&self, simd: Simd, steps: &mut [Transition<'_>]) {
        for step in steps {
            self.step(simd, step.from, step.drive, step.to);
        }
    }

    /// Returns the weights that a model file stores, or `None` if the reservoir cannot be saved. Proofs cover only the
    /// library's own kinds of reservoir: a machine with a reservoir of another type must be saved and loaded first.
    fn parts(&self) -> Option<ReservoirParts> {
        None
    }
}

/// Returns the state after a whole sequence, starting from the zero state: the paper's h_R(x_1, ..., x_T).
pub fn encode<'a>(reservoir: &dyn Reservoir, simd: Simd, drives: impl IntoIterator<Item = Drive<'a>>) -> Vec<f64> {
    let mut state = vec![0.; reservoir.neurons()];
    let mut next = state.clone();
    for drive in drives {
        reservoir.step(simd, &state, drive, &mut next);
        std::mem::swap(&mut state, &mut next);
    }
    state
}
