//! Which network is trained, and how.

use std::fmt;

/// The most units of a network: as many as a reservoir may have neurons.
pub const MAX_UNITS: usize = echostack::reservoir::MAX_NEURONS;

/// A baseline of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Architecture {
    /// A gated recurrent unit and a linear output.
    Gru,
    /// The stack recurrent network of Suzgun et al. (2019), whose stack is differentiable, and a linear output. (The
    /// reference implementation puts the output through a sigmoid.)
    StackRnn,
    /// The paper's machine with a gated recurrent unit in the place of the reservoir. It is the only one that is taught
    /// what to do with its stack.
    DeepStackMachine,
}

impl Architecture {
    /// All of them, in the paper's order.
    pub const ALL: [Self; 3] = [Self::Gru, Self::StackRnn, Self::DeepStackMachine];

    /// The paper's name for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gru => "GRU",
            Self::StackRnn => "SRNN",
            Self::DeepStackMachine => "DSM",
        }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How a network is trained. The defaults are the paper's.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The units of the recurrent layer, from 1 to [`MAX_UNITS`].
    pub units: usize,
    /// The number of epochs, of one word each.
    pub epochs: usize,
    /// Adam's learning rate, positive.
    pub learning_rate: f64,
    /// The factor of the weights that is added to their gradients, 0 or more.
    pub weight_decay: f64,
    /// Where the weights and the order of the words come from.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { units: 256, epochs: 10_000, learning_rate: 1e-3, weight_decay: 1e-8, seed: 0 }
    }
}

/// Why a network could not be trained.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DeepError {
    /// There is nothing to learn from.
    #[error("no traces were given of which a step teaches; a network needs at least one")]
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
    /// A setting is out of its range.
    #[error("{name} is {given}, but must be {needed}")]
    Range {
        /// The setting.
        name: &'static str,
        /// The value given.
        given: f64,
        /// What it must be.
        needed: String,
    },
    /// The control asked to stop.
    #[error("training was cancelled")]
    Cancelled,
    /// The loss overflowed.
    #[error("the loss became infinite or no number in epoch {0}; use smaller inputs or a smaller learning_rate")]
    NotFinite(usize),
}

impl Settings {
    /// Checks the settings.
    pub(crate) fn check(&self) -> Result<(), DeepError> {
        let within = |name, given, fits: bool, needed: &str| {
            fits.then_some(()).ok_or_else(|| DeepError::Range { name, given, needed: needed.to_string() })
        };
        let (rate, decay) = (self.learning_rate, self.weight_decay);
        let units = format!("from 1 to {MAX_UNITS}");
        within("units", self.units as f64, (1..=MAX_UNITS).contains(&self.units), &units)?;
        within("learning_rate", rate, rate > 0. && rate.is_finite(), "positive and finite")?;
        within("weight_decay", decay, decay >= 0. && decay.is_finite(), "at least 0 and finite")
    }
}
