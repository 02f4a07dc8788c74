//! Inferring a language from examples and an oracle.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use echostack::Control;
use echostack_grammar::{Lexer, LexerError, Subject};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::attempt::{Attempt, Ending};
use super::checks::Checks;
use super::inference::Spent;
use super::settings::Settings;
use super::ways::learn_both_ways;
use crate::ask::queries::{Queries, Stop};
use crate::learn::hypothesis::Hypothesis;
use crate::program::{Failure, MAX_TEXT, Program};
use crate::text::teacher::Teacher;
use crate::tokens::{Given, compared_numbers};
use crate::write::grammar::InferredGrammar;

/// The number of examples from which on a fifth of them is held out, unless the settings say otherwise.
const MANY_EXAMPLES: usize = 50;
/// The number of examples that a program is asked about one by one before it is taken for one that gives no answers.
const TRIED: usize = 2;
/// The length of an example in a message, in characters.
const SHOWN: usize = 80;

/// The reason why nothing was inferred.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InferError {
    /// There are no examples.
    #[error("there are no examples; give at least one valid text")]
    NoExamples,
    /// Only ASCII is wanted, but every example has other characters, too.
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
    /// The lexer that was given does not read an example, and a whole one is needed.
    #[error("the lexer does not read the example {example:?}; each part of it must be a token or skipped")]
    Unread {
        /// The example.
        example: String,
    },
    /// The lexer that was given does not read all examples, and it cannot be a part of another one.
    #[error(
        "the lexer does not read all examples, and no rules can be added to it; write a part of a lexer without code and \
         options, as lines with a regular expression and the name of a token in quotes"
    )]
    NoPart,
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
    pub(crate) compared: Vec<String>,
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
    let both = (valid.as_slice(), held_out.as_slice());
    let mut compared = None;
    let (attempt, mut queries) = match tokens(settings, both)? {
        Tokens::None => Attempt::make(teacher, &valid, settings),
        Tokens::All(lexer) => {
            teacher.read_tokens(lexer, &valid);
            Attempt::make(teacher, &valid, settings)
        }
        Tokens::Some(given, note) => {
            let settings = Settings { lexer: None, ..settings.clone() };
            compared = Some(compared_numbers(&valid, &mut teacher.queries)?);
            let mut random = ChaCha8Rng::seed_from_u64(settings.seed);
            let (attempt, queries) = learn_both_ways(teacher, both, given.as_ref(), &settings, &mut random);
            (attempt.map(|attempt| attempt.telling(note)), queries)
        }
    };
    let attempt = attempt?;
    let compared = match compared {
        Some(compared) => compared,
        None if attempt.is_settled() => Vec::new(),
        // A run that has a result keeps it.
        None => compared_numbers(&valid, &mut queries).unwrap_or_default(),
    };
    let Attempt { hypothesis, language, checks, ending, spent, log, unmatched, assumed, .. } = attempt;
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
    Ok(Inferred {
        hypothesis,
        language,
        checks,
        ending,
        spent,
        queries: queries.asked,
        reused: queries.reused,
        derived: queries.derived,
        set_aside: queries.set_aside,
        assumed,
        time: queries.elapsed(),
        failures: queries.failures,
        rejected,
        beyond,
        log,
        compared,
        unmatched,
        held_out,
        examples: valid,
    })
}

/// The tokens that are known from the start.
enum Tokens {
    /// None, and none are looked for.
    None,
    /// All of them.
    All(Arc<Lexer>),
    /// Some or none of them, and the others are looked for; with what is to be told about that.
    Some(Option<Arc<Given>>, Option<String>),
}

/// Returns the tokens that are known. A lexer that does not read all valid texts is a part of one, of which the rest is
/// looked for. Reductions need a whole one.
fn tokens(settings: &Settings, (valid, held_out): (&[String], &[String])) -> Result<Tokens, InferError> {
    let Some(source) = &settings.lexer else {
        return Ok(if settings.tokens { Tokens::Some(None, None) } else { Tokens::None });
    };
    let note = match lexer_of(source, valid.iter().chain(held_out)) {
        Ok(lexer) if !settings.tokens => return Ok(Tokens::All(lexer)),
        Err(InferError::Unread { example }) if !settings.reductions => Some(format!(
            "the given lexer does not read the example {:?}, so it is a part of the lexer: its tokens are kept, and the others are \
             looked for",
            example.chars().take(SHOWN).collect::<String>()
        )),
        read => read.map(|_| None)?,
    };
    let given = Given::new(source)?.ok_or(InferError::NoPart)?;
    Ok(Tokens::Some(Some(Arc::new(given)), note))
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

    /// Takes the names of a grammar that somebody wrote for tokens and rules that have the same texts there. A grammar that is
    /// not one that people would write keeps its own.
    pub fn name_after(&mut self, other: &Subject) {
        if let Some(language) = &mut self.language {
            language.name_after(other);
        }
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

    /// Returns statements about numbers that must be in an interval, or that are compared with each other, which no grammar
    /// can say. They are looked for if tokens are, and after a run that did not settle.
    pub fn compared(&self) -> &[String] {
        &self.compared
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
        // Limits are checked after each batch of texts, so that the last one may be asked about all the same.
        for queries in (100..whole - 64).step_by(50) {
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
