//! Deterministic automata over characters, their products, and regular expressions of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use crate::text::charset::{CharSet, beyond_ascii};
use crate::write::readable::Words;

/// The character that stands for all of those outside of ASCII.
pub(super) const BEYOND: char = '\u{e9}';
/// Returns the character that stands for another one in automata.
pub(super) fn known(letter: char) -> char {
    if letter.is_ascii() { letter } else { BEYOND }
}

/// The number of letters after which a drawn word comes to an end.
const LONG: usize = 8;
/// The most states of a product.
const MAX_PRODUCT: usize = 4000;

/// A deterministic automaton whose start is its first state. A missing move leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Dfa {
    moves: Vec<BTreeMap<char, usize>>,
    accepting: Vec<bool>,
}

/// Several automata at once.
#[derive(Debug)]
pub(super) struct Product {
    moves: Vec<BTreeMap<char, usize>>,
    /// Which of the automata accept in each state.
    pub(super) accepting: Vec<Vec<bool>>,
    /// A shortest word to each state.
    pub(super) words: Vec<String>,
}

impl Dfa {
    /// Creates the smallest automaton with the same words.
    pub(super) fn new(moves: Vec<BTreeMap<char, usize>>, accepting: Vec<bool>) -> Self {
        let mut this = Self { moves, accepting };
        this.trim();
        this.merge();
        this
    }

    /// Creates the automaton of all words of some letters.
    pub(super) fn repeated(letters: &[char]) -> Self {
        Self { moves: vec![letters.iter().map(|&letter| (letter, 0)).collect()], accepting: vec![true] }
    }

    /// Returns the automaton in which the characters of a text can also stand between any two parts.
    pub(super) fn with_anywhere(&self, text: &str) -> Self {
        let mut moves = self.moves.clone();
        moves[0].extend(text.chars().map(|letter| (known(letter), 0)));
        Self::new(moves, self.accepting.iter().enumerate().map(|(at, accepting)| *accepting || at == 0).collect())
    }

    /// Returns the number of states.
    pub(super) fn len(&self) -> usize {
        self.moves.len()
    }

    pub(super) fn accepts(&self, word: &str) -> bool {
        let end = word.chars().try_fold(0, |state, letter| self.moves[state].get(&known(letter)).copied());
        end.is_some_and(|state| self.accepting[state])
    }

    /// Returns whether there is no word.
    pub(super) fn is_empty(&self) -> bool {
        !self.accepting.contains(&true)
    }

    /// Returns a shortest word, if there is one.
    pub(super) fn shortest(&self) -> Option<String> {
        let product = Product::of(&[self])?;
        let first = product.accepting.iter().position(|accepting| accepting[0])?;
        Some(product.words[first].clone())
    }

    /// Draws a word. Each step leads to any of the next states with the same probability, so that rare ones occur.
    pub(super) fn draw(&self, random: &mut ChaCha8Rng) -> Option<String> {
        let ends = self.distances();
        let (mut state, mut word) = (0, String::new());
        ends[0]?;
        for length in 0.. {
            let may_end = self.accepting[state] && (length >= LONG || random.random_bool(0.3));
            if may_end || self.moves[state].is_empty() {
                break;
            }
            // After some steps, only towards the end.
            let is_near = |target: &usize| length < LONG || ends[*target] < ends[state];
            let mut targets: Vec<usize> = self.moves[state].values().copied().filter(is_near).collect();
            targets.sort_unstable();
            targets.dedup();
            let target = *targets.choose(random)?;
            let letters = self.moves[state].iter().filter(|(_, other)| **other == target);
            word.push(**letters.map(|(letter, _)| letter).collect::<Vec<_>>().choose(random)?);
            state = target;
        }
        Some(word)
    }

    /// Returns the number of steps from each state to an accepting one, if there is one.
    fn distances(&self) -> Vec<Option<usize>> {
        let mut ends: Vec<Option<usize>> = self.accepting.iter().map(|accepting| accepting.then_some(0)).collect();
        for distance in 1..=self.len() {
            for state in 0..self.len() {
                let is_next = |target: &usize| ends[*target] == Some(distance - 1);
                if ends[state].is_none() && self.moves[state].values().any(is_next) {
                    ends[state] = Some(distance);
                }
            }
        }
        ends
    }

    /// Leaves out moves to states from which no accepting one can be reached.
    fn trim(&mut self) {
        let mut live = self.accepting.clone();
        loop {
            let more: Vec<usize> = (0..self.len())
                .filter(|&state| !live[state] && self.moves[state].values().any(|&target| live[target]))
                .collect();
            if more.is_empty() {
                break;
            }
            more.into_iter().for_each(|state| live[state] = true);
        }
        self.moves.iter_mut().for_each(|moves| moves.retain(|_, target| live[*target]));
    }

