//! Why a reservoir cannot be built, and the checks that find out.

/// The most neurons of a reservoir.
pub const MAX_NEURONS: usize = 1 << 12;

/// The most input weights of a reservoir: neurons times channels.
pub const MAX_INPUT_WEIGHTS: usize = 1 << 26;

/// Why a reservoir cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
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
pub(super) fn within(name: &'static str, given: f64, good: bool, needed: &'static str) -> Result<(), ReservoirError> {
    if good { Ok(()) } else { Err(ReservoirError::Range { name, given, needed }) }
}

/// What a finite weight or scale must be.
pub(super) fn finite(name: &'static str, given: f64) -> Result<(), ReservoirError> {
    within(name, given, given.is_finite(), "finite")
}

pub(super) fn check_neurons(neurons: usize) -> Result<(), ReservoirError> {
    within("neurons", neurons as f64, (1..=MAX_NEURONS).contains(&neurons), "from 1 to 4096")
}

/// A given matrix has as many entries as it must, all finite.
pub(super) fn shape(name: &'static str, given: &[f64], needed: usize) -> Result<(), ReservoirError> {
    given.iter().try_for_each(|&value| finite(name, value))?;
    if given.len() == needed { Ok(()) } else { Err(ReservoirError::Shape { name, given: given.len(), needed }) }
}

/// The number of input weights, if it is not too large.
pub(super) fn input_weights(neurons: usize, channels: usize) -> Result<usize, ReservoirError> {
    let needed = neurons.saturating_mul(channels);
    within("neurons times channels", needed as f64, needed <= MAX_INPUT_WEIGHTS, "at most 2^26")?;
    Ok(needed)
}

pub(super) fn check_leak(leak: f64) -> Result<(), ReservoirError> {
    within("leak", leak, leak > 0. && leak <= 1., "above 0 and at most 1")
}
