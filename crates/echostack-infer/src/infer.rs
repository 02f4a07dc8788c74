//! Inferring a language from examples and an oracle.

use std::collections::BTreeSet;
use std::time::Duration;

use echostack::Control;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::automaton::Automaton;
use crate::draw::Draw;
use crate::inference::{Inference, Spent, draw_member};
use crate::oracle::{Failure, MAX_TEXT, Oracle};
use crate::queries::{Asking, Queries, Stop};
use crate::symbols::Symbols;
use crate::teacher::Teacher;

/// The number of examples from which on a fifth of them is held out, unless the settings say otherwise.
const MANY_EXAMPLES: usize = 50;

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The seed of all random choices. Together with the examples and the oracle it determines the result.
    pub seed: u64,
    /// The number of random tests in a round.
    pub tests: usize,
    /// The maximum number of rounds.
    pub rounds: usize,
    /// The fraction of the examples that is held out from the beginning, to measure recall. If it is `None`, a fifth of
    /// at least 50 examples is held out, and none of fewer examples.
    pub hold_out: Option<f64>,
    /// How texts are asked.
    pub asking: Asking,
}

impl Default for Settings {
    fn default() -> Self {
        Self { seed: 0, tests: 4000, rounds: 60, hold_out: None, asking: Asking::default() }
    }
}

/// The reason why nothing was inferred.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InferError {
    /// There are no examples.
    #[error("there are no examples; give at least one valid text")]
    NoExamples,
    /// The oracle accepts no example.
    #[error("the oracle accepts none of the {count} examples, such as {example:?}; is it the right program?")]
    NoneValid {
        /// The number of examples.
        count: usize,
        /// One of them.
        example: String,
    },
    /// The run stopped before there was a hypothesis.
    #[error(transparent)]
    Stopped(#[from] Stop),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A whole round of tests found nothing.
    Settled,
    /// The run did not converge, for this reason.
    NotSettled(String),
}

/// What was inferred: an automaton over characters, and how it was found.
#[derive(Debug)]
pub struct Inferred {
    pub(crate) symbols: Symbols,
    pub(crate) automaton: Automaton,
    pub(crate) ending: Ending,
    pub(crate) spent: Spent,
    pub(crate) queries: usize,
    pub(crate) reused: usize,
    pub(crate) set_aside: usize,
    pub(crate) assumed: usize,
    pub(crate) failures: Vec<(String, Failure)>,
    pub(crate) time: Duration,
    pub(crate) rejected: Vec<String>,
    pub(crate) log: Vec<String>,
    pub(crate) unmatched: Vec<String>,
    pub(crate) held_out: Vec<String>,
    pub(crate) examples: Vec<String>,
}

/// Infers a language. A run that reaches a limit or does not converge has a result, too, which says so.
///
/// ```
/// use echostack_infer::{Ending, Settings, infer};
/// let balanced = |text: &str| {
///     let mut depth = 0_i32;
///     text.chars().all(|c| {
///         depth += match c { '(' => 1, ')' => -1, 'x' => 0, _ => return false };
///         depth >= 0
///     }) && depth == 0
/// };
/// let examples = ["x".to_string(), "(x)".to_string(), "x(x)x".to_string()];
/// let inferred = infer(&examples, &balanced, &Settings::default(), &())?;
/// assert_eq!(*inferred.ending(), Ending::Settled);
/// assert!(inferred.accepts("((x)x)(x)"));
/// assert!(!inferred.accepts("((x)"));
/// # Ok::<(), echostack_infer::InferError>(())
/// ```
///
/// # Errors
/// If there are no valid examples, if the oracle cannot be asked, or if the control asks to stop.
pub fn infer(
    examples: &[String],
    oracle: &dyn Oracle,
    settings: &Settings,
    control: &dyn Control,
) -> Result<Inferred, InferError> {
    let mut teacher = Teacher::new(Queries::new(oracle, settings.asking.clone(), control)?);
    let unique: BTreeSet<&String> = examples.iter().filter(|text| text.len() <= MAX_TEXT).collect();
    let unique: Vec<String> = unique.into_iter().cloned().collect();
    let Some(first) = unique.first() else { return Err(InferError::NoExamples) };
    let answers = teacher.queries.ask_all(&unique)?;
    let (mut valid, mut rejected) = (Vec::new(), Vec::new());
    for (text, answer) in unique.iter().zip(answers) {
        if answer == Some(true) { valid.push(text.clone()) } else { rejected.push(text.clone()) }
    }
    if valid.is_empty() {
        return Err(InferError::NoneValid { count: unique.len(), example: first.clone() });
    }
    let held_out = hold_out(&mut valid, settings);
    let mut run = Inference::new(teacher, settings.seed);
    let ended = run.prepare(&valid).and_then(|()| run.learn(settings.tests, settings.rounds));
    let ending = match ended {
        Ok(true) => Ending::Settled,
        Ok(false) if !run.unmatched.is_empty() => Ending::NotSettled(format!(
            "openers and closers were found that do not match in valid texts, such as {:?}",
            run.unmatched[0]
        )),
        Ok(false) => Ending::NotSettled(format!("tests still found mistakes after {} rounds", settings.rounds)),
        Err(stop) if stop.has_result() && run.automaton.is_some() => Ending::NotSettled(stop.to_string()),
        Err(stop) => return Err(stop.into()),
    };
    let Inference { teacher, automaton, spent, log, unmatched, .. } = run;
    Ok(Inferred {
        symbols: teacher.symbols,
        automaton: automaton.unwrap_or_default(),
        ending,
        spent,
        queries: teacher.queries.asked,
        reused: teacher.queries.reused,
        set_aside: teacher.queries.set_aside,
        assumed: teacher.assumed,
        time: teacher.queries.elapsed(),
        failures: teacher.queries.failures,
        rejected,
        log,
        unmatched,
        held_out,
        examples: valid,
    })
}

