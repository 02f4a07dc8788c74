//! Queries: every text is asked once, answers are kept on disk, and limits end a run that goes on for too long.

use std::collections::HashMap;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use echostack::Control;
use echostack::control::Stage;
use echostack_grammar::Lexer;
use rayon::prelude::*;
use serde_json::{Value, json};

use super::positions::{Contradiction, Positions};
use crate::program::{Failure, MAX_TEXT, Program, Reply};

/// The number of failures in a row after which the program is given up.
const MAX_FAILURES: usize = 100;
/// The maximum length of a line in the file of answers, in bytes: a text in which every byte is escaped.
const MAX_LINE: u64 = 8 * MAX_TEXT as u64;
/// The number of texts after which answers are written to disk, and limits are checked.
const MAX_BATCH: usize = 64;
/// The part of the time in which texts are asked: the rest is for writing the grammar, whose LR(1) table takes seconds if it
/// is large.
const ASKING: f64 = 0.96;
/// The number of texts without an answer that are kept for the report.
const KEPT_FAILURES: usize = 20;

/// How texts are asked.
#[derive(Clone, Debug)]
pub struct Asking {
    /// The number of queries that are asked at the same time. It changes nothing but the time.
    pub workers: usize,
    /// The maximum number of queries.
    pub queries: usize,
    /// The maximum time.
    pub time: Duration,
    /// The file to which answers are appended, and from which those of an interrupted run are read.
    pub answers: Option<PathBuf>,
    /// Whether a text on which the program crashes or exceeds its time limit is not valid. Otherwise it is set aside.
    pub failure_is_no: bool,
}

impl Default for Asking {
    fn default() -> Self {
        let time = Duration::from_secs(3600);
        Self { workers: 1, queries: 2_000_000, time, answers: None, failure_is_no: false }
    }
}

/// The reason why a run stops.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Stop {
    /// The control asked to stop.
    #[error("the run was cancelled")]
    Cancelled,
    /// There were too many queries.
    #[error("the limit of {0} queries is reached")]
    Queries(usize),
    /// The time is up.
    #[error("the time limit of {} seconds is reached", .0.as_secs_f64())]
    Time(Duration),
    /// The hypothesis grows without bound.
    #[error("the hypothesis has {0} states and is still growing")]
    States(usize),
    /// The hypothesis contradicts itself, which happens only if the oracle does.
    #[error("the answers contradict each other: the oracle must give the same answer to the same text")]
    Contradiction,
    /// The program gives no answers.
    #[error("{}", tell_failures(name, *count, *failure))]
    Program {
        /// The program.
        name: String,
        /// The number of failures in a row.
        count: usize,
        /// The last failure.
        failure: Failure,
    },
    /// A valid text begins like one that fails there.
    #[error("the positions of failures contradict the answers")]
    Positions,
    /// The file of answers cannot be used.
    #[error("could not use the answers in {path}: {reason}")]
    Answers {
        /// The file.
        path: String,
        /// The reason.
        reason: String,
    },
}

fn tell_failures(name: &str, count: usize, failure: Failure) -> String {
    match failure {
        Failure::Start(_) => format!("the program `{name}` {failure}"),
        _ => format!("the program `{name}` gave no answer {count} times in a row, because of a {failure}"),
    }
}

impl Stop {
    /// Returns whether the hypothesis so far is worth reporting.
    pub(crate) fn has_result(&self) -> bool {
        matches!(self, Self::Queries(_) | Self::Time(_) | Self::States(_) | Self::Contradiction)
    }
}

#[derive(Clone, Copy)]
struct Known {
    /// The answer; `None` if the text was set aside.
    answer: Option<bool>,
    /// Where the text fails, if the oracle said so.
    at: Option<usize>,
    /// Whether this run has asked for it. An answer may also come from the file.
    used: bool,
}

