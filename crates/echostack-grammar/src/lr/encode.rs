//! Encodes an LR(1) table as an automaton.
//!
//! With the *suffix encoding*, the stack holds the grammar's symbols, as in the paper, and rules match stack suffixes.
//! This is enough if no two states of the table that behave differently are reached by stacks with common suffixes of
//! unlimited length. Whether this is the case can be decided, and `suffixes_decide` does so.
//!
//! With the *state encoding*, the stack holds states. A shift pushes x; then the rule for (q x) pops 1 symbol and
//! pushes the state after x. A reduction pops the right side and pushes A; then the rule for (q A) pops 1 symbol and
//! pushes the state after A. The bottom of the stack stands for state 0. No decision needs more than two stack symbols.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use echostack::automaton::{AutomatonError, Rule, Viability};
use echostack::name::{UnknownName, find};
use echostack::{Alphabet, Automaton, Lookahead, SymbolId};

use super::live::{Live, LiveError};
use super::table::{Action, LrTable};
use crate::text::error::GrammarError;
use crate::text::limits::GrammarLimits;

/// The way in which an LR(1) table is encoded as rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Encoding {
    /// The suffix encoding if it suffices and no rule looks deep into the stack, and otherwise the state encoding.
    #[default]
    Auto,
    /// The suffix encoding: the stack holds symbols, and rules match its suffixes, as in the paper.
    Suffix,
    /// The state encoding: the stack holds the states of the table.
    State,
}

impl Encoding {
    /// All encodings.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Suffix, Self::State];

    /// Returns the name of the encoding in options and manifests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Suffix => "suffix",
            Self::State => "state",
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Encoding {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        find("encoding", name, Self::ALL, Self::name)
    }
}

/// The maximum number of rules in the suffix encoding. A grammar that needs more is clearer in the state encoding.
const MAX_RULES: usize = 20_000;
/// The maximum number of states for which the suffix encoding is tried.
const MAX_STATES: usize = 400;
/// The maximum number of symbols below those that it pops that a rule may look at, if the encoding is not prescribed. The
/// deeper a symbol lies, the less it changes the state of a reservoir, and the harder the rule is to learn and to prove.
const MAX_LOOK_BELOW: usize = 3;

pub(crate) fn encode(
    table: &LrTable,
    encoding: Encoding,
    limits: &GrammarLimits,
) -> Result<(Automaton, Encoding), GrammarError> {
    if encoding != Encoding::State {
        match by_suffix(table, limits) {
            Ok(automaton) if encoding == Encoding::Suffix || look_below(&automaton) <= MAX_LOOK_BELOW => {
                return Ok((automaton, Encoding::Suffix));
            }
            Ok(_) => {}
            Err(GrammarError::NotBySuffix | GrammarError::LargeBySuffix) if encoding == Encoding::Auto => {}
            Err(error) => return Err(error),
        }
    }
    Ok((by_state(table, limits)?, Encoding::State))
}

/// Returns the maximum number of symbols below those that it pops that a rule looks at.
fn look_below(automaton: &Automaton) -> usize {
    let below = |rule: &Rule| rule.suffix.len().saturating_sub(rule.pop as usize);
    automaton.rules().iter().map(below).max().unwrap_or(0)
}

fn lookahead(table: &LrTable, number: usize) -> Lookahead {
    if number == table.terminals { Lookahead::End } else { Lookahead::Token(SymbolId::new(number)) }
}

/// Returns the action of a state. A state that can only reduce by one production does so on every lookahead.
fn effective(table: &LrTable, state: usize, lookahead: usize) -> Action {
    table.only_reduction(state).map_or(table.actions[state][lookahead], Action::Reduce)
}

/// Returns the actions of a state, regardless of where its shifts lead.
fn behaviour(table: &LrTable, state: usize) -> Vec<Action> {
    let plain = |action| if let Action::Shift(_) = action { Action::Shift(0) } else { action };
    (0..=table.terminals).map(|lookahead| plain(effective(table, state, lookahead))).collect()
}

