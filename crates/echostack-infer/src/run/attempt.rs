//! One attempt to learn a language over its characters or over tokens: learning, checks, and what is handed over.

use super::checks::{Amount, Checks, Neighbors, check, neighbors};
use super::inference::{Inference, Spent};
use super::settings::Settings;
use crate::ask::queries::{Queries, Stop};
use crate::learn::hypothesis::Hypothesis;
use crate::text::shrink::are_many;
use crate::text::teacher::Teacher;
use crate::write::grammar::{InferredGrammar, NoGrammar};

/// How often the result is checked, if mistakes are found.
const ATTEMPTS: usize = 20;
/// The most times that the neighbors of examples are compared and mistakes among them are learned from.
const CORRECTIONS: usize = 40;
/// The most mistakes among them that are learned from at a time.
const MISTAKES: usize = 50;
/// A run with more queries than this is checked with more texts: in each sample, one for so many queries beyond.
const LARGE: (usize, usize) = (200_000, 50);
/// The most states of a hypothesis that is written as people would do: for more, the form is looked for too long.
const READABLE: usize = 110;
/// The most states of a hypothesis that did not settle, and is written as people would do all the same.
const SMALL: usize = 60;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A whole round of tests found nothing, and no check found a mistake.
    Settled,
    /// The run did not converge, or a check found mistakes.
    NotSettled(String),
}

/// What was learned over some symbols.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) hypothesis: Hypothesis,
    pub(crate) language: Option<InferredGrammar>,
    pub(crate) checks: Option<Checks>,
    pub(crate) ending: Ending,
    pub(crate) spent: Spent,
    pub(crate) log: Vec<String>,
    pub(crate) unmatched: Vec<String>,
    pub(crate) assumed: usize,
    /// Whether a limit ended it.
    pub(crate) ran_out: bool,
}

impl Attempt {
    /// Learns from texts, and learns again without positions if these contradict the answers.
    pub(crate) fn make<'a>(
        teacher: Teacher<'a>,
        texts: &[String],
        settings: &Settings,
    ) -> (Result<Self, Stop>, Queries<'a>) {
        let symbols = teacher.symbols.clone();
        let mut run = Inference::new(teacher, settings);
        let mut ended = learn_and_check(&mut run, texts, settings);
        if matches!(ended, Err(Stop::Positions)) {
            let Teacher { mut queries, .. } = run.teacher;
            queries.forget_positions();
            run = Inference::new(Teacher { symbols, ..Teacher::new(queries) }, settings);
            run.log.push("the positions of failures contradict the answers, so they are not used".to_string());
            ended = learn_and_check(&mut run, texts, settings);
        }
        let ran_out = ended.is_err();
        let (ending, found) = match ended {
            Ok((ending, found)) => (ending, Some(found)),
            Err(stop) if stop.has_result() && run.best.found().is_some() => {
                (Ending::NotSettled(stop.to_string()), None)
            }
            Err(stop) => return (Err(stop), run.teacher.queries),
        };
        let (hypothesis, language, checks) = found.unwrap_or_else(|| best(&mut run, texts));
        let Inference { teacher, spent, log, unmatched, .. } = run;
        let Teacher { queries, assumed, .. } = teacher;
        (Ok(Self { hypothesis, language, checks, ending, spent, log, unmatched, assumed, ran_out }), queries)
    }

    /// Says something first.
    pub(crate) fn telling(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.log.splice(0..0, notes);
        self
    }

    pub(crate) fn is_settled(&self) -> bool {
        self.ending == Ending::Settled
    }

    /// Returns the texts that are misjudged.
    pub(crate) fn misjudged<'t>(&self, texts: &'t [(String, bool)]) -> impl Iterator<Item = &'t String> {
        texts.iter().filter(|(text, answer)| self.hypothesis.accepts(text) != *answer).map(|(text, _)| text)
    }
}

/// The last hypothesis, its grammar, and what was checked.
type Found = (Hypothesis, Option<InferredGrammar>, Option<Checks>);

