//! The parameters with which machines learn the tasks.

use super::task::Task;
use crate::machine::{OutputReadout, Params};
use crate::readout::Svm;
use crate::reservoir::{Legendre, ReservoirKind, ReservoirParams};

impl Task {
    /// Returns parameters that do well on the task with a reservoir of this kind. The seed determines the reservoir.
    ///
    /// For languages, these are the parameters of [`Params::standard`]. The copy tasks use a longer memory in the
    /// Legendre network, a regression for the output, and a gamma of 0.1, because their decisions depend on a small
    /// part of a state full of random bits. The benchmark `zero_error` measures the error with all of these parameters.
    pub fn params(self, kind: ReservoirKind, neurons: usize, seed: u64) -> Params {
        let params = Params::standard(kind, neurons, seed);
        let theta = match self {
            Self::Copy => 28.,
            Self::RepeatCopy => 16.,
            _ => return params,
        };
        let reservoir = match params.reservoir {
            ReservoirParams::Legendre(legendre) => ReservoirParams::Legendre(Legendre { theta, ..legendre }),
            other => other,
        };
        let svm = Svm { gamma: 0.1, ..params.svm };
        Params { reservoir, svm, output: OutputReadout::Ridge { penalty: 1e-7 }, ..params }
    }
}
