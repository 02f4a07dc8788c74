//! Lexemes of open classes, such as names and numbers: each kind of contexts takes a language of them, which is learned.

use std::collections::{BTreeMap, BTreeSet};

use rand_chacha::ChaCha8Rng;

use super::context::{Context, fit, length, tail};
use super::cut::Kind;
use super::dfa::{BEYOND, Product};
use super::finder::{FRESH, Finder, Learned};
use super::lexemes::{Ended, Lexemes};
use crate::ask::queries::Stop;
use crate::text::teacher::Teacher;

/// The most kinds of contexts whose lexemes are learned, and the contexts of each that are tried.
const MAX_LEARNERS: (usize, usize) = (14, 4);
/// How often two learners are compared, and the most words on which they are.
const AGREEMENTS: (usize, usize) = (60, 300);
/// The most words that are asked about to learn the lexemes of one kind of contexts.
const MAX_WORDS: usize = 25_000;
/// The number of queries after which no more kinds of contexts are looked at.
const MOST_QUERIES: usize = 100_000;

impl Finder {
    /// Learns the lexemes of each kind of contexts.
    pub(super) fn learn(&mut self, teacher: &mut Teacher<'_>, random: &mut ChaCha8Rng) -> Result<(), Stop> {
        let began = teacher.queries.asked;
        let mut probes = self.open_lexemes();
        probes.extend(["zq", "7", "42"].map(String::from));
        probes.extend(self.rules.special.keys().cloned());
        let mut kinds: BTreeMap<Vec<bool>, Vec<Context>> = BTreeMap::new();
        let is_open = |(_, (kind, word)): &(&Context, &(Kind, String))| {
            matches!(kind, Kind::Word | Kind::Number | Kind::Mixed) && !self.rules.is_special(word)
        };
        for (context, _) in self.contexts.iter().filter(is_open) {
            kinds.entry(fit(context, &probes, teacher)?).or_default().push(context.clone());
        }
        let names = FRESH.map(String::from);
        for context in kinds.values().flatten() {
            let both = |valid: Vec<bool>| valid.iter().all(|valid| *valid);
            if both(fit(context, &names, teacher)?) && both(self.rules.are_lexemes(context, &names, teacher)?) {
                self.rules.relaxed = true;
                break;
            }
        }
        let mut kinds: Vec<Vec<Context>> = kinds.into_values().collect();
        kinds.sort_by_key(|contexts| std::cmp::Reverse(contexts.len()));
        for mut contexts in kinds {
            if self.learned.len() >= MAX_LEARNERS.0 || teacher.queries.asked - began > MOST_QUERIES {
                break;
            }
            contexts.sort_by_key(length);
            let before = teacher.queries.asked;
            for context in contexts.into_iter().take(MAX_LEARNERS.1) {
                // A kind of contexts is given up as a whole.
                if self.learn_context(context, &[], teacher, random)? || teacher.queries.asked - before > MAX_WORDS {
                    break;
                }
            }
        }
        self.agree(teacher, random)
    }

    /// Learns the lexemes of a context. Returns whether they are a language that can be learned.
    pub(super) fn learn_context(
        &mut self,
        context: Context,
        samples: &[String],
        teacher: &mut Teacher<'_>,
        random: &mut ChaCha8Rng,
    ) -> Result<bool, Stop> {
        if self.gone.contains(&context) || self.learned.iter().any(|learned| learned.context == context) {
            return Ok(false);
        }
        let mut pool: Vec<String> = samples.to_vec();
        pool.extend(self.open_lexemes());
        pool.push("zq".to_string());
        pool.retain(|word| !self.rules.is_special(word) && !self.rules.is_given(word));
        let fits = fit(&context, &pool, teacher)?;
        let pool: Vec<String> = pool.into_iter().zip(fits).filter_map(|(word, fits)| fits.then_some(word)).collect();
        let lexemes = self.rules.are_lexemes(&context, &pool, teacher)?;
        let good: Vec<String> =
            pool.iter().zip(&lexemes).filter(|(_, yes)| **yes).map(|(word, _)| word.clone()).collect();
        // A context that takes two tokens one after the other says nothing about one of them.
        let mut long: Vec<String> = pool.into_iter().filter(|word| word.len() > 1).collect();
        let mut further = vec!["Kw".to_string(), "42".to_string()];
        further.retain(|word| !self.rules.is_given(word));
        let fits = fit(&context, &further, teacher)?;
        long.extend(further.into_iter().zip(fits).filter_map(|(word, fits)| fits.then_some(word)));
        let whole = self.rules.are_lexemes(&context, &long, teacher)?.into_iter().filter(|yes| *yes).count();
        if !good.iter().any(|word| word.len() > 1) || 10 * whole < 9 * long.len() {
            return Ok(false);
        }
        let rules = &self.rules;
        let mut member = |words: &[String]| rules.are_lexemes(&context, words, teacher);
        let alphabet = ('!'..='~').chain([BEYOND]).collect();
        match Lexemes::learn(alphabet, good, MAX_WORDS, &mut member, random) {
            Ok(lexemes) => {
                self.learned.push(Learned { context, lexemes });
                Ok(true)
            }
            Err(Ended::TooLarge) => {
                self.notes.push(format!("the lexemes after {:?} are too many to be tokens", tail(&context.0)));
                Ok(false)
            }
            Err(Ended::Stopped(stop)) => Err(stop),
        }
    }

    /// Lets one learner look at a word. Returns whether it was misjudged; a learner that grows too large stays as it was.
    pub(super) fn correct_learned(
        &mut self,
        at: usize,
        word: &str,
        teacher: &mut Teacher<'_>,
        random: &mut ChaCha8Rng,
    ) -> Result<bool, Stop> {
        let Learned { context, lexemes } = &mut self.learned[at];
        let rules = &self.rules;
        let mut member = |words: &[String]| rules.are_lexemes(context, words, teacher);
        let corrected = lexemes.correct(word, &mut member).and_then(|wrong| {
            if wrong {
                lexemes.refine(&mut member, random)?;
            }
            Ok(wrong)
        });
        match corrected {
            Ok(wrong) => Ok(wrong),
            Err(Ended::TooLarge) => Ok(false),
            Err(Ended::Stopped(stop)) => Err(stop),
        }
    }

    /// Asks about words that tell two learners apart in the contexts of both: chance differences vanish, real ones stay.
    pub(super) fn agree(&mut self, teacher: &mut Teacher<'_>, random: &mut ChaCha8Rng) -> Result<(), Stop> {
        let mut agreed: BTreeSet<(usize, usize, usize, usize)> = BTreeSet::new();
        for _ in 0..AGREEMENTS.0 {
            let mut changed = false;
            for two in 0..self.learned.len() {
                for one in 0..two {
                    let (first, second) =
                        (self.learned[one].lexemes.automaton(), self.learned[two].lexemes.automaton());
                    if !agreed.insert((one, two, self.learned[one].lexemes.size(), self.learned[two].lexemes.size())) {
                        continue;
                    }
                    let Some(product) = Product::of(&[&first, &second]) else { continue };
                    let differ =
                        product.accepting.iter().zip(&product.words).filter(|(accept, _)| accept[0] != accept[1]);
                    let words: Vec<String> = differ.map(|(_, word)| word.clone()).take(AGREEMENTS.1).collect();
                    for word in words {
                        changed |= self.correct_learned(one, &word, teacher, random)?;
                        changed |= self.correct_learned(two, &word, teacher, random)?;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        Ok(())
    }
}
