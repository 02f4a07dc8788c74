//! What is to be proved: that every readout gives the automaton's answer in every reachable configuration.
//!
//! Configurations are grouped into cells, by a suffix of the input and a suffix of the stack. An [`Obligation`] is a
//! cell of one readout with the answers that are right in it. It is split by the token before its suffix of the input,
//! or by the symbol beneath its suffix of the stack, among those that can be there.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::bound::{Bounds, Sighting};
use crate::automaton::reach::{ElementId, History, Phase, PlaceId, Reach, Recalled, Sight, Strict, System};
use crate::control::{Cancelled, Poll};
use crate::machine::Readout;
use crate::suffix::{InputSuffix, StackSuffix};
use crate::symbol::{Lookahead, SymbolId};
use crate::teach::Answer;

/// Suffixes of the input as the readouts see them. When there are too many they are forgotten and computed again.
#[derive(Default)]
pub(crate) struct InputSightings {
    seen: HashMap<InputSuffix, Sighting>,
    /// About how many numbers they take.
    size: usize,
}

impl InputSightings {
    /// The most numbers that are kept: 256 MiB of them.
    pub(crate) const MAX_NUMBERS: usize = 1 << 25;

    pub(crate) fn see(&mut self, bounds: &Bounds<'_>, suffix: &InputSuffix) -> &Sighting {
        if self.size > Self::MAX_NUMBERS {
            *self = Self::default();
        }
        self.seen.entry(suffix.clone()).or_insert_with(|| {
            let sighting = bounds.input(suffix);
            self.size += sighting.numbers();
            sighting
        })
    }
}

/// Configurations with one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Item {
    pub(crate) answer: Answer,
    /// What is beneath the suffix of the stack.
    pub(crate) place: PlaceId,
    pub(crate) recent: History,
}

/// What a readout must answer in one cell. The suffix of the stack that belongs to it is known from where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Obligation {
    /// The number of the readout.
    pub(crate) head: usize,
    pub(crate) input: InputSuffix,
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

/// The symbol beneath a suffix of the stack, or the token before one of the input: `None` is the bottom or the
/// beginning.
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
            beneath[under.place.index()].push((strict.symbol(under.element), under.beneath));
        }
        let mut numbers: BTreeMap<(ElementId, PlaceId), PlaceId> = BTreeMap::new();
        // The readouts stand together that see the same: they share what is computed.
        let mut obligations: BTreeMap<(Lookahead, usize), Vec<Item>> = BTreeMap::new();
        for top in &reach.tops {
            poll.step()?;
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
        let all = obligations.into_iter().map(|((next, head), items)| {
            poll.steps(items.len())?;
            Ok(Obligation { head, input: InputSuffix::of(next), items: sorted(items) })
        });
        let all = all.collect::<Result<_, _>>()?;
        Ok((Self { beneath, terminals }, all))
    }

    /// Splits an obligation by the token before its suffix of the input.
    pub(crate) fn split_input(&self, strict: &Strict<'_>, obligation: &Obligation) -> Vec<Obligation> {
        let Obligation { head, input, items } = obligation;
        let mut parts: BTreeMap<Next, Vec<Item>> = BTreeMap::new();
        let mut add = |token: Next, item: &Item| parts.entry(token).or_default().push(*item);
        for item in items {
            match strict.memory().recall(item.recent, input.before().len()) {
                Recalled::Beginning => add(None, item),
                Recalled::Token(token) => add(Some(token), item),
                Recalled::Forgotten => {
                    add(None, item);
                    (0..self.terminals).for_each(|token| add(Some(SymbolId::new(token)), item));
                }
            }
        }
        let part = |(token, items): (Next, Vec<Item>)| Obligation {
            head: *head,
            input: input.longer(token),
            items: sorted(items),
        };
        parts.into_iter().map(part).collect()
    }

    /// Splits obligations by the symbol beneath their suffix of the stack, the bottom first.
    fn split_stack(
        &self,
        obligations: &[Obligation],
        poll: &mut Poll<'_>,
    ) -> Result<BTreeMap<Next, Vec<Obligation>>, Cancelled> {
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
        Ok(parts)
    }

    /// For each place the symbol beneath it on a shortest way to the bottom, and the place beneath that.
    pub(crate) fn ways_down(&self) -> Vec<(Next, PlaceId)> {
        let mut above: Vec<Vec<(Next, PlaceId)>> = vec![Vec::new(); self.beneath.len()];
        for (place, list) in self.beneath.iter().enumerate() {
            list.iter().for_each(|&(symbol, below)| above[below.index()].push((symbol, PlaceId::new(place))));
        }
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

/// Suffixes of the stack with the obligations that are left on each, the shorter suffixes first.
pub(crate) struct StackWalk(VecDeque<(StackSuffix, Vec<Obligation>)>);

impl StackWalk {
    /// Begins with the suffix of every stack.
    pub(crate) fn new(root: Vec<Obligation>) -> Self {
        Self(VecDeque::from([(StackSuffix::ANY, root)]))
    }

    /// The next suffix, and what is to be proved on it.
    pub(crate) fn next(&mut self) -> Option<(StackSuffix, Vec<Obligation>)> {
        self.0.pop_front()
    }

    /// The number of suffixes that have not been visited yet.
    pub(crate) fn waiting(&self) -> usize {
        self.0.len()
    }

    /// Leaves obligations to the suffixes that are longer by one symbol.
    pub(crate) fn go_on(
        &mut self,
        cells: &Cells,
        stack: &StackSuffix,
        left: &[Obligation],
        poll: &mut Poll<'_>,
    ) -> Result<(), Cancelled> {
        let parts = cells.split_stack(left, poll)?;
        self.0.extend(parts.into_iter().map(|(symbol, obligations)| (stack.longer(symbol), obligations)));
        Ok(())
    }
}

/// What a readout must answer with this phase and topmost element; `None` if it is not asked.
fn answer(strict: &Strict<'_>, readout: Readout, phase: Phase, element: ElementId) -> Option<Answer> {
    match (readout, phase) {
        (Readout::Pop | Readout::Push, Phase::Reduce(sight)) => {
            Some(Answer::Act(strict.reduction(element, sight.next)))
        }
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
