//! Training, and trained networks.

use std::fmt;
use std::sync::Arc;

use echostack::control::Stage;
use echostack::{Alphabet, Control, Trace, Word};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::gru::Gru;
use crate::maps::{Drawing, Maps, Pass, Teacher};
use crate::network::Network;
use crate::regression::Regression;
use crate::settings::{Architecture, DeepError, Hyperparameters};
use crate::stack_machine::StackMachine;
use crate::stack_rnn::StackRnn;

/// A trained network.
pub struct Trained {
    alphabet: Arc<Alphabet>,
    pub(crate) network: Box<dyn Network>,
    pub(crate) maps: Maps,
    output_width: usize,
    /// True if all outputs in the training set are a single 0 or 1. The network's outputs are then rounded to 0 or 1.
    decides: bool,
}

impl fmt::Debug for Trained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trained").finish_non_exhaustive()
    }
}

impl Trained {
    /// Creates an untrained network.
    pub(crate) fn new(
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
            Architecture::StackRnn | Architecture::StackRnnSigmoid => {
                let layer = StackRnn::draw(&mut drawing, channels, units);
                let linear = Regression::new(layer, &mut drawing, shape);
                Box::new(if architecture == Architecture::StackRnn { linear } else { linear.with_sigmoid() })
            }
            Architecture::DeepStackMachine => Box::new(StackMachine::draw(&mut drawing, alphabet, units, traces)),
        };
        let mut outputs = traces.iter().flat_map(|trace| trace.steps()).flat_map(|step| &step.output);
        let decides = output_width == 1 && outputs.all(|&output| output == 0. || output == 1.);
        Self { alphabet: alphabet.clone(), network, maps: drawing.finish(), output_width, decides }
    }

    /// Takes a training step on one trace, and returns the loss before the step.
    fn learn(&mut self, trace: &Trace, teacher: &Teacher) -> f32 {
        let mut pass = Pass::learning(&self.maps);
        let loss = self.network.loss(&mut pass, trace);
        let gradients = pass.gradients(&loss);
        self.maps.learn(gradients, teacher);
        loss.into_scalar()
    }

    /// Returns the outputs of all steps for each word, concatenated: one step for each input, and one for the end.
    ///
    /// If the training set has a single 0 or 1 as the output of each step (a language), an output is 1 if the network's
    /// output is above 0.5, and 0 otherwise. Outputs for other tasks are those of the network.
    ///
    /// An output is NaN, which is never right, if a deep stack machine reached a limit before it (it popped more
    /// symbols than there were, or pushed without end), or if an input of the word does not belong to the alphabet.
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

/// Trains a network. In each epoch, one of the traces is drawn, and Adam takes one step on its loss.
///
/// # Errors
/// See [`DeepError`].
pub fn train(
    architecture: Architecture,
    alphabet: &Arc<Alphabet>,
    traces: &[Trace],
    settings: &Hyperparameters,
    control: &dyn Control,
) -> Result<Trained, DeepError> {
    settings.check()?;
    let teaching: Vec<&Trace> = traces.iter().filter(|trace| !trace.taught().is_empty()).collect();
    let needed = teaching.first().ok_or(DeepError::NoTraces)?.output_width();
    for trace in &teaching {
        let given = trace.output_width();
        if given != needed || !trace.fits(alphabet) {
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
