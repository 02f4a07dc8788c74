//! The teaching signal: what should be done on a word, step by step.
//!
//! A [`Trace`] is the only way into training (the paper's 5-tuple of inputs, pops, pushes, shifts and outputs). It can be
//! [recorded](record) from any recogniser, or made by the user's own code with [`Trace::new`].

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
pub use score::{Comparison, Score, compare, output_error, score};
pub use trace::{Step, Trace, TraceError, TraceFault, digest, record};
