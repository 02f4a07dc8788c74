//! Traces, which state what should be done at each step of a word.

use std::ops::Range;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::digest::hex;
use crate::recognize::{Event, Limits, Observer, Recognizer, Reduction, Verdict};
use crate::symbol::{Alphabet, Input, Word};

/// The actions to be taken on one input, or at the end of the word.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The actions on the stack, in order, without the closing [`Reduction::NONE`].
    pub reductions: Vec<Reduction>,
    /// The output after these actions and before the shift.
    pub output: Vec<f64>,
    /// Whether the input is then shifted. It has no meaning at the end of the word.
    pub shift: bool,
}

/// The teaching signal for one word.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    pub(super) source: Arc<str>,
    word: Word,
    steps: Vec<Step>,
    taught: Range<usize>,
}

/// The reason why a trace was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{source_name}, step {step}: {fault}")]
pub struct TraceError {
    /// Where the trace comes from.
    pub source_name: Arc<str>,
    /// The step, counted from 0.
    pub step: usize,
    /// The fault in this step.
    pub fault: TraceFault,
}

/// A fault in a step of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TraceFault {
    /// The number of steps does not match the word.
    #[error(
        "{steps} steps for {inputs} inputs; there must be one for each input and one for the end, or fewer if the last one refuses its input"
    )]
    Length {
        /// The number of steps.
        steps: usize,
        /// The length of the word.
        inputs: usize,
    },
    /// A reduction pops more symbols than there are on the stack.
    #[error("pops {pop} symbols from a stack of {depth}")]
    Underflow {
        /// The number of symbols to pop.
        pop: u32,
        /// The depth of the stack.
        depth: usize,
    },
    /// A pushed symbol is not a nonterminal.
    #[error("pushes symbol number {0}, which is not a nonterminal of the alphabet")]
    Push(usize),
    /// The list contains a reduction that does nothing.
    #[error("a reduction neither pops nor pushes; leave it out")]
    Nothing,
    /// The input does not belong to the alphabet.
    #[error("the input is neither a terminal of the alphabet nor a vector of finite values, one for each terminal")]
    Input,
    /// The output does not have as many values as that of the first step, or has a value that is not finite.
    #[error("the output has {0} values or one that is not finite; every step needs as many as the first, at least one")]
    Output(usize),
}

impl Trace {
    /// Creates a trace from its steps: one for each input and one for the end of the word, or fewer if the last one
    /// refuses its input.
    ///
    /// # Errors
    /// If the steps do not match the word or the alphabet, or pop more symbols than there are.
    pub fn new(
        alphabet: &Alphabet,
        source: impl Into<Arc<str>>,
        word: Word,
        steps: Vec<Step>,
    ) -> Result<Self, TraceError> {
        let source = source.into();
        check(alphabet, &word, &steps).map_err(|(step, fault)| TraceError {
            source_name: source.clone(),
            step,
            fault,
        })?;
        let taught = 0..steps.len();
        Ok(Self { source, word, steps, taught })
    }

    /// Restricts training to these steps of the trace. The other steps only lead to them.
    #[must_use]
    pub fn teaching(mut self, steps: Range<usize>) -> Self {
        self.taught = steps.start.min(self.steps.len())..steps.end.min(self.steps.len());
        self
    }

    /// Returns the steps that are trained on: all of them, unless [`Trace::teaching`] has restricted them.
    pub fn taught(&self) -> Range<usize> {
        self.taught.clone()
    }

    /// Returns a description of where the trace comes from, for human readers.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the word.
    pub fn word(&self) -> &Word {
        &self.word
    }

    /// Returns the steps.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns whether the last step refuses its input, so that the word is not read to its end.
    pub fn is_refusal(&self) -> bool {
        self.steps.len() <= self.word.len()
    }

    /// Returns whether all symbols of the trace belong to this alphabet. The trace may have been made for another one.
    pub fn fits(&self, alphabet: &Alphabet) -> bool {
        let mut pushes = self.steps.iter().flat_map(|step| &step.reductions).filter_map(|reduction| reduction.push);
        pushes.all(|symbol| alphabet.is_nonterminal(symbol)) && self.word.inputs().all(|input| input.fits(alphabet))
    }

    /// Returns the number of output values of a step.
    pub fn output_width(&self) -> usize {
        self.steps[0].output.len()
    }
}

fn check(alphabet: &Alphabet, word: &Word, steps: &[Step]) -> Result<(), (usize, TraceFault)> {
    let whole = steps.len() == word.len() + 1;
    let refused = (1..=word.len()).contains(&steps.len()) && !steps[steps.len() - 1].shift;
    if !whole && !refused {
        return Err((0, TraceFault::Length { steps: steps.len(), inputs: word.len() }));
    }
    if let Some(at) = word.inputs().position(|input| !input.fits(alphabet)) {
        return Err((at, TraceFault::Input));
    }
    let mut depth = 0_usize;
    for (number, step) in steps.iter().enumerate() {
        for reduction in &step.reductions {
            let fault = match reduction.push {
                _ if reduction.pop as usize > depth => TraceFault::Underflow { pop: reduction.pop, depth },
                Some(symbol) if !alphabet.is_nonterminal(symbol) => TraceFault::Push(symbol.index()),
                None if reduction.pop == 0 => TraceFault::Nothing,
                push => {
                    depth = depth - reduction.pop as usize + usize::from(push.is_some());
                    continue;
                }
            };
            return Err((number, fault));
        }
        let width = step.output.len();
        if width == 0 || width != steps[0].output.len() || !step.output.iter().all(|value| value.is_finite()) {
            return Err((number, TraceFault::Output(width)));
        }
        depth += usize::from(step.shift);
    }
    Ok(())
}

