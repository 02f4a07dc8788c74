//! `echostack learn`: train a machine on a task and save it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use echostack::tasks::{Split, Task, WordKind};
use echostack::{Mode, Oracle, Params, Readout, Svm, Trace, View};

use crate::progress::Bar;
use crate::{Kind, Outcome, TaskName, print_json};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The task to learn
    #[arg(long, value_name = "TASK")]
    task: TaskName,
    /// The kind of reservoir
    #[arg(long, value_enum, default_value = "cycle")]
    reservoir: Kind,
    /// The number of neurons
    #[arg(long, default_value_t = 256)]
    neurons: usize,
    /// What the machine sees of its input: the reservoir's state over all of it, or the next symbol alone
    #[arg(long, value_enum, default_value = "reservoir")]
    lookahead: LookaheadView,
    /// Reject at the first token that cannot follow, in place of judging at the end
    #[arg(long)]
    strict: bool,
    /// The number of training words
    #[arg(long, default_value_t = 100)]
    count: usize,
    /// The longest training word
    #[arg(long, default_value_t = 50)]
    max_length: usize,
    /// The part of training words that are near misses and random words, half of each, from 0 to 1
    #[arg(long, default_value_t = 0.)]
    negatives: f64,
    /// The cost C of the support vector machines [default: the task's]
    #[arg(long)]
    cost: Option<f64>,
    /// The kernel's gamma, as a multiple of 1 / (features * variance) [default: the task's]
    #[arg(long)]
    gamma: Option<f64>,
    /// The seed of words and weights
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Where to save the machine
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum LookaheadView {
    Reservoir,
    Symbol,
}

/// The training words of a task with their teaching signal.
fn traces(args: &Args, task: Task) -> Result<Vec<Trace>> {
    ensure!((0. ..=1.).contains(&args.negatives), "--negatives is {}, but must be from 0 to 1", args.negatives);
    ensure!((1..=1_000_000).contains(&args.count), "--count is {}, but must be from 1 to 1000000", args.count);
    let Some(automaton) = task.automaton() else {
        ensure!(args.negatives == 0. && !args.strict, "{task} has no wrong words: leave out --negatives and --strict");
        return Ok(task.examples(Split::Train, args.count, args.seed));
    };
    let oracle = Arc::new(if args.strict { Oracle::strict(automaton)? } else { Oracle::tolerant(automaton) });
    let mut random = Split::Train.generator(args.seed);
    let wrong = (args.count as f64 * args.negatives).round() as usize;
    let counts =
        [(WordKind::Valid, args.count - wrong), (WordKind::NearMiss, wrong - wrong / 2), (WordKind::Random, wrong / 2)];
    let mut all = Vec::new();
    for (kind, count) in counts {
        let drawn = task.traces(&oracle, kind, 1..=args.max_length, count, &mut random);
        ensure!(drawn.len() == count, "no {kind} words of {task} up to length {}; raise --max-length", args.max_length);
        all.extend(drawn);
    }
    Ok(all)
}

pub(crate) fn run(args: &Args, quiet: bool) -> Result<Outcome> {
    let task = args.task.0;
    let traces = traces(args, task)?;
    let defaults = task.params(args.reservoir.into(), args.neurons, args.seed);
    let params = Params {
        view: match args.lookahead {
            LookaheadView::Reservoir => View::Reservoir,
            LookaheadView::Symbol => View::Symbol,
        },
        mode: if args.strict { Mode::Strict } else { Mode::Tolerant },
        svm: Svm {
            cost: args.cost.unwrap_or(defaults.svm.cost),
            gamma: args.gamma.unwrap_or(defaults.svm.gamma),
            ..defaults.svm
        },
        ..defaults
    };
    if args.strict && args.negatives == 0. && !quiet {
        eprintln!("echostack: a strict machine learns what to refuse from wrong words only: add --negatives 0.5");
    }
    let start = Instant::now();
    let bar = Bar::new(quiet);
    let fitted = params.check()?.fit(&task.alphabet(), &traces, &bar);
    bar.finish();
    let mut machine = fitted?;
    let seconds = start.elapsed().as_secs_f64();
    for (key, value) in [
        ("task", task.to_string()),
        ("seed", args.seed.to_string()),
        ("count", args.count.to_string()),
        ("negatives", args.negatives.to_string()),
    ] {
        machine.manifest_mut().insert(key.to_string(), value);
    }
    machine.save(&args.output).context("could not save the machine")?;
    let rows = machine.lessons().actions().len();
    let support =
        [Readout::Pop, Readout::Push, Readout::Shift, Readout::Output].map(|readout| machine.support(readout));
    if args.json {
        print_json(&serde_json::json!({
            "task": task.name(), "words": traces.len(), "rows": rows, "support": support, "seconds": seconds,
            "output": args.output,
        }))?;
    } else if !quiet {
        eprintln!(
            "learned {task} from {} words in {:.0} ms: {rows} contexts, {} support vectors; saved {}",
            traces.len(),
            seconds * 1e3,
            support.iter().sum::<usize>(),
            args.output.display()
        );
    }
    Ok(Outcome::Accepted)
}
