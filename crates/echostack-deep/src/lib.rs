//! The deep baselines of *Reservoir Stack Machines* (Paaßen, Schulz, Hammer, Neurocomputing 2021): a gated recurrent
//! unit, a stack recurrent network, and the paper's own machine with a gated recurrent unit in the place of its
//! reservoir.
//!
//! They are here to be compared with. Who wants a machine that recognises a language should look at `echostack`, which
//! trains one in a second, and can prove it right.
//!
//! All three learn from the same [`Trace`]s as a machine does; the first two only look at the outputs in them. They are
//! trained by Adam on one word at a time, as the paper says. The same seed gives the same network to the bit on the
//! same CPU: every weight and every choice of a word is drawn from `ChaCha8Rng`, and there is one thread.
//!
//! | module | what is in it |
//! |---|---|
//! | `maps` | linear maps, how their gradients come about, Adam |
//! | `gru`, `stack_rnn` | the recurrent layers |
//! | `settings`, `train` | which network is trained, how, and the training |
//! | `regression` | a layer and a linear output: the first two baselines |
//! | `stack_machine` | the third |
//! | `baseline` | all of them as models of the laboratory |
//!
//! ```
//! use echostack::tasks::{Split, Task};
//! use echostack_deep::{Architecture, Settings, train};
//!
//! let traces = Task::Latch.examples(Split::Train, 10, 0);
//! let settings = Settings { units: 8, epochs: 20, ..Settings::default() };
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
pub use settings::{Architecture, DeepError, MAX_UNITS, Settings};
pub use train::{Trained, train};
