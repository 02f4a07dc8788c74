//! Classes of characters that can stand for each other, found by putting them in each other's place.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::categories::{categories, groups};
use super::charset::CharSet;
use super::symbols::Look;
use super::teacher::Teacher;
use crate::ask::queries::Stop;

/// The maximum number of places in which characters are compared.
const MAX_PLACES: usize = 70;
/// The number of members of a part that stand for all of them, as long as they agree.
const PROBES: usize = 3;
/// The length, in characters, up to which each letter of a keyword has a place of its own.
const KEYWORD_TEXT: usize = 12;

/// The classes that were found: their members, with the representatives, and the characters without a use so far.
#[derive(Debug)]
pub(crate) struct Classes {
    pub(crate) used: Vec<(char, CharSet)>,
    pub(crate) unused: Vec<CharSet>,
    /// The categories whose members were not treated alike.
    pub(crate) mixed: CharSet,
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

/// Characters that were treated alike so far.
#[derive(Debug)]
struct Part {
    members: CharSet,
    /// Whether a member was valid somewhere.
    used: bool,
}

/// Divides all characters into classes, but for those that are left out. Outside of ASCII, categories stay whole.
pub(crate) fn classes(texts: &[String], left_out: &CharSet, teacher: &mut Teacher<'_>) -> Result<Classes, Stop> {
    let seen: BTreeSet<char> = texts.iter().flat_map(|text| text.chars()).collect();
    let places = places(texts);
    let mut parts: Vec<Part> = first_parts(left_out).into_iter().map(|members| Part { members, used: false }).collect();
    let mut mixed = CharSet::default();
    // The places in which a character outside of ASCII was valid.
    let mut open = Vec::new();
    for place in &places {
        let divided = divide(parts, place, &seen, &mut mixed, teacher)?;
        open.push(divided.1);
        parts = divided.0;
    }
    // Parts that agree in all places are one class.
    let mut classes: Vec<(Vec<bool>, CharSet)> = Vec::new();
    let mut unused = Vec::new();
    let mut known: BTreeMap<Vec<bool>, usize> = BTreeMap::new();
    for part in parts {
        let (ascii, members) = (is_ascii(&part.members), part.members);
        let first = probes(&members, &seen)[0];
        let asked = |at: &usize| ascii || (part.used && open[*at]);
        let numbers: Vec<usize> = (0..places.len()).filter(asked).collect();
        let texts: Vec<String> = numbers.iter().map(|&at| places[at].with(first)).collect();
        let mut signature = vec![false; places.len()];
        for (at, valid) in numbers.into_iter().zip(teacher.all_valid(&texts)?) {
            signature[at] = valid;
        }
        if !signature.contains(&true) {
            unused.push(members);
        } else if let Some(&class) = known.get(&signature) {
            classes[class].1 = classes[class].1.union(&members);
        } else {
            known.insert(signature.clone(), classes.len());
            classes.push((signature, members));
        }
    }
    let used = classes.into_iter().map(|(_, members)| (members.representative(&seen), members)).collect();
    Ok(Classes { used, unused, mixed })
}

/// Returns the parts to begin with: lower case, upper case, digits, each other printable ASCII character, controls, and
/// groups of categories outside of ASCII.
fn first_parts(left_out: &CharSet) -> Vec<CharSet> {
    let mut parts: Vec<CharSet> =
        [('a', 'z'), ('A', 'Z'), ('0', '9')].map(|range| [range].into_iter().collect()).into();
    parts.extend((' '..='~').filter(|letter| !letter.is_ascii_alphanumeric()).map(CharSet::of));
    parts.extend(['\n', '\t', '\r', '\x7f'].map(CharSet::of));
    parts.push([('\0', '\x08'), ('\x0b', '\x0c'), ('\x0e', '\x1f')].into_iter().collect());
    let beyond = groups().iter().map(|group| group.beyond().without(left_out));
    parts.extend(beyond.filter(|part| !part.is_empty()));
    parts
}

fn is_ascii(part: &CharSet) -> bool {
    part.ranges().last().is_none_or(|&(_, to)| to.is_ascii())
}

/// Returns a few members of a part, those that occur in examples first.
fn probes(part: &CharSet, seen: &BTreeSet<char>) -> Vec<char> {
    let known = seen.iter().copied().filter(|&letter| part.contains(letter));
    let mut found: Vec<char> = known.take(PROBES).collect();
    let others: Vec<char> = if is_ascii(part) {
        (0..PROBES).filter_map(|at| part.nth(at)).collect()
    } else {
        categories().filter_map(|category| category.beyond.intersection(part).nth(0)).collect()
    };
    for letter in others {
        if found.len() < PROBES && !found.contains(&letter) {
            found.push(letter);
        }
    }
    found
}

/// Returns whether a part is asked about in a place with this character. Outside of ASCII, letters are tried everywhere,
/// digits in the place of digits, and spaces in that of spaces: where these are not valid, others seldom are.
fn is_likely(part: &CharSet, own: char) -> bool {
    let kinds: [fn(char) -> bool; 2] = [char::is_numeric, char::is_whitespace];
    let kind = kinds.into_iter().find(|is| is(own)).unwrap_or(char::is_alphabetic);
    is_ascii(part) || part.ranges().iter().any(|&(from, to)| [from, to].into_iter().any(kind))
}

/// Divides the parts whose members differ in a place. Returns whether a character outside of ASCII was valid there, too.
fn divide(
    mut parts: Vec<Part>,
    place: &Place<'_>,
    seen: &BTreeSet<char>,
    mixed: &mut CharSet,
    teacher: &mut Teacher<'_>,
) -> Result<(Vec<Part>, bool), Stop> {
    let ask = |letters: &[char], teacher: &mut Teacher<'_>| {
        let texts: Vec<String> = letters.iter().map(|&letter| place.with(letter)).collect();
        teacher.all_valid(&texts)
    };
    let mut asked: Vec<Vec<char>> = Vec::new();
    for part in &parts {
        let own = Some(place.own).filter(|&own| part.members.contains(own));
        let mut some = probes(&part.members, seen);
        // Few programs tell characters outside of ASCII apart: one probe is enough, unless it is valid.
        if !is_ascii(&part.members) {
            some.truncate(usize::from(is_likely(&part.members, place.own)));
        }
        some.retain(|&letter| Some(letter) != own);
        some.extend(own);
        asked.push(some);
    }
    let mut answers = ask(&asked.concat(), teacher)?.into_iter();
    let mut values: Vec<Vec<bool>> = asked.iter().map(|some| answers.by_ref().take(some.len()).collect()).collect();
    let beyond = |part: &Part| !is_ascii(&part.members);
    let open = parts.iter().zip(&values).any(|(part, values)| beyond(part) && values.contains(&true));
    if open {
        for (part, values) in parts.iter().zip(&mut values).filter(|(part, _)| beyond(part)) {
            // The first time, all categories are asked about.
            let some = probes(&part.members, seen);
            values.extend(ask(&some[..1], teacher)?);
        }
    }
    let mut found = Vec::new();
    for (part, values) in parts.iter_mut().zip(values) {
        let members = std::mem::take(&mut part.members);
        let valid = values.contains(&true);
        let fresh = valid && !part.used && !is_ascii(&members);
        if !fresh && values.iter().all(|&value| value == valid) {
            found.push(Part { members, used: part.used || valid });
            continue;
        }
        let divided = partition(&members, seen, &mut |letters| ask(letters, teacher))?;
        *mixed = mixed.union(&divided.mixed);
        let halves = [(divided.yes, true), (divided.no, part.used)].into_iter();
        found.extend(halves.filter(|(half, _)| !half.is_empty()).map(|(members, used)| Part { members, used }));
    }
    Ok((found, open))
}

