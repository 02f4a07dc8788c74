//! The panel: all sides, which are asked about the same texts, each text once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound::{Excluded, Included, Unbounded};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use echostack::Control;
use echostack::control::Stage;
use rayon::prelude::*;

use super::shape::shape;
use super::side::{Side, Vote, Votes, disagree};
use crate::ask::queries::Stop;
use crate::program::{Failure, MAX_TEXT, Program, Reply};

/// The number of texts after which the limits are checked.
const MAX_BATCH: usize = 64;
/// The number of failures of a program in a row after which it is given up.
const MAX_FAILURES: usize = 100;
/// The most characters that are kept of those that come after another one: it matters whether there is more than one.
const MAX_AFTER: usize = 2;
/// The number of texts without an answer that are kept for the report, for each side.
const KEPT_FAILURES: usize = 20;

/// Where a text comes from, as shown in reports.
pub(crate) type Origin = &'static str;

/// A text on which the sides disagree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Found {
    pub(crate) length: usize,
    pub(crate) text: Box<str>,
    pub(crate) votes: Votes,
    pub(crate) origin: Origin,
}

#[derive(Debug, Default)]
struct State {
    known: HashMap<Box<str>, Votes>,
    /// The texts that every side accepts, in order.
    agreed: BTreeSet<Box<str>>,
    /// The characters of these texts, each with what comes after it: `None` is the end, and only a few are kept.
    agreed_letters: BTreeMap<char, BTreeSet<Option<char>>>,
    /// The shapes of these texts.
    agreed_shapes: BTreeSet<String>,
    /// The texts on which the sides disagree and that nobody has looked at.
    found: Vec<Found>,
    origin: Origin,
    /// How many times a program was asked.
    queries: usize,
    failures: Vec<Vec<(String, Failure)>>,
    failures_in_a_row: Vec<usize>,
    given_up: Option<(usize, Failure)>,
}

/// The sides, and what they have said.
pub(crate) struct Panel<'a> {
    pub(crate) sides: &'a [Side<'a>],
    control: &'a dyn Control,
    pool: Option<rayon::ThreadPool>,
    /// The maximum number of queries, and the maximum time.
    limits: (usize, Duration),
    began: Instant,
    programs: usize,
    state: Mutex<State>,
}

