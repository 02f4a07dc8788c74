//! Spells a grammar over tokens out as a grammar over characters, with exactly the texts that the lexer splits into
//! words of the grammar.
//!
//! A lexer always takes the longest match. A grammar over characters has no such rule, so that `<b` followed by the
//! name `ody` could pass for `<body`. What was read last is therefore remembered as a *context*: the states of the
//! lexer's automaton from which a longer match is still possible, and must not come about. In a context, a token has
//! only those texts that no such state accepts. Contexts that restrict nothing that can follow are equal to the empty
//! one; in most grammars there is no other, and the spelled grammar has the same rules as the original.
//!
//! # Example
//!
//! The grammar S: if NAME has a lexer with the rules `if`, `[a-z]+` for NAME, and `[ ]+`, which is skipped. `ifx` is
//! one NAME, so after `if` the context consists of the state in which the lexer has read `if`: from there, a letter
//! leads to a longer match. In this context, NAME has no text at all, and blanks have all of theirs. After blanks, and
//! after a NAME, nothing that can follow is restricted, so the context is the empty one. In GBNF, the result is
//!
//! ```text
//! root ::= ws s
//! ws ::= "" | skipped
//! s ::= "if" ws-2 name ws
//! skipped ::= " "+
//! ws-2 ::= skipped
//! name ::= [a-hj-z] name-2 | [i] name-3
//! name-2 ::= "" | [a-z] name-2
//! name-3 ::= "" | [a-eg-z] name-2 | [f] name-4
//! name-4 ::= [a-z] name-2
//! ```
//!
//! `ws` leads from the empty context to itself, and may be empty. `ws-2` leads from the context after `if` to the empty
//! one, which takes at least one blank. The text `if` is not a NAME, because the rule `if` comes first. So NAME is not
//! the whole expression, but the part of the lexer's automaton in which its rule wins: `name-4` has read `if`, and
//! cannot end.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use echostack::automaton::Part;
use echostack::spelling::{Case, Names, as_written, identifier};
use echostack::{Alphabet, SymbolId};

use super::chars::{Chars, extend, leading_to, minimized};
use super::ebnf::{Ebnf, Piece};
use super::error::ExportError;
use super::productions::Productions;
use super::scanner::{Scanner, literal};

/// The maximum number of rules of a spelled grammar.
const MAX_RULES: usize = 50_000;
/// The maximum number of contexts.
const MAX_CONTEXTS: usize = 64;

/// A token of a spelled grammar.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Letters {
    /// This text.
    Text(String),
    /// What the expression of this lexer rule matches.
    Pattern(usize),
    /// One of these characters.
    Class(Vec<(char, char)>),
}

/// A grammar over characters.
pub(super) struct Spelled {
    pub(super) grammar: Ebnf<Letters>,
    /// Whether every token is a text or an expression, and no context restricts it.
    pub(super) whole: bool,
    /// The number of rules that the original grammar has, and the number that they were split into.
    pub(super) split: (usize, usize),
}

impl Spelled {
    /// Says how many rules were split, if any were.
    pub(super) fn remark(&self) -> Option<String> {
        let (before, after) = self.split;
        let more = after.saturating_sub(before);
        (more > 0).then(|| {
            let rules = if before == 1 { "rule" } else { "rules" };
            format!("{before} {rules} became {after}, because what may follow depends on where the longest match ends")
        })
    }
}

type Context = BTreeSet<usize>;
type ContextId = usize;
const EMPTY: ContextId = 0;

/// What a rule of the lexer can match in a context: an automaton over characters. State 0 is the start.
#[derive(Debug, Default)]
struct Scan {
    next: Vec<Vec<(char, char, usize)>>,
    /// The context after the match, in each state in which the match can end.
    ends: Vec<Option<ContextId>>,
    /// Whether the context forbids a text, or lasts beyond the match.
    restricted: bool,
}

/// What a rule of the spelled grammar derives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Root,
    /// A nonterminal that is read from one context to another.
    Symbol(usize, ContextId, ContextId),
    /// The parts of a production from this one on.
    Rest(usize, usize, usize, ContextId, ContextId),
    /// A token and what is skipped after it.
    Token(SymbolId, ContextId, ContextId),
    /// What is skipped between tokens, after a text that this rule skipped.
    Gap(ContextId, ContextId, Option<usize>),
    /// The whole expression of a lexer rule.
    Pattern(usize),
    /// A state of a scan.
    State(usize, ContextId, ContextId, usize),
}

