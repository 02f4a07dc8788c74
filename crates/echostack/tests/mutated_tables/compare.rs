//! All ways to run a table, compared with its own session.

use std::fmt;

use echostack::recognize::{Outcome, Status};
use echostack::symbol::Input;
use echostack::table::Lanes;
use echostack::{Limits, Recognizer, Scanner, Session, SymbolId, Table, Verdict, Word};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// A word that is not judged as by the table's own session.
#[derive(Clone, Debug)]
pub(crate) struct Different {
    pub way: &'static str,
    pub word: Vec<SymbolId>,
    pub limits: Limits,
    pub session: String,
    pub other: String,
    /// Whether one of the two accepts the word.
    pub accepts: bool,
}

impl fmt::Display for Different {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { way, word, limits, session, other, .. } = self;
        let tokens: Vec<usize> = word.iter().take(60).map(|token| token.index()).collect();
        write!(f, "{other} by {way}, {session} by the session, {} tokens {tokens:?}, {limits:?}", word.len())
    }
}

/// Compares all ways to run a table on some words.
pub(crate) struct Comparison<'a> {
    table: &'a Table,
    limits: Limits,
    words: &'a [Vec<SymbolId>],
    verdicts: Vec<Verdict>,
    pub different: Vec<Different>,
}

impl<'a> Comparison<'a> {
    pub(crate) fn new(table: &'a Table, limits: Limits, words: &'a [Vec<SymbolId>]) -> Self {
        let judge = |word: &Vec<SymbolId>| table.judge_with(&Word::Symbols(word.clone()), limits, &mut ());
        Self { table, limits, words, verdicts: words.iter().map(judge).collect(), different: Vec::new() }
    }

    /// Returns how many words are accepted.
    pub(crate) fn accepted(&self) -> usize {
        self.verdicts.iter().filter(|verdict| verdict.is_accept()).count()
    }

    pub(crate) fn all(&mut self, random: &mut ChaCha8Rng) {
        self.each_by_a_scanner_of_its_own();
        self.by_one_scanner(random);
        self.in_parts(random);
        self.by_lanes();
    }

    /// Notes what is said of a word, if the session says something else.
    fn note(&mut self, way: &'static str, number: usize, other: &Verdict) {
        let session = &self.verdicts[number];
        if session != other {
            self.different.push(Different {
                way,
                word: self.words[number].clone(),
                limits: self.limits,
                session: format!("{session:?}"),
                other: format!("{other:?}"),
                accepts: session.is_accept() != other.is_accept(),
            });
        }
    }

    fn each_by_a_scanner_of_its_own(&mut self) {
        for number in 0..self.words.len() {
            let mut scanner = Scanner::new(self.table, self.limits);
            scanner.read(&self.words[number]);
            self.note("a scanner", number, &scanner.finish());
        }
    }

    /// Reads the words in a random order, each several times: what came before must not matter.
    fn by_one_scanner(&mut self, random: &mut ChaCha8Rng) {
        let mut scanner = Scanner::new(self.table, self.limits);
        for _ in 0..2 * self.words.len() {
            let number = random.random_range(0..self.words.len());
            scanner.read(&self.words[number]);
            self.note("a scanner, after other words", number, &scanner.finish());
        }
    }

    /// Reads the words in parts, and compares the status after each.
    fn in_parts(&mut self, random: &mut ChaCha8Rng) {
        let mut scanner = Scanner::new(self.table, self.limits);
        for number in 0..self.words.len() {
            let word = &self.words[number];
            let most = if random.random_bool(0.5) { 8 } else { word.len().max(1) };
            let mut session = self.table.start(self.limits);
            let mut rest = &word[..];
            while !rest.is_empty() {
                let (part, after) = rest.split_at(random.random_range(1..=most.min(rest.len())));
                let status = scanner.read(part);
                _ = part.iter().all(|&token| session.feed(Input::Symbol(token), &mut ()) == Status::Open);
                if (status, scanner.position()) != (session.status(), session.position()) {
                    let other = format!("{status:?} after {}", scanner.position());
                    let session = format!("{:?} after {}", session.status(), session.position());
                    let (word, limits) = (word.clone(), self.limits);
                    self.different.push(Different { way: "a part", word, limits, session, other, accepts: false });
                    break;
                }
                rest = after;
            }
            self.note("a scanner, in parts", number, &scanner.finish());
        }
    }

    /// Reads the words together, often enough for frames to be computed, and once more for what is kept.
    fn by_lanes(&mut self) {
        let tokens: usize = self.words.iter().map(Vec::len).sum();
        let times = (5000 / tokens.max(1)).clamp(2, 50);
        let mut lanes = Lanes::new(self.table, self.limits);
        let mut all: Vec<&[SymbolId]> = Vec::new();
        (0..times).for_each(|_| all.extend(self.words.iter().map(Vec::as_slice)));
        lanes.judge::<Outcome>(all.iter().copied());
        let verdicts: Vec<Verdict> = lanes.judge(all.iter().copied().take(2 * self.words.len()));
        let outcomes: Vec<Outcome> = lanes.judge(self.words.iter().map(Vec::as_slice));
        for (number, verdict) in verdicts.iter().enumerate() {
            self.note("lanes", number % self.words.len(), verdict);
        }
        for (number, outcome) in outcomes.into_iter().enumerate() {
            if outcome != self.verdicts[number].outcome() {
                let (session, other) = (format!("{:?}", self.verdicts[number]), format!("{outcome:?}"));
                let accepts = self.verdicts[number].is_accept() != outcome.is_accept();
                let (word, limits) = (self.words[number].clone(), self.limits);
                self.different.push(Different { way: "outcomes of lanes", word, limits, session, other, accepts });
            }
        }
    }
}