/// The queries of a run.
pub(crate) struct Queries<'a> {
    oracle: &'a dyn Program,
    control: &'a dyn Control,
    asking: Asking,
    /// The part of the limits after which to stop.
    part: f64,
    pool: Option<rayon::ThreadPool>,
    known: HashMap<Box<str>, Known>,
    file: Option<BufWriter<File>>,
    began: Instant,
    /// The number of texts that this run has asked about, with those whose answers were in the file.
    pub(crate) asked: usize,
    /// The number of texts whose answers were in the file.
    pub(crate) reused: usize,
    /// The number of texts that were set aside.
    pub(crate) set_aside: usize,
    /// Some of the texts that were set aside, with the reasons.
    pub(crate) failures: Vec<(String, Failure)>,
    failures_in_a_row: usize,
    /// What the positions of failures say about other texts; `None` if they are not used.
    positions: Option<Positions>,
    /// The number of answers that positions gave.
    pub(crate) derived: usize,
    /// The lexer that was given. A position then means the token at this place.
    pub(crate) lexer: Option<Arc<Lexer>>,
    /// Whether every text is asked about, as in the checks after learning.
    asks_all: bool,
}

impl fmt::Debug for Queries<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queries").field("asked", &self.asked).finish_non_exhaustive()
    }
}

impl<'a> Queries<'a> {
    pub(crate) fn new(oracle: &'a dyn Program, asking: Asking, control: &'a dyn Control) -> Result<Self, Stop> {
        let mut known = HashMap::new();
        let file = match &asking.answers {
            Some(path) => Some(
                open(path, &oracle.name(), &mut known)
                    .map_err(|reason| Stop::Answers { path: path.display().to_string(), reason })?,
            ),
            None => None,
        };
        let workers = asking.workers.clamp(1, 256);
        let pool = (workers > 1).then(|| rayon::ThreadPoolBuilder::new().num_threads(workers).build().ok()).flatten();
        Ok(Self {
            oracle,
            control,
            asking,
            part: 1.,
            pool,
            known,
            file,
            began: Instant::now(),
            asked: 0,
            reused: 0,
            set_aside: 0,
            failures: Vec::new(),
            failures_in_a_row: 0,
            positions: Some(Positions::new()),
            derived: 0,
            lexer: None,
            asks_all: false,
        })
    }

    /// Returns the time since the run began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Returns the answer to one query; `None` if it was set aside.
    pub(crate) fn ask(&mut self, text: &str) -> Result<Option<bool>, Stop> {
        if let Some(Known { answer, used: true, .. }) = self.known.get(text) {
            return Ok(*answer);
        }
        Ok(self.ask_all(&[text])?.pop().flatten())
    }

    /// Returns the answers to several queries, which may be asked at the same time.
    pub(crate) fn ask_all<T: AsRef<str> + Sync>(&mut self, texts: &[T]) -> Result<Vec<Option<bool>>, Stop> {
        let mut fresh: Vec<&str> = Vec::new();
        for text in texts.iter().map(AsRef::as_ref) {
            let dead = self.is_dead(text);
            match self.known.get_mut(text) {
                Some(known) if known.used => {}
                _ if dead => self.derived += 1,
                Some(known) => {
                    known.used = true;
                    let (answer, at) = (known.answer, known.at);
                    self.asked += 1;
                    self.reused += 1;
                    self.set_aside += usize::from(answer.is_none());
                    self.learn_position(text, answer, at)?;
                }
                None if text.len() > MAX_TEXT => {
                    self.known.insert(text.into(), Known { answer: None, at: None, used: true });
                }
                None => {
                    self.known.insert(text.into(), Known { answer: None, at: None, used: true });
                    fresh.push(text);
                }
            }
        }
        let mut answered = 0;
        for batch in fresh.chunks(MAX_BATCH) {
            let checked = self.check();
            // The answers of a batch count even if their positions contradict them, or if not all came in time.
            let asked = |stop: &Stop| matches!(stop, Stop::Positions | Stop::Time(_));
            let counted = if checked.is_ok() { batch.len() } else { 0 };
            if let Err(stop) = checked.and_then(|()| self.ask_fresh(batch)) {
                answered += if asked(&stop) { counted } else { 0 };
                fresh[answered..].iter().for_each(|&text| _ = self.known.remove(text));
                return Err(stop);
            }
            answered += batch.len();
        }
        let answer = |text: &str| match self.known.get(text) {
            Some(known) if known.used => known.answer,
            _ => Some(false),
        };
        Ok(texts.iter().map(|text| answer(text.as_ref())).collect())
    }

