//! Tests of extraction and construction: automata from machines, and machines from automata.
#![cfg(feature = "machine")]

use echostack::automaton::{Rule, Viability};
use echostack::certify::{Proof, check};
use echostack::extract::{ExtractError, construct, extract, replicate};
use echostack::language::{Walks, WordKind, draw};
use echostack::recognize::{Mode, View};
use echostack::reservoir::ReservoirKind;
use echostack::tasks::Task;
use echostack::{Alphabet, Automaton, Machine, Oracle, Params, Prover, Recognizer, Study, Word};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn oracle(task: Task) -> Oracle {
    Oracle::strict(task.automaton().unwrap()).unwrap()
}

/// Trains a machine until it is proved right.
fn learned(task: Task, kind: ReservoirKind, view: View) -> Machine {
    let params = Params { view, mode: Mode::Strict, ..Params::provable(kind, 256, 0) };
    let language = task.language().unwrap();
    Study::default().prove(&*language, &params.check().unwrap(), &(), &mut |_| {}).unwrap().0
}

/// Asserts that the extracted rules do what the machine does, and what the paper's rules do.
fn read_back(task: Task, machine: &Machine) {
    let found = extract(machine, &()).unwrap_or_else(|error| panic!("{task}: {error}"));
    let (own, paper) = (found.oracle.automaton(), task.automaton().unwrap());
    assert!(own.rules().len() <= paper.rules().len(), "{task}:\n{own}");
    assert_eq!(own.accepting(), paper.accepting(), "{task}");
    echostack::certify::check(&found.certificate, machine, &found.oracle, &()).unwrap();
    let oracle = oracle(task);
    let prover = Prover::new(&oracle, machine.view(), &()).unwrap();
    assert!(matches!(prover.prove(machine, &()).unwrap(), Proof::Proved(_)), "{task}");
    let again = Automaton::from_json(&own.to_json()).unwrap();
    assert_eq!(again.rules(), own.rules());
}

#[test]
fn the_papers_languages_are_read_back() {
    for task in Task::ALL.into_iter().filter(|task| task.is_symbolic()) {
        read_back(task, &learned(task, ReservoirKind::Cycle, View::Symbol));
    }
    for kind in [ReservoirKind::Random, ReservoirKind::Legendre] {
        read_back(Task::Dyck2, &learned(Task::Dyck2, kind, View::Symbol));
    }
    for task in [Task::Palindrome, Task::Dyck1, Task::Latch] {
        read_back(task, &learned(task, ReservoirKind::Cycle, View::Reservoir));
    }
}

#[test]
fn balanced_brackets_read_as_in_the_paper() {
    let machine = learned(Task::Dyck1, ReservoirKind::Cycle, View::Symbol);
    let found = extract(&machine, &()).unwrap();
    let mut rules: Vec<String> = found.oracle.automaton().to_string().lines().map(str::to_string).collect();
    rules.sort();
    let paper = Task::Dyck1.automaton().unwrap().to_string();
    let mut wanted: Vec<String> = paper.lines().map(str::to_string).collect();
    wanted.sort();
    assert_eq!(rules, wanted);
    let alphabet = machine.alphabet();
    let spell = |symbols: &[_]| symbols.iter().map(|&symbol| alphabet.name(symbol)).collect::<String>();
    let mut productions: Vec<String> = found.productions.iter().map(|(_, symbols)| spell(symbols)).collect();
    productions.sort();
    assert_eq!(productions, ["", "(S)", "SS"]);
    let dot = found.dot();
    assert!(dot.starts_with("digraph") && dot.contains("start -> n0") && dot.contains("peripheries=2"), "{dot}");
}

