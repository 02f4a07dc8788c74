//! `echostack evaluate`: measure a machine on fresh words of a task.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, ensure};
use echostack::tasks::{Split, Task, WordKind};
use echostack::{Limits, Machine, Mode, Oracle, Score, Trace, score};
use serde_json::{Map, Value, json};

use crate::sample::names;
use crate::{Outcome, TaskName, load, print_json};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The model file
    model: PathBuf,
    /// The task that is the truth
    #[arg(long, value_name = "TASK")]
    task: TaskName,
    /// How many words of each kind
    #[arg(long, default_value_t = 100)]
    count: usize,
    /// The shortest word
    #[arg(long, default_value_t = 50)]
    min_length: usize,
    /// The longest word
    #[arg(long, default_value_t = 200)]
    max_length: usize,
    /// The seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print the words that were judged wrongly, at most this many of each kind
    #[arg(long, default_value_t = 0, value_name = "N")]
    show_wrong: usize,
}

/// The words that a machine is measured on, by their kind; the copy tasks have one kind only.
fn sets(args: &Args, task: Task, machine: &Machine) -> Result<Vec<(WordKind, Vec<Trace>)>> {
    let Some(automaton) = task.automaton() else {
        return Ok(vec![(WordKind::Valid, task.examples(Split::Test, args.count, args.seed))]);
    };
    let oracle = Arc::new(match machine.mode() {
        Mode::Strict => Oracle::strict(automaton)?,
        Mode::Tolerant => Oracle::tolerant(automaton),
    });
    let mut random = Split::Test.generator(args.seed);
    let mut all = Vec::new();
    for kind in [WordKind::Valid, WordKind::NearMiss, WordKind::Random] {
        let traces = task.traces(&oracle, kind, args.min_length..=args.max_length, args.count, &mut random);
        ensure!(
            traces.len() == args.count,
            "there are no {kind} words of {task} with {} to {} tokens",
            args.min_length,
            args.max_length
        );
        all.push((kind, traces));
    }
    Ok(all)
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let machine = Arc::new(load(&args.model)?);
    let task = args.task.0;
    let (alphabet, own) = (task.alphabet(), machine.alphabet());
    let terminals = |alphabet: &echostack::Alphabet| -> Vec<String> {
        alphabet.terminals().map(|symbol| alphabet.name(symbol).to_string()).collect()
    };
    ensure!(
        terminals(&alphabet) == terminals(own),
        "the machine reads {}, but {task} is written in {}",
        terminals(own).join(" "),
        terminals(&alphabet).join(" ")
    );
    let mut json = Map::new();
    json.insert("task".into(), json!(task.name()));
    for (kind, traces) in sets(args, task, &machine)? {
        let Score { error, wrong, words, tokens } = score(&machine, &traces, Limits::default());
        let prefix = match kind {
            WordKind::Valid => "",
            WordKind::NearMiss => "near_miss_",
            WordKind::Random => "random_",
        };
        json.insert(format!("{prefix}error"), if error == 0. { json!(0) } else { json!(error) });
        json.insert(format!("{prefix}wrong"), json!(wrong.len()));
        if !args.json {
            println!("{kind:10} error {error}, {} of {words} words wrong, {tokens} tokens", wrong.len());
        }
        let shown: Vec<String> = wrong
            .iter()
            .take(args.show_wrong)
            .map(|&number| names(&alphabet, traces[number].word()).collect::<Vec<_>>().join(" "))
            .collect();
        if !args.json {
            shown.iter().for_each(|word| println!("  {word}"));
        } else if args.show_wrong > 0 {
            json.insert(format!("{prefix}wrong_words"), json!(shown));
        }
    }
    if args.json {
        print_json(&Value::Object(json))?;
    }
    Ok(Outcome::Accepted)
}
