//! `echostack-engine`: words by the billion. `echostack score` calls it.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use clap::{Parser, Subcommand};
use datafusion::prelude::{SessionConfig, SessionContext};
use echostack::Word;
use echostack::teach::{Context as Asked, Depth, TraceReader, write_contexts};
use echostack_engine::{
    Executor, Found, Models, Progress, Scheduler, Scoring, TraceWriter, connect, contexts, runtime,
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::runtime::{Builder, Runtime};

#[derive(Parser)]
#[command(
    name = "echostack",
    bin_name = "echostack",
    version,
    about = "Judges words, and learns from traces, by the billion"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Judge the words of files: Parquet, Arrow, JSON Lines or CSV in, Parquet out
    Score(Score),
    /// Count what a corpus of traces teaches: its distinct contexts, for `echostack learn --contexts`
    Contexts(Contexts),
    /// Write traces of JSON Lines as Parquet
    Pack(Pack),
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
    /// Files, folders, or patterns such as 'logs/*.parquet'; also s3://, gs://, az:// and https:// addresses
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
    #[command(flatten)]
    engine: Engine,
}

#[derive(clap::Args)]
struct Contexts {
    /// Parquet files of traces, folders, or patterns such as 'traces/*.parquet'; also s3://, gs://, az:// and https:// addresses
    #[arg(required = true)]
    inputs: Vec<String>,
    /// The file for the contexts, in JSON Lines
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// How many symbols of the stack a context keeps, from the top
    #[arg(long, default_value_t = 4, value_name = "N")]
    stack: usize,
    /// How many tokens before the next one it keeps; for machines that see all of their input
    #[arg(long, default_value_t = 0, value_name = "N")]
    before: usize,
    #[command(flatten)]
    engine: Engine,
}

#[derive(clap::Args)]
struct Pack {
    /// Traces in JSON Lines, as `echostack teach` writes them
    input: PathBuf,
    /// The Parquet file
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}

/// Where and with what queries run.
#[derive(clap::Args)]
struct Engine {
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

impl Engine {
    /// The threads that queries run on, how many there are, and the session.
    fn start(&self) -> Result<(Runtime, usize, SessionContext)> {
        let count = self.threads.unwrap_or_else(cores);
        let memory = self.memory;
        ensure!((64..=1 << 20).contains(&memory), "--memory is {memory} MiB, but must be from 64 to 1048576");
        let threads = threads(count)?;
        let session = if let Some(scheduler) = &self.cluster {
            threads.block_on(connect(scheduler, PARTITIONS))?
        } else {
            let config = SessionConfig::new().with_target_partitions(count);
            SessionContext::new_with_config_rt(config, runtime(Some(memory << 20))?)
        };
        Ok((threads, count, session))
    }
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
        Command::Contexts(args) => ("contexts", count(&args).map(|()| true)),
        Command::Pack(args) => ("pack", pack(&args).map(|()| true)),
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
    let mut models = Models::default();
    models.open(MODEL, &args.model).with_context(|| format!("could not use the model {}", args.model.display()))?;
    let (threads, count, session) = args.engine.start()?;
    let on_cluster = args.engine.cluster.is_some();
    let scoring = Scoring {
        models,
        model: MODEL.into(),
        column: args.column.clone(),
        separated: args.tokens,
        keep: args.keep.clone(),
        at_once: if on_cluster { PARTITIONS } else { count },
        on_cluster,
    };
    let bar = Bar::new(args.engine.quiet, "{bytes}/{total_bytes}");
    let summary = threads.block_on(scoring.run(&session, &args.inputs, &args.output, &bar));
    bar.0.finish_and_clear();
    let summary = summary?;
    for (verdict, rows) in &summary.counts {
        println!("{verdict:12} {rows:>14}");
    }
    println!("{:12} {:>14}", "rows", summary.counts.values().sum::<u64>());
    println!("{:12} {:>14}", "files", summary.done + summary.found);
    if summary.found > 0 && !args.engine.quiet {
        eprintln!("{} of the files were finished before", summary.found);
    }
    for (input, error) in &summary.failed {
        eprintln!("{input}: {error}");
    }
    Ok(summary.failed.is_empty())
}

/// Counts the contexts of a corpus, and tells what was found.
fn count(args: &Contexts) -> Result<()> {
    let (threads, _, session) = args.engine.start()?;
    let bar = Bar::new(args.engine.quiet, "{pos}/{len}");
    let depth = Depth { stack: args.stack, before: args.before };
    let found = threads.block_on(contexts(&session, &args.inputs, depth, &bar));
    bar.0.finish_and_clear();
    let Found { traces, steps, faulty, fault, contexts } = found?;
    write(&args.output, |out| Ok(write_contexts(out, &contexts)?))?;
    let contradictions = Asked::contradictions(&contexts.contexts).count();
    let counts = [traces, steps, faulty, contexts.contexts.len() as u64, contradictions as u64];
    for (name, count) in ["traces", "steps", "faulty", "contexts", "contradictions"].into_iter().zip(counts) {
        println!("{name:14} {count:>14}");
    }
    if let Some(fault) = fault {
        eprintln!("faulty: {fault}");
    }
    Ok(())
}

/// Writes the traces of a file as Parquet.
fn pack(args: &Pack) -> Result<()> {
    let name = args.input.display();
    let file = File::open(&args.input).with_context(|| format!("could not read {name}"))?;
    let traces = TraceReader::new(BufReader::new(file)).with_context(|| format!("could not use {name}"))?;
    write(&args.output, |out| {
        let mut writer = TraceWriter::new(traces.alphabet(), out)?;
        for trace in traces {
            let trace = trace.with_context(|| format!("could not use {name}"))?;
            ensure!(matches!(trace.word(), Word::Symbols(_)), "{}: the word has vectors, not tokens", trace.source());
            writer.write(trace)?;
        }
        Ok(writer.finish()?)
    })
}

/// Writes a file.
fn write(path: &Path, content: impl FnOnce(&mut BufWriter<File>) -> Result<()>) -> Result<()> {
    let refused = || format!("could not write {}", path.display());
    let mut out = BufWriter::new(File::create(path).with_context(refused)?);
    content(&mut out)?;
    out.flush().with_context(refused)
}

/// The progress of a run on a terminal.
struct Bar(Arc<ProgressBar>);

impl Bar {
    /// A bar that tells how far it is in these units.
    fn new(quiet: bool, units: &str) -> Self {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let style = ProgressStyle::with_template(&format!("{{wide_bar}} {units} {{msg}} {{eta}}"));
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
