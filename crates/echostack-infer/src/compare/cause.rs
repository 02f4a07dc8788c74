//! Why sides disagree on a text: the place, and what could be there instead.
//!
//! All sides accept some text with the same beginning up to the place. What each side says if something is inserted there is
//! the state in which the sides are, as far as it can be known by asking. Two texts with the same state at the place have the
//! same cause, and so have two texts with the same unusual character there. If a side has a grammar, its state is known
//! (`told.rs`), and two texts have the same cause only if it can be the same in the grammar, too.

use super::panel::Panel;
use super::purpose::Class;
use super::side::{Vote, Votes};
use super::told::Told;
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
    /// The character at the place or just before it, if it is in no text that every side accepts or lacks what always comes after
    /// it.
    unusual: Option<char>,
    state: Vec<Votes>,
    /// What each side with a grammar makes of the text at the place.
    told: Vec<Told>,
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

/// Returns what each side with a grammar makes of a text at the place at which sides disagree, as far as it is known.
pub(super) fn told(panel: &Panel<'_>, text: &str) -> Vec<Told> {
    let at = place(panel, text);
    panel.sides.iter().filter_map(|side| side.tell(text, at)).collect()
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
    let is_unusual =
        |at: &usize| letters.get(*at).is_some_and(|&own| panel.is_unusual(own, letters.get(at + 1).copied()));
    let unusual = std::iter::once(at).chain(at.checked_sub(1)).find(is_unusual).map(|at| letters[at]);
    Ok(Cause { unusual, state, told: told(panel, text) })
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
    /// Returns whether it is known that two texts on which all sides say the same have the same cause.
    ///
    /// Where nothing can be inserted that some side accepts, programs do not tell in which state they are.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.may_be(other) && (self.is_as_unusual(other) || self.is_informed(other) || !self.told.is_empty())
    }

    /// Returns whether two texts on which all sides say the same can have the same cause, as far as it is known.
    pub(super) fn may_be(&self, other: &Self) -> bool {
        let differing = self.state.iter().zip(&other.state).filter(|(one, two)| one != two).count();
        let alike = differing * TOLERANCE <= self.state.len();
        // What grammars tell has to be the same if programs tell nothing.
        let told = if self.is_informed(other) { self.is_related(other) } else { self.told == other.told };
        self.is_as_unusual(other) || (alike && told)
    }

    /// Returns whether the causes can be the same in all grammars.
    pub(super) fn is_related(&self, other: &Self) -> bool {
        self.told.iter().zip(&other.told).all(|(one, two)| one.is_related(two))
    }

    /// Returns whether grammars that refuse a text can do so for this cause, which can be known without asking.
    pub(super) fn is_refused_alike(&self, panel: &Panel<'_>, text: &str) -> bool {
        let pairs = self.told.iter().zip(told(panel, text));
        pairs.filter(|(own, _)| matches!(own, Told::Refused { .. })).all(|(own, other)| own.is_related(&other))
    }

    /// Returns whether the same unusual character is at both places, and grammars take it for the same.
    fn is_as_unusual(&self, other: &Self) -> bool {
        let same_token = || self.told.iter().zip(&other.told).all(|(one, two)| one.has_token_of(two));
        self.unusual.is_some() && self.unusual == other.unusual && same_token()
    }

    /// Returns whether the sides say the same about some text that one of them accepts.
    fn is_informed(&self, other: &Self) -> bool {
        self.state.iter().zip(&other.state).any(|(one, two)| one == two && one.contains(&Vote::Yes))
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

    /// All accept a line feed, also after a carriage return, and one accepts carriage returns alone.
    #[test]
    fn a_character_without_what_always_follows_it_is_one_cause() {
        let lax = |text: &str| text.chars().all(|letter| "ab=\r\n".contains(letter));
        let strict = |text: &str| lax(text) && !text.replace("\r\n", "\n").contains('\r');
        let sides = [Side::program("strict", &strict), Side::program("lax", &lax)];
        let panel = Panel::new(&sides, (100_000, Duration::from_secs(60)), 1, &());
        let probes = Probes::new(&["a=b\r\n".to_string()]);
        for text in ["a=b\r\n", "\r\na=b", "a=b\nb=a", "a", "ba", "="] {
            panel.ask(text).unwrap();
        }
        let of = |text: &str| cause(&panel, text, &probes).unwrap();
        assert_eq!(of("a\r=b").unusual, Some('\r'));
        assert!(of("a\r=b").is_same(&of("\ra=b")) && of("a\r=b").is_same(&of("a=b\r\ra")));
        assert_eq!(of("a=b\r\n").unusual, None);
    }
}
