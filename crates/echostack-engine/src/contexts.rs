//! Counting the distinct contexts of a corpus of traces, in parallel by the engine.

use std::sync::Arc;
use std::time::Duration;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, LargeStringArray, StringArray, StructArray, UInt64Array};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Fields, Int64Type, UInt64Type};
use datafusion::common::{DataFusionError, Result, ScalarValue, exec_datafusion_err, plan_datafusion_err, plan_err};
use datafusion::functions_aggregate::count::count_all;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Expr, Signature, Volatility, lit};
use datafusion::physical_plan::{ExecutionPlan, collect};
use datafusion::prelude::{ParquetReadOptions, SessionContext};
use echostack::Alphabet;
use echostack::teach::{ContextFile, Corpus, CorpusError, Depth, read_contexts, write_contexts};
use serde::{Deserialize, Serialize};

use crate::inputs::{Format, parts};
use crate::query::{Progress, column};
use crate::traces::{COLUMNS, HEADER, TraceColumns, types};

/// The name of the aggregate function that counts contexts.
pub(crate) const NAME: &str = "echostack_contexts";

/// The contexts of a corpus, and statistics on its traces.
#[derive(Clone, Debug)]
pub struct Found {
    /// The number of traces counted.
    pub traces: u64,
    /// The number of their steps: one for each token, and one for the end of the word.
    pub steps: u64,
    /// The number of rows that are not valid traces, or not traces of verdicts on tokens.
    pub faulty: u64,
    /// The fault of one of these rows.
    pub fault: Option<String>,
    /// The distinct contexts, in order.
    pub contexts: ContextFile,
}

/// Counts the distinct contexts of traces in Parquet files. An input is the address of a file or of a folder, or a
/// pattern.
///
/// # Errors
/// If the files cannot be read or declare different alphabets, or there are too many contexts.
pub async fn contexts(
    session: &SessionContext,
    inputs: &[String],
    depth: Depth,
    progress: &dyn Progress,
) -> Result<Found> {
    let mut files = Vec::new();
    for part in parts(session, inputs, None).await? {
        if part.format != Format::Parquet {
            return plan_err!("{} is not Parquet; convert traces with `echostack pack`", part.address);
        }
        part.refuse_empty().map_err(|error| error.context(part.address.clone()))?;
        files.push(part.url);
    }
    let options = ParquetReadOptions::default().skip_metadata(false).file_extension("");
    let traces = session.read_parquet(files, options).await?;
    let header = traces.schema().metadata().get(HEADER).cloned().ok_or_else(|| {
        plan_datafusion_err!(
            "the files do not declare their symbols: the key {HEADER:?} of the metadata must be the header of a trace file"
        )
    })?;
    let alphabet = Alphabet::from_trace_header(&header)
        .map_err(|error| plan_datafusion_err!("the header in the metadata: {error}"))?;
    let there = |name: &str| traces.schema().fields().iter().any(|field| field.name() == name);
    if let Some(missing) = ["word", "steps"].iter().find(|name| !there(name)) {
        return plan_err!("there is no column {missing:?}, but traces have {}", COLUMNS.join(", "));
    }
    let argument = |name: &&str| if there(name) { column(name) } else { lit(ScalarValue::Null) };
    let arguments: Vec<Expr> = COLUMNS.iter().map(argument).collect();
    let rows = traces.clone().aggregate(vec![], vec![count_all()])?.collect().await?;
    let of = rows[0].column(0).as_primitive::<Int64Type>().value(0) as u64;
    let counted = traces.aggregate(vec![], vec![counting(&header, depth).call(arguments)])?;
    let plan = counted.create_physical_plan().await?;
    let tasks = session.task_ctx();
    let running = tokio::spawn(collect(plan.clone(), tasks));
    while !running.is_finished() {
        let read = rows_read(&plan);
        progress.show(read, of, read);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let batches = running.await.map_err(|error| DataFusionError::External(error.into()))??;
    let tally = batches.iter().find(|batch| batch.num_rows() > 0);
    let tally = tally.ok_or_else(|| exec_datafusion_err!("the count came back empty"))?;
    let mut all = Counter::new(&header, depth)?;
    all.merge(tally.column(0))?;
    let Counter { corpus, tally, .. } = all;
    let Tally { traces, steps, faulty, fault } = tally;
    Ok(Found { traces, steps, faulty, fault, contexts: ContextFile { alphabet, depth, contexts: corpus.contexts() } })
}

/// Returns the number of rows that a plan has read from its files so far.
fn rows_read(plan: &Arc<dyn ExecutionPlan>) -> u64 {
    let children = plan.children();
    if children.is_empty() {
        return plan.metrics().and_then(|metrics| metrics.output_rows()).unwrap_or(0) as u64;
    }
    children.into_iter().map(rows_read).sum()
}

/// The parameters of the function that counts contexts. On a cluster, the function is serialized as these.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Setting {
    header: String,
    stack: usize,
    before: usize,
}

/// Returns the function that counts contexts, for traces with the given header.
pub(crate) fn counting(header: &str, depth: Depth) -> AggregateUDF {
    Setting { header: header.into(), stack: depth.stack, before: depth.before }.function()
}

