//! The hypotheses of the error analysis in docs/proof, checked by the type [`WellScaled`].
//!
//! Every bound on a decision assumes that nothing overflows, that values which underflow are too small to matter, and
//! that sums have at most a known number of terms. A model file can violate each of these with finite numbers. A
//! [`WellScaled`] machine does not violate them. Only such a machine can be [bounded](super::bound::Bounds), so no
//! proof can begin without the check.

use super::error::CertifyError;
use crate::machine::{Machine, Readout};
use crate::readout::{Head, Projection, ProjectionParts};
use crate::reservoir::{Activation, Recurrent, Reservoir, ReservoirParts};

/// The largest magnitude of the numbers that a decision is computed from: weights, centers, intercepts and gammas
/// (Lemma LARGEST). No sum of products of these overflows.
pub(crate) const LARGEST: f64 = (1_u64 << 48) as f64;

/// The maximum number of terms of a sum, and of support vectors and conditions (Lemma MOST_TERMS).
pub(crate) const MOST_TERMS: usize = 1 << 24;

/// The smallest leak, which is the fraction of the new state in the mixture with the old one (Lemma LEAST_LEAK). With a
/// smaller one, rounding could drive a state beyond its bounds.
pub(crate) const LEAST_LEAK: f64 = 1. / (1_u32 << 20) as f64;

/// An upper bound on the change of a decision value by everything that underflows (Lemma UNDERFLOW): 2^-420.
pub(crate) const UNDERFLOW: f64 = f64::from_bits((1023 - 420) << 52);

/// A machine whose numbers satisfy the hypotheses of the error analysis.
pub(crate) struct WellScaled<'m> {
    pub(super) machine: &'m Machine,
    pub(super) parts: Scaled<Readout>,
}

/// The parts of a machine whose numbers satisfy the hypotheses of the error analysis. Its readouts have names of type `R`.
pub(crate) struct Scaled<R> {
    pub(super) neurons: usize,
    pub(super) reservoir: ReservoirParts,
    pub(super) projection: ProjectionParts,
    pub(super) heads: Vec<(R, Head)>,
}

impl<R> Scaled<R> {
    /// Checks the hypotheses on all numbers. `name` names a readout in messages.
    ///
    /// # Errors
    /// [`CertifyError::Reservoir`] if the reservoir's states cannot be enclosed, [`CertifyError::Scale`] if a number is
    /// out of range.
    pub(crate) fn new(
        reservoir: &dyn Reservoir,
        projection: &Projection,
        heads: Vec<(R, Head)>,
        name: impl Fn(&R) -> String,
    ) -> Result<Self, CertifyError> {
        let parts = reservoir.parts().ok_or(CertifyError::Reservoir)?;
        check_reservoir(&parts)?;
        let projection = projection.parts();
        check_projection(&projection)?;
        heads.iter().try_for_each(|(readout, head)| check_head(&name(readout), head))?;
        Ok(Self { neurons: reservoir.neurons(), reservoir: parts, projection, heads })
    }
}

impl<'m> WellScaled<'m> {
    /// Checks the hypotheses on all numbers of a machine.
    ///
    /// # Errors
    /// [`CertifyError::Reservoir`] if the reservoir's states cannot be enclosed, [`CertifyError::Scale`] if a number is
    /// out of range.
    pub(crate) fn new(machine: &'m Machine) -> Result<Self, CertifyError> {
        let heads = machine.heads().into_iter().map(|(readout, head)| (readout, head.clone())).collect();
        let name = |readout: &Readout| readout.name().to_string();
        Ok(Self { machine, parts: Scaled::new(&**machine.reservoir(), machine.projection(), heads, name)? })
    }
}

fn refuse<T>(what: impl Into<String>, given: f64, needed: &'static str) -> Result<T, CertifyError> {
    Err(CertifyError::Scale { what: what.into(), given, needed })
}

fn check_reservoir(parts: &ReservoirParts) -> Result<(), CertifyError> {
    match parts {
        ReservoirParts::Matrix(parts) => {
            if parts.activation != Activation::Tanh {
                return Err(CertifyError::Reservoir);
            }
            match &parts.recurrent {
                Recurrent::Dense(weights) => small("the recurrent weights", weights.iter().copied())?,
                Recurrent::Sparse(entries) => small("the recurrent weights", entries.iter().map(|entry| entry.2))?,
            }
            small("the input weights", parts.input.iter().copied())?;
            small("the biases", parts.bias.iter().copied())?;
            leak(parts.leak)
        }
        ReservoirParts::Cycle(parts) => {
            small("the cycle and jump weights", [parts.cycle, parts.jump])?;
            small("the input weights", parts.columns.iter().copied())?;
            small("the biases", parts.bias.iter().copied())?;
            leak(parts.leak)
        }
        ReservoirParts::Legendre(parts) => {
            small("the recurrent weights", parts.recurrent.iter().copied())?;
            small("the input weights", parts.input.iter().copied())
        }
    }
}

fn check_projection(parts: &ProjectionParts) -> Result<(), CertifyError> {
    for half in &parts.halves {
        small("the centers", half.centers.iter().copied())?;
        small("the linear maps", half.linear.0.iter().copied())?;
        half.members.iter().try_for_each(|members| few("a kernel's centers", members.len()))?;
    }
    for (gamma, support) in &parts.kernels {
        small("a kernel's gamma", [*gamma])?;
        if *gamma <= 0. {
            return refuse("a kernel's gamma", *gamma, "above 0");
        }
        few("a kernel's support vectors", support.len())?;
    }
    Ok(())
}

fn check_head(name: &str, head: &Head) -> Result<(), CertifyError> {
    match head {
        Head::Constant(_) => Ok(()),
        Head::Votes { pairs, .. } => pairs.iter().try_for_each(|pair| {
            few(&format!("the terms of a pair of {name}"), pair.terms.len())?;
            small(&format!("the weights of {name}"), pair.terms.iter().map(|term| term.1))?;
            small(&format!("the intercepts of {name}"), [pair.intercept])
        }),
        Head::List { clauses, .. } => clauses.iter().try_for_each(|clause| {
            few(&format!("the conditions of a clause of {name}"), clause.conditions.len())?;
            small(&format!("the intercepts of {name}"), clause.conditions.iter().map(|condition| condition.1))
        }),
    }
}

/// Checks that no number is larger than [`LARGEST`] in magnitude, infinite or NaN.
fn small(what: &str, numbers: impl IntoIterator<Item = f64>) -> Result<(), CertifyError> {
    match numbers.into_iter().find(|number| number.is_nan() || number.abs() > LARGEST) {
        Some(given) => refuse(format!("one of {what}"), given, "at most 2^48 in magnitude"),
        None => Ok(()),
    }
}

fn few(what: &str, count: usize) -> Result<(), CertifyError> {
    if count > MOST_TERMS { refuse(format!("the number of {what}"), count as f64, "at most 2^24") } else { Ok(()) }
}

fn leak(leak: f64) -> Result<(), CertifyError> {
    if (LEAST_LEAK..=1.).contains(&leak) { Ok(()) } else { refuse("the leak", leak, "from 2^-20 to 1") }
}
