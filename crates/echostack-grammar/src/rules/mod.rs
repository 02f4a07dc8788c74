//! The rules of a grammar, as they are written in its file; what its precedences mean; sets of lookaheads.

pub(crate) mod bits;
pub(crate) mod precedence;

/// The rules of a grammar. Symbols are numbers: terminals first, then nonterminals.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) names: Vec<String>,
    /// Where each symbol occurs first, or has its first rule if it is a nonterminal.
    pub(crate) places: Vec<usize>,
    pub(crate) terminals: usize,
    pub(crate) start: usize,
    pub(crate) productions: Vec<Production>,
    /// The actions inside of productions, in the order of the productions.
    pub(crate) actions: Vec<InnerAction>,
    /// The precedence of each terminal.
    pub(crate) terminal_precedences: Vec<Option<Precedence>>,
    /// The precedence of each production.
    pub(crate) production_precedences: Vec<Option<Precedence>>,
    pub(crate) expected: Expected,
    pub(crate) merging: Merging,
}

impl Rules {
    /// Returns rules without precedences, whose symbols have numbers in place of names.
    pub(crate) fn plain(terminals: usize, nonterminals: usize, start: usize, productions: Vec<Production>) -> Self {
        let symbols = terminals + nonterminals;
        Self {
            names: (0..symbols).map(|number| number.to_string()).collect(),
            places: vec![0; symbols],
            terminals,
            start,
            terminal_precedences: vec![None; terminals],
            production_precedences: vec![None; productions.len()],
            productions,
            actions: Vec::new(),
            expected: Expected::default(),
            merging: Merging::Unstated,
        }
    }
}

/// A production of a grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Production {
    /// The nonterminal on its left side.
    pub left: usize,
    /// The symbols on its right side.
    pub right: Vec<usize>,
}

/// An action inside of a production, which is passed over. In bison, it is an empty nonterminal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InnerAction {
    /// The number of the production.
    pub(crate) production: usize,
    /// The number of symbols before it.
    pub(crate) before: usize,
    /// Where it is written.
    pub(crate) place: usize,
}

/// A precedence: higher levels bind more tightly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Precedence {
    pub(crate) level: usize,
    pub(crate) associativity: Associativity,
}

/// What resolves a conflict between a production and a terminal of the same level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Associativity {
    Left,
    Right,
    /// Neither is possible: the terminal is an error.
    Nonassoc,
    /// `%precedence`: the conflict remains.
    Undefined,
}

/// The conflicts that a grammar declares, and where.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Expected {
    /// The number of `%expect`.
    pub(crate) shift_reduce: Option<(usize, usize)>,
    /// The number of `%expect-rr`.
    pub(crate) reduce_reduce: Option<(usize, usize)>,
    /// Whether the parser is a GLR parser, which follows both sides of a conflict instead of resolving it.
    pub(crate) glr: bool,
}

/// Which LR(1) states a parser merges, as far as that changes what it accepts: the value of `%define lr.type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Merging {
    /// The file does not say. The language is that of [`Merging::Canonical`].
    #[default]
    Unstated,
    /// `lalr`: all states with the same items are merged.
    Lalr,
    /// `canonical-lr` or `ielr`: none are, or only those for which that changes nothing.
    Canonical,
}