/// A question about characters.
pub(crate) type Ask<'a> = dyn FnMut(&[char]) -> Result<Vec<bool>, Stop> + 'a;

/// A set that was divided by a question.
#[derive(Debug, Default)]
pub(crate) struct Divided {
    pub(crate) yes: CharSet,
    pub(crate) no: CharSet,
    /// The members of categories in which some say yes and some say no.
    pub(crate) mixed: CharSet,
}

/// Divides a set by a question. All ASCII characters are asked about, and those that occur in examples. Otherwise, some
/// members of a category stand for all.
pub(crate) fn partition(set: &CharSet, seen: &BTreeSet<char>, ask: &mut Ask<'_>) -> Result<Divided, Stop> {
    let seen = seen.iter().copied().filter(|&letter| !letter.is_ascii() && set.contains(letter));
    let seen: Vec<char> = seen.collect();
    let single: Vec<char> = set.ascii().chain(seen.iter().copied()).collect();
    let mut halves: [Vec<(char, char)>; 2] = [Vec::new(), Vec::new()];
    for (&letter, value) in single.iter().zip(ask(&single)?) {
        halves[usize::from(value)].push((letter, letter));
    }
    let seen: CharSet = seen.into_iter().map(|letter| (letter, letter)).collect();
    let rest = set.beyond_ascii().without(&seen);
    let parts = categories().map(|category| category.beyond.intersection(&rest)).filter(|part| !part.is_empty());
    let parts: Vec<(CharSet, Vec<char>)> =
        parts.map(|part| (spread(&part), part)).map(|(some, part)| (part, some)).collect();
    let first = ask(&parts.iter().map(|(_, some)| some[0]).collect::<Vec<_>>())?;
    let more: Vec<char> = (parts.iter().zip(&first).filter(|(_, first)| **first))
        .flat_map(|((_, some), _)| some[1..].iter().copied())
        .collect();
    let mut answers = ask(&more)?.into_iter();
    let mut mixed = Vec::new();
    for ((part, some), first) in parts.iter().zip(first) {
        let all = !first || answers.by_ref().take(some.len() - 1).filter(|valid| !valid).count() == 0;
        if all { &mut halves[usize::from(first)] } else { &mut mixed }.extend(part.ranges().iter().copied());
    }
    let [no, yes] = halves.map(|half| half.into_iter().collect());
    Ok(Divided { yes, no, mixed: mixed.into_iter().collect() })
}

