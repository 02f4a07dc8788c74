//! Builds the LR(1) table of a grammar: grmtools computes the states, and conflicts are resolved as in Yacc.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fmt::Write;

use cfgrammar::yacc::{YaccGrammar, YaccKind, YaccOriginalActionKind};
use cfgrammar::{RIdx, Symbol};
use lrtable::{Minimiser, StIdx, StateGraph, from_yacc};

use crate::conflict::{self, Conflict, Count};
use crate::error::{GrammarError, Warning};
use crate::limits::GrammarLimits;
use crate::rules::{Associativity, Expected, Rules};
use crate::size::{TooLarge, count_states};
use crate::source::Source;
use crate::table::{Action, LrTable, Production};

/// The maximum number of entries of a table: one for each symbol in each state.
const MAX_ENTRIES: usize = 1 << 24;

/// Builds the table of a grammar. Returns it with warnings about its conflicts, if they are resolved.
pub(crate) fn build(
    source: Source<'_>,
    rules: &Rules,
    limits: &GrammarLimits,
) -> Result<(LrTable, Vec<Warning>), GrammarError> {
    let mut table = LrTable {
        start: rules.start,
        terminals: rules.terminals,
        productions: rules.productions.clone(),
        actions: Vec::new(),
        next: Vec::new(),
        names: rules.names.clone(),
        has_resolutions: false,
        forbids: Vec::new(),
    };
    GrammarError::within("symbols", rules.names.len(), limits.symbols)?;
    GrammarError::within("productions", rules.productions.len(), limits.productions)?;
    let width = rules.names.len().max(1);
    let most = (limits.states as usize).min(MAX_ENTRIES / width);
    count_states(rules, most).map_err(|reason| {
        let (given, most) = (most as u64 + 1, most as u64);
        match reason {
            TooLarge::States if most == limits.states => GrammarError::Limit { what: "states", given, most },
            TooLarge::States => {
                let what = "entries in its LR(1) table, one for each symbol in each state,";
                GrammarError::Limit { what, given: given * width as u64, most: MAX_ENTRIES as u64 }
            }
            TooLarge::Work => {
                GrammarError::Table("its states would take too much memory or time; simplify its rules".into())
            }
        }
    })?;
    let (grammar, graph) = compute(rules).map_err(GrammarError::Table)?;
    let states = States::new(rules, &grammar, &graph);
    let conflicts = states.fill(&mut table);
    let expected = &rules.expected;
    let [shift_reduce, reduce_reduce] =
        [expected.shift_reduce, expected.reduce_reduce].map(|expected| expected.map_or(0, |(count, _)| count));
    if !table.has_resolutions && shift_reduce + reduce_reduce == 0 {
        return Ok((table, Vec::new()));
    }
    let count = states.count();
    let declared = count.shift_reduce <= shift_reduce && count.reduce_reduce <= reduce_reduce;
    let accepted = declared && shift_reduce + reduce_reduce > 0 && !expected.glr;
    if !conflicts.is_empty() && !accepted {
        return Err(GrammarError::Conflict(conflict::explain(&table, &conflicts, count, expected)));
    }
    if let Some(production) = table.endless() {
        return Err(GrammarError::Endless(table.names[table.productions[production].left].clone()));
    }
    let fewer = conflict::fewer(count, expected);
    let unused = conflict::unused(&table).map(|(symbol, message)| (rules.places[symbol], message));
    let warnings = fewer.into_iter().chain(unused).map(|(at, message)| source.warning(at, &message)).collect();
    Ok((table, warnings))
}

/// Lets grmtools compute the LR(1) states of the rules, without their precedences.
fn compute(rules: &Rules) -> Result<(YaccGrammar<u32>, StateGraph<u32>), String> {
    let kind = YaccKind::Original(YaccOriginalActionKind::NoAction);
    let grammar = YaccGrammar::<u32>::new_with_storaget(kind, &print(rules))
        .map_err(|errors| errors.first().map_or_else(String::new, ToString::to_string))?;
    let (graph, _) = from_yacc(&grammar, Minimiser::Pager).map_err(|error| error.to_string())?;
    Ok((grammar, graph))
}

