//! Classes of characters that can stand for each other, found by putting them in each other's place.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::charset::{CharSet, beyond_ascii};
use super::symbols::Look;
use super::teacher::Teacher;
use crate::ask::queries::Stop;

/// The maximum number of places in which characters are compared.
const MAX_PLACES: usize = 70;
/// The number of members of a part that stand for all of them, as long as they agree.
const PROBES: usize = 3;
/// The number of probes in a part beyond ASCII when it is divided.
const DIVIDING_PROBES: usize = 5;
/// The length, in characters, up to which each letter of a keyword has a place of its own.
const KEYWORD_TEXT: usize = 12;

/// The classes that were found: their members, with the representatives, and the characters without a use so far.
#[derive(Debug)]
pub(crate) struct Classes {
    pub(crate) used: Vec<(char, CharSet)>,
    pub(crate) unused: Vec<CharSet>,
}

/// A place in a text: the text before it, the character, and the text after it.
#[derive(Debug)]
struct Place<'t> {
    before: &'t str,
    own: char,
    after: &'t str,
}

impl Place<'_> {
    fn with(&self, letter: char) -> String {
        format!("{}{letter}{}", self.before, self.after)
    }
}

/// Divides all characters into classes.
pub(crate) fn classes(texts: &[String], teacher: &mut Teacher<'_>) -> Result<Classes, Stop> {
    let seen: BTreeSet<char> = texts.iter().flat_map(|text| text.chars()).collect();
    let places = places(texts);
    let mut parts = first_parts();
    for place in &places {
        parts = divide(parts, place, &seen, teacher)?;
    }
    // Parts that agree in all places are one class.
    let mut classes: Vec<(Vec<bool>, CharSet)> = Vec::new();
    let mut unused = Vec::new();
    let mut known: BTreeMap<Vec<bool>, usize> = BTreeMap::new();
    for part in parts {
        let first = probes(&part, &seen)[0];
        let texts: Vec<String> = places.iter().map(|place| place.with(first)).collect();
        let signature = teacher.all_valid(&texts)?;
        if !signature.contains(&true) {
            unused.push(part);
        } else if let Some(&class) = known.get(&signature) {
            classes[class].1 = classes[class].1.union(&part);
        } else {
            known.insert(signature.clone(), classes.len());
            classes.push((signature, part));
        }
    }
    let used = classes.into_iter().map(|(_, members)| (representative(&members, &seen), members)).collect();
    Ok(Classes { used, unused })
}

/// Returns the parts to begin with: lower case, upper case, digits, each other printable ASCII character, controls, and
/// what lies beyond ASCII.
fn first_parts() -> Vec<CharSet> {
    let mut parts: Vec<CharSet> =
        [('a', 'z'), ('A', 'Z'), ('0', '9')].map(|range| [range].into_iter().collect()).into();
    parts.extend((' '..='~').filter(|letter| !letter.is_ascii_alphanumeric()).map(CharSet::of));
    parts.extend(['\n', '\t', '\r', '\x7f'].map(CharSet::of));
    parts.push([('\0', '\x08'), ('\x0b', '\x0c'), ('\x0e', '\x1f')].into_iter().collect());
    parts.extend(beyond_ascii().iter().cloned());
    parts
}

fn is_ascii(part: &CharSet) -> bool {
    part.ranges().last().is_none_or(|&(_, to)| to.is_ascii())
}

/// Returns a few members of a part, those that occur in examples first.
fn probes(part: &CharSet, seen: &BTreeSet<char>) -> Vec<char> {
    let known = seen.iter().copied().filter(|&letter| part.contains(letter));
    let size = part.len();
    let others: Vec<usize> = if is_ascii(part) { (0..PROBES).collect() } else { vec![0, size / 2, size - 1] };
    let mut found: Vec<char> = known.take(PROBES).collect();
    for letter in others.into_iter().filter_map(|at| part.nth(at)) {
        if found.len() < PROBES && !found.contains(&letter) {
            found.push(letter);
        }
    }
    found
}

/// The character that stands for a class: one of an example, a letter if possible.
pub(crate) fn representative(members: &CharSet, seen: &BTreeSet<char>) -> char {
    let known = seen.iter().copied().filter(|&letter| members.contains(letter));
    let ascii = members.ascii().filter(|&letter| !letter.is_ascii_control());
    let best = |letters: &mut dyn Iterator<Item = char>| letters.min_by_key(|&l| (!l.is_alphabetic(), l));
    let any = members.ranges().first().map_or(' ', |&(from, _)| from);
    best(&mut { known }).or_else(|| best(&mut { ascii })).unwrap_or(any)
}

