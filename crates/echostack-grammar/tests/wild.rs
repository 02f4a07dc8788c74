//! Tests of grammars as they are written for bison: whatever is in them besides the language is passed over.

use std::fmt::Write;

use echostack::language::Language;
use echostack::{Oracle, Recognizer, Verdict};
use echostack_grammar::{Encoding, Grammar, LrTable};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn read(yacc: &str) -> Grammar {
    Grammar::new("test", yacc, Encoding::Auto).unwrap_or_else(|error| panic!("{error}\n{yacc}"))
}

fn warnings(yacc: &str) -> Vec<String> {
    read(yacc).warnings().iter().map(ToString::to_string).collect()
}

/// Returns everything that a table says.
fn contents(table: &LrTable) -> String {
    let mut text = format!("{:?} {} {:?}\n", table.names(), table.terminals(), table.productions());
    for state in 0..table.states() {
        let actions: Vec<_> = (0..=table.terminals()).map(|lookahead| table.action(state, lookahead)).collect();
        let next: Vec<_> = (0..table.names().len()).map(|symbol| table.next(state, symbol)).collect();
        writeln!(text, "{actions:?} {next:?}").unwrap();
    }
    text
}

fn accepts(grammar: &Grammar, text: &str) -> bool {
    let oracle = Oracle::strict(grammar.automaton().clone()).unwrap();
    let word = grammar.automaton().alphabet().word(text.split_whitespace()).unwrap();
    oracle.judge(&word) == Verdict::Accept
}

#[test]
fn what_is_not_about_the_language_is_passed_over() {
    // The declarations list '+' before the other terminals.
    let plain = "%token NUM ID '+'\n%left '+'\n%left '*'\n%%\n\
                 list: | list expr ';' | list ID '=' expr ';';\n\
                 expr: NUM | expr '+' expr | expr '*' expr | '-' expr %prec '*';\n";
    let decorated = r#"/* A calculator. */
%require "3.8"
%language "c++"
%{
#include <stdio.h>
/* %} */ static const char *end = "%}"; // don't stop here: %}
%}
%code requires { struct node { int value; }; }
%union value { int number; struct { char *name; } id; }
%define api.value.type {union value}
%define parse.error verbose
%locations %debug
%parse-param { int *result } {char brace = '}';}
%initial-action { @$.begin.filename = @$.end.filename = "{"; };
%token <number> NUM 258 "number" <id> ID _("identifier")
%token '+' "plus"
%type <number> list,
    expr
%nterm <number> unused-nonterminal
%destructor { free($$); } <id> <*> expr
%printer { fprintf(yyo, "}"); } <number>
%left <number> '+'
%left
  '*' /* over
  lines */
%start list
%expect 0
%%
list[result]
  : %empty { $$ = '}'; /* } */ }
  | list { before(); } expr[value] <number>{ mid(); }[act] ';' { puts("}\"{"); } // }
  | list "identifier" '=' expr ';' { if (1) { f(); } else { g(); } }
%type <number> list
expr : "number" | expr[left] '+' expr[right] | expr '*' expr { $$ = $1 * $3; } %prec '*' ;;
| '\x2d' expr %prec '*' %dprec 2 %merge <choose> { $$ = -$2; }
%%
int main() { return yyparse(); } }}} %%%
"#;
    assert_eq!(contents(read(plain).table()), contents(read(decorated).table()));
    assert_eq!(warnings(decorated), Vec::<String>::new());
}

#[test]
fn literals_stand_for_the_tokens_that_they_are_aliases_for() {
    let grammar =
        read("%left \"+\"\n%token PLUS \"+\" NUM \"number\" END 0 \"end\"\n%%\ne: e \"+\" e | \"number\" | '\\n';\n");
    assert_eq!(grammar.table().names(), ["PLUS", "NUM", "\\n", "e"]);
    assert!(accepts(&grammar, "NUM PLUS NUM PLUS \\n"));
    assert_eq!(grammar.warnings(), []);
    // As in bison, only a literal in double quotes is an alias.
    assert_eq!(
        read("%token PLUS \"+\" B 'c'\n%%\ne: \"+\" '+' B \"c\" 'c';\n").table().names(),
        ["PLUS", "B", "c", "+", "e"]
    );
    // A token and a nonterminal with the same name are different.
    assert_eq!(read("%%\nS: 'S' S | 'x';\n").table().names(), ["S", "x", "<S>"]);
}

