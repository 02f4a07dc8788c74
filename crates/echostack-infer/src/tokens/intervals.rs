//! Numbers that are compared: places of texts in which the valid numbers are an interval.
//!
//! Each place of a number in a valid text is looked at by itself: the program is asked about the text with other numbers.
//! An interval is reported only if all answers of the run about that place agree with it. If its end is another number of
//! the same text, and moves with it, the two numbers are compared.

use std::collections::{BTreeMap, BTreeSet};

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::ask::queries::{Queries, Stop};

/// The most places that are looked at, the length of their texts, and the most digits of their numbers.
const MOST: (usize, usize, usize) = (60, 200, 9);
/// Numbers that are tried first.
const FIRST: [u64; 14] = [0, 1, 2, 5, 9, 10, 13, 24, 32, 60, 99, 100, 400, 999];
/// The most times that the answer may change between the numbers that are tried.
const MOST_CHANGES: usize = 4;
/// How often the other one of two numbers is changed.
const MOVED: usize = 3;
const NUMBERS: [&str; 8] = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"];

/// A number in a text.
#[derive(Clone, Copy, Debug)]
struct Place {
    start: usize,
    end: usize,
}

/// How numbers are written to which an interval applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Any,
    /// Without zeros that could be left out.
    Plain,
    /// With so many digits.
    Digits(usize),
}

impl Form {
    fn has(self, digits: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Plain => digits.len() == 1 || !digits.starts_with('0'),
            Self::Digits(count) => digits.len() == count,
        }
    }

    fn write(self, number: u64) -> String {
        if let Self::Digits(count) = self { format!("{number:0count$}") } else { number.to_string() }
    }
}

/// The numbers that are valid in a place. An end that is open is that of all numbers that were tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interval {
    form: Form,
    least: Option<u64>,
    most: Option<u64>,
}

/// A number of a valid text that must be in an interval.
#[derive(Debug)]
pub(super) struct Limited<'t> {
    text: &'t str,
    places: Vec<Place>,
    /// Which of the places it is, and the numbers that are valid there.
    number: usize,
    interval: Interval,
}

impl Limited<'_> {
    /// Returns the ends of the interval.
    pub(super) fn ends(&self) -> impl Iterator<Item = u64> {
        self.interval.least.into_iter().chain(self.interval.most)
    }

    /// Returns the numbers next to the interval.
    pub(super) fn beyond(&self) -> impl Iterator<Item = u64> {
        let less = self.interval.least.and_then(|least| least.checked_sub(1));
        less.into_iter().chain(self.interval.most.map(|most| most + 1))
    }

    /// Returns which other numbers the text has.
    pub(super) fn others(&self) -> impl Iterator<Item = usize> {
        (0..self.places.len()).filter(|other| *other != self.number)
    }

    /// Returns the text with this number, and with other digits in another one.
    pub(super) fn with(&self, number: u64, other: Option<usize>, random: &mut ChaCha8Rng) -> String {
        let mut found = self.text.to_string();
        for (at, place) in self.places.iter().enumerate().rev() {
            if at == self.number {
                found = put(&found, *place, &self.interval.form.write(number));
            } else if Some(at) == other {
                let digits: String = (place.start..place.end).map(|_| random.random_range('0'..='9')).collect();
                found = put(&found, *place, &digits);
            }
        }
        found
    }
}

/// Returns statements about numbers of texts that must be in an interval, or that are compared with each other. If a limit is
/// reached, there are none.
pub(crate) fn compared_numbers(texts: &[String], queries: &mut Queries<'_>) -> Result<Vec<String>, Stop> {
    loop {
        match intervals(texts, queries) {
            Err(Stop::Positions) => queries.forget_positions(),
            Err(stop) if stop.has_result() => return Ok(Vec::new()),
            found => return found,
        }
    }
}

fn intervals(texts: &[String], queries: &mut Queries<'_>) -> Result<Vec<String>, Stop> {
    let mut found: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for limited in limited_numbers(texts, queries)? {
        let told = tell(&limited, queries)?;
        found.entry(told).or_default().push(limited.text);
    }
    let statement = |(told, texts): (String, Vec<&str>)| {
        let others = if texts.len() > 1 { format!(" and {} more", texts.len() - 1) } else { String::new() };
        format!("in {:?}{others}, {told}", texts[0])
    };
    Ok(found.into_iter().map(statement).collect())
}

/// Returns the numbers of texts that must be in an interval.
pub(super) fn limited_numbers<'t>(texts: &'t [String], queries: &mut Queries<'_>) -> Result<Vec<Limited<'t>>, Stop> {
    let mut sorted: Vec<&String> = texts.iter().filter(|text| text.len() <= MOST.1).collect();
    sorted.sort_by_key(|text| (text.len(), text.as_str()));
    let (mut seen, mut tried, mut found) = (BTreeSet::new(), 0, Vec::new());
    for text in sorted {
        let places = places(text);
        // Texts that differ in numbers only show the same.
        let mask: String = text.chars().map(|letter| if letter.is_ascii_digit() { '0' } else { letter }).collect();
        if !seen.insert(mask) {
            continue;
        }
        for (number, place) in places.iter().enumerate().take(NUMBERS.len()) {
            if tried == MOST.0 {
                break;
            }
            tried += 1;
            if let Some(interval) = interval(text, *place, queries)? {
                found.push(Limited { text, places: places.clone(), number, interval });
            }
        }
    }
    Ok(found)
}

