//! The reservoir stack machine (Definition 4): a reservoir, a stack, and readouts that control the stack.
//!
//! [`Params`] are checked once and then [fitted](Checked::fit) to traces (Algorithm 4). The resulting [`Machine`] is a
//! [`Recognizer`](crate::Recognizer) whose sessions run Algorithm 2. We deviate from the printed Algorithm 2 in one
//! respect: pop and push are decided on the same state, as in Algorithm 4 and in the proof of Theorem 3.

mod cells;
mod file;
mod fit;
mod lists;
mod params;
mod practice;
mod readouts;
mod session;
mod stack;
mod stack_machine;

pub(crate) use cells::{Certain, Certainty};
pub(crate) use file::{ReservoirHeader, read_projection, read_reservoir, write_projection, write_reservoir};
pub use fit::FitError;
pub(crate) use fit::{KernelBuilder, classify};
pub(crate) use lists::{List, Lists, Test};
pub use params::{ActionReadout, Checked, OutputReadout, ParamError, Params};
pub(crate) use practice::Practice;
pub(crate) use readouts::LabelledHead;
pub use readouts::Readout;
pub use session::MachineStack;
pub(crate) use stack::StateStack;
pub use stack_machine::{Choices, Machine};
