//! Whether two grammars with their lexers have the same texts.
//!
//! Both are read as deterministic recognizers of bytes that push and pop (see [`nested`] and [`recognizer`]), and run in
//! lockstep. If both have pushed, the two frames become one frame of a common stack, so that they need not open and close
//! at the same byte, but within a few. For each pair of configurations with which a common frame begins, the pairs that
//! are reached until it is popped are computed once, as is usual for recursive state machines. The two have the same texts
//! if and only if no pair is reached on the outermost level in which one accepts and the other does not.

mod nested;
mod recognizer;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::ops::RangeInclusive;
use std::rc::Rc;

use echostack::Control;

use self::nested::{Reason, Set};
use self::recognizer::{Configuration, Halt, Recognizer};
use crate::export::Export;
use crate::subject::Subject;

/// The maximum number of pairs of configurations.
const MAX_PAIRS: usize = 300_000;
/// The maximum number of short texts that are compared if nothing else is possible.
const MAX_TEXTS: usize = 200_000;
/// By how many frames the two may differ before they are not compared any further.
const MAX_FRAMES: usize = 2;
/// The maximum number of matches that a lexer may have to give up at the same time.
const MAX_OTHERWISE: usize = 8;

/// Whether two languages have the same texts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Equality {
    /// They have the same texts, of all lengths.
    Equal,
    /// One of them accepts this text, and the other one does not.
    Different {
        /// A short text.
        text: String,
        /// Whether it is the first one that accepts it.
        first: bool,
    },
    /// It was not decided.
    NotComparable {
        /// Why not.
        reason: String,
        /// All texts of up to this many ASCII characters are in both or in neither, with one character for all those
        /// that the two lexers do not tell apart. `None` if not even the empty text was compared.
        agree_to: Option<usize>,
    },
}

impl fmt::Display for Equality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equal => f.write_str("the same texts, of all lengths"),
            Self::Different { text, first: true } => write!(f, "different: only the first has {text:?}"),
            Self::Different { text, first: false } => write!(f, "different: only the second has {text:?}"),
            Self::NotComparable { reason, agree_to: None } => write!(f, "not compared: {reason}"),
            Self::NotComparable { reason, agree_to: Some(length) } => {
                write!(f, "not comparable on all texts, but the same texts of up to {length} characters: {reason}")
            }
        }
    }
}

/// Decides whether two grammars with their lexers have the same texts.
///
/// This is possible if brackets enclose what is recursive in both, in the same way, apart from lists and the like: JSON
/// and many other formats are of this form. [`Equality::NotComparable`] says why others are not, and how far the two agree
/// on short texts.
///
/// ```
/// use echostack_grammar::{Encoding, Equality, Grammar, Lexer, Subject, equality};
///
/// let subject = |rules: &str| {
///     let grammar = Grammar::new("lists", &format!("%start L\n%%\n{rules}\n"), Encoding::Auto)?;
///     let lexer = Lexer::new("%%\n\\[ \"[\"\n\\] \"]\"\n, \",\"\nx \"x\"\n")?;
///     Ok::<_, Box<dyn std::error::Error>>(Subject::of_grammar(grammar, Some(lexer)))
/// };
/// let left = subject("L: '[' ']' | '[' E ']'; E: V | E ',' V; V: 'x' | L;")?;
/// let right = subject("L: '[' E ']' | '[' ']'; E: V F; F: | ',' V F; V: 'x' | '[' ']' | '[' E ']';")?;
/// assert_eq!(equality(&left, &right, &()), Equality::Equal);
/// let right = subject("L: '[' E ']'; E: V | E ',' V; V: 'x' | L;")?;
/// assert_eq!(equality(&left, &right, &()), Equality::Different { text: "[]".into(), first: true });
/// let right = subject("L: '[' L | 'x';")?;
/// assert!(matches!(equality(&left, &right, &()), Equality::Different { .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn equality(first: &Subject, second: &Subject, control: &dyn Control) -> Equality {
    compared(first, second, control).unwrap_or_else(|reason| on_short_texts(first, second, reason, control))
}

/// Compares all short texts, because the languages cannot be compared on all texts.
fn on_short_texts(first: &Subject, second: &Subject, reason: Reason, control: &dyn Control) -> Equality {
    let mut agree_to = None;
    let lexers = [first, second].map(Subject::lexer);
    if let ([Some(one), Some(two)], Some(_), Some(_)) = (lexers, first.grammar(), second.grammar()) {
        let letters = one_of_each(0..=127, |byte| {
            let automata = one.states.iter().chain(&two.states);
            automata.map(|dfa| dfa.rows().classes[usize::from(byte)]).collect::<Vec<_>>()
        });
        let letters: Vec<char> = letters.into_iter().map(char::from).collect();
        let mut texts = vec![String::new()];
        let mut compared = 0;
        loop {
            compared += texts.len();
            if compared > MAX_TEXTS || control.cancelled() {
                break;
            }
            let differs = |text: &&String| has(first, text) != has(second, text);
            if let Some(text) = texts.iter().find(differs) {
                return Equality::Different { text: text.clone(), first: has(first, text) };
            }
            agree_to = Some(agree_to.map_or(0, |length| length + 1));
            if texts.len() * letters.len() > MAX_TEXTS {
                break;
            }
            texts = texts.iter().flat_map(|text| letters.iter().map(move |letter| format!("{text}{letter}"))).collect();
        }
    }
    Equality::NotComparable { reason, agree_to }
}

