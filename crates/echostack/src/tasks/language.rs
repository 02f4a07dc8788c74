//! The symbolic tasks as languages, whose words are drawn from the tasks' grammars.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::definition::{Definition, Production};
use super::long::Lengths;
use crate::automaton::Automaton;
use crate::language::Language;
use crate::symbol::{SymbolId, Word};

/// The maximum number of words that are drawn to get one with a length in the range.
const MAX_DRAWS: usize = 1_000_000;
/// The minimum length of words that are drawn by their length.
const MIN_LONG: usize = 500;
/// The maximum length of words that are drawn by their length, because the time grows with its square.
const MAX_LONG: usize = 20_000;

/// A symbolic task as a language.
#[derive(Debug)]
pub(super) struct TaskLanguage {
    name: &'static str,
    definition: &'static Definition,
    automaton: Automaton,
    /// The lengths of long words, up to the maximum length requested so far.
    lengths: Mutex<Option<Arc<Lengths>>>,
}

impl TaskLanguage {
    pub(super) fn new(name: &'static str, definition: &'static Definition) -> Self {
        Self { name, definition, automaton: definition.automaton(), lengths: Mutex::new(None) }
    }

    /// Returns the lengths of this task's words, at least up to the length `longest`.
    fn lengths(&self, longest: usize) -> Arc<Lengths> {
        let mut known = self.lengths.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some(lengths) if lengths.longest() >= longest => lengths.clone(),
            _ => known.insert(Arc::new(Lengths::new(self.definition.grammar, longest))).clone(),
        }
    }
}

impl fmt::Display for TaskLanguage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

impl Language for TaskLanguage {
    fn automaton(&self) -> &Automaton {
        &self.automaton
    }

    fn word(&self, random: &mut ChaCha8Rng, lengths: RangeInclusive<usize>) -> Option<Word> {
        let Definition { terminals, grammar, .. } = *self.definition;
        let index = |name: char| terminals.chars().position(|terminal| terminal == name);
        if (MIN_LONG..=MAX_LONG).contains(lengths.start()) {
            let word = self.lengths((*lengths.end()).min(MAX_LONG)).word(random, lengths)?;
            return Some(Word::Symbols(word.chars().filter_map(index).map(SymbolId::new).collect()));
        }
        for _ in 0..MAX_DRAWS {
            let mut word = Vec::new();
            let mut open = vec![grammar[0].0];
            while let Some(symbol) = open.pop() {
                if let Some(terminal) = index(symbol) {
                    word.push(SymbolId::new(terminal));
                } else {
                    open.extend(draw(grammar, symbol, random).chars().rev());
                }
                // Every open symbol becomes at least one letter.
                if word.len() + open.len() > *lengths.end() {
                    break;
                }
            }
            if open.is_empty() && lengths.contains(&word.len()) {
                return Some(Word::Symbols(word));
            }
        }
        None
    }
}

/// Draws the right-hand side for a nonterminal according to the probabilities of its productions.
fn draw(grammar: &[Production], left: char, random: &mut ChaCha8Rng) -> &'static str {
    let choices = grammar.iter().filter(|production| production.0 == left);
    let mut at = random.random::<f64>();
    let mut chosen = "";
    for &(_, probability, right) in choices {
        chosen = right;
        at -= probability;
        if at < 0. {
            break;
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::automaton::Oracle;
    use crate::recognize::Recognizer;
    use crate::tasks::Task;

    /// Words drawn by their length have about the same mean length and letter count as words drawn until their length
    /// fits. Drawn words of about 500 and about 10,000 letters are in the language.
    #[test]
    fn long_words_are_drawn_as_short_ones() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        for task in Task::ALL {
            let Some(definition) = task.definition() else { continue };
            let language = TaskLanguage::new(task.name(), definition);
            let lengths = Lengths::new(definition.grammar, 24);
            let count = 20_000;
            let mean = |words: Vec<(usize, usize)>| {
                let sum =
                    |of: fn(&(usize, usize)) -> usize| words.iter().map(of).sum::<usize>() as f64 / f64::from(count);
                (sum(|word| word.0), sum(|word| word.1))
            };
            let last = definition.terminals.chars().last().unwrap();
            let by_length = (0..count).map(|_| {
                let word = lengths.word(&mut random, 10..=24).unwrap();
                (word.len(), word.chars().filter(|letter| *letter == last).count())
            });
            let by_length = mean(by_length.collect());
            let last = SymbolId::new(definition.terminals.chars().count() - 1);
            let drawn = (0..count).map(|_| match language.word(&mut random, 10..=24) {
                Some(Word::Symbols(word)) => (word.len(), word.iter().filter(|letter| **letter == last).count()),
                _ => panic!("no word"),
            });
            let drawn = mean(drawn.collect());
            assert!((by_length.0 - drawn.0).abs() < 0.15, "{task} {by_length:?} {drawn:?}");
            assert!((by_length.1 - drawn.1).abs() < 0.1, "{task} {by_length:?} {drawn:?}");

            let oracle = Oracle::strict(definition.automaton()).unwrap();
            for range in [500..=500 + 9, 9_800..=10_200] {
                let word = language.word(&mut random, range.clone()).unwrap();
                assert!(range.contains(&word.len()));
                assert!(oracle.judge(&word).is_accept(), "{task}");
            }
        }
    }

    #[test]
    fn probabilities_add_up() {
        for task in Task::ALL {
            let Some(Definition { grammar, .. }) = task.definition() else { continue };
            for (left, ..) in *grammar {
                let sum: f64 = grammar.iter().filter(|p| p.0 == *left).map(|p| p.1).sum();
                assert!((sum - 1.).abs() < 1e-12, "{task} {left}");
            }
        }
    }
}
