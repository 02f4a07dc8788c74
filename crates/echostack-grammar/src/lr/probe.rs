//! Probes for teaching: short prefixes of words, each followed by one more token, that exercise every state and
//! transition of a parser.

use std::collections::{BTreeSet, VecDeque};

use super::count::Shortest;
use super::table::{Action, LrTable};

/// Returns the symbols on a shortest path to each state.
pub(crate) fn ways(table: &LrTable, shortest: &Shortest<'_>) -> Vec<Option<Vec<usize>>> {
    let mut ways: Vec<Option<Vec<usize>>> = vec![None; table.states()];
    ways[0] = Some(Vec::new());
    let mut queue = VecDeque::from([0]);
    while let Some(state) = queue.pop_front() {
        for symbol in 0..table.names.len() {
            if let (Some(next), Some(way)) = (table.next[state][symbol], &ways[state])
                && ways[next].is_none()
                && shortest.derives(symbol)
            {
                ways[next] = Some([&way[..], &[symbol]].concat());
                queue.push_back(next);
            }
        }
    }
    ways
}

/// Returns the transitions over nonterminals that a parser makes when the last token of a word is the lookahead.
fn last_steps(table: &LrTable, word: &[usize]) -> BTreeSet<(usize, usize)> {
    let mut stack = vec![0];
    let mut steps = BTreeSet::new();
    for &token in word {
        steps.clear();
        loop {
            let state = stack[stack.len() - 1];
            match table.actions[state][token] {
                Action::Reduce(production) => {
                    let production = &table.productions[production];
                    stack.truncate(stack.len() - production.right.len());
                    let beneath = stack[stack.len() - 1];
                    steps.insert((beneath, production.left));
                    let Some(next) = table.next[beneath][production.left] else { return steps };
                    stack.push(next);
                }
                Action::Shift(next) => {
                    stack.push(next);
                    break;
                }
                Action::Accept | Action::Error => return steps,
            }
        }
    }
    steps
}

/// Returns a path to each state followed by each token, and a path through each transition followed by one token.
pub(crate) fn probes(table: &LrTable) -> Vec<Vec<usize>> {
    let shortest = Shortest::new(table);
    let ways = ways(table, &shortest);
    let expand = |symbols: &[usize]| {
        let mut word = Vec::new();
        shortest.expand(symbols, &mut word);
        word
    };
    let mut probes = BTreeSet::new();
    for (state, way) in ways.iter().enumerate() {
        let Some(way) = way else { continue };
        let beginning = expand(way);
        probes.extend((0..table.terminals).map(|token| [&beginning[..], &[token]].concat()));
        for symbol in (0..table.names.len()).filter(|&symbol| table.next[state][symbol].is_some()) {
            if !shortest.derives(symbol) {
                continue;
            }
            let longer = expand(&[&way[..], &[symbol]].concat());
            let with = |token: usize| [&longer[..], &[token]].concat();
            let takes =
                |probe: &Vec<usize>| symbol < table.terminals || last_steps(table, probe).contains(&(state, symbol));
            probes.extend((0..table.terminals).map(with).find(takes));
        }
    }
    probes.into_iter().collect()
}
