//! Rounds of tests, until one finds nothing.

use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};

use super::inference::Inference;
use crate::ask::queries::Stop;
use crate::learn::automaton::Automaton;
use crate::learn::draw::{Draw, mutate};
use crate::test::probe::Probe;
use crate::test::suggest::{Suggested, suggestions};
use crate::text::symbols::{Sym, Word, boundaries};

/// The number of misjudged words after which a round ends, because the hypothesis has changed too much.
const MOST_WRONG: usize = 25;
/// The most words that are asked about at the same time.
const MOST_AT_ONCE: usize = 64;
/// The number of rounds with fewer tests, after which learning can end.
const FIRST_ROUNDS: usize = 2;
/// The most suggestions in a round, as a multiple of the tests.
const SUGGESTIONS: usize = 20;
/// The length, in runs of letters or digits, of the longest words that are put into each other, and their number.
const EMBEDDED: (usize, usize) = (24, 40);
/// The probability that a test is about a character without a use.
const UNUSED: f64 = 0.05;

/// The number of words that are asked about next: more and more, as long as nothing is found. It does not depend on the
/// number of workers, so that the result does not either.
struct Batch(usize);

impl Batch {
    fn after(&mut self, wrong: usize) {
        self.0 = if wrong > 0 { 1 } else { (self.0 * 2).min(MOST_AT_ONCE) };
    }
}