fn places(text: &str) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for (at, _) in text.char_indices().filter(|(_, letter)| letter.is_ascii_digit()) {
        match places.last_mut() {
            Some(place) if place.end == at => place.end += 1,
            _ => places.push(Place { start: at, end: at + 1 }),
        }
    }
    places.retain(|place| place.end - place.start <= MOST.2);
    places
}

fn put(text: &str, place: Place, digits: &str) -> String {
    format!("{}{digits}{}", &text[..place.start], &text[place.end..])
}

/// Finds the interval of the numbers that are valid in a place, if they are one and not just all numbers of some length.
fn interval(text: &str, place: Place, queries: &mut Queries<'_>) -> Result<Option<Interval>, Stop> {
    let mut answers: BTreeMap<String, bool> = BTreeMap::new();
    let fixed = Form::Digits(place.end - place.start);
    let forms = [Form::Plain, fixed];
    let first: Vec<String> = forms.iter().flat_map(|form| FIRST.map(|number| form.write(number))).collect();
    ask(text, place, first, &mut answers, queries)?;
    let own: u64 = text[place.start..place.end].parse().unwrap_or_default();
    ask(text, place, forms.map(|form| form.write(own)).to_vec(), &mut answers, queries)?;
    let valid = answers.values().filter(|valid| **valid).count();
    if valid < 2 || valid == answers.len() {
        return Ok(None);
    }
    let short = (0..10).map(|number| number.to_string()).chain((0..100).map(|number| format!("{number:02}")));
    ask(text, place, short.collect(), &mut answers, queries)?;
    for form in forms {
        if !narrow(text, place, form, &mut answers, queries)? {
            return Ok(None);
        }
    }
    // What the whole run has asked about this place counts, too.
    let (before, after) = (&text[..place.start], &text[place.end..]);
    for (known, answer) in queries.answers() {
        let digits = known.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        if let Some(digits) = digits.filter(|digits| is_number(digits)) {
            answers.insert(digits.to_string(), answer);
        }
    }
    Ok([Form::Any, Form::Plain, fixed].into_iter().find_map(|form| fitting(&answers, form)))
}

fn is_number(digits: &str) -> bool {
    (1..=MOST.2).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit())
}

fn ask(
    text: &str,
    place: Place,
    numbers: Vec<String>,
    answers: &mut BTreeMap<String, bool>,
    queries: &mut Queries<'_>,
) -> Result<(), Stop> {
    let texts: Vec<String> = numbers.iter().map(|digits| put(text, place, digits)).collect();
    // A text without an answer says nothing.
    let found = queries.ask_all(&texts)?;
    answers.extend(numbers.into_iter().zip(found).filter_map(|(digits, answer)| Some((digits, answer?))));
    Ok(())
}

/// Looks for the ends of intervals, between numbers with different answers. Returns whether there are few.
fn narrow(
    text: &str,
    place: Place,
    form: Form,
    answers: &mut BTreeMap<String, bool>,
    queries: &mut Queries<'_>,
) -> Result<bool, Stop> {
    loop {
        let known: BTreeMap<u64, bool> = (answers.iter())
            .filter(|(digits, _)| form.has(digits))
            .filter_map(|(digits, valid)| Some((digits.parse().ok()?, *valid)))
            .collect();
        let known: Vec<(u64, bool)> = known.into_iter().collect();
        let changes: Vec<(u64, u64)> =
            known.windows(2).filter(|pair| pair[0].1 != pair[1].1).map(|pair| (pair[0].0, pair[1].0)).collect();
        if changes.len() > MOST_CHANGES {
            return Ok(false);
        }
        let open = changes.into_iter().filter(|(one, two)| two - one > 1);
        let middles: Vec<String> = open.map(|(one, two)| form.write(u64::midpoint(one, two))).collect();
        let before = answers.len();
        ask(text, place, middles, answers, queries)?;
        if answers.len() == before {
            return Ok(true);
        }
    }
}

/// Returns the interval that explains all answers about numbers of a form.
fn fitting(answers: &BTreeMap<String, bool>, form: Form) -> Option<Interval> {
    let numbers = answers.iter().filter(|(digits, _)| form.has(digits));
    let numbers: Vec<(u64, bool)> =
        numbers.filter_map(|(digits, valid)| Some((digits.parse().ok()?, *valid))).collect();
    let valid = || numbers.iter().filter(|(_, valid)| *valid).map(|(number, _)| *number);
    let (least, most) = (valid().min()?, valid().max()?);
    if least == most || !numbers.iter().all(|&(number, valid)| valid == (least..=most).contains(&number)) {
        return None;
    }
    let least = Some(least).filter(|least| numbers.iter().any(|(number, _)| number < least));
    let most = Some(most).filter(|most| numbers.iter().any(|(number, _)| number > most));
    // An interval of all numbers with so many digits says nothing about their values.
    let is_power = |number: u64| (1..18).any(|digits| 10_u64.pow(digits) == number);
    let is_length = least.is_some_and(is_power) || most.is_some_and(|most| is_power(most + 1));
    (!is_length && (least.is_some() || most.is_some())).then_some(Interval { form, least, most })
}

