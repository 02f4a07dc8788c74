//! Reservoirs (Definition 3): fixed recurrent networks that turn a sequence into a state.
//!
//! A step is h' = (1 - leak) h + leak s(W h + U x + bias), Equation (1) of the paper for leak 1 and bias 0. A reservoir
//! is anything that implements [`Reservoir`]; [`ReservoirParams`] builds the three kinds of the paper.

mod cycle;
mod legendre;
mod matrix;
mod random;
mod run;

use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

pub use cycle::{Cycle, CycleParts, CycleReservoir, Signs};
pub use legendre::{Legendre, LegendreParts, LegendreReservoir};
pub use matrix::{MatrixParts, MatrixReservoir, Recurrent};
pub use random::Random;
pub use run::{Sequence, run};

use serde::{Deserialize, Serialize};

use crate::simd::{ABREAST, Abreast, Simd};

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

/// The groups of steps that go abreast. One that is left over has no use for that, and is taken here.
fn abreast<'a, 'b>(
    reservoir: &impl Reservoir,
    simd: Simd,
    steps: &'a mut [Transition<'b>],
) -> impl Iterator<Item = &'a mut [Transition<'b>]> {
    let alone = usize::from(steps.len() % ABREAST == 1);
    let (groups, alone) = steps.split_at_mut(steps.len() - alone);
    alone.iter_mut().for_each(|step| reservoir.step(simd, step.from, step.drive, step.to));
    groups.chunks_mut(ABREAST)
}

