//! Tests of `echostack reproduce`: killed and resumed, split and merged.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

const SPECIFICATION: &str = r#"
    tasks = ["dyck1", "latch"]
    models = ["CRJ-RSM", "rand-ESN", "RMM"]
    draws = 4
    validation_sets = 2
    repeats = 4
    train_words = [50]
    [[tests]]
    name = "valid"
    words = 20
"#;

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_echostack"));
    command.args(["lab", "reproduce"]).args(arguments).args(["--quiet", "--output"]).arg(folder).stdout(Stdio::null());
    command
}

/// Returns the lines of a record, sorted, without the times, which differ from run to run.
fn results(record: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(record).unwrap();
    let mut lines: Vec<String> = text
        .lines()
        .map(|line| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            for time in ["seconds", "train_seconds", "test_seconds"] {
                line.as_object_mut().unwrap().remove(time);
            }
            line.to_string()
        })
        .collect();
    lines.sort();
    lines
}

#[test]
fn a_killed_run_goes_on_and_shards_are_joined() {
    let folder = tempfile::tempdir().unwrap();
    let spec = folder.path().join("spec.toml");
    std::fs::write(&spec, SPECIFICATION).unwrap();
    let spec = ["--spec", spec.to_str().unwrap()];
    let [whole, killed, parts, joined] = ["whole", "killed", "parts", "joined"].map(|name| folder.path().join(name));

    let start = Instant::now();
    assert!(command(&whole, &spec).status().unwrap().success());
    let time = start.elapsed();
    let wanted = results(&whole.join("record.jsonl"));
    // Two models on two tasks, and the third on one of them.
    assert_eq!(wanted.len(), 1 + 5 * 8);

    // Kill the run five times, at moments that differ from run to run of this test: each within the first sixth of the
    // time that a whole run takes.
    let mut moment = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().subsec_nanos();
    for _ in 0..5 {
        let mut child = command(&killed, &spec).spawn().unwrap();
        moment = moment.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        std::thread::sleep(Duration::from_millis(20) + time.mul_f64(f64::from(moment % 1000) / 6000.));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(command(&killed, &spec).status().unwrap().success());
    assert_eq!(results(&killed.join("record.jsonl")), wanted);

    for shard in ["1/2", "2/2"] {
        assert!(command(&parts, &[&spec[..], &["--shard", shard]].concat()).status().unwrap().success());
    }
    let records = ["record-1-of-2.jsonl", "record-2-of-2.jsonl"].map(|name| parts.join(name));
    let merge = ["--merge", records[0].to_str().unwrap(), records[1].to_str().unwrap()];
    assert!(command(&joined, &merge).status().unwrap().success());
    assert_eq!(results(&joined.join("record.jsonl")), wanted);
    for file in ["summary.md", "summary.csv", "tasks.svg", "states.png", "dynamics.svg", "recall.png"] {
        assert!(joined.join(file).metadata().unwrap().len() > 300, "{file}");
    }
    // The specification has fewer draws than the paper, so the paper's tables do not show the results.
    assert!(!joined.join("language-errors.md").exists());
    let summary = std::fs::read_to_string(joined.join("summary.md")).unwrap();
    assert!(summary.contains("(n = 4)") && !summary.contains("paper 0."), "{summary}");
    assert!(summary.contains("Not measured as in the paper, but with 4 instead of 20 draws"), "{summary}");
}

#[test]
fn mistakes_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |arguments: &[&str]| {
        let output = command(folder.path(), arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(refused(&["--models", "MLP"]).contains("there is no model \"MLP\""));
    assert!(refused(&["--tasks", "dyck9"]).contains("dyck9"));
    assert!(refused(&["--tasks", "grammar:nowhere"]).contains("nowhere"));
    assert!(refused(&["--shard", "3/2"]).contains("3/2"));
    assert!(refused(&["--models", "GRU,CRJ-RSM"]).contains("deep models are run separately"));
}
