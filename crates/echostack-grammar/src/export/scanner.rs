//! The rules of a lexer, as exports see them: expressions, an automaton over characters, and what it takes to tell the
//! tokens apart.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use echostack::{Alphabet, SymbolId};
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Repetition};

use super::error::ExportError;
use super::regions::{Flat, ScanRule, flat};
use crate::lex::dfa::{DEAD, Dfa, TooLarge};
use crate::lex::file::{LexRule, Rule, StartState};
use crate::lex::lexer::Lexer;

/// The rules of a lexer with one start state.
pub(crate) struct Scanner {
    pub(crate) rules: Vec<ScanRule>,
    /// The token that may stand at the end of a text although the grammar does not have it: see [`regions`](super::regions).
    pub(super) end: Option<SymbolId>,
    /// The automaton of all rules.
    pub(crate) dfa: Dfa,
}

impl Scanner {
    /// Returns the scanner of a lexer, and the alphabet with the token that may stand at the end of a text, if there is
    /// one. Without a lexer, tokens are written as their names, with white space between them.
    pub(super) fn new(lexer: Option<&Lexer>, alphabet: &Arc<Alphabet>) -> Result<(Self, Arc<Alphabet>), ExportError> {
        let Some(lexer) = lexer else { return Ok((Self::of(spelled_out(alphabet), None)?, alphabet.clone())) };
        let Flat { mut rules, unterminated } = flat(lexer, alphabet)?;
        if unterminated.is_empty() {
            return Ok((Self::of(rules, None)?, alphabet.clone()));
        }
        let names = alphabet.terminals().map(|token| alphabet.name(token).to_string());
        let names: Vec<String> = names.chain(["UNTERMINATED".to_string()]).collect();
        let end = SymbolId::new(names.len() - 1);
        let longer = Alphabet::new(names, Vec::<String>::new()).map_err(|_| ExportError::TooLarge)?;
        rules.extend(unterminated.into_iter().map(|pattern| ScanRule { pattern, token: Some(end), skip: false }));
        Ok((Self::of(rules, Some(end))?, Arc::new(longer)))
    }

    /// Returns the scanner of rules, without those all of whose texts belong to earlier rules, of which ANTLR would warn.
    /// The rules of a token that has no text at all stay: something must be written for it.
    fn of(mut rules: Vec<ScanRule>, end: Option<SymbolId>) -> Result<Self, ExportError> {
        rules.iter_mut().for_each(|rule| rule.pattern = longest_first(&simplified(&rule.pattern)));
        let dfa = dfa_of(&rules)?;
        let winning: BTreeSet<usize> =
            states_of(&dfa).into_iter().filter_map(|state| dfa.matched(state)).map(|rule| rule as usize).collect();
        let found: BTreeSet<Option<SymbolId>> = winning.iter().map(|&rule| rules[rule].token).collect();
        let needed = |rule: usize, token: Option<SymbolId>| {
            winning.contains(&rule) || token.is_some() && !found.contains(&token)
        };
        if (0..rules.len()).all(|rule| needed(rule, rules[rule].token)) {
            return Ok(Self { rules, end, dfa });
        }
        let kept = rules.into_iter().enumerate().filter(|(number, rule)| needed(*number, rule.token));
        let rules: Vec<ScanRule> = kept.map(|(_, rule)| rule).collect();
        let dfa = dfa_of(&rules)?;
        Ok(Self { rules, end, dfa })
    }

