//! Tests of training that hold for every architecture.

use std::sync::Mutex;

use echostack::control::Stage;
use echostack::tasks::{Split, Task};
use echostack::{Control, SymbolId, Word};
use echostack_deep::{Architecture, DeepError, Hyperparameters, Trained, train};

/// Returns the mean absolute error on the training words.
fn error(trained: &Trained, traces: &[echostack::Trace]) -> f64 {
    let words: Vec<&Word> = traces.iter().map(echostack::Trace::word).collect();
    let errors = trained.outputs(&words).into_iter().zip(traces).map(|(outputs, trace)| {
        let expected: Vec<f64> = trace.steps().iter().flat_map(|step| step.output.clone()).collect();
        assert_eq!(outputs.len(), expected.len());
        let errors = outputs.iter().zip(&expected).map(|(output, expected)| (output - expected).abs());
        errors.map(|error| if error.is_nan() { 1. } else { error }).sum::<f64>() / expected.len() as f64
    });
    errors.sum::<f64>() / traces.len() as f64
}

#[test]
fn the_same_seed_gives_the_same_network() {
    let traces = Task::Copy.examples(Split::Train, 5, 0);
    for architecture in Architecture::ALL {
        let outputs = |seed| {
            let settings = Hyperparameters { units: 8, epochs: 40, seed, ..Hyperparameters::default() };
            let trained = train(architecture, &Task::Copy.alphabet(), &traces, &settings, &()).unwrap();
            let outputs = trained.outputs(&[traces[0].word(), traces[1].word()]);
            outputs.concat().into_iter().map(f64::to_bits).collect::<Vec<_>>()
        };
        assert_eq!(outputs(3), outputs(3), "{architecture}");
        assert_ne!(outputs(3), outputs(4), "{architecture}");
    }
}

#[test]
fn networks_learn() {
    let traces = Task::Dyck1.examples(Split::Train, 20, 0);
    for architecture in Architecture::ALL {
        let after = |epochs| {
            let settings = Hyperparameters { units: 32, epochs, learning_rate: 1e-2, ..Hyperparameters::default() };
            error(&train(architecture, &Task::Dyck1.alphabet(), &traces, &settings, &()).unwrap(), &traces)
        };
        let (before, after) = (after(0), after(400));
        assert!(after < before / 4., "{architecture}: the error is {after}, and was {before} before training");
    }
}

#[test]
fn an_input_outside_the_alphabet_has_no_output() {
    let traces = Task::Latch.examples(Split::Train, 2, 0);
    let settings = Hyperparameters { units: 2, epochs: 1, ..Hyperparameters::default() };
    let trained = train(Architecture::Gru, &Task::Latch.alphabet(), &traces, &settings, &()).unwrap();
    let outputs = trained.outputs(&[&Word::Symbols(vec![SymbolId::UNKNOWN]), &Word::Symbols(vec![])]);
    assert!(outputs[0].len() == 2 && outputs[0].iter().all(|output| output.is_nan()));
    assert_eq!(outputs[1].len(), 1);
}

struct Stopwatch(Mutex<Vec<usize>>);

impl Control for Stopwatch {
    fn progress(&self, stage: Stage, done: usize, total: usize) {
        assert_eq!((stage, total), (Stage::Train, 10));
        self.0.lock().unwrap().push(done);
    }

    fn cancelled(&self) -> bool {
        self.0.lock().unwrap().len() == 3
    }
}

#[test]
fn training_reports_and_can_be_refused() {
    let traces = Task::Latch.examples(Split::Train, 2, 0);
    let settings = Hyperparameters { units: 2, epochs: 10, ..Hyperparameters::default() };
    let attempt = |traces: &[_], settings: &Hyperparameters, control: &dyn Control| {
        train(Architecture::Gru, &Task::Latch.alphabet(), traces, settings, control).unwrap_err()
    };
    let watch = Stopwatch(Mutex::default());
    assert_eq!(attempt(&traces, &settings, &watch), DeepError::Cancelled);
    assert_eq!(*watch.0.lock().unwrap(), [1, 2, 3]);
    assert_eq!(attempt(&[], &settings, &()), DeepError::NoTraces);
    assert_eq!(attempt(&[traces[0].clone().teaching(0..0)], &settings, &()), DeepError::NoTraces);
    let foreign = Task::Copy.examples(Split::Train, 1, 0);
    assert!(matches!(attempt(&foreign, &settings, &()), DeepError::Misfit { needed: 8, .. }));
    let none = Hyperparameters { units: 0, ..settings.clone() };
    assert_eq!(attempt(&traces, &none, &()).to_string(), "units is 0, but must be from 1 to 4096");
    let wild = Hyperparameters { learning_rate: f64::NAN, ..settings };
    assert!(matches!(attempt(&traces, &wild, &()), DeepError::Range { name: "learning_rate", .. }));
}
