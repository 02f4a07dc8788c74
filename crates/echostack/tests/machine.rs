//! Tests of machines beyond the paper's experiment: strict verdicts, both views, limits, cancellation, unusual inputs.
#![cfg(feature = "machine")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{Order, error, fit, languages, slow_outputs};
use echostack::control::Stage;
use echostack::machine::{ActionReadout, FitError};
use echostack::recognize::{Limit, Mode, Outputs, Reduction, Run, Stack, Status, View, outputs, watch_all};
use echostack::reservoir::ReservoirKind;
use echostack::symbol::Input;
use echostack::tasks::{Split, Task};
use echostack::teach::{Step, record};
use echostack::{
    Alphabet, Control, Limits, Machine, Oracle, Params, Recognizer, Session, SymbolId, Trace, Verdict, Word,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn strict_oracle(task: Task) -> Oracle {
    Oracle::strict(task.automaton().unwrap()).unwrap()
}

/// Returns valid words, and words that are one edit away from a valid one.
fn damaged_and_whole(task: Task, count: usize, seed: u64) -> Vec<Word> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let letters = task.alphabet().terminals().len();
    let mut words = Vec::new();
    while words.len() < count {
        let Some(Word::Symbols(mut word)) = task.language().unwrap().word(&mut random, 1..=40) else { unreachable!() };
        words.push(Word::Symbols(word.clone()));
        let at = random.random_range(0..word.len());
        let symbol = SymbolId::new(random.random_range(0..letters));
        match random.random_range(0..3) {
            0 => word[at] = symbol,
            1 => word.insert(at, symbol),
            _ => _ = word.remove(at),
        }
        words.push(Word::Symbols(word));
    }
    words
}

fn strict_machine(task: Task, view: View, actions: ActionReadout) -> Machine {
    let oracle = strict_oracle(task);
    let words = damaged_and_whole(task, 300, 0);
    let traces: Vec<Trace> =
        words.iter().filter_map(|word| record(&oracle, "taught", word, Limits::default()).0).collect();
    let params = task.params(ReservoirKind::Cycle, 256, 0);
    fit(task, Params { mode: Mode::Strict, view, actions, ..params }, &traces)
}

#[test]
fn a_strict_machine_says_where_and_what_was_expected() {
    for (view, actions) in [(View::Symbol, ActionReadout::Separate), (View::Reservoir, ActionReadout::Joint)] {
        for task in [Task::Dyck1, Task::Anbn] {
            let (oracle, machine) = (strict_oracle(task), strict_machine(task, view, actions));
            let mut verdicts = [0; 3];
            for word in damaged_and_whole(task, 400, 1) {
                let wanted = oracle.judge(&word);
                let given = machine.judge(&word);
                assert_eq!(given, wanted, "{task} {view:?} {word:?}");
                verdicts[match given {
                    Verdict::Accept => 0,
                    Verdict::Incomplete { .. } => 1,
                    _ => 2,
                }] += 1;
            }
            assert!(verdicts.iter().all(|&count| count > 10), "{verdicts:?}");
        }
    }
}

#[test]
fn a_session_can_be_forked() {
    let machine = strict_machine(Task::Anbn, View::Symbol, ActionReadout::Separate);
    let [a, b] = [0, 1].map(SymbolId::new);
    let mut one = machine.start(Limits::default());
    for _ in 0..300 {
        assert_eq!(one.feed(Input::Symbol(a), &mut ()), Status::Open);
    }
    let mut other = one.clone();
    for session in [&mut one, &mut other] {
        for _ in 0..300 {
            assert_eq!(session.feed(Input::Symbol(b), &mut ()), Status::Open);
        }
    }
    assert_eq!(other.feed(Input::Symbol(b), &mut ()), Status::Refused);
    assert_eq!(other.feed(Input::Symbol(a), &mut ()), Status::Refused);
    assert!(one.finish(&mut ()).is_accept());
    assert!(matches!(other.finish(&mut ()), Verdict::Reject { position: 600, .. }));
}

#[test]
fn both_views_and_both_kinds_of_action_readout_learn() {
    for task in languages() {
        let train = task.examples(Split::Train, 100, 0);
        let test = task.examples(Split::Test, 30, 0);
        for (view, actions) in [
            (View::Symbol, ActionReadout::Separate),
            (View::Symbol, ActionReadout::Joint),
            (View::Reservoir, ActionReadout::Joint),
        ] {
            let params = Params { view, actions, ..task.params(ReservoirKind::Cycle, 256, 0) };
            assert_eq!(error(&fit(task, params, &train), &test), 0., "{task} {view:?} {actions:?}");
        }
    }
}

