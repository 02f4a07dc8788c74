//! Tests of traces as a teacher: learned, proved, evaluated on other traces, and with a lexer.

mod common;

use std::path::Path;
use std::process::Command;

use common::{echostack, good, json, text, told};

/// Writes the traces of the log format of docs/traces, and returns the path of the file.
fn log(folder: &Path, count: usize, seed: u64) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/traces/log_traces.py");
    let output = Command::new("python3").args([script, &count.to_string(), &seed.to_string()]).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let path = folder.join(format!("log-{count}-{seed}.jsonl"));
    std::fs::write(&path, output.stdout).unwrap();
    path.display().to_string()
}

#[test]
fn what_is_learned_from_traces_is_proved_and_agrees_with_held_out_traces() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let [model, certificate, rules] = ["m", "c", "rules.json"].map(path);
    let (traces, held_out) = (log(folder.path(), 200, 1), log(folder.path(), 500, 2));
    let learn = ["learn", "--traces", &traces, "--certificate", &certificate, "-o", &model];
    let (code, message) = told(&learn);
    assert_eq!(code, 0, "{message}");
    assert!(message.contains("the machine follows 6 rules on every word"), "{message}");
    assert!(message.contains("the rules agree with every step of the 200 traces"), "{message}");
    let summary = json(&[&learn[..], &["--json"]].concat());
    assert_eq!((&summary["proved"], &summary["rules"], &summary["agreeing"]), (&true.into(), &6.into(), &200.into()));
    good(&["extract", &model, "--format", "json", "-o", &rules, "--quiet"]);
    good(&["certify", &model, "--against", &rules, "--check", &certificate]);

    for model in [&model, &{
        let table = path("table");
        good(&["compile", model.as_str(), "-o", &table]);
        table
    }] {
        let measured = json(&["evaluate", model, "--traces", &held_out, "--json"]);
        assert_eq!(
            (&measured["words"], &measured["wrong"], &measured["departing"]),
            (&500.into(), &0.into(), &0.into())
        );
    }
}

#[test]
fn the_first_action_that_differs_from_a_trace_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("m").display().to_string();
    let (few, held_out) = (log(folder.path(), 20, 1), log(folder.path(), 200, 2));
    good(&["learn", "--traces", &few, "-o", &model, "--quiet"]);
    let measured = json(&["evaluate", &model, "--traces", &held_out, "--show-wrong", "3", "--json"]);
    assert!(measured["wrong"].as_u64().unwrap() > 3, "{measured}");
    assert!(measured["departing"].as_u64() >= measured["wrong"].as_u64(), "{measured}");
    let shown = measured["departures"].as_array().unwrap();
    assert_eq!(shown.len(), 3);
    for departure in shown {
        assert!(departure["source"].as_str().unwrap().starts_with("log "));
        assert_ne!(departure["wanted"], departure["given"]);
    }
    let lines = good(&["evaluate", &model, "--traces", &held_out, "--show-wrong", "1"]);
    let first = &shown[0];
    let line = format!(
        "  {}, step {}: {} instead of {}\n",
        first["source"].as_str().unwrap(),
        first["step"],
        first["given"].as_str().unwrap(),
        first["wanted"].as_str().unwrap()
    );
    assert!(lines.ends_with(&line) && lines.lines().count() == 3, "{lines}{line}");
}

#[test]
fn a_machine_without_exact_rules_is_saved_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("m").display().to_string();
    let few = log(folder.path(), 20, 1);
    let (code, message) = told(&["learn", "--traces", &few, "--prove", "-o", &model]);
    assert_eq!(code, 1, "{message}");
    assert!(message.contains("echostack: not proved: ") && message.contains("more traces may settle it"), "{message}");
    assert!(Path::new(&model).exists());
}

#[test]
fn traces_that_nothing_can_be_proved_from_are_refused_in_their_own_terms() {
    let folder = tempfile::tempdir().unwrap();
    let [traces, model] = ["t.jsonl", "m"].map(|name| folder.path().join(name).display().to_string());
    let refused = |teach: &[&str]| {
        good(&[teach, &["--count", "5", "-o", &traces]].concat());
        let (code, message) = told(&["learn", "--traces", &traces, "--prove", "-o", &model]);
        assert_eq!(code, 2, "{message}");
        message
    };
    assert!(refused(&["teach", "task:dyck1", "--tolerant"]).contains("no token is refused in"));
    assert!(refused(&["teach", "task:copy"]).contains("are vectors of numbers"));
    std::fs::write(
        &traces,
        "{\"echostack\": \"traces\", \"version\": 1, \"terminals\": [\"a\"], \"nonterminals\": []}\n",
    )
    .unwrap();
    let (code, message) = told(&["learn", "--traces", &traces, "-o", "x"]);
    assert_eq!((code, message.contains("has no traces, only a header")), (2, true), "{message}");
}

#[test]
fn a_lexer_is_attached_if_it_fits_the_traces() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let [traces, lexer, model] = ["t.jsonl", "lexer.l", "m"].map(path);
    good(&["teach", "task:anbn", "--count", "40", "-o", &traces]);
    let learn = |rules: &str| {
        std::fs::write(&lexer, format!("%%\n{rules}[ \\n]+ ;\n")).unwrap();
        told(&["learn", "--traces", &traces, "--lexer", &lexer, "-o", &model, "--quiet"])
    };
    assert_eq!(learn("x \"a\"\ny \"b\"\n"), (0, String::new()));
    let output = echostack(&["check", &model], b"x x y\ny");
    assert_eq!(text(&output.stdout), "-: accept\n");
    let (code, message) = learn("x \"a\"\ny \"b\"\nz \"c\"\n");
    assert_eq!((code, message.contains("the lexer produces c, which no trace contains")), (0, true), "{message}");
    let (code, message) = learn("x \"a\"\n");
    assert_eq!((code, message.contains("the lexer never produces b")), (2, true), "{message}");
    let (code, message) = learn("[ \"a\"\n");
    assert_eq!((code, message.contains("could not use the lexer")), (2, true), "{message}");
    let (code, message) = told(&["learn", "task:anbn", "--lexer", &lexer, "-o", &model]);
    assert_eq!((code, message.contains("cannot be used with")), (2, true), "{message}");
}

#[test]
fn traces_with_other_symbols_are_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let [model, traces] = ["m", "t.jsonl"].map(path);
    good(&["learn", "task:dyck1", "-o", &model, "--quiet"]);
    good(&["teach", "task:dyck2", "--count", "5", "-o", &traces]);
    let (code, message) = told(&["evaluate", &model, "--traces", &traces]);
    assert_eq!(code, 2);
    assert!(message.contains("have different symbols: only ") && message.contains(" has [ ]."), "{message}");
}
