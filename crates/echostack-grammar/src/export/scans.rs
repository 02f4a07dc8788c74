//! What the rules of a lexer match after each other, as automata over characters: the part of a spelled grammar that
//! knows about longest matches.
//!
//! A *context* is a set of states of the lexer's automaton from which a longer match of what was read is still
//! possible, and must not come about. See [`spell`](super::spell) for an example.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use echostack::SymbolId;
use regex_syntax::hir::Hir;

use super::chars::{Chars, extend, leading_to, minimized};
use super::error::ExportError;
use super::productions::Productions;
use super::regions::expression;
use super::scanner::Scanner;

/// The states that are remembered.
type Context = BTreeSet<usize>;

/// The number of a context.
pub(super) type ContextId = u32;

/// The context in which nothing is remembered.
pub(super) const EMPTY: ContextId = 0;

/// A set of contexts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Contexts(u64);

/// The maximum number of contexts: as many as a [`Contexts`] has bits.
const MAX_CONTEXTS: usize = 64;

impl Contexts {
    pub(super) const ALL: Self = Self(u64::MAX);

    pub(super) fn of(context: ContextId) -> Self {
        Self(1 << context)
    }

    pub(super) fn contains(self, context: ContextId) -> bool {
        self.0 & 1 << context != 0
    }

    /// Adds a context, and returns whether it is new.
    pub(super) fn insert(&mut self, context: ContextId) -> bool {
        let fresh = !self.contains(context);
        self.0 |= 1 << context;
        fresh
    }

    pub(super) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the contexts in order.
    pub(super) fn iter(self) -> impl Iterator<Item = ContextId> {
        (0..MAX_CONTEXTS as ContextId).filter(move |&context| self.contains(context))
    }

    /// Returns the first context of a set that is not empty.
    pub(super) fn first(self) -> ContextId {
        self.0.trailing_zeros()
    }

    /// Returns the contexts in sets of those that are the same.
    pub(super) fn grouped<E>(
        self,
        mut is_same: impl FnMut(ContextId, ContextId) -> Result<bool, E>,
    ) -> Result<Vec<Self>, E> {
        let mut groups: Vec<Self> = Vec::new();
        'contexts: for context in self.iter() {
            for group in &mut groups {
                if is_same(group.first(), context)? {
                    group.insert(context);
                    continue 'contexts;
                }
            }
            groups.push(Self::of(context));
        }
        Ok(groups)
    }
}

impl FromIterator<ContextId> for Contexts {
    fn from_iter<I: IntoIterator<Item = ContextId>>(contexts: I) -> Self {
        contexts.into_iter().fold(Self::default(), |all, context| all.union(Self::of(context)))
    }
}

/// What a rule of the lexer can match in a context: an automaton over characters. State 0 is the start.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) next: Vec<Vec<(char, char, usize)>>,
    /// The context after the match, in each state in which the match can end.
    pub(super) ends: Vec<Option<ContextId>>,
    /// Whether the context forbids a text, or lasts beyond the match.
    pub(super) restricted: bool,
}

impl Scan {
    /// Returns the contexts in which a match can end.
    pub(super) fn all_ends(&self) -> Contexts {
        self.ends.iter().flatten().copied().collect()
    }

    /// Returns whether the same texts match as in another scan, with the same contexts after them.
    fn is_same(&self, other: &Self) -> bool {
        self.next == other.next && self.ends == other.ends
    }

    /// Returns whether a match can end in one of these contexts after a state.
    pub(super) fn reaches(&self, state: usize, to: Contexts) -> bool {
        let mut seen = BTreeSet::from([state]);
        let mut open = vec![state];
        while let Some(state) = open.pop() {
            if self.ends[state].is_some_and(|end| to.contains(end)) {
                return true;
            }
            open.extend(self.next[state].iter().map(|&(_, _, target)| target).filter(|&target| seen.insert(target)));
        }
        false
    }

    /// Removes the transitions to states in which no match can end any more.
    fn prune(&mut self) {
        let ending = self.ends.iter().map(Option::is_some).collect();
        let useful = leading_to(ending, |state| &self.next[state]);
        for next in &mut self.next {
            next.retain(|&(_, _, target)| useful[target]);
        }
    }
}

