//! Our reading of Algorithm 2: pop and push are decided on the same state. In the printed order, which decides on push
//! after the pop, the same machine fails.

mod common;

use common::{Order, languages, slow_outputs, trained, word_error};
use echostack::tasks::{ReservoirKind, Split};

#[test]
fn push_decided_after_the_pop_fails() {
    for task in languages() {
        let machine = trained(task, ReservoirKind::Cycle, 256, 0);
        let test = task.examples(Split::Test, 10, 0);
        let error = |order| {
            let one = |trace| word_error(&slow_outputs(&machine, echostack::Trace::word(trace), order), trace);
            test.iter().map(one).sum::<f64>() / test.len() as f64
        };
        let (same, after) = (error(Order::Same), error(Order::AfterPop));
        println!("{task}: same state {same}, after the pop {after:.4}");
        assert_eq!(same, 0., "{task}");
        assert!(after > 0.01, "{task}");
    }
}
