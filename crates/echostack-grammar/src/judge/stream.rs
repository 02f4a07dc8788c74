//! Judges a text while it is read, in bounded memory.

use std::io::{ErrorKind, Read};

use echostack::model::ModelScanner;
use echostack::recognize::Status;
use echostack::{Limits, SymbolId};

use super::{Fault, FaultKind, Judge, Judgement, MAX_TOKEN};
use crate::lex::tokenizer::{Found, LexFault, Tokenizer};
use crate::text::place::{Place, Tracker};

/// The number of bytes that are read at once.
const PART: usize = 1 << 16;

impl Judge {
    /// Judges a text that is read from a file or a pipe, in bounded memory apart from the stack. A fault is returned as
    /// soon as it is read.
    ///
    /// # Errors
    /// If reading fails.
    pub fn judge_stream(&self, input: &mut dyn Read, limits: Limits) -> std::io::Result<Judgement> {
        Stream::new(self, limits).judge(input)
    }

    /// Judges a text that is in memory.
    pub(super) fn judge_bytes(&self, text: &[u8], limits: Limits) -> Judgement {
        let mut rest = text;
        Stream::new(self, limits).judge(&mut rest).unwrap_or_else(|_| unreachable!("reading from memory does not fail"))
    }
}

/// A text that is being judged.
pub(crate) struct Stream<'a> {
    judge: &'a Judge,
    /// `None` if each character is a token.
    tokenizer: Option<Tokenizer<'a>>,
    scanner: ModelScanner,
    /// The tokens of the part that is being read.
    symbols: Vec<SymbolId>,
    /// The number of bytes before the part that is being read, and their end.
    offset: u64,
    tracker: Tracker,
    /// The beginning of the token that the last part ended in, and the text from there on, as far as it is shown.
    token: (Tracker, String),
    /// The end of the longest match of that token.
    longest: Tracker,
    /// The end of the text so far, without white space.
    end: (Place, u64),
}

impl<'a> Stream<'a> {
    pub(crate) fn new(judge: &'a Judge, limits: Limits) -> Self {
        Self {
            judge,
            tokenizer: judge.lexer().map(Tokenizer::new),
            scanner: judge.model().scan(limits),
            symbols: Vec::new(),
            offset: 0,
            tracker: Tracker::default(),
            token: (Tracker::default(), String::new()),
            longest: Tracker::default(),
            end: (Tracker::default().here(""), 0),
        }
    }