    /// Asks about every text, because what positions say is not trusted.
    pub(crate) fn without_positions<T>(&mut self, ask: impl FnOnce(&mut Self) -> T) -> T {
        self.asks_all = true;
        let found = ask(self);
        self.asks_all = false;
        found
    }

    /// Returns whether a text begins like one that failed there.
    fn is_dead(&self, text: &str) -> bool {
        !self.asks_all && self.positions.as_ref().is_some_and(|positions| positions.is_dead(text))
    }

    fn learn_position(&mut self, text: &str, answer: Option<bool>, at: Option<usize>) -> Result<(), Stop> {
        let Some(positions) = &mut self.positions else { return Ok(()) };
        let learned = match (answer, at) {
            (Some(true), _) => positions.note_valid(text),
            (Some(false), Some(at)) => positions.note_failure(text, at, self.lexer.as_deref()),
            _ => Ok(()),
        };
        learned.map_err(|Contradiction| Stop::Positions)
    }

    /// Removes the file of answers if it has none, so that a program that is repaired is asked again.
    pub(crate) fn forget_failures(&mut self) {
        if self.known.values().any(|known| known.answer.is_some()) {
            return;
        }
        self.file = None;
        if let Some(path) = &self.asking.answers {
            // A file that stays costs some answers only.
            _ = std::fs::remove_file(path);
        }
    }

    /// Stops after a part of the time and of the queries that are allowed.
    pub(crate) fn limit(&mut self, part: f64) {
        self.part = part;
    }

    /// Uses positions no more.
    pub(crate) fn forget_positions(&mut self) {
        self.positions = None;
        self.derived = 0;
    }

    /// Returns the answer about a text, if this run has asked for it.
    pub(crate) fn known(&self, text: &str) -> Option<bool> {
        self.known.get(text).filter(|known| known.used).and_then(|known| known.answer)
    }

    /// Returns all answers that this run has asked for, in any order.
    pub(crate) fn answers(&self) -> impl Iterator<Item = (&str, bool)> {
        self.known.iter().filter(|(_, known)| known.used).filter_map(|(text, known)| Some((&**text, known.answer?)))
    }

    /// Returns an error if a limit is reached.
    pub(crate) fn check(&self) -> Result<(), Stop> {
        if self.control.cancelled() {
            return Err(Stop::Cancelled);
        }
        let queries = (self.asking.queries as f64 * self.part) as usize;
        if self.asked >= queries {
            return Err(Stop::Queries(queries));
        }
        if self.began.elapsed() > self.deadline() {
            return Err(self.out_of_time());
        }
        Ok(())
    }

    /// Returns the time after which nothing is asked.
    fn deadline(&self) -> Duration {
        self.asking.time.mul_f64(self.part * ASKING)
    }

    fn out_of_time(&self) -> Stop {
        Stop::Time(self.asking.time.mul_f64(self.part))
    }

