//! The shipped grammars, as the page learns and reads them.

use std::path::{Path, PathBuf};

use echostack_grammar::{Encoding, Judge, Subject};
use echostack_web::{Action, PageError, PageModel, Reading, compile, learn, read};

/// Too large for the page, as tools/web.py has it.
const LEFT_OUT: &str = "lua";

/// Returns the machine and the number of rounds.
fn learned(name: &str, grammar: &str, lexer: Option<&str>) -> Result<(PageModel, usize), PageError> {
    let mut rounds = 0;
    let learned = learn(name, grammar, lexer, &(), &mut |_| rounds += 1)?;
    Ok((learned, rounds))
}

fn folders() -> Vec<PathBuf> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/grammars");
    let paths = std::fs::read_dir(all).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| !path.ends_with(LEFT_OUT)).collect()
}

/// Returns the judge that runs the automaton of the grammar, and learned nothing.
fn reference(folder: &Path) -> Judge {
    let subject = Subject::open_grammar(folder, Encoding::Auto).unwrap();
    Judge::new(subject.table(&()).unwrap().into()).unwrap()
}

/// Returns the depth of the stack at the end, which never falls below 0 on the way.
fn depth(reading: &Reading) -> usize {
    reading.steps.iter().fold(0, |depth: usize, step| match &step.action {
        Action::Reduce { pop, push, .. } => depth.checked_sub(*pop as usize).unwrap() + usize::from(push.is_some()),
        Action::Shift => depth + 1,
        Action::Refuse => depth,
    })
}

#[test]
fn every_step_is_that_of_the_automaton() {
    let folders = folders();
    assert!(folders.len() >= 12);
    for folder in folders {
        let file = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        let name = folder.file_name().unwrap().to_string_lossy();
        let (learned, rounds) = learned(&name, &file("grammar.y"), Some(&file("lexer.l"))).unwrap();
        assert!(learned.summary().proved && learned.certificate().is_some() && rounds > 0, "{name}");
        let reference = reference(&folder);
        let compiled = compile(&name, &file("grammar.y"), Some(&file("lexer.l")), &()).unwrap();
        assert!(compiled.summary().states > Some(0) && compiled.certificate().is_none(), "{name}");
        let cases: toml::Table = file("cases.toml").parse().unwrap();
        for text in cases["accept"].as_array().unwrap() {
            let reading = read(learned.judge(), text.as_str().unwrap());
            assert_eq!(reading, read(&reference, text.as_str().unwrap()), "{name}");
            assert_eq!((reading.verdict, depth(&reading) <= 2, reading.place), ("accept", true, None), "{name} {text}");
        }
        for case in cases["reject"].as_array().unwrap() {
            let text = case["text"].as_str().unwrap();
            let reading = read(learned.judge(), text);
            assert_eq!(reading, read(&reference, text), "{name}");
            assert_eq!(reading, read(compiled.judge(), text), "{name}");
            let expected: Vec<&str> =
                case["expected"].as_array().unwrap().iter().filter_map(|name| name.as_str()).collect();
            assert_eq!(reading.expected.unwrap_or_default(), alternatives(&expected), "{name} {text:?}");
            assert_eq!(reading.verdict == "reject", case.get("at").is_some(), "{name} {text:?}");
        }
    }
}

/// Returns expected tokens as a reader sees them; `$end` is the end.
fn alternatives(names: &[&str]) -> String {
    let shown = |name: &&str| match *name {
        "$end" => "the end".to_string(),
        name if name.chars().all(|letter| letter.is_alphanumeric() || letter == '_') => name.to_string(),
        name => format!("'{name}'"),
    };
    let shown: Vec<String> = names.iter().map(shown).collect();
    match shown.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        one => one.map_or(String::new(), |(last, _)| last.clone()),
    }
}

#[test]
fn a_grammar_without_a_lexer_reads_characters() {
    let (learned, _) = learned("grammar", "%%\nS: 'a' 'b' | 'a' S 'b';\n", None).unwrap();
    let reading = read(learned.judge(), "aabb");
    assert_eq!((reading.verdict, reading.tokens.len(), reading.steps.len()), ("accept", 4, 6));
    let reading = read(learned.judge(), "aé");
    assert_eq!((reading.verdict, reading.place, &*reading.reason), ("reject", Some([1, 2]), "unexpected é"));
    let incomplete = read(learned.judge(), "aab");
    assert_eq!((incomplete.verdict, incomplete.expected.as_deref()), ("incomplete", Some("b")));
}

#[test]
fn a_faulty_grammar_is_explained() {
    let message = |grammar: &str, lexer: Option<&str>| learned("grammar", grammar, lexer).unwrap_err().to_string();
    let expected = "grammar.y:2:8: T has no rules and is not declared as a token";
    assert!(message("%%\nS: 'x' T;\n", None).starts_with(expected), "{}", message("%%\nS: 'x' T;\n", None));
    assert!(message("%%\nS: S '+' S | 'x';\n", None).contains("two readings"));
    assert!(message("%%\nS: 'x' S;\n", None).contains("derives no word"));
    assert!(message("%%\nS: 'if' 'x';\n", None).contains("the terminal if; write a lexer"));
    assert!(message("%%\nS: 'x';\n", Some("%%\ny 'y'\n")).contains("the lexer of grammar never produces x"));
    assert!(message("%%\nS: 'x';\n", Some("%%\n( 'x'\n")).starts_with("lexer.l:2:"));
    assert!(message("", None).starts_with("grammar.y:"));
    let huge: Vec<String> = (0..20_000).map(|number| format!("'a{number}'")).collect();
    assert!(message(&format!("%%\nS: {};\n", huge.join(" | ")), None).contains("the limit is"));
}