/// Spells a grammar out. If `whole` is set, tokens that no context restricts are left whole.
pub(super) fn spell(
    grammar: &Productions,
    scanner: &Scanner,
    alphabet: &Alphabet,
    whole: bool,
) -> Result<Spelled, ExportError> {
    let mut speller = Speller::new(grammar, scanner, whole)?;
    speller.find_ends()?;
    speller.write(alphabet)
}

struct Speller<'a> {
    grammar: &'a Productions,
    scanner: &'a Scanner,
    chars: Chars,
    /// For each lexer rule, the states from which it can match.
    useful: Vec<Vec<bool>>,
    /// For each lexer rule, those that can follow it.
    followers: Vec<Vec<usize>>,
    skips: Vec<usize>,
    /// Whether two texts of a rule, one after the other, are one text of it.
    merging: Vec<bool>,
    exact: Vec<bool>,
    whole: bool,
    contexts: Vec<Context>,
    context_ids: HashMap<Context, ContextId>,
    /// The contexts after each lexer rule, by the states that are remembered.
    normal: HashMap<(usize, Context), ContextId>,
    scans: HashMap<(ContextId, usize), Rc<Scan>>,
    /// The contexts in which each nonterminal can end, by the context in which it begins.
    ends: BTreeMap<(usize, ContextId), BTreeSet<ContextId>>,
    restricted: bool,
}

