//! Infers the languages of the published benchmarks from their examples, and measures the result on the held-out texts:
//!
//! ```text
//! cargo run --release --bin infer_published -- FOLDER [NAME...] [--seeds N] [--train r0,r1] [--log]
//!     [--prove] [--output FOLDER] [--strings N] [--positions] [--outcomes]
//! ```
//!
//! With `--positions`, each language is inferred twice. The second time, the oracle also says where a text fails; the
//! exact automaton of the first run computes this.
//!
//! With `--outcomes`, a line of JSON is printed for each run, with what does not depend on the computer.
//!
//! Each language is compared with the first one that was settled, with other examples or another seed: they must have the
//! same texts, of all lengths.
//!
//! The folder has `NAME/NAME-train-r0` with examples, and `NAME/NAME-test` with held-out texts, one per file. It may also be
//! a file such as `benchmarks/infer/published.json`, with the examples and the held-out texts of each language; the name of
//! its only set of examples is `own`.

mod languages;

use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;

use echostack::{Recognizer, Verdict};
use echostack_benchmarks::measure::{self, cpu_seconds};
use echostack_grammar::{Lexer, Subject, equality};
use echostack_infer::program::{Program, Reply};
use echostack_infer::{Ending, Inferred, InferredGrammar, Proved, Settings, infer};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const NAMES: [&str; 7] = ["arith", "fol", "json", "lisp", "turtle", "while", "xml"];
/// The number of texts that are drawn to measure precision; twice as many near misses are.
const DRAWN: usize = 1000;

fn texts(folder: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut paths: Vec<_> =
        std::fs::read_dir(folder)?.map(|entry| entry.map(|e| e.path())).collect::<Result<_, _>>()?;
    paths.sort();
    Ok(paths.iter().map(std::fs::read_to_string).collect::<Result<_, _>>()?)
}

/// The texts of a language.
struct Texts {
    /// Sets of examples, with their names.
    examples: Vec<(String, Vec<String>)>,
    held_out: Vec<String>,
}

/// Returns the texts of a language, with the sets of examples that are asked for.
fn texts_of(path: &Path, name: &str, trains: &str) -> Result<Texts, Box<dyn Error>> {
    if path.is_file() {
        let all: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
        let of = |part: &str| serde_json::from_value(all[name][part].clone());
        return Ok(Texts { examples: vec![("own".to_string(), of("examples")?)], held_out: of("held_out")? });
    }
    let path = path.join(name);
    let examples = trains.split(',').filter_map(|train| {
        let found = texts(&path.join(format!("{name}-train-{train}")));
        Some((train.to_string(), found.ok()?))
    });
    Ok(Texts { examples: examples.collect(), held_out: texts(&path.join(format!("{name}-test")))? })
}

/// Returns a text after one to three edits.
fn edited(text: &str, letters: &[char], random: &mut ChaCha8Rng) -> String {
    let mut text: Vec<char> = text.chars().collect();
    for _ in 0..*[1, 1, 1, 2, 3].choose(random).unwrap_or(&1) {
        let Some(&letter) = letters.choose(random) else { break };
        let at = random.random_range(0..=text.len());
        match random.random_range(0..4) {
            0 if at < text.len() => _ = text.remove(at),
            1 => text.insert(at, letter),
            2 if at < text.len() => text[at] = letter,
            3 if at + 1 < text.len() => text.swap(at, at + 1),
            _ => {}
        }
    }
    text.into_iter().collect()
}

/// What is measured and printed.
#[derive(Default, PartialEq)]
enum Report {
    /// A row of a table for each run.
    #[default]
    Rows,
    /// How many queries positions save.
    Positions,
    /// A line of JSON for each run.
    Outcomes,
}

#[derive(Default)]
struct Options {
    log: bool,
    prove: bool,
    report: Report,
    strings: Option<usize>,
    output: Option<std::path::PathBuf>,
}

