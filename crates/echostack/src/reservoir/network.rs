//! The trait of all reservoirs: one step from state to state, Equation (1) of the paper.

use std::any::Any;
use std::fmt::Debug;

use super::parts::ReservoirParts;
use crate::simd::Simd;

/// What drives a reservoir in one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Drive<'a> {
    /// The zero vector: the end of a word.
    Silence,
    /// One on this channel: a symbol.
    Channel(usize),
    /// These values on the first channels, zero on the others.
    Values(&'a [f64]),
}

/// One step of one of several networks that run side by side.
#[derive(Debug)]
pub struct Transition<'a> {
    /// The state.
    pub from: &'a [f64],
    /// The input.
    pub drive: Drive<'a>,
    /// Where the next state is written.
    pub to: &'a mut [f64],
}

/// A recurrent network with fixed weights.
///
/// To use a network of your own, implement this and pass it as [`ReservoirParams::Given`](super::ReservoirParams::Given). Learning needs the echo state
/// property: what was read long ago must fade from the state.
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
    /// The number of neurons: the length of a state.
    fn neurons(&self) -> usize;

    /// The number of input channels.
    fn channels(&self) -> usize;

    /// One step from the state `from` to the state `to`, which have [`Reservoir::neurons`] values each.
    fn step(&self, simd: Simd, from: &[f64], drive: Drive<'_>, to: &mut [f64]);

    /// Takes steps that do not depend on each other. Override it if several at once are faster than one by one; the states
    /// must be those of [`Reservoir::step`], bit for bit.
    fn steps(&self, simd: Simd, steps: &mut [Transition<'_>]) {
        for step in steps {
            self.step(simd, step.from, step.drive, step.to);
        }
    }

    /// What a model file keeps of the reservoir; a reservoir that gives nothing cannot be saved. Proofs are about the
    /// library's own kinds: a machine with a reservoir of another type must be saved and read back first.
    fn parts(&self) -> Option<ReservoirParts> {
        None
    }
}

/// The state after a whole sequence, from the zero state: the paper's h_R(x_1, ..., x_T).
pub fn encode<'a>(reservoir: &dyn Reservoir, simd: Simd, drives: impl IntoIterator<Item = Drive<'a>>) -> Vec<f64> {
    let mut state = vec![0.; reservoir.neurons()];
    let mut next = state.clone();
    for drive in drives {
        reservoir.step(simd, &state, drive, &mut next);
        std::mem::swap(&mut state, &mut next);
    }
    state
}
