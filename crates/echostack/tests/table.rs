//! Tables against automata on many words. `ECHOSTACK_TOKENS` is the number of tokens for each language.

use std::sync::Arc;

use echostack::tasks::{ReservoirKind, Task};
use echostack::{
    Input, Limits, Manifest, Mode, Oracle, Params, Proof, Scanner, Study, SymbolId, Table, View, WordKind, draw,
    extract, judge,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// The tokens that are drawn from one seed.
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
        let table = Arc::new(Table::new(&found.automaton, Manifest::default()).unwrap());
        let oracle = Arc::new(Oracle::strict(task.automaton().unwrap()).unwrap());
        let chunk = |seed: usize| {
            let mut random = ChaCha8Rng::seed_from_u64(seed as u64);
            let mut scanner = Scanner::new(&table, Limits::default());
            let (mut read, mut words, mut accepted) = (0, 0, 0);
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
                scanner.read(symbols);
                read += scanner.position() as usize; // not what comes after a token that is refused
                let verdict = scanner.finish();
                assert!(verdict == judge(&oracle, &word, Limits::default(), &mut ()), "{task}: {word:?}");
                accepted += usize::from(verdict.is_accept());
                words += 1;
            }
            (read, words, accepted)
        };
        let all = (0..tokens.div_ceil(CHUNK)).into_par_iter().map(chunk);
        let sum = all.reduce(|| (0, 0, 0), |a, b| (a.0 + b.0, a.1 + b.1, a.2 + b.2));
        println!("{task}: {} tokens in {} words, {} accepted", sum.0, sum.1, sum.2);
        assert!(sum.2 * 4 > sum.1 && sum.2 < sum.1);
    }
}
