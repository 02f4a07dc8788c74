//! Computes the configurations that a pushdown system can reach, each with a shortest word that leads to it.
//!
//! A proof is about the configurations that can occur. There are infinitely many, since a configuration is a phase and
//! a stack of any depth. This file computes a finite description of all of them, for a strict automaton ([`Strict`])
//! and for a machine that is being explored (`extract`). Both implement [`System`].
//!
//! # Idea
//!
//! A stack is treated as a list of elements. An element is a symbol together with everything that determines what the
//! system does when that symbol is on top: for a strict automaton, the node of the rules' suffixes and the state of the
//! stack's viability. The bottom of the stack is an element, too. The reachable stacks, post* of the start, form a
//! regular language (Büchi 1964). They are represented by a finite automaton that reads a stack from the top:
//!
//! - a [`Top`] (p, e, k) reads the topmost element e in phase p and goes to place k;
//! - an [`Under`] (k, e, l) reads the element e below place k and goes to place l;
//! - [`PlaceId::BELOW`], below the bottom of the stack, is where reading ends.
//!
//! A configuration is reachable if and only if its phase and its elements can be read in this way. This includes the
//! configurations that result from reductions before a token that is then refused.
//!
//! # Algorithm
//!
//! The finite automaton is saturated. There is one place for each pair of a phase and an element that a push leads to.
//! The start is a top that reads the bottom. For each top (p, e, k) that is found, and each [`Move`] of the system from
//! p with e on top:
//!
//! - a move that stays, to phase q, adds the top (q, e, k);
//! - a move that pushes f, to phase q, adds the top (q, f, l) and the under (l, e, k), where l is the place of q and f;
//! - a move that pops, to phase q, adds the top (q, f, l) for every under (k, f, l), whether it is already known or
//!   found later: each place keeps its unders and the phases that pops have led to.
//!
//! Each top and each under has a word. Concatenated along a stack, from the bottom to the top, these words lead to its
//! configuration. A shift adds its token; a pop appends the word of the popped element to the word of the element below
//! it. The queue takes the shortest word first, as Dijkstra's algorithm does, so the first word that is found for each
//! is a shortest one. Words share their parts ([`Rope`]); [`Witness`] spells them out.
//!
//! # Invariants
//!
//! - The result is closed: it contains the start and, for each top, everything that the three rules above add. The
//!   checker verifies this for itself (`certify/closed.rs`), so that nothing in this search has to be trusted.
//! - The result is exact: every configuration that can be read has a word that leads to it.
//! - Elements, places, tops and unders are numbered in the order in which they are found, which is the same in every
//!   run.
//!
//! # Cost
//!
//! There are at most as many tops as triples of a phase, an element and a place. The work is that of computing the
//! moves, plus one step for each pair of a pop and an under that meet at a place. A memory of m tokens multiplies the
//! number of phases by up to (terminals + 1)^m. Beyond [`MAX_FOUND`], the system is rejected as too large.
//!
//! # References
//!
//! - Büchi: Regular canonical systems (1964).
//! - Schwoon: Model-checking pushdown systems (thesis, 2002), for post* with one place per push.
//! - Reps, Schwoon, Jha, Melski: Weighted pushdown systems and their application to interprocedural dataflow analysis
//!   (2005), for the words.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use foldhash::fast::RandomState;
use serde::{Deserialize, Serialize};

use super::error::AutomatonError;
use super::lr::Automaton;
use super::oracle::Oracle;
use super::suffixes::{Node, Suffixes};
use super::viability::{StackState, Viability};
use crate::control::{Control, Poll, Stage};
use crate::index::index;
use crate::recognize::Reduction;
use crate::symbol::{Alphabet, Lookahead, SymbolId};

index! {
    /// The most recent tokens, as many as are remembered. They are encoded as a number whose base is the number of
    /// terminals plus one: the last token is the lowest digit, tokens count from 1, and 0 stands for the beginning of
    /// the word.
    pub(crate) History
}

impl History {
    /// The history if no token has been read, or none is remembered.
    pub(crate) const EMPTY: Self = Self::new(0);
}

/// The part of the input that the automaton sees: the next token or the end, and the remembered tokens before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Sight {
    pub(crate) recent: History,
    pub(crate) next: Lookahead,
}

