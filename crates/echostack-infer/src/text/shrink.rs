//! Shrinking: short texts for what only long examples show.

use std::collections::{BTreeSet, HashSet};

use super::narrow::{FEW, narrow};
use super::runs::{MANY, Run, Wanted, common, pairs, runs, text_of};
use super::splice::Spliced;
use super::symbols::Symbols;
use super::teacher::Teacher;
use crate::ask::queries::Stop;

/// The length, in characters or given tokens, up to which an example is short.
const SHORT: usize = 30;
/// The maximum number of queries for shrinking.
const MAX_QUERIES: usize = 4000;
/// The most examples, and the longest, that are of use before there is a hypothesis, and the length of all of them.
const FIRST: (usize, usize, usize) = (100, 1000, 100_000);

/// Returns whether a text is short.
pub(crate) fn is_short(text: &str, symbols: &Symbols) -> bool {
    let length = match symbols.lexer() {
        Some(lexer) => lexer.tokens(text).0.len(),
        None => text.chars().count(),
    };
    length <= SHORT
}

/// Returns whether texts are so few and so short that nothing is gained by shrinking.
pub(crate) fn are_few_and_short(texts: &[String], symbols: &Symbols) -> bool {
    !are_many(texts) && texts.iter().all(|text| is_short(text, symbols))
}

/// Returns the shortest texts, up to a length of all of them. If all are few and short, they stay in their order.
pub(crate) fn shortest(texts: &[String]) -> Vec<String> {
    let length: usize = texts.iter().map(String::len).sum();
    if texts.len() <= FIRST.0 && length <= FIRST.2 && texts.iter().all(|text| text.len() <= FIRST.1) {
        return texts.to_vec();
    }
    let mut sorted: Vec<&String> = texts.iter().filter(|text| text.len() <= FIRST.1).collect();
    sorted.sort_by_key(|text| text.len());
    sorted.into_iter().take(FIRST.0).cloned().collect()
}

/// Returns whether texts are so many that only some are used as they are.
pub(crate) fn are_many(texts: &[String]) -> bool {
    texts.len() > MANY
}

/// Returns the short texts, and short texts for what the long ones show: around each pair of neighbouring runs that no
/// short text has. First, what is around the pair is put into a short text; if that is not valid, runs are left out of the
/// example as long as it stays valid. Texts in which every pair is known cost nothing.
pub(crate) fn shrink(texts: &[String], teacher: &mut Teacher<'_>) -> Result<Vec<String>, Stop> {
    let (mut long, mut short): (Vec<&String>, Vec<&String>) =
        texts.iter().partition(|text| !is_short(text, &teacher.symbols));
    let common = common(texts);
    let runs_of = |text: &str, teacher: &Teacher<'_>| runs(text, &teacher.symbols, &common);
    let mut covered: HashSet<(String, String)> = HashSet::new();
    let mut found: Vec<String> = Vec::new();
    let mut spliced = Spliced::default();
    if are_many(texts) {
        short.sort_by_key(|text| text.chars().count());
    }
    for text in short {
        let runs = runs_of(text, teacher);
        let shows = pairs(&runs);
        if !are_many(texts) || !shows.iter().all(|pair| covered.contains(pair)) {
            covered.extend(shows);
            spliced.add(runs);
            found.push(text.clone());
        }
    }
    let limit = teacher.queries.asked + MAX_QUERIES;
    long.sort_by_key(|text| text.chars().count());
    for text in long {
        if teacher.queries.asked > limit {
            break;
        }
        let runs = runs_of(text, teacher);
        for (at, pair) in pairs(&runs).into_iter().enumerate() {
            if covered.contains(&pair) || teacher.queries.asked > limit {
                continue;
            }
            let part = if runs.len() > FEW { spliced.with(&runs, at, teacher)? } else { None };
            let (part, at) = match part {
                Some((part, at)) => (part, Some(at)),
                None => narrow(runs.clone(), Some(at), &Wanted::VALID, teacher)?,
            };
            let kept =
                if part.len() > SHORT || runs.len() <= FEW { reduce(part, at, &Wanted::VALID, teacher)? } else { part };
            covered.extend(pairs(&kept));
            found.push(text_of(&kept, &teacher.symbols));
            spliced.add(kept);
        }
    }
    let mut seen = HashSet::new();
    found.retain(|text| seen.insert(text.clone()));
    Ok(found)
}

/// Makes a text smaller, as long as it has an answer and something else holds for it.
pub(crate) fn smaller(
    text: &str,
    answer: bool,
    also: &dyn Fn(&str) -> bool,
    teacher: &mut Teacher<'_>,
) -> Result<String, Stop> {
    let wanted = Wanted { answer, also };
    let (runs, _) = narrow(runs(text, &teacher.symbols, &BTreeSet::new()), None, &wanted, teacher)?;
    let found = text_of(&reduce(runs, None, &wanted, teacher)?, &teacher.symbols);
    // A lexer that was given may not read all of a text.
    Ok(if wanted.by(&found, teacher)? { found } else { text.to_string() })
}

/// Leaves out runs, in spans of halving size, except for two neighbours, if some are to be kept.
fn reduce(
    mut kept: Vec<Run>,
    mut at: Option<usize>,
    wanted: &Wanted<'_>,
    teacher: &mut Teacher<'_>,
) -> Result<Vec<Run>, Stop> {
    let mut size = kept.len() / 2;
    while size > 0 {
        let mut from = 0;
        while from < kept.len() {
            let to = (from + size).min(kept.len());
            if at.is_some_and(|at| from <= at + 1 && to > at) {
                from += 1;
                continue;
            }
            let text = teacher.symbols.join(kept[..from].iter().chain(&kept[to..]).map(|run| &run.text));
            if wanted.by(&text, teacher)? {
                at = at.map(|at| if to <= at { at - (to - from) } else { at });
                kept.drain(from..to);
            } else {
                from += (size / 2).max(1);
            }
        }
        size /= 2;
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{LISTS, lists, teacher};

    /// A list within a list is only in a long example, and so is a comma after one.
    #[test]
    fn what_only_long_examples_show_is_kept() {
        let mut teacher = teacher(&lists, LISTS);
        let texts = ["[x]".to_string(), format!("[{}[x],x]", "x,".repeat(40))];
        assert!(is_short(&texts[0], &teacher.symbols) && !is_short(&texts[1], &teacher.symbols));
        let found = shrink(&texts, &mut teacher).unwrap();
        assert!(found.iter().all(|text| lists(text) && text.len() <= SHORT), "{found:?}");
        let all = |texts: &[String]| -> HashSet<(String, String)> {
            texts.iter().flat_map(|text| pairs(&runs(text, &teacher.symbols, &BTreeSet::new()))).collect()
        };
        assert!(all(&found).is_superset(&all(&texts)));
        assert_eq!(found[0], "[x]");
    }
}
