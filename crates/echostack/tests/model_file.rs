//! Tests of model files: the same machine is read back, and a damaged file causes nothing worse than an error.
#![cfg(feature = "machine")]

mod common;

use std::sync::Arc;

use common::{fit, trained};
use echostack::file::{FileError, FileLimits};
use echostack::machine::ActionReadout;
use echostack::recognize::{Event, Mode, View};
use echostack::reservoir::ReservoirKind;
use echostack::reservoir::{Drive, Reservoir, ReservoirParams, Simd};
use echostack::tasks::{Split, Task};
use echostack::{Limits, Machine, Manifest, Model, Oracle, Params, Recognizer, Table, Word};
use rand::{RngExt, SeedableRng};

/// Returns every margin, output and action on a word, as bits.
fn bits(machine: &Machine, word: &Word) -> Vec<u64> {
    let mut all = Vec::new();
    let mut watch = |_, event: Event<'_>| match event {
        Event::Decide { reduction, margin } => all.extend([u64::from(reduction.pop), margin.to_bits()]),
        Event::Shift { margin, .. } => all.push(margin.to_bits()),
        Event::Output { values } => all.extend(values.iter().map(|value| value.to_bits())),
    };
    machine.judge_with(word, Limits { actions: 64, ..Limits::default() }, &mut watch);
    all
}

#[test]
fn a_machine_comes_back_bit_by_bit() {
    for task in [Task::Json, Task::RepeatCopy] {
        for kind in ReservoirKind::ALL {
            for (view, actions) in [(View::Reservoir, ActionReadout::Separate), (View::Symbol, ActionReadout::Joint)] {
                let params = Params { view, actions, mode: Mode::Strict, ..task.params(kind, 64, 1) };
                let machine = fit(task, params, &task.examples(Split::Train, 20, 1));
                let bytes = machine.to_bytes().unwrap();
                let again = Machine::from_bytes(&bytes).unwrap();
                assert!(again.to_bytes().unwrap() == bytes, "{task} {kind:?}");
                assert_eq!(again.manifest(), machine.manifest());
                for trace in task.examples(Split::Test, 5, 1) {
                    assert!(bits(&again, trace.word()) == bits(&machine, trace.word()), "{task} {kind:?}");
                }
                for ((a, x), (b, y)) in machine.lessons().actions().zip(again.lessons().actions()) {
                    assert_eq!(x, y);
                    let states = |machine: &Machine, lesson| machine.lessons().states(&**machine.reservoir(), lesson);
                    assert_eq!(states(&machine, a), states(&again, b));
                }
            }
        }
    }
}

