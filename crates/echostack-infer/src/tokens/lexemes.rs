//! The lexemes that fit a context are a language of their own, which is learned as a deterministic automaton.
//!
//! The learner is Angluin's L*, with the counterexamples of Rivest and Schapire. Its alphabet are classes of characters,
//! which a counterexample can split as well as a state. The hypothesis is tested near its samples, and on words that tell
//! neighboring automata apart.

use std::collections::{BTreeMap, HashMap};

use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};
use rand_chacha::ChaCha8Rng;

use super::dfa::Dfa;
use crate::ask::queries::Stop;

/// The most states before a language is given up.
const MAX_STATES: usize = 60;
/// The samples from which the first classes are made, their places, and the samples near which the hypothesis is tested.
const FIRST: (usize, usize) = (4, 14);
const TESTED: usize = 7;
const LONGEST: usize = 12;
/// The number of random words with which a hypothesis is tested.
const RANDOM: usize = 200;
/// The part of the words that are left that may go to tests of ways that join others.
const JOINED: usize = 4;
/// The number of words that are asked about at the same time.
const BATCH: usize = 64;

/// Whether words are lexemes.
pub(super) type Member<'a> = dyn FnMut(&[String]) -> Result<Vec<bool>, Stop> + 'a;

/// Why a language was not learned.
#[derive(Debug)]
pub(super) enum Ended {
    /// It needs too many words or states.
    TooLarge,
    /// A limit of the run is reached.
    Stopped(Stop),
}

impl From<Stop> for Ended {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

/// A learner of lexemes.
#[derive(Debug)]
pub(super) struct Lexemes {
    /// The most words that are asked about before the language is given up.
    most: usize,
    /// Valid lexemes near which the hypothesis is tested.
    samples: Vec<String>,
    known: HashMap<String, bool>,
    /// The characters of each class, the first of which stands for the others.
    classes: Vec<Vec<char>>,
    class_of: BTreeMap<char, usize>,
    access: Vec<String>,
    suffixes: Vec<String>,
    moves: Vec<Vec<usize>>,
    accepting: Vec<bool>,
}

impl Lexemes {
    /// Learns the lexemes over an alphabet, if that needs no more than `most` words.
    pub(super) fn learn(
        alphabet: Vec<char>,
        mut samples: Vec<String>,
        most: usize,
        member: &mut Member<'_>,
        random: &mut ChaCha8Rng,
    ) -> Result<Self, Ended> {
        // What is near a sample with other characters cannot be learned from.
        samples.retain(|sample| sample.chars().all(|letter| alphabet.contains(&letter)));
        let mut this = Self {
            most,
            samples,
            known: HashMap::new(),
            classes: vec![alphabet],
            class_of: BTreeMap::new(),
            access: vec![String::new()],
            suffixes: vec![String::new()],
            moves: Vec::new(),
            accepting: Vec::new(),
        };
        this.make_classes(member)?;
        this.close(member)?;
        this.refine(member, random)?;
        Ok(this)
    }

    /// Learns until the tests find nothing.
    pub(super) fn refine(&mut self, member: &mut Member<'_>, random: &mut ChaCha8Rng) -> Result<(), Ended> {
        'tests: loop {
            let tests = self.tests(random);
            for batch in tests.chunks(BATCH) {
                self.ask(batch, member)?;
                if let Some(wrong) = batch.iter().find(|word| self.known[*word] != self.accepts(word)).cloned() {
                    self.correct(&wrong, member)?;
                    continue 'tests;
                }
            }
            return Ok(());
        }
    }

    /// Learns from a word, and keeps it as a sample if it is a lexeme. Returns whether the hypothesis misjudged it.
    pub(super) fn correct(&mut self, word: &str, member: &mut Member<'_>) -> Result<bool, Ended> {
        let mut wrong = false;
        while word.chars().all(|letter| self.class_of.contains_key(&letter)) {
            let truth = self.is_member(word, member)?;
            if truth && !self.samples.iter().any(|sample| sample == word) {
                self.samples.push(word.to_string());
            }
            if truth == self.accepts(word) {
                break;
            }
            wrong = true;
            self.split(word, member)?;
        }
        Ok(wrong)
    }

