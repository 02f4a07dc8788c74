//! Splits a text that is read in parts into tokens, in bounded memory.

use echostack::SymbolId;

use super::dfa::{self, DEAD};
use super::file::StateChange;
use super::lexer::Lexer;

/// The maximum number of bytes after the longest match so far that are kept while a longer match is still possible.
pub(crate) const MAX_TAIL: usize = 1 << 16;
/// The maximum number of times that the bytes of a text are read again, on average, because a longer match that was
/// still possible did not come about.
pub(crate) const MAX_REREAD: u64 = 64;
/// The maximum number of start states on the stack.
pub(crate) const MAX_STATES: usize = 1 << 16;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The reason why a text cannot be split any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LexFault {
    /// No token begins at this byte.
    NoToken(u64),
    /// A limit of the lexer is reached at this byte: it would have to keep more than 64 KiB of text to find where the
    /// token ends, or to read the text again too often, or too many start states were pushed.
    Limit(u64),
}

impl LexFault {
    /// Returns the byte.
    pub fn byte(self) -> u64 {
        match self {
            Self::NoToken(byte) | Self::Limit(byte) => byte,
        }
    }
}

/// A piece of text that is one token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lexeme<'a> {
    /// The name of the terminal.
    pub name: &'a str,
    /// The position of its first byte in the text.
    pub start: usize,
    /// The position after its last byte.
    pub end: usize,
}

/// The tokens of a text up to the place where it cannot be split any further, and the reason, if there is one.
pub type Tokens<'a> = (Vec<Lexeme<'a>>, Option<LexFault>);

impl Lexer {
    /// Splits a text into tokens, up to the first place where no token begins.
    pub fn tokens(&self, text: &str) -> Tokens<'_> {
        let mut all = Vec::new();
        let mut keep = |Found { name, start, end }| {
            all.push(Lexeme { name: &self.names()[name as usize], start: start as usize, end: end as usize });
        };
        let mut tokenizer = Tokenizer::new(self);
        let done = tokenizer.read(text.as_bytes(), &mut keep).and_then(|()| tokenizer.finish(&mut keep));
        (all, done.err())
    }

    /// Appends the symbols of a text's tokens, given the symbol of each name, up to the first place where no token
    /// begins.
    pub(crate) fn add_symbols(
        &self,
        text: &str,
        symbols: &[SymbolId],
        out: &mut Vec<SymbolId>,
    ) -> Result<(), LexFault> {
        let mut tokenizer = Tokenizer::new(self);
        tokenizer.read_symbols(text.as_bytes(), symbols, out)?;
        tokenizer.finish(&mut |found| out.push(symbols[found.name as usize]))
    }
}

/// A token that was found: the number of its name, and its place in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) name: u32,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// The longest match of a token that may become longer.
#[derive(Clone, Copy, Debug)]
struct Match {
    /// `None` for a carriage return before a line feed, which is skipped if no rule matches.
    rule: Option<u32>,
    end: u64,
}

/// Splits a text that is read in parts into tokens.
#[derive(Clone)]
pub(crate) struct Tokenizer<'a> {
    lexer: &'a Lexer,
    /// The current start state, and those below it on the stack.
    current: usize,
    below: Vec<usize>,
    /// The number of bytes read.
    offset: u64,
    /// The beginning of the current token.
    start: u64,
    /// The state of the automaton in the current token.
    state: u32,
    longest: Option<Match>,
    /// The text after the longest match, if it ended in an earlier part.
    tail: Vec<u8>,
    /// The number of bytes that were read again.
    reread: u64,
    /// Whether the last byte was a carriage return that no rule matches: a line feed must follow.
    carriage_return: bool,
    /// Whether the last byte was a carriage return with which a longer match may begin.
    open_return: bool,
}

impl<'a> Tokenizer<'a> {
    pub(crate) fn new(lexer: &'a Lexer) -> Self {
        Self {
            lexer,
            current: 0,
            below: Vec::new(),
            offset: 0,
            start: 0,
            state: lexer.states[0].start(),
            longest: None,
            tail: Vec::new(),
            reread: 0,
            carriage_return: false,
            open_return: false,
        }
    }

