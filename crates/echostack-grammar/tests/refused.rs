//! Tests of grammars that cannot be used, and of grammars for which no stack suffix determines the action.

use echostack::language::Language;
use echostack::{Lookahead, Oracle, Recognizer, Verdict};
use echostack_grammar::{Encoding, Grammar, GrammarError};

fn refused(rules: &str) -> String {
    Grammar::new("test", &format!("%start S\n%%\n{rules}\n"), Encoding::Auto).unwrap_err().to_string()
}

#[test]
fn a_conflict_is_explained_by_a_sentence() {
    let ambiguous = refused("S: S '+' S | 'x';");
    assert!(ambiguous.contains("x + x + x") && ambiguous.contains("S[x + S[x + x]]"), "{ambiguous}");
    assert!(!ambiguous.contains("state"), "{ambiguous}");
    // The dangling else.
    let dangling = refused("S: 'if' S | 'if' S 'else' S | 'x';");
    assert!(dangling.contains("if if x else x"), "{dangling}");
    // Not ambiguous, but one token of lookahead is not enough.
    let short_sighted = refused("S: A 'x' 'y' | B 'x' 'z'; A: 'a'; B: 'a';");
    assert!(short_sighted.contains("followed by x") && short_sighted.contains("\"B: \"a\"\""), "{short_sighted}");
    // Two nonterminals that read the same: the readings differ only in their names.
    let names = refused("S: A 'x' | B 'x'; A: 'a'; B: 'a';");
    assert!(names.contains("it is ambiguous") && names.contains("S[A[a] x]") && names.contains("S[B[a] x]"), "{names}");
    let nothing = refused("S: A | B; A: ; B: ;");
    assert!(nothing.contains("(nothing)\nhas the two readings\n  A[]\n  B[]"), "{nothing}");
    let twice = refused("S: 'a' | 'b' | 'a';");
    assert!(twice.contains("S: \"a\"\nis written twice"), "{twice}");
    // Precedences resolve the conflict.
    let settled = "%start S\n%left '+'\n%%\nS: S '+' S | 'x';\n";
    assert!(Grammar::new("test", settled, Encoding::Auto).is_ok());
}

#[test]
fn faults_are_reported_with_their_place() {
    for (rules, told) in [
        ("S: 'a' T;", "3:8: T has no rules and is not declared as a token"),
        ("S: T | 'a' U | T;", "3:4: T and U have no rules and are not declared as tokens"),
        ("", "1:8: the start symbol S has no rules"),
        ("S 'a';", "3:1: S is here, where a rule"),
        ("S: 'a' | : 'b';", "3:10: ':' is here, where a symbol, an action, '|' or ';' is expected"),
        ("S: 'a' %prec;", "3:13: ';' is here, where a token is expected"),
        ("S: 'a' %prec S;", "3:14: this is not a token"),
        ("S: 'a' %empty;", "3:8: %empty is in a production that is not empty"),
        ("S: 'a' %?{ ok };", "3:8: predicates are not supported"),
        ("S: 'a' %expect 1;", "3:8: %expect is not supported in rules"),
        ("S: 'a'; %shift S;", "3:9: the declaration %shift is not known"),
        ("S: 'a'; error: 'b';", "3:9: error is the token for error recovery"),
        ("S: 'a' YYEOF;", "3:8: YYEOF is the end of the input"),
        ("%left 'a'; %right 'a'; S: 'a';", "3:19: this token already has a precedence"),
        ("%start S T; S: 'a';", "3:10: only one start symbol is possible"),
        ("%start T; S: 'a'; T: 'b';", "3:8: the grammar already has a start symbol"),
        ("%token A \"x\" B \"x\"; S: A B;", "3:16: this literal already stands for another token"),
        ("%token S; S: 'a';", "3:11: this symbol is declared as a token and cannot have rules"),
        ("%expect 99999999999999999999999; S: 'a';", "3:9: 99999999999999999999999 is here, where a smaller number"),
    ] {
        let error = refused(rules);
        assert!(error.starts_with(told), "{rules}: {error}");
    }
    let error = Grammar::new("test", "S: 'a';", Encoding::Auto).unwrap_err().to_string();
    assert!(error.starts_with("1:1: S is here, where a declaration"), "{error}");
    let error = Grammar::new("test", "%start S", Encoding::Auto).unwrap_err().to_string();
    assert!(error.starts_with("1:9: the file ends before its rules"), "{error}");
}

#[test]
fn a_language_without_words_is_refused() {
    for rules in ["S: 'a' S;", "S: 'a' S | U; U: S 'b';", "S: error 'a';"] {
        let error = refused(rules);
        assert!(error.starts_with("the start symbol S derives no word"), "{error}");
    }
}

#[test]
fn a_nonterminal_that_derives_itself_is_named() {
    for (rules, name) in
        [("S: S | 'a';", "S"), ("S: 'b' T; T: E T E | 'a'; E: | 'e';", "T"), ("S: A; A: B; B: A | 'x';", "")]
    {
        let error = refused(rules);
        assert!(error.starts_with(name) && error.contains(" can derive itself alone"), "{error}");
    }
}

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
