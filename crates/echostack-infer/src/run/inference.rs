//! The state of a run: symbols, tags and hypothesis, and how a text or word changes them.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::best::Best;
use super::settings::Settings;
use crate::ask::queries::Stop;
use crate::learn::automaton::Automaton;
use crate::learn::hypothesis::{Hypothesis, Model};
use crate::learn::learner::{Learned, Learner};
use crate::learn::reductions::Reducer;
use crate::program::Failure;
use crate::test::kinds::{Test, Yields};
use crate::text::categories::{categories, category_of};
use crate::text::charset::{CharSet, beyond_ascii};
use crate::text::classes::{Divided, classes, partition};
use crate::text::shrink::{are_few_and_short, shortest, shrink};
use crate::text::symbols::{Sym, Word};
use crate::text::tags::{self, Tags};
use crate::text::teacher::Teacher;

/// The number of spans that are tried when tags are inferred again.
const MORE_SPANS: usize = 40_000;
/// The most valid texts that were misjudged that are kept.
const SURPRISING: usize = 1000;
/// The number of times that tags are inferred.
const MAX_TAGGINGS: usize = 6;

/// The number of contexts that are tried for a decision at first, as long as all say no: most decisions lead nowhere.
const CONTEXTS: usize = 4;

/// The number of queries of each step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// To shrink examples, and to find classes of characters.
    pub classes: usize,
    /// To find openers and closers.
    pub tags: usize,
    /// To find states, with all tests but the last.
    pub learning: usize,
    /// Until the hypothesis last changed, without the checks until then.
    pub until_last_change: usize,
    /// In the last round of tests, which found nothing.
    pub last_test: usize,
    /// In the checks after learning.
    pub checks: usize,
}

/// A run.
#[derive(Debug)]
pub(crate) struct Inference<'a> {
    pub(crate) teacher: Teacher<'a>,
    pub(crate) learner: Learner,
    /// The second learner, if it is used instead of the first.
    reducer: Option<Reducer>,
    pub(crate) random: ChaCha8Rng,
    /// Valid base words.
    pub(crate) words: Vec<Word>,
    /// Examples that are too long or too many for exhaustive work, the short ones first.
    pub(crate) whole: Vec<String>,
    /// Characters without a use so far.
    pub(crate) unused: Vec<CharSet>,
    /// Characters that are left out, because not all of their category are treated alike, or because only ASCII is wanted.
    left_out: CharSet,
    /// The best hypothesis so far.
    pub(crate) best: Best,
    /// The size of the smallest hypothesis whose grammar was too large.
    pub(crate) too_large: usize,
    pub(crate) tags: Tags,
    taggings: usize,
    /// Whether the tags have changed, so that words of older symbols have no meaning.
    pub(crate) retagged: bool,
    /// Valid texts that were misjudged: what is like them is often misjudged, too.
    pub(crate) surprising: Vec<String>,
    /// Suggestions that were not asked about yet, short ones first.
    pub(crate) suggested: VecDeque<Word>,
    /// Whether not all suggestions could be made, because the hypothesis is too large.
    pub(crate) cut: bool,
    /// What each kind of tests has found.
    pub(crate) yields: Yields,
    /// The number of contexts that are tried for a decision, as long as all say no.
    pub(crate) contexts: usize,
    /// The number of mistakes of this round that were due to a decision that was left open.
    pub(crate) missed: usize,
    /// Whether a whole round changed nothing: the automaton cannot have all that the hypothesis has.
    pub(crate) stuck: bool,
    /// The number of random tests in a round, and of rounds so far.
    pub(crate) tests: usize,
    pub(crate) round: usize,
    /// Valid words whose openers and closers do not match.
    pub(crate) unmatched: Vec<String>,
    /// The characters of the examples.
    seen: BTreeSet<char>,
    /// The words that were compared with the hypothesis, with the answers.
    pub(crate) tested: HashMap<Word, bool>,
    pub(crate) spent: Spent,
    /// The last complete hypothesis.
    pub(crate) frozen: Option<Hypothesis>,
    /// What happened, for the report.
    pub(crate) log: Vec<String>,
}

