//! The reservoir stack machine (Definition 4): a reservoir, a stack, and readouts that drive it.
//!
//! [`Params`] are checked once and then [fit](Checked::fit) traces (Algorithm 3); the [`Machine`] is a
//! [`Recognizer`](crate::Recognizer) whose sessions run Algorithm 2. We depart from the printed Algorithm 2 in one point: pop and push are
//! decided on the same state, as in Algorithm 3 and in the proof of Theorem 2.

mod file;
mod fit;
mod lists;
mod params;
mod readouts;
mod session;
mod stack;
mod stack_machine;

pub use fit::FitError;
pub(crate) use lists::{List, Lists, Test};
pub use params::{ActionReadout, Checked, OutputReadout, ParamError, Params};
pub use readouts::Readout;
pub use session::MachineStack;
pub use stack_machine::{Choices, Machine};