/// Returns the first byte of each class, in the order of the classes.
fn one_of_each<C: Ord>(bytes: RangeInclusive<u8>, class: impl Fn(u8) -> C) -> Vec<u8> {
    let classes: BTreeMap<C, u8> = bytes.rev().map(|byte| (class(byte), byte)).collect();
    classes.into_values().collect()
}

/// Returns whether a grammar with a lexer has a text.
fn has(subject: &Subject, text: &str) -> bool {
    let (Some(grammar), Some(lexer)) = (subject.grammar(), subject.lexer()) else { return false };
    let (tokens, fault) = lexer.tokens(text);
    let terminals = &grammar.table().names[..grammar.table().terminals];
    let word =
        tokens.iter().map(|token| terminals.iter().position(|name| name == token.name)).collect::<Option<Vec<_>>>();
    fault.is_none() && word.is_some_and(|word| grammar.table().accepts(&word))
}

/// Compares all texts, and finds out what the lexers themselves say of a text that makes a difference.
fn compared(first: &Subject, second: &Subject, control: &dyn Control) -> Result<Equality, Reason> {
    let export = |subject: &Subject| {
        let grammar = subject.grammar().ok_or_else(|| format!("{} is not a grammar", subject.name()))?;
        Export::of_grammar(grammar, subject.lexer())
            .recognized()
            .map_err(|error| format!("{}: {error}", subject.name()))
    };
    let (left, right) = (export(first)?, export(second)?);
    let both = [Recognizer::new(&left, first.name())?, Recognizer::new(&right, second.name())?];
    let Some((bytes, is_first)) = Lockstep::new(both, control).run()? else { return Ok(Equality::Equal) };
    let text = String::from_utf8(bytes).map_err(|_| "a text in which they differ is not UTF-8".to_string())?;
    // The lexer itself has the last word, for example about a byte order mark.
    if first.lexer().is_some() && second.lexer().is_some() && has(first, &text) == has(second, &text) {
        return Err(format!("only one of the two should have {text:?}, but the lexers say otherwise"));
    }
    Ok(Equality::Different { text, first: is_first })
}

/// A configuration of each of the two, unless it has none any more.
type Pair = [Option<Configuration>; 2];

/// A frame of the common stack.
type Frame = [Option<Set>; 2];

/// A text that leads somewhere.
type Way = Rc<[u8]>;

/// Where a common frame was pushed: the entry of the frame below, the frame, and a text from that entry.
type Caller = (usize, Frame, Way);

/// Runs two recognizers in lockstep.
struct Lockstep<'a> {
    both: [Recognizer<'a>; 2],
    control: &'a dyn Control,
    /// One byte of each class that the lexers do not tell apart.
    bytes: Vec<u8>,
    /// The pairs with which frames begin. The first is the beginning of the text.
    entries: BTreeMap<Pair, usize>,
    callers: Vec<Vec<Caller>>,
    /// The pairs and bytes that pop each frame, with a text from its entry to before that byte.
    exits: Vec<Vec<(Pair, u8, Way)>>,
    known: BTreeSet<(usize, Pair)>,
    open: VecDeque<(usize, Pair, Way)>,
    /// Frames that are to be popped: the entry below, the frame, the pair, the byte, and the text before that byte.
    pops: VecDeque<(usize, Frame, Pair, u8, Way)>,
}

