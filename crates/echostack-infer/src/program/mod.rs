//! Programs and functions that say whether a text is valid: oracles, in the literature on learning.

mod command;
mod line;
mod patience;
mod position;
mod process;
mod sandbox;

use std::io::ErrorKind;

pub use command::Command;
pub use line::{LineError, split};
pub use position::{Pattern, PatternError};
pub use process::Process;
pub use sandbox::{Sandbox, SandboxError};

/// The maximum length of a text that an oracle is asked about, in bytes.
pub const MAX_TEXT: usize = 1 << 20;

/// What an oracle says about a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The text is valid.
    Yes,
    /// The text is not valid.
    No,
    /// The text is not valid, and nothing is that begins with so many of its characters and the next one.
    NoAt(usize),
    /// There is no answer. The text is set aside.
    Failed(Failure),
}

/// Why there is no answer about a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Failure {
    /// The time limit was exceeded.
    Timeout,
    /// The program was ended by a signal, exited with a code above 125, or stopped in the middle of the protocol.
    Crash,
    /// The program's line is not an answer.
    Unclear,
    /// The program could not be started, for this reason.
    Start(ErrorKind),
}

impl Failure {
    /// Returns the failure's name, as used in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Crash => "crash",
            Self::Unclear => "unclear answer",
            Self::Start(ErrorKind::NotFound) => "could not be started: there is no such program",
            Self::Start(ErrorKind::PermissionDenied) => "could not be started: it may not be executed",
            Self::Start(_) => "could not be started",
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A program or function that says whether a text is valid.
///
/// The answer must depend on the text only. Any function from texts to `bool` will do:
///
/// ```
/// use echostack_infer::program::{Reply, Program};
/// let even = |text: &str| text.len() % 2 == 0;
/// assert_eq!(even.ask("ab"), Reply::Yes);
/// ```
pub trait Program: Sync {
    /// Returns whether a text is valid. Calls may come from several threads at once.
    fn ask(&self, text: &str) -> Reply;

    /// Returns whether the program can be asked about bytes that are not UTF-8.
    fn takes_bytes(&self) -> bool {
        false
    }

    /// Returns whether bytes are valid that need not be UTF-8. A program that only takes texts has no answer.
    fn ask_bytes(&self, bytes: &[u8]) -> Reply {
        std::str::from_utf8(bytes).map_or(Reply::Failed(Failure::Unclear), |text| self.ask(text))
    }

    /// Returns a name for messages and for the file of answers.
    fn name(&self) -> String {
        "a function".to_string()
    }

    /// Returns what the program must do, as a part of a sentence for those whose program gives no answers.
    fn protocol(&self) -> Option<String> {
        None
    }
}

impl<F: Fn(&str) -> bool + Sync> Program for F {
    fn ask(&self, text: &str) -> Reply {
        if self(text) { Reply::Yes } else { Reply::No }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_a_program() {
        let short = |text: &str| text.len() < 2;
        let program: &dyn Program = &short;
        assert_eq!((program.ask("a"), program.ask("ab")), (Reply::Yes, Reply::No));
        assert_eq!((program.name(), program.protocol()), ("a function".to_string(), None));
    }

    #[test]
    fn failures_say_what_happened() {
        let start = |kind| Failure::Start(kind).to_string();
        assert!(start(ErrorKind::NotFound).ends_with("there is no such program"));
        assert!(start(ErrorKind::PermissionDenied).ends_with("it may not be executed"));
        assert_eq!(start(ErrorKind::OutOfMemory), "could not be started");
        assert_eq!(Failure::Timeout.to_string(), "timeout");
    }
}
