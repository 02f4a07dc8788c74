//! Explains the conflicts of a grammar, by an ambiguous sentence with two readings or by a place where one token of
//! lookahead is not enough.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::count::Shortest;
use super::probe;
use super::table::{Action, LrTable};
use crate::rules::Expected;
use crate::text::error::list;

/// A conflict: in a state, on a lookahead, there is more than one thing to do.
#[derive(Clone, Debug)]
pub(crate) struct Conflict {
    pub(crate) state: usize,
    pub(crate) lookahead: usize,
    /// The productions that could be reduced by, in order.
    pub(crate) reductions: Vec<usize>,
    /// A production that could go on with the lookahead.
    pub(crate) shifted: Option<usize>,
}

/// The numbers of conflicts, as bison counts them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    pub(crate) shift_reduce: usize,
    pub(crate) reduce_reduce: usize,
}

impl Count {
    /// Returns whether there is no conflict.
    pub(crate) fn is_none(self) -> bool {
        self.shift_reduce + self.reduce_reduce == 0
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = |count, kind| match count {
            0 => None,
            1 => Some(format!("1 {kind} conflict")),
            _ => Some(format!("{count} {kind} conflicts")),
        };
        let both = [one(self.shift_reduce, "shift/reduce"), one(self.reduce_reduce, "reduce/reduce")];
        let both: Vec<String> = both.into_iter().flatten().collect();
        f.write_str(if both.is_empty() { "no conflict".into() } else { both.join(" and ") }.as_str())
    }
}

/// Returns where a number of conflicts is declared that is larger than the number that there are, and a message.
pub(crate) fn fewer(count: Count, expected: &Expected) -> Option<(usize, String)> {
    let kinds = [
        ("%expect", expected.shift_reduce, count.shift_reduce),
        ("%expect-rr", expected.reduce_reduce, count.reduce_reduce),
    ];
    kinds.into_iter().find_map(|(name, expected, there)| {
        let (declared, at) = expected.filter(|&(declared, _)| there < declared)?;
        Some((at, format!("{name} is {declared}, but the grammar has {count}")))
    })
}

/// Returns a message about the productions that are never used, because other actions are preferred, and the
/// nonterminal of the first one.
pub(crate) fn unused(table: &LrTable) -> Option<(usize, String)> {
    let actions = table.actions.iter().flatten();
    let used: HashSet<usize> =
        actions.filter_map(|action| if let Action::Reduce(number) = action { Some(*number) } else { None }).collect();
    let unused: Vec<usize> = (0..table.productions.len()).filter(|number| !used.contains(number)).collect();
    let shown: Vec<String> = unused.iter().map(|&number| production(table, number)).collect();
    let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
    let [noun, verb] = if unused.len() == 1 { ["production", "is"] } else { ["productions", "are"] };
    let why = "because conflicts are resolved in favor of others";
    let first = table.productions[*unused.first()?].left;
    Some((first, format!("the {noun} {} {verb} never used, {why}", list(&shown))))
}

/// The maximum length of the sentences that are searched for two readings.
const LONGEST: usize = 9;
/// The maximum number of readings of one symbol and length that are considered.
const MOST: usize = 3000;

/// Explains the first of the conflicts.
pub(crate) fn explain(table: &LrTable, conflicts: &[Conflict], count: Count, expected: &Expected) -> String {
    let mut head = format!("the grammar has {count}");
    if expected.glr {
        head.push_str(", which only a GLR parser could follow");
    } else if expected.shift_reduce.is_some() || expected.reduce_reduce.is_some() {
        let [shift_reduce, reduce_reduce] =
            [expected.shift_reduce, expected.reduce_reduce].map(|expected| expected.map_or(0, |(count, _)| count));
        head = format!("{head}, but declares that it has {}", Count { shift_reduce, reduce_reduce });
    }
    if let Some((one, _)) = twice(table) {
        return format!(
            "{head}. The production\n  {}\nis written twice. Remove one of the two.",
            production(table, one)
        );
    }
    if let Some((sentence, [one, other])) = ambiguous(table) {
        // Precedences decide between a shift and a reduction, not between two reductions.
        let precedences =
            if count.shift_reduce == 0 { "" } else { ", or resolve the conflict with %left, %right or %nonassoc" };
        return format!(
            "{head}: it is ambiguous. The sentence\n  {sentence}\nhas the two readings\n  {one}\n  {other}\n\
             Rewrite the grammar so that only one remains{precedences}.{}",
            default(count, expected)
        );
    }
    // No ambiguity was found. Show where a parser would need more than one token of lookahead.
    let Some(Conflict { state, lookahead, reductions, shifted }) = conflicts.first() else { return head };
    let shortest = Shortest::new(table);
    let mut beginning = Vec::new();
    if let Some(way) = &probe::ways(table, &shortest)[*state] {
        shortest.expand(way, &mut beginning);
    }
    let finish = |number: &usize| match table.productions.get(*number) {
        Some(_) => format!("finish \"{}\" first", production(table, *number)),
        None => "accept the word".to_string(),
    };
    let mut readings: Vec<String> = reductions.iter().map(finish).collect();
    readings.extend(shifted.map(|number| format!("continue with \"{}\"", production(table, number))));
    let next = table.names[..table.terminals].get(*lookahead).map_or("the end", String::as_str);
    format!(
        "{head}: one token of lookahead is not enough. After\n  {}\nfollowed by {next}, a parser could\n  {}.\n\
         Rewrite the grammar so that the next token decides.{}",
        sentence(table, &beginning),
        readings.join(", or\n  "),
        default(count, expected)
    )
}