impl<'a> Inference<'a> {
    /// Begins a run without any knowledge.
    pub(crate) fn new(teacher: Teacher<'a>, settings: &Settings) -> Self {
        Self {
            teacher,
            learner: Learner::new(Vec::new(), Vec::new()),
            reducer: settings.reductions.then(Reducer::default),
            random: ChaCha8Rng::seed_from_u64(settings.seed),
            best: Best::new(&[]),
            too_large: usize::MAX,
            words: Vec::new(),
            whole: Vec::new(),
            unused: Vec::new(),
            left_out: if settings.ascii { beyond_ascii() } else { CharSet::default() },
            tags: Tags::default(),
            taggings: 0,
            retagged: false,
            surprising: Vec::new(),
            suggested: VecDeque::new(),
            cut: false,
            yields: Yields::default(),
            contexts: CONTEXTS,
            missed: 0,
            stuck: false,
            tests: settings.tests,
            round: 0,
            unmatched: Vec::new(),
            seen: BTreeSet::new(),
            tested: HashMap::new(),
            spent: Spent::default(),
            frozen: None,
            log: Vec::new(),
        }
    }

    /// Finds symbols and tags in valid texts.
    pub(crate) fn prepare(&mut self, texts: &[String]) -> Result<(), Stop> {
        let began = self.teacher.queries.asked;
        let mut short = texts.to_vec();
        if !are_few_and_short(texts, &self.teacher.symbols) {
            short = shrink(texts, &mut self.teacher)?;
            self.keep_whole(texts, &short);
            self.log.push(format!(
                "{} examples decomposed into {} short texts, with {} queries",
                texts.len(),
                short.len(),
                self.teacher.queries.asked - began
            ));
        }
        self.best = Best::new(&shortest(texts));
        if self.teacher.symbols.lexer().is_none() {
            self.find_classes(texts, &mut short)?;
        }
        let mut words: Vec<Word> = short.iter().filter_map(|text| self.teacher.symbols.base(text)).collect();
        let mut seen = HashSet::new();
        words.retain(|word| seen.insert(word.clone()));
        let rendered: Vec<String> = words.iter().map(|word| self.teacher.symbols.render(word)).collect();
        let valid = self.teacher.all_valid(&rendered)?;
        self.words = words.into_iter().zip(valid).filter(|(_, valid)| *valid).map(|(word, _)| word).collect();
        self.words.sort_by_key(Vec::len);
        self.spent.classes = self.teacher.queries.asked - began;
        if self.reducer.is_some() {
            return Ok(());
        }
        self.tag(None)?;
        self.spent.tags = self.teacher.queries.asked - began - self.spent.classes;
        let classes = self.teacher.symbols.in_use().len();
        self.log.push(format!("{classes} symbols, {}; {} queries", self.tell_tags(), self.teacher.queries.asked));
        Ok(())
    }

    fn find_classes(&mut self, texts: &[String], short: &mut [String]) -> Result<(), Stop> {
        self.seen = texts.iter().flat_map(|text| text.chars()).collect();
        let found = classes(short, &self.left_out, &mut self.teacher)?;
        self.unused = found.unused;
        self.leave_out(&found.mixed);
        for (letter, members) in found.used {
            self.teacher.symbols.add_class(letter, members);
        }
        short.sort_by_key(|text| text.chars().count());
        short.iter().try_for_each(|text| self.represent(text))
    }

    /// Splits classes until the text, which is valid, is so with the representatives of its characters, too.
    fn represent(&mut self, text: &str) -> Result<(), Stop> {
        if self.teacher.symbols.lexer().is_some() {
            return Ok(());
        }
        for (at, letter) in text.char_indices() {
            if self.teacher.symbols.class_of(letter).is_none() {
                self.use_letter(letter, (&text[..at], &text[at + letter.len_utf8()..]))?;
            }
        }
        for _ in 0..=text.len() {
            let Some(word) = self.teacher.symbols.base(text) else { return Ok(()) };
            let rendered = self.teacher.symbols.render(&word);
            if self.teacher.valid(&rendered)? || !self.split_class(&word, text)? {
                break;
            }
        }
        Ok(())
    }

