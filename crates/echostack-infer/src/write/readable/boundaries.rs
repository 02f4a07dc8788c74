//! Where tokens end under longest match, and which texts are interchangeable.
//!
//! *Boundaries* are places in which a token may end. In a boundary, some atoms continue the token, and the others begin
//! the next one; the place without the continuing atoms is its *rest*. All rests are followed at the same time, by atom.
//! The *effect* of a text is, for each rest, the rest after it. Texts with the same effect are interchangeable.

use std::collections::{BTreeMap, BTreeSet};

use super::characters::{Characters, Mark, Node};
use super::graph::classes;
use super::way::{Spaces, Way};
use super::work::Work;

/// A place that more ASCII characters than this do not leave is inside a text, not between tokens.
const FREE: usize = 12;
/// The most sets of places.
const MAX_NODES: usize = 4000;

/// For each rest, the rest after a token.
pub(super) type Effect = Vec<Option<Node>>;

/// The automaton of all tokens.
#[derive(Clone, Debug, Default)]
pub(super) struct Tokens {
    pub(super) start: usize,
    pub(super) arcs: Vec<BTreeMap<usize, usize>>,
    pub(super) effects: Vec<Option<Effect>>,
    /// The rests from which a token can be read, in the order of the effects.
    pub(super) tracks: Vec<Node>,
    /// The rest of each boundary.
    pub(super) rest: BTreeMap<Node, Node>,
    /// The atoms that are skipped between tokens.
    pub(super) skipped: BTreeSet<usize>,
    /// The atoms that are white space, but not skipped: runs of one of them are tokens.
    pub(super) runs: BTreeSet<usize>,
    /// The atoms that can follow a boundary after what is skipped, but not at once: `0 or` is two tokens, and `0or` is wrong.
    pub(super) gaps: BTreeMap<Node, BTreeSet<usize>>,
}

/// Where a text leads from each rest.
type Places = Vec<Option<Node>>;

/// What is known while boundaries are found.
struct Search<'a> {
    characters: &'a Characters,
    way: Way,
    word: BTreeSet<usize>,
    bounds: BTreeSet<Node>,
    rest: BTreeMap<Node, Node>,
    /// The atoms that continue a token at a boundary.
    more: BTreeMap<Node, BTreeSet<usize>>,
    /// The atoms that lead to each place.
    into: Vec<BTreeSet<usize>>,
    tracks: Vec<Node>,
    nodes: Vec<(Places, BTreeMap<usize, usize>)>,
}

impl Tokens {
    /// Finds tokens in one way. Returns `None` if there are too many.
    pub(super) fn find(characters: &Characters, way: Way, work: &Work) -> Option<Self> {
        let mut search = Search::new(characters, way);
        let spaces = if way.spaces == Spaces::Kept { BTreeSet::new() } else { search.spaces() };
        if spaces.is_empty() {
            search.runs();
        } else {
            search.comments();
        }
        while search.follow(work)? {}
        let loops =
            search.tracks.iter().all(|&rest| spaces.iter().all(|atom| characters.moves[rest].get(atom) == Some(&rest)));
        let (skipped, runs) = if loops { (spaces, BTreeSet::new()) } else { (BTreeSet::new(), spaces) };
        search.nodes[0].1.retain(|atom, _| !skipped.contains(atom));
        let gaps = if loops { search.gaps() } else { BTreeMap::new() };
        let mut this = search.minimized();
        (this.skipped, this.runs, this.gaps) = (skipped, runs, gaps);
        Some(this)
    }
}

impl<'a> Search<'a> {
    fn new(characters: &'a Characters, way: Way) -> Self {
        let places = 0..characters.moves.len();
        let mut into = vec![BTreeSet::new(); characters.moves.len()];
        for moves in &characters.moves {
            moves.iter().for_each(|(&atom, &to)| _ = into[to].insert(atom));
        }
        let is_sink = |node: &Node| matches!(characters.marks[*node], Mark::Open(_) | Mark::Close(..));
        let after_space = |node: &Node| into[*node].iter().all(|&atom| characters.is_space(atom));
        let closers = characters.closers.iter().copied().filter(|node| !after_space(node));
        let bounds = characters.hubs.iter().copied().chain(places.filter(is_sink)).chain(closers).collect();
        Self {
            characters,
            way,
            word: (0..characters.atoms.len()).filter(|&atom| characters.is_word(atom)).collect(),
            bounds,
            rest: BTreeMap::new(),
            more: BTreeMap::new(),
            into,
            tracks: Vec::new(),
            nodes: Vec::new(),
        }
    }

