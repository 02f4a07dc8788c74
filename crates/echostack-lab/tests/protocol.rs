//! Tests that a run gives the same results if it is stopped and resumed, split and merged, or run on one thread.

use std::path::Path;

use echostack_lab::{Estimator, Experiment, Line, RecordFile, Shard, Specification, merge, models, record};

const WHOLE: Shard = Shard { number: 1, of: 1 };

fn small() -> Specification {
    Specification::from_toml(
        r#"
        tasks = ["dyck1", "latch", "repeat-copy"]
        models = ["CRJ-RSM", "LDN-ESN", "RMM"]
        draws = 2
        validation_sets = 1
        repeats = 2
        train_words = [10, 20]
        negatives = 0.5
        [[tests]]
        name = "valid"
        words = 5
        [[tests]]
        name = "wrong"
        kind = "near-miss"
        lengths = [10, 20]
        words = 5
        "#,
    )
    .unwrap()
}

fn sorted(lines: &[Line]) -> Vec<String> {
    let mut all: Vec<String> =
        lines.iter().map(|line| serde_json::to_string(&line.clone().without_times()).unwrap()).collect();
    all.sort();
    all
}

fn run(path: &Path, specification: &Specification, shard: Shard) -> Vec<Line> {
    let models: Vec<Box<dyn Estimator>> = models::all();
    let mut file = RecordFile::open(path, specification).unwrap();
    Experiment::new(specification, &models, shard).unwrap().run(&mut file, &()).unwrap();
    file.lines().to_vec()
}

#[test]
fn shards_threads_and_stops_do_not_change_a_result() {
    let folder = tempfile::tempdir().unwrap();
    let specification = small();
    let whole = run(&folder.path().join("whole"), &specification, WHOLE);
    // Six experiments with the stack machine, six with the echo state network, four with the memory machine.
    assert_eq!(whole.len(), 1 + 16 * 4);
    let failed = |line: &&Line| match line {
        Line::Specification { .. } => false,
        Line::Draw(draw) => draw.failed.is_some() || draw.errors.len() != 1,
        Line::Repeat(repeat) => {
            // Copy tasks have no wrong words.
            let tests = if repeat.unit.task == "repeat-copy" { 1 } else { 2 };
            repeat.failed.is_some() || repeat.errors.len() != tests
        }
    };
    assert_eq!(whole.iter().find(failed), None);

    let parts = [1, 2, 3].map(|number| folder.path().join(format!("part{number}")));
    for (number, part) in (1..).zip(&parts) {
        run(part, &specification, Shard { number, of: 3 });
    }
    assert_eq!(sorted(&merge(&parts).unwrap()), sorted(&whole));

    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let alone = one.install(|| run(&folder.path().join("alone"), &specification, WHOLE));
    assert_eq!(sorted(&alone), sorted(&whole));

    // A record that ends in the middle of a line.
    let text = std::fs::read_to_string(folder.path().join("alone")).unwrap();
    for cut in [0, 40, text.len() / 3, text.len() / 2 + 7, text.len() - 1] {
        let path = folder.path().join("cut");
        std::fs::write(&path, &text[..cut]).unwrap();
        assert_eq!(sorted(&run(&path, &specification, WHOLE)), sorted(&whole));
        assert_eq!(sorted(&record::read(&path).unwrap()), sorted(&whole));
    }
}

#[test]
fn mistakes_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record");
    let specification = small();
    RecordFile::open(&path, &specification).unwrap();
    let other = Specification { seed: 1, ..specification.clone() };
    assert!(RecordFile::open(&path, &other).unwrap_err().to_string().contains("another specification"));
    std::fs::write(&path, "nonsense\n").unwrap();
    assert!(RecordFile::open(&path, &specification).unwrap_err().to_string().contains("line 1"));
    let refused = |text: &str| Specification::from_toml(text).unwrap_err().to_string();
    assert!(refused("repeats = 0").contains("repeats is 0"));
    assert!(refused("repeat = 1").contains("unknown field `repeat`"));
    assert!(refused("tasks = [\"dyck9\"]").contains("dyck9"));
    assert!(refused("negatives = 2.0").contains("from 0 to 1"));
    assert!(refused("tests = []").contains("at least 1"));
    let unknown = Specification { models: vec!["MLP".into()], ..specification };
    let error = Experiment::new(&unknown, &models::all(), WHOLE).err().unwrap().to_string();
    assert!(error.contains("\"MLP\"") && error.contains("LDN-RSM"));
    assert!("0/3".parse::<Shard>().is_err() && "4/3".parse::<Shard>().is_err() && "2/3".parse::<Shard>().is_ok());
}
