//! Whole lexers.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::blame::{Fault, Mixed};
use super::finder::Finder;
use super::given::Given;
use crate::ask::queries::{Asking, Queries};
use crate::testing::random;
use crate::text::teacher::Teacher;

const EXAMPLES: [&str; 4] = [
    "let x = 1;",
    "let total = price * 12.5 + (tax2);\nlet ok = true; # done\n",
    "let name = \"a \\\"b\\\" c\" + other;",
    "let flag = (false + 0) * x;",
];

/// A small language: assignments to names, with calls, numbers, strings, two keywords and comments.
fn is_valid(text: &str) -> bool {
    let pattern = regex::Regex::new(
        r#"^(?:\s+|\#[^\n]*(?:\n|$))|^(?P<word>[A-Za-z_][A-Za-z0-9_]*)|^(?P<number>(?:0|[1-9][0-9]*)(?:\.[0-9]+)?)|^(?P<string>"(?:[^"\\\n]|\\[nt"\\])*")|^(?P<sign>[=;(),+*])"#,
    );
    let (pattern, mut rest, mut tokens) = (pattern.unwrap(), text, Vec::new());
    while !rest.is_empty() {
        let Some(found) = pattern.captures(rest) else { return false };
        if let Some(word) = found.name("word") {
            let is_keyword = ["let", "true", "false"].contains(&word.as_str());
            tokens.push(if is_keyword { word.as_str() } else { "name" });
        } else if found.name("number").or(found.name("string")).is_some() {
            tokens.push("value");
        } else if let Some(sign) = found.name("sign") {
            tokens.push(sign.as_str());
        }
        rest = &rest[found[0].len()..];
    }
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at..].len() < 5 || tokens[at..at + 3] != ["let", "name", "="] {
            return false;
        }
        at += 3;
        if !expression(&tokens, &mut at) || tokens.get(at) != Some(&";") {
            return false;
        }
        at += 1;
    }
    !tokens.is_empty()
}

fn expression(tokens: &[&str], at: &mut usize) -> bool {
    loop {
        let is_item = match tokens.get(*at) {
            Some(&"(") => {
                *at += 1;
                expression(tokens, at) && tokens.get(*at) == Some(&")")
            }
            Some(token) => ["name", "value", "true", "false"].contains(token),
            None => false,
        };
        *at += 1;
        if !is_item {
            return false;
        }
        if !matches!(tokens.get(*at), Some(&"+" | &"*")) {
            return true;
        }
        *at += 1;
    }
}

#[test]
fn a_lexer_is_found_as_people_would_write_it() {
    let examples = EXAMPLES.map(String::from);
    assert!(examples.iter().all(|example| is_valid(example)));
    let mut teacher = Teacher::new(Queries::new(&is_valid, Asking::default(), &()).unwrap());
    let found = Finder::find(&examples, None, &mut teacher, &mut random()).unwrap();
    let asked = teacher.queries.asked;
    let finder = found.unwrap_or_else(|reason| panic!("{reason}, {asked} queries"));
    let lexer = finder.lexer().unwrap();
    let tokens = |text: &str| -> Vec<String> {
        let (tokens, fault) = lexer.tokens(text);
        assert!(fault.is_none(), "{text}");
        tokens.iter().map(|token| token.name.to_string()).collect()
    };
    assert_eq!(tokens("let let1 = lets"), ["let", "NAME", "=", "NAME"], "{}", lexer.source());
    assert_eq!(tokens("true # + 1\n false").iter().collect::<BTreeSet<_>>().len(), 1, "{}", lexer.source());
    assert_eq!(tokens("1 20.05 0").iter().collect::<BTreeSet<_>>().len(), 1, "{}", lexer.source());
    assert_eq!(tokens("\"a # \\\" b\"").len(), 1);
    assert!(asked < 30_000, "{asked} queries");
}

