//! Tests that proofs end within 100 ms when they are cancelled from another thread, at any moment. On a machine that does
//! other work as well, single calls take longer, so only half of them have to; all must end within half a second.
//!
//! `cargo nextest run --run-ignored all -E 'test(cancelled)'` also tests Lua.
#![cfg(feature = "machine")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use echostack::automaton::AutomatonError;
use echostack::certify::{Proof, check};
use echostack::language::Language;
use echostack::recognize::{Mode, View};
use echostack::reservoir::ReservoirKind;
use echostack::{Automaton, Control, Oracle, Params, Prover, Study};
use echostack_grammar::{Encoding, Grammar};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

#[derive(Default)]
struct Button(AtomicBool);

impl Control for Button {
    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

fn grammar(name: &str, encoding: Encoding) -> Grammar {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/grammars").join(name);
    Grammar::open(&folder, encoding).unwrap().0
}

/// Returns the path of the calling thread in /proc.
fn this_thread() -> Option<PathBuf> {
    std::fs::canonicalize("/proc/thread-self").ok()
}

/// Returns how long a thread has run so far, without the time for which it waited for a core. On systems other than
/// Linux, returns the elapsed time.
fn busy(thread: Option<&PathBuf>, start: Instant) -> Duration {
    let told = thread.and_then(|thread| std::fs::read_to_string(thread.join("schedstat")).ok());
    let nanoseconds = told.and_then(|told| told.split(' ').next().and_then(|first| first.parse().ok()));
    nanoseconds.map_or(start.elapsed(), Duration::from_nanos)
}

/// Returns how long work continues after it is cancelled at random moments within the given time. The work must not end
/// by itself.
fn latencies(count: usize, within: Duration, work: &(dyn Fn(&Button) + Sync)) -> Vec<Duration> {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let mut all: Vec<Duration> = Vec::new();
    for _ in 0..count {
        let (button, start) = (Button::default(), Instant::now());
        let (sender, receiver) = mpsc::channel();
        all.push(std::thread::scope(|scope| {
            let button = &button;
            let worker = scope.spawn(move || {
                let thread = this_thread();
                sender.send(thread.clone()).unwrap();
                work(button);
                busy(thread.as_ref(), start)
            });
            let thread = receiver.recv().unwrap();
            std::thread::sleep(within.mul_f64(random.random()));
            button.0.store(true, Ordering::Relaxed);
            let pressed = busy(thread.as_ref(), start);
            worker.join().unwrap().saturating_sub(pressed)
        }));
    }
    all.sort();
    all
}

fn assert_prompt(what: &str, latencies: &[Duration]) {
    let [middle, longest] = [latencies[latencies.len() / 2], latencies[latencies.len() - 1]];
    println!("{what}: half of the calls end within {middle:?}, all within {longest:?}");
    assert!(middle < Duration::from_millis(100) && longest < Duration::from_millis(500), "{what}: {latencies:?}");
}

#[test]
fn a_proof_and_a_check_end_when_they_are_cancelled() {
    let grammar = grammar("arithmetic", Encoding::Auto);
    let params = Params { view: View::Symbol, mode: Mode::Strict, ..Params::provable(ReservoirKind::Cycle, 256, 0) };
    let params = params.check().unwrap();
    let (machine, proof) = Study::default().prove(&grammar, &params, &(), &mut |_| {}).unwrap();
    let Proof::Proved(certificate) = proof else { panic!("arithmetic is not proved") };

    let oracle = Oracle::strict(grammar.automaton().clone()).unwrap();
    let start = Instant::now();
    check(&certificate, &machine, &oracle, &()).unwrap();
    let time = start.elapsed();
    let prove = |button: &Button| {
        while let Ok(prover) = Prover::new(&oracle, View::Symbol, button) {
            if prover.prove(&machine, button).is_err() {
                break;
            }
        }
    };
    assert_prompt("proving", &latencies(20, 3 * time, &prove));
    let verify = |button: &Button| while check(&certificate, &machine, &oracle, button).is_ok() {};
    assert_prompt("checking", &latencies(20, 2 * time, &verify));
}

#[test]
fn viable_stacks_end_when_they_are_cancelled() {
    // So many kinds of brackets that the viable stacks cannot be computed in reasonable time.
    let kinds: Vec<String> = (0..40).map(|kind| format!("'a{kind}' S 'b{kind}' S")).collect();
    let grammar =
        Grammar::new("brackets", &format!("%start S\n%%\nS: | {};\n", kinds.join(" | ")), Encoding::Auto).unwrap();
    let automaton = grammar.automaton();
    let rules = automaton.rules().to_vec();
    let bare = Automaton::new(automaton.alphabet().clone(), rules, automaton.accepting().to_vec()).unwrap();
    let compute = |button: &Button| {
        while !matches!(Oracle::new(bare.clone(), Mode::Strict, button), Err(AutomatonError::Cancelled)) {}
    };
    assert_prompt("viable stacks", &latencies(6, Duration::from_secs(3), &compute));
}

#[test]
#[ignore = "takes half a minute"]
fn a_prover_of_lua_ends_when_it_is_cancelled() {
    for encoding in [Encoding::Auto, Encoding::State] {
        let oracle = Oracle::strict(grammar("lua", encoding).automaton().clone()).unwrap();
        let start = Instant::now();
        Prover::new(&oracle, View::Symbol, &()).unwrap();
        let time = start.elapsed();
        println!("a prover of Lua takes {time:?}");
        let prepare = |button: &Button| while Prover::new(&oracle, View::Symbol, button).is_ok() {};
        assert_prompt("Lua", &latencies(20, time, &prepare));
    }
}
