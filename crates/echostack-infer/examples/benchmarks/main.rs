//! Infers the languages of the published benchmarks from their examples, and measures the result on the held-out texts:
//!
//! ```text
//! cargo run --release -p echostack-infer --example benchmarks -- FOLDER [NAME...] [--seeds N] [--train r0,r1] [--log]
//! ```
//!
//! The folder has `NAME/NAME-train-r0` with examples, and `NAME/NAME-test` with held-out texts, one per file.

mod languages;

use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;

use echostack_infer::{Ending, Settings, infer};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const NAMES: [&str; 7] = ["arith", "fol", "json", "lisp", "turtle", "while", "xml"];
/// The number of texts that are drawn to measure precision; twice as many near misses are.
const DRAWN: usize = 1000;

fn texts(folder: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut paths: Vec<_> =
        std::fs::read_dir(folder)?.map(|entry| entry.map(|e| e.path())).collect::<Result<_, _>>()?;
    paths.sort();
    Ok(paths.iter().map(std::fs::read_to_string).collect::<Result<_, _>>()?)
}

/// Returns a text after one to three edits.
fn edited(text: &str, letters: &[char], random: &mut ChaCha8Rng) -> String {
    let mut text: Vec<char> = text.chars().collect();
    for _ in 0..*[1, 1, 1, 2, 3].choose(random).unwrap_or(&1) {
        let Some(&letter) = letters.choose(random) else { break };
        let at = random.random_range(0..=text.len());
        match random.random_range(0..4) {
            0 if at < text.len() => _ = text.remove(at),
            1 => text.insert(at, letter),
            2 if at < text.len() => text[at] = letter,
            3 if at + 1 < text.len() => text.swap(at, at + 1),
            _ => {}
        }
    }
    text.into_iter().collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("give the folder of the benchmarks")?;
    let (mut names, mut seeds, mut trains, mut log) = (Vec::new(), 1, "r0".to_string(), false);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--seeds" => seeds = arguments.next().ok_or("--seeds needs a number")?.parse()?,
            "--train" => trains = arguments.next().ok_or("--train needs a list")?,
            "--log" => log = true,
            _ => names.push(argument),
        }
    }
    if names.is_empty() {
        names = NAMES.map(str::to_string).to_vec();
    }
    println!(
        "| language | examples | seed | recall | precision | F1 | near misses misjudged | queries | classes, tags, learning, last test | states | s | ending |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    for name in &names {
        let oracle = languages::language(name).ok_or("there is no such language")?;
        let path = Path::new(&folder).join(name);
        let held_out = texts(&path.join(format!("{name}-test")))?;
        assert!(held_out.iter().all(|text| oracle(text)), "the oracle rejects a held-out text of {name}");
        for train in trains.split(',') {
            let Ok(examples) = texts(&path.join(format!("{name}-train-{train}"))) else { continue };
            assert!(examples.iter().all(|text| oracle(text)), "the oracle rejects an example of {name}");
            for seed in 0..seeds {
                run(name, train, seed, &examples, &held_out, &oracle, log)?;
            }
        }
    }
    Ok(())
}

fn run(
    name: &str,
    train: &str,
    seed: u64,
    examples: &[String],
    held_out: &[String],
    oracle: &(impl Fn(&str) -> bool + Sync),
    log: bool,
) -> Result<(), Box<dyn Error>> {
    let settings = Settings { seed, hold_out: Some(0.), ..Settings::default() };
    let inferred = infer(examples, oracle, &settings, &())?;
    if log {
        inferred.log().iter().for_each(|line| eprintln!("  {line}"));
    }
    let missed: Vec<&String> = held_out.iter().filter(|text| !inferred.accepts(text)).collect();
    let mut random = ChaCha8Rng::seed_from_u64(99);
    let mut over = Vec::new();
    for _ in 0..DRAWN {
        let size = random.random_range(1..61);
        over.extend(inferred.draw(size, &mut random).filter(|text| !oracle(text)));
    }
    let letters: BTreeSet<char> = held_out.iter().flat_map(|text| text.chars()).collect();
    let letters: Vec<char> = letters.into_iter().collect();
    let near = (0..2 * DRAWN).filter_map(|_| Some(edited(held_out.choose(&mut random)?, &letters, &mut random)));
    let near: Vec<String> = near.filter(|text| oracle(text) != inferred.accepts(text)).collect();
    let recall = 1. - missed.len() as f64 / held_out.len() as f64;
    let precision = 1. - over.len() as f64 / DRAWN as f64;
    let f1 = 2. * recall * precision / (recall + precision);
    let spent = inferred.spent();
    let ending = match inferred.ending() {
        Ending::Settled => "settled".to_string(),
        Ending::NotSettled(reason) => format!("not settled: {reason}"),
    };
    println!(
        "| {name} | {train} | {seed} | {recall:.3} | {precision:.3} | {f1:.3} | {} of {} | {} | {}, {}, {}, {} | {} | {:.1} | {ending} |",
        near.len(),
        2 * DRAWN,
        inferred.queries(),
        spent.classes,
        spent.tags,
        spent.learning,
        spent.last_test,
        inferred.states(),
        inferred.time().as_secs_f64(),
    );
    if log {
        eprintln!(
            "  missed {:?}\n  over {:?}\n  near {:?}",
            &missed[..missed.len().min(3)],
            &over[..over.len().min(3)],
            &near[..near.len().min(3)]
        );
    }
    Ok(())
}