/// The scans of all rules of a lexer, which are computed when they are first asked for.
pub(super) struct Scans<'a> {
    scanner: &'a Scanner,
    chars: Chars,
    /// For each lexer rule, the states from which it can match.
    useful: Vec<Vec<bool>>,
    /// For each lexer rule, those that can follow it.
    followers: Vec<Vec<usize>>,
    /// The rules whose texts are skipped.
    pub(super) skips: Vec<usize>,
    /// Whether two texts of a rule, one after the other, are one text of it.
    pub(super) merging: Vec<bool>,
    contexts: Vec<Context>,
    ids: HashMap<Context, ContextId>,
    /// The contexts after each lexer rule, by the states that are remembered.
    normal: HashMap<(usize, Context), ContextId>,
    known: HashMap<(ContextId, usize), Rc<Scan>>,
}

impl<'a> Scans<'a> {
    pub(super) fn new(grammar: &Productions, scanner: &'a Scanner) -> Self {
        let chars = Chars::new(&scanner.dfa);
        let count = scanner.rules.len();
        let useful = (0..count as u32).map(|rule| chars.useful(rule)).collect();
        let skips: Vec<usize> = (0..count).filter(|&rule| scanner.rules[rule].skip).collect();
        let adjacent = grammar.adjacent();
        let merging: Vec<bool> = (0..count).map(|rule| merges(&chars, rule as u32)).collect();
        let follows = |rule: usize, other: usize| match (scanner.rules[rule].token, scanner.rules[other].token) {
            // Two texts of a rule that merge would be one text, so the lexer never finds them next to each other.
            _ if scanner.rules[other].skip => !(other == rule && merging[rule]),
            (Some(first), Some(second)) => adjacent.contains(&(first, second)),
            // After what is skipped, every token is taken to be possible.
            (None, second) => scanner.rules[rule].skip && second.is_some(),
            (_, None) => false,
        };
        let followers = |rule| (0..count).filter(|&other| follows(rule, other)).collect();
        let followers = (0..count).map(followers).collect();
        Self {
            scanner,
            chars,
            useful,
            followers,
            skips,
            merging,
            contexts: vec![Context::new()],
            ids: HashMap::from([(Context::new(), EMPTY)]),
            normal: HashMap::new(),
            known: HashMap::new(),
        }
    }

    /// Returns what a rule matches in a context, without simplifying the contexts after it.
    ///
    /// The lexer's automaton runs from its start and, at the same time, from the states of the context. The former
    /// reads this match. The latter continue what came before it, and must not match.
    fn explore(&self, context: &Context, rule: usize) -> (Scan, Vec<Option<Context>>) {
        let mut scan = Scan::default();
        let mut ends = Vec::new();
        let mut numbers = HashMap::from([((0, context.clone()), 0)]);
        let mut order = vec![(0, context.clone())];
        while scan.next.len() < order.len() {
            let (state, pending) = order[scan.next.len()].clone();
            let mut next: Vec<(char, char, usize)> = Vec::new();
            for &(from, to, target) in &self.chars.states[state].next {
                // The automaton is that of all rules. What leads only to matches of other rules is not followed.
                if !self.useful[rule][target] {
                    continue;
                }
                // Within a range, the remembered states agree on where to go, so its first character stands for all.
                for (from, to) in self.cuts(&pending, from, to) {
                    let after: Vec<usize> = pending.iter().filter_map(|&other| self.chars.step(other, from)).collect();
                    // The lexer would have taken this longer match instead of the one that came before.
                    if after.iter().any(|&other| self.chars.states[other].rule.is_some()) {
                        scan.restricted = true;
                        continue;
                    }
                    // States that continue in the same way count as one, so that there are fewer contexts. Those from
                    // which nothing continues are dropped.
                    let after: Context = after.iter().filter_map(|&other| self.chars.continuation[other]).collect();
                    let fresh = order.len();
                    let number = *numbers.entry((target, after.clone())).or_insert_with(|| {
                        order.push((target, after));
                        fresh
                    });
                    extend(&mut next, (from, to), number);
                }
            }
            scan.next.push(next);
            let matched = self.chars.states[state].rule == Some(rule as u32);
            scan.restricted |= matched && !pending.is_empty();
            // What was remembered before the match may still be continued after it, and so may the match itself.
            ends.push(matched.then(|| {
                let mut after = pending;
                after.extend(self.chars.continuation[state]);
                after
            }));
        }
        (scan, ends)
    }

