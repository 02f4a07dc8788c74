//! Reads words from a file or a pipe, one per line. Tokens are passed on as they are read, so a line is never held in
//! memory as a whole.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result};
use echostack::model::ModelScanner;
use echostack::recognize::{Observer, Status};
use echostack::symbol::Input;
use echostack::{Alphabet, Session, SymbolId, Verdict};

/// The number of bytes that are read at once.
const BUFFER: usize = 1 << 16;
/// The maximum length of a token that is kept; a longer token is not a terminal anyway.
const MAX_TOKEN: usize = 1 << 16;

/// Opens a file; `-` is standard input.
pub(crate) fn open(path: &Path) -> Result<Box<dyn BufRead>> {
    Ok(if path == Path::new("-") {
        Box::new(BufReader::with_capacity(BUFFER, std::io::stdin().lock()))
    } else {
        let file = File::open(path).with_context(|| format!("could not read {}", path.display()))?;
        Box::new(BufReader::with_capacity(BUFFER, file))
    })
}

/// A lookup from the written form of a token to its symbol.
pub(crate) struct Names<'a> {
    alphabet: &'a Alphabet,
    /// The tokens whose name is a single byte.
    single: [SymbolId; 256],
    /// Those of them that are read as tokens wherever they begin one.
    plain: [SymbolId; 256],
    /// Whether every character is a token. Otherwise, tokens are separated by white space.
    chars: bool,
}

/// The number of tokens that are looked up at once.
const AT_ONCE: usize = 16;

impl<'a> Names<'a> {
    pub(crate) fn new(alphabet: &'a Alphabet, chars: bool) -> Self {
        let mut single = [SymbolId::UNKNOWN; 256];
        for token in alphabet.terminals() {
            if let [byte] = *alphabet.name(token).as_bytes() {
                single[usize::from(byte)] = token;
            }
        }
        let mut plain = single;
        for (byte, token) in (0..=u8::MAX).zip(&mut plain) {
            let is_part = if chars { byte >= 0x80 || byte == b'\r' } else { byte.is_ascii_whitespace() };
            *token = if is_part { SymbolId::UNKNOWN } else { *token };
        }
        Self { alphabet, single, plain, chars }
    }

    /// Adds the tokens at the beginning of a text to a list as long as each of them is a single byte, followed by
    /// `STRIDE - 1` bytes of white space. Returns the number of bytes read.
    fn add_plain<const STRIDE: usize>(&self, text: &[u8], to: &mut Vec<SymbolId>) -> usize {
        let start = to.len();
        for part in text.chunks_exact(AT_ONCE * STRIDE) {
            let tokens: [SymbolId; AT_ONCE] = std::array::from_fn(|at| self.plain[usize::from(part[at * STRIDE])]);
            let apart = |at: usize| part[at * STRIDE + 1..(at + 1) * STRIDE].iter().all(u8::is_ascii_whitespace);
            let fits = |&at: &usize| tokens[at] != SymbolId::UNKNOWN && apart(at);
            // In a text with longer tokens, the last byte alone usually shows that this part does not fit.
            if !apart(AT_ONCE - 1) || (0..AT_ONCE).filter(fits).count() < AT_ONCE {
                break;
            }
            to.extend_from_slice(&tokens);
        }
        (to.len() - start) * STRIDE
    }

    fn token(&self, name: &[u8]) -> SymbolId {
        match *name {
            [byte] => self.single[usize::from(byte)],
            _ => {
                std::str::from_utf8(name).ok().and_then(|name| self.alphabet.symbol(name)).unwrap_or(SymbolId::UNKNOWN)
            }
        }
    }
}

/// A reader of the tokens of one word.
pub(crate) trait Reader {
    /// What the reader says of the word.
    type End;

    /// Reads tokens. Returns the index of the token that ended the word, if one did.
    fn read(&mut self, tokens: &[SymbolId]) -> Option<usize>;

    /// Ends the word.
    fn finish(self) -> Self::End;
}

/// Collects the tokens.
impl Reader for Vec<SymbolId> {
    type End = Self;

    fn read(&mut self, tokens: &[SymbolId]) -> Option<usize> {
        self.extend_from_slice(tokens);
        None
    }

    fn finish(self) -> Self {
        self
    }
}

impl Reader for ModelScanner {
    type End = Verdict;

    fn read(&mut self, tokens: &[SymbolId]) -> Option<usize> {
        let before = self.position();
        let status = ModelScanner::read(self, tokens);
        (status != Status::Open).then(|| (self.position() - before) as usize)
    }

    fn finish(self) -> Verdict {
        ModelScanner::finish(self)
    }
}

/// A session with an observer.
pub(crate) struct Watched<S, W> {
    pub(crate) session: S,
    pub(crate) watch: W,
}

/// An observer that is also given each token before it is read.
pub(crate) trait Watch: Observer {
    fn token(&mut self, _token: SymbolId) {}
}

impl<S: Session, W: Watch> Reader for Watched<S, W> {
    type End = (Verdict, W);

