//! Writes grammars for bison, and lexers for flex.

use std::fmt::Write;

use echostack::Alphabet;
use echostack::automaton::Part;
use echostack::spelling::{Case, Names, as_written, identifier};

use super::productions::Productions;
use super::regex::{self, Dialect};
use super::scanner::all_rules;
use crate::lex::file::StateChange;
use crate::lex::lexer::Lexer;

/// The number of the first token. bison uses the numbers below for characters and for its own tokens.
const FIRST_TOKEN: usize = 258;

/// How bison parses the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parser {
    /// With a canonical LR(1) table.
    Lr1,
    /// Following several parses, because the grammar is not LR(1).
    Glr,
}

/// Writes a grammar for bison. With a lexer, the file also has what a program needs.
pub(super) fn bison(grammar: &Productions, alphabet: &Alphabet, parser: Parser, complete: bool) -> String {
    let mut names = Names::numbered("_").without(["error", "YYEOF", "YYerror", "YYUNDEF", "int", "char"]);
    let tokens: Vec<String> =
        alphabet.terminals().map(|token| names.take(&identifier(alphabet.name(token), Case::Upper))).collect();
    let rules: Vec<String> = grammar.names.iter().map(|name| names.take(&as_written(name))).collect();
    let mut out = String::new();
    if complete {
        out.push_str(
            "%{\n#include <stdio.h>\n\nextern int yylineno;\nint yylex(void);\n\n\
             static void yyerror(const char *message)\n{\n    fprintf(stderr, \"line %d: %s\\n\", yylineno, message);\n}\n%}\n",
        );
        out.push_str("%define parse.error verbose\n%define api.token.prefix {T_}\n");
    }
    out.push_str(match parser {
        Parser::Lr1 => "%define lr.type canonical-lr\n",
        Parser::Glr => "%glr-parser\n",
    });
    for (number, token) in alphabet.terminals().enumerate() {
        let _ = writeln!(out, "%token {} {} {}", tokens[number], FIRST_TOKEN + number, quoted(alphabet.name(token)));
    }
    let _ = writeln!(out, "%start {}\n%%", rules[0]);
    let part = |part: &Part| match *part {
        Part::Nonterminal(number) => rules[number].clone(),
        Part::Token(token) => quoted(alphabet.name(token)),
    };
    for (name, own) in rules.iter().zip(&grammar.rules) {
        let mut all: Vec<String> = own
            .iter()
            .map(|parts| match parts[..] {
                [] => "%empty".to_string(),
                _ => parts.iter().map(part).collect::<Vec<_>>().join(" "),
            })
            .collect();
        if all.is_empty() {
            // The language is empty, and a rule without alternatives would derive the empty word.
            let first = alphabet.terminals().next().map(|token| part(&Part::Token(token)));
            all.push(format!("{} {name}", first.unwrap_or_default()));
        }
        let _ = writeln!(out, "{name}\n    : {}\n    ;", all.join("\n    | "));
    }
    out
}

/// Quotes the name of a token, as an alias.
fn quoted(name: &str) -> String {
    let mut out = String::from("\"");
    for letter in name.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            letter if letter.is_ascii_control() => _ = write!(out, "\\{:03o}", u32::from(letter)),
            letter => out.push(letter),
        }
    }
    out + "\""
}

/// Writes a lexer for flex, with a main function that reads standard input.
pub(super) fn flex(lexer: &Lexer, alphabet: &Alphabet) -> String {
    let (states, rules) = all_rules(lexer);
    let mut names = Names::numbered("_").without(["INITIAL"]);
    let state_names: Vec<String> = (states.iter().enumerate())
        .map(|(number, state)| if number == 0 { "INITIAL".to_string() } else { names.take(&as_written(&state.name)) })
        .collect();
    let mut out = String::from("%{\nint yyparse(void);\n%}\n%option 8bit noyywrap nounput noinput yylineno\n");
    if rules.iter().any(|rule| rule.change.is_some()) {
        out.push_str("%option stack noyy_top_state\n");
    }
    for (state, name) in states.iter().zip(&state_names).skip(1) {
        let _ = writeln!(out, "{} {name}", if state.exclusive { "%x" } else { "%s" });
    }
    out.push_str("%%\n");
    for rule in &rules {
        let within: Vec<&str> = rule.states.iter().map(|&state| state_names[state].as_str()).collect();
        let within = if within.is_empty() { String::new() } else { format!("<{}>", within.join(",")) };
        let change = match rule.change {
            None => String::new(),
            Some(StateChange::Begin(state)) => format!("BEGIN({}); ", state_names[state]),
            Some(StateChange::Push(state)) => format!("yy_push_state({}); ", state_names[state]),
            Some(StateChange::Pop) => "if (yy_start_stack_ptr > 0) yy_pop_state(); else BEGIN(INITIAL); ".to_string(),
            Some(StateChange::Replace(state)) => {
                format!("while (yy_start_stack_ptr > 0) yy_pop_state(); BEGIN({}); ", state_names[state])
            }
        };
        let known =
            rule.name.as_deref().map(|name| alphabet.terminals().position(|token| alphabet.name(token) == name));
        let token = match known {
            None => ";".to_string(),
            Some(Some(number)) => format!("return {};", FIRST_TOKEN + number),
            // The grammar has no such token.
            Some(None) => "return 257;".to_string(),
        };
        let pattern = regex::write(&rule.pattern, Dialect::Flex);
        let _ = writeln!(out, "{within}({pattern})  {{ {change}{token} }}");
    }
    // 257 is bison's token for what is not a token.
    out.push_str("<*>.|\\n  { return 257; }\n%%\n\nint main(void)\n{\n    return yyparse();\n}\n");
    out
}
