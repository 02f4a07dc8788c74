//! Builds the LR(1) table of a grammar: its states, with conflicts resolved as in Yacc.

use std::collections::{BTreeSet, HashMap, VecDeque};

use super::conflict::{self, Conflict, Count};
use super::markers;
use super::states::States;
use super::table::{Action, LrTable};
use super::work::TooLarge;
use crate::rules::bits::{Bits, contains, insert};
use crate::rules::precedence::{Choices, Remaining, remaining};
use crate::rules::{Merging, Production, Rules};
use crate::text::error::{GrammarError, Warning};
use crate::text::limits::GrammarLimits;
use crate::text::source::Source;

/// Builds the table of a grammar. Returns it with warnings about its conflicts, if they are resolved.
pub(crate) fn build(
    source: Source<'_>,
    rules: &Rules,
    limits: &GrammarLimits,
) -> Result<(LrTable, Vec<Warning>), GrammarError> {
    GrammarError::within("symbols", rules.names.len(), limits.symbols)?;
    GrammarError::within("productions", rules.productions.len(), limits.productions)?;
    let width = rules.names.len().max(1);
    let most = limits.states.min(limits.entries / width as u64) as usize;
    let refused = |reason| match reason {
        TooLarge::States if most as u64 == limits.states => {
            GrammarError::Limit { what: "states", given: most as u64 + 1, most: limits.states }
        }
        TooLarge::States => {
            let what = "entries in its LR(1) table, one for each symbol in each state,";
            GrammarError::Limit { what, given: (most as u64 + 1) * width as u64, most: limits.entries }
        }
        TooLarge::Work => {
            GrammarError::Table("its states would take too much memory or time; simplify its rules".into())
        }
    };
    let states = states(rules, rules.merging, most).map_err(refused)?;
    let (table, conflicts) = fill(rules, &states).map_err(refused)?;
    let expected = &rules.expected;
    let [shift_reduce, reduce_reduce] =
        [expected.shift_reduce, expected.reduce_reduce].map(|expected| expected.map_or(0, |(count, _)| count));
    // The conflicts of an LALR(1) parser are counted, as bison does by default. It has conflicts if any parser has.
    let count = count(rules, &states);
    let warning = |(at, message): (usize, String)| source.warning(at, &message);
    if count.is_none() && shift_reduce + reduce_reduce == 0 && !table.has_resolutions {
        return Ok((table, inner_action(rules, most).into_iter().map(warning).collect()));
    }
    let declared = count.shift_reduce <= shift_reduce && count.reduce_reduce <= reduce_reduce;
    let accepted = declared && shift_reduce + reduce_reduce > 0 && !expected.glr;
    if !conflicts.is_empty() && !accepted {
        return Err(GrammarError::Conflict(conflict::explain(&table, &conflicts, count, expected)));
    }
    if let Some(production) = table.endless() {
        return Err(GrammarError::Endless(table.names[table.productions[production].left].clone()));
    }
    let fewer = conflict::fewer(count, expected);
    let unused = conflict::unused(&table).filter(|_| table.has_resolutions);
    let unused = unused.map(|(symbol, message)| (rules.places[symbol], message));
    // If the other parser is too large to compare with, nothing is known about it.
    let merged = merged(rules, &states, &table, most).unwrap_or(None);
    let warnings = fewer.into_iter().chain(unused).chain(merged).chain(inner_action(rules, most));
    Ok((table, warnings.map(warning).collect()))
}

/// Computes the states of a parser.
fn states(rules: &Rules, merging: Merging, most: usize) -> Result<States<'_>, TooLarge> {
    States::new(rules, most, |choices| contested(rules, choices).filter(|_| merging != Merging::Lalr))
}

/// Whether a grammar has conflicts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conflicts {
    /// In its LR(1) table.
    pub(crate) lr1: bool,
    /// In its LALR(1) table, or in its LR(1) table.
    pub(crate) lalr: bool,
}

