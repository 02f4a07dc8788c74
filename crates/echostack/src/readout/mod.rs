//! Readouts: what decides on a pair of states, the input's h and the stack's g.
//!
//! Every readout is split in two halves (a projection): what depends on h alone is computed once a token, what depends
//! on g alone once a push; a head joins the halves. For a support vector machine with RBF kernel the halves are the
//! factors exp(-gamma |h - h_i|^2) and exp(-gamma |g - g_i|^2) of its kernel values; for a linear map they are its two
//! summands. Many support vectors share a half, which is then computed once for all of them.
//!
//! A machine that was constructed has no support vectors: its heads are lists of clauses over linear values.

mod classifier;
mod cost;
mod head;
mod histories;
mod lessons;
mod projection;
mod ridge;
mod separate;
mod svm;

pub use classifier::{Classifier, ClassifierError};
pub(crate) use cost::{Outcome, at_rising_cost};
pub(crate) use head::{Clause, DecisionScratch, Head, Pair, place_of_pair};
pub(crate) use histories::{Histories, HistoryId, HistoryInput};
pub(crate) use lessons::{Distances, Labelled, Side, States, Values, scale};
pub use lessons::{Lesson, Lessons, StateId};
pub(crate) use projection::{HalfParts, KernelParts, Projection, ProjectionParts};
pub use ridge::least_squares;
pub(crate) use ridge::ridge;
pub(crate) use separate::{Affine, separate};
pub use svm::Svm;
pub(crate) use svm::{Fault, Problem, Shape, train};
