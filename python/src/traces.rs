//! Traces between Python and Rust. The library alone reads and writes their files.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::sync::Arc;

use echostack::file::replace;
use echostack::recognize::Reduction;
use echostack::symbol::Input;
use echostack::teach::{self, Step, TraceFileError};
use echostack::{Alphabet, SymbolId, Trace, Word};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::convert;
use crate::errors::{self, Kind};

/// The terminals, the nonterminals, and those of the nonterminals that are parser states.
pub(crate) type Symbols = (Vec<String>, Vec<String>, Vec<String>);

type StepTuple = (Vec<(u32, Option<String>)>, Vec<f64>, bool);

/// A trace in Python: its word, its steps, its source, and the steps that are taught.
pub(crate) type TraceTuple<'py> = (Bound<'py, PyTuple>, Vec<StepTuple>, String, Option<(usize, usize)>);

/// Creates an alphabet.
pub(crate) fn alphabet((terminals, nonterminals, states): Symbols) -> PyResult<Arc<Alphabet>> {
    let plain = Alphabet::new(terminals, nonterminals).map_err(|error| Kind::Data.error(error))?;
    let states: Vec<Option<SymbolId>> = states.iter().map(|name| plain.symbol(name)).collect();
    Ok(Arc::new(plain.with_states(|symbol| states.contains(&Some(symbol)))))
}

pub(crate) fn symbols(alphabet: &Alphabet) -> Symbols {
    let states = alphabet.nonterminals().filter(|&symbol| alphabet.is_state(symbol));
    let states = states.map(|symbol| alphabet.name(symbol).to_string()).collect();
    let (terminals, nonterminals) = convert::symbols(alphabet);
    (terminals, nonterminals, states)
}

/// Converts traces to Python.
pub(crate) fn to_python<'py>(
    py: Python<'py>,
    alphabet: &Alphabet,
    traces: &[Trace],
) -> PyResult<(Vec<TraceTuple<'py>>, Symbols)> {
    let name = |symbol: SymbolId| alphabet.name(symbol).to_string();
    let one = |trace: &Trace| {
        py.check_signals()?;
        let word = trace.word().inputs().map(|input| match input {
            Input::Symbol(symbol) => Ok(PyString::new(py, alphabet.name(symbol)).into_any()),
            Input::Vector(values) => Ok(PyTuple::new(py, values)?.into_any()),
        });
        let step = |step: &Step| {
            let reductions = step.reductions.iter().map(|action| (action.pop, action.push.map(name)));
            (reductions.collect(), step.output.clone(), step.shift)
        };
        let (taught, steps) = (trace.taught(), trace.steps());
        let teach = (taught != (0..steps.len())).then_some((taught.start, taught.end));
        let word = PyTuple::new(py, word.collect::<PyResult<Vec<_>>>()?)?;
        Ok((word, steps.iter().map(step).collect(), trace.source().to_string(), teach))
    };
    Ok((traces.iter().map(one).collect::<PyResult<_>>()?, symbols(alphabet)))
}

/// Converts traces from Python, and checks them.
pub(crate) fn from_python(traces: &Bound<'_, PyAny>, alphabet: &Alphabet) -> PyResult<Vec<Trace>> {
    let one = |(number, given): (usize, PyResult<Bound<'_, PyAny>>)| {
        traces.py().check_signals()?;
        let (word, steps, source, teach): TraceTuple<'_> = given?.extract()?;
        let wrong = |error: String| Kind::Data.error(format!("trace {number} ({source}): {error}"));
        let word = self::word(&word, alphabet).map_err(wrong)?;
        let step = |(reductions, output, shift): StepTuple| {
            let reduction = |(pop, push): (u32, Option<String>)| {
                let unknown = |name: &String| wrong(format!("{name:?} is pushed but not among the nonterminals"));
                let symbol = |name: &String| alphabet.symbol(name).ok_or_else(|| unknown(name));
                Ok(Reduction { pop, push: push.as_ref().map(symbol).transpose()? })
            };
            let reductions = reductions.into_iter().map(reduction).collect::<PyResult<_>>()?;
            Ok(Step { reductions, output, shift })
        };
        let steps = steps.into_iter().map(step).collect::<PyResult<Vec<_>>>()?;
        let trace = Trace::new(alphabet, source.as_str(), word, steps);
        let trace = trace.map_err(|error| Kind::Data.error(format!("trace {number}: {error}")))?;
        Ok(match teach {
            Some((from, to)) => trace.teaching(from..to),
            None => trace,
        })
    };
    traces.try_iter()?.enumerate().map(one).collect()
}

/// Converts the word of a trace: names of terminals, or vectors with one value per terminal.
fn word(tokens: &Bound<'_, PyTuple>, alphabet: &Alphabet) -> Result<Word, String> {
    if let Ok(names) = tokens.extract::<Vec<String>>() {
        return alphabet.word(names.iter().map(String::as_str)).map_err(|error| error.to_string());
    }
    let vectors: Vec<Vec<f64>> =
        tokens.extract().map_err(|_| "its word must consist of names, or of vectors of numbers".to_string())?;
    let width = alphabet.terminals().len();
    match vectors.iter().position(|values| values.len() != width) {
        Some(at) => Err(format!("vector {at} of its word has {} values, but needs {width}", vectors[at].len())),
        None => Ok(Word::Vectors { width, values: vectors.concat() }),
    }
}

/// Reads a file of traces.
#[pyfunction]
pub(crate) fn read_traces(py: Python<'_>, path: PathBuf) -> PyResult<(Vec<TraceTuple<'_>>, Symbols)> {
    let file = File::open(&path).map_err(|error| errors::os(&error, path.clone()))?;
    let read = py.detach(|| teach::read_traces(&mut BufReader::new(file)));
    let (alphabet, traces) = read.map_err(|error| match error {
        TraceFileError::Io(error) if error.raw_os_error().is_some() => errors::os(&error, path.clone()),
        other => Kind::Data.error(format!("{}: {other}; see docs/format.md for the format", path.display())),
    })?;
    to_python(py, &alphabet, &traces)
}

/// Writes a file of traces.
#[pyfunction]
pub(crate) fn write_traces(py: Python<'_>, path: PathBuf, traces: &Bound<'_, PyAny>, symbols: Symbols) -> PyResult<()> {
    let alphabet = alphabet(symbols)?;
    let traces = from_python(traces, &alphabet)?;
    let written = py.detach(|| replace(&path, |out| teach::write_traces(out, &alphabet, &traces)));
    written.map_err(|error| errors::os(&error, path.clone()))
}
