//! Words spelled as texts, which the lexer splits into the same tokens again.
//!
//! A lexer takes the longest match, so a token may end only where no later byte lets its rule, or another one, match
//! more. The automaton therefore goes on reading after each token: if it matches again before it gives up, then the
//! next piece of text does not fit there, and something that the lexer skips comes in between.

use std::collections::{BTreeMap, HashSet, VecDeque};

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use super::strings::Strings;
use crate::lex::file::StateChange;
use crate::lex::lexer::Lexer;
use crate::lr::table::LrTable;

/// The number of times that a word is spelled until the text is split into its tokens.
const ATTEMPTS: usize = 8;
/// The number of strings that are drawn for a token until one fits.
const DRAWS: usize = 3;
/// The maximum number of pieces of text that are skipped before a token.
const MOST_SKIPPED: usize = 12;
/// The maximum number of stacks of start states that are searched for one in which a token can be read.
const MOST_STACKS: usize = 200;
/// The maximum number of tokens that may turn out to be longer at the same time. Lexers people write have a few.
const MOST_OPEN: usize = 1000;
/// The probability that the start state is changed where that is not needed, as by a comment.
const EXCURSION: f64 = 0.01;
/// What people put between tokens, most frequent first.
const BLANKS: [&str; 2] = [" ", "\n"];

/// What the lexer skips in a start state.
#[derive(Debug, Default)]
struct Skips {
    /// The blanks among it.
    blanks: Vec<&'static str>,
    /// The rules without a name that leave the start state as it is.
    plain: Vec<u32>,
    /// Those that change it.
    changing: Vec<u32>,
}

/// Spells words with a lexer.
pub(super) struct Speller<'a> {
    lexer: &'a Lexer,
    /// The number of the lexer's name for each terminal; `None` if it has none.
    names: Vec<Option<u32>>,
    strings: Vec<Strings>,
    /// For each start state, the rules that return each name.
    rules: Vec<BTreeMap<u32, Vec<u32>>>,
    skips: Vec<Skips>,
}

/// The start states of the lexer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Stack {
    current: usize,
    below: Vec<usize>,
}

/// A text that is being spelled.
struct Spelling {
    text: Vec<u8>,
    stack: Stack,
    /// The states of the automata that may still match more than a token that has ended, with their start states.
    open: Vec<(usize, u32)>,
}

impl Stack {
    /// Follows a change of the start state.
    fn change(&mut self, change: Option<StateChange>) {
        match change {
            None => {}
            Some(StateChange::Replace(state)) => *self = Self { current: state, below: Vec::new() },
            Some(StateChange::Begin(state)) => self.current = state,
            Some(StateChange::Push(state)) => self.below.push(std::mem::replace(&mut self.current, state)),
            Some(StateChange::Pop) => self.current = self.below.pop().unwrap_or(0),
        }
    }
}

impl<'a> Speller<'a> {
    pub(super) fn new(table: &LrTable, lexer: &'a Lexer) -> Self {
        let numbers: BTreeMap<&str, u32> = lexer.names().iter().map(String::as_str).zip(0..).collect();
        let names = table.names[..table.terminals].iter().map(|name| numbers.get(name.as_str()).copied()).collect();
        let strings: Vec<Strings> = lexer.states.iter().map(Strings::new).collect();
        let mut rules = Vec::new();
        let mut skips = Vec::new();
        for (strings, is_reached) in strings.iter().zip(reached(lexer, &strings)) {
            let (mut named, mut skipped) = (BTreeMap::<u32, Vec<u32>>::new(), Skips::default());
            for number in strings.matching().into_iter().filter(|_| is_reached) {
                let rule = lexer.rules[number as usize];
                match (rule.name, rule.change) {
                    (Some(name), _) => named.entry(name).or_default().push(number),
                    (None, None) => skipped.plain.push(number),
                    (None, Some(_)) => skipped.changing.push(number),
                }
            }
            let is_skipped = |blank: &&str| {
                let rule = strings.matched(strings.after(blank.as_bytes()));
                rule.is_some_and(|rule| skipped.plain.contains(&rule))
            };
            skipped.blanks = BLANKS.into_iter().filter(is_skipped).collect();
            rules.push(named);
            skips.push(skipped);
        }
        Self { lexer, names, strings, rules, skips }
    }