/// The state of the automaton between two actions on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// The next token is to be read.
    Next(History),
    /// An action on the stack is to be decided.
    Reduce(Sight),
    /// This number of symbols must still be popped; then this symbol is pushed.
    Pop(Sight, u32, SymbolId),
    /// No action on the stack is left: the output and the shift are to be decided.
    Settled(Sight),
}

index! {
    /// The number of an element of a stack.
    #[derive(Serialize, Deserialize)]
    pub(crate) ElementId
}

impl ElementId {
    /// The bottom of the stack.
    pub(crate) const BOTTOM: Self = Self::new(0);
}

/// A symbol on the stack, or the bottom, and what the automaton needs to know about the stack up to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Element {
    symbol: Option<SymbolId>,
    suffix: Node,
    state: StackState,
}

/// A step of the automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    /// The stack stays as it is.
    Stay(Phase),
    /// The topmost element is popped.
    Pop(Phase),
    /// This element is pushed.
    Push(Phase, ElementId),
}

/// A pushdown system that reads words: its decisions, and the moves that follow from them.
pub(crate) trait System {
    /// Returns the symbols.
    fn alphabet(&self) -> &Alphabet;

    /// Returns how the input is remembered.
    fn memory(&self) -> Memory;

    /// Returns the symbol of an element; `None` for the bottom.
    fn symbol(&self, element: ElementId) -> Option<SymbolId>;

    /// Returns the element that results from pushing a symbol onto an element.
    fn push(&mut self, on: ElementId, symbol: SymbolId) -> ElementId;

    /// Returns the action on a stack with this element on top; `None` if it is not known.
    fn decide(&mut self, sight: Sight, top: ElementId) -> Option<Reduction>;

    /// Returns whether the next token is shifted onto a stack that is settled. This is also called at the end of the
    /// word, where the answer is no.
    fn goes_on(&mut self, sight: Sight, top: ElementId) -> bool;

    /// Returns all possible moves; none if the run ends here, for whatever reason.
    fn moves(&mut self, phase: Phase, top: ElementId) -> Vec<Move> {
        match phase {
            Phase::Next(recent) => {
                let looks = self.alphabet().lookaheads();
                looks.map(|next| Move::Stay(Phase::Reduce(Sight { recent, next }))).collect()
            }
            Phase::Reduce(sight) => match self.decide(sight, top) {
                Some(Reduction::NONE) => vec![Move::Stay(Phase::Settled(sight))],
                Some(Reduction { pop, push: Some(push) }) => self.moves(Phase::Pop(sight, pop, push), top),
                _ => Vec::new(),
            },
            Phase::Pop(sight, 0, push) => vec![Move::Push(Phase::Reduce(sight), self.push(top, push))],
            Phase::Pop(..) if top == ElementId::BOTTOM => Vec::new(), // more is popped than there is: the run stops
            Phase::Pop(sight, left, push) => vec![Move::Pop(Phase::Pop(sight, left - 1, push))],
            Phase::Settled(sight) => {
                let goes_on = self.goes_on(sight, top);
                let Some(token) = sight.next.token().filter(|_| goes_on) else { return Vec::new() };
                vec![Move::Push(Phase::Next(self.memory().push(sight.recent, token)), self.push(top, token))]
            }
        }
    }
}

/// The encoding of the remembered tokens, those before the next one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// The number of terminals plus one.
    base: u32,
    /// The base to the power of the number of remembered tokens.
    span: u32,
}

impl Memory {
    /// Creates a memory of this number of tokens; `None` if that is too many.
    pub(crate) fn new(terminals: usize, tokens: u32) -> Option<Self> {
        let base = u32::try_from(terminals).ok()?.checked_add(1)?;
        Some(Self { base, span: base.checked_pow(tokens)? })
    }

    /// Returns the history after one more token has been read.
    pub(crate) fn push(self, recent: History, token: SymbolId) -> History {
        let digit = token.index() as u64 + 1;
        let longer = recent.index() as u64 * u64::from(self.base) + digit;
        History::new((longer % u64::from(self.span)) as usize)
    }

    /// Returns the token that was read `back` tokens before the last one.
    pub(crate) fn recall(self, recent: History, back: usize) -> Recalled {
        let place = u32::try_from(back).ok().and_then(|back| self.base.checked_pow(back));
        match place.filter(|&place| place < self.span) {
            None => Recalled::Forgotten,
            Some(place) => match recent.index() / place as usize % self.base as usize {
                0 => Recalled::Beginning,
                digit => Recalled::Token(SymbolId::new(digit - 1)),
            },
        }
    }
}

