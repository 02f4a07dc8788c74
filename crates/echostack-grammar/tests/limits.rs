//! Limits on grammars and lexers, each at its boundary.

use echostack_grammar::{Encoding, Grammar, GrammarError, GrammarLimits, Lexer, Subject};

const YACC: &str = "%%\nS: S '+' T | T;\nT: 'n' | '(' S ')';\n";
const LEX: &str = "%%\n[0-9]+ \"n\"\n[a-z]+(for|while)x \"w\"\n\\+ \"+\"\n\\( \"(\"\n\\) \")\"\n";

fn limits(name: &str, most: u64) -> GrammarLimits {
    let mut limits = GrammarLimits::default();
    assert!(limits.set(name, most));
    assert_eq!(format!("{name}={most}").parse(), Ok(limits));
    limits
}

#[test]
fn a_grammar_is_read_at_a_limit_and_refused_above_it() {
    let table = Grammar::new("sums", YACC, Encoding::Auto).unwrap();
    let table = table.table();
    let sizes = [
        ("bytes", YACC.len()),
        ("symbols", table.names().len()),
        ("productions", table.productions().len()),
        ("states", table.states()),
    ];
    for (name, size) in sizes {
        let size = size as u64;
        let read = |most| Grammar::new_within("sums", YACC, Encoding::Auto, &limits(name, most));
        read(size).unwrap();
        let refused = read(size - 1).unwrap_err();
        let expected = (name, size, size - 1);
        assert!(
            matches!(refused, GrammarError::Limit { what, given, most } if (what, given, most) == expected),
            "{name}: {refused}"
        );
    }
}

#[test]
fn a_lexer_is_read_at_a_limit_and_refused_above_it() {
    let read = |name, most| Lexer::new_within(LEX, &limits(name, most));
    let states = (0..100).find(|&most| read("lexer_states", most).is_ok()).unwrap();
    assert!(states > 10);
    let refused = read("lexer_states", states - 1).unwrap_err().to_string();
    assert_eq!(refused, format!("the lexer has {states} states or more; the limit is {}", states - 1));
    read("bytes", LEX.len() as u64).unwrap();
    assert!(read("bytes", LEX.len() as u64 - 1).unwrap_err().to_string().contains("bytes or more"));
}

#[test]
fn the_states_of_a_lexer_are_counted_in_all_its_start_states() {
    // Each start state has an automaton of its own, so that many of them multiply what one rule needs.
    let states: Vec<String> = (0..1000).map(|number| format!("S{number}")).collect();
    let source = format!("%s {}\n%%\n[a-z]{{1,500}}x \"w\"\n", states.join(" "));
    let refused = Lexer::new(&source).unwrap_err().to_string();
    assert!(refused.contains("states or more; the limit is 65536"), "{refused}");
}

#[test]
fn files_have_the_same_limits() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("grammar.y"), YACC).unwrap();
    std::fs::write(folder.path().join("lexer.l"), LEX).unwrap();
    let open = |name, most| Subject::open_grammar_within(folder.path(), Encoding::Auto, &limits(name, most));
    open("bytes", YACC.len().max(LEX.len()) as u64).unwrap();
    for (name, most) in [("bytes", 20), ("productions", 3), ("lexer_states", 5)] {
        let refused = open(name, most).unwrap_err();
        let reason = std::error::Error::source(&refused).map_or_else(String::new, ToString::to_string);
        assert!(reason.contains(&format!("the limit is {most}")), "{name}: {refused}: {reason}");
    }
    for wrong in ["", "states", "states=-1", "teeth=32"] {
        assert!(wrong.parse::<GrammarLimits>().unwrap_err().contains("bytes, symbols, productions, states"));
    }
}