    /// Merges states with the same words after them (Moore), and leaves out those that are not reachable.
    fn merge(&mut self) {
        let mut block: Vec<usize> = self.accepting.iter().map(|&accepting| usize::from(accepting)).collect();
        let mut count = 0;
        loop {
            let mut blocks: HashMap<(usize, Vec<(char, usize)>), usize> = HashMap::new();
            let next: Vec<usize> = (0..self.len())
                .map(|state| {
                    let targets = self.moves[state].iter().map(|(&letter, &target)| (letter, block[target])).collect();
                    let fresh = blocks.len();
                    *blocks.entry((block[state], targets)).or_insert(fresh)
                })
                .collect();
            block = next;
            if blocks.len() == count {
                break;
            }
            count = blocks.len();
        }
        // In the order in which they are reached.
        let (mut number, mut order, mut at) = (HashMap::from([(block[0], 0)]), vec![0], 0);
        while let Some(&state) = order.get(at) {
            for &target in self.moves[state].values() {
                let fresh = number.len();
                if *number.entry(block[target]).or_insert(fresh) == fresh {
                    order.push(target);
                }
            }
            at += 1;
        }
        let moves = |&state: &usize| {
            self.moves[state].iter().map(|(&letter, target)| (letter, number[&block[*target]])).collect()
        };
        *self = Self {
            moves: order.iter().map(moves).collect(),
            accepting: order.iter().map(|&state| self.accepting[state]).collect(),
        };
    }

    /// Returns an expression of all words that are not empty, as lexers write it. Something can enclose them: then, there
    /// may be nothing between. There is none if it is too large.
    pub(super) fn written(&self, quote: &str) -> Option<String> {
        let (letters, quotes): (BTreeSet<char>, Vec<char>) = (
            self.moves.iter().flat_map(|moves| moves.keys().copied()).chain(quote.chars()).collect(),
            quote.chars().collect(),
        );
        // Characters with the same moves are one set.
        let mut alike: BTreeMap<(Vec<Option<usize>>, Option<char>), CharSet> = BTreeMap::new();
        for &letter in &letters {
            let moves = self.moves.iter().map(|moves| moves.get(&letter).copied()).collect();
            let set = alike.entry((moves, quotes.contains(&letter).then_some(letter))).or_default();
            *set = set.union(&if letter == BEYOND { beyond_ascii() } else { CharSet::of(letter) });
        }
        let mut arcs: BTreeMap<(usize, usize), BTreeSet<usize>> = BTreeMap::new();
        // The states of the quotes come after the others: the first ones, then the last ones.
        let (first, last) = (self.len(), self.len() + quotes.len() + 1);
        for (set, (moves, own)) in alike.keys().enumerate() {
            for (from, target) in moves.iter().enumerate() {
                let Some(to) = target else { continue };
                arcs.entry((from, *to)).or_default().insert(set);
                if from == 0 && quotes.is_empty() {
                    arcs.entry((first, *to)).or_default().insert(set);
                }
            }
            for (at, _) in quotes.iter().enumerate().filter(|(_, letter)| Some(**letter) == *own) {
                let to = if at + 1 == quotes.len() { 0 } else { first + at + 1 };
                arcs.entry((first + at, to)).or_default().insert(set);
                let ends = (0..self.len()).filter(|&state| self.accepting[state]);
                let from = if at == 0 { ends.collect() } else { vec![last + at - 1] };
                from.into_iter().for_each(|from| _ = arcs.entry((from, last + at)).or_default().insert(set));
            }
        }
        let ends = if quotes.is_empty() {
            (0..self.len()).filter(|&state| self.accepting[state]).collect()
        } else {
            vec![last + quotes.len() - 1]
        };
        let sets: Vec<CharSet> = alike.into_values().collect();
        let arcs = arcs.into_iter().map(|((from, to), sets)| (from, sets, to)).collect();
        Words { sets: &sets, arcs, start: first, ends }.expression()
    }

    /// Returns the number of states, and of ways between two of them: of two automata, the smaller one has the shorter
    /// expression.
    pub(super) fn size(&self) -> (usize, usize) {
        let ways = |moves: &BTreeMap<char, usize>| moves.values().collect::<BTreeSet<_>>().len();
        (self.len(), self.moves.iter().map(ways).sum())
    }
}

impl Product {
    /// Makes a product. One that is too large does not exist.
    pub(super) fn of(all: &[&Dfa]) -> Option<Self> {
        let first: Vec<Option<usize>> = vec![Some(0); all.len()];
        let mut this = Self { moves: Vec::new(), accepting: Vec::new(), words: vec![String::new()] };
        let (mut number, mut order) = (HashMap::from([(first.clone(), 0)]), vec![first]);
        while let Some(states) = order.get(this.moves.len()).cloned() {
            let word = this.words[this.moves.len()].clone();
            let some = || all.iter().zip(&states).filter_map(|(dfa, state)| Some((dfa, (*state)?)));
            this.accepting
                .push(all.iter().zip(&states).map(|(dfa, at)| at.is_some_and(|at| dfa.accepting[at])).collect());
            let letters: BTreeSet<char> = some().flat_map(|(dfa, state)| dfa.moves[state].keys().copied()).collect();
            let mut moves = BTreeMap::new();
            for letter in letters {
                let step = |(dfa, state): (&&Dfa, &Option<usize>)| dfa.moves[(*state)?].get(&letter).copied();
                let target: Vec<Option<usize>> = all.iter().zip(&states).map(step).collect();
                let fresh = number.len();
                let at = *number.entry(target.clone()).or_insert(fresh);
                if at == fresh {
                    if fresh == MAX_PRODUCT {
                        return None;
                    }
                    order.push(target);
                    this.words.push(format!("{word}{letter}"));
                }
                moves.insert(letter, at);
            }
            this.moves.push(moves);
        }
        Some(this)
    }

