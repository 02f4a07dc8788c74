//! Texts that use every production, or every pair of productions, at least once.
//!
//! What is to be used is taken one after the other. A way leads from the start symbol to it; beside the way,
//! productions are preferred that no text has used yet, so that a text uses many of them. What counts is what the
//! parser does with the text, and not how the text was drawn: the resolution of conflicts may lead to another tree.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use echostack::name::{self, UnknownName};
use rand_chacha::ChaCha8Rng;

use super::draw::Position;
use super::params::{SampledText, TextParams};
use super::source::Source;
use super::tree::Tree;
use crate::lr::conflict::production;
use crate::lr::table::{Action, LrTable};

/// The maximum number of pairs.
const MOST: usize = 1 << 20;
/// The number of texts that are drawn for each target.
const ATTEMPTS: usize = 30;
/// The number of attempts after which a way is one detour longer.
const SAME_WAY: usize = 5;
/// The number of tokens that a text is to have, if a shorter one would not do as well.
const LENGTH: usize = 50;
/// The number of words that are drawn for a text, of which the best is taken.
const WORDS: usize = 4;

/// What texts are to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cover {
    /// Every production.
    Productions,
    /// Every production in every place on the right side of a production, and as the root.
    Pairs,
}

impl Cover {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Productions, Self::Pairs];

    /// Returns its name: `productions` or `pairs`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Productions => "productions",
            Self::Pairs => "pairs",
        }
    }
}

impl fmt::Display for Cover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Cover {
    type Err = UnknownName;

    fn from_str(given: &str) -> Result<Self, UnknownName> {
        name::find("kind of coverage", given, Self::ALL, Self::name)
    }
}

/// The error for a grammar with too many pairs of productions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the grammar has more than {MOST} pairs of productions; cover its productions instead")]
pub struct TooManyPairs;

/// What the texts of a [`Covering`] have used. It is displayed in one line, without the lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// What was to be used.
    pub what: Cover,
    /// The number of those that were used.
    pub reached: usize,
    /// The number of those that there are.
    pub total: usize,
    /// Those that no text can use, because of how conflicts are resolved.
    pub forbidden: Vec<String>,
    /// Those that no text can use, because the lexer does not produce a token that they need.
    pub unwritable: Vec<String>,
    /// Those that no text was found for.
    pub missing: Vec<String>,
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} {} were used", self.reached, self.total, self.what)?;
        let reasons = [
            (&self.forbidden, "cannot be used because of how conflicts are resolved"),
            (&self.unwritable, "cannot be used because the lexer does not produce their tokens"),
            (&self.missing, "were not found in any text"),
        ];
        for (list, reason) in reasons.into_iter().filter(|(list, _)| !list.is_empty()) {
            write!(f, "; {} {reason}", list.len())?;
        }
        Ok(())
    }
}

/// A production, and where it is to be used.
#[derive(Clone, Copy, Debug)]
struct Target {
    /// `None` for the root of the tree and, if only productions count, for any place.
    position: Option<Position>,
    production: usize,
}

/// Texts that use every production, or every pair of productions, at least once. Each uses something that those before
/// it did not.
pub struct Covering<'a> {
    source: Source<'a>,
    parser: Parser<'a>,
    params: TextParams,
    random: ChaCha8Rng,
    what: Cover,
    targets: Vec<Target>,
    numbers: Numbers,
    used: Vec<bool>,
    /// The target that is looked for, and how often it was.
    at: usize,
    attempt: usize,
}

/// The numbers of targets.
struct Numbers {
    what: Cover,
    /// The number of the first target at each position of each production.
    first: Vec<Vec<usize>>,
    /// The place of each production among those of its nonterminal.
    ranks: Vec<usize>,
}

impl fmt::Debug for Covering<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Covering").field("what", &self.what).finish_non_exhaustive()
    }
}

impl Numbers {
    /// Returns the number of the target that the use of a production belongs to.
    fn of(&self, (position, production): (Option<Position>, usize)) -> usize {
        match (self.what, position) {
            (Cover::Productions, _) => production,
            (Cover::Pairs, None) => self.ranks[production],
            (Cover::Pairs, Some((outer, place))) => self.first[outer][place] + self.ranks[production],
        }
    }
}

