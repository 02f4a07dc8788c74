//! Inferring a language from examples and an oracle.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use echostack::Control;
use echostack_grammar::{Lexer, LexerError};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::checks::{Amount, Checks, Neighbors, check, neighbors};
use super::inference::{Inference, Spent};
use super::settings::Settings;
use crate::ask::queries::{Queries, Stop};
use crate::learn::hypothesis::Hypothesis;
use crate::program::{Failure, MAX_TEXT, Program};
use crate::text::symbols::Symbols;
use crate::text::teacher::Teacher;
use crate::write::grammar::{InferredGrammar, NoGrammar};

/// The number of examples from which on a fifth of them is held out, unless the settings say otherwise.
const MANY_EXAMPLES: usize = 50;
/// How often the result is checked, if mistakes are found.
const ATTEMPTS: usize = 5;
/// The most times that the neighbors of examples are compared and mistakes among them are learned from.
const CORRECTIONS: usize = 40;
/// The most mistakes among them that are learned from at a time.
const MISTAKES: usize = 50;
/// A run with more queries than this is checked with more texts: in each sample, one for so many queries beyond.
const LARGE: (usize, usize) = (200_000, 50);
/// The number of examples that a program is asked about one by one before it is taken for one that gives no answers.
const TRIED: usize = 2;

