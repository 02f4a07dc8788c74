//! `echostack compare`, as a program.

use std::path::Path;
use std::process::{Command, Output};

fn echostack(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_echostack")).args(arguments).current_dir(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A program that reads sums of numbers. Its second version accepts a plus sign at the beginning, its third one blanks, too.
const SUMS: &str = r"import json, re, sys
version = int(sys.argv[1])
pattern = re.compile([r'\d+(\+\d+)*', r'\+?\d+(\+\d+)*', r'\+? *\d+(\+\d+)*'][version - 1], re.ASCII)
for line in sys.stdin:
    print('true' if pattern.fullmatch(json.loads(line)) else 'false', flush=True)
";

fn prepared() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    std::fs::create_dir(folder.path().join("examples")).unwrap();
    write("examples/1", "1");
    write("examples/2", "12+3");
    write("sums.py", SUMS);
    write("sums.y", "%token n\n%%\nS: S '+' n | n;\n");
    write("sums.l", "%%\n[0-9]+ \"n\"\n\\+ \"+\"\n");
    write("digits.y", "%token d\n%%\nS: S '+' N | N; N: d | N d;\n");
    write("digits.l", "%%\n[0-8] \"d\"\n\\+ \"+\"\n");
    folder
}

fn version(number: u8) -> String {
    format!("v{number}=persistent:python3 sums.py {number}")
}

const LIMITS: [&str; 4] = ["--examples", "examples", "--queries", "8000"];

#[test]
fn versions_of_a_program_are_compared_and_known_kinds_accepted() {
    let folder = prepared();
    let run = |sides: &[&str], more: &[&str]| {
        let output = echostack(folder.path(), &[&["compare"], sides, &LIMITS[..], more].concat());
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let [one, two, three] = [version(1), version(2), version(3)];
    let (code, table, said) = run(&[&one, &two], &[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(table.starts_with("\"+0\"\n  accepted by v2\n  refused by v1\n"), "{table}");
    assert!(said.ends_with("different: 1 kind of disagreement\n"), "{said}");
    // What is known is no reason to fail; what is new is.
    let (_, known, _) = run(&[&one, &two], &["--json"]);
    std::fs::write(folder.path().join("known.json"), known).unwrap();
    let (code, table, said) = run(&[&one, &two], &["--known", "known.json", "--report", "report.md"]);
    assert_eq!(code, Some(0), "{table}{said}");
    assert!(table.starts_with("\"+0\" (known)\n"), "{table}");
    assert!(said.contains("no new disagreement was found: 1 kind is known"), "{said}");
    let report = std::fs::read_to_string(folder.path().join("report.md")).unwrap();
    assert!(
        report.contains("## Kinds of disagreement that are known") && report.contains("| `\"+0\"` | v2 | v1 |"),
        "{report}"
    );
    let newer = three.replace("v3", "v2");
    let (code, table, said) = run(&[&one, &newer], &["--known", "known.json"]);
    assert_eq!(code, Some(1), "{table}{said}");
    assert!(
        table.contains("\" 0\"\n  accepted by v2") && said.contains("1 new kind of disagreement, and 1 kind is known"),
        "{table}{said}"
    );
    // What is known and no longer there is told.
    let same = two.replace("v2", "v1");
    let (code, _, said) = run(&[&same, &two], &["--known", "known.json"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("no longer disagree in the known way on \"+0\"") && said.contains("no disagreement was found"),
        "{said}"
    );
    assert!(said.contains("the sides agree on all") && said.contains("with confidence"), "{said}");
}

#[test]
fn grammars_are_compared_with_each_other_and_with_programs() {
    let folder = prepared();
    let run = |sides: &[&str]| {
        let output = echostack(folder.path(), &[&["compare"], sides, &LIMITS[..]].concat());
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, _, said) = run(&["sums.y", "other=sums.y"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.ends_with("equal: the same texts, of all lengths\n"), "{said}");
    let (code, table, _) = run(&["sums.y", "digits.y"]);
    assert_eq!(code, Some(1));
    assert!(
        table.starts_with(
            "\"9\"\n  accepted by sums.y\n  refused by digits.y\n  sums.y after 0 characters: reads n as S\n  digits.y after 0 \
             characters: no token begins"
        ),
        "{table}"
    );
    let (code, table, said) = run(&["sums.y", &version(1)]);
    // Lexers skip a byte order mark, and the program does not.
    assert_eq!(code, Some(1), "{table}{said}");
    assert!(
        table.starts_with("\"\\u{feff}0\"\n  accepted by sums.y\n") && said.ends_with("1 kind of disagreement\n"),
        "{table}{said}"
    );
    let (code, table, _) = run(&["sums.y", &version(3)]);
    assert_eq!(code, Some(1));
    assert!(table.contains("sums.y after 0 characters: unexpected '+', expected n"), "{table}");
}

#[test]
fn mistakes_of_the_user_are_explained() {
    let folder = prepared();
    let one = version(1);
    let cases: [(&[&str], &str); 6] = [
        (&["sums.y", "sums.y"], "two sides are called `sums.y`"),
        (&["sums.y", "none=false"], "`none` accepts none of the 2 examples"),
        (&["sums.y", "./nowhere"], "there is no file ./nowhere; if it is a program, write `program:./nowhere`"),
        (&["sums.y", "no=program:./nowhere"], "could not be started: there is no such program"),
        (&["sums.y", "sums.py"], "could not read sums.py as a table or a machine"),
        (&["sums.y", &one, "--known", "sums.y"], "these are not the kinds of an earlier comparison"),
    ];
    for (arguments, message) in cases {
        let output = echostack(folder.path(), &[&["compare"], arguments, &LIMITS[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?} {}", text(&output.stdout));
        assert!(text(&output.stderr).contains(message), "{arguments:?}: {}", text(&output.stderr));
    }
}

/// The same seed gives the same result, with any number of workers.
#[test]
fn the_number_of_workers_changes_nothing() {
    let folder = prepared();
    let [one, two] = [version(1), version(3)];
    let run = |workers: &str| {
        let more = ["--json", "--workers", workers, "--queries", "4000"];
        let output =
            echostack(folder.path(), &[&["compare", &one, &two, "--examples", "examples"], &more[..]].concat());
        let mut found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        found["seconds"] = 0.into();
        found
    };
    assert_eq!(run("1"), run("3"));
}
