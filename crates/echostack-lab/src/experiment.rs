//! The protocol of the experiments: a random search for hyperparameters, and then repeats with the best ones, cell by
//! cell.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::ThreadPoolBuilder;

use crate::estimator::{Choice, Estimator, EstimatorError, Space, score};
use crate::problem::Problem;
use crate::record::{Draw, Line, RecordError, RecordFile, Repeat, Unit};
use crate::spec::{Specification, SpecificationError, Sweep};

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
    /// The record has draws of hyperparameters that this version would not make.
    #[error(
        "the record has other hyperparameters for {model} on {task} than this version draws; it was begun by another \
         version: choose another folder, or remove the record"
    )]
    Draws {
        /// The task.
        task: String,
        /// The model.
        model: String,
    },
    /// A model does not have the hyperparameter whose values are to be compared.
    #[error("{model} has no hyperparameter {given:?} to sweep; it has {}", known.join(", "))]
    Sweep {
        /// The model.
        model: String,
        /// The name that was given.
        given: String,
        /// The names of its hyperparameters.
        known: Vec<String>,
    },
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
    units: Vec<Planned<'a>>,
}

/// A unit, and what it takes to measure it.
struct Planned<'a> {
    unit: Unit,
    problem: Problem,
    model: &'a dyn Estimator,
    /// A hyperparameter that is fixed.
    fixed: Option<(&'a str, f64)>,
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
                    for fixed in fixed(specification) {
                        let model_name = fixed.map_or(name.clone(), |(of, value)| format!("{name}, {of} {value}"));
                        let unit = Unit { task: problem.name().into(), model: model_name, words };
                        units.push(Planned { unit, problem: problem.clone(), model: &**model, fixed });
                    }
                }
                let has = |sweep: &Sweep| model.spaces(problem).iter().any(|space| space.contains_key(&sweep.name));
                if let Some(sweep) = specification.sweep.as_ref().filter(|sweep| !has(sweep)) {
                    let known = model.spaces(problem).into_iter().flat_map(Space::into_keys).collect::<BTreeSet<_>>();
                    return Err(ExperimentError::Sweep {
                        model: name.clone(),
                        given: sweep.name.clone(),
                        known: known.into_iter().collect(),
                    });
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
        let repeats = self.specification.repeats;
        let choices: Vec<Vec<Choice>> = self.units.iter().map(|planned| self.choices(planned)).collect();
        let of = choices.iter().map(|choices| repeats + choices.len()).sum();
        let known: HashSet<(Unit, bool, usize)> = record
            .lines()
            .iter()
            .filter_map(|line| Some((line.key().0?.clone(), line.key().1, line.key().2)))
            .collect();
        let mine: HashSet<&Unit> = self.units.iter().map(|planned| &planned.unit).collect();
        let done = known.iter().filter(|(unit, _, _)| mine.contains(unit)).count();
        self.check_draws(&choices, record.lines())?;
        let state = Mutex::new((record, done));
        let append = |line: Line| {
            let mut state = state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            state.1 += 1;
            progress.done(state.1, of, &line);
            state.0.append(line)
        };
        let is_missing =
            |planned: &Planned<'_>, repeat, number| !known.contains(&(planned.unit.clone(), repeat, number));
        let draws =
            choices.iter().enumerate().flat_map(|(unit, choices)| (0..choices.len()).map(move |draw| (unit, draw)));
        let new: Vec<_> = draws.filter(|&(unit, draw)| is_missing(&self.units[unit], false, draw)).collect();
        side_by_side(&new, |(unit, draw)| {
            append(Line::Draw(self.search(&self.units[unit], draw, &choices[unit][draw])))
        })?;
        let best: Vec<Result<Choice, EstimatorError>> = {
            let state = state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            self.units.iter().map(|planned| best(state.0.lines(), &planned.unit)).collect()
        };
        // All first repeats come before all second ones, so that a record that is not finished has about as many of each
        // cell.
        let repeats = (0..repeats).flat_map(|repeat| (0..self.units.len()).map(move |unit| (unit, repeat)));
        let new: Vec<_> = repeats.filter(|&(unit, repeat)| is_missing(&self.units[unit], true, repeat)).collect();
        side_by_side(&new, |(unit, repeat)| append(Line::Repeat(self.repeat(&self.units[unit], &best[unit], repeat))))?;
        Ok(())
    }

    /// Returns the hyperparameters of all draws, which are none if there is nothing to search. They are determined by the
    /// specification, the problem and the model.
    fn choices(&self, planned: &Planned<'_>) -> Vec<Choice> {
        let Planned { problem, model, fixed, .. } = planned;
        let mut spaces = model.spaces(problem);
        for space in &mut spaces {
            space.extend(fixed.map(|(name, value)| (name.to_string(), vec![value])));
        }
        let mut random = ChaCha8Rng::seed_from_u64(self.specification.seed);
        random.set_stream(digest(&format!("{}/{}", problem.name(), model.name())));
        let Specification { draws, .. } = *self.specification;
        let count = |number: usize| draws.saturating_sub(number).div_ceil(spaces.len());
        let drawn: Vec<Vec<Choice>> =
            spaces.iter().enumerate().map(|(number, space)| stratified(space, count(number), &mut random)).collect();
        let drawn = (0..draws).filter_map(|draw| drawn.get(draw % spaces.len().max(1))?.get(draw / spaces.len()));
        drawn.cloned().collect()
    }

    /// Checks that the draws in a record are those of this run, whose hyperparameters are given for each unit.
    fn check_draws(&self, choices: &[Vec<Choice>], lines: &[Line]) -> Result<(), ExperimentError> {
        for (Planned { unit, .. }, choices) in self.units.iter().zip(choices) {
            let other = |line: &&Line| match line {
                Line::Draw(draw) => draw.unit == *unit && choices.get(draw.draw) != Some(&draw.choice),
                _ => false,
            };
            if lines.iter().any(|line| other(&line)) {
                return Err(ExperimentError::Draws { task: unit.task.clone(), model: unit.model.clone() });
            }
        }
        Ok(())
    }

    fn search(&self, planned: &Planned<'_>, draw: usize, choice: &Choice) -> Draw {
        let Planned { unit, problem, model, .. } = planned;
        let start = Instant::now();
        let seed = self.specification.seed;
        let errors = || -> Result<Vec<f64>, EstimatorError> {
            let prepared = model.prepare(problem, choice, seed + draw as u64)?;
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
        Draw {
            unit: unit.clone(),
            draw,
            choice: choice.clone(),
            errors,
            failed,
            seconds: start.elapsed().as_secs_f64(),
        }
    }

    fn repeat(&self, planned: &Planned<'_>, best: &Result<Choice, EstimatorError>, repeat: usize) -> Repeat {
        let Planned { unit, problem, model, .. } = planned;
        let seed = self.specification.seed + repeat as u64;
        let training = problem.training(unit.words, self.specification.negatives, seed);
        let start = Instant::now();
        let prepared = best.clone().and_then(|choice| model.prepare(problem, &choice, seed));
        let trained = prepared.and_then(|prepared| prepared.train(&training));
        let train_seconds = start.elapsed().as_secs_f64();
        let (mut errors, mut root_mean_square, mut wrong) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
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
                    } else {
                        root_mean_square.insert(test.name.clone(), score.root_mean_square);
                    }
                }
                None
            }
        };
        Repeat {
            unit: unit.clone(),
            repeat,
            choice: best.clone().unwrap_or_default(),
            seed,
            errors,
            root_mean_square,
            wrong,
            failed,
            train_seconds,
            test_seconds,
        }
    }
}