/// Returns whether stacks with a sufficiently long common suffix always behave in the same way. The set of pairs of
/// different states that common suffixes of length k lead to can only shrink as k grows, so the loop terminates.
fn suffixes_decide(table: &LrTable) -> bool {
    let states = table.states();
    let behaviours: Vec<_> = (0..states).map(|state| behaviour(table, state)).collect();
    let mut pairs: BTreeSet<(usize, usize)> = (0..states).flat_map(|a| (a + 1..states).map(move |b| (a, b))).collect();
    loop {
        if pairs.iter().all(|&(a, b)| behaviours[a] == behaviours[b]) {
            return true;
        }
        let mut after = BTreeSet::new();
        for &(a, b) in &pairs {
            for symbol in 0..table.names.len() {
                if let (Some(a), Some(b)) = (table.next[a][symbol], table.next[b][symbol])
                    && a != b
                {
                    after.insert((a.min(b), a.max(b)));
                }
            }
        }
        if after == pairs {
            return false;
        }
        pairs = after;
    }
}

fn by_suffix(table: &LrTable, limits: &GrammarLimits) -> Result<Automaton, GrammarError> {
    if table.states() > MAX_STATES {
        return Err(GrammarError::LargeBySuffix);
    }
    if !suffixes_decide(table) {
        return Err(GrammarError::NotBySuffix);
    }
    let alphabet = Alphabet::new(table.names[..table.terminals].to_vec(), table.names[table.terminals..].to_vec())
        .map_err(|error| GrammarError::Syntax(error.to_string()))?;
    let mut suffixes = Suffixes { table, rules: Vec::new() };
    for production in 0..table.productions.len() {
        let right = &table.productions[production].right;
        let states = (0..table.states()).filter_map(|state| suffixes.follow(state, right)).collect();
        let all = (0..=table.terminals).collect();
        suffixes.split(production, right, &states, &all).ok_or(GrammarError::LargeBySuffix)?;
    }
    let automaton = Automaton::new(alphabet, suffixes.rules, vec![SymbolId::new(table.start)])?;
    let live = stacks(table)?;
    let row = |row: &Vec<(usize, usize)>| row.iter().map(|&(symbol, next)| (SymbolId::new(symbol), next)).collect();
    let rows: Vec<_> = live.next.iter().map(row).collect();
    with_viable(automaton, &rows, &live, limits)
}

/// Returns the stacks of a table that can become a word. A table without conflicts has a path for exactly these. The
/// resolution of a conflict, by precedences or by default, removes actions, so that a path may lead to a dead end, which
/// is then left out.
fn stacks(table: &LrTable) -> Result<Live, GrammarError> {
    if table.has_resolutions {
        let live = Live::new(table).map_err(|error| match error {
            LiveError::TooMany => GrammarError::DeadEnds,
            LiveError::NoWords => AutomatonError::NoWords.into(),
        })?;
        if live.dead_ends {
            return Ok(live);
        }
    }
    let row = |next: &Vec<Option<usize>>| {
        let next = next.iter().enumerate();
        next.filter_map(|(symbol, next)| Some((symbol, (*next)?))).collect()
    };
    Ok(Live { states: (0..table.states()).collect(), next: table.next.iter().map(row).collect(), dead_ends: false })
}

/// Returns the automaton with its viable stacks. That `%nonassoc` forbids a token is written nowhere but in these.
fn with_viable(
    automaton: Automaton,
    rows: &[Vec<(SymbolId, usize)>],
    live: &Live,
    limits: &GrammarLimits,
) -> Result<Automaton, GrammarError> {
    let transitions = (rows.len() + 1).saturating_mul(automaton.alphabet().len());
    GrammarError::within("transitions between its states", transitions, limits.transitions)?;
    let most = usize::try_from(limits.transitions).unwrap_or(usize::MAX);
    let given = Viability::given_within(automaton.alphabet().len(), rows, most)?;
    // The states of the table need no merging, but those that tell dead ends apart do.
    let viable = if live.dead_ends { given.minimized(&())? } else { given };
    Ok(automaton.with_viability(viable)?)
}

/// The search for the stack suffixes that decide when to reduce.
struct Suffixes<'a> {
    table: &'a LrTable,
    rules: Vec<Rule>,
}

