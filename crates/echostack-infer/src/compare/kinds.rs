//! Kinds of disagreement: texts with the same cause are one kind.

use std::collections::{BTreeMap, BTreeSet};

use super::cause::{Cause, Probes, cause, place, told};
use super::panel::{Found, Origin, Panel};
use super::purpose::Class;
use super::shape::{coarse, shape};
use super::shrink::shrink;
use super::side::{Said, Vote, Votes, disagree};
use super::told::Told;
use crate::ask::queries::Stop;

/// How many texts are looked at that are alike around the place at which sides disagree.
const LOOKED_AT: usize = 2;
/// The length of the longest texts whose parts are looked at together.
const LONG: usize = 16;
/// Where texts come from that were made smaller. They do not count as seen.
pub(super) const SMALLER: Origin = "smaller texts";
/// Where the texts of known kinds come from.
pub(super) const KNOWN: Origin = "known kinds";

/// A kind of disagreement.
#[derive(Clone, Debug)]
pub struct Kind {
    /// A text of the kind, as short and simple as possible.
    pub text: String,
    /// What each side says about it, in the order of the sides.
    pub votes: Vec<Vote>,
    /// What is common to the texts of the kind: digits, for example, are all alike.
    pub shape: String,
    /// The number of characters before the place at which the sides disagree, as far as it is known: all sides accept a text
    /// that begins with so many of its characters.
    pub at: usize,
    /// Where and why sides refuse the text, and as what grammars read it that accept it.
    pub said: Vec<Said>,
    /// How many texts of the kind were seen.
    pub seen: usize,
    /// Where the first text of the kind came from.
    pub origin: &'static str,
    /// Whether the kind was known before.
    pub known: bool,
}

/// Texts that look alike: what the sides say, what those with a grammar make of it, and the characters around the place at
/// which they disagree.
type Look = (Votes, Vec<Told>, Class, Class);

#[derive(Debug, Default)]
struct Alike {
    looked_at: usize,
    kinds: BTreeSet<usize>,
}

/// The kinds that were found so far.
#[derive(Debug)]
pub(super) struct Kinds {
    probes: Probes,
    /// Each kind, with the votes and the cause of its text.
    found: Vec<(Kind, Votes, Cause)>,
    /// What the sides said about the texts that were looked at.
    votes: BTreeSet<Votes>,
    alike: BTreeMap<Look, Alike>,
    /// How many texts are left for later.
    pub(super) left: usize,
}

impl Kinds {
    pub(super) fn new(examples: &[String]) -> Self {
        Self {
            probes: Probes::new(examples),
            found: Vec::new(),
            votes: BTreeSet::new(),
            alike: BTreeMap::new(),
            left: 0,
        }
    }

    /// Returns the number of kinds.
    pub(super) fn count(&self) -> usize {
        self.found.len()
    }

    /// Returns the number of texts on which two sides say different things.
    pub(super) fn differ(&self, one: usize, two: usize) -> usize {
        self.found.iter().filter(|(_, votes, _)| votes[one] != votes[two]).map(|(kind, ..)| 1 + kind.seen).sum()
    }

    /// Looks at all texts on which the sides disagree and that it did not look at yet. Those for which more than so many
    /// queries would be needed are left for later.
    pub(super) fn look(&mut self, panel: &Panel<'_>, allowance: usize) -> Result<(), Stop> {
        let (origin, limit) = (panel.origin(), panel.queries().saturating_add(allowance));
        panel.begin(SMALLER);
        let (mut looked, mut left) = (Ok(()), Vec::new());
        loop {
            let found = panel.take_found();
            if found.is_empty() {
                break;
            }
            // What looks new comes first: a text of another kind is more likely among these.
            let mut looks = BTreeSet::new();
            let is_first = |found: &Found| {
                let look = look(panel, &found.text, &found.votes);
                self.alike.get(&look).is_none_or(|alike| alike.looked_at == 0) && looks.insert(look)
            };
            let (first, rest): (Vec<Found>, Vec<Found>) = found.into_iter().partition(is_first);
            for found in first.into_iter().chain(rest) {
                let may_ask = looked.is_ok() && panel.queries() < limit;
                match self.look_at(panel, &found, may_ask) {
                    Ok(true) => {}
                    Ok(false) => left.push(found),
                    Err(stop) => {
                        looked = Err(stop);
                        left.push(found);
                    }
                }
            }
        }
        left.retain(|found| found.origin != SMALLER);
        self.left = left.len();
        panel.give_back(left);
        panel.begin(origin);
        looked
    }

