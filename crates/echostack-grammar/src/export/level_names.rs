//! Names for the levels of a nonterminal, as people would choose them.

use std::collections::{BTreeMap, BTreeSet};

use echostack::spelling::{Case, Names, identifier};

use super::leveled::Level;
use crate::lr::table::LrTable;

/// What expressions are called whose three levels are expressions, terms and factors.
const EXPRESSIONS: [&str; 4] = ["exp", "expr", "expression", "e"];

/// What operators are called together.
const OPERATORS: [(&str, &[&str]); 8] = [
    ("sum", &["+", "-", "plus", "minus", "add", "sub"]),
    ("product", &["*", "/", "%", "times", "star", "slash", "div", "mod", "mul", "divide", "percent"]),
    ("power", &["^", "**", "pow", "power", "caret"]),
    ("and", &["&&", "and", "&"]),
    ("or", &["||", "or", "|"]),
    ("not", &["!", "not", "~"]),
    ("equality", &["=", "==", "!=", "<>", "eq", "ne", "equal", "unequal"]),
    ("comparison", &["<", ">", "<=", ">=", "lt", "gt", "le", "ge", "less", "greater"]),
];

/// Where a production has its operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Infix,
    Prefix,
    Postfix,
    /// There is none: a name, a number, or something in parentheses.
    None,
}

/// Returns a name for each level. The outermost level of a nonterminal has its name.
pub(super) fn names(table: &LrTable, levels: &[Level]) -> Vec<String> {
    let mut of_symbol: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (number, level) in levels.iter().enumerate() {
        of_symbol.entry(level.symbol).or_default().push(number);
    }
    // All names of the grammar are taken, so that no level gets the name of something else.
    let mut given = Names::numbered("_").without(table.names.iter().map(String::as_str));
    let mut names = vec![String::new(); levels.len()];
    for (&symbol, numbers) in &of_symbol {
        let name = &table.names[symbol];
        names[numbers[0]].clone_from(name);
        let inner = &numbers[1..];
        if let (&[term, factor], true) = (inner, EXPRESSIONS.contains(&name.to_ascii_lowercase().as_str())) {
            let chain = levels[numbers[0]].inner == [term] && levels[term].inner == [factor];
            if chain && !table.names.iter().any(|name| name == "term" || name == "factor") {
                names[term] = given.take("term");
                names[factor] = given.take("factor");
                continue;
            }
        }
        let all = levels[numbers[0]].productions();
        let matched: Vec<bool> = inner.iter().map(|&number| is_matched(table, &levels[number], &all)).collect();
        for (&number, &is_matched) in inner.iter().zip(&matched) {
            names[number] = given.take(&proposed(table, &levels[number], is_matched, matched.contains(&true)));
        }
    }
    names
}

/// Proposes a name for an inner level of a nonterminal.
fn proposed(table: &LrTable, level: &Level, is_matched: bool, has_matched: bool) -> String {
    let name = &table.names[level.symbol];
    if is_matched {
        return format!("matched_{name}");
    }
    if has_matched {
        return format!("simple_{name}");
    }
    let own: BTreeSet<usize> = level.own.iter().map(|alternative| alternative.production).collect();
    let word = word(table, if own.is_empty() { level.productions() } else { own });
    format!("{name}_{word}")
}

/// Returns whether a level has a production, but not the beginning of it that all levels together have: "if c then s else
/// s", but not "if c then s".
fn is_matched(table: &LrTable, level: &Level, all: &BTreeSet<usize>) -> bool {
    let own = level.productions();
    let right = |&number: &usize| &table.productions[number].right;
    let is_open = |missing: &usize| {
        let is_open_ended = right(missing).last().is_some_and(|&last| last >= table.terminals);
        is_open_ended && own.iter().any(|other| begins(right(other), right(missing)))
    };
    all.difference(&own).any(is_open)
}

/// Returns whether a longer list begins with a shorter one.
fn begins(longer: &[usize], shorter: &[usize]) -> bool {
    longer.len() > shorter.len() && longer.starts_with(shorter)
}

/// Returns a word for productions: after their operators or, if they have none, `primary`.
fn word(table: &LrTable, productions: BTreeSet<usize>) -> String {
    let operators: Vec<(Place, &str)> = productions.into_iter().map(|number| operator(table, number)).collect();
    let place = operators.iter().map(|&(place, _)| place).min().unwrap_or(Place::None);
    let names: Vec<&str> = operators.iter().filter(|&&(other, _)| other == place).map(|&(_, name)| name).collect();
    let together = |name: &&str| {
        let name = name.to_ascii_lowercase();
        OPERATORS.iter().find(|(_, names)| names.contains(&name.as_str())).map(|&(word, _)| word)
    };
    let words: BTreeSet<Option<&str>> = names.iter().map(together).collect();
    let first = names.first().and_then(together);
    match (place, first) {
        (Place::None, _) => "primary".to_string(),
        (Place::Postfix, _) => "postfix".to_string(),
        (Place::Prefix, Some("not")) if words.len() == 1 => "not".to_string(),
        (Place::Prefix, Some("sum")) if words.len() == 1 => "sign".to_string(),
        (Place::Prefix, _) if names.len() > 1 => "unary".to_string(),
        (Place::Infix, Some("equality")) if words.len() > 1 => "comparison".to_string(),
        (_, Some(word)) => word.to_string(),
        (_, None) => identifier(names.first().unwrap_or(&""), Case::Lower),
    }
}

/// Returns the operator of a production, and where it is.
fn operator(table: &LrTable, number: usize) -> (Place, &str) {
    let right = &table.productions[number].right;
    let name = right.iter().find(|&&symbol| symbol < table.terminals).map_or("", |&symbol| &table.names[symbol]);
    let is_nonterminal = |symbol: Option<&usize>| symbol.is_some_and(|&symbol| symbol >= table.terminals);
    let place = match (is_nonterminal(right.first()), is_nonterminal(right.last())) {
        (true, true) if !name.is_empty() => Place::Infix,
        (false, true) => Place::Prefix,
        (true, false) if right.first() == Some(&table.productions[number].left) => Place::Postfix,
        _ => Place::None,
    };
    (place, name)
}
