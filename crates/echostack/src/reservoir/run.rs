//! Runs a reservoir on whole sequences, many at a time.
//!
//! A long sequence is cut into parts that run side by side. All parts but the first start from the zero state. Because
//! a reservoir forgets, the states of a part soon converge to those of a sequential run: each part is run again from
//! the last state of the part before it, until its states no longer change by more than rounding. If they never settle,
//! because the reservoir remembers for too long, the next part is run once more from the correct state. In the worst
//! case, the whole sequence is thus run sequentially.
//!
//! The cuts depend only on the length of the sequence, so the states do not depend on the number of threads.

use std::cmp::Reverse;

use rayon::prelude::*;

use super::network::{Drive, Reservoir, Transition};
use crate::simd::{ABREAST, Simd};

/// The maximum length of a part.
const MAX_PART_LENGTH: usize = 2_048;
/// The maximum difference between values that is attributed to rounding, relative for values above 1: 2^-43.
const ROUNDING: f64 = 1. / (1_u64 << 43) as f64;
/// The number of consecutive steps for which a part's states must be equal up to rounding before the part has settled.
const SETTLED_STEPS: usize = 32;

/// A sequence that drives a reservoir.
#[derive(Debug)]
pub struct Sequence<'a> {
    /// The state before the first input.
    pub start: Vec<f64>,
    /// The inputs.
    pub drives: Vec<Drive<'a>>,
    /// The buffer for the state after each input, one after the other.
    pub states: &'a mut [f64],
}

/// Runs a reservoir on sequences and writes the state after each input.
///
/// For sequences of up to 2,048 inputs, the states are the same, bit for bit, as those of calling [`Reservoir::step`]
/// once per input. Longer sequences are cut into parts that run side by side, and their states may differ by about
/// 10^-13.
///
/// ```
/// use echostack::reservoir::{Sequence, run};
/// use echostack::reservoir::{Cycle, Drive, ReservoirParams, Simd, encode};
/// let reservoir = ReservoirParams::Cycle(Cycle::default()).build(2)?;
/// let drives = vec![Drive::Channel(0), Drive::Channel(1), Drive::Silence];
/// let neurons = reservoir.neurons();
/// let mut states = vec![0.0; 3 * neurons];
/// run(&*reservoir, Simd::default(), &mut [Sequence { start: vec![0.0; neurons], drives: drives.clone(), states: &mut states }]);
/// assert_eq!(states[2 * neurons..], encode(&*reservoir, Simd::default(), drives));
/// # Ok::<(), echostack::reservoir::ReservoirError>(())
/// ```
///
/// # Panics
/// If `states` of a sequence does not have room for exactly one state per input.
pub fn run(reservoir: &dyn Reservoir, simd: Simd, sequences: &mut [Sequence<'_>]) {
    let neurons = reservoir.neurons();
    let mut parts: Vec<Part<'_>> = Vec::new();
    for sequence in sequences {
        assert_eq!(sequence.states.len(), sequence.drives.len() * neurons, "states must hold one state per input");
        let pieces = sequence.drives.chunks(MAX_PART_LENGTH).zip(sequence.states.chunks_mut(MAX_PART_LENGTH * neurons));
        parts.extend(pieces.enumerate().map(|(number, (drives, states))| {
            let first = number == 0;
            let start = if first { sequence.start.clone() } else { vec![0.; neurons] };
            Part { first, start, drives, states, settled: 0 }
        }));
    }
    side_by_side(reservoir, simd, parts.iter_mut(), false);
    for at in 0..parts.len() {
        if !parts[at].first {
            parts[at].start = parts[at - 1].end(neurons);
        }
    }
    side_by_side(reservoir, simd, parts.iter_mut().filter(|part| !part.first), true);
    for at in 1..parts.len() {
        if !parts[at].first && !parts[at - 1].first && parts[at - 1].settled < SETTLED_STEPS {
            parts[at].start = parts[at - 1].end(neurons);
            parts[at].settled = 0;
            advance(reservoir, simd, &mut [&mut parts[at]], true);
        }
    }
}

/// A part of a sequence.
struct Part<'a> {
    /// True if this is the first part of its sequence.
    first: bool,
    start: Vec<f64>,
    drives: &'a [Drive<'a>],
    states: &'a mut [f64],
    /// The number of latest consecutive steps of a rerun whose states were equal, up to rounding, to those before.
    settled: usize,
}

impl Part<'_> {
    fn end(&self, neurons: usize) -> Vec<f64> {
        self.states[self.states.len() - neurons..].to_vec()
    }
}

/// Runs parts on all threads, in groups of about the same length.
fn side_by_side<'p, 'a: 'p>(
    reservoir: &dyn Reservoir,
    simd: Simd,
    parts: impl Iterator<Item = &'p mut Part<'a>>,
    mending: bool,
) {
    let mut parts: Vec<&mut Part<'_>> = parts.collect();
    parts.sort_by_key(|part| Reverse(part.drives.len()));
    parts.par_chunks_mut(ABREAST).for_each(|parts| advance(reservoir, simd, parts, mending));
}