    /// Returns which of the automata accept a word.
    pub(super) fn accept(&self, word: &str) -> Option<&[bool]> {
        let end = word.chars().try_fold(0, |state, letter| self.moves[state].get(&known(letter)).copied());
        end.map(|state| self.accepting[state].as_slice())
    }

    /// Returns the automaton of the words that some of the automata accept, by their numbers.
    pub(super) fn of_those(&self, accepts: impl Fn(&[bool]) -> bool) -> Dfa {
        Dfa::new(self.moves.clone(), self.accepting.iter().map(|vector| accepts(vector)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::texts;

    /// An automaton of texts, as a tree.
    fn of_words(words: &[&str]) -> Dfa {
        let (mut moves, mut accepting) = (vec![BTreeMap::new()], vec![false]);
        for word in words {
            let mut state = 0;
            for letter in word.chars() {
                let fresh = moves.len();
                state = *moves[state].entry(letter).or_insert(fresh);
                if state == fresh {
                    moves.push(BTreeMap::new());
                    accepting.push(false);
                }
            }
            accepting[state] = true;
        }
        Dfa::new(moves, accepting)
    }

    #[test]
    fn automata_are_minimal() {
        let two = of_words(&["ab", "cb", "db"]);
        assert_eq!(two.len(), 3);
        assert!(two.accepts("db") && !two.accepts("d") && !two.accepts("x"));
        assert!(of_words(&[]).is_empty());
        assert_eq!(two, of_words(&["cb", "db", "ab"]));
    }

    #[test]
    fn drawn_words_are_accepted_and_differ() {
        let (one, two) = (BTreeMap::from([('a', 1)]), BTreeMap::from([('b', 0), ('c', 2)]));
        let dfa = Dfa::new(vec![one, two, BTreeMap::new()], vec![false, false, true]);
        let mut random = crate::testing::random();
        let words: BTreeSet<String> = (0..50).map(|_| dfa.draw(&mut random).unwrap()).collect();
        assert!(words.len() > 3 && words.iter().all(|word| dfa.accepts(word)), "{words:?}");
        assert_eq!(of_words(&[]).draw(&mut random), None);
    }

    #[test]
    fn products_tell_automata_apart() {
        let (one, two) = (of_words(&["a", "ab"]), of_words(&["ab", "c"]));
        let product = Product::of(&[&one, &two]).unwrap();
        assert_eq!(product.accept("ab"), Some([true, true].as_slice()));
        assert_eq!(product.accept("c"), Some([false, true].as_slice()));
        assert_eq!(product.accept("x"), None);
        let both = product.of_those(|accepts| accepts == [true, true]);
        assert!(both.accepts("ab") && !both.accepts("a") && !both.accepts("c"));
        assert_eq!(product.words.len(), product.accepting.len());
    }

    #[test]
    fn expressions_have_the_words_of_automata() {
        let digits: BTreeMap<char, usize> = ('0'..='9').map(|digit| (digit, 1)).collect();
        let numbers = Dfa::new(vec![digits.clone(), digits], vec![false, true]);
        let written = numbers.written("").unwrap();
        assert_eq!(written, "[0-9]+");
        let expression = regex::Regex::new(&format!("^({written})$")).unwrap();
        for word in ["", "0", "12", "007", "1x", "x"] {
            assert_eq!(expression.is_match(word), numbers.accepts(word), "{word:?}");
        }
        assert_eq!(of_words(&[]).written(""), None);
    }

    /// The slow way: all words of a few letters.
    #[test]
    fn enclosed_words_may_contain_what_encloses_them() {
        let digits: BTreeMap<char, usize> = ('0'..='9').map(|digit| (digit, 0)).collect();
        let plain = Dfa::new(vec![digits.clone()], vec![true]);
        assert_eq!(plain.written("'").unwrap(), "'[0-9]*'");
        assert_eq!(plain.written("\"\"\"").unwrap(), "\\\"{3}[0-9]*\\\"{3}");
        // A quote that is written twice stands for itself.
        let mut doubled = digits;
        doubled.insert('\'', 1);
        let doubled = Dfa::new(vec![doubled, BTreeMap::from([('\'', 0)])], vec![true, false]);
        let written = doubled.written("'").unwrap();
        let expression = regex::Regex::new(&format!("^({written})$")).unwrap();
        for word in texts("0'x", 6) {
            let inner = word.strip_prefix('\'').and_then(|word| word.strip_suffix('\''));
            let valid = inner.is_some_and(|inner| doubled.accepts(inner));
            assert_eq!(expression.is_match(&word), valid, "{word}: {written}");
        }
    }
}
