//! Tests with models and certificates that are made to deceive: none of them may be called proved, unless it is right.
//!
//! The default sizes are small. `ECHOSTACK_MUTANTS`, `ECHOSTACK_DIRECTED` and `ECHOSTACK_FORGERIES` set other sizes.
//! With `--nocapture`, the tests print tables: `ECHOSTACK_MUTANTS=100000 cargo test --test hostile mutants --
//! --nocapture`.
#![cfg(feature = "machine")]

mod hostile {
    pub(crate) mod compare;
    pub(crate) mod directed;
    pub(crate) mod forge;
    pub(crate) mod gaps;
    pub(crate) mod model;
    pub(crate) mod mutate;
    pub(crate) mod subjects;
}

use std::collections::BTreeMap;
use std::sync::LazyLock;

use hostile::compare::{Different, compare};
use hostile::model::Model;
use hostile::mutate::{Kind, mutate};
use hostile::subjects::{Subject, subjects};
use hostile::{directed, forge, gaps};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

static SUBJECTS: LazyLock<Vec<Subject>> = LazyLock::new(subjects);

/// Reads a size from the environment.
fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// The result for a mutant.
enum Fate {
    Unreadable,
    Refused,
    Proved,
    Differs(Different),
}

/// Makes and judges the mutant with this number, on which alone it depends.
fn mutant(seed: u64) -> (Kind, &'static Subject, Fate) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    // Not every change makes sense for every subject.
    let (kind, subject, model) = loop {
        let kind = Kind::ALL[random.random_range(0..Kind::ALL.len())];
        let subject = &SUBJECTS[random.random_range(0..SUBJECTS.len())];
        if let Some(model) = mutate(kind, subject, &mut random) {
            break (kind, subject, model);
        }
    };
    let Ok(machine) = model.machine() else { return (kind, subject, Fate::Unreadable) };
    let Some(certificate) = subject.prove(&machine) else { return (kind, subject, Fate::Refused) };
    let fate = match compare(&machine, &subject.oracle, &certificate, 1000, &mut random) {
        Some(different) => Fate::Differs(different),
        None => Fate::Proved,
    };
    (kind, subject, fate)
}

#[derive(Clone, Copy, Default)]
struct Row {
    tried: u64,
    unreadable: u64,
    refused: u64,
    proved: u64,
    differ: u64,
}

#[test]
fn mutants_that_are_called_proved_do_what_their_automaton_does() {
    let count = number("ECHOSTACK_MUTANTS", 400);
    let start = std::time::Instant::now();
    let fates: Vec<_> = (0..count).into_par_iter().map(mutant).collect();
    let mut table: BTreeMap<Kind, Row> = BTreeMap::new();
    let mut differences = Vec::new();
    for (seed, (kind, subject, fate)) in fates.into_iter().enumerate() {
        let row = table.entry(kind).or_default();
        row.tried += 1;
        match fate {
            Fate::Unreadable => row.unreadable += 1,
            Fate::Refused => row.refused += 1,
            Fate::Proved => row.proved += 1,
            Fate::Differs(different) => {
                row.proved += 1;
                row.differ += 1;
                differences.push(format!("mutant {seed}, {kind:?} of {}: {different:?}", subject.name));
            }
        }
    }
    println!("{:16} {:>8} {:>10} {:>8} {:>8} {:>8}", "change", "tried", "unreadable", "refused", "proved", "differ");
    let mut all = Row::default();
    for (kind, row) in &table {
        let Row { tried, unreadable, refused, proved, differ } = *row;
        println!("{:16} {tried:>8} {unreadable:>10} {refused:>8} {proved:>8} {differ:>8}", format!("{kind:?}"));
        all.tried += tried;
        all.proved += proved;
        all.differ += differ;
    }
    println!("{} tried, {} proved, {} differ; {:?}", all.tried, all.proved, all.differ, start.elapsed());
    differences.iter().take(100).for_each(|difference| println!("{difference:.300}"));
    assert!(20 * all.proved >= all.tried, "only {} of {} mutants were proved", all.proved, all.tried);
    assert!(differences.is_empty(), "{} mutants are called proved but differ", differences.len());
}

