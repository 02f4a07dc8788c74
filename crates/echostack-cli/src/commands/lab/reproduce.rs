//! `echostack lab reproduce`: runs the paper's experiments cell by cell, and writes its tables and figures.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use echostack_lab::tables::{TABLES, departures, has_others, summary_csv, summary_markdown};
use echostack_lab::{
    Estimator, Experiment, Line, Progress, RecordFile, Shard, Specification, curves, figures, flare, merge, models,
    record,
};

use crate::external::{missing, program};
use crate::outcome::Outcome;
use crate::output::{count, note, save};
use crate::progress::Bar;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  Measure two models on one task:
    echostack lab reproduce --models CRJ-RSM,CRJ-ESN --tasks dyck1 -o reproduction
  Measure what a specification says (docs/reproduce.md):
    echostack lab reproduce --spec spec.toml -o reproduction
  Run the benchmark FLaRe on its published files:
    echostack lab reproduce --suite flare --data flare -o reproduction";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// TOML file that specifies what to measure [default: the paper's experiments]
    #[arg(long, value_name = "FILE")]
    spec: Option<PathBuf>,
    /// Names of models, or a kind of models: `reservoir` or `deep` [default: as in the specification, else reservoir]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    models: Vec<String>,
    /// Names of tasks [default: as in the specification, else all nine]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    tasks: Vec<String>,
    /// Measure only one share of the experiments: `2/5` is the second of five
    #[arg(long, default_value = "1/1", value_name = "I/N")]
    shard: Shard,
    /// Measure nothing: join the records of shards
    #[arg(long, num_args = 1.., value_name = "RECORD", conflicts_with_all = ["spec", "models", "tasks", "shard"])]
    merge: Vec<PathBuf>,
    /// Measure nothing: write the tables and figures of finished records, which may come from different experiments
    #[arg(long, num_args = 1.., value_name = "RECORD", conflicts_with_all = ["spec", "models", "tasks", "shard", "merge"])]
    tables: Vec<PathBuf>,
    /// Run a benchmark of other authors instead, on the files in --data
    #[arg(long, value_enum, requires = "data", conflicts_with_all = ["spec", "models", "tasks", "shard", "merge", "tables"])]
    suite: Option<Suite>,
    /// Folder with the published files of the suite
    #[arg(long, value_name = "FOLDER", requires = "suite")]
    data: Option<PathBuf>,
    /// Folder for the record and the tables; an interrupted run resumes where it stopped
    #[arg(long, short, default_value = "reproduction", value_name = "FOLDER")]
    output: PathBuf,
}

/// A benchmark of other authors.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Suite {
    /// Formal languages (Butoi et al., ICLR 2025): the folder of the repository rycolab/flare
    Flare,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Outcome> {
    std::fs::create_dir_all(&args.output).with_context(|| format!("could not create {}", args.output.display()))?;
    if let (Some(Suite::Flare), Some(data)) = (args.suite, &args.data) {
        return run_flare(data, &args.output, session);
    }
    if !args.merge.is_empty() {
        let lines = merge(&args.merge)?;
        let text: String =
            lines.iter().map(|line| serde_json::to_string(line).map(|line| line + "\n")).collect::<Result<_, _>>()?;
        save(&args.output.join("record.jsonl"), text.as_bytes())?;
        return tell(&lines, &args.output);
    }
    if !args.tables.is_empty() {
        let records: Vec<Vec<Line>> = args.tables.iter().map(|path| record::read(path)).collect::<Result<_, _>>()?;
        return tell(&records.concat(), &args.output);
    }
    let specification = specification(args, &models::all())?;
    let models: Vec<_> = models::all().into_iter().chain(models::with_other_readouts()).collect();
    let name = match args.shard {
        Shard { of: 1, .. } => "record.jsonl".to_string(),
        Shard { number, of } => format!("record-{number}-of-{of}.jsonl"),
    };
    let path = args.output.join(name);
    let start = Instant::now();
    if specification.models.iter().any(|name| DEEP.contains(&name.as_str())) {
        deep(&specification, &path, args.shard)?;
    } else {
        let run = Experiment::new(&specification, &models, args.shard)?;
        let mut record = RecordFile::open(&path, &specification)?;
        let bar = session.bar();
        let ended = run.run(&mut record, &Shown(&bar));
        bar.finish();
        ended?;
    }
    let lines = record::read(&path)?;
    if !session.quiet {
        let (count, seconds) = (count(lines.len(), "line"), start.elapsed().as_secs_f64());
        note(format_args!("{count} in the record, {seconds:.0} s in this run"));
    }
    if args.shard.of > 1 {
        return Ok(Outcome::Accepted);
    }
    tell(&lines, &args.output)
}

