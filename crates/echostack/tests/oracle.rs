//! Tests of the automata against independent definitions of their languages, on every word up to a given length.
#![cfg(feature = "machine")]

mod common;

use std::collections::HashSet;
use std::sync::Arc;

use common::languages;
use echostack::automaton::Rule;
use echostack::recognize::Limit;
use echostack::recognize::{Mode, Status, outputs};
use echostack::symbol::Input;
use echostack::tasks::Task;
use echostack::{Limits, Recognizer};
use echostack::{Lookahead, Oracle, Session, SymbolId, Verdict, Word};

/// Returns true if the letters are a word of the language.
fn member(task: Task, word: &[u8]) -> bool {
    match task {
        Task::Latch => word.iter().fold(false, |odd, &c| odd != (c == b'1')),
        Task::Anbn => {
            let half = word.len() / 2;
            half > 0
                && word.len() == 2 * half
                && word[..half].iter().all(|&c| c == b'a')
                && !word[half..].contains(&b'a')
        }
        Task::Palindrome => {
            let half = word.len() / 2;
            word.len() % 2 == 1
                && word[half] == b'$'
                && !word[..half].contains(&b'$')
                && word.iter().eq(word.iter().rev())
        }
        Task::Json => json_value(word) == Some(word.len()),
        _ => {
            let mut rest = String::from_utf8(word.to_vec()).unwrap();
            loop {
                let shorter = rest.replace("()", "").replace("[]", "").replace("{}", "");
                if shorter == rest {
                    return rest.is_empty() && !word.is_empty();
                }
                rest = shorter;
            }
        }
    }
}

/// Returns the length of the JSON value at the beginning of the letters.
fn json_value(word: &[u8]) -> Option<usize> {
    match word.first()? {
        b'n' | b's' => Some(1),
        b'{' if word.get(1) == Some(&b'}') => Some(2),
        b'[' if word.get(1) == Some(&b']') => Some(2),
        open @ (b'{' | b'[') => {
            let mut at = 1;
            loop {
                if *open == b'{' {
                    if !word[at..].starts_with(b"k:") {
                        return None;
                    }
                    at += 2;
                }
                at += json_value(&word[at..])?;
                match (open, word.get(at)?) {
                    (b'{', b'}') | (b'[', b']') => return Some(at + 1),
                    (_, b',') => at += 1,
                    _ => return None,
                }
            }
        }
        _ => None,
    }
}

fn letters(task: Task) -> Vec<u8> {
    let alphabet = task.alphabet();
    alphabet.terminals().map(|symbol| alphabet.name(symbol).as_bytes()[0]).collect()
}

/// Returns all words of the given length over the alphabet.
fn all_words(letters: &[u8], length: usize) -> impl Iterator<Item = Vec<u8>> {
    (0..letters.len().pow(length as u32)).map(move |mut number| {
        let mut word = vec![0; length];
        for place in &mut word {
            *place = letters[number % letters.len()];
            number /= letters.len();
        }
        word
    })
}

fn word(task: Task, letters: &[u8]) -> Word {
    let text = std::str::from_utf8(letters).unwrap();
    task.alphabet().word(text.split("").filter(|name| !name.is_empty())).unwrap()
}

fn oracle(task: Task, mode: Mode) -> Oracle {
    let automaton = task.automaton().unwrap();
    match mode {
        Mode::Tolerant => Oracle::tolerant(automaton),
        Mode::Strict => Oracle::strict(automaton).unwrap(),
    }
}

/// Returns the maximum length of the words that are tried, and of the words of the language whose prefixes are viable.
fn lengths(task: Task) -> (usize, usize) {
    match task {
        Task::Latch | Task::Anbn | Task::Dyck1 => (10, 16),
        Task::Dyck2 => (8, 10),
        Task::Dyck3 => (6, 8),
        Task::Palindrome => (8, 11),
        _ => (5, 11),
    }
}

#[test]
fn every_short_word_is_judged_as_its_definition_says() {
    for task in languages() {
        let (tolerant, strict) = (oracle(task, Mode::Tolerant), oracle(task, Mode::Strict));
        let letters = letters(task);
        let mut count = 0;
        for length in 0..=lengths(task).0 {
            for text in all_words(&letters, length) {
                let word = word(task, &text);
                let wanted = member(task, &text);
                for oracle in [&tolerant, &strict] {
                    let verdict = oracle.judge(&word);
                    assert_eq!(verdict.is_accept(), wanted, "{task} {:?}", String::from_utf8_lossy(&text));
                }
                count += 1;
            }
        }
        println!("{task}: {count} words");
    }
}