#[test]
fn a_machine_taught_wrongly_is_read_back_as_what_it_is() {
    // One more rule than a^n b^n has, which allows additional b.
    let right = oracle(Task::Anbn);
    let alphabet = right.automaton().alphabet().clone();
    let [b, s] = ["b", "S"].map(|name| alphabet.symbol(name).unwrap());
    let mut rules = right.automaton().rules().to_vec();
    rules.insert(1, Rule { anchored: false, suffix: vec![s, b], lookahead: None, pop: 2, push: s });
    let wrong = Oracle::strict(Automaton::new(alphabet, rules, vec![s]).unwrap()).unwrap();
    let params = Params { view: View::Symbol, mode: Mode::Strict, ..Params::provable(ReservoirKind::Cycle, 64, 0) };
    let walks = Walks::new("too many b", wrong.clone());
    let (machine, _) = Study::default().prove(&walks, &params.check().unwrap(), &(), &mut |_| {}).unwrap();
    let found = extract(&machine, &()).unwrap();
    let prover = Prover::new(&right, View::Symbol, &()).unwrap();
    let Proof::Open { cells, .. } = prover.prove(&machine, &()).unwrap() else { panic!("proved to be a^n b^n") };
    let difference = prover.difference(&machine, &cells, &()).unwrap();
    let judged = |oracle: &Oracle| oracle.judge(&difference.word);
    assert_eq!(judged(&found.oracle), difference.machine);
    assert_eq!(judged(&wrong), difference.machine);
    assert_ne!(judged(&right), difference.machine);
}

