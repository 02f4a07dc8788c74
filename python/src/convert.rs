//! Conversion of words, verdicts and events between Python and Rust.

use std::collections::BTreeMap;

use echostack::recognize::{Event, Reduction};
use echostack::{Alphabet, Limits, Lookahead, Manifest, SymbolId, Verdict, Word};
use numpy::{PyReadonlyArray2, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDict, PyInt, PyList, PyString, PyTuple};

use crate::errors::Kind;

/// Converts a sequence of tokens (names or numbers) or an array of vectors (one per row) to a word. A text is a
/// sequence of characters. A name or number that is not a token becomes a symbol that every recognizer rejects.
pub(crate) fn word(given: &Bound<'_, PyAny>, alphabet: &Alphabet) -> PyResult<Word> {
    if let Ok(array) = given.cast::<PyUntypedArray>()
        && array.ndim() != 1
    {
        return vectors(given, alphabet);
    }
    if given.is_instance_of::<PyBytes>() || given.is_instance_of::<PyByteArray>() {
        return Err(Kind::Data.error("a word is bytes; decode it to a string first, for example with word.decode()"));
    }
    if let Ok(text) = given.cast::<PyString>() {
        let mut buffer = [0; 4];
        let token = |letter: char| {
            given.py().check_signals()?;
            Ok(alphabet.symbol(letter.encode_utf8(&mut buffer)).unwrap_or(SymbolId::UNKNOWN))
        };
        return Ok(Word::Symbols(text.to_cow()?.chars().map(token).collect::<PyResult<_>>()?));
    }
    let tokens = given.try_iter().map_err(|_| {
        Kind::Data.error(format!("a word must be a sequence of tokens or an array of vectors, not {}", kind(given)))
    })?;
    let symbol = |token: PyResult<Bound<'_, PyAny>>| {
        given.py().check_signals()?;
        symbol(&token?, alphabet)
    };
    let symbols = tokens.map(symbol).collect::<PyResult<Vec<_>>>()?;
    Ok(Word::Symbols(symbols))
}

pub(crate) fn kind(given: &Bound<'_, PyAny>) -> String {
    given.get_type().name().map_or_else(|_| "this".into(), |name| name.to_string())
}

/// Converts a two-dimensional array to a word of vectors, with one finite value per terminal.
fn vectors(given: &Bound<'_, PyAny>, alphabet: &Alphabet) -> PyResult<Word> {
    let wrong = || Kind::Data.error("an array of vectors must hold numbers in two dimensions: steps and channels");
    let wide = given.call_method1("astype", ("float64",)).map_err(|_| wrong())?;
    let array: PyReadonlyArray2<'_, f64> = wide.extract().map_err(|_| wrong())?;
    let (array, width) = (array.as_array(), alphabet.terminals().len());
    if array.ncols() != width {
        let given = array.ncols();
        return Err(Kind::Data.error(format!("the vectors of a word have {given} values, but need {width}")));
    }
    if let Some((at, _)) = array.indexed_iter().find(|(_, value)| !value.is_finite()) {
        return Err(Kind::Data.error(format!("vector {} of a word has a value that is NaN or infinite", at.0)));
    }
    Ok(Word::Vectors { width, values: array.iter().copied().collect() })
}

/// Converts the name or the number of a token to a symbol.
pub(crate) fn symbol(token: &Bound<'_, PyAny>, alphabet: &Alphabet) -> PyResult<SymbolId> {
    if let Ok(name) = token.cast::<PyString>() {
        return Ok(alphabet.symbol(&name.to_cow()?).unwrap_or(SymbolId::UNKNOWN));
    }
    let is_number = token.is_instance_of::<PyInt>() || token.hasattr("__index__")?;
    if is_number && !token.is_instance_of::<PyBool>() {
        let number: Option<usize> = token.call_method0("__index__")?.extract().ok();
        return Ok(number.filter(|&n| n < alphabet.len()).map_or(SymbolId::UNKNOWN, SymbolId::new));
    }
    Err(Kind::Data.error(format!("a token must be a name or a number, not {}", kind(token))))
}