/// Names and comments are given, with names of their own; the keywords, numbers, strings and operators are found.
#[test]
fn what_is_given_is_kept_and_the_rest_is_found() {
    let given = "%%\n[A-Za-z_][A-Za-z0-9_]* \"IDENTIFIER\"\n#[^\\n]* ;\n= \"is\"\n";
    let examples = EXAMPLES.map(String::from);
    let mut teacher = Teacher::new(Queries::new(&is_valid, Asking::default(), &()).unwrap());
    let given = Given::new(given).unwrap().unwrap();
    let found = Finder::find(&examples, Some(Arc::new(given)), &mut teacher, &mut random()).unwrap();
    let lexer = found.unwrap_or_else(|reason| panic!("{reason}")).lexer().unwrap();
    assert!(
        lexer.source().contains("[A-Za-z_][A-Za-z0-9_]* \"IDENTIFIER\"\n#[^\\n]* ;\n= \"is\"\n"),
        "{}",
        lexer.source()
    );
    let (tokens, fault) = lexer.tokens("let lets = 2.5 + \"#\" # = 1\n ; let true");
    let names: Vec<&str> = tokens.iter().map(|token| token.name).collect();
    assert!(fault.is_none(), "{}", lexer.source());
    assert_eq!(names[..3], ["let", "IDENTIFIER", "is"], "{}", lexer.source());
    assert_eq!((names.len(), names[7]), (9, "let"), "{}", lexer.source());
    assert!(names[8] != "IDENTIFIER" && names[3] != names[4], "{}", lexer.source());
}

/// Names in parentheses, of which `of` is none.
fn names(text: &str) -> bool {
    let pattern = regex::Regex::new(r"^\s*\(\s*([a-z][a-z0-9]*)(\s*,\s*([a-z][a-z0-9]*))*\s*\)\s*$").unwrap();
    pattern.is_match(text) && !text.split(|letter: char| !letter.is_alphanumeric()).any(|word| word == "of")
}

/// No example has the keyword, but one has a name that differs from it in one letter.
#[test]
fn a_word_that_is_no_name_is_a_keyword() {
    let examples = ["(on, x)", "( ab1 )", "(c, de, fgh)"].map(String::from);
    let mut teacher = Teacher::new(Queries::new(&names, Asking::default(), &()).unwrap());
    let mut finder = Finder::find(&examples, None, &mut teacher, &mut random()).unwrap().unwrap();
    let texts = ["(of, x)", "(of,x , y1)", "(c, ofx, fgh)"].map(String::from);
    for fault in finder.faults(&texts, &mut teacher).unwrap().0 {
        let Fault::Lexeme(Mixed { context, word, plain, valid, .. }) = fault else { panic!("{fault:?}") };
        assert_eq!(word, "of");
        let both = [word, plain].map(|word| names(&format!("{}{word}{}", context.0, context.1)));
        assert_eq!(both, [valid, !valid]);
    }
    finder.correct(&texts, &mut teacher, &mut random()).unwrap();
    assert_eq!(finder.faults(&texts, &mut teacher).unwrap().0.len(), 0);
    let lexer = finder.lexer().unwrap();
    let token = |text: &str| lexer.tokens(text).0[0].name.to_string();
    assert_eq!([token("of"), token("ofx"), token("on")], ["of", "NAME", "NAME"], "{}", lexer.source());
}

/// A carriage return ends a comment, too.
#[test]
fn comments_end_where_the_program_ends_them() {
    fn commented(text: &str) -> bool {
        regex::Regex::new(r"^(\s|#[^\n\r]*|[a-z0-9]+|[(),])*$").unwrap().is_match(text)
            && names(&regex::Regex::new(r"#[^\n\r]*").unwrap().replace_all(text, " "))
    }
    let examples = ["(on, x) # (", "( ab1 )", "(c, de, # )\nfgh)"].map(String::from);
    let mut teacher = Teacher::new(Queries::new(&commented, Asking::default(), &()).unwrap());
    let finder = Finder::find(&examples, None, &mut teacher, &mut random()).unwrap().unwrap();
    let lexer = finder.lexer().unwrap();
    let count = |text: &str| lexer.tokens(text).0.len();
    assert_eq!([count("# on, x"), count("# on\rx"), count("# on\nx")], [0, 1, 1], "{}", lexer.source());
}
