//! Judging words that come from Python, with machines or tables. Ctrl-C stops each of these calls.

use echostack::recognize::{Judged, Observer, Outcome, watch_all};
use echostack::table::{Lanes, Scanner};
use echostack::{Control, Limits, Model, Recognizer, Session, SymbolId, Verdict, Word};
use echostack_arrow::Words;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use rayon::prelude::*;

use crate::convert;
use crate::errors;
use crate::waiting::{Stopping, Waiting};

/// The number of words that a thread takes at a time.
const WORDS_AT_ONCE: usize = 1 << 8;
/// The number of rows of a column that a thread takes at a time.
const ROWS_AT_ONCE: usize = 1 << 10;
/// The number of tokens that a table reads between two checks whether the call was stopped.
const TOKENS_AT_ONCE: usize = 1 << 14;

/// Judges words with a machine or a table, each with its own observer, on all threads or on the calling thread. Returns
/// the answers and the observers.
pub(crate) fn watch<R: Recognizer, W: Observer + Clone + Send, A: Judged>(
    recognizer: &R,
    words: &[Word],
    observer: &W,
    limits: Limits,
    waiting: &Waiting,
) -> Vec<(A, W)> {
    let words: Vec<&Word> = words.iter().collect();
    let mut watches = vec![Stopping(waiting, observer.clone()); words.len()];
    let verdicts = if waiting.is_in_turn() {
        let chunks = words.chunks(WORDS_AT_ONCE).zip(watches.chunks_mut(WORDS_AT_ONCE));
        let together = |(words, watches): (&[&Word], &mut [Stopping<'_, W>])| {
            let words = words.iter().zip(watches).map(|(word, watch)| (recognizer.start(limits), *word, watch));
            R::Session::judge_together(words.collect())
        };
        chunks.flat_map(together).collect()
    } else {
        watch_all(recognizer, &words, &mut watches, limits)
    };
    verdicts.into_iter().zip(watches.into_iter().map(|watch| watch.1)).collect()
}

/// Reads words with a table, as fast as possible, until the call is stopped.
pub(crate) fn scan<'a, A: Judged>(
    table: &echostack::Table,
    words: impl Iterator<Item = &'a [SymbolId]>,
    limits: Limits,
    waiting: &Waiting,
) -> Vec<A> {
    let words: Vec<&[SymbolId]> = words.collect();
    let (mut lanes, mut scanner) = (Lanes::new(table, limits), Scanner::new(table, limits));
    let mut long = |tokens: &[SymbolId]| {
        for tokens in tokens.chunks(TOKENS_AT_ONCE) {
            if waiting.cancelled() {
                return None;
            }
            scanner.read(tokens);
        }
        Some(scanner.answer())
    };
    let mut answers = Vec::with_capacity(words.len());
    // Long words are read one by one, so that they can be stopped.
    for words in words.chunk_by(|one, next| one.len().max(next.len()) <= TOKENS_AT_ONCE) {
        match words {
            [word] => answers.extend(long(word)),
            _ if waiting.cancelled() => break,
            _ => answers.extend(lanes.judge::<A>(words.iter().copied())),
        }
    }
    answers
}

/// Returns the tokens of a word, or `None` if it consists of vectors.
fn tokens(word: &Word) -> Option<&[SymbolId]> {
    match word {
        Word::Symbols(tokens) => Some(tokens),
        Word::Vectors { .. } => None,
    }
}

/// Judges words without holding the interpreter's lock, on all threads or, one after the other, on the calling thread.
fn judge<A: Judged + 'static>(
    py: Python<'_>,
    model: &Model,
    words: &Bound<'_, PyAny>,
    limits: Limits,
    in_turn: bool,
) -> PyResult<Vec<A>> {
    let words = convert::words(words, model.alphabet())?;
    let waiting = Waiting::turns(in_turn);
    waiting.finish(py, || match model.table() {
        Some(table) if words.iter().all(|word| tokens(word).is_some()) => {
            let some = |words: &[Word]| scan(table, words.iter().filter_map(tokens), limits, &waiting);
            if in_turn { some(&words) } else { words.par_chunks(WORDS_AT_ONCE).flat_map_iter(some).collect() }
        }
        _ => watch(model, &words, &(), limits, &waiting).into_iter().map(|(answer, ())| answer).collect(),
    })
}

/// Judges the words of a column; `None` stands for a null.
pub(crate) fn judge_slices(model: &Model, words: &Words, limits: Limits, waiting: &Waiting) -> Vec<Option<Outcome>> {
    let some = |start: usize| {
        let rows = start..(start + ROWS_AT_ONCE).min(words.len());
        let present = rows.clone().filter_map(|row| words.get(row));
        let outcomes = if let Some(table) = model.table() {
            scan(table, present, limits, waiting)
        } else {
            let present: Vec<Word> = present.map(|tokens| Word::Symbols(tokens.to_vec())).collect();
            let judged = watch(model, &present, &(), limits, waiting);
            judged.into_iter().map(|(outcome, ())| outcome).collect()
        };
        let mut outcomes = outcomes.into_iter();
        rows.map(move |row| words.get(row).and_then(|_| outcomes.next())).collect::<Vec<_>>()
    };
    let starts: Vec<usize> = (0..words.len()).step_by(ROWS_AT_ONCE).collect();
    if waiting.is_in_turn() {
        starts.into_iter().flat_map(some).collect()
    } else {
        starts.into_par_iter().flat_map_iter(some).collect()
    }
}

/// Returns the verdict on each word.
pub(crate) fn verdicts<'py>(
    py: Python<'py>,
    model: &Model,
    words: &Bound<'py, PyAny>,
    limits: Limits,
    in_turn: bool,
) -> PyResult<Vec<Bound<'py, PyTuple>>> {
    let verdicts: Vec<Verdict> = judge(py, model, words, limits, in_turn)?;
    let convert = |verdict| {
        py.check_signals()?;
        convert::verdict(py, model.alphabet(), verdict)
    };
    verdicts.iter().map(convert).collect()
}

/// Returns whether each word is accepted, as an array.
pub(crate) fn accepts<'py>(
    py: Python<'py>,
    model: &Model,
    words: &Bound<'py, PyAny>,
    limits: Limits,
    in_turn: bool,
) -> PyResult<Bound<'py, PyArray1<bool>>> {
    let outcomes: Vec<Outcome> = judge(py, model, words, limits, in_turn)?;
    Ok(outcomes.into_iter().map(Outcome::is_accept).collect::<Vec<bool>>().into_pyarray(py))
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
    let add = |position: u64, event: echostack::recognize::Event<'_>| {
        let added = convert::event(py, alphabet, position, event).and_then(|event| all.append(event));
        failed = failed.take().or(added.err());
    };
    let waiting = Waiting::turns(true);
    let verdict = model.judge_with(&word, Limits::default(), &mut Stopping(&waiting, add));
    failed.map_or(Ok(()), Err)?;
    if waiting.cancelled() {
        return Err(errors::cancelled());
    }
    Ok((all, convert::verdict(py, alphabet, &verdict)?))
}
