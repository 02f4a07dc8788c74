//! The training data of a machine: distinct states, and labels for pairs of them.
//!
//! States are large and sequences are small, so each state is kept as a sequence that leads to it ([`Histories`]).

use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use foldhash::fast::RandomState;

use super::histories::{Histories, HistoryId};
use super::side::Side;
use crate::recognize::Reduction;
use crate::reservoir::{Reservoir, encode};
use crate::simd::{Comparison, POINTS, ROUND, Rows, Simd};

/// The index of a distinct state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateId(u32);

impl StateId {
    pub(crate) fn new(index: u32) -> Self {
        Self(index)
    }

    /// Returns the position among the distinct states of the same side.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A set of distinct states. Two states are the same if they are equal after rounding to 2^-30; the first one seen is
/// kept.
#[derive(Debug)]
pub(crate) struct States {
    neurons: usize,
    rows: Rows,
    /// The sum of the values of each state, and the sum of their squares.
    moments: Vec<[f64; 2]>,
    ids: HashMap<Box<[u64]>, StateId, RandomState>,
}

impl States {
    pub(crate) fn new(neurons: usize) -> Self {
        Self { neurons, rows: Rows::new(neurons), moments: Vec::new(), ids: HashMap::default() }
    }

    pub(crate) fn neurons(&self) -> usize {
        self.neurons
    }

    pub(crate) fn rows(&self) -> &Rows {
        &self.rows
    }

    pub(crate) fn intern(&mut self, state: &[f64]) -> StateId {
        let key: Box<[u64]> = state.iter().map(|x| (x * f64::from(1 << 30) + ROUND).to_bits()).collect();
        let fresh = StateId(self.rows.len() as u32);
        *self.ids.entry(key).or_insert_with(|| {
            self.rows.push(state);
            self.moments.push([state.iter().sum(), state.iter().map(|x| x * x).sum()]);
            fresh
        })
    }

    /// Returns the state with this index.
    pub(crate) fn get(&self, id: StateId) -> Vec<f64> {
        self.rows.row(id.index()).collect()
    }
}

/// A pair of states that serves as a training example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lesson {
    /// The state of the input.
    pub input: StateId,
    /// The state of the stack.
    pub stack: StateId,
}

impl Lesson {
    pub(crate) fn state(self, side: Side) -> StateId {
        match side {
            Side::Input => self.input,
            Side::Stack => self.stack,
        }
    }
}

/// The values of an output, used as a label: compared bit by bit, with a total order.
#[derive(Clone, Debug)]
pub(crate) struct Values(pub(crate) Vec<f64>);

impl Ord for Values {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let by_value = self.0.iter().zip(&other.0).map(|(a, b)| a.total_cmp(b));
        by_value.fold(self.0.len().cmp(&other.0.len()), std::cmp::Ordering::then)
    }
}

impl PartialOrd for Values {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Values {}

impl Hash for Values {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.iter().for_each(|value| value.to_bits().hash(state));
    }
}

/// The lessons of one readout with their labels, without duplicates.
#[derive(Clone, Debug)]
pub(crate) struct Labelled<L> {
    pub(crate) rows: Vec<Lesson>,
    pub(crate) labels: Vec<L>,
    seen: HashSet<(Lesson, L)>,
}

impl<L: Clone + Eq + Hash> Labelled<L> {
    pub(crate) fn new() -> Self {
        Self { rows: Vec::new(), labels: Vec::new(), seen: HashSet::new() }
    }

    /// Adds a row, unless it is already there with the same label.
    pub(crate) fn add(&mut self, lesson: Lesson, label: L) {
        if self.seen.insert((lesson, label.clone())) {
            self.rows.push(lesson);
            self.labels.push(label);
        }
    }
}

/// The result of Algorithm 4: the training sets of all readouts, over distinct states.
#[derive(Clone, Debug)]
pub struct Lessons {
    pub(crate) histories: Histories,
    /// A sequence that leads to each distinct state of the input.
    pub(crate) inputs: Vec<HistoryId>,
    /// A sequence that leads to each distinct state of the stack.
    pub(crate) stacks: Vec<HistoryId>,
    pub(crate) actions: Labelled<Reduction>,
    pub(crate) shifts: Labelled<bool>,
    pub(crate) outputs: Labelled<Values>,
    /// Every step with its output, duplicates included; used only for a regression.
    pub(crate) steps: Vec<(Lesson, Values)>,
}

