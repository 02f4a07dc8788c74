//! Explains the conflicts of a grammar, by an ambiguous sentence with two readings or by a place where one token of
//! lookahead is not enough.

use std::collections::HashMap;

use cfgrammar::Symbol;
use cfgrammar::yacc::YaccGrammar;
use lrtable::{StIdx, StateGraph, statetable::Conflicts};

use crate::count::Shortest;
use crate::table::LrTable;

/// The maximum length of the sentences that are searched for two readings.
const LONGEST: usize = 9;
/// The maximum number of readings of one symbol and length that are considered.
const MOST: usize = 3000;

pub(crate) fn explain(
    table: &LrTable,
    grammar: &YaccGrammar<u32>,
    graph: &StateGraph<u32>,
    conflicts: &Conflicts<u32>,
    number: impl Fn(Symbol<u32>) -> usize,
) -> String {
    let count = conflicts.sr_len() + conflicts.rr_len();
    let head = format!("the grammar has {count} conflict{}", if count == 1 { "" } else { "s" });
    if let Some((sentence, [one, other])) = ambiguous(table) {
        return format!(
            "{head}: it is ambiguous. The sentence\n  {sentence}\nhas the two readings\n  {one}\n  {other}\nRewrite the grammar so that only one remains, or resolve the conflict with %left, %right or %nonassoc."
        );
    }
    // No ambiguity was found. Show where a parser would need more than one token of lookahead.
    let first_sr = conflicts.sr_conflicts().next().map(|&(token, production, state)| (token, vec![production], state));
    let first = first_sr.or_else(|| {
        conflicts.rr_conflicts().next().map(|&(token, one, other, state)| (token, vec![one, other], state))
    });
    let Some((token, productions, state)) = first else { return head };
    let shortest = Shortest::new(table);
    let mut beginning = Vec::new();
    shortest.expand(&path(graph, state).iter().map(|&symbol| number(symbol)).collect::<Vec<_>>(), &mut beginning);
    let words: Vec<&str> = beginning.iter().map(|&symbol| table.names[symbol].as_str()).collect();
    let next = grammar.token_name(token).unwrap_or("the end");
    let finish = |production| format!("finish \"{}\" first", grammar.pp_prod(production));
    let mut readings: Vec<String> = productions.into_iter().map(finish).collect();
    if readings.len() == 1 {
        let goes_on =
            graph.closed_state(state).items.keys().find(|(production, dot)| {
                grammar.prod(*production).get(usize::from(*dot)) == Some(&Symbol::Token(token))
            });
        readings.push(match goes_on {
            Some((production, _)) => format!("continue with \"{}\"", grammar.pp_prod(*production)),
            None => "continue reading".into(),
        });
    }
    format!(
        "{head}: one token of lookahead is not enough. After\n  {}\nfollowed by {next}, a parser could\n  {}, or\n  {}.\nRewrite the grammar so that the next token decides.",
        words.join(" "),
        readings[0],
        readings[1]
    )
}

/// Returns the symbols on a shortest path to a state.
fn path(graph: &StateGraph<u32>, to: StIdx<u32>) -> Vec<Symbol<u32>> {
    let mut ways: HashMap<StIdx<u32>, Vec<Symbol<u32>>> = HashMap::from([(graph.start_state(), Vec::new())]);
    let mut queue = std::collections::VecDeque::from([graph.start_state()]);
    while let Some(state) = queue.pop_front() {
        if state == to {
            break;
        }
        let mut edges: Vec<_> = graph.edges(state).iter().collect();
        edges.sort_unstable_by_key(|(_, next)| **next);
        for (&symbol, &next) in edges {
            if !ways.contains_key(&next) {
                let way = [&ways[&state][..], &[symbol]].concat();
                ways.insert(next, way);
                queue.push_back(next);
            }
        }
    }
    ways.remove(&to).unwrap_or_default()
}

/// A derivation: its sentence, and the sentence with brackets that show its structure.
type Reading = (Vec<usize>, String);

/// Searches for a shortest sentence with two readings.
fn ambiguous(table: &LrTable) -> Option<(String, [String; 2])> {
    let mut known: HashMap<(usize, usize), Vec<Reading>> = HashMap::new();
    for length in 1..=LONGEST {
        let mut seen: HashMap<Vec<usize>, String> = HashMap::new();
        for (sentence, reading) in readings(table, table.start, length, &mut known, 0)? {
            match seen.get(&sentence) {
                Some(other) if *other != reading => {
                    let words: Vec<&str> = sentence.iter().map(|&symbol| table.names[symbol].as_str()).collect();
                    return Some((words.join(" "), [other.clone(), reading]));
                }
                _ => _ = seen.insert(sentence, reading),
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
        return Some(if length == 1 { vec![(vec![symbol], table.names[symbol].clone())] } else { Vec::new() });
    }
    if let Some(all) = known.get(&(symbol, length)) {
        return Some(all.clone());
    }
    // A rule that derives itself without reading anything has infinitely many readings.
    if depth > 4 * (length + 2) * table.names.len().min(64) || depth > 2000 {
        return None;
    }
    let mut all = Vec::new();
    for (_, production) in table.productions_of(symbol) {
        let mut partial: Vec<(Vec<usize>, String, usize)> = vec![(Vec::new(), String::new(), length)];
        for (place, &part) in production.right.iter().enumerate() {
            let mut longer = Vec::new();
            for (sentence, text, left) in partial {
                let last = place + 1 == production.right.len();
                // The same symbol with the same length would only lead back here.
                for take in if last { left..=left } else { 0..=left } {
                    if part == symbol && take == length {
                        continue;
                    }
                    for (more, reading) in readings(table, part, take, known, depth + 1)? {
                        let text = if text.is_empty() { reading } else { format!("{text} {reading}") };
                        longer.push(([&sentence[..], &more].concat(), text, left - take));
                    }
                }
                if longer.len() > MOST {
                    return None;
                }
            }
            partial = longer;
        }
        let name = &table.names[symbol];
        all.extend(partial.into_iter().filter(|(_, _, left)| *left == 0).map(|(sentence, text, _)| {
            let text = if production.right.len() == 1 { text } else { format!("{name}[{text}]") };
            (sentence, text)
        }));
        if all.len() > MOST {
            return None;
        }
    }
    known.insert((symbol, length), all.clone());
    Some(all)
}
