//! The parameters of machines and reservoirs: dictionaries in Python, structs in Rust.

use std::sync::Arc;

use echostack::Params;
use echostack::machine::{ActionReadout, OutputReadout};
use echostack::readout::Svm;
use echostack::recognize::{Mode, View};
use echostack::reservoir::{Cycle, Legendre, Random, ReservoirKind, ReservoirParams, Signs};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

use crate::classes::Reservoir;
use crate::convert::kind;
use crate::errors::{self, Kind};

/// A type that a parameter can have, with its name in messages.
pub(crate) trait Named {
    const NAME: &'static str;
}

macro_rules! named {
    ($($of:ty: $name:literal)*) => { $(impl Named for $of { const NAME: &'static str = $name; })* };
}

named! {
    f64: "a number"
    Option<f64>: "a number or None"
    usize: "an integer of at least 0"
    u64: "an integer from 0 to 2^64 - 1"
    String: "a string"
    Bound<'_, PyDict>: "a dictionary"
}

pub(crate) fn get<'py, T: FromPyObjectOwned<'py> + Named>(from: &Bound<'py, PyDict>, key: &str) -> PyResult<T> {
    let value = from.get_item(key)?.ok_or_else(|| Kind::Parameter.error(format!("{key} is missing")))?;
    let read = if value.is_instance_of::<PyBool>() { None } else { value.extract().ok() };
    read.ok_or_else(|| Kind::Parameter.error(format!("{key} is {}, but must be {}", shown(&value), T::NAME)))
}

/// Returns a value as Python would print it.
fn shown(value: &Bound<'_, PyAny>) -> String {
    value.repr().map_or_else(|_| kind(value), |text| text.to_string())
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
        "given" => ReservoirParams::Given(given(from)?),
        other => return Err(unknown_reservoir(other)),
    })
}

/// Returns the reservoir in a dictionary.
fn given(from: &Bound<'_, PyDict>) -> PyResult<Arc<dyn echostack::reservoir::Reservoir>> {
    let reservoir = from.get_item("reservoir")?;
    let reservoir = reservoir.as_ref().and_then(|reservoir| reservoir.cast::<Reservoir>().ok());
    reservoir.map(|reservoir| reservoir.get().0.clone()).ok_or_else(|| Kind::Parameter.error("reservoir is missing"))
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
    params.check().map_err(errors::param)
}

/// The parameters that a machine's manifest does not record by itself, and their keys.
const RIDGE: &str = "ridge";
const MAX_ROWS: &str = "max_rows";
const ACTIONS: &str = "actions";

/// Records the parameters of a machine that its manifest does not record otherwise.
pub(crate) fn note(machine: &mut echostack::Machine, params: &Params, seed: u64) {
    let manifest = machine.manifest_mut();
    manifest.set_seed(seed);
    manifest.set(MAX_ROWS, params.max_rows);
    if let OutputReadout::Ridge { penalty } = params.output {
        manifest.set(RIDGE, penalty);
    }
    if params.actions == ActionReadout::Joint {
        manifest.set(ACTIONS, "joint");
    }
}

/// Returns the parameters of a machine as far as its file records them, in the form that [`params`] reads.
pub(crate) fn recorded<'py>(py: Python<'py>, machine: &echostack::Machine) -> PyResult<Bound<'py, PyDict>> {
    let (all, manifest) = (PyDict::new(py), machine.manifest());
    if let Some(reservoir) = manifest.reservoir().and_then(ReservoirParams::from_manifest)
        && let Some(spec) = reservoir_spec(py, &reservoir)?
    {
        all.set_item("reservoir", spec)?;
    }
    if let Some(Svm { cost, gamma, tolerance }) = manifest.svm().and_then(Svm::from_manifest) {
        all.set_item("C", cost)?;
        all.set_item("gamma", gamma)?;
        all.set_item("tol", tolerance)?;
    }
    let number = |key: &str| manifest.get(key).and_then(|text| text.parse::<f64>().ok());
    number(RIDGE).map_or(Ok(()), |ridge| all.set_item("ridge", ridge))?;
    number(MAX_ROWS).map_or(Ok(()), |rows| all.set_item("max_rows", rows as usize))?;
    manifest.get(ACTIONS).map_or(Ok(()), |actions| all.set_item("actions", actions))?;
    let seed = manifest.seed().and_then(|text| text.parse::<u64>().ok());
    seed.map_or(Ok(()), |seed| all.set_item("random_state", seed))?;
    all.set_item("lookahead", if machine.view() == View::Symbol { "symbol" } else { "reservoir" })?;
    all.set_item("mode", if machine.mode() == Mode::Strict { "strict" } else { "tolerant" })?;
    Ok(all)
}

/// Returns the parameters of a reservoir in the form that [`reservoir`] reads; `None` if Python has no such reservoir.
fn reservoir_spec<'py>(py: Python<'py>, params: &ReservoirParams) -> PyResult<Option<Bound<'py, PyDict>>> {
    let own = PyDict::new(py);
    let set = |values: &[(&str, f64)]| values.iter().try_for_each(|(name, value)| own.set_item(name, value));
    let (kind, neurons, seed) = match *params {
        ReservoirParams::Random(Random { neurons, radius, density, input, bias, leak, seed }) => {
            set(&[("radius", radius), ("density", density)])?;
            set(&[("input_scale", input), ("bias_scale", bias), ("leak", leak)])?;
            ("random", neurons, Some(seed))
        }
        ReservoirParams::Cycle(Cycle { neurons, input, cycle, jump, jump_length, bias, leak, signs }) => {
            let Signs::Seed(seed) = signs else { return Ok(None) };
            set(&[("cycle", cycle), ("jump", jump)])?;
            set(&[("input_scale", input), ("bias_scale", bias), ("leak", leak)])?;
            own.set_item("jump_length", jump_length)?;
            ("cycle", neurons, Some(seed))
        }
        ReservoirParams::Legendre(Legendre { neurons, theta }) => {
            set(&[("theta", theta)])?;
            ("legendre", neurons, None)
        }
        ReservoirParams::Given(_) => return Ok(None),
    };
    own.set_item("kind", kind)?;
    own.set_item("neurons", neurons)?;
    seed.map_or(Ok(()), |seed| own.set_item("seed", seed))?;
    Ok(Some(own))
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
    let all = PyDict::new(py);
    all.set_item("reservoir", reservoir_spec(py, &reservoir)?)?;
    all.set_item("C", svm.cost)?;
    all.set_item("gamma", svm.gamma)?;
    all.set_item("tol", svm.tolerance)?;
    all.set_item("max_rows", max_rows)?;
    Ok(all)
}

fn unknown_reservoir(kind: &str) -> PyErr {
    Kind::Parameter.error(format!("there is no kind of reservoir named {kind:?}"))
}
