//! Tests of certificates: every language of the paper is proved, and false claims are rejected.
#![cfg(feature = "machine")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use echostack::automaton::{AutomatonError, Rule};
use echostack::certify::{CertifyError, Proof, check};
use echostack::extract::{ExtractError, extract};
use echostack::language::Walks;
use echostack::recognize::{Mode, View};
use echostack::reservoir::ReservoirKind;
use echostack::reservoir::{Drive, Reservoir, ReservoirParams, ReservoirParts, Simd};
use echostack::study::StudyError;
use echostack::tasks::Task;
use echostack::{Automaton, Certificate, Control, Machine, Oracle, Params, Prover, Recognizer, Study};
use safetensors::SafeTensors;
use serde_json::{Value, json};

/// Trains a machine on a language until it is proved right.
fn proved(task: Task, kind: ReservoirKind, view: View) -> (Machine, Certificate) {
    let params = Params { view, mode: Mode::Strict, ..Params::provable(kind, 256, 0) };
    let language = task.language().unwrap();
    let (machine, proof) = Study::default().prove(&*language, &params.check().unwrap(), &(), &mut |_| {}).unwrap();
    match proof {
        Proof::Proved(certificate) => (machine, *certificate),
        Proof::Open { cells, .. } => panic!("{task} {kind:?} {view:?}: {} cells open, {:?}", cells.len(), cells[0]),
    }
}

fn oracle(task: Task) -> Oracle {
    Oracle::strict(task.automaton().unwrap()).unwrap()
}

fn languages() -> impl Iterator<Item = Task> {
    Task::ALL.into_iter().filter(|task| task.is_symbolic())
}

#[test]
fn every_language_is_proved_by_its_next_symbol() {
    for task in languages() {
        for kind in ReservoirKind::ALL {
            let (machine, certificate) = proved(task, kind, View::Symbol);
            check(&certificate, &machine, &oracle(task), &()).unwrap();
            assert!(Certificate::from_json(&certificate.to_json()).unwrap() == certificate, "{task}");
        }
    }
}

#[test]
fn the_number_of_cells_is_limited() {
    let (machine, certificate) = proved(Task::Dyck2, ReservoirKind::Cycle, View::Symbol);
    let oracle = oracle(Task::Dyck2);
    let search = |most| {
        let prover = Prover::new(&oracle, View::Symbol, &()).unwrap().with_max_cells(most);
        prover.prove(&machine, &()).unwrap()
    };
    let is_enough = |&most: &usize| matches!(search(most), Proof::Proved(_));
    let needed = (1..=Prover::MAX_CELLS).find(is_enough).unwrap();
    let Proof::Proved(same) = search(needed) else { panic!("no proof") };
    assert!(*same == certificate);
    let Proof::Open { cells, examined, .. } = search(needed - 1) else { panic!("a proof beyond the limit") };
    assert_eq!(examined, needed);
    assert!(!cells.is_empty());
}

#[test]
fn every_language_is_proved_by_the_papers_input() {
    for task in languages() {
        let (machine, certificate) = proved(task, ReservoirKind::Cycle, View::Reservoir);
        check(&certificate, &machine, &oracle(task), &()).unwrap();
        assert!(Certificate::from_json(&certificate.to_json()).unwrap() == certificate, "{task}");
    }
    for kind in [ReservoirKind::Random, ReservoirKind::Legendre] {
        let (machine, certificate) = proved(Task::Dyck2, kind, View::Reservoir);
        check(&certificate, &machine, &oracle(Task::Dyck2), &()).unwrap();
    }
}

#[test]
fn a_machine_that_was_saved_keeps_its_certificate() {
    let (machine, certificate) = proved(Task::Anbn, ReservoirKind::Cycle, View::Symbol);
    let mut again = Machine::from_bytes(&machine.to_bytes().unwrap()).unwrap();
    again.manifest_mut().set("note", "how it was made is not part of what it does");
    check(&certificate, &again, &oracle(Task::Anbn), &()).unwrap();
}

