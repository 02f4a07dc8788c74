//! Trains machines on the paper's tasks and measures their error on longer words.
//!
//! `cargo run --release --bin zero_error [TASK [KIND [NEURONS [SEEDS]]]]`, for instance `dyck1 cycle 256 10` for the
//! seeds 0 to 9, or `all all 256 100..120`. A line at the end of each task and kind has the number of seeds without error.

use std::time::Instant;

use echostack::Limits;
use echostack::machine::Readout;
use echostack::reservoir::ReservoirKind;
use echostack::tasks::{Split, Task};
use echostack::teach::{Score, score};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let task = arguments.first().filter(|name| *name != "all").map(|name| name.parse::<Task>()).transpose()?;
    let kind = arguments.get(1).filter(|name| *name != "all");
    let neurons = arguments.get(2).map_or(Ok(256), |text| text.parse())?;
    let seeds = arguments.get(3).map_or("10", String::as_str);
    let (first, end): (u64, u64) = match seeds.split_once("..") {
        Some((first, end)) => (first.parse()?, end.parse()?),
        None => (0, seeds.parse()?),
    };
    for task in Task::ALL.into_iter().filter(|&one| task.is_none_or(|task| task == one)) {
        for reservoir in ReservoirKind::ALL {
            if kind.is_some_and(|kind| *kind != format!("{reservoir:?}").to_lowercase()) {
                continue;
            }
            let mut errors = Vec::new();
            for seed in first..end {
                let train = task.examples(Split::Train, 100, seed);
                let test = task.examples(Split::Test, 100, seed);
                let params = task.params(reservoir, neurons, seed).check()?;
                let start = Instant::now();
                let machine = params.fit(&task.alphabet(), &train, &())?;
                let trained = start.elapsed();
                let start = Instant::now();
                let Score { error, tokens, .. } = score(&machine, &test, Limits::default());
                errors.push(error);
                let support = [Readout::Pop, Readout::Push, Readout::Shift, Readout::Output]
                    .map(|readout| machine.support(readout));
                println!(
                    "{task} {reservoir:?} {neurons} seed {seed}: error {error:.3e}, rows {}, support {support:?}, centers {:?}, train {:.1} ms, test {:.1} ms for {tokens} tokens",
                    machine.lessons().actions().len(),
                    machine.centers(),
                    trained.as_secs_f64() * 1e3,
                    start.elapsed().as_secs_f64() * 1e3,
                );
            }
            let (zeros, mean) = (errors.iter().filter(|error| **error == 0.).count(), errors.iter().sum::<f64>());
            println!(
                "{task} {reservoir:?}: {zeros} of {} without error, mean {:.2e}",
                errors.len(),
                mean / errors.len() as f64
            );
        }
    }
    Ok(())
}
