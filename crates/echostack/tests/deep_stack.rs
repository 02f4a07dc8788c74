//! Tests that a stack of a million symbols takes little memory, and no more work per token than a shallow one. The test
//! is alone in its process, so that its memory can be measured. Work is counted in steps of the reservoir, which do not
//! depend on the computer or on its load.
#![cfg(feature = "machine")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use echostack::recognize::Status;
use echostack::reservoir::ReservoirKind;
use echostack::reservoir::{Drive, Reservoir, ReservoirParams, Simd};
use echostack::symbol::Input;
use echostack::tasks::{Split, Task};
use echostack::{Limits, Machine, Params, Recognizer, Session, SymbolId};

const MILLION: usize = 1_000_000;

type Reading = <Machine as Recognizer>::Session;

/// A reservoir that counts its steps.
#[derive(Debug)]
struct Counting {
    reservoir: Arc<dyn Reservoir>,
    steps: AtomicUsize,
}

impl Reservoir for Counting {
    fn neurons(&self) -> usize {
        self.reservoir.neurons()
    }

    fn channels(&self) -> usize {
        self.reservoir.channels()
    }

    fn step(&self, simd: Simd, from: &[f64], drive: Drive<'_>, to: &mut [f64]) {
        self.steps.fetch_add(1, Ordering::Relaxed);
        self.reservoir.step(simd, from, drive, to);
    }
}

/// Returns the most memory that this process has used so far. Only Linux tells.
fn resident_mib() -> Option<u64> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    Some(line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024)
}

fn feed(session: &mut Reading, symbol: usize, count: usize) {
    for _ in 0..count {
        assert_eq!(session.feed(Input::Symbol(SymbolId::new(symbol)), &mut ()), Status::Open);
    }
}

#[test]
fn a_million_symbols_deep() {
    let task = Task::Dyck1;
    let params = task.params(ReservoirKind::Cycle, 256, 0);
    let reservoir = params.reservoir.build(task.alphabet().len()).unwrap();
    let counting = Arc::new(Counting { reservoir, steps: AtomicUsize::new(0) });
    let params = Params { reservoir: ReservoirParams::Given(counting.clone()), ..params };
    let traces = task.examples(Split::Train, 100, 0);
    let machine = params.check().unwrap().fit(&task.alphabet(), &traces, &()).unwrap();
    let steps = |session: &mut Reading, tokens: &[(usize, usize)]| {
        let before = counting.steps.load(Ordering::Relaxed);
        tokens.iter().for_each(|&(symbol, count)| feed(session, symbol, count));
        (counting.steps.load(Ordering::Relaxed) - before) as f64
    };

    let before = resident_mib();
    let mut shallow: Reading = machine.start(Limits::default());
    feed(&mut shallow, 0, 1000);
    let mut deep: Reading = machine.start(Limits::default());
    feed(&mut deep, 0, MILLION);
    assert_eq!(deep.stack().symbols().count(), MILLION);
    let resident = resident_mib();

    // Brackets are opened and closed at the top; the stack falls over many checkpoints; and it rises and falls across
    // them, further than the window of states reaches.
    let top = steps(&mut deep, &[(0, 1), (1, 1)].repeat(500)) / steps(&mut shallow, &[(0, 1), (1, 1)].repeat(500));
    let falling = steps(&mut deep, &[(1, MILLION / 2)]) / (MILLION as f64 / 2.);
    let falling_shallow = steps(&mut shallow.clone(), &[(1, 1000)]) / 1000.;
    let crossing = steps(&mut deep, &[(0, 500), (1, 500)].repeat(100));
    let crossing = crossing / steps(&mut shallow, &[(0, 500), (1, 500)].repeat(100));
    feed(&mut deep, 1, MILLION / 2);
    assert!(deep.finish(&mut ()).is_accept());

    let falling = falling / falling_shallow;
    println!(
        "resident {resident:?} MiB ({before:?} before); steps: {top:.3} times as many at the top, {falling:.3} down, {crossing:.3} across"
    );
    assert!(resident.is_none_or(|resident| resident < 128), "{resident:?} MiB resident");
    assert!(top < 1.1 && falling < 1.1 && crossing < 1.1, "{top} at the top, {falling} down, {crossing} across");
}