#[test]
fn productions_with_the_error_token_are_left_out() {
    let yacc = "%%\nlines: | lines line;\nline: 'x' ';'\n  | error ';' { yyerrok; }\n  | 'y' bad;\nbad: error;\n";
    assert_eq!(read(yacc).table().names(), ["x", ";", "lines", "line"]);
}

#[test]
fn what_no_word_needs_is_left_out() {
    let yacc = "%token A B C\n%token D\n%%\nS: A | B T; T: 'd' T; U: V; V: C | 'e';\n";
    assert_eq!(read(yacc).table().names(), ["A", "S"]);
}

#[test]
fn what_looks_different_is_read_as_in_bison() {
    // The last declaration holds for all productions.
    read("%left 'x'\n%no-default-prec\n%%\nS: S 'x' S | 'y'; %default-prec;\n");
    assert_eq!(
        warnings("%token LESS \"<\"\n%%\nE: E \"<\" 'n' | 'while' 'n' | \"do\" 'n' | 'n';\n"),
        Vec::<String>::new()
    );
    // Bytes that are not ASCII have one name.
    assert_eq!(read("%%\nS: '\\xe9' 'x' | '\\351' 'y';\n").table().terminals(), 3);
}

#[test]
fn code_ends_where_it_ends_for_bison() {
    for code in ["{ // \\\n } | 'b' {\n }", "{ // \\ \r\n } | 'b' {\n }", "{\n#if 0\n <% } | 'b' { %>\n#endif\n }"] {
        let grammar = read(&format!("%%\nS: 'a' {code}\n ;\n"));
        assert!(accepts(&grammar, "a") && grammar.table().terminals() == 1, "{code}");
    }
    // Quotes that are not closed are looked at once for each line.
    read(&format!("%%\nS: 'a' {{ '{}\n }};\n", "\\'".repeat(1_000_000)));
}

const DANGLING: &str = "%%\nS: 'if' S | 'if' S 'else' S | 'x';\n";

#[test]
fn conflicts_that_are_expected_are_resolved_as_in_yacc() {
    let grammar = read(&format!("%expect 1\n{DANGLING}"));
    assert!(accepts(&grammar, "if if x else x else x"));
    assert!(!accepts(&grammar, "if x else x else x"));
    assert_eq!(grammar.warnings(), []);

    let two = "%%\nS: A 'x' | B 'y' | B 'x'; A: 'a'; B: 'a';\n";
    let grammar = read(&format!("%expect-rr 1\n{two}"));
    // The first production wins.
    assert!(accepts(&grammar, "a x") && accepts(&grammar, "a y"));
}

#[test]
fn precedence_without_associativity_leaves_the_conflict() {
    let rules = "%%\nS: S '+' S | 'x';\n";
    for (kind, words) in [("left", 1), ("right", 1), ("nonassoc", 0)] {
        let grammar = read(&format!("%{kind} '+'\n{rules}"));
        assert_eq!(accepts(&grammar, "x + x + x"), words == 1, "{kind}");
    }
    let resolved =
        read("%precedence 'then'\n%precedence 'else'\n%%\nS: 'if' S %prec 'then' | 'if' S 'else' S | 'x';\n");
    assert_eq!(contents(resolved.table()), contents(read(&format!("%expect 1{DANGLING}")).table()));
}

#[test]
fn words_that_are_forbidden_are_not_drawn() {
    let grammar = read("%nonassoc '<'\n%%\nS: S '<' S | 'x';\n");
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for _ in 0..50 {
        assert!(grammar.word(&mut random, 1..=3).is_some_and(|word| word.len() <= 3));
    }
    assert_eq!(grammar.word(&mut random, 5..=5), None);
    assert_eq!(grammar.covering().len(), 2);
}

