//! Tests of what `learn` does when it is told little: it proves, tests what it cannot prove, and says so.

mod common;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use common::{echostack, good, json, learned, text, told};

#[test]
fn learn_proves_tasks_grammars_and_automata_by_default() {
    let folder = tempfile::tempdir().unwrap();
    let [model, automaton] = ["m", "automaton.json"].map(|name| folder.path().join(name).display().to_string());
    let grammar = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/grammars/csv");
    for language in ["task:anbn", grammar, automaton.as_str()] {
        let (code, message) = told(&["learn", language, "-o", &model]);
        assert_eq!(code, 0, "{message}");
        assert!(message.contains("proved correct on every word, of any length"), "{message}");
        good(&["extract", &model, "--format", "json", "-o", &automaton]);
    }
    let summary = json(&["learn", "task:dyck1", "-o", &model, "--json"]);
    assert_eq!((summary["proved"].as_bool(), summary["tested"].as_u64()), (Some(true), None));
    assert!(summary["cells"].as_u64().unwrap() > 10);
}

#[test]
fn the_json_task_rejects_what_its_grammar_does_not_have() {
    let folder = tempfile::tempdir().unwrap();
    let model = learned(folder.path(), &["task:json"]);
    let output = echostack(&["check", &model], b"[ n n ]\n{ k n }\n[ n , { k : n } ]\n");
    let lines = text(&output.stdout);
    let verdicts: Vec<&str> = lines.lines().map(|line| line.split([':', ' ']).nth(3).unwrap()).collect();
    assert_eq!(verdicts, ["reject", "reject", "accept"], "{lines}");
}

#[test]
fn a_machine_that_is_not_proved_is_tested_unless_a_proof_is_required() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("m").display().to_string();
    let certificate = folder.path().join("c").display().to_string();
    // One round is too few for these proofs; the first machine makes no mistakes nevertheless.
    let right = ["learn", "task:dyck1", "--reservoir", "legendre", "--lookahead", "reservoir", "--rounds", "1"];
    let wrong = ["learn", "task:json", "--rounds", "1"];
    let run = |command: &[&str], more: &[&str]| told(&[command, &["-o", &model], more].concat());

    let (code, message) = run(&right, &["--tests", "600"]);
    assert_eq!(code, 0, "{message}");
    assert!(message.contains("not proved: 6 of 437 cells still open"), "{message}");
    assert!(message.contains("tested instead: 0 of 600 fresh words wrong"), "{message}");
    let (code, message) = run(&wrong, &["--tests", "300"]);
    assert_eq!(code, 1, "{message}");
    assert!(message.contains("tested instead: 80 of 300 fresh words wrong"), "{message}");
    let (code, message) = run(&wrong, &["--tests", "0"]);
    assert_eq!((code, message.contains("tested instead")), (0, false), "{message}");
    for more in [&["--prove"][..], &["--certificate", &certificate]] {
        let (code, message) = run(&right, more);
        assert_eq!((code, message.contains("tested instead")), (1, false), "{message}");
        assert!(message.contains("echostack: not proved: 6 of 437 cells still open"), "{message}");
    }
    assert!(!std::path::Path::new(&certificate).exists());
}

#[test]
fn where_no_proof_is_possible_the_machine_is_only_tested() {
    let folder = tempfile::tempdir().unwrap();
    let [automaton, model] = ["automaton.json", "m"].map(|name| folder.path().join(name).display().to_string());
    // The stack b counts as viable, but it can never become a word.
    let dead_end = r#"{"terminals": ["a", "b"], "nonterminals": ["S"], "accepting": ["S"],
        "rules": [{"suffix": ["a"], "lookahead": {"end": true}, "pop": 1, "push": "S"}],
        "viable": [{"a": 1, "b": 2, "S": 3}, {}, {}, {}]}"#;
    std::fs::write(&automaton, dead_end).unwrap();
    let learn = ["learn", &automaton, "-o", &model, "--max-length", "3", "--test-length", "3"];
    let (code, message) = told(&[&learn[..], &["--tests", "300"]].concat());
    assert_eq!(code, 0, "{message}");
    assert!(message.contains("no proof is possible, so the machine is only tested: "), "{message}");
    assert!(message.contains("round 1: 0 of 300 fresh words wrong"), "{message}");
    let (code, message) = told(&[&learn[..], &["--prove"]].concat());
    assert_eq!((code, message.contains("only tested")), (2, false), "{message}");
}

#[test]
fn without_a_proof_a_machine_learns_from_the_mistakes_of_its_tests() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("m").display().to_string();
    let command = ["learn", "task:anbn", "--no-prove", "--tests", "600", "-o", &model];
    let summary = json(&[&command[..], &["--json"]].concat());
    let last = summary["rounds"].as_array().unwrap().last().unwrap();
    assert_eq!((last["tested"].as_u64(), last["wrong"].as_u64()), (Some(600), Some(0)));
    assert_eq!(summary["proved"], serde_json::Value::Null);
}

