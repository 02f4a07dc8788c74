//! Proof obligations: every readout must give the automaton's answer in every reachable configuration.
//!
//! Configurations are grouped into cells, by an input suffix and a stack suffix. An [`Obligation`] is a cell of one
//! readout with the answers that are right in it. It is split by the token before its input suffix, or by the symbol
//! below its stack suffix, into one part for each token or symbol that can occur there.
//!
//! For example, take aⁿbⁿ, with the rules S: a S b and, between `a` and `b`, S: nothing. Consider the readout that
//! decides how many symbols to pop, in the cell in which `b` is next and nothing else is known. Right is "pop 0 and
//! push S" if `a` is on top, "pop 3 and push S" if `b` is, and "do nothing" if S is, or if the stack is empty. So no
//! answer is right in the whole cell. It is split by the symbol on top into four cells with one answer each, and each
//! of them is proved if the readout is sure enough there.

use std::collections::{BTreeMap, VecDeque};

use crate::automaton::reach::{ElementId, History, Phase, PlaceId, Reach, Recalled, Sight, Strict, System};
use crate::control::{Cancelled, Poll};
use crate::machine::Readout;
use crate::suffix::{InputSuffix, StackSuffix};
use crate::symbol::{Lookahead, SymbolId};
use crate::teach::Answer;

/// A group of configurations in a cell that have the same right answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Item {
    pub(crate) answer: Answer,
    /// The place below the stack suffix.
    pub(crate) place: PlaceId,
    /// The remembered tokens before the next one.
    pub(crate) recent: History,
}

/// The answers that a readout must give in one cell. The stack suffix of the cell is not stored here, but in a
/// [`Task`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Obligation {
    /// The number of the readout.
    pub(crate) head: usize,
    pub(crate) input: InputSuffix,
    /// The contents of the cell, sorted and without duplicates.
    pub(crate) items: Vec<Item>,
}

impl Obligation {
    /// Returns the right answer, if it is the same in the whole cell.
    pub(crate) fn answer(&self) -> Option<Answer> {
        let first = self.items.first()?.answer;
        self.items.iter().all(|item| item.answer == first).then_some(first)
    }
}

/// A stack suffix, and what is to be proved on it.
pub(crate) type Task = (StackSuffix, Vec<Obligation>);

/// The symbol below a stack suffix, or the token before an input suffix. `None` stands for the bottom of the stack, or
/// for the beginning of the word.
pub(crate) type Next = Option<SymbolId>;

/// The reachable configurations, ready to be split into cells.
pub(crate) struct Cells {
    /// For each place, the symbols that can lie below it, and the places below these symbols. The last places are those
    /// above the topmost elements.
    beneath: Vec<Vec<(Next, PlaceId)>>,
    terminals: usize,
}

impl Cells {
    /// Returns the reachable configurations, and the obligations that they give rise to when nothing but the next token
    /// is distinguished.
    pub(crate) fn new(
        strict: &Strict<'_>,
        reach: &Reach,
        readouts: &[Readout],
        terminals: usize,
        poll: &mut Poll<'_>,
    ) -> Result<(Self, Vec<Obligation>), Cancelled> {
        let mut beneath = vec![Vec::new(); reach.places.len() + 1];
        for under in &reach.unders {
            poll.step()?;
            beneath[under.place.index()].push((strict.symbol(under.element), under.beneath));
        }
        // A suffix without symbols lies above the topmost element. There is no place for that yet, so each pair of an
        // element and what is beneath it gets one, from which the first split leads to the element.
        let mut numbers: BTreeMap<(ElementId, PlaceId), PlaceId> = BTreeMap::new();
        // Ordered by lookahead first: readouts that see the same input follow each other and share computed values.
        let mut obligations: BTreeMap<(Lookahead, usize), Vec<Item>> = BTreeMap::new();
        for top in &reach.tops {
            poll.step()?;
            // In other phases, no readout is asked.
            let (Phase::Reduce(sight) | Phase::Settled(sight)) = top.phase else { continue };
            let place = *numbers.entry((top.element, top.beneath)).or_insert_with(|| {
                beneath.push(vec![(strict.symbol(top.element), top.beneath)]);
                PlaceId::new(beneath.len() - 1)
            });
            let Sight { recent, next } = sight;
            for (number, &readout) in readouts.iter().enumerate() {
                if let Some(answer) = answer(strict, readout, top.phase, top.element) {
                    obligations.entry((next, number)).or_default().push(Item { answer, place, recent });
                }
            }
        }
        let mut all = Vec::with_capacity(obligations.len());
        for ((next, head), items) in obligations {
            poll.steps(items.len())?;
            all.push(Obligation { head, input: InputSuffix::of(next), items: sorted(items) });
        }
        Ok((Self { beneath, terminals }, all))
    }

    /// Splits an obligation by the token before its input suffix.
    pub(crate) fn split_input(&self, strict: &Strict<'_>, obligation: &Obligation) -> Vec<Obligation> {
        let Obligation { head, input, items } = obligation;
        let mut parts: BTreeMap<Next, Vec<Item>> = BTreeMap::new();
        let mut add = |token: Next, item: &Item| parts.entry(token).or_default().push(*item);
        for item in items {
            match strict.memory().recall(item.recent, input.before().len()) {
                Recalled::Beginning => add(None, item),
                Recalled::Token(token) => add(Some(token), item),
                // Only so many tokens are remembered. What came before them can be anything, so the item belongs to all
                // parts. That may ask for more than can occur, but never for less.
                Recalled::Forgotten => {
                    add(None, item);
                    (0..self.terminals).for_each(|token| add(Some(SymbolId::new(token)), item));
                }
            }
        }
        let longer = |token, items| Obligation { head: *head, input: input.longer(token), items: sorted(items) };
        parts.into_iter().map(|(token, items)| longer(token, items)).collect()
    }

