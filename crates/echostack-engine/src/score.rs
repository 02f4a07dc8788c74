//! Scoring files: rows with words in, rows with verdicts out, file by file. A finished file is not scored again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::dataframe::DataFrame;
use datafusion::datasource::file_format::options::ArrowReadOptions;
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::functions::core::expr_ext::FieldAccessor;
use datafusion::functions_nested::string::string_to_array;
use datafusion::logical_expr::{Expr, lit};
use datafusion::parquet::arrow::AsyncArrowWriter;
use datafusion::parquet::basic::Compression;
use datafusion::parquet::file::properties::WriterProperties;
use datafusion::prelude::{CsvReadOptions, JsonReadOptions, ParquetReadOptions, SessionContext};
use echostack::digest::hex;
use echostack_arrow::{POSITION, VERDICT};
use futures::TryStreamExt;
use object_store::buffered::BufWriter;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::task::JoinSet;

use crate::functions::{Question, function};
use crate::lost::is_lost;
use crate::models::Models;
use crate::query::{Progress, column};
use crate::rows::{self, PROBLEM, RowFormat};

/// The model, the columns and the mode with which files are scored.
#[derive(Debug)]
pub struct Scoring {
    /// The models.
    pub models: Models,
    /// The name of the model that judges the words.
    pub model: String,
    /// The column with the words.
    pub column: String,
    /// True if the strings in this column hold tokens separated by single blanks.
    pub separated: bool,
    /// The columns to keep in the output. If empty, all columns except the words are kept.
    pub keep: Vec<String>,
    /// The number of files to score at the same time.
    pub at_once: usize,
    /// True if the session's queries run on a cluster. JSON Lines and CSV are then read by the engine itself, which
    /// treats a file with a faulty row as a faulty file.
    pub on_cluster: bool,
}

/// The number of rows for each verdict. Rows without a word count as `null`, faulty rows as `unreadable`.
pub type Counts = BTreeMap<String, u64>;

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// The rows of all finished files, by verdict.
    pub counts: Counts,
    /// The number of files finished in this run.
    pub done: usize,
    /// The number of files finished in an earlier run.
    pub found: usize,
    /// The inputs that could not be scored, each with the reason.
    pub failed: Vec<(String, String)>,
}

/// The bound on the pauses between attempts, which double each time: there is no further attempt once the next pause
/// would reach it.
const LONGEST_PAUSE: Duration = Duration::from_mins(4);

/// The size of a row group in the output, in bytes.
const GROUP: usize = 64 << 20;

impl Summary {
    fn add(&mut self, input: String, done: Result<Done>) {
        match done {
            Err(error) => self.failed.push((input, error.strip_backtrace())),
            Ok(Done { counts, found }) => {
                *(if found { &mut self.found } else { &mut self.done }) += 1;
                counts.into_iter().for_each(|(verdict, rows)| *self.counts.entry(verdict).or_default() += rows);
            }
        }
    }
}

/// A record of a finished file, stored next to its output. A file is finished if it has a marker that describes the
/// same input, model and columns as the current run.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Marker {
    input: String,
    bytes: u64,
    modified: String,
    model: String,
    scoring: String,
    counts: Counts,
}

/// One input file.
struct Part {
    store: Arc<dyn ObjectStore>,
    meta: ObjectMeta,
    address: String,
    format: Format,
}

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Parquet,
    Arrow,
    Rows(RowFormat),
}

impl Format {
    fn of(location: &Path) -> Option<Self> {
        Some(match location.extension()?.to_ascii_lowercase().as_str() {
            "parquet" => Self::Parquet,
            "arrow" | "feather" | "ipc" => Self::Arrow,
            "jsonl" | "ndjson" | "json" => Self::Rows(RowFormat::Json),
            "csv" => Self::Rows(RowFormat::Csv),
            _ => return None,
        })
    }
}

