//! Converts an automaton to a context-free grammar for exactly the words that it accepts.
//!
//! The rules of an automaton are tried in order and use a lookahead; a grammar has neither. The grammar is therefore
//! built from what the automaton can do as a pushdown system: a nonterminal stands for the tokens that are read from
//! one phase with one element on top until that element is popped, or until the word is accepted. This grammar is
//! exact, but large; equivalent nonterminals are then merged and small ones inlined.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::complete::Goal;
use super::reach::{ElementId, History, Move, Phase, Sight, Strict, System};
use super::summarize::Summaries;
use super::{AutomatonError, Oracle};
use crate::control::Poll;
use crate::symbol::{Lookahead, SymbolId};

/// One symbol of a production.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// A token.
    Token(SymbolId),
    /// A nonterminal, by its number.
    Nonterminal(usize),
}

/// A context-free grammar. Nonterminal 0 is the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordGrammar {
    /// The productions of each nonterminal.
    pub productions: Vec<BTreeSet<Vec<Part>>>,
}

/// The maximum number of nonterminals, and of productions, before any are merged.
const MAX_PRODUCTIONS: usize = 200_000;

/// A nonterminal before it is numbered: the tokens that are read from a goal until its element is popped and the phase
/// is reached or, if there is no phase, until the word is accepted.
type Named = (Goal, Option<Phase>);

impl WordGrammar {
    /// Builds a grammar of the words that a strict automaton accepts.
    ///
    /// # Errors
    /// [`AutomatonError::TooLarge`] if the grammar would be too large.
    pub fn new(oracle: &Oracle) -> Result<Self, AutomatonError> {
        let mut strict = Strict::new(oracle, 0)?;
        let start: Goal = (Phase::Next(History::EMPTY), ElementId::BOTTOM);
        let outcomes = outcomes(&mut strict, start)?;
        let mut numbers: HashMap<Named, usize> = HashMap::from([((start, None), 0)]);
        let mut names: Vec<Named> = vec![(start, None)];
        let mut productions: Vec<BTreeSet<Vec<Part>>> = Vec::new();
        let mut size = 0;
        while productions.len() < names.len() {
            size += productions.last().map_or(0, BTreeSet::len);
            if names.len().max(size) > MAX_PRODUCTIONS {
                return Err(AutomatonError::TooLarge);
            }
            let (goal, until) = names[productions.len()];
            let mut number = |named: Named| {
                let fresh = names.len();
                let number = *numbers.entry(named).or_insert(fresh);
                if number == fresh {
                    names.push(named);
                }
                Part::Nonterminal(number)
            };
            let mut own = BTreeSet::new();
            let ends =
                |goal: &Goal| until.is_none_or(|until| outcomes.get(goal).is_some_and(|all| all.contains(&until)));
            let element = goal.1;
            if let ((Phase::Settled(Sight { next: Lookahead::End, .. }), element), None) = (goal, until)
                && strict.accepts(element)
            {
                own.insert(Vec::new());
            }
            for next in strict.moves(goal.0, element) {
                match next {
                    Move::Stay(phase) if ends(&(phase, element)) => {
                        own.insert(vec![number(((phase, element), until))]);
                    }
                    Move::Pop(phase) if until == Some(phase) => {
                        own.insert(Vec::new());
                    }
                    Move::Push(phase, pushed) => {
                        let token = match (phase, strict.symbol(pushed)) {
                            (Phase::Next(_), Some(token)) => Some(Part::Token(token)),
                            _ => None,
                        };
                        let above = (phase, pushed);
                        if until.is_none() {
                            own.insert(token.into_iter().chain([number((above, None))]).collect());
                        }
                        for &outcome in outcomes.get(&above).into_iter().flatten() {
                            let rest = (outcome, element);
                            if ends(&rest) {
                                let parts = [number((above, Some(outcome))), number((rest, until))];
                                own.insert(token.into_iter().chain(parts).collect());
                            }
                        }
                    }
                    Move::Stay(_) | Move::Pop(_) => {}
                }
            }
            productions.push(own);
        }
        let mut this = Self { productions };
        this.simplify();
        Ok(this)
    }