/// Returns the grammar of a hypothesis, written as people would do if `for_people` is set, which takes longer.
fn grammar(
    run: &Inference<'_>,
    hypothesis: &Hypothesis,
    examples: &[String],
    for_people: bool,
) -> Result<InferredGrammar, NoGrammar> {
    let (count, queries) = (examples.len(), run.teacher.queries.asked);
    let comment = format!("Inferred from {count} examples and {queries} queries.");
    let write = if for_people { InferredGrammar::of } else { InferredGrammar::plain };
    write(hypothesis, examples, &comment)
}

/// Returns the best hypothesis that has a grammar; it is one from before if the grammar of the best one is too large.
fn best(run: &mut Inference<'_>, examples: &[String]) -> Found {
    let mut problems = Vec::new();
    let smallest = run.best.kept().map(Hypothesis::size).min();
    let mut failed = run.too_large;
    let mut kept = run.best.kept();
    let found = kept.find_map(|hypothesis| {
        let size = hypothesis.size();
        // A grammar of similar size is most likely too large as well, and finding out takes seconds. The smallest
        // hypothesis is tried in any case.
        if size > failed / 2 && smallest != Some(size) {
            return None;
        }
        match grammar(run, hypothesis, examples, size <= SMALL) {
            Ok(language) => Some((hypothesis.clone(), Some(language))),
            Err(problem) => {
                problems.push(problem.to_string());
                failed = failed.min(size);
                None
            }
        }
    });
    let (hypothesis, language) = found.unwrap_or_else(|| (run.best.found().cloned().unwrap_or_default(), None));
    if let Some(problem) = problems.first() {
        let instead = if language.is_some() { "; the grammar of an earlier hypothesis is written" } else { "" };
        run.log.push(format!("{problem}{instead}"));
    }
    (hypothesis, language, None)
}

/// Learns from examples, and checks the result. Mistakes that a check finds are learned from.
fn learn_and_check(run: &mut Inference<'_>, examples: &[String], settings: &Settings) -> Result<(Ending, Found), Stop> {
    run.prepare(examples)?;
    let mut delta = settings.delta;
    let mut attempt = 0;
    let mut corrections = 0;
    loop {
        let settled = run.learn(settings.tests, settings.rounds)?;
        if !settled {
            let reason = if let Some(text) = run.unmatched.first() {
                format!("openers and closers were found that do not match in valid texts, such as {text:?}")
            } else {
                let rounds = if settings.reductions { settings.rounds } else { run.round };
                format!("tests still found mistakes after {rounds} rounds")
            };
            return Ok((Ending::NotSettled(reason), best(run, examples)));
        }
        let hypothesis = run.frozen.clone().unwrap_or_default();
        let language = match grammar(run, &hypothesis, examples, false) {
            Ok(language) => language,
            Err(problem) => {
                run.too_large = hypothesis.size();
                return Ok((Ending::NotSettled(problem.to_string()), best(run, examples)));
            }
        };
        let before = run.teacher.queries.asked;
        let near = compare_neighbors(run, (&hypothesis, &language), examples, settings)?;
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
        let language = if hypothesis.size() <= READABLE {
            grammar(run, &hypothesis, examples, true).unwrap_or(language)
        } else {
            language
        };
        let both = (&hypothesis, &language);
        let before = run.teacher.queries.asked;
        let fresh = settings.fresh.max(before.saturating_sub(LARGE.0) / LARGE.1);
        let amount = Amount { strings: settings.strings, fresh, delta, given: settings.lexer.is_some() };
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
    settings: &Settings,
) -> Result<Option<Neighbors>, Stop> {
    if settings.lexer.is_some() {
        return Ok(None);
    }
    let short: Vec<String> = run.words.iter().map(|word| run.teacher.symbols.render(word)).collect();
    let examples = if are_many(examples) { &short } else { examples };
    let found =
        |queries: &mut Queries<'_>| neighbors(both, (examples, &short), &run.unused, queries, settings.neighbors);
    run.teacher.queries.without_positions(found).map(Some)
}