    /// Splits a class of characters or a state by a word that is misjudged.
    fn split(&mut self, word: &str, member: &mut Member<'_>) -> Result<(), Ended> {
        let letters: Vec<char> = word.chars().collect();
        let mut states = vec![0];
        for letter in &letters {
            states.push(self.moves[states[states.len() - 1]][self.class_of[letter]]);
        }
        let rest = |at: usize| letters[at..].iter().collect::<String>();
        let words: Vec<String> =
            (0..letters.len()).map(|at| format!("{}{}", self.access[states[at]], rest(at))).collect();
        let first = self.is_member(&words[0], member)?;
        let (mut low, mut high) = (0, letters.len());
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if self.is_member(&words[middle], member)? == first { low = middle } else { high = middle }
        }
        let (before, letter, after) = (self.access[states[low]].clone(), letters[low], rest(high));
        let class = self.class_of[&letter];
        let with = |letter: char| format!("{before}{letter}{after}");
        let own = self.is_member(&with(self.classes[class][0]), member)?;
        let known = (self.classes.clone(), self.suffixes.clone(), self.access.clone());
        if own == self.is_member(&with(letter), member)? {
            self.suffixes.push(after);
        } else {
            let texts: Vec<String> = self.classes[class].iter().map(|&letter| with(letter)).collect();
            self.ask(&texts, member)?;
            let (same, other) = self.classes[class].iter().partition(|&&letter| self.known[&with(letter)] == own);
            self.classes[class] = same;
            self.classes.push(other);
            self.index();
        }
        let closed = self.close(member);
        if closed.is_err() {
            // The hypothesis stays as it was, and can be used.
            (self.classes, self.suffixes, self.access) = known;
            self.index();
        }
        closed
    }

    /// Returns whether the hypothesis accepts a word.
    pub(super) fn accepts(&self, word: &str) -> bool {
        let mut state = 0;
        for letter in word.chars() {
            let Some(&class) = self.class_of.get(&letter) else { return false };
            state = self.moves[state][class];
        }
        self.accepting[state]
    }

    /// Returns the automaton, without states from which no lexeme can be reached.
    pub(super) fn automaton(&self) -> Dfa {
        let moves = self.moves.iter().map(|targets| {
            let all = self.classes.iter().zip(targets);
            all.flat_map(|(class, &target)| class.iter().map(move |&letter| (letter, target))).collect()
        });
        Dfa::new(moves.collect(), self.accepting.clone())
    }

    /// Returns the number of states.
    pub(super) fn size(&self) -> usize {
        self.access.len()
    }

    /// Returns words that were found to be lexemes, in the order of the alphabet.
    pub(super) fn found(&self) -> Vec<&str> {
        let mut found: Vec<&str> = self.known.iter().filter(|(_, yes)| **yes).map(|(word, _)| word.as_str()).collect();
        found.sort_unstable();
        found
    }

    fn is_member(&mut self, word: &str, member: &mut Member<'_>) -> Result<bool, Ended> {
        self.ask(&[word.to_string()], member)?;
        Ok(self.known[word])
    }

    fn ask(&mut self, words: &[String], member: &mut Member<'_>) -> Result<(), Ended> {
        let mut open: Vec<String> = words.iter().filter(|word| !self.known.contains_key(*word)).cloned().collect();
        open.sort_unstable();
        open.dedup();
        if self.known.len() + open.len() > self.most {
            return Err(Ended::TooLarge);
        }
        let answers = member(&open)?;
        self.known.extend(open.into_iter().zip(answers));
        Ok(())
    }

    /// Puts characters into a class if they can stand for each other in the samples.
    fn make_classes(&mut self, member: &mut Member<'_>) -> Result<(), Ended> {
        let mut short: Vec<&String> = self.samples.iter().collect();
        short.sort_by_key(|sample| (sample.len(), sample.as_str()));
        let mut places: Vec<(String, String)> = Vec::new();
        for sample in short.into_iter().take(FIRST.0) {
            let letters: Vec<char> = sample.chars().collect();
            let part = |from: usize, to: usize| letters[from..to].iter().collect::<String>();
            for at in 0..=letters.len().min(LONGEST / 2) {
                let after = (at + 1).min(letters.len());
                places.extend([(part(0, at), part(at, letters.len())), (part(0, at), part(after, letters.len()))]);
            }
        }
        places.dedup();
        places.truncate(FIRST.1);
        let letters = std::mem::take(&mut self.classes).concat();
        let with = |letter: char, (before, after): &(String, String)| format!("{before}{letter}{after}");
        let words: Vec<String> =
            letters.iter().flat_map(|&letter| places.iter().map(move |place| with(letter, place))).collect();
        self.ask(&words, member)?;
        let mut classes: BTreeMap<Vec<bool>, Vec<char>> = BTreeMap::new();
        for letter in letters {
            classes
                .entry(places.iter().map(|place| self.known[&with(letter, place)]).collect())
                .or_default()
                .push(letter);
        }
        self.classes = classes.into_values().collect();
        self.index();
        Ok(())
    }

    fn index(&mut self) {
        let all = self.classes.iter().enumerate();
        self.class_of = all.flat_map(|(at, class)| class.iter().map(move |&letter| (letter, at))).collect();
    }

    /// Adds states until each step from a state leads to one.
    fn close(&mut self, member: &mut Member<'_>) -> Result<(), Ended> {
        loop {
            let nexts: Vec<Vec<String>> = (self.access.iter())
                .map(|word| self.classes.iter().map(|class| format!("{word}{}", class[0])).collect())
                .collect();
            let ends =
                |word: &str| -> Vec<String> { self.suffixes.iter().map(|suffix| format!("{word}{suffix}")).collect() };
            let words: Vec<String> =
                self.access.iter().chain(nexts.iter().flatten()).flat_map(|word| ends(word)).collect();
            self.ask(&words, member)?;
            let row = |word: &str| -> Vec<bool> {
                self.suffixes.iter().map(|suffix| self.known[&format!("{word}{suffix}")]).collect()
            };
            let mut states: HashMap<Vec<bool>, usize> = HashMap::new();
            for (at, word) in self.access.iter().enumerate() {
                states.entry(row(word)).or_insert(at);
            }
            let fresh = nexts.iter().flatten().find(|word| !states.contains_key(&row(word))).cloned();
            let Some(fresh) = fresh else {
                self.moves = nexts.iter().map(|nexts| nexts.iter().map(|word| states[&row(word)]).collect()).collect();
                self.accepting = self.access.iter().map(|word| self.known[word]).collect();
                return Ok(());
            };
            if self.access.len() == MAX_STATES {
                return Err(Ended::TooLarge);
            }
            self.access.push(fresh);
        }
    }

    /// Returns words that a wrong hypothesis probably misjudges.
    fn tests(&self, random: &mut ChaCha8Rng) -> Vec<String> {
        let mut tests = self.samples.clone();
        let mut some = self.samples.clone();
        some.shuffle(random);
        for sample in some.iter().take(TESTED) {
            let letters: Vec<char> = sample.chars().collect();
            let spliced = |from: usize, to: usize, letter: Option<char>| -> String {
                letters[..from].iter().copied().chain(letter).chain(letters[to..].iter().copied()).collect()
            };
            for at in 0..=letters.len().min(LONGEST) {
                for class in &self.classes {
                    let letter = class.choose(random).copied();
                    tests.push(spliced(at, at, letter));
                    if at < letters.len() {
                        tests.push(spliced(at, at + 1, letter));
                    }
                }
                if let Some(&letter) = letters.get(at) {
                    tests.push(spliced(at, at + 1, None));
                    let other = if letter.is_ascii_uppercase() {
                        letter.to_ascii_lowercase()
                    } else {
                        letter.to_ascii_uppercase()
                    };
                    tests.push(spliced(at, at + 1, Some(other)));
                }
            }
        }
        let ends = self.ends();
        let mut known: Vec<&String> = ends.iter().flatten().collect();
        known.sort_unstable();
        known.dedup();
        let mut joined = Vec::new();
        // Every character after every state, and every class after every class after every state.
        for (state, word) in self.access.iter().enumerate().filter(|(state, _)| ends[*state].is_some()) {
            for (class, letters) in self.classes.iter().enumerate() {
                let target = self.moves[state][class];
                let is_tree = self.access[target] == format!("{word}{}", letters[0]);
                for letter in letters {
                    match &ends[target] {
                        Some(end) => tests.push(format!("{word}{letter}{end}")),
                        None => tests.extend(known.iter().take(3).map(|end| format!("{word}{letter}{end}"))),
                    }
                }
                if ends[target].is_none() {
                    continue;
                }
                let last = letters[letters.len() - 1];
                for (further, letters) in self.classes.iter().enumerate() {
                    let end = ends[self.moves[target][further]].as_ref().or(known.last().copied());
                    let next = letters[letters.len() - 1];
                    tests.extend(end.map(|end| format!("{word}{last}{next}{end}")));
                    // A way that joins another one can lead elsewhere only after one more character: `1e+` is like `1.`,
                    // and `1e+5` is not like `1.5`. What tells states apart anywhere may tell these apart, too.
                    if !is_tree && ends[self.moves[target][further]].is_some() {
                        joined.extend(self.suffixes.iter().map(|suffix| format!("{word}{last}{next}{suffix}")));
                    }
                }
            }
        }
        joined.shuffle(random);
        joined.truncate(self.most.saturating_sub(self.known.len()) / JOINED);
        tests.extend(joined);
        for _ in 0..RANDOM {
            let mut word = self.access.choose(random).cloned().unwrap_or_default();
            for _ in 0..random.random_range(1..4) {
                word.extend(self.classes.choose(random).and_then(|class| class.choose(random)));
            }
            word += self.suffixes.choose(random).map_or("", String::as_str);
            tests.push(word);
        }
        tests
    }

    /// Returns a shortest word from each state to an accepting one, if there is one.
    fn ends(&self) -> Vec<Option<String>> {
        let mut ends: Vec<Option<String>> =
            self.accepting.iter().map(|accepting| accepting.then(String::new)).collect();
        loop {
            let mut longer = Vec::new();
            for (state, targets) in self.moves.iter().enumerate().filter(|(state, _)| ends[*state].is_none()) {
                let step =
                    targets.iter().enumerate().find_map(|(class, &target)| Some((class, ends[target].as_ref()?)));
                longer.extend(step.map(|(class, end)| (state, format!("{}{end}", self.classes[class][0]))));
            }
            if longer.is_empty() {
                return ends;
            }
            longer.into_iter().for_each(|(state, end)| ends[state] = Some(end));
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn alphabet() -> Vec<char> {
        ('!'..='~').collect()
    }

    fn learn(samples: &[&str], language: &regex::Regex) -> (Result<Lexemes, Ended>, usize) {
        let mut asked = 0;
        let mut member = |words: &[String]| {
            asked += words.len();
            Ok(words.iter().map(|word| language.is_match(word)).collect())
        };
        let samples = samples.iter().map(ToString::to_string).collect();
        let learned = Lexemes::learn(alphabet(), samples, 25_000, &mut member, &mut ChaCha8Rng::seed_from_u64(0));
        (learned, asked)
    }

    #[test]
    fn names_and_numbers_are_learned_exactly() {
        for (samples, pattern, states) in [
            (vec!["ab", "x1"], "^[A-Za-z_][A-Za-z0-9_]*$", 2),
            (vec!["1", "-2.5", "0", "1e9"], r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$", 9),
            (
                vec!["1", "-1.5e3", "ID"],
                r"^([A-Za-z_][A-Za-z0-9_]*|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?)$",
                10,
            ),
            (vec!["1", "0x1F"], "^(0|[1-9][0-9]*|0[xX][0-9a-fA-F]+)$", 5),
        ] {
            let language = regex::Regex::new(pattern).unwrap();
            let (learned, asked) = learn(&samples, &language);
            let automaton = learned.unwrap().automaton();
            assert_eq!(automaton.len(), states, "{pattern}");
            assert!(asked < 8000, "{pattern}: {asked} words");
            let written = automaton.written("").unwrap();
            let expression = regex::Regex::new(&format!("^({written})$")).unwrap();
            let mut random = ChaCha8Rng::seed_from_u64(1);
            for _ in 0..20_000 {
                let length = random.random_range(0..10);
                let word: String =
                    (0..length).map(|_| *b"019aFfxXeE+-._".choose(&mut random).unwrap() as char).collect();
                assert_eq!(automaton.accepts(&word), language.is_match(&word), "{pattern}: {word}");
                assert_eq!(expression.is_match(&word), language.is_match(&word), "{written}: {word}");
            }
        }
    }

    #[test]
    fn samples_with_other_characters_are_left_out() {
        let language = regex::Regex::new("^[a-z\u{e9}\u{4e2d}]+$").unwrap();
        let (learned, _) = learn(&["ab", "a\u{4e2d}b"], &language);
        assert!(learned.is_ok_and(|learned| learned.accepts("zq") && !learned.accepts("z1")));
    }

    #[test]
    fn what_is_not_regular_is_given_up() {
        let mut member = |words: &[String]| {
            let nested = |word: &String| {
                let half = word.len() / 2;
                word.len().is_multiple_of(2)
                    && word[..half].chars().all(|c| c == '(')
                    && word[half..].chars().all(|c| c == ')')
            };
            Ok(words.iter().map(nested).collect())
        };
        let samples = vec!["(())".to_string(), "((((()))))".to_string()];
        let learned = Lexemes::learn(alphabet(), samples, 25_000, &mut member, &mut ChaCha8Rng::seed_from_u64(0));
        // The tests are near the samples, so what is learned is a part of the language, or nothing.
        assert!(learned.is_err() || learned.is_ok_and(|learned| learned.accepts("(())")));
    }
}
