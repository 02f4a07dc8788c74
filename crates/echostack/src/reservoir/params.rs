//! The parameters from which reservoirs are built, and the construction of reservoirs from given weights.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::cycle::{Cycle, CycleReservoir, Signs};
use super::error::ReservoirError;
use super::legendre::{Legendre, LegendreReservoir};
use super::matrix::{MatrixReservoir, transpose};
use super::network::Reservoir;
use super::parts::{Activation, MatrixParts, Recurrent, ReservoirParts};
use super::random::Random;
use crate::manifest::Fields;
use crate::name::named;

/// A kind of reservoir in the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReservoirKind {
    /// A random reservoir, see [`Random`].
    Random,
    /// A cycle reservoir with jumps, see [`Cycle`].
    Cycle,
    /// A Legendre delay network, see [`Legendre`].
    Legendre,
}

impl ReservoirKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Random, Self::Cycle, Self::Legendre];

    /// Returns the name of the kind in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Cycle => "cycle",
            Self::Legendre => "legendre",
        }
    }
}

named!(ReservoirKind, "reservoir");

/// The specification of a reservoir: the parameters of one of the kinds in the paper, or a given reservoir.
#[derive(Clone, Debug)]
pub enum ReservoirParams {
    /// A random reservoir: sparse Gaussian weights, scaled to a spectral radius.
    Random(Random),
    /// A cycle reservoir with jumps.
    Cycle(Cycle),
    /// A Legendre delay network.
    Legendre(Legendre),
    /// A given reservoir, for example a [`MatrixReservoir`] or a type of your own. It must have one channel per symbol.
    Given(Arc<dyn Reservoir>),
}

impl ReservoirParams {
    /// Returns the default parameters of this kind of reservoir. If the kind has random weights, they are drawn with
    /// this seed.
    pub fn standard(kind: ReservoirKind, neurons: usize, seed: u64) -> Self {
        match kind {
            ReservoirKind::Random => Self::Random(Random { neurons, seed, ..Random::default() }),
            ReservoirKind::Cycle => {
                let standard = Cycle::default();
                let jump_length = standard.jump_length.min((neurons / 2).max(2));
                Self::Cycle(Cycle { neurons, jump_length, signs: Signs::Seed(seed), ..standard })
            }
            ReservoirKind::Legendre => Self::Legendre(Legendre { neurons, ..Legendre::default() }),
        }
    }

    /// Checks the parameters that do not depend on the number of channels.
    ///
    /// # Errors
    /// If a parameter is out of range; the error names the first one.
    pub fn check(&self) -> Result<(), ReservoirError> {
        match self {
            Self::Random(params) => params.check(),
            Self::Cycle(params) => params.check(),
            Self::Legendre(params) => params.check(),
            Self::Given(_) => Ok(()),
        }
    }

    /// Builds the reservoir for this many input channels.
    ///
    /// # Errors
    /// If a parameter is out of range or does not fit the number of channels.
    pub fn build(&self, channels: usize) -> Result<Arc<dyn Reservoir>, ReservoirError> {
        self.check()?;
        let reservoir: Arc<dyn Reservoir> = match self {
            Self::Random(params) => Arc::new(params.build(channels)?),
            Self::Cycle(params) => Arc::new(params.build(channels)?),
            Self::Legendre(params) => Arc::new(params.build(channels)?),
            Self::Given(reservoir) if reservoir.channels() == channels => reservoir.clone(),
            Self::Given(reservoir) => {
                return Err(ReservoirError::Channels { given: reservoir.channels(), needed: channels });
            }
        };
        Ok(reservoir)
    }
}

/// Writes the parameters as recorded in a model's manifest. The text is part of the file format and must not change.
impl fmt::Display for ReservoirParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random(Random { neurons, radius, density, input, bias, leak, seed }) => write!(
                f,
                "Random(Random {{ neurons: {neurons}, radius: {radius:?}, density: {density:?}, input: {input:?}, \
                 bias: {bias:?}, leak: {leak:?}, seed: {seed} }})"
            ),
            Self::Cycle(Cycle { neurons, input, cycle, jump, jump_length, bias, leak, signs }) => write!(
                f,
                "Cycle(Cycle {{ neurons: {neurons}, input: {input:?}, cycle: {cycle:?}, jump: {jump:?}, \
                 jump_length: {jump_length}, bias: {bias:?}, leak: {leak:?}, signs: {signs} }})"
            ),
            Self::Legendre(Legendre { neurons, theta }) => {
                write!(f, "Legendre(Legendre {{ neurons: {neurons}, theta: {theta:?} }})")
            }
            Self::Given(_) => f.write_str("given"),
        }
    }
}

impl ReservoirParams {
    /// Returns the parameters that a manifest records, or `None` if the text is not in the form of their `Display`, or
    /// stands for a given reservoir, whose parameters are not known.
    pub fn from_manifest(text: &str) -> Option<Self> {
        let (kind, fields) = text.strip_suffix(" })")?.split_once(" { ")?;
        let of = Fields::read(fields)?;
        Some(match kind {
            "Random(Random" => Self::Random(Random {
                neurons: of.get("neurons")?,
                radius: of.get("radius")?,
                density: of.get("density")?,
                input: of.get("input")?,
                bias: of.get("bias")?,
                leak: of.get("leak")?,
                seed: of.get("seed")?,
            }),
            "Cycle(Cycle" => Self::Cycle(Cycle {
                neurons: of.get("neurons")?,
                input: of.get("input")?,
                cycle: of.get("cycle")?,
                jump: of.get("jump")?,
                jump_length: of.get("jump_length")?,
                bias: of.get("bias")?,
                leak: of.get("leak")?,
                signs: Signs::from_manifest(&of.get::<String>("signs")?)?,
            }),
            "Legendre(Legendre" => Self::Legendre(Legendre { neurons: of.get("neurons")?, theta: of.get("theta")? }),
            _ => return None,
        })
    }
}

