//! The deep baselines of *Reservoir Stack Machines* (Paaßen, Schulz, Hammer, Neurocomputing 2021): a gated recurrent
//! unit, a stack recurrent network, and the paper's own machine with a gated recurrent unit instead of its reservoir.
//!
//! These networks are only for comparison. To train a machine that recognizes a language, use the crate `echostack`,
//! which does so in a second and can prove the machine right.
//!
//! All baselines learn from the same [`Trace`](echostack::Trace)s as a machine. The gated recurrent unit and the stack
//! recurrent network use only the outputs in the traces. All are trained by Adam on one word at a time, as in the
//! paper. On the same CPU, the same seed gives the same network, bit for bit: every weight and every choice of a word
//! is drawn from `ChaCha8Rng`, and there is only one thread.
//!
//! | module | contents |
//! |---|---|
//! | `maps` | linear maps, their gradients, Adam |
//! | `gru`, `stack_rnn` | the recurrent layers |
//! | `settings`, `train` | architectures, settings and the training itself |
//! | `regression` | a recurrent layer with an output: all baselines but the stack machine |
//! | `stack_machine` | the deep stack machine |
//! | `baseline` | all of them as models of `echostack_lab` |
//!
//! ```
//! use echostack::tasks::{Split, Task};
//! use echostack_deep::{Architecture, Hyperparameters, train};
//!
//! let traces = Task::Latch.examples(Split::Train, 10, 0);
//! let settings = Hyperparameters { units: 8, epochs: 20, ..Hyperparameters::default() };
//! let network = train(Architecture::Gru, &Task::Latch.alphabet(), &traces, &settings, &())?;
//! let outputs = network.outputs(&[traces[0].word()]);
//! assert_eq!(outputs[0].len(), traces[0].steps().len());
//! # Ok::<(), echostack_deep::DeepError>(())
//! ```

mod baseline;
mod gru;
mod maps;
mod network;
mod regression;
mod settings;
mod stack_machine;
mod stack_rnn;
mod train;

pub use baseline::baselines;
pub use settings::{Architecture, DeepError, Hyperparameters, MAX_UNITS};
pub use train::{Trained, train};
