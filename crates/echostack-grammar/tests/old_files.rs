//! Files that older versions wrote are still read, mean the same, and are written again to the byte.
//!
//! `testdata/files` has a folder for each version, with a README that says how its files were made. A folder is never
//! changed; a change of a format adds one.
#![cfg(feature = "machine")]

use std::collections::HashMap;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use echostack::certify::check;
use echostack::recognize::Mode;
use echostack::teach::{read_traces, write_traces};
use echostack::{Automaton, Certificate, Limits, Lookahead, Machine, Model, Oracle, Recognizer, Table};
use echostack_grammar::{Encoding, Judge, Subject};
use serde::Deserialize;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/files/0.1")
}

/// The files whose names end so, each with its name up to there.
fn files(ending: &str) -> Vec<(String, PathBuf)> {
    let mut all: Vec<(String, PathBuf)> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter_map(|path| {
            let name = path.file_name()?.to_str()?.strip_suffix(ending)?.to_string();
            Some((name, path))
        })
        .collect();
    all.sort();
    assert!(!all.is_empty(), "no file ends with {ending}");
    all
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// A line of `verdicts.jsonl`.
#[derive(Deserialize)]
struct Line {
    file: String,
    word: Vec<String>,
    verdict: String,
    position: Option<u64>,
    #[serde(default)]
    expected: Vec<String>,
}

#[test]
fn models_and_tables_give_the_verdicts_that_they_gave() {
    let mut models: HashMap<String, Model> = HashMap::new();
    let lines = text(&folder().join("verdicts.jsonl"));
    assert_eq!(lines.lines().count(), 144);
    for line in lines.lines() {
        let case: Line = serde_json::from_str(line).unwrap();
        let model =
            models.entry(case.file.clone()).or_insert_with(|| Model::load(folder().join(&case.file)).unwrap()).clone();
        let verdict = model.judge(&model.alphabet().word(case.word.iter().map(String::as_str)).unwrap());
        let name = |next: &Lookahead| next.token().map_or("the end", |token| model.alphabet().name(token)).to_string();
        let expected: Vec<String> = verdict.expected().iter().map(name).collect();
        let given = (verdict.name(), verdict.position(), expected);
        assert_eq!(given, (case.verdict.as_str(), case.position, case.expected), "{line}");
    }
    assert_eq!(models.len(), 6);
}

#[test]
fn models_and_tables_are_written_again_to_the_byte() {
    for (name, path) in files(".safetensors") {
        let bytes = std::fs::read(&path).unwrap();
        let again = if Table::is_table(&bytes) {
            Table::from_bytes(&bytes).unwrap().to_bytes().unwrap()
        } else {
            Machine::from_bytes(&bytes).unwrap().to_bytes().unwrap()
        };
        assert!(again == bytes, "{name}");
    }
}

#[test]
fn lexers_in_models_still_make_tokens() {
    for name in ["csv.safetensors", "csv.table.safetensors"] {
        let judge = Judge::open(folder().join(name)).unwrap();
        assert!(judge.has_lexer());
        let judged = |text: &str| judge.judge_stream(&mut text.as_bytes(), Limits::default()).unwrap().verdict;
        assert!(judged("a,\"b\"\n,c").is_accept());
        assert_eq!(judged("a,\"b\"c").position(), Some(3));
    }
}

#[test]
fn certificates_still_prove() {
    for (name, path) in files(".certificate.json") {
        let machine = Machine::load(folder().join(format!("{name}.safetensors"))).unwrap();
        let automaton = text(&folder().join(format!("{name}.automaton.json")));
        let oracle = Oracle::strict(Automaton::from_json(&automaton).unwrap()).unwrap();
        assert_eq!(oracle.automaton().to_json(), automaton, "{name}");
        let certificate = Certificate::from_json(&text(&path)).unwrap();
        check(&certificate, &machine, &oracle, &()).unwrap_or_else(|error| panic!("{name}: {error}"));
        // It is written in the present version, with the same content.
        assert_eq!(Certificate::from_json(&certificate.to_json()).unwrap(), certificate, "{name}");
    }
}

#[test]
fn a_certificate_from_before_translations_were_checked_still_belongs_to_its_grammar() {
    let grammar = folder().join("../../grammars/csv");
    let subject = Subject::open_grammar(&grammar, Encoding::State).unwrap();
    let oracle = subject.oracle(Mode::Strict, &()).unwrap();
    let machine = Machine::load(folder().join("csv.safetensors")).unwrap();
    let certificate = Certificate::from_json(&text(&folder().join("csv.certificate.json"))).unwrap();
    subject.check_lexer_of(machine.manifest()).unwrap();
    subject.check_covered(&certificate, &oracle, &()).unwrap();
    check(&certificate, &machine, &oracle, &()).unwrap();
}

#[test]
fn traces_are_read_and_written_again_to_the_byte() {
    for (name, path) in files(".traces.jsonl") {
        let file = text(&path);
        let (alphabet, traces) = read_traces(&mut BufReader::new(file.as_bytes())).unwrap();
        assert_eq!(traces.len() + 1, file.lines().count(), "{name}");
        let mut again = Vec::new();
        write_traces(&mut again, &alphabet, &traces).unwrap();
        assert!(again == file.as_bytes(), "{name}");
    }
}
