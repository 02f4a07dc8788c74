//! Traces in Parquet files: the columnar trace format described in docs/format.md.

use std::io::Write;
use std::sync::Arc;

use datafusion::arrow::array::builder::{
    ArrayBuilder, BooleanBuilder, Float64Builder, ListBuilder, StringBuilder, StructBuilder, UInt32Builder,
    UInt64Builder,
};
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, ListArray, RecordBatch, StringArray, StructArray,
};
use datafusion::arrow::datatypes::{DataType, Field, Fields, Float64Type, Schema, SchemaRef, UInt32Type, UInt64Type};
use datafusion::common::{Result, internal_datafusion_err};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::Compression;
use datafusion::parquet::file::properties::WriterProperties;
use echostack::recognize::Reduction;
use echostack::symbol::Input;
use echostack::teach::Step;
use echostack::{Alphabet, SymbolId, Trace, Word};

/// The metadata key of the alphabet.
pub(crate) const HEADER: &str = "echostack";

/// The names of the columns, in order.
pub(crate) const COLUMNS: [&str; 4] = ["source", "word", "steps", "teach"];

/// The number of traces that are written together.
const TOGETHER: usize = 1024;

fn reduction_fields() -> Fields {
    Fields::from(vec![Field::new("pop", DataType::UInt32, true), Field::new("push", DataType::Utf8, true)])
}

fn step_fields() -> Fields {
    Fields::from(vec![
        Field::new("reductions", DataType::new_list(DataType::Struct(reduction_fields()), true), true),
        Field::new("output", DataType::new_list(DataType::Float64, true), true),
        Field::new("shift", DataType::Boolean, true),
    ])
}

/// Returns the types of the columns.
pub(crate) fn types() -> [DataType; 4] {
    [
        DataType::Utf8,
        DataType::new_list(DataType::Utf8, true),
        DataType::new_list(DataType::Struct(step_fields()), true),
        DataType::new_list(DataType::UInt64, true),
    ]
}

fn schema(alphabet: &Alphabet) -> SchemaRef {
    let field = |(name, data)| Field::new(name, data, true);
    let fields: Vec<Field> = COLUMNS.into_iter().zip(types()).map(field).collect();
    let header = [(HEADER.to_string(), alphabet.to_trace_header())];
    Arc::new(Schema::new_with_metadata(fields, header.into()))
}

/// A writer of traces as Parquet, for words of tokens.
pub struct TraceWriter<W: Write + Send> {
    alphabet: Arc<Alphabet>,
    waiting: Vec<Trace>,
    writer: ArrowWriter<W>,
}

impl<W: Write + Send> TraceWriter<W> {
    /// Starts a file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn new(alphabet: &Arc<Alphabet>, out: W) -> Result<Self> {
        let compression = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let writer = ArrowWriter::try_new(out, schema(alphabet), Some(compression))?;
        Ok(Self { alphabet: alphabet.clone(), waiting: Vec::new(), writer })
    }

    /// Writes a trace.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&mut self, trace: Trace) -> Result<()> {
        self.waiting.push(trace);
        if self.waiting.len() == TOGETHER { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        let batch = batch(&self.alphabet, &self.waiting)?;
        self.waiting.clear();
        Ok(self.writer.write(&batch)?)
    }

    /// Completes the file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(mut self) -> Result<()> {
        self.flush()?;
        self.writer.close()?;
        Ok(())
    }
}

/// Returns the builder of a struct's field.
fn part<T: ArrayBuilder>(builder: &mut StructBuilder, at: usize) -> Result<&mut T> {
    builder.field_builder::<T>(at).ok_or_else(|| internal_datafusion_err!("field {at} is of another type"))
}

fn batch(alphabet: &Alphabet, traces: &[Trace]) -> Result<RecordBatch> {
    let reductions = ListBuilder::new(StructBuilder::from_fields(reduction_fields(), 0));
    let parts: Vec<Box<dyn ArrayBuilder>> =
        vec![Box::new(reductions), Box::new(ListBuilder::new(Float64Builder::new())), Box::new(BooleanBuilder::new())];
    let mut steps = ListBuilder::new(StructBuilder::new(step_fields(), parts));
    let (mut sources, mut words) = (StringBuilder::new(), ListBuilder::new(StringBuilder::new()));
    let mut teach = ListBuilder::new(UInt64Builder::new());
    for trace in traces {
        sources.append_value(trace.source());
        for input in trace.word().inputs() {
            match input {
                Input::Symbol(token) => words.values().append_value(alphabet.name(token)),
                Input::Vector(_) => words.values().append_null(),
            }
        }
        words.append(matches!(trace.word(), Word::Symbols(_)));
        for step in trace.steps() {
            let builder = steps.values();
            let list: &mut ListBuilder<StructBuilder> = part(builder, 0)?;
            for Reduction { pop, push } in &step.reductions {
                part::<UInt32Builder>(list.values(), 0)?.append_value(*pop);
                part::<StringBuilder>(list.values(), 1)?.append_option(push.map(|symbol| alphabet.name(symbol)));
                list.values().append(true);
            }
            list.append(true);
            let output: &mut ListBuilder<Float64Builder> = part(builder, 1)?;
            output.values().append_slice(&step.output);
            output.append(true);
            part::<BooleanBuilder>(builder, 2)?.append_value(step.shift);
            builder.append(true);
        }
        steps.append(true);
        let taught = trace.taught();
        let all = taught == (0..trace.steps().len());
        if !all {
            teach.values().append_slice(&[taught.start as u64, taught.end as u64]);
        }
        teach.append(!all);
    }
    let columns: Vec<ArrayRef> =
        vec![Arc::new(sources.finish()), Arc::new(words.finish()), Arc::new(steps.finish()), Arc::new(teach.finish())];
    Ok(RecordBatch::try_new(schema(alphabet), columns)?)
}

