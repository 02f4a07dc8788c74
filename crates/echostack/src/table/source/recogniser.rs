// A recogniser made by echostack. It needs no library, not even std: include this file as a module.
//
//     let mut stack = [0; 1024];
//     let mut reader = Reader::new(&mut stack);
//     for token in tokens {            // numbers: places in TOKENS
//         if !reader.read(token) { break }
//     }
//     reader.verdict()

/// The tokens; a token is read by its place in this list.
pub const TOKENS: [&str; @TERMINALS@] = [@TOKENS@];

/// What is known of a stack.
pub type State = @STATE@;

/// By how much a stack must be longer than the symbols that lie on it.
pub const ROOM: usize = @ROOM@;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The word is in the language.
    Accept,
    /// The word is the beginning of one, but no whole one.
    Incomplete,
    /// This token, counted from 0, cannot stand where it stands.
    Reject { position: u64 },
    /// The stack that was given is too small for this token.
    Full { position: u64 },
}

/// The reading of one word.
pub struct Reader<'a> {
    stack: &'a mut [State],
    depth: usize,
    position: u64,
    ended: Option<Verdict>,
}

impl<'a> Reader<'a> {
    /// Begins a word.
    pub fn new(stack: &'a mut [State]) -> Self {
        if let Some(bottom) = stack.first_mut() {
            *bottom = 0;
        }
        Self { stack, depth: 0, position: 0, ended: None }
    }

    /// Looks at a token, or at the end as one token more: what is done, and at which depth.
    fn look(&self, token: usize) -> (u64, usize) {
        if token > TOKENS.len() {
            return (0, 0);
        }
        let mut depth = self.depth;
        let mut action = ACTIONS[token * STATES + self.stack[depth] as usize];
        while action & 0xff == 2 {
            let pop = (action >> 16 & 0xffff) as usize;
            if pop > depth {
                return (0, 0);
            }
            depth -= pop;
            action = ACTIONS[(action >> 32) as usize + self.stack[depth] as usize];
        }
        (action, depth)
    }

    /// Reads a token and says whether it can stand here. After one that cannot, all others are refused.
    pub fn read(&mut self, token: usize) -> bool {
        if self.ended.is_some() {
            return false;
        }
        if self.depth + ROOM > self.stack.len() {
            self.ended = Some(Verdict::Full { position: self.position });
            return false;
        }
        let (action, depth) = if token < TOKENS.len() { self.look(token) } else { (0, 0) };
        let count = (action >> 8 & 0xff) as usize;
        let room = &mut self.stack[depth + 1..];
        match action & 0xff {
            3 => {
                room[0] = (action >> 16) as State;
                room[1] = (action >> 32) as State;
                room[2] = (action >> 48) as State;
            }
            4 => {
                let from = (action >> 32) as usize;
                room[..count].copy_from_slice(&PUSHED[from..from + count]);
            }
            _ => {
                self.ended = Some(Verdict::Reject { position: self.position });
                return false;
            }
        }
        self.depth = depth + count;
        self.position += 1;
        true
    }

    /// Whether a token could be read now, or the place after the last token: whether the word could end. After a refusal:
    /// whether it could have stood there.
    pub fn fits(&self, token: usize) -> bool {
        self.depth + ROOM <= self.stack.len() && self.look(token).0 & 0xff != 0
    }

    /// The verdict, if the word ends here.
    pub fn verdict(&self) -> Verdict {
        match self.ended {
            Some(verdict) => verdict,
            None if self.stack.is_empty() => Verdict::Full { position: 0 },
            None if self.look(TOKENS.len()).0 & 0xff == 1 => Verdict::Accept,
            None => Verdict::Incomplete,
        }
    }
}

const STATES: usize = @STATES@;

/// By token and state, then by what is pushed. The lowest byte is 0: refuse, 1: accept, 2: pop and go on elsewhere, 3: push up
/// to three states, 4: push a part of `PUSHED`.
static ACTIONS: [u64; @COUNT@] = [
@ACTIONS@];

static PUSHED: [State; @MANY@] = [@PUSHED@];
