//! The protocol of the experiments: a random search for hyperparameters, and then repeats with the best ones, cell by
//! cell.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::ThreadPoolBuilder;

use crate::estimator::{Choice, Estimator, EstimatorError, score};
use crate::problem::Problem;
use crate::record::{Draw, Line, RecordError, RecordFile, Repeat, Unit};
use crate::spec::{Specification, SpecificationError};

/// The number of the first data set of the search. Data sets of the repeats are numbered from 0, so that no data set is
/// used for both.
const SEARCH_DATA: u64 = 1_000_000;

/// One of several equal parts of the experiments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The number of this part, counted from 1.
    pub number: usize,
    /// The number of parts.
    pub of: usize,
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Self { number, of }),
            _ => Err(format!("{text:?} is not a shard; for example, 2/5 is the second of five")),
        }
    }
}

/// The reason why a run ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// The record could not be written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The specification is invalid.
    #[error(transparent)]
    Specification(#[from] SpecificationError),
    /// There is no model with this name.
    #[error("there is no model {given:?}; the models are {}", known.join(", "))]
    Estimator {
        /// The name that was given.
        given: String,
        /// The names of all models.
        known: Vec<String>,
    },
}

/// A receiver of reports on the progress of a run.
pub trait Progress: Sync {
    /// Reports the number of cells that are done, of all cells of this run, and the line of the last one.
    fn done(&self, cells: usize, of: usize, line: &Line);
}

impl Progress for () {
    fn done(&self, _: usize, _: usize, _: &Line) {}
}

/// A run of a specification.
pub struct Experiment<'a> {
    specification: &'a Specification,
    units: Vec<(Unit, Problem, &'a dyn Estimator)>,
}

impl fmt::Debug for Experiment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Experiment").field("specification", self.specification).finish_non_exhaustive()
    }
}

impl<'a> Experiment<'a> {
    /// Creates the run of a shard.
    ///
    /// # Errors
    /// If the specification is invalid, or if it names a task or a model that does not exist.
    pub fn new(
        specification: &'a Specification,
        models: &'a [Box<dyn Estimator>],
        shard: Shard,
    ) -> Result<Self, ExperimentError> {
        let problems = specification.problems()?;
        let mut units = Vec::new();
        for name in &specification.models {
            let model = models.iter().find(|model| model.name() == name).ok_or_else(|| {
                let known = models.iter().map(|model| model.name().to_string()).collect();
                ExperimentError::Estimator { given: name.clone(), known }
            })?;
            for problem in problems.iter().filter(|problem| model.takes(problem)) {
                for &words in &specification.train_words {
                    let unit = Unit { task: problem.name().into(), model: name.clone(), words };
                    units.push((unit, problem.clone(), &**model));
                }
            }
        }
        let units = units.into_iter().skip(shard.number - 1).step_by(shard.of).collect();
        Ok(Self { specification, units })
    }

    /// Runs all cells that are missing from the record, on as many threads as rayon has, and appends each cell as soon
    /// as it is done.
    ///
    /// # Errors
    /// If the record cannot be written.
    pub fn run(&self, record: &mut RecordFile, progress: &dyn Progress) -> Result<(), ExperimentError> {
        let Specification { draws, repeats, .. } = *self.specification;
        let searched =
            |(_, problem, model): &(Unit, Problem, &dyn Estimator)| self.choice(problem, *model, 0).is_some();
        let of = self.units.iter().map(|unit| repeats + if searched(unit) { draws } else { 0 }).sum();
        let known: HashSet<(Unit, bool, usize)> = record
            .lines()
            .iter()
            .filter_map(|line| Some((line.key().0?.clone(), line.key().1, line.key().2)))
            .collect();
        let mine: HashSet<&Unit> = self.units.iter().map(|(unit, _, _)| unit).collect();
        let done = known.iter().filter(|(unit, _, _)| mine.contains(unit)).count();
        let state = Mutex::new((record, done));
        let append = |line: Line| {
            let mut state = state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            state.1 += 1;
            progress.done(state.1, of, &line);
            state.0.append(line)
        };
        for (unit, problem, model) in &self.units {
            let missing = |repeat: bool, count: usize| -> Vec<usize> {
                (0..count).filter(|&number| !known.contains(&(unit.clone(), repeat, number))).collect()
            };
            let searched = self.choice(problem, *model, 0).is_some();
            let new: Vec<usize> = if searched { missing(false, draws) } else { Vec::new() };
            side_by_side(&new, |draw| append(Line::Draw(self.search(unit, problem, *model, draw))))?;
            let best = {
                let state = state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                best(state.0.lines(), unit)
            };
            let new = missing(true, repeats);
            side_by_side(&new, |repeat| append(Line::Repeat(self.repeat(unit, problem, *model, &best, repeat))))?;
        }
        Ok(())
    }

