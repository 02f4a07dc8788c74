//! Tests of `check` and `parse` with files as people have them: missing, empty, in other encodings, from a slow pipe.

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use common::peak_kib;
use echostack::{Recognizer, SymbolId, Table, Word};
use echostack_grammar::{Encoding, Subject};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A folder with tables of JSON, with its lexer, and of the paper's a^n b^n.
static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let grammars = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/grammars");
    for name in ["json", "anbn"] {
        let subject = Subject::open_grammar(&grammars.join(name), Encoding::Auto).unwrap();
        subject.table(&()).unwrap().save(folder.path().join(format!("{name}.table"))).unwrap();
    }
    std::fs::write(folder.path().join("good.json"), "[1]\n").unwrap();
    std::fs::write(folder.path().join("bad.json"), "[1,]\n").unwrap();
    std::fs::write(folder.path().join("short.json"), "[1,\n").unwrap();
    folder
});

fn program(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_echostack"));
    command.args(arguments.split(' ')).current_dir(FOLDER.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Returns the standard output, the standard error and the exit code.
fn run(arguments: &str, input: &[u8]) -> (String, String, i32) {
    let mut child = program(arguments).spawn().unwrap();
    let mut to = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        // A command that ends early closes its input.
        scope.spawn(move || _ = to.write_all(input));
        child.wait_with_output().unwrap()
    });
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (out, err, output.status.code().unwrap())
}

#[test]
fn a_missing_file_does_not_end_the_run() {
    let (out, err, code) = run("check json.table good.json nosuch bad.json", b"");
    assert!(out.starts_with("good.json: accept\nbad.json:1:4: unexpected ']'"), "{out}");
    assert!(err.starts_with("echostack: could not read nosuch: No such file"), "{err}");
    assert!(err.ends_with("\n1 accepted, 1 rejected, 1 could not be read\n"), "{err}");
    assert_eq!(code, 2);
    let (out, err, code) = run("parse json.table nosuch good.json", b"");
    assert_eq!((out.as_str(), code), ("(Value [ (Elements (Value 1)) ])\n", 2));
    assert!(err.starts_with("echostack: could not read nosuch"), "{err}");
    let (out, _, code) = run("check anbn.table nosuch - --tokens", b"a b\n");
    assert_eq!((out.as_str(), code), ("-:1: accept\n", 2));
}

#[test]
fn failures_and_counts_are_shown() {
    let (out, err, code) = run("check json.table --failures good.json short.json bad.json good.json", b"");
    assert_eq!(out.lines().filter(|line| line.contains(".json")).count(), 2, "{out}");
    assert_eq!((err.as_str(), code), ("2 accepted, 1 rejected, 1 incomplete\n", 1));
    let (out, err, code) = run("check anbn.table --tokens --failures", b"a b\na a b\n\na b\nb\n");
    assert_eq!(
        out,
        "-:2: incomplete, expected b\n-:3: incomplete, expected a\n-:5: reject at token 1: unexpected b, expected a\n"
    );
    assert_eq!((err.as_str(), code), ("2 accepted, 1 rejected, 2 incomplete\n", 1));
    assert_eq!(run("check json.table good.json bad.json --quiet", b""), (String::new(), String::new(), 1));
}

