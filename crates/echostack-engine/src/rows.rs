//! Rows of JSON Lines and CSV, of which some may be faulty: each becomes a row, and what is wrong with it stands beside it.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray, new_null_array};
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::csv;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::json::reader::{ReaderBuilder, infer_json_schema};
use datafusion::catalog::streaming::StreamingTable;
use datafusion::common::{DataFusionError, Result, exec_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use futures::stream::{BoxStream, StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};

/// The column that says what is wrong with a row; null if nothing is.
pub const PROBLEM: &str = "problem";

/// Rows that the types of columns are guessed from.
const GUESSED_FROM: usize = 1_000;
/// Rows of a batch.
const ROWS: usize = 8_192;
/// Bytes of a batch, if its rows are long.
const BYTES: usize = 8 << 20;
/// The longest row: a longer one is faulty.
const LONGEST: usize = 64 << 20;

/// A format with a row in each line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFormat {
    /// An object of JSON.
    Json,
    /// Values separated by commas, below a line with the names of the columns.
    Csv,
}

/// A file as a table. Columns of JSON Lines are guessed from its first rows, and those of CSV are texts; a row that does not fit is a faulty one.
///
/// # Errors
/// If the file cannot be read, or no row tells its columns.
pub async fn table(store: Arc<dyn ObjectStore>, location: Path, format: RowFormat) -> Result<StreamingTable> {
    let mut lines = Lines::open(&*store, &location, format).await?;
    let mut first = Vec::new();
    while first.len() < GUESSED_FROM
        && let Some(line) = lines.next().await?
    {
        first.push(line);
    }
    let columns = match (format, first.first()) {
        (RowFormat::Csv, Some(names)) => csv_columns(names)?,
        (_, _) => json_columns(&first),
    };
    if columns.fields().is_empty() {
        return exec_err!("{location} has no row that tells its columns");
    }
    if columns.column_with_name(PROBLEM).is_some() {
        return exec_err!("{location} has a column {PROBLEM}, which is where faults of rows would be told");
    }
    let mut fields: Vec<_> = columns.fields().iter().cloned().collect();
    fields.push(Arc::new(Field::new(PROBLEM, DataType::Utf8, true)));
    let schema = Arc::new(Schema::new(fields));
    let decoding = Decoding { columns: Arc::new(columns), schema: schema.clone(), format };
    let rows = Rows { store, location, decoding: Arc::new(decoding) };
    StreamingTable::try_new(schema, vec![Arc::new(rows)])
}

/// The columns of all rows that are objects and fit those before them.
fn json_columns(lines: &[Vec<u8>]) -> Schema {
    let all: Vec<u8> = lines.join(&b'\n');
    if let Ok((schema, _)) = infer_json_schema(all.as_slice(), None) {
        return schema;
    }
    let mut known = Schema::empty();
    for line in lines {
        if let Ok((schema, _)) = infer_json_schema(line.as_slice(), None)
            && let Ok(both) = Schema::try_merge([known.clone(), schema])
        {
            known = both;
        }
    }
    known
}

/// The columns by the names in the first line. All are texts: a word of digits is no number.
fn csv_columns(names: &[u8]) -> Result<Schema> {
    let (read, _) = csv::reader::Format::default().with_header(true).infer_schema(names, Some(0))?;
    let text = |field: &Arc<Field>| Field::new(field.name(), DataType::Utf8, true);
    Ok(Schema::new(read.fields().iter().map(text).collect::<Vec<_>>()))
}

/// How bytes become columns.
#[derive(Debug)]
struct Decoding {
    /// The columns of the file.
    columns: SchemaRef,
    /// The same, and what is wrong with a row.
    schema: SchemaRef,
    format: RowFormat,
}

impl Decoding {
    /// A batch of rows. They are decoded together if none is faulty, else one by one.
    fn batch(&self, lines: &[Vec<u8>]) -> Result<RecordBatch> {
        let together = if lines.iter().any(|line| line.len() > LONGEST) {
            Err(ArrowError::ParseError("a row is too long".into()))
        } else {
            self.decode(&lines.join(&b'\n'), lines.len())
        };
        let (columns, problems) = match together {
            Ok(columns) => (columns, new_null_array(&DataType::Utf8, lines.len())),
            Err(_) => self.one_by_one(lines)?,
        };
        let mut arrays = columns.columns().to_vec();
        arrays.push(problems);
        Ok(RecordBatch::try_new(self.schema.clone(), arrays)?)
    }

