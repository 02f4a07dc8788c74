//! Regular expressions, made from automata and written for lexers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::text::categories::named;
use crate::text::charset::CharSet;

/// The maximum number of parts of a regular expression.
const MAX_PARTS: usize = 4000;
/// The most words that are listed, instead of the structure of the automaton.
const MAX_WORDS: usize = 12;

/// A regular expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Regex {
    Class(CharSet),
    Text(String),
    Sequence(Vec<Regex>),
    Choice(Vec<Regex>),
    Star(Box<Regex>),
    Plus(Box<Regex>),
}

/// The expression is too large.
#[derive(Debug)]
pub(crate) struct TooLarge;

/// A finite automaton with one start and one end, whose arcs are regular expressions.
pub(crate) type Arcs = BTreeMap<(usize, usize), Regex>;

impl Regex {
    fn size(&self) -> usize {
        match self {
            Self::Class(_) | Self::Text(_) => 1,
            Self::Sequence(parts) | Self::Choice(parts) => 1 + parts.iter().map(Self::size).sum::<usize>(),
            Self::Star(part) | Self::Plus(part) => 1 + part.size(),
        }
    }

    /// Returns the set of characters, if each word is one of them.
    pub(crate) fn as_class(&self) -> Option<CharSet> {
        match self {
            Self::Class(set) => Some(set.clone()),
            Self::Text(text) => {
                let mut letters = text.chars();
                letters.next().filter(|_| letters.next().is_none()).map(CharSet::of)
            }
            _ => None,
        }
    }

    pub(crate) fn or(self, other: Self) -> Self {
        if self == other {
            return self;
        }
        if let (Some(one), Some(two)) = (self.as_class(), other.as_class()) {
            return Self::Class(one.union(&two));
        }
        let mut parts = if let Self::Choice(parts) = self { parts } else { vec![self] };
        let more = if let Self::Choice(parts) = other { parts } else { vec![other] };
        for part in more {
            let known = parts.iter().position(|known| known.as_class().is_some());
            match known.zip(part.as_class()) {
                Some((at, two)) => parts[at] = Self::Class(parts[at].as_class().unwrap_or_default().union(&two)),
                None if !parts.contains(&part) => parts.push(part),
                None => {}
            }
        }
        Self::Choice(parts)
    }

    pub(crate) fn then(self, other: Self) -> Self {
        let mut parts = if let Self::Sequence(parts) = self { parts } else { vec![self] };
        let more = if let Self::Sequence(parts) = other { parts } else { vec![other] };
        for part in more {
            let repeats = matches!((parts.last(), &part), (Some(last), Self::Star(inner)) if *last == **inner);
            let follows = matches!((parts.last(), &part), (Some(Self::Star(inner)), part) if **inner == *part);
            if repeats || follows {
                parts.pop();
                parts.push(match part {
                    Self::Star(inner) => Self::Plus(inner),
                    part => Self::Plus(Box::new(part)),
                });
            } else {
                parts.push(part);
            }
        }
        Self::Sequence(parts)
    }

    /// Returns the expression of all words from one state to another. The arcs contain no other ends.
    pub(crate) fn of(mut arcs: Arcs, start: usize, end: usize) -> Result<Option<Self>, TooLarge> {
        if let Some(words) = words(&arcs, start, end) {
            return Ok(words.into_iter().map(Self::Text).reduce(Self::or));
        }
        let states: BTreeSet<usize> = arcs.keys().flat_map(|&(from, to)| [from, to]).collect();
        let mut inner: Vec<usize> = states.into_iter().filter(|&state| state != start && state != end).collect();
        while !inner.is_empty() {
            // States with few arcs first.
            let degree = |state: usize| arcs.keys().filter(|&&(from, to)| from == state || to == state).count();
            let at = (0..inner.len()).min_by_key(|&at| degree(inner[at])).unwrap_or(0);
            let state = inner.swap_remove(at);
            let again = arcs.remove(&(state, state)).map(|part| Self::Star(Box::new(part)));
            let touching: Vec<(usize, usize)> =
                arcs.keys().copied().filter(|&(from, to)| from == state || to == state).collect();
            let (mut before, mut after) = (Vec::new(), Vec::new());
            for (from, to) in touching {
                let Some(arc) = arcs.remove(&(from, to)) else { continue };
                if to == state { before.push((from, arc)) } else { after.push((to, arc)) }
            }
            let mut size = 0;
            for (from, first) in &before {
                for (to, last) in &after {
                    let first = again.iter().fold(first.clone(), |first, again| first.then(again.clone()));
                    let way = first.then(last.clone());
                    size += way.size();
                    if size > MAX_PARTS {
                        return Err(TooLarge);
                    }
                    let way = match arcs.remove(&(*from, *to)) {
                        Some(known) => known.or(way),
                        None => way,
                    };
                    arcs.insert((*from, *to), way);
                }
            }
        }
        Ok(arcs.remove(&(start, end)))
    }
}