    fn simplify(&mut self) {
        self.keep_productive();
        // A step is tried only when those before it change nothing any more, because a choice that has been inlined can
        // no longer be used for factoring.
        let steps: [fn(&mut Self); 3] = [Self::merge_and_write_out, Self::factor, Self::write_out_choices];
        let mut step = 0;
        while step < steps.len() {
            let before = self.clone();
            steps[step](self);
            self.keep_reachable();
            step = if *self == before { step + 1 } else { 0 };
        }
    }

    /// Replaces each nonterminal in all productions by the symbols that `part` returns for it.
    fn rewrite(&mut self, part: impl Fn(usize) -> Vec<Part>) {
        for own in &mut self.productions {
            let written = |production: &Vec<Part>| {
                let parts = production.iter().flat_map(|&one| match one {
                    Part::Nonterminal(number) => part(number),
                    Part::Token(_) => vec![one],
                });
                parts.collect()
            };
            *own = own.iter().map(written).collect();
        }
    }

    /// Removes the productions that derive no word.
    fn keep_productive(&mut self) {
        let mut good: HashSet<usize> = HashSet::new();
        loop {
            let makes = |production: &Vec<Part>| {
                production.iter().all(|part| match part {
                    Part::Token(_) => true,
                    Part::Nonterminal(number) => good.contains(number),
                })
            };
            let more: Vec<usize> = (0..self.productions.len())
                .filter(|number| !good.contains(number) && self.productions[*number].iter().any(makes))
                .collect();
            if more.is_empty() {
                break;
            }
            good.extend(more);
        }
        for own in &mut self.productions {
            own.retain(|production| {
                production.iter().all(|part| match part {
                    Part::Token(_) => true,
                    Part::Nonterminal(number) => good.contains(number),
                })
            });
        }
    }

    fn merge_and_write_out(&mut self) {
        self.merge_equal();
        self.write_out();
    }

    /// Merges equivalent nonterminals by partition refinement: all begin in one class, and classes are split while the
    /// productions of their members differ.
    fn merge_equal(&mut self) {
        let mut class = vec![0; self.productions.len()];
        let mut count = 1;
        loop {
            let mut known: HashMap<(usize, BTreeSet<Vec<Part>>), usize> = HashMap::new();
            let next: Vec<usize> = (self.productions.iter().zip(&class))
                .map(|(own, &before)| {
                    let classified = |part: &Part| match *part {
                        Part::Nonterminal(number) => Part::Nonterminal(class[number]),
                        token @ Part::Token(_) => token,
                    };
                    let shape = own.iter().map(|production| production.iter().map(classified).collect()).collect();
                    let fresh = known.len();
                    *known.entry((before, shape)).or_insert(fresh)
                })
                .collect();
            let parted = known.len() > count;
            (class, count) = (next, known.len());
            if !parted {
                break;
            }
        }
        let mut first: HashMap<usize, usize> = HashMap::new();
        for (number, &class) in class.iter().enumerate() {
            first.entry(class).or_insert(number);
        }
        self.rewrite(|number| vec![Part::Nonterminal(first[&class[number]])]);
    }

    /// Inlines each nonterminal whose only production is short and does not contain the nonterminal itself.
    fn write_out(&mut self) {
        let only = |(number, own): (usize, &BTreeSet<Vec<Part>>)| match (own.first(), own.len()) {
            (Some(only), 1) if number > 0 && only.len() <= 3 && !only.contains(&Part::Nonterminal(number)) => {
                only.clone()
            }
            _ => vec![Part::Nonterminal(number)],
        };
        let written: Vec<Vec<Part>> = self.productions.iter().enumerate().map(only).collect();
        self.rewrite(|number| written[number].clone());
        // If the start only derives another nonterminal, that nonterminal becomes the start.
        if let [[Part::Nonterminal(number)]] = self.productions[0].iter().map(Vec::as_slice).collect::<Vec<_>>()[..] {
            let number = *number;
            let own = self.productions[number].clone();
            self.productions[0] = own;
            self.rewrite(|other| vec![Part::Nonterminal(if other == number { 0 } else { other })]);
        }
        // Remove productions of the form `n -> n`.
        for number in 1..self.productions.len() {
            let own = Vec::from([Part::Nonterminal(number)]);
            self.productions[number].remove(&own);
        }
    }

