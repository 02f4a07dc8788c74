//! Replays the seeds and the regressions of all targets, and runs each on inputs that are mutated from them:
//!
//! ```sh
//! cargo run --example campaign -- 20000 1        # so many inputs for each target, with this seed
//! cargo run --example campaign -- seeds corpus   # writes the seeds for cargo fuzz, one folder for each target
//! ```
//!
//! An input on which a target panics is written to `artifacts`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use echostack_fuzz::seeds::seeds;
use echostack_fuzz::targets::{ALL, Target};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The longest time that one input may take. It is elapsed time, so it allows for a busy machine.
const SLOWEST: Duration = Duration::from_secs(30);

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn write_seeds(folder: &Path) -> Outcome<()> {
    for (name, _) in ALL {
        let folder = folder.join(name);
        std::fs::create_dir_all(&folder)?;
        for (number, seed) in seeds(name).iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{number}")), seed)?;
        }
    }
    Ok(())
}

/// Returns the inputs that once did harm.
fn regressions(name: &str) -> Outcome<Vec<Vec<u8>>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions").join(name);
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut paths = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Outcome<Vec<_>>>()?;
    paths.sort();
    paths.iter().map(|path| Ok(std::fs::read(path)?)).collect()
}

/// Returns an input with a few random changes.
fn mutated(inputs: &[Vec<u8>], random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut input = inputs[random.random_range(0..inputs.len())].clone();
    for _ in 0..random.random_range(1..8) {
        let at = random.random_range(0..=input.len());
        match random.random_range(0..7) {
            0 | 1 if at < input.len() => input[at] = random.random(),
            2 if at < input.len() => input[at] ^= 1 << random.random_range(0..8),
            3 => {
                let end = (at + random.random_range(1..8)).min(input.len());
                input.drain(at..end);
            }
            4 => {
                // A piece of another input.
                let other = &inputs[random.random_range(0..inputs.len())];
                let start = random.random_range(0..=other.len());
                let end = (start + random.random_range(1..32)).min(other.len());
                input.splice(at..at, other[start..end].iter().copied());
            }
            5 if at < input.len() => {
                // One byte many times, for what nests.
                let piece = vec![input[at]; 1 << random.random_range(0..14)];
                input.splice(at..at, piece);
            }
            _ => {
                let piece: [u8; 6] = random.random();
                input.splice(at..at, piece);
            }
        }
    }
    input
}

/// Runs a target on its inputs and `count` mutated ones, and returns whether all went well.
fn run(name: &str, target: Target, count: usize, seed: u64) -> Outcome<bool> {
    let known = [seeds(name), regressions(name)?].concat();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (start, mut slowest) = (Instant::now(), Duration::ZERO);
    for number in 0..known.len() + count {
        let input = known.get(number).cloned().unwrap_or_else(|| mutated(&known, &mut random));
        let start = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| target(&input)));
        slowest = slowest.max(start.elapsed());
        if result.is_err() || start.elapsed() > SLOWEST {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts");
            std::fs::create_dir_all(&path)?;
            let path = path.join(format!("{name}-{seed}-{number}"));
            std::fs::write(&path, &input)?;
            let what = if result.is_err() { "panicked" } else { "took too long" };
            println!("{name} {what} on an input that is kept in {}", path.display());
            return Ok(false);
        }
    }
    let (known, seconds) = (known.len(), start.elapsed().as_secs_f64());
    println!(
        "{name}: {known} known and {count} mutated inputs, {seconds:.1} s, at most {} ms each",
        slowest.as_millis()
    );
    Ok(true)
}

fn campaign() -> Outcome<bool> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["seeds", folder] => write_seeds(Path::new(folder)).map(|()| true),
        [count, seed, names @ ..] => {
            let (count, seed) = (count.parse()?, seed.parse()?);
            let chosen = ALL.iter().filter(|(name, _)| names.is_empty() || names.contains(name));
            let results: Vec<bool> =
                chosen.map(|(name, target)| run(name, *target, count, seed)).collect::<Outcome<_>>()?;
            Ok(!results.contains(&false))
        }
        _ => Err("give the number of inputs and a seed, or `seeds` and a folder".into()),
    }
}

fn main() -> ExitCode {
    match campaign() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("campaign: {error}");
            ExitCode::from(2)
        }
    }
}