/// Returns the words of an automaton, if there are only a few and each arc is one text.
fn words(arcs: &Arcs, start: usize, end: usize) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let mut open = vec![(start, String::new(), 0)];
    while let Some((state, text, length)) = open.pop() {
        if length > arcs.len() || open.len() > MAX_WORDS {
            return None;
        }
        if state == end {
            found.push(text);
            if found.len() > MAX_WORDS {
                return None;
            }
            continue;
        }
        for ((_, to), arc) in arcs.range((state, 0)..=(state, usize::MAX)) {
            let step = match arc {
                Regex::Text(step) => step.clone(),
                Regex::Class(set) if set.len() == 1 => set.nth(0)?.to_string(),
                _ => return None,
            };
            open.push((*to, format!("{text}{step}"), length + 1));
        }
    }
    found.sort();
    Some(found)
}

impl fmt::Display for Regex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Class(set) if set.len() == 1 => {
                let letter = set.nth(0).unwrap_or_default();
                f.write_str(&escaped(letter))
            }
            Self::Class(set) => {
                f.write_str("[")?;
                let beyond = set.beyond_ascii();
                let categories = named(&beyond).filter(|names| names.len() < beyond.ranges().len());
                let mut rest = set.clone();
                for category in categories.into_iter().flatten() {
                    let is_whole = category.all.without(set).is_empty();
                    rest = rest.without(if is_whole { &category.all } else { &category.beyond });
                    let name = category.name;
                    if is_whole { write!(f, "\\p{{{name}}}")? } else { write!(f, "[\\p{{{name}}}&&[^\\x00-\\x7f]]")? }
                }
                for &(from, to) in rest.ranges() {
                    f.write_str(&escaped(from))?;
                    if to > from {
                        let near = u32::from(to) - u32::from(from) == 1;
                        write!(f, "{}{}", if near { "" } else { "-" }, escaped(to))?;
                    }
                }
                f.write_str("]")
            }
            Self::Text(text) => text.chars().try_for_each(|letter| f.write_str(&escaped(letter))),
            Self::Sequence(parts) => parts.iter().try_for_each(|part| match part {
                Self::Choice(_) => write!(f, "({part})"),
                _ => write!(f, "{part}"),
            }),
            Self::Choice(parts) => {
                parts.iter().enumerate().try_for_each(|(at, part)| write!(f, "{}{part}", if at > 0 { "|" } else { "" }))
            }
            Self::Star(part) => write!(f, "{}*", Atom(part)),
            Self::Plus(part) => write!(f, "{}+", Atom(part)),
        }
    }
}

/// An expression that is repeated.
struct Atom<'a>(&'a Regex);

impl fmt::Display for Atom<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.as_class().is_some() { write!(f, "{}", self.0) } else { write!(f, "({})", self.0) }
    }
}

/// Returns a character as it is written in a lexer, in or outside of a class.
pub(crate) fn escaped(letter: char) -> String {
    match letter {
        '\n' => "\\n".into(),
        '\t' => "\\t".into(),
        '\r' => "\\r".into(),
        letter if letter.is_ascii_alphanumeric() || "_,:;=!@%'`".contains(letter) => letter.into(),
        letter if letter.is_ascii_punctuation() => format!("\\{letter}"),
        letter if letter.is_alphabetic() => letter.into(),
        letter if letter.is_ascii() => format!("\\x{:02x}", u32::from(letter)),
        letter => format!("\\x{{{:x}}}", u32::from(letter)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::categories::groups;

    fn class(ranges: &[(char, char)]) -> Regex {
        Regex::Class(ranges.iter().copied().collect())
    }

    fn written(arcs: &[(usize, usize, Regex)], end: usize) -> String {
        let arcs = arcs.iter().map(|(from, to, part)| ((*from, *to), part.clone())).collect();
        Regex::of(arcs, 0, end).unwrap().unwrap().to_string()
    }

    #[test]
    fn automata_are_written_as_people_would() {
        let digit = || class(&[('0', '9')]);
        let quote = || class(&[('"', '"')]);
        assert_eq!(written(&[(0, 1, digit()), (1, 1, digit()), (1, 2, quote())], 2), "[0-9]+\\\"");
        let other = || class(&[(' ', '!'), ('#', '[')]);
        assert_eq!(written(&[(0, 1, quote()), (1, 1, other()), (1, 2, quote())], 2), "\\\"[\\x20!\\#-\\[]*\\\"");
        let text = |text: &str| Regex::Text(text.to_string());
        let keywords = [(0, 1, text("tr")), (1, 2, text("ue")), (0, 3, text("nu")), (3, 2, text("ll"))];
        assert_eq!(written(&keywords, 2), "null|true");
        let sign = [(0, 1, text("e")), (1, 2, class(&[('+', '+'), ('-', '-')])), (1, 3, digit()), (2, 3, digit())];
        assert_eq!(written(&sign, 3), "e([0-9]|[\\+\\-][0-9])");
    }

    #[test]
    fn general_categories_have_their_names() {
        let digits = groups()[2].beyond();
        let ascii = [('0', '9'), ('_', '_')].into_iter().collect();
        assert_eq!(Regex::Class(digits.union(&ascii)).to_string(), "[\\p{Nd}_]");
        let some = [('1', '9')].into_iter().collect();
        assert_eq!(Regex::Class(digits.union(&some)).to_string(), "[[\\p{Nd}&&[^\\x00-\\x7f]]1-9]");
        assert_eq!(class(&[('!', char::MAX)]).to_string(), "[!-\\x{10ffff}]");
        assert_eq!(class(&[('\u{e0}', '\u{e9}'), ('\u{100}', '\u{101}')]).to_string(), "[à-éĀā]");
    }
}