    pub(crate) fn judge(mut self, input: &mut dyn Read) -> std::io::Result<Judgement> {
        let mut buffer = vec![0; PART];
        // The number of bytes of an incomplete character at the beginning of the buffer.
        let mut kept = 0;
        loop {
            let count = match input.read(&mut buffer[kept..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                count => count?,
            };
            let bytes = &buffer[..kept + count];
            let (text, broken) = match std::str::from_utf8(bytes) {
                Ok(text) => (text, None),
                Err(error) => {
                    let valid = error.valid_up_to();
                    let text = std::str::from_utf8(&bytes[..valid]).unwrap_or_default();
                    (text, (count == 0 || error.error_len().is_some()).then(|| bytes[valid]))
                }
            };
            let mut fault = self.read(text, count == 0 && broken.is_none());
            if fault.is_none() && (broken.is_some() || count == 0) {
                fault = Some(match broken {
                    Some(byte) => {
                        self.scanner.read(&[SymbolId::UNKNOWN]);
                        Fault { place: self.tracker.here(""), byte: self.offset, kind: FaultKind::NotUtf8(byte) }
                    }
                    None => Fault { place: self.end.0.clone(), byte: self.end.1, kind: FaultKind::End },
                });
            }
            if let Some(fault) = fault {
                return Ok(self.judge.judgement(self.scanner.finish(), fault));
            }
            let used = text.len();
            kept = bytes.len() - used;
            buffer.copy_within(used..used + kept, 0);
        }
    }

    /// Reads a part of the text, which may be the last one. Returns the fault if the text goes wrong in it.
    fn read(&mut self, text: &str, last: bool) -> Option<Fault> {
        let before = self.tokenizer.clone();
        let (judge, offset) = (self.judge, self.offset);
        self.symbols.clear();
        let split_up = if let Some(tokenizer) = &mut self.tokenizer {
            add_symbols(judge, tokenizer, text, last, &mut self.symbols)
        } else {
            judge.add_symbols(text, &mut self.symbols);
            Ok(())
        };
        let position = self.scanner.position();
        if self.scanner.read(&self.symbols) != Status::Open {
            // Only now does it matter where the tokens are.
            let (number, mut tokens) = (self.scanner.position() - position, Vec::new());
            if let Some(tokenizer) = &mut before.clone() {
                let mut keep = |token| tokens.push(token);
                let done = tokenizer.read(text.as_bytes(), &mut keep);
                _ = if last && done.is_ok() { tokenizer.finish(&mut keep) } else { done };
            } else {
                let one = |(at, letter): (usize, char)| {
                    let start = offset + at as u64;
                    Found { name: 0, start, end: start + letter.len_utf8() as u64 }
                };
                tokens.extend(text.char_indices().map(one));
            }
            let &Found { name, start, end } = tokens.get(number as usize)?;
            let (place, rest) = self.locate(before.as_ref(), text, start);
            let own = rest.get(..(end - start) as usize).unwrap_or(&rest).to_string();
            let name = judge.lexer().map_or(&own, |lexer| &lexer.names()[name as usize]).clone();
            let kind = FaultKind::Token { name, text: own };
            return Some(Fault { place, byte: start, kind });
        }
        if let Err(fault) = split_up {
            self.scanner.read(&[SymbolId::UNKNOWN]);
            let (place, rest) = self.locate(before.as_ref(), text, fault.byte());
            return Some(Fault { place, byte: fault.byte(), kind: FaultKind::of(fault, &rest) });
        }
        self.pass(before.as_ref(), text);
        None
    }

    /// Returns the place of a byte at which a token begins, and the beginning of the text from there on.
    fn locate(&self, before: Option<&Tokenizer<'_>>, text: &str, byte: u64) -> (Place, String) {
        let (tracker, rest) = self.reach(before, text, byte);
        (tracker.here(&rest), rest)
    }

    /// Goes to a byte at which a token begins or ends. Returns the tracker, and the beginning of the text from there on.
    /// The byte is in the part that is being read, or in the text that the lexer kept, or it is the beginning of the
    /// token that the last part ended in; `before` is the state of the lexer at the end of that part.
    fn reach(&self, before: Option<&Tokenizer<'_>>, text: &str, byte: u64) -> (Tracker, String) {
        let part: String;
        let (tracker, rest, skipped) = if byte >= self.offset {
            (&self.tracker, text, byte - self.offset)
        } else if let Some((end, tail)) = before.and_then(Tokenizer::tail).filter(|&(end, _)| byte >= end) {
            part = beginning(std::str::from_utf8(tail).unwrap_or_default().to_string(), tail.len(), text);
            (&self.longest, &*part, byte - end)
        } else {
            return (self.token.0.clone(), beginning(self.token.1.clone(), 0, text));
        };
        let (passed, rest) = rest.split_at_checked(skipped as usize).unwrap_or_default();
        let mut tracker = tracker.clone();
        tracker.pass(passed);
        (tracker, beginning(String::new(), 0, rest))
    }

    /// Goes to the end of a part, and notes the places that may be needed later.
    fn pass(&mut self, before: Option<&Tokenizer<'_>>, text: &str) {
        if let Some(tokenizer) = &self.tokenizer {
            let token = self.reach(before, text, tokenizer.start());
            if let Some((end, _)) = tokenizer.tail() {
                self.longest = self.reach(before, text, end).0;
            }
            self.token = token;
        }
        let (trimmed, space) = text.split_at(text.trim_end().len());
        self.tracker.pass(trimmed);
        if !trimmed.is_empty() {
            self.end = (self.tracker.here(""), self.offset + trimmed.len() as u64);
        }
        self.tracker.pass(space);
        self.offset += text.len() as u64;
    }
}

/// Appends text to the beginning of a text, as far as it is shown: [`MAX_TOKEN`] characters after byte `from`.
fn beginning(mut text: String, from: usize, more: &str) -> String {
    let shown = text[from..].chars().count();
    text.extend(more.chars().take(MAX_TOKEN.saturating_sub(shown)));
    text
}

/// Appends the symbols of a part of a text, which may be the last one.
fn add_symbols(
    judge: &Judge,
    tokenizer: &mut Tokenizer<'_>,
    text: &str,
    last: bool,
    out: &mut Vec<SymbolId>,
) -> Result<(), LexFault> {
    let symbols = judge.symbols();
    tokenizer.read_symbols(text.as_bytes(), symbols, out)?;
    if last { tokenizer.finish(&mut |found| out.push(symbols[found.name as usize])) } else { Ok(()) }
}
