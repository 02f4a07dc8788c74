//! Writes grammars for the Python package Lark.

use std::collections::BTreeSet;
use std::fmt::Write;

use echostack::automaton::Part;
use echostack::spelling::{Case, Names, as_written, identifier};
use echostack::{Alphabet, SymbolId};
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::start;
use regex_automata::{Anchored, MatchKind};
use regex_syntax::hir::Hir;

use super::chars::{CharState, Chars, Ranges, minimized};
use super::error::ExportError;
use super::productions::Productions;
use super::regex::{self, Dialect};
use super::regions::expression;
use super::scanner::{Scanner, literal, pairs};
use crate::lex::dfa::{DEAD, Dfa};

/// The maximum length of a line with all alternatives of a rule.
const LINE: usize = 100;

/// Writes a grammar for Lark, with its basic lexer.
pub(super) fn lark(
    grammar: &Productions,
    scanner: &Scanner,
    alphabet: &Alphabet,
    parser: &str,
) -> Result<String, ExportError> {
    let terminals = Terminals::new(scanner, alphabet)?;
    let mut names = Names::numbered("_").without(["start"]);
    let rules: Vec<String> = (grammar.names.iter().enumerate())
        .map(|(number, name)| match (number, as_written(name).to_lowercase()) {
            (0, name) if name == "start" => name,
            // Names with a leading underscore are left out of trees.
            (_, name) => names.take(&format!("{}{name}", if name.starts_with('_') { "n" } else { "" })),
        })
        .collect();
    // A token that several rules of the lexer produce is a rule of its own.
    let several = |token: SymbolId| scanner.rules_of(token).count() > 1;
    let token_rule: Vec<String> = alphabet
        .terminals()
        .map(|token| {
            let name = || identifier(alphabet.name(token), Case::Lower);
            if several(token) { names.take(&name()) } else { String::new() }
        })
        .collect();
    let part = |part: &Part| match *part {
        Part::Nonterminal(number) => rules[number].clone(),
        Part::Token(token) if several(token) => token_rule[token.index()].clone(),
        Part::Token(token) => {
            scanner.rules_of(token).map(|rule| terminals.names[rule].clone()).next().unwrap_or_default()
        }
    };
    let mut out = format!("// Lark(grammar, parser=\"{parser}\", lexer=\"basic\", keep_all_tokens=True)\n");
    if rules[0] != "start" {
        let _ = writeln!(out, "start: {}", rules[0]);
    }
    for (name, own) in rules.iter().zip(&grammar.rules) {
        let mut all: Vec<String> =
            own.iter().map(|parts| parts.iter().map(part).collect::<Vec<_>>().join(" ")).collect();
        if all.is_empty() {
            // The language is empty, and a rule without alternatives would derive the empty word.
            let first = alphabet.terminals().next().map(|token| part(&Part::Token(token)));
            all.push(format!("{} {name}", first.unwrap_or_default()));
        }
        let line = format!("{name}: {}", all.join(" | "));
        let text = if line.chars().count() <= LINE { line } else { format!("{name}: {}", all.join("\n    | ")) };
        let _ = writeln!(out, "{text}");
    }
    for token in alphabet.terminals().filter(|&token| several(token)) {
        let all: Vec<&str> = scanner.rules_of(token).map(|rule| terminals.names[rule].as_str()).collect();
        let _ = writeln!(out, "{}: {}", token_rule[token.index()], all.join(" | "));
    }
    out.push('\n');
    out.push_str(&terminals.text);
    Ok(out)
}

/// The terminals, one for each rule of the lexer.
struct Terminals {
    names: Vec<String>,
    text: String,
}