    /// Removes the rules for tokens that the grammar does not have, such as a last one for any other character, where
    /// this changes nothing: where such a rule matches, no other rule matches a part of the text, so that no token is
    /// found without it, either. This holds for other tools, which do not skip a carriage return before a line feed.
    pub(super) fn without_foreign(self) -> Result<Self, ExportError> {
        let is_foreign = |rule: &ScanRule| rule.token.is_none() && !rule.skip;
        if !self.rules.iter().any(is_foreign) {
            return Ok(self);
        }
        let own: Vec<ScanRule> = self.rules.iter().filter(|rule| !is_foreign(rule)).cloned().collect();
        let without = Self::of(own, self.end)?;
        let mut needed = vec![false; self.rules.len()];
        // The flag tells whether one of the other rules matched before.
        let start = (self.dfa.start(), without.dfa.start(), false);
        let mut seen = HashSet::from([start]);
        let mut open = vec![start];
        while let Some((all, own, was)) = open.pop() {
            for byte in 0..=255 {
                let next = (self.dfa.step(all, byte), if own == DEAD { DEAD } else { without.dfa.step(own, byte) });
                if next.0 == DEAD {
                    continue;
                }
                let matches = next.1 != DEAD && without.dfa.matched(next.1).is_some();
                if let Some(rule) = self.dfa.matched(next.0) {
                    needed[rule as usize] |= was || matches;
                }
                let next = (next.0, next.1, was || matches);
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        let rules = self.rules.iter().zip(needed).filter(|(rule, needed)| *needed || !is_foreign(rule));
        Self::of(rules.map(|(rule, _)| rule.clone()).collect(), self.end)
    }

    /// Returns the states of the automaton in which a text can go on.
    pub(crate) fn inner_states(&self) -> HashSet<u32> {
        let goes_on = |state: &u32| (0..=255).any(|byte| self.dfa.step(*state, byte) != DEAD);
        states_of(&self.dfa).into_iter().filter(goes_on).collect()
    }

    /// Returns the rules that produce a token.
    pub(super) fn rules_of(&self, token: SymbolId) -> impl Iterator<Item = usize> + '_ {
        (0..self.rules.len()).filter(move |&rule| self.rules[rule].token == Some(token))
    }

    /// Returns the automaton of one rule alone.
    pub(super) fn alone(&self, rule: usize) -> Result<Dfa, ExportError> {
        let action = Rule { name: None, change: None };
        Dfa::new(&[(0, &self.rules[rule].pattern)], &[action]).map_err(|TooLarge| ExportError::TooLarge)
    }

    /// Returns the rules before this one that have some of the texts that its expression matches. If there are none, the
    /// rule has all of them.
    pub(super) fn before(&self, rule: usize) -> Result<Vec<usize>, ExportError> {
        let own = self.alone(rule)?;
        // Most rules have all of their texts, which one walk shows.
        let mut exact = true;
        pairs((&own, own.start()), (&self.dfa, self.dfa.start()), |a, b| {
            exact &= own.matched(a).is_none() || self.dfa.matched(b) == Some(rule as u32);
            a != DEAD
        });
        if exact {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for number in 0..rule {
            let other = self.alone(number)?;
            let mut shares = false;
            pairs((&other, other.start()), (&own, own.start()), |a, b| {
                shares |= other.matched(a).is_some() && own.matched(b).is_some();
                a != DEAD && b != DEAD
            });
            found.extend(shares.then_some(number));
        }
        Ok(found)
    }
}

/// Returns the automaton of several rules, of which the first wins.
fn dfa_of(rules: &[ScanRule]) -> Result<Dfa, ExportError> {
    let patterns: Vec<(u32, &Hir)> = (0..).zip(rules.iter().map(|rule| &rule.pattern)).collect();
    let actions = vec![Rule { name: None, change: None }; rules.len()];
    Dfa::new(&patterns, &actions).map_err(|TooLarge| ExportError::TooLarge)
}

/// Returns the states of an automaton that a text leads to.
fn states_of(dfa: &Dfa) -> Vec<u32> {
    let mut states = vec![dfa.start()];
    let mut seen = HashSet::from([dfa.start()]);
    let mut at = 0;
    while let Some(&state) = states.get(at) {
        at += 1;
        let next = (0..=255).map(|byte| dfa.step(state, byte));
        states.extend(next.filter(|&next| next != DEAD && seen.insert(next)));
    }
    states
}

/// Visits all pairs of states that two automata reach on the same text, until `visit` returns false for a pair.
pub(super) fn pairs(first: (&Dfa, u32), second: (&Dfa, u32), mut visit: impl FnMut(u32, u32) -> bool) {
    let mut seen = HashSet::from([(first.1, second.1)]);
    let mut open = vec![(first.1, second.1)];
    while let Some((a, b)) = open.pop() {
        for byte in 0..=255 {
            let next = (first.0.step(a, byte), second.0.step(b, byte));
            if next != (DEAD, DEAD) && seen.insert(next) && visit(next.0, next.1) {
                open.push(next);
            }
        }
    }
}

/// Returns rules that match the names of all tokens, and skip white space.
fn spelled_out(alphabet: &Alphabet) -> Vec<ScanRule> {
    let named =
        |token| ScanRule { pattern: Hir::literal(alphabet.name(token).as_bytes()), token: Some(token), skip: false };
    let space = [' ', '\t', '\n', '\r'].map(|letter| ClassUnicodeRange::new(letter, letter));
    let sub = Box::new(Hir::class(Class::Unicode(ClassUnicode::new(space))));
    let pattern = Hir::repetition(Repetition { min: 1, max: None, greedy: true, sub });
    alphabet.terminals().map(named).chain([ScanRule { pattern, token: None, skip: true }]).collect()
}

/// Returns an expression for the same texts, in which single characters to choose from are one class. ANTLR warns of
/// characters that are in two of them.
fn simplified(pattern: &Hir) -> Hir {
    match pattern.kind() {
        HirKind::Capture(capture) => simplified(&capture.sub),
        HirKind::Repetition(repetition) => {
            Hir::repetition(Repetition { sub: Box::new(simplified(&repetition.sub)), ..repetition.clone() })
        }
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(simplified).collect()),
        HirKind::Alternation(parts) => {
            let parts: Vec<Hir> = parts.iter().map(simplified).collect();
            let (letters, others): (Vec<Hir>, Vec<Hir>) =
                parts.iter().cloned().partition(|part| single_letter(part).is_some());
            // Some tools take the first part that matches, so single characters must come after what is longer than
            // them, and before what is empty.
            if letters.len() < 2 || others.iter().any(|part| part.properties().minimum_len() == Some(0)) {
                return Hir::alternation(parts);
            }
            let mut class = ClassUnicode::empty();
            letters.iter().filter_map(single_letter).for_each(|letter| class.union(&letter));
            Hir::alternation(others.into_iter().chain([Hir::class(Class::Unicode(class))]).collect())
        }
        _ => pattern.clone(),
    }
}

/// Returns the characters of an expression that matches one character.
fn single_letter(pattern: &Hir) -> Option<ClassUnicode> {
    match pattern.kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class.clone()),
        HirKind::Literal(literal) => {
            let text = str::from_utf8(&literal.0).ok()?;
            let mut letters = text.chars();
            let (letter, None) = (letters.next()?, letters.next()) else { return None };
            Some(ClassUnicode::new([ClassUnicodeRange::new(letter, letter)]))
        }
        _ => None,
    }
}

/// Returns an expression for the same texts: of several texts to choose from, the longest comes first, for tools that
/// take the first one that matches.
fn longest_first(pattern: &Hir) -> Hir {
    match pattern.kind() {
        HirKind::Alternation(parts) if parts.iter().all(|part| matches!(part.kind(), HirKind::Literal(_))) => {
            let length = |part: &Hir| part.properties().minimum_len();
            let mut parts = parts.clone();
            parts.sort_by_key(|part| std::cmp::Reverse(length(part)));
            Hir::alternation(parts)
        }
        _ => pattern.clone(),
    }
}

/// Returns the text of an expression that matches only one text.
pub(super) fn literal(pattern: &Hir) -> Option<String> {
    match pattern.kind() {
        HirKind::Literal(literal) => String::from_utf8(literal.0.to_vec()).ok(),
        HirKind::Capture(capture) => literal(&capture.sub),
        HirKind::Concat(parts) => parts.iter().map(literal).collect(),
        _ => None,
    }
}

/// The start states and rules of a lexer, for tools that have both.
pub(super) fn all_rules(lexer: &Lexer) -> (Vec<StartState>, Vec<LexRule>) {
    let file = lexer.file();
    (file.states, file.rules)
}
