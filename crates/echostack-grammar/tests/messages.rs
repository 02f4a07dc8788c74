//! What grammars and lexers are refused or warned about, and in which words: each folder in `testdata/messages` is a
//! test of one message.
//!
//! `ECHOSTACK_REWRITE=1` writes the messages into the folders instead of comparing them.

use std::error::Error;
use std::fmt::{Display, Write};
use std::iter::successors;
use std::path::{Path, PathBuf};

use echostack_grammar::{Encoding, Subject};

/// Returns the folders of one kind, in the order of their names.
fn folders(kind: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/messages").join(kind);
    let mut all: Vec<PathBuf> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

/// Returns one message after the other, each with a line break.
fn lines<T: Display>(messages: impl Iterator<Item = T>) -> String {
    let mut text = String::new();
    messages.for_each(|message| writeln!(text, "{message}").unwrap());
    text
}

/// Opens the grammar in a folder. Returns its warnings, or why it is refused.
fn open(folder: &Path) -> Result<String, String> {
    // A file that cannot be read would be an error of the operating system, in its words.
    assert!(folder.join("grammar.y").is_file(), "{} has no grammar.y", folder.display());
    // Messages show paths as if they were seen from within the folder.
    let inside = format!("{}{}", folder.display(), std::path::MAIN_SEPARATOR);
    let name = folder.file_name().unwrap().to_string_lossy();
    let neutral = |text: String| text.replace(&inside, "").replace(&folder.display().to_string(), &name);
    match Subject::open_grammar(folder, Encoding::Auto) {
        Ok(subject) => Ok(neutral(lines(subject.warnings().iter()))),
        Err(error) => Err(neutral(lines(successors(Some(&error as &dyn Error), |&cause| cause.source())))),
    }
}

/// Shows where two texts differ: lines that are only in the first one after a minus, those only in the second one after
/// a plus.
fn difference(expected: &str, found: &str) -> String {
    let (expected, found): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), found.lines().collect());
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| pairs.take_while(|(one, other)| one == other).count();
    let begin = same(&mut expected.iter().zip(&found));
    let end = same(&mut expected[begin..].iter().rev().zip(found[begin..].iter().rev()));
    let mut text = String::new();
    let mut add = |mark: char, lines: &[&str]| lines.iter().for_each(|line| writeln!(text, "  {mark} {line}").unwrap());
    add(' ', &expected[..begin]);
    add('-', &expected[begin..expected.len() - end]);
    add('+', &found[begin..found.len() - end]);
    add(' ', &found[found.len() - end..]);
    text
}

/// Compares the messages of all folders of a kind with those that are expected, or writes them.
fn check(kind: &str, message: impl Fn(&Path) -> Result<String, &'static str>) {
    let rewrite = std::env::var("ECHOSTACK_REWRITE").is_ok_and(|value| value == "1");
    let (mut wrong, mut written) = (Vec::new(), 0);
    let folders = folders(kind);
    assert!(!folders.is_empty());
    for folder in &folders {
        let file = folder.join("expected.txt");
        let fault = match (message(folder), std::fs::read_to_string(&file)) {
            (Err(why), _) => why.to_string(),
            (Ok(found), Ok(expected)) if found == expected => continue,
            (Ok(found), _) if rewrite => {
                std::fs::write(&file, found).unwrap();
                println!("wrote {}", file.display());
                written += 1;
                continue;
            }
            (Ok(found), Ok(expected)) => format!("another message than expected\n{}", difference(&expected, &found)),
            (Ok(found), Err(_)) => format!("no expected.txt; the message is\n{}", difference("", &found)),
        };
        wrong.push(format!("{kind}/{}: {fault}", folder.file_name().unwrap().to_string_lossy()));
    }
    println!("{kind}: {} folders, {written} written", folders.len());
    let advice = "If the new messages are right, ECHOSTACK_REWRITE=1 writes them.";
    assert!(wrong.is_empty(), "{} of {} folders fail. {advice}\n{}", wrong.len(), folders.len(), wrong.join("\n"));
}

#[test]
fn grammars_are_refused_as_expected() {
    check("refused", |folder| open(folder).err().ok_or("the grammar is accepted, but an error is expected"));
}

#[test]
fn grammars_are_warned_about_as_expected() {
    check("warned", |folder| match open(folder) {
        Ok(warnings) if warnings.is_empty() => Err("there is no warning, but one is expected"),
        Ok(warnings) => Ok(warnings),
        Err(_) => Err("the grammar is refused, but a warning is expected"),
    });
}