/// Takes a fraction of the examples away.
fn hold_out(valid: &mut Vec<String>, settings: &Settings) -> Vec<String> {
    let fraction = settings.hold_out.unwrap_or(if valid.len() < MANY_EXAMPLES { 0. } else { 0.2 });
    let count = (valid.len() as f64 * fraction.clamp(0., 0.9)) as usize;
    if count == 0 {
        return Vec::new();
    }
    let mut random = ChaCha8Rng::seed_from_u64(settings.seed);
    valid.shuffle(&mut random);
    let held_out = valid.split_off(valid.len() - count);
    valid.sort_unstable();
    held_out
}

impl Inferred {
    /// Returns how the run ended.
    pub fn ending(&self) -> &Ending {
        &self.ending
    }

    /// Returns whether a text is in the inferred language.
    pub fn accepts(&self, text: &str) -> bool {
        let base = self.symbols.base(text);
        base.is_some_and(|base| self.automaton.accepts(&self.symbols.lex(&base)))
    }

    /// Draws a text of the inferred language, of very roughly `size` characters. Returns `None` if the language is empty.
    pub fn draw(&self, size: usize, random: &mut ChaCha8Rng) -> Option<String> {
        let word = Draw::new(&self.automaton).word(size, random)?;
        let mut text = String::new();
        for symbol in word {
            match self.symbols.members(symbol) {
                Some(members) => text.extend(draw_member(members, random)),
                None => text.push_str(&self.symbols.text(symbol)),
            }
        }
        Some(text)
    }

    /// Returns the number of different texts that the oracle was asked about, with those whose answers were in the file.
    pub fn queries(&self) -> usize {
        self.queries
    }

    /// Returns the number of texts whose answers were in the file.
    pub fn reused(&self) -> usize {
        self.reused
    }

    /// Returns the number of texts that were set aside because the oracle gave no answer.
    pub fn set_aside(&self) -> usize {
        self.set_aside
    }

    /// Returns the number of queries of each step.
    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// Returns the time that the run took.
    pub fn time(&self) -> Duration {
        self.time
    }

    /// Returns the number of states of the automaton over characters.
    pub fn states(&self) -> usize {
        self.automaton.states()
    }

    /// Returns what happened in each step.
    pub fn log(&self) -> &[String] {
        &self.log
    }

    /// Returns the examples that were held out.
    pub fn held_out(&self) -> &[String] {
        &self.held_out
    }

    /// Returns the examples that were learned from.
    pub fn examples(&self) -> &[String] {
        &self.examples
    }

    /// Returns the examples that the oracle does not accept, which were left out.
    pub fn rejected(&self) -> &[String] {
        &self.rejected
    }

    /// Returns some of the texts that were set aside, with the reasons.
    pub fn failures(&self) -> &[(String, Failure)] {
        &self.failures
    }

    /// Returns how often a text that was set aside was taken as not valid, because a decision was needed.
    pub fn assumed(&self) -> usize {
        self.assumed
    }

    /// Returns valid texts in which the openers and closers that were found do not match.
    pub fn unmatched(&self) -> &[String] {
        &self.unmatched
    }
}
