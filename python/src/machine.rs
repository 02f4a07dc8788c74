//! The methods of the Python class `Machine`.

use std::sync::Arc;

use echostack::automaton::AutomatonError;
use echostack::certify::Proof;
use echostack::extract::{ExtractError, extract};
use echostack::recognize::{Event, Observer, Outcome};
use echostack::{Control, Limits, Prover};
use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::classes::{Certificate, Language, Machine, Reservoir, Table};
use crate::convert;
use crate::errors::{self, Kind};
use crate::judging;
use crate::params;
use crate::threads::work;
use crate::traces::{self, Symbols};
use crate::waiting::Waiting;

/// An observer that collects the outputs on a word.
#[derive(Clone, Default)]
struct Rows {
    values: Vec<f64>,
    count: usize,
}

impl Rows {
    fn array(self) -> Array2<f64> {
        let width = self.values.len() / self.count.max(1);
        Array2::from_shape_vec((self.count, width), self.values).unwrap_or_default()
    }
}

impl Observer for Rows {
    fn event(&mut self, _: u64, event: Event<'_>) {
        if let Event::Output { values } = event {
            self.values.extend_from_slice(values);
            self.count += 1;
        }
    }

    fn reads_margins(&self) -> bool {
        false
    }
}

/// An observer that finds the smallest margin of all decisions on a word.
#[derive(Clone)]
struct Least(f64);

impl Observer for Least {
    fn event(&mut self, _: u64, event: Event<'_>) {
        if let Event::Decide { margin, .. } | Event::Shift { margin, .. } = event {
            self.0 = self.0.min(margin);
        }
    }
}

/// The key of a machine's certificate in the manifest of its file.
const CERTIFICATE: &str = "certificate";

impl Machine {
    fn without_certificate(&self) -> PyResult<(echostack::Machine, Option<Certificate>)> {
        let mut machine = self.0.clone();
        let Some(json) = self.0.manifest().get(CERTIFICATE) else { return Ok((machine, None)) };
        let certificate = Certificate::from_json(json)?;
        let manifest = machine.manifest_mut();
        manifest.clear();
        let others = self.0.manifest().iter().filter(|(key, _)| *key != CERTIFICATE);
        others.for_each(|(key, value)| manifest.set(key, value));
        Ok((machine, Some(certificate)))
    }
}

#[pymethods]
impl Machine {
    /// Trains a machine on traces. The seed, and the language that the traces are about, are recorded in its manifest.
    #[staticmethod]
    #[pyo3(signature = (traces, symbols, spec, seed, language=None, progress=None))]
    fn fit<'py>(
        py: Python<'py>,
        traces: &Bound<'py, PyAny>,
        symbols: Symbols,
        spec: &Bound<'py, PyDict>,
        seed: u64,
        language: Option<&Language>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, Self>> {
        let params = params::params(spec)?;
        let alphabet = traces::alphabet(symbols)?;
        let traces = traces::from_python(traces, &alphabet)?;
        let waiting = Waiting::new(progress);
        let mut machine = waiting.work(py, || params.fit(&alphabet, &traces, &waiting)).map_err(errors::fit)?;
        params::note(&mut machine, params.params(), seed);
        if let Some(language) = language {
            language.0.describe_in(machine.manifest_mut());
        }
        Self::object(py, machine.memoized())
    }

    #[staticmethod]
    fn from_bytes<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, Self>> {
        Self::object(py, echostack::Machine::from_bytes(bytes).map_err(errors::file)?.memoized())
    }

    /// Writes a model file, which also contains the certificate, if there is one.
    #[pyo3(signature = (path, certificate=None))]
    fn save(&self, py: Python<'_>, path: std::path::PathBuf, certificate: Option<&Certificate>) -> PyResult<()> {
        let mut machine = self.0.clone();
        if let Some(certificate) = certificate {
            machine.manifest_mut().set(CERTIFICATE, certificate.0.to_json());
        }
        work(py, || machine.save(path)).map_err(errors::file)
    }

