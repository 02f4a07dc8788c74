//! The methods of the Python class `Language`, which is a task, a grammar or an automaton.

use std::path::PathBuf;
use std::sync::Arc;

use echostack::language::{WordKind, draw};
use echostack::name::UnknownName;
use echostack::recognize::Mode;
use echostack::tasks::{Split, Task};
use echostack::teach::record;
use echostack::{Automaton, Control, Limits, Manifest, Study, Trace, Word};
use echostack_grammar::{Encoding, Goal, Grammar, GrammarLimits, Learned, Learning, Lexer, Subject};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::classes::{Certificate, Language, Machine};
use crate::convert::{self, names};
use crate::errors::{self, Kind};
use crate::params;
use crate::threads::work;
use crate::traces::{self, Symbols, TraceTuple};
use crate::waiting::Waiting;

impl Language {
    fn language(&self) -> PyResult<&Arc<dyn echostack::language::Language>> {
        self.0.require_language().map_err(errors::subject)
    }
}

fn mode(strict: bool) -> Mode {
    if strict { Mode::Strict } else { Mode::Tolerant }
}

fn check_fraction(negatives: f64) -> PyResult<()> {
    if (0. ..=1.).contains(&negatives) {
        return Ok(());
    }
    Err(Kind::Parameter.error(format!("negatives is {negatives}, but must be from 0 to 1")))
}

fn encoding(name: &str) -> PyResult<Encoding> {
    name.parse().map_err(|error: UnknownName| Kind::Parameter.error(error))
}

fn limits(given: Option<convert::Numbers>) -> PyResult<GrammarLimits> {
    let mut limits = GrammarLimits::default();
    convert::limits_of(given, &GrammarLimits::NAMES, |name, most| limits.set(name, most))?;
    Ok(limits)
}

fn lexer(source: Option<&str>, limits: &GrammarLimits) -> PyResult<Option<Lexer>> {
    let lexer = source.map(|source| Lexer::new_within(source, limits));
    lexer.transpose().map_err(|error| Kind::Grammar.error(error))
}

#[pymethods]
impl Language {
    /// Returns the task with a name.
    #[staticmethod]
    fn task(name: &str) -> PyResult<Self> {
        let task: Task = name.parse().map_err(|error: UnknownName| Kind::Parameter.error(error))?;
        Ok(Self(task.into()))
    }

    /// Creates a grammar from its text in Yacc syntax, with a lexer if one is given.
    #[staticmethod]
    #[pyo3(signature = (yacc, lexer=None, encoding="auto", name="grammar", limits=None))]
    fn grammar(
        py: Python<'_>,
        yacc: &str,
        lexer: Option<&str>,
        encoding: &str,
        name: &str,
        limits: Option<convert::Numbers>,
    ) -> PyResult<Self> {
        let (encoding, limits) = (self::encoding(encoding)?, self::limits(limits)?);
        let lexer = self::lexer(lexer, &limits)?;
        let grammar = work(py, || Grammar::new_within(name, yacc, encoding, &limits)).map_err(errors::grammar)?;
        Ok(Self(Subject::of_grammar(grammar, lexer)))
    }

    /// Reads a grammar from a file, or from a folder together with its lexer. A lexer that is given is used instead of
    /// the one in the folder.
    #[staticmethod]
    #[pyo3(signature = (path, lexer=None, encoding="auto", limits=None))]
    fn open_grammar(
        py: Python<'_>,
        path: PathBuf,
        lexer: Option<&str>,
        encoding: &str,
        limits: Option<convert::Numbers>,
    ) -> PyResult<Self> {
        let (encoding, limits) = (self::encoding(encoding)?, self::limits(limits)?);
        let given = self::lexer(lexer, &limits)?;
        let (grammar, own) = work(py, || Grammar::open_within(&path, encoding, &limits)).map_err(errors::grammar)?;
        Ok(Self(Subject::of_grammar(grammar, given.or(own))))
    }

