//! Near misses: texts with one to three edits of characters, or of given tokens.

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use crate::learn::draw::mutate;
use crate::text::symbols::{Sym, Symbols, Word};

/// Makes near misses from parts of some texts.
pub(crate) enum Edits<'a> {
    Characters { letters: Vec<char>, texts: Vec<Vec<char>> },
    Tokens { symbols: &'a Symbols, letters: Vec<Sym>, words: Vec<Word> },
}

impl<'a> Edits<'a> {
    pub(crate) fn new(texts: &[String], symbols: &'a Symbols) -> Self {
        if symbols.lexer().is_some() {
            let words: Vec<Word> = texts.iter().filter_map(|text| symbols.base(text)).collect();
            return Self::Tokens { symbols, letters: words.concat(), words };
        }
        let texts: Vec<Vec<char>> = texts.iter().map(|text| text.chars().collect()).collect();
        Self::Characters { letters: texts.concat(), texts }
    }

    /// Returns a text after one to three edits.
    pub(crate) fn edit(&self, text: &str, random: &mut ChaCha8Rng) -> String {
        match self {
            Self::Characters { letters, texts } => {
                let text: Vec<char> = text.chars().collect();
                mutate(&text, letters, texts, random).into_iter().collect()
            }
            Self::Tokens { symbols, letters, words } => {
                let word = symbols.base(text).unwrap_or_default();
                symbols.draw(&mutate(&word, letters, words, random), random)
            }
        }
    }

    /// Returns one of the texts after one to three edits.
    pub(crate) fn any(&self, texts: &[String], random: &mut ChaCha8Rng) -> Option<String> {
        texts.choose(random).map(|text| self.edit(text, random))
    }
}

/// Returns a text with other digits, and sometimes with other letters. What is compared or counted shows, such as the days
/// of a month: one edit at a time rarely leads from one valid date to another.
pub(crate) fn redrawn(text: &str, random: &mut ChaCha8Rng) -> String {
    let part = [0.3, 0.6, 1.][random.random_range(0..3)];
    let letters = random.random_bool(0.2);
    let mut other = |letter: char| match letter {
        '0'..='9' if random.random_bool(part) => random.random_range('0'..='9'),
        'a'..='z' if letters && random.random_bool(part) => random.random_range('a'..='z'),
        'A'..='Z' if letters && random.random_bool(part) => random.random_range('A'..='Z'),
        _ => letter,
    };
    text.chars().map(&mut other).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use echostack_grammar::Lexer;

    use super::*;
    use crate::testing::random;

    #[test]
    fn edited_texts_consist_of_parts_of_texts() {
        let texts = ["ab".to_string(), "cd".to_string()];
        let (symbols, mut random) = (Symbols::default(), random());
        let edits = Edits::new(&texts, &symbols);
        let mut changed = 0;
        for _ in 0..200 {
            let text = edits.any(&texts, &mut random).unwrap();
            assert!(text.chars().all(|letter| "abcd".contains(letter)), "{text:?}");
            changed += usize::from(!texts.contains(&text));
        }
        assert!(changed > 100, "{changed}");
        assert_eq!(edits.any(&[], &mut random), None);
    }

    #[test]
    fn redrawn_texts_have_the_same_shape() {
        let mut random = random();
        let shape = |text: &str| -> Vec<char> {
            let of = |letter: char| if letter.is_ascii_digit() { '0' } else { letter.to_ascii_lowercase() };
            text.chars().map(|letter| if letter.is_ascii_alphabetic() { 'a' } else { of(letter) }).collect()
        };
        let (text, mut seen) = ("2020-W53T\u{e9}", BTreeSet::new());
        for _ in 0..500 {
            let other = redrawn(text, &mut random);
            assert_eq!(shape(&other), shape(text));
            seen.insert(other);
        }
        // Mostly, only digits change: six at the same time, too.
        assert!(seen.len() > 300 && seen.contains(text));
        let digits = seen.iter().filter(|text| text.contains("-W") && text.ends_with("T\u{e9}")).count();
        assert!(digits > seen.len() / 2, "{digits}");
    }

    #[test]
    fn given_tokens_are_edited_as_a_whole() {
        let lexer = Arc::new(Lexer::new("%%\n[ ]+ ;\nlet \"let\"\n[0-9]+ \"NUMBER\"\n").unwrap());
        let texts = ["let 12".to_string()];
        let symbols = Symbols::of_lexer(lexer, &texts);
        let (edits, mut random) = (Edits::new(&texts, &symbols), random());
        for _ in 0..100 {
            let text = edits.edit("let 12", &mut random);
            assert!(symbols.base(&text).is_some(), "{text:?}");
        }
    }
}
