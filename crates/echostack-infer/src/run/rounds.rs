//! Rounds of tests, until one finds nothing.

use std::collections::{BTreeMap, VecDeque};

use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};

use super::inference::Inference;
use crate::ask::queries::Stop;
use crate::learn::automaton::Automaton;
use crate::learn::draw::{Draw, mutate};
use crate::learn::learner::ALL;
use crate::test::edits::redrawn;
use crate::test::kinds::{Kind, Test};
use crate::test::probe::Probe;
use crate::test::reserved::reserved;
use crate::test::suggest::suggestions;
use crate::text::symbols::{Sym, Word, boundaries};

/// The number of misjudged words after which a round ends, because the hypothesis has changed too much.
const MOST_WRONG: usize = 25;
/// After a mistake, a round ends when this part of the random tests found no more: the next hypothesis suggests better ones.
const QUIET: usize = 8;
/// If finding a decision that was left open took this part of the random tests, it is cheaper to leave fewer open.
const DEAR: usize = 4;
/// The most words that are asked about at the same time.
const MOST_AT_ONCE: usize = 64;
/// The length, in runs of letters or digits, of the longest words that are put into each other, and their number.
const EMBEDDED: (usize, usize) = (24, 40);

/// What the tests of a round are made from.
struct Sources<'a> {
    automaton: &'a Automaton,
    probe: Probe<'a>,
    draw: Draw<'a>,
    symbols: Vec<Sym>,
    /// The tests that do not depend on random choices, as far as they are made.
    made: BTreeMap<Kind, VecDeque<Test>>,
}

