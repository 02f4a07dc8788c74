//! Small languages, from examples to grammars: the result must not depend on the number of workers, interruptions must
//! not change it, and hostile oracles must lead to an answer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use echostack_infer::program::{Failure, Process, Program, Reply};
use echostack_infer::{Asking, Ending, InferError, Settings, Stop, infer};

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

/// Lists of words in brackets, such as `[a,[b,a]]`.
fn lists(text: &str) -> bool {
    fn item(text: &str, depth: usize) -> Option<&str> {
        let Some(mut rest) = text.strip_prefix('[').filter(|_| depth < 100) else {
            let end = text.find(|letter: char| !letter.is_ascii_lowercase()).unwrap_or(text.len());
            return Some(&text[end..]).filter(|_| end > 0);
        };
        if let Some(rest) = rest.strip_prefix(']') {
            return Some(rest);
        }
        loop {
            rest = item(rest, depth + 1)?;
            match rest.strip_prefix(',') {
                Some(next) => rest = next,
                None => return rest.strip_prefix(']'),
            }
        }
    }
    item(text, 0) == Some("")
}

const LISTS: [&str; 5] = ["ab", "[]", "[x]", "[a,b]", "[a,[c,d]]"];

#[test]
fn lists_are_inferred_with_any_number_of_workers() {
    let results = [1, 2, 5].map(|workers| {
        let settings = Settings { seed: 3, asking: Asking { workers, ..Asking::default() }, ..Settings::default() };
        let inferred = infer(&texts(&LISTS), &lists, &settings, &()).unwrap();
        assert_eq!(*inferred.ending(), Ending::Settled);
        (inferred.queries(), inferred.spent(), inferred.language().unwrap().files().clone())
    });
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
    let language = &results[0].2;
    assert!(language.lexer.contains("\\[ \"[\"") && language.grammar.contains("Brackets: '[' ']'"), "{language:?}");
}

#[test]
fn the_grammar_judges_all_short_texts_as_the_oracle_does() {
    let inferred = infer(&texts(&LISTS), &lists, &Settings::default(), &()).unwrap();
    let language = inferred.language().unwrap();
    assert!(language.has_tokens());
    let letters = ['a', 'z', '[', ']', ',', '1', ' '];
    let mut layer = vec![String::new()];
    for _ in 0..=5 {
        for text in &layer {
            assert_eq!((inferred.accepts(text), language.accepts(text)), (lists(text), lists(text)), "{text:?}");
        }
        layer = layer.iter().flat_map(|text| letters.iter().map(move |letter| format!("{text}{letter}"))).collect();
    }
}

#[test]
fn a_run_that_is_interrupted_many_times_gives_the_same_result_and_asks_nothing_twice() {
    let whole = infer(&texts(&LISTS), &lists, &Settings::default(), &()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let count = AtomicUsize::new(0);
    let counted = |text: &str| {
        count.fetch_add(1, Ordering::Relaxed);
        lists(text)
    };
    let answers = Some(folder.path().join("answers.jsonl"));
    for stop in [10, 500, 777, 1500, usize::MAX] {
        let asking = Asking { queries: stop, answers: answers.clone(), ..Asking::default() };
        let inferred = infer(&texts(&LISTS), &counted, &Settings { asking, ..Settings::default() }, &());
        if stop == usize::MAX {
            let inferred = inferred.unwrap();
            assert_eq!(inferred.language().unwrap().files(), whole.language().unwrap().files());
            assert_eq!((inferred.queries(), count.load(Ordering::Relaxed)), (whole.queries(), whole.queries()));
        }
    }
}

#[test]
fn languages_beyond_the_learner_are_not_settled() {
    // Even palindromes have no visible brackets.
    let palindromes = |text: &str| {
        let letters: Vec<char> = text.chars().collect();
        text.len().is_multiple_of(2)
            && letters.iter().eq(letters.iter().rev())
            && letters.iter().all(|l| "ab".contains(*l))
    };
    let asking = Asking { queries: 12_000, time: Duration::from_secs(20), ..Asking::default() };
    let settings = Settings { asking, ..Settings::default() };
    let examples = texts(&["aa", "abba", "bb", "baab", "aabbaa"]);
    match infer(&examples, &palindromes, &settings, &()) {
        Ok(inferred) => assert!(matches!(inferred.ending(), Ending::NotSettled(_)), "{:?}", inferred.log()),
        Err(error) => panic!("{error}"),
    }
}

fn limited() -> Settings {
    Settings { asking: Asking { queries: 6000, ..Asking::default() }, ..Settings::default() }
}

#[test]
fn an_oracle_that_contradicts_itself_leads_to_an_end() {
    let count = AtomicUsize::new(0);
    let fickle = |_: &str| count.fetch_add(1, Ordering::Relaxed).is_multiple_of(3);
    if let Ok(inferred) = infer(&texts(&LISTS), &fickle, &limited(), &()) {
        assert!(matches!(inferred.ending(), Ending::NotSettled(_)));
    }
}

#[test]
fn everything_and_nothing() {
    let all = infer(&texts(&["a"]), &|_: &str| true, &limited(), &()).unwrap();
    assert!(all.accepts("anything \u{10ffff}") && all.accepts(""));
    let none = infer(&texts(&["a"]), &|_: &str| false, &limited(), &());
    assert!(matches!(none, Err(InferError::NoneValid { count: 1, .. })));
    assert!(matches!(infer(&[], &lists, &limited(), &()), Err(InferError::NoExamples)));
}

/// Answers only short texts.
struct Silent;

impl Program for Silent {
    fn ask(&self, text: &str) -> Reply {
        if text.len() < 4 { Reply::Yes } else { Reply::Failed(Failure::Timeout) }
    }
}

#[test]
fn a_program_that_does_not_follow_the_protocol_is_told_so_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let answers = folder.path().join("answers.jsonl");
    let mut settings = limited();
    settings.asking.answers = Some(answers.clone());
    let examples: Vec<String> = (0..50).map(|number| format!("x{number}")).collect();
    let told = |script: &str| {
        let words = vec!["sh".into(), "-c".into(), script.to_string()];
        let program = Process::new(words, Duration::from_millis(300), None);
        infer(&examples, &program, &settings, &()).unwrap_err().to_string()
    };
    let began = Instant::now();
    let message = told("cat > /dev/null");
    assert!(message.contains("gave no answer to the example \"x0\": timeout; a program that stays open"), "{message}");
    assert!(told("read -r line; echo maybe").contains("\"x0\": unclear answer; "));
    assert!(began.elapsed() < Duration::from_secs(10) && !answers.exists());
    let missing = Process::new(vec!["no-such-program".into()], Duration::from_secs(1), None);
    let message = infer(&examples, &missing, &settings, &()).unwrap_err().to_string();
    assert_eq!(message, "the program `no-such-program` could not be started: there is no such program");
}

#[test]
fn an_oracle_that_stops_answering_leads_to_an_end() {
    let silent = infer(&texts(&["abc"]), &Silent, &limited(), &());
    match silent {
        Ok(inferred) => assert!(matches!(inferred.ending(), Ending::NotSettled(_)) && inferred.set_aside() > 0),
        Err(error) => assert!(matches!(error, InferError::Stopped(Stop::Program { .. }))),
    }
}
