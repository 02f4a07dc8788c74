//! Tests that a grammar has one meaning: that its table, its automaton in both encodings, and its parser by definition
//! accept the same words.

use std::collections::BTreeMap;
use std::fmt::Write;

use cfgrammar::yacc::{YaccGrammar, YaccKind, YaccOriginalActionKind};
use cfgrammar::{RIdx, TIdx};
use echostack::language::Language;
use echostack::{Automaton, Oracle, Recognizer, SymbolId, Verdict, Word};
use lrtable::{Action, Minimiser, StateGraph, StateTable, from_yacc};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::translation::follows;
use crate::grammar::Grammar;
use crate::rules::Rules;
use crate::text::source::Source;
use crate::yacc::reading::rules;
use crate::{Encoding, GrammarError};

/// Returns the number of cases that a test goes through: the default, or what the environment says.
pub(crate) fn cases(default: usize) -> usize {
    std::env::var("ECHOSTACK_MEANINGS").ok().and_then(|count| count.parse().ok()).unwrap_or(default)
}

/// Returns random rules over a few symbols. Some are like those of expressions, and some nonterminals are used in several
/// contexts, so that conflicts and merged states are frequent.
fn random_rules(random: &mut ChaCha8Rng) -> String {
    let names = ["S", "A", "B", "C"];
    let letters = ["'a'", "'b'", "'c'", "'d'"];
    let mut text = String::new();
    for name in &names[..random.random_range(1..=4)] {
        let mut sides: Vec<String> = Vec::new();
        for _ in 0..random.random_range(1..5) {
            let symbol = |random: &mut ChaCha8Rng| {
                let kind = if random.random_bool(0.4) { &names } else { &letters };
                *kind.choose(random).unwrap()
            };
            let mut side = match random.random_range(0..4) {
                0 => format!("{name} {} {name}", letters.choose(random).unwrap()),
                1 => format!("{} {} {}", symbol(random), names.choose(random).unwrap(), symbol(random)),
                _ => (0..random.random_range(0..4)).map(|_| symbol(random)).collect::<Vec<_>>().join(" "),
            };
            if random.random_bool(0.15) {
                _ = write!(side, " %prec {}", letters.choose(random).unwrap());
            }
            sides.push(side);
        }
        _ = writeln!(text, "{name}: {};", sides.join(" | "));
    }
    text
}

/// Returns a random grammar with precedences of all kinds.
pub(crate) fn random_grammar(random: &mut ChaCha8Rng) -> String {
    let mut text = ["", "", "%define lr.type lalr\n", "%define lr.type ielr\n", "%define lr.type canonical-lr\n"]
        .choose(random)
        .unwrap()
        .to_string();
    if random.random_bool(0.7) {
        text += "%expect 500\n%expect-rr 500\n";
    }
    let mut letters = vec!["'a'", "'b'", "'c'", "'d'"];
    for _ in 0..random.random_range(0..4) {
        let kind = ["%left", "%right", "%nonassoc", "%precedence"].choose(random).unwrap();
        let count = random.random_range(0..=letters.len().min(2));
        let chosen: Vec<&str> =
            (0..count).map(|_| letters.swap_remove(random.random_range(0..letters.len()))).collect();
        _ = writeln!(text, "{kind} {}", chosen.join(" "));
    }
    format!("{text}%%\n{}", random_rules(random))
}

/// Returns all words over some terminals, the shortest first, as long as there are not too many.
fn all_words(terminals: usize, most: usize) -> Vec<Vec<usize>> {
    let mut words = vec![Vec::new()];
    let mut last = 0;
    while terminals > 0 && words.len() * terminals <= most && words[words.len() - 1].len() < 10 {
        let longer =
            words[last..].iter().flat_map(|word| (0..terminals).map(move |token| [&word[..], &[token]].concat()));
        let longer: Vec<_> = longer.collect();
        last = words.len();
        words.extend(longer);
    }
    words
}

fn accepts(oracle: &Oracle, word: &[usize]) -> bool {
    oracle.judge(&Word::Symbols(word.iter().copied().map(SymbolId::new).collect())) == Verdict::Accept
}

#[test]
fn automata_accept_what_the_table_accepts_in_both_encodings() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in 0..cases(1500) {
        let text = random_grammar(&mut random);
        for encoding in [Encoding::Suffix, Encoding::State] {
            let grammar = match Grammar::new("test", &text, encoding) {
                Ok(grammar) => grammar,
                Err(GrammarError::NotBySuffix | GrammarError::LargeBySuffix) => continue,
                Err(_) => break,
            };
            let oracle = Oracle::strict(grammar.automaton().clone()).unwrap();
            oracle.check_viable(&()).unwrap_or_else(|error| panic!("{error}\n{text}"));
            let checked = follows(&text, &oracle, &()).unwrap_or_else(|error| panic!("{encoding}: {error}\n{text}"));
            let table = grammar.table();
            for word in all_words(table.terminals(), 1500) {
                assert_eq!(accepts(&oracle, &word), table.accepts(&word), "{encoding}: {word:?}\n{text}");
            }
            *seen.entry(encoding.name()).or_default() += 1;
            *seen.entry("resolved").or_default() += usize::from(table.has_resolutions);
            *seen.entry("forbids").or_default() += usize::from(table.forbids.contains(&true));
            *seen.entry("dead ends").or_default() += usize::from(checked.dead_ends);
            *seen.entry("fewer states than by definition").or_default() += usize::from(table.states() < checked.states);
        }
    }
    println!("{seen:?}");
    assert!(seen.values().all(|&count| count * 100 >= cases(1500)), "{seen:?}");
}

