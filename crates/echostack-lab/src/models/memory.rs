//! The reservoir memory machine, by the paper's definition and algorithm for it, with addresses that we worked out.
//!
//! At each step, a classifier c chooses an address based on the state h. Address 0 does nothing. An address that was
//! not used before stores h. An address that was used before replaces h by the stored state. The output is a linear map
//! of h.
//!
//! **Latch.** The automaton has two states: the number of ones so far is even or odd. The output at a token depends on
//! the state before the token, and everything that follows depends on the state after it. An address is therefore a
//! pair of the state before the token and the token, which gives four addresses, and 0 at the end.
//!
//! **Repeat copy.** Vector j of a copy has address j, and everything else has address 0. The first copy must come from
//! the reservoir's own memory. All other copies recall its states, and thereby its outputs.
//!
//! **Copy.** Addresses do not help: a state that is recalled during copying must have been stored during reading, when
//! the output was 0, and equal states have equal outputs. A memory machine on this task is therefore an echo state
//! network, and all labels are 0.
//!
//! **The versions with echo.** If each vector is also the output while it is read, as in the experiments of the paper
//! that introduced memory machines, then vector j has address j when it is read, too, and every copy recalls its state.

use std::sync::Arc;

use echostack::readout::Classifier;
use echostack::readout::Svm;
use echostack::reservoir::ReservoirKind;
use echostack::reservoir::{Drive, Reservoir, Simd};
use echostack::symbol::Input;
use echostack::tasks::Task;
use echostack::{Trace, Word};
use rayon::prelude::*;

use super::common::{COSTS, PENALTIES, chosen, drives, neurons, reservoir, reservoir_space};
use super::echo::{Linear, regress};
use crate::estimator::{Choice, Estimator, EstimatorError, Prepared, Space, Trained};
use crate::problem::Problem;

/// A reservoir memory machine. The kind of its reservoir is part of the hyperparameter search.
pub(super) struct MemoryMachine;

impl Estimator for MemoryMachine {
    fn name(&self) -> &'static str {
        "RMM"
    }

    fn takes(&self, problem: &Problem) -> bool {
        matches!(problem.task(), Some(Task::Latch | Task::Copy | Task::RepeatCopy))
    }

    fn spaces(&self, problem: &Problem) -> Vec<Space> {
        let space = |(number, kind): (usize, ReservoirKind)| {
            let mut space = reservoir_space(kind, problem);
            space.insert("kind".into(), vec![number as f64]);
            space.insert("cost".into(), COSTS.into());
            space.insert("penalty".into(), PENALTIES.into());
            space
        };
        ReservoirKind::ALL.into_iter().enumerate().map(space).collect()
    }

    fn prepare(&self, problem: &Problem, choice: &Choice, seed: u64) -> Result<Box<dyn Prepared>, EstimatorError> {
        let kind = ReservoirKind::ALL.get(chosen(choice, "kind")? as usize).copied();
        let kind = kind.ok_or_else(|| EstimatorError("there is no such kind of reservoir".into()))?;
        let task = problem.task().ok_or_else(|| {
            EstimatorError("the memory machine has addresses for the paper's tasks only, not for grammars".into())
        })?;
        Ok(Box::new(Configured {
            task,
            echo: problem.echoes(),
            reservoir: reservoir(kind, neurons(problem), problem.alphabet().terminals().len(), choice, seed)?,
            svm: Svm { cost: chosen(choice, "cost")?, ..Svm::default() },
            penalty: chosen(choice, "penalty")?,
        }))
    }
}

/// Returns the address at each token of a word and at its end. With an `echo`, the word is also copied while it is read.
fn addresses(task: Task, echo: bool, word: &Word) -> Vec<usize> {
    let mut all = vec![0; word.len() + 1];
    match task {
        Task::Latch => {
            let mut odd = 0;
            for (address, input) in all.iter_mut().zip(word.inputs()) {
                let Input::Symbol(symbol) = input else { continue };
                *address = 1 + 2 * odd + symbol.index();
                odd ^= symbol.index();
            }
        }
        Task::Copy | Task::RepeatCopy if echo || task == Task::RepeatCopy => {
            let mut place = echo.then_some(0);
            for (address, input) in all.iter_mut().zip(word.inputs()) {
                let Input::Vector(values) = input else { continue };
                match values.last() {
                    Some(&end) if end > 0. => place = Some(0),
                    Some(&end) if end < 0. && !echo => {}
                    _ => {
                        place = place.map(|place| place + 1);
                        *address = place.unwrap_or(0);
                    }
                }
            }
        }
        _ => {}
    }
    all
}

/// The state and the memory while a word is read.
struct Memory<'a> {
    reservoir: &'a dyn Reservoir,
    state: Vec<f64>,
    next: Vec<f64>,
    kept: Vec<Option<Vec<f64>>>,
}

impl<'a> Memory<'a> {
    fn new(reservoir: &'a dyn Reservoir) -> Self {
        let state = vec![0.; reservoir.neurons()];
        Self { reservoir, next: state.clone(), state, kept: Vec::new() }
    }

    /// Reads an input. The address is then chosen based on the new state.
    fn read(&mut self, drive: Drive<'_>) {
        self.reservoir.step(Simd::default(), &self.state, drive, &mut self.next);
        std::mem::swap(&mut self.state, &mut self.next);
    }

    /// Stores the state at an address, or recalls the state that was stored there.
    fn access(&mut self, address: usize) {
        if address == 0 {
            return;
        }
        self.kept.resize(self.kept.len().max(address + 1), None);
        match &self.kept[address] {
            Some(kept) => self.state.copy_from_slice(kept),
            None => self.kept[address] = Some(self.state.clone()),
        }
    }
}

struct Configured {
    task: Task,
    echo: bool,
    reservoir: Arc<dyn Reservoir>,
    svm: Svm,
    penalty: f64,
}

impl Prepared for Configured {
    fn train(&self, traces: &[Trace]) -> Result<Box<dyn Trained>, EstimatorError> {
        let (mut before, mut labels, mut after) = (Vec::new(), Vec::new(), Vec::new());
        for trace in traces {
            let mut memory = Memory::new(&*self.reservoir);
            for (drive, address) in drives(trace.word()).into_iter().zip(addresses(self.task, self.echo, trace.word()))
            {
                memory.read(drive);
                before.extend_from_slice(&memory.state);
                labels.push(address);
                memory.access(address);
                after.extend_from_slice(&memory.state);
            }
        }
        let neurons = self.reservoir.neurons();
        let rows = before.chunks_exact(neurons).zip(labels);
        let address = Classifier::fit(neurons, rows, self.svm, &()).map_err(EstimatorError::new)?;
        let output = regress(after, neurons, traces, self.penalty)?;
        Ok(Box::new(Taught { reservoir: self.reservoir.clone(), address, output }))
    }
}

struct Taught {
    reservoir: Arc<dyn Reservoir>,
    address: Classifier,
    output: Linear,
}

impl Trained for Taught {
    fn outputs(&self, words: &[&Word]) -> Vec<Vec<f64>> {
        let one = |word: &&Word| {
            let mut memory = Memory::new(&*self.reservoir);
            let mut outputs = Vec::new();
            for drive in drives(word) {
                memory.read(drive);
                memory.access(self.address.classify(&memory.state));
                self.output.apply(&memory.state, &mut outputs);
            }
            outputs
        };
        words.par_iter().map(one).collect()
    }
}