    fn ask_fresh(&mut self, texts: &[&str]) -> Result<(), Stop> {
        let (oracle, began, deadline) = (self.oracle, self.began, self.deadline());
        let ask = |text: &&str| (began.elapsed() <= deadline).then(|| oracle.ask(text));
        let answers: Vec<Option<Reply>> = match &self.pool {
            Some(pool) if texts.len() > 1 => pool.install(|| texts.par_iter().with_max_len(1).map(ask).collect()),
            _ => texts.iter().map(ask).collect(),
        };
        let mut lines = String::new();
        let mut ended = Ok(());
        for (&text, answer) in texts.iter().zip(answers) {
            let Some(answer) = answer else {
                self.known.remove(text);
                ended = Err(self.out_of_time());
                continue;
            };
            let at = if let Reply::NoAt(at) = answer { Some(at) } else { None };
            let answer = match answer {
                Reply::Yes => Some(true),
                Reply::No | Reply::NoAt(_) => Some(false),
                Reply::Failed(failure) => {
                    self.failures_in_a_row += 1;
                    if self.failures_in_a_row >= MAX_FAILURES || matches!(failure, Failure::Start(_)) {
                        let (name, count) = (oracle.name(), self.failures_in_a_row);
                        return Err(Stop::Program { name, count, failure });
                    }
                    self.set_aside += 1;
                    if self.failures.len() < KEPT_FAILURES {
                        self.failures.push((text.to_string(), failure));
                    }
                    self.asking.failure_is_no.then_some(false)
                }
            };
            if answer.is_some() {
                self.failures_in_a_row = 0;
            }
            self.asked += 1;
            self.known.insert(text.into(), Known { answer, at, used: true });
            ended = ended.and(self.learn_position(text, answer, at));
            if self.file.is_some() {
                let line = at.map_or(json!([text, answer]), |at| json!([text, answer, at]));
                lines.push_str(&line.to_string());
                lines.push('\n');
            }
        }
        if let Some(file) = &mut self.file {
            file.write_all(lines.as_bytes()).and_then(|()| file.flush()).map_err(|error| Stop::Answers {
                path: self.asking.answers.as_ref().map_or(String::new(), |path| path.display().to_string()),
                reason: error.to_string(),
            })?;
        }
        self.control.progress(Stage::Query, self.asked, self.asking.queries);
        ended
    }
}

