//! Tests of our reading of Algorithm 2, in which pop and push are decided in the same state. In the printed order,
//! which decides what to push after the pop, the same machine fails.
#![cfg(feature = "machine")]

mod common;

use common::{Order, fit, languages, slow_outputs};
use echostack::readout::Svm;
use echostack::reservoir::ReservoirKind;
use echostack::tasks::Split;
use echostack::{Params, Trace};

#[test]
fn push_decided_after_the_pop_fails() {
    for task in languages() {
        // This is the paper's kernel; wider kernels repair some of the damage by chance.
        let svm = Svm { cost: 100., ..Svm::default() };
        let params = Params { svm, ..task.params(ReservoirKind::Cycle, 256, 0) };
        let machine = fit(task, params, &task.examples(Split::Train, 100, 0));
        let test = task.examples(Split::Test, 10, 0);
        let error = |order| {
            let one = |trace: &Trace| {
                let given = slow_outputs(&machine, trace.word(), order);
                let wanted: Vec<f64> = trace.steps().iter().map(|step| step.output[0]).collect();
                let wrong = given.iter().zip(&wanted).filter(|(a, b)| a != b).count();
                (wrong + wanted.len() - given.len()) as f64 / wanted.len() as f64
            };
            test.iter().map(one).sum::<f64>() / test.len() as f64
        };
        let (same, after) = (error(Order::Same), error(Order::AfterPop));
        println!("{task}: same state {same}, after the pop {after:.4}");
        assert_eq!(same, 0., "{task}");
        assert!(after > 0.01, "{task}");
    }
}