    /// Looks at a text. Returns whether that was possible without asking, if nothing may be asked.
    fn look_at(&mut self, panel: &Panel<'_>, found: &Found, may_ask: bool) -> Result<bool, Stop> {
        let look = look(panel, &found.text, &found.votes);
        let alike = self.alike.entry(look.clone()).or_default();
        let smaller = found.origin == SMALLER;
        // A text on the way to a smaller one is of interest only if the sides say what they never said before.
        let is_done = alike.looked_at >= LOOKED_AT || (smaller && !self.votes.insert(found.votes.clone()));
        let mut kind = None;
        if !is_done {
            if !may_ask {
                return Ok(false);
            }
            alike.looked_at += 1;
            self.votes.insert(found.votes.clone());
            let kinds = self.examine(panel, found)?;
            kind = kinds.last().copied();
            self.alike.entry(look.clone()).or_default().kinds.extend(kinds);
        }
        if !smaller {
            let kind = kind.or_else(|| self.alike.get(&look)?.kinds.first().copied());
            if let Some((kind, ..)) = kind.and_then(|kind| self.found.get_mut(kind)) {
                kind.seen += 1;
            }
        }
        Ok(true)
    }

    /// Makes a text smaller, and returns its kinds: usually one, and two if the smallest text has another cause. Its own comes
    /// last.
    fn examine(&mut self, panel: &Panel<'_>, found: &Found) -> Result<Vec<usize>, Stop> {
        let votes = &found.votes;
        let small = shrink(panel, &found.text, votes, &mut |_| Ok(true))?;
        let reached = cause(panel, &small, &self.probes)?;
        let own = cause(panel, &found.text, &self.probes)?;
        let slipped = !own.may_be(&reached);
        let mut kinds = Vec::new();
        kinds.extend(self.add(panel, small, reached, found, false)?);
        if slipped {
            let probes = self.probes.clone();
            let mut same =
                |text: &str| Ok(own.is_refused_alike(panel, text) && own.may_be(&cause(panel, text, &probes)?));
            let other = shrink(panel, &found.text, votes, &mut same)?;
            let reached = cause(panel, &other, &self.probes)?;
            kinds.extend(self.add(panel, other, reached, found, true)?);
        }
        Ok(kinds)
    }

    /// Adds a kind, unless its text consists of texts of other kinds. If there is such a kind already, that one counts.
    fn add(
        &mut self,
        panel: &Panel<'_>,
        text: String,
        mut reached: Cause,
        found: &Found,
        second: bool,
    ) -> Result<Option<usize>, Stop> {
        let mut at = self.same(panel, &text, &reached, &found.votes);
        if at.is_none() {
            // By now, more is known about the place at which the sides disagree.
            for (kind, votes, cause) in &mut self.found {
                if *votes == found.votes {
                    *cause = super::cause::cause(panel, &kind.text, &self.probes)?;
                }
            }
            reached = cause(panel, &text, &self.probes)?;
            at = self.same(panel, &text, &reached, &found.votes);
        }
        if let Some(at) = at {
            let kind = &mut self.found[at].0;
            if !kind.known && (text.len(), &text) < (kind.text.len(), &kind.text) {
                (kind.shape, kind.text) = (shape(&text), text);
            }
            return Ok(Some(at));
        }
        if has_two_causes(panel, &text, &found.votes, second)? {
            return Ok(None);
        }
        Ok(Some(self.insert(panel, text, reached, found, false)))
    }

    /// Returns the kind of a text, if there is such a kind already.
    fn same(&self, panel: &Panel<'_>, text: &str, reached: &Cause, said: &Votes) -> Option<usize> {
        let own = shape(text);
        // If every side accepts a text that looks like this one, the numbers in it are what matters.
        let is_usual = panel.is_usual(&own);
        self.found.iter().position(|(kind, votes, cause)| {
            // Of texts with the cause of a known kind, only those that contain its text are known. All numbers are alike.
            let may_be = !kind.known || coarse(text).contains(&coarse(&kind.text));
            let same_cause = may_be && cause.is_same(reached);
            // Nor does it matter whether letters are capital: `\uD800` is `\ud800`.
            let same_shape = kind.shape.eq_ignore_ascii_case(&own) || (is_usual && coarse(&kind.text) == coarse(text));
            votes == said && (same_cause || (same_shape && cause.is_related(reached)))
        })
    }