/// A random grammar: the productions of each nonterminal. Nonterminals are capital letters, terminals small ones.
type Rules = Vec<(char, Vec<Vec<char>>)>;

fn random_rules(random: &mut ChaCha8Rng) -> Rules {
    let nonterminals: Vec<char> = ('A'..='E').take(random.random_range(1..=4)).collect();
    let terminals: Vec<char> = ('a'..='e').take(random.random_range(1..=4)).collect();
    let mut rules = Vec::new();
    for &left in &nonterminals {
        let mut productions = Vec::new();
        for _ in 0..random.random_range(1..4) {
            let length = random.random_range(0..4);
            let symbols = (0..length).map(|_| {
                let kind = if random.random_bool(0.4) { &nonterminals } else { &terminals };
                kind[random.random_range(0..kind.len())]
            });
            productions.push(symbols.collect());
        }
        rules.push((left, productions));
    }
    rules
}

/// Declarations of tokens and precedences that do not depend on how the rules are written.
const TOKENS: &str = "%token a b c d e\n";

fn plain(head: &str, rules: &Rules) -> String {
    let mut text = format!("{head}%%\n");
    for (left, productions) in rules {
        for production in productions {
            let symbols: Vec<String> = production.iter().map(char::to_string).collect();
            writeln!(text, "{left}: {};", symbols.join(" ")).unwrap();
        }
    }
    text
}

/// Returns one of the texts, or nothing.
fn some(random: &mut ChaCha8Rng, texts: &[&str]) -> String {
    match random.random_range(0..texts.len() * 2) {
        number if number < texts.len() => texts[number].to_string(),
        _ => String::new(),
    }
}

const SPACES: [&str; 6] = ["\n", "\t", " /* } ' \" %% */ ", " // ; | } \n", "\r\n", " /**/ "];
const ACTIONS: [&str; 5] =
    ["{ $$ = $1; }", "{ f(\"}\", '\\'', '{'); /* } */ }", "<value>{ if (x) { y(); } }", "{ // }\n}[name]", "{}"];
const DECLARATIONS: [&str; 9] = [
    "%{\n#include <stdio.h>\nchar *s = \"%}\"; /* %} */\n%}\n",
    "%union { int i; struct { char c; } s; }\n",
    "%type <i> A,\n   B\n",
    "%code requires { /* } */ }\n",
    "%define api.value.type {int}\n",
    "%destructor { free($$); } <*> A\n",
    "%locations\n%verbose;\n",
    "%parse-param {int *p} {char q}\n",
    "%printer { f(yyo, \"}\"); } <i>\n",
];

/// Writes the same grammar as `plain`, with everything around it that a grammar for bison may have.
fn decorated(random: &mut ChaCha8Rng, head: &str, rules: &Rules) -> String {
    let mut text = String::new();
    for _ in 0..3 {
        text += &some(random, &DECLARATIONS);
    }
    let tokens = "%token <i> a 300 \"the a\" b\n%token c <s> d 400 _(\"the d\") e\n";
    text += &head.replace(TOKENS, tokens);
    text += &some(random, &DECLARATIONS);
    text += "%%\n";
    for (number, (left, productions)) in rules.iter().enumerate() {
        write!(text, "{left}{}{}:", some(random, &["[left]"]), some(random, &SPACES)).unwrap();
        for (number, production) in productions.iter().enumerate() {
            text += if number > 0 { "|" } else { "" };
            text += if production.is_empty() && random.random_bool(0.5) { " %empty " } else { " " };
            for symbol in production {
                text += &some(random, &ACTIONS);
                text += &some(random, &SPACES);
                match symbol {
                    'a' if random.random_bool(0.5) => text += " \"the a\" ",
                    'd' if random.random_bool(0.5) => text += " \"the d\" ",
                    'b' if random.random_bool(0.2) => text += " 'b' ",
                    symbol => write!(text, " {symbol} ").unwrap(),
                }
                text += &some(random, &["[name]"]);
            }
            text += &some(random, &ACTIONS);
            text += &some(random, &SPACES);
        }
        let semicolon = if number + 1 == rules.len() { ["", ";"] } else { [" ", ";;"] };
        text += semicolon[random.random_range(0..2)];
        text += &some(random, &["%type <i> A;\n", "%locations;\n"]);
    }
    text + &some(random, &["%%\nint main() { return '}'; } %% }"])
}

