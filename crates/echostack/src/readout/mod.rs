//! Readouts, which make decisions from a pair of states: the state h of the input and the state g of the stack.
//!
//! Every readout is split into two halves (a projection) and a head that joins them. The half that depends only on h is
//! computed once per token, the half that depends only on g once per push. For a support vector machine with an RBF
//! kernel, the halves are the factors exp(-gamma |h - h_i|^2) and exp(-gamma |g - g_i|^2) of its kernel values; for a
//! linear map, they are its two summands. Many support vectors share a half, which is then computed once for all of
//! them.
//!
//! A machine that was constructed rather than trained has no support vectors: its heads are lists of clauses over
//! linear values.

mod classifier;
mod cost;
mod head;
mod histories;
mod lessons;
mod projection;
mod ridge;
mod separate;
mod side;
mod svm;

pub use classifier::{Classifier, ClassifierError};
pub(crate) use cost::{Outcome, at_rising_cost};
pub(crate) use head::{Clause, Decision, DecisionScratch, Head, Pair, place_of_pair};
pub(crate) use histories::{Histories, HistoryId, HistoryInput};
pub(crate) use lessons::{Distances, Labelled, States, Values, scale};
pub use lessons::{Lesson, Lessons, StateId};
pub(crate) use projection::{HalfParts, KernelParts, Projection, ProjectionParts};
pub use ridge::least_squares;
pub(crate) use ridge::ridge;
pub(crate) use separate::{Affine, separate};
pub(crate) use side::Side;
pub use svm::Svm;
pub(crate) use svm::{Fault, Problem, Shape, train};