impl<'a> Covering<'a> {
    pub(super) fn new(
        source: Source<'a>,
        params: TextParams,
        random: ChaCha8Rng,
        what: Cover,
    ) -> Result<Self, TooManyPairs> {
        let table = source.table;
        let mut of: Vec<Vec<usize>> = vec![Vec::new(); table.names.len()];
        let mut ranks = Vec::with_capacity(table.productions.len());
        for (number, production) in table.productions.iter().enumerate() {
            ranks.push(of[production.left].len());
            of[production.left].push(number);
        }
        let (mut targets, mut first) = (Vec::new(), Vec::new());
        let mut add = |position, symbol: usize| {
            let number = targets.len();
            targets.extend(of[symbol].iter().map(|&production| Target { position, production }));
            if targets.len() > MOST { Err(TooManyPairs) } else { Ok(number) }
        };
        match what {
            Cover::Productions => {
                let all = 0..table.productions.len();
                targets.extend(all.map(|production| Target { position: None, production }));
            }
            Cover::Pairs => {
                add(None, table.start)?;
                for (outer, production) in table.productions.iter().enumerate() {
                    let places = production.right.iter().enumerate();
                    let numbers = places.map(|(place, &symbol)| add(Some((outer, place)), symbol));
                    first.push(numbers.collect::<Result<_, _>>()?);
                }
            }
        }
        let (used, numbers) = (vec![false; targets.len()], Numbers { what, first, ranks });
        let parser = Parser::new(table);
        Ok(Self { source, parser, params, random, what, targets, numbers, used, at: 0, attempt: 0 })
    }

    /// Returns what the texts so far have used. Once the texts have ended, nothing more is to be found.
    pub fn coverage(&self) -> Coverage {
        let table = self.source.table;
        let [mut forbidden, mut unwritable, mut missing] = [Vec::new(), Vec::new(), Vec::new()];
        for (target, _) in self.targets.iter().zip(&self.used).filter(|(_, used)| !**used) {
            let list = match self.reason(*target) {
                Some(Reason::Lexer) => &mut unwritable,
                Some(Reason::Conflicts) => &mut forbidden,
                None => &mut missing,
            };
            let inner = production(table, target.production);
            list.push(match (target.position, self.what) {
                (Some((outer, place)), _) => {
                    format!("{inner}, as symbol {} of {}", place + 1, production(table, outer))
                }
                (None, Cover::Pairs) => format!("{inner}, as the root"),
                (None, Cover::Productions) => inner,
            });
        }
        let (reached, total) = (self.used.iter().filter(|used| **used).count(), self.targets.len());
        Coverage { what: self.what, reached, total, forbidden, unwritable, missing }
    }

    /// Returns why a target cannot be used, if that is known.
    fn reason(&self, target: Target) -> Option<Reason> {
        let productions = target.position.map(|(outer, _)| outer).into_iter().chain([target.production]);
        if productions.into_iter().any(|number| !self.source.derivations.is_usable(number)) {
            return Some(Reason::Lexer);
        }
        (!self.parser.allows(target)).then_some(Reason::Conflicts)
    }

    /// Returns the numbers of the targets that a word uses for the first time, if it is a word.
    fn gain(&self, word: &[usize]) -> Option<HashSet<usize>> {
        let tree = Tree::parse(self.source.table, word).ok()?;
        let numbers = tree.uses().map(|used| self.numbers.of(used));
        Some(numbers.filter(|&number| !self.used[number]).collect())
    }

    /// Draws a word that may use a target.
    fn word(&mut self, target: Target) -> Option<Vec<usize>> {
        let (table, detours) = (self.source.table, self.attempt / SAME_WAY);
        let root = self.what == Cover::Pairs && target.position.is_none();
        let outermost = target.position.map_or(target.production, |(outer, _)| outer);
        let left = table.productions[outermost].left;
        let mut way =
            if root { Vec::new() } else { self.source.derivations.way_to(&mut self.random, left, detours)? };
        way.extend(target.position);
        way.push((target.production, 0));
        let (&least, &most) = (self.params.tokens.start(), self.params.tokens.end());
        // In short texts, less is in the way of what is looked for. A budget is not always used up, so half of the
        // texts have one that is well above what is asked for.
        let generous = most.min(LENGTH.max(least.saturating_add(least / 2)));
        let budget = if self.attempt.is_multiple_of(2) { generous } else { least };
        let (numbers, used) = (&self.numbers, &self.used);
        let prefers = |position, production| !used[numbers.of((position, production))];
        let word = self.source.derivations.draw(&mut self.random, budget, most, &way, &prefers)?;
        self.params.tokens.contains(&word.len()).then_some(word)
    }