#[test]
fn a_decorated_grammar_has_the_same_table() {
    let mut random = ChaCha8Rng::seed_from_u64(19);
    let (mut tables, mut errors) = (0, 0);
    for _ in 0..1500 {
        let rules = random_rules(&mut random);
        let precedences = some(&mut random, &["%left a b\n%right c\n", "%nonassoc a\n%precedence b c d\n"]);
        let expected = some(&mut random, &["%expect 4\n%expect-rr 4\n"]);
        let head = format!("{TOKENS}%start A\n{precedences}{expected}");
        let (one, other) = (plain(&head, &rules), decorated(&mut random, &head, &rules));
        let read = |yacc: &str| {
            let grammar = Grammar::new("test", yacc, Encoding::State).map_err(|error| error.to_string());
            grammar.map(|grammar| contents(grammar.table()))
        };
        let (expected, found) = (read(&one), read(&other));
        assert_eq!(expected, found, "{one}\n{other}");
        *if expected.is_ok() { &mut tables } else { &mut errors } += 1;
    }
    assert!(tables > 300 && errors > 300, "{tables} tables and {errors} errors");
}

#[test]
fn a_damaged_grammar_leads_to_a_value() {
    let mut random = ChaCha8Rng::seed_from_u64(21);
    let parts =
        ["%", "%%", "'", "\"", "{", "}", "/*", "//", "\\", "<", "[", ":", "|", ";", "é", "\0", "%prec", "%?{", "error"];
    let (mut grammars, mut errors) = (0, 0);
    for _ in 0..3000 {
        let rules = random_rules(&mut random);
        let mut text = decorated(&mut random, &format!("{TOKENS}%start A\n"), &rules);
        for _ in 0..random.random_range(1..4) {
            let place = |random: &mut ChaCha8Rng| {
                let at = random.random_range(0..=text.len());
                (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
            };
            let (one, other) = (place(&mut random), place(&mut random));
            let part = parts[random.random_range(0..parts.len())];
            let from = one.min(other).max(one.max(other).saturating_sub(random.random_range(0..20)));
            let from = (0..=from).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
            text.replace_range(from..one.max(other), part);
        }
        *if Grammar::new("test", &text, Encoding::Auto).is_ok() { &mut grammars } else { &mut errors } += 1;
    }
    assert!(grammars > 100 && errors > 100, "{grammars} grammars and {errors} errors");
}

/// Reads the examples that are part of bison's documentation. All are read, except for two: one needs a GLR parser, and
/// one has the end of the input in its rules.
#[test]
#[ignore = "needs bison's examples, which Debian's package has"]
fn the_examples_of_bison_are_read_or_what_is_not_read_is_named() {
    let root = std::path::Path::new("/usr/share/doc/bison/examples");
    let mut folders = vec![root.to_path_buf()];
    let mut refused = Vec::new();
    let mut read = 0;
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "y" || end == "yy") {
                match Grammar::open(&path, Encoding::Auto) {
                    Ok((grammar, _)) => println!("{}: {:?}", path.display(), grammar.warnings()),
                    Err(error) => refused.push(error.to_string()),
                }
                read += 1;
            }
        }
    }
    refused.sort();
    assert_eq!((read, refused.len()), (16, 2), "{refused:?}");
    let end = "c/reccalc/parse.y:136:3: EOF is the end of the input, which needs no token; remove it from the rule";
    assert!(refused[0].contains(end), "{refused:?}");
    assert!(refused[1].starts_with("the grammar has 1 reduce/reduce conflict, which only a GLR parser could follow"));
}
