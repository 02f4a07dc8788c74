//! A hypothesis: an automaton, with the symbols in which it reads texts.

use rand_chacha::ChaCha8Rng;

use crate::automaton::Automaton;
use crate::draw::{Draw, draw_member};
use crate::symbols::Symbols;

/// A language over characters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hypothesis {
    pub(crate) symbols: Symbols,
    pub(crate) automaton: Automaton,
}

impl Hypothesis {
    pub(crate) fn accepts(&self, text: &str) -> bool {
        let base = self.symbols.base(text);
        base.is_some_and(|base| self.automaton.accepts(&self.symbols.lex(&base)))
    }

    /// Returns whether no text is accepted.
    pub(crate) fn is_empty(&self) -> bool {
        let live = self.automaton.live.first();
        live.is_none_or(|live| live.intersection(&self.automaton.accepting).next().is_none())
    }

    /// Draws texts of very roughly these numbers of characters.
    pub(crate) fn draw(&self, sizes: &[usize], random: &mut ChaCha8Rng) -> Vec<String> {
        let mut draw = Draw::new(&self.automaton);
        let mut texts = Vec::with_capacity(sizes.len());
        for &size in sizes {
            let Some(word) = draw.word(size, random) else { break };
            let mut text = String::new();
            for symbol in word {
                match self.symbols.members(symbol) {
                    Some(members) => text.extend(draw_member(members, random)),
                    None => text.push_str(&self.symbols.text(symbol)),
                }
            }
            texts.push(text);
        }
        texts
    }
}
