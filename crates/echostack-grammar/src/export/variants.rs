//! The nonterminals of a grammar in the contexts in which its parser reads them.
//!
//! # Variants
//!
//! A *variant* is a nonterminal A with a state s of the parser and a lookahead r. It stands for the words that the
//! parser reads when it is in state s, reduces to A, and then has the lookahead r. Whether it reduces by a production
//! A: X1 ... Xn there is written in the table: along the symbols, the states s = s0, s1, ..., sn follow each other,
//! where each terminal must be shifted, and sn must reduce by the production on r. A nonterminal Xi is read in the
//! state before it, with any lookahead that can begin what comes after it, or with r if nothing comes after it.
//!
//! So the variants are the nonterminals of another grammar, which has the words that the parser accepts: conflicts are
//! resolved in the table, so nothing is left to resolve. There is one thing that it cannot say: if Xi is followed by
//! another nonterminal, then the lookahead of Xi must be what that nonterminal begins with. This does not matter if
//! the variants of Xi for these lookaheads have the same words, which is so in almost all grammars.
//!
//! # Classes
//!
//! Almost all variants of a nonterminal are equal. At first, all variants of a nonterminal are in one class. Classes are
//! split until the variants of a class have the same productions, with nonterminals of the same classes. By induction
//! over derivations, the variants of a class have the same words.
//!
//! # Example
//!
//! Take E: E + E | E * E | n with the usual precedences. At the beginning, and before + or the end, E has all three
//! productions. Before *, E: E + E is not reduced. After E +, the token + is not shifted, so E: E + E is not possible
//! there, and E: E * E is not possible after E * for the same reason. So there are three classes: E: E + T | T * F | n,
//! T: T * F | n, and F: n.

use std::collections::{BTreeSet, HashMap};

use crate::lr::first::Productions;
use crate::lr::table::{Action, LrTable};
use crate::lr::work::{TooLarge, Work};
use crate::rules::Rules;
use crate::rules::bits::contains;

/// The maximum number of classes. People would not read more of them.
const MAX_CLASSES: usize = 1000;

/// The maximum number of productions that all classes have together.
const MAX_ALTERNATIVES: usize = 1 << 14;

/// The class of variants without words.
const WITHOUT_WORDS: u32 = u32::MAX;

/// A nonterminal in the context of a state and of a lookahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Variant {
    pub(super) state: usize,
    pub(super) symbol: usize,
    pub(super) lookahead: usize,
}

/// A production of a variant: for each nonterminal on the right side, the variants for each lookahead.
#[derive(Debug)]
struct Choice {
    production: usize,
    parts: Vec<Vec<u32>>,
}

/// The variants that can be reached from some of them.
#[derive(Debug)]
pub(super) struct Variants<'a> {
    table: &'a LrTable,
    list: Vec<Variant>,
    numbers: HashMap<Variant, u32>,
    choices: Vec<Vec<Choice>>,
    work: Work,
}

/// Variants of a nonterminal that have the same words.
#[derive(Clone, Debug)]
pub(super) struct Class {
    pub(super) symbol: usize,
    pub(super) alternatives: BTreeSet<Alternative>,
}

/// A production with a class for each nonterminal on its right side.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Alternative {
    pub(super) production: usize,
    pub(super) classes: Vec<usize>,
}

/// Why there are no classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    TooLarge,
    /// In a production, the words of the nonterminal at a position depend on what a nonterminal after it begins with.
    Depends {
        production: usize,
        position: usize,
    },
}

impl From<TooLarge> for Refused {
    fn from(_: TooLarge) -> Self {
        Self::TooLarge
    }
}

/// Returns the rules of a table without precedences, to ask what can begin the rest of a production.
pub(super) fn plain(table: &LrTable) -> Rules {
    Rules::plain(table.terminals, table.names.len() - table.terminals, table.start, table.productions.clone())
}

