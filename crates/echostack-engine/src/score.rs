//! Scoring files: rows with words in, rows with verdicts out, file by file. A finished file is not scored again.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DFSchema, DataFusionError, Result, ScalarValue, plan_err};
use datafusion::dataframe::DataFrame;
use datafusion::datasource::file_format::options::ArrowReadOptions;
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::datasource::physical_plan::parquet::metadata::DFParquetMetadata;
use datafusion::functions::core::expr_ext::FieldAccessor;
use datafusion::functions_nested::string::string_to_array;
use datafusion::logical_expr::{Expr, ExprSchemable, lit};
use datafusion::parquet::arrow::AsyncArrowWriter;
use datafusion::parquet::basic::Compression;
use datafusion::parquet::file::properties::WriterProperties;
use datafusion::prelude::{CsvReadOptions, JsonReadOptions, ParquetReadOptions, SessionContext};
use echostack::digest::hex;
use echostack_arrow::{POSITION, VERDICT};
use futures::TryStreamExt;
use object_store::buffered::BufWriter;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::task::JoinSet;

use crate::functions::{Question, function};
use crate::inputs::{Format, Part, parts};
use crate::models::Models;
use crate::query::{Progress, column};
use crate::retry::is_lost;
use crate::rows::{self, PROBLEM, RowFile, RowFormat};

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
        let folder = ListingTableUrl::parse(format!("{}/", output.trim_end_matches('/')))?;
        let parts = parts(session, inputs, Some(&folder)).await?;
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
        let mut scoring = format!("{} {} {:?}", self.column, self.separated, self.keep);
        if !part.folders.is_empty() {
            _ = write!(scoring, " {:?}", part.folders);
        }
        Marker {
            input: part.address.clone(),
            bytes: part.meta.size,
            modified: part.meta.last_modified.to_rfc3339(),
            model: self.models.digest(&self.model).unwrap_or_default(),
            scoring,
            counts,
        }
    }

    /// Opens a file as a table.
    async fn opened(&self, session: &SessionContext, part: &Part) -> Result<DataFrame> {
        part.refuse_empty()?;
        let (url, ending) = (&part.url, part.ending());
        match part.format {
            Format::Parquet => session.read_parquet(url, ParquetReadOptions::default().file_extension(ending)).await,
            Format::Arrow => {
                let options = ArrowReadOptions { file_extension: ending, ..ArrowReadOptions::default() };
                session.read_arrow(url, options).await
            }
            Format::Rows(RowFormat::Json) if self.on_cluster => {
                let options = JsonReadOptions::default().file_extension(ending);
                session.read_json(url, options.file_compression_type(part.compression)).await
            }
            Format::Rows(RowFormat::Csv) if self.on_cluster => {
                let options = CsvReadOptions::default().schema_infer_max_records(0).file_extension(ending);
                session.read_csv(url, options.file_compression_type(part.compression)).await
            }
            Format::Rows(format) => {
                let (store, location) = (part.store.clone(), part.meta.location.clone());
                let file = RowFile { store, location, format, compression: part.compression };
                session.read_table(Arc::new(rows::table(file).await?))
            }
        }
    }

    /// Returns the rows of a file with their verdicts.
    async fn scored(&self, session: &SessionContext, part: &Part) -> Result<DataFrame> {
        let input = self.opened(session, part).await?;
        let in_file: Vec<&String> = input.schema().fields().iter().map(|field| field.name()).collect();
        let in_path = part.folders.iter().map(|(name, _)| name);
        let names: Vec<&String> = in_file.iter().copied().chain(in_path).collect();
        let missing = self.keep.iter().find(|name| !names.contains(name));
        if let Some(missing) = missing.or(Some(&self.column).filter(|name| !in_file.contains(name))) {
            let known =
                if names.is_empty() { "there are none".into() } else { format!("the columns are {}", join(&names)) };
            return plan_err!("there is no column {missing:?}; {known}");
        }
        let is_kept = |name: &str| match self.keep.as_slice() {
            [] => name != self.column,
            keep => keep.iter().any(|kept| kept == name) || name == PROBLEM,
        };
        let kept: Vec<&String> = names.into_iter().filter(|name| is_kept(name)).collect();
        if let Some(taken) = kept.iter().find(|name| [VERDICT, POSITION].contains(&name.as_str())) {
            return plan_err!("the input already has a column {taken:?}; choose the columns to keep, without this one");
        }
        if let Some(twice) = kept.iter().enumerate().find(|(at, name)| kept[..*at].contains(name)) {
            let name = twice.1;
            return plan_err!(
                "the column {name:?} is in the file and in the name of its folder; choose the columns to keep, without \
                 this one"
            );
        }
        let words = column(&self.column);
        let words = if self.separated {
            string_to_array(cast_to_text(words, input.schema(), &self.column)?, lit(" "), lit(""))
        } else {
            words
        };
        let answer = function(Question::Verdict, &self.models).call(vec![lit(self.model.as_str()), words]);
        let mut columns: Vec<Expr> =
            in_file.into_iter().filter(|name| is_kept(name)).map(|name| column(name)).collect();
        let folders = part.folders.iter().filter(|(name, _)| is_kept(name));
        columns.extend(folders.map(|(name, value)| lit(ScalarValue::Utf8(value.clone())).alias(name)));
        columns.push(answer.clone().field(VERDICT).alias(VERDICT));
        columns.push(answer.field(POSITION).alias(POSITION));
        input.select(columns)
    }
}

/// Returns a column of strings, without a dictionary, because not every function of the engine accepts one.
fn cast_to_text(words: Expr, schema: &DFSchema, name: &str) -> Result<Expr> {
    let dictionary = matches!(schema.field_with_unqualified_name(name)?.data_type(), DataType::Dictionary(_, _));
    if dictionary { words.cast_to(&DataType::Utf8, schema) } else { Ok(words) }
}

fn join(names: &[&String]) -> String {
    names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ")
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

    /// Returns the counts of a file that was finished in an earlier run, from the same input with the same model, and
    /// whose output is still there with all of its rows.
    async fn finished(&self, part: &Part, place: &Place) -> Result<Option<Counts>> {
        let bytes = match self.store.get(&place.marker).await {
            Ok(found) => found.bytes().await?,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let Ok(marker) = serde_json::from_slice::<Marker>(&bytes) else { return Ok(None) };
        let same = marker == self.scoring.marker(part, marker.counts.clone());
        let rows: u64 = marker.counts.values().sum();
        let is_finished = same && self.rows_written(&place.output).await? == Some(rows);
        Ok(is_finished.then_some(marker.counts))
    }

    /// Returns the number of rows in an output, or `None` if there is none or it is damaged.
    async fn rows_written(&self, output: &Path) -> Result<Option<u64>> {
        let meta = match self.store.head(output).await {
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            found => found?,
        };
        let footer = DFParquetMetadata::new(&*self.store, &meta).fetch_metadata().await;
        Ok(footer.ok().map(|footer| footer.file_metadata().num_rows() as u64))
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