    /// Draws a text that uses something new, if possible the target.
    fn text(&mut self, target: Target) -> Option<SampledText> {
        let mut best: Option<(HashSet<usize>, Vec<usize>)> = None;
        for _ in 0..WORDS {
            let Some(word) = self.word(target) else { continue };
            let Some(gain) = self.gain(&word) else { continue };
            if gain.len() > best.as_ref().map_or(0, |(most, _)| most.len()) {
                best = Some((gain, word));
            }
        }
        let (gain, word) = best?;
        let text = self.source.spell(&mut self.random, &word)?;
        if !self.params.characters.contains(&text.chars().count()) {
            return None;
        }
        gain.into_iter().for_each(|number| self.used[number] = true);
        Some(SampledText { text, mistake: None })
    }
}

impl Iterator for Covering<'_> {
    type Item = SampledText;

    fn next(&mut self) -> Option<SampledText> {
        while let Some(&target) = self.targets.get(self.at) {
            let is_hopeless = || self.attempt == 0 && self.reason(target).is_some();
            if self.used[self.at] || self.attempt >= ATTEMPTS || is_hopeless() {
                self.at += 1;
                self.attempt = 0;
                continue;
            }
            let text = self.text(target);
            self.attempt += 1;
            if text.is_some() {
                return text;
            }
        }
        None
    }
}

/// Why something cannot be used.
enum Reason {
    Lexer,
    Conflicts,
}

/// The parser, to find out what the resolution of conflicts forbids.
struct Parser<'a> {
    table: &'a LrTable,
    /// The states in which each nonterminal can follow.
    entries: Vec<Vec<usize>>,
}

impl<'a> Parser<'a> {
    fn new(table: &'a LrTable) -> Self {
        let mut entries = vec![Vec::new(); table.names.len()];
        for state in 0..table.states() {
            for (symbol, entries) in entries.iter_mut().enumerate().skip(table.terminals) {
                entries.extend(table.next(state, symbol).map(|_| state));
            }
        }
        Self { table, entries }
    }

    /// Returns whether the parser may use a production in a place. If this is false, it never does. If it is true, the
    /// parser may still need a lookahead that cannot follow there.
    fn allows(&self, Target { position, production }: Target) -> bool {
        let left = self.table.productions[position.map_or(production, |(outer, _)| outer)].left;
        self.entries[left].iter().any(|&entry| match position {
            None => self.reductions(entry, production).next().is_some(),
            Some((outer, place)) => self.allows_from(entry, outer, place, production),
        })
    }

    /// Returns the state after some symbols.
    fn after(&self, state: usize, symbols: &[usize]) -> Option<usize> {
        symbols.iter().try_fold(state, |state, &symbol| self.table.next(state, symbol))
    }

    /// Returns the lookaheads on which a production is reduced that began in a state.
    fn reductions(&self, entry: usize, production: usize) -> impl Iterator<Item = usize> {
        let state = self.after(entry, &self.table.productions[production].right);
        let lookaheads = state.into_iter().flat_map(|state| self.table.actions[state].iter().enumerate());
        let reduces = move |(_, action): &(usize, &Action)| **action == Action::Reduce(production);
        lookaheads.filter(reduces).map(|(lookahead, _)| lookahead)
    }

    /// Returns whether an inner production may be used in a place of an outer one that begins in a state.
    fn allows_from(&self, entry: usize, outer: usize, place: usize, inner: usize) -> bool {
        let table = self.table;
        let right = &table.productions[outer].right;
        let Some(before) = self.after(entry, &right[..place]) else { return false };
        let Some(behind) = table.next(before, right[place]) else { return false };
        if self.after(behind, &right[place + 1..]).is_none() || self.reductions(entry, outer).next().is_none() {
            return false;
        }
        let mut lookaheads = self.reductions(before, inner);
        lookaheads.any(|lookahead| match right.get(place + 1) {
            Some(&next) if next < table.terminals => lookahead == next,
            Some(_) => table.action(behind, lookahead) != Action::Error,
            // Nothing is read between the two reductions.
            None => table.action(behind, lookahead) == Action::Reduce(outer),
        })
    }
}
