//! The rules of a lexer, as exports see them: expressions, an automaton over characters, and what it takes to tell the
//! tokens apart.

use std::collections::{BTreeSet, HashMap, HashSet};

use echostack::{Alphabet, SymbolId};
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Repetition};

use super::error::ExportError;
use crate::lex::dfa::{DEAD, Dfa, TooLarge};
use crate::lex::file::{LexRule, Rule, StartState};
use crate::lex::lexer::Lexer;

/// A rule of a lexer.
#[derive(Clone, Debug)]
pub(super) struct ScanRule {
    pub(super) pattern: Hir,
    /// The token; `None` if the text is skipped or the token is not one of the grammar's.
    pub(super) token: Option<SymbolId>,
    /// Whether the text is skipped.
    pub(super) skip: bool,
}

/// The rules of a lexer with one start state.
pub(super) struct Scanner {
    pub(super) rules: Vec<ScanRule>,
    /// The automaton of all rules.
    pub(super) dfa: Dfa,
}

impl Scanner {
    /// Returns the scanner of a lexer. Without a lexer, tokens are written as their names, with white space between
    /// them.
    pub(super) fn new(lexer: Option<&Lexer>, alphabet: &Alphabet) -> Result<Self, ExportError> {
        let rules = match lexer {
            None => spelled_out(alphabet),
            Some(lexer) => {
                let file = lexer.file();
                if file.states.len() > 1 {
                    return Err(ExportError::StartStates);
                }
                file.rules.into_iter().map(|rule| scan_rule(rule, alphabet)).collect()
            }
        };
        let patterns: Vec<(u32, &Hir)> = (0..).zip(rules.iter().map(|rule| &rule.pattern)).collect();
        let actions = vec![Rule { name: None, change: None }; rules.len()];
        let dfa = Dfa::new(&patterns, &actions).map_err(|TooLarge| ExportError::TooLarge)?;
        Ok(Self { rules, dfa })
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

    /// Returns whether the rule has every text that its expression matches: no rule before it has one of them.
    pub(super) fn is_exact(&self, rule: usize) -> Result<bool, ExportError> {
        let alone = self.alone(rule)?;
        let mut exact = true;
        pairs((&alone, alone.start()), (&self.dfa, self.dfa.start()), |own, all| {
            exact &= alone.matched(own).is_none() || self.dfa.matched(all) == Some(rule as u32);
            own != DEAD
        });
        Ok(exact)
    }
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

fn scan_rule(rule: LexRule, alphabet: &Alphabet) -> ScanRule {
    let token = rule.name.as_deref().and_then(|name| {
        let mut tokens = alphabet.terminals();
        tokens.find(|&token| alphabet.name(token) == name)
    });
    ScanRule { pattern: rule.pattern, token, skip: rule.name.is_none() }
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

/// An automaton over characters. State 0 is the start.
pub(super) struct Chars {
    pub(super) states: Vec<CharState>,
    /// For each state, the first one that continues in the same way, whether or not a rule matches in it; `None` if
    /// nothing continues.
    pub(super) continuation: Vec<Option<usize>>,
}

/// A state of an automaton over characters.
#[derive(Clone, Debug, Default)]
pub(super) struct CharState {
    /// The ranges of characters that lead to other states, in order.
    pub(super) next: Vec<(char, char, usize)>,
    /// The rule that matches what was read.
    pub(super) rule: Option<u32>,
}

impl Chars {
    /// Converts an automaton over the bytes of UTF-8.
    pub(super) fn new(dfa: &Dfa) -> Self {
        let mut numbers = HashMap::from([(dfa.start(), 0)]);
        let mut order = vec![dfa.start()];
        let mut states: Vec<CharState> = Vec::new();
        let mut uniform = HashMap::new();
        while states.len() < order.len() {
            let state = order[states.len()];
            let mut ranges = Vec::new();
            for lead in 0..=0xf4_u8 {
                let next = dfa.step(state, lead);
                if next == DEAD {
                    continue;
                }
                match lead {
                    0..=0x7f => add(&mut ranges, (u32::from(lead), u32::from(lead)), next),
                    0xc2..=0xdf => walk(dfa, next, 1, u32::from(lead & 0x1f), &mut uniform, &mut ranges),
                    0xe0..=0xef => walk(dfa, next, 2, u32::from(lead & 0x0f), &mut uniform, &mut ranges),
                    0xf0..=0xf4 => walk(dfa, next, 3, u32::from(lead & 0x07), &mut uniform, &mut ranges),
                    _ => {}
                }
            }
            let mut number = |target: u32| {
                let fresh = order.len();
                *numbers.entry(target).or_insert_with(|| {
                    order.push(target);
                    fresh
                })
            };
            let range = |(from, to, target): (u32, u32, u32)| {
                Some((char::from_u32(from)?, char::from_u32(to)?, number(target)))
            };
            let next = ranges.into_iter().filter_map(range).collect();
            states.push(CharState { next, rule: dfa.matched(state) });
        }
        let continuation = continuations(&states);
        Self { states, continuation }
    }

    pub(super) fn step(&self, state: usize, letter: char) -> Option<usize> {
        let next = &self.states[state].next;
        let at = next.partition_point(|&(_, to, _)| to < letter);
        next.get(at).filter(|&&(from, _, _)| from <= letter).map(|&(_, _, target)| target)
    }

    /// Returns the states from which a rule can match.
    pub(super) fn useful(&self, rule: u32) -> Vec<bool> {
        let matching = self.states.iter().map(|state| state.rule == Some(rule)).collect();
        leading_to(matching, |state| &self.states[state].next)
    }
}

/// Returns the states from which one of the given states can be reached, given the ranges that lead on from each.
pub(super) fn leading_to<'a>(mut found: Vec<bool>, next: impl Fn(usize) -> &'a [(char, char, usize)]) -> Vec<bool> {
    let mut changed = true;
    while changed {
        changed = false;
        for state in 0..found.len() {
            if !found[state] && next(state).iter().any(|&(_, _, target)| found[target]) {
                found[state] = true;
                changed = true;
            }
        }
    }
    found
}

/// Adds a range of code points, which continues the last one if possible.
fn add(ranges: &mut Vec<(u32, u32, u32)>, (from, to): (u32, u32), target: u32) {
    match ranges.last_mut() {
        Some((_, end, known)) if *end + 1 == from && *known == target => *end = to,
        _ => ranges.push((from, to, target)),
    }
}

/// Adds the code points whose last `left` bytes are read from a state; `high` has the bits before them.
fn walk(
    dfa: &Dfa,
    state: u32,
    left: u32,
    high: u32,
    uniform: &mut HashMap<(u32, u32), Option<u32>>,
    ranges: &mut Vec<(u32, u32, u32)>,
) {
    if let Some(target) = all_lead_to(dfa, state, left, uniform) {
        let from = high << (6 * left);
        add(ranges, (from, from + (1 << (6 * left)) - 1), target);
        return;
    }
    for byte in 0x80..=0xbf_u8 {
        let (next, high) = (dfa.step(state, byte), high << 6 | u32::from(byte & 0x3f));
        if next == DEAD {
            continue;
        }
        if left == 1 {
            add(ranges, (high, high), next);
        } else {
            walk(dfa, next, left - 1, high, uniform, ranges);
        }
    }
}

/// Returns the state that all sequences of this many continuation bytes lead to, if it is the same and not dead.
fn all_lead_to(dfa: &Dfa, state: u32, left: u32, uniform: &mut HashMap<(u32, u32), Option<u32>>) -> Option<u32> {
    if left == 0 {
        return Some(state).filter(|&state| state != DEAD);
    }
    if let Some(&known) = uniform.get(&(state, left)) {
        return known;
    }
    let targets: BTreeSet<Option<u32>> = (0x80..=0xbf_u8)
        .map(|byte| match dfa.step(state, byte) {
            DEAD => None,
            next => all_lead_to(dfa, next, left - 1, uniform),
        })
        .collect();
    let target = match targets.iter().collect::<Vec<_>>()[..] {
        [Some(only)] => Some(*only),
        _ => None,
    };
    uniform.insert((state, left), target);
    target
}

/// Finds the states that continue in the same way: the same texts lead from them to states in which a rule matches.
fn continuations(states: &[CharState]) -> Vec<Option<usize>> {
    let mut class: Vec<usize> = states.iter().map(|state| usize::from(state.rule.is_some())).collect();
    let merged = |state: &CharState, class: &[usize]| {
        let mut out: Vec<(char, char, usize)> = Vec::new();
        for &(from, to, target) in &state.next {
            match out.last_mut() {
                Some((_, end, known)) if *known == class[target] && u32::from(*end) + 1 == u32::from(from) => {
                    *end = to;
                }
                _ => out.push((from, to, class[target])),
            }
        }
        out
    };
    loop {
        let mut known = HashMap::new();
        let next: Vec<usize> = states
            .iter()
            .map(|state| {
                let fresh = known.len();
                *known.entry((state.rule.is_some(), merged(state, &class))).or_insert(fresh)
            })
            .collect();
        let count = |class: &[usize]| class.iter().collect::<BTreeSet<_>>().len();
        let done = count(&next) == count(&class);
        class = next;
        if done {
            break;
        }
    }
    let mut first = HashMap::new();
    let all = states.iter().enumerate().map(|(at, state)| {
        let same = *first.entry(merged(state, &class)).or_insert(at);
        (!state.next.is_empty()).then_some(same)
    });
    all.collect()
}
