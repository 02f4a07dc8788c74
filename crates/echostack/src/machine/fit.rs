//! Training: traces to lessons (Algorithm 3), lessons to readouts.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{ActionReadout, Actions, Checked, Classifier, Machine, Output, OutputReadout, View, drive};
use crate::control::{Control, Stage};
use crate::readout::{
    Distances, Fault, Head, KernelParts, Labelled, Lesson, Lessons, Pair, Problem, Projection, Svm, Values, ridge,
    train,
};
use crate::recognize::Reduction;
use crate::reservoir::{Drive, Reservoir, ReservoirError};
use crate::simd::Simd;
use crate::symbol::{Alphabet, Input};
use crate::teach::Trace;

/// Why a machine could not be trained.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FitError {
    /// There is nothing to learn from.
    #[error("no traces were given; a machine needs at least one")]
    NoTraces,
    /// The traces do not have the same number of outputs, or one was made for another alphabet.
    #[error("{source_name} does not fit the alphabet or has {given} output values a step, but {needed} are needed")]
    Misfit {
        /// Where the trace comes from.
        source_name: String,
        /// Its outputs.
        given: usize,
        /// The outputs of the first trace.
        needed: usize,
    },
    /// The reservoir does not fit the alphabet.
    #[error(transparent)]
    Reservoir(#[from] ReservoirError),
    /// There are more distinct rows than the parameters allow.
    #[error("the traces have more than {0} distinct rows; give fewer or shorter words, or raise max_rows")]
    TooManyRows(usize),
    /// The control asked to stop.
    #[error("training was cancelled")]
    Cancelled,
    /// A support vector machine did not reach its tolerance.
    #[error("a support vector machine did not converge in {0} steps; lower svm.cost or raise svm.tolerance")]
    NotConverged(usize),
    /// The regression has no unique solution.
    #[error("the ridge regression is singular; raise its penalty")]
    Singular,
}

impl From<Fault> for FitError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Cancelled => Self::Cancelled,
            Fault::NotConverged(steps) => Self::NotConverged(steps),
        }
    }
}

impl Checked {
    /// Runs the traces through a reservoir under teacher forcing (Algorithm 3) and returns the training sets.
    ///
    /// # Errors
    /// If there are no traces, they do not fit the alphabet or each other, or they have too many distinct rows.
    pub fn collect(
        &self,
        reservoir: &dyn Reservoir,
        alphabet: &Alphabet,
        traces: &[Trace],
        control: &dyn Control,
    ) -> Result<Lessons, FitError> {
        let needed = traces.first().ok_or(FitError::NoTraces)?.output_width();
        let mut collector = Collector::new(reservoir, self.params().view);
        for (done, trace) in traces.iter().enumerate() {
            if control.cancelled() {
                return Err(FitError::Cancelled);
            }
            let given = trace.output_width();
            if given != needed || !fits(trace, alphabet) {
                return Err(FitError::Misfit { source_name: trace.source().to_string(), given, needed });
            }
            collector.add(trace);
            let most = self.params().max_rows;
            if collector.lessons.actions.rows.len().max(collector.lessons.steps.len() / 16) > most {
                return Err(FitError::TooManyRows(most));
            }
            control.progress(Stage::Collect, done + 1, traces.len());
        }
        Ok(collector.lessons)
    }

    /// Trains a machine.
    ///
    /// # Errors
    /// See [`FitError`].
    pub fn fit(&self, alphabet: &Arc<Alphabet>, traces: &[Trace], control: &dyn Control) -> Result<Machine, FitError> {
        let params = self.params();
        let reservoir = params.reservoir.build(alphabet.len())?;
        let lessons = Arc::new(self.collect(&*reservoir, alphabet, traces, control)?);
        let trained = Trainer::new(&lessons, params.svm, control).train(params.actions, params.output)?;
        let (projection, actions, shift, output) = trained;
        let machine = Machine {
            alphabet: alphabet.clone(),
            reservoir,
            view: params.view,
            mode: params.mode,
            simd: Simd::default(),
            projection,
            actions,
            shift,
            output,
            symbols: Vec::new(),
            bottom: Vec::new(),
            lessons,
        };
        Ok(machine.completed())
    }
}

/// Whether all symbols of a trace are of this alphabet: it may have been made for another.
fn fits(trace: &Trace, alphabet: &Alphabet) -> bool {
    let mut pushes = trace.steps().iter().flat_map(|step| &step.reductions).filter_map(|reduction| reduction.push);
    pushes.all(|symbol| alphabet.is_nonterminal(symbol)) && trace.word().inputs().all(|input| input.fits(alphabet))
}