/// A strict automaton as a pushdown system, whose elements are created on demand.
pub(crate) struct Strict<'a> {
    automaton: &'a Automaton,
    suffixes: Suffixes<'a>,
    viability: Arc<Viability>,
    elements: Vec<Element>,
    /// For each element, the one that it was pushed onto when it was found; the bottom itself for the bottom.
    on: Vec<ElementId>,
    ids: HashMap<Element, ElementId>,
    pushed: HashMap<(ElementId, SymbolId), ElementId>,
    memory: Memory,
}

impl<'a> Strict<'a> {
    /// Creates the system of a strict oracle's automaton, with a memory of `memory` tokens.
    pub(crate) fn new(oracle: &'a Oracle, memory: u32) -> Result<Self, AutomatonError> {
        let automaton = oracle.automaton();
        let viability = oracle.viable()?;
        let suffixes = Suffixes::new(automaton);
        let memory = Memory::new(automaton.alphabet().terminals().len(), memory).ok_or(AutomatonError::TooLarge)?;
        let bottom = Element { symbol: None, suffix: suffixes.bottom(), state: viability.bottom() };
        Ok(Self {
            automaton,
            suffixes,
            viability,
            elements: vec![bottom],
            on: vec![ElementId::BOTTOM],
            ids: HashMap::from([(bottom, ElementId::BOTTOM)]),
            pushed: HashMap::new(),
            memory,
        })
    }

    /// Returns, for each element, the one below it when it was found, and its symbol. The elements can be reconstructed
    /// from these.
    pub(crate) fn elements(&self) -> impl Iterator<Item = (ElementId, Option<SymbolId>)> {
        self.on.iter().zip(&self.elements).map(|(&on, element)| (on, element.symbol))
    }

    /// Returns the pushes that were requested: the element below, the symbol, and the resulting element.
    pub(crate) fn pushes(&self) -> impl Iterator<Item = ((ElementId, SymbolId), ElementId)> {
        self.pushed.iter().map(|(&pushed, &to)| (pushed, to))
    }

    /// Returns the action on a stack with this element on top; [`Reduction::NONE`] if there is none.
    pub(crate) fn reduction(&self, element: ElementId, next: Lookahead) -> Reduction {
        self.suffixes.action(self.elements[element.index()].suffix, next).unwrap_or(Reduction::NONE)
    }

    /// Returns whether a word is accepted with this stack.
    pub(crate) fn accepts(&self, element: ElementId) -> bool {
        self.suffixes.accepts(self.elements[element.index()].suffix)
    }

    /// Returns whether a token may be shifted onto the stack.
    pub(crate) fn shifts(&self, element: ElementId, token: SymbolId) -> bool {
        self.viability.is_viable(self.viability.push(self.elements[element.index()].state, token))
    }
}

impl System for Strict<'_> {
    fn alphabet(&self) -> &Alphabet {
        self.automaton.alphabet()
    }

    fn memory(&self) -> Memory {
        self.memory
    }

    fn symbol(&self, element: ElementId) -> Option<SymbolId> {
        self.elements[element.index()].symbol
    }

    fn push(&mut self, on: ElementId, symbol: SymbolId) -> ElementId {
        if let Some(&known) = self.pushed.get(&(on, symbol)) {
            return known;
        }
        let Element { suffix, state, .. } = self.elements[on.index()];
        let (suffix, state) = (self.suffixes.push(suffix, symbol), self.viability.push(state, symbol));
        let element = Element { symbol: Some(symbol), suffix, state };
        let fresh = ElementId::new(self.elements.len());
        let id = *self.ids.entry(element).or_insert(fresh);
        if id == fresh {
            self.elements.push(element);
            self.on.push(on);
        }
        self.pushed.insert((on, symbol), id);
        id
    }

    fn decide(&mut self, sight: Sight, top: ElementId) -> Option<Reduction> {
        Some(self.reduction(top, sight.next))
    }

    fn goes_on(&mut self, sight: Sight, top: ElementId) -> bool {
        sight.next.token().is_some_and(|token| self.shifts(top, token))
    }
}

/// The token that is remembered at a position of the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recalled {
    /// There was no token: the word began later.
    Beginning,
    Token(SymbolId),
    /// The position is not remembered: any token, or the beginning of the word.
    Forgotten,
}

index! {
    /// The number of a place between two elements of a stack.
    #[derive(Serialize, Deserialize)]
    pub(crate) PlaceId
}

