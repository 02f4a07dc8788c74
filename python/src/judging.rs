//! Judging words that come from Python, with machines or tables.

use echostack::{Model, Recognizer, Verdict};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::convert::{self, limits};
use crate::threads::work;

/// Judges words without holding the interpreter's lock, on all threads or, one after the other, on the calling thread.
fn judge(
    py: Python<'_>,
    model: &Model,
    words: &Bound<'_, PyAny>,
    max_depth: Option<usize>,
    in_turn: bool,
) -> PyResult<Vec<Verdict>> {
    let words = convert::words(words, model.alphabet())?;
    let limits = limits(max_depth);
    Ok(if in_turn {
        py.detach(|| model.judge_in_turn(&words, limits))
    } else {
        work(py, || model.judge_all(&words, limits))
    })
}

/// Returns the verdict on each word.
pub(crate) fn verdicts<'py>(
    py: Python<'py>,
    model: &Model,
    words: &Bound<'py, PyAny>,
    max_depth: Option<usize>,
    in_turn: bool,
) -> PyResult<Vec<Bound<'py, PyTuple>>> {
    let verdicts = judge(py, model, words, max_depth, in_turn)?;
    verdicts.iter().map(|verdict| convert::verdict(py, model.alphabet(), verdict)).collect()
}

/// Returns whether each word is accepted, as an array.
pub(crate) fn accepts<'py>(
    py: Python<'py>,
    model: &Model,
    words: &Bound<'py, PyAny>,
    max_depth: Option<usize>,
    in_turn: bool,
) -> PyResult<Bound<'py, PyArray1<bool>>> {
    let verdicts = judge(py, model, words, max_depth, in_turn)?;
    Ok(verdicts.iter().map(Verdict::is_accept).collect::<Vec<bool>>().into_pyarray(py))
}

/// Returns all events on a word, and the verdict.
pub(crate) fn trace<'py>(
    py: Python<'py>,
    model: &Model,
    word: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyTuple>)> {
    let alphabet = model.alphabet();
    let word = convert::word(word, alphabet)?;
    let all = PyList::empty(py);
    let mut failed = None;
    let mut watch = |position: u64, event: echostack::recognize::Event<'_>| {
        let added = convert::event(py, alphabet, position, event).and_then(|event| all.append(event));
        failed = failed.take().or(added.err());
    };
    let verdict = model.judge_with(&word, limits(None), &mut watch);
    failed.map_or(Ok(()), Err)?;
    Ok((all, convert::verdict(py, alphabet, &verdict)?))
}
