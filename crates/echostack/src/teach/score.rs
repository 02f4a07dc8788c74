//! Errors of a recognizer, measured against reference traces or a reference recognizer.

use super::trace::{Step, Steps, Trace};
use crate::recognize::{Limits, Outcome, Outputs, Recognizer, Verdict, watch_all};
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

/// What counts of an outcome.
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
    let outcomes: Vec<Outcome> = watch_all(recognizer, &words, &mut given, limits);
    let one = |(trace, (Outputs(given), outcome)): (&Trace, (&Outputs, &Outcome))| {
        let wanted: Vec<f64> = trace.steps().iter().flat_map(|step| step.output.iter().copied()).collect();
        let error = output_error(given, &wanted);
        let wrong = if wanted.iter().all(|&value| value == 0. || value == 1.) && trace.output_width() == 1 {
            judged(*outcome, trace.word().len()) != truth(trace)
        } else {
            !same_output(given, &wanted)
        };
        (error, wrong)
    };
    let all: Vec<(f64, bool)> = traces.iter().zip(given.iter().zip(&outcomes)).map(one).collect();
    Score {
        error: all.iter().map(|(error, _)| error).sum::<f64>() / all.len().max(1) as f64,
        wrong: all.iter().enumerate().filter(|(_, (_, wrong))| *wrong).map(|(number, _)| number).collect(),
        words: all.len(),
        tokens: traces.iter().map(|trace| trace.word().len()).sum(),
    }
}

/// The first step of a trace at which a recognizer does something else.
#[derive(Clone, Debug, PartialEq)]
pub struct Departure {
    /// The index of the trace.
    pub trace: usize,
    /// The step, counted from 0.
    pub step: usize,
    /// What should be done, or `None` if the trace has already ended with a refusal.
    pub wanted: Option<Step>,
    /// What the recognizer does, or `None` if it has already refused its input or reached a limit.
    pub given: Option<Step>,
}

/// Finds the traces that a recognizer departs from: the word makes it pop, push, shift or output something else than
/// the trace teaches. The traces are judged on rayon's threads. Steps after those that are trained on do not count.
pub fn departures<R: Recognizer>(recognizer: &R, traces: &[Trace], limits: Limits) -> Vec<Departure> {
    let words: Vec<&Word> = traces.iter().map(Trace::word).collect();
    let mut given = vec![Steps::default(); traces.len()];
    let _: Vec<Outcome> = watch_all(recognizer, &words, &mut given, limits);
    let departure = |(number, (trace, given)): (usize, (&Trace, &Steps))| {
        let (wanted, given) = (trace.steps(), &given.steps);
        let all = trace.taught().end == wanted.len();
        let end = if all { wanted.len().max(given.len()) } else { trace.taught().end };
        let same = |step: usize| match (wanted.get(step), given.get(step)) {
            (Some(wanted), Some(given)) => {
                let shift = step >= trace.word().len() || wanted.shift == given.shift;
                wanted.reductions == given.reductions && shift && same_output(&given.output, &wanted.output)
            }
            _ => false,
        };
        let step = (0..end).find(|&step| !same(step))?;
        let (wanted, given) = (wanted.get(step).cloned(), given.get(step).cloned());
        Some(Departure { trace: number, step, wanted, given })
    };
    traces.iter().zip(&given).enumerate().filter_map(departure).collect()
}

/// Returns whether no output is off by more than 0.5.
fn same_output(given: &[f64], wanted: &[f64]) -> bool {
    given.len() == wanted.len() && given.iter().zip(wanted).all(|(given, wanted)| (given - wanted).abs() <= 0.5)
}

/// Errors of a recognizer, measured against a reference recognizer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deviation {
    /// The sum over all words of the mean error over the steps, as in [`Score::error`].
    pub errors: f64,
    /// The indices of the words whose verdict differs.
    pub wrong: Vec<usize>,
    /// The indices of the words whose verdicts differ only in the expected tokens.
    pub unlike: Vec<usize>,
}

