//! How a command ends.

use echostack::Verdict;

/// The outcome of a command that ends without an error; it determines the exit code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    Accepted,
    Rejected,
    Stopped,
}

impl Outcome {
    /// Returns the outcome of a command that ends with a verdict.
    pub(crate) fn of(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Accept => Self::Accepted,
            Verdict::Incomplete { .. } | Verdict::Reject { .. } => Self::Rejected,
            Verdict::Stopped { .. } => Self::Stopped,
        }
    }
}

/// Returns whether the error is a closed pipe: the reader of our output has exited, as `head` does.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let kind = |error: &std::io::Error| error.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref().is_some_and(kind))
}
