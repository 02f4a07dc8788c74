//! Tests that "proved" covers the whole way from a grammar's text to what runs. The files are those that were once called
//! proved and were not, or that got different answers from different commands.

mod common;

use std::path::Path;

use common::{echostack, good, text, told};
use echostack::{Machine, Table};
use serde_json::{Value, json};

const NONASSOC: &str = "%start S\n%nonassoc '<'\n%%\nS: E '<' 'z' | 'x' E;\nE: E '<' E | 'n';\n";
const TEMPLATES: &str = "%start S\n%nonassoc '<' '>'\n%left '+'\n%%\nS: 't' '<' E '>' | E;\n\
                         E: E '<' E | E '>' E | E '+' E | 'n';\n";
const MERGED: &str =
    "%start S\n%left 'a'\n%%\nS: 'a' A 'a' | 'b' A 'b' | 'd' A 'd' | 'd' 'a' 'e';\nA: 'a' | 'a' 'a';\n";

/// A folder for files, which is removed at the end.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), contents).unwrap();
        self.path(name)
    }
}

/// Learns a grammar, with a proof, and returns the verdicts on words, one letter each: a for accept.
fn verdicts(folder: &Folder, grammar: &str, encoding: &str, words: &[&str]) -> String {
    let (yacc, model) = (folder.write("g.y", grammar), folder.path("g.safetensors"));
    good(&["learn", &yacc, "--encoding", encoding, "--prove", "--quiet", "-o", &model]);
    let table = folder.path("g.table");
    good(&["compile", &model, "--quiet", "-o", &table]);
    good(&["certify", &table, "--against", &yacc, "--encoding", encoding]);
    let input = words.join("\n") + "\n";
    let judged = [&model, &table].map(|model| {
        let output = echostack(&["check", model, "--tokens", "--json", "-"], input.as_bytes());
        let line = |line: &str| {
            let verdict: Value = serde_json::from_str(line).unwrap();
            verdict["verdict"].as_str().unwrap().chars().next().unwrap()
        };
        text(&output.stdout).lines().map(line).collect::<String>()
    });
    assert_eq!(judged[0], judged[1]);
    judged[0].clone()
}

#[test]
fn what_nonassoc_forbids_is_refused_in_both_encodings() {
    let folder = Folder::new();
    for encoding in ["suffix", "state"] {
        let words = ["x n < n < n", "x n < n", "n < z", "x n"];
        assert_eq!(verdicts(&folder, NONASSOC, encoding, &words), "raaa", "{encoding}");
        let words = ["n > n > n", "n < n < n", "n + n < n > n", "n < n", "t < n + n >"];
        assert_eq!(verdicts(&folder, TEMPLATES, encoding, &words), "rrraa", "{encoding}");
    }
}

#[test]
fn the_type_of_the_parser_is_obeyed() {
    let folder = Folder::new();
    let words = ["b a a b", "a a a", "d a a d"];
    for encoding in ["suffix", "state"] {
        for (kind, expected) in [("canonical-lr", "aaa"), ("ielr", "aaa"), ("lalr", "raa")] {
            let grammar = format!("%define lr.type {kind}\n{MERGED}");
            assert_eq!(verdicts(&folder, &grammar, encoding, &words), expected, "{kind}");
        }
        assert_eq!(verdicts(&folder, MERGED, encoding, &words), "aaa");
    }
    let sampled = |grammar: &str| told(&["sample", &folder.write("g.y", grammar), "--count", "1"]);
    let (_, message) = sampled(MERGED);
    assert!(
        message.contains("an LALR(1) parser, bison's default,") && message.contains("it rejects \"b a a b\""),
        "{message}"
    );
    let (_, message) = sampled(&format!("%define lr.type lalr\n{MERGED}"));
    assert!(message.contains("an LR(1) parser accepts \"b a a b\""), "{message}");
    assert!(!sampled(&format!("%define lr.type ielr\n{MERGED}")).1.contains("LALR"));
    let (code, message) = sampled(&format!("%define lr.type glr\n{MERGED}"));
    assert!(code == 2 && message.contains("glr is here, where lalr, ielr or canonical-lr is expected"), "{message}");
}

