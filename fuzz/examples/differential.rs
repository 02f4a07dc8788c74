//! Compares all ways to judge a word with the LR(1) automaton, on words by the million:
//!
//! ```sh
//! cargo run --release --example differential -- 1000000 1 ../testdata/grammars/*        # words for each grammar, a seed
//! cargo run --release --example differential -- 1000000 1 ../testdata/grammars/json=json.safetensors
//! ```
//!
//! A grammar may come with a model of it, which is then compared, too. With the variable ECHOSTACK_WRITE, the words and the
//! verdicts of the automaton are written to that folder, for `benchmarks/differences.py`. One word in four is valid, one
//! is a valid word with one to three edits, one has random tokens, and one consists of the beginning and the end of two
//! valid words.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use echostack::language::{WordKind, draw};
use echostack::recognize::{Mode, Outcome};
use echostack::table::Lanes;
use echostack::{Limits, Manifest, Model, Oracle, Recognizer, Scanner, SymbolId, Table, Verdict, Word};
use echostack_grammar::{Encoding, Subject};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

/// The number of words that share their valid words.
const ROUND: usize = 100_000;
/// The number of words that are judged at once.
const BATCH: usize = 1_000;
/// One word out of so many is also judged by the plain table, with expected tokens.
const PLAIN: usize = 50;

/// Everything that must agree.
struct Subjects {
    subject: Subject,
    oracle: Oracle,
    table: Table,
    model: Option<Model>,
    /// Where the words and their verdicts are written to, and how many there are already.
    out: Option<Mutex<(BufWriter<File>, usize)>>,
}

impl Subjects {
    fn open(name: &str) -> Fallible<Self> {
        let (folder, model) = name.split_once('=').map_or((name, None), |(folder, model)| (folder, Some(model)));
        let model = model.map(Model::load).transpose()?;
        let encoding = model.as_ref().and_then(|model| model.manifest().encoding()?.parse().ok());
        let subject = Subject::open_grammar(Path::new(folder), encoding.unwrap_or(Encoding::Auto))?;
        let oracle = subject.oracle(Mode::Strict, &())?;
        let table = Table::new(&oracle, Manifest::default())?;
        let file = |folder: PathBuf| {
            let name = Path::new(name).file_name().unwrap_or_default();
            File::create(folder.join(name).with_extension("jsonl"))
        };
        let out = std::env::var_os("ECHOSTACK_WRITE").map(PathBuf::from).map(file).transpose()?;
        Ok(Self { subject, oracle, table, model, out: out.map(|file| Mutex::new((BufWriter::new(file), 0))) })
    }

    /// Writes words with their verdicts, one JSON object per line.
    fn write(&self, words: &[Vec<SymbolId>], truth: &[Outcome]) -> std::io::Result<()> {
        let Some(out) = &self.out else { return Ok(()) };
        let (out, row) = &mut *out.lock().expect("no thread has panicked");
        for (word, outcome) in words.iter().zip(truth) {
            let names: Vec<&str> = word.iter().map(|symbol| self.oracle.alphabet().name(*symbol)).collect();
            let (verdict, position) = (outcome.name(), outcome.position());
            writeln!(out, "{}", serde_json::json!({"row": row, "words": names, "truth": verdict, "at": position}))?;
            *row += 1;
        }
        Ok(())
    }
}

/// Counts of a round.
#[derive(Default)]
struct Counts {
    words: AtomicU64,
    accepted: AtomicU64,
    tokens: AtomicU64,
    differences: AtomicU64,
}

fn add(count: &AtomicU64, number: usize) {
    count.fetch_add(number as u64, Ordering::Relaxed);
}

/// Returns a word made from valid ones.
fn made(valid: &[Vec<SymbolId>], terminals: usize, random: &mut ChaCha8Rng) -> Vec<SymbolId> {
    let any = |random: &mut ChaCha8Rng| SymbolId::new(random.random_range(0..terminals));
    let one = |random: &mut ChaCha8Rng| valid[random.random_range(0..valid.len())].clone();
    match random.random_range(0..4) {
        0 => one(random),
        1 => {
            let mut word = one(random);
            for _ in 0..random.random_range(1..4) {
                let at = random.random_range(0..=word.len());
                match random.random_range(0..4) {
                    0 => word.insert(at, any(random)),
                    1 if at < word.len() => word[at] = any(random),
                    2 if at + 1 < word.len() => word.swap(at, at + 1),
                    _ if at < word.len() => _ = word.remove(at),
                    _ => word.push(any(random)),
                }
            }
            word
        }
        2 => (0..random.random_range(0..12)).map(|_| any(random)).collect(),
        _ => {
            let (mut word, other) = (one(random), one(random));
            word.truncate(random.random_range(0..=word.len()));
            word.extend_from_slice(&other[random.random_range(0..=other.len())..]);
            word
        }
    }
}