impl Inference<'_> {
    /// Learns until a whole round of tests finds nothing. Returns whether it did.
    pub(crate) fn learn(&mut self, tests: usize, rounds: usize) -> Result<bool, Stop> {
        if let Some(settled) = self.learn_reductions(tests, rounds)? {
            return Ok(settled);
        }
        let began = self.teacher.queries.asked;
        self.absorb_all()?;
        self.absorb_long()?;
        for round in 0..rounds {
            self.teacher.queries.check()?;
            self.retagged = false;
            // What was judged correctly can become wrong again while states are split.
            self.absorb_all()?;
            self.retagged = false;
            let automaton = self.freeze()?;
            let filled = self.teacher.queries.asked;
            let size = if round < FIRST_ROUNDS { tests / 5 } else { tests };
            let mut wrong = self.test(&automaton, size)?;
            let mut embedded = 0;
            if wrong == 0 && round >= FIRST_ROUNDS && !self.retagged && !self.unfinished {
                embedded = self.embed(2 * tests)?;
                wrong += embedded;
                if wrong == 0 && !self.retagged {
                    wrong += self.repeat(tests / 4)?;
                }
            }
            self.spent.last_test = self.teacher.queries.asked - filled;
            self.spent.learning = filled - began;
            self.log.push(format!(
                "round {}: {} states, {} classes of closed words, {} queries, {wrong} words misjudged, {embedded} of \
                 them by putting examples into each other",
                round + 1,
                automaton.states(),
                automaton.closings.len(),
                self.teacher.queries.asked,
            ));
            if wrong == 0 && round >= FIRST_ROUNDS && !self.retagged && !self.unfinished {
                return Ok(self.unmatched.is_empty() && !self.cut);
            }
        }
        self.retagged = false;
        self.freeze()?;
        Ok(false)
    }

    /// Tests the hypothesis on suggestions, and on random words of six kinds. Returns how many were misjudged.
    fn test(&mut self, automaton: &Automaton, tests: usize) -> Result<usize, Stop> {
        let symbols = self.teacher.symbols.in_use();
        let probe = Probe::new(automaton, &self.learner);
        let teacher = &self.teacher;
        // What was judged correctly can become wrong while states are split, so it is asked about again if it did.
        let fresh = |word: &Word| {
            let known = self.tested.get(word).copied();
            let known = known.or_else(|| teacher.queries.known(&teacher.symbols.render(word)));
            known.is_none_or(|answer| answer != automaton.accepts(word))
        };
        let Suggested { words, more, cut } = suggestions(&probe, &symbols, SUGGESTIONS * tests, &fresh);
        (self.unfinished, self.cut) = (more, cut);
        let mut stale: Vec<Word> = (self.tested.iter())
            .filter(|(word, answer)| automaton.accepts(word) != **answer)
            .map(|(word, _)| word.clone())
            .collect();
        stale.sort_by(|one, two| (one.len(), one).cmp(&(two.len(), two)));
        let wrong = self.judge_in_batches(stale, 0)?;
        let wrong = self.judge_in_batches(words, wrong)?;
        // The other tests wait until no suggestions are left.
        if wrong >= MOST_WRONG || self.retagged || more {
            return Ok(wrong);
        }
        self.test_at_random(automaton, &probe, &symbols, tests, wrong)
    }

    fn judge_in_batches(&mut self, words: Vec<Word>, mut wrong: usize) -> Result<usize, Stop> {
        let mut batch = Batch(1);
        let mut words = words.into_iter();
        while words.len() > 0 && wrong < MOST_WRONG && !self.retagged {
            let found = self.judge(&words.by_ref().take(batch.0).collect::<Vec<_>>())?;
            batch.after(found);
            wrong += found;
        }
        Ok(wrong)
    }

    fn test_at_random(
        &mut self,
        automaton: &Automaton,
        probe: &Probe<'_>,
        symbols: &[Sym],
        tests: usize,
        mut wrong: usize,
    ) -> Result<usize, Stop> {
        let mut draw = Draw::new(automaton);
        let (mut batch, mut waiting) = (Batch(1), Vec::new());
        for number in 0..tests {
            let size = 1 + (30. * self.random.random::<f64>().powi(2)) as usize;
            let random = &mut self.random;
            let word = match number % 6 {
                0 => draw.word(size, random),
                1 => draw.word(size, random).map(|word| mutate(&word, symbols, &self.words, random)),
                2 => self
                    .words
                    .choose(random)
                    .map(|word| mutate(&self.teacher.symbols.lex(word), symbols, &self.words, random)),
                3 => probe.word(symbols, 1, random),
                4 => probe.word(symbols, 2, random),
                _ => probe.fragment_word(symbols, random),
            };
            if let Some(word) = word {
                if !self.unused.is_empty() && !word.is_empty() && self.random.random_bool(UNUSED) {
                    wrong += usize::from(self.try_unused(&word)?);
                } else {
                    waiting.push(word);
                }
            }
            if waiting.len() >= batch.0 || number + 1 == tests {
                let found = self.judge(&std::mem::take(&mut waiting))?;
                batch.after(found);
                wrong += found;
            }
            if wrong >= MOST_WRONG || self.retagged {
                break;
            }
        }
        Ok(wrong)
    }

    /// Tests whole examples in the place of parts of others. This does not depend on the hypothesis, so it does not share
    /// its blind spots.
    fn embed(&mut self, most: usize) -> Result<usize, Stop> {
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
        pairs.truncate(most);
        let words = pairs.into_iter().map(|(one, from, to, two)| {
            let (one, two) = (pool[one].1, pool[two].1);
            symbols.lex(&[&one[..from], two, &one[to..]].concat())
        });
        let words = words.collect();
        self.judge_in_batches(words, 0)
    }

    /// Tests examples in which two parts are repeated, the same number of times or nearly so: a hypothesis without the
    /// right openers and closers counts only as far as it has states. If there are mistakes, parts are repeated twice as
    /// often the next time, so that more and more states do not help.
    fn repeat(&mut self, most: usize) -> Result<usize, Stop> {
        let symbols = &self.teacher.symbols;
        let pool: Vec<(Vec<usize>, &Word)> = (self.words.iter())
            .map(|word| (boundaries(word.iter().map(|&symbol| symbols.look(symbol))), word))
            .filter(|(cuts, _)| (3..=EMBEDDED.0).contains(&cuts.len()))
            .take(EMBEDDED.1)
            .collect();
        let mut words = Vec::new();
        for _ in 0..most {
            let Some((cuts, word)) = pool.choose(&mut self.random) else { break };
            let mut ends: Vec<usize> = (0..4).filter_map(|_| cuts.choose(&mut self.random).copied()).collect();
            ends.sort_unstable();
            let &[a, b, c, d] = &ends[..] else { break };
            let count = 2 + (self.repeated * self.random.random::<f64>().powi(2)) as usize;
            let other = (count + self.random.random_range(0..3)).saturating_sub(1);
            let parts =
                [&word[..a], &word[a..b].repeat(count), &word[b..c], &word[c..d].repeat(other), &word[d..]].concat();
            words.push(symbols.lex(&parts));
        }
        let wrong = self.judge_in_batches(words, 0)?;
        if wrong > 0 {
            self.repeated *= 2.;
        }
        Ok(wrong)
    }
}
