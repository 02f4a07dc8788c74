//! Trains the baselines on tasks of the paper (`baselines 10000 dyck1 copy`: the epochs, and which tasks) and prints
//! for each how long an epoch took, and the mean absolute error on the paper's test words. An output that a deep stack
//! machine does not come to counts as an error of 1.

use std::time::Instant;

use echostack::Trace;
use echostack::tasks::{Split, Task};
use echostack_deep::{Architecture, Hyperparameters, Trained, train};

fn error(trained: &Trained, trace: &Trace) -> f64 {
    let expected = trace.steps().iter().flat_map(|step| &step.output);
    let outputs = trained.outputs(&[trace.word()]).concat();
    let errors = outputs.iter().zip(expected).map(|(output, expected)| (output - expected).abs());
    errors.map(|error| if error.is_nan() { 1. } else { error }).sum::<f64>() / outputs.len() as f64
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let epochs = arguments.next().ok_or("give the number of epochs and the tasks")?.parse()?;
    let settings = Hyperparameters { epochs, ..Hyperparameters::default() };
    for name in arguments {
        let task: Task = name.parse()?;
        let [traces, tests] = [Split::Train, Split::Test].map(|split| task.examples(split, 100, 0));
        let steps: usize = traces.iter().map(|trace| trace.steps().len()).sum();
        println!("{name}: {:.1} steps a word", steps as f64 / traces.len() as f64);
        for architecture in Architecture::ALL {
            let start = Instant::now();
            let trained = train(architecture, &task.alphabet(), &traces, &settings, &())?;
            let epoch = 1e3 * start.elapsed().as_secs_f64() / epochs as f64;
            let error = tests.iter().map(|trace| error(&trained, trace)).sum::<f64>() / tests.len() as f64;
            println!("  {architecture}: {epoch:.2} ms an epoch, error {error:.4}");
        }
    }
    Ok(())
}
