//! A machine, its table, and the sources made of it, in Rust and in C, compiled and run: the same verdict, position and expected
//! tokens on every word. `ECHOSTACK_WORDS` is the number of words for each language.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use echostack::certify::Proof;
use echostack::extract::extract;
use echostack::language::{Language, Walks, WordKind, draw};
use echostack::recognize::{Mode, View, judge_all};
use echostack::reservoir::ReservoirKind;
use echostack::symbol::Input;
use echostack::table::SourceLanguage;
use echostack::tasks::Task;
use echostack::{Limits, Lookahead, Manifest, Oracle, Params, Scanner, Study, SymbolId, Table, Verdict, Word};
use echostack_grammar::{Encoding, Grammar};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Reads words as lines of numbers with the recogniser and prints a line for each.
const RUST: &str = r#"
mod recogniser;
use recogniser::{Reader, State, TOKENS, Verdict};
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

const C: &str = r#"
#include <stdio.h>
#include "recogniser.c"
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

/// A verdict as the programs print it.
fn line(verdict: &Verdict, terminals: usize) -> String {
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

/// Compiles and runs a source with a table on the words.
fn run(table: &Table, language: SourceLanguage, words: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let source = table.source(language).unwrap();
    match language {
        SourceLanguage::Rust => {
            std::fs::write(at("recogniser.rs"), source).unwrap();
            std::fs::write(at("lib.rs"), "#![no_std]\n#![deny(warnings)]\npub mod recogniser;\n").unwrap();
            std::fs::write(at("main.rs"), RUST).unwrap();
            for name in ["lib", "main"] {
                let kind = if name == "lib" { "lib" } else { "bin" };
                let mut rustc = Command::new("rustc");
                rustc.args(["-O", "--edition", "2024", "--crate-type", kind, "--crate-name", name]);
                succeed(rustc.current_dir(folder.path()).arg(format!("{name}.rs")));
            }
        }
        SourceLanguage::C => {
            std::fs::write(at("recogniser.c"), source).unwrap();
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

fn symbols(word: &Word) -> Vec<SymbolId> {
    word.inputs()
        .map(|input| match input {
            Input::Symbol(symbol) => symbol,
            Input::Vector(_) => unreachable!("words of symbols"),
        })
        .collect()
}

/// How many words of a language are drawn at once.
const BATCH: usize = 250_000;

/// Learns a language, compiles what was learned, and compares everything on words of all kinds. Large ones are not learned: their
/// automaton is compiled.
fn compare(name: &str, language: &dyn Language, learned: bool) {
    let count: usize = std::env::var("ECHOSTACK_WORDS").map_or(3000, |count| count.parse().unwrap());
    let oracle = Oracle::strict(language.automaton().clone()).unwrap();
    let (machine, automaton) = if learned {
        let params =
            Params { view: View::Symbol, mode: Mode::Strict, ..Params::provable(ReservoirKind::Cycle, 256, 0) };
        let study = Study { words: 20, ..Study::default() };
        let (machine, proof) = study.prove(language, &params.check().unwrap(), &(), &mut |_| {}).unwrap();
        assert!(matches!(proof, Proof::Proved(_)), "{name}");
        let found = extract(&machine, &()).unwrap_or_else(|error| panic!("{name}: {error}"));
        (Some(machine), found.oracle)
    } else {
        (None, oracle.clone())
    };
    let table = Table::new(&automaton, Manifest::default()).unwrap();
    let terminals = table.alphabet().terminals().len();
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let walks = Walks::new(name, oracle.clone());
    let (mut done, mut accepted) = (0, 0);
    while done < count {
        let words: Vec<Word> = (done..count.min(done + BATCH))
            .filter_map(|number| draw(&walks, &oracle, WordKind::ALL[number % 3], 1..=30, &mut random))
            .collect();
        done += BATCH.min(count - done);
        let mut text = String::new();
        for word in &words {
            let numbers: Vec<String> = symbols(word).iter().map(|token| token.index().to_string()).collect();
            writeln!(text, "{}", numbers.join(" ")).unwrap();
        }
        let mut scanner = Scanner::new(&table, Limits::default());
        let scanned: Vec<Verdict> = words
            .iter()
            .map(|word| {
                scanner.read(symbols(word));
                scanner.finish()
            })
            .collect();
        accepted += scanned.iter().filter(|verdict| verdict.is_accept()).count();
        let truth = judge_all(&oracle, &words, Limits::default());
        assert!(scanned == truth, "{name}: the table and the automaton differ");
        if let Some(machine) = &machine {
            assert!(judge_all(machine, &words, Limits::default()) == truth, "{name}: the machine differs");
        }
        let lines: Vec<String> = scanned.iter().map(|verdict| line(verdict, terminals)).collect();
        for language in [SourceLanguage::Rust, SourceLanguage::C] {
            let printed = run(&table, language, &text);
            assert_eq!(printed.len(), lines.len(), "{name} {language:?}");
            for ((word, printed), line) in words.iter().zip(&printed).zip(&lines) {
                assert_eq!(printed, line, "{name} {language:?} {word:?}");
            }
        }
    }
    assert!(accepted * 10 > count && accepted < count, "{name}: {accepted} of {count} accepted");
    println!("{name}: {count} words, {accepted} accepted, {} states", table.states());
}

#[test]
fn the_papers_languages_are_compiled() {
    for task in Task::ALL.into_iter().filter(|task| task.is_symbolic()) {
        compare(task.name(), &*task.language().unwrap(), true);
    }
}

#[test]
fn shipped_grammars_are_compiled() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/grammars");
    let mut names: Vec<String> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert!(names.len() >= 13);
    for name in names {
        let large = name == "lua";
        let encoding = if large { Encoding::State } else { Encoding::Auto };
        let (grammar, _) = Grammar::open(&folder.join(&name), encoding).unwrap();
        compare(&name, &grammar, !large);
    }
}
