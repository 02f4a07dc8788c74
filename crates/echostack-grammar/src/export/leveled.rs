//! A grammar whose nonterminals are levels of those of another one.

use std::collections::BTreeSet;

use echostack::automaton::Part;

use super::productions::Productions;
use super::variants::Alternative;
use crate::rules::Production;

/// A nonterminal of the result.
#[derive(Clone, Debug)]
pub(super) struct Level {
    /// The nonterminal that it is a level of.
    pub(super) symbol: usize,
    /// Everything that it can be, by way of other levels, too.
    pub(super) all: BTreeSet<Alternative>,
    /// What it can be by itself.
    pub(super) own: BTreeSet<Alternative>,
    /// The levels that it refers to.
    pub(super) inner: Vec<usize>,
}

impl Level {
    /// Returns the productions that a level has by itself or by way of others.
    pub(super) fn productions(&self) -> BTreeSet<usize> {
        self.all.iter().map(|alternative| alternative.production).collect()
    }
}

/// A grammar without conflicts, with where its parts come from.
#[derive(Clone, Debug)]
pub(super) struct Levels {
    /// The grammar. Its tokens are the terminals of the table.
    pub(super) productions: Productions,
    /// The nonterminal of the table that each nonterminal is a level of.
    pub(super) symbols: Vec<usize>,
    /// For each nonterminal and each of its productions, the production of the table that it comes from, or `None` if it
    /// refers to another level of the same nonterminal.
    pub(super) origins: Vec<Vec<Option<usize>>>,
}

/// Returns the productions with numbers for symbols: terminals first, then the nonterminals in their order.
pub(super) fn plain(productions: &Productions, terminals: usize) -> Vec<Production> {
    let symbol = |part: &Part| match *part {
        Part::Token(token) => token.index(),
        Part::Nonterminal(number) => terminals + number,
    };
    let rules = productions.rules.iter().enumerate();
    let productions = rules.flat_map(|(number, own)| {
        let one =
            move |parts: &Vec<Part>| Production { left: terminals + number, right: parts.iter().map(symbol).collect() };
        own.iter().map(one)
    });
    productions.collect()
}
