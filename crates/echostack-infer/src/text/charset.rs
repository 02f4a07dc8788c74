//! Sets of characters, as ranges.

use std::sync::OnceLock;

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

    /// Returns the ASCII characters of the set.
    pub(crate) fn ascii(&self) -> impl Iterator<Item = char> {
        self.0.iter().flat_map(|&(from, to)| from..=to.min('\x7f'))
    }

    /// Returns the characters from one number to before another, as a set.
    pub(crate) fn slice(&self, from: usize, to: usize) -> Self {
        let mut before = 0;
        let mut found = Vec::new();
        for &(first, last) in &self.0 {
            let size = (first..=last).size_hint().0;
            let (low, high) = (from.max(before) - before, to.min(before + size).saturating_sub(before));
            if low < high {
                let ends = (first..=last).nth(low).zip((first..=last).nth(high - 1));
                found.extend(ends);
            }
            before += size;
        }
        Self(found)
    }
}

/// Returns the characters outside of ASCII, in parts whose members programs often treat alike.
pub(crate) fn beyond_ascii() -> &'static [CharSet] {
    static PARTS: OnceLock<Vec<CharSet>> = OnceLock::new();
    PARTS.get_or_init(|| {
        let kinds: [fn(char) -> bool; 4] =
            [char::is_control, char::is_whitespace, char::is_numeric, |letter| letter.is_alphabetic()];
        let mut parts: Vec<Vec<(char, char)>> = vec![Vec::new(); kinds.len() + 1];
        for letter in '\u{80}'..=char::MAX {
            let part = &mut parts[kinds.iter().position(|is| is(letter)).unwrap_or(kinds.len())];
            match part.last_mut() {
                Some((_, last)) if next(*last) == Some(letter) => *last = letter,
                _ => part.push((letter, letter)),
            }
        }
        parts.into_iter().map(CharSet).collect()
    })
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
        assert_eq!(set.slice(3, 6).ranges(), [('d', 'e'), ('x', 'x')]);
        assert!(set.contains('e') && set.contains('x') && !set.contains('f'));
        let other: CharSet = [('c', 'y')].into_iter().collect();
        assert_eq!(set.intersection(&other).ranges(), [('c', 'e'), ('x', 'y')]);
        assert_eq!(set.union(&other).ranges(), [('a', 'z')]);
        assert_eq!(set.without(&other).ranges(), [('a', 'b'), ('z', 'z')]);
        assert_eq!(set.without(&set), CharSet::default());
        let around: CharSet = [('\u{d7ff}', '\u{d7ff}'), ('\u{e000}', '\u{e000}')].into_iter().collect();
        assert_eq!((around.ranges().len(), around.len()), (1, 2));
    }

    #[test]
    fn the_parts_beyond_ascii_are_all_other_characters() {
        let all = beyond_ascii().iter().fold(CharSet::default(), |all, part| all.union(part));
        assert_eq!(all.ranges(), [('\u{80}', char::MAX)]);
        assert_eq!(beyond_ascii().iter().map(CharSet::len).sum::<usize>(), all.len());
    }
}