impl Terminals {
    fn new(scanner: &Scanner, alphabet: &Alphabet) -> Result<Self, ExportError> {
        let count = scanner.rules.len();
        let shown = |rule: usize| match scanner.rules[rule].token {
            Some(token) => alphabet.name(token).to_string(),
            None if scanner.rules[rule].skip => "skipped".to_string(),
            None => "other".to_string(),
        };
        let alone: Vec<Dfa> = (0..count).map(|rule| scanner.alone(rule)).collect::<Result<_, _>>()?;
        let texts: Vec<Option<String>> = scanner.rules.iter().map(|rule| literal(&rule.pattern)).collect();
        let mut guards: Vec<Option<Hir>> = vec![None; count];
        for rule in (0..count).filter(|&rule| texts[rule].is_none()) {
            if !first_is_longest(&scanner.rules[rule].pattern)? {
                let found = guard(scanner, &alone[rule]).ok_or_else(|| ExportError::Alternatives(shown(rule)))?;
                guards[rule] = Some(found);
            }
        }
        // Lark finds a text that an expression matches too by comparing what the expression matched with it.
        let holder = |rule: usize| {
            let text = texts[rule].as_ref()?;
            (0..count).find(|&other| texts[other].is_none() && matches(&alone[other], text))
        };
        let holders: Vec<Option<usize>> = (0..count).map(holder).collect();
        let free: Vec<usize> = (0..count).filter(|&rule| holders[rule].is_none()).collect();
        let levels = loop {
            let mut before: Vec<BTreeSet<(usize, bool)>> = vec![BTreeSet::new(); count];
            for &first in &free {
                for &second in free.iter().filter(|&&second| second != first) {
                    if must_precede(&alone, first, second, guards[second].is_some()) {
                        // Of two texts with the same priority, Lark tries the longer one first.
                        before[second].insert((first, texts[first].is_none() || texts[second].is_none()));
                    }
                }
            }
            match levels(&before) {
                Ok(levels) => break levels,
                // Of two rules, one is then only to match where no longer match is possible.
                Err((a, b)) => {
                    let precedes = |first: usize, second: usize| before[second].iter().any(|&(rule, _)| rule == first);
                    let mut found = Vec::new();
                    for (place, &first) in free.iter().enumerate() {
                        for &second in free[place + 1..].iter().filter(|&&second| precedes(first, second)) {
                            if precedes(second, first) {
                                let mut open = [first, second].into_iter().filter(|&rule| guards[rule].is_none());
                                found.extend(open.find_map(|rule| Some((rule, guard(scanner, &alone[rule])?))));
                            }
                        }
                    }
                    if found.is_empty() {
                        return Err(ExportError::Order(shown(a), shown(b)));
                    }
                    found.into_iter().for_each(|(rule, found)| guards[rule] = Some(found));
                }
            }
        };
        let mut names = Names::numbered("_");
        let mut text = String::new();
        let mut given = Vec::new();
        for rule in 0..count {
            let level = levels[holders[rule].unwrap_or(rule)];
            // A text with no need for a priority is written where it is used.
            if let (Some(own), 0, None, Some(_)) = (&texts[rule], level, &guards[rule], scanner.rules[rule].token) {
                given.push(regex::lark_string(own));
                continue;
            }
            let name = names.take(&identifier(&shown(rule), Case::Upper));
            let priority = if level == 0 { String::new() } else { format!(".{level}") };
            let own = || regex::write(&scanner.rules[rule].pattern, Dialect::Python);
            let pattern = match (&guards[rule], &texts[rule]) {
                (Some(guard), _) => format!("/(?:{})(?!{})/", own(), regex::write(guard, Dialect::Python)),
                (None, Some(text)) => regex::lark_string(text),
                (None, None) => format!("/{}/", own()),
            };
            let _ = writeln!(text, "{name}{priority}: {pattern}");
            given.push(name);
        }
        for rule in (0..count).filter(|&rule| scanner.rules[rule].skip) {
            let _ = writeln!(text, "%ignore {}", given[rule]);
        }
        Ok(Self { names: given, text })
    }
}

fn matches(dfa: &Dfa, text: &str) -> bool {
    let end = text.bytes().fold(dfa.start(), |state, byte| if state == DEAD { DEAD } else { dfa.step(state, byte) });
    dfa.matched(end).is_some()
}

/// Returns what makes a match of a rule longer, if that is the same after all of its matches. Then the rule can be guarded
/// by a negative lookahead, so that it matches only where no rule matches more.
fn guard(scanner: &Scanner, alone: &Dfa) -> Option<Hir> {
    let mut tops = BTreeSet::new();
    pairs((alone, alone.start()), (&scanner.dfa, scanner.dfa.start()), |own, all| {
        if own != DEAD && alone.matched(own).is_some() {
            tops.insert(all);
        }
        own != DEAD
    });
    let mut found: Option<(Vec<Ranges>, Vec<bool>)> = None;
    for top in tops {
        let chars = Chars::from_state(&scanner.dfa, top);
        // The first longer match is enough, so nothing follows it. The start may be one of these matches as well, and
        // is therefore a state of its own.
        let ends: Vec<bool> = [false].into_iter().chain(chars.states.iter().map(|own| own.rule.is_some())).collect();
        let moved = |own: &CharState| own.next.iter().map(|&(from, to, target)| (from, to, target + 1)).collect();
        let rest = chars.states.iter().map(|own| if own.rule.is_some() { Ranges::new() } else { moved(own) });
        let next: Vec<Ranges> = [moved(&chars.states[0])].into_iter().chain(rest).collect();
        let (next, kept) = minimized(&next, &ends);
        let own = (next, kept.iter().map(|&state| ends[state]).collect());
        if *found.get_or_insert_with(|| own.clone()) != own {
            return None;
        }
    }
    let (next, ends) = found?;
    expression(&next, &ends)
}