#[test]
fn the_fast_machine_is_the_slow_one() {
    // With few neurons and few words, machines are often wrong, so that unusual paths are compared as well.
    let mut stopped = 0;
    for task in Task::ALL {
        for (kind, view) in [
            (ReservoirKind::Cycle, View::Reservoir),
            (ReservoirKind::Random, View::Symbol),
            (ReservoirKind::Legendre, View::Reservoir),
        ] {
            let params = Params { view, ..task.params(kind, 40, 0) };
            let machine = fit(task, params, &task.examples(Split::Train, 6, 0));
            for trace in task.examples(Split::Test, 6, 0) {
                let (fast, verdict) = outputs(&machine, trace.word(), Limits::default());
                let slow = slow_outputs(&machine, trace.word(), Order::Same);
                match verdict {
                    Verdict::Stopped { limit: Limit::Actions, .. } => stopped += 1,
                    _ => assert_eq!(fast, slow, "{task} {kind:?}"),
                }
            }
        }
    }
    // Machines this small do loop, so the limit on actions was reached.
    assert!(stopped > 0);
}

/// A stack that always makes the same decision, as a badly trained machine may do.
#[derive(Clone)]
struct Stubborn {
    alphabet: Arc<Alphabet>,
    reduction: Reduction,
    depth: usize,
    marked: usize,
}

impl Stack for Stubborn {
    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }
    fn mode(&self) -> Mode {
        Mode::Strict
    }
    fn admits(&self, _: Input<'_>) -> bool {
        true
    }
    fn look(&mut self, _: Option<Input<'_>>, _: bool) {
        self.marked = self.depth;
    }
    fn decide(&mut self) -> (Reduction, f64) {
        (self.reduction, 1.)
    }
    fn depth(&self) -> usize {
        self.depth
    }
    fn reduce(&mut self, reduction: Reduction) {
        self.depth = self.depth - reduction.pop as usize + usize::from(reduction.push.is_some());
    }
    fn output(&mut self) -> (&[f64], bool) {
        (&[1.], true)
    }
    fn shifts(&mut self) -> (bool, f64) {
        (true, 1.)
    }
    fn shift(&mut self) {
        self.depth += 1;
    }
    fn rewind(&mut self) {
        self.depth = self.marked;
    }
}

#[test]
fn endless_pushes_and_pops_from_nothing_are_stopped() {
    let alphabet = Arc::new(Alphabet::new(["a"], ["S"]).unwrap());
    let s = SymbolId::new(1);
    let verdict = |pop, push, depth, limits| {
        let engine = Stubborn { alphabet: alphabet.clone(), reduction: Reduction { pop, push }, depth, marked: 0 };
        let mut run = Run::new(engine, limits);
        let status = run.feed(Input::Symbol(SymbolId::new(0)), &mut ());
        let verdict = run.clone().finish(&mut ());
        assert_eq!(status == Status::Stopped, matches!(verdict, Verdict::Stopped { .. }));
        // The actions on the token are undone.
        assert_eq!(run.stack().depth, if status == Status::Open { depth + 1 } else { depth });
        verdict
    };
    let stopped = |limit| Verdict::Stopped { position: 0, limit };
    let few = Limits { depth: 10, actions: 100, actions_per_symbol: 0 };
    assert_eq!(verdict(0, Some(s), 0, Limits::default()), stopped(Limit::Actions));
    assert_eq!(verdict(0, Some(s), 0, few), stopped(Limit::Depth));
    assert_eq!(verdict(1, Some(s), 3, few), stopped(Limit::Actions));
    assert_eq!(verdict(2, None, 7, few), stopped(Limit::Underflow));
    assert_eq!(verdict(9, None, 8, Limits::default()), stopped(Limit::Underflow));
    assert_eq!(verdict(0, None, 10, few), stopped(Limit::Depth));
    assert_eq!(verdict(0, None, 5, few), Verdict::Accept);
    // The number of allowed actions grows with the depth, so that it is enough for a flat array of any length.
    let per_symbol = Limits { depth: 1000, actions: 2, actions_per_symbol: 1 };
    assert_eq!(verdict(1, None, 500, per_symbol), stopped(Limit::Underflow));
    assert_eq!(verdict(1, None, 500, Limits { actions_per_symbol: 0, ..per_symbol }), stopped(Limit::Actions));
}

