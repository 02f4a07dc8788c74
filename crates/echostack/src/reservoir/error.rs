//! The errors of building a reservoir, and the checks that detect them.

/// The maximum number of neurons of a machine's reservoir, and of any reservoir whose weights are dense.
pub const MAX_NEURONS: usize = 1 << 12;

/// The maximum number of neurons of a sparse reservoir that is not part of a machine.
const MAX_SPARSE_NEURONS: usize = 1 << 15;

/// The maximum number of recurrent weights of a random reservoir.
const MAX_RECURRENT_WEIGHTS: usize = 1 << 27;

/// The maximum number of input weights of a reservoir: neurons times channels.
pub const MAX_INPUT_WEIGHTS: usize = 1 << 26;

/// The reason a reservoir cannot be built.
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
        /// The requirement on the value.
        needed: &'static str,
    },
    /// The jumps of a cycle reservoir span more than half of it.
    #[error(
        "{neurons} neurons, but a cycle reservoir with jumps of length {length} needs at least {}", length.saturating_mul(2)
    )]
    Jumps {
        /// The length of a jump.
        length: usize,
        /// The number of neurons given.
        neurons: usize,
    },
    /// A Legendre delay network has fewer neurons than channels.
    #[error("{neurons} neurons for {channels} input channels; a Legendre delay network needs at least one per channel")]
    TooFewNeurons {
        /// The number of neurons given.
        neurons: usize,
        /// The number of channels needed.
        channels: usize,
    },
    /// The recurrent weights form no cycle: at this density, no weights were drawn, or none that feed back.
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
    /// Sparse weights are not sorted, occur twice, or lie outside the matrix.
    #[error("the sparse recurrent weights must lie inside the matrix, sorted by row and column and without duplicates")]
    Sparse,
    /// The number of channels of a given reservoir differs from the number of symbols of the alphabet.
    #[error("the reservoir has {given} input channels, but the alphabet has {needed} symbols")]
    Channels {
        /// The number of channels of the reservoir.
        given: usize,
        /// The number of symbols of the alphabet.
        needed: usize,
    },
}

/// Returns an error that names the parameter, unless the value is good.
pub(super) fn within(name: &'static str, given: f64, good: bool, needed: &'static str) -> Result<(), ReservoirError> {
    if good { Ok(()) } else { Err(ReservoirError::Range { name, given, needed }) }
}

/// Checks that a weight or scale is finite.
pub(super) fn finite(name: &'static str, given: f64) -> Result<(), ReservoirError> {
    within(name, given, given.is_finite(), "finite")
}

/// Checks the number of neurons of a machine's reservoir or of a dense reservoir.
pub(crate) fn check_neurons(neurons: usize) -> Result<(), ReservoirError> {
    within("neurons", neurons as f64, (1..=MAX_NEURONS).contains(&neurons), "from 1 to 4096")
}

/// Checks the number of neurons of a sparse reservoir that need not be part of a machine.
pub(super) fn check_sparse_neurons(neurons: usize) -> Result<(), ReservoirError> {
    within("neurons", neurons as f64, (1..=MAX_SPARSE_NEURONS).contains(&neurons), "from 1 to 32768")
}

/// Checks that a random reservoir does not have too many recurrent weights.
pub(super) fn check_density(neurons: usize, density: f64) -> Result<(), ReservoirError> {
    let weights = density * (neurons * neurons) as f64;
    within("density", density, weights <= MAX_RECURRENT_WEIGHTS as f64, "low enough for at most 2^27 recurrent weights")
}

/// Checks that a given matrix has the needed number of entries, all finite.
pub(super) fn shape(name: &'static str, given: &[f64], needed: usize) -> Result<(), ReservoirError> {
    given.iter().try_for_each(|&value| finite(name, value))?;
    if given.len() == needed { Ok(()) } else { Err(ReservoirError::Shape { name, given: given.len(), needed }) }
}

/// Returns the number of input weights, unless it is too large.
pub(super) fn input_weights(neurons: usize, channels: usize) -> Result<usize, ReservoirError> {
    let needed = neurons.saturating_mul(channels);
    within("neurons times channels", needed as f64, needed <= MAX_INPUT_WEIGHTS, "at most 2^26")?;
    Ok(needed)
}

pub(super) fn check_leak(leak: f64) -> Result<(), ReservoirError> {
    within("leak", leak, leak > 0. && leak <= 1., "above 0 and at most 1")
}