/// Returns the SHA-256 of the contents of the traces, without their sources, in hexadecimal digits.
pub fn digest(traces: &[Trace]) -> String {
    let mut hash = Sha256::new();
    let mut number = |value: u64| hash.update(value.to_le_bytes());
    for trace in traces {
        number(trace.word.len() as u64);
        for input in trace.word.inputs() {
            match input {
                Input::Symbol(symbol) => number(symbol.index() as u64),
                Input::Vector(values) => values.iter().for_each(|value| number(value.to_bits())),
            }
        }
        number(trace.steps.len() as u64);
        number(trace.taught.start as u64);
        number(trace.taught.end as u64);
        for step in &trace.steps {
            number(step.reductions.len() as u64);
            for reduction in &step.reductions {
                number(u64::from(reduction.pop));
                number(reduction.push.map_or(u64::MAX, |symbol| symbol.index() as u64));
            }
            step.output.iter().for_each(|value| number(value.to_bits()));
            number(u64::from(step.shift));
        }
    }
    hex(&hash.finalize())
}

/// Records the actions of a recognizer on a word. The trace is `None` if a limit stopped the recognizer or an input was
/// outside the alphabet, because there is nothing to learn from then.
pub fn record<R: Recognizer>(
    recognizer: &R,
    source: impl Into<Arc<str>>,
    word: &Word,
    limits: Limits,
) -> (Option<Trace>, Verdict) {
    let mut watch = Steps::default();
    let verdict = recognizer.judge_with(word, limits, &mut watch);
    let trace = match verdict {
        Verdict::Stopped { .. } => None,
        _ => Trace::new(recognizer.alphabet(), source, word.clone(), watch.steps).ok(),
    };
    (trace, verdict)
}

/// An observer that collects the steps on a word.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    pub(super) steps: Vec<Step>,
    /// The actions on the stack since the last step.
    reductions: Vec<Reduction>,
}

impl Observer for Steps {
    fn event(&mut self, _: u64, event: Event<'_>) {
        match event {
            Event::Decide { reduction: Reduction::NONE, .. } => {}
            Event::Decide { reduction, .. } => self.reductions.push(reduction),
            Event::Output { values } => {
                let reductions = std::mem::take(&mut self.reductions);
                self.steps.push(Step { reductions, output: values.to_vec(), shift: false });
            }
            Event::Shift { shifted, .. } => {
                if let Some(step) = self.steps.last_mut() {
                    step.shift = shifted;
                }
            }
        }
    }

    fn reads_margins(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbol::SymbolId;

    fn step(reductions: Vec<Reduction>, shift: bool) -> Step {
        Step { reductions, output: vec![0.], shift }
    }

    #[test]
    fn faulty_traces_are_refused() {
        let alphabet = Alphabet::new(["a"], ["S"]).unwrap();
        let [a, s] = [0, 1].map(SymbolId::new);
        let push = |symbol| Reduction { pop: 0, push: Some(symbol) };
        let fault = |steps| Trace::new(&alphabet, "here", Word::Symbols(vec![a]), steps).map_err(|e| (e.step, e.fault));
        assert!(fault(vec![step(vec![push(s)], true), step(vec![], false)]).is_ok());
        assert!(fault(vec![step(vec![], false)]).unwrap().is_refusal());
        let length = TraceFault::Length { steps: 1, inputs: 1 };
        assert_eq!(fault(vec![step(vec![], true)]), Err((0, length)));
        assert_eq!(fault(vec![step(vec![push(a)], false)]), Err((0, TraceFault::Push(0))));
        assert_eq!(fault(vec![step(vec![Reduction::NONE], false)]), Err((0, TraceFault::Nothing)));
        let pop = Reduction { pop: 2, push: None };
        let underflow = TraceFault::Underflow { pop: 2, depth: 1 };
        assert_eq!(fault(vec![step(vec![], true), step(vec![pop], false)]), Err((1, underflow)));
        let silent = Step { reductions: vec![], output: vec![], shift: false };
        assert_eq!(fault(vec![silent]), Err((0, TraceFault::Output(0))));
        let word = Word::Symbols(vec![s]);
        let error = Trace::new(&alphabet, "here", word, vec![step(vec![], false)]).unwrap_err();
        assert_eq!(error.fault, TraceFault::Input);
        assert!(error.to_string().starts_with("here, step 0: the input is neither a terminal"));
    }
}