/// Finds out whether a grammar without precedences has conflicts. Terminals have the first numbers, then come the
/// nonterminals, the first of which is the start. What cannot be examined counts as having conflicts.
pub(crate) fn conflicts(terminals: usize, nonterminals: usize, productions: Vec<Production>) -> Conflicts {
    let rules = Rules::plain(terminals, nonterminals, terminals, productions);
    let unknown = Conflicts { lr1: true, lalr: true };
    let most = GrammarLimits::default().states as usize;
    let Ok(states) = states(&rules, rules.merging, most) else { return unknown };
    let conflict = |state| {
        let Ok(choices) = states.choices(state) else { return true };
        (0..=terminals).any(|lookahead| {
            let Remaining { shift, reductions, .. } = remaining(&rules, &choices, lookahead);
            reductions.len() + usize::from(shift) > 1
        })
    };
    let lr1 = (0..states.len()).any(conflict);
    Conflicts { lr1, lalr: lr1 || !count(&rules, &states).is_none() }
}

/// Returns the lookaheads on which there is a conflict that a shift does not win, if there are any.
fn contested(rules: &Rules, choices: &Choices) -> Option<Bits> {
    let mut once = vec![0; (rules.terminals + 1).div_ceil(64)];
    let mut twice: Bits = once.clone().into_boxed_slice();
    choices.shifts.iter().for_each(|&token| insert(&mut once, token));
    for lookaheads in choices.reductions.values() {
        for ((once, twice), bits) in once.iter_mut().zip(&mut twice).zip(lookaheads) {
            *twice |= *once & bits;
            *once |= bits;
        }
    }
    for lookahead in 0..=rules.terminals {
        if contains(&twice, lookahead) && remaining(rules, choices, lookahead).shift {
            twice[lookahead / 64] &= !(1 << (lookahead % 64));
        }
    }
    twice.iter().any(|&word| word != 0).then_some(twice)
}

/// Counts the conflicts as bison does for an LALR(1) parser, without the states that cannot be reached once precedences
/// are applied.
fn count(rules: &Rules, states: &States<'_>) -> Count {
    let mut count = Count::default();
    let mut reached = vec![false; states.cores()];
    let mut queue = vec![0];
    while let Some(core) = queue.pop() {
        if std::mem::replace(&mut reached[core], true) {
            continue;
        }
        let choices = states.lalr_choices(core);
        let mut shifts = BTreeSet::new();
        for lookahead in 0..=rules.terminals {
            let Remaining { shift, reductions, .. } = remaining(rules, &choices, lookahead);
            count.shift_reduce += usize::from(shift && !reductions.is_empty());
            count.reduce_reduce += reductions.len().saturating_sub(1);
            shifts.extend(shift.then_some(lookahead));
        }
        let kept =
            states.core_edges(core).iter().filter(|(symbol, _)| *symbol >= rules.terminals || shifts.contains(symbol));
        queue.extend(kept.map(|&(_, next)| next));
    }
    count
}

