//! Tests of `sample --texts`: what is printed and what is in the folder, and options that do not go together.

mod common;

use std::path::Path;

use common::{echostack, good, text, told};
use serde_json::Value;

fn json_grammar() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/grammars/json").display().to_string()
}

fn sample<'a>(grammar: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["sample", grammar, "--texts"], more].concat()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn valid_texts_are_accepted_by_check_and_near_misses_fail_where_they_say() {
    let (grammar, folder) = (json_grammar(), tempfile::tempdir().unwrap());
    for (kind, name) in [("valid", "good"), ("near-miss", "bad")] {
        let folder = folder.path().join(name);
        let path = folder.display().to_string();
        let printed = good(&sample(&grammar, &["--kind", kind, "--count", "50", "--json", "-o", &path]));
        let printed = lines(&printed);
        assert_eq!(printed.len(), 50);
        let files: Vec<&str> = printed.iter().map(|line| line["file"].as_str().unwrap()).collect();
        let verdicts = echostack(&[&["check", "--json", &grammar], &files[..]].concat(), b"");
        assert_eq!(verdicts.status.code(), Some(i32::from(kind != "valid")));
        for (line, verdict) in printed.iter().zip(lines(&text(&verdicts.stdout))) {
            assert_eq!(line["valid"], verdict["verdict"] == "accept", "{line} {verdict}");
            for place in ["byte", "line", "column"] {
                assert_eq!(line[place], verdict[place], "{line} {verdict}");
            }
        }
        // The places stay with the files, which may be moved.
        let mistakes = std::fs::read_to_string(folder.join("mistakes.jsonl"));
        assert_eq!(mistakes.is_ok(), kind != "valid");
        let mut expected = printed.clone();
        for (number, line) in expected.iter_mut().enumerate() {
            line["file"] = format!("{:06}.txt", number + 1).into();
        }
        assert!(mistakes.is_err() || lines(&mistakes.unwrap()) == expected);
    }
}

#[test]
fn texts_are_streams_that_end_with_nul_bytes() {
    let grammar = json_grammar();
    for kind in ["valid", "near-miss"] {
        let printed = good(&sample(&grammar, &["--kind", kind, "--count", "2000", "--seed", "3"]));
        assert_eq!(printed.matches('\0').count(), 2000);
        assert!(printed.ends_with('\0'));
        assert_eq!(printed, good(&sample(&grammar, &["--kind", kind, "--count", "2000", "--seed", "3"])));
    }
    // Two characters: [], {}, "", and numbers with two digits.
    let short = good(&sample(&grammar, &["--min-chars", "2", "--max-chars", "2", "--count", "30"]));
    assert!(short.split_terminator('\0').all(|text| text.chars().count() == 2), "{short:?}");
}

#[test]
fn coverage_is_reported() {
    let grammar = json_grammar();
    let output = echostack(&sample(&grammar, &["--cover", "pairs", "--json"]), b"");
    let coverage = lines(&text(&output.stdout)).pop().unwrap();
    assert_eq!(coverage["cover"], "pairs");
    assert_eq!(coverage["reached"], coverage["total"]);
    assert!(text(&output.stderr).contains("46 of 46 pairs were used"), "{}", text(&output.stderr));
    // Too short for anything in a list or an object.
    let output = echostack(&sample(&grammar, &["--cover", "productions", "--max-length", "2"]), b"");
    assert!(text(&output.stderr).contains("were not found in any text"), "{}", text(&output.stderr));
}

#[test]
fn spliced_texts_are_made_from_long_examples_too() {
    let (grammar, folder) = (json_grammar(), tempfile::tempdir().unwrap());
    let long = format!("[{}]", (0..200).map(|n| n.to_string()).collect::<Vec<_>>().join(", "));
    std::fs::write(folder.path().join("1.json"), long).unwrap();
    std::fs::write(folder.path().join("2.json"), "{\"a\": [true]}").unwrap();
    std::fs::write(folder.path().join("3.json"), "{,}").unwrap();
    let examples = folder.path().display().to_string();
    let output = echostack(&sample(&grammar, &["--kind", "spliced", "--examples", &examples, "--count", "20"]), b"");
    assert_eq!(text(&output.stdout).matches('\0').count(), 20);
    assert!(text(&output.stderr).contains("3.json:1:2: this example is not valid"), "{}", text(&output.stderr));
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    let (grammar, folder) = (json_grammar(), tempfile::tempdir().unwrap());
    std::fs::write(folder.path().join("other"), "").unwrap();
    let full = folder.path().display().to_string();
    let cases: [(&[&str], &str); 11] = [
        (&["--kind", "random"], "--kind random draws words of tokens, not texts"),
        (&["--kind", "spliced"], "--kind spliced needs valid texts: add --examples FOLDER"),
        (&["--examples", "x"], "--examples is for --kind spliced, but the kind is valid"),
        (&["--kind", "spliced", "--examples", "/no/such"], "could not read /no/such"),
        (&["--cover", "pairs", "--kind", "near-miss"], "--cover writes valid texts, but the kind is near-miss"),
        (&["--cover", "pairs", "--examples", "x"], "cannot be used with"),
        (&["--all", "3"], "cannot be used with"),
        (&["--chars"], "cannot be used with"),
        (&["--min-chars", "5", "--max-chars", "4"], "--min-chars is larger than --max-chars"),
        (&["--max-chars", "0"], "no valid text was found with 0 to 50 tokens"),
        (&["-o", &full], "is not empty: give a new folder"),
    ];
    for (options, message) in cases {
        let (code, said) = told(&sample(&grammar, options));
        assert_eq!(code, 2, "{options:?}: {said}");
        assert!(said.contains(message), "{options:?}: {said}");
    }
    let (code, said) = told(&["sample", &grammar, "--kind", "spliced"]);
    assert!(code == 2 && said.contains("add --texts"), "{said}");
    let (code, said) = told(&["sample", "task:dyck1", "--texts"]);
    assert!(code == 2 && said.contains("--texts needs a grammar"), "{said}");
}