#[test]
fn inputs_outside_the_alphabet_are_refused_at_their_position() {
    let machine = common::trained(Task::Dyck1, ReservoirKind::Cycle, 64, 0);
    for bad in [Input::Symbol(SymbolId::new(2)), Input::Symbol(SymbolId::new(77)), Input::Vector(&[1.; 3])] {
        let mut session = machine.start(Limits::default());
        assert_eq!(session.feed(Input::Symbol(SymbolId::new(0)), &mut ()), Status::Open);
        assert_eq!(session.feed(bad, &mut ()), Status::Refused);
        assert_eq!(session.finish(&mut ()), Verdict::Reject { position: 1, expected: vec![] });
    }
    let mut session = machine.start(Limits::default());
    assert_eq!(session.feed(Input::Vector(&[f64::NAN, 0.]), &mut ()), Status::Refused);
    // A symbol and its one-hot vector are the same input.
    let word = Task::Dyck1.alphabet().word(["(", "(", ")", ")"]).unwrap();
    let Word::Symbols(symbols) = &word else { unreachable!() };
    let values = symbols.iter().flat_map(|symbol| [f64::from(symbol.index() == 0), f64::from(symbol.index() == 1)]);
    let vectors = Word::Vectors { width: 2, values: values.collect() };
    assert_eq!(outputs(&machine, &word, Limits::default()), outputs(&machine, &vectors, Limits::default()));
}

struct StopAfter(AtomicUsize, usize);

impl Control for StopAfter {
    fn progress(&self, stage: Stage, done: usize, total: usize) {
        assert!(done <= total && total > 0, "{stage:?}");
        self.0.fetch_add(1, Ordering::Relaxed);
    }
    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= self.1
    }
}

#[test]
fn training_reports_progress_and_can_be_cancelled() {
    let task = Task::Json;
    let train = task.examples(Split::Train, 20, 0);
    let params = task.params(ReservoirKind::Cycle, 64, 0).check().unwrap();
    let watching = StopAfter(AtomicUsize::new(0), usize::MAX);
    params.fit(&task.alphabet(), &train, &watching).unwrap();
    let steps = watching.0.into_inner();
    assert!(steps > 20, "{steps} reports");
    for after in [0, 5, 20, 22] {
        let control = StopAfter(AtomicUsize::new(0), after);
        let error = params.fit(&task.alphabet(), &train, &control).unwrap_err();
        assert_eq!(error, FitError::Cancelled, "after {after}");
    }
}

#[test]
fn faulty_training_data_is_an_error() {
    let task = Task::Anbn;
    let fit =
        |traces: &[Trace], params: Params| params.check().unwrap().fit(&task.alphabet(), traces, &()).unwrap_err();
    assert_eq!(fit(&[], Params::default()), FitError::NoTraces);
    let foreign = Task::Json.examples(Split::Train, 1, 0);
    assert!(matches!(fit(&foreign, Params::default()), FitError::Misfit { .. }));
    let train = task.examples(Split::Train, 20, 0);
    let error = fit(&train, Params { max_rows: 50, ..Params::default() });
    assert_eq!(
        error.to_string(),
        "the traces have more than 50 distinct rows; give fewer or shorter words, or raise max_rows"
    );
}

#[test]
fn a_word_of_nothing_can_be_taught() {
    let alphabet = Arc::new(Alphabet::new(["a"], ["S"]).unwrap());
    let steps = vec![Step { reductions: vec![], output: vec![1.], shift: false }];
    let trace = Trace::new(&alphabet, "nothing", Word::Symbols(vec![]), steps).unwrap();
    let machine = Params::default().check().unwrap().fit(&alphabet, &[trace], &()).unwrap();
    assert!(machine.judge(&Word::Symbols(vec![])).is_accept());
}

#[test]
fn words_judged_together_are_judged_as_each_alone() {
    let mut verdicts = [0; 4];
    for task in [Task::Json, Task::Dyck2] {
        // The tolerant machine has few neurons, so that it is often wrong and sometimes stopped.
        let tolerant = fit(task, task.params(ReservoirKind::Random, 40, 0), &task.examples(Split::Train, 6, 0));
        let strict = strict_machine(task, View::Reservoir, ActionReadout::Separate);
        let mut words = damaged_and_whole(task, 60, 5);
        words.push(Word::Symbols(vec![]));
        words.push(Word::Symbols(vec![SymbolId::new(0), SymbolId::new(99), SymbolId::new(1)]));
        words.push(Word::Symbols(vec![SymbolId::new(99)]));
        for machine in [&tolerant, &strict] {
            let limits = Limits { actions: 20, ..Limits::default() };
            let mut together = vec![Outputs::default(); words.len()];
            let given: Vec<Verdict> = watch_all(machine, &words.iter().collect::<Vec<_>>(), &mut together, limits);
            for ((word, given), together) in words.iter().zip(given).zip(together) {
                assert_eq!((together.0, given.clone()), outputs(machine, word, limits), "{word:?}");
                verdicts[match given {
                    Verdict::Accept => 0,
                    Verdict::Incomplete { .. } => 1,
                    Verdict::Reject { .. } => 2,
                    Verdict::Stopped { .. } => 3,
                }] += 1;
            }
        }
    }
    assert!(verdicts.iter().all(|&count| count > 0), "{verdicts:?}");
}
