//! How a reservoir is made: from parameters, or from given weights.

use std::sync::Arc;

use super::cycle::{Cycle, CycleReservoir};
use super::error::{ReservoirError, check_neurons};
use super::legendre::{Legendre, LegendreReservoir};
use super::matrix::MatrixReservoir;
use super::network::Reservoir;
use super::parts::ReservoirParts;
use super::random::Random;

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
