//! Functions that several tests share.
#![allow(dead_code, reason = "each test uses only some of them")]

use echostack::recognize::View;
use echostack::reservoir::ReservoirKind;
use echostack::reservoir::{Drive, Simd, encode};
use echostack::symbol::Input;
use echostack::tasks::{Split, Task};
use echostack::teach::score;
use echostack::{Limits, Machine, Params, Trace, Word};

/// Returns the symbolic tasks.
pub(crate) fn languages() -> impl Iterator<Item = Task> {
    Task::ALL.into_iter().filter(|task| task.is_symbolic())
}

/// Trains a machine on 100 words of a task, as in the paper.
pub(crate) fn trained(task: Task, kind: ReservoirKind, neurons: usize, seed: u64) -> Machine {
    fit(task, task.params(kind, neurons, seed), &task.examples(Split::Train, 100, seed))
}

pub(crate) fn fit(task: Task, params: Params, traces: &[Trace]) -> Machine {
    params.check().unwrap().fit(&task.alphabet(), traces, &()).unwrap()
}

pub(crate) fn error(machine: &Machine, traces: &[Trace]) -> f64 {
    score(machine, traces, Limits::default()).error
}

/// The state in which the push is decided.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// The state before the pop, as for the pop itself: our reading.
    Same,
    /// The state after the pop: Algorithm 2 as printed.
    AfterPop,
}

/// Runs Algorithm 2 in the slow and obvious way: for every decision, the whole stack is fed through the reservoir
/// again, and every readout is computed from scratch. The outputs end early if the machine would be stopped.
pub(crate) fn slow_outputs(machine: &Machine, word: &Word, order: Order) -> Vec<f64> {
    let simd = Simd::default();
    let reservoir = machine.reservoir();
    let drives: Vec<Drive<'_>> = word
        .inputs()
        .map(|input| match input {
            Input::Symbol(symbol) => Drive::Channel(symbol.index()),
            Input::Vector(values) => Drive::Values(values),
        })
        .chain([Drive::Silence])
        .collect();
    let mut stack: Vec<Drive<'_>> = Vec::new();
    let mut all = Vec::new();
    for (t, &next) in drives.iter().enumerate() {
        let h = match (machine.view(), next) {
            (View::Reservoir, _) => encode(&**reservoir, simd, drives[..=t].iter().copied()),
            (View::Symbol, Drive::Silence) => vec![0.; reservoir.neurons()],
            (View::Symbol, _) => encode(&**reservoir, simd, [next]),
        };
        let choose = |stack: &[Drive<'_>]| machine.choose(&h, &encode(&**reservoir, simd, stack.iter().copied()));
        let mut decisions = 0;
        let last = loop {
            decisions += 1;
            let choice = choose(&stack);
            let pop = choice.reduction.pop as usize;
            if pop > stack.len() || decisions > 4 * word.len() + 20 {
                return all;
            }
            stack.truncate(stack.len() - pop);
            let push = match order {
                Order::Same => choice.reduction.push,
                Order::AfterPop => choose(&stack).reduction.push,
            };
            stack.extend(push.map(|symbol| Drive::Channel(symbol.index())));
            if pop == 0 && push.is_none() {
                break choice;
            }
        };
        all.extend(&last.output);
        if last.shift && next != Drive::Silence {
            stack.push(next);
        }
    }
    all
}