/// Says how the conflicts can be resolved as bison does it by default, unless the grammar is for a GLR parser.
fn default(count: Count, expected: &Expected) -> String {
    let kinds = [("%expect", count.shift_reduce), ("%expect-rr", count.reduce_reduce)];
    let declared: Vec<String> =
        kinds.iter().filter(|kind| kind.1 > 0).map(|(name, count)| format!("{name} {count}")).collect();
    if expected.glr {
        return String::new();
    }
    format!("\nIf what bison does by default is meant, declare {}.", declared.join(" and "))
}

/// Returns a production in Yacc syntax.
pub(crate) fn production(table: &LrTable, number: usize) -> String {
    let production = &table.productions[number];
    let name = |&symbol: &usize| match &table.names[symbol] {
        terminal if symbol < table.terminals => format!(" \"{terminal}\""),
        nonterminal => format!(" {nonterminal}"),
    };
    format!("{}:{}", table.names[production.left], production.right.iter().map(name).collect::<String>())
}

fn sentence(table: &LrTable, symbols: &[usize]) -> String {
    match symbols {
        [] => "(nothing)".into(),
        _ => symbols.iter().map(|&symbol| table.names[symbol].as_str()).collect::<Vec<_>>().join(" "),
    }
}

/// Returns two productions that are the same.
fn twice(table: &LrTable) -> Option<(usize, usize)> {
    let mut known = HashMap::new();
    table.productions.iter().enumerate().find_map(|(number, production)| {
        known.insert((production.left, &production.right), number).map(|other| (other, number))
    })
}

/// A derivation of a sentence.
#[derive(Clone, Debug)]
struct Reading {
    sentence: Vec<usize>,
    /// The sentence with brackets that show its structure, without those around a single part.
    short: String,
    /// The sentence with all brackets.
    full: String,
}

/// Searches for a shortest sentence with two readings.
fn ambiguous(table: &LrTable) -> Option<(String, [String; 2])> {
    let mut known: HashMap<(usize, usize), Vec<Reading>> = HashMap::new();
    for length in 0..=LONGEST {
        let mut seen: HashMap<Vec<usize>, Reading> = HashMap::new();
        for reading in readings(table, table.start, length, &mut known, 0)? {
            match seen.get(&reading.sentence) {
                Some(other) if other.short != reading.short => {
                    return Some((sentence(table, &reading.sentence), [other.short.clone(), reading.short]));
                }
                Some(other) if other.full != reading.full => {
                    return Some((sentence(table, &reading.sentence), [other.full.clone(), reading.full]));
                }
                _ => _ = seen.insert(reading.sentence.clone(), reading),
            }
        }
    }
    None
}

/// Returns all readings of a symbol that have this length, or `None` if there are too many to consider.
fn readings(
    table: &LrTable,
    symbol: usize,
    length: usize,
    known: &mut HashMap<(usize, usize), Vec<Reading>>,
    depth: usize,
) -> Option<Vec<Reading>> {
    if symbol < table.terminals {
        let name = &table.names[symbol];
        let reading = || Reading { sentence: vec![symbol], short: name.clone(), full: name.clone() };
        return Some(if length == 1 { vec![reading()] } else { Vec::new() });
    }
    if let Some(all) = known.get(&(symbol, length)) {
        return Some(all.clone());
    }
    // Nonterminals that begin with themselves, after parts that may be empty, lead deep down.
    if depth > 4 * (length + 2) * table.names.len().min(64) || depth > 2000 {
        return None;
    }
    let mut all = Vec::new();
    for (_, production) in table.productions_of(symbol) {
        let empty = Reading { sentence: Vec::new(), short: String::new(), full: String::new() };
        let mut partial: Vec<(Reading, usize)> = vec![(empty, length)];
        for (place, &part) in production.right.iter().enumerate() {
            let mut longer = Vec::new();
            for (before, left) in partial {
                let last = place + 1 == production.right.len();
                // The same symbol with the same length would only lead back here.
                for take in if last { left..=left } else { 0..=left } {
                    if part == symbol && take == length {
                        continue;
                    }
                    for reading in readings(table, part, take, known, depth + 1)? {
                        longer.push((joined(&before, &reading), left - take));
                    }
                }
                if longer.len() > MOST {
                    return None;
                }
            }
            partial = longer;
        }
        let name = &table.names[symbol];
        all.extend(partial.into_iter().filter(|(_, left)| *left == 0).map(|(reading, _)| {
            let full = format!("{name}[{}]", reading.full);
            let short = if production.right.len() == 1 { reading.short } else { format!("{name}[{}]", reading.short) };
            Reading { sentence: reading.sentence, short, full }
        }));
        if all.len() > MOST {
            return None;
        }
    }
    known.insert((symbol, length), all.clone());
    Some(all)
}

/// Returns one reading after another.
fn joined(one: &Reading, other: &Reading) -> Reading {
    let join = |one: &str, other: &str| if one.is_empty() { other.to_string() } else { format!("{one} {other}") };
    Reading {
        sentence: [&one.sentence[..], &other.sentence].concat(),
        short: join(&one.short, &other.short),
        full: join(&one.full, &other.full),
    }
}