impl Setting {
    pub(crate) fn function(self) -> AggregateUDF {
        AggregateUDF::new_from_impl(Counting {
            setting: self,
            signature: Signature::user_defined(Volatility::Immutable),
        })
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Counting {
    setting: Setting,
    signature: Signature,
}

impl Counting {
    pub(crate) fn setting(&self) -> &Setting {
        &self.setting
    }
}

impl AggregateUDFImpl for Counting {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        if given.len() == COLUMNS.len() { Ok(types().into()) } else { plan_err!("{NAME} takes {}", COLUMNS.join(", ")) }
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(tally_type())
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(args.name, tally_type(), true))])
    }

    fn accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let Setting { header, stack, before } = &self.setting;
        Ok(Box::new(Counter::new(header, Depth { stack: *stack, before: *before })?))
    }
}

/// The counts kept in addition to the contexts.
#[derive(Debug, Default)]
struct Tally {
    traces: u64,
    steps: u64,
    faulty: u64,
    /// The alphabetically first fault, so that the result does not depend on the order in which faults are found.
    fault: Option<String>,
}

impl Tally {
    fn add_fault(&mut self, count: u64, fault: String) {
        self.faulty += count;
        self.fault = Some(match self.fault.take() {
            Some(known) if known <= fault => known,
            _ => fault,
        });
    }
}

/// Returns the fields of an intermediate or final count. The contexts are a string in the format of a context file.
fn tally_fields() -> Fields {
    let number = |name| Field::new(name, DataType::UInt64, true);
    Fields::from(vec![
        number("traces"),
        number("steps"),
        number("faulty"),
        Field::new("fault", DataType::Utf8, true),
        Field::new("contexts", DataType::LargeUtf8, true),
    ])
}

fn tally_type() -> DataType {
    DataType::Struct(tally_fields())
}

/// The accumulator for the contexts of one partition of a corpus.
#[derive(Debug)]
struct Counter {
    alphabet: Arc<Alphabet>,
    corpus: Corpus,
    tally: Tally,
}

/// The approximate size of a context in memory.
const BYTES: usize = 160;

impl Counter {
    fn new(header: &str, depth: Depth) -> Result<Self> {
        let alphabet = Alphabet::from_trace_header(header).map_err(|error| plan_datafusion_err!("{NAME}: {error}"))?;
        Ok(Self { alphabet, corpus: Corpus::new(depth), tally: Tally::default() })
    }

    /// Adds the counts of other partitions.
    fn merge(&mut self, states: &ArrayRef) -> Result<()> {
        let states = states.as_struct();
        let number = |field: usize, row: usize| states.column(field).as_primitive::<UInt64Type>().value(row);
        for row in (0..states.len()).filter(|&row| states.is_valid(row)) {
            self.tally.traces += number(0, row);
            self.tally.steps += number(1, row);
            let fault = states.column(3).as_string::<i32>();
            if fault.is_valid(row) {
                self.tally.add_fault(number(2, row), fault.value(row).into());
            }
            let text = states.column(4).as_string::<i64>().value(row);
            let counted = read_contexts(&mut text.as_bytes()).map_err(|error| exec_datafusion_err!("{error}"))?;
            for context in &counted.contexts {
                self.corpus.insert(context).map_err(|error| exec_datafusion_err!("{error}"))?;
            }
        }
        Ok(())
    }

    fn counted(&self) -> Result<ScalarValue> {
        let contexts = self.corpus.contexts();
        let file = ContextFile { alphabet: self.alphabet.clone(), depth: self.corpus.depth(), contexts };
        let mut text = Vec::new();
        write_contexts(&mut text, &file)?;
        let text = String::from_utf8(text).map_err(|error| exec_datafusion_err!("{error}"))?;
        let Tally { traces, steps, faulty, fault } = &self.tally;
        let number = |value: &u64| -> ArrayRef { Arc::new(UInt64Array::from(vec![*value])) };
        let columns: Vec<ArrayRef> = vec![
            number(traces),
            number(steps),
            number(faulty),
            Arc::new(StringArray::from(vec![fault.clone()])),
            Arc::new(LargeStringArray::from(vec![text])),
        ];
        Ok(ScalarValue::Struct(Arc::new(StructArray::try_new(tally_fields(), columns, None)?)))
    }
}

impl Accumulator for Counter {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let columns = TraceColumns::new(values)?;
        for row in 0..columns.len() {
            let trace = match columns.trace(row, &self.alphabet) {
                Ok(trace) => trace,
                Err(fault) => {
                    self.tally.add_fault(1, fault);
                    continue;
                }
            };
            match self.corpus.add(&trace) {
                Ok(()) => {
                    self.tally.traces += 1;
                    self.tally.steps += trace.steps().len() as u64;
                }
                Err(error @ CorpusError::TooMany) => return Err(exec_datafusion_err!("{error}")),
                Err(error) => self.tally.add_fault(1, format!("{}: {error}", trace.source())),
            }
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        states.iter().try_for_each(|states| self.merge(states))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.counted()?])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.counted()
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.corpus.len() * BYTES
    }
}
