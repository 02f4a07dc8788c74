//! Checks that a grammar has the words that a parser accepts, because its derivations are the parser's runs.
//!
//! # What is checked
//!
//! Each nonterminal A' of the grammar is a level of a nonterminal A of the parser's table. Each production of A' comes
//! from a production p of A, whose right side it has, with levels in place of nonterminals; or it is another level of A
//! alone. The check goes through *triples* (s, A', r) of a state, a level and a lookahead. Some of them are *whole*: there,
//! A' must have every word that the parser can read. The first one has the start state, the first level, which must be
//! one of the start symbol, and the end of the word, and it is whole. For each triple (s, A', r):
//!
//! 1. If A' has another level B' alone, then (s, B', r) is a triple. It need not be whole.
//! 2. For a production of A' that comes from p: from s, the states of the table lead along the right side of p, each
//!    terminal is shifted, and the last state reduces by p on r. For each level X' in it, and the state s' before it,
//!    (s', X', r') is a whole triple for each r' that can begin what comes after X' in the production, and for r' = r if
//!    that can be empty.
//! 3. If the triple is whole, for every other production p of A, which A' does not have (not by way of other levels
//!    either): the states do not lead along p in the same way, or the last state does not reduce by p on r, or a
//!    nonterminal in p has no words there.
//!
//! # Why this suffices
//!
//! *The parser accepts the words of the grammar.* Take a triple (s, A', r), and a derivation of a word w from A'. Then the
//! parser, in state s before w and r, gets to the state after s and A, still before r. By induction over the derivation:
//! along a production that comes from p, terminals are shifted, and levels are read by induction, since what really
//! follows each of them is among the lookaheads of its triples. Then the parser reduces by p. For the first triple, it
//! gets to the state in which it accepts.
//!
//! *The grammar has the words that the parser accepts.* A run of the parser that reads w and reduces to A, from state s,
//! with r as its lookahead in the end, is a tree: its last reduction is by a production p of A, and before that, it has a
//! run for each nonterminal in p. Take a whole triple (s, A', r). Then A' derives w, by induction over the tree. The states lead
//! along p and reduce by it on r, and all nonterminals have words there, so by 3, A' has p, maybe by way of other levels,
//! which are in triples with s and r by 1. In that production, take the levels from right to left. What follows the last
//! one is r, so it is in a whole triple with its state and r, and derives its part of w. So this is one of the words of what
//! comes after the level before it, whose lookahead is therefore one of those of 2, and so on to the first one.
//!
//! Nothing is assumed about the states: an entry of the table that no run gets to is never asked for. States that were
//! merged, and so reduce before they refuse a token, do no harm: only runs that go on are compared.

use std::collections::{BTreeSet, HashSet};

use echostack::automaton::Part;

use super::leveled::{Levels, plain};
use super::variants::{Variant, Variants};
use crate::lr::first::Productions;
use crate::lr::table::{Action, LrTable};
use crate::lr::work::{TooLarge, Work};
use crate::rules::Rules;
use crate::rules::bits::contains;

/// Why a grammar was not shown to have the words of a parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Difference {
    /// The check would take too long.
    TooLarge,
    /// The grammar is not made of levels of the parser's nonterminals.
    Shape,
    /// A production of the table is possible in a context for only one of both.
    Production(usize),
}

impl From<TooLarge> for Difference {
    fn from(_: TooLarge) -> Self {
        Self::TooLarge
    }
}

/// A state, a level and a lookahead, and whether the level must have all words that the parser can read there.
type Triple = (usize, usize, usize, bool);

