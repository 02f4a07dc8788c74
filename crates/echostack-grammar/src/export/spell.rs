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
use std::hash::Hash;

use echostack::automaton::Part;
use echostack::spelling::{Case, Names, as_written, identifier};
use echostack::{Alphabet, SymbolId};
use regex_syntax::hir::{Dot, Hir, Repetition};

use super::ebnf::{Alternative, Ebnf, Piece};
use super::error::ExportError;
use super::productions::{Borders, Productions};
use super::regions::expression;
use super::scanner::{Scanner, literal};
use super::scans::{ContextId, Contexts, EMPTY, Scan, Scans};

/// The maximum number of rules of a spelled grammar.
const MAX_RULES: usize = 50_000;

/// A token of a spelled grammar.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Letters {
    /// This text.
    Text(String),
    /// What this one of the patterns matches.
    Pattern(usize),
    /// One of these characters.
    Class(Vec<(char, char)>),
}

/// How tokens are spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tokens {
    /// As texts and patterns, except where a context restricts them.
    Whole,
    /// As texts and patterns. In a context that restricts them, the patterns have exceptions.
    Expressions,
    /// In characters.
    Letters,
}

/// The texts of a token, or some of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    /// The rule of the lexer.
    rule: usize,
    pub(super) matching: Hir,
    /// Texts that these match are not among them.
    pub(super) except: Vec<Hir>,
}

/// A grammar over characters.
pub(super) struct Spelled {
    pub(super) grammar: Ebnf<Letters>,
    pub(super) patterns: Vec<Pattern>,
    /// Whether every token is a text or a pattern.
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

/// What a rule of the spelled grammar derives, from a context to one of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Root,
    /// A nonterminal.
    Symbol(usize, ContextId, Contexts),
    /// The parts of a production from this one on.
    Rest(usize, usize, usize, ContextId, Contexts),
    /// A token and what is skipped after it.
    Token(SymbolId, ContextId, Contexts),
    /// What is skipped between tokens, after a text that this rule skipped.
    Gap(ContextId, Contexts, Option<usize>),
    /// A pattern of a lexer rule.
    Pattern(usize, usize),
    /// A state of a scan.
    State(usize, ContextId, Contexts, usize),
}

/// What rules have in common that may become one: they differ only in contexts and states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Root,
    Symbol(usize),
    Rest(usize, usize, usize),
    Token(SymbolId),
    Gap,
    Pattern(usize),
    State(usize),
}

impl Key {
    fn kind(self) -> Kind {
        match self {
            Self::Root => Kind::Root,
            Self::Symbol(number, ..) => Kind::Symbol(number),
            Self::Rest(number, production, at, ..) => Kind::Rest(number, production, at),
            Self::Token(token, ..) => Kind::Token(token),
            Self::Gap(..) => Kind::Gap,
            Self::Pattern(rule, _) => Kind::Pattern(rule),
            Self::State(rule, ..) => Kind::State(rule),
        }
    }
}

/// Spells a grammar out.
pub(super) fn spell(
    grammar: &Productions,
    scanner: &Scanner,
    alphabet: &Alphabet,
    tokens: Tokens,
) -> Result<Spelled, ExportError> {
    let mut speller = Speller::new(grammar, scanner, tokens)?;
    speller.find_ends()?;
    speller.write(alphabet)
}

struct Speller<'a> {
    grammar: &'a Productions,
    scanner: &'a Scanner,
    scans: Scans<'a>,
    borders: Borders,
    /// For each lexer rule, those before it that have some of its texts.
    before: Vec<Vec<usize>>,
    tokens: Tokens,
    patterns: Vec<Pattern>,
    /// The contexts in which each nonterminal can end, by the context in which it begins.
    ends: BTreeMap<(usize, ContextId), Contexts>,
    /// Whether every token that was spelled so far is a text or a pattern.
    whole: bool,
}

