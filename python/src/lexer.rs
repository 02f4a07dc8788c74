//! The Python class `Lexer`, which splits texts into tokens.

use pyo3::prelude::*;

use crate::errors::Kind;

/// A lexer in Lex syntax.
#[pyclass(module = "echostack._native", frozen)]
pub(crate) struct Lexer(echostack_grammar::Lexer);

#[pymethods]
impl Lexer {
    #[new]
    fn new(source: &str) -> PyResult<Self> {
        Ok(Self(echostack_grammar::Lexer::new(source).map_err(|error| Kind::Grammar.error(error))?))
    }

    /// Splits a text into tokens. Returns, for each token, its name, the position of its first character and the
    /// position after its last one. Also returns the position of the character at which no token begins, if there is
    /// one.
    fn tokens(&self, text: &str) -> (Vec<(String, usize, usize)>, Option<usize>) {
        let (lexemes, bad) = self.0.tokens(text);
        // Positions are counted in bytes in Rust, and in characters in Python. They only increase.
        let (mut byte, mut character) = (0, 0);
        let mut place = |at: usize| {
            character += text[byte..at].chars().count();
            byte = at;
            character
        };
        let tokens =
            lexemes.iter().map(|lexeme| (lexeme.name.to_string(), place(lexeme.start), place(lexeme.end))).collect();
        (tokens, bad.map(|bad| place(bad.byte() as usize)))
    }
}