/// Divides the parts whose members differ in a place.
fn divide(
    parts: Vec<CharSet>,
    place: &Place<'_>,
    seen: &BTreeSet<char>,
    teacher: &mut Teacher<'_>,
) -> Result<Vec<CharSet>, Stop> {
    let ask = |letters: &[char], teacher: &mut Teacher<'_>| {
        let texts: Vec<String> = letters.iter().map(|&letter| place.with(letter)).collect();
        teacher.all_valid(&texts)
    };
    let mut asked: Vec<Vec<char>> = Vec::new();
    for part in &parts {
        let own = Some(place.own).filter(|&own| part.contains(own));
        let mut some = probes(part, seen);
        // Few programs tell characters beyond ASCII apart: one probe is enough, unless it is valid.
        if !is_ascii(part) {
            some.truncate(1);
        }
        some.retain(|&letter| Some(letter) != own);
        some.extend(own);
        asked.push(some);
    }
    let mut answers = ask(&asked.concat(), teacher)?.into_iter();
    let mut found = Vec::new();
    for (part, some) in parts.into_iter().zip(asked) {
        let mut values: Vec<bool> = answers.by_ref().take(some.len()).collect();
        if !is_ascii(&part) && values.contains(&true) {
            values.extend(ask(&probes(&part, seen), teacher)?);
        }
        if values.iter().all(|&value| value == values[0]) {
            found.push(part);
        } else {
            let (yes, no) = partition(&part, &mut |letters| ask(letters, teacher))?;
            found.extend([yes, no].into_iter().filter(|half| !half.is_empty()));
        }
    }
    Ok(found)
}

/// A question about characters.
pub(crate) type Ask<'a> = dyn FnMut(&[char]) -> Result<Vec<bool>, Stop> + 'a;

/// Divides a set by a question. All ASCII characters are asked about. Beyond ASCII, a few probes are, and the boundaries
/// between those that differ are found by bisection.
pub(crate) fn partition(set: &CharSet, ask: &mut Ask<'_>) -> Result<(CharSet, CharSet), Stop> {
    let mut halves: [Vec<CharSet>; 2] = [Vec::new(), Vec::new()];
    let ascii: Vec<char> = set.ascii().collect();
    for (&letter, value) in ascii.iter().zip(ask(&ascii)?) {
        halves[usize::from(value)].push(CharSet::of(letter));
    }
    for part in beyond_ascii() {
        let part = part.intersection(set);
        let size = part.len();
        if size == 0 {
            continue;
        }
        let mut numbers: Vec<usize> = (0..DIVIDING_PROBES).map(|at| at * (size - 1) / (DIVIDING_PROBES - 1)).collect();
        numbers.dedup();
        let letters: Vec<char> = numbers.iter().filter_map(|&at| part.nth(at)).collect();
        let values = ask(&letters)?;
        let mut from = 0;
        for at in 0..numbers.len() {
            let mut to = size;
            if let Some(&next) = numbers.get(at + 1) {
                if values[at] == values[at + 1] {
                    continue;
                }
                let (mut low, mut high) = (numbers[at], next);
                while high - low > 1 {
                    let middle = usize::midpoint(low, high);
                    let letter: Vec<char> = part.nth(middle).into_iter().collect();
                    if ask(&letter)?.first() == Some(&values[at]) { low = middle } else { high = middle }
                }
                to = high;
            }
            halves[usize::from(values[at])].push(part.slice(from, to));
            from = to;
        }
    }
    let [no, yes] = halves.map(|half| half.iter().flat_map(CharSet::ranges).copied().collect());
    Ok((yes, no))
}

/// Returns places in short texts, one for each kind of neighbourhood.
fn places(texts: &[String]) -> Vec<Place<'_>> {
    let mut sorted: Vec<&String> = texts.iter().collect();
    sorted.sort_by_key(|text| text.chars().count());
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for text in sorted {
        let length = text.chars().count();
        for (at, own) in text.char_indices() {
            let end = at + own.len_utf8();
            let (before, after) = (&text[..at], &text[end..]);
            let look = Look::of(own);
            // Letters are told apart by the text before them, so that each letter of a keyword has its place.
            let prefix = if length < KEYWORD_TEXT && look == Look::Letter { &text[..end] } else { "" };
            let shown = if matches!(look, Look::Other(_)) { own } else { ' ' };
            let neighbours = [before.chars().next_back().map(Look::of), after.chars().next().map(Look::of)];
            if seen.insert((neighbours, (look, shown, prefix))) {
                found.push(Place { before, own, after });
                if found.len() >= MAX_PLACES {
                    return found;
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::queries::{Asking, Queries};

    #[test]
    fn classes_of_a_small_language() {
        // One letter or any character beyond ASCII below U+3000, or digits in brackets.
        let oracle = |text: &str| {
            let inside = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
            let digits = inside.is_some_and(|i| !i.is_empty() && i.chars().all(|c| c.is_ascii_digit()));
            let mut letters = text.chars();
            let one = letters.next().filter(|_| letters.next().is_none());
            digits || one.is_some_and(|c| c.is_ascii_lowercase() || ('\u{80}'..'\u{3000}').contains(&c))
        };
        let mut teacher = Teacher::new(Queries::new(&oracle, Asking::default(), &()).unwrap());
        let texts = ["x".to_string(), "[12]".to_string()];
        let found = classes(&texts, &mut teacher).unwrap();
        let mut used = found.used.clone();
        used.sort();
        assert_eq!(used.iter().map(|(letter, _)| *letter).collect::<String>(), "1[]x");
        assert!(used[3].1.contains('a') && used[3].1.contains('é') && !used[3].1.contains('\u{3000}'));
        assert!(!used[3].1.contains('漢') && used[3].1.contains('\u{2fff}'));
        assert!(found.unused.iter().any(|part| part.contains('漢')));
    }
}
