//! Training: turns traces into lessons (Algorithm 4), and lessons into readouts.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::params::{ActionReadout, Checked, OutputReadout, ParamError, Params};
use super::readouts::{Actions, LabelledHead, Output, Readouts};
use super::stack_machine::{Machine, drive};
use crate::control::{Control, Stage};
use crate::manifest::Manifest;
use crate::readout::{
    Distances, Fault, Head, HistoryId, KernelParts, Labelled, Lesson, Lessons, Pair, Problem, Projection, Shape, Side,
    StateId, States, Svm, Values, ridge, scale, train,
};
use crate::recognize::View;
use crate::reservoir::{Drive, Reservoir, ReservoirError, check_neurons};
use crate::simd::Simd;
use crate::symbol::{Alphabet, Input, Lookahead};
use crate::teach::{Answer, Exercise, Follower, Instruction, Trace, digest};

/// The reason a machine could not be trained.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// No traces and no exercises were given.
    #[error("no traces and no contexts were given; a machine needs at least one")]
    NoTraces,
    /// The traces do not have the same number of output values, or one was made for another alphabet.
    #[error("{source_name} does not fit the alphabet or has {given} output values per step, but {needed} are needed")]
    Misfit {
        /// The source of the trace.
        source_name: String,
        /// The number of its output values per step.
        given: usize,
        /// The number of output values per step in the first trace.
        needed: usize,
    },
    /// A parameter is out of range.
    #[error(transparent)]
    Param(#[from] ParamError),
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
    /// A state, a kernel or a weight overflowed.
    #[error("a value became infinite or NaN; use smaller inputs, reservoir weights, svm.cost or svm.gamma")]
    NotFinite,
    /// A readout would have more classes than is practical for one-against-one classification.
    #[error(
        "a readout has {0} classes, but at most {MAX_CLASSES} are supported; for real-valued outputs use ridge regression"
    )]
    TooManyClasses(usize),
    /// The regression has no unique solution.
    #[error("the ridge regression is singular; raise its penalty")]
    Singular,
}

/// The maximum number of classes of a readout. Each pair of classes is a separate optimization problem.
const MAX_CLASSES: usize = 1024;

impl From<Fault> for FitError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Cancelled => Self::Cancelled,
            Fault::NotConverged(steps) => Self::NotConverged(steps),
            Fault::NotFinite => Self::NotFinite,
        }
    }
}

impl Params {
    /// Checks the parameters and trains a machine. [`Checked::fit`] also reports progress and can be cancelled.
    ///
    /// # Errors
    /// See [`FitError`].
    pub fn fit(&self, alphabet: &Arc<Alphabet>, traces: &[Trace]) -> Result<Machine, FitError> {
        self.clone().check()?.fit(alphabet, traces, &())
    }
}

impl Checked {
    /// Runs the traces through a reservoir under teacher forcing (Algorithm 4) and returns the training sets.
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
        Ok(self.collect_states(reservoir, alphabet, traces, &[], control)?.lessons)
    }

    fn collect_states<'a>(
        &self,
        reservoir: &'a dyn Reservoir,
        alphabet: &Alphabet,
        traces: &[Trace],
        exercises: &[Exercise],
        control: &dyn Control,
    ) -> Result<Collector<'a>, FitError> {
        let mut collector = Collector::new(reservoir, self.params());
        if traces.is_empty() && exercises.is_empty() {
            return Err(FitError::NoTraces);
        }
        let needed = traces.first().map_or(1, Trace::output_width);
        for (done, trace) in traces.iter().enumerate() {
            let given = trace.output_width();
            if given != needed || !trace.fits(alphabet) {
                return Err(FitError::Misfit { source_name: trace.source().to_string(), given, needed });
            }
            let (collector, max_rows) = (&mut collector, self.params().max_rows);
            trace.replay(&mut Lead { collector, input: HistoryId::EMPTY, max_rows, control })?;
            control.progress(Stage::Collect, done + 1, traces.len());
        }
        for exercise in exercises {
            if collector.lessons.actions.rows.len() > self.params().max_rows {
                return Err(FitError::TooManyRows(self.params().max_rows));
            }
            collector.practice(exercise)?;
        }
        Ok(collector)
    }

    /// Trains a machine.
    ///
    /// # Errors
    /// See [`FitError`].
    pub fn fit(&self, alphabet: &Arc<Alphabet>, traces: &[Trace], control: &dyn Control) -> Result<Machine, FitError> {
        self.fit_with(alphabet, traces, &[], control)
    }

    /// Trains a machine on traces and on exercises, such as the contexts of a [`Corpus`](crate::teach::Corpus). Either
    /// of the two may be empty.
    ///
    /// # Errors
    /// See [`FitError`].
    pub fn fit_with(
        &self,
        alphabet: &Arc<Alphabet>,
        traces: &[Trace],
        exercises: &[Exercise],
        control: &dyn Control,
    ) -> Result<Machine, FitError> {
        let params = self.params();
        let reservoir = params.reservoir.build(alphabet.len())?;
        check_neurons(reservoir.neurons())?;
        let collected = self.collect_states(&*reservoir, alphabet, traces, exercises, control)?;
        let readouts = Trainer::new(&collected, params.svm, control).train(params.actions, params.output)?;
        let (sight, lessons) = ((params.view, params.mode), collected.lessons);
        Ok(Machine::new(alphabet.clone(), reservoir.clone(), sight, readouts, lessons, manifest(params, traces)))
    }
}

