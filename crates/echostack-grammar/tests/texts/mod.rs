//! Random texts of the test grammars, some of them damaged.

#![allow(dead_code, reason = "not every test file needs everything")]

use std::path::Path;

use echostack::language::Language;
use echostack::language::{WordKind, draw};
use echostack::symbol::Input;
use echostack::{Alphabet, Oracle, Word};
use echostack_grammar::{Encoding, Grammar};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Texts of tokens whose names are not their texts.
const SAMPLES: [(&str, &[&str]); 9] = [
    ("STRING", &["\"\"", "\"a b\"", "\"\\n\\\"\"", "\"\u{e9}\u{65e5}\u{672c}\"", "\"\\\\\""]),
    ("NUMBER", &["0", "12", "3.5", "10", "7"]),
    ("NAME", &["x", "name", "Abc", "thenx", "e1"]),
    ("TEXT", &["12,", "\u{e9}t\u{e9}.", "\u{65e5}", "&amp;"]),
    ("VALUE", &["\"\"", "\"a=b\"", "\"\u{e9}\n\""]),
    ("ATOM", &["x", "set!", "12", "\u{3bb}", "a.b"]),
    ("QUOTED", &["\"\"", "\"a,b\"", "\"a\"\"b\"", "\"\r\n\""]),
    ("PLAIN", &["1", "a b", "\u{e9}", "' '"]),
    ("NEWLINE", &["\n", "\r\n"]),
];

/// Makes texts of a grammar.
pub(crate) struct Maker {
    grammar: Grammar,
    oracle: Oracle,
    /// What can be between two tokens.
    spaces: &'static [&'static str],
}

impl Maker {
    pub(crate) fn new(folder: &Path) -> Self {
        let (grammar, _) = Grammar::open(folder, Encoding::State).unwrap();
        let oracle = Oracle::strict(grammar.automaton().clone()).unwrap();
        let spaces: &[&str] = if folder.ends_with("csv") { &[""] } else { &[" ", "\n", "\r\n", "\t", "  "] };
        Self { grammar, oracle, spaces }
    }

    pub(crate) fn alphabet(&self) -> &Alphabet {
        self.grammar.automaton().alphabet()
    }

    /// Draws the tokens of a word of the language.
    pub(crate) fn word(&self, longest: usize, random: &mut ChaCha8Rng) -> Word {
        draw(&self.grammar, &self.oracle, WordKind::Valid, 1..=longest, random).unwrap()
    }

    /// Returns a text with these tokens.
    pub(crate) fn text(&self, word: &Word, random: &mut ChaCha8Rng) -> String {
        let mut text = String::new();
        for input in word.inputs() {
            let Input::Symbol(token) = input else { unreachable!("words of symbols") };
            let name = self.alphabet().name(token);
            let samples = SAMPLES.iter().find(|(token, _)| *token == name);
            text += samples.map_or(name, |(_, samples)| samples[random.random_range(0..samples.len())]);
            text += self.spaces[random.random_range(0..self.spaces.len())];
        }
        text
    }

    /// Draws a text of the language, and damages it if asked to.
    pub(crate) fn draw(&self, damaged: bool, random: &mut ChaCha8Rng) -> Vec<u8> {
        let mut random_word = ChaCha8Rng::seed_from_u64(random.random());
        let mut text = self.text(&self.word(60, &mut random_word), random).into_bytes();
        if random.random_bool(0.05) {
            text.splice(0..0, "\u{feff}".bytes());
        }
        if damaged {
            for _ in 0..random.random_range(1..=2) {
                damage(&mut text, random);
            }
        }
        text
    }
}

/// Pieces that damage a text, or make the lexer look far ahead in vain.
const PIECES: [&[u8]; 22] = [
    b"\"",
    b"\\",
    b"\r",
    b"\r\n",
    b"<",
    b"</",
    b"\x01",
    b"1e",
    b"1e+",
    b"e",
    b".",
    b"--",
    b"(",
    b"]",
    b"=",
    b"\"\"",
    b"\xc3",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xe2\x80\xa8",
    b"\xf0\x9f\x98\x80",
    b"\xef\xbb\xbf",
];

fn damage(text: &mut Vec<u8>, random: &mut ChaCha8Rng) {
    let at = random.random_range(0..=text.len());
    let piece = PIECES[random.random_range(0..PIECES.len())].iter().copied();
    match random.random_range(0..8) {
        0 => text.truncate(at),
        1..=3 if at < text.len() => _ = text.remove(at),
        4 if at < text.len() => _ = text.splice(at..=at, piece),
        5 => text[at..].reverse(),
        _ => _ = text.splice(at..at, piece),
    }
}