impl<'a> Panel<'a> {
    pub(crate) fn new(
        sides: &'a [Side<'a>],
        (queries, time): (usize, Duration),
        workers: usize,
        control: &'a dyn Control,
    ) -> Self {
        let workers = workers.clamp(1, 256);
        let pool = (workers > 1).then(|| rayon::ThreadPoolBuilder::new().num_threads(workers).build().ok()).flatten();
        let state = State {
            failures: vec![Vec::new(); sides.len()],
            failures_in_a_row: vec![0; sides.len()],
            ..State::default()
        };
        let programs = sides.iter().filter(|side| side.is_asked()).count();
        Self {
            sides,
            control,
            pool,
            limits: (queries, time),
            began: Instant::now(),
            programs,
            state: Mutex::new(state),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says where the texts that are asked about from now on come from.
    pub(crate) fn begin(&self, origin: Origin) {
        self.state().origin = origin;
    }

    pub(crate) fn origin(&self) -> Origin {
        self.state().origin
    }

    /// Returns the number of times that a program was asked.
    pub(crate) fn queries(&self) -> usize {
        self.state().queries
    }

    /// Returns the number of different texts.
    pub(crate) fn texts(&self) -> usize {
        self.state().known.len()
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Returns the number of programs, and at least one.
    pub(crate) fn programs(&self) -> usize {
        self.programs.max(1)
    }

    /// Returns what is left of the queries and of the time.
    pub(crate) fn left(&self) -> (usize, Duration) {
        (self.limits.0.saturating_sub(self.queries()), self.limits.1.saturating_sub(self.elapsed()))
    }

    /// Returns the texts without an answer of each side, with the reasons.
    pub(crate) fn failures(&self) -> Vec<Vec<(String, Failure)>> {
        self.state().failures.clone()
    }

    /// Returns the texts on which the sides disagree and that were not returned before, the shortest ones first.
    pub(crate) fn take_found(&self) -> Vec<Found> {
        let mut found = std::mem::take(&mut self.state().found);
        found.sort_unstable();
        found
    }

    /// Takes texts back that nobody has looked at.
    pub(crate) fn give_back(&self, found: Vec<Found>) {
        self.state().found.extend(found);
    }

    /// Returns whether a character is in no text that every side accepts, or whether it is there without what always comes
    /// after it in these texts, as a line feed after a carriage return.
    pub(crate) fn is_unusual(&self, letter: char, next: Option<char>) -> bool {
        let state = self.state();
        state.agreed_letters.get(&letter).is_none_or(|after| after.len() == 1 && !after.contains(&next))
    }

    /// Returns whether every side accepts some text of this shape.
    pub(crate) fn is_usual(&self, shape: &str) -> bool {
        self.state().agreed_shapes.contains(shape)
    }

    /// Returns how many characters a text has in common with the beginning of a text that every side accepts.
    pub(crate) fn agreed_beginning(&self, text: &str) -> usize {
        let state = self.state();
        let common = |other: &str| text.chars().zip(other.chars()).take_while(|(one, two)| one == two).count();
        let before =
            state.agreed.range::<str, _>((Unbounded, Excluded(text))).next_back().map_or(0, |other| common(other));
        // The text itself is not among them: it is the next one that is.
        let after = state.agreed.range::<str, _>((Included(text), Unbounded)).next().map_or(0, |other| common(other));
        before.max(after)
    }

    /// Returns an error if a limit is reached.
    pub(crate) fn check(&self) -> Result<(), Stop> {
        if self.control.cancelled() {
            return Err(Stop::Cancelled);
        }
        let state = self.state();
        if let Some((side, failure)) = state.given_up {
            let (name, count) = (self.sides[side].name().to_string(), state.failures_in_a_row[side]);
            return Err(Stop::Program { name, count, failure });
        }
        if state.queries.saturating_add(self.programs) > self.limits.0 {
            return Err(Stop::Queries(self.limits.0));
        }
        if self.began.elapsed() > self.limits.1 {
            return Err(Stop::Time(self.limits.1));
        }
        Ok(())
    }

    /// Returns what the sides say about one text.
    pub(crate) fn ask(&self, text: &str) -> Result<Votes, Stop> {
        if let Some(votes) = self.state().known.get(text) {
            return Ok(votes.clone());
        }
        self.check()?;
        let said = self.sides.iter().map(|side| side.vote(text)).collect();
        Ok(self.note(text, said))
    }

    /// Asks about texts, several at a time.
    pub(crate) fn ask_all(&self, texts: &[String]) -> Result<Vec<Votes>, Stop> {
        let mut fresh: Vec<&str> = Vec::new();
        {
            let state = self.state();
            let mut seen = BTreeSet::new();
            for text in texts {
                if text.len() <= MAX_TEXT && !state.known.contains_key(text.as_str()) && seen.insert(text) {
                    fresh.push(text);
                }
            }
        }
        for batch in fresh.chunks(MAX_BATCH) {
            self.check()?;
            let room = self.left().0 / self.programs();
            let batch = &batch[..batch.len().min(room)];
            let count = self.sides.len();
            let vote = |at: usize| self.sides[at % count].vote(batch[at / count]);
            let all = 0..batch.len() * count;
            let said: Vec<(Vote, Option<Failure>)> = match &self.pool {
                Some(pool) => pool.install(|| all.into_par_iter().with_max_len(1).map(vote).collect()),
                None => all.map(vote).collect(),
            };
            for (&text, said) in batch.iter().zip(said.chunks(count)) {
                self.note(text, said.to_vec());
            }
            self.control.progress(Stage::Query, self.queries(), self.limits.0);
        }
        let state = self.state();
        let none = || vec![Vote::Nothing; self.sides.len()].into_boxed_slice();
        Ok(texts.iter().map(|text| state.known.get(text.as_str()).cloned().unwrap_or_else(none)).collect())
    }

    /// Notes what the sides have said about a text.
    fn note(&self, text: &str, said: Vec<(Vote, Option<Failure>)>) -> Votes {
        let mut state = self.state();
        let state = &mut *state;
        let votes: Votes = said.iter().map(|(vote, _)| *vote).collect();
        if state.known.contains_key(text) {
            return votes;
        }
        state.queries += self.programs;
        for (side, (_, failure)) in said.into_iter().enumerate() {
            let Some(failure) = failure else {
                state.failures_in_a_row[side] = 0;
                continue;
            };
            state.failures_in_a_row[side] += 1;
            if state.failures[side].len() < KEPT_FAILURES {
                state.failures[side].push((text.to_string(), failure));
            }
            if state.failures_in_a_row[side] >= MAX_FAILURES || matches!(failure, Failure::Start(_)) {
                state.given_up = Some((side, failure));
            }
        }
        if votes.iter().all(|vote| *vote == Vote::Yes) {
            state.agreed.insert(text.into());
            let nexts = text.chars().skip(1).map(Some).chain([None]);
            for (letter, next) in text.chars().zip(nexts) {
                let after = state.agreed_letters.entry(letter).or_default();
                if after.len() < MAX_AFTER {
                    after.insert(next);
                }
            }
            state.agreed_shapes.insert(shape(text));
        }
        if disagree(&votes) {
            let (length, origin) = (text.chars().count(), state.origin);
            state.found.push(Found { length, text: text.into(), votes: votes.clone(), origin });
        }
        state.known.insert(text.into(), votes.clone());
        votes
    }
}

impl Control for Panel<'_> {
    fn cancelled(&self) -> bool {
        self.check().is_err()
    }
}

/// One side, as a program for a learner: whatever it asks, all sides are asked.
pub(crate) struct Led<'p, 'a> {
    pub(crate) panel: &'p Panel<'a>,
    pub(crate) side: usize,
}

impl Program for Led<'_, '_> {
    fn ask(&self, text: &str) -> Reply {
        match self.panel.ask(text).map(|votes| votes[self.side]) {
            Ok(Vote::Yes) => Reply::Yes,
            Ok(Vote::No) => Reply::No,
            Ok(Vote::Nothing) | Err(_) => Reply::Failed(Failure::Timeout),
        }
    }

    fn name(&self) -> String {
        self.panel.sides[self.side].name().to_string()
    }
}
