//! Texts in which a number is at an end of what is valid in its place.
//!
//! Whether a year has 53 weeks shows only in texts with the last week, and whether a month has 31 days only in those with the
//! last day. Such texts are rare among examples with other digits.

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use super::intervals::{Limited, limited_numbers};
use crate::ask::queries::{Queries, Stop};

/// How many texts are tried to see whether an end depends on another number.
const TRIED: usize = 40;

/// The numbers of some texts that must be in an interval.
#[derive(Debug)]
pub(crate) struct Limits<'t> {
    limited: Vec<Limited<'t>>,
    dependent: Vec<Dependent>,
}

/// A number next to an interval is valid if another number of the text is a certain one.
#[derive(Debug)]
struct Dependent {
    limited: usize,
    number: u64,
    other: usize,
}

impl<'t> Limits<'t> {
    /// Finds the limits of the numbers of texts.
    pub(crate) fn find(texts: &'t [String], queries: &mut Queries<'_>, random: &mut ChaCha8Rng) -> Result<Self, Stop> {
        let limited = limited_numbers(texts, queries)?;
        let mut dependent = Vec::new();
        for (at, one) in limited.iter().enumerate() {
            for number in one.beyond() {
                for other in one.others() {
                    let tried: Vec<String> = (0..TRIED).map(|_| one.with(number, Some(other), random)).collect();
                    if queries.ask_all(&tried)?.contains(&Some(true)) {
                        dependent.push(Dependent { limited: at, number, other });
                    }
                }
            }
        }
        Ok(Self { limited, dependent })
    }

    /// Draws a text with a number at an end of its interval, or next to it, and with other digits in another number. Ends that
    /// depend on another number make up half of them. There is none if no number is limited.
    pub(crate) fn draw(&self, random: &mut ChaCha8Rng) -> Option<String> {
        if let Some(dependent) = self.dependent.choose(random).filter(|_| random.random_bool(0.5)) {
            let Dependent { limited, number, other } = *dependent;
            return Some(self.limited[limited].with(number, Some(other), random));
        }
        let limited = self.limited.choose(random)?;
        let ends: Vec<u64> = limited.ends().chain(limited.beyond()).collect();
        let others: Vec<usize> = limited.others().collect();
        Some(limited.with(*ends.choose(random)?, others.choose(random).copied(), random))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::ask::queries::Asking;
    use crate::testing::random;

    fn limits(valid: &dyn crate::program::Program, text: &str) -> (Vec<(u64, usize)>, BTreeSet<String>) {
        let mut queries = Queries::new(valid, Asking::default(), &()).unwrap();
        let texts = [text.to_string()];
        let mut random = random();
        let limits = Limits::find(&texts, &mut queries, &mut random).unwrap();
        let dependent = limits.dependent.iter().map(|dependent| (dependent.number, dependent.other)).collect();
        (dependent, (0..1000).filter_map(|_| limits.draw(&mut random)).collect())
    }

    /// Days of months, of which some are longer.
    fn days(text: &str) -> bool {
        let (month, day) = text.split_once('/').unwrap_or_default();
        let most = if month.starts_with('1') { 31 } else { 30 };
        let is_number = |digits: &str| digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_digit());
        is_number(month) && is_number(day) && (1..=most).contains(&day.parse::<u32>().unwrap())
    }

    #[test]
    fn numbers_are_drawn_at_the_ends_of_their_intervals() {
        let (dependent, drawn) = limits(&days, "02/14");
        assert_eq!(dependent, [(31, 0)]);
        assert!(drawn.contains("17/31") && drawn.contains("42/31") && drawn.contains("42/00"), "{drawn:?}");
        assert!(drawn.iter().all(|text| ["00", "01", "30", "31"].iter().any(|end| text.ends_with(end))), "{drawn:?}");
    }

    #[test]
    fn numbers_without_limits_are_not_drawn() {
        let any = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
        assert_eq!(limits(&any, "12"), (Vec::new(), BTreeSet::new()));
    }
}