    /// Makes a class of a character that had no use, and is valid in a context. Outside of ASCII, its category is used as
    /// a whole, or left out, unless an example has the character. Returns whether there is a new class.
    fn use_letter(&mut self, letter: char, context: (&str, &str)) -> Result<bool, Stop> {
        let single = letter.is_ascii() || self.seen.contains(&letter);
        if !single && self.left_out.contains(letter) {
            return Ok(false);
        }
        let part = self.unused.iter().find(|part| part.contains(letter)).cloned().unwrap_or_default();
        let divided = self.divided(&part, context)?;
        self.leave_out(&divided.mixed);
        if !single && !divided.yes.contains(letter) {
            self.leave_out_category(letter);
            return Ok(false);
        }
        let members = divided.yes.union(&CharSet::of(letter));
        for part in &mut self.unused {
            *part = part.without(&members);
        }
        self.unused.retain(|part| !part.is_empty());
        self.teacher.symbols.add_class(members.representative(&self.seen), members);
        self.note_change();
        Ok(true)
    }

    fn leave_out_category(&mut self, letter: char) {
        if let Some(category) = category_of(letter) {
            self.leave_out(&category.beyond);
        }
    }

    /// Leaves out characters from now on, unless they occur in examples.
    fn leave_out(&mut self, characters: &CharSet) {
        let seen: CharSet = self.seen.iter().map(|&letter| (letter, letter)).collect();
        let away = characters.without(&seen).without(&self.left_out);
        if away.is_empty() {
            return;
        }
        let names: BTreeSet<&str> =
            categories().filter(|category| !category.beyond.intersection(&away).is_empty()).map(|c| c.name).collect();
        let names: Vec<String> = names.into_iter().map(|name| format!("\\p{{{name}}}")).collect();
        self.log.push(format!(
            "outside of ASCII, the members of {} are not treated alike, so they are left out, but for those of the examples",
            names.join(" ")
        ));
        self.left_out = self.left_out.union(&away);
        self.unused.iter_mut().for_each(|part| *part = part.without(&away));
        self.unused.retain(|part| !part.is_empty());
        self.teacher.symbols.leave_out(&away, &self.seen);
        // What was asked about words with a class that is now empty says nothing about the texts that are left.
        let symbols = &self.teacher.symbols;
        self.tested.retain(|word, _| word.iter().all(|&symbol| symbols.is_in_use(symbol)));
        self.suggested.retain(|word| word.iter().all(|&symbol| symbols.is_in_use(symbol)));
    }

    fn tell_tags(&self) -> String {
        let text = |tags: &BTreeSet<Word>| {
            let texts: Vec<String> = tags.iter().map(|tag| self.teacher.symbols.render(tag)).collect();
            texts.join(" ")
        };
        format!("opens {}, closes {}", text(&self.tags.calls), text(&self.tags.returns))
    }

    /// Finds tags. If they are new, a new hypothesis begins; what is known of words stays. Returns whether they are.
    fn tag(&mut self, spans: Option<usize>) -> Result<bool, Stop> {
        self.taggings += 1;
        let found = tags::infer(&self.words, &mut self.teacher, spans)?;
        if self.taggings > 1 && found == self.tags {
            return Ok(false);
        }
        self.retagged = true;
        self.tags = found;
        let symbols = &mut self.teacher.symbols;
        symbols.read_literals(self.tags.calls.iter().chain(&self.tags.returns));
        let calls = self.tags.calls.iter().filter_map(|tag| symbols.of_tag(tag)).collect();
        let returns = self.tags.returns.iter().filter_map(|tag| symbols.of_tag(tag)).collect();
        self.learner = Learner::new(calls, returns);
        let tested = std::mem::take(&mut self.tested).into_iter();
        self.suggested.clear();
        self.tested = tested.map(|(word, answer)| (symbols.lex(&symbols.expand(&word)), answer)).collect();
        Ok(true)
    }

