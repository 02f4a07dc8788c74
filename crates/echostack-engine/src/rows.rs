//! Reading JSON Lines and CSV files in which some rows may be faulty. A faulty row stays in the result, with its fault
//! in an additional column.

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
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use futures::stream::{BoxStream, StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};

/// The column with the fault of a row, or null if there is none.
pub const PROBLEM: &str = "problem";

/// The number of rows from which the types of the columns are inferred.
const GUESSED_FROM: usize = 1_000;
/// The maximum number of rows in a batch.
const ROWS: usize = 8_192;
/// The number of bytes at which a batch ends, if its rows are long.
const BYTES: usize = 8 << 20;
/// The maximum number of bytes in a row; a longer row is faulty.
const LONGEST: usize = 64 << 20;

/// A format with one row per line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFormat {
    /// JSON Lines: one JSON object per line.
    Json,
    /// CSV: values separated by commas, after a header line with the names of the columns.
    Csv,
}

/// A file with one row per line.
#[derive(Clone)]
pub struct RowFile {
    /// Where the file is.
    pub store: Arc<dyn ObjectStore>,
    /// The path of the file in the store.
    pub location: Path,
    /// The format of its rows.
    pub format: RowFormat,
    /// The compression of the whole file.
    pub compression: FileCompressionType,
}

/// Opens a file as a table. The columns of JSON Lines are inferred from the first rows; those of CSV are all strings. A
/// row that does not fit the columns is faulty.
///
/// # Errors
/// If the file cannot be read, or its columns cannot be determined.
pub async fn table(file: RowFile) -> Result<StreamingTable> {
    let (location, format) = (&file.location, file.format);
    let mut lines = file.lines().await?;
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
        return exec_err!("{location} has no row from which its columns can be determined");
    }
    if columns.column_with_name(PROBLEM).is_some() {
        return exec_err!("{location} has a column {PROBLEM}, but this name is reserved for faults of rows; rename it");
    }
    let mut fields: Vec<_> = columns.fields().iter().cloned().collect();
    fields.push(Arc::new(Field::new(PROBLEM, DataType::Utf8, true)));
    let schema = Arc::new(Schema::new(fields));
    let decoding = Decoding { columns: Arc::new(columns), schema: schema.clone(), format };
    let rows = Rows { file, decoding: Arc::new(decoding) };
    StreamingTable::try_new(schema, vec![Arc::new(rows)])
}

/// Returns the columns of all rows that are objects and are compatible with the rows before them.
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

/// Returns the columns named in the header line. All are strings, because a word may consist of digits.
fn csv_columns(names: &[u8]) -> Result<Schema> {
    let (read, _) = csv::reader::Format::default().with_header(true).infer_schema(names, Some(0))?;
    let text = |field: &Arc<Field>| Field::new(field.name(), DataType::Utf8, true);
    Ok(Schema::new(read.fields().iter().map(text).collect::<Vec<_>>()))
}

/// The decoder from bytes to columns.
#[derive(Debug)]
struct Decoding {
    /// The columns of the file.
    columns: SchemaRef,
    /// The columns of the file, and the column of faults.
    schema: SchemaRef,
    format: RowFormat,
}

impl Decoding {
    /// Decodes a batch of rows: all together if none is faulty, otherwise one by one.
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

    /// Decodes bytes that must contain exactly `rows` rows.
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
    file: RowFile,
    decoding: Arc<Decoding>,
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows").field("location", &self.file.location).finish_non_exhaustive()
    }
}

impl PartitionStream for Rows {
    fn schema(&self) -> &SchemaRef {
        &self.decoding.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let (file, decoding) = (self.file.clone(), self.decoding.clone());
        let opened = async move {
            let mut lines = file.lines().await?;
            if file.format == RowFormat::Csv {
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

/// The non-blank lines of a file. In CSV, a line continues while a quote is open.
struct Lines {
    bytes: BoxStream<'static, Result<bytes::Bytes>>,
    chunk: bytes::Bytes,
    format: RowFormat,
}

impl RowFile {
    async fn lines(&self) -> Result<Lines> {
        let bytes = self.store.get(&self.location).await?.into_stream();
        let bytes = self.compression.convert_stream(bytes.map_err(DataFusionError::from).boxed())?;
        Ok(Lines { bytes, chunk: bytes::Bytes::new(), format: self.format })
    }
}

impl Lines {
    /// Returns the next line, or `None` at the end. A line that is too long is cut off, but stays too long to be valid.
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
            // A quote that is never closed must not swallow the rest of the file.
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

    /// Returns the lines of the next batch, which is empty at the end.
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