    /// Returns the machine without the certificate that its file contains, and the certificate, if there is one.
    fn apart<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, Self>, Option<Certificate>)> {
        let (machine, certificate) = self.without_certificate()?;
        Ok((Self::object(py, machine)?, certificate))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.to_bytes().map_err(errors::file)?))
    }

    /// The parameters of the machine, as far as it records them.
    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        params::recorded(py, &self.0)
    }

    /// The reservoir with its weights.
    #[getter]
    fn reservoir(&self) -> Reservoir {
        Reservoir(self.0.reservoir().clone())
    }

    /// The number of distinct contexts that the machine was trained on.
    #[getter]
    fn contexts(&self) -> usize {
        self.0.lessons().actions().len()
    }

    /// The numbers of support vectors of the pop, push, shift and output readouts.
    #[getter]
    fn support(&self) -> [usize; 4] {
        use echostack::machine::Readout::{Output, Pop, Push, Shift};
        [Pop, Push, Shift, Output].map(|readout| self.0.support(readout))
    }

    /// Returns the outputs on each word, one row per step.
    #[pyo3(signature = (words, in_turn=false))]
    fn outputs<'py>(
        &self,
        py: Python<'py>,
        words: &Bound<'py, PyAny>,
        in_turn: bool,
    ) -> PyResult<Vec<Bound<'py, PyArray2<f64>>>> {
        let words = convert::words(words, self.0.alphabet())?;
        let waiting = Waiting::turns(in_turn);
        let watch = || judging::watch::<_, _, Outcome>(&self.0, &words, &Rows::default(), Limits::default(), &waiting);
        let all = waiting.finish(py, watch)?;
        Ok(all.into_iter().map(|(_, rows)| rows.array().into_pyarray(py)).collect())
    }

    /// Returns, for each word, the smallest margin of all decisions, negated if the word is not accepted. The margin of
    /// a decision without an alternative is infinite.
    #[pyo3(signature = (words, in_turn=false))]
    fn margins<'py>(
        &self,
        py: Python<'py>,
        words: &Bound<'py, PyAny>,
        in_turn: bool,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let words = convert::words(words, self.0.alphabet())?;
        let waiting = Waiting::turns(in_turn);
        let watch = || judging::watch(&self.0, &words, &Least(f64::INFINITY), Limits::default(), &waiting);
        let signed = |(outcome, Least(margin)): (Outcome, Least)| if outcome.is_accept() { margin } else { -margin };
        Ok(waiting.finish(py, watch)?.into_iter().map(signed).collect::<Vec<f64>>().into_pyarray(py))
    }

    /// Searches for a proof that the machine behaves like the language's automaton. Returns the certificate if there is
    /// a proof, a word on which the two differ with both verdicts if one was found, and the number of cells that are
    /// open.
    #[pyo3(signature = (language, progress=None, time_limit=None, max_cells=None))]
    fn certify<'py>(
        &self,
        py: Python<'py>,
        language: &Language,
        progress: Option<Py<PyAny>>,
        time_limit: Option<f64>,
        max_cells: Option<usize>,
    ) -> PyResult<(Option<Certificate>, Option<(Vec<String>, Bound<'py, PyTuple>, Bound<'py, PyTuple>)>, usize)> {
        let oracle = language.strict()?;
        let waiting = Waiting::within(progress, time_limit)?;
        let found = waiting.work(py, || {
            let prover = match Prover::new(&oracle, self.0.view(), &waiting) {
                Err(AutomatonError::Cancelled) => return Err(errors::cancelled()),
                made => made.map_err(|error| Kind::Grammar.error(error))?,
            };
            let prover = prover.with_max_cells(max_cells.unwrap_or(Prover::MAX_CELLS));
            let proof = language.0.check_lexer_of(self.0.manifest()).and_then(|()| prover.prove(&self.0, &waiting));
            let proof = proof.and_then(|proof| language.0.cover(proof, &oracle, &waiting));
            if waiting.cancelled() {
                return Err(errors::cancelled());
            }
            Ok(match proof.map_err(|error| Kind::Proof.error(error))? {
                Proof::Proved(certificate) => (Some(certificate), None, 0),
                Proof::Open { cells, .. } => (None, prover.difference(&self.0, &cells, &waiting), cells.len()),
            })
        });
        let (certificate, difference, open) = waiting.timely(found)?;
        let alphabet = self.0.alphabet();
        let difference = difference.map(|found| {
            let own = convert::verdict(py, alphabet, &found.machine)?;
            let other = convert::verdict(py, alphabet, &found.automaton)?;
            Ok::<_, PyErr>((convert::names(alphabet, &found.word), own, other))
        });
        Ok((certificate.map(|certificate| Certificate(Arc::new(*certificate))), difference.transpose()?, open))
    }

    /// Extracts the automaton of the machine. Returns its JSON, its rules (one per line), its productions, its graph,
    /// and the certificate.
    #[pyo3(signature = (progress=None, time_limit=None))]
    fn extract(
        &self,
        py: Python<'_>,
        progress: Option<Py<PyAny>>,
        time_limit: Option<f64>,
    ) -> PyResult<(String, String, Vec<(String, Vec<String>)>, String, Certificate)> {
        let waiting = Waiting::within(progress, time_limit)?;
        let found = waiting.timely(waiting.work(py, || extract(&self.0, &waiting)).map_err(refused))?;
        let alphabet = self.0.alphabet();
        let name = |symbol: &echostack::SymbolId| alphabet.name(*symbol).to_string();
        let productions = found.productions.iter().map(|(push, all)| (name(push), all.iter().map(name).collect()));
        let automaton = found.oracle.automaton();
        Ok((
            automaton.to_json(),
            automaton.to_string(),
            productions.collect(),
            found.dot(),
            Certificate(Arc::new(found.certificate)),
        ))
    }

    /// Compiles the machine to a table, by extracting its automaton or by proving that it behaves like the automaton of
    /// a language.
    #[pyo3(signature = (language=None, progress=None))]
    fn compile<'py>(
        &self,
        py: Python<'py>,
        language: Option<&Language>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, Table>> {
        let oracle = if let Some(language) = language {
            if self.certify(py, language, progress, None, None)?.0.is_none() {
                return Err(
                    Kind::Proof.error("the machine could not be proved to behave like the language's automaton")
                );
            }
            language.strict()?
        } else {
            let waiting = Waiting::new(progress);
            waiting.work(py, || extract(&self.0, &waiting)).map_err(refused)?.oracle
        };
        let manifest = self.without_certificate()?.0.manifest().clone();
        let table =
            work(py, || echostack::Table::new(&oracle, manifest)).map_err(|error| Kind::Grammar.error(error))?;
        Table::object(py, table)
    }
}

fn refused(error: ExtractError) -> PyErr {
    match error {
        ExtractError::Certify(echostack::certify::CertifyError::Cancelled)
        | ExtractError::Automaton(AutomatonError::Cancelled) => errors::cancelled(),
        other => Kind::Proof.error(other),
    }
}