/// Whether a grammar has conflicts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conflicts {
    /// In its LR(1) table.
    pub(crate) lr1: bool,
    /// In its LALR(1) table, or in its LR(1) table.
    pub(crate) lalr: bool,
}

/// Finds out whether a grammar without precedences has conflicts. Terminals have the first numbers, then come the
/// nonterminals, the first of which is the start. What cannot be examined counts as having conflicts.
pub(crate) fn conflicts(terminals: usize, nonterminals: usize, productions: Vec<Production>) -> Conflicts {
    let count = terminals + nonterminals;
    let rules = Rules {
        names: (0..count).map(|number| number.to_string()).collect(),
        places: vec![0; count],
        terminals,
        start: terminals,
        terminal_precedences: vec![None; terminals],
        production_precedences: vec![None; productions.len()],
        productions,
        expected: Expected::default(),
    };
    let unknown = Conflicts { lr1: true, lalr: true };
    let most = GrammarLimits::default().states as usize;
    if count_states(&rules, most).is_err() {
        return unknown;
    }
    let Ok((grammar, graph)) = compute(&rules) else { return unknown };
    let states = States::new(&rules, &grammar, &graph);
    let conflict = |state| {
        let choices = states.choices(state);
        (0..=terminals).any(|lookahead| {
            let Remaining { shift, reductions, .. } = states.remaining(&choices, lookahead);
            reductions.len() + usize::from(shift) > 1
        })
    };
    let lr1 = graph.iter_stidxs().any(conflict);
    let lalr = states.count();
    Conflicts { lr1, lalr: lr1 || lalr.shift_reduce + lalr.reduce_reduce > 0 }
}

/// Writes the rules for grmtools. Terminals are t0, t1 and so on, and nonterminals n and their number.
fn print(rules: &Rules) -> String {
    let name = |symbol: usize| format!("{}{symbol}", if symbol < rules.terminals { 't' } else { 'n' });
    let mut text = format!("%start {}\n", name(rules.start));
    // A string takes whatever is written to it.
    (0..rules.terminals).for_each(|terminal| _ = writeln!(text, "%token {}", name(terminal)));
    text.push_str("%%\n");
    for production in &rules.productions {
        let right: Vec<String> = production.right.iter().map(|&symbol| name(symbol)).collect();
        _ = writeln!(text, "{}: {};", name(production.left), right.join(" "));
    }
    text
}

/// What a parser could do in a state: the tokens that it could shift, and the lookaheads for each production that it
/// could reduce by. The end of the input is the lookahead after the last terminal.
#[derive(Clone, Debug, Default)]
struct Choices {
    shifts: BTreeSet<usize>,
    reductions: BTreeMap<usize, BTreeSet<usize>>,
}

/// What remains to do on one lookahead after precedences are applied.
#[derive(Debug)]
struct Remaining {
    shift: bool,
    reductions: Vec<usize>,
    /// Whether precedences removed anything.
    reduced: bool,
    /// Whether `%nonassoc` forbids the lookahead, whatever remains.
    forbidden: bool,
}

/// The productions of a state, with the positions in them that were reached.
type Core = BTreeSet<(usize, usize)>;

/// The states that grmtools computed, with the symbols as they are numbered here.
struct States<'a> {
    rules: &'a Rules,
    graph: &'a StateGraph<u32>,
    grammar: &'a YaccGrammar<u32>,
    /// The number of each nonterminal of grmtools.
    nonterminals: HashMap<RIdx<u32>, usize>,
}

impl<'a> States<'a> {
    fn new(rules: &'a Rules, grammar: &'a YaccGrammar<u32>, graph: &'a StateGraph<u32>) -> Self {
        let number = |rule: RIdx<u32>| Some((rule, grammar.rule_name_str(rule).strip_prefix('n')?.parse().ok()?));
        let nonterminals = grammar.iter_rules().filter_map(number).collect();
        Self { rules, graph, grammar, nonterminals }
    }