    /// Splits obligations by the symbol below their stack suffix, the bottom first.
    pub(crate) fn split_stack(
        &self,
        stack: &StackSuffix,
        obligations: &[Obligation],
        poll: &mut Poll<'_>,
    ) -> Result<Vec<Task>, Cancelled> {
        // All obligations on a stack suffix are split together, because the states of the stack are computed once for
        // all of them. Below the bottom is nothing, so an item there comes to its end with the part `None`.
        let mut parts: BTreeMap<Next, Vec<Obligation>> = BTreeMap::new();
        for Obligation { head, input, items } in obligations {
            let mut own: BTreeMap<Next, Vec<Item>> = BTreeMap::new();
            for item in items {
                poll.steps(1 + self.beneath[item.place.index()].len())?;
                for &(symbol, place) in &self.beneath[item.place.index()] {
                    own.entry(symbol).or_default().push(Item { place, ..*item });
                }
            }
            for (symbol, items) in own {
                poll.steps(items.len())?;
                let part = Obligation { head: *head, input: input.clone(), items: sorted(items) };
                parts.entry(symbol).or_default().push(part);
            }
        }
        Ok(parts.into_iter().map(|(symbol, obligations)| (stack.longer(symbol), obligations)).collect())
    }

    /// Returns, for each place, the symbol below it on a shortest path to the bottom, and the place below that symbol.
    pub(crate) fn ways_down(&self) -> Vec<(Next, PlaceId)> {
        let mut above: Vec<Vec<(Next, PlaceId)>> = vec![Vec::new(); self.beneath.len()];
        for (place, list) in self.beneath.iter().enumerate() {
            list.iter().for_each(|&(symbol, below)| above[below.index()].push((symbol, PlaceId::new(place))));
        }
        // Breadth first from the bottom upward, so the first way that reaches a place is a shortest one.
        let mut ways = vec![None; self.beneath.len()];
        ways[PlaceId::BELOW.index()] = Some((None, PlaceId::BELOW));
        let mut queue = VecDeque::from([PlaceId::BELOW]);
        while let Some(below) = queue.pop_front() {
            for &(symbol, place) in &above[below.index()] {
                if ways[place.index()].is_none() {
                    ways[place.index()] = Some((symbol, below));
                    queue.push_back(place);
                }
            }
        }
        ways.into_iter().map(|way| way.unwrap_or((None, PlaceId::BELOW))).collect()
    }
}

/// Returns the answer that a readout must give in this phase with this element on top, or `None` if it is not consulted
/// there.
fn answer(strict: &Strict<'_>, readout: Readout, phase: Phase, element: ElementId) -> Option<Answer> {
    match (readout, phase) {
        (Readout::Pop | Readout::Push, Phase::Reduce(sight)) => {
            Some(Answer::Act(strict.reduction(element, sight.next)))
        }
        // Both are asked after the last reduction, the output always, and the shift only if there is a token.
        (Readout::Output, Phase::Settled(_)) => Some(Answer::Output(strict.accepts(element))),
        (Readout::Shift, Phase::Settled(Sight { next: Lookahead::Token(token), .. })) => {
            Some(Answer::Shift(strict.shifts(element, token)))
        }
        _ => None,
    }
}

fn sorted(mut items: Vec<Item>) -> Vec<Item> {
    items.sort_unstable();
    items.dedup();
    items
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::automaton::Oracle;
    use crate::recognize::Reduction;
    use crate::tasks::Task;

    #[test]
    fn the_example_is_as_described() {
        let oracle = Oracle::strict(Task::Anbn.automaton().unwrap()).unwrap();
        let alphabet = oracle.automaton().alphabet();
        let [a, b, s] = ["a", "b", "S"].map(|name| alphabet.symbol(name).unwrap());
        let mut strict = Strict::new(&oracle, 0).unwrap();
        let (reach, _) = Reach::new(&mut strict, &()).unwrap();
        let mut poll = Poll::new(&());
        let terminals = alphabet.terminals().len();
        let (cells, all) = Cells::new(&strict, &reach, &[Readout::Pop], terminals, &mut poll).unwrap();
        let root = all.into_iter().find(|one| one.input == InputSuffix::of(Lookahead::Token(b))).unwrap();
        assert_eq!(root.answer(), None);
        let parts = cells.split_stack(&StackSuffix::new(Vec::new(), false), &[root], &mut poll).unwrap();
        let answers: Vec<(StackSuffix, Option<Answer>)> =
            parts.into_iter().map(|(stack, obligations)| (stack, obligations[0].answer())).collect();
        let push = |pop| Reduction { pop, push: Some(s) };
        let expected = [
            (StackSuffix::new(Vec::new(), true), Reduction::NONE),
            (StackSuffix::new(vec![a], false), push(0)),
            (StackSuffix::new(vec![b], false), push(3)),
            (StackSuffix::new(vec![s], false), Reduction::NONE),
        ];
        assert_eq!(answers, expected.map(|(stack, reduction)| (stack, Some(Answer::Act(reduction)))));
    }
}
