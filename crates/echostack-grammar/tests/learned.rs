//! Tests of machines that learned the shipped grammars: their verdicts, expected tokens and trees are those of the
//! LR(1) table.
//!
//! By default, only a few words are drawn, as in CI; `ECHOSTACK_WORDS=10000 ECHOSTACK_TESTS=10000` is the full size.
#![cfg(feature = "machine")]

use std::path::Path;

use echostack::language::{Language, WordKind, draw};
use echostack::recognize::{Mode, Tree, TreeBuilder, View, judge_all};
use echostack::reservoir::ReservoirKind;
use echostack::{Limits, Machine, Oracle, Params, Recognizer, Study, Verdict, Word};
use echostack_grammar::{Encoding, Grammar, Lexer};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|count| count.parse().ok()).unwrap_or(default)
}

fn learn(name: &str, kind: ReservoirKind) -> (Grammar, Lexer, Machine) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/grammars").join(name);
    let (grammar, lexer) = Grammar::open(&folder, Encoding::Auto).unwrap();
    let params = Params { view: View::Symbol, mode: Mode::Strict, ..Params::standard(kind, 256, 0) };
    let study = Study { tests: number("ECHOSTACK_TESTS", 1500), ..Study::default() };
    let (machine, rounds) = study.learn(&grammar, &params.check().unwrap(), &(), &mut |_| ()).unwrap();
    assert_eq!(rounds[rounds.len() - 1].wrong, 0, "{name}: {rounds:?}");
    (grammar, lexer.unwrap(), machine)
}

fn tree<R: Recognizer>(recognizer: &R, word: &Word) -> Tree {
    let mut builder = TreeBuilder::new(recognizer.alphabet());
    recognizer.judge_with(word, Limits::default(), &mut builder);
    builder.finish().unwrap()
}

fn agrees(name: &str, kind: ReservoirKind) {
    let (grammar, _, machine) = learn(name, kind);
    let oracle = Oracle::strict(grammar.automaton().clone()).unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(99);
    for kind in WordKind::ALL {
        let mut left = number("ECHOSTACK_WORDS", 150);
        while left > 0 {
            let count = left.min(500);
            left -= count;
            let drawn = || draw(&grammar, &oracle, kind, 1..=200, &mut random).unwrap();
            let words: Vec<Word> = std::iter::repeat_with(drawn).take(count).collect();
            let wanted: Vec<Verdict> = judge_all(&oracle, &words, Limits::default());
            let given: Vec<Verdict> = judge_all(&machine, &words, Limits::default());
            for (word, (wanted, given)) in words.iter().zip(wanted.iter().zip(&given)) {
                assert_eq!(given, wanted, "{name} {kind}: {word:?}");
                if *wanted == Verdict::Accept {
                    assert_eq!(tree(&machine, word), tree(&oracle, word), "{name}: {word:?}");
                }
            }
        }
    }
}

#[test]
fn the_seven_languages_of_the_paper() {
    for name in ["latch", "dyck1", "dyck2", "dyck3", "anbn", "palindrome", "json-tokens"] {
        agrees(name, ReservoirKind::Cycle);
    }
}

#[test]
fn arithmetic() {
    agrees("arithmetic", ReservoirKind::Cycle);
}

#[test]
fn s_expressions() {
    agrees("sexpr", ReservoirKind::Cycle);
}

#[test]
fn json_and_csv() {
    agrees("json", ReservoirKind::Cycle);
    agrees("csv", ReservoirKind::Cycle);
}

/// Tests XML with a random reservoir, which remembers better which tag was opened four symbols further down the stack.
/// Closing tags must match it.
#[test]
fn xml() {
    agrees("xml", ReservoirKind::Random);
}

/// Generates a valid JSON text with everything that the RFC allows.
fn json_text(random: &mut ChaCha8Rng, depth: usize, text: &mut String) {
    let space = |random: &mut ChaCha8Rng, text: &mut String| {
        for _ in 0..random.random_range(0..8_usize).saturating_sub(5) {
            text.push([' ', '\t', '\n', '\r'][random.random_range(0..4)]);
        }
    };
    space(random, text);
    match random.random_range(0..if depth == 0 { 5 } else { 9 }) {
        0 => *text += "true",
        1 => *text += "false",
        2 => *text += "null",
        3 => json_number(random, text),
        4 => json_string(random, text),
        kind => {
            let object = kind % 2 == 0;
            text.push(if object { '{' } else { '[' });
            space(random, text);
            for item in 0..random.random_range(0..5) {
                if item > 0 {
                    text.push(',');
                }
                if object {
                    space(random, text);
                    json_string(random, text);
                    space(random, text);
                    text.push(':');
                }
                json_text(random, depth - 1, text);
            }
            text.push(if object { '}' } else { ']' });
        }
    }
    space(random, text);
}

