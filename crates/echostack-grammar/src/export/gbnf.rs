//! Writes spelled grammars: GBNF, and the dialect of Lark that llguidance reads.

use std::fmt::Write;

use super::ebnf::{Ebnf, Piece, Reads, Style};
use super::error::ExportError;
use super::regex::{self, Dialect};
use super::scanner::Scanner;
use super::spell::{Letters, Spelled};

/// Writes a grammar in GBNF. llama.cpp refuses left recursion, so there is none, and follows all alternatives at once, so
/// that no two of them begin in the same way.
pub(super) fn gbnf(spelled: Spelled, scanner: &Scanner) -> Result<String, ExportError> {
    let grammar = spelled.grammar.without_left_recursion(Reads::Nothing).map_err(|_| ExportError::TooLarge)?;
    let grammar = grammar.factored();
    // Old versions of llama.cpp allow no underscores in names.
    let names: Vec<String> = grammar.names.iter().map(|name| name.replace('_', "-")).collect();
    let token = |letters: &Letters| match letters {
        Letters::Text(text) => regex::gbnf_string(text),
        Letters::Pattern(rule) => regex::write(&scanner.rules[*rule].pattern, Dialect::Gbnf),
        Letters::Class(ranges) => regex::class(ranges, Dialect::Gbnf),
    };
    Ok(write(&grammar, "::=", &Style { names: &names, token: &token, empty: "\"\"" }))
}

/// Writes a grammar for llguidance, spelled out in characters.
pub(super) fn llguidance(spelled: &Spelled, scanner: &Scanner) -> String {
    let mut names = spelled.grammar.names.clone();
    names[0] = "start".to_string();
    let token = |letters: &Letters| match letters {
        Letters::Text(text) => regex::lark_string(text),
        Letters::Pattern(rule) => format!("/{}/", regex::write(&scanner.rules[*rule].pattern, Dialect::Python)),
        Letters::Class(ranges) => format!("/{}/", regex::class(ranges, Dialect::Python)),
    };
    write(&spelled.grammar, ":", &Style { names: &names, token: &token, empty: "\"\"" })
}

fn write(grammar: &Ebnf<Letters>, is: &str, style: &Style<'_, Letters>) -> String {
    let mut out = String::new();
    for (number, (name, alternatives)) in style.names.iter().zip(&grammar.rules).enumerate() {
        let mut all = style.alternatives(alternatives);
        if all.is_empty() {
            // Nothing can be derived. A rule without alternatives would derive the empty text, so this one never ends.
            all = style.alternatives(&[vec![Piece::Token(Letters::Text("a".into())), Piece::Rule(number)]]);
        }
        let _ = writeln!(out, "{name} {is} {}", all.join(" | "));
    }
    out
}
