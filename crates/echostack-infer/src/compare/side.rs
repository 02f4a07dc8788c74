//! What is compared: programs, which are asked, and grammars, tables and machines, which are run.

use std::borrow::Cow;
use std::fmt;

use echostack::{Limits, Verdict};
use echostack_grammar::{Judge, Judgement, Subject};

use super::raw;
use super::told::{Reading, Told};
use crate::program::{Failure, Program, Reply};

/// What a side says about a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Vote {
    /// The text is valid.
    Yes,
    /// The text is not valid.
    No,
    /// There is no answer.
    Nothing,
}

/// What each side says about a text, in the order of the sides.
pub(crate) type Votes = Box<[Vote]>;

/// Returns whether one side accepts a text that another one refuses.
pub(crate) fn disagree(votes: &[Vote]) -> bool {
    votes.contains(&Vote::Yes) && votes.contains(&Vote::No)
}

/// Where and why a side refuses a text, or as what a grammar reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The name of the side.
    pub side: String,
    /// The number of characters before the place, if it is known.
    pub at: Option<usize>,
    /// If the side has a grammar, the token that is refused and what was expected, or as what the text is read at the place at
    /// which the sides disagree; or why there is no answer.
    pub reason: Option<String>,
}

/// A program or a language that is compared with others.
pub struct Side<'a> {
    name: String,
    source: Source<'a>,
}

enum Source<'a> {
    Program(&'a dyn Program),
    Model { judge: &'a Judge, grammar: Option<&'a Subject> },
}

impl fmt::Debug for Side<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Side").field("name", &self.name).field("what", &self.what()).finish_non_exhaustive()
    }
}

impl<'a> Side<'a> {
    /// Creates a side that is asked.
    pub fn program(name: impl Into<String>, program: &'a dyn Program) -> Self {
        Self { name: name.into(), source: Source::Program(program) }
    }

    /// Creates a side that is run: a table or a machine, with the grammar that it was made from if it is known.
    pub fn model(name: impl Into<String>, judge: &'a Judge, grammar: Option<&'a Subject>) -> Self {
        Self { name: name.into(), source: Source::Model { judge, grammar } }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what the side is: `program`, `grammar`, `table` or `machine`.
    pub fn what(&self) -> &'static str {
        match &self.source {
            Source::Program(_) => "program",
            Source::Model { grammar: Some(_), .. } => "grammar",
            Source::Model { judge, .. } if judge.model().machine().is_some() => "machine",
            Source::Model { .. } => "table",
        }
    }

    /// Returns whether it costs a query to know what the side says.
    pub(crate) fn is_asked(&self) -> bool {
        matches!(self.source, Source::Program(_))
    }

    /// Returns the grammar, if the side has one.
    pub(crate) fn grammar(&self) -> Option<&'a Subject> {
        match self.source {
            Source::Program(_) => None,
            Source::Model { grammar, .. } => grammar,
        }
    }

    /// Returns whether the side can be asked about bytes that are not UTF-8.
    pub(crate) fn takes_bytes(&self) -> bool {
        match &self.source {
            Source::Program(program) => program.takes_bytes(),
            Source::Model { .. } => true,
        }
    }

    /// Returns what the side says about a text, and why there is no answer if there is none.
    pub(crate) fn vote(&self, text: &str) -> (Vote, Option<Failure>) {
        match &self.source {
            Source::Program(program) => match asked(*program, text) {
                Reply::Yes => (Vote::Yes, None),
                Reply::No | Reply::NoAt(_) => (Vote::No, None),
                Reply::Failed(failure) => (Vote::Nothing, Some(failure)),
            },
            Source::Model { judge, .. } => match refused(judge, text).map(|judgement| judgement.verdict) {
                None => (Vote::Yes, None),
                Some(Verdict::Stopped { .. }) => (Vote::Nothing, None),
                Some(_) => (Vote::No, None),
            },
        }
    }

    /// Returns what a grammar, a table or a machine makes of a text at the place at which sides disagree.
    pub(crate) fn tell(&self, text: &str, at: usize) -> Option<Told> {
        let Source::Model { judge, .. } = &self.source else { return None };
        Some(match refused(judge, text) {
            Some(judgement) => Told::refused(&judgement),
            None => Told::read(judge, text, byte_of(text, at)),
        })
    }

    /// Returns where and why the side refuses a text, or as what it reads it at the place at which sides disagree; `None` if a
    /// program accepts it.
    pub(crate) fn explain(&self, text: &str, place: usize) -> Option<Said> {
        let said = |at, reason| Some(Said { side: self.name.clone(), at, reason });
        match &self.source {
            Source::Program(program) => match asked(*program, text) {
                Reply::Yes => None,
                Reply::No => said(None, None),
                Reply::NoAt(at) => said(Some(at), None),
                Reply::Failed(failure) => said(None, Some(failure.to_string())),
            },
            Source::Model { judge, .. } => {
                let Some(judgement) = refused(judge, text) else {
                    let byte = byte_of(text, place);
                    let reading = Reading { told: &Told::read(judge, text, byte), rest: &text[byte..] };
                    return said(Some(place), Some(reading.to_string()));
                };
                let byte = judgement.fault.as_ref().map(|fault| fault.byte as usize);
                let at = byte.and_then(|byte| Some(raw::text(raw::bytes(text).get(..byte)?).chars().count()));
                let expected = judgement.expected().map_or(String::new(), |expected| format!(", expected {expected}"));
                said(at, Some(judgement.reason() + &expected))
            }
        }
    }
}

/// Asks a program about a text, as bytes if it is not UTF-8. A program that takes too long is asked once more: it may have
/// been the computer that was busy.
fn asked(program: &dyn Program, text: &str) -> Reply {
    let ask = || match raw::bytes(text) {
        Cow::Borrowed(_) => program.ask(text),
        Cow::Owned(bytes) => program.ask_bytes(&bytes),
    };
    match ask() {
        Reply::Failed(Failure::Timeout) => ask(),
        reply => reply,
    }
}

/// Returns the number of bytes before a character.
fn byte_of(text: &str, at: usize) -> usize {
    text.char_indices().nth(at).map_or(text.len(), |(byte, _)| byte)
}

/// Returns why a text is refused, if it is.
fn refused(judge: &Judge, text: &str) -> Option<Judgement> {
    match raw::bytes(text) {
        Cow::Borrowed(_) => judge.check(text).err().map(|judgement| *judgement),
        Cow::Owned(bytes) => {
            // Reading from memory does not fail.
            let judgement = judge.judge_stream(&mut &*bytes, Limits::default()).ok()?;
            (!judgement.verdict.is_accept()).then_some(judgement)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// A program that takes too long so many times.
    struct Busy {
        left: AtomicUsize,
    }

    impl Program for Busy {
        fn ask(&self, _: &str) -> Reply {
            let was_busy =
                self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
            if was_busy { Reply::Failed(Failure::Timeout) } else { Reply::Yes }
        }
    }

    #[test]
    fn who_takes_too_long_is_asked_once_more() {
        let vote = |times| Side::program("busy", &Busy { left: AtomicUsize::new(times) }).vote("");
        assert_eq!((vote(0), vote(1)), ((Vote::Yes, None), (Vote::Yes, None)));
        assert_eq!(vote(2), (Vote::Nothing, Some(Failure::Timeout)));
    }
}
