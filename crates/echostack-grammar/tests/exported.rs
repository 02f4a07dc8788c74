//! Tests of grammars that are written for other tools: grmtools reads them back.

use std::path::Path;

use echostack::automaton::{Notation, WordGrammar};
use echostack::certify::{Proof, check};
use echostack::extract::extract;
use echostack::language::{Language, Walks, WordKind, draw};
use echostack::recognize::{Mode, View, judge_all};
use echostack::reservoir::ReservoirKind;
use echostack::tasks::Task;
use echostack::{Limits, Oracle, Params, Study, Word};
use echostack_grammar::{Encoding, Grammar};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Returns all words up to a length that is chosen so that there are about `most` of them.
fn short_words(terminals: usize, most: usize) -> Vec<Word> {
    let mut words = vec![Vec::new()];
    let mut from = 0;
    while words.len() * terminals < most {
        let longer: Vec<Vec<usize>> = words[from..]
            .iter()
            .flat_map(|word| (0..terminals).map(move |token| [&word[..], &[token]].concat()))
            .collect();
        from = words.len();
        words.extend(longer);
    }
    words
        .into_iter()
        .map(|word| Word::from(word.into_iter().map(echostack::SymbolId::new).collect::<Vec<_>>()))
        .collect()
}

/// Asserts that grmtools reads the written grammar without conflicts, and that it has the same words.
fn read_back(name: &str, oracle: &Oracle) {
    let alphabet = oracle.automaton().alphabet();
    let written = WordGrammar::new(oracle).unwrap().write(Notation::Yacc, alphabet);
    let grammar =
        Grammar::new(name, &written, Encoding::State).unwrap_or_else(|error| panic!("{name}: {error}\n{written}"));
    let again = Oracle::strict(grammar.automaton().clone()).unwrap();
    let walks = Walks::new(name, oracle.clone());
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut words = short_words(alphabet.terminals().len(), 20_000);
    for number in 0..600 {
        words.extend(draw(&walks, oracle, WordKind::ALL[number % 3], 1..=40, &mut random));
    }
    // The tokens of the grammar that was read back may have other numbers.
    let names = |word: &Word| -> Option<Word> {
        let tokens = word.inputs().map(|input| match input {
            echostack::symbol::Input::Symbol(symbol) => alphabet.name(symbol),
            echostack::symbol::Input::Vector(_) => unreachable!("words of symbols"),
        });
        grammar.automaton().alphabet().word(tokens).ok()
    };
    // A token that occurs in no production has no name in that grammar; words with such a token are wrong and are
    // skipped.
    let (known, renamed): (Vec<Word>, Vec<Word>) =
        words.into_iter().filter_map(|word| names(&word).map(|renamed| (word, renamed))).unzip();
    let (wanted, given) =
        (judge_all(oracle, &known, Limits::default()), judge_all(&again, &renamed, Limits::default()));
    let mut accepted = 0;
    for ((word, wanted), given) in known.iter().zip(&wanted).zip(&given) {
        assert_eq!(wanted.is_accept(), given.is_accept(), "{name}: {word:?}\n{written}");
        accepted += usize::from(wanted.is_accept());
    }
    assert!(accepted >= 200 && accepted < known.len(), "{name}: {accepted} of {} words accepted", known.len());
}

#[test]
fn machines_of_grammars_are_read_back() {
    for (name, most) in [("json", 20), ("arithmetic", 60), ("xml", 25), ("sexpr", 30)] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/grammars").join(name);
        let (grammar, _) = Grammar::open(&path, Encoding::Auto).unwrap();
        let params =
            Params { view: View::Symbol, mode: Mode::Strict, ..Params::provable(ReservoirKind::Cycle, 256, 0) };
        let study = Study { words: 20, ..Study::default() };
        let (machine, proof) = study.prove(&grammar, &params.check().unwrap(), &(), &mut |_| {}).unwrap();
        assert!(matches!(proof, Proof::Proved(_)), "{name}");
        let found = extract(&machine, &()).unwrap_or_else(|error| panic!("{name}: {error}"));
        check(&found.certificate, &machine, &found.oracle, &()).unwrap();
        let rules = found.oracle.automaton().rules().len();
        assert!(rules <= most, "{name}: {rules} rules\n{}", found.oracle.automaton());
    }
}

#[test]
fn the_papers_languages_are_written_for_yacc() {
    for task in Task::ALL.into_iter().filter(|task| task.is_symbolic()) {
        read_back(task.name(), &Oracle::strict(task.automaton().unwrap()).unwrap());
    }
}

#[test]
fn shipped_grammars_are_written_for_yacc() {
    for name in ["dyck1", "dyck3", "palindrome", "json-tokens", "json", "csv", "sexpr", "arithmetic", "xml"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/grammars").join(name);
        let (grammar, _) = Grammar::open(&path, Encoding::Auto).unwrap();
        read_back(name, &Oracle::strict(grammar.automaton().clone()).unwrap());
    }
}
