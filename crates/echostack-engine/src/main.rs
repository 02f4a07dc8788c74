//! The program `echostack-engine`, which judges words and counts contexts by the billion. `echostack score` calls it.

use std::fs::File;
use std::io::{BufReader, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use clap::{Parser, Subcommand};
use datafusion::prelude::{SessionConfig, SessionContext};
use echostack::Word;
use echostack::file::{FileLimits, replace};
use echostack::teach::{Context as Asked, Depth, TraceReader, write_contexts};
use echostack_engine::{
    Access, Executor, Found, Models, Progress, Scheduler, Scoring, Tls, TraceWriter, connect, contexts, is_address,
    read_object, runtime, write_object,
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::runtime::{Builder, Runtime};

#[derive(Parser)]
#[command(
    name = "echostack",
    bin_name = "echostack",
    version,
    about = "Judges words and counts the contexts of traces, by the billion"
)]
struct Cli {
    /// The number of threads [default: one per core]
    #[arg(long, global = true, value_name = "N")]
    threads: Option<usize>,
    /// Show no progress
    #[arg(long, short, global = true)]
    quiet: bool,
    /// Limits on model files, such as `bytes=1000000,neurons=512`: bytes, symbols, neurons, centers (of support vectors),
    /// states (of a table). On a cluster, the scheduler and each executor have their own [default: what the largest
    /// model has]
    #[arg(long, global = true, value_name = "NAME=NUMBER,...")]
    model_limits: Option<FileLimits>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Judge the words in files: Parquet, Arrow, JSON Lines or CSV in, Parquet out
    Score(Score),
    /// Count the distinct contexts in a corpus of traces, for `echostack learn --contexts`
    Contexts(Contexts),
    /// Convert traces from JSON Lines to Parquet
    Pack(Pack),
    /// Run the scheduler or an executor of a cluster, or make certificates for it
    #[command(subcommand)]
    Cluster(Cluster),
}

#[derive(Subcommand)]
enum Cluster {
    /// Accept queries and distribute their tasks to the executors
    Scheduler {
        /// The address to listen on
        #[arg(long, default_value = "127.0.0.1:50050", value_name = "ADDRESS")]
        bind: SocketAddr,
        /// Consider an executor dead if it has not asked for work for this many seconds
        #[arg(long, default_value_t = 15, value_name = "SECONDS")]
        timeout: u64,
        /// A folder or a store (such as s3://bucket/logs) that queries may read; may be given several times
        #[arg(long, value_name = "PLACE")]
        read: Vec<String>,
        /// The folder with ca.pem, certificate.pem and key.pem; only clients with a certificate can then connect
        #[arg(long, value_name = "FOLDER")]
        certificates: Option<PathBuf>,
    },
    /// Run tasks of queries
    Executor {
        /// The address of the scheduler
        #[arg(long, default_value = "127.0.0.1:50050", value_name = "HOST:PORT")]
        scheduler: String,
        /// The address to listen on; results are fetched from here
        #[arg(long, default_value = "127.0.0.1:50051", value_name = "ADDRESS")]
        bind: SocketAddr,
        /// The number of tasks to run at the same time [default: one per core]
        #[arg(long, value_name = "N")]
        slots: Option<usize>,
        /// The folder for intermediate results [default: a temporary one]
        #[arg(long, value_name = "FOLDER")]
        folder: Option<PathBuf>,
        /// A folder or a store (such as s3://bucket/logs) that queries may read; may be given several times
        #[arg(long, value_name = "PLACE")]
        read: Vec<String>,
        /// A folder or a store that queries may write; may be given several times
        #[arg(long, value_name = "PLACE")]
        write: Vec<String>,
        /// The folder with ca.pem, certificate.pem and key.pem; only clients with a certificate can then connect
        #[arg(long, value_name = "FOLDER")]
        certificates: Option<PathBuf>,
        /// Run even as root
        #[arg(long)]
        allow_root: bool,
    },
    /// Make an authority and one certificate for all processes of a cluster, to try it out
    Certificates {
        /// The folder for ca.pem, certificate.pem and key.pem
        folder: PathBuf,
        /// A host name or an IP address of the cluster's machines; may be given several times
        #[arg(long, default_values = ["localhost", "127.0.0.1"], value_name = "HOST")]
        host: Vec<String>,
    },
}

