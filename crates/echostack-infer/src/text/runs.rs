//! Texts as runs of letters and of digits, or as given tokens, before anything else is known about them.

use std::collections::{BTreeMap, BTreeSet};

use super::symbols::{Look, Symbols, boundaries};
use super::teacher::Teacher;
use crate::ask::queries::Stop;

/// The number of texts up to which all short ones are used. Of more, only those that show something new are.
pub(super) const MANY: usize = 100;
/// Of many texts, the part that must have a word, so that it is not like any other word.
const COMMON: usize = 50;

/// A run of letters or digits, another character, or a given token.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// What is alike in this respect is alike: all numbers are.
    pub(super) shape: String,
    pub(super) text: String,
}

impl Run {
    /// Returns what kind of a run this is: words are alike, too.
    pub(super) fn kind(&self) -> &str {
        if self.text.chars().all(char::is_alphabetic) { "a" } else { &self.shape }
    }
}

pub(super) fn text_of(runs: &[Run], symbols: &Symbols) -> String {
    symbols.join(runs.iter().map(|run| &run.text))
}

/// What must hold for a smaller text.
pub(super) struct Wanted<'w> {
    pub(super) answer: bool,
    pub(super) also: &'w dyn Fn(&str) -> bool,
}

impl Wanted<'_> {
    /// Any valid text.
    pub(super) const VALID: Self = Self { answer: true, also: &|_| true };

    pub(super) fn by(&self, text: &str, teacher: &mut Teacher<'_>) -> Result<bool, Stop> {
        Ok((self.also)(text) && teacher.valid(text)? == self.answer)
    }
}

/// Returns the shapes of neighbouring runs.
pub(super) fn pairs(runs: &[Run]) -> Vec<(String, String)> {
    runs.windows(2).map(|pair| (pair[0].shape.clone(), pair[1].shape.clone())).collect()
}

/// Returns the words that are not like any others: all in few texts, and those of a part of many.
pub(super) fn common(texts: &[String]) -> BTreeSet<String> {
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    if texts.len() > MANY {
        for text in texts {
            let words = text.split(|letter: char| !letter.is_alphabetic()).filter(|word| !word.is_empty());
            let words: BTreeSet<&str> = words.collect();
            words.into_iter().for_each(|word| *count.entry(word.to_string()).or_default() += 1);
        }
        count.retain(|_, count| COMMON * *count >= texts.len());
        count.insert(String::new(), 0);
    }
    count.into_keys().collect()
}

/// Splits a text into runs. Words are alike, except for common ones; if there are none, each is on its own.
pub(super) fn runs(text: &str, symbols: &Symbols, common: &BTreeSet<String>) -> Vec<Run> {
    if let Some(lexer) = symbols.lexer() {
        let tokens = lexer.tokens(text).0.into_iter();
        return tokens
            .map(|token| Run { shape: token.name.to_string(), text: text[token.start..token.end].to_string() })
            .collect();
    }
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let cuts = boundaries(text.chars().map(Look::of));
    let texts = cuts.windows(2).map(|pair| &text[starts[pair[0]]..starts[pair[1]]]);
    let is_word = |text: &str| text.chars().all(char::is_alphabetic);
    let shape = |text: &str| {
        let is_rare = is_word(text) && !common.is_empty() && !common.contains(text);
        let shape = if text.chars().all(char::is_numeric) { "0" } else { text };
        (if is_rare { "a" } else { shape }).to_string()
    };
    texts.map(|text| Run { shape: shape(text), text: text.to_string() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_alike() {
        let symbols = Symbols::default();
        let shapes = |text| pairs(&runs(text, &symbols, &BTreeSet::new()));
        assert_eq!(shapes("[12,ab]"), shapes("[7,ab]"));
        assert_ne!(shapes("[12,ab]"), shapes("[12,b]"));
    }

    #[test]
    fn rare_words_of_many_texts_are_alike() {
        let texts: Vec<String> = (0..200_u8).map(|number| format!("let {} = 1", "x".repeat(number.into()))).collect();
        let (symbols, common) = (Symbols::default(), common(&texts));
        let shapes = |text| pairs(&runs(text, &symbols, &common));
        assert_eq!(shapes("let x = 1"), shapes("let other = 1"));
        assert_ne!(shapes("let x = 1"), shapes("var x = 1"));
    }
}
