//! Tests of the small things: closed pipes, names of files and folders, plurals, and messages that say what to do.

mod common;

use std::io::PipeWriter;
use std::path::Path;
use std::process::Command;

use common::{echostack, good, json, learned, text, told};

/// Returns a pipe that nobody reads.
fn closed() -> PipeWriter {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer
}

#[test]
fn a_closed_pipe_ends_every_command_quietly() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (certificate, work) = (path("certificate"), path("work"));
    let model = learned(folder.path(), &["task:anbn", "--certificate", &certificate]);
    good(&["lab", "work", "task:dyck1", "-o", &work]);
    let commands: [&[&str]; 16] = [
        &["certify", &model, "--against", "anbn"],
        &["certify", &model, "--against", "anbn", "--check", &certificate, "--cells"],
        &["certify", &model, "--against", "anbn", "--json"],
        &["extract", &model],
        &["extract", &model, "--against", "anbn"],
        &["evaluate", &model, "--against", "task:anbn", "--count", "5"],
        &["evaluate", &model, "--against", "task:anbn", "--count", "5", "--json"],
        &["inspect", &model],
        &["inspect", &certificate],
        &["sample", "task:anbn"],
        &["teach", "task:anbn"],
        &["lab", "bench", "--work", &work],
        &["learn", "task:anbn", "--json", "-o", &model],
        &["tasks"],
        &["check", &model],
        &["completions", "bash"],
    ];
    for command in commands {
        let run = Command::new(env!("CARGO_BIN_EXE_echostack")).args(command).stdout(closed()).output().unwrap();
        let (code, messages) = (run.status.code(), text(&run.stderr));
        assert!(code == Some(0) && !messages.contains("panicked"), "{command:?}: {code:?} {messages}");
        assert!(!messages.contains("echostack:"), "{command:?}: {messages}");
    }
    // Messages that nobody reads are no reason to stop.
    std::fs::remove_file(&model).unwrap();
    let mut learn = Command::new(env!("CARGO_BIN_EXE_echostack"));
    let code = learn.args(["learn", "task:anbn", "-o", &model]).stderr(closed()).status().unwrap().code();
    assert_eq!((code, Path::new(&model).exists()), (Some(0), true));
}

#[test]
fn a_grammar_is_named_by_its_folder_or_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("grammar.y"), "%start S\n%%\nS: 'x' S | 'y';\n").unwrap();
    let model = learned(folder.path(), &[&path("")]);
    for name in [path(""), path("grammar.y"), format!("grammar:{}", path(""))] {
        assert!(good(&["certify", &model, "--against", &name]).starts_with("proved"), "{name}");
        assert!(good(&["extract", &model, "--against", &name]).starts_with("equivalent"), "{name}");
        good(&["construct", &name, "-o", &path("constructed")]);
    }
}

#[test]
fn every_file_that_echostack_writes_can_be_inspected() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let [certificate, automaton, traces, table] = ["c", "a.json", "t.jsonl", "table"].map(path);
    let model = learned(folder.path(), &["task:anbn", "--certificate", &certificate]);
    good(&["extract", &model, "--format", "json", "-o", &automaton]);
    good(&["teach", "task:anbn", "--count", "10", "-o", &traces]);
    good(&["compile", &model, "-o", &table]);
    for (file, kind, line) in [
        (&model, "machine", "mode       strict"),
        (&certificate, "certificate", "proof      certificate with 42 cells on 9 stack suffixes\n"),
        (&automaton, "automaton", "automaton  2 rules\n"),
        (&traces, "traces", "traces     10 words with "),
        (&table, "table", "table      "),
    ] {
        assert_eq!(json(&["inspect", file, "--json"])["kind"], kind);
        let shown = good(&["inspect", file]);
        assert!(shown.contains(line), "{shown}");
    }
    let digest = json(&["inspect", &certificate, "--json"])["machine"].as_str().unwrap().len();
    assert_eq!(digest, 64);
    for (damaged, message) in [
        ("{\"certificate\": 2}", "could not use"),
        ("{\"echostack\": \"traces\", \"version\": 9}", "the first line must be a header"),
        ("{\"rules\": 3}", "this is not an automaton in JSON"),
        ("[1, 2]", "this is not an echostack model"),
        ("", "this is not an echostack model"),
    ] {
        std::fs::write(&certificate, damaged).unwrap();
        let (code, told) = told(&["inspect", &certificate]);
        assert!(code == 2 && told.contains(message), "{damaged}: {told}");
    }
}

