//! The program `echostack-deep RECORD SHARD < SPECIFICATION`, which runs the deep models of a specification and appends
//! each finished cell to the record. `echostack lab reproduce --models deep` calls it.

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use echostack_deep::baselines;
use echostack_lab::{Experiment, Line, Progress, RecordFile, Specification};

/// Progress reports on standard error, one for each cell.
struct Told;

impl Progress for Told {
    fn done(&self, cells: usize, of: usize, line: &Line) {
        if let Line::Repeat(repeat) = line {
            let seconds = repeat.train_seconds + repeat.test_seconds;
            let unit = &repeat.unit;
            eprintln!("{cells}/{of}: {} on {}, {:?} in {seconds:.0} s", unit.model, unit.task, repeat.errors);
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [record, shard] = arguments.as_slice() else {
        return Err("expected two arguments, a record and a shard, and a specification on standard input".into());
    };
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let specification = Specification::from_toml(&text)?;
    let mut record = RecordFile::open(Path::new(record), &specification)?;
    Experiment::new(&specification, &baselines(), shard.parse()?)?.run(&mut record, &Told)?;
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("echostack-deep: {error}");
            ExitCode::from(2)
        }
    }
}