    /// The text is one of the word, but judged differently: finds the character that makes the difference, and splits its
    /// class. Returns whether a class was split.
    pub(crate) fn split_class(&mut self, word: &[Sym], text: &str) -> Result<bool, Stop> {
        let mut now: Vec<char> = self.teacher.symbols.render(word).chars().collect();
        let wanted: Vec<char> = text.chars().collect();
        if now.len() != wanted.len() {
            return Ok(false);
        }
        let join = |letters: &[char]| letters.iter().collect::<String>();
        let truth = self.teacher.valid(&join(&now))?;
        for at in 0..now.len() {
            let (letter, own) = (wanted[at], now[at]);
            if own == letter {
                continue;
            }
            now[at] = letter;
            if self.teacher.valid(&join(&now))? == truth {
                continue;
            }
            let Some(class) = self.teacher.symbols.class_of(letter) else { return Ok(false) };
            if self.teacher.symbols.class_of(own) != Some(class) {
                return Ok(false);
            }
            let members = self.teacher.symbols.members(class).cloned().unwrap_or_default();
            let (before, after) = (join(&now[..at]), join(&now[at + 1..]));
            let divided = self.divided(&members, (&before, &after))?;
            self.leave_out(&divided.mixed);
            let away = if truth { divided.no } else { divided.yes };
            let single = letter.is_ascii() || self.seen.contains(&letter);
            if !single && !away.contains(letter) {
                self.leave_out_category(letter);
                return Ok(true);
            }
            let away = away.union(&CharSet::of(letter)).without(&CharSet::of(own));
            let members = self.teacher.symbols.members(class).cloned().unwrap_or_default();
            self.teacher.symbols.shrink(class, members.without(&away));
            self.teacher.symbols.add_class(away.representative(&self.seen), away);
            self.note_change();
            return Ok(true);
        }
        Ok(false)
    }

    /// Divides characters by whether they are valid in a context.
    fn divided(&mut self, set: &CharSet, context: (&str, &str)) -> Result<Divided, Stop> {
        let teacher = &mut self.teacher;
        partition(set, &self.seen, &mut |letters| {
            let texts: Vec<String> =
                letters.iter().map(|letter| format!("{}{letter}{}", context.0, context.1)).collect();
            teacher.all_valid(&texts)
        })
    }

    /// Learns from a word. Tags that turn out to be wrong are inferred again. Returns whether anything was learned.
    pub(crate) fn absorb(&mut self, word: &[Sym]) -> Result<bool, Stop> {
        match self.learner.learn_from(word, &mut self.teacher)? {
            Learned::Nothing => Ok(false),
            Learned::Refined => {
                self.note_change();
                Ok(true)
            }
            Learned::Mistagged => {
                let learned = self.retag(word)?;
                self.note_change();
                Ok(learned)
            }
        }
    }

    pub(crate) fn note_change(&mut self) {
        self.spent.until_last_change = self.teacher.queries.asked - self.spent.checks;
    }

    /// Learns from a word that does not match. If there are no better tags, some of its openers and closers stand for
    /// themselves there, as a bracket in a string does.
    fn retag(&mut self, word: &[Sym]) -> Result<bool, Stop> {
        let text = self.teacher.symbols.render(word);
        let base = self.teacher.symbols.expand(word);
        if self.unmatched.contains(&text) {
            return Ok(false);
        }
        let valid = self.teacher.valid(&text)?;
        if valid && self.taggings < MAX_TAGGINGS && !self.words.contains(&base) {
            self.words.push(base);
            if self.tag(Some(MORE_SPANS))? {
                self.log.push(format!("the tags do not fit {text:?}; now {}", self.tell_tags()));
                self.absorb_all()?;
                return Ok(true);
            }
            self.log.push(format!("the tags do not fit {text:?}, and no others do"));
        }
        let learned = valid && self.learner.learn_as_plain(word, &mut self.teacher)? != Learned::Mistagged;
        if !learned {
            self.unmatched.push(text);
        }
        Ok(learned)
    }

