//! Tables: automata compiled to a finite number of states for the top of the stack, with the action to take in each
//! state.
//!
//! A state represents everything that the automaton knows about a stack: which rules match it and which tokens can
//! follow. A stack is a list of states, so a pop restores what was known before. [`Scanner`](super::Scanner) is the
//! fast way to run a table. As a [`Recognizer`], a table takes every action one by one and shows each of them to the
//! observer.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::frames::{Admitted, Frames, Keep};
use super::fuse::Fused;
use super::rows::{Rows, State};
use super::sound::{self, Unsound};
use crate::automaton::{AutomatonError, MAX_POP, Oracle};
use crate::control::Control;
use crate::file::{self, FileError, Reader, Tensors, VERSION, damaged};
use crate::manifest::Manifest;
use crate::recognize::{Limits, Mode, Recognizer, Reduction, Run, Stack};
use crate::symbol::{Alphabet, Input, Lookahead, SymbolId};
use crate::undo::UndoStack;

/// The maximum number of states of a table, which is what [`State`] can number.
const MAX_STATES: usize = 1 << 16;

/// An automaton compiled to a table, with one state for each symbol on the stack.
///
/// ```
/// use echostack::{Oracle, Recognizer, Table, Verdict, tasks::Task};
/// let oracle = Oracle::strict(Task::Dyck1.automaton().unwrap())?;
/// let table = Table::new(&oracle, Default::default())?;
/// let word = table.alphabet().word("( ( ) )".split(' '))?;
/// assert_eq!(table.judge(&word), Verdict::Accept);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Table {
    alphabet: Arc<Alphabet>,
    manifest: Arc<Manifest>,
    rows: Arc<Rows>,
    fused: Arc<Fused>,
    fast: Arc<Fast>,
}

/// What makes a table faster, once it is needed.
#[derive(Debug, Default)]
struct Fast {
    /// The number of tokens of words that came together, up to the point where frames are worth computing.
    tokens: AtomicUsize,
    /// The frames; `None` if there are too many.
    frames: OnceLock<Option<Frames>>,
    /// The frames of long words; `None` if there are too many.
    all_frames: OnceLock<Option<Frames>>,
}

impl Table {
    /// Compiles the automaton of an oracle to a table. The table is strict, even if the oracle is tolerant.
    ///
    /// # Errors
    /// [`AutomatonError::TooLarge`] if the table would need more than 65,536 states, or too many actions.
    pub fn new(oracle: &Oracle, manifest: Manifest) -> Result<Self, AutomatonError> {
        Self::compile(oracle, manifest, &())
    }

    /// Compiles the automaton of an oracle under a control, since an automaton with long rules may take long.
    ///
    /// # Errors
    /// As [`new`](Self::new), and [`AutomatonError::Cancelled`].
    pub fn compile(oracle: &Oracle, manifest: Manifest, control: &dyn Control) -> Result<Self, AutomatonError> {
        let rows = Rows::of(oracle, control)?.merged(control)?;
        Self::of(oracle.automaton().alphabet().clone(), manifest, rows).ok_or(AutomatonError::TooLarge)
    }

    pub(super) fn of(alphabet: Arc<Alphabet>, manifest: Manifest, rows: Rows) -> Option<Self> {
        if rows.states() > MAX_STATES {
            return None;
        }
        let fused = Fused::new(&rows)?;
        Some(Self {
            alphabet,
            manifest: Arc::new(manifest),
            rows: Arc::new(rows),
            fused: Arc::new(fused),
            fast: Arc::default(),
        })
    }

    /// Returns the alphabet.
    pub fn alphabet(&self) -> &Arc<Alphabet> {
        &self.alphabet
    }

    /// Returns what is known about the table's origin, including the source of the lexer if the table reads texts.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the table with an empty manifest.
    pub(crate) fn without_manifest(&self) -> Self {
        Self { manifest: Arc::default(), ..self.clone() }
    }

    /// Returns the number of states.
    pub fn states(&self) -> usize {
        self.rows.states()
    }

    /// Returns the number of actions that run the table, and about how many bytes they take. A whole chain of
    /// reductions counts as one action.
    pub fn size(&self) -> (usize, usize) {
        self.fused.size()
    }

    /// Returns whether a state fits in one byte.
    pub(super) fn is_narrow(&self) -> bool {
        self.states() <= 1 << u8::BITS
    }

    pub(crate) fn rows(&self) -> &Rows {
        &self.rows
    }

    pub(super) fn fused(&self) -> &Fused {
        &self.fused
    }

    /// Returns the frames if the table has any. They are computed the first time.
    pub(super) fn frames(&self) -> Option<&Frames> {
        self.fast.frames.get_or_init(|| Frames::new(&self.rows, Keep::Needed)).as_ref()
    }

