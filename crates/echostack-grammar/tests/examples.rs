//! Runs the examples of this crate and of `echostack`, and compares what they print.
#![cfg(feature = "machine")]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs an example in the repository's root folder, and returns what it prints and whether it succeeds.
fn example(name: &str, arguments: &[&str], input: &str) -> (String, bool) {
    // This test is in target/PROFILE/deps, and the examples are in target/PROFILE/examples.
    let own = std::env::current_exe().unwrap();
    let program = own.parent().unwrap().with_file_name("examples").join(name);
    assert!(program.exists(), "there is no {}: `cargo build --workspace --examples` makes it", program.display());
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.success())
}

#[test]
fn a_recognizer_is_embedded() {
    let embed = |input| example("embed", &["testdata/grammars/json"], input);
    assert_eq!(embed("{\"a\": [1, 2]}"), ("accept\n".into(), true));
    assert_eq!(embed("{\"a\": [1, 2}"), (WRONG.into(), false));
}

/// What is said about a text with a wrong bracket.
const WRONG: &str = "1:12: unexpected '}', expected ']' or ','\n  {\"a\": [1, 2}\n             ^\n";

#[test]
fn a_grammar_is_proved_and_its_table_checks_and_parses_texts() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (table, good, bad) = (path("json.table"), path("good.json"), path("bad.json"));
    std::fs::write(&good, "{\"a\": [1, 2]}").unwrap();
    std::fs::write(&bad, "{\"a\": [1, 2}").unwrap();
    let (told, _) = example("prove_grammar", &["testdata/grammars/json", &table], "");
    assert!(told.starts_with("proved correct on every word, of any length, with "), "{told}");
    assert_eq!(example("check_text", &[&table, &good], ""), ("valid\n".into(), true));
    assert_eq!(example("check_text", &[&table, &bad], ""), (WRONG.into(), true));
    let (told, good) = example("parse_text", &[&table, &good], "");
    assert!(good && told.ends_with("0..1 {\n1..12 Members\n12..13 }\n"), "{told}");
}

#[test]
fn words_are_judged_by_a_table() {
    let words = "PLAIN , QUOTED NEWLINE\nPLAIN PLAIN\n";
    let told = example("table_only", &["testdata/files/0.1/csv.table.safetensors"], words);
    assert_eq!(told, ("accept\nreject\n".into(), true));
}

#[test]
fn a_stream_is_checked() {
    let (told, good) = example("stream_tokens", &[], "( ( ) ) )\n");
    assert!(good);
    assert!(told.lines().count() == 6 && told.lines().last().unwrap().starts_with("Reject { position: 4"), "{told}");
}

#[test]
fn another_parser_teaches() {
    let (told, good) = example("own_teacher", &[], "");
    assert!(good);
    let verdicts: Vec<&str> = told.lines().map(|line| line.split_once(": ").unwrap().1).collect();
    assert_eq!(verdicts[0], "Accept");
    assert!(verdicts[1].starts_with("Reject { position: 6") && verdicts[2].starts_with("Incomplete"), "{told}");
}

#[test]
fn a_reservoir_is_written() {
    let (told, good) = example("own_reservoir", &[], "");
    assert!(good);
    assert!(told.starts_with("dyck1: error 0 on 100 test words\n"), "{told}");
}

#[test]
fn a_machine_is_proved_and_compiled() {
    let (told, good) = example("prove_and_compile", &[], "");
    assert!(good && told.contains("proved with"), "{told}");
    assert!(told.ends_with("the table says Accept, the machine Accept\n"), "{told}");
}