impl PlaceId {
    /// The place below the bottom of the stack.
    pub(crate) const BELOW: Self = Self::new(0);
}

/// A phase with the topmost element, and the place below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Top {
    pub(crate) phase: Phase,
    pub(crate) element: ElementId,
    pub(crate) beneath: PlaceId,
}

/// An element below a place, and the place below that element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Under {
    pub(crate) place: PlaceId,
    pub(crate) element: ElementId,
    pub(crate) beneath: PlaceId,
}

/// The reachable configurations.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Reach {
    /// For each place except the one below the bottom: the phase and the element of the pushes that lead to it.
    pub(crate) places: Vec<(Phase, ElementId)>,
    pub(crate) tops: Vec<Top>,
    pub(crate) unders: Vec<Under>,
}

index! {
    /// The number of a rope.
    RopeId
}

impl RopeId {
    /// The empty word.
    const EMPTY: Self = Self::new(0);
}

/// A word, represented by the parts it is joined from, because the saturation joins many words.
#[derive(Clone, Copy)]
enum Rope {
    Empty,
    Token(SymbolId),
    Join(RopeId, RopeId),
}

/// A word for each top and under of [`Reach`]: concatenated from the bottom of a stack to its top, the words lead to
/// it.
pub(crate) struct Witness {
    ropes: Vec<(Rope, u32)>,
    tops: HashMap<Top, RopeId, RandomState>,
    unders: HashMap<Under, RopeId, RandomState>,
}

/// A finding of the saturation.
#[derive(Clone, Copy, Debug)]
enum Found {
    Top(Top),
    Under(Under),
    /// The phase that follows when everything above a place has been popped.
    Popped(Phase, PlaceId),
}

/// The maximum number of tops, unders and pops that are found before the saturation gives up.
const MAX_FOUND: usize = 1 << 23;

/// The unders of a place, and the phases that follow when everything above it has been popped, each with its word.
type Known = (Vec<(Under, RopeId)>, Vec<(Phase, RopeId)>);

struct Saturation<'s, S> {
    system: &'s mut S,
    /// What was found and has not been followed up, by the length of its word and in the order of finding.
    queue: BTreeMap<u32, VecDeque<(Found, RopeId)>>,
    waiting: usize,
    count: usize,
    places: HashMap<(Phase, ElementId), PlaceId, RandomState>,
    known: Vec<Known>,
    reach: Reach,
    witness: Witness,
    popped: HashSet<(Phase, PlaceId), RandomState>,
}

impl<S: System> Saturation<'_, S> {
    fn find(&mut self, found: Found, word: RopeId) {
        self.count += 1;
        self.waiting += 1;
        self.queue.entry(self.witness.ropes[word.index()].1).or_default().push_back((found, word));
    }

    /// Removes a finding with the shortest word from the queue.
    fn next(&mut self) -> Option<(Found, RopeId)> {
        let mut shortest = self.queue.first_entry()?;
        let next = shortest.get_mut().pop_front();
        if shortest.get().is_empty() {
            shortest.remove();
        }
        self.waiting -= 1;
        next
    }

    fn rope(&mut self, rope: Rope) -> RopeId {
        let length = |word: RopeId| self.witness.ropes[word.index()].1;
        let length = match rope {
            Rope::Empty => 0,
            Rope::Token(_) => 1,
            Rope::Join(first, RopeId::EMPTY) => return first,
            Rope::Join(RopeId::EMPTY, second) => return second,
            Rope::Join(first, second) => length(first).saturating_add(length(second)),
        };
        self.witness.ropes.push((rope, length));
        RopeId::new(self.witness.ropes.len() - 1)
    }

    fn place(&mut self, phase: Phase, element: ElementId) -> PlaceId {
        let fresh = PlaceId::new(self.known.len());
        *self.places.entry((phase, element)).or_insert_with(|| {
            self.known.push((Vec::new(), Vec::new()));
            self.reach.places.push((phase, element));
            fresh
        })
    }

    fn top(&mut self, top: Top, word: RopeId) {
        if self.witness.tops.insert(top, word).is_some() {
            return;
        }
        self.reach.tops.push(top);
        let Top { phase, element, beneath } = top;
        for next in self.system.moves(phase, element) {
            match next {
                Move::Stay(phase) => self.find(Found::Top(Top { phase, ..top }), word),
                Move::Pop(phase) => self.find(Found::Popped(phase, beneath), word),
                Move::Push(phase, pushed) => {
                    let place = self.place(phase, pushed);
                    let own = match (phase, self.system.symbol(pushed)) {
                        (Phase::Next(_), Some(token)) => self.rope(Rope::Token(token)),
                        _ => RopeId::EMPTY,
                    };
                    self.find(Found::Top(Top { phase, element: pushed, beneath: place }), own);
                    self.find(Found::Under(Under { place, element, beneath }), word);
                }
            }
        }
    }

    fn under(&mut self, under: Under, word: RopeId) {
        if self.witness.unders.insert(under, word).is_some() {
            return;
        }
        self.reach.unders.push(under);
        self.known[under.place.index()].0.push((under, word));
        for (phase, above) in self.known[under.place.index()].1.clone() {
            self.meet(under, word, phase, above);
        }
    }

    fn popped(&mut self, phase: Phase, place: PlaceId, word: RopeId) {
        if self.popped.insert((phase, place)) {
            self.known[place.index()].1.push((phase, word));
            for (under, below) in self.known[place.index()].0.clone() {
                self.meet(under, below, phase, word);
            }
        }
    }

    /// Adds the top that results when everything above an element has been popped.
    fn meet(&mut self, under: Under, word: RopeId, phase: Phase, above: RopeId) {
        let word = self.rope(Rope::Join(word, above));
        self.find(Found::Top(Top { phase, element: under.element, beneath: under.beneath }), word);
    }
}