/// Returns the values of the hyperparameter that is swept, each with its name, or only `None` if there is no sweep.
fn fixed(specification: &Specification) -> Vec<Option<(&str, f64)>> {
    match &specification.sweep {
        None => vec![None],
        Some(sweep) => sweep.values.iter().map(|value| Some((sweep.name.as_str(), *value))).collect(),
    }
}

/// Draws hyperparameters at random, but so that each value of each hyperparameter occurs equally often, as far as the
/// number of draws allows.
fn stratified(space: &Space, count: usize, random: &mut ChaCha8Rng) -> Vec<Choice> {
    let mut choices = vec![Choice::new(); count];
    for (name, values) in space {
        let mut values = values.clone();
        values.shuffle(random);
        let mut order: Vec<usize> = (0..count).collect();
        order.shuffle(random);
        for (at, value) in order.into_iter().zip(values.into_iter().cycle()) {
            choices[at].insert(name.clone(), value);
        }
    }
    choices
}

/// Returns a number that depends on every byte of a name (FNV-1a).
fn digest(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// Processes cells on as many threads as rayon has, each cell on a single thread. The time of a cell is thus its own,
/// and no cell waits for a part of another.
fn side_by_side(
    cells: &[(usize, usize)],
    work: impl Fn((usize, usize)) -> Result<(), RecordError> + Sync,
) -> Result<(), RecordError> {
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
///
/// # Errors
/// If every draw failed.
fn best(lines: &[Line], unit: &Unit) -> Result<Choice, EstimatorError> {
    let draws: Vec<&Draw> = lines
        .iter()
        .filter_map(|line| match line {
            Line::Draw(draw) if draw.unit == *unit => Some(draw),
            _ => None,
        })
        .collect();
    let mean = |draw: &Draw| draw.errors.iter().sum::<f64>() / draw.errors.len().max(1) as f64;
    let succeeded = draws.iter().filter(|draw| draw.failed.is_none());
    let best = succeeded.min_by(|a, b| mean(a).total_cmp(&mean(b)).then(a.draw.cmp(&b.draw)));
    match (best, draws.iter().min_by_key(|draw| draw.draw).and_then(|draw| draw.failed.as_ref())) {
        (Some(draw), _) => Ok(draw.choice.clone()),
        (None, Some(why)) => Err(EstimatorError(format!("all {} draws failed; the first: {why}", draws.len()))),
        (None, None) => Ok(Choice::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_is_drawn_equally_often() {
        let space = Space::from([("a".into(), vec![1., 2., 3.]), ("b".into(), vec![4., 5.]), ("c".into(), vec![6.])]);
        for count in [1, 5, 20] {
            let choices = stratified(&space, count, &mut ChaCha8Rng::seed_from_u64(3));
            assert_eq!(choices.len(), count);
            for (name, values) in &space {
                for value in values {
                    let times = choices.iter().filter(|choice| choice[name] == *value).count();
                    assert!((count / values.len()..=count.div_ceil(values.len())).contains(&times), "{name} {value}");
                }
            }
        }
    }

    #[test]
    fn draws_differ_between_tasks_and_models() {
        let models = crate::models::all();
        let names = ["CRJ-RSM", "CRJ-ESN", "RMM"];
        let specification = Specification {
            models: names.map(String::from).to_vec(),
            tasks: vec!["latch".into(), "copy".into()],
            ..Specification::default()
        };
        let run = Experiment::new(&specification, &models, Shard { number: 1, of: 1 }).unwrap();
        let all: Vec<Vec<Choice>> = run.units.iter().map(|planned| run.choices(planned)).collect();
        assert!(all.iter().all(|choices| choices.len() == 20));
        let columns = |choices: &[Choice]| choices.iter().map(|choice| choice["cost"].to_bits()).collect::<Vec<_>>();
        assert_ne!(columns(&all[0]), columns(&all[1]));
        // The memory machine has three kinds of reservoirs, which take turns.
        let kinds = all[4].iter().map(|choice| choice["kind"]);
        assert!(kinds.eq((0..20).map(|draw| f64::from(draw % 3))));
    }

    #[test]
    fn a_sweep_fixes_one_hyperparameter() {
        let models = crate::models::all();
        let sweep = Some(crate::Sweep { name: "radius".into(), values: vec![0.5, 1.25] });
        let specification = Specification {
            models: vec!["rand-ESN".into()],
            tasks: vec!["latch".into()],
            sweep,
            ..Specification::default()
        };
        assert_eq!(specification.unlike_paper(), ["radius not searched but compared"]);
        let other = Specification { models: vec!["CRJ-ESN".into()], ..specification.clone() };
        let refused = Experiment::new(&other, &models, Shard { number: 1, of: 1 }).unwrap_err().to_string();
        assert!(
            refused.contains("CRJ-ESN has no hyperparameter \"radius\" to sweep; it has cycle, input"),
            "{refused}"
        );
        let run = Experiment::new(&specification, &models, Shard { number: 1, of: 1 }).unwrap();
        let names: Vec<&str> = run.units.iter().map(|planned| planned.unit.model.as_str()).collect();
        assert_eq!(names, ["rand-ESN, radius 0.5", "rand-ESN, radius 1.25"]);
        for (planned, radius) in run.units.iter().zip([0.5, 1.25]) {
            let choices = run.choices(planned);
            assert!(choices.len() == 20 && choices.iter().all(|choice| choice["radius"] == radius));
        }
    }
}
