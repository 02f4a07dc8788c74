//! Words of the examples where any letters can be: a name that is reserved in one place may be reserved in others.

use std::collections::BTreeSet;

use super::probe::Probe;
use crate::text::symbols::{Look, Symbols, Word, boundaries};

/// The most words that are tried.
const MOST: usize = 60;
/// The length, in characters, of the longest of them.
const LONGEST: usize = 20;

/// Returns a test for each word of letters in the examples, and each place in which the hypothesis reads it.
pub(crate) fn reserved(probe: &Probe<'_>, texts: &[String], symbols: &Symbols) -> Vec<(Word, String)> {
    let mut words: BTreeSet<&str> = BTreeSet::new();
    for text in texts {
        let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let cuts = boundaries(text.chars().map(Look::of));
        let runs = cuts.windows(2).map(|ends| &text[starts[ends[0]]..starts[ends[1]]]);
        words.extend(
            runs.filter(|run| run.chars().all(char::is_alphabetic) && (2..=LONGEST).contains(&run.chars().count())),
        );
    }
    let joins = |symbol| matches!(symbols.look(symbol), Look::Letter | Look::Digit);
    let mut found = Vec::new();
    let mut words: Vec<&str> = words.into_iter().collect();
    words.sort_by_key(|word| word.len());
    for text in words.into_iter().take(MOST) {
        let Some(base) = symbols.base(text) else { continue };
        let word = symbols.lex(&base);
        for &place in &probe.places {
            let Some(state) = probe.automaton.run(place, &word) else { continue };
            let Some(end) = probe.end(place, state) else { continue };
            let before = probe.word_from(place, &[]);
            if before.last().is_some_and(|&last| joins(last)) || end.first().is_some_and(|&first| joins(first)) {
                continue;
            }
            let whole = format!("{}{text}{}", symbols.render(&before), symbols.render(end));
            found.push(([before.as_slice(), &word, end].concat(), whole));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::automaton::Automaton;
    use crate::learn::learner::{ALL, Learner};
    use crate::testing::{automaton, lists_learned, teacher, word};

    /// Names are of letters, also in brackets.
    #[test]
    fn words_of_the_examples_are_tried_where_names_are() {
        let names = |text: &str| {
            let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text);
            !inner.is_empty() && inner.chars().all(|letter| "if".contains(letter))
        };
        let mut teacher = teacher(&names, "if()");
        let mut learner = Learner::new(Vec::new(), Vec::new());
        for text in ["i", "ii", "f", "(i)", "(ff)"] {
            learner.learn_from(&word(&teacher, text), &mut teacher).unwrap();
        }
        let automaton = Automaton::freeze(&mut learner, ALL, &mut teacher).unwrap();
        let probe = Probe::new(&automaton, &learner);
        let found = reserved(&probe, &["(if)".to_string()], &teacher.symbols);
        let found: BTreeSet<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
        // Not within other names.
        assert_eq!(found, ["if", "(if)"].into());
    }

    #[test]
    fn without_words_there_is_nothing_to_try() {
        let (hypothesis, learner) = lists_learned();
        let probe = Probe::new(automaton(&hypothesis), &learner);
        assert!(reserved(&probe, &["[x,x]".to_string()], &hypothesis.symbols).is_empty());
    }
}
