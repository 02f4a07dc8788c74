//! Texts that are asked about on purpose: what formats of this kind have at their limits, put into examples.

use std::collections::BTreeSet;
use std::ops::Range;

/// The most places of each kind, by what is before and after them.
const PLACES: usize = 24;
/// The most places in which all values are tried.
const VALUE_PLACES: usize = 8;
/// Numbers at the limits of machine types, other ways to write numbers, and words that formats are known to have.
const VALUES: [&str; 104] = [
    "0",
    "1",
    "-0",
    "-1",
    "+1",
    "+0",
    "01",
    "00",
    "-01",
    "007",
    "08",
    "1.",
    ".5",
    "-.5",
    "1.0",
    "0.0",
    "1.e1",
    "-",
    "+",
    ".",
    "1e",
    "1e+",
    "1e5",
    "1E5",
    "1e+5",
    "1e-5",
    "1e05",
    "127",
    "128",
    "255",
    "256",
    "32767",
    "32768",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "-2147483649",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "1e22",
    "1e38",
    "1e39",
    "1.7976931348623157e308",
    "1.7976931348623159e308",
    "6e308",
    "1e308",
    "1e309",
    "-1e309",
    "1e400",
    "5e-324",
    "1e-324",
    "1e-400",
    "0e310",
    "0e-400",
    "0e999999999999",
    "1e9999999999",
    "1e-9999999999",
    "0.00000000000000000000000000000000000000000000000001",
    "NaN",
    "nan",
    "-NaN",
    "Infinity",
    "-Infinity",
    "+Infinity",
    "inf",
    "-inf",
    "Inf",
    "null",
    "Null",
    "NULL",
    "nil",
    "None",
    "undefined",
    "true",
    "True",
    "TRUE",
    "false",
    "False",
    "yes",
    "no",
    "on",
    "off",
    "y",
    "n",
    "~",
    "0x1F",
    "0X1f",
    "0b101",
    "0o17",
    "1_000",
    "1,000",
    "1f",
    "1L",
    "\u{661}",
    "\u{ff11}",
];

/// What is put between the quotation marks of a string.
const STRINGS: [&str; 52] = [
    "",
    "\0",
    "\u{1}",
    "\u{8}",
    "\u{b}",
    "\u{c}",
    "\u{1b}",
    "\u{1f}",
    "\u{7f}",
    "\t",
    "\n",
    "\r",
    "\r\n",
    "\u{80}",
    "\u{85}",
    "\u{a0}",
    "\u{ad}",
    "\u{2028}",
    "\u{2029}",
    "\u{200b}",
    "\u{d7ff}",
    "\u{e000}",
    "\u{feff}",
    "\u{fffd}",
    "\u{fffe}",
    "\u{ffff}",
    "\u{1f600}",
    "\u{10ffff}",
    "e\u{301}",
    "\\0",
    "\\a",
    "\\b",
    "\\e",
    "\\v",
    "\\/",
    "\\'",
    "\\\"",
    "\\\\",
    "\\\n",
    "\\x41",
    "\\101",
    "\\u0000",
    "\\u00e9",
    "\\uD800",
    "\\udc00",
    "\\ud83d\\ude00",
    "\\ud800\\u0041",
    "\\u12",
    "\\u{41}",
    "\\U0001F600",
    "\\U00110000",
    "${x}",
];

/// What is put before, after and between parts.
const PARTS: [&str; 44] = [
    " ",
    "\t",
    "\n",
    "\r",
    "\r\n",
    "\u{b}",
    "\u{c}",
    "\0",
    "\u{1a}",
    "\u{7f}",
    "\u{85}",
    "\u{a0}",
    "\u{2028}",
    "\u{3000}",
    "\u{200b}",
    "\u{feff}",
    ",",
    ";",
    ":",
    "=",
    ".",
    "'",
    "\"",
    "`",
    "\\",
    "\\\n",
    "#",
    "# c\n",
    "//",
    "// c\n",
    "/**/",
    "/* c */",
    "/*",
    "-- c\n",
    "; c\n",
    "<!-- c -->",
    "% c\n",
    "!",
    "&",
    "|",
    "$",
    "@",
    "\n\n",
    "---\n",
];

/// The class of a character next to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// The beginning or the end of the text.
    Edge,
    Digit,
    Letter,
    Other(char),
}

impl Class {
    pub(super) fn of(letter: Option<char>) -> Self {
        match letter {
            None => Self::Edge,
            Some(letter) if letter.is_numeric() => Self::Digit,
            Some(letter) if letter.is_alphabetic() || letter == '_' => Self::Letter,
            Some(letter) => Self::Other(letter),
        }
    }
}

/// A part of an example that something else takes the place of.
struct Place<'a> {
    text: &'a [char],
    part: Range<usize>,
}

impl Place<'_> {
    fn with(&self, part: &str) -> String {
        let [before, after] = [&self.text[..self.part.start], &self.text[self.part.end..]];
        before.iter().copied().chain(part.chars()).chain(after.iter().copied()).collect()
    }

    /// Returns what is before, in and after the place.
    fn context(&self) -> (Class, Class, Class) {
        let before = self.part.start.checked_sub(1).map(|at| self.text[at]);
        let inner = self.text[self.part.clone()].first().copied();
        (Class::of(before), Class::of(inner), Class::of(self.text.get(self.part.end).copied()))
    }
}

