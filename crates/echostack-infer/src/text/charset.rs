//! Sets of characters, as ranges.

use std::collections::BTreeSet;

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

/// A set of characters, as ranges in ascending order that neither overlap nor touch.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CharSet(Vec<(char, char)>);

impl FromIterator<(char, char)> for CharSet {
    fn from_iter<I: IntoIterator<Item = (char, char)>>(ranges: I) -> Self {
        let mut ranges: Vec<(char, char)> = ranges.into_iter().collect();
        ranges.sort_unstable();
        let mut merged: Vec<(char, char)> = Vec::with_capacity(ranges.len());
        for (from, to) in ranges {
            match merged.last_mut() {
                Some((_, last)) if from <= *last || next(*last) == Some(from) => *last = to.max(*last),
                _ => merged.push((from, to)),
            }
        }
        Self(merged)
    }
}

/// Returns all characters outside of ASCII.
pub(crate) fn beyond_ascii() -> CharSet {
    CharSet(vec![('\u{80}', char::MAX)])
}

/// Returns the character after another.
fn next(letter: char) -> Option<char> {
    (letter..=char::MAX).nth(1)
}

impl CharSet {
    pub(crate) fn of(letter: char) -> Self {
        Self(vec![(letter, letter)])
    }

    pub(crate) fn ranges(&self) -> &[(char, char)] {
        &self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn contains(&self, letter: char) -> bool {
        let at = self.0.partition_point(|&(_, to)| to < letter);
        self.0.get(at).is_some_and(|&(from, _)| from <= letter)
    }

    /// Returns the number of characters.
    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|&(from, to)| (from..=to).size_hint().0).sum()
    }

    /// Returns the character with this number.
    pub(crate) fn nth(&self, mut number: usize) -> Option<char> {
        for &(from, to) in &self.0 {
            let size = (from..=to).size_hint().0;
            if number < size {
                return (from..=to).nth(number);
            }
            number -= size;
        }
        None
    }

    pub(crate) fn union(&self, other: &Self) -> Self {
        self.0.iter().chain(&other.0).copied().collect()
    }

    pub(crate) fn intersection(&self, other: &Self) -> Self {
        let (mut i, mut j, mut both) = (0, 0, Vec::new());
        while let (Some(&(a, b)), Some(&(c, d))) = (self.0.get(i), other.0.get(j)) {
            if a.max(c) <= b.min(d) {
                both.push((a.max(c), b.min(d)));
            }
            if b < d { i += 1 } else { j += 1 }
        }
        Self(both)
    }

    /// Returns the set without some of its characters.
    pub(crate) fn without(&self, other: &Self) -> Self {
        let before = |letter: char| ('\0'..letter).next_back();
        let mut from = Some('\0');
        let mut gaps = Vec::new();
        for &(first, last) in &other.0 {
            gaps.extend(from.zip(before(first)).filter(|(from, to)| from <= to));
            from = next(last);
        }
        gaps.extend(from.map(|from| (from, char::MAX)));
        self.intersection(&Self(gaps))
    }

    /// Draws a character. ASCII and all other characters are equally likely.
    pub(crate) fn draw(&self, random: &mut ChaCha8Rng) -> Option<char> {
        let ascii: Vec<char> = self.ascii().collect();
        let size = self.len();
        if ascii.len() == size || (!ascii.is_empty() && random.random_bool(0.5)) {
            return ascii.choose(random).copied();
        }
        self.nth(random.random_range(ascii.len()..size))
    }

    /// Returns the characters of the set outside of ASCII.
    pub(crate) fn beyond_ascii(&self) -> Self {
        self.intersection(&beyond_ascii())
    }

    /// Returns the ASCII characters of the set.
    pub(crate) fn ascii(&self) -> impl Iterator<Item = char> {
        self.0.iter().flat_map(|&(from, to)| from..=to.min('\x7f'))
    }

    /// Returns the character that stands for the set: one of an example, a letter if possible.
    pub(crate) fn representative(&self, seen: &BTreeSet<char>) -> char {
        let known = seen.iter().copied().filter(|&letter| self.contains(letter));
        let ascii = self.ascii().filter(|&letter| !letter.is_ascii_control());
        let best = |letters: &mut dyn Iterator<Item = char>| letters.min_by_key(|&l| (!l.is_alphabetic(), l));
        let any = self.0.first().map_or(' ', |&(from, _)| from);
        best(&mut { known }).or_else(|| best(&mut { ascii })).unwrap_or(any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_agree_with_lists_of_characters() {
        let set: CharSet = [('a', 'c'), ('x', 'z'), ('d', 'e'), ('y', 'z')].into_iter().collect();
        assert_eq!(set.ranges(), [('a', 'e'), ('x', 'z')]);
        assert_eq!((0..9).map_while(|at| set.nth(at)).collect::<String>(), "abcdexyz");
        assert_eq!(set.len(), 8);
        assert!(set.contains('e') && set.contains('x') && !set.contains('f'));
        let other: CharSet = [('c', 'y')].into_iter().collect();
        assert_eq!(set.intersection(&other).ranges(), [('c', 'e'), ('x', 'y')]);
        assert_eq!(set.union(&other).ranges(), [('a', 'z')]);
        assert_eq!(set.without(&other).ranges(), [('a', 'b'), ('z', 'z')]);
        assert_eq!(set.without(&set), CharSet::default());
        let around: CharSet = [('\u{d7ff}', '\u{d7ff}'), ('\u{e000}', '\u{e000}')].into_iter().collect();
        assert_eq!((around.ranges().len(), around.len()), (1, 2));
    }
}