impl<'a> Speller<'a> {
    fn new(grammar: &'a Productions, scanner: &'a Scanner, tokens: Tokens) -> Result<Self, ExportError> {
        let before = (0..scanner.rules.len()).map(|rule| scanner.before(rule)).collect::<Result<_, _>>()?;
        Ok(Self {
            grammar,
            scanner,
            scans: Scans::new(grammar, scanner),
            borders: grammar.borders(),
            before,
            tokens,
            patterns: Vec::new(),
            ends: BTreeMap::new(),
            whole: true,
        })
    }

    /// Returns the contexts after a part of a production and what is skipped after it.
    fn part_ends(&mut self, part: Part, from: ContextId) -> Result<Contexts, ExportError> {
        match part {
            Part::Nonterminal(number) => Ok(*self.ends.entry((number, from)).or_default()),
            Part::Token(token) => self.scans.token_ends(token, from),
        }
    }

    fn sequence_ends(&mut self, parts: &[Part], from: ContextId) -> Result<Contexts, ExportError> {
        let mut ends = Contexts::of(from);
        for &part in parts {
            let mut next = Contexts::default();
            for end in ends.iter() {
                next = next.union(self.part_ends(part, end)?);
            }
            ends = next;
        }
        Ok(ends)
    }

    /// Finds the contexts in which each nonterminal can begin and end.
    fn find_ends(&mut self) -> Result<(), ExportError> {
        for begin in self.scans.gap_ends(EMPTY)?.iter() {
            self.ends.entry((0, begin)).or_default();
        }
        // The least solution of equations that refer to each other: sets only grow, and looking one up for a
        // nonterminal in a new context adds it (in `part_ends`). Once a whole pass adds nothing, it is found.
        loop {
            let before = self.ends.clone();
            for (number, from) in self.ends.keys().copied().collect::<Vec<_>>() {
                for production in &self.grammar.rules[number] {
                    let ends = self.sequence_ends(production, from)?;
                    let own = self.ends.entry((number, from)).or_default();
                    *own = own.union(ends);
                }
            }
            if before == self.ends {
                return Ok(());
            }
        }
    }

    /// Returns whether the same texts of some parts are read in two contexts, to the same ones among those in `to`.
    fn agree(&mut self, parts: &[Part], a: ContextId, b: ContextId, to: Contexts) -> Result<bool, ExportError> {
        for &part in parts {
            // Once a first token has been read in the same way, everything after it is.
            if !self.scans.agree(a, b, self.first_rules(part))? {
                return Ok(false);
            }
            if !self.may_be_empty(part) {
                return Ok(true);
            }
        }
        Ok(to.contains(a) == to.contains(b))
    }

    /// Returns the lexer rules for the tokens that a part can begin with.
    fn first_rules(&self, part: Part) -> Vec<usize> {
        match part {
            Part::Token(token) => self.scanner.rules_of(token).collect(),
            Part::Nonterminal(number) => {
                self.borders.first[number].iter().flat_map(|&token| self.scanner.rules_of(token)).collect()
            }
        }
    }

    fn may_be_empty(&self, part: Part) -> bool {
        matches!(part, Part::Nonterminal(number) if self.borders.nullable[number])
    }

    /// Returns the contexts from which some parts lead to one of those in `to`, in sets of those that agree on how the parts
    /// are read.
    fn grouped(&mut self, ends: Contexts, parts: &[Part], to: Contexts) -> Result<Vec<Contexts>, ExportError> {
        let mut leading = Contexts::default();
        for end in ends.iter() {
            // Only ways that lead to the contexts that are asked for are written, so that every rule derives something.
            if !self.sequence_ends(parts, end)?.intersection(to).is_empty() {
                leading.insert(end);
            }
        }
        leading.grouped(|a, b| self.agree(parts, a, b, to))
    }

