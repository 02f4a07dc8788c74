//! `echostack sample`: words of a task, or a work item for benchmarks.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use echostack::tasks::{ReservoirKind, Split, Task, WordKind};
use echostack::{Alphabet, Cycle, Input, Legendre, Random, ReservoirParams, Word};
use serde_json::{Value, json};

use crate::{Kind, Outcome, TaskName};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The task
    #[arg(long, value_name = "TASK")]
    task: TaskName,
    /// What words to draw
    #[arg(long, value_enum, default_value = "valid")]
    kind: KindOfWord,
    /// How many words
    #[arg(long, default_value_t = 100)]
    count: usize,
    /// The shortest word
    #[arg(long, default_value_t = 1)]
    min_length: usize,
    /// The longest word
    #[arg(long, default_value_t = 50)]
    max_length: usize,
    /// The seed
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Write words without spaces between their tokens
    #[arg(long)]
    chars: bool,
    /// Write a work item (automaton, reservoir, 100 training words, 100 longer test words) to this file instead
    #[arg(long, value_name = "FILE")]
    work: Option<PathBuf>,
    /// The reservoir of the work item
    #[arg(long, value_enum, default_value = "cycle")]
    reservoir: Kind,
    /// The neurons of the work item's reservoir
    #[arg(long, default_value_t = 256)]
    neurons: usize,
}

#[derive(Clone, Copy, ValueEnum)]
enum KindOfWord {
    Valid,
    NearMiss,
    Random,
}

/// The names of a word's tokens.
pub(crate) fn names<'a>(alphabet: &'a Alphabet, word: &'a Word) -> impl Iterator<Item = &'a str> {
    word.inputs().filter_map(|input| match input {
        Input::Symbol(symbol) => Some(alphabet.name(symbol)),
        Input::Vector(_) => None,
    })
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let task = args.task.0;
    ensure!(task.is_symbolic(), "{task} has no words of symbols to print");
    if let Some(path) = &args.work {
        let work = work_item(task, args.reservoir.into(), args.neurons, args.seed)?;
        std::fs::write(path, work.to_string()).with_context(|| format!("could not write {}", path.display()))?;
        return Ok(Outcome::Accepted);
    }
    let kind = match args.kind {
        KindOfWord::Valid => WordKind::Valid,
        KindOfWord::NearMiss => WordKind::NearMiss,
        KindOfWord::Random => WordKind::Random,
    };
    let alphabet = task.alphabet();
    let mut random = Split::Train.generator(args.seed);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for _ in 0..args.count {
        let Some(word) = task.word_of_kind(kind, &mut random, args.min_length..=args.max_length) else {
            bail!("there are no {kind} words of {task} with {} to {} tokens", args.min_length, args.max_length);
        };
        let names: Vec<&str> = names(&alphabet, &word).collect();
        writeln!(out, "{}", names.join(if args.chars { "" } else { " " }))?;
    }
    out.flush()?;
    Ok(Outcome::Accepted)
}

/// A work item as the peer pipeline in benchmarks/ reads it.
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
