//! Trains a machine with a reservoir of your own: a delay line, in which neuron k holds the input from k steps ago.
//!
//!     cargo run --release --example own_reservoir

use std::sync::Arc;

use echostack::readout::Svm;
use echostack::reservoir::{Drive, Reservoir, ReservoirParams, Simd};
use echostack::tasks::{Split, Task};
use echostack::teach::score;
use echostack::{Limits, Params};

/// Keeps the most recent inputs, each damped more than the one that followed it.
#[derive(Debug)]
struct DelayLine {
    channels: usize,
    length: usize,
}

impl Reservoir for DelayLine {
    fn neurons(&self) -> usize {
        self.channels * self.length
    }

    fn channels(&self) -> usize {
        self.channels
    }

    fn step(&self, _: Simd, from: &[f64], drive: Drive<'_>, to: &mut [f64]) {
        let (newest, older) = to.split_at_mut(self.channels);
        older.iter_mut().zip(from).for_each(|(to, from)| *to = 0.5 * from);
        newest.fill(0.);
        match drive {
            Drive::Silence => {}
            Drive::Channel(channel) => newest[channel] = 1.,
            Drive::Values(values) => newest[..values.len()].copy_from_slice(values),
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for task in [Task::Dyck1, Task::Anbn, Task::Palindrome] {
        let line = DelayLine { channels: task.alphabet().len(), length: 12 };
        let params = Params {
            reservoir: ReservoirParams::Given(Arc::new(line)),
            svm: Svm { cost: 1e4, gamma: 0.3, ..Svm::default() },
            ..Params::default()
        };
        let machine = params.fit(&task.alphabet(), &task.examples(Split::Train, 100, 0))?;
        let result = score(&machine, &task.examples(Split::Test, 100, 0), Limits::default());
        println!("{}: error {} on 100 test words", task.name(), result.error);
    }
    Ok(())
}
