//! Tests of our support vector machines against scikit-learn's SVC, on states of our reservoirs.
//!
//! The test needs Python with scikit-learn. `make parity` creates the environment and runs the test, and so does CI.
#![cfg(feature = "machine")]

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::fit;
use echostack::machine::{Choices, Readout};
use echostack::readout::{Lesson, Lessons, Svm};
use echostack::recognize::Reduction;
use echostack::reservoir::ReservoirKind;
use echostack::reservoir::{Cycle, Legendre, Random, ReservoirParams};
use echostack::tasks::Split;
use echostack::{Machine, Params, SymbolId};

/// Returns the class number in scikit-learn's order: no symbol first, then the symbols by index.
fn push_class(push: Option<SymbolId>) -> i64 {
    push.map_or(0, |symbol| symbol.index() as i64 + 1)
}

fn labels(lessons: &Lessons, readout: Readout) -> Vec<(Lesson, i64)> {
    let action = |f: fn(Reduction) -> i64| lessons.actions().map(|(lesson, action)| (lesson, f(action))).collect();
    match readout {
        Readout::Pop => action(|action| i64::from(action.pop)),
        Readout::Push => action(|action| push_class(action.push)),
        Readout::Shift => lessons.shifts().map(|(lesson, shift)| (lesson, i64::from(shift))).collect(),
        Readout::Output => lessons.outputs().map(|(lesson, values)| (lesson, values[0] as i64)).collect(),
    }
}

fn chosen(choices: &Choices, readout: Readout) -> i64 {
    match readout {
        Readout::Pop => i64::from(choices.reduction.pop),
        Readout::Push => push_class(choices.reduction.push),
        Readout::Shift => i64::from(choices.shift),
        Readout::Output => choices.output[0] as i64,
    }
}

fn write_f64(path: &Path, values: &[f64]) {
    fs::write(path, values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>()).unwrap();
}

fn write_i64(path: &Path, values: &[i64]) {
    fs::write(path, values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>()).unwrap();
}

/// Returns reservoirs that forget slowly. With reservoirs that forget fast (those of the tasks), many rows differ by
/// less than the single precision in which LIBSVM stores its kernel, and it is a matter of chance which of them becomes
/// a support vector. For these reservoirs we compare decision values and predictions, but not the number of support
/// vectors.
fn long_memory(kind: ReservoirKind) -> ReservoirParams {
    match kind {
        ReservoirKind::Random => ReservoirParams::Random(Random { radius: 0.9, ..Random::default() }),
        ReservoirKind::Cycle => ReservoirParams::Cycle(Cycle { cycle: 0.7, jump: 0.4, ..Cycle::default() }),
        ReservoirKind::Legendre => ReservoirParams::Legendre(Legendre { theta: 25., ..Legendre::default() }),
    }
}

/// Writes one classifier's training rows, and our decision values and classes on unseen states.
fn export(folder: &Path, name: &str, machine: &Machine, unseen: &Lessons, readout: Readout) {
    let rows = labels(machine.lessons(), readout);
    let file = |suffix: &str| folder.join(format!("{name}.{suffix}"));
    let join = |(h, g): (Vec<f64>, Vec<f64>)| [h, g].concat();
    let reservoir = machine.reservoir();
    let x: Vec<f64> =
        rows.iter().flat_map(|(lesson, _)| join(machine.lessons().states(&**reservoir, *lesson))).collect();
    write_f64(&file("x"), &x);
    write_i64(&file("y"), &rows.iter().map(|(_, label)| *label).collect::<Vec<_>>());
    let (mut states, mut values, mut classes) = (Vec::new(), Vec::new(), Vec::new());
    for (lesson, _) in unseen.actions() {
        let (h, g) = unseen.states(&**reservoir, lesson);

        values.extend(machine.decision_values(readout, &h, &g));
        classes.push(chosen(&machine.choose(&h, &g), readout));
        states.extend(join((h, g)));
    }
    write_f64(&file("states"), &states);
    write_f64(&file("values"), &values);
    write_i64(&file("classes"), &classes);
    let columns = 2 * machine.reservoir().neurons();
    fs::write(file("size"), format!("{columns} {}", machine.support(readout))).unwrap();
}

#[test]
#[ignore = "needs Python with scikit-learn: make parity"]
fn decision_values_predictions_and_support_vectors_agree() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = std::env::temp_dir().join(format!("echostack-parity-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    for task in common::languages() {
        for kind in ReservoirKind::ALL {
            for (memory, reservoir) in [("long", long_memory(kind)), ("short", task.params(kind, 256, 0).reservoir)] {
                // Both solvers continue to a tolerance far below the difference that the test allows.
                let svm = Svm { cost: 100., gamma: 1., tolerance: 1e-6 };
                let params = Params { svm, reservoir, ..Params::default() };
                let machine = fit(task, params.clone(), &task.examples(Split::Train, 60, 0));
                let reservoir = machine.reservoir().clone();
                let test = task.examples(Split::Test, 10, 0);
                let unseen = params.check().unwrap().collect(&*reservoir, &task.alphabet(), &test, &()).unwrap();
                for readout in [Readout::Pop, Readout::Push, Readout::Output] {
                    export(&folder, &format!("{task}-{kind:?}-{memory}-{readout:?}"), &machine, &unseen, readout);
                }
            }
        }
    }
    let output = Command::new(root.join(".venv/bin/python"))
        .arg(root.join("tools/sklearn_parity.py"))
        .arg(&folder)
        .output()
        .expect("run tools/python-env numpy scikit-learn first");
    fs::remove_dir_all(&folder).unwrap();
    print!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success());
}