/// Converts a list of words.
pub(crate) fn words(given: &Bound<'_, PyAny>, alphabet: &Alphabet) -> PyResult<Vec<Word>> {
    let all = given.try_iter().map_err(|_| Kind::Data.error("the words must be a list of words"))?;
    all.map(|one| word(&one?, alphabet)).collect()
}

/// Returns the names of a word's tokens.
pub(crate) fn names(alphabet: &Alphabet, word: &Word) -> Vec<String> {
    word.inputs()
        .map(|input| match input {
            echostack::symbol::Input::Symbol(symbol) if alphabet.contains(symbol) => alphabet.name(symbol).to_string(),
            _ => "?".to_string(),
        })
        .collect()
}

/// Converts a lookahead to the name of a token, or to `None` for the end.
pub(crate) fn lookahead(alphabet: &Alphabet, next: Lookahead) -> Option<String> {
    next.token().map(|token| alphabet.name(token).to_string())
}

/// Converts a verdict to a tuple of name, position, expected tokens and limit.
pub(crate) fn verdict<'py>(py: Python<'py>, alphabet: &Alphabet, verdict: &Verdict) -> PyResult<Bound<'py, PyTuple>> {
    let expected: Vec<Option<String>> = verdict.expected().iter().map(|&next| lookahead(alphabet, next)).collect();
    (verdict.name(), verdict.position(), expected, verdict.limit().map(|limit| limit.to_string())).into_pyobject(py)
}

/// Converts an event to a dictionary.
pub(crate) fn event<'py>(
    py: Python<'py>,
    alphabet: &Alphabet,
    position: u64,
    event: Event<'_>,
) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("position", position)?;
    match event {
        Event::Decide { reduction: Reduction { pop, push }, margin } => {
            all.set_item("event", "reduce")?;
            all.set_item("pop", pop)?;
            all.set_item("push", push.map(|symbol| alphabet.name(symbol).to_string()))?;
            all.set_item("margin", margin)?;
        }
        Event::Output { values } => {
            all.set_item("event", "output")?;
            all.set_item("values", PyList::new(py, values)?)?;
        }
        Event::Shift { shifted, margin } => {
            all.set_item("event", "shift")?;
            all.set_item("shifted", shifted)?;
            all.set_item("margin", margin)?;
        }
    }
    Ok(all)
}

/// Numbers by name.
pub(crate) type Numbers = BTreeMap<String, u64>;

/// Passes limits on to `set`, which returns whether there is a limit with that name.
pub(crate) fn limits_of(
    limits: Option<Numbers>,
    names: &[&str],
    mut set: impl FnMut(&str, u64) -> bool,
) -> PyResult<()> {
    for (name, most) in limits.unwrap_or_default() {
        if !set(&name, most) {
            let names = names.join(", ");
            return Err(Kind::Parameter.error(format!("limits has {name:?}, but its keys must be among {names}")));
        }
    }
    Ok(())
}

/// The maximum depth of the stack and the maximum number of actions on a token, if they are given.
pub(crate) type GivenLimits = (Option<usize>, Option<u64>);

/// Returns the limits with what is given, and the defaults for the rest.
pub(crate) fn limits((depth, actions): GivenLimits) -> Limits {
    let default = Limits::default();
    Limits { depth: depth.unwrap_or(default.depth), actions: actions.unwrap_or(default.actions), ..default }
}

/// Converts a manifest to a dictionary.
pub(crate) fn manifest<'py>(py: Python<'py>, from: &Manifest) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    from.iter().try_for_each(|(key, value)| all.set_item(key, value))?;
    Ok(all)
}

/// Returns the names of the terminals and of the nonterminals.
pub(crate) fn symbols(alphabet: &Alphabet) -> (Vec<String>, Vec<String>) {
    let name = |symbol: SymbolId| alphabet.name(symbol).to_string();
    (alphabet.terminals().map(name).collect(), alphabet.nonterminals().map(name).collect())
}
