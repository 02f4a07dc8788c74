//! What several commands need for machines with two stacks: their files, their teachers, and their runs in words.

use std::path::Path;

use anyhow::{Context, Result, bail};
use echostack::Alphabet;
use echostack::file::{read_text, read_within};
use echostack::recognize;
use echostack::turing::{MAX_TEXT, RunLimits, Teacher, TwoStackMachine};

use crate::outcome::Outcome;
use crate::session::Session;

/// Returns the machine in a file, or `None` if the file is anything else.
pub(crate) fn open(session: &Session, path: &Path) -> Result<Option<TwoStackMachine>> {
    if !path.is_file() {
        return Ok(None);
    }
    let limits = session.model_limits.unwrap_or_default();
    let bytes = read_within(path, limits.bytes)?;
    if !TwoStackMachine::is_two_stacks(&bytes) {
        return Ok(None);
    }
    let machine = TwoStackMachine::from_bytes_within(&bytes, &limits);
    Ok(Some(machine.with_context(|| format!("could not read {}", path.display()))?.memoized()))
}

/// Reads a Turing machine, or rules with two stacks.
pub(crate) fn teacher(path: &Path) -> Result<Teacher> {
    let text = read_text(path, MAX_TEXT as u64)?;
    Teacher::read(&text).with_context(|| format!("could not read {} as a Turing machine or rules", path.display()))
}

/// Returns the word of these tokens.
pub(crate) fn word<'a>(alphabet: &Alphabet, names: impl IntoIterator<Item = &'a str>) -> Result<echostack::Word> {
    let names: Vec<&str> = names.into_iter().collect();
    match alphabet.word(names) {
        Ok(word) => Ok(word),
        Err(error) => bail!("{error}"),
    }
}

/// Returns the limits of a run with this many actions.
pub(crate) fn limits(actions: u64) -> RunLimits {
    RunLimits { actions, ..RunLimits::default() }
}

/// Describes the end of a run in English. Tokens are counted from 1.
pub(crate) fn tell(outcome: recognize::Outcome) -> String {
    use recognize::Outcome as Of;
    match outcome {
        Of::Accept => "accept".to_string(),
        Of::Incomplete => "incomplete: it halts without accepting".to_string(),
        Of::Reject { position } => format!("reject at token {}", position + 1),
        Of::Stopped { position, limit } => {
            format!("stopped at token {}: the limit on {limit} was reached", position + 1)
        }
    }
}

/// Returns the outcome of a command that ends with this verdict.
pub(crate) fn outcome(outcome: recognize::Outcome) -> Outcome {
    match outcome {
        recognize::Outcome::Accept => Outcome::Accepted,
        recognize::Outcome::Incomplete | recognize::Outcome::Reject { .. } => Outcome::Rejected,
        recognize::Outcome::Stopped { .. } => Outcome::Stopped,
    }
}
