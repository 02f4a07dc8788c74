//! Builds the LR(1) table of a grammar with grmtools, and numbers its states in the order in which they are reached.

use std::collections::{HashMap, VecDeque};

use cfgrammar::yacc::YaccGrammar;
use cfgrammar::{PIdx, Symbol, TIdx};
use lrtable::{Minimiser, StIdx, StateTable, StateTableErrorKind, from_yacc};

use crate::conflict;
use crate::count::Shortest;
use crate::error::{GrammarError, MAX_SYMBOLS};
use crate::table::{Action, LrTable, Production};

/// The symbols of a grammar, with the numbers that grmtools' symbols have in our tables.
struct Numbers {
    names: Vec<String>,
    terminals: Vec<TIdx<u32>>,
    /// The number of each grmtools rule in our tables; the start rule that grmtools adds has none.
    rules: HashMap<u32, usize>,
}

impl Numbers {
    fn new(grammar: &YaccGrammar<u32>) -> Self {
        let mut names = Vec::new();
        let mut terminals = Vec::new();
        for token in grammar.iter_tidxs() {
            if let Some(name) = grammar.token_name(token) {
                names.push(name.to_string());
                terminals.push(token);
            }
        }
        let mut rules = HashMap::new();
        let added = grammar.prod_to_rule(grammar.start_prod());
        for rule in grammar.iter_rules().filter(|&rule| rule != added) {
            rules.insert(rule.as_storaget(), names.len());
            // A rule may have the same name as a token.
            let name = grammar.rule_name_str(rule);
            let taken = names.iter().any(|other| other == name);
            names.push(if taken { format!("<{name}>") } else { name.to_string() });
        }
        Self { names, terminals, rules }
    }

    fn symbol(&self, symbol: Symbol<u32>) -> usize {
        match symbol {
            Symbol::Token(token) => self.terminals.iter().position(|&other| other == token).unwrap_or(0),
            Symbol::Rule(rule) => self.rules[&rule.as_storaget()],
        }
    }
}

/// Builds the table of a grammar.
pub(crate) fn build(grammar: &YaccGrammar<u32>) -> Result<LrTable, GrammarError> {
    let numbers = Numbers::new(grammar);
    let terminals = numbers.terminals.len();
    let added = grammar.start_prod();
    let mut places: HashMap<u32, usize> = HashMap::new();
    let mut productions = Vec::new();
    for production in grammar.iter_pidxs().filter(|&production| production != added) {
        places.insert(production.as_storaget(), productions.len());
        productions.push(Production {
            left: numbers.symbol(Symbol::Rule(grammar.prod_to_rule(production))),
            right: grammar.prod(production).iter().map(|&symbol| numbers.symbol(symbol)).collect(),
        });
    }
    let mut table = LrTable {
        start: numbers.symbol(grammar.prod(added)[0]),
        terminals,
        productions,
        actions: Vec::new(),
        next: Vec::new(),
        names: numbers.names.clone(),
        has_precedences: grammar.iter_tidxs().any(|token| grammar.token_precedence(token).is_some()),
    };
    if table.names.len() > MAX_SYMBOLS {
        return Err(GrammarError::TooLarge(table.names.len()));
    }
    let shortest = Shortest::new(&table);
    let barren = (terminals..table.names.len()).filter(|&symbol| !shortest.derives(symbol));
    let barren: Vec<String> = barren.map(|symbol| table.names[symbol].clone()).collect();
    if !barren.is_empty() {
        return Err(GrammarError::Unproductive(barren));
    }
    let (graph, states) = from_yacc(grammar, Minimiser::Pager).map_err(|error| match error.kind {
        StateTableErrorKind::AcceptReduceConflict(_) => GrammarError::Cyclic(table.names[table.start].clone()),
        _ => GrammarError::Syntax(format!("no LR(1) table could be built: {error}")),
    })?;
    let total = table.names.len() + usize::from(graph.all_states_len());
    if total > MAX_SYMBOLS {
        return Err(GrammarError::TooLarge(total));
    }
    fill(&mut table, grammar, &numbers, &states, |production| places[&production.as_storaget()]);
    if let Some(conflicts) = states.conflicts() {
        return Err(GrammarError::Conflict(conflict::explain(&table, grammar, &graph, conflicts, |symbol| {
            numbers.symbol(symbol)
        })));
    }
    Ok(table)
}

/// Copies the table that grmtools built. States are numbered in breadth-first order from the start state, following the
/// symbols in order.
fn fill(
    table: &mut LrTable,
    grammar: &YaccGrammar<u32>,
    numbers: &Numbers,
    states: &StateTable<u32>,
    place: impl Fn(PIdx<u32>) -> usize,
) {
    let mut known: HashMap<StIdx<u32>, usize> = HashMap::from([(states.start_state(), 0)]);
    let mut queue = VecDeque::from([states.start_state()]);
    let mut rules: Vec<_> = grammar
        .iter_rules()
        .filter_map(|rule| numbers.rules.get(&rule.as_storaget()).map(|&number| (number, rule)))
        .collect();
    rules.sort_unstable_by_key(|&(number, _)| number);
    while let Some(state) = queue.pop_front() {
        let mut number = |next: StIdx<u32>| {
            let fresh = known.len();
            *known.entry(next).or_insert_with(|| {
                queue.push_back(next);
                fresh
            })
        };
        let mut next = vec![None; table.names.len()];
        let mut actions = Vec::with_capacity(table.terminals + 1);
        for (terminal, &token) in numbers.terminals.iter().chain([&grammar.eof_token_idx()]).enumerate() {
            actions.push(match states.action(state, token) {
                lrtable::Action::Shift(to) => {
                    let to = number(to);
                    next[terminal] = Some(to);
                    Action::Shift(to)
                }
                lrtable::Action::Reduce(production) => Action::Reduce(place(production)),
                lrtable::Action::Accept => Action::Accept,
                lrtable::Action::Error => Action::Error,
            });
        }
        for &(symbol, rule) in &rules {
            next[symbol] = states.goto(state, rule).map(&mut number);
        }
        table.actions.push(actions);
        table.next.push(next);
    }
}
