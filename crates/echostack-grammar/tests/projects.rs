//! Tests of grammars and lexers in the style of real projects, which flex and bison read without edits, and so do we.

mod programs;

use std::path::{Path, PathBuf};

use echostack::{Limits, Verdict};
use echostack_grammar::{Encoding, Judge, Subject};
use programs::run;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Returns the folders of grammars in the style of real projects, each with its lexer and texts.
fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/wild");
    let mut folders: Vec<_> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    assert_eq!(folders.len(), 6);
    folders
}

/// Returns the texts in a file, which lines of hyphens separate.
fn texts(folder: &Path, name: &str) -> Vec<String> {
    let file = std::fs::read_to_string(folder.join(name)).unwrap();
    file.split("----\n").map(str::to_string).collect()
}

fn judge(folder: &Path) -> (Subject, Judge) {
    let subject = Subject::open_grammar(folder, Encoding::Auto).unwrap_or_else(|error| {
        panic!("{error}: {}", std::error::Error::source(&error).unwrap());
    });
    let table = subject.table(&()).unwrap();
    (subject, Judge::new(table.into()).unwrap())
}

fn accepts_text(judge: &Judge, text: &str) -> bool {
    judge.judge_tokens(text, &judge.tokens(text), Limits::default(), &mut ()).verdict == Verdict::Accept
}

#[test]
fn grammars_and_lexers_of_projects_are_read_without_edits() {
    let mut warned = Vec::new();
    for folder in folders() {
        let (subject, judge) = judge(&folder);
        for (name, accepted) in [("good.txt", true), ("bad.txt", false)] {
            for text in texts(&folder, name) {
                assert_eq!(accepts_text(&judge, &text), accepted, "{}: {text:?}", folder.display());
            }
        }
        subject.check_lexer().unwrap();
        let root = format!("{}/", folder.parent().unwrap().display());
        warned.extend(subject.warnings().iter().map(|warning| warning.to_string().replace(&root, "")));
    }
    assert_eq!(warned, EXPECTED);
}

/// The warnings about the grammars and lexers.
const EXPECTED: [&str; 10] = [
    "calculator/grammar.y:51:5: the production with the token error is left out: error recovery is not part of the language",
    "conf/grammar.y:41:5: 2 productions with the token error are left out: error recovery is not part of the language",
    "filter/grammar.y:30:8: BAD_CHARACTER is declared as a token, but no rule uses it",
    "filter/grammar.y:72:5: the production with the token error is left out: error recovery is not part of the language",
    "the lexer produces BAD_CHARACTER, which no word of the grammar contains",
    "sql/grammar.y:56:18: the production with the token error is left out: error recovery is not part of the language",
    "statements/grammar.y:24:8: INVALID is declared as a token, but no rule uses it",
    "statements/grammar.y:50:5: 2 productions with the token error are left out: error recovery is not part of the language",
    "statements/lexer.l:55:1: rules for <<EOF>> are left out: the end of the text is the end of the word",
    "the lexer produces INVALID, which no word of the grammar contains",
];

/// Compares the grammars with the programs that flex, bison and a C compiler make of them, on the texts and on damaged
/// ones. A text that no rule of the lexer matches is an error in both.
#[test]
#[ignore = "needs flex, bison and a C compiler"]
fn the_programs_of_flex_and_bison_agree() {
    let mut random = ChaCha8Rng::seed_from_u64(22);
    let mut counts = [0, 0];
    for folder in folders() {
        let (_, judge) = judge(&folder);
        let made = tempfile::tempdir().unwrap();
        for file in ["grammar.y", "lexer.l"] {
            std::fs::copy(folder.join(file), made.path().join(file)).unwrap();
        }
        run(made.path(), "bison", &["-d", "grammar.y"], "").unwrap();
        run(made.path(), "flex", &["lexer.l"], "").unwrap();
        let included = std::fs::read_to_string(folder.join("grammar.y")).unwrap().contains("#include \"lex.yy.c\"");
        let files: &[&str] = if included { &["grammar.tab.c"] } else { &["grammar.tab.c", "lex.yy.c"] };
        run(made.path(), "cc", &[&["-w", "-o", "program"], files, &["-lm"]].concat(), "").unwrap();
        let known: Vec<String> = ["good.txt", "bad.txt"].iter().flat_map(|name| texts(&folder, name)).collect();
        for number in 0..500 {
            let mut text = known[number % known.len()].clone();
            if number >= known.len() {
                for _ in 0..random.random_range(1..3) {
                    damage(&mut random, &mut text, &known);
                }
            }
            let accepted = accepts_text(&judge, &text);
            let expected = run(made.path(), "timeout", &["5", "./program"], &text).is_some();
            assert_eq!(accepted, expected, "{}: {text:?}", folder.display());
            counts[usize::from(accepted)] += 1;
        }
    }
    println!("{} texts accepted and {} rejected by both", counts[1], counts[0]);
    assert!(counts.iter().all(|&count| count > 300), "{counts:?}");
}

/// Removes a part of a text, or puts a part of another text into it.
fn damage(random: &mut ChaCha8Rng, text: &mut String, others: &[String]) {
    let place = |random: &mut ChaCha8Rng, text: &str| random.random_range(0..=text.len());
    let (from, to) = (place(random, text), place(random, text));
    if random.random_bool(0.5) {
        text.replace_range(from.min(to)..(from.min(to) + 3).min(from.max(to)), "");
    } else {
        let other = &others[random.random_range(0..others.len())];
        let start = place(random, other);
        let length = random.random_range(0..6).min(other.len() - start);
        text.insert_str(from, &other[start..start + length]);
    }
}
