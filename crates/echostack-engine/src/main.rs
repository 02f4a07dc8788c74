//! `echostack-engine`: words by the billion. `echostack score` calls it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use clap::{Parser, Subcommand};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use echostack_engine::{Executor, Models, Progress, Scheduler, Scoring, connect};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::runtime::{Builder, Runtime};

#[derive(Parser)]
#[command(name = "echostack", bin_name = "echostack", version, about = "Judges words by the billion")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Judge the words of files: Parquet, Arrow, JSON Lines or CSV in, Parquet out
    Score(Score),
    /// Run a part of a cluster: the scheduler, or an executor
    #[command(subcommand)]
    Cluster(Cluster),
}

#[derive(Subcommand)]
enum Cluster {
    /// Take queries and deal out their parts
    Scheduler {
        /// Where to listen
        #[arg(long, default_value = "127.0.0.1:50050", value_name = "ADDRESS")]
        bind: SocketAddr,
        /// Take an executor for dead that was not heard of for so many seconds
        #[arg(long, default_value_t = 180, value_name = "SECONDS")]
        timeout: u64,
    },
    /// Do parts of queries
    Executor {
        /// Where the scheduler listens
        #[arg(long, default_value = "127.0.0.1:50050", value_name = "HOST:PORT")]
        scheduler: String,
        /// Where to listen: results are fetched from here
        #[arg(long, default_value = "127.0.0.1:50051", value_name = "ADDRESS")]
        bind: SocketAddr,
        /// The port on which the scheduler gives its orders
        #[arg(long, default_value_t = 50052, value_name = "PORT")]
        control_port: u16,
        /// How many parts to do at the same time [default: one for each core]
        #[arg(long, value_name = "N")]
        slots: Option<usize>,
        /// The seconds between two signs of life
        #[arg(long, default_value_t = 60, value_name = "SECONDS")]
        heartbeat: u64,
        /// The folder for what is on its way between parts [default: a temporary one]
        #[arg(long, value_name = "FOLDER")]
        folder: Option<PathBuf>,
    },
}

#[derive(clap::Args)]
struct Score {
    /// The file of a model, or of a table
    model: PathBuf,
    /// Files, folders, or patterns such as 'logs/*.parquet'
    #[arg(required = true)]
    inputs: Vec<String>,
    /// The folder for the verdicts, a Parquet file for each input. A run that was stopped goes on where it was
    #[arg(long, short, value_name = "FOLDER")]
    output: String,
    /// The column with the words: lists of names or of numbers of terminals, or texts
    #[arg(long, default_value = "words", value_name = "NAME")]
    column: String,
    /// Texts hold tokens separated by blanks
    #[arg(long)]
    tokens: bool,
    /// The columns to keep in the output [default: all but the words]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    keep: Vec<String>,
    /// Run the queries on the cluster of this scheduler. Its machines must see the model and the inputs under the same paths
    #[arg(long, value_name = "HOST:PORT")]
    cluster: Option<String>,
    /// The memory that queries may use, in MiB
    #[arg(long, default_value_t = 512, value_name = "MIB")]
    memory: usize,
    /// The threads [default: one for each core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Show no progress
    #[arg(long, short)]
    quiet: bool,
}

/// The name under which the one model of a run is known.
const MODEL: &str = "model";

/// The parts that a query on a cluster is split into.
const PARTITIONS: usize = 16;

/// What the engine's threads may use for their stacks: plans are deeply nested.
const STACK: usize = 32 << 20;