/// Makes the table of a parser's states. They are numbered in breadth-first order from the start state, following the
/// symbols in order. A conflict is resolved by a shift, or else by the first production. Returns the conflicts, too.
fn fill(rules: &Rules, states: &States<'_>) -> Result<(LrTable, Vec<Conflict>), TooLarge> {
    let mut table = LrTable {
        start: rules.start,
        terminals: rules.terminals,
        productions: rules.productions.clone(),
        actions: Vec::new(),
        next: Vec::new(),
        names: rules.names.clone(),
        has_resolutions: false,
        forbids: Vec::new(),
    };
    let acceptance = rules.productions.len();
    let mut conflicts = Vec::new();
    let mut known: HashMap<usize, usize> = HashMap::from([(0, 0)]);
    let mut queue = VecDeque::from([0]);
    while let Some(state) = queue.pop_front() {
        let mut number = |next: usize| {
            let fresh = known.len();
            *known.entry(next).or_insert_with(|| {
                queue.push_back(next);
                fresh
            })
        };
        let mut ways: Vec<Option<usize>> = vec![None; rules.names.len()];
        states.edges(state).for_each(|(symbol, to)| ways[symbol] = Some(to));
        let choices = states.choices(state)?;
        let mut next = vec![None; rules.names.len()];
        let mut forbids = false;
        let mut actions = Vec::with_capacity(rules.terminals + 1);
        for lookahead in 0..=rules.terminals {
            let remaining = remaining(rules, &choices, lookahead);
            let conflict = remaining.reductions.len() + usize::from(remaining.shift) > 1;
            table.has_resolutions |= remaining.reduced || conflict;
            forbids |= remaining.forbidden;
            if conflict {
                let shifted = remaining.shift.then(|| states.shifted(state, lookahead)).flatten();
                let reductions = remaining.reductions.clone();
                conflicts.push(Conflict { state: table.actions.len(), lookahead, reductions, shifted });
            }
            if remaining.shift {
                next[lookahead] = ways[lookahead].map(&mut number);
            }
            actions.push(match (next[lookahead], remaining.reduction()) {
                (Some(to), _) => Action::Shift(to),
                (None, Some(production)) if production == acceptance => Action::Accept,
                (None, Some(production)) => Action::Reduce(production),
                (None, None) => Action::Error,
            });
        }
        for symbol in rules.terminals..rules.names.len() {
            next[symbol] = ways[symbol].map(&mut number);
        }
        table.actions.push(actions);
        table.next.push(next);
        table.forbids.push(forbids);
    }
    Ok((table, conflicts))
}

/// Finds out whether an LALR(1) parser resolves a conflict differently from an LR(1) parser, because it merges states.
/// Returns a message, and where in the file it belongs, unless the file says that an LR(1) parser is meant.
fn merged(
    rules: &Rules,
    states: &States<'_>,
    table: &LrTable,
    most: usize,
) -> Result<Option<(usize, String)>, TooLarge> {
    let other = match rules.merging {
        Merging::Canonical => return Ok(None),
        Merging::Unstated if states.len() == states.cores() => return Ok(None),
        Merging::Unstated => Merging::Lalr,
        Merging::Lalr => Merging::Canonical,
    };
    let others = self::states(rules, other, most)?;
    let split = if other == Merging::Lalr { states } else { &others };
    let Some(place) = resolved_differently(rules, split)? else { return Ok(None) };
    let (others, _) = fill(rules, &others)?;
    let word = if others.endless().is_some() { None } else { table.difference(&others) };
    let word = word.map(|word| {
        let names: Vec<&str> = word.iter().map(|&token| rules.names[token].as_str()).collect();
        let verb = if others.accepts(&word) { "accepts" } else { "rejects" };
        (verb, if names.is_empty() { "the empty word".to_string() } else { format!("{:?}", names.join(" ")) })
    });
    let shown = |who: &str| word.as_ref().map_or_else(String::new, |(verb, word)| format!("; {who} {verb} {word}"));
    let message = match other {
        Merging::Lalr => format!(
            "an LALR(1) parser, bison's default, merges states and so resolves a conflict in another way than the \
             LR(1) parser that this grammar stands for{}. Write %define lr.type lalr or ielr to say which is meant",
            shown("it")
        ),
        _ => format!(
            "the LALR(1) parser that the grammar asks for merges states, and so resolves a conflict in another way \
             than an LR(1) parser{}. Write %define lr.type ielr for the latter",
            shown("an LR(1) parser")
        ),
    };
    Ok(Some((place, message)))
}

/// Returns where the first action inside of a production is that leads to a conflict in bison, and a message. If there are
/// too many states with the actions, nothing is known about them.
fn inner_action(rules: &Rules, most: usize) -> Option<(usize, String)> {
    // A GLR parser follows both sides of the conflict.
    if rules.actions.is_empty() || rules.expected.glr {
        return None;
    }
    let merging = if rules.merging == Merging::Canonical { Merging::Canonical } else { Merging::Lalr };
    let marked = markers::with_markers(rules);
    let states = states(&marked, merging, most).ok()?;
    let place = markers::conflict(&marked, &states).ok()??;
    let message = "in bison, this action inside of a production leads to a conflict, so that bison's parser may reject \
                   words that are accepted here, where actions are left out; move it to the end of a production";
    Some((place, message.into()))
}