    /// Returns the frames from which the stack of states can be recovered, if the table has any. They are computed the
    /// first time.
    pub(super) fn all_frames(&self) -> Option<&Frames> {
        self.fast.all_frames.get_or_init(|| Frames::new(&self.rows, Keep::All)).as_ref()
    }

    /// Returns the frames for words with this many tokens, unless the table has seen too few tokens so far to make
    /// computing them worthwhile.
    pub(super) fn frames_for(&self, tokens: usize) -> Option<&Frames> {
        if let Some(frames) = self.fast.frames.get() {
            return frames.as_ref();
        }
        let before = self.fast.tokens.fetch_add(tokens, Ordering::Relaxed);
        if before.saturating_add(tokens) < FEW_TOKENS { None } else { self.frames() }
    }
}

/// With fewer tokens in all, frames are not worth computing.
const FEW_TOKENS: usize = 1 << 12;

impl Recognizer for Table {
    type Session = Run<TableStack>;

    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    fn start(&self, limits: Limits) -> Self::Session {
        Run::new(TableStack::new(self.clone(), std::iter::empty()), limits)
    }
}

/// The stack of a [`Table`] that is reading a word.
#[derive(Clone, Debug)]
pub struct TableStack {
    table: Table,
    states: UndoStack<State>,
    lookahead: Lookahead,
    output: f64,
    /// The lookaheads that are admitted as long as the stack is the one that the word was resumed with; `None` for all.
    admitted: Admitted,
    /// Whether the stack is that one, now and when it was last marked.
    resumed: [bool; 2],
}

impl TableStack {
    /// Creates a stack with these states above the bottom.
    pub(super) fn new(table: Table, above: impl Iterator<Item = State>) -> Self {
        Self::admitting(table, above, None)
    }

    /// Creates a stack with these states above the bottom, on which only some lookaheads may come next.
    pub(super) fn admitting(table: Table, above: impl Iterator<Item = State>, admitted: Admitted) -> Self {
        let mut states = UndoStack::default();
        above.for_each(|state| states.push(state));
        Self { table, states, lookahead: Lookahead::End, output: 0., admitted, resumed: [true; 2] }
    }

    /// Returns whether the lookahead may come next. If not, there is nothing to do but to refuse it.
    fn is_admitted(&self) -> bool {
        let look = self.lookahead.token().map_or(self.table.rows.terminals, SymbolId::index);
        !self.resumed[0] || self.admitted.as_ref().is_none_or(|admitted| admitted.contains(&look))
    }

    fn top(&self) -> State {
        self.states.items().last().copied().unwrap_or(0)
    }
}

impl Stack for TableStack {
    fn alphabet(&self) -> &Alphabet {
        &self.table.alphabet
    }

    fn mode(&self) -> Mode {
        Mode::Strict
    }

    fn admits(&self, input: Input<'_>) -> bool {
        matches!(input, Input::Symbol(symbol) if self.table.alphabet.is_terminal(symbol))
    }

    fn look(&mut self, next: Option<Input<'_>>, _: bool) {
        self.states.mark();
        self.resumed[1] = self.resumed[0];
        self.lookahead = match next {
            Some(Input::Symbol(token)) => Lookahead::Token(token),
            _ => Lookahead::End,
        };
    }

    fn decide(&mut self) -> (Reduction, f64) {
        let action = self.table.rows.action(self.top(), self.lookahead).filter(|_| self.is_admitted());
        (action.unwrap_or(Reduction::NONE), f64::INFINITY)
    }

    fn depth(&self) -> usize {
        self.states.len()
    }

    fn reduce(&mut self, reduction: Reduction) {
        self.resumed[0] = false;
        self.states.truncate(self.states.len() - reduction.pop as usize);
        // There is a state for every push that can happen: the table was made from an automaton, or this was checked
        // when it was read.
        let pushed = reduction.push.and_then(|symbol| self.table.rows.push(self.top(), symbol));
        debug_assert!(pushed.is_some(), "the table has no state for {reduction:?} on {}", self.top());
        pushed.into_iter().for_each(|state| self.states.push(state));
    }

    fn output(&mut self) -> (&[f64], bool) {
        let accepting = self.table.rows.accepting[self.top() as usize] && self.is_admitted();
        self.output = f64::from(u8::from(accepting));
        (std::slice::from_ref(&self.output), accepting)
    }

    fn shifts(&mut self) -> (bool, f64) {
        let next = self.lookahead.token().and_then(|token| self.table.rows.push(self.top(), token));
        (next.is_some() && self.is_admitted(), f64::INFINITY)
    }

    fn shift(&mut self) {
        if let Some(state) = self.lookahead.token().and_then(|token| self.table.rows.push(self.top(), token)) {
            self.states.push(state);
            self.resumed[0] = false;
        }
    }

    fn rewind(&mut self) {
        self.resumed[0] = self.resumed[1];
        self.states.rewind();
    }
}

/// The key of the header in a table's file.
const KEY: &str = "echostack-table";

