//! `echostack lab work`: writes a work item for benchmarks.

use std::path::PathBuf;

use anyhow::{Result, bail};
use echostack::reservoir::{Cycle, Legendre, Random, ReservoirKind, ReservoirParams};
use echostack::tasks::{Split, Task};
use echostack_grammar::parse_task;
use serde_json::{Value, json};

use crate::options::Kind;
use crate::outcome::Outcome;
use crate::output::save;
use crate::words::names;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Built-in task: NAME or `task:NAME`; `echostack tasks` lists them
    #[arg(value_parser = parse_task)]
    task: Task,
    /// Kind of reservoir
    #[arg(long, value_enum, default_value = "cycle")]
    reservoir: Kind,
    /// Number of neurons
    #[arg(long, default_value_t = 256)]
    neurons: usize,
    /// Seed of the words
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// File to write the work item to
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let work = work_item(args.task, args.reservoir.into(), args.neurons, args.seed)?;
    save(&args.output, work.to_string())?;
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