    /// Factors out choices: productions with the same prefix that end in each alternative of a nonterminal are replaced
    /// by the prefix followed by that nonterminal.
    fn factor(&mut self) {
        let single = |production: &Vec<Part>| match production[..] {
            [Part::Nonterminal(number)] => Some(number),
            _ => None,
        };
        let mut choices: Vec<(BTreeSet<usize>, usize)> = Vec::new();
        for (number, own) in self.productions.iter().enumerate() {
            let all: Option<BTreeSet<usize>> = own.iter().map(single).collect();
            choices.extend(all.filter(|all| all.len() > 1).map(|all| (all, number)));
        }
        for own in &mut self.productions {
            let mut ends: BTreeMap<Vec<Part>, BTreeSet<usize>> = BTreeMap::new();
            for production in &*own {
                if let [before @ .., Part::Nonterminal(last)] = &production[..]
                    && !before.is_empty()
                {
                    ends.entry(before.to_vec()).or_default().insert(*last);
                }
            }
            for (before, lasts) in ends {
                let Some((all, choice)) = choices.iter().find(|(all, _)| all.is_subset(&lasts)) else { continue };
                let with = |last: usize| [&before[..], &[Part::Nonterminal(last)]].concat();
                all.iter().for_each(|&last| {
                    own.remove(&with(last));
                });
                own.insert(with(*choice));
            }
        }
    }

    /// Inlines each nonterminal that only occurs as an alternative by itself, never in a longer production.
    fn write_out_choices(&mut self) {
        let inside: HashSet<usize> = (self.productions.iter().flatten())
            .filter(|production| production.len() > 1)
            .flatten()
            .filter_map(|part| match part {
                Part::Nonterminal(number) => Some(*number),
                Part::Token(_) => None,
            })
            .collect();
        for number in (1..self.productions.len()).filter(|number| !inside.contains(number)) {
            let (alone, own) = (vec![Part::Nonterminal(number)], self.productions[number].clone());
            for productions in &mut self.productions {
                if productions.remove(&alone) {
                    productions.extend(own.iter().cloned());
                }
            }
        }
    }

    /// Removes the nonterminals that are not reachable from the start and renumbers the others.
    fn keep_reachable(&mut self) {
        let mut order = vec![0];
        let mut seen = BTreeMap::from([(0, 0)]);
        let mut at = 0;
        while at < order.len() {
            for part in self.productions[order[at]].iter().flatten() {
                if let Part::Nonterminal(number) = *part {
                    let fresh = order.len();
                    if *seen.entry(number).or_insert(fresh) == fresh {
                        order.push(number);
                    }
                }
            }
            at += 1;
        }
        self.productions = order.iter().map(|&number| self.productions[number].clone()).collect();
        self.rewrite(|number| vec![Part::Nonterminal(seen[&number])]);
    }
}

/// Returns, for each goal that the start leads to, the phases that follow when its element is popped.
fn outcomes(strict: &mut Strict<'_>, start: Goal) -> Result<HashMap<Goal, BTreeSet<Phase>>, AutomatonError> {
    let all = Summaries::new(strict, [start], HashMap::new(), &mut Poll::new(&()))?;
    let mut known: HashMap<Goal, BTreeSet<Phase>> = HashMap::new();
    for (phase, element, outcome) in all.list() {
        known.entry((phase, element)).or_default().extend(outcome);
    }
    Ok(known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Automaton;

    #[test]
    fn the_empty_language_has_no_productions() {
        let none = r#"{"terminals": ["a"], "nonterminals": ["S"], "accepting": ["S"], "rules": []}"#;
        let oracle = Oracle::strict(Automaton::from_json(none).unwrap()).unwrap();
        assert_eq!(WordGrammar::new(&oracle).unwrap().productions, [BTreeSet::new()]);
    }
}