fn manifest(params: &Params, traces: &[Trace]) -> Manifest {
    let mut manifest = Manifest::default();
    manifest.set_version(env!("CARGO_PKG_VERSION"));
    manifest.set_reservoir(&params.reservoir);
    manifest.set_svm(params.svm);
    manifest.set_trace_count(traces.len());
    manifest.set_trace_digest(digest(traces));
    manifest
}

/// The state of Algorithm 4 over many traces. Common prefixes of symbol sequences are run through the reservoir only
/// once.
struct Collector<'a> {
    reservoir: &'a dyn Reservoir,
    view: View,
    /// True if every step is kept, for a regression.
    regression: bool,
    simd: Simd,
    lessons: Lessons,
    inputs: States,
    stacks: States,
    /// The states of the known sequences.
    known: Vec<Arc<[f64]>>,
    /// The known sequence that extends another by a symbol.
    next: HashMap<(HistoryId, usize), HistoryId>,
    /// The indices of these states among the distinct states of each side, as far as they were needed.
    numbers: HashMap<(Side, HistoryId), StateId>,
}

impl<'a> Collector<'a> {
    fn new(reservoir: &'a dyn Reservoir, params: &Params) -> Self {
        let neurons = reservoir.neurons();
        Self {
            reservoir,
            view: params.view,
            regression: params.output != OutputReadout::Classify,
            simd: Simd::default(),
            lessons: Lessons::new(),
            inputs: States::new(neurons),
            stacks: States::new(neurons),
            known: vec![vec![0.; neurons].into()],
            next: HashMap::new(),
            numbers: HashMap::new(),
        }
    }

    /// Returns the sequence that extends `from` by one input.
    fn step(&mut self, from: HistoryId, drive: Drive<'_>) -> Result<HistoryId, FitError> {
        let key = match drive {
            Drive::Channel(channel) => Some((from, channel)),
            _ => None,
        };
        if let Some(&known) = key.and_then(|key| self.next.get(&key)) {
            return Ok(known);
        }
        let mut state = vec![0.; self.reservoir.neurons()];
        self.reservoir.step(self.simd, &self.known[from.index()], drive, &mut state);
        if !state.iter().all(|x| x.is_finite()) {
            return Err(FitError::NotFinite);
        }
        self.known.push(state.into());
        let to = self.lessons.histories.add(from, drive);
        self.next.extend(key.map(|key| (key, to)));
        Ok(to)
    }

    /// Returns the index of a sequence's state among the distinct states of its side.
    fn intern(&mut self, side: Side, history: HistoryId) -> StateId {
        if let Some(&id) = self.numbers.get(&(side, history)) {
            return id;
        }
        let (states, histories) = match side {
            Side::Input => (&mut self.inputs, &mut self.lessons.inputs),
            Side::Stack => (&mut self.stacks, &mut self.lessons.stacks),
        };
        let id = states.intern(&self.known[history.index()]);
        if id.index() == histories.len() {
            histories.push(history);
        }
        self.numbers.insert((side, history), id);
        id
    }

    /// Returns the row of a pair of sequences.
    fn lesson(&mut self, input: HistoryId, stack: HistoryId) -> Lesson {
        Lesson { input: self.intern(Side::Input, input), stack: self.intern(Side::Stack, stack) }
    }

    /// Adds the row of one exercise.
    fn practice(&mut self, exercise: &Exercise) -> Result<(), FitError> {
        let mut input = HistoryId::EMPTY;
        let next = match exercise.next {
            Lookahead::Token(token) => Some(Drive::Channel(token.index())),
            Lookahead::End if self.view == View::Symbol => None,
            Lookahead::End => Some(Drive::Silence),
        };
        let seen = if self.view == View::Reservoir { &exercise.before[..] } else { &[] };
        for drive in seen.iter().map(|token| Drive::Channel(token.index())).chain(next) {
            input = self.step(input, drive)?;
        }
        let mut stack = HistoryId::EMPTY;
        for symbol in &exercise.stack {
            stack = self.step(stack, Drive::Channel(symbol.index()))?;
        }
        let row = self.lesson(input, stack);
        match exercise.answer {
            Answer::Act(reduction) => self.lessons.actions.add(row, reduction),
            Answer::Shift(shift) => self.lessons.shifts.add(row, shift),
            Answer::Output(accepts) => self.lessons.outputs.add(row, Values(vec![f64::from(u8::from(accepts))])),
        }
        Ok(())
    }
}

