//! Shrinking: short texts for what only long examples show.

use std::collections::HashSet;

use super::symbols::{Look, Symbols, boundaries};
use super::teacher::Teacher;
use crate::ask::queries::Stop;

/// The length, in characters or given tokens, up to which an example is short.
const SHORT: usize = 30;
/// The maximum number of queries for shrinking.
const MAX_QUERIES: usize = 4000;

/// Returns whether a text is short.
pub(crate) fn is_short(text: &str, symbols: &Symbols) -> bool {
    let length = match symbols.lexer() {
        Some(lexer) => lexer.tokens(text).0.len(),
        None => text.chars().count(),
    };
    length <= SHORT
}

/// Returns the short texts, and short texts for what the long ones show. Around each pair of neighbouring runs that no
/// short text has, runs are left out of the example as long as it stays valid.
pub(crate) fn shrink(texts: &[String], teacher: &mut Teacher<'_>) -> Result<Vec<String>, Stop> {
    let (mut long, short): (Vec<&String>, Vec<&String>) =
        texts.iter().partition(|text| !is_short(text, &teacher.symbols));
    let mut found: Vec<String> = short.into_iter().cloned().collect();
    let mut covered: HashSet<(String, String)> = HashSet::new();
    for text in &found {
        covered.extend(pairs(&runs(text, &teacher.symbols)));
    }
    let limit = teacher.queries.asked + MAX_QUERIES;
    long.sort_by_key(|text| text.chars().count());
    for text in long {
        let runs = runs(text, &teacher.symbols);
        for (at, pair) in pairs(&runs).into_iter().enumerate() {
            if covered.contains(&pair) || teacher.queries.asked > limit {
                continue;
            }
            let kept = reduce(runs.clone(), at, teacher)?;
            covered.extend(pairs(&kept));
            found.push(teacher.symbols.join(kept.iter().map(|run| run.text)));
        }
    }
    let mut seen = HashSet::new();
    found.retain(|text| seen.insert(text.clone()));
    Ok(found)
}

/// A run of letters or digits, another character, or a given token.
#[derive(Clone, Debug)]
struct Run<'t> {
    /// What is alike in this respect is alike: all numbers are.
    shape: String,
    text: &'t str,
}

/// Leaves out runs, in spans of halving size, except for two neighbours.
fn reduce<'t>(mut kept: Vec<Run<'t>>, mut at: usize, teacher: &mut Teacher<'_>) -> Result<Vec<Run<'t>>, Stop> {
    let mut size = kept.len() / 2;
    while size > 0 {
        let mut from = 0;
        while from < kept.len() {
            let to = (from + size).min(kept.len());
            if from <= at + 1 && to > at {
                from += 1;
                continue;
            }
            let text = teacher.symbols.join(kept[..from].iter().chain(&kept[to..]).map(|run| run.text));
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

fn runs<'t>(text: &'t str, symbols: &Symbols) -> Vec<Run<'t>> {
    if let Some(lexer) = symbols.lexer() {
        let tokens = lexer.tokens(text).0.into_iter();
        return tokens
            .map(|token| Run { shape: token.name.to_string(), text: &text[token.start..token.end] })
            .collect();
    }
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let cuts = boundaries(text.chars().map(Look::of));
    let texts = cuts.windows(2).map(|pair| &text[starts[pair[0]]..starts[pair[1]]]);
    let shape = |text: &str| if text.chars().all(char::is_numeric) { "0".to_string() } else { text.to_string() };
    texts.map(|text| Run { shape: shape(text), text }).collect()
}

/// Returns the shapes of neighbouring runs.
fn pairs(runs: &[Run<'_>]) -> Vec<(String, String)> {
    runs.windows(2).map(|pair| (pair[0].shape.clone(), pair[1].shape.clone())).collect()
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
        assert!(found.iter().all(|text| lists(text) && text.len() <= 7), "{found:?}");
        let all = |texts: &[String]| -> HashSet<(String, String)> {
            texts.iter().flat_map(|text| pairs(&runs(text, &teacher.symbols))).collect()
        };
        assert!(all(&found).is_superset(&all(&texts)));
        assert_eq!(found[0], "[x]");
    }

    #[test]
    fn numbers_are_alike() {
        let symbols = Symbols::default();
        let shapes = |text| pairs(&runs(text, &symbols));
        assert_eq!(shapes("[12,ab]"), shapes("[7,ab]"));
        assert_ne!(shapes("[12,ab]"), shapes("[12,b]"));
    }
}