#[test]
fn a_machine_of_an_automaton_that_forgot_nonassoc_is_not_proved() {
    let folder = Folder::new();
    let (yacc, model) = (folder.write("g.y", NONASSOC), folder.path("m.safetensors"));
    let (automaton, old) = (folder.path("a.json"), folder.path("old.safetensors"));
    good(&["learn", &yacc, "--encoding", "suffix", "--prove", "--quiet", "-o", &model]);
    good(&["certify", &model, "--against", &yacc, "--write-automaton", &automaton]);
    // Without the table's viable stacks, nothing says what is forbidden, as in earlier versions.
    let mut json: Value = serde_json::from_str(&std::fs::read_to_string(&automaton).unwrap()).unwrap();
    json.as_object_mut().unwrap().remove("viable");
    let automaton = folder.write("a.json", json.to_string());
    good(&["learn", &automaton, "--prove", "--quiet", "-o", &old]);
    let output = echostack(&["check", &old, "--tokens", "-"], b"x n < n < n\n");
    assert!(text(&output.stdout).contains("accept"));
    let (code, message) = told(&["certify", &old, "--against", &yacc, "--encoding", "suffix"]);
    assert!(code == 1 && message.starts_with("not proved"), "{message}");
}

/// Learns JSON with a certificate, and compiles it to a table with a certificate.
fn json_chain(folder: &Folder) -> [String; 4] {
    let [model, proof, table, equal] =
        ["m.safetensors", "m.certificate", "t.table", "t.certificate"].map(|name| folder.path(name));
    good(&["learn", GRAMMAR, "--quiet", "--certificate", &proof, "-o", &model]);
    good(&["compile", &model, "--quiet", "-o", &table]);
    good(&["certify", &table, "--against", GRAMMAR, "--quiet", "-o", &equal]);
    [model, proof, table, equal]
}

const GRAMMAR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/grammars/json");

#[test]
fn a_table_in_which_all_states_accept_is_not_equal() {
    let folder = Folder::new();
    let [_, _, table, equal] = json_chain(&folder);
    let mut bytes = std::fs::read(&table).unwrap();
    let head = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let form: Value = serde_json::from_slice(&bytes[8..head]).unwrap();
    let place = |at: usize| head + form["accepting"]["data_offsets"][at].as_u64().unwrap() as usize;
    bytes[place(0)..place(1)].chunks_exact_mut(4).for_each(|entry| entry.copy_from_slice(&1_u32.to_le_bytes()));
    let bad = folder.write("bad.table", &bytes);
    let unfinished = b"[1, [2, {\"a\": [";
    assert_eq!(text(&echostack(&["check", &bad, "-"], unfinished).stdout), "-: accept\n");
    let (code, message) = told(&["certify", &bad, "--against", GRAMMAR]);
    assert_eq!(code, 1);
    assert_eq!(message, "not equal: at the beginning, before the end, the table goes on, and json refuses it\n");
    let (code, message) = told(&["certify", &bad, "--against", GRAMMAR, "--check", &equal]);
    assert!(code == 1 && message.starts_with("not equal"), "{message}");
    for command in ["check", "parse"] {
        let refused = echostack(&[command, &bad, "--certificate", &equal, "-"], unfinished);
        let message = text(&refused.stderr);
        assert!(refused.status.code() == Some(2) && message.contains("it is for another table"), "{message}");
        let fine = echostack(&[command, &table, "--certificate", &equal, "-"], b"[1]");
        assert_eq!(fine.status.code(), Some(0));
    }
    // The certificate of the machine says nothing about the table.
    let proof = folder.path("m.certificate");
    let (code, message) = told(&["check", &table, "--certificate", &proof, "-"]);
    assert!(code == 2 && message.contains("it says nothing about a table"), "{message}");
}

#[test]
fn a_model_with_another_lexer_is_not_proved() {
    let folder = Folder::new();
    let [model, proof, table, equal] = json_chain(&folder);
    let covers = good(&["certify", &model, "--against", GRAMMAR, "--check", &proof]);
    assert!(
        covers.ends_with("from the grammar's text to the machine; the lexer is the grammar's own, and is trusted\n")
    );
    let mut machine = Machine::load(&model).unwrap();
    let own = machine.manifest().lexer().unwrap().to_string();
    let line = own.lines().find(|line| line.contains("\"NUMBER\"")).unwrap();
    let other = own.replace(line, "[-+0-9a-zA-Z_.;()$ /]+ \"NUMBER\"");
    machine.manifest_mut().set_lexer(&other);
    let swapped = folder.path("swapped.safetensors");
    machine.save(&swapped).unwrap();
    for more in [&["--check", &proof][..], &[]] {
        let (code, message) = told(&[&["certify", &swapped, "--against", GRAMMAR], more].concat());
        assert_eq!(code, 1);
        assert!(message.starts_with("not proved: the model's lexer is not that of the grammar: line "), "{message}");
    }
    let (code, message) = told(&["check", &swapped, "--certificate", &proof, "-"]);
    assert!(code == 2 && message.contains("it is for another lexer"), "{message}");
    // The same for a table.
    let mut manifest = Table::load(&table).unwrap().manifest().clone();
    manifest.set_lexer(&other);
    let oracle =
        echostack_grammar::Subject::open_grammar(Path::new(GRAMMAR), echostack_grammar::Encoding::Auto).unwrap();
    let oracle = oracle.oracle(echostack::recognize::Mode::Strict, &()).unwrap();
    Table::new(&oracle, manifest).unwrap().save(&table).unwrap();
    let (code, message) = told(&["certify", &table, "--against", GRAMMAR, "--check", &equal]);
    assert!(code == 1 && message.contains("the model's lexer is not that of the grammar"), "{message}");
}