impl Suffixes<'_> {
    fn follow(&self, state: usize, symbols: &[usize]) -> Option<usize> {
        symbols.iter().try_fold(state, |state, &symbol| self.table.next[state][symbol])
    }

    /// Adds the rules of a production for stacks with this suffix, which leads to `states`, and for the lookaheads in
    /// `open`, which are not decided yet. Returns `None` if there are too many rules.
    fn split(
        &mut self,
        production: usize,
        suffix: &[usize],
        states: &BTreeSet<usize>,
        open: &BTreeSet<usize>,
    ) -> Option<()> {
        let reduces =
            |state: usize, lookahead: usize| effective(self.table, state, lookahead) == Action::Reduce(production);
        let (mut settled, mut mixed) = (BTreeSet::new(), BTreeSet::new());
        for &lookahead in open {
            match states.iter().filter(|&&state| reduces(state, lookahead)).count() {
                0 => {}
                count if count == states.len() => _ = settled.insert(lookahead),
                _ => _ = mixed.insert(lookahead),
            }
        }
        self.add(production, false, suffix, &settled)?;
        if mixed.is_empty() {
            return Some(());
        }
        // The suffix may be the whole stack, or there may be more symbols below it.
        if let Some(state) = self.follow(0, suffix) {
            let here = mixed
                .iter()
                .copied()
                .filter(|&lookahead| effective(self.table, state, lookahead) == Action::Reduce(production));
            let here = here.collect();
            self.add(production, true, suffix, &here)?;
        }
        for symbol in 0..self.table.names.len() {
            let longer = [&[symbol], suffix].concat();
            let states: BTreeSet<usize> =
                (0..self.table.states()).filter_map(|state| self.follow(state, &longer)).collect();
            if !states.is_empty() {
                self.split(production, &longer, &states, &mixed)?;
            }
        }
        Some(())
    }

    fn add(&mut self, production: usize, anchored: bool, suffix: &[usize], lookaheads: &BTreeSet<usize>) -> Option<()> {
        let production = &self.table.productions[production];
        let rule = |lookahead| Rule {
            anchored,
            suffix: suffix.iter().map(|&symbol| SymbolId::new(symbol)).collect(),
            lookahead,
            pop: production.right.len() as u32,
            push: SymbolId::new(production.left),
        };
        if lookaheads.len() == self.table.terminals + 1 {
            self.rules.push(rule(None));
        } else {
            self.rules.extend(lookaheads.iter().map(|&number| rule(Some(lookahead(self.table, number)))));
        }
        (self.rules.len() <= MAX_RULES).then_some(())
    }
}

fn by_state(table: &LrTable, limits: &GrammarLimits) -> Result<Automaton, GrammarError> {
    let symbols = table.names.len();
    let total = symbols + table.states();
    let transitions = (table.states() + 2).saturating_mul(total);
    GrammarError::within("transitions between its states", transitions, limits.transitions)?;
    let states = (1..table.states()).map(|state| format!("#{state}"));
    let nonterminals = table.names[table.terminals..].iter().cloned().chain(states);
    let alphabet = Alphabet::new(table.names[..table.terminals].to_vec(), nonterminals.collect::<Vec<_>>())
        .map_err(|error| GrammarError::Syntax(error.to_string()))?
        .with_states(|symbol| symbol.index() >= symbols);
    // State 0 is the bottom of the stack. The symbols of the states q > 0 come after the symbols of the grammar.
    let name = |state: usize| (state > 0).then(|| SymbolId::new(symbols + state - 1));
    let mut rules = Vec::new();
    for state in 0..table.states() {
        let anchored = state == 0;
        for (symbol, next) in table.next[state].iter().enumerate() {
            if let Some(push) = next.and_then(name) {
                let suffix = name(state).into_iter().chain([SymbolId::new(symbol)]).collect();
                rules.push(Rule { anchored, suffix, lookahead: None, pop: 1, push });
            }
        }
        let mut reduce = |production: usize, lookahead| {
            let production = &table.productions[production];
            let (pop, push) = (production.right.len() as u32, SymbolId::new(production.left));
            rules.push(Rule { anchored, suffix: name(state).into_iter().collect(), lookahead, pop, push });
        };
        if let Some(production) = table.only_reduction(state) {
            reduce(production, None);
        } else {
            for (number, action) in table.actions[state].iter().enumerate() {
                if let Action::Reduce(production) = *action {
                    reduce(production, Some(lookahead(table, number)));
                }
            }
        }
    }
    let accepting = table.next[0][table.start].and_then(name).into_iter().collect();
    // A stack of states is viable if each state leads to the next. On top of it, there may be a symbol that the last
    // state has a transition for.
    let live = stacks(table)?;
    let top = live.next.len();
    let row = |row: &Vec<(usize, usize)>| {
        let pushes = row.iter().flat_map(|&(symbol, next)| {
            let state = name(live.states[next]).map(|state| (state, next));
            state.into_iter().chain([(SymbolId::new(symbol), top)])
        });
        pushes.collect()
    };
    let rows: Vec<_> = live.next.iter().map(row).chain([Vec::new()]).collect();
    with_viable(Automaton::new(alphabet, rules, accepting)?, &rows, &live, limits)
}