#[test]
fn many_lines_are_judged_like_single_words() {
    let table = Table::load(FOLDER.path().join("anbn.table")).unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let (mut spaced, mut dense, mut wanted) = (String::new(), String::new(), String::new());
    let mut accepted = 0;
    for line in 1..=20_000 {
        let count = random.random_range(0..8);
        let mut names = [vec!["a"; count], vec!["b"; count]].concat();
        if random.random_bool(0.3) {
            names.insert(random.random_range(0..=names.len()), ["a", "b", "x"][random.random_range(0..3)]);
        }
        let end = if random.random_bool(0.1) { "\r\n" } else { "\n" };
        spaced += &(names.join(" ") + end);
        dense += &(names.concat() + end);
        let symbol = |name: &&str| table.alphabet().symbol(name).unwrap_or(SymbolId::UNKNOWN);
        let verdict = table.judge(&Word::Symbols(names.iter().map(symbol).collect()));
        let place = verdict.position().map(|position| format!(" at token {}", position + 1)).unwrap_or_default();
        wanted.extend(["-:", &line.to_string(), ": ", verdict.name(), &place, "\n"]);
        accepted += usize::from(verdict.is_accept());
    }
    assert!(accepted > 10_000);
    for (option, input) in
        [("--tokens", &spaced), ("--chars", &dense), ("--chars", &dense.strip_suffix('\n').unwrap().to_string())]
    {
        let (out, err, _) = run(&format!("check anbn.table {option}"), input.as_bytes());
        let short =
            |line: &str| format!("{}\n", line.split([',']).next().unwrap().split(": unexpected").next().unwrap());
        assert_eq!(out.lines().map(short).collect::<String>(), wanted);
        assert!(err.starts_with(&format!("{accepted} accepted")), "{err}");
    }
}

#[test]
fn colors_are_off_unless_they_are_asked_for() {
    assert!(!run("check json.table bad.json", b"").0.contains('\u{1b}'));
    assert!(
        run("check json.table bad.json --color always", b"").0.contains("\u{1b}[31munexpected ']'\u{1b}[0m, expected")
    );
    assert_eq!(run("check anbn.table --tokens --color always", b"a b\n").0, "-:1: \u{1b}[32maccept\u{1b}[0m\n");
}

#[test]
fn an_empty_file_contains_no_words() {
    for option in ["--tokens", "--chars"] {
        assert_eq!(run(&format!("check anbn.table {option}"), b""), (String::new(), String::new(), 0));
    }
    assert_eq!(run("check anbn.table --tokens", b"\n").0, "-:1: incomplete, expected a\n");
    // An empty text is a text.
    assert!(run("check json.table", b"").0.starts_with("-:1:1: unexpected end, expected STRING"));
}

#[test]
fn other_encodings_are_named() {
    let (out, _, code) = run("check json.table", b"\xff\xfe[\0]\0");
    assert!(out.starts_with("-:1:1: this is not UTF-8, but probably UTF-16: convert it"), "{out}");
    assert_eq!(code, 1);
    let (out, ..) = run("check json.table", b"[\"caf\xe9\"]");
    assert_eq!(out, "-:1:6: this is not UTF-8: byte 0xe9 at offset 5\n  [\"caf\n       ^\n");
    assert_eq!(run("check json.table", b"\xef\xbb\xbf[1]\r\n").0, "-: accept\n");
    let (out, ..) = run("check json.table", "[\"日本\" 1]".as_bytes());
    assert_eq!(out, "-:1:7: unexpected NUMBER 1, expected ']' or ','\n  [\"日本\" 1]\n          ^\n");
}

#[test]
fn both_kinds_of_input_give_the_same_json() {
    let value = |arguments: &str, input: &[u8]| -> serde_json::Value {
        serde_json::from_str(&run(arguments, input).0).unwrap()
    };
    let text = value("check json.table --json", b"[1 2]");
    let tokens = value("check json.table --json --tokens", b"[ NUMBER NUMBER ]\n");
    for field in ["verdict", "position", "unexpected", "expected", "expected_end"] {
        assert_eq!(text[field], tokens[field], "{field}");
    }
    assert_eq!((&text["unexpected"], &text["expected"]), (&"NUMBER".into(), &serde_json::json!(["]", ","])));
    assert_eq!((text["line"].as_u64(), text["column"].as_u64(), text["byte"].as_u64()), (Some(1), Some(4), Some(3)));
    let ended = value("check json.table --json --tokens", b"NUMBER NUMBER\n");
    assert_eq!((&ended["expected"], &ended["expected_end"]), (&serde_json::json!([]), &true.into()));
    assert_eq!(value("check json.table --json", b"[tru]")["by"], "lexer");
}