#[derive(clap::Args)]
struct Score {
    /// The file of a machine or of a table, or its address in an object store
    model: String,
    /// Files, folders (with all subfolders), or patterns such as 'logs/*.parquet'; also s3://, gs://, az:// and
    /// https:// addresses
    #[arg(required = true)]
    inputs: Vec<String>,
    /// The folder for the verdicts, one Parquet file per input. A run that was stopped resumes where it was
    #[arg(long, short, value_name = "FOLDER")]
    output: String,
    /// The column with the words: lists of token names, lists of terminal numbers, or strings
    #[arg(long, default_value = "words", value_name = "NAME")]
    column: String,
    /// Read strings as tokens separated by blanks
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
    /// Parquet files of traces, folders, or patterns such as 'traces/*.parquet'; also s3://, gs://, az:// and https://
    /// addresses
    #[arg(required = true)]
    inputs: Vec<String>,
    /// The file for the contexts, in JSON Lines, or its address in an object store
    #[arg(long, short, value_name = "FILE")]
    output: String,
    /// The number of stack symbols that a context keeps, from the top
    #[arg(long, default_value_t = 4, value_name = "N")]
    stack: usize,
    /// The number of tokens before the next one that a context keeps, for machines that see all of their input
    #[arg(long, default_value_t = 0, value_name = "N")]
    before: usize,
    #[command(flatten)]
    engine: Engine,
}

#[derive(clap::Args)]
struct Pack {
    /// Traces in JSON Lines, as `echostack teach` writes them
    input: String,
    /// The Parquet file to write
    #[arg(long, short, value_name = "FILE")]
    output: String,
}

/// Where queries run, and the resources they may use.
#[derive(clap::Args)]
struct Engine {
    /// Run the queries on the cluster of this scheduler. Its machines must see the model and the inputs under the same
    /// paths
    #[arg(long, value_name = "HOST:PORT")]
    cluster: Option<String>,
    /// The folder with ca.pem, certificate.pem and key.pem for the cluster
    #[arg(long, value_name = "FOLDER", requires = "cluster")]
    certificates: Option<PathBuf>,
    /// The maximum memory for queries, in MiB
    #[arg(long, default_value_t = 512, value_name = "MIB")]
    memory: usize,
}

impl Engine {
    /// Returns the session that queries run in.
    fn session(&self, threads: &Threads) -> Result<SessionContext> {
        let memory = self.memory;
        ensure!((64..=1 << 20).contains(&memory), "--memory is {memory} MiB, but must be from 64 to 1048576");
        if let Some(scheduler) = &self.cluster {
            let certificates = certificates(self.certificates.as_deref())?;
            return Ok(threads.pool.block_on(connect(scheduler, PARTITIONS, certificates.as_ref()))?);
        }
        let config = SessionConfig::new().with_target_partitions(threads.count);
        Ok(SessionContext::new_with_config_rt(config, runtime(Some(memory << 20))?))
    }
}

/// The threads that a command runs on.
struct Threads {
    pool: Runtime,
    count: usize,
    quiet: bool,
}

impl Threads {
    fn new(count: Option<usize>, quiet: bool) -> Result<Self> {
        let count = count.unwrap_or_else(cores);
        ensure!((1..=1024).contains(&count), "--threads is {count}, but must be from 1 to 1024");
        let pool = Builder::new_multi_thread().worker_threads(count).thread_stack_size(STACK).enable_all().build()?;
        Ok(Self { pool, count, quiet })
    }
}

/// The name of the only model in a run.
const MODEL: &str = "model";

/// The number of partitions of a query on a cluster.
const PARTITIONS: usize = 16;

/// The stack size of the engine's threads, in bytes; plans are deeply nested.
const STACK: usize = 32 << 20;

fn main() -> ExitCode {
    let Cli { threads, quiet, model_limits, command } = Cli::parse();
    let limits = model_limits.unwrap_or_default();
    let name = match &command {
        Command::Score(_) => "score",
        Command::Contexts(_) => "contexts",
        Command::Pack(_) => "pack",
        Command::Cluster(_) => "cluster",
    };
    let ended = Threads::new(threads, quiet).and_then(|threads| match command {
        Command::Score(args) => score(&args, limits, &threads),
        Command::Contexts(args) => count(&args, &threads).map(|()| true),
        Command::Pack(args) => pack(&args).map(|()| true),
        Command::Cluster(part) => cluster(part, limits, &threads).map(|()| true),
    });
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

fn certificates(folder: Option<&Path>) -> Result<Option<Tls>> {
    Ok(folder.map(Tls::open).transpose()?)
}

/// Checks that other machines can connect to the address, because it is also the one that is announced to them, and
/// that they need a certificate for it.
fn reachable(bind: SocketAddr, certificates: Option<&Tls>) -> Result<()> {
    ensure!(!bind.ip().is_unspecified(), "--bind is {bind}, but must be an address that other machines can reach");
    ensure!(
        bind.ip().is_loopback() || certificates.is_some(),
        "--bind is {bind}, which others can reach, so --certificates is needed; to try it out, make them with \
         `echostack cluster certificates`"
    );
    Ok(())
}

fn cluster(part: Cluster, limits: FileLimits, threads: &Threads) -> Result<()> {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("warn")).init();
    match part {
        Cluster::Scheduler { bind, timeout, read, certificates: folder } => {
            // A busy executor asks for work every 5 seconds.
            ensure!(timeout >= 10, "--timeout is {timeout}, but must be at least 10");
            let certificates = certificates(folder.as_deref())?;
            reachable(bind, certificates.as_ref())?;
            let access = Access::new(&read, &[])?;
            eprintln!("scheduler listens on {bind}");
            threads.pool.block_on(Scheduler { bind, timeout, access, limits, certificates }.run())?;
        }
        Cluster::Certificates { folder, host } => Tls::generate(&folder, &host)?,
        Cluster::Executor { scheduler, bind, slots, folder, read, write, certificates: of, allow_root: as_root } => {
            let named =
                scheduler.rsplit_once(':').and_then(|(host, port)| Some((host.to_string(), port.parse().ok()?)));
            let scheduler = named.with_context(|| format!("--scheduler is {scheduler:?}, but must be HOST:PORT"))?;
            let slots = slots.unwrap_or_else(cores);
            let certificates = certificates(of.as_deref())?;
            reachable(bind, certificates.as_ref())?;
            let access = Access::new(&read, &write)?;
            eprintln!("executor listens on {bind}, runs {slots} tasks at the same time");
            let executor = Executor { scheduler, bind, slots, folder, access, limits, certificates, as_root };
            threads.pool.block_on(executor.run())?;
        }
    }
    Ok(())
}