/// Returns whether the first rule must be tried before the second: some text of it, which the second does not have or
/// loses, begins with a text of the second. If the second one is guarded, it never matches the beginning of a longer text.
fn must_precede(alone: &[Dfa], first: usize, second: usize, guarded: bool) -> bool {
    let (one, other) = (&alone[first], &alone[second]);
    // The flag tells whether the second rule matched before.
    let mut seen = BTreeSet::from([(one.start(), other.start(), false)]);
    let mut open = vec![(one.start(), other.start(), false)];
    while let Some((a, b, was)) = open.pop() {
        for byte in 0..=255 {
            let (next_a, next_b) = (one.step(a, byte), if b == DEAD { DEAD } else { other.step(b, byte) });
            if next_a == DEAD {
                continue;
            }
            let (in_a, in_b) = (one.matched(next_a).is_some(), other.matched(next_b).is_some());
            if in_a && ((!in_b && was && !guarded) || (in_b && first < second)) {
                return true;
            }
            let next = (next_a, next_b, was || in_b);
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    false
}

/// Returns a level for each rule, given the rules that must precede it and whether their level must be higher, or may be
/// the same. Otherwise, returns two rules that must precede each other.
fn levels(before: &[BTreeSet<(usize, bool)>]) -> Result<Vec<usize>, (usize, usize)> {
    let mut levels = vec![0; before.len()];
    for round in 0..=before.len() {
        let mut changed = None;
        for (rule, earlier) in before.iter().enumerate() {
            for &(first, higher) in earlier {
                let least = levels[rule] + usize::from(higher);
                if levels[first] < least {
                    levels[first] = least;
                    changed = Some((first, rule));
                }
            }
        }
        match changed {
            None => return Ok(levels),
            Some(pair) if round == before.len() => return Err(pair),
            Some(_) => {}
        }
    }
    Ok(levels)
}

/// Returns whether the first alternative that matches is always the longest, as in a lexer.
fn first_is_longest(pattern: &Hir) -> Result<bool, ExportError> {
    let nfa = thompson::Compiler::new().build_from_hir(pattern).map_err(|_| ExportError::TooLarge)?;
    let build = |kind| {
        let limit = Some(1 << 24);
        let config = dense::Config::new()
            .start_kind(StartKind::Anchored)
            .match_kind(kind)
            .dfa_size_limit(limit)
            .determinize_size_limit(limit);
        dense::Builder::new().configure(config).build_from_nfa(&nfa).map_err(|_| ExportError::TooLarge)
    };
    let (first, all) = (build(MatchKind::LeftmostFirst)?, build(MatchKind::All)?);
    let begin = |dfa: &dense::DFA<Vec<u32>>| {
        dfa.start_state(&start::Config::new().anchored(Anchored::Yes)).map_err(|_| ExportError::TooLarge)
    };
    let begins = (begin(&first)?, begin(&all)?);
    let mut seen = BTreeSet::from([(begins.0, begins.1, true)]);
    let mut open = vec![(begins.0, begins.1, true)];
    while let Some((a, b, same)) = open.pop() {
        // A match is seen one byte late.
        let ends = [first.next_eoi_state(a), all.next_eoi_state(b)];
        let same_here = match (first.is_match_state(ends[0]), all.is_match_state(ends[1])) {
            (true, true) => true,
            (false, false) => same,
            _ => false,
        };
        if !same_here {
            return Ok(false);
        }
        for byte in 0..=255 {
            let (a, b) = (first.next_state(a, byte), all.next_state(b, byte));
            if !all.is_dead_state(b) && seen.insert((a, b, same_here)) {
                open.push((a, b, same_here));
            }
        }
    }
    Ok(true)
}
