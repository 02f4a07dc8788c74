//! A hypothesis: what was learned, with the symbols in which it reads texts.

use rand_chacha::ChaCha8Rng;

use super::automaton::Automaton;
use super::draw::Draw;
use super::reductions::Reductions;
use crate::text::symbols::{Sym, Symbols, Word};

/// What a learner found.
#[derive(Clone, Debug)]
pub(crate) enum Model {
    Modules(Automaton),
    Reductions(Reductions),
}

impl Default for Model {
    fn default() -> Self {
        Self::Modules(Automaton::default())
    }
}

/// A language over characters or given tokens.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hypothesis {
    pub(crate) symbols: Symbols,
    pub(crate) model: Model,
}

impl Hypothesis {
    pub(crate) fn accepts(&self, text: &str) -> bool {
        let base = self.symbols.base(text);
        base.is_some_and(|base| self.accepts_word(&self.symbols.lex(&base)))
    }

    fn accepts_word(&self, word: &[Sym]) -> bool {
        match &self.model {
            Model::Modules(automaton) => automaton.accepts(word),
            Model::Reductions(reductions) => reductions.accepts(word),
        }
    }

    /// Returns the number of characters before the failure of a text that is not accepted.
    pub(crate) fn fails_at(&self, text: &str) -> Option<usize> {
        if self.accepts(text) {
            return None;
        }
        let length = text.chars().count();
        let Model::Modules(automaton) = &self.model else { return Some(length) };
        if self.symbols.lexer().is_some() {
            return Some(length);
        }
        // The beginning up to the first character without a class.
        let base: Word = text.chars().map_while(|letter| self.symbols.class_of(letter)).collect();
        let mut best = 0;
        for end in 0..=base.len() {
            let read = automaton.reads(&self.symbols.lex(&base[..end]));
            // A beginning of a literal is read as other symbols.
            if read || self.symbols.ends_within_literal(&base[..end]) {
                best = end;
            }
        }
        Some(best)
    }

    /// Returns whether no text is accepted.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.model {
            Model::Modules(automaton) => {
                let live = automaton.live.first();
                live.is_none_or(|live| live.intersection(&automaton.accepting).next().is_none())
            }
            Model::Reductions(reductions) => reductions.is_empty(),
        }
    }

    /// Returns the number of states, or of reductions and accepted normal forms.
    pub(crate) fn size(&self) -> usize {
        match &self.model {
            Model::Modules(automaton) => automaton.states(),
            Model::Reductions(reductions) => reductions.len(),
        }
    }

    /// Draws texts of very roughly these numbers of characters or tokens.
    pub(crate) fn draw(&self, sizes: &[usize], random: &mut ChaCha8Rng) -> Vec<String> {
        let words: Vec<Word> = match &self.model {
            Model::Modules(automaton) => {
                let mut draw = Draw::new(automaton);
                sizes.iter().map_while(|&size| draw.word(size, random)).collect()
            }
            Model::Reductions(reductions) => sizes.iter().map_while(|&size| reductions.draw(size, random)).collect(),
        };
        words.iter().map(|word| self.symbols.draw(word, random)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{LISTS, lists, lists_learned, random, texts};

    #[test]
    fn texts_are_judged_and_drawn() {
        let (hypothesis, _) = lists_learned();
        assert!(texts("x[],y", 5).iter().all(|text| hypothesis.accepts(text) == lists(text)));
        assert!(!hypothesis.is_empty() && Hypothesis::default().is_empty());
        let drawn = hypothesis.draw(&[1, 10, 30], &mut random());
        assert!(drawn.len() == 3 && drawn.iter().all(|text| lists(text)), "{drawn:?}");
        assert!(Hypothesis::default().draw(&[1], &mut random()).is_empty());
    }

    /// The oracle of positions: the longest beginning that some list begins with.
    #[test]
    fn failures_have_a_position() {
        let (hypothesis, _) = lists_learned();
        let all = texts(LISTS, 6);
        let valid: Vec<&String> = all.iter().filter(|text| lists(text)).collect();
        for text in all.iter().filter(|text| text.len() <= 3 && !lists(text)) {
            let begins = |end: &usize| valid.iter().any(|valid| valid.starts_with(&text[..*end]));
            assert_eq!(hypothesis.fails_at(text), (0..=text.len()).rev().find(begins), "{text:?}");
        }
        assert_eq!(hypothesis.fails_at("[x]"), None);
        assert_eq!(hypothesis.fails_at("[xy]"), Some(2));
    }
}