/// Returns members of a part that stand for all of it: the first, the middle and the last of the basic plane, and the first
/// beyond it. None of these are likely to be missing in an older version of Unicode.
fn spread(part: &CharSet) -> Vec<char> {
    let basic = part.intersection(&[('\0', '\u{ffff}')].into_iter().collect());
    let further = part.without(&basic).nth(0);
    let size = basic.len();
    let mut found: Vec<char> = [0, size / 2, size.saturating_sub(1)].iter().filter_map(|&at| basic.nth(at)).collect();
    found.extend(further);
    found.dedup();
    found
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
    use crate::text::charset::beyond_ascii;

    #[test]
    fn classes_of_a_small_language() {
        // One letter of any script, a Greek sign, or digits in brackets.
        let oracle = |text: &str| {
            let inside = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
            let digits = inside.is_some_and(|i| !i.is_empty() && i.chars().all(|c| c.is_ascii_digit()));
            let mut letters = text.chars();
            let one = letters.next().filter(|_| letters.next().is_none());
            digits || one.is_some_and(|c| c.is_ascii_lowercase() || groups()[0].beyond().contains(c) || c == '\u{3f6}')
        };
        let mut teacher = Teacher::new(Queries::new(&oracle, Asking::default(), &()).unwrap());
        let texts = ["x".to_string(), "[12]".to_string()];
        let found = classes(&texts, &CharSet::default(), &mut teacher).unwrap();
        let mut used = found.used.clone();
        used.sort();
        assert_eq!(used.iter().map(|(letter, _)| *letter).collect::<String>(), "1[]x");
        let letters = groups()[0].beyond();
        assert!(used[3].1.beyond_ascii() == letters);
        assert!(found.unused.iter().any(|part| part.contains('\u{3f6}')));
        assert!(found.mixed.is_empty());
        let found = classes(&texts, &beyond_ascii(), &mut teacher).unwrap();
        assert!(found.used.iter().map(|(_, members)| members).chain(&found.unused).all(is_ascii));
    }

    #[test]
    fn categories_are_divided_as_wholes() {
        let seen = BTreeSet::from(['\u{e9}']);
        let all = [('\0', char::MAX)].into_iter().collect();
        // Letters of up to two bytes, and all decimal digits.
        let digits = groups()[2].beyond();
        let mut ask = |letters: &[char]| {
            Ok(letters.iter().map(|l| *l < '\u{800}' && l.is_alphabetic() || digits.contains(*l)).collect())
        };
        let divided = partition(&all, &seen, &mut ask).unwrap();
        assert_eq!(divided.yes.ascii().count(), 52);
        assert_eq!(divided.yes.beyond_ascii(), digits.union(&CharSet::of('\u{e9}')));
        assert!(divided.mixed.contains('\u{e8}') && !divided.no.contains('\u{e8}') && divided.no.contains('\u{20ac}'));
        assert!(divided.yes.union(&divided.no).union(&divided.mixed) == all);
    }
}
