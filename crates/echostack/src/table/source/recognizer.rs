/// The tokens. A token is read by its number: `Token::Name as usize`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Token {
@ENUM@
}

/// The names of the tokens, by their numbers. The length of the list, as a token, is the end of the word.
pub const TOKENS: [&str; @TERMINALS@] = [@TOKENS@];

/// A state, which represents what is known about a stack.
pub type State = @STATE@;

/// The number of states by which a stack must be longer than the number of symbols on it.
pub const ROOM: usize = @ROOM@;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The word is in the language.
    Accept,
    /// The word is a proper prefix of a word in the language, but not in the language itself.
    Incomplete,
    /// The token at this position, counted from 0, cannot follow.
    Reject { position: u64 },
    /// The given memory is too small for the token at this position.
    Full { position: u64 },
}

/// A session that reads one word.
pub struct Reader<'a> {
    stack: &'a mut [State],
    /// The number of states that the stack may have.
    size: usize,
    depth: usize,
    position: u64,
    ended: Option<Verdict>,
}

impl<'a> Reader<'a> {
    /// Begins a word with this memory for the stack.
    pub fn new(stack: &'a mut [State]) -> Self {
        if let Some(bottom) = stack.first_mut() {
            *bottom = 0;
        }
        Self { size: stack.len(), stack, depth: 0, position: 0, ended: None }
    }

    /// Looks at a token, or at the end of the word, which counts as one more token. Returns the action and the depth at
    /// which it applies.
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
            // Only in a table that was tampered with is there no such action.
            let next = (action >> 32) as usize + self.stack[depth] as usize;
            action = ACTIONS.get(next).copied().unwrap_or(0);
        }
        (action, depth)
    }

    /// Reads a token and returns whether it can follow. After one that cannot, all others are refused.
    pub fn read(&mut self, token: usize) -> bool {
        if self.ended.is_some() {
            return false;
        }
        if self.depth + ROOM > self.size {
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

    /// Returns whether a token could be read now, or, for `TOKENS.len()`, whether the word could end here. After a
    /// refusal, returns whether the token was possible instead.
    pub fn fits(&self, token: usize) -> bool {
        self.depth + ROOM <= self.size && self.look(token).0 & 0xff != 0
    }

    /// Returns the tokens that could be read now, or that were possible instead of one that was refused. `TOKENS.len()`
    /// is the end of the word.
    pub fn expected(&self) -> impl Iterator<Item = usize> + '_ {
        (0..=TOKENS.len()).filter(|&token| self.fits(token))
    }

    /// Returns the verdict on the word if it ends here.
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

/// The actions by token and state, followed by those for the symbols that are pushed. The lowest byte is 0: refuse, 1:
/// accept, 2: pop and continue at another index, 3: push up to three states, 4: push a part of `PUSHED`.
static ACTIONS: [u64; @COUNT@] = [
@ACTIONS@];

static PUSHED: [State; @MANY@] = [@PUSHED@];
