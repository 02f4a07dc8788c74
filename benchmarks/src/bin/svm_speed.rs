//! Trains the readouts of a latch machine (about 3,000 rows of 512 features), prints the CPU seconds, and writes the rows,
//! so that `benchmarks/svm.py` can train scikit-learn's SVC on the same rows.
//!
//! `cargo run --release --bin svm_speed FOLDER`

use std::fs;
use std::path::Path;

use echostack::Params;
use echostack::readout::{Lesson, Svm};
use echostack::reservoir::ReservoirKind;
use echostack::tasks::{Split, Task};
use echostack_benchmarks::measure::cpu_seconds;

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let folder = std::env::args().nth(1).ok_or("give a folder to write to")?;
    let folder = Path::new(&folder);
    let task = Task::Latch;
    let train = task.examples(Split::Train, 100, 0);
    // The kernel width is scikit-learn's default; the cost is that of the project's first measurements.
    let params =
        Params { svm: Svm { cost: 100., gamma: 1., ..Svm::default() }, ..task.params(ReservoirKind::Cycle, 256, 0) };
    let params = params.check()?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| {
        let start = cpu_seconds();
        let machine = params.fit(&task.alphabet(), &train, &())?;
        let trained = cpu_seconds();
        let lessons = params.collect(&**machine.reservoir(), &task.alphabet(), &train, &())?;
        let collecting = cpu_seconds() - trained;
        println!("{}", trained - start - collecting);
        let write = |name: &str, rows: Vec<(Lesson, i64)>| -> std::io::Result<()> {
            let states = |lesson| lessons.states(&**machine.reservoir(), lesson);
            let values = rows.iter().flat_map(|(lesson, _)| {
                let (h, g) = states(*lesson);
                h.into_iter().chain(g)
            });
            fs::write(folder.join(format!("{name}.x")), values.flat_map(f64::to_le_bytes).collect::<Vec<_>>())?;
            let labels = rows.iter().flat_map(|(_, label)| label.to_le_bytes());
            fs::write(folder.join(format!("{name}.y")), labels.collect::<Vec<_>>())
        };
        write("pop", lessons.actions().map(|(lesson, action)| (lesson, i64::from(action.pop))).collect())?;
        let push = |push: Option<echostack::SymbolId>| push.map_or(-1, |symbol| symbol.index() as i64);
        write("push", lessons.actions().map(|(lesson, action)| (lesson, push(action.push))).collect())?;
        write("output", lessons.outputs().map(|(lesson, values)| (lesson, values[0] as i64)).collect())?;
        Ok(())
    })
}
