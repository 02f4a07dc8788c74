//! Tests of the paper's central claim, zero error, on our own words: 100 training words up to length 50, and 100 test
//! words of length 50 to 200.
#![cfg(feature = "machine")]

mod common;

use common::{error, languages, trained};
use echostack::reservoir::ReservoirKind;
use echostack::tasks::{Split, Task};
use rayon::prelude::*;

fn errors(task: Task, kind: ReservoirKind, neurons: usize) -> Vec<f64> {
    let one = |seed| error(&trained(task, kind, neurons, seed), &task.examples(Split::Test, 100, seed));
    (0..10_u64).into_par_iter().map(one).collect()
}

fn exactly_zero(kind: ReservoirKind) {
    for task in languages() {
        let errors = errors(task, kind, 256);
        assert_eq!(errors, [0.; 10], "{task} with {kind:?}, seeds 0 to 9");
    }
}

#[test]
fn cycle_reservoirs_make_no_error() {
    exactly_zero(ReservoirKind::Cycle);
}

#[test]
fn random_reservoirs_make_no_error() {
    exactly_zero(ReservoirKind::Random);
}

#[test]
fn legendre_networks_make_next_to_no_error() {
    for task in languages() {
        let errors = errors(task, ReservoirKind::Legendre, 256);
        let zeros = errors.iter().filter(|&&error| error == 0.).count();
        let mean = errors.iter().sum::<f64>() / 10.;
        println!("{task} with Legendre: {zeros} of 10 without error, mean {mean:.2e}");
        assert!(zeros >= 8 && mean <= 1e-3, "{task}: {errors:?}");
    }
}

#[test]
fn legendre_networks_copy() {
    for (task, neurons) in [(Task::Copy, 512), (Task::RepeatCopy, 256)] {
        let errors: Vec<f64> = errors(task, ReservoirKind::Legendre, neurons);
        let mean = errors.iter().sum::<f64>() / 10.;
        println!("{task} with {neurons} neurons: mean {mean:.2e}, {errors:?}");
        assert!(mean <= 0.01, "{task}: {errors:?}");
    }
}
