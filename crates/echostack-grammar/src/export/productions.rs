//! A context-free grammar over tokens, with names that people can read.

use std::collections::{BTreeSet, HashMap, HashSet};

use echostack::automaton::{Part, WordGrammar};
use echostack::spelling::{Case, identifier};
use echostack::{Alphabet, SymbolId};

use super::ebnf::{Ebnf, Piece};
use crate::lr::table::LrTable;

/// A context-free grammar. Nonterminal 0 is the start.
#[derive(Clone, Debug, Default)]
pub(crate) struct Productions {
    /// The names of the nonterminals.
    pub(crate) names: Vec<String>,
    /// The productions of each nonterminal.
    pub(crate) rules: Vec<Vec<Vec<Part>>>,
}

/// The tokens that the words of each nonterminal can begin and end with, and whether one of the words is empty.
pub(super) struct Borders {
    pub(super) nullable: Vec<bool>,
    pub(super) first: Vec<BTreeSet<SymbolId>>,
    last: Vec<BTreeSet<SymbolId>>,
}

impl Productions {
    /// Returns the productions of a grammar as it was written.
    pub(super) fn of_table(table: &LrTable) -> Self {
        let mut numbers = HashMap::from([(table.start, 0)]);
        let mut order = vec![table.start];
        for production in &table.productions {
            numbers.entry(production.left).or_insert_with(|| {
                order.push(production.left);
                order.len() - 1
            });
        }
        let mut rules = vec![Vec::new(); order.len()];
        for production in &table.productions {
            let part = |&symbol: &usize| match numbers.get(&symbol) {
                Some(&number) => Part::Nonterminal(number),
                None => Part::Token(SymbolId::new(symbol)),
            };
            rules[numbers[&production.left]].push(production.right.iter().map(part).collect());
        }
        Self { names: order.iter().map(|&symbol| table.names[symbol].clone()).collect(), rules }
    }

    /// Returns a grammar of the words of an automaton. A nonterminal is named after the shortest word that it derives.
    pub(super) fn of_words(grammar: &WordGrammar, alphabet: &Alphabet) -> Self {
        let rules: Vec<Vec<Vec<Part>>> = grammar.productions.iter().map(|own| own.iter().cloned().collect()).collect();
        let shortest = shortest(&rules);
        let mut names = vec!["start".to_string()];
        for (number, own) in rules.iter().enumerate().skip(1) {
            let word = shortest[number].as_deref().unwrap_or_default();
            let mut tokens: Vec<String> =
                word.iter().take(3).map(|&token| identifier(alphabet.name(token), Case::Lower)).collect();
            if tokens.is_empty() {
                tokens.push("optional".to_string());
            }
            if own.iter().flatten().any(|part| *part == Part::Nonterminal(number)) {
                tokens.push("list".to_string());
            }
            names.push(tokens.join("_"));
        }
        Self { names, rules }
    }

    /// Returns the grammar with a token that may stand at the end of each word.
    pub(super) fn with_end(mut self, end: SymbolId) -> Self {
        // The start may occur in other rules, so there is a new one.
        let mut rules = vec![vec![vec![Part::Nonterminal(1)], vec![Part::Nonterminal(1), Part::Token(end)]]];
        let part = |part: &Part| match *part {
            Part::Nonterminal(number) => Part::Nonterminal(number + 1),
            token @ Part::Token(_) => token,
        };
        let moved = |own: &Vec<Vec<Part>>| own.iter().map(|parts| parts.iter().map(part).collect()).collect();
        rules.extend(self.rules.iter().map(moved));
        self.names.insert(0, "start".into());
        Self { names: self.names, rules }
    }

    /// Returns the grammar in a form that can have repetition.
    pub(super) fn ebnf(&self) -> Ebnf<SymbolId> {
        let piece = |part: &Part| match *part {
            Part::Token(token) => Piece::Token(token),
            Part::Nonterminal(number) => Piece::Rule(number),
        };
        let rule = |own: &Vec<Vec<Part>>| own.iter().map(|parts| parts.iter().map(piece).collect()).collect();
        Ebnf { names: self.names.clone(), rules: self.rules.iter().map(rule).collect() }
    }

    /// Returns the tokens that each nonterminal can begin and end with.
    pub(super) fn borders(&self) -> Borders {
        let count = self.rules.len();
        let mut nullable = vec![false; count];
        let (mut first, mut last) = (vec![BTreeSet::new(); count], vec![BTreeSet::new(); count]);
        let mut changed = true;
        while changed {
            changed = false;
            for (number, own) in self.rules.iter().enumerate() {
                for production in own {
                    let [forward, backward] = [false, true].map(|backward| {
                        let ends = if backward { &last } else { &first };
                        let mut found = BTreeSet::new();
                        let mut empty = true;
                        let parts: Vec<Part> =
                            if backward { production.iter().rev().copied().collect() } else { production.clone() };
                        for part in parts {
                            match part {
                                Part::Token(token) => {
                                    found.insert(token);
                                    empty = false;
                                }
                                Part::Nonterminal(other) => {
                                    found.extend(ends[other].iter().copied());
                                    empty = nullable[other];
                                }
                            }
                            if !empty {
                                break;
                            }
                        }
                        (found, empty)
                    });
                    let before = (first[number].len(), last[number].len(), nullable[number]);
                    first[number].extend(forward.0);
                    last[number].extend(backward.0);
                    nullable[number] |= forward.1;
                    changed |= before != (first[number].len(), last[number].len(), nullable[number]);
                }
            }
        }
        Borders { nullable, first, last }
    }

    /// Returns the pairs of tokens that can follow each other in a word.
    pub(super) fn adjacent(&self) -> HashSet<(SymbolId, SymbolId)> {
        let Borders { nullable, first, last } = self.borders();
        let mut adjacent = HashSet::new();
        for production in self.rules.iter().flatten() {
            // The tokens that can be the last ones before the current part.
            let mut ends: BTreeSet<SymbolId> = BTreeSet::new();
            for part in production {
                let (begins, finishes, empty) = match *part {
                    Part::Token(token) => (BTreeSet::from([token]), BTreeSet::from([token]), false),
                    Part::Nonterminal(other) => (first[other].clone(), last[other].clone(), nullable[other]),
                };
                adjacent.extend(ends.iter().flat_map(|&end| begins.iter().map(move |&begin| (end, begin))));
                if empty {
                    ends.extend(finishes);
                } else {
                    ends = finishes;
                }
            }
        }
        adjacent
    }
}

/// Returns the shortest word that each nonterminal derives.
fn shortest(rules: &[Vec<Vec<Part>>]) -> Vec<Option<Vec<SymbolId>>> {
    let mut found: Vec<Option<Vec<SymbolId>>> = vec![None; rules.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (number, own) in rules.iter().enumerate() {
            for production in own {
                let parts: Option<Vec<Vec<SymbolId>>> = production
                    .iter()
                    .map(|part| match *part {
                        Part::Token(token) => Some(vec![token]),
                        Part::Nonterminal(other) => found[other].clone(),
                    })
                    .collect();
                let Some(word) = parts.map(|parts| parts.concat()) else { continue };
                if found[number].as_ref().is_none_or(|known| word.len() < known.len()) {
                    found[number] = Some(word);
                    changed = true;
                }
            }
        }
    }
    found
}