impl Scoring {
    /// Scores files and writes one Parquet file for each of them to a folder. An input is the address of a file or of a
    /// folder, or a pattern. Files that cannot be scored are reported in the summary and do not stop the others.
    ///
    /// # Errors
    /// If the inputs cannot be listed, or the folder cannot be used.
    pub async fn run(
        self,
        session: &SessionContext,
        inputs: &[String],
        output: &str,
        progress: &dyn Progress,
    ) -> Result<Summary> {
        if self.models.get(&self.model).is_none() {
            return plan_err!("there is no model {:?}", self.model);
        }
        let parts = parts(session, inputs).await?;
        let folder = ListingTableUrl::parse(format!("{}/", output.trim_end_matches('/')))?;
        let store = session.runtime_env().object_store(folder.object_store())?;
        let of = parts.iter().map(|part| part.meta.size).sum();
        let at_once = self.at_once.max(1);
        let work = Arc::new(Work { scoring: self, session: session.clone(), store, folder, rows: AtomicU64::new(0) });
        let (mut summary, mut bytes, mut waiting) = (Summary::default(), 0, parts.into_iter());
        let mut running = JoinSet::new();
        loop {
            while running.len() < at_once
                && let Some(part) = waiting.next()
            {
                let work = work.clone();
                running.spawn(async move { (work.done(&part).await, part) });
            }
            tokio::select! {
                ended = running.join_next() => match ended {
                    None => return Ok(summary),
                    Some(ended) => {
                        let (done, part) = ended.map_err(|error| DataFusionError::External(error.into()))?;
                        bytes += part.meta.size;
                        summary.add(part.address, done);
                    }
                },
                () = tokio::time::sleep(Duration::from_millis(200)) => {}
            }
            progress.show(bytes, of, work.rows.load(Ordering::Relaxed));
        }
    }

    fn marker(&self, part: &Part, counts: Counts) -> Marker {
        Marker {
            input: part.address.clone(),
            bytes: part.meta.size,
            modified: part.meta.last_modified.to_rfc3339(),
            model: self.models.digest(&self.model).unwrap_or_default(),
            scoring: format!("{} {} {:?}", self.column, self.separated, self.keep),
            counts,
        }
    }

    /// Returns the rows of a file with their verdicts.
    async fn scored(&self, session: &SessionContext, part: &Part) -> Result<DataFrame> {
        let input = match part.format {
            Format::Parquet => session.read_parquet(&part.address, ParquetReadOptions::default()).await?,
            Format::Arrow => session.read_arrow(&part.address, ArrowReadOptions::default()).await?,
            Format::Rows(RowFormat::Json) if self.on_cluster => {
                let ending = format!(".{}", part.meta.location.extension().unwrap_or_default());
                session.read_json(&part.address, JsonReadOptions::default().file_extension(&ending)).await?
            }
            Format::Rows(RowFormat::Csv) if self.on_cluster => {
                session.read_csv(&part.address, CsvReadOptions::default().schema_infer_max_records(0)).await?
            }
            Format::Rows(format) => {
                let table = rows::table(part.store.clone(), part.meta.location.clone(), format).await?;
                session.read_table(Arc::new(table))?
            }
        };
        let names: Vec<String> = input.schema().fields().iter().map(|field| field.name().clone()).collect();
        if let Some(missing) = self.keep.iter().chain([&self.column]).find(|name| !names.contains(name)) {
            return plan_err!("there is no column {missing:?}; the columns are {}", names.join(", "));
        }
        let kept = |name: &&String| match self.keep.as_slice() {
            [] => **name != self.column,
            keep => keep.contains(name) || *name == PROBLEM,
        };
        let kept: Vec<&String> = names.iter().filter(kept).collect();
        if let Some(taken) = kept.iter().find(|name| [VERDICT, POSITION].contains(&name.as_str())) {
            return plan_err!("the input already has a column {taken:?}; choose the columns to keep, without this one");
        }
        let words = column(&self.column);
        let words = if self.separated { string_to_array(words, lit(" "), lit("")) } else { words };
        let answer = function(Question::Verdict, &self.models).call(vec![lit(self.model.as_str()), words]);
        let mut columns: Vec<Expr> = kept.into_iter().map(|name| column(name)).collect();
        columns.push(answer.clone().field(VERDICT).alias(VERDICT));
        columns.push(answer.field(POSITION).alias(POSITION));
        input.select(columns)
    }
}

/// The state of a run, shared by all of its files.
struct Work {
    scoring: Scoring,
    session: SessionContext,
    store: Arc<dyn ObjectStore>,
    folder: ListingTableUrl,
    /// The number of rows judged so far.
    rows: AtomicU64,
}

/// A finished file.
struct Done {
    counts: Counts,
    /// True if it was finished in an earlier run.
    found: bool,
}

impl Work {
    /// Scores a file unless it was finished in an earlier run.
    async fn done(&self, part: &Part) -> Result<Done> {
        let place = Place::new(&self.folder, part);
        if let Some(counts) = self.finished(part, &place).await? {
            return Ok(Done { counts, found: true });
        }
        let counts = self.write_again_if_lost(part, &place.output).await?;
        let marker = serde_json::to_vec_pretty(&self.scoring.marker(part, counts.clone()));
        let marker = marker.map_err(|error| DataFusionError::External(error.into()))?;
        self.store.put(&place.marker, marker.into()).await?;
        Ok(Done { counts, found: false })
    }

