//! Positions in texts, as people read them: lines, columns, and the text around them.

use std::collections::VecDeque;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The number of characters of a line that are shown on either side of a place.
const AROUND: usize = 60;

/// A place in a text: its line and column, and the part of the line around it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The line, counted from 1.
    pub line: u64,
    /// The column, counted from 1, in characters.
    pub column: u64,
    /// The part of the line before the place, at most 60 characters.
    before: String,
    /// The part of the line from the place on, at most 60 characters.
    after: String,
}

impl Place {
    /// Returns the place of a byte in a text.
    pub fn new(text: &str, byte: usize) -> Self {
        let byte = (0..=byte.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let mut tracker = Tracker::default();
        tracker.pass(&text[..byte]);
        tracker.here(&text[byte..])
    }

    /// Returns the part of the line around the place and, below it, a caret under the place.
    pub fn excerpt(&self) -> String {
        let Self { before, after, .. } = self;
        format!("  {before}{after}\n  {}^", " ".repeat(before.width()))
    }
}

/// Follows a text that is read in parts, and keeps what is needed to say where one is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tracker {
    /// The number of line breaks before this place.
    lines: u64,
    /// The number of characters of the line before this place.
    columns: u64,
    /// The last of these characters.
    before: VecDeque<char>,
}

impl Tracker {
    /// Goes to the end of a part of the text.
    pub(crate) fn pass(&mut self, part: &str) {
        let mut rest = part;
        if let Some(last) = memchr::memrchr(b'\n', part.as_bytes()) {
            self.lines += memchr::memchr_iter(b'\n', &part.as_bytes()[..=last]).count() as u64;
            self.columns = 0;
            self.before.clear();
            rest = &part[last + 1..];
        }
        self.columns += rest.chars().count() as u64;
        let last: Vec<char> = rest.chars().rev().take(AROUND).collect();
        self.before.extend(last.iter().rev());
        self.before.drain(..self.before.len().saturating_sub(AROUND));
    }

    /// Returns the place that was reached, given the text from there on.
    pub(crate) fn here(&self, rest: &str) -> Place {
        let line = rest.split('\n').next().unwrap_or_default();
        let after: String = line.chars().take(AROUND).map(shown).collect();
        Place {
            line: self.lines + 1,
            column: self.columns + 1,
            before: self.before.iter().copied().map(shown).collect(),
            after: after.trim_end().to_string(),
        }
    }
}

/// Returns a character as it is shown: a space for a character that has no width of its own or moves the cursor.
fn shown(letter: char) -> char {
    if letter.width().is_none() { ' ' } else { letter }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carets_line_up_under_wide_characters() {
        let place = Place::new("a\r\n\"日本\" é\tx", 15);
        assert_eq!((place.line, place.column), (2, 8));
        assert_eq!(place.excerpt(), "  \"日本\" é x\n           ^");
    }

    #[test]
    fn a_place_does_not_depend_on_the_parts_that_a_text_is_read_in() {
        let text = "one\ntwo é 日本\n\nfour and a long line that is cut off somewhere in the middle, as it is too long"
            .repeat(3);
        for (at, _) in text.char_indices() {
            let mut tracker = Tracker::default();
            for letter in text[..at].chars() {
                tracker.pass(letter.encode_utf8(&mut [0; 4]));
            }
            let place = tracker.here(&text[at..]);
            assert_eq!(place, Place::new(&text, at));
            let line = text[..at].matches('\n').count();
            let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
            assert_eq!((place.line, place.column), (line as u64 + 1, text[start..at].chars().count() as u64 + 1));
        }
    }
}
