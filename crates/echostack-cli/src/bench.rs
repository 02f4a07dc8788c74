//! `echostack bench`: trains and tests as specified by a work item, and prints the error and the times, in the same
//! fields as the Python peer in benchmarks/.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use echostack::readout::Svm;
use echostack::reservoir::{Cycle, Legendre, Random, ReservoirParams, Signs};
use echostack::teach::{record, score};
use echostack::{Automaton, Limits, Oracle, Params, Trace, Word};
use serde::Deserialize;
use serde_json::json;

use crate::{Outcome, print_json};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Work item, as written by `echostack sample --work`
    #[arg(long, value_name = "FILE")]
    work: PathBuf,
    /// Seed of the reservoir
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Number of repetitions; the fastest times are reported
    #[arg(long, default_value_t = 1)]
    repeat: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The fields of a work item other than those of the automaton.
#[derive(Deserialize)]
struct Work {
    reservoir: WorkReservoir,
    svm_c: f64,
    train: Vec<Vec<String>>,
    test: Vec<Vec<String>>,
}

#[derive(Deserialize, Clone)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum WorkReservoir {
    Rand { neurons: usize, radius: f64, density: f64, input_scale: f64 },
    Crj { neurons: usize, input: f64, cycle: f64, jump: f64, jump_length: usize },
    Ldn { neurons: usize, theta: f64 },
}

impl WorkReservoir {
    fn params(&self, seed: u64) -> ReservoirParams {
        match *self {
            Self::Rand { neurons, radius, density, input_scale: input } => {
                ReservoirParams::Random(Random { neurons, radius, density, input, seed, ..Random::default() })
            }
            Self::Crj { neurons, input, cycle, jump, jump_length } => {
                let signs = Signs::Seed(seed);
                ReservoirParams::Cycle(Cycle { neurons, input, cycle, jump, jump_length, signs, ..Cycle::default() })
            }
            Self::Ldn { neurons, theta } => ReservoirParams::Legendre(Legendre { neurons, theta }),
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let text =
        std::fs::read_to_string(&args.work).with_context(|| format!("could not read {}", args.work.display()))?;
    let automaton = Automaton::from_json(&text)?;
    let work: Work = serde_json::from_str(&text).context("the work item is not valid")?;
    ensure!((1..=1000).contains(&args.repeat), "--repeat is {}, but must be from 1 to 1000", args.repeat);
    let words = |all: &[Vec<String>]| -> Result<Vec<Word>> {
        all.iter().map(|word| Ok(automaton.alphabet().word(word.iter().map(String::as_str))?)).collect()
    };
    let (train, test) = (words(&work.train)?, words(&work.test)?);
    let oracle = Oracle::tolerant(automaton.clone());
    let traces = |words: &[Word]| -> Vec<Trace> {
        words.iter().filter_map(|word| record(&oracle, "work", word, Limits::default()).0).collect()
    };
    let params = Params {
        reservoir: work.reservoir.params(args.seed),
        svm: Svm { cost: work.svm_c, ..Svm::default() },
        ..Params::default()
    }
    .check()?;
    let mut best = (f64::INFINITY, f64::INFINITY);
    let mut error = 0.;
    for _ in 0..args.repeat {
        let start = Instant::now();
        let machine = params.fit(automaton.alphabet(), &traces(&train), &())?;
        let trained = start.elapsed().as_secs_f64();
        let start = Instant::now();
        error = score(&machine, &traces(&test), Limits::default()).error;
        best = (best.0.min(trained), best.1.min(start.elapsed().as_secs_f64()));
    }
    let tokens: usize = test.iter().map(Word::len).sum();
    if args.json {
        print_json(&json!({
            "error": error, "train_s": best.0, "test_s": best.1, "test_tokens": tokens, "stack": "cached",
        }))?;
    } else {
        let (training, testing) = best;
        let mut out = std::io::stdout();
        writeln!(out, "error {error}, training {training:.4} s, testing {testing:.4} s for {tokens} tokens")?;
    }
    Ok(Outcome::Accepted)
}
