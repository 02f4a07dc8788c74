//! The state of a run: symbols, tags and hypothesis, and how a text or word changes them.

use std::collections::{BTreeSet, HashMap, HashSet};

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::ask::queries::Stop;
use crate::learn::automaton::Automaton;
use crate::learn::hypothesis::{Hypothesis, Model};
use crate::learn::learner::{Learned, Learner};
use crate::learn::reductions::Reducer;
use crate::text::charset::CharSet;
use crate::text::classes::{classes, partition, representative};
use crate::text::shrink::{is_short, shrink};
use crate::text::symbols::{Sym, Word};
use crate::text::tags::{self, Tags};
use crate::text::teacher::Teacher;

/// The number of spans that are tried when tags are inferred again.
const MORE_SPANS: usize = 40_000;
/// The number of times that tags are inferred.
const MAX_TAGGINGS: usize = 6;

/// The most times, very roughly, that a part of an example is repeated in the first tests.
const REPEATED: f64 = 40.;

/// The number of queries of each step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// To shrink examples, and to find classes of characters.
    pub classes: usize,
    /// To find openers and closers.
    pub tags: usize,
    /// To find states, with all tests but the last.
    pub learning: usize,
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
    /// Valid texts that are too long for exhaustive work.
    pub(crate) long: Vec<String>,
    /// Characters without a use so far.
    pub(crate) unused: Vec<CharSet>,
    pub(crate) tags: Tags,
    taggings: usize,
    /// Whether the tags have changed, so that words of older symbols have no meaning.
    pub(crate) retagged: bool,
    /// Whether the last round left suggestions for the next.
    pub(crate) unfinished: bool,
    /// Whether the last round could not find all suggestions.
    pub(crate) cut: bool,
    /// The most times, very roughly, that a part of an example is repeated in tests.
    pub(crate) repeated: f64,
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
    pub(crate) fn new(teacher: Teacher<'a>, seed: u64, reductions: bool) -> Self {
        Self {
            teacher,
            learner: Learner::new(Vec::new(), Vec::new()),
            reducer: reductions.then(Reducer::default),
            random: ChaCha8Rng::seed_from_u64(seed),
            words: Vec::new(),
            long: Vec::new(),
            unused: Vec::new(),
            tags: Tags::default(),
            taggings: 0,
            retagged: false,
            unfinished: false,
            cut: false,
            repeated: REPEATED,
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
        if texts.iter().any(|text| !is_short(text, &self.teacher.symbols)) {
            short = shrink(texts, &mut self.teacher)?;
            self.long = texts.iter().filter(|text| !short.contains(text)).cloned().collect();
            self.log.push(format!("{} examples shrunk to {} short ones", texts.len(), short.len()));
        }
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
        let found = classes(short, &mut self.teacher)?;
        self.unused = found.unused;
        for (letter, members) in found.used {
            self.teacher.symbols.add_class(letter, members);
        }
        short.sort_by_key(|text| text.chars().count());
        short.iter().try_for_each(|text| self.represent(text))
    }

    /// Splits classes until the text is valid with the representatives of its characters, too.
    fn represent(&mut self, text: &str) -> Result<(), Stop> {
        if self.teacher.symbols.lexer().is_some() {
            return Ok(());
        }
        for letter in text.chars() {
            if self.teacher.symbols.class_of(letter).is_none() {
                self.use_letter(letter, &CharSet::of(letter));
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

    /// Makes a class of characters that had no use.
    fn use_letter(&mut self, letter: char, members: &CharSet) {
        for part in &mut self.unused {
            *part = part.without(members);
        }
        self.unused.retain(|part| !part.is_empty());
        self.teacher.symbols.add_class(letter, members.clone());
    }

    fn tell_tags(&self) -> String {
        let text = |tags: &BTreeSet<Word>| {
            let texts: Vec<String> = tags.iter().map(|tag| self.teacher.symbols.render(tag)).collect();
            texts.join(" ")
        };
        format!("opens {}, closes {}", text(&self.tags.calls), text(&self.tags.returns))
    }

    /// Finds tags, and begins a new hypothesis.
    fn tag(&mut self, spans: Option<usize>) -> Result<(), Stop> {
        self.taggings += 1;
        self.retagged = true;
        self.tags = tags::infer(&self.words, &mut self.teacher, spans)?;
        let symbols = &mut self.teacher.symbols;
        symbols.read_literals(self.tags.calls.iter().chain(&self.tags.returns));
        let calls = self.tags.calls.iter().filter_map(|tag| symbols.of_tag(tag)).collect();
        let returns = self.tags.returns.iter().filter_map(|tag| symbols.of_tag(tag)).collect();
        self.learner = Learner::new(calls, returns);
        self.tested.clear();
        Ok(())
    }

    /// The text is one of the word, but judged differently: finds the character that makes the difference, and splits its
    /// class. Returns whether a class was split.
    fn split_class(&mut self, word: &[Sym], text: &str) -> Result<bool, Stop> {
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
            let (away, _) = self.divided(&members, (&before, &after), !truth)?;
            let away = away.union(&CharSet::of(letter)).without(&CharSet::of(own));
            self.teacher.symbols.shrink(class, members.without(&away));
            self.teacher.symbols.add_class(representative(&away, &self.seen), away);
            return Ok(true);
        }
        Ok(false)
    }

    /// Divides characters by whether they have an answer in a context.
    fn divided(&mut self, set: &CharSet, context: (&str, &str), answer: bool) -> Result<(CharSet, CharSet), Stop> {
        let teacher = &mut self.teacher;
        partition(set, &mut |letters| {
            let texts: Vec<String> =
                letters.iter().map(|letter| format!("{}{letter}{}", context.0, context.1)).collect();
            Ok(teacher.all_valid(&texts)?.into_iter().map(|valid| valid == answer).collect())
        })
    }

    /// Learns from a word. Tags that turn out to be wrong are inferred again. Returns whether anything was learned.
    pub(crate) fn absorb(&mut self, word: &[Sym]) -> Result<bool, Stop> {
        match self.learner.learn_from(word, &mut self.teacher)? {
            Learned::Nothing => Ok(false),
            Learned::Refined => Ok(true),
            Learned::Mistagged => self.retag(word),
        }
    }

    fn retag(&mut self, word: &[Sym]) -> Result<bool, Stop> {
        let text = self.teacher.symbols.render(word);
        let base = self.teacher.symbols.expand(word);
        if self.unmatched.contains(&text) {
            return Ok(false);
        }
        if self.taggings >= MAX_TAGGINGS || self.words.contains(&base) || !self.teacher.valid(&text)? {
            self.unmatched.push(text);
            return Ok(false);
        }
        self.words.push(base);
        self.tag(Some(MORE_SPANS))?;
        self.log.push(format!("the tags do not fit {text:?}; now {}", self.tell_tags()));
        self.absorb_all()?;
        Ok(true)
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

    /// Learns from the long examples.
    pub(crate) fn absorb_long(&mut self) -> Result<(), Stop> {
        for text in self.long.clone() {
            let Some(base) = self.teacher.symbols.base(&text) else { continue };
            let word = self.teacher.symbols.lex(&base);
            if self.teacher.valid(&self.teacher.symbols.render(&word))? {
                self.absorb(&word)?;
            } else {
                self.split_class(&base, &text)?;
            }
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
            }
        }
        Ok(learned)
    }

    /// Makes all decisions of the hypothesis, and keeps it.
    pub(crate) fn freeze(&mut self) -> Result<Automaton, Stop> {
        let automaton = Automaton::freeze(&mut self.learner, &mut self.teacher)?;
        let model = Model::Modules(automaton.clone());
        self.frozen = Some(Hypothesis { symbols: self.teacher.symbols.clone(), model });
        Ok(automaton)
    }

    /// Learns reductions until a whole round of tests finds nothing. Returns whether it did, or nothing if the first
    /// learner is used.
    pub(crate) fn learn_reductions(&mut self, tests: usize, rounds: usize) -> Result<Option<bool>, Stop> {
        let Some(reducer) = &mut self.reducer else { return Ok(None) };
        let began = self.teacher.queries.asked;
        let learned = reducer.learn(&self.words, (tests, rounds), &mut self.teacher, &mut self.random);
        let model = Model::Reductions(reducer.found.clone());
        self.frozen = Some(Hypothesis { symbols: self.teacher.symbols.clone(), model });
        let (settled, last_test) = learned?;
        self.spent.last_test = last_test;
        self.spent.learning = self.teacher.queries.asked - began - last_test;
        let (size, queries) = (reducer.found.len(), self.teacher.queries.asked);
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

    /// Compares words with the hypothesis, and learns from those that it misjudges. Returns their number.
    pub(crate) fn judge(&mut self, words: &[Word]) -> Result<usize, Stop> {
        let words: Vec<Word> = words.iter().map(|word| self.teacher.symbols.relex(word)).collect();
        let texts: Vec<String> = words.iter().map(|word| self.concrete(word)).collect();
        let answers = self.teacher.queries.ask_all(&texts)?;
        let mut wrong = 0;
        for ((word, text), answer) in words.into_iter().zip(&texts).zip(answers) {
            let Some(answer) = answer else { continue };
            if answer != self.learner.accepts(&word, &mut self.teacher)? {
                wrong += usize::from(self.correct(&word, text, answer)?);
            }
            if self.retagged {
                break;
            }
            self.tested.insert(word, answer);
        }
        Ok(wrong)
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
        let (members, _) = self.divided(&part, (&before, &after), true)?;
        self.use_letter(letter, &members.union(&CharSet::of(letter)));
        if let Some(base) = self.teacher.symbols.base(&text) {
            let word = self.teacher.symbols.lex(&base);
            self.absorb(&word)?;
        }
        Ok(true)
    }
}