/// The reason why nothing was inferred.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InferError {
    /// There are no examples.
    #[error("there are no examples; give at least one valid text")]
    NoExamples,
    /// Only ASCII is wanted, but no example has nothing else.
    #[error("all {count} examples have characters outside of ASCII, such as {example:?}; leave out --ascii")]
    NoneAscii {
        /// The number of examples.
        count: usize,
        /// One of them.
        example: String,
    },
    /// The oracle accepts no example.
    #[error("the oracle accepts none of the {count} examples, such as {example:?}; is it the right program?")]
    NoneValid {
        /// The number of examples.
        count: usize,
        /// One of them.
        example: String,
    },
    /// The oracle gives no answer to the first examples.
    #[error(
        "the program `{name}` gave no answer to the example {example:?}: {failure}{}",
        protocol.as_ref().map_or(String::new(), |protocol| format!("; {protocol}"))
    )]
    NoAnswer {
        /// The program.
        name: String,
        /// The first example.
        example: String,
        /// Why there was no answer.
        failure: Failure,
        /// What the program must do, if that is known.
        protocol: Option<String>,
    },
    /// Reductions need tokens.
    #[error("reductions are learned over tokens; give a lexer")]
    NoLexer,
    /// The lexer that was given cannot be used.
    #[error("the lexer cannot be used: {0}")]
    Lexer(#[from] LexerError),
    /// The lexer that was given does not read an example.
    #[error("the lexer does not read the example {example:?}; each part of it must be a token or skipped")]
    Unread {
        /// The example.
        example: String,
    },
    /// There are no invalid texts, and there is no oracle.
    #[error("there are no invalid texts; without an oracle, give some, or everything could be valid")]
    NoInvalid,
    /// A text is valid and invalid.
    #[error("{text:?} is invalid, but a valid text is the same, or consists of the same tokens")]
    Both {
        /// The text.
        text: String,
    },
    /// There are too many texts to guess a language from.
    #[error("the texts are too large to guess a language from; give fewer or shorter ones")]
    TooLarge,
    /// The run stopped before there was a hypothesis.
    #[error(transparent)]
    Stopped(#[from] Stop),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A whole round of tests found nothing, and no check found a mistake.
    Settled,
    /// The run did not converge, or a check found mistakes.
    NotSettled(String),
}

/// What was inferred: an automaton over characters, its grammar, and how they were found.
#[derive(Debug)]
pub struct Inferred {
    pub(crate) hypothesis: Hypothesis,
    pub(crate) language: Option<InferredGrammar>,
    pub(crate) checks: Option<Checks>,
    pub(crate) ending: Ending,
    pub(crate) spent: Spent,
    pub(crate) queries: usize,
    pub(crate) reused: usize,
    pub(crate) derived: usize,
    pub(crate) set_aside: usize,
    pub(crate) assumed: usize,
    pub(crate) failures: Vec<(String, Failure)>,
    pub(crate) time: Duration,
    pub(crate) rejected: Vec<String>,
    pub(crate) beyond: Vec<String>,
    pub(crate) log: Vec<String>,
    pub(crate) unmatched: Vec<String>,
    pub(crate) held_out: Vec<String>,
    pub(crate) examples: Vec<String>,
}

/// Asks about the first examples one by one, so that a program that answers none of them is reported at once, and not
/// after it was waited for as many times as there are examples.
fn first_answer(queries: &mut Queries<'_>, examples: &[String], oracle: &dyn Program) -> Result<(), InferError> {
    let first = &examples[..examples.len().min(TRIED)];
    for example in first {
        if queries.ask(example)?.is_some() {
            return Ok(());
        }
    }
    let Some((example, failure)) = queries.failures.first().cloned() else { return Ok(()) };
    queries.forget_failures();
    Err(InferError::NoAnswer { name: oracle.name(), example, failure, protocol: oracle.protocol() })
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
    oracle: &dyn Program,
    settings: &Settings,
    control: &dyn Control,
) -> Result<Inferred, InferError> {
    if settings.reductions && settings.lexer.is_none() {
        return Err(InferError::NoLexer);
    }
    let mut teacher = Teacher::new(Queries::new(oracle, settings.asking.clone(), control)?);
    let (unique, beyond): (Vec<String>, Vec<String>) =
        distinct(examples).into_iter().partition(|text| !settings.ascii || text.is_ascii());
    let Some(first) = unique.first() else {
        return Err(match beyond.first() {
            Some(example) => InferError::NoneAscii { count: beyond.len(), example: example.clone() },
            None => InferError::NoExamples,
        });
    };
    first_answer(&mut teacher.queries, &unique, oracle)?;
    let answers = teacher.queries.ask_all(&unique)?;
    let (mut valid, mut rejected) = (Vec::new(), Vec::new());
    for (text, answer) in unique.iter().zip(answers) {
        if answer == Some(true) { valid.push(text.clone()) } else { rejected.push(text.clone()) }
    }
    if valid.is_empty() {
        return Err(InferError::NoneValid { count: unique.len(), example: first.clone() });
    }
    let held_out = hold_out(&mut valid, settings);
    if let Some(source) = &settings.lexer {
        let lexer = lexer_of(source, valid.iter().chain(&held_out))?;
        teacher.queries.lexer = Some(lexer.clone());
        teacher.symbols = Symbols::of_lexer(lexer, &valid);
    }
    let symbols = teacher.symbols.clone();
    let mut run = Inference::new(teacher, settings);
    let mut ended = learn_and_check(&mut run, &valid, settings);
    if matches!(ended, Err(Stop::Positions)) {
        let Teacher { mut queries, .. } = run.teacher;
        queries.forget_positions();
        run = Inference::new(Teacher { symbols, ..Teacher::new(queries) }, settings);
        run.log.push("the positions of failures contradict the answers, so they are not used".to_string());
        ended = learn_and_check(&mut run, &valid, settings);
    }
    let (ending, found) = match ended {
        Ok((ending, found)) => (ending, Some(found)),
        Err(stop) if stop.has_result() && run.best.found().is_some() => (Ending::NotSettled(stop.to_string()), None),
        Err(stop) => return Err(stop.into()),
    };
    let (hypothesis, language, checks) = found.unwrap_or_else(|| {
        let hypothesis = run.best.found().cloned().unwrap_or_default();
        let language = grammar(&run, &hypothesis, &valid).map_err(|problem| run.log.push(problem.to_string())).ok();
        (hypothesis, language, None)
    });
    let missed = |texts: &[String]| texts.iter().filter(|text| !hypothesis.accepts(text)).count();
    let ending = match (ending, missed(&valid), missed(&held_out)) {
        (Ending::Settled, own @ 1.., _) => {
            Ending::NotSettled(format!("{own} of {} examples are rejected", valid.len()))
        }
        (Ending::Settled, _, missed @ 1..) => {
            Ending::NotSettled(format!("{missed} of {} held-out examples are rejected", held_out.len()))
        }
        (ending, ..) => ending,
    };
    let Inference { teacher, spent, log, unmatched, .. } = run;
    Ok(Inferred {
        hypothesis,
        language,
        checks,
        ending,
        spent,
        queries: teacher.queries.asked,
        reused: teacher.queries.reused,
        derived: teacher.queries.derived,
        set_aside: teacher.queries.set_aside,
        assumed: teacher.assumed,
        time: teacher.queries.elapsed(),
        failures: teacher.queries.failures,
        rejected,
        beyond,
        log,
        unmatched,
        held_out,
        examples: valid,
    })
}

/// The last hypothesis, its grammar, and what was checked.
type Found = (Hypothesis, Option<InferredGrammar>, Option<Checks>);

fn grammar(run: &Inference<'_>, hypothesis: &Hypothesis, examples: &[String]) -> Result<InferredGrammar, NoGrammar> {
    let (count, queries) = (examples.len(), run.teacher.queries.asked);
    InferredGrammar::of(hypothesis, examples, &format!("Inferred from {count} examples and {queries} queries."))
}

/// Learns from examples, and checks the result. Mistakes that a check finds are learned from.
fn learn_and_check(run: &mut Inference<'_>, examples: &[String], settings: &Settings) -> Result<(Ending, Found), Stop> {
    run.prepare(examples)?;
    let mut delta = settings.delta;
    let mut attempt = 0;
    let mut corrections = 0;
    loop {
        let settled = run.learn(settings.tests, settings.rounds)?;
        let last = if settled { run.frozen.as_ref() } else { run.best.found() };
        let hypothesis = last.cloned().unwrap_or_default();
        let language = grammar(run, &hypothesis, examples);
        if !settled {
            let reason = if let Some(text) = run.unmatched.first() {
                format!("openers and closers were found that do not match in valid texts, such as {text:?}")
            } else {
                let rounds = if settings.reductions { settings.rounds } else { run.round };
                format!("tests still found mistakes after {rounds} rounds")
            };
            let language = language.map_err(|problem| run.log.push(problem.to_string())).ok();
            return Ok((Ending::NotSettled(reason), (hypothesis, language, None)));
        }
        let language = match language {
            Ok(language) => language,
            Err(problem) => return Ok((Ending::NotSettled(problem.to_string()), (hypothesis, None, None))),
        };
        let before = run.teacher.queries.asked;
        let both = (&hypothesis, &language);
        let near = compare_neighbors(run, both, examples, settings.neighbors)?;
        run.spent.checks += run.teacher.queries.asked - before;
        let mistakes = near.iter().flat_map(|near| near.mistakes.iter().take(MISTAKES).cloned());
        let mistakes: Vec<String> = mistakes.collect();
        corrections += 1;
        if let Some(mistake) = mistakes.first() {
            run.log.push(format!(
                "a text that differs from an example in one character is misjudged, such as {mistake:?}"
            ));
            if corrections < CORRECTIONS && run.learn_texts(&mistakes)? {
                continue;
            }
        }
        attempt += 1;
        delta /= 2.;
        let before = run.teacher.queries.asked;
        let fresh = settings.fresh.max(before.saturating_sub(LARGE.0) / LARGE.1);
        let amount = Amount { strings: settings.strings, fresh, delta };
        let random = &mut run.random;
        let checks = |queries: &mut Queries<'_>| check(both, examples, queries, amount, random);
        let mut checks = run.teacher.queries.without_positions(checks)?;
        checks.attempts = attempt;
        checks.neighbors = near;
        run.spent.checks += run.teacher.queries.asked - before;
        let mistakes: Vec<String> = checks.mistakes().cloned().collect();
        let ending = if let Some(mistake) = mistakes.first() {
            if attempt < ATTEMPTS && run.learn_texts(&mistakes)? {
                continue;
            }
            Ending::NotSettled(format!("the checks found {} mistakes, such as {mistake:?}", mistakes.len()))
        } else if run.teacher.assumed > 0 {
            Ending::NotSettled(format!(
                "the oracle gave no answer to {} texts, and {} decisions rest on these; if no answer means that a text \
                 is not valid, say so in the settings",
                run.teacher.queries.set_aside, run.teacher.assumed
            ))
        } else {
            Ending::Settled
        };
        return Ok((ending, (hypothesis, Some(language), Some(checks))));
    }
}

/// Compares the neighbors of examples, unless tokens were given: then, mistakes in them are not for the learner.
fn compare_neighbors(
    run: &mut Inference<'_>,
    both: (&Hypothesis, &InferredGrammar),
    examples: &[String],
    most: usize,
) -> Result<Option<Neighbors>, Stop> {
    if run.teacher.symbols.lexer().is_some() {
        return Ok(None);
    }
    let short: Vec<String> = run.words.iter().map(|word| run.teacher.symbols.render(word)).collect();
    let found = |queries: &mut Queries<'_>| neighbors(both, (examples, &short), &run.unused, queries, most);
    run.teacher.queries.without_positions(found).map(Some)
}

/// Returns the texts without repetitions, in order. Those that are too long to be asked about are left out.
pub(crate) fn distinct(texts: &[String]) -> Vec<String> {
    let unique: BTreeSet<&String> = texts.iter().filter(|text| text.len() <= MAX_TEXT).collect();
    unique.into_iter().cloned().collect()
}

/// Returns the lexer that was given, if it reads all valid texts.
pub(crate) fn lexer_of<'t>(
    source: &str,
    valid: impl IntoIterator<Item = &'t String>,
) -> Result<Arc<Lexer>, InferError> {
    let lexer = Arc::new(Lexer::new(source)?);
    match valid.into_iter().find(|text| lexer.tokens(text).1.is_some()) {
        Some(example) => Err(InferError::Unread { example: example.clone() }),
        None => Ok(lexer),
    }
}

