//! Lexers with start states, as lexers without.
//!
//! A start state such as flex's usual one for comments is entered by a rule, skips text, and is left by another rule. All
//! of that is one regular expression, because nothing in it is a token. The expression is computed from the automaton of
//! the start state: what it reads there, token by token with the longest match, is a finite automaton again, as long as
//! no text has to be read a second time after a longer match did not come about.
//!
//! If a text ends within a start state, the lexer has nothing to complain about. So there is a second expression, for what
//! may stand at the end of a text.

use std::collections::BTreeMap;

use echostack::{Alphabet, SymbolId};
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, Repetition};

use super::chars::{Chars, Ranges, minimized};
use super::error::ExportError;

use crate::lex::dfa::{Dfa, TooLarge};
use crate::lex::file::{LexFile, LexRule, Rule, StateChange};
use crate::lex::lexer::Lexer;

/// The maximum number of states of an automaton that is written as an expression.
const MAX_STATES: usize = 40;

/// A rule of a lexer.
#[derive(Clone, Debug)]
pub(crate) struct ScanRule {
    pub(super) pattern: Hir,
    /// The token; `None` if the text is skipped or the token is not one of the grammar's.
    pub(crate) token: Option<SymbolId>,
    /// Whether the text is skipped.
    pub(crate) skip: bool,
}

/// The rules of a lexer without start states.
pub(super) struct Flat {
    pub(super) rules: Vec<ScanRule>,
    /// What may stand at the end of a text, besides what is skipped.
    pub(super) unterminated: Vec<Hir>,
}

fn scan_rule(rule: LexRule, alphabet: &Alphabet) -> ScanRule {
    let token = rule.name.as_deref().and_then(|name| {
        let mut tokens = alphabet.terminals();
        tokens.find(|&token| alphabet.name(token) == name)
    });
    ScanRule { pattern: rule.pattern, token, skip: rule.name.is_none() }
}

/// Returns the rules of a lexer without start states, if that is possible.
pub(super) fn flat(lexer: &Lexer, alphabet: &Alphabet) -> Result<Flat, ExportError> {
    let mut file = lexer.file();
    let rules = std::mem::take(&mut file.rules);
    if file.states.len() == 1 {
        let rules = rules.into_iter().map(|rule| scan_rule(rule, alphabet)).collect();
        return Ok(Flat { rules, unterminated: Vec::new() });
    }
    let file = LexFile { rules, ..file };
    let initial = Chars::new(&lexer.states[0]);
    let mut flat = Flat { rules: Vec::new(), unterminated: Vec::new() };
    for (number, rule) in file.rules.iter().enumerate() {
        if !rule.applies(0, &file.states[0]) {
            continue;
        }
        match rule.change {
            Some(StateChange::Begin(state) | StateChange::Push(state) | StateChange::Replace(state)) if state != 0 => {
                let refused = |why: &str| ExportError::StartStates(file.states[state].name.clone(), why.to_string());
                let own = initial.states.iter().filter(|own| own.rule == Some(number as u32));
                if rule.name.is_some() || own.into_iter().any(|own| !own.next.is_empty()) {
                    return Err(refused("the rule that enters it returns a token, or can be a part of a longer match"));
                }
                let region = Region::new(lexer, &file, number, state).map_err(refused)?;
                let name = region.token.and_then(|exit| file.rules[exit].name.as_deref());
                let token = alphabet.terminals().find(|&token| Some(alphabet.name(token)) == name);
                let [closed, open] = [End::Closed, End::Open].map(|end| region.expression(end));
                let pattern = closed.ok_or_else(|| refused("its texts need too long an expression"))?;
                flat.rules.push(ScanRule { pattern, token, skip: name.is_none() });
                flat.unterminated.push(open.ok_or_else(|| refused("its texts need too long an expression"))?);
            }
            _ => {
                let (pattern, name) = (rule.pattern.clone(), rule.name.as_deref());
                let token = alphabet.terminals().find(|&token| Some(alphabet.name(token)) == name);
                flat.rules.push(ScanRule { pattern, token, skip: name.is_none() });
            }
        }
    }
    Ok(flat)
}

/// Whether the texts of a region end there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum End {
    /// The start state was left.
    Closed,
    /// The text may end here, because all of it was skipped.
    Open,
}

/// What is read from the rule that enters a start state to the one that leaves it, as an automaton over characters.
struct Region {
    next: Vec<Ranges>,
    ends: Vec<Option<End>>,
    /// The rule that leaves the start state.
    token: Option<usize>,
}

