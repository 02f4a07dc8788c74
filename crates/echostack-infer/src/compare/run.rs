//! A whole comparison: texts of many kinds, until the limits are reached or nothing more is to be asked.

use std::collections::BTreeSet;
use std::time::Duration;

use echostack::Control;
use echostack_grammar::{Equality, Subject, equality};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::kinds::{KNOWN, Kind, Kinds};
use super::known::KnownKinds;
use super::limits::{Growing, find_limits, growing};
use super::panel::{Led, Origin, Panel};
use super::purpose::on_purpose;
use super::raw;
use super::side::{Side, Vote, Votes, disagree};
use super::sources::{edited, neighbors, of_grammar, spliced, strings, tokens};
use crate::ask::queries::{Asking, Stop};
use crate::program::Failure;
use crate::run::checks::{Exhaustive, Sample};
use crate::run::infer::{Inferred, distinct, infer};
use crate::run::settings::Settings;

/// The part of all queries that each source of texts may take.
const SHARES: [(Origin, f64); 8] = [
    ("texts at limits", 0.15),
    (GROWING, 0.08),
    (NEIGHBORS, 0.15),
    (BYTES, 0.06),
    ("edited examples", 0.1),
    ("examples in each other", 0.06),
    ("texts of a grammar", 0.15),
    ("token strings", 0.08),
];
/// Texts with deeper brackets, more digits and longer strings.
const GROWING: Origin = "growing texts";
/// Texts with one character left out, replaced or inserted.
const NEIGHBORS: Origin = "texts one character from an example";
/// Texts in other encodings, which are asked about if all sides take bytes.
const BYTES: Origin = "texts that are not UTF-8";
/// The part of all queries that may be spent to examine the texts of one source on which the sides disagree.
const EXAMINED: f64 = 0.12;
/// The part of the queries that are left that learning all programs may take.
const LEARNING: f64 = 0.6;
/// The part that texts drawn from what was learned may take.
const DRAWN: f64 = 0.04;
/// The part of what is left then that more texts near the examples may take: learners often stop early.
const MORE: f64 = 0.7;
/// The number of texts in each sample, if there are enough queries, and the part of all queries that a sample may take.
const SAMPLE: (usize, f64) = (1000, 0.03);
/// The length of the longest texts that are drawn, in characters.
const LONGEST: usize = 60;
/// The most pairs of languages that are compared.
const MOST_PAIRS: usize = 30;

/// What is wanted of a comparison.
#[derive(Clone, Debug)]
pub struct CompareSettings {
    /// The seed of all random choices. Together with the examples and the sides it determines the result.
    pub seed: u64,
    /// The maximum number of queries. Each program that is asked about a text counts as one.
    pub queries: usize,
    /// The maximum time.
    pub time: Duration,
    /// The number of queries that are asked at the same time. It changes nothing but the time.
    pub workers: usize,
    /// One minus the confidence of the bounds.
    pub delta: f64,
    /// Kinds of disagreement that are accepted.
    pub known: KnownKinds,
}

impl Default for CompareSettings {
    fn default() -> Self {
        let time = Duration::from_secs(600);
        Self { seed: 0, queries: 300_000, time, workers: 1, delta: 0.05, known: KnownKinds::default() }
    }
}

/// The reason why nothing was compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// There is nothing to compare.
    #[error("there are {0} sides, but a comparison needs from 2 to 64")]
    Sides(usize),
    /// Two sides have the same name.
    #[error("two sides are called `{0}`: give them different names")]
    SameName(String),
    /// An example has a character that stands for a byte.
    #[error(
        "an example has the character {0:?}, which stands for a byte that is not UTF-8 here: leave this example out"
    )]
    Reserved(char),
    /// There are no examples.
    #[error("there are no examples; give at least one text that is valid for every side")]
    NoExamples,
    /// A side accepts no example.
    #[error("`{name}` accepts none of the {count} examples, such as {example:?}; is it the right one?")]
    NoneValid {
        /// The side.
        name: String,
        /// The number of examples.
        count: usize,
        /// One of them.
        example: String,
    },
    /// The comparison was cancelled, or a program gives no answers.
    #[error(transparent)]
    Stopped(#[from] Stop),
}

/// What is known about the sides, besides the kinds of disagreement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// Two grammars have the same texts, of all lengths.
    Equal,
    /// The sides were compared on these texts.
    Compared {
        /// All token strings up to a length, with one text for each token.
        exhaustive: Exhaustive,
        /// Samples of texts that were drawn after everything else.
        samples: Vec<Sample>,
        /// Why two grammars were not compared on all texts, and how far they agree on short ones.
        undecided: Option<String>,
    },
}