#[test]
fn a_machine_without_rules_is_reported() {
    let traces = Task::Dyck1.examples(echostack::tasks::Split::Train, 5, 0);
    let fit = |params: Params| params.check().unwrap().fit(&Task::Dyck1.alphabet(), &traces, &()).unwrap();
    let tolerant = fit(Params::standard(ReservoirKind::Cycle, 32, 0));
    assert!(matches!(extract(&tolerant, &()), Err(ExtractError::Certify(_))));
    // A machine trained only on valid words rejects nothing and shifts tokens for which there is no rule. If extraction
    // succeeds nevertheless, the certificate must hold.
    let blind = fit(Params { view: View::Symbol, mode: Mode::Strict, ..Params::standard(ReservoirKind::Cycle, 32, 0) });
    match extract(&blind, &()) {
        Ok(found) => echostack::certify::check(&found.certificate, &blind, &found.oracle, &()).unwrap(),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

#[test]
fn a_replica_does_what_the_machine_does() {
    for task in Task::ALL.into_iter().filter(|task| task.is_symbolic()) {
        let machine = learned(task, ReservoirKind::Cycle, View::Symbol);
        let (replica, certificate) = replicate(&machine, &()).unwrap();
        check(&certificate, &machine, &replica, &()).unwrap();
        let (oracle, language) = (oracle(task), task.language().unwrap());
        let mut random = ChaCha8Rng::seed_from_u64(2);
        for number in 0..300 {
            let word = draw(&*language, &oracle, WordKind::ALL[number % 3], 1..=20, &mut random).unwrap();
            assert_eq!(replica.judge(&word), machine.judge(&word), "{task}");
        }
    }
}

#[test]
fn a_machine_that_refuses_what_its_rules_allow_has_a_replica() {
    // The rules of a^n b^n, whose viable stacks have at most two a.
    let plain = Task::Anbn.automaton().unwrap();
    let [a, b, s] = ["a", "b", "S"].map(|name| plain.alphabet().symbol(name).unwrap());
    // The stacks: empty, a, a a, a S or a a S, either with b on top, and S.
    let rows = [vec![(a, 1), (s, 5)], vec![(a, 2), (s, 3)], vec![(s, 3)], vec![(b, 4)], vec![], vec![]];
    let viability = Viability::given(plain.alphabet().len(), &rows).unwrap();
    let oracle = Oracle::strict(plain.with_viability(viability).unwrap()).unwrap();
    let params = Params { view: View::Symbol, mode: Mode::Strict, ..Params::provable(ReservoirKind::Cycle, 64, 0) };
    let walks = Walks::new("at most two", oracle.clone());
    let (machine, proof) = Study::default().prove(&walks, &params.check().unwrap(), &(), &mut |_| {}).unwrap();
    assert!(matches!(proof, Proof::Proved(_)));
    assert!(matches!(extract(&machine, &()), Err(ExtractError::Refuses { .. })));
    let (replica, certificate) = replicate(&machine, &()).unwrap();
    check(&certificate, &machine, &replica, &()).unwrap();
    for word in [vec![], vec![a, b], vec![a, a, b, b], vec![a, a, a, b, b, b], vec![a, b, b], vec![b]] {
        let word = Word::from(word);
        assert_eq!(replica.judge(&word), oracle.judge(&word), "{word:?}");
    }
}

/// Tests Theorem 3: a machine is constructed from an automaton alone, for every reservoir and both views of the input.
#[test]
fn machines_are_constructed_from_automata_and_proved() {
    for task in Task::ALL.into_iter().filter(|task| task.is_symbolic()) {
        let oracle = oracle(task);
        for kind in ReservoirKind::ALL {
            for view in [View::Symbol, View::Reservoir] {
                let params = Params { view, mode: Mode::Strict, ..Params::provable(kind, 256, 0) };
                let (machine, proof) = construct(&oracle, &params.check().unwrap(), &()).unwrap();
                let Proof::Proved(certificate) = proof else { panic!("{task} {kind:?} {view:?}: no proof") };
                let again = Machine::from_bytes(&machine.to_bytes().unwrap()).unwrap();
                check(&certificate, &again, &oracle, &()).unwrap();
                if kind == ReservoirKind::Cycle {
                    let rules = extract(&again, &()).unwrap().oracle.automaton().rules().len();
                    assert!(rules <= oracle.automaton().rules().len(), "{task} {view:?}: {rules} rules");
                }
            }
        }
    }
}

/// Tests names with special characters: the rules are printed one per line, and labels in DOT end where they should.
#[test]
fn odd_names_are_escaped() {
    let plain = Task::Anbn.automaton().unwrap();
    let alphabet = Alphabet::new(["\n", "\"\\"], ["S\t"]).unwrap();
    let odd = Automaton::new(alphabet, plain.rules().to_vec(), plain.accepting().to_vec()).unwrap();
    let oracle = Oracle::strict(odd).unwrap();
    let params = Params { view: View::Symbol, mode: Mode::Strict, ..Params::provable(ReservoirKind::Cycle, 256, 0) };
    let (machine, _) = construct(&oracle, &params.check().unwrap(), &()).unwrap();
    let found = extract(&machine, &()).unwrap();
    let rules = found.oracle.automaton().to_string();
    assert_eq!(rules.lines().count(), found.oracle.automaton().rules().len(), "{rules}");
    let label = |line: &str| line.starts_with("  n") && line.contains("[label=\"") && line.ends_with("];");
    let dot = found.dot();
    let edges: Vec<&str> = dot.lines().filter(|line| label(line)).collect();
    assert_eq!(edges.len() + 8, dot.lines().count(), "{dot}");
    assert!(edges.iter().any(|line| line.ends_with(r#"[label="\\n"];"#)), "{dot}");
    assert!(edges.iter().any(|line| line.ends_with(r#"[label="\"\\"];"#)), "{dot}");
}

/// Tests that the paper's automaton is also extracted from a machine that learned from tests alone and was never
/// proved.
#[test]
fn machines_that_tested_themselves_are_read_back() {
    for task in Task::ALL.into_iter().filter(|task| task.is_symbolic()) {
        let params = Params { view: View::Symbol, mode: Mode::Strict, ..task.params(ReservoirKind::Cycle, 256, 0) };
        let study = Study { tests: 5_000, ..Study::default() };
        let (machine, rounds) =
            study.learn(&*task.language().unwrap(), &params.check().unwrap(), &(), &mut |_| {}).unwrap();
        assert_eq!(rounds.last().unwrap().wrong, 0, "{task}");
        read_back(task, &machine);
    }
}
