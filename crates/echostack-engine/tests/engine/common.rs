//! Words with their expected verdicts, and functions that read the program's output.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, DictionaryArray, Int64Array, ListArray, RecordBatch, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Int32Type, Int64Type, Schema, UInt64Type};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use echostack::language::{WordKind, draw};
use echostack::tasks::{Split, Task};
use echostack::{Manifest, Oracle, Recognizer, SymbolId, Table, Word};

/// Words of every kind with their expected verdicts.
pub struct Truth {
    pub words: Vec<Option<Vec<SymbolId>>>,
    pub verdicts: Vec<Option<(String, Option<u64>)>>,
    pub table: Table,
}

pub fn truth(count: usize) -> Truth {
    let language = Task::Dyck2.language().unwrap();
    let strict = Oracle::strict(Task::Dyck2.automaton().unwrap()).unwrap();
    let table = Table::new(&strict, Manifest::default()).unwrap();
    let tolerant = Oracle::tolerant(Task::Dyck2.automaton().unwrap());
    let mut random = Split::Test.generator(1);
    let kinds = [WordKind::Valid, WordKind::NearMiss, WordKind::Random];
    let mut words = Vec::new();
    for number in 0..count {
        let word = draw(&*language, &tolerant, kinds[number % 3], 1..=40, &mut random);
        words.push(match word {
            Some(Word::Symbols(symbols)) if number % 50 != 7 => Some(symbols),
            _ => None,
        });
    }
    let oracle = strict;
    let verdict = |word: &Option<Vec<SymbolId>>| {
        let word = Word::Symbols(word.clone()?);
        let verdict = oracle.judge(&word);
        Some((verdict.name().to_string(), verdict.position()))
    };
    let verdicts = words.iter().map(verdict).collect();
    Truth { words, verdicts, table }
}

impl Truth {
    pub fn text(&self, row: usize, between: &str) -> Option<String> {
        let name = |symbol: &SymbolId| self.table.alphabet().name(*symbol).to_string();
        self.words[row].as_ref().map(|word| word.iter().map(name).collect::<Vec<_>>().join(between))
    }

    /// Returns a column of row numbers and a column of words.
    fn batch(&self, words: ArrayRef) -> RecordBatch {
        let rows = Arc::new(Int64Array::from_iter_values(0..self.words.len() as i64));
        let fields =
            vec![Field::new("row", DataType::Int64, false), Field::new("words", words.data_type().clone(), true)];
        RecordBatch::try_new(Arc::new(Schema::new(fields)), vec![rows, words]).unwrap()
    }

    pub fn numbers(&self) -> RecordBatch {
        let number = |symbol: &SymbolId| Some(symbol.index() as i32);
        let lists = self.words.iter().map(|word| word.as_ref().map(|word| word.iter().map(number).collect::<Vec<_>>()));
        self.batch(Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists)))
    }

    pub fn texts(&self) -> RecordBatch {
        self.batch(Arc::new((0..self.words.len()).map(|row| self.text(row, "")).collect::<StringArray>()))
    }

    /// Returns strings with a dictionary.
    pub fn dictionary(&self, between: &str) -> RecordBatch {
        let texts: Vec<Option<String>> = (0..self.words.len()).map(|row| self.text(row, between)).collect();
        self.batch(Arc::new(texts.iter().map(Option::as_deref).collect::<DictionaryArray<Int32Type>>()))
    }
}

pub fn counts(output: &Output) -> BTreeMap<String, u64> {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines()
        .map(|line| line.split_once(' ').unwrap())
        .map(|(name, count)| (name.to_string(), count.trim().parse().unwrap()))
        .collect()
}

/// Returns the output files in a folder.
pub fn outputs(folder: &Path) -> Vec<PathBuf> {
    let Ok(files) = std::fs::read_dir(folder.join("out")) else { return Vec::new() };
    let files = files.map(|file| file.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|ending| ending == "parquet")).collect()
}

/// Reads the verdicts in all output files, by row number.
fn verdicts(folder: &Path) -> BTreeMap<i64, Option<(String, Option<u64>)>> {
    let mut all = BTreeMap::new();
    for file in outputs(folder) {
        let reader = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(file).unwrap()).unwrap();
        for batch in reader.build().unwrap() {
            let batch = batch.unwrap();
            let rows = cast(batch.column_by_name("row").unwrap(), &DataType::Int64).unwrap();
            let rows = rows.as_primitive::<Int64Type>().clone();
            let verdicts = cast(batch.column_by_name("verdict").unwrap(), &DataType::Utf8);
            let verdicts = verdicts.unwrap();
            let positions = batch.column_by_name("position").unwrap().as_primitive::<UInt64Type>().clone();
            for ((row, verdict), position) in rows.iter().zip(verdicts.as_string::<i32>()).zip(&positions) {
                if let Some(row) = row {
                    assert!(all.insert(row, verdict.map(|verdict| (verdict.to_string(), position))).is_none());
                }
            }
        }
    }
    all
}

/// Asserts that each row has its expected verdict. In CSV, an empty word is read as null.
pub fn check(truth: &Truth, folder: &Path, csv: bool) {
    let found = verdicts(folder);
    assert_eq!(found.len(), truth.words.len());
    for (row, verdict) in found {
        let none = csv && truth.words[row as usize].as_ref().is_some_and(Vec::is_empty);
        assert_eq!(verdict, truth.verdicts[row as usize].clone().filter(|_| !none), "row {row}");
    }
}

/// Writes a batch to a Parquet file.
pub fn parquet(path: &Path, batch: &RecordBatch) {
    let mut writer = ArrowWriter::try_new(std::fs::File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}
