//! The tables that the mutated ones are made from.

use echostack::automaton::Rule;
use echostack::tasks::Task;
use echostack::{Alphabet, Automaton, Lookahead, Manifest, Oracle, SymbolId, Table};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Returns the table of an automaton, unless it would be too large.
pub(crate) fn table(automaton: Automaton) -> Option<Table> {
    Table::new(&Oracle::strict(automaton).ok()?, Manifest::default()).ok()
}

/// Returns the tables of the tasks, of a comma-separated file, and of arithmetic.
pub(crate) fn tables() -> Vec<(String, Table)> {
    let tasks = Task::ALL.into_iter().filter(|task| task.is_symbolic());
    let mut all: Vec<(String, Automaton)> =
        tasks.map(|task| (task.to_string(), task.automaton().expect("a symbolic task has an automaton"))).collect();
    let csv = include_str!("../../../../testdata/files/0.1/csv.automaton.json");
    all.push(("csv".into(), Automaton::from_json(csv).unwrap()));
    all.push(("arithmetic".into(), arithmetic()));
    all.into_iter().map(|(name, automaton)| (name, table(automaton).unwrap())).collect()
}

/// Returns an automaton for sums of products with parentheses, whose reductions depend on the next token.
fn arithmetic() -> Automaton {
    let alphabet = Alphabet::new(["n", "+", "*", "(", ")"], ["E", "T", "F"]).unwrap();
    let symbol = |name: &str| alphabet.symbol(name).unwrap();
    let ends = [Lookahead::Token(symbol("+")), Lookahead::Token(symbol(")")), Lookahead::End];
    let mut rules = Vec::new();
    let mut add = |suffix: &str, push: &str, lookaheads: &[Option<Lookahead>]| {
        let suffix: Vec<SymbolId> = suffix.split(' ').map(symbol).collect();
        for &lookahead in lookaheads {
            let pop = u32::try_from(suffix.len()).unwrap();
            rules.push(Rule { anchored: false, suffix: suffix.clone(), lookahead, pop, push: symbol(push) });
        }
    };
    add("n", "F", &[None]);
    add("( E )", "F", &[None]);
    add("T * F", "T", &[None]);
    add("F", "T", &[None]);
    add("E + T", "E", &ends.map(Some));
    add("T", "E", &ends.map(Some));
    let accepting = vec![symbol("E")];
    Automaton::new(alphabet, rules, accepting).unwrap()
}

/// Draws an automaton with a few random rules. Most of them accept no words, and many pop more than there is.
pub(crate) fn random_automaton(random: &mut ChaCha8Rng) -> Automaton {
    let alphabet = Alphabet::new(["a", "b"], ["S", "T"]).unwrap();
    let rules = (0..random.random_range(1..6)).map(|_| random_rule(random)).collect();
    Automaton::new(alphabet, rules, vec![SymbolId::new(2)]).unwrap()
}

fn random_rule(random: &mut ChaCha8Rng) -> Rule {
    Rule {
        anchored: random.random_bool(0.2),
        suffix: (0..random.random_range(1..4)).map(|_| SymbolId::new(random.random_range(0..4))).collect(),
        lookahead: match random.random_range(0..5) {
            0 => Some(Lookahead::End),
            token @ 1..3 => Some(Lookahead::Token(SymbolId::new(token - 1))),
            _ => None,
        },
        pop: random.random_range(0..4),
        push: SymbolId::new(random.random_range(2..4)),
    }
}