/// Returns the reason why a changed certificate is rejected.
fn refusal(certificate: &Value, machine: &Machine, oracle: &Oracle) -> String {
    let certificate = Certificate::from_json(&certificate.to_string()).unwrap();
    match check(&certificate, machine, oracle, &()) {
        Err(CertifyError::Refused(why)) => why,
        other => panic!("not refused: {other:?}"),
    }
}

/// Asserts that every single entry of a list is needed.
fn each_entry_counts(field: &str, certificate: &Value, machine: &Machine, oracle: &Oracle) {
    let count = certificate["machine"][field].as_array().unwrap().len();
    for at in 0..count {
        let mut forged = certificate.clone();
        forged["machine"][field].as_array_mut().unwrap().remove(at);
        refusal(&forged, machine, oracle);
    }
}

#[test]
fn forged_certificates_are_refused() {
    for (task, view) in [(Task::Anbn, View::Symbol), (Task::Dyck1, View::Reservoir)] {
        let (machine, certificate) = proved(task, ReservoirKind::Cycle, view);
        let oracle = oracle(task);
        let text = certificate.to_json();
        let value: Value = serde_json::from_str(&text).unwrap();
        check(&Certificate::from_json(&value.to_string()).unwrap(), &machine, &oracle, &()).unwrap();

        // Another machine, another automaton, another arithmetic.
        let (other, _) = proved(task, ReservoirKind::Random, view);
        assert_eq!(refusal(&value, &other, &oracle), "it is for another machine");
        let automaton = oracle.automaton();
        let rules = automaton.rules().iter().rev().cloned().collect();
        let turned = Automaton::new(automaton.alphabet().clone(), rules, automaton.accepting().to_vec()).unwrap();
        let turned = Oracle::strict(turned).unwrap();
        assert_eq!(refusal(&value, &machine, &turned), "it is for another automaton");
        let mut forged = value.clone();
        forged["machine"]["arithmetic"] = json!(2);
        assert_eq!(refusal(&forged, &machine, &oracle), "it is for another arithmetic");

        // A set of configurations that is not closed: any single entry is left out.
        for field in ["places", "heads", "unders", "elements"] {
            each_entry_counts(field, &value, &machine, &oracle);
        }
        // Symbols that do not exist, in every position of a control.
        for control in
            [json!([1, 0, 60_000]), json!([2, 0, 0, 1, 60_000]), json!([3, 0, 2]), json!([2, 0, 60_000, 1, 2])]
        {
            let mut forged = value.clone();
            let number = forged["machine"]["controls"].as_array().unwrap().len();
            forged["machine"]["controls"].as_array_mut().unwrap().push(control);
            forged["machine"]["heads"].as_array_mut().unwrap().push(json!([number, 0, 0]));
            assert_eq!(refusal(&forged, &machine, &oracle), "it names a symbol that the automaton does not have");
        }
        // Completions: the certificate is rejected if one is left out, moved or changed, unless it was not needed, and
        // it is rejected if there are none.
        let completions = value["machine"]["completions"].as_array().unwrap();
        let mut refused = 0;
        let judged = |forged: &Value| {
            let forged = Certificate::from_json(&forged.to_string()).unwrap();
            match check(&forged, &machine, &oracle, &()) {
                Ok(()) => 0,
                Err(CertifyError::Refused(why)) => {
                    assert!(why.contains("completion") || why.contains("beginning of a word"), "{why}");
                    1
                }
                other => panic!("{other:?}"),
            }
        };
        for at in 0..completions.len() {
            let mut less = value.clone();
            less["machine"]["completions"].as_array_mut().unwrap().remove(at);
            let mut turned = value.clone();
            turned["machine"]["completions"].as_array_mut().unwrap().swap(0, at);
            let mut changed = value.clone();
            changed["machine"]["completions"][at][2] = completions[completions.len() - 1 - at][2].clone();
            refused += judged(&less) + judged(&turned) + judged(&changed);
        }
        assert!(refused > completions.len(), "{task}: {refused} of {}", completions.len());
        let mut none = value.clone();
        none["machine"]["completions"] = json!([]);
        assert_eq!(refusal(&none, &machine, &oracle), "a stack is not shown to be the beginning of a word");
        let mut outside = value.clone();
        outside["machine"]["completions"][0][1] = json!(60_000);
        assert_eq!(refusal(&outside, &machine, &oracle), "a completion does not follow from those before it");
        // A certificate of the second version has the same content, and one of the first version has no completions: the
        // checker finds them.
        let mut first = value["machine"].clone();
        first["automaton"] = value["automaton"].clone();
        first["machine"] = first.as_object_mut().unwrap().remove("digest").unwrap();
        first["certificate"] = json!(2);
        assert_eq!(Certificate::from_json(&first.to_string()).unwrap(), certificate);
        first["certificate"] = json!(1);
        assert!(Certificate::from_json(&first.to_string()).is_err());
        first.as_object_mut().unwrap().remove("completions");
        let read = Certificate::from_json(&first.to_string()).unwrap();
        check(&read, &machine, &oracle, &()).unwrap();
        assert_eq!((read.size().completions, Certificate::from_json(&read.to_json()).unwrap()), (0, read.clone()));
        first["certificate"] = json!(2);
        assert!(Certificate::from_json(&first.to_string()).is_err());

        // A cell is missing, or one proved or split decision of a cell.
        each_entry_counts("cells", &value, &machine, &oracle);
        for (at, cell) in value["machine"]["cells"].as_array().unwrap().iter().enumerate() {
            for list in ["proved", "split"] {
                for step in 0..cell[list].as_array().map_or(0, Vec::len) {
                    let mut forged = value.clone();
                    forged["machine"]["cells"][at][list].as_array_mut().unwrap().remove(step);
                    refusal(&forged, &machine, &oracle);
                }
            }
        }
        // A false bound: a decision that is proved for a longer stack suffix is claimed for a shorter one.
        let mut claims = 0;
        let cells = value["machine"]["cells"].as_array().unwrap();
        for cell in cells.iter().filter(|cell| !cell["stack"].as_array().unwrap().is_empty()) {
            let stack = cell["stack"].as_array().unwrap();
            let shorter = if cell["whole"] == json!(true) { &stack[..] } else { &stack[..stack.len() - 1] };
            let parent = cells.iter().position(|cell| cell["stack"] == json!(shorter)).unwrap();
            for step in cell["proved"].as_array().unwrap_or(&vec![]) {
                let mut forged = value.clone();
                if forged["machine"]["cells"][parent]["proved"].is_null() {
                    forged["machine"]["cells"][parent]["proved"] = json!([]);
                }
                forged["machine"]["cells"][parent]["proved"].as_array_mut().unwrap().push(step.clone());
                let why = refusal(&forged, &machine, &oracle);
                claims += usize::from(why.contains("not certain") || why.contains("two right answers"));
            }
        }
        assert!(claims > 10, "{task}: only {claims} claims could be false");
    }
}

