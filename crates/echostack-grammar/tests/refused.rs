//! Tests of words that precedences forbid, and of grammars for which no stack suffix determines the action. Grammars that
//! are refused as a whole are in `testdata/messages`.

use echostack::language::Language;
use echostack::{Lookahead, Oracle, Recognizer, Verdict};
use echostack_grammar::{Encoding, Grammar, GrammarError};

#[test]
fn what_precedences_forbid_is_refused_where_it_goes_wrong() {
    let rules = "S: E '<' 'z';\nE: E '<' E | 'n';\n";
    let forbidding = format!("%start S\n%nonassoc '<'\n%%\n{rules}");
    let left = format!("%start S\n%left '<'\n%%\n{rules}");
    for encoding in [Encoding::Auto, Encoding::Suffix, Encoding::State] {
        let judged = |yacc: &str, text: &str| {
            let grammar = Grammar::new("test", yacc, encoding).unwrap();
            let oracle = Oracle::strict(grammar.automaton().clone()).unwrap();
            oracle.check_viable(&()).unwrap();
            let alphabet = grammar.automaton().alphabet();
            let names = |expected: Vec<Lookahead>| {
                let name = |next: Lookahead| next.token().map_or("#", |token| alphabet.name(token)).to_string();
                expected.into_iter().map(name).collect::<Vec<_>>().join(" ")
            };
            let word = alphabet.word(text.split_whitespace()).unwrap();
            match oracle.judge(&word) {
                Verdict::Reject { position, expected } => format!("reject at {position}, expected {}", names(expected)),
                Verdict::Incomplete { expected } => format!("incomplete, expected {}", names(expected)),
                other => other.name().to_string(),
            }
        };
        // An n after the < could only be followed by another <, which is forbidden.
        assert_eq!(judged(&forbidding, "n < n"), "reject at 2, expected z", "{encoding:?}");
        assert_eq!(judged(&forbidding, "n <"), "incomplete, expected z");
        assert_eq!(judged(&forbidding, "n < z"), "accept");
        assert_eq!(judged(&left, "n < n"), "incomplete, expected <");
        assert_eq!(judged(&left, "n < n < z"), "accept");
    }
}

#[test]
fn whether_suffixes_decide_is_decided() {
    // The nonterminal to which the x are reduced depends on the first letter, however far away it is.
    let far = "%start S\n%%\nS: 'a' L 'c' | 'b' M 'c';\nL: 'x' L | 'x';\nM: 'x' M | 'x';\n";
    assert!(matches!(Grammar::new("far", far, Encoding::Suffix), Err(GrammarError::NotBySuffix)));
    let grammar = Grammar::new("far", far, Encoding::Auto).unwrap();
    assert_eq!(grammar.encoding(), Encoding::State);
    let oracle = Oracle::strict(grammar.automaton().clone()).unwrap();
    let judged = |text: &str| {
        let word = grammar.automaton().alphabet().word(text.split(' ')).unwrap();
        oracle.judge(&word)
    };
    assert_eq!(judged("a x x x c"), Verdict::Accept);
    assert_eq!(judged("b x c"), Verdict::Accept);
    assert!(matches!(judged("b c"), Verdict::Reject { position: 1, .. }));
    // With different ends, the next token determines the reduction, so suffixes are sufficient.
    let near = "%start S\n%%\nS: 'a' L 'c' | 'b' L 'd';\nL: 'x' L | 'x';\n";
    assert_eq!(Grammar::new("near", near, Encoding::Auto).unwrap().encoding(), Encoding::Suffix);
}
