//! Judging columns of words that are passed through the Arrow C data interface, without a Python object for each token.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema};
use echostack::recognize::Outcome;
use echostack::{Control, Limits, Model};
use echostack_arrow::{Words, verdict_fields, verdicts};
use echostack_grammar::Judge;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;
use pyo3_arrow::input::AnyArray;

use crate::errors::Kind;
use crate::judging;
use crate::waiting::Waiting;

/// The number of rows that are read before they are judged.
const ROWS_AT_ONCE: usize = 1 << 16;

/// Returns the chunks of a column, which is an Arrow array, a stream of arrays, or a table with one column.
fn column(given: &Bound<'_, PyAny>) -> PyResult<Vec<ArrayRef>> {
    let any: AnyArray = given.extract()?;
    let (chunks, _) = any.into_chunked_array()?.into_inner();
    chunks.into_iter().map(only_column).collect()
}

fn only_column(chunk: ArrayRef) -> PyResult<ArrayRef> {
    match chunk.data_type() {
        DataType::Struct(fields) if fields.len() == 1 => Ok(chunk.as_struct().column(0).clone()),
        DataType::Struct(fields) => {
            let names: Vec<&str> = fields.iter().map(|field| field.name().as_str()).collect();
            Err(Kind::Data
                .error(format!("the table has the columns {}; pass only the column with the words", names.join(", "))))
        }
        _ => Ok(chunk),
    }
}

/// The outcome of each word; `None` where the row is null.
pub(crate) struct Outcomes(Vec<Option<Outcome>>);

/// Judges a column without holding the interpreter's lock.
pub(crate) fn judge(
    py: Python<'_>,
    model: Model,
    words: &Bound<'_, PyAny>,
    limits: Limits,
    in_turn: bool,
) -> PyResult<Outcomes> {
    let chunks = column(words)?;
    let judge = Judge::new(model).map_err(|error| Kind::Grammar.error(error))?;
    let waiting = Waiting::turns(in_turn);
    let part = |(chunk, start): (&ArrayRef, usize)| {
        if waiting.cancelled() {
            return Ok(Vec::new());
        }
        let rows = chunk.slice(start, ROWS_AT_ONCE.min(chunk.len() - start));
        let words = Words::read(&rows, &judge).map_err(|error| Kind::Data.error(error))?;
        Ok(judging::judge_slices(judge.model(), &words, limits, &waiting))
    };
    let parts =
        chunks.iter().flat_map(|chunk| (0..chunk.len().max(1)).step_by(ROWS_AT_ONCE).map(move |start| (chunk, start)));
    let outcomes = waiting.finish(py, || parts.map(part).collect::<PyResult<Vec<_>>>())?;
    Ok(Outcomes(outcomes?.concat()))
}

impl Outcomes {
    /// Returns whether each word is accepted.
    pub(crate) fn accepts(&self) -> PyResult<Vec<bool>> {
        let missing = |row| Kind::Data.error(format!("row {row} is null; remove the null rows, or use check_arrow"));
        let rows = self.0.iter().enumerate();
        rows.map(|(row, outcome)| outcome.map(Outcome::is_accept).ok_or_else(|| missing(row))).collect()
    }

    /// Returns a batch with the verdict and the position for each word, with nulls where the row is null.
    pub(crate) fn batch(&self) -> PyResult<PyRecordBatch> {
        let schema = Arc::new(Schema::new(verdict_fields()));
        let batch = RecordBatch::try_new(schema, verdicts(&self.0).columns().to_vec());
        Ok(PyRecordBatch::new(batch.map_err(|error| Kind::Data.error(error))?))
    }
}