/// Takes a fraction of the examples away.
pub(crate) fn hold_out(valid: &mut Vec<String>, settings: &Settings) -> Vec<String> {
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
        self.hypothesis.accepts(text)
    }

    /// Returns the number of characters before the first one with which no text of the inferred language begins, if the
    /// text is not in the language. The end of the text counts as a character. Positions in a language that was learned
    /// from given tokens are not known: they are at the end.
    pub fn fails_at(&self, text: &str) -> Option<usize> {
        self.hypothesis.fails_at(text)
    }

    /// Draws a text of the inferred language, of very roughly `size` characters. Returns `None` if the language is empty.
    pub fn draw(&self, size: usize, random: &mut ChaCha8Rng) -> Option<String> {
        self.hypothesis.draw(&[size], random).pop()
    }

    /// Returns the grammar and the lexer. An empty language has none.
    pub fn language(&self) -> Option<&InferredGrammar> {
        self.language.as_ref()
    }

    /// Returns what was checked after learning. A run that did not converge was not checked.
    pub fn checks(&self) -> Option<&Checks> {
        self.checks.as_ref()
    }

    /// Returns the number of different texts that the oracle was asked about, with those whose answers were in the file.
    pub fn queries(&self) -> usize {
        self.queries
    }

    /// Returns the number of texts whose answers were in the file.
    pub fn reused(&self) -> usize {
        self.reused
    }

    /// Returns the number of answers that followed from the positions of failures, without asking.
    pub fn derived(&self) -> usize {
        self.derived
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

    /// Returns the number of states of the automaton over characters, or of reductions and accepted normal forms.
    pub fn states(&self) -> usize {
        self.hypothesis.size()
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

    /// Returns the examples with characters outside of ASCII, which were left out because only ASCII is wanted.
    pub fn beyond_ascii(&self) -> &[String] {
        &self.beyond
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::queries::Asking;
    use crate::testing::lists;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn examples_that_cannot_be_used_are_reported() {
        let settings = Settings { ascii: true, ..Settings::default() };
        let fails = |examples: &[&str]| infer(&texts(examples), &lists, &settings, &()).unwrap_err().to_string();
        assert!(fails(&[]).starts_with("there are no examples"));
        assert!(fails(&["\u{e9}", "\u{e8}"]).starts_with("all 2 examples have characters outside of ASCII, such as"));
        assert!(fails(&["y", "\u{e8}"]).starts_with("the oracle accepts none of the 1 examples"));
        let settings = Settings { reductions: true, ..Settings::default() };
        assert!(matches!(infer(&texts(&["x"]), &lists, &settings, &()), Err(InferError::NoLexer)));
    }

    /// Letters of any alphabet are valid, but they are not tried.
    #[test]
    fn only_ascii_is_learned_if_nothing_else_is_wanted() {
        let mut beyond = std::sync::atomic::AtomicUsize::new(0);
        let letters = |text: &str| {
            if !text.is_ascii() {
                beyond.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
            !text.is_empty() && text.chars().all(char::is_alphabetic)
        };
        let settings = Settings { ascii: true, ..Settings::default() };
        let inferred = infer(&texts(&["x", "ab", "\u{e9}"]), &letters, &settings, &()).unwrap();
        assert!(inferred.is_settled() && inferred.accepts("Yz") && !inferred.accepts("\u{e9}"));
        assert_eq!(inferred.beyond_ascii(), ["\u{e9}"]);
        assert_eq!(*beyond.get_mut(), 0);
    }

    /// A run that is stopped has the hypothesis that is right on the most examples and answers, not the last one.
    #[test]
    fn a_stopped_run_has_the_best_hypothesis() {
        let examples = texts(&["x", "[]", "[x]", "[x,[x,x]]"]);
        let whole = infer(&examples, &lists, &Settings::default(), &()).unwrap().queries();
        let mut results = 0;
        for queries in (100..whole).step_by(50) {
            let asking = Asking { queries, ..Asking::default() };
            let Ok(inferred) = infer(&examples, &lists, &Settings { asking, ..Settings::default() }, &()) else {
                continue;
            };
            results += 1;
            assert!(matches!(inferred.ending(), Ending::NotSettled(_)));
            assert!(examples.iter().all(|text| inferred.accepts(text)), "after {queries} queries");
        }
        assert!(results > 10, "{results}");
    }

    #[test]
    fn examples_are_held_out_by_the_seed() {
        let all: Vec<String> = (0..100).map(|number| format!("{number:03}")).collect();
        let held_out = |count: usize, fraction| {
            let mut left = all[..count].to_vec();
            let held = hold_out(&mut left, &Settings { hold_out: fraction, ..Settings::default() });
            assert!(left.is_sorted() && left.iter().chain(&held).collect::<BTreeSet<_>>().len() == count);
            held
        };
        assert_eq!([49, 50, 100].map(|count| held_out(count, None).len()), [0, 10, 20]);
        assert_eq!([0., 0.5, 2.].map(|fraction| held_out(10, Some(fraction)).len()), [0, 5, 9]);
        assert_eq!(held_out(100, None), held_out(100, None));
    }

    #[test]
    fn texts_are_sorted_and_too_long_ones_left_out() {
        assert_eq!(distinct(&texts(&["b", "a", "b", &"x".repeat(MAX_TEXT + 1)])), ["a", "b"]);
    }
}