/// Checks that the levels have the words that the parser with a table accepts.
pub(super) fn check(table: &LrTable, levels: &Levels) -> Result<(), Difference> {
    let possible = has_shape(table, levels)?;
    let rules = Rules::plain(
        table.terminals,
        levels.symbols.len(),
        table.terminals,
        plain(&levels.productions, table.terminals),
    );
    let mut work = Work::default();
    let productions = Productions::new(&rules, &mut work)?;
    let accepts = table.next(0, table.start).map(|state| table.action(state, table.terminals));
    if accepts != Some(Action::Accept) || levels.symbols.first() != Some(&table.start) {
        return Err(Difference::Shape);
    }
    let first: Triple = (0, 0, table.terminals, true);
    let mut known = HashSet::from([first]);
    let mut open = vec![first];
    // Productions that a level does not have although states lead along them, with their contexts.
    let mut missing: Vec<(usize, usize, usize)> = Vec::new();
    while let Some((state, level, lookahead, whole)) = open.pop() {
        let mut add = |triple: Triple, work: &mut Work| {
            if known.insert(triple) {
                work.keep(1, 8)?;
                open.push(triple);
            }
            Ok::<(), TooLarge>(())
        };
        // In the rules, the productions of a level are in its order.
        for (&number, origin) in productions.of[table.terminals + level].iter().zip(&levels.origins[level]) {
            let right = productions.right(number);
            work.read(right.len() + 1, table.terminals + 1)?;
            let Some(origin) = *origin else {
                add((state, right[0] - table.terminals, lookahead, false), &mut work)?;
                continue;
            };
            let Some(path) = run(table, state, origin, lookahead) else {
                return Err(Difference::Production(origin));
            };
            for (at, &symbol) in right.iter().enumerate().filter(|(_, symbol)| **symbol >= table.terminals) {
                let before = if at == 0 { state } else { path[at - 1] };
                let rest = productions.rest((number, at + 1)).ok_or(Difference::Shape)?;
                for other in (0..=table.terminals).filter(|&other| contains(&rest.bits, other)) {
                    add((before, symbol - table.terminals, other, true), &mut work)?;
                }
                if rest.nullable {
                    add((before, symbol - table.terminals, lookahead, true), &mut work)?;
                }
            }
        }
        if !whole {
            continue;
        }
        for (number, _) in table.productions_of(levels.symbols[level]) {
            work.read(1, 8)?;
            if !possible[level].contains(&number) && run(table, state, number, lookahead).is_some() {
                missing.push((state, number, lookahead));
            }
        }
    }
    has_no_words(table, &missing)
}

/// Returns the states along a production from a state, if the parser reduces by it there on a lookahead.
fn run(table: &LrTable, state: usize, number: usize, lookahead: usize) -> Option<Vec<usize>> {
    let production = &table.productions[number];
    let path = table.path(state, &production.right)?;
    let last = path.last().copied().unwrap_or(state);
    let reduces = table.action(last, lookahead) == Action::Reduce(number);
    (reduces && table.next(state, production.left).is_some()).then_some(path)
}

/// Checks that every production comes from one of the table, or is another level of the same nonterminal alone. Returns
/// the productions that each level has by itself or by way of others.
fn has_shape(table: &LrTable, levels: &Levels) -> Result<Vec<BTreeSet<usize>>, Difference> {
    let count = levels.symbols.len();
    let symbol = |part: &Part| match *part {
        Part::Token(token) => Some(token.index()).filter(|&token| token < table.terminals),
        Part::Nonterminal(number) => levels.symbols.get(number).copied(),
    };
    let mut possible = vec![BTreeSet::new(); count];
    let mut inner = vec![Vec::new(); count];
    let rules = &levels.productions.rules;
    if rules.len() != count || levels.origins.len() != count {
        return Err(Difference::Shape);
    }
    for (level, (own, origins)) in rules.iter().zip(&levels.origins).enumerate() {
        if own.len() != origins.len() {
            return Err(Difference::Shape);
        }
        for (parts, origin) in own.iter().zip(origins) {
            let symbols: Option<Vec<usize>> = parts.iter().map(symbol).collect();
            let symbols = symbols.ok_or(Difference::Shape)?;
            match (origin, &parts[..]) {
                (Some(number), _) => {
                    let production = table.productions.get(*number).ok_or(Difference::Shape)?;
                    if production.left != levels.symbols[level] || production.right != symbols {
                        return Err(Difference::Shape);
                    }
                    possible[level].insert(*number);
                }
                (None, &[Part::Nonterminal(other)]) if levels.symbols[other] == levels.symbols[level] => {
                    inner[level].push(other);
                }
                _ => return Err(Difference::Shape),
            }
        }
    }
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for level in 0..count {
            for &other in &inner[level] {
                let more: Vec<usize> = possible[other].difference(&possible[level]).copied().collect();
                changed |= !more.is_empty();
                possible[level].extend(more);
            }
        }
    }
    Ok(possible)
}

/// Checks that productions have no words in their contexts, each a state and a lookahead.
fn has_no_words(table: &LrTable, missing: &[(usize, usize, usize)]) -> Result<(), Difference> {
    let of = |&(state, number, lookahead): &(usize, usize, usize)| Variant {
        state,
        symbol: table.productions[number].left,
        lookahead,
    };
    let from: Vec<Variant> = missing.iter().map(of).collect();
    let mut variants = Variants::new(table, &from)?;
    let with_words = variants.have_words()?;
    let found = missing.iter().find(|&missing| variants.has_words(of(missing), missing.1, &with_words));
    found.map_or(Ok(()), |&(_, number, _)| Err(Difference::Production(number)))
}
