//! A lexer and a nested-word automaton together, as a recognizer of bytes without a look ahead.
//!
//! A lexer takes the longest match, and knows only later which one that is. So a configuration has a second one, which
//! holds if the token ended with its last match. Each byte is read by both; a longer match replaces the second one.

use std::collections::HashSet;
use std::rc::Rc;

use super::nested::{Move, Nested, Reason, Set};
use crate::export::Recognized;
use crate::lex::dfa::{DEAD, Dfa};

/// Where the lexer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Lexing {
    /// Between tokens.
    Between,
    /// After a carriage return that no rule matches, which must come before a line feed.
    AfterReturn,
    /// In a token, in this state of the automaton.
    Inside(u32),
}

/// What was read so far, as far as it matters for what may follow.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Configuration {
    /// What was pushed, as far as it is known; the last is the topmost.
    pub(super) stack: Vec<Set>,
    state: Set,
    lexing: Lexing,
    /// What holds if the token ended with its last match.
    otherwise: Option<Rc<Configuration>>,
}

impl Configuration {
    /// Returns the configuration and those that hold otherwise.
    pub(super) fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |this| this.otherwise.as_deref())
    }

    /// Changes the stacks of the configuration and of those that hold otherwise.
    pub(super) fn with_stacks(&self, change: &impl Fn(&[Set]) -> Vec<Set>) -> Self {
        let otherwise = self.otherwise.as_ref().map(|otherwise| Rc::new(otherwise.with_stacks(change)));
        Self { stack: change(&self.stack), otherwise, ..self.clone() }
    }
}

/// Why a byte cannot be read.
pub(super) enum Halt {
    /// What was pushed is not known.
    Frame,
    /// The grammar is not of the form that is needed.
    Refused(Reason),
}

impl From<Reason> for Halt {
    fn from(reason: Reason) -> Self {
        Self::Refused(reason)
    }
}

/// A recognizer of bytes.
pub(super) struct Recognizer<'a> {
    /// The name of the grammar.
    pub(super) name: &'a str,
    own: &'a Recognized,
    nested: Nested,
    /// The states of the lexer after which a longer match is possible.
    goes_on: HashSet<u32>,
}

impl<'a> Recognizer<'a> {
    pub(super) fn new(own: &'a Recognized, name: &'a str) -> Result<Self, Reason> {
        let goes_on = own.scanner.inner_states();
        let nested = Nested::new(&own.productions).map_err(|reason| format!("{name}: {reason}"))?;
        Ok(Self { name, own, nested, goes_on })
    }

    pub(super) fn dfa(&self) -> &'a Dfa {
        &self.own.scanner.dfa
    }

    pub(super) fn start(&self) -> Configuration {
        Configuration { stack: Vec::new(), state: self.nested.start(), lexing: Lexing::Between, otherwise: None }
    }

    /// Reads a byte; `None` if no text goes on with it.
    pub(super) fn step(&mut self, this: &Configuration, byte: u8) -> Result<Option<Configuration>, Halt> {
        let before = match this.lexing {
            Lexing::AfterReturn if byte != b'\n' => return Ok(None),
            Lexing::AfterReturn | Lexing::Between => self.dfa().start(),
            Lexing::Inside(state) => state,
        };
        let after = self.dfa().step(before, byte);
        let is_first = matches!(this.lexing, Lexing::Between | Lexing::AfterReturn);
        let rule = if after == DEAD { None } else { self.dfa().matched(after) };
        let otherwise = if let Some(rule) = rule {
            self.emit(this, rule as usize)?
        } else if is_first && byte == b'\r' {
            Some(Configuration { lexing: Lexing::AfterReturn, otherwise: None, ..this.clone() })
        } else {
            match &this.otherwise {
                Some(otherwise) => self.step(otherwise, byte)?,
                None => None,
            }
        };
        if after == DEAD || !self.goes_on.contains(&after) {
            return Ok(otherwise);
        }
        Ok(Some(Configuration { lexing: Lexing::Inside(after), otherwise: otherwise.map(Rc::new), ..this.clone() }))
    }

    /// Returns what follows a match of a rule.
    fn emit(&mut self, this: &Configuration, rule: usize) -> Result<Option<Configuration>, Halt> {
        let own = self.own;
        let rule = &own.scanner.rules[rule];
        let mut next = Configuration { lexing: Lexing::Between, otherwise: None, ..this.clone() };
        let Some(token) = rule.token else { return Ok(rule.skip.then_some(next)) };
        match self.nested.step(this.state, token, || own.alphabet.name(token).to_string())? {
            None => return Ok(None),
            Some(Move::Plain(state)) => next.state = state,
            Some(Move::Open(state)) => {
                next.stack.push(this.state);
                next.state = state;
            }
            Some(Move::Close(calls)) => {
                let outer = next.stack.pop().ok_or(Halt::Frame)?;
                let Some(state) = self.nested.over(outer, &calls)? else { return Ok(None) };
                next.state = state;
            }
        }
        Ok(Some(next))
    }

    /// Returns whether a text can end in a configuration.
    pub(super) fn accepts(&self, this: &Configuration) -> bool {
        let ended = this.all().find(|this| !matches!(this.lexing, Lexing::Inside(_)));
        ended.is_some_and(|this| {
            this.lexing == Lexing::Between && this.stack.is_empty() && self.nested.accepts(this.state)
        })
    }
}