fn main() -> ExitCode {
    let (name, ended) = match Cli::parse().command {
        Command::Score(args) => ("score", score(&args)),
        Command::Cluster(part) => ("cluster", cluster(part).map(|()| true)),
    };
    match ended {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(2),
        Err(error) => {
            eprintln!("echostack {name}: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn threads(count: usize) -> Result<Runtime> {
    ensure!((1..=1024).contains(&count), "{count} threads are asked for, but it must be from 1 to 1024");
    Ok(Builder::new_multi_thread().worker_threads(count).thread_stack_size(STACK).enable_all().build()?)
}

/// Others are told to connect to the address that is listened on.
fn reachable(bind: SocketAddr) -> Result<()> {
    ensure!(!bind.ip().is_unspecified(), "--bind is {bind}, but must be an address that the other machines can reach");
    Ok(())
}

fn cluster(part: Cluster) -> Result<()> {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("warn")).init();
    match part {
        Cluster::Scheduler { bind, timeout } => {
            ensure!(timeout > 0, "--timeout is 0, but must be at least 1");
            reachable(bind)?;
            eprintln!("scheduler on {bind}");
            threads(cores())?.block_on(Scheduler { bind, timeout }.run())?;
        }
        Cluster::Executor { scheduler, bind, control_port, slots, heartbeat, folder } => {
            ensure!(heartbeat > 0, "--heartbeat is 0, but must be at least 1");
            let named =
                scheduler.rsplit_once(':').and_then(|(host, port)| Some((host.to_string(), port.parse().ok()?)));
            let scheduler = named.with_context(|| format!("--scheduler is {scheduler:?}, but must be HOST:PORT"))?;
            let slots = slots.unwrap_or_else(cores);
            reachable(bind)?;
            eprintln!("executor on {bind}, {slots} parts at the same time");
            let executor = Executor { scheduler, bind, control_port, slots, heartbeat, folder };
            threads(slots.max(2))?.block_on(executor.run())?;
        }
    }
    Ok(())
}

/// Scores, tells what was found, and returns whether all inputs were scored.
fn score(args: &Score) -> Result<bool> {
    let count = args.threads.unwrap_or_else(cores);
    ensure!((64..=1 << 20).contains(&args.memory), "--memory is {} MiB, but must be from 64 to 1048576", args.memory);
    let mut models = Models::default();
    models.open(MODEL, &args.model).with_context(|| format!("could not use the model {}", args.model.display()))?;
    let scoring = Scoring {
        models,
        model: MODEL.into(),
        column: args.column.clone(),
        separated: args.tokens,
        keep: args.keep.clone(),
        at_once: if args.cluster.is_some() { PARTITIONS } else { count },
        on_cluster: args.cluster.is_some(),
    };
    let runtime = threads(count)?;
    let session = if let Some(scheduler) = &args.cluster {
        runtime.block_on(connect(scheduler, PARTITIONS))?
    } else {
        let memory = RuntimeEnvBuilder::new().with_memory_limit(args.memory << 20, 1.).build_arc()?;
        SessionContext::new_with_config_rt(SessionConfig::new().with_target_partitions(count), memory)
    };
    let bar = Bar::new(args.quiet);
    let summary = runtime.block_on(scoring.run(&session, &args.inputs, &args.output, &bar));
    bar.0.finish_and_clear();
    let summary = summary?;
    for (verdict, rows) in &summary.counts {
        println!("{verdict:12} {rows:>14}");
    }
    println!("{:12} {:>14}", "rows", summary.counts.values().sum::<u64>());
    println!("{:12} {:>14}", "files", summary.done + summary.found);
    if summary.found > 0 && !args.quiet {
        eprintln!("{} of the files were finished before", summary.found);
    }
    for (input, error) in &summary.failed {
        eprintln!("{input}: {error}");
    }
    Ok(summary.failed.is_empty())
}

/// The progress of a run on a terminal.
struct Bar(Arc<ProgressBar>);

impl Bar {
    fn new(quiet: bool) -> Self {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let style = ProgressStyle::with_template("{wide_bar} {bytes}/{total_bytes} {msg} {eta}");
        let bar = ProgressBar::with_draw_target(Some(0), target);
        Self(Arc::new(match style {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        }))
    }
}

impl Progress for Bar {
    fn show(&self, bytes: u64, of: u64, rows: u64) {
        self.0.set_length(of);
        self.0.set_position(bytes);
        self.0.set_message(format!("{rows} rows"));
    }
}
