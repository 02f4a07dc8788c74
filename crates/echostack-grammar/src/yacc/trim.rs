//! Leaves out the parts of a grammar that no word needs, as bison does, and refuses what has no use as a whole.

use crate::rules::{InnerAction, Production, Rules};
use crate::text::error::{GrammarError, Warning, list};
use crate::text::source::Source;

/// Returns the rules without nonterminals that derive no word or cannot be reached, and a warning for each kind.
pub(crate) fn trim(source: Source<'_>, rules: &Rules) -> Result<(Rules, Vec<Warning>), GrammarError> {
    let mut warnings = Vec::new();
    let mut warn = |useless: &[usize], one: &str, several: &str| {
        if let Some(&first) = useless.first() {
            let names: Vec<&str> = useless.iter().map(|&symbol| rules.names[symbol].as_str()).collect();
            let rest = if names.len() == 1 { one } else { several };
            warnings.push(source.warning(rules.places[first], &format!("{} {rest}", list(&names))));
        }
    };
    let productive = derived(rules, true);
    if !productive[rules.start] {
        return Err(GrammarError::Empty(rules.names[rules.start].clone()));
    }
    let barren: Vec<usize> = (rules.terminals..rules.names.len()).filter(|&symbol| !productive[symbol]).collect();
    warn(
        &barren,
        "derives no word; it is left out, with every production that contains it",
        "derive no word; they are left out, with every production that contains them",
    );
    let is_productive = |production: &Production| production.right.iter().all(|&symbol| productive[symbol]);
    let reachable = reachable(rules, is_productive);
    let unreachable: Vec<usize> =
        (rules.terminals..rules.names.len()).filter(|&symbol| productive[symbol] && !reachable[symbol]).collect();
    let start = &rules.names[rules.start];
    warn(
        &unreachable,
        &format!("cannot be reached from the start symbol {start}; it is left out"),
        &format!("cannot be reached from the start symbol {start}; they are left out"),
    );
    let kept = select(rules, &reachable, is_productive);
    match cycle(&kept) {
        Some(symbol) => Err(GrammarError::Cyclic(kept.names[symbol].clone())),
        None => Ok((kept, warnings)),
    }
}

/// Returns for each symbol whether it derives a word (if `from_terminals` is true), or the empty word.
fn derived(rules: &Rules, from_terminals: bool) -> Vec<bool> {
    let mut derived = vec![false; rules.names.len()];
    derived[..rules.terminals].fill(from_terminals);
    let mut uses: Vec<Vec<usize>> = vec![Vec::new(); rules.names.len()];
    // The number of symbols on each right side that are not known to derive a word yet.
    let mut missing = vec![0_usize; rules.productions.len()];
    for (number, production) in rules.productions.iter().enumerate() {
        for &symbol in production.right.iter().filter(|&&symbol| !derived[symbol]) {
            uses[symbol].push(number);
            missing[number] += 1;
        }
    }
    let mut queue: Vec<usize> = (0..missing.len()).filter(|&number| missing[number] == 0).collect();
    while let Some(number) = queue.pop() {
        let left = rules.productions[number].left;
        if !std::mem::replace(&mut derived[left], true) {
            for &user in &uses[left] {
                missing[user] -= 1;
                if missing[user] == 0 {
                    queue.push(user);
                }
            }
        }
    }
    derived
}

/// Returns for each symbol whether the start symbol derives something that contains it.
fn reachable(rules: &Rules, keep: impl Fn(&Production) -> bool) -> Vec<bool> {
    let mut productions: Vec<Vec<&Production>> = vec![Vec::new(); rules.names.len()];
    rules.productions.iter().filter(|&production| keep(production)).for_each(|production| {
        productions[production.left].push(production);
    });
    let mut reachable = vec![false; rules.names.len()];
    reachable[rules.start] = true;
    let mut queue = vec![rules.start];
    while let Some(symbol) = queue.pop() {
        for &next in productions[symbol].iter().flat_map(|production| &production.right) {
            if !std::mem::replace(&mut reachable[next], true) {
                queue.push(next);
            }
        }
    }
    reachable
}

/// Returns the rules with the reachable symbols only.
fn select(rules: &Rules, reachable: &[bool], keep: impl Fn(&Production) -> bool) -> Rules {
    let symbols: Vec<usize> = (0..rules.names.len()).filter(|&symbol| reachable[symbol]).collect();
    let mut numbers = vec![0; rules.names.len()];
    for (number, &symbol) in symbols.iter().enumerate() {
        numbers[symbol] = number;
    }
    let terminals = symbols.iter().filter(|&&symbol| symbol < rules.terminals).count();
    let kept = |production: &Production| reachable[production.left] && keep(production);
    let mut fresh = 0..;
    let fresh: Vec<Option<usize>> =
        rules.productions.iter().map(|production| if kept(production) { fresh.next() } else { None }).collect();
    let actions = rules.actions.iter();
    let actions =
        actions.filter_map(|&action| Some(InnerAction { production: fresh[action.production]?, ..action })).collect();
    let productions = rules.productions.iter().zip(&rules.production_precedences);
    let (productions, production_precedences) = productions
        .filter(|(production, _)| kept(production))
        .map(|(production, &precedence)| {
            let right = production.right.iter().map(|&symbol| numbers[symbol]).collect();
            (Production { left: numbers[production.left], right }, precedence)
        })
        .unzip();
    Rules {
        names: symbols.iter().map(|&symbol| rules.names[symbol].clone()).collect(),
        places: symbols.iter().map(|&symbol| rules.places[symbol]).collect(),
        terminals,
        start: numbers[rules.start],
        productions,
        actions,
        terminal_precedences: symbols[..terminals].iter().map(|&symbol| rules.terminal_precedences[symbol]).collect(),
        production_precedences,
        expected: rules.expected,
        merging: rules.merging,
    }
}

/// Returns a nonterminal that derives itself alone, if there is one.
fn cycle(rules: &Rules) -> Option<usize> {
    let nullable = derived(rules, false);
    // The nonterminals that each symbol derives in one step, if everything around them is empty.
    let mut alone: Vec<Vec<usize>> = vec![Vec::new(); rules.names.len()];
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); rules.names.len()];
    for production in &rules.productions {
        let full = production.right.iter().filter(|&&symbol| !nullable[symbol]).count();
        for &symbol in production.right.iter().filter(|&&symbol| symbol >= rules.terminals) {
            if full == usize::from(!nullable[symbol]) {
                alone[production.left].push(symbol);
                before[symbol].push(production.left);
            }
        }
    }
    // Remove symbols that lead nowhere until none are left, or each of those that are left leads to another.
    let mut ways: Vec<usize> = alone.iter().map(Vec::len).collect();
    let mut queue: Vec<usize> = (0..ways.len()).filter(|&symbol| ways[symbol] == 0).collect();
    while let Some(symbol) = queue.pop() {
        for &user in &before[symbol] {
            ways[user] -= 1;
            if ways[user] == 0 {
                queue.push(user);
            }
        }
    }
    let mut symbol = ways.iter().position(|&ways| ways > 0)?;
    for _ in 0..ways.len() {
        symbol = *alone[symbol].iter().find(|&&next| ways[next] > 0)?;
    }
    Some(symbol)
}
