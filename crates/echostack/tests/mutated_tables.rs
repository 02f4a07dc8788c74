//! Tests with tables that were changed: whichever of them can be read, all ways to run it agree on every word.
//!
//! `ECHOSTACK_MUTATED_TABLES` is the number of tables. With `--nocapture`, the test prints how many can be read:
//! `ECHOSTACK_MUTATED_TABLES=100000 cargo test --test mutated_tables mutated -- --nocapture`.

mod mutated_tables {
    pub(crate) mod compare;
    pub(crate) mod mutate;
    pub(crate) mod subjects;
    pub(crate) mod words;
}

use std::collections::BTreeMap;
use std::sync::LazyLock;

use echostack::{Limits, SymbolId, Table};
use mutated_tables::compare::{Comparison, Different};
use mutated_tables::mutate::mutated;
use mutated_tables::subjects::{random_automaton, table, tables};
use mutated_tables::words::{long, walk};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// The names and the files of the tables that are changed.
static FILES: LazyLock<Vec<(String, Vec<u8>)>> =
    LazyLock::new(|| tables().into_iter().map(|(name, table)| (name, table.to_bytes().unwrap())).collect());

/// What became of a mutated table.
enum Fate {
    /// The reason it cannot be read.
    Refused(String),
    /// The number of words that it accepts, of how many, and those on which not all ways agree.
    Ran { accepted: usize, words: usize, different: Vec<Different> },
}

/// Draws limits: usual ones, or some that words may reach.
fn limits(random: &mut ChaCha8Rng) -> Limits {
    match random.random_range(0..4) {
        0 => Limits { depth: random.random_range(0..40), ..Limits::default() },
        1 => Limits {
            depth: random.random_range(5..6000),
            actions: random.random_range(0..700),
            actions_per_symbol: random.random_range(0..4),
        },
        _ => Limits::default(),
    }
}

fn words(table: &Table, random: &mut ChaCha8Rng) -> Vec<Vec<SymbolId>> {
    let mut words = vec![Vec::new()];
    for length in [2, 4, 8, 8, 16, 16, 30, 60] {
        words.push(walk(table, length, 0.03, random));
    }
    let pumps = if random.random_bool(0.5) { 2 } else { 0 };
    words.extend((0..pumps).map(|_| long(table, random)));
    words
}

/// Makes and runs the mutated table with this number, on which alone it depends.
fn run(seed: u64) -> (&'static str, Fate) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let which = random.random_range(0..FILES.len() + 4);
    let (name, file) = match FILES.get(which) {
        Some((name, file)) => (name.as_str(), file.clone()),
        None => ("random", random_table(&mut random).to_bytes().unwrap()),
    };
    let file = mutated(&file, &mut random);
    let table = match Table::from_bytes(&file) {
        Ok(table) => table,
        Err(error) => return (name, Fate::Refused(error.to_string())),
    };
    let words = words(&table, &mut random);
    let (mut accepted, mut different) = (0, Vec::new());
    for limits in [Limits::default(), limits(&mut random)] {
        let mut comparison = Comparison::new(&table, limits, &words);
        comparison.all(&mut random);
        accepted += comparison.accepted();
        different.append(&mut comparison.different);
    }
    (name, Fate::Ran { accepted, words: 2 * words.len(), different })
}

/// Draws the table of a random automaton that has more than one state.
fn random_table(random: &mut ChaCha8Rng) -> Table {
    loop {
        if let Some(table) = table(random_automaton(random)).filter(|table| table.states() > 1) {
            return table;
        }
    }
}

#[derive(Default)]
struct Row {
    tables: usize,
    read: usize,
    words: usize,
    accepted: usize,
    differ: usize,
    accept: usize,
}

#[test]
fn mutated_tables_are_refused_or_all_ways_to_run_them_agree() {
    let count = std::env::var("ECHOSTACK_MUTATED_TABLES").map_or(1500, |count| count.parse().unwrap());
    let start = std::time::Instant::now();
    let fates: Vec<_> = (0..count).into_par_iter().map(run).collect();
    let (mut rows, mut reasons, mut ways) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for (seed, (name, fate)) in fates.into_iter().enumerate() {
        for row in [name, "together"] {
            rows.entry(row).or_insert_with(Row::default).add(&fate);
        }
        match fate {
            Fate::Refused(reason) => *reasons.entry(reason).or_insert(0_u64) += 1,
            Fate::Ran { different, .. } => {
                for one in &different {
                    *ways.entry(one.way).or_insert(0_u64) += 1;
                }
                different.iter().take(1).for_each(|one| println!("table {seed}, from {name}: {one}"));
            }
        }
    }
    println!(
        "{:12} {:>8} {:>8} {:>9} {:>9} {:>7} {:>7}",
        "from", "tables", "read", "words", "accepted", "differ", "accept"
    );
    for (name, Row { tables, read, words, accepted, differ, accept }) in &rows {
        println!("{name:12} {tables:>8} {read:>8} {words:>9} {accepted:>9} {differ:>7} {accept:>7}");
    }
    reasons.iter().for_each(|(reason, count)| println!("{count:>8} {reason}"));
    ways.iter().for_each(|(way, count)| println!("{count:>8} words differ by {way}"));
    println!("{:?}", start.elapsed());
    let all = &rows["together"];
    assert!(4 * all.read >= all.tables, "only {} of {} tables can be read", all.read, all.tables);
    assert!(all.accepted * 20 > all.words, "only {} of {} words are accepted", all.accepted, all.words);
    assert_eq!(all.differ, 0, "tables on which not all ways agree");
}

impl Row {
    fn add(&mut self, fate: &Fate) {
        self.tables += 1;
        if let Fate::Ran { accepted, words, different } = fate {
            self.read += 1;
            self.words += words;
            self.accepted += accepted;
            self.differ += usize::from(!different.is_empty());
            self.accept += usize::from(different.iter().any(|one| one.accepts));
        }
    }
}

#[test]
fn tables_made_from_automata_can_be_read_back() {
    let mut random = ChaCha8Rng::seed_from_u64(20);
    let random = std::iter::repeat_with(|| ("random".to_string(), random_table(&mut random))).take(1500);
    for (name, table) in tables().into_iter().chain(random) {
        let file = table.to_bytes().unwrap();
        let again = Table::from_bytes(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(again.to_bytes().unwrap(), file, "{name}");
    }
}

/// Tables on which the commands disagreed when they could still be read: the first on two tokens, the second on a word
/// of 5,000 tokens, depending on the words before it.
#[test]
fn tables_without_a_push_are_refused_with_a_reason() {
    let files: [&[u8]; 2] = [
        include_bytes!("../../../fuzz/regressions/table/reduction-without-a-push"),
        include_bytes!("../../../fuzz/regressions/table/reduction-without-a-push-in-segments"),
    ];
    for file in files {
        // The first byte is for the fuzz target.
        let reason = Table::from_bytes(&file[1..]).unwrap_err().to_string();
        println!("{reason}");
        assert!(reason.starts_with("the model is damaged: a reduction pushes "), "{reason}");
        assert!(reason.ends_with(" of the table, which has no entry for it; compile the table again"), "{reason}");
    }
}