impl<'a> Speller<'a> {
    fn new(grammar: &'a Productions, scanner: &'a Scanner, whole: bool) -> Result<Self, ExportError> {
        let chars = Chars::new(&scanner.dfa);
        let count = scanner.rules.len();
        let useful = (0..count as u32).map(|rule| chars.useful(rule)).collect();
        let skips: Vec<usize> = (0..count).filter(|&rule| scanner.rules[rule].skip).collect();
        let adjacent = grammar.adjacent();
        let merging: Vec<bool> = (0..count).map(|rule| merges(&chars, rule as u32)).collect();
        let exact = (0..count).map(|rule| scanner.is_exact(rule)).collect::<Result<_, _>>()?;
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
        Ok(Self {
            grammar,
            scanner,
            chars,
            useful,
            followers,
            skips,
            merging,
            exact,
            whole,
            contexts: vec![Context::new()],
            context_ids: HashMap::from([(Context::new(), EMPTY)]),
            normal: HashMap::new(),
            scans: HashMap::new(),
            ends: BTreeMap::new(),
            restricted: false,
        })
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

    fn scan(&mut self, context: ContextId, rule: usize) -> Result<Rc<Scan>, ExportError> {
        if let Some(known) = self.scans.get(&(context, rule)) {
            return Ok(known.clone());
        }
        // To simplify a context, what can follow is explored in it, but no scan is asked for. So this does not go round
        // in circles.
        let (mut scan, ends) = self.explore(&self.contexts[context].clone(), rule);
        scan.ends = ends
            .into_iter()
            .map(|end| end.map(|after| self.after(rule, after)).transpose())
            .collect::<Result<_, _>>()?;
        prune(&mut scan);
        let (next, kept) = minimized(&scan.next, &scan.ends);
        let ends = kept.iter().map(|&state| scan.ends[state]).collect();
        let scan = Rc::new(Scan { next, ends, restricted: scan.restricted });
        self.scans.insert((context, rule), scan.clone());
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
        let id = *self.context_ids.entry(kept.clone()).or_insert(fresh);
        if id == fresh {
            self.contexts.push(kept);
        }
        if self.contexts.len() > MAX_CONTEXTS {
            return Err(ExportError::TooLarge);
        }
        self.normal.insert((rule, states), id);
        Ok(id)
    }

    /// Returns the contexts in which what is skipped can end.
    fn gap_ends(&mut self, from: ContextId) -> Result<BTreeSet<ContextId>, ExportError> {
        // Nothing need be skipped, so the first context is one of them.
        let mut found = BTreeSet::from([from]);
        let mut open = vec![from];
        while let Some(context) = open.pop() {
            for skip in self.skips.clone() {
                let scan = self.scan(context, skip)?;
                open.extend(scan.ends.iter().flatten().copied().filter(|&end| found.insert(end)));
            }
        }
        Ok(found)
    }

    /// Returns the contexts after a token, before anything is skipped.
    fn token_ends(&mut self, token: SymbolId, from: ContextId) -> Result<BTreeSet<ContextId>, ExportError> {
        let mut found = BTreeSet::new();
        for rule in self.scanner.rules_of(token) {
            found.extend(self.scan(from, rule)?.ends.iter().flatten().copied());
        }
        Ok(found)
    }

    /// Returns the contexts after a part of a production and what is skipped after it.
    fn part_ends(&mut self, part: Part, from: ContextId) -> Result<BTreeSet<ContextId>, ExportError> {
        match part {
            Part::Nonterminal(number) => Ok(self.ends.entry((number, from)).or_default().clone()),
            Part::Token(token) => {
                let mut found = BTreeSet::new();
                for end in self.token_ends(token, from)? {
                    found.extend(self.gap_ends(end)?);
                }
                Ok(found)
            }
        }
    }

    fn sequence_ends(&mut self, parts: &[Part], from: ContextId) -> Result<BTreeSet<ContextId>, ExportError> {
        let mut ends = BTreeSet::from([from]);
        for &part in parts {
            let mut next = BTreeSet::new();
            for end in ends {
                next.extend(self.part_ends(part, end)?);
            }
            ends = next;
        }
        Ok(ends)
    }

    /// Finds the contexts in which each nonterminal can begin and end.
    fn find_ends(&mut self) -> Result<(), ExportError> {
        for begin in self.gap_ends(EMPTY)? {
            self.ends.entry((0, begin)).or_default();
        }
        // The least solution of equations that refer to each other: sets only grow, and looking one up for a
        // nonterminal in a new context adds it (in `part_ends`). Once a whole pass adds nothing, it is found.
        loop {
            let before: (usize, usize) = (self.ends.len(), self.ends.values().map(BTreeSet::len).sum());
            for (number, from) in self.ends.keys().copied().collect::<Vec<_>>() {
                for production in &self.grammar.rules[number] {
                    let ends = self.sequence_ends(production, from)?;
                    self.ends.entry((number, from)).or_default().extend(ends);
                }
            }
            if before == (self.ends.len(), self.ends.values().map(BTreeSet::len).sum()) {
                return Ok(());
            }
        }
    }

    /// Writes the rules, beginning with the root, and each rule that another one refers to.
    fn write(mut self, alphabet: &Alphabet) -> Result<Spelled, ExportError> {
        let mut keys = Keys { all: vec![Key::Root], numbers: HashMap::from([(Key::Root, 0)]) };
        let mut rules = Vec::new();
        while rules.len() < keys.all.len() {
            if keys.all.len() > MAX_RULES {
                return Err(ExportError::TooLarge);
            }
            let alternatives = self.alternatives(keys.all[rules.len()])?;
            let written =
                alternatives.into_iter().map(|items| items.into_iter().map(|item| keys.piece(item)).collect());
            rules.push(written.collect());
        }
        let mut names = Names::numbered("_").without(["root", "start"]);
        let names = keys.all.iter().map(|&key| self.name(key, alphabet, &mut names)).collect();
        let symbols =
            keys.all.iter().filter_map(|key| if let Key::Symbol(number, ..) = key { Some(number) } else { None });
        let symbols: Vec<&usize> = symbols.collect();
        let split = (symbols.iter().collect::<BTreeSet<_>>().len(), symbols.len());
        Ok(Spelled { grammar: Ebnf { names, rules }, whole: !self.restricted, split })
    }

    /// Gives a rule a name. Rules that differ only in their contexts want the same one, and get numbers.
    fn name(&self, key: Key, alphabet: &Alphabet, names: &mut Names) -> String {
        let symbol = |number: usize| as_written(&self.grammar.names[number]).to_lowercase();
        let token = |token| identifier(alphabet.name(token), Case::Lower);
        match key {
            Key::Root => "root".to_string(),
            Key::Symbol(number, ..) => names.take(&symbol(number)),
            Key::Rest(number, ..) => names.take(&(symbol(number) + "_rest")),
            Key::Token(own, ..) => names.take(&token(own)),
            Key::Gap(..) => names.take("ws"),
            Key::Pattern(rule) | Key::State(rule, ..) => match self.scanner.rules[rule].token {
                Some(own) => names.take(&token(own)),
                None => names.take("skipped"),
            },
        }
    }

    fn alternatives(&mut self, key: Key) -> Result<Vec<Vec<Item>>, ExportError> {
        let mut out = Vec::new();
        match key {
            Key::Root => {
                // What is skipped before the first token belongs to no other rule. A text may end in any context.
                for begin in self.gap_ends(EMPTY)? {
                    for end in self.ends[&(0, begin)].clone() {
                        let mut pieces: Vec<Item> = self.gap(EMPTY, begin, None).into_iter().collect();
                        pieces.push(Item::Key(Key::Symbol(0, begin, end)));
                        out.push(pieces);
                    }
                }
            }
            Key::Symbol(number, from, to) => {
                for production in 0..self.grammar.rules[number].len() {
                    out.extend(self.rest(number, production, 0, from, to)?);
                }
            }
            Key::Rest(number, production, at, from, to) => out = self.rest(number, production, at, from, to)?,
            Key::Token(token, from, to) => {
                for rule in self.scanner.rules_of(token).collect::<Vec<_>>() {
                    self.with_gap(rule, None, from, to, &mut out)?;
                }
            }
            Key::Gap(from, to, after) => {
                if from == to {
                    out.push(Vec::new());
                }
                for skip in self.skips.clone() {
                    // What is skipped once by a rule that merges is not skipped by it again, so that a text is derived
                    // in only one way.
                    if after == Some(skip) && self.merging[skip] {
                        continue;
                    }
                    self.with_gap(skip, Some(skip), from, to, &mut out)?;
                }
            }
            Key::Pattern(rule) => out.push(vec![Item::Letters(Letters::Pattern(rule))]),
            Key::State(rule, from, to, state) => {
                let scan = self.scan(from, rule)?;
                out = state_alternatives(&scan, rule, from, to, state);
            }
        }
        Ok(out)
    }

    /// Adds the ways to read a text of a lexer rule and then what is skipped after it.
    fn with_gap(
        &mut self,
        rule: usize,
        skipped: Option<usize>,
        from: ContextId,
        to: ContextId,
        out: &mut Vec<Vec<Item>>,
    ) -> Result<(), ExportError> {
        for end in self.scan(from, rule)?.ends.iter().flatten().copied().collect::<BTreeSet<_>>() {
            if self.gap_ends(end)?.contains(&to) {
                let mut pieces = self.scanned(rule, from, end)?;
                pieces.extend(self.gap(end, to, skipped));
                out.push(pieces);
            }
        }
        Ok(())
    }

    /// Returns the ways to read the parts of a production from one on.
    fn rest(
        &mut self,
        number: usize,
        production: usize,
        at: usize,
        from: ContextId,
        to: ContextId,
    ) -> Result<Vec<Vec<Item>>, ExportError> {
        let grammar = self.grammar;
        let parts = &grammar.rules[number][production];
        let Some(&part) = parts.get(at) else {
            return Ok(if from == to { vec![Vec::new()] } else { Vec::new() });
        };
        let mut out = Vec::new();
        for end in self.part_ends(part, from)? {
            // Only ways that lead to the context that is asked for are written, so that every rule derives something.
            if !self.sequence_ends(&parts[at + 1..], end)?.contains(&to) {
                continue;
            }
            let mut pieces = match part {
                Part::Nonterminal(other) => vec![Item::Key(Key::Symbol(other, from, end))],
                Part::Token(token) => self.inline(Key::Token(token, from, end))?,
            };
            // If there is only one way to go on, it is written here. Otherwise it becomes a rule, since to multiply
            // them out would take too many alternatives.
            let mut tails = self.rest(number, production, at + 1, end, to)?;
            match (tails.len(), tails.pop()) {
                (1, Some(tail)) => pieces.extend(tail),
                _ => pieces.push(Item::Key(Key::Rest(number, production, at + 1, end, to))),
            }
            out.push(pieces);
        }
        Ok(out)
    }

    /// Returns the rule for what is skipped, unless nothing can be.
    fn gap(&self, from: ContextId, to: ContextId, after: Option<usize>) -> Option<Item> {
        let nothing = from == to && self.skips.iter().all(|&skip| after == Some(skip) && self.merging[skip]);
        (!nothing).then_some(Item::Key(Key::Gap(from, to, after)))
    }

    /// Returns the pieces of a rule with a single alternative, and otherwise the rule.
    fn inline(&mut self, key: Key) -> Result<Vec<Item>, ExportError> {
        let mut all = self.alternatives(key)?;
        match (all.len(), all.pop()) {
            (1, Some(only)) => Ok(only),
            _ => Ok(vec![Item::Key(key)]),
        }
    }

    /// Returns the pieces of what a lexer rule matches between two contexts.
    fn scanned(&mut self, rule: usize, from: ContextId, to: ContextId) -> Result<Vec<Item>, ExportError> {
        let scan = self.scan(from, rule)?;
        // The expression of the lexer can be written as it is if it has the same texts here, and does not have to be
        // split by the context after it.
        let single = scan.ends.iter().flatten().all(|&end| end == to);
        let free = self.exact[rule] && !scan.restricted && single;
        self.restricted |= !free;
        if free && self.whole {
            return Ok(vec![match literal(&self.scanner.rules[rule].pattern) {
                Some(text) => Item::Letters(Letters::Text(text)),
                None => Item::Key(Key::Pattern(rule)),
            }]);
        }
        self.inline(Key::State(rule, from, to, 0))
    }
}

/// A part of an alternative whose rule may not have been written yet.
enum Item {
    Letters(Letters),
    Key(Key),
}

/// The rules of the spelled grammar, in the order in which they are first referred to.
struct Keys {
    all: Vec<Key>,
    numbers: HashMap<Key, usize>,
}

impl Keys {
    /// Returns a part of an alternative with the number of its rule.
    fn piece(&mut self, item: Item) -> Piece<Letters> {
        match item {
            Item::Letters(letters) => Piece::Token(letters),
            Item::Key(key) => Piece::Rule(*self.numbers.entry(key).or_insert_with(|| {
                self.all.push(key);
                self.all.len() - 1
            })),
        }
    }
}

/// Returns the ways to go on from a state of a scan until it ends in a context.
fn state_alternatives(scan: &Scan, rule: usize, from: ContextId, to: ContextId, state: usize) -> Vec<Vec<Item>> {
    let mut out = Vec::new();
    if scan.ends[state] == Some(to) {
        out.push(Vec::new());
    }
    // Ranges that lead to the same state become one class.
    let mut targets: BTreeMap<usize, Vec<(char, char)>> = BTreeMap::new();
    for &(low, high, target) in &scan.next[state] {
        targets.entry(target).or_default().push((low, high));
    }
    for (target, ranges) in targets {
        if !reaches(scan, target, to) {
            continue;
        }
        let mut pieces = vec![Item::Letters(Letters::Class(ranges))];
        // A state that can only end needs no rule.
        if !(scan.ends[target] == Some(to) && scan.next[target].is_empty()) {
            pieces.push(Item::Key(Key::State(rule, from, to, target)));
        }
        out.push(pieces);
    }
    out
}

/// Returns the characters among a range of code points, if there are any.
fn characters(begin: u32, end: u32) -> Option<(char, char)> {
    // The code points between U+D7FF and U+E000 are not characters.
    let end = if (0xd800..0xe000).contains(&end) { 0xd7ff } else { end };
    let begin = if (0xd800..0xe000).contains(&begin) { 0xe000 } else { begin };
    Some((char::from_u32(begin)?, char::from_u32(end)?)).filter(|(begin, end)| begin <= end)
}

/// Returns whether a scan can end in this context after a state.
fn reaches(scan: &Scan, state: usize, to: ContextId) -> bool {
    let mut seen = BTreeSet::from([state]);
    let mut open = vec![state];
    while let Some(state) = open.pop() {
        if scan.ends[state] == Some(to) {
            return true;
        }
        open.extend(scan.next[state].iter().map(|&(_, _, target)| target).filter(|&target| seen.insert(target)));
    }
    false
}

/// Removes the transitions to states in which no match can end any more.
fn prune(scan: &mut Scan) {
    let ending = scan.ends.iter().map(Option::is_some).collect();
    let useful = leading_to(ending, |state| &scan.next[state]);
    for next in &mut scan.next {
        next.retain(|&(_, _, target)| useful[target]);
    }
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

#[cfg(test)]
mod tests {
    use crate::{Encoding, Export, Grammar, Lexer, Notation};

    #[test]
    fn the_example_is_as_described() {
        let grammar = Grammar::new("small", "%start S\n%%\nS: 'if' 'NAME';\n", Encoding::Auto).unwrap();
        let lexer = Lexer::new("%%\nif \"if\"\n[a-z]+ \"NAME\"\n[ ]+ ;\n").unwrap();
        let text = Export::of_grammar(&grammar, Some(&lexer)).write(Notation::Gbnf).unwrap().text;
        let source = include_str!("spell.rs").lines();
        let lines = source.skip_while(|line| *line != "//! ```text").skip(1).take_while(|line| *line != "//! ```");
        let shown: String = lines.map(|line| line.trim_start_matches("//! ").to_string() + "\n").collect();
        assert_eq!(text, shown);
    }
}
