//! Verdicts on columns of words.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::{StringBuilder, UInt64Builder};
use arrow_array::{Array, StructArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, Fields};
use echostack::{Alphabet, Limits, Model, Scanner, SymbolId, Verdict, Word, judge_in_turn};
use echostack_grammar::{Lexer, LexerError};
use rayon::prelude::*;

use crate::words::{Words, WordsError};

/// A machine or a table, with its lexer if it is for texts.
#[derive(Debug)]
pub struct Judge {
    model: Model,
    lexer: Option<Lexer>,
}

/// Rows that one thread takes at a time.
const ROWS: usize = 1 << 10;

impl Judge {
    /// A model that judges columns.
    ///
    /// # Errors
    /// If the lexer that it came with cannot be read.
    pub fn new(model: Model) -> Result<Self, LexerError> {
        let lexer = model.manifest().get("lexer").map(|source| Lexer::new(source)).transpose()?;
        Ok(Self { model, lexer })
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Its alphabet.
    pub fn alphabet(&self) -> &Arc<Alphabet> {
        match &self.model {
            Model::Machine(machine) => machine.alphabet(),
            Model::Table(table) => table.alphabet(),
        }
    }

    /// Reads the words of a column.
    ///
    /// # Errors
    /// If it is of a type that holds no words.
    pub fn words(&self, array: &dyn Array) -> Result<Words, WordsError> {
        Words::read(array, self.alphabet(), self.lexer.as_ref())
    }

    /// The verdict on each word; none where a row is null.
    pub fn judge(&self, words: &Words, limits: Limits) -> Vec<Option<Verdict>> {
        self.judge_rows(words, 0..words.len(), limits)
    }

    /// The same on rayon's threads; the answer does not depend on their number.
    pub fn judge_all(&self, words: &Words, limits: Limits) -> Vec<Option<Verdict>> {
        let starts: Vec<usize> = (0..words.len()).step_by(ROWS).collect();
        let rows = |start: usize| start..(start + ROWS).min(words.len());
        starts.into_par_iter().flat_map_iter(|start| self.judge_rows(words, rows(start), limits)).collect()
    }

    fn judge_rows(&self, words: &Words, rows: Range<usize>, limits: Limits) -> Vec<Option<Verdict>> {
        match &self.model {
            Model::Table(table) => {
                let mut scanner = Scanner::new(table, limits);
                let mut verdict = |tokens: &[SymbolId]| {
                    scanner.read(tokens.iter().copied());
                    scanner.finish()
                };
                rows.map(|row| words.get(row).map(&mut verdict)).collect()
            }
            Model::Machine(machine) => {
                let tokens = rows.clone().filter_map(|row| words.get(row));
                let present: Vec<Word> = tokens.map(|tokens| Word::Symbols(tokens.to_vec())).collect();
                let mut verdicts = judge_in_turn(machine, &present, limits).into_iter();
                rows.map(|row| words.get(row).and_then(|_| verdicts.next())).collect()
            }
        }
    }
}

/// The column that says accept, incomplete, reject or stopped.
pub const VERDICT: &str = "verdict";
/// The column with the number of the token that cannot stand where it stands; null if there is none.
pub const POSITION: &str = "position";

/// The fields of [`verdicts`].
pub fn verdict_fields() -> Fields {
    Fields::from(vec![Field::new(VERDICT, DataType::Utf8, true), Field::new(POSITION, DataType::UInt64, true)])
}

/// Verdicts as a column; null where there is none.
pub fn verdicts(all: &[Option<Verdict>]) -> StructArray {
    let mut names = StringBuilder::with_capacity(all.len(), all.len() * 6);
    let mut positions = UInt64Builder::with_capacity(all.len());
    for verdict in all {
        names.append_option(verdict.as_ref().map(Verdict::name));
        positions.append_option(verdict.as_ref().and_then(Verdict::position));
    }
    let nulls: NullBuffer = all.iter().map(Option::is_some).collect();
    StructArray::new(verdict_fields(), vec![Arc::new(names.finish()), Arc::new(positions.finish())], Some(nulls))
}
