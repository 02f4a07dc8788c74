//! Grammars whose conflicts precedences resolve, rewritten so that they have none.
//!
//! The result looks as people write it: `exp: exp '+' term | term`, `term: term '*' factor | factor`, and so on. The
//! [classes](super::variants) of a nonterminal's variants are its levels. Where one class has all alternatives of
//! another, it refers to it instead. Alternatives that several classes have, but no class alone, get a nonterminal of
//! their own.
//!
//! The result is checked twice, by means that know nothing of how it was made: its derivations are the runs of the
//! parser ([`same_actions`]), so that it has the same words, and it has no conflict. In between, levels that are nothing
//! but another nonterminal are left out, which does not change the words.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use echostack::SymbolId;
use echostack::automaton::Part;

use super::level_names;
use super::leveled::{Level, Levels, plain};
use super::productions::Productions;
use super::same_actions::{self, Difference};
use super::variants::{Alternative, Class, Refused, Variant, Variants};
use crate::lr::build::conflicts;
use crate::lr::conflict::production;
use crate::lr::table::LrTable;

/// Why a grammar cannot be rewritten.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum LevelsError {
    /// There are too many levels, states or steps.
    #[error("the rules without precedences would be too many")]
    TooLarge,
    /// No word is left.
    #[error("the grammar has no words, because its precedences forbid all of them")]
    NoWords,
    /// What a nonterminal may be depends on what another nonterminal begins with.
    #[error(
        "in the rule {production}, what {symbol} can be depends on the token that the rest of the rule begins with"
    )]
    Depends {
        /// The nonterminal with the rule.
        nonterminal: String,
        /// The rule.
        production: String,
        /// The nonterminal in the rule.
        symbol: String,
    },
    /// The rewritten grammar has a conflict.
    #[error("without precedences, the rules would have a conflict")]
    Conflict,
    /// A production was not shown to be used in the same way.
    #[error("the rule {production} was not shown to be used in the same way without precedences")]
    NotShown {
        /// The nonterminal with the rule.
        nonterminal: String,
        /// The rule.
        production: String,
    },
}

/// Rewrites a grammar, given its table, so that no conflict has to be resolved.
pub(super) fn levels(table: &LrTable) -> Result<Productions, LevelsError> {
    let levels = checked(table)?;
    let productions = without_detours(&levels, table);
    if conflicts(table.terminals, productions.rules.len(), plain(&productions, table.terminals)).lr1 {
        return Err(LevelsError::Conflict);
    }
    Ok(productions)
}

/// Rewrites a grammar so that its derivations are the runs of its parser, and checks that they are.
fn checked(table: &LrTable) -> Result<Levels, LevelsError> {
    let levels = unchecked(table)?;
    same_actions::check(table, &levels).map_err(|difference| match difference {
        Difference::TooLarge => LevelsError::TooLarge,
        Difference::Production(number) => LevelsError::NotShown {
            nonterminal: table.names[table.productions[number].left].clone(),
            production: production(table, number),
        },
        Difference::Shape => LevelsError::NotShown {
            nonterminal: table.names[table.start].clone(),
            production: table.names[table.start].clone(),
        },
    })?;
    Ok(levels)
}

/// Rewrites a grammar, without a check.
fn unchecked(table: &LrTable) -> Result<Levels, LevelsError> {
    let start = Variant { state: 0, symbol: table.start, lookahead: table.terminals };
    let variants = Variants::new(table, &[start]).map_err(|_| LevelsError::TooLarge)?;
    let classes = variants.classes().map_err(|refused| match refused {
        Refused::TooLarge => LevelsError::TooLarge,
        Refused::Depends { production: number, position } => LevelsError::Depends {
            nonterminal: table.names[table.productions[number].left].clone(),
            production: production(table, number),
            symbol: table.names[table.productions[number].right[position]].clone(),
        },
    })?;
    if classes[0].alternatives.is_empty() {
        return Err(LevelsError::NoWords);
    }
    Ok(arranged(table, &classes))
}

/// Leaves out inner levels that are nothing but another nonterminal, which takes their place.
fn without_detours(levels: &Levels, table: &LrTable) -> Productions {
    let rules = &levels.productions.rules;
    let count = rules.len();
    // Nonterminals that have the name of one in the source stay. Levels never refer to each other in a circle.
    let other = |number: usize| match rules[number][..] {
        _ if number == 0 || levels.productions.names[number] == table.names[levels.symbols[number]] => None,
        [ref only] => match only[..] {
            [Part::Nonterminal(other)] if other != number => Some(other),
            _ => None,
        },
        _ => None,
    };
    let meant = |number: usize| {
        let mut chain = std::iter::successors(Some(number), |&number| other(number));
        chain.by_ref().take(count).last().unwrap_or(number)
    };
    let kept: Vec<usize> = (0..count).filter(|&number| other(number).is_none()).collect();
    let place = |number: usize| kept.binary_search(&meant(number)).unwrap_or(0);
    let part = |part: &Part| match *part {
        Part::Nonterminal(number) => Part::Nonterminal(place(number)),
        token @ Part::Token(_) => token,
    };
    let rule = |number: &usize| rules[*number].iter().map(|parts| parts.iter().map(part).collect()).collect();
    Productions {
        names: kept.iter().map(|&number| levels.productions.names[number].clone()).collect(),
        rules: kept.iter().map(rule).collect(),
    }
}

