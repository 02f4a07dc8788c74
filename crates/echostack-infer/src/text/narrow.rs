//! Large cuts: what stands between two places of a text that look alike may be left out.
//!
//! A text of thousands of tokens is too long to try each of its parts. But where two places in the same brackets have the
//! same neighbors, what is between them can often be left out: items of a list, fields of a record, statements. And what is
//! in brackets within brackets of the same kind can often stand in their place. Large cuts are tried first.

use std::collections::{BTreeMap, BTreeSet};

use super::runs::{Run, Wanted, text_of};
use super::teacher::Teacher;
use crate::ask::queries::Stop;

/// The number of runs up to which parts are left out one by one.
pub(super) const FEW: usize = 60;
/// The most texts that are tried for one text.
const MAX_TRIED: usize = 200;
/// What opens and what closes, to the eye.
const BRACKETS: [(&str, &str); 3] = [("(", ")"), ("[", "]"), ("{", "}")];

/// How much of its neighbors counts for a place: their shapes and that of the next but one; or only what kind they are of.
#[derive(Clone, Copy)]
enum Likeness {
    Close,
    Rough,
}

/// Leaves out what is between alike places, but not two neighboring runs, if some are to be kept.
pub(super) fn narrow(
    mut runs: Vec<Run>,
    mut kept: Option<usize>,
    wanted: &Wanted<'_>,
    teacher: &mut Teacher<'_>,
) -> Result<(Vec<Run>, Option<usize>), Stop> {
    let mut tried = BTreeSet::new();
    'cuts: while runs.len() > FEW && tried.len() < MAX_TRIED {
        let brackets = Brackets::of(&runs);
        let mut cuts = brackets.lifts(&runs);
        for likeness in [Likeness::Close, Likeness::Rough] {
            cuts.extend(brackets.cuts(&runs, kept, likeness));
        }
        let size = |cut: &Cut| cut.iter().map(|(from, to)| to - from).sum::<usize>();
        cuts.sort_by_key(|cut| (std::cmp::Reverse(size(cut)), cut.clone()));
        let spares = |cut: &Cut| kept.is_none_or(|at| cut.iter().all(|&(from, to)| to <= at || from >= at + 2));
        for cut in cuts.into_iter().filter(|cut| size(cut) > 0 && spares(cut)) {
            let left = without(&runs, &cut);
            let text = text_of(&left, &teacher.symbols);
            if tried.len() >= MAX_TRIED {
                break;
            }
            if !tried.insert(text.clone()) || !wanted.by(&text, teacher)? {
                continue;
            }
            let before = |at: usize| cut.iter().filter(|(_, to)| *to <= at).map(|(from, to)| to - from).sum::<usize>();
            kept = kept.map(|at| at - before(at));
            runs = left;
            continue 'cuts;
        }
        break;
    }
    Ok((runs, kept))
}

/// Spans that are left out, in order.
type Cut = Vec<(usize, usize)>;
/// What alike places have in common: the brackets around them, whether they are after what is kept, and their neighbors.
type Surroundings<'r> = (Option<usize>, bool, [&'r str; 3]);

fn without(runs: &[Run], cut: &Cut) -> Vec<Run> {
    let is_left = |at: &usize| !cut.iter().any(|(from, to)| from <= at && at < to);
    (0..runs.len()).filter(is_left).map(|at| runs[at].clone()).collect()
}

/// What looks like brackets in a text. Those that do not match are none.
struct Brackets {
    /// Where each pair opens and closes.
    pairs: Vec<(usize, usize)>,
    /// The innermost pair around each place before a run, and at the end.
    around: Vec<Option<usize>>,
}

