//! A stack of a million symbols: little memory, and no more time a token than near the bottom. Alone in its process, so
//! that its memory can be measured.

mod common;

use std::sync::Arc;
use std::time::{Duration, Instant};

use common::trained;
use echostack::tasks::{ReservoirKind, Task};
use echostack::{Input, Limits, Machine, Recognizer, Session, Status, SymbolId};

const MILLION: usize = 1_000_000;

type Reading = <Machine as Recognizer>::Session;

fn resident_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

fn feed(session: &mut Reading, symbol: usize, count: usize) {
    for _ in 0..count {
        assert_eq!(session.feed(Input::Symbol(SymbolId::new(symbol)), &mut ()), Status::Open);
    }
}

/// The shortest of several times for a block of tokens that leaves the depth as it is.
fn time_per_block(session: &Reading, rounds: usize) -> Duration {
    let mut session = session.clone();
    let block = |session: &mut Reading| {
        let start = Instant::now();
        for _ in 0..500 {
            feed(session, 0, 1);
            feed(session, 1, 1);
        }
        start.elapsed()
    };
    (0..rounds).map(|_| block(&mut session)).min().unwrap()
}

#[test]
fn a_million_symbols_deep() {
    let machine: Arc<Machine> = trained(Task::Dyck1, ReservoirKind::Cycle, 256, 0);
    let before = resident_mib();
    let mut shallow: Reading = machine.start(Limits::default());
    feed(&mut shallow, 0, 1000);
    let mut deep: Reading = machine.start(Limits::default());
    feed(&mut deep, 0, MILLION);
    assert_eq!(deep.engine().symbols().count(), MILLION);
    let resident = resident_mib();

    // Brackets opened and closed at the top, measured by turns.
    let ratio = (0..5)
        .map(|_| time_per_block(&deep, 10).as_secs_f64() / time_per_block(&shallow, 10).as_secs_f64())
        .fold(f64::INFINITY, f64::min);

    // All the way down again, over every checkpoint, and up and down across many of them, further than the window
    // reaches: the shortest time of a thousand tokens each, which include eight checkpoints.
    let timed = |session: &mut Reading, tokens: &[(usize, usize)]| {
        let start = Instant::now();
        tokens.iter().for_each(|&(symbol, count)| feed(session, symbol, count));
        start.elapsed()
    };
    let shortest = |times: &mut dyn Iterator<Item = Duration>| times.min().unwrap().as_secs_f64();
    let falling = shortest(&mut (0..MILLION / 2000).map(|_| timed(&mut deep, &[(1, 1000)])));
    let falling_shallow = shortest(&mut (0..50).map(|_| timed(&mut shallow.clone(), &[(1, 1000)])));
    let crossing = shortest(&mut (0..100).map(|_| timed(&mut deep, &[(0, 500), (1, 500)])));
    let crossing_shallow = shortest(&mut (0..100).map(|_| timed(&mut shallow, &[(0, 500), (1, 500)])));
    feed(&mut deep, 1, MILLION / 2);
    assert!(deep.finish(&mut ()).is_accept());

    let (falling, crossing) = (falling / falling_shallow, crossing / crossing_shallow);
    println!(
        "resident {resident} MiB ({before} before); time ratio {ratio:.2} at the top, {falling:.2} down, {crossing:.2} across"
    );
    assert!(resident < 128, "{resident} MiB resident");
    assert!(ratio < 1.5, "{ratio} times the time per token");
    assert!(falling < 1.5 && crossing < 1.5, "{falling} on the way down, {crossing} across checkpoints");
}