#[test]
fn what_is_no_certificate_is_an_error() {
    for text in ["", "{}", "[1]", r#"{"certificate": 1}"#] {
        assert!(Certificate::from_json(text).is_err(), "{text}");
    }
    let (_, certificate) = proved(Task::Anbn, ReservoirKind::Cycle, View::Symbol);
    let value: Value = serde_json::from_str(&certificate.to_json()).unwrap();
    for (field, bad) in [("certificate", json!(9)), ("machine", json!(null)), ("tables", json!({"digest": ""}))] {
        let mut damaged = value.clone();
        damaged[field] = bad;
        assert!(Certificate::from_json(&damaged.to_string()).is_err(), "{field}");
    }
    for (field, bad) in [
        ("more", json!(1)),
        ("heads", json!([[1_000_000, 0, 0]])),
        ("controls", json!([[7, 0]])),
        ("elements", json!([[0, 4_000_000_000_u32]])),
        ("cells", json!([{"stack": [0], "proved": [[0]]}])),
    ] {
        let mut damaged = value.clone();
        damaged["machine"][field] = bad;
        assert!(Certificate::from_json(&damaged.to_string()).is_err(), "{field}");
    }
}

/// Returns all automata that differ from this one in one rule: another pop, another push, another lookahead, or no
/// rule.
fn changed(automaton: &Automaton) -> Vec<Automaton> {
    let alphabet = automaton.alphabet();
    let mut all: Vec<Vec<Rule>> = Vec::new();
    let with = |at: usize, rule: Rule| {
        let mut rules = automaton.rules().to_vec();
        rules[at] = rule;
        rules
    };
    for (at, rule) in automaton.rules().iter().enumerate() {
        let mut less = automaton.rules().to_vec();
        less.remove(at);
        all.push(less);
        if rule.pop > 0 {
            all.push(with(at, Rule { pop: rule.pop - 1, ..rule.clone() }));
        }
        for push in alphabet.nonterminals().filter(|&push| push != rule.push) {
            all.push(with(at, Rule { push, ..rule.clone() }));
        }
        for lookahead in alphabet.lookaheads().filter(|&next| rule.lookahead != Some(next)) {
            all.push(with(at, Rule { lookahead: Some(lookahead), ..rule.clone() }));
        }
    }
    let make = |rules| Automaton::new(alphabet.clone(), rules, automaton.accepting().to_vec()).ok();
    all.into_iter().filter_map(make).collect()
}

