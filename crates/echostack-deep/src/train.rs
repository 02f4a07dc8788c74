//! Training, and networks that have been trained.

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
use crate::settings::{Architecture, DeepError, Settings};
use crate::stack_machine::StackMachine;
use crate::stack_rnn::StackRnn;

/// A network that has been trained.
pub struct Trained {
    alphabet: Arc<Alphabet>,
    pub(crate) network: Box<dyn Network>,
    pub(crate) maps: Maps,
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
