/// The number of bytes that the lexer may have to keep while it looks for a longer token. With less memory, or beyond
/// 65,536 bytes, a text may end with [`Verdict::Full`].
pub const KEPT: usize = @KEPT@;

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The number of bytes before the place.
    pub byte: u64,
    /// The line, counted from 1.
    pub line: u64,
    /// The column, counted from 1, in characters.
    pub column: u64,
}

/// What is wrong with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// This token cannot follow, or the given memory is too small for it.
    Token(usize),
    /// The text ends too early.
    End,
    /// No token begins here.
    NoToken,
    /// This byte is not UTF-8.
    NotUtf8,
    /// A limit of the lexer is reached: it would have to read the text again too often, or too many start states were
    /// pushed, or the memory for text that is kept is too small.
    Limit,
}

/// What is wrong with a text, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    pub place: Place,
}

/// Returns the name of a token, also of those that the lexer knows but that occur in no word.
pub fn name(token: usize) -> Option<&'static str> {
    let other = token.checked_sub(TOKENS.len() + 1);
    TOKENS.get(token).or_else(|| OTHERS.get(other?)).copied()
}

/// Checks a whole text. Returns the session at its end, which has the verdict and what is wrong.
pub fn check<'a>(text: &[u8], stack: &'a mut [State], kept: &'a mut [u8]) -> TextReader<'a> {
    let mut reader = TextReader::new(stack, kept);
    reader.read(text);
    reader.finish();
    reader
}

/// A session that reads one text, which a lexer splits into tokens.
///
///     let (mut stack, mut kept) = ([0; 1024], [0; KEPT]);
///     let mut reader = TextReader::new(&mut stack, &mut kept);
///     for part in parts {              // slices of bytes, of any size
///         if !reader.read(part) { break }
///     }
///     reader.finish()                  // the verdict; then reader.fault(), reader.expected()
pub struct TextReader<'a> {
    reader: Reader<'a>,
    fault: Option<Fault>,
    /// Text that was read after the longest match so far: `length` bytes, to be read again from `at` on. The longest
    /// match ended before `from`.
    kept: &'a mut [u8],
    from: usize,
    at: usize,
    length: usize,
    /// The number of bytes that were read again.
    reread: u64,
    /// The place that was reached, and the beginning of the current token.
    here: Place,
    start: Place,
    /// The rule of the longest match, and its end.
    longest: Option<(usize, Place)>,
    /// The end of the text so far, without white space.
    last: Place,
    /// The start state, and how many are below it on their stack, which grows down from the end of the reader's.
    current: usize,
    below: usize,
    state: usize,
    /// Whether the current token consists of a carriage return that no rule matches.
    carriage_return: bool,
    /// The bytes of a character that is not complete yet.
    letter: [u8; 4],
    letters: usize,
}

impl<'a> TextReader<'a> {
    /// Begins a text with this memory for the stack and for text that must be kept.
    pub fn new(stack: &'a mut [State], kept: &'a mut [u8]) -> Self {
        let first = Place { byte: 0, line: 1, column: 1 };
        let size = kept.len().min(MAX_KEPT);
        let mut reader = Reader::new(stack);
        if reader.size == 0 {
            reader.ended = Some(Verdict::Full { position: 0 });
        }
        Self {
            reader,
            fault: None,
            kept: &mut kept[..size],
            from: 0,
            at: 0,
            length: 0,
            reread: 0,
            here: first,
            start: first,
            longest: None,
            last: first,
            current: 0,
            below: 0,
            state: AUTOMATA[0].start,
            carriage_return: false,
            letter: [0; 4],
            letters: 0,
        }
    }

    /// Returns what is wrong with the text, if something is.
    pub fn fault(&self) -> Option<Fault> {
        self.fault
    }

    /// Returns the verdict on the tokens so far.
    pub fn verdict(&self) -> Verdict {
        self.reader.verdict()
    }

