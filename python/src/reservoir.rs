//! The Python class `Reservoir`, which computes states of sequences, and ridge regression on states.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use echostack::readout::least_squares;
use echostack::reservoir::{Activation, CycleParts, Drive, LegendreParts, MatrixParts, Recurrent, ReservoirParts};
use echostack::reservoir::{Sequence, Simd, Transition, run};
use numpy::ndarray::Array2;
use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArrayDyn,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::classes::Reservoir;
use crate::errors::{self, Kind};
use crate::params::{self, get};
use crate::waiting::Waiting;

/// A reservoir that takes no more steps once its call is stopped.
#[derive(Debug)]
struct Stoppable {
    reservoir: Arc<dyn echostack::reservoir::Reservoir>,
    stopped: Arc<AtomicBool>,
}

impl echostack::reservoir::Reservoir for Stoppable {
    fn neurons(&self) -> usize {
        self.reservoir.neurons()
    }

    fn channels(&self) -> usize {
        self.reservoir.channels()
    }

    fn step(&self, simd: Simd, from: &[f64], drive: Drive<'_>, to: &mut [f64]) {
        if !self.stopped.load(Ordering::Relaxed) {
            self.reservoir.step(simd, from, drive, to);
        }
    }

    fn steps(&self, simd: Simd, steps: &mut [Transition<'_>]) {
        if !self.stopped.load(Ordering::Relaxed) {
            self.reservoir.steps(simd, steps);
        }
    }
}

impl Reservoir {
    fn weights(&self) -> PyResult<ReservoirParts> {
        self.0.parts().ok_or_else(|| Kind::Parameter.error("the weights of this reservoir are not known"))
    }
}

#[pymethods]
impl Reservoir {
    #[new]
    fn new(py: Python<'_>, spec: &Bound<'_, PyDict>, channels: usize) -> PyResult<Self> {
        let params = params::reservoir(spec)?;
        let built = Waiting::new(None).leave(py, move || params.build(channels))?;
        Ok(Self(built.ok_or_else(errors::cancelled)?.map_err(errors::reservoir)?))
    }

    /// Creates a reservoir with the weights in a dictionary.
    #[staticmethod]
    fn from_parts(parts: &Bound<'_, PyDict>) -> PyResult<Self> {
        Ok(Self(read(parts)?.build().map_err(errors::reservoir)?))
    }

    /// Returns the weights as a dictionary that [`Reservoir::from_parts`] reads.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        write(py, self.weights()?)
    }

    /// Pickles the reservoir with its weights.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyDict>,))> {
        Ok((slf.getattr("from_parts")?, (slf.get().parts(slf.py())?,)))
    }

    /// The recurrent weights as a matrix.
    #[getter]
    #[allow(non_snake_case)]
    fn W<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let MatrixParts { neurons: m, recurrent, .. } = self.weights()?.matrices();
        let weights = match recurrent {
            Recurrent::Dense(weights) => weights,
            Recurrent::Sparse(entries) => {
                let mut weights = vec![0.; m * m];
                entries.iter().for_each(|&(i, j, weight)| weights[i as usize * m + j as usize] = weight);
                weights
            }
        };
        Ok(matrix(py, m, m, weights))
    }

    /// The input weights as a matrix.
    #[getter]
    #[allow(non_snake_case)]
    fn W_in<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let MatrixParts { neurons, channels, input, .. } = self.weights()?.matrices();
        Ok(matrix(py, neurons, channels, input))
    }

    /// The biases.
    #[getter]
    fn bias<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let MatrixParts { neurons, bias, .. } = self.weights()?.matrices();
        Ok(if bias.is_empty() { vec![0.; neurons] } else { bias }.into_pyarray(py))
    }

    #[getter]
    fn leak(&self) -> PyResult<f64> {
        Ok(self.weights()?.matrices().leak)
    }

    #[getter]
    fn activation(&self) -> PyResult<&'static str> {
        Ok(activation(self.weights()?.matrices().activation))
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
        let waiting = Waiting::new(None);
        let stoppable = Stoppable { reservoir: self.0.clone(), stopped: waiting.flag() };
        waiting.finish(py, || run(&stoppable, Simd::default(), &mut sequences))?;
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
        return Err(Kind::Parameter.error(format!("alpha is {penalty}, but must be a number of at least 0")));
    }
    if x.ncols() == 0 || y.ncols() == 0 {
        return Err(Kind::Data.error("there are no columns to fit"));
    }
    let (width, outputs) = (x.ncols(), y.ncols());
    let (x, y): (Vec<f64>, Vec<f64>) = (x.iter().copied().collect(), y.iter().copied().collect());
    let solve = move || least_squares(&x, width, &y, outputs, penalty);
    let Some(weights) = Waiting::new(None).leave(py, solve)?.flatten() else {
        return Err(Kind::Fit.error("the regression has no unique solution; raise alpha"));
    };
    Ok(matrix(py, width, outputs, weights))
}

fn item<'py>(from: &Bound<'py, PyDict>, key: &str) -> PyResult<Bound<'py, PyAny>> {
    from.get_item(key)?.ok_or_else(|| Kind::Parameter.error(format!("{key} is missing")))
}

/// Returns the numbers of an array, row by row, and its shape.
fn numbers(from: &Bound<'_, PyDict>, key: &str) -> PyResult<(Vec<f64>, Vec<usize>)> {
    let array: PyReadonlyArrayDyn<'_, f64> =
        item(from, key)?.extract().map_err(|_| Kind::Parameter.error(format!("{key} must be an array of float64")))?;
    Ok((array.as_array().iter().copied().collect(), array.shape().to_vec()))
}

