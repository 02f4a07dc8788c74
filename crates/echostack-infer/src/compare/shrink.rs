//! The smallest text on which the sides disagree in the same way.

use super::panel::Panel;
use super::side::Votes;
use crate::ask::queries::Stop;

/// The maximum number of texts that are tried for one text.
const MAX_TRIED: usize = 2000;
/// The length of the longest texts whose characters are replaced by simpler ones.
const LONG: usize = 64;
/// Characters in the order of their simplicity.
const SIMPLE: [char; 25] = [
    '0',
    '1',
    '2',
    '3',
    '4',
    '5',
    '6',
    '7',
    '8',
    '9',
    'a',
    'A',
    ' ',
    ',',
    '\t',
    '\n',
    '\r',
    '\u{1}',
    '\0',
    '\u{7f}',
    '\u{e9}',
    '\u{80}',
    '\u{4e2d}',
    '\u{2028}',
    '\u{1f600}',
];

/// What is still wanted of a smaller text, besides the same votes.
pub(super) type Wanted<'w> = &'w mut dyn FnMut(&str) -> Result<bool, Stop>;

/// Makes texts smaller.
struct Shrinking<'s, 'a> {
    panel: &'s Panel<'a>,
    votes: &'s Votes,
    wanted: Wanted<'s>,
    tried: usize,
}

/// Leaves out parts of a text and replaces its characters by simpler ones, as long as all sides say the same.
///
/// The result is the same for many texts, so that they can be recognized as one kind.
pub(super) fn shrink(panel: &Panel<'_>, text: &str, votes: &Votes, wanted: Wanted<'_>) -> Result<String, Stop> {
    let mut shrinking = Shrinking { panel, votes, wanted, tried: 0 };
    let mut letters: Vec<char> = text.chars().collect();
    loop {
        let before = letters.clone();
        shrinking.leave_out_pairs(&mut letters)?;
        shrinking.leave_out(&mut letters)?;
        if letters.len() <= LONG {
            shrinking.simplify(&mut letters)?;
        }
        if letters == before || shrinking.tried >= MAX_TRIED {
            return Ok(letters.into_iter().collect());
        }
    }
}

impl Shrinking<'_, '_> {
    /// Replaces a text by a smaller one, if the sides say the same about it.
    fn replace(&mut self, letters: &mut Vec<char>, smaller: Vec<char>) -> Result<bool, Stop> {
        if self.tried >= MAX_TRIED {
            return Ok(false);
        }
        self.tried += 1;
        let text: String = smaller.iter().collect();
        let same = self.panel.ask(&text)? == *self.votes && (self.wanted)(&text)?;
        if same {
            *letters = smaller;
        }
        Ok(same)
    }

    /// Leaves out parts, long ones first.
    fn leave_out(&mut self, letters: &mut Vec<char>) -> Result<(), Stop> {
        let mut size = letters.len();
        while size > 0 {
            let mut from = 0;
            while from + size <= letters.len() {
                let smaller = [&letters[..from], &letters[from + size..]].concat();
                if !self.replace(letters, smaller)? {
                    from += (size / 2).max(1);
                }
            }
            size /= 2;
        }
        Ok(())
    }

    /// Leaves out two parts of the same length at once, as far from the beginning as from the end: brackets of nested texts.
    fn leave_out_pairs(&mut self, letters: &mut Vec<char>) -> Result<(), Stop> {
        let mut size = letters.len() / 2;
        while size > 0 {
            let mut from = 0;
            while 2 * (from + size) <= letters.len() {
                let end = letters.len() - from;
                let smaller = [&letters[..from], &letters[from + size..end - size], &letters[end..]].concat();
                if !self.replace(letters, smaller)? {
                    // Brackets are alike, so that the place matters less than the number.
                    from += size;
                }
                if from > LONG {
                    break;
                }
            }
            size /= 2;
        }
        Ok(())
    }

    /// Replaces each character by the simplest one that is possible.
    fn simplify(&mut self, letters: &mut Vec<char>) -> Result<(), Stop> {
        for at in 0..letters.len() {
            let own = letters[at];
            let lower = own.is_ascii_uppercase().then(|| own.to_ascii_lowercase());
            for simple in simpler(own).iter().copied().chain(lower) {
                let mut smaller = letters.clone();
                smaller[at] = simple;
                if self.replace(letters, smaller)? {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// Returns the characters that are simpler than a character.
fn simpler(letter: char) -> &'static [char] {
    match SIMPLE.iter().position(|&simple| simple == letter) {
        Some(at) => &SIMPLE[..at],
        None if letter.is_ascii_alphabetic() => &SIMPLE[..12],
        None if letter.is_ascii_punctuation() => &SIMPLE[..13],
        None => &SIMPLE,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::compare::side::Side;

    fn shrunk(one: fn(&str) -> bool, two: fn(&str) -> bool, text: &str) -> String {
        let sides = [Side::program("one", &one), Side::program("two", &two)];
        let panel = Panel::new(&sides, (1_000_000, Duration::from_secs(60)), 1, &());
        let votes = panel.ask(text).unwrap();
        assert!(crate::compare::side::disagree(&votes));
        let small = shrink(&panel, text, &votes, &mut |_| Ok(true)).unwrap();
        assert_eq!(panel.ask(&small).unwrap(), votes);
        small
    }

    #[test]
    fn what_does_not_matter_is_left_out_and_the_rest_is_simple() {
        assert_eq!(shrunk(|text| text.contains('-'), |_| false, "[12, {\"a\": -7}]"), "-");
        let number = |text: &str| text.parse::<u64>().is_ok();
        let digits = |text: &str| !text.is_empty() && text.chars().all(|letter| letter.is_ascii_digit());
        assert_eq!(shrunk(digits, number, "98765432109876543210987"), "20000000000000000000");
        let upper = |text: &str| text.chars().any(char::is_uppercase);
        assert_eq!(shrunk(upper, |_| false, "abcXYZ"), "A");
    }

    /// Brackets are left out in pairs.
    #[test]
    fn nested_texts_are_as_deep_as_necessary() {
        fn depth(text: &str) -> Option<usize> {
            let half = text.len() / 2;
            (text.len().is_multiple_of(2)
                && text[..half].bytes().all(|byte| byte == b'[')
                && text[half..].bytes().all(|byte| byte == b']'))
            .then_some(half)
        }
        let text = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
        let small = shrunk(|text| depth(text).is_some(), |text| depth(text).is_some_and(|depth| depth <= 137), &text);
        assert_eq!(small, format!("{}{}", "[".repeat(138), "]".repeat(138)));
    }
}