/// Learns a machine, proves it, and compares it with the oracle on the held-out texts and as many near misses.
fn prove(
    language: &InferredGrammar,
    held_out: &[String],
    oracle: &impl Fn(&str) -> bool,
) -> Result<String, Box<dyn Error>> {
    let (machine, told) = measure::prove(language)?;
    let Some(machine) = machine else { return Ok(told) };
    let lexer = Lexer::new(&language.files().lexer)?;
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let letters: BTreeSet<char> = held_out.iter().flat_map(|text| text.chars()).collect();
    let letters: Vec<char> = letters.into_iter().collect();
    let near = held_out.iter().map(|text| edited(text, &letters, &mut random));
    let texts: Vec<String> = near.chain(held_out.iter().cloned()).collect();
    let differs = |text: &&String| {
        let (tokens, fault) = lexer.tokens(text);
        let word = machine.alphabet().word(tokens.iter().map(|token| token.name));
        let accepts = fault.is_none() && word.is_ok_and(|word| machine.judge(&word) == Verdict::Accept);
        accepts != oracle(text)
    };
    let differing = texts.iter().filter(differs).count();
    Ok(format!("{told}; {differing} of {} texts differ", texts.len()))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("give the folder of the benchmarks")?;
    let (mut names, mut seeds, mut trains) = (Vec::new(), 1, "r0".to_string());
    let mut options = Options::default();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--seeds" => seeds = arguments.next().ok_or("--seeds needs a number")?.parse()?,
            "--train" => trains = arguments.next().ok_or("--train needs a list")?,
            "--log" => options.log = true,
            "--prove" => options.prove = true,
            "--positions" => options.report = Report::Positions,
            "--outcomes" => options.report = Report::Outcomes,
            "--strings" => options.strings = Some(arguments.next().ok_or("--strings needs a number")?.parse()?),
            "--output" => options.output = Some(arguments.next().ok_or("--output needs a folder")?.into()),
            _ => names.push(argument),
        }
    }
    if names.is_empty() {
        names = NAMES.map(str::to_string).to_vec();
    }
    if options.report != Report::Outcomes {
        println!(
            "| language | examples | seed | recall | precision | F1 | near misses misjudged | queries | until the last change | classes, tags, learning, last test, checks | states | s, CPU s | ending | compared with the first | tokens, rules, productions, symbols | proof |"
        );
        println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    }
    for name in &names {
        let oracle = languages::language(name).ok_or("there is no such language")?;
        let Texts { examples, held_out } = texts_of(Path::new(&folder), name, &trains)?;
        let rejected = held_out.iter().find(|text| !oracle(text));
        assert!(rejected.is_none(), "the oracle of {name} rejects a held-out text: {rejected:?}");
        let mut first = None;
        for (train, examples) in &examples {
            let rejected = examples.iter().find(|text| !oracle(text));
            assert!(rejected.is_none(), "the oracle of {name} rejects an example: {rejected:?}");
            for seed in 0..seeds {
                run((name, train, seed), examples, &held_out, &oracle, &options, &mut first)?;
            }
        }
    }
    Ok(())
}

/// An oracle that says where a text fails, as an automaton over characters does.
struct Exact<'a>(&'a Inferred);

impl Program for Exact<'_> {
    fn ask(&self, text: &str) -> Reply {
        match self.0.fails_at(text) {
            None => Reply::Yes,
            Some(at) => Reply::NoAt(at),
        }
    }
}