/// The recurrent part of several steps: what `multiply` makes of all states, put side by side, goes to where the next ones
/// are written. `neurons` are the ones that it is about.
fn recur_abreast(steps: &mut [Transition<'_>], neurons: Range<usize>, multiply: impl Fn(&[Abreast], &mut [Abreast])) {
    let mut from = vec![Abreast::default(); neurons.len()];
    let mut to = from.clone();
    for (lane, step) in steps.iter().enumerate() {
        let values = &step.from[neurons.clone()];
        from.iter_mut().zip(values).for_each(|(side_by_side, value)| side_by_side.0[lane] = *value);
    }
    multiply(&from, &mut to);
    for (lane, step) in steps.iter_mut().enumerate() {
        let values = &mut step.to[neurons.clone()];
        values.iter_mut().zip(&to).for_each(|(value, side_by_side)| *value = side_by_side.0[lane]);
    }
}

/// A recurrent network with fixed weights.
///
/// To use a network of your own, implement this and pass it as [`ReservoirParams::Given`]. Learning needs the echo state
/// property: what was read long ago must fade from the state.
///
/// ```
/// use echostack::{Drive, Reservoir, Simd};
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

/// The weights of a reservoir, as a model file keeps them.
#[derive(Clone, Debug, PartialEq)]
pub enum ReservoirParts {
    /// Of a [`MatrixReservoir`], and so of a random reservoir.
    Matrix(MatrixParts),
    /// Of a [`CycleReservoir`].
    Cycle(CycleParts),
    /// Of a [`LegendreReservoir`].
    Legendre(LegendreParts),
}

impl ReservoirParts {
    /// The reservoir of these parts.
    ///
    /// # Errors
    /// If the parts do not fit together.
    pub fn build(self) -> Result<Arc<dyn Reservoir>, ReservoirError> {
        Ok(match self {
            Self::Matrix(parts) => Arc::new(MatrixReservoir::new(parts)?),
            Self::Cycle(parts) => Arc::new(CycleReservoir::new(parts)?),
            Self::Legendre(parts) => Arc::new(LegendreReservoir::new(parts)?),
        })
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

/// The most neurons of a reservoir.
pub const MAX_NEURONS: usize = 1 << 12;

/// The most input weights of a reservoir: neurons times channels.
pub const MAX_INPUT_WEIGHTS: usize = 1 << 26;

/// Why a reservoir cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReservoirError {
    /// A parameter is out of its range.
    #[error("{name} is {given}, but must be {needed}")]
    Range {
        /// The parameter.
        name: &'static str,
        /// The value given.
        given: f64,
        /// What it must be.
        needed: &'static str,
    },
    /// A Legendre delay network needs a neuron for each channel at least.
    #[error("{neurons} neurons for {channels} input channels; a Legendre delay network needs at least one a channel")]
    TooFewNeurons {
        /// The neurons given.
        neurons: usize,
        /// The channels needed.
        channels: usize,
    },
    /// The density left no weight, or none that feeds back.
    #[error("the random recurrent weights have spectral radius 0; raise the density or the number of neurons")]
    NoRecurrence,
    /// A given matrix has the wrong number of entries.
    #[error("{name} has {given} entries, but {needed} are needed")]
    Shape {
        /// The matrix.
        name: &'static str,
        /// The number of entries given.
        given: usize,
        /// The number needed.
        needed: usize,
    },
    /// Sparse weights are not sorted, stand twice or lie outside the matrix.
    #[error("the sparse recurrent weights must be sorted by row and column, each place once, inside the matrix")]
    Sparse,
    /// A given reservoir has another number of channels than the alphabet needs.
    #[error("the reservoir has {given} input channels, but the alphabet has {needed} symbols")]
    Channels {
        /// The channels of the reservoir.
        given: usize,
        /// The symbols of the alphabet.
        needed: usize,
    },
}

/// A range check that names the parameter.
fn within(name: &'static str, given: f64, good: bool, needed: &'static str) -> Result<(), ReservoirError> {
    if good { Ok(()) } else { Err(ReservoirError::Range { name, given, needed }) }
}

/// What a finite weight or scale must be.
fn finite(name: &'static str, given: f64) -> Result<(), ReservoirError> {
    within(name, given, given.is_finite(), "finite")
}

fn check_neurons(neurons: usize) -> Result<(), ReservoirError> {
    within("neurons", neurons as f64, (1..=MAX_NEURONS).contains(&neurons), "from 1 to 4096")
}

/// A given matrix has as many entries as it must, all finite.
fn shape(name: &'static str, given: &[f64], needed: usize) -> Result<(), ReservoirError> {
    given.iter().try_for_each(|&value| finite(name, value))?;
    if given.len() == needed { Ok(()) } else { Err(ReservoirError::Shape { name, given: given.len(), needed }) }
}

/// The number of input weights, if it is not too large.
fn input_weights(neurons: usize, channels: usize) -> Result<usize, ReservoirError> {
    let needed = neurons.saturating_mul(channels);
    within("neurons times channels", needed as f64, needed <= MAX_INPUT_WEIGHTS, "at most 2^26")?;
    Ok(needed)
}

fn check_leak(leak: f64) -> Result<(), ReservoirError> {
    within("leak", leak, leak > 0. && leak <= 1., "above 0 and at most 1")
}

/// How a reservoir is made.
#[derive(Clone, Debug)]
pub enum ReservoirParams {
    /// Sparse Gaussian weights scaled to a spectral radius.
    Random(Random),
    /// A cycle with jumps.
    Cycle(Cycle),
    /// A Legendre delay network.
    Legendre(Legendre),
    /// One of the user's own, for example a [`MatrixReservoir`]. It has a channel for each symbol.
    Given(Arc<dyn Reservoir>),
}

impl ReservoirParams {
    /// Checks the parameters that do not depend on the number of channels.
    ///
    /// # Errors
    /// The first parameter that is out of range.
    pub fn check(&self) -> Result<(), ReservoirError> {
        match self {
            Self::Random(params) => params.check(),
            Self::Cycle(params) => params.check(),
            Self::Legendre(params) => params.check(),
            Self::Given(_) => Ok(()),
        }
    }

    /// Builds the reservoir for this many input channels.
    ///
    /// # Errors
    /// If a parameter is out of range or does not fit the number of channels.
    pub fn build(&self, channels: usize) -> Result<Arc<dyn Reservoir>, ReservoirError> {
        self.check()?;
        let reservoir: Arc<dyn Reservoir> = match self {
            Self::Random(params) => Arc::new(params.build(channels)?),
            Self::Cycle(params) => Arc::new(params.build(channels)?),
            Self::Legendre(params) => Arc::new(params.build(channels)?),
            Self::Given(reservoir) if reservoir.channels() == channels => reservoir.clone(),
            Self::Given(reservoir) => {
                return Err(ReservoirError::Channels { given: reservoir.channels(), needed: channels });
            }
        };
        check_neurons(reservoir.neurons())?;
        Ok(reservoir)
    }
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

/// Input weights, a column for each channel.
#[derive(Clone, Debug)]
struct InputWeights {
    neurons: usize,
    columns: Vec<f64>,
}

impl InputWeights {
    fn column(&self, channel: usize) -> &[f64] {
        &self.columns[channel * self.neurons..][..self.neurons]
    }

    fn channels(&self) -> usize {
        self.columns.len() / self.neurons
    }

    /// `to += U x`.
    fn add(&self, simd: Simd, drive: Drive<'_>, to: &mut [f64]) {
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

/// What follows the weighted sums of a step: bias, activation, leak.
#[derive(Clone, Debug)]
struct Finish {
    activation: Activation,
    leak: f64,
    /// One value a neuron, or none at all.
    bias: Vec<f64>,
}

impl Finish {
    fn apply(&self, simd: Simd, from: &[f64], to: &mut [f64]) {
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