/// Follows one trace under teacher forcing, and collects its lessons.
struct Lead<'c, 'a> {
    collector: &'c mut Collector<'a>,
    /// The input so far.
    input: HistoryId,
    max_rows: usize,
    control: &'c dyn Control,
}

/// Returns the sequence of all elements on the stack.
fn whole(stack: &[HistoryId]) -> HistoryId {
    stack.last().copied().unwrap_or(HistoryId::EMPTY)
}

impl Follower for Lead<'_, '_> {
    type Element = HistoryId;
    type Error = FitError;

    fn look(&mut self, step: usize, next: Option<Input<'_>>) -> Result<(), FitError> {
        if self.collector.lessons.actions.rows.len() > self.max_rows {
            return Err(FitError::TooManyRows(self.max_rows));
        }
        if step.is_multiple_of(1024) && self.control.cancelled() {
            return Err(FitError::Cancelled);
        }
        self.input = match (self.collector.view, next) {
            (View::Reservoir, _) => self.collector.step(self.input, drive(next))?,
            (View::Symbol, None) => HistoryId::EMPTY,
            (View::Symbol, Some(_)) => self.collector.step(HistoryId::EMPTY, drive(next))?,
        };
        Ok(())
    }

    fn follow(&mut self, instruction: &Instruction<'_>, stack: &[HistoryId]) -> Result<(), FitError> {
        let &Instruction { taught, reduction, output, shift, .. } = instruction;
        if !taught {
            return Ok(());
        }
        let row = self.collector.lesson(self.input, whole(stack));
        let regression = self.collector.regression;
        let Lessons { actions, shifts, outputs, steps, .. } = &mut self.collector.lessons;
        actions.add(row, reduction);
        if let Some(output) = output {
            let values = Values(output.iter().map(|value| value + 0.).collect()); // turns -0 into 0
            if regression {
                steps.push((row, values));
            } else {
                outputs.add(row, values);
            }
        }
        shift.into_iter().for_each(|shift| shifts.add(row, shift));
        Ok(())
    }

    fn push(&mut self, stack: &[HistoryId], input: Input<'_>) -> Result<HistoryId, FitError> {
        self.collector.step(whole(stack), drive(Some(input)))
    }
}

/// Trains the readouts of a machine on its lessons.
struct Trainer<'a> {
    collected: &'a Collector<'a>,
    svm: Svm,
    inputs: Distances<'a>,
    stacks: Distances<'a>,
    control: &'a dyn Control,
    done: AtomicUsize,
    total: usize,
}

/// A trained readout that is not yet part of a projection: its labels, and pairs whose terms refer to rows.
pub(crate) struct Trained<L> {
    labels: Vec<L>,
    pairs: Option<Vec<Pair>>,
}

impl<'a> Trainer<'a> {
    fn new(collected: &'a Collector<'a>, svm: Svm, control: &'a dyn Control) -> Self {
        let simd = collected.simd;
        Self {
            collected,
            svm,
            inputs: Distances::new(&collected.inputs, simd),
            stacks: Distances::new(&collected.stacks, simd),
            control,
            done: AtomicUsize::new(0),
            total: 0,
        }
    }

    /// Reports that this many more units of training are done.
    fn done(&self, units: usize) {
        let done = self.done.fetch_add(units, Ordering::Relaxed) + units;
        self.control.progress(Stage::Train, done, self.total);
    }

    /// Returns the number of units of training, each of which is a pair of classes or a regression.
    fn units(lessons: &Lessons, actions: ActionReadout, output: OutputReadout) -> usize {
        fn pairs<L: Ord>(labels: impl Iterator<Item = L>) -> usize {
            let count = labels.collect::<BTreeSet<_>>().len();
            count * count.saturating_sub(1) / 2
        }
        let labels = &lessons.actions.labels;
        let stack = match actions {
            ActionReadout::Separate => {
                pairs(labels.iter().map(|label| label.pop)) + pairs(labels.iter().map(|label| label.push))
            }
            ActionReadout::Joint => pairs(labels.iter()),
        };
        let output = match output {
            OutputReadout::Classify => pairs(lessons.outputs.labels.iter()),
            OutputReadout::Ridge { .. } => 1,
        };
        stack + pairs(lessons.shifts.labels.iter()) + output
    }

