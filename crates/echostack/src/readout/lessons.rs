//! What a machine is taught on: distinct states, and which pairs of them go with which label.

use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Side;
use crate::recognize::Reduction;
use crate::simd::{Rows, Simd};

/// The number of a distinct state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateId(u32);

impl StateId {
    /// The position among the distinct states of its side.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Distinct states. Two are the same if they are equal after rounding to 2^-30; the first one seen is kept.
#[derive(Clone, Debug)]
pub(crate) struct States {
    neurons: usize,
    rows: Rows,
    ids: HashMap<Box<[i64]>, StateId>,
}

impl States {
    pub(crate) fn new(neurons: usize) -> Self {
        Self { neurons, rows: Rows::new(neurons), ids: HashMap::new() }
    }

    pub(crate) fn neurons(&self) -> usize {
        self.neurons
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn rows(&self) -> &Rows {
        &self.rows
    }

    pub(crate) fn intern(&mut self, state: &[f64]) -> StateId {
        let key: Box<[i64]> = state.iter().map(|x| (x * f64::from(1 << 30)).round() as i64).collect();
        let fresh = StateId(self.rows.len() as u32);
        *self.ids.entry(key).or_insert_with(|| {
            self.rows.push(state);
            fresh
        })
    }

    pub(crate) fn get(&self, id: StateId) -> Vec<f64> {
        self.rows.row(id.index()).collect()
    }
}

/// A pair of states on which something is taught.
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

/// The values of an output as a label: equal to the bit or different, and ordered.
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

/// Lessons of one readout with their labels, each different from the others.
#[derive(Clone, Debug)]
pub(crate) struct Labelled<L> {
    pub(crate) rows: Vec<Lesson>,
    pub(crate) labels: Vec<L>,
    seen: HashSet<(Lesson, L)>,
}

impl<L: Clone + Eq + Hash> Labelled<L> {
    fn new() -> Self {
        Self { rows: Vec::new(), labels: Vec::new(), seen: HashSet::new() }
    }

    /// Adds a row unless it is there with the same label.
    pub(crate) fn add(&mut self, lesson: Lesson, label: L) {
        if self.seen.insert((lesson, label.clone())) {
            self.rows.push(lesson);
            self.labels.push(label);
        }
    }
}

/// What Algorithm 3 returns: the training sets of all readouts, over distinct states.
#[derive(Clone, Debug)]
pub struct Lessons {
    pub(crate) inputs: States,
    pub(crate) stacks: States,
    pub(crate) actions: Labelled<Reduction>,
    pub(crate) shifts: Labelled<bool>,
    pub(crate) outputs: Labelled<Values>,
    /// Every step with its output, repetitions included: what a regression is fitted to.
    pub(crate) steps: Vec<(Lesson, Values)>,
}

impl Lessons {
    pub(crate) fn new(neurons: usize) -> Self {
        Self {
            inputs: States::new(neurons),
            stacks: States::new(neurons),
            actions: Labelled::new(),
            shifts: Labelled::new(),
            outputs: Labelled::new(),
            steps: Vec::new(),
        }
    }

    /// The state of a lesson on either side, as one row: h, then g.
    pub fn features(&self, lesson: Lesson) -> Vec<f64> {
        let mut row = self.inputs.get(lesson.input);
        row.extend(self.stacks.get(lesson.stack));
        row
    }

    /// What to do to the stack: the rows that pop and push are trained on.
    pub fn actions(&self) -> impl ExactSizeIterator<Item = (Lesson, Reduction)> {
        self.actions.rows.iter().copied().zip(self.actions.labels.iter().copied())
    }

    /// What to shift.
    pub fn shifts(&self) -> impl ExactSizeIterator<Item = (Lesson, bool)> {
        self.shifts.rows.iter().copied().zip(self.shifts.labels.iter().copied())
    }

    /// What to put out.
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = (Lesson, &[f64])> {
        self.outputs.rows.iter().copied().zip(self.outputs.labels.iter().map(|values| values.0.as_slice()))
    }

    /// The number of distinct states of the input and of the stack.
    pub fn states(&self) -> (usize, usize) {
        (self.inputs.len(), self.stacks.len())
    }

    /// 1 / (features * variance) over these rows: scikit-learn's gamma "scale".
    pub(crate) fn gamma(&self, rows: &[Lesson]) -> f64 {
        let moments = |states: &States| -> Vec<(f64, f64)> {
            let sums = |id| states.rows.row(id).fold((0., 0.), |(s, q), x| (s + x, q + x * x));
            (0..states.len()).map(sums).collect()
        };
        let (inputs, stacks) = (moments(&self.inputs), moments(&self.stacks));
        let (mut sum, mut squares) = (0., 0.);
        for row in rows {
            for (s, q) in [inputs[row.input.index()], stacks[row.stack.index()]] {
                sum += s;
                squares += q;
            }
        }
        let features = (2 * self.inputs.neurons) as f64;
        let count = features * rows.len() as f64;
        let mean = sum / count;
        let variance = squares / count - mean * mean;
        if variance > 0. { 1. / (features * variance) } else { 1. }
    }
}

/// Squared distances between the states of one side, computed row by row when first asked for.
pub(crate) struct Distances<'a> {
    rows: &'a Rows,
    known: Vec<OnceLock<Box<[f64]>>>,
    /// How many more rows may be kept.
    room: AtomicUsize,
    simd: Simd,
}

/// The memory that kept distances of one side may take, in values.
const DISTANCES_KEPT: usize = 1 << 25;

impl<'a> Distances<'a> {
    pub(crate) fn new(states: &'a States, simd: Simd) -> Self {
        let rows = states.rows();
        let room = AtomicUsize::new(DISTANCES_KEPT / rows.len().max(1));
        Self { rows, known: (0..rows.len()).map(|_| OnceLock::new()).collect(), room, simd }
    }

    /// Calls `f` with the distances of state `id` to all.
    pub(crate) fn with_row<R>(&self, id: StateId, f: impl FnOnce(&[f64]) -> R) -> R {
        if let Some(row) = self.known[id.index()].get() {
            return f(row);
        }
        let point: Vec<f64> = self.rows.row(id.index()).collect();
        let mut row = vec![0.; self.rows.len()];
        self.rows.squared_distances(self.simd, &point, &mut row);
        let take = |room: usize| room.checked_sub(1);
        if self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
            return f(self.known[id.index()].get_or_init(|| row.into()));
        }
        f(&row)
    }
}