/// Returns all JSON values of the given length.
fn json_values(length: usize) -> Vec<Vec<u8>> {
    match length {
        0 => vec![],
        1 => vec![b"n".to_vec(), b"s".to_vec()],
        2 => vec![b"{}".to_vec(), b"[]".to_vec()],
        _ => {
            let wrap = |open: u8, close: u8, inner: Vec<u8>| [&[open], &inner[..], &[close]].concat();
            let objects = json_lists(length - 2, b"k:").into_iter().map(|inner| wrap(b'{', b'}', inner));
            let arrays = json_lists(length - 2, b"").into_iter().map(|inner| wrap(b'[', b']', inner));
            objects.chain(arrays).collect()
        }
    }
}

/// Returns all lists of one or more values, each after `key`, of the given total length.
fn json_lists(length: usize, key: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for first in 1..=length.saturating_sub(key.len()) {
        let after = length - key.len() - first;
        let rests: Vec<Vec<u8>> = match after {
            0 => vec![vec![]],
            _ => json_lists(after - 1, key).into_iter().map(|rest| [b",", &rest[..]].concat()).collect(),
        };
        if !rests.is_empty() {
            for value in json_values(first) {
                all.extend(rests.iter().map(|rest| [key, &value[..], &rest[..]].concat()));
            }
        }
    }
    all
}

/// Returns every prefix of every word of the language up to the maximum length.
fn prefixes(task: Task) -> HashSet<Vec<u8>> {
    let letters = letters(task);
    let mut all = HashSet::new();
    for length in 0..=lengths(task).1 {
        let words: Vec<Vec<u8>> = match task {
            Task::Json => json_values(length),
            _ => all_words(&letters, length).filter(|text| member(task, text)).collect(),
        };
        for text in words {
            assert!(member(task, &text));
            (0..=text.len()).for_each(|end| _ = all.insert(text[..end].to_vec()));
        }
    }
    all
}

#[test]
fn a_token_is_refused_exactly_where_no_completion_exists() {
    for task in languages() {
        let strict = oracle(task, Mode::Strict);
        let letters = letters(task);
        let viable = prefixes(task);
        // A viable prefix of p letters is completed by at most p + 1 more letters, and the test asks for the next
        // letter.
        let longest = (lengths(task).1 - 3) / 2;
        for length in 0..=longest {
            for text in all_words(&letters, length) {
                let first_bad = (1..=length).find(|&end| !viable.contains(&text[..end]));
                let expected = |at: usize| -> Vec<Lookahead> {
                    let follows = |letter: &u8| viable.contains(&[&text[..at], &[*letter]].concat());
                    let tokens = letters.iter().enumerate().filter(|(_, letter)| follows(letter));
                    let mut all: Vec<_> = tokens.map(|(index, _)| Lookahead::Token(SymbolId::new(index))).collect();
                    all.extend(member(task, &text[..at]).then_some(Lookahead::End));
                    all
                };
                let wanted = match first_bad {
                    Some(end) => Verdict::Reject { position: end as u64 - 1, expected: expected(end - 1) },
                    None if member(task, &text) => Verdict::Accept,
                    None => Verdict::Incomplete { expected: expected(length) },
                };
                let verdict = strict.judge(&word(task, &text));
                assert_eq!(verdict, wanted, "{task} {:?}", String::from_utf8_lossy(&text));
            }
        }
    }
}

#[test]
fn the_output_is_the_stack_s_membership_before_the_shift() {
    // After `n` with lookahead `]` the stack has become A: the output is 0 although `n` alone is a word.
    let (given, _) = outputs(&oracle(Task::Json, Mode::Tolerant), &word(Task::Json, b"n]"), Limits::default());
    assert_eq!(given, [0., 0., 0.]);
    let (given, _) = outputs(&oracle(Task::Json, Mode::Tolerant), &word(Task::Json, b"n,"), Limits::default());
    assert_eq!(given, [0., 1., 0.]);
    let (given, _) = outputs(&oracle(Task::Dyck1, Mode::Tolerant), &word(Task::Dyck1, b"()()"), Limits::default());
    assert_eq!(given, [0., 0., 1., 0., 1.]);
}