/// Runs parts from start to end or, if `mending`, reruns them until their states no longer change.
fn advance(reservoir: &dyn Reservoir, simd: Simd, parts: &mut [&mut Part<'_>], mending: bool) {
    let neurons = reservoir.neurons();
    let longest = parts.iter().map(|part| part.drives.len()).max().unwrap_or(0);
    let mut before = vec![0.; parts.len() * neurons];
    for time in 0..longest {
        let row = time * neurons..(time + 1) * neurons;
        if mending {
            for (part, before) in parts.iter().zip(before.chunks_exact_mut(neurons)) {
                if let Some(state) = part.states.get(row.clone()) {
                    before.copy_from_slice(state);
                }
            }
        }
        let running = parts.iter_mut().filter(|part| part.settled < SETTLED_STEPS && time < part.drives.len());
        let mut steps: Vec<Transition<'_>> = running
            .map(|part| {
                let (past, future) = part.states.split_at_mut(row.start);
                let from = if time == 0 { &part.start } else { &past[row.start - neurons..] };
                Transition { from, drive: part.drives[time], to: &mut future[..neurons] }
            })
            .collect();
        if steps.is_empty() {
            break;
        }
        reservoir.steps(simd, &mut steps);
        if mending {
            for (part, before) in parts.iter_mut().zip(before.chunks_exact(neurons)) {
                let same = |(a, b): (&f64, &f64)| (a - b).abs() <= ROUNDING * b.abs().max(1.);
                if part.settled < SETTLED_STEPS
                    && let Some(state) = part.states.get(row.clone())
                {
                    part.settled = if state.iter().zip(before).all(same) { part.settled + 1 } else { 0 };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reservoir::{
        Activation, Cycle, Legendre, MatrixParts, MatrixReservoir, Random, Recurrent, ReservoirParams,
    };
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn parts_side_by_side_have_the_states_of_one_step_after_the_other() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let mut matrix = |radius: f64, density: f64, leak: f64| {
            let mut weight =
                |scale: f64| if random.random_bool(density) { random.random_range(-scale..scale) } else { 0. };
            let neurons = 37;
            let parts = MatrixParts {
                neurons,
                channels: 2,
                recurrent: Recurrent::Dense((0..neurons * neurons).map(|_| weight(radius)).collect()),
                input: (0..neurons * 2).map(|_| weight(1.)).collect(),
                bias: vec![],
                leak,
                activation: Activation::Tanh,
            };
            ReservoirParams::Given(std::sync::Arc::new(MatrixReservoir::new(parts).unwrap()))
        };
        let reservoirs = [
            (matrix(0.3, 0.2, 1.), false),    // sparse
            (matrix(0.2, 0.9, 1.), false),    // dense
            (matrix(0.3, 0.2, 0.002), false), // forgets slowly
            (matrix(4., 0.9, 1.), true),      // never forgets
            (ReservoirParams::Random(Random { neurons: 40, ..Random::default() }), false),
            (ReservoirParams::Cycle(Cycle { neurons: 40, ..Cycle::default() }), false),
            (ReservoirParams::Legendre(Legendre { neurons: 10, ..Legendre::default() }), false),
        ];
        let values: Vec<f64> = (0..20_000).map(|_| random.random_range(-1.0..1.0)).collect();
        for (params, exact) in reservoirs {
            let reservoir = params.build(2).unwrap();
            let lengths = [[9_321, 0, 1, 4_096, 2_100, 17].as_slice(), &[7_777], &[2_048; 3], &[3; 40], &[]];
            for lengths in lengths {
                let drive = |at: usize| match at % 5 {
                    0 if at > 5_000 => Drive::Silence,
                    1 => Drive::Channel(at % 2),
                    _ => Drive::Values(&values[2 * at..2 * at + 2]),
                };
                let start = |number: usize| vec![if number.is_multiple_of(2) { 0. } else { 0.5 }; reservoir.neurons()];
                let one_by_one = |(number, &length): (usize, &usize)| {
                    let mut from = start(number);
                    let mut all = Vec::new();
                    for at in 0..length {
                        let mut to = from.clone();
                        reservoir.step(Simd::portable(), &from, drive(at), &mut to);
                        all.extend_from_slice(&to);
                        from = to;
                    }
                    all
                };
                let wanted: Vec<Vec<f64>> = lengths.iter().enumerate().map(one_by_one).collect();
                let run = |simd: Simd| {
                    let mut all: Vec<Vec<f64>> = wanted.iter().map(|states| vec![0.; states.len()]).collect();
                    let mut sequences: Vec<Sequence<'_>> = Vec::new();
                    for (number, (states, &length)) in all.iter_mut().zip(lengths).enumerate() {
                        sequences.push(Sequence {
                            start: start(number),
                            drives: (0..length).map(drive).collect(),
                            states,
                        });
                    }
                    super::run(&*reservoir, simd, &mut sequences);
                    all
                };
                let bits = |all: &[Vec<f64>]| all.iter().flatten().map(|x| x.to_bits()).collect::<Vec<_>>();
                let given = run(Simd::default());
                if exact || lengths.iter().all(|&length| length <= MAX_PART_LENGTH) {
                    assert!(bits(&given) == bits(&wanted), "{params:?}, {lengths:?}");
                }
                let differences = given.iter().flatten().zip(wanted.iter().flatten()).map(|(a, b)| (a - b).abs());
                assert!(differences.fold(0., f64::max) < 1e-13, "{params:?}, {lengths:?}");
                let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
                let alone = alone.install(|| run(Simd::default()));
                assert!(bits(&given) == bits(&run(Simd::portable())) && bits(&given) == bits(&alone), "{params:?}");
            }
        }
    }
}