    fn train(mut self, actions: ActionReadout, output: OutputReadout) -> Result<Readouts, FitError> {
        let Collector { lessons, inputs, stacks, .. } = self.collected;
        self.total = Self::units(lessons, actions, output);
        self.control.progress(Stage::Train, 0, self.total);
        let mut kernels = Vec::new();
        let (rows, labels) = (&lessons.actions.rows, &lessons.actions.labels);
        let gamma = self.gamma(rows);
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
            LabelledHead { labels: vec![true], head: Head::Constant(0) } // there are no lessons on shifts
        } else {
            self.readout(&mut kernels, &lessons.shifts)?
        };
        let mut linear = [(Vec::new(), 0), (Vec::new(), 0)];
        let output = match output {
            OutputReadout::Classify => Output::Classes(self.readout(&mut kernels, &lessons.outputs)?),
            OutputReadout::Ridge { penalty } => {
                let [input, stack] = ridge(inputs, stacks, &lessons.steps, penalty).ok_or(FitError::Singular)?;
                let count = input.len() / inputs.neurons();
                linear = [(input, count), (stack, count)];
                self.done(1);
                Output::Regression
            }
        };
        let projection = Projection::new(inputs, stacks, &kernels, linear);
        Ok(Readouts { projection, actions, shift, output })
    }

    fn gamma(&self, rows: &[Lesson]) -> f64 {
        self.svm.gamma * scale(&self.collected.inputs, &self.collected.stacks, rows)
    }

    /// Trains a readout with its own kernel.
    fn readout<L: Clone + Ord>(
        &self,
        kernels: &mut Vec<KernelParts>,
        taught: &Labelled<L>,
    ) -> Result<LabelledHead<L>, FitError> {
        let gamma = self.gamma(&taught.rows);
        let trained = self.classify(&taught.rows, &taught.labels, gamma)?;
        Ok(KernelBuilder::new(kernels, gamma, &taught.rows).add(trained))
    }

    fn classify<L: Clone + Ord>(&self, rows: &[Lesson], labels: &[L], gamma: f64) -> Result<Trained<L>, FitError> {
        let sides = (&self.inputs, &self.stacks);
        classify((rows, labels), sides, (gamma, self.svm), self.control, &|units| self.done(units))
    }
}

/// Trains a support vector machine on labelled rows, whose halves have these distances. `done` is called as by [`train`].
pub(crate) fn classify<L: Clone + Ord>(
    (rows, labels): (&[Lesson], &[L]),
    (inputs, stacks): (&Distances<'_>, &Distances<'_>),
    (gamma, svm): (f64, Svm),
    control: &dyn Control,
    done: &(dyn Fn(usize) + Sync),
) -> Result<Trained<L>, FitError> {
    let mut distinct = labels.to_vec();
    distinct.sort();
    distinct.dedup();
    if distinct.len() < 2 {
        return Ok(Trained { labels: distinct, pairs: None });
    }
    if distinct.len() > MAX_CLASSES {
        return Err(FitError::TooManyClasses(distinct.len()));
    }
    if !(gamma.is_finite() && gamma > 0.) {
        return Err(FitError::NotFinite);
    }
    let class = |label: &L| distinct.binary_search(label).expect("every label is among the distinct ones") as u32;
    let problem = Problem {
        rows,
        classes: labels.iter().map(class).collect(),
        class_count: distinct.len(),
        shape: Shape::Gaussian { gamma },
        inputs,
        stacks,
        simd: Simd::default(),
    };
    let pairs = train(&problem, svm, control, done)?;
    Ok(Trained { labels: distinct, pairs: Some(pairs) })
}

/// Gathers the support vectors of the readouts that share one kernel.
pub(crate) struct KernelBuilder<'a> {
    kernels: &'a mut Vec<KernelParts>,
    rows: &'a [Lesson],
    places: HashMap<u32, u32>,
}

impl<'a> KernelBuilder<'a> {
    pub(crate) fn new(kernels: &'a mut Vec<KernelParts>, gamma: f64, rows: &'a [Lesson]) -> Self {
        kernels.push(KernelParts { gamma, support: Vec::new() });
        Self { kernels, rows, places: HashMap::new() }
    }

    pub(crate) fn add<L>(&mut self, trained: Trained<L>) -> LabelledHead<L> {
        let Trained { labels, pairs } = trained;
        let Some(mut pairs) = pairs else { return LabelledHead { labels, head: Head::Constant(0) } };
        let kernel = self.kernels.len() - 1;
        let support = &mut self.kernels[kernel].support;
        for (row, _) in pairs.iter_mut().flat_map(|pair| &mut pair.terms) {
            *row = *self.places.entry(*row).or_insert_with_key(|&row| {
                support.push(self.rows[row as usize]);
                support.len() as u32 - 1
            });
        }
        LabelledHead { head: Head::Votes { kernel, classes: labels.len(), pairs }, labels }
    }
}