    fn insert(&mut self, panel: &Panel<'_>, text: String, cause: Cause, found: &Found, known: bool) -> usize {
        // Texts that look like the smallest one are of the same kind.
        let (number, look) = (self.found.len(), look(panel, &text, &found.votes));
        self.alike.entry(look).or_default().kinds.insert(number);
        let kind = Kind {
            votes: found.votes.to_vec(),
            shape: shape(&text),
            at: 0,
            said: Vec::new(),
            seen: 0,
            origin: found.origin,
            known,
            text,
        };
        self.votes.insert(found.votes.clone());
        self.found.push((kind, found.votes.clone(), cause));
        number
    }

    /// Adds a kind that is known. Its text is taken as it is.
    pub(super) fn add_known(&mut self, panel: &Panel<'_>, text: &str, votes: Votes) -> Result<(), Stop> {
        let cause = cause(panel, text, &self.probes)?;
        let found = Found { length: text.chars().count(), text: text.into(), votes, origin: KNOWN };
        self.insert(panel, text.to_string(), cause, &found, true);
        Ok(())
    }

    /// Returns the kinds, those of which most texts were seen first, with what the sides say about them.
    pub(super) fn finish(self, panel: &Panel<'_>) -> Vec<Kind> {
        let mut kinds: Vec<Kind> = self.found.into_iter().map(|(kind, ..)| kind).collect();
        kinds.sort_by(|one, two| (two.seen, &one.text).cmp(&(one.seen, &two.text)));
        for kind in &mut kinds {
            kind.at = place(panel, &kind.text);
            kind.said = panel.sides.iter().filter_map(|side| side.explain(&kind.text, kind.at)).collect();
        }
        kinds
    }
}

fn look(panel: &Panel<'_>, text: &str, votes: &Votes) -> Look {
    let at = place(panel, text);
    let mut rest = text.chars().skip(at.saturating_sub(1));
    let before = if at == 0 { None } else { rest.next() };
    (votes.clone(), told(panel, text), Class::of(before), Class::of(rest.next()))
}