/// Scores the inputs, reports the counts, and returns true if all inputs were scored.
fn score(args: &Score, limits: FileLimits, threads: &Threads) -> Result<bool> {
    let on_cluster = args.engine.cluster.is_some();
    let models = model(&args.model, limits, on_cluster, threads);
    let models = models.with_context(|| format!("could not use the model {}", args.model))?;
    let session = args.engine.session(threads)?;
    let scoring = Scoring {
        models,
        model: MODEL.into(),
        column: args.column.clone(),
        separated: args.tokens,
        keep: args.keep.clone(),
        at_once: if on_cluster { PARTITIONS } else { threads.count },
        on_cluster,
    };
    let bar = Bar::new(threads.quiet, "{bytes}/{total_bytes}");
    let summary = threads.pool.block_on(scoring.run(&session, &args.inputs, &args.output, &bar));
    bar.0.finish_and_clear();
    let summary = summary?;
    for (verdict, rows) in &summary.counts {
        println!("{verdict:12} {rows:>14}");
    }
    println!("{:12} {:>14}", "rows", summary.counts.values().sum::<u64>());
    println!("{:12} {:>14}", "files", summary.done + summary.found);
    if summary.found > 0 && !threads.quiet {
        eprintln!("{} of the files were finished in an earlier run", summary.found);
    }
    for (input, error) in &summary.failed {
        eprintln!("{input}: {error}");
    }
    Ok(summary.failed.is_empty())
}

/// Opens the only model of a run, from a file or from an object store.
fn model(place: &str, limits: FileLimits, on_cluster: bool, threads: &Threads) -> Result<Models> {
    let mut models = Models::within(limits);
    if !is_address(place) {
        models.open(MODEL, Path::new(place))?;
        return Ok(models);
    }
    ensure!(!on_cluster, "on a cluster, the model must be a file that every machine has under the same path");
    models.add(MODEL, &threads.pool.block_on(read_object(place, limits.bytes))?, None)?;
    Ok(models)
}

/// Counts the contexts of a corpus, and reports the counts.
fn count(args: &Contexts, threads: &Threads) -> Result<()> {
    let session = args.engine.session(threads)?;
    let bar = Bar::new(threads.quiet, "{pos}/{len}");
    let depth = Depth { stack: args.stack, before: args.before };
    let found = threads.pool.block_on(contexts(&session, &args.inputs, depth, &bar));
    bar.0.finish_and_clear();
    let Found { traces, steps, faulty, fault, contexts } = found?;
    if is_address(&args.output) {
        let mut content = Vec::new();
        write_contexts(&mut content, &contexts)?;
        let written = threads.pool.block_on(write_object(&args.output, content));
        written.with_context(|| format!("could not write {}", args.output))?;
    } else {
        write(&args.output, |out| Ok(write_contexts(out, &contexts)?))?;
    }
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
    for place in [&args.input, &args.output] {
        ensure!(
            !is_address(place),
            "{place} is in an object store, but `pack` reads and writes only local files; copy it"
        );
    }
    let name = &args.input;
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

fn write(path: &str, content: impl FnOnce(&mut (dyn Write + Send)) -> Result<()>) -> Result<()> {
    let mut refused = None;
    let written = replace(Path::new(path), |out| {
        content(out).map_err(|error| {
            refused = Some(error);
            std::io::ErrorKind::Other.into()
        })
    });
    match refused {
        Some(error) => Err(error),
        None => written.with_context(|| format!("could not write {path}")),
    }
}

/// A progress bar on the terminal.
struct Bar(Arc<ProgressBar>);

impl Bar {
    /// Creates a bar that shows its position by this template.
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