impl Reach {
    /// The configuration at the start of every word.
    pub(crate) const START: Top =
        Top { phase: Phase::Next(History::EMPTY), element: ElementId::BOTTOM, beneath: PlaceId::BELOW };

    /// Computes all reachable configurations, each with a shortest word that leads to it.
    pub(crate) fn new(system: &mut impl System, control: &dyn Control) -> Result<(Self, Witness), AutomatonError> {
        let witness = Witness { ropes: vec![(Rope::Empty, 0)], tops: HashMap::default(), unders: HashMap::default() };
        let mut all = Saturation {
            system,
            queue: BTreeMap::new(),
            waiting: 0,
            count: 0,
            places: HashMap::default(),
            known: vec![(Vec::new(), Vec::new())],
            reach: Self::default(),
            witness,
            popped: HashSet::default(),
        };
        all.find(Found::Top(Self::START), RopeId::EMPTY);
        let mut poll = Poll::new(control);
        while let Some((found, word)) = all.next() {
            // This many steps, because a system may have to compute bounds for each of its moves.
            let done = all.reach.tops.len();
            poll.progress(Stage::Explore, done, done + all.waiting + 1);
            poll.steps(64)?;
            if all.count > MAX_FOUND {
                return Err(AutomatonError::TooLarge);
            }
            match found {
                Found::Top(top) => all.top(top, word),
                Found::Under(under) => all.under(under, word),
                Found::Popped(phase, place) => all.popped(phase, place, word),
            }
        }
        Ok((all.reach, all.witness))
    }
}

impl Reach {
    /// Returns the unders of each place.
    pub(crate) fn beneath(&self) -> HashMap<PlaceId, Vec<Under>> {
        let mut all: HashMap<PlaceId, Vec<Under>> = HashMap::new();
        self.unders.iter().for_each(|under| all.entry(under.place).or_default().push(*under));
        all
    }
}

/// Returns the unders of a stack with this top, down to the bottom, such that the first `count` of them fit; `None` if
/// there is no such stack.
pub(crate) fn way_down(
    top: Top,
    count: usize,
    beneath: &HashMap<PlaceId, Vec<Under>>,
    fits: impl Fn(usize, ElementId) -> bool,
) -> Option<Vec<Under>> {
    let start = (top.beneath, 0_usize);
    let mut from: HashMap<(PlaceId, usize), (Under, (PlaceId, usize))> = HashMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some((place, read)) = queue.pop_front() {
        if (place, read) == (PlaceId::BELOW, count) {
            let (mut way, mut at) = (Vec::new(), (place, read));
            while at != start {
                let (under, before) = from[&at];
                way.push(under);
                at = before;
            }
            way.reverse();
            return Some(way);
        }
        for &under in beneath.get(&place).into_iter().flatten() {
            if read < count && !fits(read, under.element) {
                continue;
            }
            let next = (under.beneath, (read + 1).min(count));
            if next != start && !from.contains_key(&next) {
                from.insert(next, (under, (place, read)));
                queue.push_back(next);
            }
        }
    }
    None
}