#[test]
fn a_lexer_of_another_name_is_mentioned() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("small.y"), "%start S\n%%\nS: 'NAME';\n").unwrap();
    std::fs::write(path("names.l"), "%%\n[a-z]+ \"NAME\"\n").unwrap();
    std::fs::write(path("text"), "x").unwrap();
    let (code, message) = told(&["check", &path("small.y"), &path("text")]);
    assert_eq!(code, 1, "{message}");
    let wanted = format!("{} would be used if it were named {}", path("names.l"), path("small.l"));
    assert!(message.contains("is read without a lexer") && message.contains(&wanted), "{message}");
    std::fs::rename(path("names.l"), path("small.l")).unwrap();
    let (code, message) = told(&["check", &path("small.y"), &path("text")]);
    assert_eq!((code, message.contains("lexer")), (0, false), "{message}");
}

#[test]
fn a_comparison_says_that_actions_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let written = |name: &str, rules: &str| {
        std::fs::write(path(name), format!("%start S\n%%\nS: '[' L ']';\n{rules};\n")).unwrap();
        path(name)
    };
    let left = written("left.y", "L: 'n' | L ',' 'n'");
    let right = written("right.y", "L: 'n' | 'n' ',' L");
    let model = learned(folder.path(), &[&left]);
    let compare = |name: &str| told(&["extract", &model, "--against", name]);
    assert_eq!(compare(&left).0, 0);
    let (code, message) = compare(&right);
    assert_eq!(code, 2, "{message}");
    assert!(message.contains("actions are compared, not only which words are accepted"), "{message}");

    std::fs::write(path("other.y"), "%start S\n%%\nS: '[' M ']';\nM: 'n' | M ',' 'n';\n").unwrap();
    for command in [&["extract", &model, "--against"][..], &["certify", &model, "--against"]] {
        let (code, message) = told(&[command, &[&path("other.y")]].concat());
        assert_eq!(code, 2, "{message}");
        let wanted = "have different symbols: only the machine has L, and only other has M";
        assert!(message.contains(wanted), "{message}");
    }
    let help = good(&["extract", "--help"]);
    assert!(help.contains("takes the same actions as this language"), "{help}");
}

#[test]
fn one_thing_is_in_the_singular() {
    let folder = tempfile::tempdir().unwrap();
    let grammar = folder.path().join("one.y").display().to_string();
    let model = folder.path().join("m").display().to_string();
    std::fs::write(&grammar, "%start S\n%%\nS: 'a';\n").unwrap();
    let (code, message) = told(&["learn", &grammar, "--count", "1", "--lookahead", "reservoir", "-o", &model]);
    assert!(code == 0 && message.contains(" from 1 word in "), "{message}");
    let output = echostack(&["extract", &model], b"");
    assert!(text(&output.stderr).starts_with("exact: 1 rule, proved"), "{}", text(&output.stderr));
    let measured = good(&["evaluate", &model, "--against", &grammar, "--count", "1", "--max-length", "1"]);
    assert!(measured.starts_with("valid      error 0, 0 of 1 word wrong, 1 token\n"), "{measured}");
}

#[test]
fn a_constructed_machine_without_a_proof_is_saved_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("m").display().to_string();
    let small = ["construct", "json", "--reservoir", "legendre", "--neurons", "13", "-o", &model];
    let (code, message) = told(&small);
    assert_eq!(code, 1, "{message}");
    assert!(message.contains("echostack: not proved: ") && message.contains("try more --neurons"), "{message}");
    assert!(good(&["inspect", &model]).contains("\nneurons "));
}

#[test]
fn a_lexer_that_does_not_fit_its_grammar_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("grammar.y"), "%start S\n%%\nS: 'n' | S '+' 'n' | S '-' 'n';\nT: 'n';\n").unwrap();
    std::fs::write(path("lexer.l"), "%%\n[0-9]+ \"n\"\n\\+ \"+\"\nfoo \"FOO\"\n1 \"+\"\n").unwrap();
    let (own, model) = (folder.path().display().to_string(), path("m.safetensors"));
    let learn = |more: &[&str]| {
        let run = echostack(&[&["learn", &own, "-o", &model], more].concat(), b"");
        (text(&run.stderr), run.status.code())
    };
    let (messages, code) = learn(&[]);
    assert_eq!(code, Some(2), "{messages}");
    for part in ["warning: ", "T", "never produces -", "produces FOO", "never matches", "echostack: the lexer of "] {
        assert!(messages.contains(part), "{part}: {messages}");
    }
    // Without a proof, it is only a warning.
    let (messages, code) = learn(&["--no-prove"]);
    assert!(code == Some(0) && messages.contains("warning: ") && messages.contains("never produces -"), "{messages}");
    assert_eq!(learn(&["--no-prove", "--quiet"]), (String::new(), Some(0)));
    let mistaken = "%%\n[0-9]+ n\n";
    std::fs::write(path("lexer.l"), mistaken).unwrap();
    let (messages, _) = learn(&[]);
    assert!(messages.contains("lexer.l:2:8: \"n\" is not a token's name in quotes; write"), "{messages}");
}