    /// Returns the beginning of the token that is being read.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// Returns the end of the longest match and the text after it, if the token that is being read may become longer.
    pub(crate) fn tail(&self) -> Option<(u64, &[u8])> {
        self.longest.map(|longest| (longest.end, &self.tail[..]))
    }

    /// Reads a part of the text, and calls `emit` for each token that is complete. A byte order mark at the beginning
    /// of the text must be in one part; it is skipped.
    pub(crate) fn read(&mut self, part: &[u8], emit: &mut impl FnMut(Found)) -> Result<(), LexFault> {
        let part = self.skip_mark(part);
        self.run(part, emit)
    }

    /// Reads a part of the text like [`Tokenizer::read`], and appends the symbols of the tokens, given the symbol of
    /// each name. This is faster, because it does not matter where the tokens are.
    pub(crate) fn read_symbols(
        &mut self,
        part: &[u8],
        symbols: &[SymbolId],
        out: &mut Vec<SymbolId>,
    ) -> Result<(), LexFault> {
        let part = self.skip_mark(part);
        let base = self.offset;
        let mut at = self.begin(part)?;
        while at < part.len() {
            if self.start == base + at as u64 && self.longest.is_none() {
                at = self.lexer.states[self.current].scan(part, at, symbols, out);
                self.start = base + at as u64;
            }
            // A token that the fast way left, or that began in an earlier part.
            at = self.token(part, base, at, &mut |found| out.push(symbols[found.name as usize]))?;
        }
        self.end(part, base)
    }

