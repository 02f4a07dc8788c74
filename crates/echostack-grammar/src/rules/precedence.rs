//! How precedences decide what remains of a parser's choices, as in bison.

use std::collections::{BTreeMap, BTreeSet};

use super::bits::{Bits, contains};
use crate::rules::{Associativity, Precedence, Rules};

/// What a parser could do in a state: the tokens that it could shift, and the lookaheads for each production that it
/// could reduce by. The production after the last one stands for acceptance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choices {
    pub(crate) shifts: BTreeSet<usize>,
    pub(crate) reductions: BTreeMap<usize, Bits>,
}

/// What remains to do on one lookahead after precedences are applied.
#[derive(Debug)]
pub(crate) struct Remaining {
    pub(crate) shift: bool,
    pub(crate) reductions: Vec<usize>,
    /// Whether precedences removed anything.
    pub(crate) reduced: bool,
    /// Whether `%nonassoc` forbids the lookahead, whatever remains.
    pub(crate) forbidden: bool,
}

impl Remaining {
    /// Returns the production to reduce by, if the token is neither shifted nor forbidden: the first one.
    pub(crate) fn reduction(&self) -> Option<usize> {
        self.reductions.first().copied().filter(|_| !self.shift && !self.forbidden)
    }
}

/// Applies precedences to the choices on a lookahead, in the order in which bison does.
pub(crate) fn remaining(rules: &Rules, choices: &Choices, lookahead: usize) -> Remaining {
    let mut shift = choices.shifts.contains(&lookahead);
    let mut reductions = Vec::new();
    let (mut reduced, mut forbidden) = (false, false);
    for (&production, _) in choices.reductions.iter().filter(|(_, lookaheads)| contains(lookaheads, lookahead)) {
        let precedences = (
            rules.production_precedences.get(production).copied().flatten(),
            rules.terminal_precedences.get(lookahead).copied().flatten(),
        );
        let (mut shifts, mut reduces) = (shift, true);
        if let (true, (Some(this), Some(other))) = (shift, precedences) {
            (shifts, reduces) = preferred(this, other);
        }
        reduced |= shifts != shift || !reduces;
        forbidden |= shift && !shifts && !reduces;
        shift = shifts;
        if reduces {
            reductions.push(production);
        }
    }
    Remaining { shift, reductions, reduced, forbidden }
}

/// Returns whether a shift and a reduction remain, given the precedences of the production and of the token.
fn preferred(production: Precedence, token: Precedence) -> (bool, bool) {
    use std::cmp::Ordering::{Equal, Greater, Less};
    match (production.level.cmp(&token.level), token.associativity) {
        (Greater, _) | (Equal, Associativity::Left) => (false, true),
        (Less, _) | (Equal, Associativity::Right) => (true, false),
        (Equal, Associativity::Nonassoc) => (false, false),
        (Equal, Associativity::Undefined) => (true, true),
    }
}
