//! Why sides disagree on a text: the place, and what could be there instead.
//!
//! All sides accept some text with the same beginning up to the place. What each side says if something is inserted there is
//! the state in which the sides are, as far as it can be known by asking. Two texts with the same state at the place have the
//! same cause, and so have two texts with the same unusual character there.

use super::panel::Panel;
use super::purpose::Class;
use super::side::{Vote, Votes};
use crate::ask::queries::Stop;

/// The most texts that are inserted.
const MAX_PROBES: usize = 20;
/// How many characters further the place is looked for.
const MAX_LOOKS: usize = 8;
/// Two states count as the same if they differ in at most one of so many of these texts.
const TOLERANCE: usize = 8;

/// What is inserted at a place.
#[derive(Clone, Debug)]
pub(super) struct Probes(Vec<String>);

/// Why sides disagree on a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cause {
    /// The character at the place, if it is in no text that every side accepts.
    unusual: Option<char>,
    state: Vec<Votes>,
}

impl Probes {
    /// Returns the characters of some texts, one of each class, and a blank.
    pub(super) fn new(texts: &[String]) -> Self {
        let mut found = vec!["0".to_string(), "1".to_string(), "a".to_string(), " ".to_string()];
        let mut counts: std::collections::BTreeMap<char, usize> = std::collections::BTreeMap::new();
        for letter in texts.iter().flat_map(|text| text.chars()) {
            if matches!(Class::of(Some(letter)), Class::Other(other) if other != ' ') {
                *counts.entry(letter).or_default() += 1;
            }
        }
        let mut letters: Vec<(char, usize)> = counts.into_iter().collect();
        letters.sort_by_key(|&(letter, count)| (std::cmp::Reverse(count), letter));
        found.extend(letters.into_iter().map(|(letter, _)| letter.to_string()));
        found.truncate(MAX_PROBES);
        Self(found)
    }
}

/// Returns the number of characters before the place at which sides disagree on a text, as far as it is known.
pub(super) fn place(panel: &Panel<'_>, text: &str) -> usize {
    panel.agreed_beginning(text)
}

/// Finds out why sides disagree on a text.
pub(super) fn cause(panel: &Panel<'_>, text: &str, probes: &Probes) -> Result<Cause, Stop> {
    let letters: Vec<char> = text.chars().collect();
    let mut at = place(panel, text);
    for _ in 0..MAX_LOOKS {
        look_further(panel, &letters, at, probes)?;
        let further = place(panel, text);
        if further == at {
            break;
        }
        at = further;
    }
    let ask = |probe: &String| panel.ask(&with(&letters[..at], probe, &letters[at..]));
    let state = probes.0.iter().map(ask).collect::<Result<_, Stop>>()?;
    Ok(Cause { unusual: letters.get(at).copied().filter(|&letter| panel.is_unusual(letter)), state })
}

/// Asks about texts that have one more character of a text in common, until every side accepts one of them.
fn look_further(panel: &Panel<'_>, letters: &[char], at: usize, probes: &Probes) -> Result<(), Stop> {
    let Some((before, after)) = letters.split_at_checked(at + 1) else { return Ok(()) };
    for after in [after, after.get(1..).unwrap_or_default()] {
        for probe in &probes.0 {
            if panel.ask(&with(before, probe, after))?.iter().all(|vote| *vote == Vote::Yes) {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn with(before: &[char], probe: &str, after: &[char]) -> String {
    before.iter().copied().chain(probe.chars()).chain(after.iter().copied()).collect()
}

impl Cause {
    /// Returns whether two texts on which all sides say the same have the same cause.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let unusual = self.unusual.is_some() && self.unusual == other.unusual;
        let differing = self.state.iter().zip(&other.state).filter(|(one, two)| one != two).count();
        unusual || differing * TOLERANCE <= self.state.len()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::compare::side::Side;

    fn numbers(text: &str) -> Vec<&str> {
        text.strip_prefix('[')
            .and_then(|text| text.strip_suffix(']'))
            .map_or(vec![text], |inner| inner.split(',').collect())
    }

    fn strict(text: &str) -> bool {
        numbers(text).iter().all(|number| {
            let digits = number.strip_prefix('-').unwrap_or(number);
            !digits.is_empty()
                && digits.bytes().all(|byte| byte.is_ascii_digit())
                && (digits == "0" || !digits.starts_with('0'))
        })
    }

    /// Also accepts numbers that begin with 0, and a minus sign alone.
    fn lax(text: &str) -> bool {
        numbers(text).iter().all(|number| {
            let digits = number.strip_prefix('-').unwrap_or(number);
            *number == "-" || (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
        })
    }

    #[test]
    fn a_cause_is_the_same_in_other_places() {
        let sides = [Side::program("strict", &strict), Side::program("lax", &lax)];
        let panel = Panel::new(&sides, (100_000, Duration::from_secs(60)), 1, &());
        let probes = Probes::new(&["[1,-2]".to_string()]);
        for text in ["-0", "[-1,2]", "[1,-2]", "0", "[0]"] {
            panel.ask(text).unwrap();
        }
        let of = |text: &str| cause(&panel, text, &probes).unwrap();
        assert!(of("-").is_same(&of("[-,1]")));
        assert!(of("01").is_same(&of("-01")) && !of("01").is_same(&of("-")));
    }
}