/// Returns where the rules of a nonterminal are whose conflict an LALR(1) parser resolves in another way than an LR(1)
/// parser with these states. A reduction in place of an error does not count: the error is found later.
fn resolved_differently(rules: &Rules, states: &States<'_>) -> Result<Option<usize>, TooLarge> {
    for state in 0..states.len() {
        let (choices, merged) = (states.choices(state)?, states.lalr_choices(states.core(state)));
        for lookahead in 0..=rules.terminals {
            let [own, other] = [&choices, &merged].map(|choices| remaining(rules, choices, lookahead));
            let is_plain_error = own.reductions.is_empty() && !own.shift && !own.forbidden;
            let does = |remaining: &Remaining| (remaining.reduction(), remaining.shift, remaining.forbidden);
            if does(&own) != does(&other) && !is_plain_error {
                let reduction = own.reduction().or(other.reduction());
                let left = reduction.and_then(|number| rules.productions.get(number)).map_or(rules.start, |p| p.left);
                return Ok(Some(rules.places[left]));
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    fn rules(text: &str) -> Option<Rules> {
        Some(crate::yacc::reading::rules(Source { file: None, text }).ok()?.0)
    }

    /// Returns a grammar with about 2^n states: LR(0) states, or states that differ only in their lookaheads.
    fn exponential(n: usize, by_lookaheads: bool) -> String {
        if by_lookaheads {
            let mut text = "%%\nS: X0 'x' | Y0 'y';\n".to_string();
            for i in 0..n {
                let next = i + 1;
                _ = writeln!(text, "X{i}: 'a' X{next} N{i} | 'b' X{next};");
                _ = writeln!(text, "Y{i}: 'a' Y{next} | 'b' Y{next} N{i};");
                _ = writeln!(text, "N{i}: 't{i}' | ;");
            }
            return format!("{text}X{n}: 'c';\nY{n}: 'c';\n");
        }
        let mut text = "%%\nS: 'a' S | 'b' S | 'a' T1;\n".to_string();
        (1..n).for_each(|i| _ = writeln!(text, "T{i}: 'a' T{} | 'b' T{};", i + 1, i + 1));
        format!("{text}T{n}: ;\n")
    }

    #[test]
    fn short_grammars_with_exponentially_many_states_are_refused() {
        for by_lookaheads in [false, true] {
            let text = exponential(40, by_lookaheads);
            let rules = rules(&text).unwrap();
            let refused = build(Source { file: None, text: &text }, &rules, &GrammarLimits::default()).unwrap_err();
            assert_eq!(refused.to_string(), "the grammar has 16385 states or more; the limit is 16384");
        }
    }

    #[test]
    fn grammars_that_would_take_long_are_refused() {
        let chain = |n: usize| {
            let links = (0..n).map(|i| format!("A{i}: A{} | 't{i}';\n", i + 1));
            format!("%%\n{}A{n}: 'x';\n", links.collect::<String>())
        };
        let many = (0..8000).map(|i| format!("'t{i}'")).collect::<Vec<_>>().join(" | ");
        let long = format!("%%\nS: {many} | {};\nB: 'x' | ;\n", "B ".repeat(1_000_000));
        let nullable = format!("%%\nS: {};\nB: 'x' | ;\n", "B ".repeat(1_000_000));
        let refused = |text: &str, most| states(&rules(text).unwrap(), Merging::Unstated, most).unwrap_err();
        assert_eq!(refused(&chain(8000), 1000), TooLarge::States);
        assert_eq!(refused(&long, usize::MAX), TooLarge::Work);
        // Only the lookaheads of a few terminals are kept, but each B may be empty.
        assert_eq!(refused(&nullable, 100), TooLarge::States);
    }
}
