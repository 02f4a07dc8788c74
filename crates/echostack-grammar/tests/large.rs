//! Tests of two programming languages, with 55 and 127 productions: learning with a proof, construction, and compilation
//! take time that grows no faster than the proof itself.
#![cfg(feature = "machine")]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;

use echostack::certify::check;
use echostack::control::Stage;
use echostack::extract::replicate;
use echostack::language::{WordKind, draw};
use echostack::recognize::{Mode, View};
use echostack::reservoir::ReservoirKind;
use echostack::{Control, Manifest, Oracle, Params, Recognizer, Study, Table};
use echostack_grammar::{Encoding, Goal, Learning, Subject};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn subject(name: &str) -> Subject {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/grammars-large").join(name);
    Subject::open_grammar(&folder, Encoding::Auto).unwrap()
}

/// Collects the stages that report progress, and asserts that they report what can be.
#[derive(Default)]
struct Stages(Mutex<BTreeSet<&'static str>>);

impl Control for Stages {
    fn progress(&self, stage: Stage, done: usize, total: usize) {
        assert!(done <= total, "{stage}: {done} of {total}");
        self.0.lock().unwrap().insert(stage.name());
    }
}

/// Learns a language with a proof in at most this many rounds, constructs a machine for it, and compiles the machine that
/// learned.
fn prove(name: &str, rounds: usize) {
    let subject = subject(name);
    assert_eq!(subject.encoding(), Some(Encoding::State));
    let language = subject.language().unwrap();
    let oracle = Oracle::strict(language.automaton().clone()).unwrap();
    let params = Params::provable(ReservoirKind::Cycle, 256, 0).adapted_to(subject.alphabet());
    let params = Params { view: View::Symbol, mode: Mode::Strict, ..params };
    let stages = Stages::default();
    let study = Study { rounds, ..Study::default() };
    let learned = subject.learn(&Learning { goal: Goal::Proof, study, ..Learning::default() }, &stages).unwrap();
    let certificate = learned.certificate().unwrap_or_else(|| panic!("{name} is not proved in {rounds} rounds"));
    let machine = &learned.machine;
    check(certificate, machine, &oracle, &()).unwrap();
    assert_eq!(*stages.0.lock().unwrap(), BTreeSet::from(["check", "explore", "prove", "train"]));

    let constructed = subject.construct(params, &()).unwrap();
    assert!(constructed.certificate().is_some(), "{name} is constructed without a proof");

    let (replica, _) = replicate(machine, &()).unwrap();
    let [table, wanted] = [&replica, &oracle].map(|oracle| Table::new(oracle, Manifest::default()).unwrap());
    assert_eq!((table.states(), table.size()), (wanted.states(), wanted.size()));
    let mut random = ChaCha8Rng::seed_from_u64(7);
    for number in 0..300 {
        let word = draw(&**language, &oracle, WordKind::ALL[number % 3], 1..=60, &mut random).unwrap();
        assert_eq!(table.judge(&word), oracle.judge(&word), "{name}");
    }
}

#[test]
fn fifty_five_productions_are_proved() {
    prove("small-language", 3);
}

/// Takes minutes.
#[test]
#[ignore = "takes minutes"]
fn a_hundred_and_twenty_seven_productions_are_proved() {
    prove("large-language", 5);
}