impl<'a> Lockstep<'a> {
    fn new(both: [Recognizer<'a>; 2], control: &'a dyn Control) -> Self {
        let mut bytes = one_of_each(0..=255, |byte| {
            let class = |at: usize| both[at].dfa().rows().classes[usize::from(byte)];
            (class(0), class(1), byte == b'\r', byte == b'\n')
        });
        // Visible characters come first, so that a text is one that people can read.
        bytes.sort_by_key(|byte| (!byte.is_ascii_graphic(), *byte));
        Self {
            both,
            control,
            bytes,
            entries: BTreeMap::new(),
            callers: Vec::new(),
            exits: Vec::new(),
            known: BTreeSet::new(),
            open: VecDeque::new(),
            pops: VecDeque::new(),
        }
    }

    /// Returns a text that one of the two accepts and the other one does not, if there is one, and whether it is the first.
    fn run(&mut self) -> Result<Option<(Vec<u8>, bool)>, Reason> {
        let start = [Some(self.both[0].start()), Some(self.both[1].start())];
        let root = self.entry(&start);
        self.add(root, start, Way::default())?;
        let mut turn = 0_usize;
        loop {
            turn += 1;
            if turn.is_multiple_of(256) && self.control.cancelled() {
                return Err("it was stopped".into());
            }
            if let Some((entry, frame, pair, byte, way)) = self.pops.pop_front() {
                self.pop(entry, frame, pair, byte, &way)?;
                continue;
            }
            let Some((entry, pair, way)) = self.open.pop_front() else { return Ok(None) };
            if entry == root {
                let accepts = |at: usize| pair[at].as_ref().is_some_and(|this| self.both[at].accepts(this));
                let verdicts = [accepts(0), accepts(1)];
                if verdicts[0] != verdicts[1] {
                    return Ok(Some((way.to_vec(), verdicts[0])));
                }
            }
            for at in 0..self.bytes.len() {
                self.step(entry, &pair, self.bytes[at], &way)?;
            }
        }
    }

    /// Returns the number of the frame that begins with a pair.
    fn entry(&mut self, pair: &Pair) -> usize {
        let fresh = self.entries.len();
        let number = *self.entries.entry(pair.clone()).or_insert(fresh);
        if number == fresh {
            self.callers.push(Vec::new());
            self.exits.push(Vec::new());
        }
        number
    }

    /// Adds a pair that is reached within a frame.
    fn add(&mut self, entry: usize, pair: Pair, way: Way) -> Result<(), Reason> {
        if pair == [None, None] || self.known.contains(&(entry, pair.clone())) {
            return Ok(());
        }
        if let Some(frame) = common_frame(&pair) {
            let inner = pair.map(|this| Some(this?.with_stacks(&|stack| stack[1..].to_vec())));
            let number = self.entry(&inner);
            let is_known = self.callers[number].iter().any(|(outer, other, _)| (*outer, *other) == (entry, frame));
            if is_known {
                return Ok(());
            }
            self.callers[number].push((entry, frame, way.clone()));
            self.add(number, inner, Way::default())?;
            let exits = self.exits[number].iter();
            self.pops.extend(
                exits.map(|(leave, byte, rest)| (entry, frame, leave.clone(), *byte, [&way[..], rest].concat().into())),
            );
            return Ok(());
        }
        let all = || pair.iter().flatten();
        if all().flat_map(Configuration::all).any(|this| this.stack.len() > MAX_FRAMES) {
            let text = String::from_utf8_lossy(&way).into_owned();
            return Err(format!("the two do not open and close in the same places, as after {text:?}"));
        }
        if all().any(|this| this.all().count() > MAX_OTHERWISE) {
            let text = String::from_utf8_lossy(&way).into_owned();
            return Err(format!("a lexer looks too far ahead, as after {text:?}"));
        }
        if self.known.len() >= MAX_PAIRS {
            return Err(format!("there are more than {MAX_PAIRS} pairs of states"));
        }
        self.known.insert((entry, pair.clone()));
        self.open.push_back((entry, pair, way));
        Ok(())
    }

    /// Goes on after a frame was popped.
    fn pop(&mut self, entry: usize, frame: Frame, mut pair: Pair, byte: u8, way: &[u8]) -> Result<(), Reason> {
        for (this, frame) in pair.iter_mut().zip(frame) {
            let change = |stack: &[Set]| frame.iter().chain(stack).copied().collect();
            *this = this.as_ref().map(|this| this.with_stacks(&change));
        }
        self.step(entry, &pair, byte, way)
    }

    /// Reads a byte.
    fn step(&mut self, entry: usize, pair: &Pair, byte: u8, way: &[u8]) -> Result<(), Reason> {
        let mut next: Pair = [None, None];
        for at in 0..2 {
            let Some(this) = &pair[at] else { continue };
            match self.both[at].step(this, byte) {
                Ok(after) => next[at] = after,
                Err(Halt::Refused(reason)) => return Err(format!("{}: {reason}", self.both[at].name)),
                Err(Halt::Frame) => {
                    let is_known = self.exits[entry].iter().any(|(known, other, _)| known == pair && *other == byte);
                    if !is_known {
                        self.exits[entry].push((pair.clone(), byte, way.into()));
                        let callers = self.callers[entry].iter();
                        self.pops.extend(callers.map(|(outer, frame, before)| {
                            (*outer, *frame, pair.clone(), byte, [&before[..], way].concat().into())
                        }));
                    }
                    return Ok(());
                }
            }
        }
        self.add(entry, next, [way, &[byte]].concat().into())
    }
}

/// Returns the lowest frames of both, if all configurations have one, and each of the two has the same one in all.
fn common_frame(pair: &Pair) -> Option<Frame> {
    let mut frame: Frame = [None, None];
    for (this, frame) in pair.iter().zip(&mut frame) {
        let Some(this) = this else { continue };
        let lowest = *this.stack.first()?;
        if this.all().any(|this| this.stack.first() != Some(&lowest)) {
            return None;
        }
        *frame = Some(lowest);
    }
    Some(frame)
}