/// Where the sides disagree, and what is known beyond that.
#[derive(Debug)]
pub struct Disagreements {
    pub(super) sides: Vec<(String, &'static str)>,
    pub(super) kinds: Vec<Kind>,
    pub(super) gone: Vec<String>,
    pub(super) statement: Statement,
    pub(super) examples: usize,
    pub(super) queries: usize,
    pub(super) texts: usize,
    pub(super) left: usize,
    pub(super) time: Duration,
    pub(super) stopped: Option<String>,
    pub(super) failures: Vec<Vec<(String, Failure)>>,
    pub(super) log: Vec<String>,
}

impl Disagreements {
    /// Returns the names of the sides and what they are: `program`, `grammar`, `table` or `machine`.
    pub fn sides(&self) -> &[(String, &'static str)] {
        &self.sides
    }

    /// Returns the kinds of disagreement, those of which most texts were seen first.
    pub fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// Returns whether there is a kind that was not known before.
    pub fn has_new(&self) -> bool {
        self.kinds.iter().any(|kind| !kind.known)
    }

    /// Returns the texts of known kinds on which the sides do not disagree in this way any more.
    pub fn gone(&self) -> &[String] {
        &self.gone
    }

    /// Returns what is known besides the kinds.
    pub fn statement(&self) -> &Statement {
        &self.statement
    }

    /// Returns how many times a program was asked about a text.
    pub fn queries(&self) -> usize {
        self.queries
    }

    /// Returns the number of different texts.
    pub fn texts(&self) -> usize {
        self.texts
    }

    /// Returns the number of texts on which the sides disagree that were not made smaller, because a limit was reached.
    pub fn left(&self) -> usize {
        self.left
    }

    /// Returns the time that the comparison took.
    pub fn time(&self) -> Duration {
        self.time
    }

    /// Returns the limit that ended the comparison, if one did.
    pub fn stopped(&self) -> Option<&str> {
        self.stopped.as_deref()
    }

    /// Returns some texts without an answer of each side, with the reasons.
    pub fn failures(&self) -> &[Vec<(String, Failure)>] {
        &self.failures
    }

    /// Returns what happened in each step.
    pub fn log(&self) -> &[String] {
        &self.log
    }
}

/// Finds out where programs and grammars disagree.
///
/// ```
/// use echostack_infer::{CompareSettings, Side, compare};
/// let strict = |text: &str| text.parse::<u8>().is_ok() && !text.starts_with('+');
/// let lax = |text: &str| !text.is_empty() && text.chars().all(|letter| letter.is_ascii_digit());
/// let sides = [Side::program("strict", &strict), Side::program("lax", &lax)];
/// let settings = CompareSettings { queries: 20_000, ..CompareSettings::default() };
/// let found = compare(&sides, &["7".to_string(), "12".to_string()], &settings, &())?;
/// assert_eq!(found.kinds()[0].text, "256");
/// # Ok::<(), echostack_infer::CompareError>(())
/// ```
///
/// # Errors
/// If there are fewer than two sides, if a side accepts no example or gives no answers, or if the comparison is cancelled.
pub fn compare(
    sides: &[Side<'_>],
    examples: &[String],
    settings: &CompareSettings,
    control: &dyn Control,
) -> Result<Disagreements, CompareError> {
    if !(2..=64).contains(&sides.len()) {
        return Err(CompareError::Sides(sides.len()));
    }
    let mut names = BTreeSet::new();
    if let Some(twice) = sides.iter().find(|side| !names.insert(side.name())) {
        return Err(CompareError::SameName(twice.name().to_string()));
    }
    let examples = distinct(examples);
    if examples.is_empty() {
        return Err(CompareError::NoExamples);
    }
    if let Some(reserved) = examples.iter().find_map(|example| raw::reserved(example)) {
        return Err(CompareError::Reserved(reserved));
    }
    let panel = Panel::new(sides, (settings.queries, settings.time), settings.workers, control);
    let mut run = Run {
        panel: &panel,
        kinds: Kinds::new(&examples),
        examples,
        settings,
        random: ChaCha8Rng::seed_from_u64(settings.seed),
        gone: Vec::new(),
        learned: Vec::new(),
        log: Vec::new(),
        control,
    };
    run.examples()?;
    let mut statement = Statement::Compared { exhaustive: Exhaustive::default(), samples: Vec::new(), undecided: None };
    let stopped = match run.search(&mut statement) {
        Ok(()) => None,
        Err(stop @ (Stop::Queries(_) | Stop::Time(_))) => Some(stop.to_string()),
        Err(stop) => return Err(stop.into()),
    };
    let Run { kinds, gone, log, examples, .. } = run;
    let left = kinds.left;
    let kinds = kinds.finish(&panel);
    Ok(Disagreements {
        sides: sides.iter().map(|side| (side.name().to_string(), side.what())).collect(),
        kinds,
        gone,
        statement,
        examples: examples.len(),
        queries: panel.queries(),
        texts: panel.texts(),
        left,
        time: panel.elapsed(),
        stopped,
        failures: panel.failures(),
        log,
    })
}

/// The state of a comparison.
struct Run<'r, 'a> {
    panel: &'r Panel<'a>,
    kinds: Kinds,
    examples: Vec<String>,
    settings: &'r CompareSettings,
    random: ChaCha8Rng,
    gone: Vec<String>,
    learned: Vec<Inferred>,
    log: Vec<String>,
    control: &'r dyn Control,
}

impl Run<'_, '_> {
    /// Asks about the examples. Those that no side accepts are left out.
    fn examples(&mut self) -> Result<(), CompareError> {
        self.panel.begin("examples");
        let said = self.panel.ask_all(&self.examples)?;
        for (at, side) in self.panel.sides.iter().enumerate() {
            if said.iter().all(|votes| votes[at] != Vote::Yes) {
                let (name, count) = (side.name().to_string(), self.examples.len());
                self.panel.check()?;
                return Err(CompareError::NoneValid { name, count, example: self.examples[0].clone() });
            }
        }
        let mut said = said.into_iter();
        self.examples.retain(|_| said.next().is_some_and(|votes| votes.contains(&Vote::Yes)));
        Ok(())
    }

    fn search(&mut self, statement: &mut Statement) -> Result<(), Stop> {
        self.ask_known()?;
        self.kinds.look(self.panel, self.allowance())?;
        let mut undecided = None;
        match self.decide() {
            Some(Equality::Equal) => {
                *statement = Statement::Equal;
                return Ok(());
            }
            Some(Equality::Different { text, .. }) => self.look_at("automata in lockstep", &[text])?,
            Some(other) => undecided = Some(other.to_string()),
            None => {}
        }
        self.ask_sources()?;
        self.learn()?;
        self.compare_learned()?;
        self.ask_more()?;
        let (exhaustive, samples) = self.check()?;
        *statement = Statement::Compared { exhaustive, samples, undecided };
        Ok(())
    }

    /// Asks about the texts of known kinds.
    fn ask_known(&mut self) -> Result<(), Stop> {
        let panel = self.panel;
        panel.begin(KNOWN);
        for known in self.settings.known.kinds() {
            let votes = panel.ask(&known.text)?;
            if !known.holds(panel.sides, &votes) {
                self.gone.push(known.text.clone());
                continue;
            }
            self.kinds.add_known(panel, &known.text, votes)?;
        }
        Ok(())
    }

    /// Decides whether two grammars have the same texts, if these are the sides.
    fn decide(&self) -> Option<Equality> {
        let [one, two] = self.panel.sides else { return None };
        Some(equality(one.grammar()?, two.grammar()?, self.panel))
    }

    /// Asks about texts, and finds out the kinds of those on which the sides disagree.
    fn look_at(&mut self, origin: Origin, texts: &[String]) -> Result<(), Stop> {
        if texts.is_empty() {
            return Ok(());
        }
        self.look_after(origin, |panel| panel.ask_all(texts).map(drop))
    }

    /// Finds out the kinds of texts on which the sides disagree after some were asked about.
    fn look_after(&mut self, origin: Origin, ask: impl FnOnce(&Panel<'_>) -> Result<(), Stop>) -> Result<(), Stop> {
        self.panel.begin(origin);
        let (texts_before, before) = (self.panel.texts(), self.kinds.count());
        let asked = ask(self.panel);
        let looked = self.kinds.look(self.panel, self.allowance());
        self.log.push(format!(
            "{origin}: {} texts asked about, with those that were made smaller; {} new kinds",
            self.panel.texts() - texts_before,
            self.kinds.count() - before
        ));
        asked?;
        looked
    }

    /// Returns how many queries may be spent to examine the texts of a source.
    fn allowance(&self) -> usize {
        (EXAMINED * self.settings.queries as f64) as usize
    }

    /// Returns how many texts a source may ask about.
    fn share(&self, part: f64) -> usize {
        (part * self.settings.queries as f64 / self.panel.programs() as f64) as usize
    }

    fn ask_sources(&mut self) -> Result<(), Stop> {
        for (origin, part) in SHARES {
            let most = self.share(part);
            if origin == GROWING {
                self.grow(most)?;
                continue;
            }
            let grammars = self.panel.sides.iter().filter_map(Side::grammar);
            let texts = match origin {
                "texts at limits" => on_purpose(&self.examples),
                NEIGHBORS => neighbors(&self.examples, most),
                BYTES if self.panel.sides.iter().all(Side::takes_bytes) => raw::of_examples(&self.examples, most),
                BYTES => Vec::new(),
                "edited examples" => edited(&self.examples, most, &mut self.random),
                "examples in each other" => spliced(&self.examples, most, &mut self.random),
                "texts of a grammar" => {
                    let number = most / grammars.clone().count().max(1);
                    grammars.flat_map(|side| of_grammar(side, &self.examples, number, self.settings.seed)).collect()
                }
                _ => strings(&tokens(&self.examples, grammars.clone().next()), most).0,
            };
            let texts = &texts[..texts.len().min(most)];
            self.look_at(origin, texts)?;
        }
        Ok(())
    }

    /// Looks for limits on nesting and on length, with so many texts. Long texts can take long, so that this part has no more of
    /// the time than of the queries.
    fn grow(&mut self, most: usize) -> Result<(), Stop> {
        let (texts, before) = (growing(&self.examples), self.panel.texts());
        let part = SHARES.iter().find(|(origin, _)| *origin == GROWING).map_or(0., |(_, part)| *part);
        let end = self.panel.elapsed() + self.settings.time.mul_f64(part);
        self.look_after(GROWING, |panel| {
            let may_ask = |_: &&Growing| panel.texts() - before < most && panel.elapsed() < end;
            let mut rest = texts.iter().take_while(may_ask);
            rest.try_for_each(|text| find_limits(panel, text))
        })
    }

    /// Returns the programs that are learned: the first one, and the one that disagrees with it on most texts.
    fn leaders(&self) -> Vec<usize> {
        let mut programs = (0..self.panel.sides.len()).filter(|&at| self.panel.sides[at].is_asked());
        let Some(first) = programs.next() else { return Vec::new() };
        let second = programs.max_by_key(|&other| (self.kinds.differ(first, other), std::cmp::Reverse(other)));
        std::iter::once(first).chain(second).collect()
    }

    /// Learns the languages of two programs. Whatever the learner wants to know, all sides are asked.
    fn learn(&mut self) -> Result<(), Stop> {
        let panel = self.panel;
        let (queries, time) = panel.left();
        let leaders = self.leaders();
        for &at in &leaders {
            let side = &panel.sides[at];
            let most = (LEARNING * queries as f64 / (leaders.len() * panel.programs()) as f64) as usize;
            let time = time.mul_f64(LEARNING / leaders.len() as f64);
            panel.begin("learning");
            let texts = panel.texts();
            let asking = Asking {
                workers: self.settings.workers,
                queries: most,
                time: time.min(panel.left().1),
                failure_is_no: true,
                ..Asking::default()
            };
            let settings = Settings { seed: self.settings.seed, fresh: 0, strings: 0, asking, ..Settings::default() };
            let known = self.kinds.count();
            match infer(&self.examples, &Led { panel, side: at }, &settings, self.control) {
                Ok(inferred) => {
                    let settled = if inferred.is_settled() { "settled" } else { "not settled" };
                    self.log.push(format!(
                        "learning {}: {settled}, {} states, {} new texts",
                        side.name(),
                        inferred.states(),
                        panel.texts() - texts
                    ));
                    self.learned.push(inferred);
                }
                Err(error) => self.log.push(format!("learning {}: {error}", side.name())),
            }
            panel.check()?;
            self.kinds.look(panel, self.allowance())?;
            self.log.push(format!("learning {}: {} new kinds", side.name(), self.kinds.count() - known));
        }
        Ok(())
    }

    /// Asks about texts on which what was learned about the programs differs, and texts drawn from it.
    fn compare_learned(&mut self) -> Result<(), Stop> {
        let mut languages: Vec<Subject> =
            self.learned.iter().filter_map(|learned| learned.language()?.subject("learned").ok()).collect();
        let grammars: Vec<&Subject> = self.panel.sides.iter().filter_map(Side::grammar).collect();
        let all: Vec<&Subject> = languages.iter_mut().map(|language| &*language).chain(grammars).collect();
        let mut texts = Vec::new();
        let pairs = (0..all.len()).flat_map(|one| (one + 1..all.len()).map(move |two| (one, two)));
        for (one, two) in pairs.take(MOST_PAIRS) {
            if let Equality::Different { text, .. } = equality(all[one], all[two], self.panel) {
                texts.push(text);
            }
            self.panel.check()?;
        }
        self.look_at("automata in lockstep", &texts)?;
        let most = self.share(DRAWN) / self.learned.len().max(1);
        let mut drawn = Vec::new();
        for learned in &self.learned {
            let sizes: Vec<usize> = (0..4 * most).map(|_| self.random.random_range(1..=LONGEST)).collect();
            let made: Vec<String> = sizes.iter().map_while(|&size| learned.draw(size, &mut self.random)).collect();
            // Those that another program refuses, as far as is known, come first.
            let differs = |text: &String| !self.learned.iter().all(|other| other.accepts(text));
            let (first, rest): (Vec<String>, Vec<String>) = made.into_iter().partition(differs);
            drawn.extend(first.into_iter().chain(rest).take(most));
        }
        self.look_at("texts drawn from what was learned", &drawn)
    }

    /// Asks about more texts near the examples.
    fn ask_more(&mut self) -> Result<(), Stop> {
        let more = (MORE * self.panel.left().0 as f64 / self.panel.programs() as f64) as usize / 2;
        let before = SHARES.iter().find(|(origin, _)| *origin == NEIGHBORS).map_or(0, |(_, part)| self.share(*part));
        // Those that were asked about before come first again, and cost nothing.
        self.look_at(NEIGHBORS, &neighbors(&self.examples, before + more))?;
        let texts = edited(&self.examples, more, &mut self.random);
        self.look_at("edited examples", &texts)
    }

    /// Compares all sides on all short token strings and on fresh texts.
    fn check(&mut self) -> Result<(Exhaustive, Vec<Sample>), Stop> {
        let grammar = self.panel.sides.iter().find_map(Side::grammar);
        let learned = self.learned.iter().find_map(Inferred::language).filter(|language| language.has_tokens());
        let tokens = match (grammar, learned) {
            (None, Some(language)) => language.files().tokens.iter().map(|(_, text)| text.clone()).collect(),
            _ => tokens(&self.examples, grammar),
        };
        let (texts, length) = strings(&tokens, self.share(SHARES[7].1));
        self.look_at("token strings", &texts)?;
        let said = self.panel.ask_all(&texts)?;
        let set_aside = said.iter().filter(|votes| votes.contains(&Vote::Nothing)).count();
        let mistakes = differing(&texts, &said);
        let exhaustive = Exhaustive { length, strings: texts.len(), unreadable: 0, set_aside, mistakes };
        let number = SAMPLE.0.min(self.share(SAMPLE.1));
        let mut sets = vec![(
            "examples with one to three random edits: a character or a part of an example inserted, left out, replaced, \
             repeated or swapped"
                .to_string(),
            edited(&self.examples, number, &mut self.random),
        )];
        if let Some(learned) = self.learned.iter().find(|learned| learned.is_settled()) {
            let sizes: Vec<usize> = (0..number).map(|_| self.random.random_range(1..=LONGEST)).collect();
            let drawn = sizes.iter().map_while(|&size| learned.draw(size, &mut self.random)).collect();
            let name = "texts drawn from what was learned about the first program that settled: a random walk of about 1 to \
                        60 characters";
            sets.push((name.to_string(), drawn));
        }
        let mut samples = Vec::new();
        for (distribution, texts) in sets {
            self.look_at("fresh texts", &texts)?;
            let said = self.panel.ask_all(&texts)?;
            let is_answered = |votes: &&Votes| !votes.contains(&Vote::Nothing);
            let count = said.iter().filter(is_answered).count();
            let valid = said.iter().filter(|votes| votes.iter().all(|vote| *vote == Vote::Yes)).count();
            let (mistakes, delta) = (differing(&texts, &said), self.settings.delta / 2.);
            samples.push(Sample { distribution, count, valid, set_aside: texts.len() - count, mistakes, delta });
        }
        Ok((exhaustive, samples))
    }
}

/// Returns the texts on which the sides disagree.
fn differing(texts: &[String], said: &[Votes]) -> Vec<String> {
    texts.iter().zip(said).filter(|(_, votes)| disagree(votes)).map(|(text, _)| text.clone()).collect()
}