    fn read(&mut self, tokens: &[SymbolId]) -> Option<usize> {
        tokens.iter().position(|&token| {
            self.watch.token(token);
            self.session.feed(Input::Symbol(token), &mut self.watch) != Status::Open
        })
    }

    fn finish(mut self) -> (Verdict, W) {
        (self.session.finish(&mut self.watch), self.watch)
    }
}

/// A line that is being read.
pub(crate) struct Reading<'a, R> {
    names: &'a Names<'a>,
    reader: R,
    /// Tokens that have not been passed to the reader yet.
    batch: Vec<SymbolId>,
    /// The first name that is not a token; nothing after it is read.
    unknown: Option<String>,
    /// The token that ended the word.
    refused: Option<String>,
    /// The bytes of a token that may not be complete yet.
    token: Vec<u8>,
    empty: bool,
}

impl<'a, R: Reader> Reading<'a, R> {
    pub(crate) fn new(names: &'a Names<'a>, reader: R) -> Self {
        Self { names, reader, batch: Vec::new(), unknown: None, refused: None, token: Vec::new(), empty: true }
    }

    /// Returns the reader.
    pub(crate) fn reader(&self) -> &R {
        &self.reader
    }

    /// Returns whether nothing was read, not even white space.
    pub(crate) fn is_empty(&self) -> bool {
        self.empty
    }

    /// Reads up to the end of the line. Returns whether the input has ended.
    pub(crate) fn read(&mut self, input: &mut impl BufRead) -> std::io::Result<bool> {
        loop {
            let buffer = input.fill_buf()?;
            let ended = buffer.is_empty();
            // The standard library's `contains` looks at many bytes at once; `position` does not.
            let line_end = if buffer.contains(&b'\n') { buffer.iter().position(|&byte| byte == b'\n') } else { None };
            let part = &buffer[..line_end.unwrap_or(buffer.len())];
            self.empty &= part.is_empty();
            if self.refused.is_none() {
                if self.names.chars {
                    self.characters(part);
                } else {
                    self.words(part);
                }
                if ended || line_end.is_some() {
                    self.end_token();
                }
                self.pass_on();
            }
            let used = part.len() + usize::from(line_end.is_some());
            input.consume(used);
            if ended || line_end.is_some() {
                return Ok(ended);
            }
        }
    }

    /// Reads tokens separated by white space. The last token of a part may continue in the next part.
    fn words(&mut self, part: &[u8]) {
        let mut rest = part;
        while let Some((&byte, others)) = rest.split_first() {
            match others.first() {
                _ if byte.is_ascii_whitespace() => {
                    self.end_token();
                    rest = others;
                }
                Some(next) if next.is_ascii_whitespace() && self.token.is_empty() => {
                    self.add_single(byte);
                    rest = &others[1..];
                    rest = &rest[self.names.add_plain::<2>(rest, &mut self.batch)..];
                }
                _ => {
                    let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
                    let room = MAX_TOKEN - self.token.len();
                    self.token.extend_from_slice(&rest[..end.min(room)]);
                    rest = &rest[end..];
                }
            }
        }
    }

    /// Reads characters in UTF-8. Invalid bytes form tokens that are in no alphabet.
    fn characters(&mut self, part: &[u8]) {
        let mut rest = part;
        while let Some((&byte, others)) = rest.split_first() {
            rest = others;
            let goes_on = byte & 0xc0 == 0x80;
            if !goes_on || self.token.len() >= 4 {
                self.end_token();
            }
            if byte < 0x80 && byte != b'\r' {
                self.add_single(byte);
                rest = &rest[self.names.add_plain::<1>(rest, &mut self.batch)..];
            } else {
                self.token.push(byte);
            }
        }
    }

    fn end_token(&mut self) {
        let token = std::mem::take(&mut self.token);
        // A carriage return at the end of a line belongs to the line break.
        if !token.is_empty() && token != b"\r" {
            self.add(&token);
        }
        self.token = token;
        self.token.clear();
    }

    /// Adds a token of one byte; a fast path of [`Reading::add`].
    #[inline]
    fn add_single(&mut self, byte: u8) {
        match self.names.single[usize::from(byte)] {
            token if token != SymbolId::UNKNOWN => self.batch.push(token),
            _ => self.add(&[byte]),
        }
    }

    fn add(&mut self, name: &[u8]) {
        let token = self.names.token(name);
        if token == SymbolId::UNKNOWN {
            self.unknown.get_or_insert_with(|| String::from_utf8_lossy(name).into_owned());
        }
        self.batch.push(token);
    }

    /// Passes the collected tokens to the reader.
    fn pass_on(&mut self) {
        if let Some(last) = self.reader.read(&self.batch) {
            let alphabet = self.names.alphabet;
            let name = |token: SymbolId| alphabet.contains(token).then(|| alphabet.name(token).to_string());
            self.refused = self.batch.get(last).and_then(|&token| name(token)).or(self.unknown.take());
        }
        self.batch.clear();
    }

    /// Returns what the reader says of the word, and the token that ended it prematurely if there is one.
    pub(crate) fn finish(self) -> (R::End, Option<String>) {
        (self.reader.finish(), self.refused)
    }
}
