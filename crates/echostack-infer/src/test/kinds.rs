//! Kinds of tests, and how much each of them has found.

use std::collections::BTreeMap;

use crate::text::symbols::Word;

/// A word, with one of its texts.
pub(crate) type Test = (Word, String);

/// A kind of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Words on which two parts of the hypothesis that are alike might also agree.
    Suggested,
    /// Words of the hypothesis.
    Walk,
    /// Words of the hypothesis with one to three edits.
    EditedWalk,
    /// Examples with one to three edits.
    EditedExample,
    /// Examples, and valid texts that were misjudged, with other digits and letters.
    Redrawn,
    /// The way to a place of the hypothesis, one symbol, and an end.
    Step,
    /// The way to a place of the hypothesis, up to two symbols, and an end.
    Steps,
    /// The way to a place of the hypothesis, a part of a word, and an end.
    Fragment,
    /// Whole examples in the place of parts of others.
    Embedded,
    /// Examples with two parts that are repeated.
    Repeated,
    /// Words of examples, such as keywords, where any letters can be.
    Reserved,
    /// Characters without a use so far.
    Unused,
}

/// The kinds of which there are so many tests in a round that finds nothing, with the names in the log.
const KINDS: [(Kind, &str); 12] = [
    (Kind::Suggested, "suggested"),
    (Kind::Walk, "drawn"),
    (Kind::EditedWalk, "drawn and edited"),
    (Kind::EditedExample, "edited examples"),
    (Kind::Redrawn, "examples with other digits"),
    (Kind::Step, "one step"),
    (Kind::Steps, "two steps"),
    (Kind::Fragment, "parts"),
    (Kind::Embedded, "examples in each other"),
    (Kind::Repeated, "repeated parts"),
    (Kind::Reserved, "words of the examples"),
    (Kind::Unused, "other characters"),
];

/// A kind of which nothing was tested counts like one of which so many tests found one mistake.
const UNKNOWN: f64 = 20.;
/// The most times, very roughly, that a part of an example is repeated in the first tests.
const REPEATED: f64 = 40.;

impl Kind {
    /// Returns the number of tests in a round that finds nothing, if `tests` random ones are wanted. Suggestions are not
    /// counted here.
    pub(crate) fn amount(self, tests: usize) -> usize {
        match self {
            Self::Suggested => 0,
            Self::Embedded => 2 * tests,
            Self::Repeated => tests / 4,
            Self::Reserved => tests,
            Self::Unused => tests / 20,
            _ => tests / 6,
        }
    }

    /// Returns whether the tests are made from examples, whatever the hypothesis is.
    pub(crate) fn is_near_examples(self) -> bool {
        matches!(self, Self::EditedExample | Self::Redrawn | Self::Embedded)
    }

    /// Returns the amounts of all kinds.
    pub(crate) fn amounts(tests: usize) -> BTreeMap<Self, usize> {
        KINDS.iter().map(|&(kind, _)| (kind, kind.amount(tests))).collect()
    }
}

/// The tests of a kind.
#[derive(Clone, Copy, Debug, Default)]
struct Yield {
    /// The number of tests in this round, and of those that found a mistake.
    now: (usize, usize),
    /// The same, over all rounds. The past counts half as much with each round.
    ever: (f64, f64),
}

/// What each kind of tests has found so far.
#[derive(Debug, Default)]
pub(crate) struct Yields {
    kinds: BTreeMap<Kind, Yield>,
    /// How often repeated parts were misjudged in a row of rounds.
    doubled: i32,
}

impl Yields {
    /// Begins a round.
    pub(crate) fn begin(&mut self) {
        match self.kinds.get(&Kind::Repeated).map_or((0, 0), |found| found.now) {
            (0, _) => {}
            (_, 0) => self.doubled = 0,
            _ => self.doubled += 1,
        }
        for found in self.kinds.values_mut() {
            found.now = (0, 0);
            found.ever = (found.ever.0 / 2., found.ever.1 / 2.);
        }
    }

    /// Returns the most times, very roughly, that parts are repeated.
    pub(crate) fn often(&self) -> f64 {
        REPEATED * 2_f64.powi(self.doubled.min(16))
    }

    /// Returns the kind that is most likely to find a mistake, of those of which there are tests left.
    pub(crate) fn next(&self, left: &BTreeMap<Kind, usize>) -> Option<Kind> {
        let expected = |kind: &Kind| {
            let found = self.kinds.get(kind).copied().unwrap_or_default();
            (found.ever.1 + 1.) / (found.ever.0 + UNKNOWN)
        };
        let open = left.iter().filter(|(_, left)| **left > 0).map(|(kind, _)| *kind);
        // The first one, if several are equally likely.
        open.reduce(|best, kind| if expected(&kind) > expected(&best) { kind } else { best })
    }

    pub(crate) fn note(&mut self, kind: Kind, tests: usize, found: usize) {
        let entry = self.kinds.entry(kind).or_default();
        entry.now = (entry.now.0 + tests, entry.now.1 + found);
        entry.ever = (entry.ever.0 + tests as f64, entry.ever.1 + found as f64);
    }

    /// Returns the number of tests in this round.
    pub(crate) fn count(&self) -> usize {
        self.kinds.values().map(|found| found.now.0).sum()
    }

    /// Tells what was tested in this round, and what that found.
    pub(crate) fn tell(&self) -> String {
        let parts: Vec<String> = (KINDS.iter())
            .filter_map(|(kind, name)| {
                let (tests, found) = self.kinds.get(kind)?.now;
                (tests > 0).then(|| format!("{found} of {tests} {name}"))
            })
            .collect();
        if parts.is_empty() { "no new tests".to_string() } else { parts.join(", ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_finds_mistakes_comes_first_and_everything_comes() {
        let mut yields = Yields::default();
        let mut left = Kind::amounts(600);
        left.insert(Kind::Suggested, 10_000);
        yields.begin();
        let mut order = Vec::new();
        while let Some(kind) = yields.next(&left) {
            let amount = left[&kind].min(50);
            // One of ten edited examples is misjudged.
            yields.note(kind, amount, if kind == Kind::EditedExample { 5 } else { 0 });
            *left.get_mut(&kind).unwrap() -= amount;
            order.push(kind);
        }
        assert_eq!(order.len(), 200 + 7 * 2 + 24 + 3 + 12 + 1);
        let at = |kind: Kind| order.iter().rposition(|&other| other == kind).unwrap();
        assert!(at(Kind::EditedExample) < 10, "{order:?}");
        assert!(at(Kind::Walk) < order.len() - 100);
        assert!(yields.tell().starts_with("0 of 10000 suggested, 0 of 100 drawn, "));
        yields.begin();
        assert_eq!(yields.tell(), "no new tests");
        assert_eq!(yields.next(&Kind::amounts(600)), Some(Kind::EditedExample));
        assert_eq!(yields.next(&BTreeMap::new()), None);
    }

    #[test]
    fn parts_are_repeated_more_often_after_mistakes() {
        let mut yields = Yields::default();
        assert!(yields.often() == REPEATED);
        yields.note(Kind::Repeated, 10, 1);
        yields.begin();
        yields.begin();
        assert!(yields.often() == 2. * REPEATED, "a round without such tests changes nothing");
        yields.note(Kind::Repeated, 10, 0);
        yields.begin();
        assert!(yields.often() == REPEATED);
    }
}