impl Lessons {
    pub(crate) fn new() -> Self {
        Self {
            histories: Histories::default(),
            inputs: Vec::new(),
            stacks: Vec::new(),
            actions: Labelled::new(),
            shifts: Labelled::new(),
            outputs: Labelled::new(),
            steps: Vec::new(),
        }
    }

    /// Computes the states h and g of a lesson in a reservoir.
    pub fn states(&self, reservoir: &dyn Reservoir, lesson: Lesson) -> (Vec<f64>, Vec<f64>) {
        let state = |history| encode(reservoir, Simd::default(), self.histories.drives(history));
        (state(self.inputs[lesson.input.index()]), state(self.stacks[lesson.stack.index()]))
    }

    /// Returns the rows that pop and push are trained on, each with the action on the stack.
    pub fn actions(&self) -> impl ExactSizeIterator<Item = (Lesson, Reduction)> {
        self.actions.rows.iter().copied().zip(self.actions.labels.iter().copied())
    }

    /// Returns the rows that the shift readout is trained on, each with the decision whether to shift.
    pub fn shifts(&self) -> impl ExactSizeIterator<Item = (Lesson, bool)> {
        self.shifts.rows.iter().copied().zip(self.shifts.labels.iter().copied())
    }

    /// Returns the rows that the output classifier is trained on, each with the output values.
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = (Lesson, &[f64])> {
        self.outputs.rows.iter().copied().zip(self.outputs.labels.iter().map(|values| values.0.as_slice()))
    }

    /// Returns the numbers of distinct states of the input and of the stack.
    pub fn state_counts(&self) -> (usize, usize) {
        (self.inputs.len(), self.stacks.len())
    }
}

/// Returns 1 / (features * variance) over these rows: scikit-learn's `gamma="scale"`.
pub(crate) fn scale(inputs: &States, stacks: &States, rows: &[Lesson]) -> f64 {
    let features = (2 * inputs.neurons) as f64;
    let count = features * rows.len() as f64;
    let mean_of = |moment: usize| {
        let sum = |row: &Lesson| inputs.moments[row.input.index()][moment] + stacks.moments[row.stack.index()][moment];
        rows.iter().map(sum).sum::<f64>() / count
    };
    let (mean, square) = (mean_of(0), mean_of(1));
    let variance = square - mean * mean;
    if variance > 0. { 1. / (features * variance) } else { 1. }
}

/// Squared distances between the states of one side, computed on demand in groups of [`POINTS`] states.
pub(crate) struct Distances<'a> {
    rows: &'a Rows,
    /// The distances from the states of each group to all states.
    known: Vec<OnceLock<Box<[f64]>>>,
    /// The number of further groups that may be kept.
    room: AtomicUsize,
    simd: Simd,
}

/// The maximum number of distances kept in memory for one side.
const MAX_KEPT_DISTANCES: usize = 1 << 25;

impl<'a> Distances<'a> {
    pub(crate) fn new(states: &'a States, simd: Simd) -> Self {
        let rows = states.rows();
        let room = AtomicUsize::new(MAX_KEPT_DISTANCES / (POINTS * rows.len().max(1)));
        let known = (0..rows.len().div_ceil(POINTS)).map(|_| OnceLock::new()).collect();
        Self { rows, known, room, simd }
    }

    /// Calls `f` with the distances from the state `id` to all states.
    pub(crate) fn with_row<R>(&self, id: StateId, f: impl FnOnce(&[f64]) -> R) -> R {
        let (group, count) = (id.index() / POINTS, self.rows.len());
        let first = group * POINTS;
        let known = &self.known[group];
        let take = |room: usize| room.checked_sub(1);
        if known.get().is_some() || self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
            let group = known.get_or_init(|| self.compute(first..count.min(first + POINTS)));
            return f(&group[(id.index() - first) * count..][..count]);
        }
        f(&self.compute(id.index()..id.index() + 1))
    }

    fn compute(&self, states: Range<usize>) -> Box<[f64]> {
        let points: Vec<Vec<f64>> = states.map(|id| self.rows.row(id).collect()).collect();
        Comparison::default().squared_distances(self.simd, self.rows, points.iter().map(Vec::as_slice)).into()
    }
}