impl Inference<'_> {
    /// Learns until a whole round of tests finds nothing. Returns whether it did.
    pub(crate) fn learn(&mut self, tests: usize, rounds: usize) -> Result<bool, Stop> {
        if let Some(settled) = self.learn_reductions(tests, rounds)? {
            return Ok(settled);
        }
        let began = self.teacher.queries.asked;
        let learned = self.spent.learning;
        self.absorb_all()?;
        self.absorb_whole()?;
        let mut last: Option<Automaton> = None;
        for _ in 0..rounds {
            self.teacher.queries.check()?;
            let round = self.teacher.queries.asked;
            self.round += 1;
            self.retagged = false;
            // What was judged correctly can become wrong again while states are split.
            self.absorb_all()?;
            self.retagged = false;
            let automaton = self.freeze(self.contexts)?;
            let filled = self.teacher.queries.asked;
            let mut wrong = self.test(&automaton, tests)?;
            if wrong == 0 && !self.retagged {
                wrong = self.test_whole()?;
            }
            self.spent.last_test = self.teacher.queries.asked - filled;
            self.spent.learning = learned + filled - began;
            self.log.push(format!(
                "round {}: {} states, {} classes of closed words, {} queries, {wrong} words misjudged: {}",
                self.round,
                automaton.states(),
                automaton.closings.len(),
                self.teacher.queries.asked,
                self.yields.tell(),
            ));
            if wrong > 0 || self.retagged {
                let missed = std::mem::take(&mut self.missed);
                // If what is known already is missed, no test can come before these decisions.
                if missed > 0 && (self.yields.count() == 0 || self.yields.count() >= missed * tests / DEAR) {
                    self.try_more_contexts();
                }
                let same = last.as_ref().is_some_and(|last| last.is_same(&automaton));
                let nothing = same && self.teacher.queries.asked == round;
                if nothing && self.stuck {
                    self.log.push("what is misjudged cannot be learned: a round changed nothing".to_string());
                    break;
                }
                self.stuck = nothing || (same && self.stuck);
                last = Some(automaton);
                continue;
            }
            if self.decides_the_same(&automaton)? {
                self.spent.last_test = self.teacher.queries.asked - filled;
                if self.cut {
                    self.log.push(format!(
                        "the hypothesis is too large to make all tests that it suggests: what stands is that these {} tests \
                         found no mistake",
                        self.yields.count()
                    ));
                }
                return Ok(self.unmatched.is_empty() && !(self.stuck && self.misjudges(&automaton)));
            }
        }
        self.retagged = false;
        self.freeze(ALL)?;
        Ok(false)
    }

    /// Returns whether an automaton misjudges a word that was tested.
    fn misjudges(&self, automaton: &Automaton) -> bool {
        self.tested.iter().any(|(word, answer)| automaton.accepts(word) != *answer)
    }

    /// Makes the decisions that were left open, with more and more contexts. Returns whether none of them leads anywhere.
    fn decides_the_same(&mut self, automaton: &Automaton) -> Result<bool, Stop> {
        while self.contexts < ALL {
            self.try_more_contexts();
            if !self.freeze(self.contexts)?.is_same(automaton) {
                self.note_change();
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn try_more_contexts(&mut self) {
        let all = self.contexts >= self.learner.contexts().count();
        self.contexts = if all { ALL } else { 2 * self.contexts };
    }

    /// Tests the hypothesis. The kind of tests that has found most so far comes next, until enough words are misjudged or
    /// there are no more tests. Returns how many words were misjudged.
    fn test(&mut self, automaton: &Automaton, tests: usize) -> Result<usize, Stop> {
        self.yields.begin();
        let mut sources = Sources {
            automaton,
            probe: Probe::new(automaton, &self.learner),
            draw: Draw::new(automaton),
            symbols: self.teacher.symbols.in_use(),
            made: BTreeMap::new(),
        };
        let mut wrong = self.judge_stale(automaton)?;
        let mut left = Kind::amounts(tests);
        // Whether the suggestions are those of this hypothesis.
        let mut current = self.suggested.is_empty();
        if current {
            self.suggest(&sources)?;
        }
        left.insert(Kind::Suggested, self.suggested.len().min(tests));
        if self.unused.is_empty() {
            left.remove(&Kind::Unused);
        }
        let mut batches: BTreeMap<Kind, usize> = BTreeMap::new();
        let mut quiet = 0;
        while wrong < MOST_WRONG && !self.retagged && (wrong == 0 || quiet < tests / QUIET) {
            let Some(kind) = self.yields.next(&left) else {
                if wrong > 0 || (current && self.suggested.is_empty()) {
                    break;
                }
                if !current {
                    current = true;
                    self.suggest(&sources)?;
                }
                left.insert(Kind::Suggested, self.suggested.len());
                continue;
            };
            let batch = batches.entry(kind).or_insert(1);
            let amount = left.get(&kind).copied().unwrap_or(0).min(*batch);
            let (made, found) = if kind == Kind::Unused {
                self.test_unused(&mut sources, amount)?
            } else {
                let words = self.make(kind, amount, &mut sources);
                let near = words.iter().filter(|_| kind.is_near_examples());
                let near: Vec<String> = near.map(|(_, text)| text.clone()).collect();
                let found = (words.len(), self.judge(words, automaton)?);
                for text in near {
                    if let Some(answer) = self.teacher.queries.known(&text) {
                        self.best.note(&text, answer);
                    }
                }
                found
            };
            // More and more at the same time, as long as nothing is found. This does not depend on the number of workers,
            // so that the result does not either.
            *batch = if found > 0 { 1 } else { (*batch * 2).min(MOST_AT_ONCE) };
            match left.get_mut(&kind) {
                Some(left) if made == amount => *left -= amount,
                _ => _ = left.remove(&kind),
            }
            self.yields.note(kind, made, found);
            wrong += found;
            quiet = if found > 0 { 0 } else { quiet + made };
        }
        Ok(wrong)
    }

    /// Asks again about what was judged correctly, and no longer is: this costs nothing.
    fn judge_stale(&mut self, automaton: &Automaton) -> Result<usize, Stop> {
        let mut stale: Vec<Word> = (self.tested.iter())
            .filter(|(word, answer)| automaton.accepts(word) != **answer)
            .map(|(word, _)| word.clone())
            .collect();
        stale.sort_by(|one, two| (one.len(), one).cmp(&(two.len(), two)));
        let mut wrong = 0;
        for word in stale {
            if wrong >= MOST_WRONG || self.retagged {
                break;
            }
            let text = self.concrete(&word);
            wrong += self.judge(vec![(word, text)], automaton)?;
        }
        Ok(wrong)
    }

    /// Makes the suggestions of the hypothesis, which replace those of earlier ones.
    fn suggest(&mut self, sources: &Sources<'_>) -> Result<(), Stop> {
        let teacher = &self.teacher;
        // What was judged correctly can become wrong while states are split, so it is asked about again if it did.
        let fresh = |word: &Word| {
            let known = self.tested.get(word).copied();
            let known = known.or_else(|| teacher.queries.known(&teacher.symbols.render(word)));
            known.is_none_or(|answer| answer != sources.automaton.accepts(word))
        };
        let check = || teacher.queries.check();
        let found = suggestions(&sources.probe, &sources.symbols, &fresh, &check)?;
        self.cut = found.cut;
        self.suggested = found.words.into();
        Ok(())
    }

    /// Makes up to so many tests of a kind; fewer mean that there are no more.
    fn make(&mut self, kind: Kind, amount: usize, sources: &mut Sources<'_>) -> Vec<Test> {
        if matches!(kind, Kind::Reserved | Kind::Embedded | Kind::Repeated) {
            if !sources.made.contains_key(&kind) {
                let made = match kind {
                    Kind::Reserved => {
                        let texts = self.best.examples();
                        reserved(&sources.probe, texts, &self.teacher.symbols)
                    }
                    Kind::Embedded => self.embedded(),
                    _ => self.repeated(),
                };
                // What was asked before is not asked again.
                let queries = &self.teacher.queries;
                let fresh = made.into_iter().filter(|(_, text)| queries.known(text).is_none()).collect();
                sources.made.insert(kind, fresh);
            }
            let made = sources.made.entry(kind).or_default();
            return made.drain(..amount.min(made.len())).collect();
        }
        let mut found = Vec::new();
        // A drawing can fail, but not for ever.
        for _ in 0..amount {
            let word = if kind == Kind::Suggested { self.suggested.pop_front() } else { self.draw(kind, sources) };
            if let Some(word) = word {
                let word = self.teacher.symbols.relex(&word);
                let text = self.concrete(&word);
                found.push((word, text));
            } else if kind == Kind::Suggested {
                break;
            }
        }
        found
    }

    /// Draws a word.
    fn draw(&mut self, kind: Kind, sources: &mut Sources<'_>) -> Option<Word> {
        let (random, symbols) = (&mut self.random, &sources.symbols);
        let size = 1 + (30. * random.random::<f64>().powi(2)) as usize;
        match kind {
            Kind::Walk => sources.draw.word(size, random),
            Kind::EditedWalk => sources.draw.word(size, random).map(|word| mutate(&word, symbols, &self.words, random)),
            Kind::EditedExample => {
                let word = self.words.choose(random)?;
                Some(mutate(&self.teacher.symbols.lex(word), symbols, &self.words, random))
            }
            Kind::Redrawn => {
                // Leap days are rare among dates, but common among variations of one that was found.
                let surprising = self.surprising.choose(random).filter(|_| random.random_bool(0.5));
                let text = surprising.or_else(|| self.best.examples().choose(random))?;
                let text = redrawn(text, random);
                Some(self.teacher.symbols.lex(&self.teacher.symbols.base(&text)?))
            }
            Kind::Step => sources.probe.word(symbols, 1, random),
            Kind::Steps => sources.probe.word(symbols, 2, random),
            _ => sources.probe.fragment_word(symbols, random),
        }
    }

    /// Tests characters without a use in drawn words. Returns the number of tests, and how many have a use.
    fn test_unused(&mut self, sources: &mut Sources<'_>, amount: usize) -> Result<(usize, usize), Stop> {
        let (mut made, mut found) = (0, 0);
        for number in 0..amount {
            let kind = [Kind::Walk, Kind::EditedExample, Kind::Step, Kind::Fragment][number % 4];
            if let Some(word) = self.draw(kind, sources).filter(|word| !word.is_empty()) {
                found += usize::from(self.try_unused(&word)?);
            }
            made += 1;
            if found > 0 || self.unused.is_empty() {
                break;
            }
        }
        Ok((if self.unused.is_empty() { 0 } else { amount.max(made) }, found))
    }

    fn texts_of(&mut self, words: Vec<Word>) -> Vec<Test> {
        words
            .into_iter()
            .map(|word| {
                let word = self.teacher.symbols.relex(&word);
                let text = self.concrete(&word);
                (word, text)
            })
            .collect()
    }

    /// Returns whole examples in the place of parts of others. This does not depend on the hypothesis, so it does not share
    /// its blind spots.
    fn embedded(&mut self) -> Vec<Test> {
        let symbols = &self.teacher.symbols;
        let cuts = |word: &Word| boundaries(word.iter().map(|&symbol| symbols.look(symbol)));
        let pool: Vec<(Vec<usize>, &Word)> = self.words.iter().map(|word| (cuts(word), word)).collect();
        let short = pool.into_iter().filter(|(cuts, _)| cuts.len() <= EMBEDDED.0);
        let pool: Vec<(Vec<usize>, &Word)> = short.take(EMBEDDED.1).collect();
        let mut pairs: Vec<(usize, usize, usize, usize)> = Vec::new();
        for (one, (cuts, _)) in pool.iter().enumerate() {
            for (number, &from) in cuts.iter().enumerate() {
                for &to in &cuts[number..] {
                    pairs.extend((0..pool.len()).filter(|&two| two != one).map(|two| (one, from, to, two)));
                }
            }
        }
        pairs.shuffle(&mut self.random);
        pairs.truncate(Kind::Embedded.amount(self.tests));
        let words = pairs.into_iter().map(|(one, from, to, two)| {
            let (one, two) = (pool[one].1, pool[two].1);
            symbols.lex(&[&one[..from], two, &one[to..]].concat())
        });
        let words = words.collect();
        self.texts_of(words)
    }

    /// Returns examples in which two parts are repeated, the same number of times or nearly so: a hypothesis without the
    /// right openers and closers counts only as far as it has states.
    fn repeated(&mut self) -> Vec<Test> {
        let symbols = &self.teacher.symbols;
        let pool: Vec<(Vec<usize>, &Word)> = (self.words.iter())
            .map(|word| (boundaries(word.iter().map(|&symbol| symbols.look(symbol))), word))
            .filter(|(cuts, _)| (3..=EMBEDDED.0).contains(&cuts.len()))
            .take(EMBEDDED.1)
            .collect();
        let mut words = Vec::new();
        for _ in 0..Kind::Repeated.amount(self.tests) {
            let Some((cuts, word)) = pool.choose(&mut self.random) else { break };
            let mut ends: Vec<usize> = (0..4).filter_map(|_| cuts.choose(&mut self.random).copied()).collect();
            ends.sort_unstable();
            let &[a, b, c, d] = &ends[..] else { break };
            // If there were mistakes, parts are repeated more often, so that more and more states do not help.
            let most = self.yields.often();
            let count = 2 + (most * self.random.random::<f64>().powi(2)) as usize;
            let other = (count + self.random.random_range(0..3)).saturating_sub(1);
            let parts =
                [&word[..a], &word[a..b].repeat(count), &word[b..c], &word[c..d].repeat(other), &word[d..]].concat();
            words.push(symbols.lex(&parts));
        }
        self.texts_of(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::queries::{Asking, Queries};
    use crate::run::settings::Settings;
    use crate::testing::{lists, texts};
    use crate::text::teacher::Teacher;

    fn run<'a>(oracle: &'a dyn crate::program::Program, examples: &[&str]) -> Inference<'a> {
        let teacher = Teacher::new(Queries::new(oracle, Asking::default(), &()).unwrap());
        let mut run = Inference::new(teacher, &Settings { tests: 1000, ..Settings::default() });
        run.prepare(&examples.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap();
        run
    }

    #[test]
    fn rounds_end_when_tests_find_nothing() {
        let mut run = run(&lists, &["x", "[]", "[x]", "[x,[x]]"]);
        assert!(run.learn(1000, 60).unwrap());
        let found = run.frozen.clone().unwrap();
        assert!(texts("x[],", 6).iter().all(|text| found.accepts(text) == lists(text)));
        assert_eq!(run.contexts, ALL, "no decision is open");
        let until = run.spent.until_last_change;
        assert!((1..run.teacher.queries.asked).contains(&until), "{until}");
        // Without a mistake, another round changes nothing.
        assert!(run.learn(1000, 60).unwrap());
        assert_eq!(run.spent.until_last_change, until);
    }

    #[test]
    fn too_few_rounds_do_not_settle() {
        let mut run = run(&lists, &["x", "[]", "[x,[x]]"]);
        assert!(!run.learn(1000, 0).unwrap());
        assert!(run.best.found().is_some());
    }

    /// `if` is no name, but only the example of a condition shows the word.
    #[test]
    fn reserved_words_are_tried_as_names() {
        fn names(text: &str) -> bool {
            let name = |text: &str| !text.is_empty() && text.chars().all(|letter| letter.is_ascii_lowercase());
            let free = |text: &str| name(text) && text != "and";
            let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
            text.split_once(" and ").is_some_and(|(one, two)| free(one) && free(two))
                || inner.map_or(free(text), free)
                || text.strip_prefix("let ").and_then(|text| text.strip_suffix(";")).is_some_and(names)
        }
        let mut run = run(&names, &["x", "ab", "(x)", "a and b", "let a;", "let (x);", "let a and b;"]);
        run.learn(1000, 60).unwrap();
        let found = run.best.found().unwrap();
        for text in ["and", "(and)", "let and;", "let (and);", "and and x", "(ant)", "let (andy);", "let an;"] {
            assert_eq!(found.accepts(text), names(text), "{text:?}");
        }
    }

    #[test]
    fn words_of_examples_are_put_into_each_other_and_repeated() {
        let mut run = run(&lists, &["x", "[]", "[x,x]"]);
        let words: Vec<String> = run.embedded().into_iter().map(|(_, text)| text).collect();
        assert!(["[[],x]", "[x,[]]", "[x,x]"].iter().all(|text| words.iter().any(|word| word == text)), "{words:?}");
        let repeated = run.repeated();
        assert!(repeated.iter().any(|(_, text)| text.matches('[').count() > 5), "{repeated:?}");
    }
}