    /// Learns from all known words.
    pub(crate) fn absorb_all(&mut self) -> Result<(), Stop> {
        for at in 0..self.words.len() {
            let Some(word) = self.words.get(at) else { break };
            let word = self.teacher.symbols.lex(word);
            self.absorb(&word)?;
        }
        Ok(())
    }

    /// Learns from texts that are misjudged. Returns whether anything was learned.
    pub(crate) fn learn_texts(&mut self, texts: &[String]) -> Result<bool, Stop> {
        let mut learned = false;
        for text in texts {
            let Some(answer) = self.teacher.queries.ask(text)? else { continue };
            if answer {
                // A new class is a new symbol, which the hypothesis does not have yet.
                let classes = self.teacher.symbols.in_use().len();
                self.represent(text)?;
                learned |= self.teacher.symbols.in_use().len() > classes;
            }
            let Some(base) = self.teacher.symbols.base(text) else { continue };
            if let Some(reducer) = &mut self.reducer {
                learned |= answer != reducer.found.accepts(&base);
                reducer.mend(&base, &mut self.teacher)?;
                continue;
            }
            let word = self.teacher.symbols.lex(&base);
            if answer != self.learner.accepts(&word, &mut self.teacher)? {
                learned |= self.correct(&word, text, answer)?;
                self.note_surprise(text, answer);
            }
        }
        Ok(learned)
    }

    /// Keeps a valid text that was misjudged.
    fn note_surprise(&mut self, text: &str, answer: bool) {
        if answer && self.surprising.len() < SURPRISING {
            self.surprising.push(text.to_string());
        }
    }

    /// Makes the decisions of the hypothesis, and keeps it. If `most` contexts say no, a decision stays open.
    pub(crate) fn freeze(&mut self, most: usize) -> Result<Automaton, Stop> {
        let automaton = Automaton::freeze(&mut self.learner, most, &mut self.teacher)?;
        self.keep(Model::Modules(automaton.clone()));
        Ok(automaton)
    }

    fn keep(&mut self, model: Model) {
        let hypothesis = Hypothesis { symbols: self.teacher.symbols.clone(), model };
        self.best.offer(&hypothesis);
        self.frozen = Some(hypothesis);
    }

    /// Learns reductions until a whole round of tests finds nothing. Returns whether it did, or nothing if the first
    /// learner is used.
    pub(crate) fn learn_reductions(&mut self, tests: usize, rounds: usize) -> Result<Option<bool>, Stop> {
        let Some(reducer) = &mut self.reducer else { return Ok(None) };
        let began = self.teacher.queries.asked;
        let learned = reducer.learn(&self.words, (tests, rounds), &mut self.teacher, &mut self.random);
        let (found, size) = (reducer.found.clone(), reducer.found.len());
        self.keep(Model::Reductions(found));
        let (settled, last_test) = learned?;
        self.spent.last_test = last_test;
        self.spent.until_last_change = self.teacher.queries.asked - last_test - self.spent.checks;
        self.spent.learning = self.teacher.queries.asked - began - last_test;
        let queries = self.teacher.queries.asked;
        self.log.push(format!("{size} reductions and accepted normal forms; {queries} queries"));
        Ok(Some(settled))
    }

    /// Returns a text of a word, usually with other members of its classes than the representatives.
    pub(crate) fn concrete(&mut self, word: &[Sym]) -> String {
        let symbols = &self.teacher.symbols;
        if self.random.random_bool(0.3) {
            return symbols.render(word);
        }
        let text = symbols.draw(word, &mut self.random);
        let same = symbols.base(&text).is_some_and(|base| symbols.lex(&base) == word);
        if same { text } else { symbols.render(word) }
    }