    /// Returns the number of the production for acceptance, which grmtools adds at the end.
    fn acceptance(&self) -> usize {
        self.rules.productions.len()
    }

    fn choices(&self, state: StIdx<u32>) -> Choices {
        let mut choices = Choices::default();
        for symbol in self.graph.edges(state).keys() {
            if let Symbol::Token(token) = symbol {
                choices.shifts.insert(usize::from(*token));
            }
        }
        for (&(production, dot), lookaheads) in &self.graph.closed_state(state).items {
            if dot == self.grammar.prod_len(production) {
                choices.reductions.insert(usize::from(production), lookaheads.iter_set_bits(..).collect());
            }
        }
        choices
    }

    /// Applies precedences to the choices on a lookahead, in the order in which bison does.
    fn remaining(&self, choices: &Choices, lookahead: usize) -> Remaining {
        let rules = self.rules;
        let mut shift = choices.shifts.contains(&lookahead);
        let mut reductions = Vec::new();
        let (mut reduced, mut forbidden) = (false, false);
        for (&production, _) in choices.reductions.iter().filter(|(_, lookaheads)| lookaheads.contains(&lookahead)) {
            let precedences = (
                rules.production_precedences.get(production).copied().flatten(),
                rules.terminal_precedences.get(lookahead).copied().flatten(),
            );
            let (mut shifts, mut reduces) = (shift, true);
            if let (true, (Some(this), Some(other))) = (shift, precedences) {
                use std::cmp::Ordering::{Equal, Greater, Less};
                (shifts, reduces) = match (this.level.cmp(&other.level), other.associativity) {
                    (Greater, _) | (Equal, Associativity::Left) => (false, true),
                    (Less, _) | (Equal, Associativity::Right) => (true, false),
                    (Equal, Associativity::Nonassoc) => (false, false),
                    (Equal, Associativity::Undefined) => (true, true),
                };
            }
            reduced |= shifts != shift || !reduces;
            forbidden |= shift && !shifts && !reduces;
            shift = shifts;
            if reduces {
                reductions.push(production);
            }
        }
        Remaining { shift, reductions, reduced, forbidden }
    }

    /// Counts the conflicts as bison does, which merges states that differ only in their lookaheads, and does not count
    /// states that cannot be reached once precedences are applied.
    fn count(&self) -> Count {
        let core = |state: StIdx<u32>| {
            let items = self.graph.core_state(state).items.keys();
            let core = items.map(|&(production, dot)| (usize::from(production), usize::from(dot)));
            core.collect::<Core>()
        };
        let mut merged: HashMap<Core, (Choices, StIdx<u32>)> = HashMap::new();
        for state in self.graph.iter_stidxs() {
            let Choices { shifts, reductions } = self.choices(state);
            let (all, _) = merged.entry(core(state)).or_insert_with(|| (Choices::default(), state));
            all.shifts.extend(shifts);
            for (production, lookaheads) in reductions {
                all.reductions.entry(production).or_default().extend(lookaheads);
            }
        }
        let mut count = Count::default();
        let mut queue = vec![self.graph.start_state()];
        while let Some(state) = queue.pop() {
            // A state is removed when it is reached for the first time.
            let Some((choices, state)) = merged.remove(&core(state)) else { continue };
            let mut shifts = BTreeSet::new();
            for lookahead in 0..=self.rules.terminals {
                let Remaining { shift, reductions, .. } = self.remaining(&choices, lookahead);
                count.shift_reduce += usize::from(shift && !reductions.is_empty());
                count.reduce_reduce += reductions.len().saturating_sub(1);
                shifts.extend(shift.then_some(lookahead));
            }
            let kept = self.graph.edges(state).iter().filter(|(symbol, _)| match symbol {
                Symbol::Token(token) => shifts.contains(&usize::from(*token)),
                Symbol::Rule(_) => true,
            });
            queue.extend(kept.map(|(_, &next)| next));
        }
        count
    }