    /// Returns the key of a nonterminal: the same one for all contexts in which it is read in the same way.
    fn symbol(&mut self, number: usize, from: ContextId, to: Contexts) -> Result<Key, ExportError> {
        let part = Part::Nonterminal(number);
        let from = if self.may_be_empty(part) {
            from
        } else {
            let candidates = self.ends.keys().filter(|&&(other, _)| other == number).map(|&(_, context)| context);
            let candidates = candidates.collect();
            self.scans.first_like(from, &self.first_rules(part), candidates)?
        };
        Ok(Key::Symbol(number, from, to))
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
        let kinds: Vec<Kind> = keys.all.iter().map(|key| key.kind()).collect();
        let (rules, kinds) = merged(&rules, &kinds);
        let mut names = Names::numbered("_").without(["root", "start"]);
        let names = kinds.iter().map(|&kind| self.name(kind, alphabet, &mut names)).collect();
        let symbols = kinds.iter().filter_map(|kind| if let Kind::Symbol(number) = kind { Some(number) } else { None });
        let symbols: Vec<&usize> = symbols.collect();
        let split = (symbols.iter().collect::<BTreeSet<_>>().len(), symbols.len());
        let grammar = Ebnf { names, rules }.without_empty_rules();
        Ok(Spelled { grammar, patterns: self.patterns, whole: self.whole, split })
    }

