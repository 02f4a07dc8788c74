//! Files with their names, as errors and warnings cite them.

use super::error::{GrammarError, Warning};
use super::place::Place;

/// A file of a grammar or lexer: its text and, if it was read from a file, the file's path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    pub(crate) file: Option<&'a str>,
    pub(crate) text: &'a str,
}

impl Source<'_> {
    /// Returns an error at a byte of the text.
    pub(crate) fn error(&self, at: usize, message: &str) -> GrammarError {
        let place = Place::new(self.text, at);
        GrammarError::Syntax(format!("{}: {message}\n{}", self.name(&place), place.excerpt()))
    }

    /// Returns a warning about a byte of the text.
    pub(crate) fn warning(&self, at: usize, message: &str) -> Warning {
        Warning::new(format!("{}: {message}", self.name(&Place::new(self.text, at))))
    }

    /// Returns the path, line and column of a place.
    fn name(&self, Place { line, column, .. }: &Place) -> String {
        match self.file {
            Some(file) => format!("{file}:{line}:{column}"),
            None => format!("{line}:{column}"),
        }
    }
}