    /// Returns the counts of a file that was finished in an earlier run, from the same input with the same model.
    async fn finished(&self, part: &Part, place: &Place) -> Result<Option<Counts>> {
        let bytes = match self.store.get(&place.marker).await {
            Ok(found) => found.bytes().await?,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let Ok(marker) = serde_json::from_slice::<Marker>(&bytes) else { return Ok(None) };
        let same = marker == self.scoring.marker(part, marker.counts.clone());
        Ok(same.then_some(marker.counts))
    }

    /// Scores a file, and tries again if an executor was lost together with its results. The pauses between attempts
    /// grow until the scheduler must have noticed the loss.
    async fn write_again_if_lost(&self, part: &Part, output: &Path) -> Result<Counts> {
        let mut pause = Duration::from_secs(1);
        loop {
            match self.write(part, output.clone()).await {
                Err(error) if is_lost(&error) && pause < LONGEST_PAUSE => {
                    tokio::time::sleep(pause).await;
                    pause *= 2;
                }
                ended => return ended,
            }
        }
    }

    /// Scores a file and counts its rows. The output becomes visible only when it is complete.
    async fn write(&self, part: &Part, output: Path) -> Result<Counts> {
        let mut batches = self.scoring.scored(&self.session, part).await?.execute_stream().await?;
        let output = BufWriter::new(self.store.clone(), output);
        let compression = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let mut writer = AsyncArrowWriter::try_new(output, batches.schema(), Some(compression))?;
        let mut counts = Counts::new();
        while let Some(batch) = batches.try_next().await? {
            count(&batch, &mut counts)?;
            writer.write(&batch).await?;
            if writer.in_progress_size() > GROUP {
                writer.flush().await?;
            }
            self.rows.fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
        }
        writer.close().await?;
        Ok(counts)
    }
}

/// Lists the files that the inputs denote, each once, in alphabetical order.
async fn parts(session: &SessionContext, inputs: &[String]) -> Result<Vec<Part>> {
    let mut parts: BTreeMap<String, Part> = BTreeMap::new();
    for input in inputs {
        let url = ListingTableUrl::parse(input)?;
        let store = session.runtime_env().object_store(url.object_store())?;
        let state = session.state();
        let files: Vec<ObjectMeta> = url.list_all_files(&state, &*store, "").await?.try_collect().await?;
        if files.is_empty() {
            return plan_err!("{input}: there are no such files");
        }
        for meta in files {
            let address = format!("{}{}", url.object_store().as_str(), meta.location);
            let Some(format) = Format::of(&meta.location) else {
                return plan_err!(
                    "{address} has no known extension; use .parquet, .arrow, .jsonl (or .ndjson, .json) or .csv"
                );
            };
            parts.insert(address.clone(), Part { store: store.clone(), meta, address, format });
        }
    }
    Ok(parts.into_values().collect())
}

/// The locations of the output and the marker of a file.
struct Place {
    output: Path,
    marker: Path,
}

impl Place {
    fn new(folder: &ListingTableUrl, part: &Part) -> Self {
        let digest = hex(&Sha256::digest(part.address.as_bytes())[..4]);
        let stem = part.meta.location.filename().unwrap_or_default();
        let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
        let name = format!("{stem}-{digest}");
        let file = |path: Path, ending: &str| path.join(format!("{name}.{ending}"));
        let output = file(folder.prefix().clone(), "parquet");
        Self { output, marker: file(folder.prefix().clone().join("_finished"), "json") }
    }
}

/// Counts the rows of a batch by verdict.
fn count(batch: &RecordBatch, counts: &mut Counts) -> Result<()> {
    let column = |name: &str| batch.column_by_name(name).map(|column| cast(column, &DataType::Utf8)).transpose();
    let (verdicts, problems) = (column(VERDICT)?, column(PROBLEM)?);
    let verdicts = verdicts.as_ref().map(AsArray::as_string::<i32>);
    for row in 0..batch.num_rows() {
        let faulty = problems.as_ref().is_some_and(|problems| problems.is_valid(row));
        let verdict = verdicts.filter(|verdicts| verdicts.is_valid(row)).map(|verdicts| verdicts.value(row));
        let name = if faulty { "unreadable" } else { verdict.unwrap_or("null") };
        match counts.get_mut(name) {
            Some(count) => *count += 1,
            None => _ = counts.insert(name.into(), 1),
        }
    }
    Ok(())
}