    /// Skips a byte order mark at the beginning of the text.
    fn skip_mark<'b>(&mut self, part: &'b [u8]) -> &'b [u8] {
        match part.strip_prefix(BYTE_ORDER_MARK).filter(|_| self.offset == 0) {
            Some(rest) => {
                self.offset = BYTE_ORDER_MARK.len() as u64;
                self.start = self.offset;
                rest
            }
            None => part,
        }
    }

    /// Goes on at a byte after a fault. The text from there on must be read again.
    pub(crate) fn resume(&mut self, byte: u64) -> Result<(), LexFault> {
        (self.offset, self.start) = (byte, byte);
        self.state = self.lexer.states[self.current].start();
        self.longest = None;
        self.tail.clear();
        (self.carriage_return, self.open_return) = (false, false);
        self.reread(0, byte)
    }

    /// Ends the text.
    pub(crate) fn finish(&mut self, emit: &mut impl FnMut(Found)) -> Result<(), LexFault> {
        if self.carriage_return {
            return Err(LexFault::NoToken(self.start));
        }
        while self.offset > self.start {
            if self.longest.is_none() {
                self.reread += self.offset - self.start;
                return Err(LexFault::NoToken(self.start));
            }
            self.reread(self.tail.len(), self.offset)?;
            let tail = self.accept(emit)?;
            self.run(&tail, emit)?;
        }
        Ok(())
    }

    fn run(&mut self, bytes: &[u8], emit: &mut impl FnMut(Found)) -> Result<(), LexFault> {
        let base = self.offset;
        let mut at = self.begin(bytes)?;
        while at < bytes.len() {
            at = self.token(bytes, base, at, emit)?;
        }
        self.end(bytes, base)
    }

    /// Begins a part of the text: if the last one ended with a carriage return, a line feed must follow. Returns 0.
    fn begin(&mut self, bytes: &[u8]) -> Result<usize, LexFault> {
        if self.carriage_return && !bytes.is_empty() {
            self.carriage_return = false;
            if bytes[0] != b'\n' {
                return Err(LexFault::NoToken(self.start));
            }
            self.start = self.offset;
        }
        if self.open_return && !bytes.is_empty() {
            self.open_return = false;
            self.longest = (bytes[0] == b'\n').then_some(Match { rule: None, end: self.offset });
        }
        Ok(0)
    }

    /// Continues the current token with the bytes from `at` on, where `base` is the number of bytes before `bytes`.
    /// Returns where to go on: at the end of the token, or at the end of the bytes.
    #[inline]
    fn token(&mut self, bytes: &[u8], base: u64, at: usize, emit: &mut impl FnMut(Found)) -> Result<usize, LexFault> {
        let dfa = &self.lexer.states[self.current];
        let mut found = dfa::Found { state: DEAD, end: 0 };
        let (state, read) = dfa.run(self.state, bytes, at, &mut found);
        if found.state != DEAD {
            self.tail.clear();
            self.longest = Some(Match { rule: Some(dfa.rule(found.state)), end: base + found.end as u64 });
        }
        self.state = state;
        if state != DEAD {
            return Ok(bytes.len());
        }
        if found.state != DEAD {
            // The usual case: the token ends in this part.
            self.reread(read - found.end, base + read as u64)?;
            self.accept(emit)?;
            return Ok(found.end);
        }
        if self.longest.is_some() {
            // The token ended in an earlier part. What followed it there is read again, and then this part.
            self.reread(self.tail.len() + read, base)?;
            let tail = self.accept(emit)?;
            self.run(&tail, emit)?;
            return Ok(0);
        }
        let next = bytes.get(at + 1);
        if self.start == base + at as u64 && bytes[at] == b'\r' && next.is_none_or(|&byte| byte == b'\n') {
            // A lexer that knows only line feeds also reads files in which they follow carriage returns.
            self.carriage_return = next.is_none();
            self.state = dfa.start();
            self.start += u64::from(next.is_some());
            return Ok(at + 1);
        }
        self.reread += base + read as u64 - self.start;
        Err(LexFault::NoToken(self.start))
    }

    /// Ends a part of the text, and keeps what may have to be read again.
    fn end(&mut self, bytes: &[u8], base: u64) -> Result<(), LexFault> {
        self.offset = base + bytes.len() as u64;
        if let (None, Some(from)) = (self.longest, self.start.checked_sub(base)) {
            match bytes.get(from as usize..) {
                Some([b'\r', b'\n', ..]) => self.longest = Some(Match { rule: None, end: self.start + 1 }),
                Some([b'\r']) => self.open_return = !self.carriage_return,
                _ => {}
            }
        }
        if let Some(longest) = self.longest {
            let from = longest.end.saturating_sub(base) as usize;
            self.tail.extend_from_slice(&bytes[from..]);
            if self.tail.len() > MAX_TAIL {
                return Err(LexFault::Limit(self.start));
            }
        }
        Ok(())
    }

    /// Counts bytes that are read again, at a place in the text.
    fn reread(&mut self, bytes: usize, place: u64) -> Result<(), LexFault> {
        self.reread += bytes as u64;
        if self.reread > MAX_REREAD * (place + MAX_TAIL as u64) {
            return Err(LexFault::Limit(self.start));
        }
        Ok(())
    }

    /// Ends the current token with its longest match, and begins the next one. Returns the text that must be read
    /// again because it was read after the longest match, in earlier parts.
    fn accept(&mut self, emit: &mut impl FnMut(Found)) -> Result<Vec<u8>, LexFault> {
        let Match { rule, end } = self.longest.take().ok_or(LexFault::NoToken(self.start))?;
        if let Some(rule) = rule.map(|rule| self.lexer.rules[rule as usize]) {
            if let Some(name) = rule.name {
                emit(Found { name, start: self.start, end });
            }
            if let Some(change) = rule.change {
                self.change(change)?;
            }
        }
        self.start = end;
        self.state = self.lexer.states[self.current].start();
        let tail = std::mem::take(&mut self.tail);
        self.offset -= tail.len() as u64;
        Ok(tail)
    }

    fn change(&mut self, change: StateChange) -> Result<(), LexFault> {
        match change {
            StateChange::Replace(state) => {
                self.below.clear();
                self.current = state;
            }
            StateChange::Begin(state) => self.current = state,
            StateChange::Push(state) => {
                if self.below.len() >= MAX_STATES {
                    return Err(LexFault::Limit(self.start));
                }
                self.below.push(std::mem::replace(&mut self.current, state));
            }
            StateChange::Pop => self.current = self.below.pop().unwrap_or(0),
        }
        Ok(())
    }
}