/// Changes an automaton in one place.
fn mutated(random: &mut ChaCha8Rng, automaton: &Automaton) -> Option<Automaton> {
    let mut json: serde_json::Value = serde_json::from_str(&automaton.to_json()).unwrap();
    let names: Vec<serde_json::Value> =
        ["terminals", "nonterminals"].iter().flat_map(|key| json[key].as_array().unwrap().clone()).collect();
    let name = names.choose(random).unwrap().clone();
    let rules = json["rules"].as_array_mut().unwrap();
    let at = random.random_range(0..rules.len().max(1));
    match random.random_range(0..9) {
        0 => _ = (at < rules.len()).then(|| rules.remove(at)),
        1 => rules.get_mut(at)?["pop"] = random.random_range(0..4).into(),
        2 => rules.get_mut(at)?["push"] = name,
        3 => rules.get_mut(at)?["lookahead"] = name,
        4 => rules.get_mut(at)?["lookahead"] = serde_json::Value::Null,
        5 => rules.get_mut(at)?["suffix"].as_array_mut()?.push(name),
        6 if !rules.is_empty() => {
            let other = random.random_range(0..rules.len());
            rules.swap(at, other);
        }
        6 => {}
        kind => {
            let rows = json["viable"].as_array_mut()?;
            let (from, to) = (random.random_range(0..rows.len()), random.random_range(0..rows.len()));
            let row = rows[from].as_object_mut()?;
            if kind == 7 {
                let key = row.keys().nth(random.random_range(0..row.len().max(1)))?.clone();
                row.remove(&key);
            } else {
                row.insert(name.as_str()?.to_string(), to.into());
            }
        }
    }
    Automaton::from_json(&json.to_string()).ok()
}

#[test]
fn an_automaton_that_does_not_follow_the_grammar_is_refused() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let (mut refused, mut harmless, mut harmful) = (0, 0, 0);
    while refused + harmless < cases(4000) {
        let text = random_grammar(&mut random);
        let encoding = *[Encoding::Suffix, Encoding::State].choose(&mut random).unwrap();
        let Ok(grammar) = Grammar::new("test", &text, encoding) else { continue };
        let words = all_words(grammar.table().terminals(), 400);
        for _ in 0..20 {
            let Some(forged) = mutated(&mut random, grammar.automaton()) else { continue };
            let Ok(oracle) = Oracle::strict(forged) else { continue };
            let differs = || words.iter().any(|word| accepts(&oracle, word) != grammar.table().accepts(word));
            if follows(&text, &oracle, &()).is_ok() {
                assert!(!differs(), "{text}\n{}", oracle.automaton().to_json());
                harmless += 1;
            } else {
                harmful += usize::from(differs());
                refused += 1;
            }
        }
    }
    println!("{refused} refused, {harmful} of them accept other words; {harmless} accepted, none of them does");
    assert!(harmful * 4 > refused && harmless > 0);
}

/// A parser that grmtools makes of rules, without precedences. Terminals are t0, t1 and so on, and nonterminals n and
/// their number.
struct Peer {
    grammar: YaccGrammar<u32>,
    graph: StateGraph<u32>,
    table: StateTable<u32>,
}

impl Peer {
    fn new(rules: &Rules) -> Option<Self> {
        let (grammar, graph, table) = Self::computed(rules)?;
        table.conflicts().is_none().then_some(Self { grammar, graph, table })
    }

    /// Returns the number of states, whether there are conflicts or not.
    #[cfg(target_os = "linux")]
    fn states(rules: &Rules) -> usize {
        Self::computed(rules).map_or(0, |(_, graph, _)| usize::from(graph.all_states_len()))
    }

    fn computed(rules: &Rules) -> Option<(YaccGrammar<u32>, StateGraph<u32>, StateTable<u32>)> {
        let name = |symbol: usize| format!("{}{symbol}", if symbol < rules.terminals { 't' } else { 'n' });
        let mut text = format!("%start {}\n", name(rules.start));
        (0..rules.terminals).for_each(|terminal| _ = writeln!(text, "%token {}", name(terminal)));
        text.push_str("%%\n");
        for production in &rules.productions {
            let right: Vec<String> = production.right.iter().map(|&symbol| name(symbol)).collect();
            _ = writeln!(text, "{}: {};", name(production.left), right.join(" "));
        }
        let kind = YaccKind::Original(YaccOriginalActionKind::NoAction);
        let grammar = YaccGrammar::<u32>::new_with_storaget(kind, &text).unwrap();
        let (graph, table) = from_yacc(&grammar, Minimiser::Pager).ok()?;
        Some((grammar, graph, table))
    }