#[test]
fn reductions_under_a_refused_token_leave_no_trace() {
    let strict = oracle(Task::Json, Mode::Strict);
    let alphabet = Task::Json.alphabet();
    let mut session = strict.start(Limits::default());
    let feed = |session: &mut echostack::recognize::Run<_>, name| {
        session.feed(Input::Symbol(alphabet.symbol(name).unwrap()), &mut ())
    };
    for name in ["{", "k", ":", "n"] {
        assert_eq!(feed(&mut session, name), Status::Open);
    }
    // `{k:n` + `]` reduces n to V and V to A before the token is rejected.
    assert_eq!(feed(&mut session, "]"), Status::Refused);
    let names: Vec<&str> = session.stack().symbols().iter().map(|&symbol| alphabet.name(symbol)).collect();
    assert_eq!(names, ["{", "k", ":", "n"]);
    let expected: Vec<_> = [",", "}"].map(|name| Lookahead::Token(alphabet.symbol(name).unwrap())).into();
    let mut sorted = session.expected();
    sorted.sort();
    let mut wanted = expected;
    wanted.sort();
    assert_eq!(sorted, wanted);
    // The session continues to reject.
    assert_eq!(feed(&mut session, "}"), Status::Refused);
    assert!(matches!(session.finish(&mut ()), Verdict::Reject { position: 4, .. }));
}

#[test]
fn latch_without_its_missing_rule_is_wrong_on_every_word_that_begins_with_1() {
    let printed = Task::Latch.automaton().unwrap();
    let rules: Vec<Rule> = printed.rules()[..5].to_vec();
    let automaton = echostack::Automaton::new(printed.alphabet().clone(), rules, printed.accepting().to_vec()).unwrap();
    let oracle = Oracle::tolerant(automaton);
    let mut wrong = 0;
    for length in 1..=8 {
        for text in all_words(b"01", length) {
            let verdict = oracle.judge(&word(Task::Latch, &text));
            wrong += usize::from(verdict.is_accept() != member(Task::Latch, &text));
        }
    }
    assert_eq!(wrong, 128);
}

#[test]
fn limits_end_in_a_verdict() {
    // A rule that pushes forever.
    let alphabet = Task::Anbn.alphabet();
    let s = alphabet.symbol("S").unwrap();
    let endless = Rule { anchored: false, suffix: vec![], lookahead: None, pop: 0, push: s };
    let automaton = echostack::Automaton::new(alphabet.clone(), vec![endless], vec![s]).unwrap();
    let looping = Oracle::tolerant(automaton);
    let verdict = looping.judge(&word(Task::Anbn, b"a"));
    assert_eq!(verdict, Verdict::Stopped { position: 0, limit: Limit::Actions });

    let strict = oracle(Task::Anbn, Mode::Strict);
    let shallow = Limits { depth: 3, ..Limits::default() };
    let verdict = strict.judge_with(&word(Task::Anbn, b"aaaabbbb"), shallow, &mut ());
    assert_eq!(verdict, Verdict::Stopped { position: 3, limit: Limit::Depth });

    // A symbol outside the alphabet, or a nonterminal, is rejected at its position.
    for bad in [2, 99] {
        let word = Word::Symbols([0, 0, bad].map(SymbolId::new).to_vec());
        let verdict = strict.judge(&word);
        assert!(matches!(verdict, Verdict::Reject { position: 2, .. }));
    }
}

#[test]
fn a_rule_can_be_anchored_and_wait_for_the_end() {
    // Accepts exactly "a": only a stack that consists of a single `a` becomes S, and only at the end.
    let alphabet = Arc::new(echostack::Alphabet::new(["a"], ["S"]).unwrap());
    let [a, s] = [0, 1].map(SymbolId::new);
    let rule = Rule { anchored: true, suffix: vec![a], lookahead: Some(Lookahead::End), pop: 1, push: s };
    let automaton = echostack::Automaton::new(alphabet, vec![rule], vec![s]).unwrap();
    let oracle = Oracle::strict(automaton).unwrap();
    let verdict = |length| oracle.judge(&Word::Symbols(vec![a; length]));
    assert_eq!(verdict(0), Verdict::Incomplete { expected: vec![Lookahead::Token(a)] });
    assert_eq!(verdict(1), Verdict::Accept);
    assert_eq!(verdict(2), Verdict::Reject { position: 1, expected: vec![Lookahead::End] });
}