#[test]
fn the_tolerant_machine_of_the_paper_is_one_option_away() {
    let folder = tempfile::tempdir().unwrap();
    let inspect = |more: &[&str]| {
        let model = learned(folder.path(), &[&["task:dyck1"], more].concat());
        let value = json(&["inspect", &model, "--json"]);
        (value["mode"].to_string(), value["lookahead"].to_string())
    };
    assert_eq!(inspect(&["--tolerant"]), ("\"tolerant\"".into(), "\"reservoir\"".into()));
    assert_eq!(inspect(&[]), ("\"strict\"".into(), "\"symbol\"".into()));
    let (code, message) = told(&["learn", "task:dyck1", "--tolerant", "--prove", "-o", "x"]);
    assert_eq!((code, message.contains("cannot be used with")), (2, true), "{message}");
}

#[test]
fn a_task_of_vectors_names_only_the_options_that_do_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("m").display().to_string();
    let learn = |more: &[&str]| told(&[&["learn", "task:copy", "-o", &file], more].concat());
    let (code, message) = learn(&["--prove"]);
    assert_eq!(code, 2);
    assert!(message.contains("the words of copy are vectors") && message.ends_with("leave out --prove\n"), "{message}");
    assert!(learn(&["--negatives", "0.5", "--strict"]).1.ends_with("leave out --strict and --negatives\n"));
    // Without these options, the task is learned.
    let (code, _) = told(&["learn", "task:copy", "--count", "2", "-o", &file]);
    assert_eq!(code, 0);
}

#[test]
fn too_few_neurons_are_reported_as_such() {
    let (code, message) = told(&["learn", "task:anbn", "--neurons", "2", "-o", "x"]);
    assert_eq!(code, 2);
    let wanted = "echostack: 2 neurons, but a cycle reservoir with jumps of length 2 needs at least 4\n";
    assert_eq!(message, wanted);
}

#[test]
fn details_are_told_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("m").display().to_string();
    let (_, message) = told(&["learn", "task:json", "-o", &model]);
    assert!(message.contains(" % of the proof done\n"), "{message}");
    for detail in ["open", "exercise", "training row", "support vector"] {
        assert!(!message.contains(detail), "{detail}: {message}");
    }
    let (_, message) = told(&["learn", "task:json", "-o", &model, "--verbose"]);
    assert!(message.contains(" cells open after ") && message.contains("training rows (distinct pairs"), "{message}");
    let summary = json(&["learn", "task:json", "-o", &model, "--json"]);
    let rounds = summary["rounds"].as_array().unwrap();
    assert!(rounds.iter().any(|round| round["open"].as_u64() > Some(0)), "{summary}");
}

#[test]
fn an_output_that_cannot_be_written_is_refused_before_the_work_begins() {
    let folder = tempfile::tempdir().unwrap();
    let [model, missing] = ["m", "no/such/file"].map(|name| folder.path().join(name).display().to_string());
    let there = folder.path().display().to_string();
    good(&["learn", "task:dyck1", "-o", &model]);
    for output in [&missing, &there] {
        for command in [
            &["learn", "task:json", "-o", output][..],
            &["learn", "task:json", "-o", &model, "--certificate", output],
            &["construct", "task:json", "-o", output],
            &["certify", &model, "--against", "task:dyck1", "-o", output],
            &["compile", &model, "-o", output],
            &["extract", &model, "-o", output],
            &["export", &model, "--format", "lark", "-o", output],
            &["teach", "task:dyck1", "-o", output],
        ] {
            let (code, message) = told(command);
            let wanted = format!("echostack: could not write {output}");
            assert!(code == 2 && message.starts_with(&wanted), "{command:?}: {message}");
        }
    }
}

#[test]
fn options_are_shown_in_groups_with_examples() {
    let help = good(&["learn", "--help"]);
    let headings = [
        "\nWhat to learn:\n",
        "\nMachine:\n",
        "\nTraining:\n",
        "\nProof and tests:\n",
        "\nOutput:\n",
        "\nOptions of all commands:\n",
        "\nExamples:\n",
        "\nExit codes:",
    ];
    let places: Vec<usize> = headings.iter().map(|heading| help.find(heading).unwrap()).collect();
    assert!(places.is_sorted(), "{places:?}");
    let section = |name: &str| places[headings.iter().position(|heading| heading.contains(name)).unwrap()];
    assert!(help.find("--threads").unwrap() > section("all commands"));
    assert!((section("What")..section("Machine")).contains(&help.find("--contexts <FILE>\n").unwrap()));
    for command in ["evaluate", "certify", "extract", "construct", "teach", "sample"] {
        let help = good(&[command, "--help"]);
        assert!(help.contains("Examples:\n") && help.contains("Options of all commands:\n"), "{help}");
    }
}

#[test]
fn progress_is_told_every_two_seconds_without_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("m");
    let mut child = Command::new(env!("CARGO_BIN_EXE_echostack"))
        .args(["learn", "task:dyck3", "--no-prove", "--tests", "10000000", "--threads", "1", "-o"])
        .arg(&model)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut next = || lines.find_map(|line| Some(line.unwrap()).filter(|line| line.starts_with("progress: "))).unwrap();
    let [first, second] = [next(), next()];
    child.kill().unwrap();
    child.wait().unwrap();
    let seconds = |line: &str| -> u64 {
        let before = line.split(" s so far").next().unwrap();
        before.rsplit(' ').next().unwrap().parse().unwrap()
    };
    assert!(seconds(&first) >= 2 && seconds(&second) >= 4, "{first}\n{second}");
    assert!(second.contains(" of ") && second.contains(" s left"), "{second}");
}