impl ReservoirParts {
    /// Returns the same network as matrices. Its states are those of the reservoir up to rounding.
    pub fn matrices(&self) -> MatrixParts {
        match self {
            Self::Matrix(parts) => parts.clone(),
            Self::Cycle(parts) => {
                let m = parts.neurons;
                let mut weights = BTreeMap::new();
                (0..m).for_each(|i| *weights.entry((((i + 1) % m) as u32, i as u32)).or_insert(0.) += parts.cycle);
                for (a, b) in parts.jumps() {
                    *weights.entry((a, b)).or_insert(0.) += parts.jump;
                    *weights.entry((b, a)).or_insert(0.) += parts.jump;
                }
                let channels = parts.columns.len() / m;
                MatrixParts {
                    neurons: m,
                    channels,
                    input: transpose(&parts.columns, channels, m),
                    recurrent: Recurrent::Sparse(weights.into_iter().map(|((i, j), w)| (i, j, w)).collect()),
                    bias: parts.bias.clone(),
                    leak: parts.leak,
                    activation: Activation::Tanh,
                }
            }
            Self::Legendre(parts) => {
                let (n, order) = (parts.channels, parts.input.len());
                let m = n * order;
                let block = |i: usize| i / order * order..(i / order + 1) * order;
                let weight = |i: usize, j: usize| parts.recurrent[j % order * order + i % order];
                let entries = (0..m).flat_map(|i| block(i).map(move |j| (i as u32, j as u32, weight(i, j))));
                let place = |i: usize, channel: usize| if i / order == channel { parts.input[i % order] } else { 0. };
                MatrixParts {
                    neurons: m,
                    channels: n,
                    input: (0..m).flat_map(|i| (0..n).map(move |channel| place(i, channel))).collect(),
                    recurrent: Recurrent::Sparse(entries.collect()),
                    bias: Vec::new(),
                    leak: 1.,
                    activation: Activation::Identity,
                }
            }
        }
    }

    /// Builds the reservoir with these weights.
    ///
    /// # Errors
    /// If a value is out of range or the parts do not fit together.
    pub fn build(self) -> Result<Arc<dyn Reservoir>, ReservoirError> {
        Ok(match self {
            Self::Matrix(parts) => Arc::new(MatrixReservoir::new(parts)?),
            Self::Cycle(parts) => Arc::new(CycleReservoir::new(parts)?),
            Self::Legendre(parts) => Arc::new(LegendreReservoir::new(parts)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_in_manifests_is_that_of_the_first_version() {
        let text = |kind, seed| ReservoirParams::standard(kind, 64, seed).to_string();
        assert_eq!(
            text(ReservoirKind::Cycle, 3),
            "Cycle(Cycle { neurons: 64, input: 1.0, cycle: 0.3, jump: 0.2, jump_length: 16, bias: 0.0, leak: 1.0, \
             signs: Seed(3) })"
        );
        assert_eq!(
            text(ReservoirKind::Random, 3),
            "Random(Random { neurons: 64, radius: 0.5, density: 0.1, input: 1.0, bias: 0.0, leak: 1.0, seed: 3 })"
        );
        assert_eq!(text(ReservoirKind::Legendre, 3), "Legendre(Legendre { neurons: 64, theta: 3.0 })");
        let pi = ReservoirParams::Cycle(Cycle::default()).to_string();
        assert!(pi.ends_with("signs: Pi })"));
    }

    #[test]
    fn the_text_in_manifests_is_read_back() {
        let standard = ReservoirKind::ALL.map(|kind| ReservoirParams::standard(kind, 64, u64::MAX));
        let odd = Random { radius: 1e-300, density: 0.1 + 0.2, input: -0., ..Random::default() };
        for params in
            standard.into_iter().chain([ReservoirParams::Cycle(Cycle::default()), ReservoirParams::Random(odd)])
        {
            let text = params.to_string();
            assert_eq!(ReservoirParams::from_manifest(&text).unwrap().to_string(), text);
            assert!(ReservoirParams::from_manifest(&text[1..]).is_none());
        }
        assert!(ReservoirParams::from_manifest("given").is_none());
    }

    #[test]
    fn matrices_are_the_same_network() {
        use crate::reservoir::{Drive, encode};
        use crate::simd::Simd;
        for (kind, leak) in [(ReservoirKind::Random, 1.), (ReservoirKind::Cycle, 0.3), (ReservoirKind::Legendre, 1.)] {
            let mut params = ReservoirParams::standard(kind, 48, 5);
            if let ReservoirParams::Cycle(cycle) = &mut params {
                (cycle.leak, cycle.bias) = (leak, 0.1);
            }
            let reservoir = params.build(3).unwrap();
            let matrices = MatrixReservoir::new(reservoir.parts().unwrap().matrices()).unwrap();
            let drives = [Drive::Channel(1), Drive::Values(&[0.5, -2., 0.1]), Drive::Silence, Drive::Channel(2)];
            let [given, wanted] =
                [&matrices as &dyn Reservoir, &*reservoir].map(|r| encode(r, Simd::default(), drives));
            assert!(given.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-14), "{kind:?}");
        }
    }
}