impl<'a> Variants<'a> {
    /// Computes the variants that can be reached from the given ones, which get the first numbers.
    pub(super) fn new(table: &'a LrTable, from: &[Variant]) -> Result<Self, TooLarge> {
        let rules = plain(table);
        let mut work = Work::default();
        let productions = Productions::new(&rules, &mut work)?;
        let mut known: HashMap<Variant, u32> = HashMap::new();
        let mut variants = Vec::new();
        for &variant in from {
            known.entry(variant).or_insert_with(|| {
                variants.push(variant);
                variants.len() as u32 - 1
            });
        }
        let mut choices = Vec::new();
        // The list grows while it is worked through.
        while let Some(&variant) = variants.get(choices.len()) {
            let mut own = Vec::new();
            for &production in &productions.of[variant.symbol] {
                let Some(parts) = parts(table, &productions, variant, production) else { continue };
                let mut number = |&variant: &Variant| {
                    *known.entry(variant).or_insert_with(|| {
                        variants.push(variant);
                        variants.len() as u32 - 1
                    })
                };
                let parts: Vec<Vec<u32>> =
                    parts.iter().map(|part: &Vec<Variant>| part.iter().map(&mut number).collect()).collect();
                work.keep(parts.iter().map(|part| part.len() + 4).sum::<usize>() + 8, 1)?;
                own.push(Choice { production, parts });
            }
            work.keep(1, 16)?;
            work.read(productions.of[variant.symbol].len(), 8)?;
            choices.push(own);
        }
        Ok(Self { table, list: variants, numbers: known, choices, work })
    }

    /// Returns the number of words to read all choices.
    fn size(&self) -> usize {
        let parts = self.choices.iter().flatten().flat_map(|choice| &choice.parts);
        self.list.len() + parts.map(|part| part.len() + 1).sum::<usize>()
    }

    /// Returns whether each variant has words.
    pub(super) fn have_words(&mut self) -> Result<Vec<bool>, TooLarge> {
        let size = self.size();
        let mut found = vec![false; self.list.len()];
        let (mut changed, mut backward) = (true, false);
        while std::mem::take(&mut changed) {
            self.work.read(size, 1)?;
            backward = !backward;
            for at in 0..found.len() {
                let variant = if backward { found.len() - 1 - at } else { at };
                if !found[variant] && self.choices[variant].iter().any(|choice| has_words(choice, &found)) {
                    found[variant] = true;
                    changed = true;
                }
            }
        }
        Ok(found)
    }

    /// Returns whether a production of one of the variants has words, given which variants have.
    pub(super) fn has_words(&self, variant: Variant, production: usize, with_words: &[bool]) -> bool {
        let choices = self.numbers.get(&variant).map(|&number| &self.choices[number as usize]);
        let mut own = choices.into_iter().flatten().filter(|choice| choice.production == production);
        own.any(|choice| has_words(choice, with_words))
    }

    /// Returns the classes that can be reached from the first variant, whose class is the first one.
    pub(super) fn classes(mut self) -> Result<Vec<Class>, Refused> {
        let with_words = self.have_words()?;
        for choices in &mut self.choices {
            choices.retain(|choice| has_words(choice, &with_words));
        }
        let classes = self.refine(&with_words)?;
        // All variants of a class have the same productions, so the first one stands for the others.
        let mut standing: HashMap<u32, usize> = HashMap::new();
        for (variant, &class) in classes.iter().enumerate() {
            standing.entry(class).or_insert(variant);
        }
        let mut numbers: HashMap<u32, usize> = HashMap::from([(classes[0], 0)]);
        let mut order = vec![classes[0]];
        let mut found = Vec::new();
        let mut total = 0;
        while let Some(class) = order.get(found.len()) {
            let variant = standing[class];
            let mut alternatives = BTreeSet::new();
            for Choice { production, parts } in &self.choices[variant] {
                let mut own = Vec::new();
                for (at, part) in parts.iter().enumerate() {
                    let class = classes[part[0] as usize];
                    if part.iter().any(|&other| classes[other as usize] != class) {
                        return Err(self.depends(*production, at));
                    }
                    own.push(*numbers.entry(class).or_insert_with(|| {
                        order.push(class);
                        order.len() - 1
                    }));
                }
                alternatives.insert(Alternative { production: *production, classes: own });
            }
            total += alternatives.len();
            found.push(Class { symbol: self.list[variant].symbol, alternatives });
            if order.len() > MAX_CLASSES || total > MAX_ALTERNATIVES {
                return Err(Refused::TooLarge);
            }
        }
        Ok(found)
    }