/// Compares a recognizer with a reference recognizer, verdict by verdict and output by output, on rayon's threads.
pub fn compare<R: Recognizer, T: Recognizer>(recognizer: &R, truth: &T, words: &[Word], limits: Limits) -> Deviation {
    let words: Vec<&Word> = words.iter().collect();
    let mut given = vec![Outputs::default(); words.len()];
    let mut wanted = given.clone();
    let given_verdicts: Vec<Verdict> = watch_all(recognizer, &words, &mut given, limits);
    let wanted_verdicts: Vec<Verdict> = watch_all(truth, &words, &mut wanted, limits);
    let mut comparison = Deviation::default();
    for (number, word) in words.iter().enumerate() {
        comparison.errors += output_error(&given[number].0, &wanted[number].0);
        let (given, wanted) = (&given_verdicts[number], &wanted_verdicts[number]);
        if judged(given.outcome(), word.len()) != judged(wanted.outcome(), word.len()) {
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

fn judged(outcome: Outcome, length: usize) -> Judgement {
    match outcome {
        Outcome::Accept => Judgement::Accepted,
        Outcome::Incomplete => Judgement::NotAccepted,
        // A tolerant recognizer rejects at the end.
        Outcome::Reject { position } if position == length as u64 => Judgement::NotAccepted,
        Outcome::Reject { position } => Judgement::RefusedAt(position),
        Outcome::Stopped { .. } => Judgement::Stopped,
    }
}

fn truth(trace: &Trace) -> Judgement {
    match trace.steps().last() {
        _ if trace.is_refusal() => Judgement::RefusedAt(trace.steps().len() as u64 - 1),
        Some(step) if step.output[0] > 0.5 => Judgement::Accepted,
        _ => Judgement::NotAccepted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::automaton::Oracle;
    use crate::recognize::Reduction;
    use crate::symbol::SymbolId;
    use crate::tasks::{Split, Task};
    use crate::teach::record;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Returns a trace with a change in one step, and that step.
    fn changed(trace: &Trace, alphabet: &crate::Alphabet, random: &mut ChaCha8Rng) -> Option<(Trace, usize)> {
        let mut steps = trace.steps().to_vec();
        let at = random.random_range(0..steps.len());
        let step = &mut steps[at];
        match random.random_range(0..4) {
            0 => step.output[0] = 1. - step.output[0],
            1 => _ = step.reductions.pop()?,
            2 => {
                let symbols: Vec<SymbolId> = alphabet.nonterminals().collect();
                let push = Some(symbols[random.random_range(0..symbols.len())]);
                step.reductions.push(Reduction { pop: 0, push });
            }
            // The last step of a trace cannot shift, and an earlier one cannot refuse.
            _ => {
                step.shift = false;
                steps.truncate(at + 1);
            }
        }
        let changed = Trace::new(alphabet, "changed", trace.word().clone(), steps).ok()?;
        (changed.steps() != trace.steps()).then_some((changed, at))
    }

    #[test]
    fn departures_are_where_a_trace_was_changed() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut found = 0;
        for task in [Task::Dyck2, Task::Json, Task::Anbn] {
            let oracle = Oracle::strict(task.automaton().unwrap()).unwrap();
            let alphabet = task.alphabet();
            let words = task.examples(Split::Train, 100, 3);
            let record = |trace: &Trace| record(&oracle, "word", trace.word(), Limits::default()).0.unwrap();
            let mut traces: Vec<Trace> = words.iter().map(record).collect();
            assert_eq!(departures(&oracle, &traces, Limits::default()), []);
            let mut expected = Vec::new();
            for (number, trace) in traces.iter_mut().enumerate() {
                if let Some((other, at)) = changed(trace, &alphabet, &mut random) {
                    expected.push((number, at));
                    *trace = other;
                }
            }
            let departed = departures(&oracle, &traces, Limits::default());
            let places: Vec<(usize, usize)> = departed.iter().map(|one| (one.trace, one.step)).collect();
            assert_eq!(places, expected, "{task}");
            found += places.len();
            // Changes after the steps that are trained on do not count.
            let beginnings: Vec<Trace> =
                expected.iter().map(|&(number, at)| traces[number].clone().teaching(0..at)).collect();
            assert_eq!(departures(&oracle, &beginnings, Limits::default()), []);
        }
        assert!(found > 150, "{found}");
    }
}