    /// Returns the lexer.
    pub(super) fn lexer(&self) -> &'a Lexer {
        self.lexer
    }

    /// Returns whether a text can contain a terminal, in a start state that a text can lead to.
    pub(super) fn produces(&self, terminal: usize) -> bool {
        self.names[terminal].is_some_and(|name| self.rules.iter().any(|rules| rules.contains_key(&name)))
    }

    /// Returns whether a text is split into the tokens of a word.
    pub(super) fn is_spelled(&self, table: &LrTable, text: &str, word: &[usize]) -> bool {
        let (tokens, fault) = self.lexer.tokens(text);
        fault.is_none() && tokens.iter().map(|token| token.name).eq(word.iter().map(|&token| &table.names[token]))
    }

    /// Spells a word. Returns `None` if no text was found that the lexer splits into its tokens.
    pub(super) fn spell(&mut self, random: &mut ChaCha8Rng, table: &LrTable, word: &[usize]) -> Option<String> {
        (0..ATTEMPTS).find_map(|_| {
            let text = String::from_utf8(self.attempt(random, word)?).ok()?;
            self.is_spelled(table, &text, word).then_some(text)
        })
    }

    fn attempt(&mut self, random: &mut ChaCha8Rng, word: &[usize]) -> Option<Vec<u8>> {
        let stack = Stack { current: 0, below: Vec::new() };
        let mut spelling = Spelling { text: Vec::new(), stack, open: Vec::new() };
        // Some people write blanks wherever they can, others only where they must.
        let blanks = *[0.05, 0.3, 0.6, 0.95].choose(random)?;
        for (place, &terminal) in word.iter().enumerate() {
            if random.random_bool(if place == 0 { 0.02 } else { blanks }) {
                self.skip(random, &mut spelling);
            }
            if random.random_bool(EXCURSION)
                && let Some(&rule) = self.skips[spelling.stack.current].changing.choose(random)
            {
                self.append(random, &mut spelling, rule);
            }
            self.add_token(random, &mut spelling, self.names[terminal]?)?;
        }
        if random.random_bool(0.1) {
            self.skip(random, &mut spelling);
        }
        Some(spelling.text)
    }

    /// Appends a token, and before it what is needed for it to be read. Returns `None` if no way was found.
    fn add_token(&mut self, random: &mut ChaCha8Rng, spelling: &mut Spelling, name: u32) -> Option<()> {
        for _ in 0..MOST_SKIPPED {
            let current = spelling.stack.current;
            if let Some(rules) = self.rules[current].get(&name) {
                let rules = rules.clone();
                for _ in 0..DRAWS {
                    let &rule = rules.choose(random)?;
                    if self.append(random, spelling, rule) {
                        return Some(());
                    }
                }
                if !self.skip(random, spelling) {
                    return None;
                }
            } else {
                // As inside of a comment: something may come before its end.
                if random.random_bool(0.5) {
                    self.skip(random, spelling);
                }
                let rule = self.way_out(&spelling.stack, name)?;
                if !self.append(random, spelling, rule) && !self.skip(random, spelling) {
                    return None;
                }
            }
        }
        None
    }

    /// Appends something that the lexer skips. Returns whether there was anything that fits.
    fn skip(&mut self, random: &mut ChaCha8Rng, spelling: &mut Spelling) -> bool {
        let current = spelling.stack.current;
        let Skips { blanks, plain, .. } = &self.skips[current];
        let blank = match random.random_range(0..20) {
            0..14 => blanks.first(),
            14..18 => blanks.last(),
            _ => None,
        };
        if let Some(blank) = blank
            && self.append_string(spelling, blank.as_bytes())
        {
            return true;
        }
        let Some(&rule) = plain.choose(random) else { return false };
        // A line break ends what a blank would continue, such as a comment up to the end of the line.
        let breaks = blanks.clone();
        self.append(random, spelling, rule) || breaks.iter().any(|blank| self.append_string(spelling, blank.as_bytes()))
    }

    /// Appends a string of a rule. Returns whether one was found that fits.
    fn append(&mut self, random: &mut ChaCha8Rng, spelling: &mut Spelling, rule: u32) -> bool {
        let string = self.strings[spelling.stack.current].draw(random, rule);
        let fits = string.is_some_and(|string| self.append_string(spelling, &string));
        if fits {
            spelling.stack.change(self.lexer.rules[rule as usize].change);
        }
        fits
    }

    /// Appends a string that a rule of the current start state matches, unless it continues an earlier one.
    fn append_string(&self, spelling: &mut Spelling, string: &[u8]) -> bool {
        let mut open = Vec::with_capacity(spelling.open.len() + 1);
        for &(start, mut state) in &spelling.open {
            let strings = &self.strings[start];
            for &byte in string {
                state = strings.step(state, byte);
                if strings.matched(state).is_some() {
                    return false;
                }
            }
            // Tokens whose automata are in the same state go on alike.
            if state != 0 && !open.contains(&(start, state)) {
                open.push((start, state));
            }
        }
        if open.len() > MOST_OPEN {
            return false;
        }
        let current = spelling.stack.current;
        open.push((current, self.strings[current].after(string)));
        spelling.open = open;
        spelling.text.extend_from_slice(string);
        true
    }

    /// Returns the first of the fewest rules without a name that lead to a start state in which a token can be read.
    fn way_out(&self, stack: &Stack, name: u32) -> Option<u32> {
        let mut seen = HashSet::from([stack.clone()]);
        let mut queue = VecDeque::from([(stack.clone(), None)]);
        while let Some((stack, first)) = queue.pop_front() {
            if self.rules[stack.current].contains_key(&name) {
                return first;
            }
            for &rule in &self.skips[stack.current].changing {
                let mut next = stack.clone();
                next.change(self.lexer.rules[rule as usize].change);
                if seen.len() < MOST_STACKS && seen.insert(next.clone()) {
                    queue.push_back((next, first.or(Some(rule))));
                }
            }
        }
        None
    }

    /// Draws a string for a terminal alone, in any start state in which it can be read.
    pub(super) fn string(&mut self, random: &mut ChaCha8Rng, terminal: usize) -> Option<String> {
        let name = self.names[terminal]?;
        let states = self.rules.iter().enumerate().filter_map(|(state, rules)| Some((state, rules.get(&name)?)));
        let states: Vec<(usize, &Vec<u32>)> = states.collect();
        let &(state, rules) = states.choose(random)?;
        let &rule = rules.choose(random)?;
        String::from_utf8(self.strings[state].draw(random, rule)?).ok()
    }

    /// Returns a blank that the lexer skips in its initial state, if there is one.
    pub(super) fn blank(&self) -> Option<&'static str> {
        self.skips[0].blanks.first().copied()
    }
}

/// Returns which start states a text can lead to.
fn reached(lexer: &Lexer, strings: &[Strings]) -> Vec<bool> {
    let mut reached = vec![false; strings.len()];
    let mut open = vec![0];
    while let Some(state) = open.pop() {
        if std::mem::replace(&mut reached[state], true) {
            continue;
        }
        let changes = strings[state].matching().into_iter().filter_map(|rule| lexer.rules[rule as usize].change);
        open.extend(changes.filter_map(|change| match change {
            StateChange::Replace(next) | StateChange::Begin(next) | StateChange::Push(next) => Some(next),
            // It leads to a state that a text was in before.
            StateChange::Pop => None,
        }));
    }
    reached
}
