//! The Python class `Reservoir`, which computes states of sequences, and ridge regression on states.

use std::sync::Arc;

use echostack::reservoir::{Activation, Drive, MatrixParts, MatrixReservoir, Recurrent, Simd};
use echostack::reservoir::{Sequence, run};
use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert;
use crate::errors::Kind;
use crate::threads::work;

/// A reservoir, built for a number of channels.
#[pyclass(module = "echostack._native", frozen)]
pub(crate) struct Reservoir(Arc<dyn echostack::reservoir::Reservoir>);

#[pymethods]
impl Reservoir {
    #[new]
    fn new(spec: &Bound<'_, PyDict>, channels: usize) -> PyResult<Self> {
        let params = convert::reservoir(spec)?;
        Ok(Self(params.build(channels).map_err(|error| Kind::Parameter.error(error))?))
    }

    #[getter]
    fn neurons(&self) -> usize {
        self.0.neurons()
    }

    #[getter]
    fn channels(&self) -> usize {
        self.0.channels()
    }

    /// Returns the state after each row of inputs of each sequence, starting from the given state or from zero.
    #[pyo3(signature = (sequences, start=None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        sequences: Vec<PyReadonlyArray2<'py, f64>>,
        start: Option<PyReadonlyArray1<'py, f64>>,
    ) -> PyResult<Vec<Bound<'py, PyArray2<f64>>>> {
        let (neurons, channels) = (self.0.neurons(), self.0.channels());
        let inputs: Vec<_> = sequences.iter().map(|one| one.as_array()).collect();
        if let Some(wrong) = inputs.iter().find(|one| one.ncols() != channels) {
            let wrong = wrong.ncols();
            return Err(Kind::Data.error(format!("inputs have {wrong} channels, but {channels} are needed")));
        }
        let start: Vec<f64> = match start {
            Some(start) => start.as_array().to_vec(),
            None => vec![0.; neurons],
        };
        if start.len() != neurons {
            return Err(
                Kind::Data.error(format!("the start state has {} values, but {neurons} are needed", start.len()))
            );
        }
        let inputs: Vec<_> = inputs.iter().map(|one| one.as_standard_layout()).collect();
        let mut states: Vec<_> =
            inputs.iter().map(|rows| PyArray2::zeros(py, (rows.nrows(), neurons), false).readwrite()).collect();
        let mut sequences = Vec::new();
        for (rows, states) in inputs.iter().zip(&mut states) {
            let values = rows.as_slice().unwrap_or_default();
            let drive = |row| Drive::Values(&values[row * channels..][..channels]);
            let drives = (0..rows.nrows()).map(drive).collect();
            sequences.push(Sequence { start: start.clone(), drives, states: states.as_slice_mut()? });
        }
        work(py, || run(&*self.0, Simd::default(), &mut sequences));
        drop(sequences);
        Ok(states.into_iter().map(|states| (**states).clone()).collect())
    }
}

/// Returns the weights that minimize |X W - Y|^2 + penalty |W|^2.
#[pyfunction]
pub(crate) fn ridge<'py>(
    py: Python<'py>,
    inputs: PyReadonlyArray2<'py, f64>,
    targets: PyReadonlyArray2<'py, f64>,
    penalty: f64,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (x, y) = (inputs.as_array(), targets.as_array());
    if x.nrows() != y.nrows() {
        return Err(Kind::Data.error(format!(
            "there are {} rows of inputs, but {} rows of targets",
            x.nrows(),
            y.nrows()
        )));
    }
    if !(penalty.is_finite() && penalty >= 0.) {
        return Err(Kind::Parameter.error(format!("the penalty is {penalty}, but must be 0 or more")));
    }
    if x.ncols() == 0 || y.ncols() == 0 {
        return Err(Kind::Data.error("there are no columns to fit"));
    }
    let (x, y) = (x.as_standard_layout(), y.as_standard_layout());
    let solution = work(py, || {
        let (a, b) = (x.as_slice()?, y.as_slice()?);
        echostack::readout::least_squares(a, x.ncols(), b, y.ncols(), penalty)
    });
    let Some(weights) = solution else {
        return Err(Kind::Fit.error("the regression has no unique solution; raise the penalty"));
    };
    let shape = (x.ncols(), y.ncols());
    Ok(Array2::from_shape_vec(shape, weights).unwrap_or_default().into_pyarray(py))
}

/// Creates a reservoir from the user's own matrices.
pub(crate) fn matrix(from: &Bound<'_, PyDict>) -> PyResult<Arc<dyn echostack::reservoir::Reservoir>> {
    let item = |key: &str| from.get_item(key)?.ok_or_else(|| Kind::Parameter.error(format!("{key} is missing")));
    let wrong = |_| Kind::Parameter.error("W and Win must be two-dimensional arrays, and bias must be one-dimensional");
    let float = |key: &str| item(key)?.call_method1("astype", ("float64",));
    let (recurrent, input) = (float("W")?, float("Win")?);
    let recurrent: &Bound<'_, PyArray2<f64>> = recurrent.cast().map_err(wrong)?;
    let input: &Bound<'_, PyArray2<f64>> = input.cast().map_err(wrong)?;
    let (recurrent, input) = (recurrent.readonly(), input.readonly());
    let (w, u) = (recurrent.as_array(), input.as_array());
    let bias = match item("bias")? {
        none if none.is_none() => Vec::new(),
        bias => {
            let bias = bias.call_method1("astype", ("float64",))?;
            let bias: &Bound<'_, PyArray1<f64>> = bias.cast().map_err(wrong)?;
            bias.readonly().as_array().to_vec()
        }
    };
    let activation: String = item("activation")?.extract()?;
    let activation = match activation.as_str() {
        "tanh" => Activation::Tanh,
        "identity" => Activation::Identity,
        other => return Err(Kind::Parameter.error(format!("activation is {other:?}, but must be tanh or identity"))),
    };
    if w.nrows() != w.ncols() || u.nrows() != w.nrows() {
        return Err(Kind::Parameter.error("W must be square, and Win must have a row for each neuron"));
    }
    let entries = w.indexed_iter().filter(|(_, weight)| **weight != 0.);
    let entries: Vec<(u32, u32, f64)> = entries.map(|((row, column), &w)| (row as u32, column as u32, w)).collect();
    let dense = entries.len() * 4 > w.len();
    let parts = MatrixParts {
        neurons: w.nrows(),
        channels: u.ncols(),
        input: u.iter().copied().collect(),
        recurrent: if dense { Recurrent::Dense(w.iter().copied().collect()) } else { Recurrent::Sparse(entries) },
        bias,
        leak: item("leak")?.extract()?,
        activation,
    };
    Ok(Arc::new(MatrixReservoir::new(parts).map_err(|error| Kind::Parameter.error(error))?))
}