/// Returns whether a text consists of texts of two other kinds: without one part, fewer sides refuse it, and without another
/// part, other ones no longer do. A `second` text could be made smaller if its cause did not matter, so that one part is enough.
fn has_two_causes(panel: &Panel<'_>, text: &str, votes: &Votes, second: bool) -> Result<bool, Stop> {
    let letters: Vec<char> = text.chars().collect();
    if panel.sides.len() < 3 || letters.len() > LONG {
        return Ok(false);
    }
    let mut without: BTreeSet<Votes> = BTreeSet::new();
    for from in 0..letters.len() {
        for to in from + 1..=letters.len() {
            let rest: String = letters[..from].iter().chain(&letters[to..]).collect();
            let said = panel.ask(&rest)?;
            if disagree(&said) && said != *votes {
                without.insert(said);
            }
        }
    }
    let both = |one: &Votes, two: &Votes| {
        one.iter().zip(two).map(|(one, two)| if *one == Vote::Yes { *two } else { *one }).collect::<Votes>()
    };
    Ok((second && !without.is_empty()) || without.iter().any(|one| without.iter().any(|two| both(one, two) == *votes)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use echostack_grammar::{Encoding, Grammar, Judge, Lexer, Subject};

    use super::*;
    use crate::compare::side::Side;

    /// Lists of numbers in brackets.
    fn lists(text: &str) -> Vec<&str> {
        text.strip_prefix('[')
            .and_then(|text| text.strip_suffix(']'))
            .map_or(vec![text], |inner| inner.split(',').collect())
    }

    fn strict(text: &str) -> bool {
        lists(text).iter().all(|number| {
            let digits = number.strip_prefix('-').unwrap_or(number);
            !digits.is_empty()
                && digits.bytes().all(|byte| byte.is_ascii_digit())
                && (digits == "0" || !digits.starts_with('0'))
        })
    }

    /// Also accepts numbers that begin with 0, and a minus sign alone.
    fn lax(text: &str) -> bool {
        lists(text).iter().all(|number| {
            let digits = number.strip_prefix('-').unwrap_or(number);
            *number == "-" || (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
        })
    }

    /// Refuses numbers of more than three digits.
    fn short(text: &str) -> bool {
        strict(text) && lists(text).iter().all(|number| number.trim_start_matches('-').len() <= 3)
    }

    fn found(sides: &[Side<'_>], texts: &[&str]) -> Vec<(String, usize)> {
        let panel = Panel::new(sides, (1_000_000, Duration::from_secs(60)), 1, &());
        let mut kinds = Kinds::new(&["[1,-2]".to_string()]);
        for text in ["-0", "[-1,2]", "[1,-2]", "0", "[0]", "[12,300]"].iter().chain(texts) {
            panel.begin("here");
            panel.ask(text).unwrap();
        }
        kinds.look(&panel, usize::MAX).unwrap();
        assert_eq!(kinds.left, 0);
        kinds.finish(&panel).into_iter().map(|kind| (kind.text, kind.seen)).collect()
    }

    /// Texts that differ are one kind if the cause is the same, and two causes are two kinds, even if one of the smallest
    /// texts is a part of other texts.
    #[test]
    fn texts_of_one_cause_are_one_kind() {
        let sides = [Side::program("strict", &strict), Side::program("lax", &lax)];
        let texts = ["[-,7]", "[7,-]", "-", "[4,-,6]", "-01", "[-007,1]", "[3,00]", "[08,9]"];
        let kinds = found(&sides, &texts);
        let texts: Vec<&str> = kinds.iter().map(|(text, _)| text.as_str()).collect();
        assert_eq!(texts.len(), 2, "{kinds:?}");
        assert!(texts.contains(&"-") && texts.contains(&"00"), "{kinds:?}");
        assert_eq!(kinds.iter().map(|(_, seen)| seen).sum::<usize>(), 8);
    }

    /// Times of day. The program takes anything but a colon, too, and reads an hour 24: nothing can be inserted into such texts,
    /// so that only the grammar tells them apart.
    #[test]
    fn what_a_grammar_expected_tells_causes_apart() {
        let grammar = "Time: Hour ':' Sixty; Hour: Low Digit | '2' Three; Sixty: Five Digit; Low: '0' | '1'; Three: Low | '2' | '3';
            Five: Three | '4' | '5'; Digit: Five | '6' | '7' | '8' | '9';";
        let digits: Vec<String> = (0..10).map(|digit| format!("{digit} \"{digit}\"\n")).collect();
        let digits = digits.concat();
        let lexer = Lexer::new(&format!("%%\n{digits}: \":\"\n")).unwrap();
        let grammar = Grammar::new("times", &format!("%start Time\n%%\n{grammar}\n"), Encoding::Auto).unwrap();
        let subject = Subject::of_grammar(grammar, Some(lexer));
        let judge = Judge::new(subject.table(&()).unwrap().into()).unwrap();
        let lax = |text: &str| {
            let letters: Vec<char> = text.chars().collect();
            let number = |at: usize| Some(letters.get(at)?.to_digit(10)? * 10 + letters.get(at + 1)?.to_digit(10)?);
            letters.len() == 5 && number(0).is_some_and(|hour| hour <= 24) && number(3).is_some_and(|sixty| sixty < 60)
        };
        let sides = [Side::model("grammar", &judge, Some(&subject)), Side::program("lax", &lax)];
        let panel = Panel::new(&sides, (1_000_000, Duration::from_secs(60)), 1, &());
        let mut kinds = Kinds::new(&["12:34".to_string()]);
        for text in ["12:34", "00:00", "23:59", "24:00", "11x11", "10.59", "24:07"] {
            panel.ask(text).unwrap();
        }
        kinds.look(&panel, usize::MAX).unwrap();
        let kinds = kinds.finish(&panel);
        let shown: Vec<(&str, usize, &str)> = kinds
            .iter()
            .map(|kind| (kind.text.as_str(), kind.seen, kind.said[0].reason.as_deref().unwrap_or_default()))
            .collect();
        let hours: Vec<_> = shown.iter().filter(|(text, ..)| text.starts_with("24")).collect();
        assert!(matches!(hours[..], [(_, 2, reason)] if reason.starts_with("unexpected 4, expected ")), "{shown:?}");
        assert!(shown.len() > 1 && shown.iter().any(|(_, _, reason)| reason.ends_with("expected ':'")), "{shown:?}");
    }

    /// A text with two mistakes, each for other sides, is not a kind of its own.
    #[test]
    fn two_causes_in_one_text_are_two_kinds() {
        let sides = [Side::program("strict", &strict), Side::program("lax", &lax), Side::program("short", &short)];
        let kinds = found(&sides, &["[-,4567]", "[7890,3,-]"]);
        let texts: Vec<&str> = kinds.iter().map(|(text, _)| text.as_str()).collect();
        assert!(texts.contains(&"-") && texts.contains(&"1000"), "{texts:?}");
        assert!(!texts.iter().any(|text| text.contains('[')), "{texts:?}");
    }
}
