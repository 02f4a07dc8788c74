//! Tests that a machine, its table, and the Rust and C sources generated from the table (compiled and run) give the
//! same verdict, position and expected tokens on every word. `ECHOSTACK_WORDS` is the number of words for each
//! language.
#![cfg(feature = "machine")]

mod grammars;
mod sources;

use std::path::{Path, PathBuf};

use echostack::certify::Proof;
use echostack::extract::extract;
use echostack::language::{Language, Walks, WordKind, draw};
use echostack::recognize::{Mode, View, judge_all};
use echostack::reservoir::ReservoirKind;
use echostack::symbol::Input;
use echostack::table::SourceLanguage;
use echostack::tasks::Task;
use echostack::{Limits, Manifest, Oracle, Params, Scanner, Study, SymbolId, Table, Verdict, Word};
use echostack_grammar::{Encoding, Grammar, Subject};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn symbols(word: &Word) -> Vec<SymbolId> {
    word.inputs()
        .map(|input| match input {
            Input::Symbol(symbol) => symbol,
            Input::Vector(_) => unreachable!("words of symbols"),
        })
        .collect()
}

/// The number of words of a language that are drawn at once.
const BATCH: usize = 250_000;

/// Trains a machine on a language, compiles it, and compares all recognizers on words of all kinds. For large languages
/// (`learned` is false), there is no machine, and the automaton is compiled instead.
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
        let tokens: Vec<Vec<SymbolId>> = words.iter().map(symbols).collect();
        let text = sources::lines(&tokens);
        let mut scanner = Scanner::new(&table, Limits::default());
        let scanned: Vec<Verdict> = words
            .iter()
            .map(|word| {
                scanner.read(symbols(word));
                scanner.finish()
            })
            .collect();
        accepted += scanned.iter().filter(|verdict| verdict.is_accept()).count();
        let truth: Vec<Verdict> = judge_all(&oracle, &words, Limits::default());
        assert!(scanned == truth, "{name}: the table and the automaton differ");
        assert!(table.judge_all::<Verdict>(&words, Limits::default()) == truth, "{name}: the frames differ");
        if let Some(machine) = &machine {
            assert!(
                judge_all::<_, Verdict>(machine, &words, Limits::default()) == truth,
                "{name}: the machine differs"
            );
        }
        let lines: Vec<String> = scanned.iter().map(|verdict| sources::line(verdict, terminals)).collect();
        for language in [SourceLanguage::Rust, SourceLanguage::C] {
            let printed = sources::run(&table, language, &text);
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
    for folder in grammars::folders() {
        let large = folder.ends_with("lua");
        let encoding = if large { Encoding::State } else { Encoding::Auto };
        let (grammar, _) = Grammar::open(&folder, encoding).unwrap();
        compare(&grammar.to_string(), &grammar, !large);
    }
}

/// Returns the folders of grammars in a folder of `testdata`.
fn folders(name: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name);
    let all = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| path.join("grammar.y").exists()).collect()
}

#[test]
fn tables_of_all_grammars_can_be_read_back() {
    let all: Vec<PathBuf> = ["grammars", "wild", "grammars-large"].into_iter().flat_map(folders).collect();
    assert!(all.len() > 15, "{all:?}");
    for folder in all {
        for encoding in [Encoding::Auto, Encoding::State] {
            let subject = Subject::open_grammar(&folder, encoding).unwrap();
            let oracle = subject.oracle(Mode::Strict, &()).unwrap();
            let file = Table::new(&oracle, Manifest::default()).unwrap().to_bytes().unwrap();
            let again = Table::from_bytes(&file).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
            assert!(again.to_bytes().unwrap() == file, "{}", folder.display());
        }
    }
}
