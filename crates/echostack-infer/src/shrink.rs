//! Shrinking: short texts for what only long examples show.

use std::collections::HashSet;

use crate::queries::Stop;
use crate::symbols::{Look, boundaries};
use crate::teacher::Teacher;

/// The length, in characters, up to which an example is short.
pub(crate) const SHORT: usize = 30;
/// The maximum number of queries for shrinking.
const MAX_QUERIES: usize = 4000;

/// Returns the short texts, and short texts for what the long ones show. Around each pair of neighbouring runs that no
/// short text has, runs are left out of the example as long as it stays valid.
pub(crate) fn shrink(texts: &[String], teacher: &mut Teacher<'_>) -> Result<Vec<String>, Stop> {
    let is_short = |text: &&String| text.chars().count() <= SHORT;
    let mut found: Vec<String> = texts.iter().filter(is_short).cloned().collect();
    let mut covered: HashSet<(String, String)> = HashSet::new();
    for text in &found {
        covered.extend(pairs(&runs(text)));
    }
    let limit = teacher.queries.asked + MAX_QUERIES;
    let mut long: Vec<&String> = texts.iter().filter(|text| !is_short(text)).collect();
    long.sort_by_key(|text| text.chars().count());
    for text in long {
        let runs = runs(text);
        for (at, pair) in pairs(&runs).into_iter().enumerate() {
            if covered.contains(&pair) || teacher.queries.asked > limit {
                continue;
            }
            let kept = reduce(runs.clone(), at, teacher)?;
            covered.extend(pairs(&kept));
            found.push(kept.concat());
        }
    }
    let mut seen = HashSet::new();
    found.retain(|text| seen.insert(text.clone()));
    Ok(found)
}

/// Leaves out runs, in spans of halving size, except for two neighbours.
fn reduce<'t>(mut kept: Vec<&'t str>, mut at: usize, teacher: &mut Teacher<'_>) -> Result<Vec<&'t str>, Stop> {
    let mut size = kept.len() / 2;
    while size > 0 {
        let mut from = 0;
        while from < kept.len() {
            let to = (from + size).min(kept.len());
            if from <= at + 1 && to > at {
                from += 1;
                continue;
            }
            let text = [&kept[..from], &kept[to..]].concat().concat();
            if teacher.valid(&text)? {
                if to <= at {
                    at -= to - from;
                }
                kept.drain(from..to);
            } else {
                from += (size / 2).max(1);
            }
        }
        size /= 2;
    }
    Ok(kept)
}

fn runs(text: &str) -> Vec<&str> {
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let cuts = boundaries(text.chars().map(Look::of));
    cuts.windows(2).map(|pair| &text[starts[pair[0]]..starts[pair[1]]]).collect()
}

/// Returns the pairs of neighbouring runs. All numbers are alike.
fn pairs(runs: &[&str]) -> Vec<(String, String)> {
    let shape = |run: &str| if run.chars().all(char::is_numeric) { "0".to_string() } else { run.to_string() };
    runs.windows(2).map(|pair| (shape(pair[0]), shape(pair[1]))).collect()
}
