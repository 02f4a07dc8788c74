//! Tests of tables against automata on many words. `ECHOSTACK_TOKENS` is the number of tokens for each language.
#![cfg(feature = "machine")]

use echostack::automaton::Rule;
use echostack::certify::Proof;
use echostack::extract::extract;
use echostack::language::{WordKind, draw};
use echostack::recognize::{Mode, Node, TreeBuilder, View};
use echostack::reservoir::ReservoirKind;
use echostack::symbol::Input;
use echostack::tasks::Task;
use echostack::teach::{read_traces, record, write_traces};
use echostack::{
    Alphabet, Automaton, Limits, Machine, Manifest, Oracle, Params, Recognizer, Scanner, Study, SymbolId, Table,
    Verdict,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// The number of tokens drawn from one seed.
const CHUNK: usize = 100_000;

#[test]
fn a_compiled_table_judges_as_the_automaton() {
    let tokens: usize = std::env::var("ECHOSTACK_TOKENS").map_or(500_000, |count| count.parse().unwrap());
    for task in [Task::Dyck3, Task::Json] {
        let language = task.language().unwrap();
        let params =
            Params { view: View::Symbol, mode: Mode::Strict, ..Params::provable(ReservoirKind::Cycle, 256, 0) };
        let (machine, proof) = Study::default().prove(&*language, &params.check().unwrap(), &(), &mut |_| {}).unwrap();
        assert!(matches!(proof, Proof::Proved(_)));
        let found = extract(&machine, &()).unwrap();
        let table = Table::new(&found.oracle, Manifest::default()).unwrap();
        let oracle = Oracle::strict(task.automaton().unwrap()).unwrap();
        let chunk = |seed: usize| {
            let mut random = ChaCha8Rng::seed_from_u64(seed as u64);
            let mut scanner = Scanner::new(&table, Limits::default());
            let (mut read, mut words, mut accepted) = (0, 0, 0);
            let mut all = Vec::new();
            while read < CHUNK {
                let kind = WordKind::ALL[words % WordKind::ALL.len()];
                let word = draw(&*language, &oracle, kind, 1..=1000, &mut random).unwrap();
                let symbols: Vec<SymbolId> = word
                    .inputs()
                    .filter_map(|input| match input {
                        Input::Symbol(symbol) => Some(symbol),
                        Input::Vector(_) => None,
                    })
                    .collect();
                scanner.read(&symbols);
                read += scanner.position() as usize; // without the tokens after a rejected one
                let verdict = scanner.finish();
                assert!(verdict == oracle.judge(&word), "{task}: {word:?}");
                accepted += usize::from(verdict.is_accept());
                all.push((symbols, verdict));
                words += 1;
            }
            let by_frames: Vec<Verdict> = table.judge_slices(all.iter().map(|(word, _)| &word[..]), Limits::default());
            for ((word, verdict), by_frames) in all.iter().zip(by_frames) {
                assert!(*verdict == by_frames, "{task}, frames: {word:?}");
            }
            (read, words, accepted)
        };
        let all = (0..tokens.div_ceil(CHUNK)).into_par_iter().map(chunk);
        let sum = all.reduce(|| (0, 0, 0), |a, b| (a.0 + b.0, a.1 + b.1, a.2 + b.2));
        println!("{task}: {} tokens in {} words, {} accepted", sum.0, sum.1, sum.2);
        assert!(sum.2 * 4 > sum.1 && sum.2 < sum.1);
    }
}

/// Tests that a nonterminal is a node of the tree whatever its name, unless its alphabet declares it a state, and that
/// files preserve this.
#[test]
fn a_nonterminal_is_a_state_only_if_it_is_said_to_be() {
    fn branches<R: Recognizer>(recognizer: &R) -> usize {
        let word = recognizer.alphabet().word(["a", "a"]).unwrap();
        let mut builder = TreeBuilder::new(recognizer.alphabet());
        assert!(recognizer.judge_with(&word, Limits::default(), &mut builder).is_accept());
        let tree = builder.finish().unwrap();
        tree.nodes().iter().filter(|node| matches!(node, Node::Branch { .. })).count()
    }
    // a becomes #x, and #x a becomes S.
    let plain = Alphabet::new(["a"], ["#x", "S"]).unwrap();
    let [a, x, s] = ["a", "#x", "S"].map(|name| plain.symbol(name).unwrap());
    let rule = |anchored, suffix, push| {
        let pop = u32::try_from(Vec::len(&suffix)).unwrap();
        Rule { anchored, suffix, lookahead: None, pop, push }
    };
    let rules = [rule(true, vec![a], x), rule(true, vec![x, a], s)];
    for (alphabet, nodes) in [(plain.clone(), 2), (plain.with_states(|symbol| symbol == x), 1)] {
        let automaton = Automaton::new(alphabet, rules.to_vec(), vec![s]).unwrap();
        assert_eq!(automaton.to_json().contains("parser_states"), nodes == 2);
        let read = Automaton::from_json(&automaton.to_json()).unwrap();
        assert_eq!(branches(&Oracle::strict(read).unwrap()), nodes);
        let oracle = Oracle::strict(automaton).unwrap();
        assert_eq!(branches(&oracle), nodes);
        let table = Table::new(&oracle, Manifest::default()).unwrap();
        assert_eq!(branches(&Table::from_bytes(&table.to_bytes().unwrap()).unwrap()), nodes);
        let alphabet = oracle.automaton().alphabet();
        let words = ["", "a", "a a", "a a a"].map(|text| alphabet.word(text.split_whitespace()).unwrap());
        let traces: Vec<_> =
            words.iter().filter_map(|word| record(&oracle, "test", word, Limits::default()).0).collect();
        let mut file = Vec::new();
        write_traces(&mut file, alphabet, &traces).unwrap();
        let (alphabet, traces) = read_traces(&mut &file[..]).unwrap();
        let params = Params { mode: Mode::Strict, ..Params::standard(ReservoirKind::Cycle, 64, 0) };
        let machine = params.check().unwrap().fit(&alphabet, &traces, &()).unwrap();
        assert_eq!(branches(&Machine::from_bytes(&machine.to_bytes().unwrap()).unwrap()), nodes);
    }
}
