//! Texts near the examples, texts of grammars, and all short strings of tokens.

use std::collections::{BTreeMap, BTreeSet};

use echostack_grammar::{Cover, Subject, TextKind, TextParams, TextSampler};
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use super::purpose::Class;
use crate::test::edits::Edits;
use crate::text::symbols::Symbols;

/// The length of the longest examples that are edited at every place, in characters.
const LONG: usize = 200;

/// Characters that are tried besides those of the examples and the printable ones of ASCII.
const OTHERS: [char; 8] = ['\t', '\n', '\r', '\u{c}', '\0', 'é', '٣', '\u{2028}'];
/// The most edits of which some are chosen.
const MAX_EDITS: usize = 1 << 19;

/// One character of an example is left out, replaced or inserted.
struct Edit<'a> {
    text: &'a [char],
    at: usize,
    replaces: bool,
    by: Option<char>,
}

impl Edit<'_> {
    fn text(&self) -> String {
        let after = &self.text[self.at + usize::from(self.replaces)..];
        self.text[..self.at].iter().chain(&self.by).chain(after).collect()
    }

    /// Returns what is before, in and after the place; `None` if nothing is replaced.
    fn context(&self) -> (Class, Option<Class>, Class) {
        let class = |at: usize| Class::of(self.text.get(at).copied());
        let before = Class::of(self.at.checked_sub(1).map(|at| self.text[at]));
        let inner = self.replaces.then(|| class(self.at));
        (before, inner, class(self.at + usize::from(self.replaces)))
    }
}

/// Returns texts that differ from an example in one character. What is new comes first: first each class of characters after
/// each other one, then in each context, then each character, and last the same edits in other places.
pub(super) fn neighbors(examples: &[String], most: usize) -> Vec<String> {
    let letters: BTreeSet<char> =
        examples.iter().flat_map(|text| text.chars()).chain(' '..='~').chain(OTHERS).collect();
    let mut sorted: Vec<Vec<char>> = examples.iter().map(|text| text.chars().collect()).collect();
    sorted.retain(|text| text.len() <= LONG);
    sorted.sort_by(|one, two| (one.len(), one).cmp(&(two.len(), two)));
    let (mut classes, mut contexts, mut characters) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut ranked: [Vec<Edit<'_>>; 4] = Default::default();
    let mut count = 0;
    'all: for text in &sorted {
        for at in 0..=text.len() {
            let by = || letters.iter().map(|&letter| Some(letter));
            let replaced = std::iter::once(None).chain(by()).map(|by| (true, by)).filter(|_| at < text.len());
            for (replaces, by) in replaced.chain(by().map(|by| (false, by))) {
                let edit = Edit { text, at, replaces, by };
                let (class, context) = (by.map(|letter| Class::of(Some(letter))), edit.context());
                let rank = match () {
                    () if classes.insert((context.0, class)) => 0,
                    () if contexts.insert((context, class)) => 1,
                    () if characters.insert((context, by)) => 2,
                    () => 3,
                };
                ranked[rank].push(edit);
                count += 1;
                if count >= MAX_EDITS {
                    break 'all;
                }
            }
        }
    }
    let mut seen: BTreeSet<String> = examples.iter().cloned().collect();
    let edits = ranked.iter().flatten();
    edits.map(Edit::text).filter(|text| seen.insert(text.clone())).take(most).collect()
}

/// Draws texts by one to three random edits of examples.
pub(super) fn edited(examples: &[String], number: usize, random: &mut ChaCha8Rng) -> Vec<String> {
    let symbols = Symbols::default();
    let edits = Edits::new(examples, &symbols);
    (0..number).filter_map(|_| edits.any(examples, random)).collect()
}

/// Draws texts in which a part of an example takes the place of a part of another one.
pub(super) fn spliced(examples: &[String], number: usize, random: &mut ChaCha8Rng) -> Vec<String> {
    let cut: Vec<Vec<String>> = examples.iter().map(|text| lexemes(text)).collect();
    let mut found = Vec::new();
    for _ in 0..number {
        let (Some(one), Some(two)) = (cut.choose(random), cut.choose(random)) else { break };
        let mut range = |length: usize| {
            let from = random.random_range(0..=length);
            from..(from + random.random_range(0..=length.min(6))).min(length)
        };
        let (place, part) = (range(one.len()), range(two.len()));
        found.push([&one[..place.start], &two[part], &one[place.end..]].concat().concat());
    }
    found
}

/// Splits a text where the class of its characters changes. Each character that is no letter, digit or blank is by itself.
pub(super) fn lexemes(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut last = Class::Edge;
    for letter in text.chars() {
        let class = if letter.is_whitespace() { Class::Other(' ') } else { Class::of(Some(letter)) };
        let joins = class == last && (matches!(class, Class::Digit | Class::Letter) || class == Class::Other(' '));
        match found.last_mut().filter(|_| joins) {
            Some(lexeme) => lexeme.push(letter),
            None => found.push(letter.to_string()),
        }
        last = class;
    }
    found
}

