//! The deep baselines of *Reservoir Stack Machines* (Paaßen, Schulz, Hammer, Neurocomputing 2021): a gated recurrent
//! unit, a stack recurrent network, and the paper's own machine with a gated recurrent unit in the place of its
//! reservoir.
//!
//! They are here to be compared with. Who wants a machine that recognises a language should look at `echostack`, which
//! trains one in a second, and can prove it right.
//!
//! All three learn from the same [`Trace`]s as a machine does; the first two only look at the outputs in them. They are
//! trained by Adam on one word at a time, as the paper says. The same seed gives the same network to the bit on the
//! same CPU: every weight and every choice of a word is drawn from `ChaCha8Rng`, and there is one thread.
//!
//! | module | what is in it |
//! |---|---|
//! | `maps` | linear maps, how their gradients come about, Adam |
//! | `gru`, `stack_rnn` | the recurrent layers |
//! | `regression` | a layer and a linear output: the first two baselines |
//! | `stack_machine` | the third |
//! | `baseline` | all of them as models of the laboratory |
//!
//! ```
//! use echostack::tasks::{Split, Task};
//! use echostack_deep::{Architecture, Settings, train};
//!
//! let traces = Task::Latch.examples(Split::Train, 10, 0);
//! let settings = Settings { units: 8, epochs: 20, ..Settings::default() };
//! let network = train(Architecture::Gru, &Task::Latch.alphabet(), &traces, &settings, &())?;
//! let outputs = network.outputs(&[traces[0].word()]);
//! assert_eq!(outputs[0].len(), traces[0].steps().len());
//! # Ok::<(), echostack_deep::DeepError>(())
//! ```

mod baseline;
mod gru;
mod maps;
mod regression;
mod stack_machine;
mod stack_rnn;

use std::fmt;
use std::sync::Arc;

use burn::tensor::Tensor;
use echostack::{Alphabet, Control, Stage, Trace, Word};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub use baseline::baselines;

use gru::Gru;
use maps::{Drawing, Maps, Pass, Teacher};
use regression::Regression;
use stack_machine::StackMachine;
use stack_rnn::StackRnn;

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
    fn check(&self) -> Result<(), DeepError> {
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

/// What the baselines do differently.
trait Network: Send + Sync {
    /// How far the network is from what a trace teaches.
    fn loss(&self, pass: &mut Pass<'_>, trace: &Trace) -> Tensor<1>;

    /// The outputs on a word, step by step.
    fn outputs(&self, pass: &mut Pass<'_>, word: &Word) -> Vec<f64>;
}

/// A network that has been trained.
pub struct Trained {
    alphabet: Arc<Alphabet>,
    network: Box<dyn Network>,
    maps: Maps,
    output_width: usize,
    /// Whether all outputs it was taught were a single 0 or 1: then its outputs are, too.
    decides: bool,
}

impl fmt::Debug for Trained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trained").finish_non_exhaustive()
    }
}

impl Trained {
    /// A network that has learned nothing yet.
    fn new(
        architecture: Architecture,
        alphabet: &Arc<Alphabet>,
        traces: &[&Trace],
        units: usize,
        random: &mut ChaCha8Rng,
    ) -> Self {
        let output_width = traces.first().map_or(0, |trace| trace.output_width());
        let shape @ [channels, ..] = [alphabet.len(), units, output_width];
        let mut drawing = Drawing::new(random);
        let network: Box<dyn Network> = match architecture {
            Architecture::Gru => {
                let layer = Gru::draw(&mut drawing, channels, units);
                Box::new(Regression::new(layer, &mut drawing, shape))
            }
            Architecture::StackRnn => {
                let layer = StackRnn::draw(&mut drawing, channels, units);
                Box::new(Regression::new(layer, &mut drawing, shape))
            }
            Architecture::DeepStackMachine => Box::new(StackMachine::draw(&mut drawing, alphabet, units, traces)),
        };
        let mut outputs = traces.iter().flat_map(|trace| trace.steps()).flat_map(|step| &step.output);
        let decides = output_width == 1 && outputs.all(|&output| output == 0. || output == 1.);
        Self { alphabet: alphabet.clone(), network, maps: drawing.finish(), output_width, decides }
    }

    /// Learns from one trace, and returns the loss before that.
    fn learn(&mut self, trace: &Trace, teacher: &Teacher) -> f32 {
        let mut pass = Pass::learning(&self.maps);
        let loss = self.network.loss(&mut pass, trace);
        let gradients = pass.gradients(&loss);
        self.maps.learn(gradients, teacher);
        loss.into_scalar()
    }

    /// For each word the outputs of all its steps, one for each input and one for the end, one after the other.
    ///
    /// If all that was taught was a single 0 or 1 a step (a language), an output is 1 if the network's is above 0.5,
    /// and 0 otherwise. Outputs of other tasks are as the network gives them.
    ///
    /// An output is NaN, which is never right, if a deep stack machine ran into a limit before it (it popped more than
    /// there was, or pushed without end), or if an input of the word is not of the alphabet.
    pub fn outputs(&self, words: &[&Word]) -> Vec<Vec<f64>> {
        words.iter().map(|word| self.outputs_of(word)).collect()
    }

    fn outputs_of(&self, word: &Word) -> Vec<f64> {
        if !word.inputs().all(|input| input.fits(&self.alphabet)) {
            return vec![f64::NAN; (word.len() + 1) * self.output_width];
        }
        let mut outputs = self.network.outputs(&mut Pass::new(&self.maps), word);
        if self.decides {
            let known = outputs.iter_mut().filter(|output| !output.is_nan());
            known.for_each(|output| *output = f64::from(u8::from(*output > 0.5)));
        }
        outputs
    }
}

/// Trains a network: each epoch draws one of the traces, and Adam takes one step on its loss.
///
/// # Errors
/// See [`DeepError`].
pub fn train(
    architecture: Architecture,
    alphabet: &Arc<Alphabet>,
    traces: &[Trace],
    settings: &Settings,
    control: &dyn Control,
) -> Result<Trained, DeepError> {
    settings.check()?;
    let teaching: Vec<&Trace> = traces.iter().filter(|trace| !trace.taught().is_empty()).collect();
    let needed = teaching.first().ok_or(DeepError::NoTraces)?.output_width();
    for trace in &teaching {
        let given = trace.output_width();
        if given != needed || !fits(trace, alphabet) {
            return Err(DeepError::Misfit { source_name: trace.source().to_string(), given, needed });
        }
    }
    let mut random = ChaCha8Rng::seed_from_u64(settings.seed);
    let mut trained = Trained::new(architecture, alphabet, &teaching, settings.units, &mut random);
    let teacher = Teacher::new(settings.learning_rate, settings.weight_decay);
    for epoch in 0..settings.epochs {
        if control.cancelled() {
            return Err(DeepError::Cancelled);
        }
        let trace = teaching[random.random_range(0..teaching.len())];
        if !trained.learn(trace, &teacher).is_finite() {
            return Err(DeepError::NotFinite(epoch));
        }
        control.progress(Stage::Train, epoch + 1, settings.epochs);
    }
    Ok(trained)
}

/// Whether all symbols of a trace are of this alphabet: it may have been made for another.
fn fits(trace: &Trace, alphabet: &Alphabet) -> bool {
    let mut pushes = trace.steps().iter().flat_map(|step| &step.reductions).filter_map(|reduction| reduction.push);
    pushes.all(|symbol| alphabet.is_nonterminal(symbol)) && trace.word().inputs().all(|input| input.fits(alphabet))
}