#[test]
fn an_error_in_a_pipe_is_reported_as_soon_as_it_is_read() {
    let mut child = program("check json.table").spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"[1, 2,\n 3 4").unwrap();
    input.write_all(b",").unwrap();
    input.flush().unwrap();
    // The pipe stays open.
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "-:2:4: unexpected NUMBER 4, expected ']' or ','\n");
    drop(input);
    child.wait().unwrap();
}

#[test]
fn a_text_is_read_in_bounded_memory() {
    let mut child = program("check json.table").spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    // A string of 32 MB, and as much white space: neither is kept.
    input.write_all(b"[\"").unwrap();
    for byte in [b'x', b' '] {
        for _ in 0..512 {
            input.write_all(&vec![byte; 1 << 16]).unwrap();
        }
        input.write_all(if byte == b'x' { b"\"" } else { b"1" }).unwrap();
    }
    let kib = peak_kib(&child);
    drop(input);
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    child.wait().unwrap();
    assert!(out.starts_with("-:1:67108868: unexpected NUMBER 1, expected ']' or ','\n"), "{out}");
    assert!(kib.is_none_or(|kib| kib < 32 << 10), "{kib:?} KiB");
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let mut child = program("check anbn.table --tokens").spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut line = String::new();
    let mut out = BufReader::with_capacity(16, child.stdout.take().unwrap());
    input.write_all(b"a b\n").unwrap();
    out.read_line(&mut line).unwrap();
    drop(out);
    for _ in 0..100_000 {
        if input.write_all(b"a b\n").is_err() {
            break;
        }
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert_eq!((String::from_utf8(output.stderr).unwrap().as_str(), output.status.code()), ("", Some(0)));
}

#[test]
fn several_mistakes_of_a_text_are_reported() {
    let text = b"{\"a\" 1,\n \"b\": [2 3],\n \"c\": tru}";
    let (out, err, code) = run("check json.table --errors 5 -", text);
    let lines: Vec<&str> = out.lines().filter(|line| line.starts_with("-:")).collect();
    let wanted = [
        "-:1:6: unexpected NUMBER 1, expected ':'",
        "-:2:10: unexpected NUMBER 3, expected ']' or ','",
        "-:3:7: no token begins with 't', expected STRING, NUMBER, true, false, null, '{' or '['",
    ];
    assert_eq!((lines, err.as_str(), code), (wanted.to_vec(), "", 1));
    let (one, _, _) = run("check json.table -", text);
    assert_eq!(one, run("check json.table --errors 1 -", text).0);
    assert!(out.starts_with(&one));
    let (json, _, _) = run("check json.table --errors 2 --json -", text);
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&value["line"], &value["more"][0]["line"], &value["more"][1]), (&1.into(), &2.into(), &().into()));
    assert_eq!(run("check json.table --errors 5 good.json", b"").0, "good.json: accept\n");
    let (_, err, code) = run("check anbn.table --errors 5 --tokens -", b"a b");
    assert!(err.contains("--errors is for texts"), "{err}");
    assert_eq!(code, 2);
}

#[test]
fn sources_are_written_with_their_header() {
    // The name of the file says what is written.
    let (_, err, code) = run("compile json.table --prefix json_ -o json.c", b"");
    assert_eq!(code, 0, "{err}");
    assert!(err.ends_with("; saved json.c and json.h\n"), "{err}");
    let [code, header] = ["json.c", "json.h"].map(|name| std::fs::read_to_string(FOLDER.path().join(name)).unwrap());
    assert!(code.contains("#include \"json.h\"") && header.contains("#ifndef JSON_RECOGNIZER_H"));
    assert!(!code.contains("echostack_") && !header.contains("echostack_"));
    for (arguments, message) in [
        ("compile json.table --emit rust --prefix x_ -o x.rs", "--prefix is for --emit c"),
        ("compile json.table -o x.h", "is a header"),
        ("compile json.table -o none/x.c", "there is no folder none"),
        ("compile json.table --emit c --prefix 1x -o x.c", "cannot be a prefix"),
    ] {
        let (_, err, code) = run(arguments, b"");
        assert!(err.contains(message), "{err}");
        assert_eq!(code, 2);
    }
}
