//! Writes grammars for bison, and lexers for flex.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use echostack::Alphabet;
use echostack::automaton::Part;
use echostack::spelling::{Case, Names, as_written, identifier};

use super::productions::Productions;
use super::regex::{self, Dialect};
use super::scanner::all_rules;
use crate::grammar::Grammar;
use crate::lex::file::StateChange;
use crate::lex::lexer::Lexer;
use crate::rules::{Associativity, Merging};
use crate::text::source::Source;
use crate::yacc::reading::rules;

/// The number of the first token. bison uses the numbers below for characters and for its own tokens.
const FIRST_TOKEN: usize = 258;

/// How bison parses the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parser {
    /// With a canonical LR(1) table.
    Lr1,
    /// With a table in which conflicts are resolved, as the grammar says.
    Resolved,
    /// Following several parses, because the grammar is not LR(1).
    Glr,
}

/// The precedences of a grammar, as bison declares them.
#[derive(Clone, Debug, Default)]
pub(super) struct Precedences {
    /// The declarations, those that bind least first: a keyword, tokens, and whether a name of its own is needed.
    levels: Vec<(&'static str, Vec<usize>, bool)>,
    /// For each nonterminal and production, the level of `%prec`, if it is needed.
    given: Vec<Vec<Option<Given>>>,
    /// Which states the parser merges, because conflicts may be resolved in another way in merged states.
    merging: Merging,
    /// The conflicts that remain, of shifts and reductions and of two reductions, as far as they are declared.
    remaining: [Option<usize>; 2],
}

/// What `%prec` gives a production.
#[derive(Clone, Copy, Debug)]
enum Given {
    Level(usize),
    /// No precedence at all.
    Nothing,
}

impl Precedences {
    /// Returns the precedences of a grammar, whose productions are given in the order of its table.
    pub(super) fn new(grammar: &Grammar, productions: &Productions) -> Self {
        if !grammar.table().has_resolutions {
            return Self::default();
        }
        // The text was read without an error before.
        let Ok((rules, _)) = rules(Source { file: None, text: grammar.source() }) else { return Self::default() };
        let all = rules.terminal_precedences.iter().chain(&rules.production_precedences).flatten();
        let kinds: BTreeMap<usize, Associativity> = all.map(|given| (given.level, given.associativity)).collect();
        let places: BTreeMap<usize, usize> = kinds.keys().enumerate().map(|(place, &level)| (level, place)).collect();
        let mut levels: Vec<(&str, Vec<usize>, bool)> = kinds
            .iter()
            .map(|(level, associativity)| {
                let keyword = match associativity {
                    Associativity::Left => "%left",
                    Associativity::Right => "%right",
                    Associativity::Nonassoc => "%nonassoc",
                    Associativity::Undefined => "%precedence",
                };
                let tokens = rules.terminal_precedences.iter().enumerate();
                let own = tokens.filter(|(_, given)| given.is_some_and(|given| given.level == *level));
                (keyword, own.map(|(token, _)| token).collect(), false)
            })
            .collect();
        let mut given: Vec<Vec<Option<Given>>> = Vec::new();
        let numbers: HashMap<&str, usize> =
            productions.names.iter().enumerate().map(|(number, name)| (name.as_str(), number)).collect();
        given.resize(productions.rules.len(), Vec::new());
        for (production, own) in rules.productions.iter().zip(&rules.production_precedences) {
            let last = production.right.iter().rev().find(|&&symbol| symbol < rules.terminals);
            let implied = last.and_then(|&token| rules.terminal_precedences[token]);
            let needed = match (own, implied) {
                (Some(own), implied) if implied.map(|implied| implied.level) != Some(own.level) => {
                    let place = places[&own.level];
                    levels[place].2 |= levels[place].1.is_empty();
                    Some(Given::Level(place))
                }
                (None, Some(_)) => Some(Given::Nothing),
                _ => None,
            };
            if let Some(&number) = numbers.get(rules.names[production.left].as_str()) {
                given[number].push(needed);
            }
        }
        let remaining = [rules.expected.shift_reduce, rules.expected.reduce_reduce];
        let remaining = remaining.map(|declared| declared.map(|(count, _)| count).filter(|&count| count > 0));
        Self { levels, given, merging: rules.merging, remaining }
    }
}

/// Writes a grammar for bison. With a lexer, the file also has what a program needs.
pub(super) fn bison(
    grammar: &Productions,
    alphabet: &Alphabet,
    parser: Parser,
    complete: bool,
    precedences: &Precedences,
) -> String {
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
    out.push_str(match (parser, precedences.merging) {
        (Parser::Glr, _) => "%glr-parser\n",
        (Parser::Resolved, Merging::Lalr) => "%define lr.type lalr\n",
        // It accepts what a canonical parser does, and has fewer states, in each of which a conflict would be counted.
        (Parser::Resolved, _) => "%define lr.type ielr\n",
        (Parser::Lr1, _) => "%define lr.type canonical-lr\n",
    });
    for (directive, remaining) in ["%expect", "%expect-rr"].into_iter().zip(precedences.remaining) {
        if let Some(count) = remaining {
            let _ = writeln!(out, "{directive} {count}");
        }
    }
    for (number, token) in alphabet.terminals().enumerate() {
        let _ = writeln!(out, "%token {} {} {}", tokens[number], FIRST_TOKEN + number, quoted(alphabet.name(token)));
    }
    // A level that no token has gets a name, for %prec.
    let level_names: Vec<String> =
        (0..precedences.levels.len()).map(|place| names.take(&format!("PRECEDENCE_{}", place + 1))).collect();
    let nothing = names.take("NO_PRECEDENCE");
    if precedences.given.iter().flatten().any(|given| matches!(given, Some(Given::Nothing))) {
        let _ = writeln!(out, "%token {nothing}");
    }
    for ((keyword, tokens, named), name) in precedences.levels.iter().zip(&level_names) {
        let tokens = alphabet.terminals().filter(|token| tokens.contains(&token.index()));
        let shown = tokens.map(|token| quoted(alphabet.name(token))).chain(named.then(|| name.clone()));
        let _ = writeln!(out, "{keyword} {}", shown.collect::<Vec<_>>().join(" "));
    }
    let prec = |number: usize, at: usize| match precedences.given.get(number).and_then(|own| own.get(at)) {
        Some(Some(Given::Nothing)) => format!(" %prec {nothing}"),
        Some(Some(Given::Level(place))) => {
            let (_, tokens, _) = &precedences.levels[*place];
            let token = alphabet.terminals().find(|token| tokens.contains(&token.index()));
            format!(
                " %prec {}",
                token.map_or_else(|| level_names[*place].clone(), |token| quoted(alphabet.name(token)))
            )
        }
        _ => String::new(),
    };
    let _ = writeln!(out, "%start {}\n%%", rules[0]);
    let part = |part: &Part| match *part {
        Part::Nonterminal(number) => rules[number].clone(),
        Part::Token(token) => quoted(alphabet.name(token)),
    };
    for (number, (name, own)) in rules.iter().zip(&grammar.rules).enumerate() {
        let mut all: Vec<String> = own
            .iter()
            .enumerate()
            .map(|(at, parts)| match parts[..] {
                [] => format!("%empty{}", prec(number, at)),
                _ => parts.iter().map(part).collect::<Vec<_>>().join(" ") + &prec(number, at),
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
    let changes = || rules.iter().filter_map(|rule| rule.change.as_ref());
    let pushes = changes().any(|change| matches!(change, StateChange::Push(_)));
    if pushes {
        out.push_str("%option stack noyy_top_state\n");
        // Without a rule that leaves a state for the one before, the function for it would be a warning of the compiler.
        if !changes().any(|change| matches!(change, StateChange::Pop | StateChange::Replace(_))) {
            out.push_str("%option noyy_pop_state\n");
        }
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
            // Without a rule that pushes, there is nothing to take from the stack.
            Some(StateChange::Pop) if !pushes => "BEGIN(INITIAL); ".to_string(),
            Some(StateChange::Replace(state)) if !pushes => format!("BEGIN({}); ", state_names[state]),
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