impl Brackets {
    fn of(runs: &[Run]) -> Self {
        let (mut open, mut pairs): (Vec<usize>, Vec<(usize, usize)>) = (Vec::new(), Vec::new());
        for (at, run) in runs.iter().enumerate() {
            if BRACKETS.iter().any(|(opens, _)| *opens == run.text) {
                open.push(at);
            } else if let Some((opens, _)) = BRACKETS.iter().find(|(_, closes)| *closes == run.text) {
                let Some(depth) = open.iter().rposition(|&at| runs[at].text == *opens) else { continue };
                pairs.push((open[depth], at));
                open.truncate(depth);
            }
        }
        pairs.sort_unstable();
        let mut around = Vec::with_capacity(runs.len() + 1);
        let (mut inside, mut next): (Vec<usize>, usize) = (Vec::new(), 0);
        for at in 0..=runs.len() {
            while inside.last().is_some_and(|&pair| pairs[pair].1 < at) {
                inside.pop();
            }
            around.push(inside.last().copied());
            if next < pairs.len() && pairs[next].0 == at {
                inside.push(next);
                next += 1;
            }
        }
        Self { pairs, around }
    }

    /// Returns the spans between alike places in the same brackets: from the first to the last of them, and halves of these.
    fn cuts(&self, runs: &[Run], kept: Option<usize>, likeness: Likeness) -> Vec<Cut> {
        let mut alike: BTreeMap<Surroundings<'_>, Vec<usize>> = BTreeMap::new();
        for at in 1..runs.len() {
            let look = |at: usize| match likeness {
                Likeness::Close => runs.get(at).map_or("", |run| run.shape.as_str()),
                Likeness::Rough => runs.get(at).map_or("", Run::kind),
            };
            let third = if matches!(likeness, Likeness::Close) { look(at + 1) } else { "" };
            // Places before and after what is kept are never the ends of one cut.
            let is_after = kept.is_some_and(|kept| at > kept);
            alike.entry((self.around[at], is_after, [look(at - 1), look(at), third])).or_default().push(at);
        }
        let mut cuts = Vec::new();
        for places in alike.into_values().filter(|places| places.len() > 1) {
            let mut open = vec![(0, places.len() - 1)];
            while let Some((first, last)) = open.pop() {
                cuts.push(vec![(places[first], places[last])]);
                let middle = usize::midpoint(first, last);
                if middle > first && places[last] - places[first] > FEW / 4 {
                    open.extend([(first, middle), (middle, last)]);
                }
            }
        }
        cuts
    }

    /// Returns what is around brackets in brackets of the same kind, which the inner ones can replace.
    fn lifts(&self, runs: &[Run]) -> Vec<Cut> {
        let mut lifts = Vec::new();
        for (number, &(open, close)) in self.pairs.iter().enumerate() {
            let inner = self.pairs[number + 1..].iter().take_while(|(inner, _)| *inner < close);
            for &(from, to) in inner.filter(|(inner, _)| runs[*inner].text == runs[open].text) {
                lifts.push(vec![(open, from), (to + 1, close + 1)]);
            }
            if lifts.len() > MAX_TRIED {
                break;
            }
        }
        lifts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{LISTS, lists, teacher};
    use crate::text::runs::runs;

    #[test]
    fn brackets_are_what_matches() {
        let symbols = crate::text::symbols::Symbols::default();
        let found = Brackets::of(&runs("a(b[c)d]{}", &symbols, &BTreeSet::new()));
        assert_eq!(found.pairs, [(1, 5), (8, 9)]);
        assert_eq!(found.around, [None, None, Some(0), Some(0), Some(0), Some(0), None, None, None, Some(1), None]);
    }

    /// A list of 2,000 elements, in lists, needs few queries.
    #[test]
    fn large_cuts_come_first() {
        let mut teacher = teacher(&lists, LISTS);
        let long = format!("[x,[{}[[]],{}x],x]", "x,[x],".repeat(500), "[x,[x]],".repeat(200));
        assert!(lists(&long));
        let whole = runs(&long, &teacher.symbols, &BTreeSet::new());
        let at = (1..whole.len()).find(|&at| whole[at - 1].text == "[" && whole[at].text == "]").unwrap() - 1;
        let wanted = Wanted { answer: true, also: &|_| true };
        let (left, kept) = narrow(whole, Some(at), &wanted, &mut teacher).unwrap();
        let text = text_of(&left, &teacher.symbols);
        assert!(lists(&text) && left.len() <= FEW, "{text}");
        assert_eq!([left[kept.unwrap()].text.as_str(), left[kept.unwrap() + 1].text.as_str()], ["[", "]"]);
        assert!(teacher.queries.asked < 60, "{}", teacher.queries.asked);
    }
}