    /// Returns the tokens that could come next, or that were possible instead of one that was refused. `TOKENS.len()` is
    /// the end of the text.
    pub fn expected(&self) -> impl Iterator<Item = usize> + '_ {
        self.reader.expected()
    }

    /// Reads a part of the text, of any size, and returns whether the text can go on.
    pub fn read(&mut self, part: &[u8]) -> bool {
        for &byte in part {
            if self.reader.ended.is_some() {
                break;
            }
            self.letter[self.letters] = byte;
            self.letters += 1;
            match core::str::from_utf8(&self.letter[..self.letters]) {
                Ok(text) => {
                    let space = text.chars().all(char::is_whitespace);
                    if self.read_letter() && !space {
                        self.last = self.here;
                    }
                }
                Err(error) if error.error_len().is_none() => {}
                Err(_) => _ = self.stop(FaultKind::NotUtf8, self.here),
            }
        }
        self.reader.ended.is_none()
    }

    /// Ends the text and returns the verdict.
    pub fn finish(&mut self) -> Verdict {
        if self.reader.ended.is_none() && self.letters > 0 {
            self.stop(FaultKind::NotUtf8, self.here);
        }
        while self.reader.ended.is_none() && self.here.byte > self.start.byte {
            match self.longest {
                None => _ = self.stop(FaultKind::NoToken, self.start),
                Some((rule, end)) => _ = self.accept(rule, end) && self.read_bytes(None),
            }
        }
        let verdict = self.reader.verdict();
        if verdict != Verdict::Accept && self.fault.is_none() {
            self.fault = Some(Fault { kind: FaultKind::End, place: self.last });
        }
        verdict
    }

    /// Ends the text early. Returns false.
    fn stop(&mut self, kind: FaultKind, place: Place) -> bool {
        let position = self.reader.position;
        self.reader.ended.get_or_insert(Verdict::Reject { position });
        self.fault = Some(Fault { kind, place });
        false
    }

    /// Ends the text early because the given memory is too small. Returns false.
    fn stop_full(&mut self) -> bool {
        self.reader.ended = Some(Verdict::Full { position: self.reader.position });
        self.stop(FaultKind::Limit, self.start)
    }

    /// Reads a complete character. A byte order mark at the beginning of the text is skipped.
    fn read_letter(&mut self) -> bool {
        let (letter, count) = (self.letter, core::mem::take(&mut self.letters));
        if self.here.byte == 0 && letter[..count] == [0xef, 0xbb, 0xbf] {
            self.here = Place { byte: 3, line: 1, column: 2 };
            self.start = self.here;
            return true;
        }
        letter[..count].iter().all(|&byte| self.read_bytes(Some(byte)))
    }

    /// Reads the bytes that must be read again, and then another byte if there is one.
    fn read_bytes(&mut self, more: Option<u8>) -> bool {
        loop {
            let automaton = &AUTOMATA[self.current];
            let again = self.at < self.length;
            let byte = match more {
                _ if again => self.kept[self.at],
                Some(byte) => byte,
                None => return true,
            };
            if self.carriage_return && byte == b'\n' {
                self.longest = Some((RULES.len() - 1, self.here));
                self.from = self.at;
            }
            let class = automaton.classes[byte as usize] as usize;
            let next = automaton.next[self.state * automaton.width + class] as usize;
            let is_first = self.here.byte == self.start.byte;
            match self.longest {
                Some((rule, end)) if next == 0 => {
                    if !self.accept(rule, end) {
                        return false;
                    }
                    continue;
                }
                None if next == 0 && (byte != b'\r' || !is_first) => {
                    return self.stop(FaultKind::NoToken, self.start);
                }
                _ => {}
            }
            self.carriage_return = byte == b'\r' && is_first && next < automaton.accepting;
            self.here.byte += 1;
            if byte == b'\n' {
                self.here.line += 1;
                self.here.column = 1;
            } else if byte & 0xc0 != 0x80 {
                self.here.column += 1;
            }
            self.state = next;
            self.at += again as usize;
            if next >= automaton.accepting {
                let rule = automaton.rules[next - automaton.accepting] as usize;
                self.longest = Some((rule, self.here));
                if !again {
                    (self.at, self.length) = (0, 0);
                }
                self.from = self.at;
                if next >= automaton.last && !self.accept(rule, self.here) {
                    return false;
                }
            } else if !again && self.longest.is_none() {
                (self.from, self.at, self.length) = (0, 0, 0);
            } else if !again && !self.keep(byte) {
                return false;
            }
            if !again {
                return true;
            }
        }
    }

    /// Keeps a byte that was read after the longest match.
    fn keep(&mut self, byte: u8) -> bool {
        if self.length == self.kept.len() && self.from > 0 {
            self.kept.copy_within(self.from..self.length, 0);
            self.length -= self.from;
            self.from = 0;
        }
        if self.length == self.kept.len() {
            return self.stop_full();
        }
        self.kept[self.length] = byte;
        self.length += 1;
        self.at = self.length;
        true
    }

    /// Ends the current token with its longest match, and goes back to the end of that match.
    fn accept(&mut self, rule: usize, end: Place) -> bool {
        self.reread += (self.length - self.from) as u64;
        if self.reread > MAX_REREAD * (self.here.byte + MAX_KEPT as u64) {
            return self.stop(FaultKind::Limit, self.start);
        }
        let Rule { token, change } = RULES[rule];
        if let Some(token) = token {
            if !self.reader.read(token) {
                return self.stop(FaultKind::Token(token), self.start);
            }
        }
        if !self.change(change) {
            return false;
        }
        self.at = self.from;
        self.here = end;
        self.start = end;
        self.longest = None;
        self.carriage_return = false;
        self.state = AUTOMATA[self.current].start;
        true
    }

    /// Changes the start state as a rule says. A start state on the stack takes two of its elements.
    fn change(&mut self, change: Change) -> bool {
        let reader = &mut self.reader;
        match change {
            Change::None => {}
            Change::Replace(state) => {
                reader.size += 2 * self.below;
                self.below = 0;
                self.current = state;
            }
            Change::Begin(state) => self.current = state,
            Change::Push(_) if self.below >= MAX_BELOW => return self.stop(FaultKind::Limit, self.start),
            Change::Push(_) if reader.depth + 3 > reader.size => return self.stop_full(),
            Change::Push(state) => {
                reader.size -= 2;
                self.below += 1;
                reader.stack[reader.size] = (self.current & 0xff) as State;
                reader.stack[reader.size + 1] = (self.current >> 8 & 0xff) as State;
                self.current = state;
            }
            Change::Pop if self.below == 0 => self.current = 0,
            Change::Pop => {
                let [low, high] = [reader.stack[reader.size], reader.stack[reader.size + 1]];
                self.current = low as usize | (high as usize) << 8;
                reader.size += 2;
                self.below -= 1;
            }
        }
        true
    }
}

