//! The native module of the Python package: converts arguments and results, calls the libraries, and releases the
//! interpreter's lock while they work.
//!
//! The package's Python modules, which users work with, are built on the classes of this module.

// Functions that Python calls take their arguments as the binding passes them, and as many as their Python signatures
// have.
#![allow(clippy::needless_pass_by_value, clippy::too_many_arguments, clippy::type_complexity)]

mod arrow;
mod certificate;
mod classes;
mod convert;
mod errors;
mod infer;
mod judging;
mod language;
mod lexer;
mod machine;
mod model;
mod params;
mod reservoir;
mod table;
mod threads;
mod traces;
mod waiting;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<classes::Model>()?;
    module.add_class::<classes::Machine>()?;
    module.add_class::<classes::Table>()?;
    module.add_class::<model::Session>()?;
    module.add_class::<classes::Language>()?;
    module.add_class::<lexer::Lexer>()?;
    module.add_class::<classes::Certificate>()?;
    module.add_class::<classes::Reservoir>()?;
    module.add_function(wrap_pyfunction!(params::defaults, module)?)?;
    module.add_function(wrap_pyfunction!(infer::infer, module)?)?;
    module.add_function(wrap_pyfunction!(model::load, module)?)?;
    module.add_function(wrap_pyfunction!(traces::read_traces, module)?)?;
    module.add_function(wrap_pyfunction!(traces::write_traces, module)?)?;
    module.add_function(wrap_pyfunction!(reservoir::ridge, module)?)
}
