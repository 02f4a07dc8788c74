//! The best hypothesis of a run, which is not always the last one.

use crate::learn::hypothesis::Hypothesis;

/// The most answers that hypotheses are compared on.
const MOST: usize = 4000;
/// The most hypotheses that are kept.
const KEPT: usize = 4;

/// The hypothesis with the highest score: the share of the examples that it accepts, plus its shares of correct judgements on
/// valid and on invalid texts near the examples. Texts that a hypothesis suggested are left out: they show where that
/// hypothesis was wrong, which says little about others.
#[derive(Debug)]
pub(crate) struct Best {
    examples: Vec<String>,
    /// Every n-th text that was tested, with its answer.
    answers: Vec<(String, bool)>,
    every: usize,
    count: usize,
    /// The best hypothesis comes last. Some that were the best before are kept, too: they are smaller.
    found: Vec<Hypothesis>,
}

impl Best {
    pub(crate) fn new(examples: &[String]) -> Self {
        Self { examples: examples.to_vec(), answers: Vec::new(), every: 1, count: 0, found: Vec::new() }
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
        if self.found().is_some_and(|found| self.score(hypothesis) < self.score(found)) {
            return;
        }
        self.found.push(hypothesis.clone());
        if self.found.len() > KEPT {
            let (mut number, last) = (0, self.found.len());
            self.found.retain(|_| {
                number += 1;
                number % 2 == 1 || number == last
            });
        }
    }

    /// Returns the sum of the shares of examples, valid texts and invalid texts that a hypothesis judges correctly.
    fn score(&self, hypothesis: &Hypothesis) -> f64 {
        let part = |texts: &mut dyn Iterator<Item = (&String, bool)>| {
            let (mut right, mut all) = (0_u32, 0_u32);
            for (text, answer) in texts {
                right += u32::from(hypothesis.accepts(text) == answer);
                all += 1;
            }
            if all == 0 { 0. } else { f64::from(right) / f64::from(all) }
        };
        let near = |valid: bool| {
            self.answers.iter().filter(move |(_, answer)| *answer == valid).map(|(text, answer)| (text, *answer))
        };
        part(&mut self.examples.iter().map(|text| (text, true))) + part(&mut near(true)) + part(&mut near(false))
    }

    pub(crate) fn examples(&self) -> &[String] {
        &self.examples
    }

    pub(crate) fn found(&self) -> Option<&Hypothesis> {
        self.found.last()
    }

    /// Returns the hypotheses that are kept, the best one first.
    pub(crate) fn kept(&self) -> impl Iterator<Item = &Hypothesis> {
        self.found.iter().rev()
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
        // One valid answer counts as much as all invalid ones.
        let mut best = Best::new(&["x".to_string()]);
        best.offer(&one_of(2));
        ["yy", "xy", "y"].iter().for_each(|text| best.note(text, false));
        best.offer(&one_of(1));
        assert!(best.found().is_some_and(|found| !found.accepts("y")));
        best.note("y", true);
        best.offer(&one_of(2));
        assert!(best.found().is_some_and(|found| found.accepts("y")));
        // One example counts as much as all valid answers.
        let mut best = Best::new(&["x".to_string(), "y".to_string()]);
        best.offer(&one_of(1));
        ["x"; 9].iter().for_each(|text| best.note(text, true));
        best.offer(&one_of(2));
        assert!(best.found().is_some_and(|found| found.accepts("y")));
        (0..20).for_each(|_| best.offer(&one_of(2)));
        assert!(best.kept().count() <= KEPT && best.kept().last().is_some_and(|first| !first.accepts("y")));
    }
}
