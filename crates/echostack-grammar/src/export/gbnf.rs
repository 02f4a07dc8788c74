//! Writes spelled grammars: GBNF, and the dialect of Lark that llguidance reads.

use std::fmt::Write;

use super::regex::{self, Dialect};
use super::scanner::Scanner;
use super::spell::{Piece, Spelled};

/// Writes a grammar in GBNF.
pub(super) fn gbnf(spelled: &Spelled, scanner: &Scanner) -> String {
    // llama.cpp allows no underscores in names.
    let names: Vec<String> = spelled.names.iter().map(|name| name.replace('_', "-")).collect();
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => regex::gbnf_string(text),
        Piece::Pattern(rule) => regex::write(&scanner.rules[*rule].pattern, Dialect::Gbnf),
        Piece::Class(ranges) => regex::class(ranges, Dialect::Gbnf),
        Piece::Rule(number) => names[*number].clone(),
    };
    write(spelled, &names, "::=", "\"\"", piece)
}

/// Writes a grammar for llguidance.
pub(super) fn llguidance(spelled: &Spelled, scanner: &Scanner) -> String {
    let mut names = spelled.names.clone();
    names[0] = "start".to_string();
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => regex::lark_string(text),
        Piece::Pattern(rule) => format!("/{}/", regex::write(&scanner.rules[*rule].pattern, Dialect::Python)),
        Piece::Class(ranges) => format!("/{}/", regex::class(ranges, Dialect::Python)),
        Piece::Rule(number) => names[*number].clone(),
    };
    write(spelled, &names, ":", "\"\"", piece)
}

fn write(spelled: &Spelled, names: &[String], is: &str, empty: &str, piece: impl Fn(&Piece) -> String) -> String {
    let mut out = String::new();
    for (number, (name, alternatives)) in names.iter().zip(&spelled.rules).enumerate() {
        let mut all: Vec<String> = alternatives
            .iter()
            .map(|pieces| match pieces[..] {
                [] => empty.to_string(),
                _ => pieces.iter().map(&piece).collect::<Vec<_>>().join(" "),
            })
            .collect();
        if all.is_empty() {
            // Nothing can be derived. A rule without alternatives would derive the empty text, so this one never ends.
            all.push(format!("\"a\" {}", piece(&Piece::Rule(number))));
        }
        let _ = writeln!(out, "{name} {is} {}", all.join(" | "));
    }
    out
}