    /// Gives a rule a name. Rules that differ only in their contexts want the same one, and get numbers.
    fn name(&self, kind: Kind, alphabet: &Alphabet, names: &mut Names) -> String {
        let symbol = |number: usize| as_written(&self.grammar.names[number]).to_lowercase();
        let token = |token| identifier(alphabet.name(token), Case::Lower);
        match kind {
            Kind::Root => "root".to_string(),
            Kind::Symbol(number) => names.take(&symbol(number)),
            Kind::Rest(number, ..) => names.take(&(symbol(number) + "_rest")),
            Kind::Token(own) => names.take(&token(own)),
            Kind::Gap => names.take("ws"),
            Kind::Pattern(rule) | Kind::State(rule) => match self.scanner.rules[rule].token {
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
                let begins = self.scans.gap_ends(EMPTY)?;
                let start = Part::Nonterminal(0);
                let mut ends = Contexts::default();
                for begin in begins.iter() {
                    ends = ends.union(self.part_ends(start, begin)?);
                }
                for group in self.grouped(begins, &[start], ends)? {
                    let mut pieces: Vec<Item> = self.gap(EMPTY, group, None)?.into_iter().collect();
                    let to = self.part_ends(start, group.first())?;
                    pieces.push(Item::Key(self.symbol(0, group.first(), to)?));
                    out.push(pieces);
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
                if to.contains(from) {
                    out.push(Vec::new());
                }
                for skip in self.skips_after(after) {
                    self.with_gap(skip, Some(skip), from, to, &mut out)?;
                }
            }
            Key::Pattern(_, number) => out.push(vec![Item::Letters(Letters::Pattern(number))]),
            Key::State(rule, from, to, state) => {
                let scan = self.scans.scan(from, rule)?;
                out = state_alternatives(&scan, rule, from, to, state);
            }
        }
        Ok(out)
    }

    /// Returns the rules that can be skipped after another one. What is skipped once by a rule that merges is not skipped
    /// by it again, so that a text is derived in only one way.
    fn skips_after(&self, after: Option<usize>) -> Vec<usize> {
        let again = |skip: usize| after == Some(skip) && self.scans.merging[skip];
        self.scans.skips.iter().copied().filter(|&skip| !again(skip)).collect()
    }

    /// Adds the ways to read a text of a lexer rule and then what is skipped after it.
    fn with_gap(
        &mut self,
        rule: usize,
        skipped: Option<usize>,
        from: ContextId,
        to: Contexts,
        out: &mut Vec<Vec<Item>>,
    ) -> Result<(), ExportError> {
        let skips = self.skips_after(skipped);
        let mut leading = Contexts::default();
        for end in self.scans.scan(from, rule)?.all_ends().iter() {
            if !self.scans.gap_ends(end)?.intersection(to).is_empty() {
                leading.insert(end);
            }
        }
        // Matches whose ends agree on what can be skipped are read by one rule.
        let same = |a, b| -> Result<bool, ExportError> {
            Ok(to.contains(a) == to.contains(b) && self.scans.agree(a, b, skips.iter().copied())?)
        };
        let groups = leading.grouped(same)?;
        for group in groups {
            let mut pieces = self.scanned(rule, from, group)?;
            pieces.extend(self.gap(group.first(), to, skipped)?);
            out.push(pieces);
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
        to: Contexts,
    ) -> Result<Vec<Vec<Item>>, ExportError> {
        let grammar = self.grammar;
        let parts = &grammar.rules[number][production];
        let Some(&part) = parts.get(at) else {
            return Ok(if to.contains(from) { vec![Vec::new()] } else { Vec::new() });
        };
        let mut out = Vec::new();
        let ends = self.part_ends(part, from)?;
        for group in self.grouped(ends, &parts[at + 1..], to)? {
            let mut pieces = match part {
                Part::Nonterminal(other) => vec![Item::Key(self.symbol(other, from, group)?)],
                Part::Token(token) => {
                    let from = self.scans.first_like(from, &self.first_rules(part), Contexts::ALL)?;
                    self.inline(Key::Token(token, from, group))?
                }
            };
            // If there is only one way to go on, it is written here. Otherwise it becomes a rule, since to multiply
            // them out would take too many alternatives.
            let mut tails = self.rest(number, production, at + 1, group.first(), to)?;
            match (tails.len(), tails.pop()) {
                (1, Some(tail)) => pieces.extend(tail),
                _ => pieces.push(Item::Key(Key::Rest(number, production, at + 1, group.first(), to))),
            }
            out.push(pieces);
        }
        Ok(out)
    }

    /// Returns the rule for what is skipped, unless nothing can be.
    fn gap(&mut self, from: ContextId, to: Contexts, after: Option<usize>) -> Result<Option<Item>, ExportError> {
        for skip in self.skips_after(after) {
            for end in self.scans.scan(from, skip)?.all_ends().iter() {
                if !self.scans.gap_ends(end)?.intersection(to).is_empty() {
                    return Ok(Some(Item::Key(Key::Gap(from, to, after))));
                }
            }
        }
        // The ways to here were chosen so that one of the contexts can be reached, so this is one of them.
        Ok((!to.contains(from)).then_some(Item::Key(Key::Gap(from, to, after))))
    }

    /// Returns the pieces of a rule with a single alternative, and otherwise the rule.
    fn inline(&mut self, key: Key) -> Result<Vec<Item>, ExportError> {
        let mut all = self.alternatives(key)?;
        match (all.len(), all.pop()) {
            (1, Some(only)) => Ok(only),
            _ => Ok(vec![Item::Key(key)]),
        }
    }

    /// Returns the pieces of what a lexer rule matches between contexts.
    fn scanned(&mut self, rule: usize, from: ContextId, to: Contexts) -> Result<Vec<Item>, ExportError> {
        let from = self.scans.first_like(from, &[rule], Contexts::ALL)?;
        let scan = self.scans.scan(from, rule)?;
        let Some(pattern) = self.pattern(rule, from, to, &scan) else {
            self.whole = false;
            return self.inline(Key::State(rule, from, to, 0));
        };
        if let Some(text) = literal(&pattern.matching) {
            return Ok(vec![Item::Letters(Letters::Text(text))]);
        }
        let known = self.patterns.iter().position(|known| *known == pattern);
        let number = known.unwrap_or_else(|| {
            self.patterns.push(pattern);
            self.patterns.len() - 1
        });
        Ok(vec![Item::Key(Key::Pattern(rule, number))])
    }

    /// Returns the pattern for what a lexer rule matches between contexts, if it can be written and is to be.
    fn pattern(&self, rule: usize, from: ContextId, to: Contexts, scan: &Scan) -> Option<Pattern> {
        let matching = self.scanner.rules[rule].pattern.clone();
        // The expression of the lexer can be written as it is if it has the same texts here, and does not have to be
        // split by the context after it.
        let single = scan.ends.iter().flatten().all(|&end| to.contains(end));
        match self.tokens {
            Tokens::Letters => None,
            // There is a text, so a single one is not restricted.
            _ if literal(&matching).is_some() => Some(Pattern { rule, matching, except: Vec::new() }),
            _ if self.before[rule].is_empty() && !scan.restricted && single => {
                Some(Pattern { rule, matching, except: Vec::new() })
            }
            Tokens::Whole => None,
            Tokens::Expressions if single => {
                let earlier = self.before[rule].iter().map(|&other| &self.scanner.rules[other].pattern);
                let mut except: Vec<Hir> = earlier.cloned().collect();
                let any =
                    Hir::repetition(Repetition { min: 0, max: None, greedy: true, sub: Hir::dot(Dot::AnyChar).into() });
                let forbidden = self.scans.forbidden(from, rule)?;
                except.extend(forbidden.into_iter().map(|begin| Hir::concat(vec![begin, any.clone()])));
                Some(Pattern { rule, matching, except })
            }
            Tokens::Expressions => {
                let ends: Vec<bool> = scan.ends.iter().map(|end| end.is_some_and(|end| to.contains(end))).collect();
                Some(Pattern { rule, matching: expression(&scan.next, &ends)?, except: Vec::new() })
            }
        }
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

/// Merges rules of one kind that derive the same texts in the same way. Returns the rules that are left, and their kinds.
///
/// At first, all rules of a kind are one. They are told apart until those that are one have the same alternatives.
fn merged<T: Clone + Ord + Hash>(
    rules: &[Vec<Alternative<T>>],
    kinds: &[Kind],
) -> (Vec<Vec<Alternative<T>>>, Vec<Kind>) {
    let numbered = |signatures: Vec<(Kind, BTreeSet<Alternative<T>>)>| {
        let mut numbers = HashMap::new();
        let classes: Vec<usize> = signatures
            .into_iter()
            .map(|signature| {
                let fresh = numbers.len();
                *numbers.entry(signature).or_insert(fresh)
            })
            .collect();
        (classes, numbers.len())
    };
    let written = |rule: &Vec<Alternative<T>>, classes: &[usize]| {
        let piece = |piece: &Piece<T>| match piece {
            Piece::Rule(other) => Piece::Rule(classes[*other]),
            other => other.clone(),
        };
        rule.iter().map(|pieces| pieces.iter().map(piece).collect::<Alternative<T>>()).collect::<Vec<_>>()
    };
    let (mut classes, mut count) = numbered(kinds.iter().map(|&kind| (kind, BTreeSet::new())).collect());
    loop {
        let all = rules.iter().zip(kinds);
        let signatures = all.map(|(rule, &kind)| (kind, written(rule, &classes).into_iter().collect()));
        let (finer, found) = numbered(signatures.collect());
        classes = finer;
        if found == count {
            break;
        }
        count = found;
    }
    // Classes are numbered in the order in which their first rules were found.
    let (mut left, mut kept) = (Vec::new(), Vec::new());
    for (rule, &class) in classes.iter().enumerate() {
        if class == left.len() {
            let mut alternatives = written(&rules[rule], &classes);
            let mut seen = BTreeSet::new();
            alternatives.retain(|pieces| seen.insert(pieces.clone()));
            left.push(alternatives);
            kept.push(kinds[rule]);
        }
    }
    (left, kept)
}

/// Returns the ways to go on from a state of a scan until it ends in one of these contexts.
fn state_alternatives(scan: &Scan, rule: usize, from: ContextId, to: Contexts, state: usize) -> Vec<Vec<Item>> {
    let ends = |state: usize| scan.ends[state].is_some_and(|end| to.contains(end));
    let mut out = Vec::new();
    if ends(state) {
        out.push(Vec::new());
    }
    // Ranges that lead to the same state become one class.
    let mut targets: BTreeMap<usize, Vec<(char, char)>> = BTreeMap::new();
    for &(low, high, target) in &scan.next[state] {
        targets.entry(target).or_default().push((low, high));
    }
    for (target, ranges) in targets {
        if !scan.reaches(target, to) {
            continue;
        }
        let mut pieces = vec![Item::Letters(Letters::Class(ranges))];
        // A state that can only end needs no rule.
        if !(ends(target) && scan.next[target].is_empty()) {
            pieces.push(Item::Key(Key::State(rule, from, to, target)));
        }
        out.push(pieces);
    }
    out
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rand::seq::IndexedRandom;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::export::ebnf::Reads;
    use crate::export::ebnf::tests::texts;
    use crate::lex::dfa::{DEAD, Dfa};
    use crate::lex::file::Rule;
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

    /// The characters of the texts that are compared.
    const LETTERS: [char; 3] = ['a', 'b', ' '];
    /// The length of the longest text that is compared.
    const LONGEST: usize = 5;

    /// Returns all texts up to the longest.
    fn all_texts() -> Vec<String> {
        let mut all = vec![String::new()];
        let mut from = 0;
        for _ in 0..LONGEST {
            let longer = all[from..].iter().flat_map(|text| LETTERS.map(|letter| format!("{text}{letter}")));
            let longer: Vec<String> = longer.collect();
            from = all.len();
            all.extend(longer);
        }
        all
    }

    /// Replaces the tokens of alternatives by other alternatives.
    fn replaced(
        own: &[Alternative<Letters>],
        token: &dyn Fn(&Letters) -> Vec<Alternative<char>>,
    ) -> Vec<Alternative<char>> {
        let piece = |piece: &Piece<Letters>| match piece {
            Piece::Token(letters) => Piece::Choice(token(letters)),
            Piece::Rule(number) => Piece::Rule(*number),
            Piece::Choice(all) => Piece::Choice(replaced(all, token)),
            Piece::Many(all) => Piece::Many(replaced(all, token)),
        };
        own.iter().map(|pieces| pieces.iter().map(piece).collect()).collect()
    }

    /// Returns the texts that an expression matches.
    fn matching<'a>(pattern: &Hir, all: &'a [String]) -> Vec<&'a String> {
        let Ok(dfa) = Dfa::new(&[(0, pattern)], &[Rule { name: None, change: None }]) else { panic!() };
        let end = |text: &str| text.bytes().fold(dfa.start(), |state, byte| dfa.step(state, byte));
        all.iter().filter(|text| end(text) != DEAD && dfa.matched(end(text)).is_some()).collect()
    }

    /// Returns the grammar with a token for each character.
    fn spelled(grammar: &Ebnf<Letters>, patterns: &[Pattern], all: &[String]) -> Ebnf<char> {
        let letters = |text: &str| text.chars().map(Piece::Token).collect::<Alternative<char>>();
        let token = |token: &Letters| match token {
            Letters::Text(text) => vec![letters(text)],
            Letters::Class(ranges) => {
                let own = |letter: &char| ranges.iter().any(|(from, to)| (from..=to).contains(&letter));
                LETTERS.iter().filter(|letter| own(letter)).map(|&letter| vec![Piece::Token(letter)]).collect()
            }
            Letters::Pattern(number) => {
                let Pattern { matching: own, except, .. } = &patterns[*number];
                let (own, except) = (matching(own, all), except.iter().map(|except| matching(except, all)));
                let except: BTreeSet<&String> = except.flatten().collect();
                own.into_iter().filter(|text| !except.contains(text)).map(|text| letters(text)).collect()
            }
        };
        Ebnf { names: grammar.names.clone(), rules: grammar.rules.iter().map(|own| replaced(own, &token)).collect() }
    }

    /// Returns rules over three tokens, `0` to `2`, for a grammar and as letters.
    fn random_rules(random: &mut ChaCha8Rng) -> (Productions, Ebnf<char>) {
        let count = random.random_range(1..=3);
        let (mut rules, mut letters) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let alternatives: Vec<Vec<Part>> = (0..random.random_range(1..4))
                .map(|_| {
                    let part = |random: &mut ChaCha8Rng| {
                        if random.random_bool(0.4) {
                            Part::Nonterminal(random.random_range(0..count))
                        } else {
                            Part::Token(SymbolId::new(random.random_range(0..3)))
                        }
                    };
                    (0..random.random_range(0..4)).map(|_| part(random)).collect()
                })
                .collect();
            let piece = |part: &Part| match *part {
                Part::Nonterminal(number) => Piece::Rule(number),
                Part::Token(token) => Piece::Token(['0', '1', '2'][token.index()]),
            };
            letters.push(alternatives.iter().map(|parts| parts.iter().map(piece).collect()).collect());
            rules.push(alternatives);
        }
        let names: Vec<String> = (0..count).map(|number| format!("r{number}")).collect();
        (Productions { names: names.clone(), rules }, Ebnf { names, rules: letters })
    }

    #[test]
    fn texts_are_those_that_the_lexer_splits_into_words() {
        const PATTERNS: [&str; 9] = ["a", "b", "ab", "a+", "[ab]+", "ba*", "aba?", "b(ab)*", "a b"];
        const SKIPS: [&str; 4] = ["[ ]+", "[ ]", "[ ]b?", "[ ][ ]|b[ ]"];
        let all = all_texts();
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let (mut split, mut excepted, mut accepted) = (0, 0, 0);
        for _ in 0..120 {
            let mut lines: Vec<String> =
                (0..3).map(|token| format!("{} \"{token}\"", PATTERNS.choose(&mut random).unwrap())).collect();
            lines.push(format!("{} ;", SKIPS.choose(&mut random).unwrap()));
            let file = format!("%%\n{}\n", lines.join("\n"));
            let Ok(lexer) = Lexer::new(&file) else { continue };
            let (productions, rules) = random_rules(&mut random);
            let words = texts(&rules, LONGEST);
            let is_valid = |text: &&String| {
                let (tokens, fault) = lexer.tokens(text);
                fault.is_none() && words.contains(&tokens.iter().map(|token| token.name).collect::<String>())
            };
            let wanted: BTreeSet<String> = all.iter().filter(is_valid).cloned().collect();
            let alphabet = Arc::new(Alphabet::new(["0", "1", "2"], ["r"]).unwrap());
            let (scanner, alphabet) = Scanner::new(Some(&lexer), &alphabet).unwrap();
            for tokens in [Tokens::Whole, Tokens::Expressions, Tokens::Letters] {
                let found = spell(&productions, &scanner, &alphabet, tokens).unwrap();
                split += usize::from(found.split.1 > found.split.0);
                excepted += found.patterns.iter().filter(|pattern| !pattern.except.is_empty()).count();
                assert_eq!(texts(&spelled(&found.grammar, &found.patterns, &all), LONGEST), wanted, "{file}{rules:?}");
                let Ok(unwound) = found.grammar.without_left_recursion(Reads::Nothing) else { continue };
                let written = spelled(&unwound.factored(), &found.patterns, &all);
                assert_eq!(texts(&written, LONGEST), wanted, "{file}{rules:?}");
            }
            accepted += wanted.len();
        }
        assert!(split > 30 && excepted > 30 && accepted > 300, "{split} {excepted} {accepted}");
    }
}
