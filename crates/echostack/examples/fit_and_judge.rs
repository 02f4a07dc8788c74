//! Measures training and judging, for comparison with the Python package, and prints the seconds of each, the minimum
//! of five runs.

use std::time::Instant;

use echostack::language::{WordKind, examples};
use echostack::recognize::{Mode, View, judge_all};
use echostack::reservoir::ReservoirKind;
use echostack::tasks::{Split, Task};
use echostack::teach::{read_traces, write_traces};
use echostack::{Limits, Oracle, Params, Verdict, Word};

fn least(mut run: impl FnMut()) -> f64 {
    let one = |_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    };
    (0..5).map(one).fold(f64::INFINITY, f64::min)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let task = Task::Dyck3;
    let language = task.language().ok_or("not a task of symbols")?;
    let oracle = Oracle::strict(language.automaton().clone())?;
    let mut random = Split::Train.generator(0);
    let parts = [(WordKind::Valid, 50), (WordKind::NearMiss, 25), (WordKind::Random, 25)];
    let traces: Vec<_> = parts
        .into_iter()
        .flat_map(|(kind, count)| examples(&*language, &oracle, kind, 1..=50, count, &mut random))
        .collect();
    // The traces go through text, as those from Python do, with sorted symbols.
    let mut text = Vec::new();
    write_traces(&mut text, &task.alphabet(), &traces)?;
    let (alphabet, traces) = read_traces(&mut &text[..])?;
    let params = Params { view: View::Symbol, mode: Mode::Strict, ..Params::provable(ReservoirKind::Cycle, 256, 0) };
    let params = params.check()?;
    let mut fitted = None;
    let fit = least(|| fitted = params.fit(&alphabet, &traces, &()).ok());
    let machine = fitted.ok_or("training failed")?;
    let words: Vec<Word> = task.examples(Split::Test, 1000, 1).iter().map(|trace| trace.word().clone()).collect();
    let judge = least(|| drop(judge_all::<_, Verdict>(&machine, &words, Limits::default())));
    println!("{fit} {judge}");
    Ok(())
}
