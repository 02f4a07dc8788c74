//! Near misses: texts with one to three edits of characters, or of given tokens.

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

#[cfg(test)]
mod tests {
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
