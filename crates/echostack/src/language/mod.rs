//! Languages, and ways to draw words from them: valid words, near misses and random words.

use std::fmt;
use std::ops::RangeInclusive;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::automaton::{Automaton, Oracle};
use crate::name::named;
use crate::recognize::{Limits, Recognizer, Session, Status};
use crate::symbol::{Input, Lookahead, SymbolId, Word};
use crate::teach::{Trace, record};

/// A language: an automaton that decides it, and a way to draw its words. Its `Display` form is its name.
pub trait Language: fmt::Display + Send + Sync {
    /// Returns the automaton.
    fn automaton(&self) -> &Automaton;

    /// Draws a word of the language with a length in this range; `None` if there is none, or if many draws found none.
    fn word(&self, random: &mut ChaCha8Rng, lengths: RangeInclusive<usize>) -> Option<Word>;

    /// Returns short words that together use everything the language is made of; no words if that is not known.
    fn covering(&self) -> Vec<Word> {
        Vec::new()
    }

    /// Returns prefixes of words followed by one more token, valid or not, on which a machine should be taught what to
    /// do.
    fn probes(&self) -> Vec<Word> {
        Vec::new()
    }
}

/// The kind of a drawn word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WordKind {
    /// A word of the language.
    #[default]
    Valid,
    /// A word that is one to three edits (deletion, insertion, replacement, exchange) away from a valid word, and is
    /// known not to be in the language.
    NearMiss,
    /// A word of tokens drawn independently, in the language or not.
    Random,
}

impl WordKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Valid, Self::NearMiss, Self::Random];

    /// Returns the name of the kind: `valid`, `near-miss` or `random`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::NearMiss => "near-miss",
            Self::Random => "random",
        }
    }

    /// Returns the number of words of each kind, out of `count`, if the fraction `negatives` of them, from 0 to 1, is
    /// negative: half near misses and half random words.
    pub fn shares(count: usize, negatives: f64) -> [(Self, usize); 3] {
        let wrong = (negatives.clamp(0., 1.) * count as f64).round() as usize;
        [(Self::Valid, count - wrong), (Self::NearMiss, wrong - wrong / 2), (Self::Random, wrong / 2)]
    }
}

named!(WordKind, "word kind");

/// Draws a word of this kind with a length in this range; `None` if many draws found none. The oracle, in either mode,
/// decides which words are in the language. Near misses may be up to three tokens shorter or longer.
pub fn draw(
    language: &dyn Language,
    oracle: &Oracle,
    kind: WordKind,
    lengths: RangeInclusive<usize>,
    random: &mut ChaCha8Rng,
) -> Option<Word> {
    let letters = language.automaton().alphabet().terminals().len();
    if lengths.is_empty() || letters == 0 {
        return None;
    }
    match kind {
        WordKind::Valid => language.word(random, lengths),
        WordKind::NearMiss => near_miss(language, oracle, letters, &lengths, random),
        WordKind::Random => {
            let length = random.random_range(lengths);
            Some(Word::Symbols((0..length).map(|_| SymbolId::new(random.random_range(0..letters))).collect()))
        }
    }
}

/// Draws words of one kind and records what a teacher does on them. Returns fewer than `count` traces if not enough
/// words are found.
pub fn examples(
    language: &dyn Language,
    teacher: &Oracle,
    kind: WordKind,
    lengths: RangeInclusive<usize>,
    count: usize,
    random: &mut ChaCha8Rng,
) -> Vec<Trace> {
    let mut all = Vec::new();
    for number in 0..count {
        let Some(word) = draw(language, teacher, kind, lengths.clone(), random) else { break };
        all.extend(record(teacher, format!("{language} {kind} word {number}"), &word, Limits::default()).0);
    }
    all
}

/// The maximum number of valid words that are edited until one is no longer in the language.
const MAX_DAMAGES: usize = 1000;