    /// Reads an automaton from its JSON.
    #[staticmethod]
    #[pyo3(signature = (json, name="automaton"))]
    fn automaton(json: &str, name: &str) -> PyResult<Self> {
        let automaton = Automaton::from_json(json).map_err(|error| Kind::Grammar.error(error))?;
        let subject = Subject::of_automaton(name, automaton, &()).map_err(|error| Kind::Grammar.error(error))?;
        Ok(Self(subject))
    }

    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    #[getter]
    fn lexer(&self) -> Option<&str> {
        self.0.lexer().map(Lexer::source)
    }

    /// The names of the terminals and of the nonterminals.
    #[getter]
    fn symbols(&self) -> (Vec<String>, Vec<String>) {
        convert::symbols(self.0.alphabet())
    }

    /// Returns the rules in the paper's form, one per line.
    fn rules(&self) -> PyResult<String> {
        Ok(self.language()?.automaton().to_string())
    }

    fn to_json(&self) -> PyResult<String> {
        Ok(self.language()?.automaton().to_json())
    }

    /// Draws words of a kind.
    fn sample(
        &self,
        py: Python<'_>,
        count: usize,
        lengths: (usize, usize),
        kind: &str,
        seed: u64,
    ) -> PyResult<Vec<Vec<String>>> {
        let kind: WordKind = kind.parse().map_err(|error: UnknownName| Kind::Parameter.error(error))?;
        let (language, oracle, alphabet) = (self.language()?, self.strict()?, self.0.alphabet());
        let waiting = Waiting::new(None);
        let found = waiting.finish(py, || {
            let mut random = Split::Test.generator(seed);
            let mut one = || draw(&**language, &oracle, kind, lengths.0..=lengths.1, &mut random);
            (0..count).map(|_| if waiting.cancelled() { None } else { one() }).collect::<Option<Vec<_>>>()
        })?;
        let found = found.ok_or_else(|| {
            let (from, to) = lengths;
            Kind::Data.error(format!("{} has no {kind} words with {from} to {to} tokens", self.name()))
        })?;
        Ok(found.iter().map(|word| names(alphabet, word)).collect())
    }