/// The run of Algorithm 3 over many traces. Symbol sequences that begin alike are stepped through only once.
struct Collector<'a> {
    reservoir: &'a dyn Reservoir,
    view: View,
    simd: Simd,
    lessons: Lessons,
    memory: StepMemory,
}

/// The states after sequences of symbols that were stepped through before.
#[derive(Default)]
struct StepMemory {
    states: Vec<Arc<[f64]>>,
    next: HashMap<(usize, usize), usize>,
}

/// A state, and where it is remembered if only symbols led to it.
#[derive(Clone)]
struct Place {
    state: Arc<[f64]>,
    node: Option<usize>,
}

impl<'a> Collector<'a> {
    fn new(reservoir: &'a dyn Reservoir, view: View) -> Self {
        let zero: Arc<[f64]> = vec![0.; reservoir.neurons()].into();
        let memory = StepMemory { states: vec![zero], next: HashMap::new() };
        let lessons = Lessons::new(reservoir.neurons());
        Self { reservoir, view, simd: Simd::default(), lessons, memory }
    }

    fn zero(&self) -> Place {
        Place { state: self.memory.states[0].clone(), node: Some(0) }
    }

    fn step(&mut self, from: &Place, drive: Drive<'_>) -> Place {
        let key = match (from.node, drive) {
            (Some(node), Drive::Channel(channel)) => Some((node, channel)),
            _ => None,
        };
        if let Some(&node) = key.and_then(|key| self.memory.next.get(&key)) {
            return Place { state: self.memory.states[node].clone(), node: Some(node) };
        }
        let mut to = vec![0.; self.reservoir.neurons()];
        self.reservoir.step(self.simd, &from.state, drive, &mut to);
        let state: Arc<[f64]> = to.into();
        let node = key.map(|key| {
            self.memory.states.push(state.clone());
            self.memory.next.insert(key, self.memory.states.len() - 1);
            self.memory.states.len() - 1
        });
        Place { state, node }
    }

    fn add(&mut self, trace: &Trace) {
        let mut input = self.zero();
        let mut stack = vec![self.zero()];
        let inputs: Vec<Option<Input<'_>>> = trace.word().inputs().map(Some).chain([None]).collect();
        for (step, &next) in trace.steps().iter().zip(&inputs) {
            input = match (self.view, next) {
                (View::Reservoir, _) => self.step(&input, drive(next)),
                (View::Symbol, None) => self.zero(),
                (View::Symbol, Some(_)) => self.step(&self.zero(), drive(next)),
            };
            let input_id = self.lessons.inputs.intern(&input.state);
            let lesson = |this: &mut Self, stack: &[Place]| Lesson {
                input: input_id,
                stack: this.lessons.stacks.intern(&stack[stack.len() - 1].state),
            };
            for &reduction in step.reductions.iter().chain([&Reduction::NONE]) {
                let row = lesson(self, &stack);
                self.lessons.actions.add(row, reduction);
                stack.truncate(stack.len() - reduction.pop as usize);
                if let Some(symbol) = reduction.push {
                    let above = self.step(&stack[stack.len() - 1], Drive::Channel(symbol.index()));
                    stack.push(above);
                }
            }
            let row = lesson(self, &stack);
            let values = Values(step.output.clone());
            self.lessons.outputs.add(row, values.clone());
            self.lessons.steps.push((row, values));
            if next.is_some() {
                self.lessons.shifts.add(row, step.shift);
            }
            if step.shift && next.is_some() {
                let above = self.step(&stack[stack.len() - 1], drive(next));
                stack.push(above);
            }
        }
    }
}

/// Trains the readouts of a machine on its lessons.
struct Trainer<'a> {
    lessons: &'a Lessons,
    svm: Svm,
    inputs: Distances<'a>,
    stacks: Distances<'a>,
    simd: Simd,
    control: &'a dyn Control,
    done: AtomicUsize,
    total: AtomicUsize,
}

/// A readout that is trained but not yet part of a projection: its labels, and pairs that refer to rows.
struct Trained<L> {
    labels: Vec<L>,
    pairs: Option<Vec<Pair>>,
}

type Readouts = (Projection, Actions, Classifier<bool>, Output);

impl<'a> Trainer<'a> {
    fn new(lessons: &'a Lessons, svm: Svm, control: &'a dyn Control) -> Self {
        let simd = Simd::default();
        Self {
            lessons,
            svm,
            inputs: Distances::new(&lessons.inputs, simd),
            stacks: Distances::new(&lessons.stacks, simd),
            simd,
            control,
            done: AtomicUsize::new(0),
            total: AtomicUsize::new(0),
        }
    }