#[test]
fn a_machine_taught_by_another_automaton_is_not_proved_and_a_word_shows_it() {
    let (mut tried, mut shown) = (0, 0);
    for task in [Task::Anbn, Task::Dyck1, Task::Palindrome] {
        let right = oracle(task);
        let prover = Prover::new(&right, View::Symbol, &()).unwrap();
        for wrong in changed(right.automaton()) {
            let Ok(teacher) = Oracle::strict(wrong) else { continue };
            let walks = Walks::new("changed", teacher.clone());
            let params =
                Params { view: View::Symbol, mode: Mode::Strict, ..Params::provable(ReservoirKind::Cycle, 64, 0) };
            let study = Study { words: 20, lengths: 0..=12, rounds: 6, ..Study::default() };
            // Some of these automata have no words at all, or loop.
            let Ok((machine, proof)) = study.prove(&walks, &params.check().unwrap(), &(), &mut |_| {}) else {
                continue;
            };
            let Proof::Proved(_) = proof else { continue };
            tried += 1;
            match prover.prove(&machine, &()).unwrap() {
                // The change makes no difference: both automata do the same on every word.
                Proof::Proved(certificate) => check(&certificate, &machine, &right, &()).unwrap(),
                Proof::Open { cells, .. } => {
                    let Some(found) = prover.difference(&machine, &cells, &()) else { continue };
                    shown += 1;
                    let verdicts = (machine.judge(&found.word), right.judge(&found.word));
                    assert_eq!(verdicts, (found.machine.clone(), found.automaton.clone()));
                    assert_ne!(found.machine, found.automaton);
                    assert_eq!(teacher.judge(&found.word), found.machine);
                }
            }
        }
    }
    assert!(tried >= 10 && shown >= 5, "{tried} were learned, {shown} differ by a word");
}