impl Witness {
    /// Returns a word that leads to the configuration with this top and these unders, down to the bottom.
    pub(crate) fn word(&self, top: Top, unders: &[Under]) -> Vec<SymbolId> {
        let mut parts: Vec<RopeId> = unders.iter().rev().map(|under| self.unders[under]).collect();
        parts.push(self.tops[&top]);
        let mut word = Vec::new();
        // Parts are taken from the end of the list, so the first part of the word must come last.
        parts.reverse();
        while let Some(part) = parts.pop() {
            match self.ropes[part.index()].0 {
                Rope::Empty => {}
                Rope::Token(token) => word.push(token),
                Rope::Join(first, second) => parts.extend([second, first]),
            }
        }
        word
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::{BTreeSet, HashMap};

    use super::*;
    use crate::Automaton;
    use crate::automaton::Rule;
    use crate::tasks::Task;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// A configuration spelled out: whether the stack is settled, the last token, the lookahead, and the stack.
    type Spelled = (bool, Option<SymbolId>, Lookahead, Vec<SymbolId>);

    /// Runs a word followed by `next` through the rules in the simplest way and records every configuration. Returns
    /// whether all tokens were shifted; does not check whether the word is accepted at its end.
    fn run(
        oracle: &Oracle,
        viability: &Viability,
        word: &[SymbolId],
        next: Lookahead,
        out: &mut BTreeSet<Spelled>,
    ) -> bool {
        let automaton = oracle.automaton();
        let mut stack: Vec<SymbolId> = Vec::new();
        let mut last = None;
        for look in word.iter().map(|&token| Lookahead::Token(token)).chain([next]) {
            for _ in 0..100 {
                out.insert((false, last, look, stack.clone()));
                let Some(rule) = automaton.rule(&stack, look) else {
                    out.insert((true, last, look, stack.clone()));
                    break;
                };
                if rule.pop as usize > stack.len() {
                    return false;
                }
                stack.truncate(stack.len() - rule.pop as usize);
                stack.push(rule.push);
            }
            if automaton.rule(&stack, look).is_some() {
                return false; // it loops
            }
            let Lookahead::Token(token) = look else { return true };
            stack.push(token);
            last = Some(token);
            let state = stack.iter().fold(viability.bottom(), |state, &symbol| viability.push(state, symbol));
            if !viability.is_viable(state) {
                return false;
            }
        }
        true
    }

    /// Returns all configurations that words of at most `longest` tokens lead to.
    fn enumerate(oracle: &Oracle, longest: usize) -> BTreeSet<Spelled> {
        let viability = oracle.viable().unwrap();
        let alphabet = oracle.automaton().alphabet();
        let mut out = BTreeSet::new();
        let mut words: Vec<Vec<SymbolId>> = vec![Vec::new()];
        for _ in 0..=longest {
            let mut longer = Vec::new();
            for word in &words {
                for next in alphabet.lookaheads() {
                    let read = run(oracle, &viability, word, next, &mut out);
                    if let (true, Lookahead::Token(token)) = (read, next) {
                        longer.push([&word[..], &[token]].concat());
                    }
                }
            }
            words = longer;
        }
        out
    }

    /// Returns the configurations of a saturated set, each with the shortest word that leads to it: those with at most
    /// `deepest` symbols on the stack and, if a stack is given, only those with that stack.
    fn spell(
        (strict, reach, witness): (&Strict<'_>, &Reach, &Witness),
        deepest: usize,
        stack: Option<&[SymbolId]>,
    ) -> HashMap<Spelled, Vec<SymbolId>> {
        let beneath = reach.beneath();
        let fits = |element: ElementId, depth: usize| {
            stack.is_none_or(|stack| {
                stack.iter().rev().copied().map(Some).chain([None]).nth(depth) == Some(strict.symbol(element))
            })
        };
        let mut out = HashMap::new();
        for &top in reach.tops.iter().filter(|top| fits(top.element, 0)) {
            let (settled, sight) = match top.phase {
                Phase::Reduce(sight) => (false, sight),
                Phase::Settled(sight) => (true, sight),
                _ => continue,
            };
            let last = match strict.memory().recall(sight.recent, 0) {
                Recalled::Token(token) => Some(token),
                _ => None,
            };
            let mut paths: Vec<Vec<Under>> = vec![Vec::new()];
            while let Some(path) = paths.pop() {
                let place = path.last().map_or(top.beneath, |under| under.beneath);
                if place == PlaceId::BELOW {
                    let elements = path.iter().rev().map(|under| under.element).chain([top.element]);
                    let stack: Vec<SymbolId> = elements.filter_map(|element| strict.symbol(element)).collect();
                    let word = witness.word(top, &path);
                    let spelled = (settled, last, sight.next, stack);
                    let shorter = |known: &Vec<SymbolId>| known.len() <= word.len();
                    if !out.get(&spelled).is_some_and(shorter) {
                        out.insert(spelled, word);
                    }
                } else if path.len() < deepest {
                    let under = beneath.get(&place).into_iter().flatten();
                    let under = under.filter(|under| fits(under.element, path.len() + 1));
                    paths.extend(under.map(|&under| [&path[..], &[under]].concat()));
                }
            }
        }
        out
    }

    /// Checks that the saturated set is exactly what words lead to: no configuration is missing, and each has a word.
    /// Returns the number of configurations whose words were checked.
    fn compare(oracle: &Oracle, longest: usize) -> usize {
        let mut strict = Strict::new(oracle, 1).unwrap();
        let (reach, witness) = Reach::new(&mut strict, &()).unwrap();
        let all = (&strict, &reach, &witness);
        let mut by_stack: HashMap<Vec<SymbolId>, HashMap<Spelled, Vec<SymbolId>>> = HashMap::new();
        for found in enumerate(oracle, longest).into_iter().filter(|found| found.3.len() < 12) {
            let stack = &found.3;
            let known = by_stack.entry(stack.clone()).or_insert_with(|| spell(all, 12, Some(stack)));
            let word = known.get(&found).unwrap_or_else(|| panic!("{found:?} is missing"));
            assert!(word.len() <= longest, "a shorter word leads to {found:?}");
        }
        let viability = oracle.viable().unwrap();
        let spelled = spell(all, 3, None);
        for (configuration, word) in &spelled {
            let mut met = BTreeSet::new();
            run(oracle, &viability, word, configuration.2, &mut met);
            assert!(met.contains(configuration), "{word:?} does not lead to {configuration:?}");
        }
        spelled.len()
    }

    #[test]
    fn reach_is_what_words_lead_to() {
        for task in Task::ALL.into_iter().filter(|task| task.is_symbolic()) {
            let oracle = Oracle::strict(task.automaton().unwrap()).unwrap();
            assert!(compare(&oracle, if task == Task::Json { 3 } else { 4 }) > 10, "{task}");
        }
    }

    /// Draws an automaton with a few random rules.
    pub(crate) fn random_automaton(random: &mut ChaCha8Rng) -> Automaton {
        let alphabet = Alphabet::new(["a", "b"], ["S", "T"]).unwrap();
        let symbol = |random: &mut ChaCha8Rng, from: usize| SymbolId::new(random.random_range(from..4));
        let rule = |random: &mut ChaCha8Rng| Rule {
            anchored: random.random_bool(0.2),
            suffix: (0..random.random_range(1..4)).map(|_| symbol(random, 0)).collect(),
            lookahead: match random.random_range(0..5) {
                0 => Some(Lookahead::End),
                token @ 1..3 => Some(Lookahead::Token(SymbolId::new(token - 1))),
                _ => None,
            },
            pop: random.random_range(0..4),
            push: symbol(random, 2),
        };
        let rules = (0..random.random_range(1..6)).map(|_| rule(random)).collect();
        Automaton::new(alphabet, rules, vec![SymbolId::new(2)]).unwrap()
    }

    #[test]
    fn reach_of_random_automata_is_what_words_lead_to() {
        let mut random = ChaCha8Rng::seed_from_u64(8);
        let mut sizes = Vec::new();
        for _ in 0..3000 {
            let automaton = random_automaton(&mut random);
            // The simple run is not meant for automata that loop forever.
            let grows = automaton.rules().iter().any(|rule| rule.pop <= 1 && rule.lookahead.is_none());
            let Ok(oracle) = Oracle::strict(automaton) else { continue };
            // Most automata accept no words.
            if !grows && oracle.viable().unwrap().is_viable(oracle.viable().unwrap().bottom()) {
                sizes.push(compare(&oracle, 4));
            }
        }
        assert!(sizes.len() > 100, "{} automata", sizes.len());
    }
}
