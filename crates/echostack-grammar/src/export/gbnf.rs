//! Writes spelled grammars: GBNF, and the dialect of Lark that llguidance reads.

use std::fmt::Write;

use regex_syntax::hir::Hir;

use super::ebnf::{Ebnf, Piece, Reads, Style};
use super::error::ExportError;
use super::regex::{self, Dialect};
use super::spell::{Letters, Pattern, Spelled};

/// Writes a grammar in GBNF. llama.cpp refuses left recursion, so there is none, and follows all alternatives at once, so
/// that no two of them begin in the same way.
pub(super) fn gbnf(spelled: Spelled) -> Result<String, ExportError> {
    let grammar = spelled.grammar.without_left_recursion(Reads::Nothing).map_err(|_| ExportError::TooLarge)?;
    let grammar = grammar.factored();
    // Old versions of llama.cpp allow no underscores in names.
    let names: Vec<String> = grammar.names.iter().map(|name| name.replace('_', "-")).collect();
    let token = |letters: &Letters| match letters {
        Letters::Text(text) => regex::gbnf_string(text),
        Letters::Pattern(number) => regex::write(&spelled.patterns[*number].matching, Dialect::Gbnf),
        Letters::Class(ranges) => regex::class(ranges, Dialect::Gbnf),
    };
    Ok(write(&grammar, " ::=", &Style { names: &names, token: &token, empty: "\"\"" }))
}

/// Writes a grammar for llguidance, in which nothing is ignored. Rules of one expression are written as tokens.
pub(super) fn llguidance(spelled: &Spelled) -> String {
    let mut names = spelled.grammar.names.clone();
    names[0] = "start".to_string();
    for (name, alternatives) in names.iter_mut().zip(&spelled.grammar.rules).skip(1) {
        if let [alternative] = &alternatives[..]
            && let [Piece::Token(Letters::Pattern(_))] = alternative[..]
        {
            *name = name.to_uppercase();
        }
    }
    let token = |letters: &Letters| match letters {
        Letters::Text(text) => regex::lark_string(text),
        Letters::Pattern(number) => {
            let Pattern { matching, except, .. } = &spelled.patterns[*number];
            let written = |pattern: &Hir| regex::write(pattern, Dialect::Python);
            match except.iter().map(written).collect::<Vec<_>>() {
                none if none.is_empty() => format!("/{}/", written(matching)),
                except => format!("/{}/ & ~/{}/", written(matching), except.join("|")),
            }
        }
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
        let _ = writeln!(out, "{name}{is} {}", all.join(" | "));
    }
    out
}
