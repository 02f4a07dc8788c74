//! Trains a machine until it is proved right on every word, checks the proof, and compiles the machine to a table.
//!
//!     cargo run --release --example prove_and_compile

use echostack::certify::{self, Proof};
use echostack::control::Deadline;
use echostack::extract::extract;
use echostack::recognize::{Mode, View};
use echostack::reservoir::ReservoirKind;
use echostack::tasks::Task;
use echostack::{Oracle, Params, Recognizer, Study, Table};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Any language will do; this one is a simplified JSON.
    let language = Task::Json.language().ok_or("the task is not a language")?;
    let params =
        Params { view: View::Symbol, mode: Mode::Strict, ..Params::provable(ReservoirKind::Cycle, 256, 0) }.check()?;
    let deadline = Deadline::new(std::time::Duration::from_secs(60), &());

    let (machine, proof) = Study::default().prove(&*language, &params, &deadline, &mut |round| {
        println!("{} training rows, {} cells not proved yet", round.rows, round.open);
    })?;
    let Proof::Proved(certificate) = proof else {
        return Err("no proof was found; try more neurons".into());
    };
    println!("proved with {} cells", certificate.size().cells);

    // Anyone who has the machine, the automaton and the certificate can check the proof without searching for it again.
    let oracle = Oracle::strict(language.automaton().clone())?;
    certify::check(&certificate, &machine, &oracle, &())?;

    // The automaton that the machine implements, read back out of it, becomes a table.
    let extraction = extract(&machine, &())?;
    print!("{}", extraction.oracle.automaton());
    let table = Table::new(&extraction.oracle, machine.manifest().clone())?;
    let word = table.alphabet().word("{ k : [ n , s ] }".split(' '))?;
    println!("the table says {:?}, the machine {:?}", table.judge(&word), machine.judge(&word));
    Ok(())
}
