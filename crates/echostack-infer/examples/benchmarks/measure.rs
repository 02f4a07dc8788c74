//! What the benchmarks of inferred languages share: CPU time, and proved machines.

use std::error::Error;
use std::time::{Duration, Instant};

use echostack::certify::Proof;
use echostack::control::Deadline;
use echostack::recognize::{Mode, View};
use echostack::reservoir::ReservoirKind;
use echostack::{Machine, Params, Study};
use echostack_grammar::{Encoding, Grammar};
use echostack_infer::InferredGrammar;

/// Returns the CPU time of this process, in steps of 10 ms; 0 if the system does not tell.
pub(crate) fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.);
    (ticks(11) + ticks(12)) / 100.
}

/// Learns a machine and proves it. Returns the machine if it was proved, and what to print.
pub(crate) fn prove(language: &InferredGrammar) -> Result<(Option<Machine>, String), Box<dyn Error>> {
    let (began, before) = (Instant::now(), cpu_seconds());
    let grammar = Grammar::new("inferred", &language.files().grammar, Encoding::Auto)?;
    let params = Params::provable(ReservoirKind::Cycle, 256, 0);
    let params = Params { view: View::Symbol, mode: Mode::Strict, ..params }.check()?;
    let study = Study { words: 100, negatives: 0.5, rounds: 30, ..Study::default() };
    let deadline = Deadline::new(Duration::from_secs(600), &());
    let (machine, proof) = match study.prove(&grammar, &params, &deadline, &mut |_| {}) {
        Ok(proved) => proved,
        Err(_) if deadline.is_over() => return Ok((None, "not in 600 s".to_string())),
        Err(error) => return Err(error.into()),
    };
    let (seconds, cpu) = (began.elapsed().as_secs_f64(), cpu_seconds() - before);
    let Proof::Proved(_) = proof else { return Ok((None, format!("open after {seconds:.1} s"))) };
    Ok((Some(machine), format!("proved in {seconds:.1} s, {cpu:.1} CPU s")))
}