fn run(
    (name, train, seed): (&str, &str, u64),
    examples: &[String],
    held_out: &[String],
    oracle: &(impl Fn(&str) -> bool + Sync),
    options: &Options,
    first: &mut Option<Subject>,
) -> Result<(), Box<dyn Error>> {
    let mut settings = Settings { seed, hold_out: Some(0.), ..Settings::default() };
    if let Some(strings) = options.strings {
        settings.strings = strings;
        settings.asking.queries += strings;
    }
    let before = cpu_seconds();
    let inferred = infer(examples, oracle, &settings, &())?;
    let cpu = cpu_seconds() - before;
    if options.report == Report::Positions {
        let again = infer(examples, &Exact(&inferred), &settings, &())?;
        let agree = held_out.iter().filter(|text| again.accepts(text) == oracle(text)).count();
        println!(
            "| {name} | {train} | {seed} | {} queries without positions, {} with, {} answers derived; {:?}; {agree} of {} held-out texts |",
            inferred.queries(),
            again.queries(),
            again.derived(),
            again.ending(),
            held_out.len(),
        );
        return Ok(());
    }
    if options.log {
        inferred.log().iter().for_each(|line| eprintln!("  {line}"));
    }
    let mut missed: Vec<&String> = held_out.iter().filter(|text| !inferred.accepts(text)).collect();
    missed.sort_by_key(|text| text.len());
    let mut random = ChaCha8Rng::seed_from_u64(99);
    let mut over = Vec::new();
    for _ in 0..DRAWN {
        let size = random.random_range(1..61);
        over.extend(inferred.draw(size, &mut random).filter(|text| !oracle(text)));
    }
    let letters: BTreeSet<char> = held_out.iter().flat_map(|text| text.chars()).collect();
    let letters: Vec<char> = letters.into_iter().collect();
    let near = (0..2 * DRAWN).filter_map(|_| Some(edited(held_out.choose(&mut random)?, &letters, &mut random)));
    let near: Vec<String> = near.filter(|text| oracle(text) != inferred.accepts(text)).collect();
    let recall = 1. - missed.len() as f64 / held_out.len() as f64;
    let precision = 1. - over.len() as f64 / DRAWN as f64;
    let f1 = 2. * recall * precision / (recall + precision);
    let spent = inferred.spent();
    let language = inferred.language().ok_or("there is no grammar")?;
    assert!(held_out.iter().all(|text| language.accepts(text) == inferred.accepts(text)));
    if let Some(folder) = &options.output {
        let folder = folder.join(format!("{name}-{train}-{seed}"));
        inferred.save(&folder, name, Proved::NotTried)?;
    }
    let ending = match inferred.ending() {
        Ending::Settled => "settled".to_string(),
        Ending::NotSettled(reason) => format!("not settled: {reason}"),
    };
    let (subject, size) = (language.subject(name)?, language.size());
    let same = match first {
        _ if *inferred.ending() != Ending::Settled => String::new(),
        Some(first) => equality(&subject, first, &()).to_string(),
        None => {
            *first = Some(subject);
            "the first".to_string()
        }
    };
    if options.report == Report::Outcomes {
        let outcome = serde_json::json!({
            "case": format!("{name} {train} seed {seed}"),
            "ending": ending,
            "compared with the first": same,
            "queries": inferred.queries(),
            "queries until the last change": spent.until_last_change,
            "states": inferred.states(),
            "tokens": language.files().tokens.len(),
            "readable": language.files().ebnf.is_some(),
            "rules": size.rules,
            "productions": size.productions,
            "symbols": size.symbols,
            "held-out texts rejected": missed.len(),
            "drawn texts outside the language": over.len(),
            "near misses misjudged": near.len(),
        });
        println!("{outcome}");
        return Ok(());
    }
    let proof = if options.prove { prove(language, held_out, oracle)? } else { String::new() };
    println!(
        "| {name} | {train} | {seed} | {recall:.3} | {precision:.3} | {f1:.3} | {} of {} | {} | {} | {}, {}, {}, {}, {} | {} | {:.1}, {cpu:.1} | {ending} | {same} | {}, {}, {}, {} | {proof} |",
        near.len(),
        2 * DRAWN,
        inferred.queries(),
        spent.until_last_change,
        spent.classes,
        spent.tags,
        spent.learning,
        spent.last_test,
        spent.checks,
        inferred.states(),
        inferred.time().as_secs_f64(),
        language.files().tokens.len(),
        size.rules,
        size.productions,
        size.symbols,
    );
    if let Some(checks) = inferred.checks().filter(|_| options.strings.is_some()) {
        let found = &checks.exhaustive;
        eprintln!(
            "{name}: {} strings of up to {} tokens, {} unreadable, {} differ",
            found.strings,
            found.length,
            found.unreadable,
            found.mistakes.len()
        );
    }
    if options.log {
        eprintln!(
            "  missed {:?}\n  over {:?}\n  near {:?}",
            &missed[..missed.len().min(30)],
            &over[..over.len().min(3)],
            &near[..near.len().min(3)]
        );
    }
    Ok(())
}