/// Returns the machine with one number of one tensor changed.
fn nudged(machine: &Machine, tensor: &str, place: usize, change: impl Fn(f64) -> f64) -> Machine {
    let bytes = machine.to_bytes().unwrap();
    let (_, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let tensors = file.tensors().into_iter().map(|(name, view)| {
        let mut data = view.data().to_vec();
        if name == tensor {
            let number = &mut data[8 * place..][..8];
            let value = change(f64::from_le_bytes(number.try_into().unwrap()));
            number.copy_from_slice(&value.to_le_bytes());
        }
        (name, (view.dtype(), view.shape().to_vec(), data))
    });
    let tensors: Vec<_> = tensors.collect();
    let views = tensors.iter().map(|(name, (dtype, shape, data))| {
        (name.clone(), safetensors::tensor::TensorView::new(*dtype, shape.clone(), data).unwrap())
    });
    let bytes = safetensors::serialize(views, metadata.metadata().clone()).unwrap();
    Machine::from_bytes(&bytes).unwrap()
}

/// Returns what the machine decides in each context of its training set.
fn decisions(machine: &Machine) -> Vec<echostack::machine::Choices> {
    let lessons = machine.lessons();
    let choose = |(lesson, _)| {
        let (input, stack) = lessons.states(&**machine.reservoir(), lesson);
        machine.choose(&input, &stack)
    };
    lessons.actions().map(choose).collect()
}

#[test]
fn a_machine_with_one_weight_nudged_until_a_context_flips_is_not_proved() {
    let (machine, certificate) = proved(Task::Dyck1, ReservoirKind::Cycle, View::Symbol);
    let oracle = oracle(Task::Dyck1);
    let prover = Prover::new(&oracle, View::Symbol, &()).unwrap();
    let before = decisions(&machine);
    for (tensor, place) in [("pop.weights", 0), ("push.weights", 3), ("pop.weights", 9), ("push.intercepts", 0)] {
        let mut step = 1e-6;
        let wrong = loop {
            let other = nudged(&machine, tensor, place, |value| value + step);
            if decisions(&other) != before {
                break other;
            }
            // Nothing flipped: the decisions are the same, but the machine is not.
            assert!(matches!(check(&certificate, &other, &oracle, &()), Err(CertifyError::Refused(_))));
            step *= 2.;
            assert!(step < 1e12, "{tensor} {place} flips nothing");
        };
        assert!(matches!(prover.prove(&wrong, &()).unwrap(), Proof::Open { .. }), "{tensor} {place} at {step}");
    }
}

/// A control that cancels a call after it was asked a given number of times.
struct Patience(AtomicUsize);

impl Control for Patience {
    fn cancelled(&self) -> bool {
        self.0.fetch_sub(1, Ordering::Relaxed) == 0
    }
}

#[test]
fn a_proof_is_cancelled_wherever_it_is() {
    let (machine, certificate) = proved(Task::Json, ReservoirKind::Cycle, View::Symbol);
    let automaton = Task::Json.automaton().unwrap();
    // The control is asked often enough in each part, and the call can be cancelled each time.
    let mut asked = 0;
    loop {
        asked += 1 + asked / 8;
        let patience = Patience(AtomicUsize::new(asked));
        let oracle = match Oracle::new(automaton.clone(), Mode::Strict, &patience) {
            Err(AutomatonError::Cancelled) => continue,
            made => made.unwrap(),
        };
        let prover = match Prover::new(&oracle, View::Symbol, &patience) {
            Err(AutomatonError::Cancelled) => continue,
            made => made.unwrap(),
        };
        match prover.prove(&machine, &patience) {
            Err(CertifyError::Cancelled) => {}
            proof => {
                assert!(matches!(proof.unwrap(), Proof::Proved(_)));
                assert!(asked > 500, "the control was asked only {asked} times");
                break;
            }
        }
    }
    let oracle = oracle(Task::Json);
    let refused = (0..200).filter(|&asked| {
        let checked = check(&certificate, &machine, &oracle, &Patience(AtomicUsize::new(asked)));
        matches!(checked, Err(CertifyError::Cancelled))
    });
    assert_eq!(refused.count(), 200);
}

#[test]
fn machines_that_cannot_be_compared_are_refused() {
    let (machine, certificate) = proved(Task::Dyck1, ReservoirKind::Cycle, View::Symbol);
    assert!(matches!(check(&certificate, &machine, &oracle(Task::Anbn), &()), Err(CertifyError::Alphabet)));
    let traces = Task::Dyck1.examples(echostack::tasks::Split::Train, 5, 0);
    let tolerant = Params::standard(ReservoirKind::Cycle, 32, 0).check().unwrap();
    let tolerant = tolerant.fit(&Task::Dyck1.alphabet(), &traces, &()).unwrap();
    assert!(matches!(check(&certificate, &tolerant, &oracle(Task::Dyck1), &()), Err(CertifyError::Tolerant)));
}

/// A reservoir that claims to be one of the library's but computes something else.
#[derive(Debug)]
struct Pretender(Arc<dyn Reservoir>);

impl Reservoir for Pretender {
    fn neurons(&self) -> usize {
        self.0.neurons()
    }

    fn channels(&self) -> usize {
        self.0.channels()
    }

    fn step(&self, simd: Simd, from: &[f64], drive: Drive<'_>, to: &mut [f64]) {
        self.0.step(simd, from, drive, to);
        to.iter_mut().for_each(|x| *x = -*x);
    }

    fn parts(&self) -> Option<ReservoirParts> {
        self.0.parts()
    }
}

#[test]
fn a_reservoir_that_is_not_what_its_parts_say_proves_nothing() {
    let params = Params { mode: Mode::Strict, ..Params::provable(ReservoirKind::Cycle, 64, 0) };
    let own = params.reservoir.build(Task::Anbn.alphabet().len()).unwrap();
    let reservoir = ReservoirParams::Given(Arc::new(Pretender(own)));
    let params = Params { reservoir, ..params }.check().unwrap();
    let traces = Task::Anbn.examples(echostack::tasks::Split::Train, 20, 0);
    let machine = params.fit(&Task::Anbn.alphabet(), &traces, &()).unwrap();
    let oracle = oracle(Task::Anbn);
    let prover = Prover::new(&oracle, machine.view(), &()).unwrap();
    assert!(matches!(prover.prove(&machine, &()), Err(CertifyError::Foreign)));
    assert!(matches!(extract(&machine, &()), Err(ExtractError::Certify(CertifyError::Foreign))));
    let language = Task::Anbn.language().unwrap();
    let study = Study::default().prove(&*language, &params, &(), &mut |_| {});
    assert!(matches!(study, Err(StudyError::Certify(CertifyError::Foreign))));
    let (_, certificate) = proved(Task::Anbn, ReservoirKind::Cycle, View::Symbol);
    assert!(matches!(check(&certificate, &machine, &oracle, &()), Err(CertifyError::Foreign)));
    // The machine in the file is a different one, which can be judged like any other.
    let read = Machine::from_bytes(&machine.to_bytes().unwrap()).unwrap();
    assert!(prover.prove(&read, &()).is_ok());
}

/// A control that cancels at once, so that only calls that are rejected immediately end with another error.
struct Impatient;

impl Control for Impatient {
    fn cancelled(&self) -> bool {
        true
    }
}

#[test]
fn numbers_beyond_the_error_analysis_are_refused() {
    let (machine, certificate) = proved(Task::Dyck1, ReservoirKind::Cycle, View::Symbol);
    let oracle = oracle(Task::Dyck1);
    let prover = Prover::new(&oracle, View::Symbol, &()).unwrap();
    let tensors =
        ["pop.weights", "push.intercepts", "centres.stack", "centres.input", "reservoir.input", "kernel0.gamma"];
    for tensor in tensors {
        for value in [1e15_f64, 1e300, -f64::MAX] {
            let other = nudged(&machine, tensor, 0, |_| if tensor.ends_with("gamma") { value.abs() } else { value });
            let result = prover.prove(&other, &Impatient);
            assert!(matches!(result, Err(CertifyError::Scale { .. })), "{tensor} {value}: {result:?}");
            assert!(check(&certificate, &other, &oracle, &()).is_err());
        }
        let largest = nudged(&machine, tensor, 0, |_| 2_f64.powi(48));
        let result = prover.prove(&largest, &Impatient);
        assert!(matches!(result, Err(CertifyError::Cancelled)), "{tensor}: {result:?}");
    }
}
