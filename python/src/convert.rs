//! Conversion of words, verdicts and parameters between Python and Rust.

use echostack::machine::{ActionReadout, OutputReadout};
use echostack::readout::Svm;
use echostack::recognize::{Event, Mode, Reduction, View};
use echostack::reservoir::ReservoirKind;
use echostack::reservoir::{Cycle, Legendre, Random, ReservoirParams, Signs};
use echostack::{Alphabet, Limits, Lookahead, Manifest, Params, SymbolId, Verdict, Word};
use numpy::{PyReadonlyArray2, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString, PyTuple};

use crate::errors::Kind;

/// Converts a sequence of tokens (names or numbers) or an array of vectors (one per row) to a word. A text is a
/// sequence of characters. Anything that is not a token becomes a symbol that every recognizer rejects.
pub(crate) fn word(given: &Bound<'_, PyAny>, alphabet: &Alphabet) -> PyResult<Word> {
    if let Ok(array) = given.cast::<PyUntypedArray>()
        && array.ndim() != 1
    {
        return vectors(given);
    }
    if let Ok(text) = given.cast::<PyString>() {
        let mut buffer = [0; 4];
        let token = |letter: char| alphabet.symbol(letter.encode_utf8(&mut buffer)).unwrap_or(SymbolId::UNKNOWN);
        return Ok(Word::Symbols(text.to_cow()?.chars().map(token).collect()));
    }
    let tokens = given.try_iter().map_err(|_| {
        Kind::Data.error(format!("a word must be a sequence of tokens or an array of vectors, not {}", kind(given)))
    })?;
    let symbols = tokens.map(|token| symbol(&token?, alphabet)).collect::<PyResult<Vec<_>>>()?;
    Ok(Word::Symbols(symbols))
}

fn kind(given: &Bound<'_, PyAny>) -> String {
    given.get_type().name().map_or_else(|_| "this".into(), |name| name.to_string())
}

/// Converts a two-dimensional array to a word of vectors.
fn vectors(given: &Bound<'_, PyAny>) -> PyResult<Word> {
    let wide = given.call_method1("astype", ("float64",))?;
    let array: PyReadonlyArray2<'_, f64> = wide
        .extract()
        .map_err(|_| Kind::Data.error("an array of vectors must have two dimensions: steps and channels"))?;
    let width = array.as_array().ncols();
    Ok(Word::Vectors { width, values: array.as_array().iter().copied().collect() })
}

