//! Errors of a recognizer, measured against reference traces or a reference recognizer.

use super::trace::Trace;
use crate::recognize::{Limits, Outputs, Recognizer, Verdict, watch_all};
use crate::symbol::Word;

/// Errors of a recognizer, measured against reference traces.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// The paper's metric: the mean absolute error of the output over the steps of a word, averaged over words. A step
    /// that only one of recognizer and trace reaches counts as an error of 1.
    pub error: f64,
    /// The indices of the traces whose verdict differs or, for real-valued outputs, that have a value off by more than
    /// 0.5.
    pub wrong: Vec<usize>,
    /// The number of words.
    pub words: usize,
    /// The number of tokens.
    pub tokens: usize,
}

/// A verdict without the expected tokens.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Judgement {
    Accepted,
    NotAccepted,
    RefusedAt(u64),
    Stopped,
}

/// Compares a recognizer with traces, on rayon's threads. The result does not depend on the number of threads.
pub fn score<R: Recognizer>(recognizer: &R, traces: &[Trace], limits: Limits) -> Score {
    let words: Vec<&Word> = traces.iter().map(Trace::word).collect();
    let mut given = vec![Outputs::default(); traces.len()];
    let verdicts = watch_all(recognizer, &words, &mut given, limits);
    let one = |(trace, (Outputs(given), verdict)): (&Trace, (&Outputs, &Verdict))| {
        let wanted: Vec<f64> = trace.steps().iter().flat_map(|step| step.output.iter().copied()).collect();
        let error = output_error(given, &wanted);
        let wrong = if wanted.iter().all(|&value| value == 0. || value == 1.) && trace.output_width() == 1 {
            judged(verdict, trace.word().len()) != truth(trace)
        } else {
            given.len() != wanted.len() || !given.iter().zip(&wanted).all(|(a, b)| (a - b).abs() <= 0.5)
        };
        (error, wrong)
    };
    let all: Vec<(f64, bool)> = traces.iter().zip(given.iter().zip(&verdicts)).map(one).collect();
    Score {
        error: all.iter().map(|(error, _)| error).sum::<f64>() / all.len().max(1) as f64,
        wrong: all.iter().enumerate().filter(|(_, (_, wrong))| *wrong).map(|(number, _)| number).collect(),
        words: all.len(),
        tokens: traces.iter().map(|trace| trace.word().len()).sum(),
    }
}

/// Errors of a recognizer, measured against a reference recognizer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// The sum over all words of the mean error over the steps, as in [`Score::error`].
    pub errors: f64,
    /// The indices of the words whose verdict differs.
    pub wrong: Vec<usize>,
    /// The indices of the words whose verdicts differ only in the expected tokens.
    pub unlike: Vec<usize>,
}

/// Compares a recognizer with a reference recognizer, verdict by verdict and output by output, on rayon's threads.
pub fn compare<R: Recognizer, T: Recognizer>(recognizer: &R, truth: &T, words: &[Word], limits: Limits) -> Comparison {
    let words: Vec<&Word> = words.iter().collect();
    let mut given = vec![Outputs::default(); words.len()];
    let mut wanted = given.clone();
    let given_verdicts = watch_all(recognizer, &words, &mut given, limits);
    let wanted_verdicts = watch_all(truth, &words, &mut wanted, limits);
    let mut comparison = Comparison::default();
    for (number, word) in words.iter().enumerate() {
        comparison.errors += output_error(&given[number].0, &wanted[number].0);
        let (given, wanted) = (&given_verdicts[number], &wanted_verdicts[number]);
        if judged(given, word.len()) != judged(wanted, word.len()) {
            comparison.wrong.push(number);
        } else if given != wanted {
            comparison.unlike.push(number);
        }
    }
    comparison
}

/// Returns the mean absolute difference of the outputs on a word. An output that only one of the two has, or that is
/// not finite, counts as a difference of 1.
pub fn output_error(given: &[f64], wanted: &[f64]) -> f64 {
    let count = given.len().max(wanted.len());
    let difference = |at: usize| match (given.get(at), wanted.get(at)) {
        (Some(given), Some(wanted)) if given.is_finite() => (given - wanted).abs(),
        _ => 1.,
    };
    (0..count).map(difference).sum::<f64>() / count.max(1) as f64
}

fn judged(verdict: &Verdict, length: usize) -> Judgement {
    match *verdict {
        Verdict::Accept => Judgement::Accepted,
        Verdict::Incomplete { .. } => Judgement::NotAccepted,
        // A tolerant recognizer rejects at the end.
        Verdict::Reject { position, .. } if position == length as u64 => Judgement::NotAccepted,
        Verdict::Reject { position, .. } => Judgement::RefusedAt(position),
        Verdict::Stopped { .. } => Judgement::Stopped,
    }
}

fn truth(trace: &Trace) -> Judgement {
    match trace.steps().last() {
        _ if trace.is_refusal() => Judgement::RefusedAt(trace.steps().len() as u64 - 1),
        Some(step) if step.output[0] > 0.5 => Judgement::Accepted,
        _ => Judgement::NotAccepted,
    }
}