/// What is wrong with a table whose numbers are out of range.
const UNFIT: &str = "the parts of the table do not fit together";

/// Says what is wrong with a table, and what to do.
fn explained(unsound: Unsound, alphabet: &Alphabet) -> String {
    match unsound {
        Unsound::Missing(state, symbol) => format!(
            "a reduction pushes {} onto state {state} of the table, which has no entry for it; compile the table again",
            alphabet.name(symbol)
        ),
        Unsound::TooLarge => {
            "the table can lead to too many different stacks to check that it has an entry for each of \
             its reductions; compile it again"
                .into()
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    version: u32,
    terminals: Vec<String>,
    nonterminals: Vec<String>,
    /// The nonterminals that are parser states, unless these are exactly the ones whose names begin with `#`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parser_states: Option<Vec<String>>,
    manifest: Manifest,
}

impl Table {
    /// Returns the table as the bytes of a file. Equal tables give equal bytes.
    ///
    /// # Errors
    /// [`FileError::Damaged`] if the table is too large to be written.
    pub fn to_bytes(&self) -> Result<Vec<u8>, FileError> {
        let Rows { terminals, symbols, accepting, reductions, actions, pushes } = &*self.rows;
        let mut tensors = Tensors::default();
        tensors.integers("accepting", &[accepting.len()], accepting.iter().map(|&is| u32::from(is)));
        let push = |reduction: &Reduction| reduction.push.map_or(0, |symbol| symbol.index() as u32);
        let pairs = reductions.iter().flat_map(|reduction| [reduction.pop, push(reduction)]);
        tensors.integers("reductions", &[reductions.len(), 2], pairs);
        tensors.integers("actions", &[accepting.len(), terminals + 1], actions.iter().copied());
        tensors.integers("pushes", &[accepting.len(), *symbols], pushes.iter().copied());
        let name = |symbol: SymbolId| self.alphabet.name(symbol).to_string();
        let header = Header {
            version: VERSION,
            terminals: self.alphabet.terminals().map(name).collect(),
            nonterminals: self.alphabet.nonterminals().map(name).collect(),
            parser_states: self.alphabet.unconventional_states(),
            manifest: Manifest::clone(&self.manifest),
        };
        tensors.to_bytes(KEY, &header)
    }

    /// Returns whether these are the bytes of a table's file, as opposed to any other file.
    pub fn is_table(bytes: &[u8]) -> bool {
        matches!(file::header(KEY, bytes), Ok(Some(_)))
    }

    /// Reads a table from the bytes of its file.
    ///
    /// # Errors
    /// If the bytes are not a table of this format version, or if the table is damaged. This includes tables in which a
    /// reduction can uncover a state that has no entry for what is pushed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FileError> {
        let (header, reader): (Header, _) = Reader::open(KEY, bytes)?;
        let alphabet = Alphabet::from_file(header.terminals, header.nonterminals, header.parser_states)
            .or_else(|error| damaged(error.to_string()))?;
        let (terminals, symbols) = (alphabet.terminals().len(), alphabet.len());
        let reductions = reader.rows::<2>("reductions")?;
        let reductions = reductions.into_iter().map(|[pop, push]| {
            let push = SymbolId::new(push as usize);
            if pop > MAX_POP || !alphabet.is_nonterminal(push) {
                return damaged("a reduction pops too many symbols, or pushes a symbol that is not a nonterminal");
            }
            Ok(Reduction { pop, push: Some(push) })
        });
        let rows = Rows {
            terminals,
            symbols,
            accepting: reader.integers("accepting", 1)?.into_iter().map(|is| is != 0).collect(),
            reductions: reductions.collect::<Result<_, _>>()?,
            actions: reader.integers("actions", terminals + 1)?,
            pushes: reader.integers("pushes", symbols)?,
        };
        let states = rows.states();
        let fits = (1..=MAX_STATES).contains(&states)
            && rows.actions.len() == states * (terminals + 1)
            && rows.pushes.len() == states * symbols
            && rows.actions.iter().all(|&number| number as usize <= rows.reductions.len())
            && rows.pushes.iter().all(|&to| to as usize <= states);
        let Some(tops) = rows.tops().filter(|_| fits) else { return damaged(UNFIT) };
        sound::check(&rows, &tops, &alphabet).or_else(|unsound| damaged(explained(unsound, &alphabet)))?;
        Self::of(Arc::new(alphabet), header.manifest, rows).map_or_else(|| damaged(UNFIT), Ok)
    }

    /// Writes the table to a file. An existing file is replaced atomically: as a whole, or not at all.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        file::save(path.as_ref(), &self.to_bytes()?)
    }

    /// Reads a table from a file.
    ///
    /// # Errors
    /// If the file cannot be read, is not a table of this format version, or is damaged.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, FileError> {
        Self::from_bytes(&file::read_within(path.as_ref(), file::MAX_BYTES)?)
    }
}