/// The columns of a batch of traces; their types are those returned by [`types`].
pub(crate) struct TraceColumns<'a> {
    sources: &'a StringArray,
    words: &'a ListArray,
    tokens: &'a StringArray,
    steps: &'a ListArray,
    reductions: &'a ListArray,
    pops: &'a [u32],
    pushes: &'a StringArray,
    outputs: &'a ListArray,
    values: &'a [f64],
    shifts: &'a BooleanArray,
    teach: &'a ListArray,
    taught: &'a [u64],
}

impl<'a> TraceColumns<'a> {
    pub(crate) fn new(columns: &'a [ArrayRef]) -> Result<Self> {
        let types = types();
        if columns.len() != types.len() || !columns.iter().zip(&types).all(|(column, data)| column.data_type() == data)
        {
            return Err(internal_datafusion_err!("the columns of traces are of other types"));
        }
        let (words, steps, teach) =
            (columns[1].as_list::<i32>(), columns[2].as_list::<i32>(), columns[3].as_list::<i32>());
        let parts: &StructArray = steps.values().as_struct();
        let (reductions, outputs) = (parts.column(0).as_list::<i32>(), parts.column(1).as_list::<i32>());
        let actions: &StructArray = reductions.values().as_struct();
        Ok(Self {
            sources: columns[0].as_string(),
            words,
            tokens: words.values().as_string(),
            steps,
            reductions,
            pops: actions.column(0).as_primitive::<UInt32Type>().values(),
            pushes: actions.column(1).as_string(),
            outputs,
            values: outputs.values().as_primitive::<Float64Type>().values(),
            shifts: parts.column(2).as_boolean(),
            teach,
            taught: teach.values().as_primitive::<UInt64Type>().values(),
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns the trace in a row, or what is wrong with it.
    pub(crate) fn trace(&self, row: usize, alphabet: &Alphabet) -> Result<Trace, String> {
        let source = if self.sources.is_valid(row) { self.sources.value(row) } else { "a trace without a source" };
        let faulty = |what: String| format!("{source}: {what}");
        if self.words.is_null(row) || self.steps.is_null(row) {
            return Err(faulty("the word or its steps are missing".into()));
        }
        let known = |name: &str, wanted: &str, is: &dyn Fn(SymbolId) -> bool| {
            let symbol = alphabet.symbol(name).filter(|&symbol| is(symbol));
            symbol.ok_or_else(|| faulty(format!("{name:?} is not a {wanted} of the alphabet")))
        };
        let terminal = |at: usize| known(self.tokens.value(at), "terminal", &|symbol| !alphabet.is_nonterminal(symbol));
        let tokens = range(self.words, row).map(terminal).collect::<Result<_, _>>()?;
        let reduction = |at: usize| {
            let nonterminal = |name: &str| known(name, "nonterminal", &|symbol| alphabet.is_nonterminal(symbol));
            let push = self.pushes.is_valid(at).then(|| nonterminal(self.pushes.value(at))).transpose()?;
            Ok(Reduction { pop: self.pops[at], push })
        };
        let step = |at: usize| {
            Ok(Step {
                reductions: range(self.reductions, at).map(reduction).collect::<Result<_, String>>()?,
                output: self.values[range(self.outputs, at)].to_vec(),
                shift: self.shifts.is_valid(at) && self.shifts.value(at),
            })
        };
        let steps = range(self.steps, row).map(step).collect::<Result<_, String>>()?;
        let trace = Trace::new(alphabet, source, Word::Symbols(tokens), steps).map_err(|error| error.to_string())?;
        if self.teach.is_null(row) {
            return Ok(trace);
        }
        match self.taught[range(self.teach, row)] {
            [from, to] => Ok(trace.teaching(from as usize..to as usize)),
            _ => Err(faulty("teach must be two numbers, from and to".into())),
        }
    }
}

/// Returns the positions of the values in a row of lists.
fn range(lists: &ListArray, row: usize) -> std::ops::Range<usize> {
    let ends = lists.value_offsets();
    ends[row] as usize..ends[row + 1] as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use echostack::tasks::{Split, Task};

    #[test]
    fn traces_come_back_from_columns_as_they_were() {
        for task in Task::ALL {
            let mut traces = task.examples(Split::Train, 20, 3);
            traces[0] = traces[0].clone().teaching(1..2);
            let alphabet = task.alphabet();
            let columns = batch(&alphabet, &traces).unwrap();
            let read = TraceColumns::new(columns.columns()).unwrap();
            assert_eq!(read.len(), traces.len());
            for (row, trace) in traces.iter().enumerate() {
                match trace.word() {
                    Word::Symbols(_) => assert_eq!(read.trace(row, &alphabet).as_ref(), Ok(trace), "{task}"),
                    Word::Vectors { .. } => assert!(read.trace(row, &alphabet).unwrap_err().contains("missing")),
                }
            }
        }
        let json = batch(&Task::Json.alphabet(), &Task::Json.examples(Split::Train, 1, 3)).unwrap();
        let fault = TraceColumns::new(json.columns()).unwrap().trace(0, &Task::Anbn.alphabet()).unwrap_err();
        assert!(fault.contains("is not a terminal of the alphabet"), "{fault}");
    }
}