/// Runs the languages of FLaRe one after the other. The outcome is negative unless all are proved and all
/// verdicts are right.
fn run_flare(data: &Path, folder: &Path, session: &Session) -> Result<Outcome> {
    let mut results = Vec::new();
    let bar = session.bar();
    for (number, language) in flare::LANGUAGES.iter().enumerate() {
        bar.show(language.name, number, flare::LANGUAGES.len());
        results.push(flare::run(language, data)?);
    }
    bar.finish();
    let markdown = flare::markdown(&results);
    write!(std::io::stdout(), "{markdown}")?;
    save(&folder.join("flare.md"), markdown.as_bytes())?;
    save(&folder.join("flare.csv"), flare::csv(&results).as_bytes())?;
    Ok(if results.iter().all(flare::FlareResult::is_right) { Outcome::Accepted } else { Outcome::Rejected })
}

/// The models of the program `echostack-deep`.
const DEEP: [&str; 4] = ["GRU", "SRNN", "SRNN-sigmoid", "DSM"];

/// Runs deep models with the program `echostack-deep`.
fn deep(specification: &Specification, record: &Path, shard: Shard) -> Result<()> {
    ensure!(
        specification.models.iter().all(|name| DEEP.contains(&name.as_str())),
        "deep models are run separately: give only deep models ({}), or none of them",
        DEEP.join(", ")
    );
    let name = "echostack-deep";
    let mut child = Command::new(program(name))
        .args([record.as_os_str(), format!("{}/{}", shard.number, shard.of).as_ref()])
        .stdin(Stdio::piped())
        .spawn()
        .with_context(|| missing(name))?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(specification.to_toml()?.as_bytes())?;
    }
    ensure!(child.wait()?.success(), "{name} failed");
    Ok(())
}

/// Returns the specification, with the changes made by the options.
fn specification(args: &Args, models: &[Box<dyn Estimator>]) -> Result<Specification> {
    let mut specification = match &args.spec {
        None => Specification::default(),
        Some(path) => {
            let text = std::fs::read_to_string(path).with_context(|| format!("could not read {}", path.display()))?;
            Specification::from_toml(&text).with_context(|| path.display().to_string())?
        }
    };
    if !args.tasks.is_empty() {
        specification.tasks.clone_from(&args.tasks);
    }
    if !args.models.is_empty() {
        specification.models.clone_from(&args.models);
    }
    if specification.models.is_empty() || specification.models == ["reservoir"] {
        specification.models = models.iter().map(|model| model.name().to_string()).collect();
    } else if specification.models == ["deep"] {
        specification.models = DEEP.map(str::to_string).to_vec();
    }
    ensure!(!specification.tasks.is_empty(), "there are no tasks to measure");
    Ok(specification)
}

struct Shown<'a>(&'a Bar);

impl Progress for Shown<'_> {
    fn done(&self, cells: usize, of: usize, line: &Line) {
        let what = match line {
            Line::Specification { .. } => String::new(),
            Line::Draw(draw) => format!("{} {}", draw.unit.task, draw.unit.model),
            Line::Repeat(repeat) => format!("{} {}", repeat.unit.task, repeat.unit.model),
        };
        self.0.show(&what, cells, of);
    }
}

/// Writes and prints the tables that are not empty, and a summary of results that no table of the paper contains.
/// Writes the figures. Prints the results that depart from the published ones.
fn tell(lines: &[Line], folder: &Path) -> Result<Outcome> {
    let mut out = std::io::stdout().lock();
    for table in TABLES {
        if table.cells(lines).iter().all(|cell| cell.ours.is_none()) {
            continue;
        }
        let markdown = table.markdown(lines);
        writeln!(out, "{markdown}")?;
        for (ending, text) in [("md", markdown), ("csv", table.csv(lines)), ("tex", table.latex(lines))] {
            save(&folder.join(format!("{}.{ending}", table.name)), text.as_bytes())?;
        }
    }
    if has_others(lines) {
        let markdown = summary_markdown(lines) + &caution(lines);
        writeln!(out, "{markdown}")?;
        save(&folder.join("summary.md"), markdown.as_bytes())?;
        save(&folder.join("summary.csv"), summary_csv(lines).as_bytes())?;
    }
    for drawing in figures::all()?.into_iter().chain(curves::all(lines)?) {
        save(&folder.join(format!("{}.svg", drawing.name)), drawing.svg.as_bytes())?;
        save(&folder.join(format!("{}.png", drawing.name)), &drawing.png)?;
    }
    for cell in departures(lines) {
        if let (Some(ours), Some((published, _))) = (cell.ours, cell.published) {
            let (mean, repeats) = (ours.mean, ours.repeats);
            writeln!(
                out,
                "{} on {}: {mean:.3} (n = {repeats}), published {:.2}",
                cell.model, cell.task, published.mean
            )?;
        }
    }
    Ok(Outcome::Accepted)
}

/// Returns a paragraph that names the settings that differ from the paper's, if there are any.
fn caution(lines: &[Line]) -> String {
    let unlike = |line: &Line| match line {
        Line::Specification { specification, .. } => specification.unlike_paper(),
        _ => Vec::new(),
    };
    let mut unlike: Vec<String> = lines.iter().flat_map(unlike).collect();
    unlike.dedup();
    if unlike.is_empty() {
        return String::new();
    }
    format!("Not measured as in the paper, but with {}.\n", unlike.join(", "))
}
