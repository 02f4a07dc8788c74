//! Generated recognizers, compiled and run: what tests of several crates share.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use echostack::table::{Prefix, SourceLanguage};
use echostack::{Lookahead, SymbolId, Table, Verdict};

/// A Rust program that reads words as lines of numbers, judges them with the generated recognizer, and prints a line
/// for each.
const RUST: &str = r#"
mod recognizer;
use recognizer::{Reader, State, TOKENS, Verdict};
fn main() {
    let mut stack: Vec<State> = vec![0; 1 << 16];
    for line in std::io::stdin().lines() {
        let mut reader = Reader::new(&mut stack);
        for token in line.unwrap().split_ascii_whitespace() {
            if !reader.read(token.parse().unwrap()) {
                break;
            }
        }
        let verdict = reader.verdict();
        match verdict {
            Verdict::Accept => print!("accept"),
            Verdict::Incomplete => print!("incomplete"),
            Verdict::Reject { position } => print!("reject {position}"),
            Verdict::Full { position } => print!("full {position}"),
        }
        for token in (0..=TOKENS.len()).filter(|&token| verdict != Verdict::Accept && reader.fits(token)) {
            print!(" {token}");
        }
        println!();
    }
}
"#;

/// A C program that does what [`RUST`] does.
const C: &str = r#"
#include <stdio.h>
#include "recognizer.c"
static echostack_state stack[1 << 16];
int main(void) {
    int c = getchar();
    while (c != EOF) {
        echostack_reader reader;
        echostack_verdict verdict;
        size_t token;
        int goes_on = 1;
        echostack_begin(&reader, stack, sizeof stack / sizeof *stack);
        while (c != '\n' && c != EOF) {
            token = 0;
            while (c >= '0' && c <= '9') {
                token = 10 * token + (size_t)(c - '0');
                c = getchar();
            }
            if (goes_on)
                goes_on = echostack_read(&reader, token);
            if (c == ' ')
                c = getchar();
        }
        verdict = echostack_end(&reader);
        switch (verdict) {
        case ECHOSTACK_ACCEPT: printf("accept"); break;
        case ECHOSTACK_INCOMPLETE: printf("incomplete"); break;
        case ECHOSTACK_REJECT: printf("reject %lu", (unsigned long)reader.position); break;
        case ECHOSTACK_FULL: printf("full %lu", (unsigned long)reader.position); break;
        }
        if (verdict != ECHOSTACK_ACCEPT)
            for (token = 0; token <= ECHOSTACK_TOKENS; token++)
                if (echostack_fits(&reader, token))
                    printf(" %lu", (unsigned long)token);
        printf("\n");
        c = getchar();
    }
    return 0;
}
"#;

/// Returns a verdict as the programs print it.
/// Words as the programs read them: one per line, tokens by number.
pub(crate) fn lines(words: &[Vec<SymbolId>]) -> String {
    let mut text = String::new();
    for word in words {
        let numbers: Vec<String> = word.iter().map(|token| token.index().to_string()).collect();
        writeln!(text, "{}", numbers.join(" ")).unwrap();
    }
    text
}

pub(crate) fn line(verdict: &Verdict, terminals: usize) -> String {
    let mut line = match verdict {
        Verdict::Accept => "accept".to_string(),
        Verdict::Incomplete { .. } => "incomplete".to_string(),
        Verdict::Reject { position, .. } => format!("reject {position}"),
        Verdict::Stopped { .. } => unreachable!("words are short"),
    };
    for next in verdict.expected() {
        let number = next.token().map_or(terminals, SymbolId::index);
        write!(line, " {number}").unwrap();
        assert!(*next == Lookahead::End || number < terminals);
    }
    line
}

fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}

/// Compiles the source generated from a table and runs it on the words.
pub(crate) fn run(table: &Table, language: SourceLanguage, words: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let source = table.source(language, &Prefix::default()).unwrap().code(None);
    match language {
        SourceLanguage::Rust => {
            std::fs::write(at("recognizer.rs"), source).unwrap();
            std::fs::write(at("lib.rs"), "#![no_std]\n#![deny(warnings)]\npub mod recognizer;\n").unwrap();
            std::fs::write(at("main.rs"), RUST).unwrap();
            for name in ["lib", "main"] {
                let kind = if name == "lib" { "lib" } else { "bin" };
                let mut rustc = Command::new("rustc");
                rustc.args(["-O", "--edition", "2024", "--crate-type", kind, "--crate-name", name]);
                succeed(rustc.current_dir(folder.path()).arg(format!("{name}.rs")));
            }
        }
        SourceLanguage::C => {
            std::fs::write(at("recognizer.c"), source).unwrap();
            std::fs::write(at("main.c"), C).unwrap();
            let strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O2", "-o", "main", "main.c"];
            succeed(Command::new("cc").current_dir(folder.path()).args(strict));
        }
    }
    let mut program = Command::new(at("main")).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = program.stdin.take().unwrap();
    let words = words.to_string();
    let writer = std::thread::spawn(move || stdin.write_all(words.as_bytes()).unwrap());
    let output = program.wait_with_output().unwrap();
    writer.join().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_string).collect()
}