    /// Returns that a nonterminal of a production, counted without terminals, depends on what comes after it.
    fn depends(&self, production: usize, nonterminal: usize) -> Refused {
        let right = self.table.productions[production].right.iter().enumerate();
        let mut nonterminals = right.filter(|(_, symbol)| **symbol >= self.table.terminals);
        Refused::Depends { production, position: nonterminals.nth(nonterminal).map_or(0, |(at, _)| at) }
    }

    /// Returns the class of each variant.
    fn refine(&mut self, with_words: &[bool]) -> Result<Vec<u32>, TooLarge> {
        let size = self.size();
        let of_symbol = self.list.iter().zip(with_words);
        let of_symbol = of_symbol.map(|(variant, &some)| if some { variant.symbol as u32 } else { WITHOUT_WORDS });
        let mut classes: Vec<u32> = of_symbol.collect();
        let mut count = 0;
        loop {
            self.work.read(size, 8)?;
            let mut known: HashMap<(u32, Vec<u32>), u32> = HashMap::new();
            let mut next = Vec::with_capacity(classes.len());
            for (variant, &class) in classes.iter().enumerate() {
                if class == WITHOUT_WORDS {
                    next.push(WITHOUT_WORDS);
                    continue;
                }
                let fresh = known.len() as u32;
                next.push(*known.entry((class, signature(&self.choices[variant], &classes))).or_insert(fresh));
            }
            classes = next;
            if known.len() == count {
                return Ok(classes);
            }
            count = known.len();
        }
    }
}

/// Returns whether a choice has words, given which variants have.
fn has_words(choice: &Choice, found: &[bool]) -> bool {
    choice.parts.iter().all(|part| part.iter().any(|&variant| found[variant as usize]))
}

/// Returns the productions of a variant with the classes of their parts, as a list that tells them apart.
fn signature(choices: &[Choice], classes: &[u32]) -> Vec<u32> {
    let mut signature = Vec::new();
    for choice in choices {
        signature.push(choice.production as u32);
        for part in &choice.parts {
            let classes: BTreeSet<u32> = part.iter().map(|&variant| classes[variant as usize]).collect();
            // The number of classes comes first, so that no two lists read the same.
            signature.push(classes.len() as u32);
            signature.extend(classes);
        }
    }
    signature
}

/// Returns the variants of each nonterminal in a production of a variant, unless the parser never reduces by it there.
fn parts(
    table: &LrTable,
    productions: &Productions<'_>,
    Variant { state, lookahead, .. }: Variant,
    production: usize,
) -> Option<Vec<Vec<Variant>>> {
    let right = productions.right(production);
    let path = table.path(state, right)?;
    let last = path.last().copied().unwrap_or(state);
    if table.action(last, lookahead) != Action::Reduce(production) {
        return None;
    }
    let mut all = Vec::new();
    for (at, &symbol) in right.iter().enumerate().filter(|(_, symbol)| **symbol >= table.terminals) {
        let rest = productions.rest((production, at + 1))?;
        let follows = |&other: &usize| contains(&rest.bits, other) || (rest.nullable && other == lookahead);
        // Nothing is read if the state after the nonterminal refuses the lookahead.
        let goes_on = |&other: &usize| table.action(path[at], other) != Action::Error;
        let state = if at == 0 { state } else { path[at - 1] };
        let lookaheads = (0..=table.terminals).filter(follows).filter(goes_on);
        let part: Vec<Variant> = lookaheads.map(|lookahead| Variant { state, symbol, lookahead }).collect();
        if part.is_empty() {
            return None;
        }
        all.push(part);
    }
    Some(all)
}
