//! What is to be proved: that every readout gives the automaton's answer in every reachable configuration.
//!
//! Configurations are grouped by what the end of the input and the end of the stack look like: a cell. An [`Obligation`] is
//! a cell of one readout with the answers that are right in it. It is split by the symbol before the end of the input, or
//! by the symbol beneath the end of the stack, among those that can be there.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::bound::{Bounds, Sighting};
use super::look::Look;
use crate::automaton::reach::{Control, ElementId, History, PlaceId, Reach, Recalled, Sight, Strict, System};
use crate::control::{Cancelled, Poll};
use crate::machine::Readout;
use crate::symbol::{Lookahead, SymbolId};
use crate::teach::Answer;

/// Ends of the input as the readouts see them. When there are too many they are forgotten and computed again.
#[derive(Default)]
pub(crate) struct Looks {
    seen: HashMap<Look, Sighting>,
    /// About how many numbers they take.
    size: usize,
}

impl Looks {
    /// The most numbers that are kept: 256 MiB of them.
    pub(crate) const MOST: usize = 1 << 25;

    pub(crate) fn see(&mut self, bounds: &Bounds<'_>, look: &Look) -> &Sighting {
        if self.size > Self::MOST {
            *self = Self::default();
        }
        self.seen.entry(look.clone()).or_insert_with(|| {
            let sighting = bounds.input(look.next, &look.before, look.whole);
            self.size += sighting.numbers();
            sighting
        })
    }
}

/// Configurations with one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Item {
    pub(crate) answer: Answer,
    /// What is beneath the part of the stack that is looked at.
    pub(crate) place: PlaceId,
    pub(crate) recent: History,
}

/// What a readout must answer in one cell. The part of the stack that belongs to it is known from where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Obligation {
    /// The number of the readout.
    pub(crate) head: usize,
    pub(crate) look: Look,
    /// What is in the cell, sorted, each once.
    pub(crate) items: Vec<Item>,
}

impl Obligation {
    /// The answer, if it is the same in the whole cell.
    pub(crate) fn answer(&self) -> Option<Answer> {
        let first = self.items.first()?.answer;
        self.items.iter().all(|item| item.answer == first).then_some(first)
    }
}

/// The symbol at the lower end of a part of the stack: `None` is the bottom.
pub(crate) type Next = Option<SymbolId>;

/// The reachable configurations, ready to be split into cells.
pub(crate) struct Cells {
    /// For each place the symbols that can lie beneath it, and the places beneath them. The last places are those above
    /// the topmost elements.
    beneath: Vec<Vec<(Next, PlaceId)>>,
    terminals: usize,
}

impl Cells {
    /// What is to be proved of the whole set of configurations, before anything is looked at but the next token.
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
            beneath[under.place as usize].push((strict.symbol(under.element), under.beneath));
        }
        let mut tops: BTreeMap<(ElementId, PlaceId), PlaceId> = BTreeMap::new();
        // The readouts stand together that see the same: they share what is computed.
        let mut obligations: BTreeMap<(Lookahead, usize), Vec<Item>> = BTreeMap::new();
        for head in &reach.heads {
            poll.step()?;
            let (Control::Reduce(sight) | Control::Settled(sight)) = head.control else { continue };
            let place = *tops.entry((head.element, head.beneath)).or_insert_with(|| {
                beneath.push(vec![(strict.symbol(head.element), head.beneath)]);
                beneath.len() as PlaceId - 1
            });
            let Sight { recent, next } = sight;
            for (number, &readout) in readouts.iter().enumerate() {
                if let Some(answer) = answer(strict, readout, head.control, head.element) {
                    obligations.entry((next, number)).or_default().push(Item { answer, place, recent });
                }
            }
        }
        let all = obligations.into_iter().map(|((next, head), items)| {
            poll.steps(items.len())?;
            let look = Look { next, before: Vec::new(), whole: false };
            Ok(Obligation { head, look, items: sorted(items) })
        });
        let all = all.collect::<Result<_, _>>()?;
        Ok((Self { beneath, terminals }, all))
    }

    /// Splits an obligation by the token before its look.
    pub(crate) fn split_input(&self, strict: &Strict<'_>, obligation: &Obligation) -> Vec<Obligation> {
        let Obligation { head, look, items } = obligation;
        let mut parts: BTreeMap<Next, Vec<Item>> = BTreeMap::new();
        let mut add = |token: Next, item: &Item| parts.entry(token).or_default().push(*item);
        for item in items {
            match strict.memory().recall(item.recent, look.before.len()) {
                Recalled::Beginning => add(None, item),
                Recalled::Token(token) => add(Some(token), item),
                Recalled::Forgotten => {
                    add(None, item);
                    (0..self.terminals).for_each(|token| add(Some(SymbolId::new(token)), item));
                }
            }
        }
        let part = |(token, items): (Next, Vec<Item>)| {
            let mut look = look.clone();
            look.before.extend(token);
            look.whole = token.is_none();
            Obligation { head: *head, look, items: sorted(items) }
        };
        parts.into_iter().map(part).collect()
    }

    /// Splits obligations by the symbol beneath the part of the stack that is looked at, the bottom first.
    pub(crate) fn split_stack(
        &self,
        obligations: &[Obligation],
        poll: &mut Poll<'_>,
    ) -> Result<BTreeMap<Next, Vec<Obligation>>, Cancelled> {
        let mut parts: BTreeMap<Next, Vec<Obligation>> = BTreeMap::new();
        for Obligation { head, look, items } in obligations {
            let mut own: BTreeMap<Next, Vec<Item>> = BTreeMap::new();
            for item in items {
                poll.steps(1 + self.beneath[item.place as usize].len())?;
                for &(symbol, place) in &self.beneath[item.place as usize] {
                    own.entry(symbol).or_default().push(Item { place, ..*item });
                }
            }
            for (symbol, items) in own {
                poll.steps(items.len())?;
                let part = Obligation { head: *head, look: look.clone(), items: sorted(items) };
                parts.entry(symbol).or_default().push(part);
            }
        }
        Ok(parts)
    }

    /// For each place the symbol beneath it on a shortest way to the bottom, and the place beneath that.
    pub(crate) fn ways_down(&self) -> Vec<(Next, PlaceId)> {
        let mut above: Vec<Vec<(Next, PlaceId)>> = vec![Vec::new(); self.beneath.len()];
        for (place, list) in self.beneath.iter().enumerate() {
            list.iter().for_each(|&(symbol, below)| above[below as usize].push((symbol, place as PlaceId)));
        }
        let mut ways = vec![None; self.beneath.len()];
        ways[0] = Some((None, 0));
        let mut queue = VecDeque::from([0]);
        while let Some(below) = queue.pop_front() {
            for &(symbol, place) in &above[below as usize] {
                if ways[place as usize].is_none() {
                    ways[place as usize] = Some((symbol, below));
                    queue.push_back(place);
                }
            }
        }
        ways.into_iter().map(|way| way.unwrap_or((None, 0))).collect()
    }
}

/// What a readout must answer with this control and topmost element; `None` if it is not asked.
fn answer(strict: &Strict<'_>, readout: Readout, control: Control, element: ElementId) -> Option<Answer> {
    match (readout, control) {
        (Readout::Pop | Readout::Push, Control::Reduce(sight)) => {
            Some(Answer::Act(strict.reduction(element, sight.next)))
        }
        (Readout::Output, Control::Settled(_)) => Some(Answer::Output(strict.accepts(element))),
        (Readout::Shift, Control::Settled(Sight { next: Lookahead::Token(token), .. })) => {
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