    fn train(&self, actions: ActionReadout, output: OutputReadout) -> Result<Readouts, FitError> {
        let lessons = self.lessons;
        let mut kernels = Vec::new();
        let (rows, labels) = (&lessons.actions.rows, &lessons.actions.labels);
        let gamma = self.svm.gamma * lessons.gamma(rows);
        let actions = match actions {
            ActionReadout::Separate => {
                let pops: Vec<_> = labels.iter().map(|action| action.pop).collect();
                let pushes: Vec<_> = labels.iter().map(|action| action.push).collect();
                let pop = self.classify(rows, &pops, gamma)?;
                let push = self.classify(rows, &pushes, gamma)?;
                let mut kernel = KernelBuilder::new(&mut kernels, gamma, rows);
                Actions::Separate { pop: kernel.add(pop), push: kernel.add(push) }
            }
            ActionReadout::Joint => {
                let joint = self.classify(rows, labels, gamma)?;
                Actions::Joint(KernelBuilder::new(&mut kernels, gamma, rows).add(joint))
            }
        };
        let shift = if lessons.shifts.rows.is_empty() {
            Classifier { labels: vec![true], head: Head::Constant(0) } // only empty words were shown
        } else {
            self.readout(&mut kernels, &lessons.shifts)?
        };
        let neurons = lessons.inputs.neurons();
        let mut linear = [(Vec::new(), 0), (Vec::new(), 0)];
        let output = match output {
            OutputReadout::Classify => Output::Classes(self.readout(&mut kernels, &lessons.outputs)?),
            OutputReadout::Ridge { penalty } => {
                let [input, stack] = ridge(lessons, penalty).ok_or(FitError::Singular)?;
                let count = input.len() / neurons;
                linear = [(input, count), (stack, count)];
                Output::Regression
            }
        };
        let projection = Projection::new(&lessons.inputs, &lessons.stacks, &kernels, linear);
        Ok((projection, actions, shift, output))
    }

    /// A readout with a kernel of its own.
    fn readout<L: Clone + Ord>(
        &self,
        kernels: &mut Vec<KernelParts>,
        taught: &Labelled<L>,
    ) -> Result<Classifier<L>, FitError> {
        let gamma = self.svm.gamma * self.lessons.gamma(&taught.rows);
        let trained = self.classify(&taught.rows, &taught.labels, gamma)?;
        Ok(KernelBuilder::new(kernels, gamma, &taught.rows).add(trained))
    }

    fn classify<L: Clone + Ord>(&self, rows: &[Lesson], labels: &[L], gamma: f64) -> Result<Trained<L>, FitError> {
        let mut distinct = labels.to_vec();
        distinct.sort();
        distinct.dedup();
        if distinct.len() < 2 {
            return Ok(Trained { labels: distinct, pairs: None });
        }
        let class = |label: &L| distinct.binary_search(label).expect("every label is among the distinct ones") as u32;
        let problem = Problem {
            rows,
            classes: labels.iter().map(class).collect(),
            class_count: distinct.len(),
            gamma,
            inputs: &self.inputs,
            stacks: &self.stacks,
            simd: self.simd,
        };
        let pairs = distinct.len() * (distinct.len() - 1) / 2;
        let total = self.total.fetch_add(pairs, Ordering::Relaxed) + pairs;
        let done = || {
            let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
            self.control.progress(Stage::Train, done, total);
        };
        let pairs = train(&problem, self.svm, self.control, &done)?;
        Ok(Trained { labels: distinct, pairs: Some(pairs) })
    }
}

/// Gathers the support vectors of the readouts that share one kernel.
struct KernelBuilder<'a> {
    kernels: &'a mut Vec<KernelParts>,
    rows: &'a [Lesson],
    places: HashMap<u32, u32>,
}

impl<'a> KernelBuilder<'a> {
    fn new(kernels: &'a mut Vec<KernelParts>, gamma: f64, rows: &'a [Lesson]) -> Self {
        kernels.push(KernelParts { gamma, support: Vec::new() });
        Self { kernels, rows, places: HashMap::new() }
    }

    fn add<L>(&mut self, trained: Trained<L>) -> Classifier<L> {
        let Trained { labels, pairs } = trained;
        let Some(mut pairs) = pairs else { return Classifier { labels, head: Head::Constant(0) } };
        let kernel = self.kernels.len() - 1;
        let support = &mut self.kernels[kernel].support;
        for (row, _) in pairs.iter_mut().flat_map(|pair| &mut pair.terms) {
            *row = *self.places.entry(*row).or_insert_with_key(|&row| {
                support.push(self.rows[row as usize]);
                support.len() as u32 - 1
            });
        }
        Classifier { head: Head::Votes { kernel, classes: labels.len(), pairs }, labels }
    }
}