/// What a rule of the lexer does: produce a token, and change the start state.
#[derive(Clone, Copy)]
struct Rule {
    token: Option<usize>,
    change: Change,
}

/// What a rule does to the stack of start states.
#[derive(Clone, Copy)]
enum Change {
    None,
    Replace(usize),
    Begin(usize),
    Push(usize),
    Pop,
}

/// The automaton of a start state. State 0 is dead; those from `accepting` on match a rule; nothing can follow those
/// from `last` on.
struct Automaton {
    classes: [u8; 256],
    next: &'static [@ROW@],
    rules: &'static [@RULE@],
    width: usize,
    start: usize,
    accepting: usize,
    last: usize,
}

/// The limits of the lexer: on text that is kept, on how often text is read again on average, and on start states.
const MAX_KEPT: usize = @MAX_KEPT@;
const MAX_REREAD: u64 = @MAX_REREAD@;
const MAX_BELOW: usize = @MAX_BELOW@;

/// The names of tokens that the lexer knows, but that occur in no word. Their numbers begin after `TOKENS.len()`.
static OTHERS: [&str; @OTHERS@] = [@OTHER_NAMES@];

/// The rules. The last one skips a carriage return before a line feed.
static RULES: [Rule; @RULES@] = [
@RULE_LIST@
];

@AUTOMATA@