    fn one_by_one(&self, lines: &[Vec<u8>]) -> Result<(RecordBatch, ArrayRef)> {
        let empty = self.columns.fields().iter().map(|field| new_null_array(field.data_type(), 1)).collect();
        let empty = RecordBatch::try_new(self.columns.clone(), empty)?;
        let (mut rows, mut problems) = (Vec::new(), Vec::new());
        for line in lines {
            let (row, problem) = match self.decode(line, 1) {
                _ if line.len() > LONGEST => (empty.clone(), Some(format!("longer than {LONGEST} bytes"))),
                Ok(row) => (row, None),
                Err(error) => (empty.clone(), Some(error.to_string())),
            };
            rows.push(row);
            problems.push(problem);
        }
        Ok((concat_batches(&self.columns, &rows)?, Arc::new(StringArray::from(problems))))
    }

    /// So many rows, or what is wrong.
    fn decode(&self, bytes: &[u8], rows: usize) -> Result<RecordBatch, ArrowError> {
        let batch = match self.format {
            RowFormat::Json => {
                let mut decoder = ReaderBuilder::new(self.columns.clone()).with_batch_size(rows + 1).build_decoder()?;
                decoder.decode(bytes)?;
                decoder.flush()?
            }
            RowFormat::Csv => {
                let reader = csv::ReaderBuilder::new(self.columns.clone()).with_batch_size(rows + 1);
                reader.build(bytes)?.next().transpose()?
            }
        };
        match batch {
            Some(batch) if batch.num_rows() == rows => Ok(batch),
            other => {
                let given = other.map_or(0, |batch| batch.num_rows());
                Err(ArrowError::ParseError(format!("{given} rows where {rows} are expected")))
            }
        }
    }
}

/// The rows of a file, as the engine reads them.
struct Rows {
    store: Arc<dyn ObjectStore>,
    location: Path,
    decoding: Arc<Decoding>,
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows").field("location", &self.location).finish_non_exhaustive()
    }
}

impl PartitionStream for Rows {
    fn schema(&self) -> &SchemaRef {
        &self.decoding.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let (store, location, decoding) = (self.store.clone(), self.location.clone(), self.decoding.clone());
        let format = decoding.format;
        let opened = async move {
            let mut lines = Lines::open(&*store, &location, format).await?;
            if format == RowFormat::Csv {
                lines.next().await?;
            }
            Ok::<_, DataFusionError>(lines)
        };
        let batches = futures::stream::once(opened).map_ok(move |lines| {
            let decoding = decoding.clone();
            futures::stream::try_unfold(lines, move |mut lines| {
                let decoding = decoding.clone();
                async move {
                    let some = lines.some().await?;
                    if some.is_empty() { Ok(None) } else { Ok(Some((decoding.batch(&some)?, lines))) }
                }
            })
        });
        let batches = batches.try_flatten().boxed();
        Box::pin(RecordBatchStreamAdapter::new(self.decoding.schema.clone(), batches))
    }
}

/// The lines of a file that have something in them. In CSV a line goes on while a quote is open.
struct Lines {
    bytes: BoxStream<'static, object_store::Result<bytes::Bytes>>,
    chunk: bytes::Bytes,
    format: RowFormat,
}

impl Lines {
    async fn open(store: &dyn ObjectStore, location: &Path, format: RowFormat) -> Result<Self> {
        let bytes = store.get(location).await?.into_stream();
        Ok(Self { bytes, chunk: bytes::Bytes::new(), format })
    }

    /// The next line, or none at the end. Of one that is too long only the beginning, which is then faulty.
    async fn next(&mut self) -> Result<Option<Vec<u8>>> {
        let (mut line, mut quoted) = (Vec::new(), false);
        loop {
            if self.chunk.is_empty() {
                match self.bytes.next().await.transpose()? {
                    Some(chunk) => self.chunk = chunk,
                    None => return Ok(Some(line).filter(|line| !line.trim_ascii().is_empty())),
                }
            }
            let csv = self.format == RowFormat::Csv;
            let end = self.chunk.iter().position(|&byte| {
                quoted ^= csv && byte == b'"';
                byte == b'\n' && !quoted
            });
            let taken = self.chunk.split_to(end.unwrap_or(self.chunk.len()));
            line.extend(&taken[..taken.len().min((LONGEST + 1).saturating_sub(line.len()))]);
            // A quote that is never closed does not take the rest of the file with it.
            quoted &= line.len() <= LONGEST;
            if end.is_some() {
                let _ = self.chunk.split_to(1);
                if !line.trim_ascii().is_empty() {
                    return Ok(Some(line));
                }
                line.clear();
            }
        }
    }

    /// The lines of the next batch; none at the end.
    async fn some(&mut self) -> Result<Vec<Vec<u8>>> {
        let (mut lines, mut bytes) = (Vec::new(), 0);
        while lines.len() < ROWS && bytes < BYTES {
            let Some(line) = self.next().await? else { break };
            bytes += line.len();
            lines.push(line);
        }
        Ok(lines)
    }
}