/// Returns one text for each token that the examples show. If a grammar is given, these are its tokens, and else parts in
/// which the class of characters does not change; all numbers are alike then.
pub(super) fn tokens(examples: &[String], grammar: Option<&Subject>) -> Vec<String> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut add = |name: String, text: &str| {
        let shortest = found.entry(name).or_insert_with(|| text.to_string());
        if (text.len(), text) < (shortest.len(), shortest) {
            *shortest = text.to_string();
        }
    };
    for example in examples {
        if let Some(lexer) = grammar.and_then(Subject::lexer) {
            for lexeme in lexer.tokens(example).0 {
                add(lexeme.name.to_string(), &example[lexeme.start..lexeme.end]);
            }
        } else {
            for lexeme in lexemes(example) {
                let number = lexeme.chars().all(char::is_numeric);
                add(if number { "0".to_string() } else { lexeme.clone() }, &lexeme);
            }
        }
    }
    let texts: BTreeSet<String> = found.into_values().collect();
    texts.into_iter().collect()
}

/// All strings of up to so many tokens, of which there are at most `most`, and that number of tokens.
pub(super) fn strings(tokens: &[String], most: usize) -> (Vec<String>, usize) {
    let (mut all, mut layer, mut length) = (vec![String::new()], vec![String::new()], 0);
    while !tokens.is_empty() && all.len() + layer.len().saturating_mul(tokens.len()) <= most {
        layer = layer.iter().flat_map(|text| tokens.iter().map(move |token| format!("{text}{token}"))).collect();
        all.extend(layer.iter().cloned());
        length += 1;
    }
    (all, length)
}

/// Draws texts of a grammar: such that use every production, valid ones, ones with a mistake, and spliced examples.
pub(super) fn of_grammar(grammar: &Subject, examples: &[String], number: usize, seed: u64) -> Vec<String> {
    let Some(rules) = grammar.grammar() else { return Vec::new() };
    let sampler = |kind| {
        TextSampler::new(rules, grammar.lexer(), TextParams { kind, tokens: 0..=30, seed, ..TextParams::default() })
    };
    let mut found: Vec<String> = Vec::new();
    for what in [Cover::Productions, Cover::Pairs] {
        if let Ok(covering) = sampler(TextKind::Valid).cover(what) {
            found.extend(covering.take(number / 4).map(|text| text.text));
        }
    }
    for kind in TextKind::ALL {
        let mut sampler = sampler(kind);
        for example in examples {
            // An example that the grammar refuses has no parts.
            _ = sampler.add_example(example);
        }
        found.extend(sampler.take(number / 4).map(|text| text.text));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn texts_are_cut_into_parts() {
        assert_eq!(
            lexemes("a1 = [12,  \"xy\"]"),
            ["a", "1", " ", "=", " ", "[", "12", ",", "  ", "\"", "xy", "\"", "]"]
        );
        assert_eq!(tokens(&texts(&["[12,3]", "[x]"]), None), [",", "3", "[", "]", "x"]);
    }

    #[test]
    fn all_strings_up_to_a_length_are_made() {
        let (all, length) = strings(&texts(&["a", "b"]), 10);
        assert_eq!((all.len(), length), (7, 2));
        assert_eq!(strings(&[], 10), (texts(&[""]), 0));
    }

    /// The slow way: every text over the characters that is one edit away.
    #[test]
    fn neighbors_are_one_character_away() {
        let found: BTreeSet<String> = neighbors(&texts(&["ab"]), 10_000).into_iter().collect();
        let letters = || (' '..='~').chain(OTHERS).map(String::from);
        let mut wanted: BTreeSet<String> = texts(&["a", "b"]).into_iter().collect();
        for letter in letters() {
            wanted.extend(
                [("", "b"), ("a", ""), ("", "ab"), ("a", "b"), ("ab", "")]
                    .map(|(one, two)| format!("{one}{letter}{two}")),
            );
        }
        wanted.remove("ab");
        assert_eq!(found, wanted);
        assert_eq!(neighbors(&texts(&["ab"]), 3).len(), 3);
    }

    /// With few texts, each class of characters is tried after each other one.
    #[test]
    fn what_is_new_comes_first() {
        let found = neighbors(&texts(&["1+1+1", "1"]), 150);
        assert!(["$1", "1$", "1+$+1"].iter().all(|wanted| found.iter().any(|text| text == wanted)), "{found:?}");
    }

    #[test]
    fn drawn_texts_have_parts_of_examples() {
        let examples = texts(&["[1]", "{x}"]);
        let made = [spliced(&examples, 50, &mut random()), edited(&examples, 50, &mut random())].concat();
        assert_eq!(made.len(), 100);
        assert!(made.iter().all(|text| text.chars().all(|letter| "[1]{x}".contains(letter))), "{made:?}");
        assert!(spliced(&[], 5, &mut random()).is_empty());
    }
}
