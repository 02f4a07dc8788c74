//! Lexers in Lex syntax, which split texts into tokens.

use std::fmt;

use cfgrammar::{Span, Spanned};
use lrlex::{DefaultLexerTypes, LRNonStreamingLexerDef, LexerDef};
use lrpar::{Lexeme as _, Lexer as _};

/// The reason why a lexer was rejected.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct LexerError(String);

/// A lexer: regular expressions, with the names of the terminals that they match.
pub struct Lexer {
    source: String,
    definition: LRNonStreamingLexerDef<DefaultLexerTypes<u32>>,
    /// The names of the rules that produce tokens, by the numbers that the rules were given.
    names: Vec<String>,
}

impl fmt::Debug for Lexer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lexer").field("names", &self.names).finish_non_exhaustive()
    }
}

/// A piece of text that is one token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lexeme<'a> {
    /// The name of the terminal.
    pub name: &'a str,
    /// The position of its first byte in the text.
    pub start: usize,
    /// The position after its last byte.
    pub end: usize,
}

impl Lexer {
    /// Creates a lexer from its text in Lex syntax.
    ///
    /// # Errors
    /// If the text is not a valid lexer.
    pub fn new(source: &str) -> Result<Self, LexerError> {
        let mut definition = LRNonStreamingLexerDef::<DefaultLexerTypes<u32>>::from_str(source)
            .map_err(|errors| LexerError(explain(source, &errors)))?;
        let mut names: Vec<String> = Vec::new();
        for name in definition.iter_rules().filter_map(|rule| rule.name()) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_string());
            }
        }
        let numbers = names.iter().enumerate().map(|(number, name)| (name.as_str(), number as u32)).collect();
        definition.set_rule_ids(&numbers);
        Ok(Self { source: source.to_string(), definition, names })
    }

    /// Returns the text that the lexer was created from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the names of the tokens that the lexer produces.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Splits a text into tokens, up to the first byte at which no token begins. Returns the tokens and that byte, if
    /// there is one.
    pub fn tokens(&self, text: &str) -> (Vec<Lexeme<'_>>, Option<usize>) {
        let mut all = Vec::new();
        for lexeme in self.definition.lexer(text).iter() {
            match lexeme {
                Ok(lexeme) => {
                    let (span, number) = (lexeme.span(), lexeme.tok_id() as usize);
                    all.push(Lexeme { name: &self.names[number], start: span.start(), end: span.end() });
                }
                Err(error) => return (all, Some(lrpar::LexError::span(&error).start())),
            }
        }
        (all, None)
    }
}

/// A human-readable position in a text: the line and the column, counted from 1, and the text of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
    /// The text of the line.
    pub text: &'a str,
}

/// Returns the human-readable position of a byte in a text.
pub fn place(text: &str, byte: usize) -> Place<'_> {
    let byte = (0..=byte.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let start = text[..byte].rfind('\n').map_or(0, |at| at + 1);
    let end = text[byte..].find('\n').map_or(text.len(), |at| byte + at);
    Place {
        line: text[..byte].matches('\n').count() + 1,
        column: text[start..byte].chars().count() + 1,
        text: text[start..end].trim_end_matches('\r'),
    }
}

/// Formats the errors that grmtools found in a text, with their positions.
pub(crate) fn explain<E: Spanned + fmt::Display>(text: &str, errors: &[E]) -> String {
    let one = |error: &E| {
        let Place { line, column, text } = place(text, error.spans().first().map_or(0, Span::start));
        let caret = " ".repeat(column - 1);
        format!("{line}:{column}: {error}\n  {text}\n  {caret}^")
    };
    errors.iter().map(one).collect::<Vec<_>>().join("\n")
}