/// Converts the name or the number of a token to a symbol.
pub(crate) fn symbol(token: &Bound<'_, PyAny>, alphabet: &Alphabet) -> PyResult<SymbolId> {
    if let Ok(name) = token.cast::<PyString>() {
        return Ok(alphabet.symbol(&name.to_cow()?).unwrap_or(SymbolId::UNKNOWN));
    }
    if token.is_instance_of::<PyInt>() || token.hasattr("__index__")? {
        let number: i64 = token.call_method0("__index__")?.extract()?;
        return Ok(usize::try_from(number)
            .ok()
            .filter(|&n| n < alphabet.len())
            .map_or(SymbolId::UNKNOWN, SymbolId::new));
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

/// Returns the limits with this maximum depth, or with the default depth.
pub(crate) fn limits(max_depth: Option<usize>) -> Limits {
    let default = Limits::default();
    Limits { depth: max_depth.unwrap_or(default.depth), ..default }
}

fn get<'py, T: FromPyObjectOwned<'py>>(from: &Bound<'py, PyDict>, key: &str) -> PyResult<T> {
    let value = from.get_item(key)?.ok_or_else(|| Kind::Parameter.error(format!("{key} is missing")))?;
    value.extract().map_err(|_| Kind::Parameter.error(format!("{key} has the wrong type: {value}")))
}

/// Reads the parameters of a reservoir from a dictionary.
pub(crate) fn reservoir(from: &Bound<'_, PyDict>) -> PyResult<ReservoirParams> {
    let kind: String = get(from, "kind")?;
    Ok(match kind.as_str() {
        "random" => ReservoirParams::Random(Random {
            neurons: get(from, "neurons")?,
            radius: get(from, "radius")?,
            density: get(from, "density")?,
            input: get(from, "input_scale")?,
            bias: get(from, "bias_scale")?,
            leak: get(from, "leak")?,
            seed: get(from, "seed")?,
        }),
        "cycle" => ReservoirParams::Cycle(Cycle {
            neurons: get(from, "neurons")?,
            input: get(from, "input_scale")?,
            cycle: get(from, "cycle")?,
            jump: get(from, "jump")?,
            jump_length: get(from, "jump_length")?,
            bias: get(from, "bias_scale")?,
            leak: get(from, "leak")?,
            signs: Signs::Seed(get(from, "seed")?),
        }),
        "legendre" => {
            ReservoirParams::Legendre(Legendre { neurons: get(from, "neurons")?, theta: get(from, "theta")? })
        }
        "matrix" => ReservoirParams::Given(crate::reservoir::matrix(from)?),
        other => return Err(unknown_reservoir(other)),
    })
}

/// Reads and checks the parameters of a machine from a dictionary.
pub(crate) fn params(from: &Bound<'_, PyDict>) -> PyResult<echostack::machine::Checked> {
    let one_of = |key: &str, names: [&str; 2]| -> PyResult<bool> {
        let name: String = get(from, key)?;
        if names.contains(&name.as_str()) {
            return Ok(name == names[1]);
        }
        Err(Kind::Parameter.error(format!("{key} is {name:?}, but must be {:?} or {:?}", names[0], names[1])))
    };
    let reservoir_spec: Bound<'_, PyDict> = get(from, "reservoir")?;
    let ridge: Option<f64> = get(from, "ridge")?;
    let params = Params {
        reservoir: reservoir(&reservoir_spec)?,
        view: if one_of("lookahead", ["reservoir", "symbol"])? { View::Symbol } else { View::Reservoir },
        mode: if one_of("mode", ["tolerant", "strict"])? { Mode::Strict } else { Mode::Tolerant },
        actions: if one_of("actions", ["separate", "joint"])? { ActionReadout::Joint } else { ActionReadout::Separate },
        svm: Svm { cost: get(from, "C")?, gamma: get(from, "gamma")?, tolerance: get(from, "tol")? },
        output: ridge.map_or(OutputReadout::Classify, |penalty| OutputReadout::Ridge { penalty }),
        max_rows: get(from, "max_rows")?,
    };
    params.check().map_err(|error| Kind::Parameter.error(error))
}

/// Returns the default parameters for a kind of reservoir, in the form that [`params`] reads.
#[pyfunction]
pub(crate) fn defaults<'py>(py: Python<'py>, kind: &str) -> PyResult<Bound<'py, PyDict>> {
    let kind = match kind {
        "random" => ReservoirKind::Random,
        "cycle" => ReservoirKind::Cycle,
        "legendre" => ReservoirKind::Legendre,
        other => return Err(unknown_reservoir(other)),
    };
    let Params { reservoir, svm, max_rows, .. } = Params::provable(kind, Random::default().neurons, 0);
    let own = PyDict::new(py);
    let set = |values: &[(&str, f64)]| values.iter().try_for_each(|(name, value)| own.set_item(name, value));
    let neurons = match reservoir {
        ReservoirParams::Random(Random { neurons, radius, density, input, bias, leak, .. }) => {
            set(&[("radius", radius), ("density", density)])?;
            set(&[("input_scale", input), ("bias_scale", bias), ("leak", leak)])?;
            neurons
        }
        ReservoirParams::Cycle(Cycle { neurons, input, cycle, jump, jump_length, bias, leak, .. }) => {
            set(&[("cycle", cycle), ("jump", jump)])?;
            set(&[("input_scale", input), ("bias_scale", bias), ("leak", leak)])?;
            own.set_item("jump_length", jump_length)?;
            neurons
        }
        ReservoirParams::Legendre(Legendre { neurons, theta }) => {
            set(&[("theta", theta)])?;
            neurons
        }
        ReservoirParams::Given(given) => given.neurons(),
    };
    own.set_item("neurons", neurons)?;
    let all = PyDict::new(py);
    all.set_item("reservoir", own)?;
    all.set_item("C", svm.cost)?;
    all.set_item("gamma", svm.gamma)?;
    all.set_item("tol", svm.tolerance)?;
    all.set_item("max_rows", max_rows)?;
    Ok(all)
}

fn unknown_reservoir(kind: &str) -> PyErr {
    Kind::Parameter.error(format!("there is no kind of reservoir named {kind:?}"))
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
