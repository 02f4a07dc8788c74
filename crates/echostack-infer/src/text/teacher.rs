//! The teacher: answers whether a word of symbols is in the language, by asking the oracle about its text.

use std::sync::Arc;

use echostack_grammar::Lexer;

use super::symbols::{Sym, Symbols, Word};
use crate::ask::queries::{Queries, Stop};

/// The oracle, with the symbols in which words are written.
#[derive(Debug)]
pub(crate) struct Teacher<'a> {
    pub(crate) queries: Queries<'a>,
    pub(crate) symbols: Symbols,
    /// The number of times that a text without an answer was taken as not valid, because a decision was needed.
    pub(crate) assumed: usize,
}

impl<'a> Teacher<'a> {
    pub(crate) fn new(queries: Queries<'a>) -> Self {
        Self { queries, symbols: Symbols::default(), assumed: 0 }
    }

    /// Writes words as tokens of a lexer, which occur in some texts.
    pub(crate) fn read_tokens(&mut self, lexer: Arc<Lexer>, texts: &[String]) {
        self.queries.lexer = Some(lexer.clone());
        self.symbols = Symbols::of_lexer(lexer, texts);
    }

    /// Returns whether a text is valid. One that was set aside counts as not valid.
    pub(crate) fn valid(&mut self, text: &str) -> Result<bool, Stop> {
        let answer = self.queries.ask(text)?;
        self.assumed += usize::from(answer.is_none());
        Ok(answer.unwrap_or(false))
    }

    /// Returns which texts are valid.
    pub(crate) fn all_valid<T: AsRef<str> + Sync>(&mut self, texts: &[T]) -> Result<Vec<bool>, Stop> {
        let answers = self.queries.ask_all(texts)?;
        self.assumed += answers.iter().filter(|answer| answer.is_none()).count();
        Ok(answers.into_iter().map(|answer| answer.unwrap_or(false)).collect())
    }

    /// Returns whether a word is in the language. A word whose text is read as another word is not.
    pub(crate) fn member(&mut self, word: &[Sym]) -> Result<bool, Stop> {
        if self.symbols.relex(word) != word {
            return Ok(false);
        }
        self.valid(&self.symbols.render(word))
    }

    /// Returns which words are in the language.
    pub(crate) fn members(&mut self, words: &[Word]) -> Result<Vec<bool>, Stop> {
        let texts: Vec<Option<String>> =
            words.iter().map(|word| (self.symbols.relex(word) == *word).then(|| self.symbols.render(word))).collect();
        let asked: Vec<&String> = texts.iter().flatten().collect();
        let mut answers = self.all_valid(&asked)?.into_iter();
        Ok(texts.iter().map(|text| text.is_some() && answers.next().unwrap_or(false)).collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{symbol, teacher};

    /// An opener of two characters is one symbol: two symbols that are read as one are no word.
    #[test]
    fn words_that_are_read_as_others_are_not_in_the_language() {
        let all = |_: &str| true;
        let mut teacher = teacher(&all, "ab");
        let (a, b) = (symbol(&teacher, 'a'), symbol(&teacher, 'b'));
        teacher.symbols.read_literals([vec![a, b]].iter());
        let both = teacher.symbols.of_tag(&vec![a, b]).unwrap();
        let words = [vec![a, a], vec![a, b], vec![both], vec![both, b]];
        assert_eq!(teacher.members(&words).unwrap(), [true, false, true, true]);
        assert!(
            words.iter().zip([true, false, true, true]).all(|(word, valid)| teacher.member(word).unwrap() == valid)
        );
        assert_eq!(teacher.queries.asked, 3);
    }
}
