//! Parts of long texts in short ones: what is around a place of a long text often fits where a short text has the same
//! neighbors.

use super::runs::{Run, text_of};
use super::teacher::Teacher;
use crate::ask::queries::Stop;

/// The number of runs on both sides of a pair that are taken over at most, and the short texts that are tried for each.
const WIDTH: usize = 4;
const TRIED: usize = 4;

/// Short texts, of which parts can be replaced.
#[derive(Debug, Default)]
pub(super) struct Spliced {
    texts: Vec<Vec<Run>>,
}

impl Spliced {
    pub(super) fn add(&mut self, text: Vec<Run>) {
        let at = self.texts.partition_point(|known| known.len() <= text.len());
        self.texts.insert(at, text);
    }

    /// Puts a pair of neighboring runs of a text, with some of what is around it, into a short text. Returns the first
    /// valid one, and where the pair is in it.
    pub(super) fn with(
        &self,
        runs: &[Run],
        at: usize,
        teacher: &mut Teacher<'_>,
    ) -> Result<Option<(Vec<Run>, usize)>, Stop> {
        for width in 0..=WIDTH {
            let (from, to) = (at.saturating_sub(width), (at + 2 + width).min(runs.len()));
            let fitting = self.texts.iter().filter_map(|text| Some((text, gap(text, runs, (from, to))?)));
            for (text, (start, end)) in fitting.take(TRIED) {
                let whole = [&text[..start], &runs[from..to], &text[end..]].concat();
                if teacher.valid(&text_of(&whole, &teacher.symbols))? {
                    return Ok(Some((whole, start + at - from)));
                }
            }
        }
        Ok(None)
    }
}

/// Returns what a span of a longer text can replace in a short one: it has the same neighbors.
fn gap(text: &[Run], runs: &[Run], (from, to): (usize, usize)) -> Option<(usize, usize)> {
    let start = match from.checked_sub(1) {
        None => 0,
        Some(before) => 1 + text.iter().position(|run| run.shape == runs[before].shape)?,
    };
    let end = match runs.get(to) {
        None => text.len(),
        Some(after) => start + text[start..].iter().position(|run| run.shape == after.shape)?,
    };
    Some((start, end))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::testing::{LISTS, lists, teacher};
    use crate::text::runs::runs;

    #[test]
    fn what_is_around_a_pair_fits_where_its_neighbors_are_known() {
        let mut teacher = teacher(&lists, LISTS);
        let of = |text: &str| runs(text, &crate::text::symbols::Symbols::default(), &BTreeSet::new());
        let mut spliced = Spliced::default();
        ["[x,x,x]", "[x]", "x"].iter().for_each(|text| spliced.add(of(text)));
        // The pair `[]`, between `,` and `]`.
        let long = of("[x,x,x,x,x,x,x,[]]");
        let (whole, at) = spliced.with(&long, long.len() - 3, &mut teacher).unwrap().unwrap();
        let text = text_of(&whole, &teacher.symbols);
        assert!(lists(&text) && text.len() < 9, "{text}");
        assert_eq!(&text[at..at + 2], "[]");
        // Nothing has the neighbors of this pair.
        assert!(Spliced::default().with(&long, 4, &mut teacher).unwrap().is_none());
    }
}
