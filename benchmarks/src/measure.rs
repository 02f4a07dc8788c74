//! CPU time, and machines that are proved to follow an inferred grammar.

use std::error::Error;
use std::time::{Duration, Instant};

use echostack::Machine;
use echostack::control::Deadline;
use echostack_grammar::{Encoding, Goal, Grammar, Learning, Subject};
use echostack_infer::InferredGrammar;

/// Returns the CPU time of all threads of this process so far. Where the system does not tell, it is the time of the clock.
#[cfg(unix)]
pub fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

#[cfg(not(unix))]
pub fn cpu_seconds() -> f64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// Learns a machine and proves it. Returns the machine if it was proved, and what to print.
///
/// # Errors
///
/// If the grammar cannot be read, or the machine cannot be trained.
pub fn prove(language: &InferredGrammar) -> Result<(Option<Machine>, String), Box<dyn Error>> {
    let (began, before) = (Instant::now(), cpu_seconds());
    let grammar = Grammar::new("inferred", &language.files().grammar, Encoding::Auto)?;
    let deadline = Deadline::new(Duration::from_secs(600), &());
    let learning = Learning { goal: Goal::Proof, ..Learning::default() };
    let learned = match Subject::of_grammar(grammar, None).learn(&learning, &deadline) {
        Ok(learned) => learned,
        Err(_) if deadline.is_over() => return Ok((None, "not in 600 s".to_string())),
        Err(error) => return Err(error.into()),
    };
    let (seconds, cpu) = (began.elapsed().as_secs_f64(), cpu_seconds() - before);
    if learned.certificate().is_none() {
        return Ok((None, format!("open after {seconds:.1} s")));
    }
    Ok((Some(learned.machine), format!("proved in {seconds:.1} s, {cpu:.1} CPU s")))
}