    /// Fills the table. States are numbered in breadth-first order from the start state, following the symbols in
    /// order. A conflict is resolved by a shift, or else by the first production. Returns the conflicts.
    fn fill(&self, table: &mut LrTable) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        let mut known: HashMap<StIdx<u32>, usize> = HashMap::from([(self.graph.start_state(), 0)]);
        let mut queue = VecDeque::from([self.graph.start_state()]);
        while let Some(state) = queue.pop_front() {
            let mut number = |next: StIdx<u32>| {
                let fresh = known.len();
                *known.entry(next).or_insert_with(|| {
                    queue.push_back(next);
                    fresh
                })
            };
            let mut ways: Vec<Option<StIdx<u32>>> = vec![None; table.names.len()];
            for (symbol, &to) in self.graph.edges(state) {
                match symbol {
                    Symbol::Token(token) => ways[usize::from(*token)] = Some(to),
                    Symbol::Rule(rule) => ways[self.nonterminals[rule]] = Some(to),
                }
            }
            let choices = self.choices(state);
            let mut next = vec![None; table.names.len()];
            let mut forbids = false;
            let mut actions = Vec::with_capacity(table.terminals + 1);
            for lookahead in 0..=table.terminals {
                let Remaining { shift, reductions, reduced, forbidden } = self.remaining(&choices, lookahead);
                let conflict = reductions.len() + usize::from(shift) > 1;
                table.has_resolutions |= reduced || conflict;
                forbids |= forbidden;
                if conflict {
                    let shifted = shift.then(|| self.shifted(state, lookahead)).flatten();
                    let reductions = reductions.clone();
                    conflicts.push(Conflict { state: table.actions.len(), lookahead, reductions, shifted });
                }
                let to = if shift { ways[lookahead].map(&mut number) } else { None };
                actions.push(match (to, reductions.first()) {
                    _ if forbidden => Action::Error,
                    (Some(to), _) => {
                        next[lookahead] = Some(to);
                        Action::Shift(to)
                    }
                    (None, Some(&production)) if production == self.acceptance() => Action::Accept,
                    (None, Some(&production)) => Action::Reduce(production),
                    (None, None) => Action::Error,
                });
            }
            for symbol in table.terminals..table.names.len() {
                next[symbol] = ways[symbol].map(&mut number);
            }
            table.actions.push(actions);
            table.next.push(next);
            table.forbids.push(forbids);
        }
        conflicts
    }

    /// Returns the first production that continues with a token in a state.
    fn shifted(&self, state: StIdx<u32>, token: usize) -> Option<usize> {
        let items = self.graph.closed_state(state).items.keys();
        let continuing = items.filter(|&&(production, dot)| {
            let symbol = self.grammar.prod(production).get(usize::from(dot));
            matches!(symbol, Some(Symbol::Token(next)) if usize::from(*next) == token)
        });
        continuing.map(|&(production, _)| usize::from(production)).min()
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::resolve::resolve;
    use crate::trim::trim;
    use crate::yacc;

    fn rules(text: &str) -> Option<Rules> {
        let source = Source { file: None, text };
        let (rules, _) = resolve(source, &yacc::read(source).ok()?).ok()?;
        Some(trim(source, &rules).ok()?.0)
    }

    fn random_grammar(random: &mut impl Rng) -> String {
        let mut text = "%%\n".to_string();
        let names = ["S", "A", "B", "C"];
        for name in &names[..random.random_range(1..=4)] {
            let sides = (0..random.random_range(1..4)).map(|_| {
                let symbols = (0..random.random_range(0..4)).map(|_| match random.random_range(0..8) {
                    at @ 0..4 => names[at].to_string(),
                    at => format!("'{}'", ["a", "b", "c", "d"][at - 4]),
                });
                symbols.collect::<Vec<_>>().join(" ")
            });
            _ = writeln!(text, "{name}: {};", sides.collect::<Vec<_>>().join(" | "));
        }
        text
    }

    /// Returns a grammar with about 2^n states: LR(0) states, or states that differ only in their lookaheads.
    fn exponential(n: usize, by_lookaheads: bool) -> String {
        if by_lookaheads {
            let mut text = "%%\nS: X0 'x' | Y0 'y';\n".to_string();
            for i in 0..n {
                let next = i + 1;
                _ = writeln!(text, "X{i}: 'a' X{next} N{i} | 'b' X{next};");
                _ = writeln!(text, "Y{i}: 'a' Y{next} | 'b' Y{next} N{i};");
                _ = writeln!(text, "N{i}: 't{i}' | ;");
            }
            return format!("{text}X{n}: 'c';\nY{n}: 'c';\n");
        }
        let mut text = "%%\nS: 'a' S | 'b' S | 'a' T1;\n".to_string();
        (1..n).for_each(|i| _ = writeln!(text, "T{i}: 'a' T{} | 'b' T{};", i + 1, i + 1));
        format!("{text}T{n}: ;\n")
    }

    #[test]
    fn states_are_counted_as_grmtools_computes_them() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let random = std::iter::repeat_with(|| random_grammar(&mut random)).take(1500);
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/grammars");
        let shipped = std::fs::read_dir(folder).unwrap();
        let shipped = shipped.map(|entry| std::fs::read_to_string(entry.unwrap().path().join("grammar.y")).unwrap());
        let exponential = [false, true].into_iter().flat_map(|kind| (1..7).map(move |n| exponential(n, kind)));
        let (mut seen, mut equal) = (0, 0);
        for rules in random.chain(shipped).chain(exponential).filter_map(|text| rules(&text)) {
            let (_, graph) = compute(&rules).unwrap();
            let computed = usize::from(graph.all_states_len());
            // The order in which states are merged may differ, and states that cannot be reached are counted.
            let counted = count_states(&rules, usize::MAX).unwrap();
            assert!(counted >= computed && counted <= 2 * computed + 2, "{counted} states instead of {computed}");
            assert_eq!(count_states(&rules, counted), Ok(counted));
            assert_eq!(count_states(&rules, counted - 1), Err(TooLarge::States));
            (seen, equal) = (seen + 1, equal + usize::from(counted == computed));
        }
        assert!(seen > 500 && equal * 20 > seen * 19, "{equal} of {seen} are equal");
    }

    #[test]
    fn short_grammars_with_exponentially_many_states_are_refused() {
        for by_lookaheads in [false, true] {
            let text = exponential(40, by_lookaheads);
            let rules = rules(&text).unwrap();
            let refused = build(Source { file: None, text: &text }, &rules, &GrammarLimits::default()).unwrap_err();
            assert_eq!(refused.to_string(), "the grammar has 16385 states or more; the limit is 16384");
        }
    }

    #[test]
    fn grammars_that_would_take_long_to_count_are_refused() {
        let chain = |n: usize| {
            let links = (0..n).map(|i| format!("A{i}: A{} | 't{i}';\n", i + 1));
            format!("%%\n{}A{n}: 'x';\n", links.collect::<String>())
        };
        let many = (0..8000).map(|i| format!("'t{i}'")).collect::<Vec<_>>().join(" | ");
        let long = format!("%%\nS: {many} | {};\nB: 'x' | ;\n", "B ".repeat(1_000_000));
        for text in [chain(8000), long] {
            assert_eq!(count_states(&rules(&text).unwrap(), usize::MAX), Err(TooLarge::Work));
        }
        // Only the lookaheads of a few terminals are kept, but each B may be empty.
        let nullable = format!("%%\nS: {};\nB: 'x' | ;\n", "B ".repeat(1_000_000));
        assert_eq!(count_states(&rules(&nullable).unwrap(), 100), Err(TooLarge::States));
    }
}