fn integers(from: &Bound<'_, PyDict>, key: &str) -> PyResult<Vec<u32>> {
    let array: PyReadonlyArray1<'_, u32> =
        item(from, key)?.extract().map_err(|_| Kind::Parameter.error(format!("{key} must be an array of uint32")))?;
    Ok(array.as_array().to_vec())
}

/// Reads the weights of a reservoir from a dictionary, in the form that [`write`] writes.
fn read(from: &Bound<'_, PyDict>) -> PyResult<ReservoirParts> {
    let kind: String = get(from, "kind")?;
    Ok(match kind.as_str() {
        "matrix" => {
            let (input, shape) = numbers(from, "W_in")?;
            let [neurons, channels] = shape[..] else { return Err(Kind::Parameter.error("W_in must be a matrix")) };
            let recurrent = if from.contains("W")? {
                Recurrent::Dense(numbers(from, "W")?.0)
            } else {
                let (rows, columns, weights) =
                    (integers(from, "rows")?, integers(from, "columns")?, numbers(from, "weights")?.0);
                Recurrent::Sparse(rows.into_iter().zip(columns).zip(weights).map(|((i, j), w)| (i, j, w)).collect())
            };
            let name: String = get(from, "activation")?;
            let activation = ACTIVATIONS.into_iter().find(|(own, _)| *own == name);
            let (_, activation) = activation.ok_or_else(|| {
                Kind::Parameter.error(format!("activation is {name:?}, but must be \"tanh\" or \"identity\""))
            })?;
            let (bias, leak) = (numbers(from, "bias")?.0, get(from, "leak")?);
            ReservoirParts::Matrix(MatrixParts { neurons, channels, input, recurrent, bias, leak, activation })
        }
        "cycle" => ReservoirParts::Cycle(CycleParts {
            neurons: get(from, "neurons")?,
            columns: numbers(from, "columns")?.0,
            cycle: get(from, "cycle")?,
            jump: get(from, "jump")?,
            jump_length: get(from, "jump_length")?,
            bias: numbers(from, "bias")?.0,
            leak: get(from, "leak")?,
        }),
        "legendre" => ReservoirParts::Legendre(LegendreParts {
            channels: get(from, "channels")?,
            recurrent: numbers(from, "recurrent")?.0,
            input: numbers(from, "input")?.0,
        }),
        other => return Err(Kind::Parameter.error(format!("there are no reservoirs of the kind {other:?}"))),
    })
}

const ACTIVATIONS: [(&str, Activation); 2] = [("tanh", Activation::Tanh), ("identity", Activation::Identity)];

fn activation(of: Activation) -> &'static str {
    ACTIVATIONS.into_iter().find(|(_, own)| *own == of).map_or("", |(name, _)| name)
}

fn matrix(py: Python<'_>, rows: usize, columns: usize, values: Vec<f64>) -> Bound<'_, PyArray2<f64>> {
    Array2::from_shape_vec((rows, columns), values).unwrap_or_default().into_pyarray(py)
}

/// Writes the weights of a reservoir to a dictionary.
fn write(py: Python<'_>, parts: ReservoirParts) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    match parts {
        ReservoirParts::Matrix(parts) => {
            let MatrixParts { neurons, channels, input, recurrent, bias, leak, activation } = parts;
            all.set_item("kind", "matrix")?;
            all.set_item("W_in", matrix(py, neurons, channels, input))?;
            match recurrent {
                Recurrent::Dense(weights) => all.set_item("W", matrix(py, neurons, neurons, weights))?,
                Recurrent::Sparse(entries) => {
                    let (rows, columns, weights) = columns(entries);
                    all.set_item("rows", rows.into_pyarray(py))?;
                    all.set_item("columns", columns.into_pyarray(py))?;
                    all.set_item("weights", weights.into_pyarray(py))?;
                }
            }
            all.set_item("bias", bias.into_pyarray(py))?;
            all.set_item("leak", leak)?;
            all.set_item("activation", self::activation(activation))?;
        }
        ReservoirParts::Cycle(parts) => {
            let CycleParts { neurons, columns, cycle, jump, jump_length, bias, leak } = parts;
            all.set_item("kind", "cycle")?;
            all.set_item("neurons", neurons)?;
            all.set_item("columns", columns.into_pyarray(py))?;
            all.set_item("cycle", cycle)?;
            all.set_item("jump", jump)?;
            all.set_item("jump_length", jump_length)?;
            all.set_item("bias", bias.into_pyarray(py))?;
            all.set_item("leak", leak)?;
        }
        ReservoirParts::Legendre(LegendreParts { channels, recurrent, input }) => {
            all.set_item("kind", "legendre")?;
            all.set_item("channels", channels)?;
            all.set_item("recurrent", recurrent.into_pyarray(py))?;
            all.set_item("input", input.into_pyarray(py))?;
        }
    }
    Ok(all)
}

/// Returns the rows, columns and weights of sparse weights.
fn columns(entries: Vec<(u32, u32, f64)>) -> (Vec<u32>, Vec<u32>, Vec<f64>) {
    let (places, weights): (Vec<(u32, u32)>, Vec<f64>) = entries.into_iter().map(|(i, j, w)| ((i, j), w)).unzip();
    let (rows, columns) = places.into_iter().unzip();
    (rows, columns, weights)
}