fn near_miss(
    language: &dyn Language,
    oracle: &Oracle,
    letters: usize,
    lengths: &RangeInclusive<usize>,
    random: &mut ChaCha8Rng,
) -> Option<Word> {
    for _ in 0..MAX_DAMAGES {
        let Word::Symbols(mut word) = language.word(random, lengths.clone())? else { return None };
        for _ in 0..random.random_range(1..=3) {
            let symbol = SymbolId::new(random.random_range(0..letters));
            let edit = random.random_range(0..4);
            if edit == 0 || word.is_empty() {
                word.insert(random.random_range(0..=word.len()), symbol);
                continue;
            }
            let (place, other) = (random.random_range(0..word.len()), random.random_range(0..word.len()));
            match edit {
                1 => _ = word.remove(place),
                2 => word[place] = symbol,
                _ => word.swap(place, other),
            }
        }
        let word = Word::Symbols(word);
        if !oracle.judge(&word).is_accept() {
            return Some(word);
        }
    }
    None
}

/// Returns all words of a language up to a length, the shortest first and those of the same length in the order of the
/// alphabet; `None` if there would be more than `most` words, or more than `most` prefixes of the same length.
pub fn all_words(oracle: &Oracle, longest: usize, most: usize) -> Option<Vec<Word>> {
    let mut words = Vec::new();
    let mut beginnings = vec![(Vec::new(), oracle.start(Limits::default()))];
    for length in 0..=longest {
        let mut longer = Vec::new();
        for (beginning, session) in beginnings {
            for next in session.expected() {
                match next {
                    Lookahead::End => words.push(Word::Symbols(beginning.clone())),
                    Lookahead::Token(token) if length < longest => {
                        let mut session = session.clone();
                        if session.feed(Input::Symbol(token), &mut ()) == Status::Open {
                            longer.push(([&beginning[..], &[token]].concat(), session));
                        }
                    }
                    Lookahead::Token(_) => {}
                }
            }
            if words.len() > most || longer.len() > most {
                return None;
            }
        }
        beginnings = longer;
    }
    Some(words)
}

/// A language of which only the automaton is known: its words are random walks along the tokens that can follow.
#[derive(Clone, Debug)]
pub struct Walks {
    name: String,
    oracle: Oracle,
}

impl Walks {
    /// Creates the language of a strict oracle.
    pub fn new(name: impl Into<String>, oracle: Oracle) -> Self {
        Self { name: name.into(), oracle }
    }

    /// Takes one walk; `None` if it did not end in time. Counts `steps` down.
    fn walk(&self, random: &mut ChaCha8Rng, lengths: &RangeInclusive<usize>, steps: &mut usize) -> Option<Word> {
        let mut session = self.oracle.start(Limits::default());
        let mut word = Vec::new();
        // A walk can end only once its stack has been reduced again, so it ends at the first opportunity after this
        // length.
        let wanted = random.random_range(lengths.clone());
        loop {
            let expected = session.expected();
            let can_end = expected.contains(&Lookahead::End);
            let tokens: Vec<SymbolId> = expected.iter().filter_map(|next| next.token()).collect();
            if can_end && lengths.contains(&word.len()) && (word.len() >= wanted || tokens.is_empty()) {
                return Some(Word::Symbols(word));
            }
            if tokens.is_empty() || word.len() >= *lengths.end() || *steps == 0 {
                return None;
            }
            *steps -= 1;
            let token = tokens[random.random_range(0..tokens.len())];
            session.feed(Input::Symbol(token), &mut ());
            word.push(token);
        }
    }
}

impl fmt::Display for Walks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

/// The maximum number of walks that are tried for a word.
const MAX_WALKS: usize = 10_000;
/// The maximum number of steps that the walks for a word may take together.
const MAX_STEPS: usize = 1_000_000;

impl Language for Walks {
    fn automaton(&self) -> &Automaton {
        self.oracle.automaton()
    }

    fn word(&self, random: &mut ChaCha8Rng, lengths: RangeInclusive<usize>) -> Option<Word> {
        if lengths.is_empty() {
            return None;
        }
        let mut steps = MAX_STEPS;
        (0..MAX_WALKS).find_map(|_| self.walk(random, &lengths, &mut steps))
    }
}
