//! Reservoirs (Definition 3): fixed recurrent networks that turn a sequence into a state.
//!
//! A step is h' = (1 - leak) h + leak s(W h + U x + bias), which is Equation (1) of the paper for leak 1 and no bias. A
//! reservoir is any type that implements [`Reservoir`]; [`ReservoirParams`] builds the three kinds in the paper.

mod abreast;
mod cycle;
mod error;
mod legendre;
mod matrix;
mod network;
mod params;
mod parts;
mod random;
mod run;
mod weights;

pub use crate::simd::Simd;
pub use cycle::{Cycle, CycleReservoir, Signs};
pub(crate) use error::check_neurons;
pub use error::{MAX_INPUT_WEIGHTS, MAX_NEURONS, ReservoirError};
pub use legendre::{Legendre, LegendreReservoir};
pub use matrix::MatrixReservoir;
pub use network::{Drive, Reservoir, Transition, encode};
pub use params::{ReservoirKind, ReservoirParams};
pub use parts::{Activation, CycleParts, LegendreParts, MatrixParts, Recurrent, ReservoirParts};
pub use random::Random;
pub use run::{Sequence, run};
