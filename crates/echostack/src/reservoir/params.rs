//! The parameters from which reservoirs are built, and the construction of reservoirs from given weights.

use std::fmt;
use std::sync::Arc;

use super::cycle::{Cycle, CycleReservoir, Signs};
use super::error::{ReservoirError, check_neurons};
use super::legendre::{Legendre, LegendreReservoir};
use super::matrix::MatrixReservoir;
use super::network::Reservoir;
use super::parts::ReservoirParts;
use super::random::Random;
use crate::name::named;

/// A kind of reservoir in the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReservoirKind {
    /// A random reservoir, see [`Random`].
    Random,
    /// A cycle reservoir with jumps, see [`Cycle`].
    Cycle,
    /// A Legendre delay network, see [`Legendre`].
    Legendre,
}

impl ReservoirKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Random, Self::Cycle, Self::Legendre];

    /// Returns the name of the kind in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Cycle => "cycle",
            Self::Legendre => "legendre",
        }
    }
}

named!(ReservoirKind, "reservoir");

/// The specification of a reservoir: the parameters of one of the kinds in the paper, or a given reservoir.
#[derive(Clone, Debug)]
pub enum ReservoirParams {
    /// A random reservoir: sparse Gaussian weights, scaled to a spectral radius.
    Random(Random),
    /// A cycle reservoir with jumps.
    Cycle(Cycle),
    /// A Legendre delay network.
    Legendre(Legendre),
    /// A given reservoir, for example a [`MatrixReservoir`] or a type of your own. It must have one channel per symbol.
    Given(Arc<dyn Reservoir>),
}

impl ReservoirParams {
    /// Returns the default parameters of this kind of reservoir. If the kind has random weights, they are drawn with
    /// this seed.
    pub fn standard(kind: ReservoirKind, neurons: usize, seed: u64) -> Self {
        match kind {
            ReservoirKind::Random => Self::Random(Random { neurons, seed, ..Random::default() }),
            ReservoirKind::Cycle => Self::Cycle(Cycle { neurons, signs: Signs::Seed(seed), ..Cycle::default() }),
            ReservoirKind::Legendre => Self::Legendre(Legendre { neurons, ..Legendre::default() }),
        }
    }

    /// Checks the parameters that do not depend on the number of channels.
    ///
    /// # Errors
    /// If a parameter is out of range; the error names the first one.
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

/// Writes the parameters as recorded in a model's manifest. The text is part of the file format and must not change.
impl fmt::Display for ReservoirParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random(Random { neurons, radius, density, input, bias, leak, seed }) => write!(
                f,
                "Random(Random {{ neurons: {neurons}, radius: {radius:?}, density: {density:?}, input: {input:?}, \
                 bias: {bias:?}, leak: {leak:?}, seed: {seed} }})"
            ),
            Self::Cycle(Cycle { neurons, input, cycle, jump, jump_length, bias, leak, signs }) => write!(
                f,
                "Cycle(Cycle {{ neurons: {neurons}, input: {input:?}, cycle: {cycle:?}, jump: {jump:?}, \
                 jump_length: {jump_length}, bias: {bias:?}, leak: {leak:?}, signs: {signs} }})"
            ),
            Self::Legendre(Legendre { neurons, theta }) => {
                write!(f, "Legendre(Legendre {{ neurons: {neurons}, theta: {theta:?} }})")
            }
            Self::Given(_) => f.write_str("given"),
        }
    }
}

impl ReservoirParts {
    /// Builds the reservoir with these weights.
    ///
    /// # Errors
    /// If a value is out of range or the parts do not fit together.
    pub fn build(self) -> Result<Arc<dyn Reservoir>, ReservoirError> {
        Ok(match self {
            Self::Matrix(parts) => Arc::new(MatrixReservoir::new(parts)?),
            Self::Cycle(parts) => Arc::new(CycleReservoir::new(parts)?),
            Self::Legendre(parts) => Arc::new(LegendreReservoir::new(parts)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_in_manifests_is_that_of_the_first_version() {
        let text = |kind, seed| ReservoirParams::standard(kind, 64, seed).to_string();
        assert_eq!(
            text(ReservoirKind::Cycle, 3),
            "Cycle(Cycle { neurons: 64, input: 1.0, cycle: 0.3, jump: 0.2, jump_length: 16, bias: 0.0, leak: 1.0, \
             signs: Seed(3) })"
        );
        assert_eq!(
            text(ReservoirKind::Random, 3),
            "Random(Random { neurons: 64, radius: 0.5, density: 0.1, input: 1.0, bias: 0.0, leak: 1.0, seed: 3 })"
        );
        assert_eq!(text(ReservoirKind::Legendre, 3), "Legendre(Legendre { neurons: 64, theta: 3.0 })");
        let pi = ReservoirParams::Cycle(Cycle::default()).to_string();
        assert!(pi.ends_with("signs: Pi })"));
    }
}