/// Says what holds for a number of a text: an end of its interval can be another number.
fn tell(limited: &Limited<'_>, queries: &mut Queries<'_>) -> Result<String, Stop> {
    let Limited { text, places, number, interval } = limited;
    let number = *number;
    let mut ends = Vec::new();
    for (end, name, step) in [(interval.least, "least", -1), (interval.most, "most", 1)] {
        let Some(end) = end else { continue };
        let mut with = end.to_string();
        for (other, place) in places.iter().enumerate().filter(|(other, _)| *other != number).take(NUMBERS.len()) {
            let is_same = text[place.start..place.end].parse() == Ok(end);
            if is_same && moves(text, (places[number], *place), (interval.form, end, step), queries)? {
                with = format!("the {}", NUMBERS[other]);
                break;
            }
        }
        ends.push(format!("at {name} {with}"));
    }
    let form = match interval.form {
        Form::Any => String::new(),
        Form::Plain => " without leading zeros".to_string(),
        Form::Digits(1) => " of one digit".to_string(),
        Form::Digits(count) => format!(" of {count} digits"),
    };
    Ok(format!("the {} number{form} must be {}", NUMBERS[number], ends.join(" and ")))
}

/// Returns whether the end of the interval of one place follows the number in another one.
fn moves(
    text: &str,
    (place, other): (Place, Place),
    (form, end, step): (Form, u64, i64),
    queries: &mut Queries<'_>,
) -> Result<bool, Stop> {
    let mut moved = 0;
    for away in [1_i64, -1, 2, -2, 3, -3, 5, -5] {
        let (Some(to), true) = (end.checked_add_signed(away), moved < MOVED) else { continue };
        let (Some(beyond), written) = (to.checked_add_signed(step), |number| form.write(number)) else { continue };
        let both = |number: u64| {
            let own = written(number);
            let theirs = written(to);
            let mut parts = [(place, own), (other, theirs)];
            parts.sort_by_key(|(place, _)| std::cmp::Reverse(place.start));
            parts.iter().fold(text.to_string(), |text, (place, digits)| put(&text, *place, digits))
        };
        // Only where the other number can be this one, whatever the first is, does it say anything.
        let answers = queries.ask_all(&[both(to), both(beyond)])?;
        match answers[..] {
            [Some(true), Some(false)] => moved += 1,
            [Some(false), Some(false)] => {}
            _ => return Ok(false),
        }
    }
    Ok(moved >= 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::queries::Asking;

    fn statements(valid: &dyn crate::program::Program, texts: &[&str]) -> Vec<String> {
        let mut queries = Queries::new(valid, Asking::default(), &()).unwrap();
        intervals(&texts.iter().map(ToString::to_string).collect::<Vec<_>>(), &mut queries).unwrap()
    }

    /// Hours and minutes, and ranges of hours.
    fn times(text: &str) -> bool {
        let number = |digits: &str| digits.parse::<u64>().ok().filter(|_| digits.len() < 4);
        if let Some((hours, minutes)) = text.split_once(':') {
            return number(hours).is_some_and(|hours| hours < 24)
                && minutes.len() == 2
                && number(minutes).is_some_and(|minutes| minutes < 60);
        }
        let Some((one, two)) = text.split_once('-') else { return false };
        number(one).zip(number(two)).is_some_and(|(one, two)| one <= two && two < 24)
    }

    #[test]
    fn intervals_explain_all_answers() {
        assert_eq!(
            statements(&times, &["7:30", "9-17", "8-12"]),
            [
                "in \"7:30\", the first number must be at most 23",
                "in \"8-12\", the first number must be at most the second",
                "in \"8-12\", the second number must be at least the first and at most 23",
                "in \"7:30\", the second number of 2 digits must be at most 59",
            ]
        );
    }

    #[test]
    fn other_numbers_are_no_intervals() {
        let even = |text: &str| text.parse::<u64>().is_ok_and(|number| number.is_multiple_of(2));
        assert!(statements(&even, &["4"]).is_empty());
        let any = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
        assert!(statements(&any, &["4", "100"]).is_empty());
        let of_two_digits = |text: &str| any(text) && text.len() == 2;
        assert!(statements(&of_two_digits, &["41"]).is_empty());
        let json = |text: &str| any(text) && (text.len() == 1 || !text.starts_with('0'));
        assert!(statements(&json, &["12", "0"]).is_empty());
        let but_one = |text: &str| any(text) && text.parse::<u64>().is_ok_and(|number| number < 50 && number != 13);
        assert!(statements(&but_one, &["4"]).is_empty());
    }
}
