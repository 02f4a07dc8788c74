//! The cases beside the shipped grammars, run through every engine: the automaton in both encodings, a trained machine,
//! the compiled table, its fast scanner, generated Rust and C, and Arrow columns. `python/tests/test_cases.py` runs them in
//! Python.

#[path = "../../echostack-grammar/tests/grammars/mod.rs"]
mod grammars;
#[path = "../../echostack-grammar/tests/sources/mod.rs"]
mod sources;

use std::path::Path;

use arrow_array::StringArray;
use echostack::recognize::Mode;
use echostack::table::SourceLanguage;
use echostack::{Limits, Lookahead, Model, Recognizer, SymbolId, Table, Verdict, Word};
use echostack_arrow::Words;
use echostack_grammar::{Encoding, Goal, Judge, Learning, Subject};
use serde::Deserialize;

/// The file `cases.toml` of a grammar.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    accept: Vec<String>,
    reject: Vec<Rejected>,
}

/// A text outside the language.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rejected {
    text: String,
    /// The byte where the text goes wrong; without it, the text ends too early.
    at: Option<usize>,
    /// The names of the tokens that could stand there, `$end` for the end; without it, any.
    expected: Option<Vec<String>>,
}

fn cases(folder: &Path) -> Cases {
    let text = std::fs::read_to_string(folder.join("cases.toml")).unwrap();
    let cases: Cases = toml::from_str(&text).unwrap();
    assert!(cases.accept.len() >= 5 && cases.reject.len() >= 5, "{}", folder.display());
    cases
}

/// The verdict that a case asks for, given the tokens of its text.
fn check_case(name: &str, judge: &Judge, case: &Rejected, verdict: &Verdict) {
    let (tokens, bad) = judge.tokens(&case.text);
    let place = |position: u64| {
        tokens.get(position as usize).map_or(bad.map(|bad| bad.byte() as usize), |token| Some(token.start))
    };
    let at = match verdict {
        Verdict::Reject { position, .. } => Some(place(*position).unwrap()),
        Verdict::Incomplete { .. } => None,
        other => panic!("{name}: {:?} is judged {other:?}", case.text),
    };
    assert_eq!(at, case.at, "{name}: {:?}", case.text);
    if let Some(wanted) = &case.expected {
        let alphabet = judge.alphabet();
        let shown = |next: &Lookahead| next.token().map_or("$end", |token| alphabet.name(token)).to_string();
        let expected: Vec<String> = verdict.expected().iter().map(shown).collect();
        assert_eq!(&expected, wanted, "{name}: {:?}", case.text);
    }
}

fn word(judge: &Judge, text: &str) -> Word {
    let mut symbols = Vec::new();
    judge.add_symbols(text, &mut symbols);
    Word::Symbols(symbols)
}

/// Checks the cases with any recognizer.
fn check_all<R: Recognizer>(name: &str, recognizer: &R, judge: &Judge, cases: &Cases) {
    for text in &cases.accept {
        assert_eq!(recognizer.judge(&word(judge, text)), Verdict::Accept, "{name}: {text:?}");
    }
    for case in &cases.reject {
        check_case(name, judge, case, &recognizer.judge(&word(judge, &case.text)));
    }
}

/// Checks the cases with a model, one by one, with its scanner, and as a column.
fn check_model(name: &str, model: &Model, cases: &Cases) {
    let judge = Judge::new(model.clone()).unwrap();
    check_all(name, model, &judge, cases);
    let texts: Vec<&str> =
        cases.accept.iter().chain(cases.reject.iter().map(|case| &case.text)).map(String::as_str).collect();
    let words: Vec<Word> = texts.iter().map(|text| word(&judge, text)).collect();
    let wanted: Vec<Verdict> = words.iter().map(|word| model.judge(word)).collect();
    assert_eq!(model.judge_all::<Verdict>(&words, Limits::default()), wanted, "{name}");
    let column = Words::read(&StringArray::from(texts), &judge).unwrap();
    let given: Vec<Verdict> = column.judge(&judge, Limits::default()).into_iter().flatten().collect();
    assert_eq!(given, wanted, "{name} in Arrow");
}

/// Checks the cases with the generated sources, which take tokens by number.
fn check_sources(name: &str, table: &Table, judge: &Judge, cases: &Cases) {
    let texts = cases.accept.iter().chain(cases.reject.iter().map(|case| &case.text));
    // The sources know no unknown tokens: a text with one is the lexer's to refuse.
    let known = texts.filter(|text| judge.tokens(text).1.is_none());
    let words: Vec<Vec<SymbolId>> = known
        .map(|text| {
            let mut symbols = Vec::new();
            judge.add_symbols(text, &mut symbols);
            symbols
        })
        .collect();
    for language in [SourceLanguage::Rust, SourceLanguage::C] {
        let printed = sources::run(table, language, &sources::lines(&words));
        let wanted: Vec<String> = words
            .iter()
            .map(|tokens| {
                sources::line(&table.judge(&Word::Symbols(tokens.clone())), table.alphabet().terminals().len())
            })
            .collect();
        assert_eq!(printed, wanted, "{name} in {language:?}");
    }
}

#[test]
fn every_engine_gives_the_verdicts_of_the_cases() {
    for folder in grammars::folders() {
        let name = folder.file_name().unwrap().to_str().unwrap().to_string();
        let cases = cases(&folder);
        for encoding in [Encoding::Auto, Encoding::State] {
            let subject = Subject::open_grammar(&folder, encoding).unwrap();
            let oracle = subject.oracle(Mode::Strict, &()).unwrap();
            let table = subject.table(&()).unwrap();
            let judge = Judge::new(table.clone().into()).unwrap();
            check_all(&format!("{name}, automaton, {encoding}"), &oracle, &judge, &cases);
            check_model(&format!("{name}, table, {encoding}"), &table.clone().into(), &cases);
            if encoding == Encoding::Auto {
                check_sources(&name, &table, &judge, &cases);
            }
            // Training Lua takes minutes.
            if encoding == Encoding::Auto && name != "lua" {
                let learned = subject.learn(&Learning { goal: Goal::Proof, ..Learning::default() }, &()).unwrap();
                assert!(learned.certificate().is_some(), "{name}");
                let saved = echostack::Machine::from_bytes(&learned.machine.to_bytes().unwrap()).unwrap();
                check_model(&format!("{name}, machine"), &learned.machine.into(), &cases);
                check_model(&format!("{name}, saved machine"), &saved.into(), &cases);
            }
        }
    }
}