impl Region {
    fn new(lexer: &Lexer, file: &LexFile, enter: usize, state: usize) -> Result<Self, &'static str> {
        let action = Rule { name: None, change: None };
        let entry = Dfa::new(&[(0, &file.rules[enter].pattern)], &[action]);
        let entry = Chars::new(&entry.map_err(|TooLarge| "its automaton is too large")?);
        let inside = Chars::new(&lexer.states[state]);
        // States in which a rule matches lead only to such states, so that no longer match can fail to come about.
        for own in inside.states.iter().filter(|own| own.rule.is_some()) {
            if own.next.iter().any(|&(_, _, to)| inside.states[to].rule.is_none()) {
                return Err("a longer match in it may not come about");
            }
        }
        let (before, mut token) = (entry.states.len(), None);
        let mut next: Vec<Ranges> = Vec::new();
        let mut ends = Vec::new();
        for own in &entry.states {
            // The entry rule's text is followed by what the start state reads first.
            if own.rule.is_some() {
                next.push(shifted(&inside.states[0].next, before));
                ends.push(Some(End::Open));
            } else {
                next.push(own.next.clone());
                ends.push(None);
            }
        }
        for own in &inside.states {
            let Some(rule) = own.rule.map(|rule| rule as usize) else {
                next.push(shifted(&own.next, before));
                ends.push(None);
                continue;
            };
            match file.rules[rule].change {
                None if file.rules[rule].name.is_none() => {
                    next.push(shifted(&with_others(&own.next, &inside.states[0].next), before));
                    ends.push(Some(End::Open));
                }
                Some(StateChange::Begin(0) | StateChange::Replace(0) | StateChange::Pop) if own.next.is_empty() => {
                    if token.replace(rule).is_some_and(|other: usize| file.rules[other].name != file.rules[rule].name) {
                        return Err("rules that leave it return different tokens");
                    }
                    next.push(Vec::new());
                    ends.push(Some(End::Closed));
                }
                _ => return Err("tokens are found in it, or it leads to other start states"),
            }
        }
        let (next, kept) = minimized(&next, &ends);
        Ok(Self { ends: kept.iter().map(|&state| ends[state]).collect(), next, token })
    }

    /// Returns an expression for the texts that end in this way.
    fn expression(&self, end: End) -> Option<Hir> {
        let ends: Vec<bool> = self.ends.iter().map(|own| *own == Some(end)).collect();
        expression(&self.next, &ends)
    }
}

/// Returns an expression for the texts of an automaton: its states are removed one after the other, and the ways through
/// each become expressions (Kleene's theorem). Returns `None` if there are too many states, or no texts.
pub(super) fn expression(next: &[Ranges], ends: &[bool]) -> Option<Hir> {
    let count = next.len();
    if count > MAX_STATES {
        return None;
    }
    let (start, last) = (count, count + 1);
    let mut ways: BTreeMap<(usize, usize), Hir> = BTreeMap::from([((start, 0), Hir::empty())]);
    for (from, row) in next.iter().enumerate() {
        let mut classes: BTreeMap<usize, Vec<ClassUnicodeRange>> = BTreeMap::new();
        for &(low, high, to) in row {
            classes.entry(to).or_default().push(ClassUnicodeRange::new(low, high));
        }
        let all = classes.into_iter();
        ways.extend(all.map(|(to, ranges)| ((from, to), Hir::class(Class::Unicode(ClassUnicode::new(ranges))))));
        if ends[from] {
            ways.insert((from, last), Hir::empty());
        }
    }
    let mut left: Vec<usize> = (0..count).collect();
    while !left.is_empty() {
        // The state with the fewest ways through it comes first, so that the expression stays short.
        let through = |state: usize| {
            let [into, out] = [
                ways.keys().filter(|(from, to)| *to == state && *from != state).count(),
                ways.keys().filter(|(from, to)| *from == state && *to != state).count(),
            ];
            into * out
        };
        let place = (0..left.len()).min_by_key(|&place| (through(left[place]), std::cmp::Reverse(left[place])))?;
        let state = left.remove(place);
        let again = ways.remove(&(state, state));
        let [into, out]: [Vec<(usize, Hir)>; 2] = [
            ways.iter().filter(|((_, to), _)| *to == state).map(|((from, _), way)| (*from, way.clone())).collect(),
            ways.iter().filter(|((from, _), _)| *from == state).map(|((_, to), way)| (*to, way.clone())).collect(),
        ];
        ways.retain(|(from, to), _| *from != state && *to != state);
        for (from, before) in &into {
            for (to, after) in &out {
                let way = sequence(before, again.as_ref(), after);
                let way = match ways.remove(&(*from, *to)) {
                    Some(other) => Hir::alternation(vec![other, way]),
                    None => way,
                };
                ways.insert((*from, *to), way);
            }
        }
    }
    ways.remove(&(start, last))
}

/// Returns an expression followed by any number of another one, and by a third.
fn sequence(before: &Hir, again: Option<&Hir>, after: &Hir) -> Hir {
    let repeated =
        |min: u32, sub: &Hir| Hir::repetition(Repetition { min, max: None, greedy: true, sub: Box::new(sub.clone()) });
    match again {
        None => Hir::concat(vec![before.clone(), after.clone()]),
        Some(again) if again == before => Hir::concat(vec![repeated(1, again), after.clone()]),
        Some(again) => Hir::concat(vec![before.clone(), repeated(0, again), after.clone()]),
    }
}

/// Returns the ranges with the numbers of their states shifted.
fn shifted(ranges: &Ranges, by: usize) -> Ranges {
    ranges.iter().map(|&(low, high, to)| (low, high, to + by)).collect()
}

/// Returns the ranges, and what others have for all other characters.
fn with_others(own: &Ranges, others: &Ranges) -> Ranges {
    let mut all = own.clone();
    for &(low, high, to) in others {
        let mut from = Some(low);
        for &(begin, end, _) in own.iter().filter(|&&(begin, end, _)| begin <= high && end >= low) {
            if let Some(first) = from.filter(|&first| first < begin) {
                all.extend(before(begin).map(|last| (first, last, to)));
            }
            from = after(end).filter(|&next| next <= high);
        }
        all.extend(from.map(|first| (first, high, to)));
    }
    all.sort_unstable();
    all
}

fn before(letter: char) -> Option<char> {
    if letter == '\u{e000}' { Some('\u{d7ff}') } else { char::from_u32(u32::from(letter).checked_sub(1)?) }
}

fn after(letter: char) -> Option<char> {
    if letter == '\u{d7ff}' { Some('\u{e000}') } else { char::from_u32(u32::from(letter) + 1) }
}