/// Judges the words of a round in all ways.
fn round(subjects: &Subjects, count: usize, seed: u64, counts: &Counts) -> std::io::Result<()> {
    let Subjects { subject, oracle, table, model, .. } = subjects;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let terminals = oracle.alphabet().terminals().len();
    let Some(language) = subject.language() else { return Ok(()) };
    let mut valid = Vec::new();
    for _ in 0..400 {
        if let Some(Word::Symbols(word)) = draw(&**language, oracle, WordKind::Valid, 1..=24, &mut random) {
            valid.push(word);
        }
    }
    let limits = Limits::default();
    let (mut lanes, mut scanner) = (Lanes::new(table, limits), Scanner::new(table, limits));
    for batch in 0..count.div_ceil(BATCH) {
        let size = BATCH.min(count - batch * BATCH);
        let words: Vec<Vec<SymbolId>> = (0..size).map(|_| made(&valid, terminals, &mut random)).collect();
        let asked: Vec<Word> = words.iter().cloned().map(Word::Symbols).collect();
        let truth: Vec<Outcome> = asked.iter().map(|word| oracle.answer_with(word, limits, &mut ())).collect();
        subjects.write(&words, &truth)?;
        let by_frames: Vec<Outcome> = lanes.judge(words.iter().map(Vec::as_slice));
        let by_model: Option<Vec<Outcome>> = model.as_ref().map(|model| model.judge_serially(&asked, limits));
        for (number, word) in words.iter().enumerate() {
            let cut = random.random_range(0..=word.len());
            scanner.read(&word[..cut]);
            scanner.read(&word[cut..]);
            let mut same = scanner.answer::<Outcome>() == truth[number] && by_frames[number] == truth[number];
            same &= by_model.as_ref().is_none_or(|found| found[number] == truth[number]);
            if number % PLAIN == 0 {
                let verdict: Verdict = oracle.judge(&asked[number]);
                same &= verdict.outcome() == truth[number];
                same &= table.judge(&asked[number]) == verdict;
                same &= model.as_ref().is_none_or(|model| model.judge(&asked[number]) == verdict);
            }
            if !same {
                add(&counts.differences, 1);
                let names: Vec<&str> = word.iter().map(|symbol| oracle.alphabet().name(*symbol)).collect();
                println!("DIFFERENT on {}: {}", subject.name(), names.join(" "));
            }
            add(&counts.tokens, word.len());
        }
        add(&counts.words, size);
        add(&counts.accepted, truth.iter().filter(|outcome| outcome.is_accept()).count());
    }
    Ok(())
}

fn run() -> Fallible<bool> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [count, seed, names @ ..] = arguments.as_slice() else {
        return Err("give the number of words, a seed, and the folders of grammars".into());
    };
    let (count, seed): (usize, u64) = (count.parse()?, seed.parse()?);
    let mut all_same = true;
    println!("| grammar | words | accepted | tokens | differences | s |\n|---|---|---|---|---|---|");
    for name in names {
        let (subjects, counts, start) = (Subjects::open(name)?, Counts::default(), Instant::now());
        (0..count.div_ceil(ROUND)).into_par_iter().try_for_each(|number| {
            let size = ROUND.min(count - number * ROUND);
            round(&subjects, size, seed.wrapping_mul(1_000_003) + number as u64, &counts)
        })?;
        let [words, accepted, tokens, differences] =
            [&counts.words, &counts.accepted, &counts.tokens, &counts.differences]
                .map(|count| count.load(Ordering::Relaxed));
        let seconds = start.elapsed().as_secs_f64();
        println!("| {} | {words} | {accepted} | {tokens} | {differences} | {seconds:.0} |", subjects.subject.name());
        all_same &= differences == 0 && words == count as u64;
    }
    Ok(all_same)
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("differential: {error}");
            ExitCode::from(2)
        }
    }
}