#[test]
fn machines_that_come_near_to_what_rounding_may_lose_are_right_where_they_are_proved() {
    let count = number("ECHOSTACK_DIRECTED", 2);
    let mut table: BTreeMap<&str, Row> = BTreeMap::new();
    let mut differences = Vec::new();
    for seed in 0..count {
        for made in directed::all(seed) {
            let row = table.entry(made.name).or_default();
            row.tried += 1;
            let Some(model) = made.shaved() else {
                row.refused += 1;
                continue;
            };
            row.proved += 1;
            let machine = model.machine().unwrap();
            let certificate = made.subject.prove(&machine).unwrap();
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let found = compare(&machine, &made.subject.oracle, &certificate, 1000, &mut random);
            if let Some(different) = found {
                row.differ += 1;
                differences.push(format!("{} of seed {seed}: {different:?}", made.name));
            }
        }
    }
    for (name, Row { tried, refused, proved, differ, .. }) in &table {
        println!("{name:16} {tried:>8} {refused:>8} {proved:>8} {differ:>8}");
        assert!(*proved > 0, "{name} is never proved, so nothing is tested");
    }
    assert!(differences.is_empty(), "{differences:?}");
}

#[test]
fn forged_certificates_about_pairs_that_differ_are_refused() {
    let count = number("ECHOSTACK_FORGERIES", 3000);
    for language in ["anbn", "dyck1", "latch"] {
        assert!(forge::honest_is_accepted(language), "{language}");
    }
    let pairs = forge::pairs();
    assert!(pairs.len() > 30, "only {} pairs differ", pairs.len());
    let start = std::time::Instant::now();
    let fates: Vec<forge::Fate> = (0..count).into_par_iter().map(|seed| forge::forgery(&pairs, seed)).collect();
    let (mut unreadable, mut refused, mut accepted) = (0, BTreeMap::new(), Vec::new());
    for fate in fates {
        match fate {
            forge::Fate::Unreadable => unreadable += 1,
            forge::Fate::Refused(why) => *refused.entry(why).or_insert(0_u64) += 1,
            forge::Fate::Accepted(what) => accepted.push(what),
        }
    }
    refused.iter().for_each(|(why, count)| println!("{count:>8} {why}"));
    println!(
        "{count} forgeries for {} pairs: {unreadable} unreadable, {} accepted; {:?}",
        pairs.len(),
        accepted.len(),
        start.elapsed()
    );
    assert!(2 * unreadable < count, "most forgeries cannot even be read");
    // Forgeries are rejected by many different checks, not by one alone.
    assert!(refused.len() > 5, "{refused:?}");
    assert!(accepted.is_empty(), "{} forgeries were accepted, such as {:.2000}", accepted.len(), accepted[0]);
}

/// Returns a difference between a changed machine and the automaton, whether or not the machine is proved.
fn differs((subject, model): &(Subject, Model)) -> Option<Different> {
    let machine = model.machine().unwrap();
    // Only the configurations in the certificate are needed, and these are the automaton's.
    let certificate = subject.certificate_for(&machine);
    compare(&machine, &subject.oracle, &certificate, 1000, &mut ChaCha8Rng::seed_from_u64(1))
}

/// Returns true if a changed machine is called proved, by a search or with the certificate of the machine that it was
/// made from.
fn is_proved((subject, model): &(Subject, Model)) -> bool {
    subject.prove(&model.machine().unwrap()).is_some()
}

/// Asserts that a changed model is wrong, and that it is not called proved.
fn assert_refused(name: &str, changed: &(Subject, Model)) {
    let different = differs(changed);
    assert!(different.is_some(), "{name} is right, so nothing is tested");
    assert!(!is_proved(changed), "{name} is called proved, but {different:?}");
}

#[test]
fn a_sum_that_overflows_after_a_run_of_one_letter_is_refused() {
    assert_refused("the bomb", &gaps::bomb(20));
}

#[test]
fn many_terms_of_one_support_vector_are_refused() {
    let all = (0..gaps::places()).flat_map(|place| [2., -2.].map(|delta| gaps::repeated(100_003, delta, place)));
    let wrong: Vec<(Subject, Model)> = all.filter(|changed| differs(changed).is_some()).collect();
    assert!(!wrong.is_empty(), "no term makes a difference");
    wrong.iter().for_each(|changed| assert_refused("the repeated term", changed));
}

#[test]
fn a_huge_weight_where_the_exponential_ends_is_refused() {
    assert_refused("the set at the end of the exponential", &gaps::flush_of_a_set());
}

#[test]
fn a_huge_weight_one_rounding_from_where_the_exponential_ends_is_refused() {
    assert_refused("the state at the end of the exponential", &gaps::flush_by_one_rounding());
}

#[test]
fn readouts_whose_squares_underflow_are_right_where_they_are_proved() {
    for factor in [1., 1e-165] {
        for changed in gaps::tiny(factor).iter().filter(|changed| is_proved(changed)) {
            let different = differs(changed);
            assert!(different.is_none(), "a readout times {factor:e} is called proved, but {different:?}");
        }
    }
}

#[test]
fn kernels_so_narrow_that_rounding_decides_are_refused() {
    (0..3).for_each(|seed| assert_refused("the narrow kernel", &directed::narrow(seed)));
}
