//! The definitions of the symbolic tasks: the paper's lists of rules (Table 1 and the latch rules), and the grammars
//! that words are drawn from.

use std::fmt::Write;

use crate::automaton::{Automaton, Rule};
use crate::symbol::{Alphabet, Lookahead};

/// A rule in the paper's form, with one character per symbol: stack suffix, lookahead (empty for any), pop, push.
type CharRule = (&'static str, &'static str, u32, char);

/// A production with its probability: nonterminal, probability, right-hand side. Capital letters are nonterminals.
pub(super) type Production = (char, f64, &'static str);

/// The definition of a symbolic task: the rules of its automaton, and the grammar that its words are drawn from.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) terminals: &'static str,
    nonterminals: &'static str,
    accepting: char,
    rules: &'static [CharRule],
    /// The productions. The left-hand side of the first one is the start symbol. Their nonterminals are not those of
    /// the automaton.
    pub(super) grammar: &'static [Production],
}

impl Definition {
    /// Returns the automaton with these rules.
    pub(super) fn automaton(&self) -> Automaton {
        let names = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
        let alphabet = Alphabet::new(names(self.terminals), names(self.nonterminals)).expect("the names differ");
        let symbol = |name: char| alphabet.symbol(&name.to_string()).expect("rules use the alphabet");
        let rule = |&(suffix, lookahead, pop, push): &CharRule| Rule {
            anchored: false,
            suffix: suffix.chars().map(symbol).collect(),
            lookahead: lookahead.chars().next().map(|name| Lookahead::Token(symbol(name))),
            pop,
            push: symbol(push),
        };
        let rules = self.rules.iter().map(rule).collect();
        let accepting = vec![symbol(self.accepting)];
        Automaton::new(alphabet, rules, accepting).expect("the paper's rules are sound")
    }

    /// Returns the grammar as text, one production per line.
    pub(super) fn describe(&self) -> String {
        let mut text = String::new();
        for (left, probability, right) in self.grammar {
            let spaced = right.chars().map(String::from).collect::<Vec<_>>().join(" ");
            let _ = writeln!(text, "{left} -> {spaced}  [{probability:.4}]");
        }
        text
    }
}

/// The language of balanced brackets of one kind.
pub(super) static DYCK1: Definition = Definition {
    terminals: "()",
    nonterminals: "S",
    accepting: 'S',
    rules: &[("SS", "", 2, 'S'), ("(S)", "", 3, 'S'), ("(", ")", 0, 'S')],
    grammar: &[('S', 0.5, "(S)"), ('S', 0.25, "SS"), ('S', 0.25, "()")],
};

/// The language of balanced brackets of two kinds.
pub(super) static DYCK2: Definition = Definition {
    terminals: "()[]",
    nonterminals: "S",
    accepting: 'S',
    rules: &[("SS", "", 2, 'S'), ("(S)", "", 3, 'S'), ("[S]", "", 3, 'S'), ("(", ")", 0, 'S'), ("[", "]", 0, 'S')],
    grammar: &[('S', 0.25, "(S)"), ('S', 0.25, "[S]"), ('S', 0.25, "SS"), ('S', 0.125, "()"), ('S', 0.125, "[]")],
};

/// The language of balanced brackets of three kinds.
pub(super) static DYCK3: Definition = Definition {
    terminals: "()[]{}",
    nonterminals: "S",
    accepting: 'S',
    rules: &[
        ("SS", "", 2, 'S'),
        ("(S)", "", 3, 'S'),
        ("[S]", "", 3, 'S'),
        ("{S}", "", 3, 'S'),
        ("(", ")", 0, 'S'),
        ("[", "]", 0, 'S'),
        ("{", "}", 0, 'S'),
    ],
    grammar: &[
        ('S', 1. / 6., "(S)"),
        ('S', 1. / 6., "[S]"),
        ('S', 1. / 6., "{S}"),
        ('S', 0.25, "SS"),
        ('S', 1. / 12., "()"),
        ('S', 1. / 12., "[]"),
        ('S', 1. / 12., "{}"),
    ],
};

/// The language a^n b^n: some number of a, then the same number of b.
pub(super) static ANBN: Definition = Definition {
    terminals: "ab",
    nonterminals: "S",
    accepting: 'S',
    // For the second rule, the paper's table has (a, b, epsilon, S); its Equation (3) has the correct rule.
    rules: &[("aSb", "", 3, 'S'), ("a", "b", 0, 'S')],
    grammar: &[('S', 0.96, "aSb"), ('S', 0.04, "ab")],
};

/// The language of palindromes with a marked center.
pub(super) static PALINDROME: Definition = Definition {
    terminals: "ab$",
    nonterminals: "S",
    accepting: 'S',
    rules: &[("aSa", "", 3, 'S'), ("bSb", "", 3, 'S'), ("$", "", 1, 'S')],
    grammar: &[('S', 0.48, "aSa"), ('S', 0.48, "bSb"), ('S', 0.04, "$")],
};

/// A simplified version of JSON.
pub(super) static JSON: Definition = Definition {
    terminals: "{}[]nsk:,",
    nonterminals: "VOA",
    accepting: 'V',
    rules: &[
        ("{}", "", 2, 'V'),
        ("[]", "", 2, 'V'),
        ("{O}", "", 3, 'V'),
        ("[A]", "", 3, 'V'),
        ("n", "", 1, 'V'),
        ("s", "", 1, 'V'),
        ("k:V,O", "", 5, 'O'),
        ("k:V", "}", 3, 'O'),
        ("V,A", "", 3, 'A'),
        ("V", "]", 1, 'A'),
    ],
    grammar: &[
        ('V', 0.22, "n"),
        ('V', 0.22, "s"),
        ('V', 0.05, "{}"),
        ('V', 0.05, "[]"),
        ('V', 0.23, "{O}"),
        ('V', 0.23, "[A]"),
        ('O', 0.55, "k:V"),
        ('O', 0.45, "k:V,O"),
        ('A', 0.55, "V"),
        ('A', 0.45, "V,A"),
    ],
};

/// The language of words with an odd number of ones. The paper's text omits the rule (1, epsilon, 1, S), without which
/// every word that begins with 1 is judged wrongly.
pub(super) static LATCH: Definition = Definition {
    terminals: "01",
    nonterminals: "SA",
    accepting: 'S',
    rules: &[
        ("S0", "", 2, 'S'),
        ("S1", "", 2, 'A'),
        ("A0", "", 2, 'A'),
        ("A1", "", 2, 'S'),
        ("0", "", 1, 'A'),
        ("1", "", 1, 'S'),
    ],
    // O generates words with an odd number of ones, E nonempty words with an even number.
    grammar: &[
        ('O', 0.66, "0O"),
        ('O', 0.32, "1E"),
        ('O', 0.02, "1"),
        ('E', 0.66, "0E"),
        ('E', 0.32, "1O"),
        ('E', 0.02, "0"),
    ],
};