    /// Compares texts with the automaton, and learns from those that it misjudges. Returns their number. Texts that continue
    /// one that took too long are left out.
    pub(crate) fn judge(&mut self, mut tests: Vec<Test>, automaton: &Automaton) -> Result<usize, Stop> {
        let hanging = self.hanging();
        tests.retain(|(word, _)| !hanging.iter().any(|part| is_within(part, &self.teacher.symbols.expand(word))));
        let texts: Vec<&String> = tests.iter().map(|(_, text)| text).collect();
        let answers = self.teacher.queries.ask_all(&texts)?;
        let mut wrong = 0;
        for ((word, text), answer) in tests.into_iter().zip(answers) {
            let Some(answer) = answer else { continue };
            // A text before this one can have shown that a class is to be left out.
            if !word.iter().all(|&symbol| self.teacher.symbols.is_in_use(symbol)) {
                continue;
            }
            if answer != automaton.accepts(&word) {
                // The hypothesis can be right if a decision was open in the automaton.
                let right = answer == self.learner.accepts(&word, &mut self.teacher)?;
                self.missed += usize::from(right);
                let counts = if right { !self.stuck } else { self.correct(&word, &text, answer)? };
                if counts {
                    self.note_surprise(&text, answer);
                    wrong += 1;
                    self.note_change();
                }
            }
            if self.retagged {
                break;
            }
            self.tested.insert(word, answer);
        }
        Ok(wrong)
    }

    /// Returns the base words of texts that took too long.
    fn hanging(&self) -> Vec<Word> {
        let failures = self.teacher.queries.failures.iter();
        let slow = failures.filter(|(_, failure)| *failure == Failure::Timeout);
        slow.filter_map(|(text, _)| self.teacher.symbols.base(text)).collect()
    }

    /// The hypothesis misjudges a text: either its characters are not those of their classes, or its word is misjudged.
    fn correct(&mut self, word: &[Sym], text: &str, answer: bool) -> Result<bool, Stop> {
        let mut learned = false;
        let truth = self.teacher.valid(&self.teacher.symbols.render(word))?;
        if truth != answer {
            learned |= self.split_class(word, text)?;
        }
        if truth != self.learner.accepts(word, &mut self.teacher)? {
            learned |= self.absorb(word)?;
        }
        Ok(learned)
    }

    /// Puts a character without a use into a word. If the text is valid, the character has a use. Returns whether it is.
    pub(crate) fn try_unused(&mut self, word: &[Sym]) -> Result<bool, Stop> {
        let Some(part) = self.unused.choose(&mut self.random).cloned() else { return Ok(false) };
        let Some(letter) = part.draw(&mut self.random) else { return Ok(false) };
        let at = self.random.random_range(0..=word.len());
        let after = (at + self.random.random_range(0..2)).min(word.len());
        let symbols = &self.teacher.symbols;
        let (before, after) = (symbols.render(&word[..at]), symbols.render(&word[after..]));
        let text = format!("{before}{letter}{after}");
        if !self.teacher.valid(&text)? {
            return Ok(false);
        }
        if !self.use_letter(letter, (&before, &after))? {
            return Ok(false);
        }
        if let Some(base) = self.teacher.symbols.base(&text) {
            let word = self.teacher.symbols.lex(&base);
            self.absorb(&word)?;
        }
        Ok(true)
    }
}

