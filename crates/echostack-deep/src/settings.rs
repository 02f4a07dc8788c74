//! Architectures and training settings.

use std::fmt;

/// The maximum number of units of a network, equal to the maximum number of neurons of a reservoir.
pub const MAX_UNITS: usize = echostack::reservoir::MAX_NEURONS;

/// A baseline of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Architecture {
    /// A gated recurrent unit and a linear output.
    Gru,
    /// The stack recurrent network of Suzgun et al. (2019), with a differentiable stack and a linear output.
    StackRnn,
    /// The same network with a sigmoid at the output, as in the reference implementation. The paper does not say which
    /// one it used.
    StackRnnSigmoid,
    /// The paper's machine with a gated recurrent unit instead of the reservoir. This is the only baseline that is
    /// taught what to do with its stack.
    DeepStackMachine,
}

impl Architecture {
    /// All architectures, in the paper's order.
    pub const ALL: [Self; 4] = [Self::Gru, Self::StackRnn, Self::StackRnnSigmoid, Self::DeepStackMachine];

    /// Returns the paper's name for this architecture, with a suffix for a variant of ours.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gru => "GRU",
            Self::StackRnn => "SRNN",
            Self::StackRnnSigmoid => "SRNN-sigmoid",
            Self::DeepStackMachine => "DSM",
        }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The settings with which a network is trained. The defaults are those of the paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Hyperparameters {
    /// The number of units in the recurrent layer, from 1 to [`MAX_UNITS`].
    pub units: usize,
    /// The number of epochs, with one word each.
    pub epochs: usize,
    /// The learning rate of Adam, a positive number.
    pub learning_rate: f64,
    /// The weight decay, at least 0: the weights times this factor are added to their gradients.
    pub weight_decay: f64,
    /// The seed for the initial weights and for the order of the words.
    pub seed: u64,
}

impl Default for Hyperparameters {
    fn default() -> Self {
        Self { units: 256, epochs: 10_000, learning_rate: 1e-3, weight_decay: 1e-8, seed: 0 }
    }
}

/// The reason why a network could not be trained.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DeepError {
    /// No trace has a step to learn from.
    #[error("no trace has a step to learn from; a network needs at least one")]
    NoTraces,
    /// The traces do not all have the same number of outputs, or one was made for another alphabet.
    #[error("{source_name} does not fit the alphabet or has {given} output values per step, but {needed} are needed")]
    Misfit {
        /// The source of the trace.
        source_name: String,
        /// The number of output values per step in this trace.
        given: usize,
        /// The number of output values per step in the first trace.
        needed: usize,
    },
    /// A setting is out of its range.
    #[error("{name} is {given}, but must be {needed}")]
    Range {
        /// The name of the setting.
        name: &'static str,
        /// The value given.
        given: f64,
        /// The values that are allowed.
        needed: String,
    },
    /// Training was cancelled through the [`Control`](echostack::Control).
    #[error("training was cancelled")]
    Cancelled,
    /// The loss became infinite or NaN in this epoch.
    #[error("the loss became infinite or NaN in epoch {0}; use smaller inputs or a smaller learning_rate")]
    NotFinite(usize),
}

impl Hyperparameters {
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
