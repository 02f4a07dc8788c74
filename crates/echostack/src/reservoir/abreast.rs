//! Several independent steps of a reservoir, taken side by side.

use std::ops::Range;

use super::network::{Reservoir, Transition};
use crate::simd::{ABREAST, Abreast, Simd};

/// Returns the groups of steps to take side by side. If a single step is left over, this function takes it right away,
/// because a group of one would gain nothing.
pub(super) fn abreast<'a, 'b>(
    reservoir: &impl Reservoir,
    simd: Simd,
    steps: &'a mut [Transition<'b>],
) -> impl Iterator<Item = &'a mut [Transition<'b>]> {
    let alone = usize::from(steps.len() % ABREAST == 1);
    let (groups, alone) = steps.split_at_mut(steps.len() - alone);
    alone.iter_mut().for_each(|step| reservoir.step(simd, step.from, step.drive, step.to));
    groups.chunks_mut(ABREAST)
}

/// Computes the recurrent part of several steps for the neurons in the range `neurons`: puts all states side by side,
/// calls `multiply` on them, and writes the results to the buffers for the next states.
pub(super) fn recur_abreast(
    steps: &mut [Transition<'_>],
    neurons: Range<usize>,
    multiply: impl Fn(&[Abreast], &mut [Abreast]),
) {
    let mut from = vec![Abreast::default(); neurons.len()];
    let mut to = from.clone();
    for (lane, step) in steps.iter().enumerate() {
        let values = &step.from[neurons.clone()];
        from.iter_mut().zip(values).for_each(|(side_by_side, value)| side_by_side.0[lane] = *value);
    }
    multiply(&from, &mut to);
    for (lane, step) in steps.iter_mut().enumerate() {
        let values = &mut step.to[neurons.clone()];
        values.iter_mut().zip(&to).for_each(|(value, side_by_side)| *value = side_by_side.0[lane]);
    }
}