/// Returns whether a word is another from which some symbols were left out.
fn is_within(part: &[Sym], word: &[Sym]) -> bool {
    let mut symbols = word.iter();
    part.iter().all(|symbol| symbols.any(|other| other == symbol))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::queries::{Asking, Queries};
    use crate::program::{Program, Reply};
    use crate::testing::{lists, texts};

    fn run<'a>(program: &'a dyn Program, examples: &[&str]) -> Inference<'a> {
        let settings = Settings::default();
        let mut run = Inference::new(Teacher::new(Queries::new(program, Asking::default(), &()).unwrap()), &settings);
        run.prepare(&examples.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap();
        run
    }

    #[test]
    fn tags_that_are_found_again_do_not_begin_a_new_hypothesis() {
        let mut run = run(&lists, &["x", "[]", "[x,[x]]"]);
        run.absorb_all().unwrap();
        let (size, tags) = (run.learner.size(), run.tags.clone());
        assert_eq!((size > 3, tags.calls.len(), tags.returns.len()), (true, 1, 1));
        assert!(!run.tag(Some(100)).unwrap());
        assert_eq!((run.learner.size(), run.tags.clone()), (size, tags));
    }

    /// Digits of all scripts have a use, but not all of what is called a letter.
    #[test]
    fn characters_beyond_ascii_have_a_use_by_category_or_not_at_all() {
        let digits = |text: &str| {
            let digit = |letter: char| category_of(letter).is_some_and(|category| category.name == "Nd");
            let some = |letter: char| letter.is_ascii_lowercase() || ('\u{3b1}'..='\u{3c9}').contains(&letter);
            !text.is_empty() && text.chars().all(|letter| digit(letter) || some(letter))
        };
        let run = run(&digits, &["a", "1", "ab12"]);
        assert!(['\u{663}', '\u{967}'].iter().all(|&letter| run.teacher.symbols.class_of(letter).is_some()));
        for letter in ['\u{3b1}', '\u{e9}', '\u{44f}'] {
            assert_eq!(run.teacher.symbols.class_of(letter), None, "{letter:?}");
        }
    }

    /// `e` is like other digits at first, but it begins no number.
    #[test]
    fn a_class_is_split_by_the_character_that_makes_the_difference() {
        let numbers = |text: &str| {
            let digits = text.chars().all(|letter| letter.is_ascii_digit());
            !text.is_empty() && digits && (text.len() == 1 || !text.starts_with('0'))
        };
        let mut run = run(&numbers, &["1", "12", "120"]);
        let [zero, one] = ['0', '1'].map(|letter| run.teacher.symbols.class_of(letter));
        if zero == one {
            let word = run.teacher.symbols.base("11").unwrap();
            assert!(run.split_class(&word, "01").unwrap());
        }
        let [zero, one, two] = ['0', '1', '2'].map(|letter| run.teacher.symbols.class_of(letter));
        assert!(zero.is_some() && zero != one && one == two);
    }

    /// What continues a text that took too long is not asked about.
    #[test]
    fn texts_on_which_the_program_hangs_are_not_continued() {
        struct Hangs;
        impl Program for Hangs {
            fn ask(&self, text: &str) -> Reply {
                let valid = !text.is_empty() && text.chars().all(|letter| letter == 'x' || letter == 'e');
                match text.matches('e').count() {
                    0 | 1 if valid => Reply::Yes,
                    0 | 1 => Reply::No,
                    2 => Reply::Failed(Failure::Timeout),
                    _ => panic!("{text:?} continues a text that took too long"),
                }
            }
        }
        let mut run = run(&Hangs, &["x", "xe"]);
        let automaton = run.freeze(crate::learn::learner::ALL).unwrap();
        let test = |run: &Inference<'_>, text: &str| (run.teacher.symbols.base(text).unwrap(), text.to_string());
        let tests = vec![test(&run, "exe")];
        run.judge(tests, &automaton).unwrap();
        let tests = ["exee", "xexexe", "xx"].map(|text| test(&run, text)).to_vec();
        run.judge(tests, &automaton).unwrap();
        assert_eq!(run.teacher.queries.known("xx"), Some(true));
    }

    #[test]
    fn parts_of_a_word_need_not_be_neighbors() {
        let run = run(&lists, &["x", "[x,x]"]);
        let word = |text: &str| run.teacher.symbols.base(text).unwrap();
        let all = texts("x[", 4);
        for (part, whole) in all.iter().flat_map(|part| all.iter().map(move |whole| (part, whole))) {
            let mut rest = whole.chars();
            let slow = part.chars().all(|letter| rest.by_ref().any(|other| other == letter));
            assert_eq!(is_within(&word(part), &word(whole)), slow, "{part} {whole}");
        }
    }
}
