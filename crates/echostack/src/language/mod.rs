//! Where words come from: languages that draw their own words, and words that are wrong.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::automaton::{Automaton, Oracle};
use crate::recognize::{Limits, Recognizer, Session, Status};
use crate::symbol::{Input, Lookahead, SymbolId, Word};
use crate::teach::{Trace, record};

/// A language: an automaton that decides it, and a way to draw its words. Its name is what it displays as.
pub trait Language: fmt::Display + Send + Sync {
    /// The automaton.
    fn automaton(&self) -> &Automaton;

    /// A word of the language with a length in this range; `None` if there is none, or if many draws gave none.
    fn word(&self, random: &mut ChaCha8Rng, lengths: RangeInclusive<usize>) -> Option<Word>;

    /// Short words that use between them everything the language is made of; none if that is not known.
    fn covering(&self) -> Vec<Word> {
        Vec::new()
    }

    /// Beginnings of words with one token more, right or wrong, that are worth being taught what to do on that token.
    fn probes(&self) -> Vec<Word> {
        Vec::new()
    }
}

/// What a word of a language is drawn as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WordKind {
    /// A word of the language.
    #[default]
    Valid,
    /// One to three edits (delete, insert, replace, exchange) away from a valid word, and known not to be in the language.
    NearMiss,
    /// Letters drawn independently, in the language or not.
    Random,
}

impl WordKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Valid, Self::NearMiss, Self::Random];

    /// The name of the kind: `valid`, `near-miss` or `random`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::NearMiss => "near-miss",
            Self::Random => "random",
        }
    }

    /// How many of so many words are of which kind if this part of them, from 0 to 1, is wrong: near misses and random words,
    /// half each.
    pub fn shares(count: usize, negatives: f64) -> [(Self, usize); 3] {
        let wrong = (negatives.clamp(0., 1.) * count as f64).round() as usize;
        [(Self::Valid, count - wrong), (Self::NearMiss, wrong - wrong / 2), (Self::Random, wrong / 2)]
    }
}

impl fmt::Display for WordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is none of a kind of words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kind is {0:?}, but must be valid, near-miss or random")]
pub struct UnknownWordKind(String);

impl FromStr for WordKind {
    type Err = UnknownWordKind;

    fn from_str(name: &str) -> Result<Self, UnknownWordKind> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| UnknownWordKind(name.to_string()))
    }
}

/// A word of this kind with a length in this range; `None` if many draws gave none. The oracle, of either mode, says which
/// words are in the language. Near misses may be three letters shorter or longer.
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

/// Words of one kind with what this teacher does on them. Fewer than `count` if there are no such words.
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

/// How often a valid word is damaged again because it is still in the language.
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

/// All words of a language up to a length, shortest first, those of a length in the order of the alphabet; `None` if there
/// would be more than `most` words, or as many beginnings of words.
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

/// A language of which only the automaton is known: words are random walks along what could follow.
#[derive(Clone, Debug)]
pub struct Walks {
    name: String,
    oracle: Oracle,
}

impl Walks {
    /// The language of a strict oracle.
    pub fn new(name: impl Into<String>, oracle: Oracle) -> Self {
        Self { name: name.into(), oracle }
    }

    /// One walk; `None` if it did not end in time. `steps` counts down.
    fn walk(&self, random: &mut ChaCha8Rng, lengths: &RangeInclusive<usize>, steps: &mut usize) -> Option<Word> {
        let mut session = self.oracle.start(Limits::default());
        let mut word = Vec::new();
        // To end well, a walk must come down again: past this length it takes the first step that can end.
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

/// How many walks are tried for a word, and how many steps they may take together.
const MAX_WALKS: usize = 10_000;
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
