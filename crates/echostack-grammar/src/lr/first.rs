//! What can begin the rest of a production.

use super::work::{Item, TooLarge, Work};
use crate::rules::Rules;
use crate::rules::bits::{Bits, add, insert};

/// What can begin a sequence of symbols.
#[derive(Clone, Debug)]
pub(crate) struct First {
    pub(crate) bits: Bits,
    /// Whether the sequence derives the empty word.
    pub(crate) nullable: bool,
}

/// The productions of a grammar, by what is needed to compute states. The production after the last one is the start
/// symbol alone: where it is complete, a word is accepted.
#[derive(Debug)]
pub(crate) struct Productions<'a> {
    pub(crate) rules: &'a Rules,
    /// The productions of each symbol.
    pub(crate) of: Vec<Vec<usize>>,
    /// The number of words in a set of lookaheads.
    pub(crate) width: usize,
    /// What can begin the rest of each production after each position.
    rests: Vec<Vec<First>>,
}

impl<'a> Productions<'a> {
    pub(crate) fn new(rules: &'a Rules, work: &mut Work) -> Result<Self, TooLarge> {
        let mut of = vec![Vec::new(); rules.names.len()];
        for (number, production) in rules.productions.iter().enumerate() {
            of[production.left].push(number);
        }
        let width = (rules.terminals + 1).div_ceil(64);
        Ok(Self { rules, of, width, rests: rests(rules, width, work)? })
    }

    /// Returns the production that stands for acceptance.
    pub(crate) fn acceptance(&self) -> usize {
        self.rules.productions.len()
    }

    /// Returns the right side of a production, or the start symbol.
    pub(crate) fn right(&self, production: usize) -> &'a [usize] {
        let rules = self.rules;
        rules.productions.get(production).map_or(std::slice::from_ref(&rules.start), |production| &production.right)
    }

    /// Returns the symbol after the position of an item, unless the item is complete.
    pub(crate) fn next(&self, (production, at): Item) -> Option<usize> {
        self.right(production).get(at).copied()
    }

    /// Returns the symbol after the position of an item if it is a nonterminal.
    pub(crate) fn next_nonterminal(&self, item: Item) -> Option<usize> {
        self.next(item).filter(|&symbol| symbol >= self.rules.terminals)
    }

    /// Returns what can begin the rest of a production after a position; `None` if nothing is left of the production
    /// that stands for acceptance.
    pub(crate) fn rest(&self, (production, at): Item) -> Option<&First> {
        self.rests.get(production).map(|rests| &rests[at])
    }

    /// Returns the set without elements.
    pub(crate) fn none(&self) -> Bits {
        vec![0; self.width].into_boxed_slice()
    }
}

/// Returns what can begin the rest of each production, from each position on.
fn rests(rules: &Rules, width: usize, work: &mut Work) -> Result<Vec<Vec<First>>, TooLarge> {
    let positions: usize = rules.productions.iter().map(|production| production.right.len() + 1).sum();
    work.keep(positions + rules.names.len(), 8 + width)?;
    let firsts = firsts(rules, width, positions, work)?;
    let all = |right: &[usize]| {
        let mut rests = vec![First { bits: vec![0; width].into_boxed_slice(), nullable: true }];
        for &symbol in right.iter().rev() {
            let mut rest = firsts[symbol].clone();
            if rest.nullable {
                let after = &rests[rests.len() - 1];
                add(&mut rest.bits, &after.bits);
                rest.nullable = after.nullable;
            }
            rests.push(rest);
        }
        rests.reverse();
        rests
    };
    Ok(rules.productions.iter().map(|production| all(&production.right)).collect())
}

/// Returns what can begin each symbol: the least solution of the usual equations, by repeated passes. Every other pass
/// goes backward, so that long chains of productions take few passes in whichever order they are written.
fn firsts(rules: &Rules, width: usize, positions: usize, work: &mut Work) -> Result<Vec<First>, TooLarge> {
    let nothing = |nullable| First { bits: vec![0; width].into_boxed_slice(), nullable };
    let mut firsts = vec![nothing(false); rules.names.len()];
    for (terminal, first) in firsts[..rules.terminals].iter_mut().enumerate() {
        insert(&mut first.bits, terminal);
    }
    let mut changed = true;
    let mut backward = false;
    while std::mem::take(&mut changed) {
        work.read(positions, 8 + width)?;
        backward = !backward;
        for at in 0..rules.productions.len() {
            let production = &rules.productions[if backward { rules.productions.len() - 1 - at } else { at }];
            let mut own = nothing(true);
            for &symbol in &production.right {
                add(&mut own.bits, &firsts[symbol].bits);
                own.nullable = firsts[symbol].nullable;
                if !own.nullable {
                    break;
                }
            }
            let first = &mut firsts[production.left];
            changed |= add(&mut first.bits, &own.bits) || (own.nullable && !first.nullable);
            first.nullable |= own.nullable;
        }
    }
    Ok(firsts)
}
