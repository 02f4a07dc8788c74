//! The teaching signal that machines are trained on: what should be done at each step of a word.
//!
//! A [`Trace`] is the only form of training data (the paper's 5-tuple of inputs, pops, pushes, shifts and outputs). It
//! can be [recorded](record) from any recognizer, or constructed by the user's own code with [`Trace::new`].

mod contradiction;
mod corpus;
mod exercise;
mod json;
mod replay;
mod score;
mod trace;

pub use contradiction::{Contradiction, contradictions};
pub use corpus::{Context, Corpus, CorpusError, Depth, MAX_CONTEXTS};
pub use exercise::{Answer, Exercise};
pub use json::{
    ContextFile, MAX_LINE_BYTES, TraceFileError, TraceReader, read_contexts, read_traces, write_contexts, write_traces,
};
pub use replay::{Follower, Instruction};
pub use score::{Departure, Deviation, Score, compare, departures, output_error, score};
pub use trace::{Step, Trace, TraceError, TraceFault, digest, record};