    /// Returns the hyperparameters of a draw. They are determined by the specification, the problem, the model and the
    /// number of the draw.
    fn choice(&self, problem: &Problem, model: &dyn Estimator, draw: usize) -> Option<Choice> {
        let mut random = ChaCha8Rng::seed_from_u64(self.specification.seed);
        random.set_stream(draw as u64);
        model.draw(problem, &mut random)
    }

    fn search(&self, unit: &Unit, problem: &Problem, model: &dyn Estimator, draw: usize) -> Draw {
        let start = Instant::now();
        let choice = self.choice(problem, model, draw).unwrap_or_default();
        let seed = self.specification.seed;
        let errors = || -> Result<Vec<f64>, EstimatorError> {
            let prepared = model.prepare(problem, &choice, seed + draw as u64)?;
            let one = |set: usize| {
                let data = seed + SEARCH_DATA + set as u64;
                let trained = prepared.train(&problem.training(unit.words, self.specification.negatives, data))?;
                let words = problem.testing(&self.specification.tests[0], data);
                let words = words.ok_or_else(|| {
                    EstimatorError("there are not enough words of this task for the first test".into())
                })?;
                Ok(score(&*trained, &words).error)
            };
            (0..self.specification.validation_sets).map(one).collect()
        };
        let (errors, failed) = match errors() {
            Ok(errors) => (errors, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        Draw { unit: unit.clone(), draw, choice, errors, failed, seconds: start.elapsed().as_secs_f64() }
    }

    fn repeat(&self, unit: &Unit, problem: &Problem, model: &dyn Estimator, choice: &Choice, repeat: usize) -> Repeat {
        let seed = self.specification.seed + repeat as u64;
        let training = problem.training(unit.words, self.specification.negatives, seed);
        let start = Instant::now();
        let trained = model.prepare(problem, choice, seed).and_then(|prepared| prepared.train(&training));
        let train_seconds = start.elapsed().as_secs_f64();
        let (mut errors, mut wrong) = (BTreeMap::new(), BTreeMap::new());
        let mut test_seconds = 0.;
        let failed = match trained {
            Err(error) => Some(error.to_string()),
            Ok(trained) => {
                for (number, test) in self.specification.tests.iter().enumerate() {
                    let Some(words) = problem.testing(test, seed) else { continue };
                    let start = Instant::now();
                    let score = score(&*trained, &words);
                    if number == 0 {
                        test_seconds = start.elapsed().as_secs_f64();
                    }
                    errors.insert(test.name.clone(), score.error);
                    if problem.is_language() {
                        wrong.insert(test.name.clone(), score.wrong);
                    }
                }
                None
            }
        };
        Repeat {
            unit: unit.clone(),
            repeat,
            choice: choice.clone(),
            seed,
            errors,
            wrong,
            failed,
            train_seconds,
            test_seconds,
        }
    }
}

/// Processes cells on as many threads as rayon has, each cell on a single thread. The time of a cell is thus its own,
/// and no cell waits for a part of another.
fn side_by_side(cells: &[usize], work: impl Fn(usize) -> Result<(), RecordError> + Sync) -> Result<(), RecordError> {
    let next = AtomicUsize::new(0);
    let one_by_one = || {
        while let Some(&cell) = cells.get(next.fetch_add(1, Ordering::Relaxed)) {
            work(cell)?;
        }
        Ok(())
    };
    let alone = || match ThreadPoolBuilder::new().num_threads(1).build() {
        Ok(pool) => pool.install(one_by_one),
        Err(_) => one_by_one(), // the system provides no threads
    };
    std::thread::scope(|scope| {
        let threads = rayon::current_num_threads().min(cells.len());
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(alone)).collect();
        running
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// Returns the hyperparameters with the smallest mean error. Among equal ones, the first draw wins. They are empty if
/// nothing was searched.
fn best(lines: &[Line], unit: &Unit) -> Choice {
    let draws = lines.iter().filter_map(|line| match line {
        Line::Draw(draw) if draw.unit == *unit && draw.failed.is_none() => Some(draw),
        _ => None,
    });
    let mean = |draw: &Draw| draw.errors.iter().sum::<f64>() / draw.errors.len().max(1) as f64;
    let best = draws.min_by(|a, b| mean(a).total_cmp(&mean(b)).then(a.draw.cmp(&b.draw)));
    best.map(|draw| draw.choice.clone()).unwrap_or_default()
}