    fn glues(&self) -> bool {
        self.way.spaces == Spaces::Skipped
    }

    fn moves(&self, node: Node) -> &'a BTreeMap<usize, Node> {
        &self.characters.moves[node]
    }

    fn is_digit(&self, atom: usize) -> bool {
        self.characters.letter(atom).is_numeric()
    }

    /// Returns whether the same closed words can follow in two places, and whether the text can end.
    fn is_alike(&self, one: Node, two: Node) -> bool {
        let Characters { over, marks, .. } = self.characters;
        over[one] == over[two] && marks[one] == marks[two]
    }

    /// Returns whether one place can do all that another one can.
    fn covers(&self, one: Node, two: Node) -> bool {
        self.moves(two).iter().all(|(atom, to)| self.moves(one).get(atom) == Some(to))
    }

    /// Returns the number of ASCII characters that do not leave a place.
    fn loops(&self, node: Node) -> usize {
        let atoms = self.moves(node).iter().filter(|&(_, &to)| to == node);
        atoms.map(|(&atom, _)| self.characters.atoms[atom].ascii().count()).sum()
    }

    /// Finds the atoms that loop where a token may end, and the places where they do.
    fn spaces(&mut self) -> BTreeSet<usize> {
        let atoms = 0..self.characters.atoms.len();
        let mut found: Vec<(usize, BTreeMap<Node, Node>)> = Vec::new();
        for atom in atoms.filter(|&atom| self.characters.is_space(atom)) {
            let target = |node: Node| {
                let rest = *self.moves(node).get(&atom)?;
                let is_rest = self.moves(rest).get(&atom) == Some(&rest)
                    && self.loops(rest) <= FREE
                    && self.is_alike(rest, node)
                    && self.moves(rest).iter().all(|(other, to)| {
                        self.moves(node).get(other) == Some(to) || self.glues() && self.word.contains(other)
                    });
                is_rest.then_some((node, rest))
            };
            found.push((atom, (0..self.into.len()).filter_map(target).collect()));
        }
        let Some(best) = found.iter().rev().max_by_key(|(_, places)| places.len()).map(|(_, places)| places.clone())
        else {
            return BTreeSet::new();
        };
        if best.is_empty() {
            return BTreeSet::new();
        }
        for (&node, &rest) in &best {
            self.bounds.extend([node, rest]);
            let is_word = self.glues() && node != rest && self.into[node].is_subset(&self.word);
            let continues = |&(atom, to): &(&usize, &Node)| {
                // A digit after a word is a token of its own if it could also come after a space: `or0` is `or 0`.
                let is_own = || self.is_digit(*atom) && !self.into[node].iter().all(|&atom| self.is_digit(atom));
                self.moves(rest).get(atom) != Some(to) || is_word && self.word.contains(atom) && !is_own()
            };
            let more = self.moves(node).iter().filter(continues).map(|(&atom, _)| atom).collect();
            self.rest.insert(node, rest);
            self.more.insert(node, more);
        }
        for &rest in best.values() {
            self.rest.insert(rest, rest);
            self.more.insert(rest, BTreeSet::new());
        }
        found.into_iter().filter(|(_, places)| *places == best).map(|(atom, _)| atom).collect()
    }

    /// Finds the places in free text that is skipped: what leaves the text leads to where it would have led before it, and the
    /// text can end there if it could end before. So a token can end there, and leads back to where it began.
    fn comments(&mut self) {
        let all = || 0..self.into.len();
        let ends = |node: Node, before: Node| {
            let returns =
                |(atom, &to): (&usize, &Node)| to == node || self.moves(before).get(atom).is_some_and(|&own| own == to);
            node != before
                && self.characters.marks[node] == self.characters.marks[before]
                && self.moves(before).values().any(|&to| to == node)
                && self.moves(node).iter().all(returns)
        };
        let rests: BTreeSet<Node> = self.rest.values().copied().collect();
        let is_free = |node: &Node| !self.rest.contains_key(node) && self.loops(*node) > FREE;
        let found: Vec<(Node, Node)> = all()
            .filter(is_free)
            .filter_map(|node| Some((node, rests.iter().copied().find(|&before| ends(node, before))?)))
            .collect();
        for (node, before) in found {
            let loops = self.moves(node).iter().filter(|&(_, &to)| to == node).map(|(&atom, _)| atom).collect();
            self.bounds.insert(node);
            self.rest.insert(node, before);
            self.more.insert(node, loops);
        }
    }

    /// Returns the atoms that can follow boundaries after what is skipped, but not at once.
    fn gaps(&self) -> BTreeMap<Node, BTreeSet<usize>> {
        let missing = |(&node, &rest): (&Node, &Node)| {
            let follows = self.moves(rest).keys().filter(|atom| !self.moves(node).contains_key(atom));
            (node, follows.copied().collect::<BTreeSet<_>>())
        };
        self.rest.iter().map(missing).filter(|(_, atoms)| !atoms.is_empty()).collect()
    }

    /// Without white space to go by, names are tokens: a place after a run of letters, and before one, after a space.
    fn runs(&mut self) {
        let is_quote = |atom: &usize| self.characters.is_among(*atom, "\"'`");
        let is_run = |&node: &Node| {
            let only_quotes = self.moves(node).keys().filter(|atom| !self.word.contains(atom)).all(is_quote);
            self.moves(node).iter().any(|(atom, &to)| to == node && self.word.contains(atom))
                && self.into[node].is_subset(&self.word)
                && !only_quotes
        };
        let all = || 0..self.into.len();
        let runs: BTreeSet<Node> = all().filter(is_run).collect();
        let leads = |node: Node, to: &BTreeSet<Node>, by_word: bool| {
            self.moves(node).iter().any(|(atom, next)| self.word.contains(atom) == by_word && to.contains(next))
        };
        let mut near = runs.clone();
        near.extend(all().filter(|&node| leads(node, &runs, true)));
        let nearer: Vec<Node> = all().filter(|&node| leads(node, &near, false)).collect();
        near.extend(nearer);
        let near: Vec<Node> = near.into_iter().filter(|&node| self.is_after_space(node)).collect();
        self.bounds.extend(runs);
        self.bounds.extend(near);
    }

    fn is_start(&self, node: Node) -> bool {
        self.characters.starts.values().any(|&start| start == node)
    }

    /// Chooses the rest of a boundary, and the atoms that continue a token there.
    fn settle(&mut self, node: Node) {
        if let Mark::Ends(end) = self.characters.marks[node] {
            self.rest.insert(node, end);
            self.more.insert(node, self.moves(node).keys().copied().collect());
            return;
        }
        self.rest.insert(node, node);
        self.more.insert(node, BTreeSet::new());
        let after_closed = self.characters.over.iter().any(|over| over.values().any(|&to| to == node));
        if self.into[node].is_empty() || self.is_start(node) || after_closed {
            return;
        }
        let moves = self.moves(node);
        let looping = |atom: &usize| moves.get(atom) == Some(&node);
        if self.way.free && self.loops(node) > FREE {
            // Free text, which may end at any character.
            let more = moves.keys().copied().filter(looping).collect();
            self.more.insert(node, more);
        }
        let after_space = self.way.joined && self.is_after_space(node);
        if !after_space && !self.into[node].is_subset(&self.word) {
            return;
        }
        let is_covered = |&other: &Node| {
            let is_smaller = self.moves(other).len() < self.moves(node).len();
            other != node && is_smaller && self.is_alike(node, other) && self.covers(node, other)
        };
        let mut covered: Vec<Node> = self.bounds.iter().copied().filter(is_covered).collect();
        covered.sort_by_key(|&other| (std::cmp::Reverse(self.moves(other).len()), other));
        for other in covered {
            if !self.rest.contains_key(&other) {
                self.settle(other);
            }
            let base = self.rest[&other];
            let own = self.moves(node).keys().copied();
            let more: BTreeSet<usize> = own.filter(|atom| !self.moves(base).contains_key(atom)).collect();
            if self.covers(node, base) && (after_space || self.stays(node, &more, base)) {
                self.rest.insert(node, base);
                self.more.insert(node, more);
                return;
            }
        }
        if !after_space {
            let more = moves.keys().copied().filter(looping).filter(|atom| self.word.contains(atom)).collect();
            self.more.insert(node, more);
        }
    }

    /// Returns whether only white space leads to a place.
    fn is_after_space(&self, node: Node) -> bool {
        let into = &self.into[node];
        !into.is_empty() && into.iter().all(|&atom| self.characters.is_space(atom))
    }

    /// Returns whether the continuing atoms only lead to boundaries that can have the same rest.
    fn stays(&self, node: Node, more: &BTreeSet<usize>, base: Node) -> bool {
        let mut seen = BTreeSet::from([node]);
        let mut open: Vec<(Node, usize)> = more.iter().map(|&atom| (node, atom)).collect();
        while let Some((from, atom)) = open.pop() {
            let to = self.moves(from)[&atom];
            if !seen.insert(to) {
                continue;
            }
            let is_bound = self.bounds.contains(&to);
            let same = self.characters.over[to] == self.characters.over[base];
            if is_bound && (self.is_start(to) || !same || !self.covers(to, base)) {
                return false;
            }
            let goes_on = |atom: &usize| !is_bound || !self.moves(base).contains_key(atom);
            open.extend(self.moves(to).keys().copied().filter(goes_on).map(|atom| (to, atom)));
        }
        true
    }

    /// Follows all rests at the same time. Returns whether boundaries were added, so that it must be done again, and
    /// nothing if there are too many places.
    fn follow(&mut self, work: &Work) -> Option<bool> {
        for node in self.bounds.clone() {
            if !self.rest.contains_key(&node) {
                self.settle(node);
            }
        }
        let rests: BTreeSet<Node> =
            self.rest.iter().filter(|(node, _)| self.bounds.contains(node)).map(|(_, &rest)| rest).collect();
        self.tracks = rests.into_iter().filter(|&rest| !self.moves(rest).is_empty()).collect();
        let start: Places = self.tracks.iter().copied().map(Some).collect();
        self.nodes = vec![(start, BTreeMap::new())];
        // The start is no target, even if a text leads back to all rests.
        let mut numbers: BTreeMap<Places, usize> = BTreeMap::new();
        let mut at = 0;
        while at < self.nodes.len() {
            if self.nodes.len() > MAX_NODES || !work.take(self.tracks.len()) {
                return None;
            }
            let inside = at > 0;
            let node = self.nodes[at].0.clone();
            let mut targets: BTreeMap<usize, Places> = BTreeMap::new();
            for (track, place) in node.iter().enumerate().filter_map(|(track, place)| Some((track, (*place)?))) {
                let more = self.more.get(&place);
                let continues = |atom: &usize| more.is_some_and(|more| more.contains(atom));
                let is_end = self.bounds.contains(&place);
                for (&atom, &to) in self.moves(place) {
                    if inside && is_end && !continues(&atom) || !inside && continues(&atom) {
                        continue;
                    }
                    targets.entry(atom).or_insert_with(|| vec![None; node.len()])[track] = Some(to);
                }
            }
            if inside {
                let added = self.missing(&node, &targets);
                if !added.is_empty() {
                    self.bounds.extend(added);
                    return Some(true);
                }
            }
            for (atom, target) in targets {
                let number = *numbers.entry(target.clone()).or_insert_with(|| {
                    self.nodes.push((target, BTreeMap::new()));
                    self.nodes.len() - 1
                });
                self.nodes[at].1.insert(atom, number);
            }
            at += 1;
        }
        Some(false)
    }

    /// Returns the places inside tokens that must be boundaries, since a token ends there for others.
    fn missing(&self, node: &[Option<Node>], targets: &BTreeMap<usize, Places>) -> Vec<Node> {
        let (ended, going): (Vec<Node>, Vec<Node>) =
            node.iter().flatten().copied().partition(|place| self.bounds.contains(place));
        let only_word = |place: Node| self.moves(place).keys().all(|atom| self.word.contains(atom));
        let inside: Vec<Node> = going.iter().copied().filter(|&place| !only_word(place)).collect();
        let goes_on = ended.iter().any(|place| !self.more[place].is_empty());
        if !ended.is_empty() && !inside.is_empty() && !goes_on && !self.is_space(node) {
            return inside;
        }
        for atom in targets.keys() {
            let breaks = ended.iter().filter(|place| {
                let can_go = self.moves(**place).contains_key(atom) && !self.more[place].contains(atom);
                can_go && self.moves(self.rest[place]).contains_key(atom)
            });
            let breaks: BTreeSet<Node> = breaks.map(|place| self.rest[place]).collect();
            let goes: Vec<Node> = going.iter().copied().filter(|&place| self.moves(place).contains_key(atom)).collect();
            let clashes = || goes.iter().any(|&one| breaks.iter().any(|&two| self.clash(one, two, *atom)));
            if self.way.careful && !breaks.is_empty() && !goes.is_empty() || clashes() {
                return goes;
            }
        }
        Vec::new()
    }

    /// Returns whether a text is the end of a token from one place, and can be read, as other tokens, from another place.
    fn clash(&self, inside: Node, rest: Node, atom: usize) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![(self.moves(inside)[&atom], self.moves(rest)[&atom])];
        while let Some((one, two)) = open.pop() {
            if !seen.insert((one, two)) {
                continue;
            }
            if self.bounds.contains(&one) || self.moves(two).is_empty() {
                return true;
            }
            let both = self.moves(one).iter().filter_map(|(atom, &to)| Some((to, *self.moves(two).get(atom)?)));
            open.extend(both);
        }
        false
    }

    /// Returns whether only white space was read to get to a set of places.
    fn is_space(&self, node: &[Option<Node>]) -> bool {
        self.nodes[0].1.iter().any(|(&atom, &to)| self.nodes[to].0 == node && self.characters.is_space(atom))
    }

    /// Returns the automaton of tokens, without what leads to no token.
    fn minimized(self) -> Tokens {
        let effect = |at: usize| {
            let rest =
                |place: &Option<Node>| place.filter(|place| self.bounds.contains(place)).map(|place| self.rest[&place]);
            let effect: Effect = self.nodes[at].0.iter().map(rest).collect();
            (at > 0 && effect.iter().any(Option::is_some)).then_some(effect)
        };
        let effects: Vec<Option<Effect>> = (0..self.nodes.len()).map(effect).collect();
        let mut kinds = BTreeMap::new();
        let first = effects.iter().enumerate().map(|(at, effect)| {
            let next = kinds.len();
            *kinds.entry((at == 0, effect)).or_insert(next)
        });
        let block = classes(first.collect(), &|node, block| {
            self.nodes[node].1.iter().map(|(&atom, &to)| (atom, block[to])).collect()
        });
        let count = block.iter().max().map_or(0, |most| most + 1);
        let mut this = Tokens {
            start: block[0],
            arcs: vec![BTreeMap::new(); count],
            effects: vec![None; count],
            ..Tokens::default()
        };
        for (node, &own) in block.iter().enumerate() {
            this.arcs[own] = self.nodes[node].1.iter().map(|(&atom, &to)| (atom, block[to])).collect();
            this.effects[own].clone_from(&effects[node]);
        }
        let mut live: BTreeSet<usize> = (0..count).filter(|&node| this.effects[node].is_some()).collect();
        loop {
            let leads = |node: &usize| !live.contains(node) && this.arcs[*node].values().any(|to| live.contains(to));
            let more: Vec<usize> = (0..count).filter(leads).collect();
            if more.is_empty() {
                break;
            }
            live.extend(more);
        }
        this.arcs.iter_mut().for_each(|arcs| arcs.retain(|_, to| live.contains(to)));
        (this.tracks, this.rest) = (self.tracks, self.rest);
        this
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{automaton, lists_learned};

    /// In lists, every character is a token, and each place is its own rest.
    #[test]
    fn where_structure_is_possible_tokens_end() {
        let (hypothesis, _) = lists_learned();
        let characters = Characters::new(automaton(&hypothesis), &hypothesis.symbols);
        for way in Way::ALL {
            let tokens = Tokens::find(&characters, way, &Work::default()).unwrap();
            assert!(tokens.rest.iter().all(|(node, rest)| node == rest), "{way:?}");
            assert!(tokens.skipped.is_empty() && tokens.runs.is_empty());
            assert_eq!(tokens.arcs[tokens.start].len(), 4, "{way:?}");
            assert!(tokens.arcs[tokens.start].values().all(|&to| tokens.effects[to].is_some()));
        }
    }
}