/// Returns texts at the limits of what programs can represent, made from examples. What is simple comes first.
pub(super) fn on_purpose(examples: &[String]) -> Vec<String> {
    let mut sorted: Vec<Vec<char>> = examples.iter().map(|text| text.chars().collect()).collect();
    sorted.sort_by(|one, two| (one.len(), one).cmp(&(two.len(), two)));
    let filled = [
        fill(&places(&sorted, &numbers_and_words, VALUE_PLACES), &VALUES),
        fill(&places(&sorted, &inner_strings, VALUE_PLACES), &STRINGS),
        fill(&places(&sorted, &gaps, PLACES), &PARTS),
    ];
    // First the first place of each sort: with few queries, no sort is left out.
    let mut texts = vec![String::new()];
    for turn in 0..VALUE_PLACES.max(PLACES) {
        texts.extend(filled.iter().filter_map(|places| places.get(turn)).flatten().cloned());
    }
    let mut seen = BTreeSet::new();
    texts.retain(|text| seen.insert(text.clone()));
    texts
}

/// Puts each of some parts into each place.
fn fill(places: &[Place<'_>], parts: &[&str]) -> Vec<Vec<String>> {
    places.iter().map(|place| parts.iter().map(|part| place.with(part)).collect()).collect()
}

/// Returns the first places of examples that differ in what is before, in and after them.
fn places<'a>(examples: &'a [Vec<char>], find: &dyn Fn(&[char]) -> Vec<Range<usize>>, most: usize) -> Vec<Place<'a>> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for text in examples {
        for part in find(text) {
            let place = Place { text, part };
            if found.len() < most && seen.insert(place.context()) {
                found.push(place);
            }
        }
    }
    found
}

/// Returns where numbers and words are.
pub(super) fn numbers_and_words(text: &[char]) -> Vec<Range<usize>> {
    let class = |at: usize| Class::of(text.get(at).copied());
    let (mut found, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let from = at;
        if class(at) == Class::Letter {
            while matches!(class(at), Class::Letter | Class::Digit) {
                at += 1;
            }
        } else {
            if matches!(text[at], '+' | '-') && class(at + 1) == Class::Digit {
                at += 1;
            }
            while class(at) == Class::Digit || (at > from && is_within_number(text, at)) {
                at += 1;
            }
        }
        if at > from {
            found.push(from..at);
        }
        at = at.max(from + 1);
    }
    found
}

/// Returns whether a character between digits belongs to the number.
fn is_within_number(text: &[char], at: usize) -> bool {
    let digit = |at: usize| text.get(at).is_some_and(char::is_ascii_digit);
    match text[at..] {
        ['e' | 'E', '+' | '-', ..] => digit(at - 1) && digit(at + 2),
        ['.' | '_' | 'e' | 'E', ..] => digit(at - 1) && digit(at + 1),
        ['+' | '-', ..] => matches!(text[at - 1], 'e' | 'E'),
        _ => false,
    }
}

/// Returns what is between quotation marks.
pub(super) fn inner_strings(text: &[char]) -> Vec<Range<usize>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < text.len() {
        if matches!(text[at], '"' | '\'' | '`') {
            let quote = text[at];
            let mut end = at + 1;
            while end < text.len() && text[end] != quote {
                end += if text[end] == '\\' { 2 } else { 1 };
            }
            if end < text.len() {
                found.push(at + 1..end);
            }
            at = end;
        }
        at += 1;
    }
    found
}

/// Returns where something can be put between two characters.
fn gaps(text: &[char]) -> Vec<Range<usize>> {
    (0..=text.len()).map(|at| at..at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str, find: fn(&[char]) -> Vec<Range<usize>>) -> Vec<String> {
        let letters: Vec<char> = text.chars().collect();
        find(&letters).into_iter().map(|part| letters[part].iter().collect()).collect()
    }

    #[test]
    fn numbers_words_and_strings_are_found() {
        let text = r#"{"a": [-1.5e+3, true, "x\"y", 2e4, 1-2]}"#;
        assert_eq!(parts(text, numbers_and_words), ["a", "-1.5e+3", "true", "x", "y", "2e4", "1", "-2"]);
        assert_eq!(parts(text, inner_strings), ["a", r#"x\"y"#]);
        assert_eq!(parts("\"a", inner_strings), [""; 0]);
    }

    #[test]
    fn limits_are_put_into_examples() {
        let texts = on_purpose(&["[1, \"a\"]".to_string()]);
        for wanted in
            ["[1e309, \"a\"]", "[NaN, \"a\"]", "[1, \"\0\"]", "\u{feff}[1, \"a\"]", "[1, \"a\",]", "[1, \"a\"]\0"]
        {
            assert!(texts.iter().any(|text| text == wanted), "{wanted:?}");
        }
        assert_eq!(texts.len(), texts.iter().collect::<BTreeSet<_>>().len());
        assert!(on_purpose(&[]).len() == 1 && texts.len() < 4000, "{}", texts.len());
    }
}