#[test]
fn files_are_replaced_whole_and_refusals_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.safetensors");
    let machine = trained(Task::Anbn, ReservoirKind::Cycle, 32, 0);
    std::fs::write(&path, "something else").unwrap();
    assert!(matches!(Machine::load(&path), Err(FileError::NotAModel(_))));
    machine.save(&path).unwrap();
    Machine::load(&path).unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(matches!(Machine::load(folder.path().join("none")), Err(FileError::Io { .. })));
    assert!(matches!(machine.save(folder.path().join("no/such/folder")), Err(FileError::Io { .. })));
    // Another version is distinguished from damage.
    let mut bytes = machine.to_bytes().unwrap();
    let key = br#"\"version\":"#;
    let at = bytes.windows(key.len()).position(|window| window == key).unwrap();
    bytes[at + key.len()] = b'9';
    let error = Machine::from_bytes(&bytes).unwrap_err();
    assert!(matches!(error, FileError::Version(9)), "{error}");
    // A safetensors file of another program.
    let other = safetensors::serialize(Vec::<(String, safetensors::tensor::TensorView<'_>)>::new(), None).unwrap();
    assert!(matches!(Machine::from_bytes(&other), Err(FileError::NotAModel(_))));
}

#[test]
fn each_limit_is_exact() {
    let machine = trained(Task::Dyck1, ReservoirKind::Cycle, 32, 0);
    let table = Table::new(&Oracle::strict(Task::Dyck1.automaton().unwrap()).unwrap(), Manifest::default()).unwrap();
    let files = [machine.to_bytes().unwrap(), table.to_bytes().unwrap()];
    let (inputs, stacks) = machine.centers();
    let sizes = [
        ("bytes", files[0].len(), 0),
        ("symbols", machine.alphabet().len(), 0),
        ("neurons", 32, 0),
        ("centers", inputs + stacks, 0),
        ("bytes", files[1].len(), 1),
        ("symbols", table.alphabet().len(), 1),
        ("states", table.states(), 1),
    ];
    for (name, size, file) in sizes {
        let size = size as u64;
        let read = |most: u64| {
            let mut limits = FileLimits::default();
            assert!(limits.set(name, most));
            Model::from_bytes_within(&files[file], &limits)
        };
        read(size).unwrap();
        let refused = read(size - 1).unwrap_err();
        assert!(
            matches!(refused, FileError::Limit { what, given, most } if (what, given, most) == (name, size, size - 1)),
            "{refused}"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.safetensors");
    machine.save(&path).unwrap();
    let limits = FileLimits { bytes: files[0].len() as u64 - 1, ..FileLimits::default() };
    assert!(matches!(Model::load_within(&path, &limits), Err(FileError::Limit { what: "bytes", .. })));
    let some: FileLimits = "neurons=12, states=3".parse().unwrap();
    assert_eq!((some.neurons, some.states, some.bytes), (12, 3, FileLimits::default().bytes));
    assert_eq!(some.to_string().parse(), Ok(some));
    for wrong in ["", "neurons", "neurons=-1", "teeth=32"] {
        assert!(wrong.parse::<FileLimits>().unwrap_err().contains("bytes, symbols, neurons, centers, states"));
    }
}

#[test]
fn replacing_follows_links_and_keeps_permissions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.safetensors");
    let machine = trained(Task::Anbn, ReservoirKind::Cycle, 32, 0);
    machine.save(&path).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("m.safetensors", &link).unwrap();
        machine.save(&link).unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(mode(&path), 0o640);
        // A device is written to, and not replaced.
        machine.save("/dev/null").unwrap();
        assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
    }
    assert!(Machine::load(&path).is_ok());
}

#[test]
fn damaged_files_do_no_harm() {
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(2);
    let mut survived = 0;
    for (task, kind) in [
        (Task::Anbn, ReservoirKind::Cycle),
        (Task::Json, ReservoirKind::Random),
        (Task::Dyck1, ReservoirKind::Legendre),
        (Task::Copy, ReservoirKind::Cycle),
    ] {
        let machine = fit(task, task.params(kind, 32, 0), &task.examples(Split::Train, 4, 0));
        let good = machine.to_bytes().unwrap();
        let header = 8 + u64::from_le_bytes(good[..8].try_into().unwrap()) as usize;
        let word = task.examples(Split::Test, 1, 0)[0].word().clone();
        for round in 0..3000 {
            let mut bytes = good.clone();
            // Damage alternates between the header and the numbers: bits, digits, other values, a shorter file.
            let range = if round % 2 == 0 { 0..header } else { header..good.len() };
            for _ in 0..random.random_range(1..4) {
                let at = random.random_range(range.clone());
                bytes[at] = match random.random_range(0..4) {
                    0 => bytes[at] ^ (1 << random.random_range(0..8)),
                    1 => b'0' + random.random_range(0..10),
                    2 => 0xff,
                    _ => random.random(),
                };
            }
            if random.random_bool(0.05) {
                bytes.truncate(random.random_range(0..good.len()));
            }
            if let Ok(machine) = Machine::from_bytes(&bytes) {
                survived += 1;
                bits(&machine, &word);
            }
        }
    }
    println!("{survived} of 12000 damaged files were still models");
    assert!(survived > 100);
}

#[test]
fn a_reservoir_without_parts_cannot_be_saved() {
    #[derive(Debug)]
    struct Own(Arc<dyn Reservoir>);
    impl Reservoir for Own {
        fn neurons(&self) -> usize {
            self.0.neurons()
        }
        fn channels(&self) -> usize {
            self.0.channels()
        }
        fn step(&self, simd: Simd, from: &[f64], drive: Drive<'_>, to: &mut [f64]) {
            self.0.step(simd, from, drive, to);
        }
    }
    let task = Task::Anbn;
    let params = task.params(ReservoirKind::Cycle, 64, 0);
    let own = Own(params.reservoir.build(task.alphabet().len()).unwrap());
    let params = Params { reservoir: ReservoirParams::Given(Arc::new(own)), ..params };
    let machine = fit(task, params, &task.examples(Split::Train, 20, 0));
    assert!(matches!(machine.to_bytes(), Err(FileError::Reservoir)));
}