    /// Cuts a range of characters where the ranges of remembered states begin or end.
    fn cuts(&self, pending: &Context, from: char, to: char) -> Vec<(char, char)> {
        let mut begins = BTreeSet::from([u32::from(from)]);
        for &state in pending {
            for &(low, high, _) in &self.chars.states[state].next {
                begins.extend(
                    [u32::from(low), u32::from(high) + 1]
                        .into_iter()
                        .filter(|&at| at > u32::from(from) && at <= u32::from(to)),
                );
            }
        }
        // Each part ends where the next one begins.
        let ends = begins.iter().skip(1).map(|next| next - 1).chain([u32::from(to)]);
        begins.iter().zip(ends).filter_map(|(&begin, end)| characters(begin, end)).collect()
    }

    /// Returns expressions for how a text of a rule begins that makes a longer match of what was read before, and is
    /// therefore forbidden in a context. Returns `None` if one of them would be too long.
    pub(super) fn forbidden(&self, context: ContextId, rule: usize) -> Option<Vec<Hir>> {
        let mut found = Vec::new();
        for &remembered in &self.contexts[context as usize] {
            // The rule and the remembered state are followed until the latter matches.
            const MATCHED: usize = usize::MAX;
            let (mut numbers, mut order) = (HashMap::from([((0, remembered), 0)]), vec![(0, remembered)]);
            let mut next = Vec::new();
            let mut matches = false;
            while next.len() < order.len() {
                let (state, other) = order[next.len()];
                let mut row = Vec::new();
                for &(from, to, target) in &self.chars.states[state].next {
                    if !self.useful[rule][target] {
                        continue;
                    }
                    for (from, to) in self.cuts(&Context::from([other]), from, to) {
                        let Some(other) = self.chars.step(other, from) else { continue };
                        let number = if self.chars.states[other].rule.is_some() {
                            matches = true;
                            MATCHED
                        } else {
                            let fresh = order.len();
                            *numbers.entry((target, other)).or_insert_with(|| {
                                order.push((target, other));
                                fresh
                            })
                        };
                        extend(&mut row, (from, to), number);
                    }
                }
                next.push(row);
            }
            if matches {
                let last = next.len();
                next.iter_mut().flatten().for_each(|(_, _, target)| *target = last.min(*target));
                next.push(Vec::new());
                let ends: Vec<bool> = (0..next.len()).map(|state| state == last).collect();
                let (next, kept) = minimized(&next, &ends);
                let ends: Vec<bool> = kept.iter().map(|&state| state == last).collect();
                found.push(expression(&next, &ends)?);
            }
        }
        Some(found)
    }

    /// Returns what a rule matches in a context.
    pub(super) fn scan(&mut self, context: ContextId, rule: usize) -> Result<Rc<Scan>, ExportError> {
        if let Some(known) = self.known.get(&(context, rule)) {
            return Ok(known.clone());
        }
        // To simplify a context, what can follow is explored in it, but no scan is asked for. So this does not go round
        // in circles.
        let (mut scan, ends) = self.explore(&self.contexts[context as usize].clone(), rule);
        scan.ends = ends
            .into_iter()
            .map(|end| end.map(|after| self.after(rule, after)).transpose())
            .collect::<Result<_, _>>()?;
        scan.prune();
        let (next, kept) = minimized(&scan.next, &scan.ends);
        let ends = kept.iter().map(|&state| scan.ends[state]).collect();
        let scan = Rc::new(Scan { next, ends, restricted: scan.restricted });
        self.known.insert((context, rule), scan.clone());
        Ok(scan)
    }

    /// Returns the context in which these states are remembered after a rule; the empty one if they restrict nothing.
    fn after(&mut self, rule: usize, states: Context) -> Result<ContextId, ExportError> {
        if let Some(&known) = self.normal.get(&(rule, states.clone())) {
            return Ok(known);
        }
        let inert = self.followers[rule].iter().all(|&next| !self.explore(&states, next).0.restricted);
        let kept = if inert { Context::new() } else { states.clone() };
        let fresh = self.contexts.len();
        if fresh >= MAX_CONTEXTS && !self.ids.contains_key(&kept) {
            return Err(ExportError::TooLarge);
        }
        let id = *self.ids.entry(kept.clone()).or_insert(fresh as ContextId);
        if id as usize == fresh {
            self.contexts.push(kept);
        }
        self.normal.insert((rule, states), id);
        Ok(id)
    }