#[test]
fn a_certificate_of_an_earlier_version_proves_as_much() {
    let folder = Folder::new();
    let [model, proof, ..] = json_chain(&folder);
    let new: Value = serde_json::from_str(&std::fs::read_to_string(&proof).unwrap()).unwrap();
    let mut old = new["machine"].clone();
    old["automaton"] = new["automaton"].clone();
    old["machine"] = old.as_object_mut().unwrap().remove("digest").unwrap();
    old["certificate"] = json!(2);
    let second = folder.write("second.json", old.to_string());
    old["certificate"] = json!(1);
    old.as_object_mut().unwrap().remove("completions");
    let first = folder.write("first.json", old.to_string());
    for certificate in [second, first] {
        let told = good(&["certify", &model, "--against", GRAMMAR, "--check", &certificate]);
        assert!(told.contains("proved from the grammar's text to the machine"), "{told}");
        // It says nothing about the lexer, so it is not enough for running the model on texts.
        let (code, message) = common::told(&["check", &model, "--certificate", &certificate, "-"]);
        assert!(code == 2 && message.contains("it says nothing about the lexer"), "{message}");
    }
    // Another text is another grammar, even if it has the same words.
    let other = folder.path("json");
    std::fs::create_dir(&other).unwrap();
    for name in ["grammar.y", "lexer.l"] {
        let text = std::fs::read_to_string(Path::new(GRAMMAR).join(name)).unwrap();
        let comment = if name == "grammar.y" { "// The same.\n" } else { "" };
        std::fs::write(Path::new(&other).join(name), format!("{comment}{text}")).unwrap();
    }
    let (code, message) = told(&["certify", &model, "--against", &other, "--check", &proof]);
    assert_eq!((code, message.as_str()), (1, "the certificate is not valid: it is for a grammar with another text\n"));
}

#[test]
fn a_part_that_is_not_checked_is_not_accepted() {
    let folder = Folder::new();
    let [model, proof, table, equal] = json_chain(&folder);
    let read = |path: &str| -> Value { serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap() };
    let mut both = read(&proof);
    both["table"] = read(&equal)["table"].clone();
    let both = folder.write("both.certificate", both.to_string());
    for (file, other) in [(&model, "table"), (&table, "machine")] {
        let (code, message) = told(&["certify", file, "--against", GRAMMAR, "--check", &both]);
        assert!(code == 1 && message.contains(&format!("it is also about a {other}")), "{message}");
    }
}

#[test]
fn generated_sources_are_compared_with_the_table() {
    let folder = Folder::new();
    let [_, _, table, _] = json_chain(&folder);
    for (emit, name, more) in [("c", "json.c", &["--prefix", "json_"][..]), ("rust", "json.rs", &[])] {
        let source = folder.path(name);
        good(&[&["compile", &table, "--emit", emit, "--quiet", "-o", &source], more].concat());
        let certify = ["certify", &table, "--against", GRAMMAR, "--source", &source];
        assert!(good(&certify).contains("byte by byte\nproved from the grammar's text to the source file"));
        let code = std::fs::read_to_string(&source).unwrap();
        let changed = code.replacen("0x", "0x1", 1);
        assert_ne!(code, changed);
        std::fs::write(&source, changed).unwrap();
        let (exit, message) = told(&certify);
        assert!(exit == 1 && message.contains("is not the file that the table gives"), "{message}");
        std::fs::write(&source, code.split_once('\n').unwrap().1).unwrap();
        assert!(told(&certify).1.contains("does not begin with the options of `echostack compile`"));
    }
}