    fn accepts(&self, word: &[usize]) -> bool {
        let mut stack = vec![self.table.start_state()];
        let mut rest = word.iter().map(|&token| TIdx(token as u32)).chain([self.grammar.eof_token_idx()]).peekable();
        while let (Some(&state), Some(&token)) = (stack.last(), rest.peek()) {
            match self.table.action(state, token) {
                Action::Shift(next) => {
                    rest.next();
                    stack.push(next);
                }
                Action::Reduce(production) => {
                    stack.truncate(stack.len() - self.grammar.prod(production).len());
                    let left: RIdx<u32> = self.grammar.prod_to_rule(production);
                    stack.push(self.table.goto(*stack.last().unwrap(), left).unwrap());
                }
                Action::Accept => return true,
                Action::Error => return false,
            }
        }
        false
    }
}

#[test]
fn without_conflicts_the_language_is_that_of_grmtools() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/grammars");
    let shipped = std::fs::read_dir(folder).unwrap();
    let shipped = shipped.map(|entry| std::fs::read_to_string(entry.unwrap().path().join("grammar.y")).unwrap());
    let random = std::iter::repeat_with(|| format!("%%\n{}", random_rules(&mut random))).take(cases(1500));
    let (mut compared, mut fewer, mut more) = (0, 0, 0);
    for text in shipped.chain(random) {
        let Ok((rules, _)) = rules(Source { file: None, text: &text }) else { continue };
        let (Some(peer), Ok(grammar)) = (Peer::new(&rules), Grammar::new("test", &text, Encoding::State)) else {
            continue;
        };
        let (own, other) = (grammar.table().states(), usize::from(peer.graph.all_states_len()));
        fewer += usize::from(own < other);
        more += usize::from(own > other);
        compared += 1;
        for word in all_words(rules.terminals, 1000) {
            assert_eq!(grammar.table().accepts(&word), peer.accepts(&word), "{word:?}\n{text}");
        }
    }
    println!("{compared} grammars; fewer states than grmtools in {fewer}, more in {more}");
    assert!(compared * 20 > cases(1500));
}

/// Returns the CPU time of this thread in milliseconds.
#[cfg(target_os = "linux")]
fn cpu() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    told.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e6
}

/// Returns the median CPU time of a call in milliseconds and, in brackets, the shortest and the longest: of five batches,
/// because the system counts CPU time in steps of several milliseconds.
#[cfg(target_os = "linux")]
fn measured(call: &dyn Fn()) -> String {
    const BATCH: usize = 20;
    let batch = || {
        let start = cpu();
        (0..BATCH).for_each(|_| call());
        (cpu() - start) / BATCH as f64
    };
    let mut times = [(); 5].map(|()| batch());
    times.sort_by(f64::total_cmp);
    format!("{:.2} ({:.2} to {:.2})", times[2], times[0], times[4])
}

/// Prints, for all grammars of `testdata`, the sizes and CPU times of what leads from the text to the automaton.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "measures"]
fn sizes_and_times_of_translations() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    println!("| grammar | productions | states | of grmtools | canonical | pairs | table, ms | check, ms |");
    println!("|---|---|---|---|---|---|---|---|");
    for folder in ["grammars", "wild", "grammars-large"] {
        let mut paths: Vec<_> =
            std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths.iter().filter(|path| path.is_dir()) {
            let text = std::fs::read_to_string(path.join("grammar.y")).unwrap();
            let (rules, _) = rules(Source { file: None, text: &text }).unwrap();
            let peer = Peer::states(&rules);
            let limits = crate::GrammarLimits::default();
            let grammar = Grammar::new("test", &text, Encoding::Auto).unwrap();
            let oracle = Oracle::strict(grammar.automaton().clone()).unwrap();
            let checked = follows(&text, &oracle, &()).unwrap();
            let built = || _ = crate::lr::build::build(Source { file: None, text: &text }, &rules, &limits).unwrap();
            let followed = || _ = follows(&text, &oracle, &()).unwrap();
            let [build, check] = [measured(&built), measured(&followed)];
            let (name, productions) = (path.file_name().unwrap().to_string_lossy(), rules.productions.len());
            let (states, encoding) = (grammar.table().states(), grammar.encoding());
            print!(
                "| {name} ({encoding}) | {productions} | {states} | {peer} | {} | {} ",
                checked.states, checked.pairs
            );
            println!("| {build} | {check} |");
        }
    }
}
