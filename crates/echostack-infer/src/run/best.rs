//! The best hypothesis of a run, which is not always the last one.

use crate::learn::hypothesis::Hypothesis;

/// The most answers that hypotheses are compared on.
const MOST: usize = 4000;

/// The hypothesis that is right about most examples and, if several are, about most answers.
#[derive(Debug)]
pub(crate) struct Best {
    examples: Vec<String>,
    /// Every n-th text that was tested, with its answer.
    answers: Vec<(String, bool)>,
    every: usize,
    count: usize,
    found: Option<Hypothesis>,
}

impl Best {
    pub(crate) fn new(examples: &[String]) -> Self {
        Self { examples: examples.to_vec(), answers: Vec::new(), every: 1, count: 0, found: None }
    }

    /// Notes an answer, of which there can be many: if there are too many, every other one is forgotten.
    pub(crate) fn note(&mut self, text: &str, answer: bool) {
        if self.count.is_multiple_of(self.every) {
            self.answers.push((text.to_string(), answer));
        }
        self.count += 1;
        if self.answers.len() > MOST {
            let mut number = 0;
            self.answers.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.every *= 2;
        }
    }

    /// Keeps a hypothesis, unless the one that is kept is better.
    pub(crate) fn offer(&mut self, hypothesis: &Hypothesis) {
        let right = |hypothesis: &Hypothesis| {
            let examples = self.examples.iter().filter(|text| hypothesis.accepts(text)).count();
            let answers = self.answers.iter().filter(|(text, answer)| hypothesis.accepts(text) == *answer).count();
            (examples, answers)
        };
        if self.found.as_ref().is_none_or(|found| right(hypothesis) >= right(found)) {
            self.found = Some(hypothesis.clone());
        }
    }

    pub(crate) fn examples(&self) -> &[String] {
        &self.examples
    }

    pub(crate) fn found(&self) -> Option<&Hypothesis> {
        self.found.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    use crate::learn::automaton::{Automaton, Part};
    use crate::learn::hypothesis::Model;
    use crate::learn::learner::State;
    use crate::text::charset::CharSet;
    use crate::text::symbols::Symbols;

    #[test]
    fn answers_are_kept_at_even_distances() {
        let mut best = Best::new(&[]);
        (0..10_000).for_each(|number| best.note(&number.to_string(), number % 3 == 0));
        assert_eq!(best.every, 4);
        assert_eq!(best.answers.len(), 2500);
        assert!(best.answers.iter().enumerate().all(|(at, (text, _))| *text == (4 * at).to_string()));
    }

    #[test]
    fn a_hypothesis_that_is_right_less_often_is_not_kept() {
        // Accepts the first of two letters, or both.
        let one_of = |letters: usize| {
            let mut symbols = Symbols::default();
            let all = ['x', 'y'].map(|letter| symbols.add_class(letter, CharSet::of(letter)));
            let plain = vec![all[..letters].iter().map(|&letter| (letter, State(1))).collect(), BTreeMap::default()];
            let part = Part { start: Some(State(0)), plain, over: vec![BTreeMap::default(); 2] };
            let parts = (Vec::new(), Vec::new());
            let automaton = Automaton::new(parts, vec![part], BTreeMap::default(), [State(1)].into_iter().collect());
            Hypothesis { symbols, model: Model::Modules(automaton) }
        };
        let mut best = Best::new(&["x".to_string(), "y".to_string()]);
        best.offer(&one_of(1));
        best.offer(&one_of(2));
        best.offer(&one_of(1));
        assert!(best.found().is_some_and(|found| found.accepts("y")));
        // Examples count more than answers.
        best.note("y", false);
        best.offer(&one_of(1));
        assert!(best.found().is_some_and(|found| found.accepts("y")));
        best.offer(&one_of(2));
        let mut best = Best::new(&["x".to_string()]);
        best.offer(&one_of(2));
        best.note("y", false);
        best.offer(&one_of(1));
        assert!(best.found().is_some_and(|found| !found.accepts("y")));
    }
}