/// Arranges classes as levels that refer to each other.
fn arranged(table: &LrTable, classes: &[Class]) -> Levels {
    let mut levels: Vec<Level> = classes.iter().map(|class| level(class.symbol, class.alternatives.clone())).collect();
    let mut of_symbol: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (number, level) in levels.iter().enumerate() {
        of_symbol.entry(level.symbol).or_default().push(number);
    }
    for (&symbol, numbers) in &of_symbol {
        refer(&mut levels, numbers);
        share(&mut levels, symbol, numbers);
    }
    let order = order(table, &levels);
    let places: HashMap<usize, usize> = order.iter().enumerate().map(|(place, &level)| (level, place)).collect();
    let ordered: Vec<Level> = order
        .iter()
        .map(|&number| {
            let mut level = levels[number].clone();
            level.inner.iter_mut().for_each(|inner| *inner = places[inner]);
            level
        })
        .collect();
    let names = level_names::names(table, &ordered);
    let (mut rules, mut origins) = (Vec::new(), Vec::new());
    for level in &ordered {
        let own = level.own.iter().map(|alternative| parts(table, alternative, &places));
        let inner = level.inner.iter().map(|&inner| vec![Part::Nonterminal(inner)]);
        rules.push(own.chain(inner).collect());
        let origin = level.own.iter().map(|alternative| Some(alternative.production));
        origins.push(origin.chain(level.inner.iter().map(|_| None)).collect());
    }
    let symbols = ordered.iter().map(|level| level.symbol).collect();
    Levels { productions: Productions { names, rules }, symbols, origins }
}

fn level(symbol: usize, alternatives: BTreeSet<Alternative>) -> Level {
    Level { symbol, own: alternatives.clone(), all: alternatives, inner: Vec::new() }
}

/// Lets the levels of a nonterminal refer to those that have a part of their alternatives, the largest first. Each
/// alternative is left in one place only, because the grammar would be ambiguous otherwise.
fn refer(levels: &mut [Level], numbers: &[usize]) {
    let mut by_size = numbers.to_vec();
    by_size.sort_by_key(|&number| (std::cmp::Reverse(levels[number].all.len()), number));
    for &outer in numbers {
        for &inner in &by_size {
            // No level refers to one that is not smaller, so there are no cycles.
            if levels[inner].all.len() < levels[outer].all.len() && levels[inner].all.is_subset(&levels[outer].own) {
                let rest = levels[outer].own.difference(&levels[inner].all).cloned().collect();
                levels[outer].own = rest;
                levels[outer].inner.push(inner);
            }
        }
    }
}

/// Moves alternatives that several levels of a nonterminal have to a level of their own.
fn share(levels: &mut Vec<Level>, symbol: usize, numbers: &[usize]) {
    let mut owners: BTreeMap<&Alternative, Vec<usize>> = BTreeMap::new();
    for &number in numbers {
        for alternative in &levels[number].own {
            owners.entry(alternative).or_default().push(number);
        }
    }
    let mut shared: BTreeMap<Vec<usize>, BTreeSet<Alternative>> = BTreeMap::new();
    for (alternative, owners) in owners {
        shared.entry(owners).or_default().insert(alternative.clone());
    }
    for (owners, alternatives) in shared {
        if owners.len() < 2 || alternatives.len() < 2 {
            continue;
        }
        let fresh = levels.len();
        for owner in owners {
            levels[owner].own.retain(|alternative| !alternatives.contains(alternative));
            levels[owner].inner.push(fresh);
        }
        levels.push(level(symbol, alternatives));
    }
}

/// Returns the order of levels: nonterminals as in the source, the start first, and outer levels before inner ones.
fn order(table: &LrTable, levels: &[Level]) -> Vec<usize> {
    let mut first = vec![usize::MAX; table.names.len()];
    for (number, production) in table.productions.iter().enumerate().rev() {
        first[production.left] = number;
    }
    let mut order: Vec<usize> = (0..levels.len()).collect();
    order.sort_by_key(|&number| {
        let level = &levels[number];
        let size = std::cmp::Reverse(level.all.len());
        (level.symbol != table.start, first[level.symbol], number != 0, size, number)
    });
    order
}

/// Returns the right side of an alternative.
fn parts(table: &LrTable, alternative: &Alternative, places: &HashMap<usize, usize>) -> Vec<Part> {
    let mut classes = alternative.classes.iter();
    let right = table.productions[alternative.production].right.iter();
    let part = |&symbol: &usize| {
        if symbol < table.terminals {
            return Some(Part::Token(SymbolId::new(symbol)));
        }
        classes.next().map(|class| Part::Nonterminal(places[class]))
    };
    right.filter_map(part).collect()
}

#[cfg(test)]
mod tests;