    /// Returns whether some rules match the same texts in two contexts, with the same contexts after them.
    pub(super) fn agree(
        &mut self,
        a: ContextId,
        b: ContextId,
        rules: impl IntoIterator<Item = usize>,
    ) -> Result<bool, ExportError> {
        for rule in rules {
            if !self.scan(a, rule)?.is_same(&*self.scan(b, rule)?) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the first context in which rules match as they do in this one, among candidates that they were scanned in.
    pub(super) fn first_like(
        &mut self,
        context: ContextId,
        rules: &[usize],
        candidates: Contexts,
    ) -> Result<ContextId, ExportError> {
        for other in candidates.iter().take_while(|&other| other < context) {
            let is_known = rules.iter().all(|&rule| self.known.contains_key(&(other, rule)));
            if is_known && self.agree(other, context, rules.iter().copied())? {
                return Ok(other);
            }
        }
        Ok(context)
    }

    /// Returns the contexts in which what is skipped can end.
    pub(super) fn gap_ends(&mut self, from: ContextId) -> Result<Contexts, ExportError> {
        // Nothing need be skipped, so the first context is one of them.
        let mut found = Contexts::of(from);
        let mut open = vec![from];
        while let Some(context) = open.pop() {
            for at in 0..self.skips.len() {
                let scan = self.scan(context, self.skips[at])?;
                open.extend(scan.all_ends().iter().filter(|&end| found.insert(end)));
            }
        }
        Ok(found)
    }

    /// Returns the contexts in which a token, and what is skipped after it, can end.
    pub(super) fn token_ends(&mut self, token: SymbolId, from: ContextId) -> Result<Contexts, ExportError> {
        let mut found = Contexts::default();
        for rule in self.scanner.rules_of(token) {
            for end in self.scan(from, rule)?.all_ends().iter() {
                found = found.union(self.gap_ends(end)?);
            }
        }
        Ok(found)
    }
}

/// Returns the characters among a range of code points, if there are any.
fn characters(begin: u32, end: u32) -> Option<(char, char)> {
    // The code points between U+D7FF and U+E000 are not characters.
    let end = if (0xd800..0xe000).contains(&end) { 0xd7ff } else { end };
    let begin = if (0xd800..0xe000).contains(&begin) { 0xe000 } else { begin };
    Some((char::from_u32(begin)?, char::from_u32(end)?)).filter(|(begin, end)| begin <= end)
}

/// Returns whether two texts of a rule, one after the other, are always one text of it.
fn merges(chars: &Chars, rule: u32) -> bool {
    let matched = |state: Option<usize>| state.is_some_and(|state| chars.states[state].rule == Some(rule));
    // After every text of the rule, the automaton reads a second one in two ways: as a continuation of the first, and
    // from the start. If the second way ever matches and the first does not, the two texts are not one.
    let mut open: Vec<(Option<usize>, usize)> = (0..chars.states.len())
        .filter(|&state| chars.states[state].rule == Some(rule))
        .map(|state| (Some(state), 0))
        .collect();
    let mut seen: BTreeSet<(Option<usize>, usize)> = open.iter().copied().collect();
    while let Some((both, second)) = open.pop() {
        for &(from, to, target) in &chars.states[second].next {
            // The first automaton may go different ways within the range.
            let mut begins = vec![from];
            if let Some(both) = both {
                let own = chars.states[both].next.iter();
                begins.extend(own.flat_map(|&(low, high, _)| {
                    [Some(low), char::from_u32(u32::from(high) + 1)].into_iter().flatten()
                }));
            }
            for letter in begins.into_iter().filter(|&letter| from <= letter && letter <= to) {
                let next = (both.and_then(|both| chars.step(both, letter)), target);
                if matched(Some(next.1)) && !matched(next.0) {
                    return false;
                }
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
    }
    true
}
