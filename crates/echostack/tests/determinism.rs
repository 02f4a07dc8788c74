//! Tests that the same words, settings and seed give the same bits, for any number of threads and with or without SIMD.
#![cfg(feature = "machine")]

mod common;

use common::{fit, trained};
use echostack::certify::Proof;
use echostack::machine::Readout;
use echostack::recognize::{Event, Mode, View, judge_all};
use echostack::reservoir::ReservoirKind;
use echostack::reservoir::Simd;
use echostack::tasks::{Split, Task};
use echostack::{Limits, Machine, Oracle, Params, Prover, Recognizer, Study, Verdict, Word};

/// Returns all decision values of a machine on its training states, and its verdicts, outputs and margins on test
/// words.
fn fingerprint(machine: &Machine, words: &[Word]) -> (Vec<u64>, Vec<Verdict>) {
    let mut bits = Vec::new();
    for (lesson, _) in machine.lessons().actions() {
        let (h, g) = machine.lessons().states(&**machine.reservoir(), lesson);
        for readout in [Readout::Pop, Readout::Push, Readout::Shift, Readout::Output] {
            bits.extend(machine.decision_values(readout, &h, &g).iter().map(|value| value.to_bits()));
        }
    }
    for word in words {
        let mut watch = |_, event: Event<'_>| match event {
            Event::Decide { margin, .. } | Event::Shift { margin, .. } => bits.push(margin.to_bits()),
            Event::Output { values } => bits.extend(values.iter().map(|value| value.to_bits())),
        };
        machine.judge_with(word, Limits::default(), &mut watch);
    }
    (bits, judge_all(machine, words, Limits::default()))
}

fn words(task: Task) -> Vec<Word> {
    task.examples(Split::Test, 20, 3).iter().map(|trace| trace.word().clone()).collect()
}

#[test]
fn one_and_two_threads_give_the_same_bits() {
    for task in [Task::Json, Task::RepeatCopy] {
        for kind in ReservoirKind::ALL {
            let run = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    let train = task.examples(Split::Train, 40, 3);
                    let machine = fit(task, task.params(kind, 128, 3), &train);
                    (machine.to_bytes().unwrap(), fingerprint(&machine, &words(task)[..10]))
                })
            };
            let (one, two) = (run(1), run(2));
            assert!(!one.1.0.is_empty());
            assert!(one == two, "{task} with {kind:?}");
        }
    }
}

#[test]
fn any_number_of_threads_finds_the_same_proof() {
    for (task, view) in [(Task::Json, View::Symbol), (Task::Dyck2, View::Reservoir)] {
        let language = task.language().unwrap();
        let oracle = Oracle::strict(task.automaton().unwrap()).unwrap();
        let params = |params: Params| Params { view, mode: Mode::Strict, ..params }.check().unwrap();
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let proved = params(Params::provable(ReservoirKind::Cycle, 256, 0));
                let (_, proved) = Study::default().prove(&*language, &proved, &(), &mut |_| {}).unwrap();
                assert!(matches!(proved, Proof::Proved(_)), "{task}");
                // Too small a machine is wrong somewhere. What is found on the way depends on the order of the search.
                let small = params(Params::standard(ReservoirKind::Cycle, 48, 1));
                let small = small.fit(&task.alphabet(), &task.examples(Split::Train, 10, 3), &()).unwrap();
                let open = Prover::new(&oracle, view, &()).unwrap().prove(&small, &()).unwrap();
                assert!(matches!(open, Proof::Open { .. }), "{task}");
                format!("{proved:?} {open:?}")
            })
        };
        let one = run(1);
        assert!([2, 4].into_iter().all(|threads| run(threads) == one), "{task}");
    }
}

#[test]
fn simd_on_and_off_give_the_same_bits() {
    for task in [Task::Dyck2, Task::Json] {
        for kind in ReservoirKind::ALL {
            let machine = trained(task, kind, 256, 3);
            let portable = Machine::clone(&machine).with_simd(Simd::portable());
            let words = words(task);
            assert!(fingerprint(&machine, &words) == fingerprint(&portable, &words), "{task} with {kind:?}");
        }
    }
}

#[test]
fn eight_threads_share_one_machine() {
    let machine = trained(Task::Json, ReservoirKind::Cycle, 256, 1);
    let words = words(Task::Json);
    let alone = fingerprint(&machine, &words);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| fingerprint(&machine, &words))).collect();
        for thread in threads {
            assert!(thread.join().unwrap() == alone);
        }
    });
}
