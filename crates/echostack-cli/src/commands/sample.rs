//! `echostack sample`: prints words of a language, or writes a work item for benchmarks.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use echostack::Word;
use echostack::language::{WordKind, all_words, draw};
use echostack::recognize::Mode;
use echostack::reservoir::ReservoirKind;
use echostack::reservoir::{Cycle, Legendre, Random, ReservoirParams};
use echostack::tasks::{Split, Task};
use echostack_grammar::Encoding;
use serde_json::{Value, json};

use crate::options::Kind;
use crate::outcome::Outcome;
use crate::output::save;
use crate::session::Session;
use crate::subject::{self, lengths};
use crate::words::names;

const EXAMPLES: &str = "\
Examples:
  Print ten words that are almost right:
    echostack sample --grammar testdata/grammars/json --kind near-miss --count 10
  Print all words up to length 4:
    echostack sample --task dyck2 --all 4 --chars";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    subject: subject::Args,
    /// Kind of words to draw
    #[arg(long, value_parser = kinds(), default_value = "valid")]
    kind: WordKind,
    /// Number of words
    #[arg(long, default_value_t = 100)]
    count: usize,
    /// Minimum length of the words
    #[arg(long, default_value_t = 1)]
    min_length: usize,
    /// Maximum length of the words
    #[arg(long, default_value_t = 50)]
    max_length: usize,
    /// Seed of the words, and of a work item
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print all words up to this length instead, shortest first
    #[arg(long, value_name = "LENGTH")]
    all: Option<usize>,
    /// Write words without spaces between their tokens
    #[arg(long)]
    chars: bool,
    /// Write a work item (automaton, reservoir, 100 training words, 100 longer test words) to this file instead
    #[arg(long, value_name = "FILE", help_heading = "Work items")]
    work: Option<PathBuf>,
    /// Kind of reservoir of the work item
    #[arg(long, value_enum, default_value = "cycle", help_heading = "Work items")]
    reservoir: Kind,
    /// Number of neurons of the work item's reservoir
    #[arg(long, default_value_t = 256, help_heading = "Work items")]
    neurons: usize,
}

/// Returns the parser for the kind of words.
fn kinds() -> impl TypedValueParser<Value = WordKind> {
    PossibleValuesParser::new(WordKind::ALL.map(WordKind::name)).try_map(|name| name.parse::<WordKind>())
}

/// The maximum number of words that `--all` prints.
const MOST: usize = 1_000_000;

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    let subject = args.subject.open(session, Encoding::Auto, &())?;
    if let Some(path) = &args.work {
        let Some(task) = subject.task() else { bail!("a work item needs a task: give --task") };
        let work = work_item(task, args.reservoir.into(), args.neurons, args.seed)?;
        save(path, work.to_string())?;
        return Ok(Outcome::Accepted);
    }
    let language = subject.require_language()?;
    let alphabet = subject.alphabet();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut print = |word: &Word| {
        let names: Vec<&str> = names(alphabet, word).collect();
        writeln!(out, "{}", names.join(if args.chars { "" } else { " " }))
    };
    if let Some(longest) = args.all {
        ensure!(longest <= 1000, "--all is {longest}, but must be at most 1000");
        let all = all_words(&subject.oracle(Mode::Strict, &())?, longest, MOST);
        let all = all.with_context(|| format!("there are more than {MOST} words up to length {longest}"))?;
        all.iter().try_for_each(&mut print)?;
    } else {
        let kind = args.kind;
        let oracle = subject.oracle(Mode::Tolerant, &())?;
        let mut random = Split::Train.generator(args.seed);
        let lengths = lengths(args.min_length, args.max_length)?;
        for _ in 0..args.count {
            let word = draw(&**language, &oracle, kind, lengths.clone(), &mut random);
            let Some(word) = word else {
                let (name, from, to) = (subject.name(), args.min_length, args.max_length);
                bail!("there are no {kind} words of {name} with {from} to {to} tokens");
            };
            print(&word)?;
        }
    }
    out.flush()?;
    Ok(Outcome::Accepted)
}

/// Returns a work item in the form that the peer pipeline in benchmarks/ reads.
fn work_item(task: Task, kind: ReservoirKind, neurons: usize, seed: u64) -> Result<Value> {
    let Some(automaton) = task.automaton() else { bail!("{task} has no automaton") };
    let params = task.params(kind, neurons, seed);
    let reservoir = match params.reservoir {
        ReservoirParams::Random(Random { neurons, radius, density, input, .. }) => {
            json!({"kind": "rand", "neurons": neurons, "radius": radius, "density": density, "input_scale": input})
        }
        ReservoirParams::Cycle(Cycle { neurons, input, cycle, jump, jump_length, .. }) => json!({
            "kind": "crj", "neurons": neurons, "input": input, "cycle": cycle, "jump": jump, "jump_length": jump_length,
        }),
        ReservoirParams::Legendre(Legendre { neurons, theta }) => {
            json!({"kind": "ldn", "neurons": neurons, "theta": theta})
        }
        ReservoirParams::Given(_) => bail!("a task's own parameters never have a given reservoir"),
    };
    let words = |split| -> Vec<Vec<String>> {
        let alphabet = task.alphabet();
        let traces = task.examples(split, 100, seed);
        traces.iter().map(|trace| names(&alphabet, trace.word()).map(String::from).collect()).collect()
    };
    let mut work: Value = serde_json::from_str(&automaton.to_json())?;
    work["reservoir"] = reservoir;
    work["svm_c"] = json!(params.svm.cost);
    work["train"] = json!(words(Split::Train));
    work["test"] = json!(words(Split::Test));
    Ok(work)
}