    /// Returns traces of valid words or of words of all kinds, depending on the fraction of invalid words.
    #[pyo3(signature = (count, lengths, negatives, strict, seed, test=false))]
    fn examples<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        lengths: Option<(usize, usize)>,
        negatives: f64,
        strict: bool,
        seed: u64,
        test: bool,
    ) -> PyResult<(Vec<TraceTuple<'py>>, Symbols)> {
        let split = if test { Split::Test } else { Split::Train };
        check_fraction(negatives)?;
        if let (Some(task), None) = (self.0.task(), self.0.language()) {
            if lengths.is_some() || negatives > 0. {
                let message = "has words of vectors, whose lengths are fixed and of which none are invalid";
                return Err(Kind::Parameter.error(format!("{} {message}", self.name())));
            }
            return traces::to_python(py, self.0.alphabet(), &task.examples(split, count, seed));
        }
        let (language, oracle) = (self.language()?, self.oracle(mode(strict))?);
        let lengths = lengths.map_or(split.lengths(), |(from, to)| from..=to);
        let waiting = Waiting::new(None);
        let traces = waiting.finish(py, || {
            let mut random = split.generator(seed);
            let kinds = WordKind::shares(count, negatives).into_iter();
            let numbers = kinds.flat_map(|(kind, count)| (0..count).map(move |number| (kind, number)));
            let one = |(kind, number)| {
                let word = if waiting.cancelled() {
                    None
                } else {
                    draw(&**language, &oracle, kind, lengths.clone(), &mut random)
                };
                word.and_then(|word| {
                    record(&oracle, format!("{language} {kind} word {number}"), &word, Limits::default()).0
                })
            };
            numbers.map_while(one).collect::<Vec<Trace>>()
        })?;
        if traces.len() < count {
            return Err(Kind::Data.error(format!("{} has too few words of the requested lengths", self.name())));
        }
        traces::to_python(py, self.0.alphabet(), &traces)
    }

    /// Returns the trace of each word, or `None` if the word has a token that the language does not have, and whether
    /// the word is in the language.
    fn teach<'py>(
        &self,
        py: Python<'py>,
        words: &Bound<'py, PyAny>,
        strict: bool,
    ) -> PyResult<(Vec<TraceTuple<'py>>, Symbols, Vec<bool>)> {
        let (oracle, alphabet) = (self.oracle(mode(strict))?, self.0.alphabet());
        let words = convert::words(words, alphabet)?;
        let waiting = Waiting::new(None);
        let taught = waiting.finish(py, || {
            let one = |(number, word): (usize, &Word)| {
                let recorded = record(&oracle, format!("word {number}"), word, Limits::default());
                (!waiting.cancelled()).then_some(recorded)
            };
            words.iter().enumerate().map_while(one).collect::<Vec<_>>()
        })?;
        let accepted = taught.iter().map(|(_, verdict)| verdict.is_accept()).collect();
        let traces: Vec<Trace> = taught.into_iter().filter_map(|(trace, _)| trace).collect();
        let (traces, symbols) = traces::to_python(py, alphabet, &traces)?;
        Ok((traces, symbols, accepted))
    }

    /// Returns the name of the method that creates this language, and its arguments.
    fn recipe<'py>(&self, py: Python<'py>) -> PyResult<(&'static str, Bound<'py, PyTuple>)> {
        if let Some(task) = self.0.task() {
            return Ok(("task", (task.name(),).into_pyobject(py)?));
        }
        let mut manifest = Manifest::default();
        self.0.describe_in(&mut manifest);
        if let (Some(grammar), Some(encoding)) = (manifest.grammar(), manifest.encoding()) {
            return Ok(("grammar", (grammar, self.lexer(), encoding, self.name()).into_pyobject(py)?));
        }
        Ok(("automaton", (self.to_json()?, self.name()).into_pyobject(py)?))
    }

    /// Trains a machine until it judges new words without mistakes, or until it is proved correct.
    #[pyo3(signature = (spec, *, prove, words, negatives, max_length, tests, test_length, rounds, seed, progress=None, time_limit=None))]
    fn learn<'py>(
        &self,
        py: Python<'py>,
        spec: &Bound<'py, PyDict>,
        prove: bool,
        words: usize,
        negatives: f64,
        max_length: usize,
        tests: usize,
        test_length: usize,
        rounds: usize,
        seed: u64,
        progress: Option<Py<PyAny>>,
        time_limit: Option<f64>,
    ) -> PyResult<(Bound<'py, Machine>, Option<Certificate>, usize)> {
        check_fraction(negatives)?;
        let params = params::params(spec)?;
        let study =
            Study { words, negatives, lengths: 1..=max_length, tests, test_lengths: 1..=test_length, rounds, seed };
        let goal = if prove { Goal::Proof } else { Goal::Test };
        let learning = Learning { goal, study, params: Some(params.params().clone()), ..Learning::default() };
        let waiting = Waiting::within(progress, time_limit)?;
        let learned = waiting.work(py, || self.0.learn(&learning, &waiting));
        let Learned { mut machine, proof, test, .. } = waiting.timely(learned.map_err(errors::learn))?;
        params::note(&mut machine, params.params(), seed);
        Ok((Machine::object(py, machine)?, proof.and_then(Certificate::of), test.map_or(0, |test| test.wrong)))
    }

    /// Constructs a machine without training.
    #[pyo3(signature = (spec, seed, progress=None))]
    fn construct<'py>(
        &self,
        py: Python<'py>,
        spec: &Bound<'py, PyDict>,
        seed: u64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Bound<'py, Machine>, Option<Certificate>)> {
        let params = params::params(spec)?;
        let waiting = Waiting::new(progress);
        let made = waiting.work(py, || self.0.construct(params.params().clone(), &waiting));
        let Learned { mut machine, proof, .. } = made.map_err(errors::learn)?;
        params::note(&mut machine, params.params(), seed);
        Ok((Machine::object(py, machine)?, proof.and_then(Certificate::of)))
    }

    /// Returns the names of all tasks.
    #[staticmethod]
    fn tasks() -> Vec<&'static str> {
        Task::ALL.iter().map(|task| task.name()).collect()
    }
}