/// Opens the file of answers, and reads those of an interrupted run. The first line names the oracle. A last line that
/// was not finished is removed.
fn open(path: &Path, oracle: &str, known: &mut HashMap<Box<str>, Known>) -> Result<BufWriter<File>, String> {
    let file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(|error| error.to_string())?;
    let mut reader = BufReader::new(&file);
    let (mut end, mut number) = (0, 0);
    loop {
        let mut line = Vec::new();
        let length = reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line).map_err(|error| error.to_string())?;
        if length == 0 || line.last() != Some(&b'\n') {
            break;
        }
        number += 1;
        let value: Value =
            serde_json::from_slice(&line).map_err(|error| format!("line {number} is not JSON: {error}"))?;
        if number == 1 {
            let asked = value.get("oracle").and_then(Value::as_str).ok_or("the first line does not name the oracle")?;
            if asked != oracle {
                return Err(format!("they are those of `{asked}`, not of `{oracle}`; use another file"));
            }
        } else {
            let text = value.get(0).and_then(Value::as_str).ok_or(format!("line {number} has no text"))?;
            let answer = value.get(1).and_then(Value::as_bool);
            let at = value.get(2).and_then(|at| usize::try_from(at.as_u64()?).ok());
            known.insert(text.into(), Known { answer, at, used: false });
        }
        end += length as u64;
    }
    file.set_len(end).map_err(|error| error.to_string())?;
    let mut writer = BufWriter::new(file);
    writer.seek(SeekFrom::End(0)).map_err(|error| error.to_string())?;
    if number == 0 {
        writeln!(writer, "{}", json!({ "oracle": oracle })).map_err(|error| error.to_string())?;
    }
    Ok(writer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn nothing_is_asked_twice_and_an_interrupted_run_resumes() {
        let folder = tempfile::tempdir().unwrap();
        let answers = Some(folder.path().join("answers.jsonl"));
        let count = AtomicUsize::new(0);
        let oracle = |text: &str| {
            count.fetch_add(1, Ordering::Relaxed);
            text.len() > 1
        };
        let asking = Asking { answers: answers.clone(), workers: 3, ..Asking::default() };
        let mut queries = Queries::new(&oracle, asking.clone(), &()).unwrap();
        assert_eq!(queries.ask_all(&["a", "bb", "a"]).unwrap(), [Some(false), Some(true), Some(false)]);
        assert_eq!(queries.ask("bb").unwrap(), Some(true));
        assert_eq!((queries.asked, count.load(Ordering::Relaxed)), (2, 2));
        drop(queries);
        // The process was killed in the middle of a line.
        let mut file = OpenOptions::new().append(true).open(answers.as_ref().unwrap()).unwrap();
        file.write_all(b"[\"ccc").unwrap();
        let mut queries = Queries::new(&oracle, asking.clone(), &()).unwrap();
        assert_eq!(queries.ask_all(&["bb", "ccc"]).unwrap(), [Some(true), Some(true)]);
        assert_eq!((queries.asked, queries.reused, count.load(Ordering::Relaxed)), (2, 1, 3));
        drop(queries);
        let queries = Queries::new(&oracle, asking, &()).unwrap();
        assert_eq!(queries.known.len(), 3);
    }

    /// A batch ends with the answer after which the time is up, and what was answered until then is kept.
    #[test]
    fn the_time_is_kept_within_a_batch() {
        let slow = |_: &str| {
            std::thread::sleep(Duration::from_millis(30));
            true
        };
        for workers in [1, 2] {
            let folder = tempfile::tempdir().unwrap();
            let answers = Some(folder.path().join("answers.jsonl"));
            let asking = Asking { time: Duration::from_millis(100), workers, answers, ..Asking::default() };
            let mut queries = Queries::new(&slow, asking.clone(), &()).unwrap();
            let texts: Vec<String> = (0..60).map(|number| number.to_string()).collect();
            assert!(matches!(queries.ask_all(&texts), Err(Stop::Time(_))));
            assert!(queries.elapsed() < Duration::from_millis(600), "{:?}", queries.elapsed());
            let asked = queries.asked;
            assert!((1..=10).contains(&asked), "{asked}");
            assert_eq!(texts.iter().filter(|text| queries.known(text) == Some(true)).count(), asked);
            assert!(matches!(queries.ask_all(&texts), Err(Stop::Time(_))));
            assert_eq!(queries.known.len(), asked);
            drop(queries);
            assert_eq!(Queries::new(&slow, asking, &()).unwrap().known.len(), asked);
        }
    }

    #[test]
    fn failures_are_set_aside_and_limits_are_kept() {
        struct Fails;
        impl Program for Fails {
            fn ask(&self, text: &str) -> Reply {
                if text.starts_with('x') { Reply::Failed(Failure::Timeout) } else { Reply::Yes }
            }
        }
        let asking = Asking { queries: 3, ..Asking::default() };
        let mut queries = Queries::new(&Fails, asking, &()).unwrap();
        assert_eq!(queries.ask_all(&["x", "y"]).unwrap(), [None, Some(true)]);
        assert_eq!((queries.set_aside, queries.failures.len()), (1, 1));
        queries.ask("z").unwrap();
        assert!(matches!(queries.ask("w"), Err(Stop::Queries(3))));
        assert_eq!(queries.ask("z").unwrap(), Some(true));
        let mut queries = Queries::new(&Fails, Asking::default(), &()).unwrap();
        let texts: Vec<String> = (0..200).map(|number| format!("x{number}")).collect();
        assert!(matches!(queries.ask_all(&texts), Err(Stop::Program { count: 100, .. })));
        let asking = Asking { failure_is_no: true, ..Asking::default() };
        assert_eq!(Queries::new(&Fails, asking, &()).unwrap().ask("x").unwrap(), Some(false));
    }
}
