//! `echostack lab bench`: trains and tests as specified by a work item, and prints the error and the CPU times, in the same
//! fields as the Python peer in benchmarks/.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use echostack::file::{MAX_BYTES, read_text};
use echostack::readout::Svm;
use echostack::reservoir::{Cycle, Legendre, Random, ReservoirParams, Signs};
use echostack::teach::{record, score};
use echostack::{Automaton, Limits, Oracle, Params, Trace, Word};
use serde::Deserialize;
use serde_json::json;

use crate::outcome::Outcome;
use crate::output::print_json;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Work item, as written by `echostack lab work`
    #[arg(long, value_name = "FILE")]
    work: PathBuf,
    /// Seed of the reservoir
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Number of repetitions; the medians of their CPU times are reported
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
    let text = read_text(&args.work, MAX_BYTES).context("could not read the work item")?;
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
    let (mut training, mut testing) = (Vec::new(), Vec::new());
    let mut error = 0.;
    for _ in 0..args.repeat {
        let start = cpu_seconds();
        let machine = params.fit(automaton.alphabet(), &traces(&train), &())?.memoized();
        let trained = cpu_seconds();
        error = score(&machine, &traces(&test), Limits::default()).error;
        training.push(trained - start);
        testing.push(cpu_seconds() - trained);
    }
    let (training, testing) = (median(training), median(testing));
    let tokens: usize = test.iter().map(Word::len).sum();
    if args.json {
        print_json(&json!({
            "error": error, "train_s": training, "test_s": testing, "test_tokens": tokens, "stack": "cached",
        }))?;
    } else {
        let mut out = std::io::stdout();
        writeln!(out, "error {error}, training {training:.4} s, testing {testing:.4} s for {tokens} tokens")?;
    }
    Ok(Outcome::Accepted)
}

/// Returns the CPU time of all threads of this process so far; on systems without this clock, the time of day.
fn cpu_seconds() -> f64 {
    #[cfg(unix)]
    let time = {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    };
    #[cfg(not(unix))]
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    time.as_secs_f64()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
