//! Limits on nesting and on length: texts that can grow, and the sizes up to which each side accepts them.

use super::panel::Panel;
use super::purpose::{inner_strings, numbers_and_words};
use super::side::Votes;
use crate::ask::queries::Stop;

/// How deep brackets are nested, and how many digits and letters there are.
const SIZES: [usize; 9] = [1, 8, 32, 100, 256, 1024, 10_000, 65_536, 100_000];

/// A text of which parts are repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Growing {
    before: String,
    opening: String,
    inner: String,
    closing: String,
    after: String,
}

impl Growing {
    /// Returns the text with so many repetitions.
    fn of(&self, size: usize) -> String {
        let (opening, closing) = (self.opening.repeat(size), self.closing.repeat(size));
        [&self.before, &opening, &self.inner, &closing, &self.after].map(String::as_str).concat()
    }
}

/// Returns texts that can grow, made from examples: with more digits in the first number, with more letters in the first
/// string, and with deeper brackets.
pub(super) fn growing(examples: &[String]) -> Vec<Growing> {
    let mut sorted: Vec<Vec<char>> = examples.iter().map(|text| text.chars().collect()).collect();
    sorted.sort_by(|one, two| (one.len(), one).cmp(&(two.len(), two)));
    let mut found = Vec::new();
    let first = |find: &dyn Fn(&[char]) -> Vec<std::ops::Range<usize>>, wanted: &dyn Fn(&[char]) -> bool| {
        let parts = |text: &Vec<char>| find(text).into_iter().find(|part| wanted(&text[part.clone()]));
        sorted.iter().find_map(|text| Some((text, parts(text)?)))
    };
    let repeated = |letter: &str, text: &[char], part: std::ops::Range<usize>| Growing {
        before: text[..part.start].iter().collect(),
        opening: letter.to_string(),
        inner: String::new(),
        closing: String::new(),
        after: text[part.end..].iter().collect(),
    };
    let is_number = |part: &[char]| part.first().is_some_and(char::is_ascii_digit);
    let is_word = |part: &[char]| part.first().is_some_and(|letter| letter.is_alphabetic());
    found.extend(first(&numbers_and_words, &is_number).map(|(text, part)| repeated("1", text, part)));
    found.extend(first(&numbers_and_words, &is_word).map(|(text, part)| repeated("a", text, part)));
    found.extend(first(&inner_strings, &|_| true).map(|(text, part)| repeated("a", text, part)));
    for (open, close) in [('(', ')'), ('[', ']'), ('{', '}'), ('<', '>')] {
        let enclosed = |text: &Vec<char>| {
            let from = text.iter().position(|&letter| letter == open)?;
            let to = text.iter().rposition(|&letter| letter == close).filter(|&to| to > from)?;
            Some((text.clone(), from..to + 1))
        };
        let Some((text, part)) = sorted.iter().find_map(enclosed) else { continue };
        let nested = |inner: &[char]| Growing {
            before: text[..part.start].iter().collect(),
            opening: open.to_string(),
            inner: inner.iter().collect(),
            closing: close.to_string(),
            after: text[part.end..].iter().collect(),
        };
        let inner = &text[part.start + 1..part.end - 1];
        found.push(nested(&[]));
        if !inner.is_empty() {
            found.push(nested(inner));
            found.extend(within(open, inner, close, &text[..part.start], &text[part.end..]));
        }
    }
    found
}

/// What a bracket encloses may need a beginning, such as a key: everything up to the last word or number, which the next
/// bracket takes the place of.
fn within(open: char, inner: &[char], close: char, before: &[char], after: &[char]) -> Option<Growing> {
    let last = numbers_and_words(inner).pop().filter(|last| last.start > 0)?;
    let opening = std::iter::once(&open).chain(&inner[..last.start]).collect();
    let closing = inner[last.end..].iter().chain(std::iter::once(&close)).collect();
    let [before, inner, after] = [before, &inner[last], after].map(|part| part.iter().collect());
    Some(Growing { before, opening, inner, closing, after })
}

/// Asks about a text in all sizes, and looks for the size from which on each side says something else: where the sides have
/// different limits, they disagree on a text in between.
pub(super) fn find_limits(panel: &Panel<'_>, text: &Growing) -> Result<(), Stop> {
    let texts: Vec<String> = SIZES.iter().map(|&size| text.of(size)).collect();
    let said = panel.ask_all(&texts)?;
    for (sizes, votes) in SIZES.windows(2).zip(said.windows(2)) {
        for side in (0..votes[0].len()).filter(|&side| votes[0][side] != votes[1][side]) {
            let (mut low, mut high) = (sizes[0], sizes[1]);
            while high - low > 1 {
                let middle = usize::midpoint(low, high);
                let same = |votes: &Votes, other: &Votes| votes[side] == other[side];
                if same(&panel.ask(&text.of(middle))?, &votes[0]) { low = middle } else { high = middle }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::compare::side::Side;

    #[test]
    fn parts_of_examples_grow() {
        let texts = |example: &str| {
            growing(&[example.to_string()]).iter().map(|growing| growing.of(3)).collect::<Vec<String>>()
        };
        assert_eq!(
            texts("{\"k\": 7}"),
            [
                "{\"k\": 111}",
                "{\"aaa\": 7}",
                "{\"aaa\": 7}",
                "{{{}}}",
                "{{{\"k\": 7}}}",
                "{\"k\": {\"k\": {\"k\": 7}}}"
            ]
        );
        assert_eq!(texts("x(1)"), ["x(111)", "aaa(1)", "x((()))", "x(((1)))"]);
        assert!(growing(&[]).is_empty());
    }

    /// The limits differ by one, and no text that is asked about first has one of these sizes.
    #[test]
    fn limits_that_differ_by_one_are_found() {
        fn depth(text: &str) -> Option<usize> {
            let half = text.len() / 2;
            (text == "[".repeat(half) + &"]".repeat(half)).then_some(half)
        }
        let one = |text: &str| depth(text).is_some_and(|depth| depth <= 199);
        let two = |text: &str| depth(text).is_some_and(|depth| depth <= 200);
        let sides = [Side::program("one", &one), Side::program("two", &two)];
        let panel = Panel::new(&sides, (10_000, Duration::from_secs(60)), 1, &());
        for text in growing(&["[[]]".to_string()]) {
            find_limits(&panel, &text).unwrap();
        }
        let found = panel.take_found();
        assert_eq!(found.iter().map(|found| found.length).collect::<Vec<_>>(), [400]);
        assert!(panel.queries() < 150, "{}", panel.queries());
    }
}
