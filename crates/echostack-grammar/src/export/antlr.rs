//! Writes combined grammars for ANTLR 4. Grammarinator and Fandango read them as well.
//!
//! The lexers of ANTLR take the longest match, and among those the first rule, as flex does. A last rule for any other
//! character makes a token of it that no rule of the parser has, because ANTLR would drop the character otherwise.

use std::fmt::Write;

use echostack::spelling::{Case, Names, as_written, identifier};
use echostack::{Alphabet, SymbolId};

use super::ebnf::{Reads, Style};
use super::error::ExportError;
use super::productions::Productions;
use super::regex::{self, Dialect};
use super::scanner::Scanner;

/// The names that rules must not have: the words of ANTLR, and those of the languages that it generates most.
const RESERVED: [&str; 60] = [
    "grammar",
    "lexer",
    "parser",
    "fragment",
    "import",
    "mode",
    "options",
    "returns",
    "throws",
    "catch",
    "finally",
    "channels",
    "tokens",
    "locals",
    "init",
    "after",
    "private",
    "protected",
    "public",
    "rule",
    "start",
    "class",
    "def",
    "if",
    "else",
    "elif",
    "for",
    "while",
    "do",
    "return",
    "new",
    "delete",
    "in",
    "is",
    "not",
    "and",
    "or",
    "int",
    "long",
    "float",
    "double",
    "boolean",
    "char",
    "void",
    "switch",
    "case",
    "default",
    "break",
    "continue",
    "try",
    "import_",
    "from",
    "as",
    "with",
    "lambda",
    "pass",
    "raise",
    "static",
    "type",
    "match",
];

/// Writes a grammar for ANTLR. Direct left recursion stays, because ANTLR reads it.
pub(super) fn antlr(
    productions: &Productions,
    scanner: &Scanner,
    alphabet: &Alphabet,
    title: &str,
) -> Result<String, ExportError> {
    let grammar = productions.ebnf().without_left_recursion(Reads::Direct).map_err(|_| ExportError::TooLarge)?;
    let mut names = Names::numbered("_").without(RESERVED);
    let rules: Vec<String> =
        grammar.names.iter().map(|name| names.take(&lower(&as_written(name).to_lowercase()))).collect();
    let mut token_names = Names::numbered("_").without(["EOF", "OTHER"]);
    let lexer: Vec<String> = (scanner.rules.iter().enumerate())
        .map(|(number, rule)| match rule.token {
            Some(token) => token_names.take(&upper(&identifier(alphabet.name(token), Case::Upper))),
            None if rule.skip => token_names.take("SKIPPED"),
            None => token_names.take(&format!("UNUSED_{}", number + 1)),
        })
        .collect();
    let token = |token: &SymbolId| {
        let own: Vec<&str> = scanner.rules_of(*token).map(|rule| lexer[rule].as_str()).collect();
        if own.len() == 1 { own[0].to_string() } else { format!("({})", own.join(" | ")) }
    };
    let style = Style { names: &rules, token: &token, empty: "" };
    let mut out = format!("grammar {title};\n\nstart : {} EOF ;\n", rules[0]);
    for (name, alternatives) in rules.iter().zip(&grammar.rules) {
        let all = style.alternatives(alternatives);
        let _ = writeln!(out, "\n{name}\n    : {}\n    ;", all.join("\n    | "));
    }
    out.push('\n');
    for (name, rule) in lexer.iter().zip(&scanner.rules) {
        let pattern = regex::write(&rule.pattern, Dialect::Antlr);
        // ANTLR allows a command after one alternative only.
        let pattern = if rule.skip { format!("({pattern}) -> skip") } else { pattern };
        let _ = writeln!(out, "{name} : {pattern} ;");
    }
    out.push_str("OTHER : . ;\n");
    Ok(out)
}

/// Returns a name that begins with a lower-case letter, as those of the parser's rules do.
fn lower(name: &str) -> String {
    if name.starts_with(|letter: char| letter.is_ascii_lowercase()) { name.to_string() } else { format!("r{name}") }
}

/// Returns a name that begins with an upper-case letter, as those of the lexer's rules do.
fn upper(name: &str) -> String {
    if name.starts_with(|letter: char| letter.is_ascii_uppercase()) { name.to_string() } else { format!("T{name}") }
}