fn json_number(random: &mut ChaCha8Rng, text: &mut String) {
    let digits = |random: &mut ChaCha8Rng, text: &mut String| {
        for _ in 0..random.random_range(1..4) {
            text.push(char::from(b'0' + random.random_range(0..10_u8)));
        }
    };
    if random.random_bool(0.3) {
        text.push('-');
    }
    if random.random_bool(0.3) {
        text.push('0');
    } else {
        text.push(char::from(b'1' + random.random_range(0..9_u8)));
        digits(random, text);
    }
    if random.random_bool(0.4) {
        text.push('.');
        digits(random, text);
    }
    if random.random_bool(0.3) {
        *text += ["e", "E", "e+", "E-"][random.random_range(0..4)];
        digits(random, text);
    }
}

fn json_string(random: &mut ChaCha8Rng, text: &mut String) {
    const ESCAPES: [&str; 12] =
        ["\\\"", "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t", "\\u00e9", "\\uD834\\uDD1E", "\\ud800", "\\u0000"];
    text.push('"');
    for _ in 0..random.random_range(0..6) {
        match random.random_range(0..4) {
            0 => *text += ESCAPES[random.random_range(0..ESCAPES.len())],
            1 => text.push(['é', '中', '𝄞', '\u{7f}', '\u{2028}', 'ß'][random.random_range(0..6)]),
            _ => text.push(char::from(random.random_range(b'a'..=b'z'))),
        }
    }
    text.push('"');
}

/// Returns a text with one to three random edits.
fn damaged(random: &mut ChaCha8Rng, text: &str) -> String {
    const MORE: [char; 24] = [
        '"', '\\', '{', '}', '[', ']', ':', ',', '0', '1', '.', '-', '+', 'e', 'u', 't', ' ', '\n', '\0', '\u{1f}',
        'é', '\'', '/', 'n',
    ];
    let mut letters: Vec<char> = text.chars().collect();
    for _ in 0..random.random_range(1..=3) {
        let at = random.random_range(0..=letters.len());
        let other = MORE[random.random_range(0..MORE.len())];
        match random.random_range(0..4) {
            _ if at == letters.len() => letters.push(other),
            0 => letters.insert(at, other),
            1 => _ = letters.remove(at),
            2 => letters[at] = other,
            _ => {
                let with = random.random_range(0..letters.len());
                letters.swap(at, with);
            }
        }
    }
    letters.into_iter().collect()
}

fn serde_accepts(text: &str) -> bool {
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    serde::Deserialize::deserialize(&mut reader).map(|_: serde::de::IgnoredAny| ()).and_then(|()| reader.end()).is_ok()
}

#[test]
fn the_learned_json_agrees_with_serde_json() {
    let (_, lexer, machine) = learn("json", ReservoirKind::Cycle);
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let (mut accepted, mut by_lexer, mut by_machine) = (0, 0, 0);
    for number in 0..number("ECHOSTACK_TEXTS", 4000) {
        let mut text = String::new();
        let depth = random.random_range(0..8);
        json_text(&mut random, depth, &mut text);
        let text = if number % 2 == 0 { text } else { damaged(&mut random, &text) };
        let (lexemes, bad) = lexer.tokens(&text);
        let ours = bad.is_none() && {
            let word = machine.alphabet().word(lexemes.iter().map(|lexeme| lexeme.name)).unwrap();
            machine.judge(&word) == Verdict::Accept
        };
        match (bad.is_some(), ours) {
            (true, _) => by_lexer += 1,
            (false, false) => by_machine += 1,
            (false, true) => accepted += 1,
        }
        assert_eq!(ours, serde_accepts(&text), "{text:?}");
    }
    println!("{accepted} texts accepted, {by_lexer} rejected by the lexer, {by_machine} by the machine");
    assert!(accepted > 0 && by_lexer > 0 && by_machine > 0);
}
