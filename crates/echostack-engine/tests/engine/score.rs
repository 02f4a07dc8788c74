//! Tests of scoring files in every format: each row gets the verdict that its word gets alone, faulty rows do not stop
//! a run, and finished files are not scored again.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::arrow::ipc::CompressionType;
use datafusion::arrow::ipc::writer::{FileWriter, IpcWriteOptions};
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::common::{check, counts, outputs, parquet, truth};

fn score(folder: &Path, arguments: &[&str]) -> Output {
    let command = Command::new(env!("CARGO_BIN_EXE_echostack-engine"))
        .current_dir(folder)
        .args(["score", "table", "--quiet"])
        .args(arguments)
        .args(if arguments.contains(&"--output") { &[][..] } else { &["--output", "out"] })
        .output();
    command.unwrap()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut writer = GzEncoder::new(Vec::new(), Compression::fast());
    writer.write_all(text.as_bytes()).unwrap();
    writer.finish().unwrap()
}

fn arrow(path: &Path, batch: &RecordBatch, compression: Option<CompressionType>) {
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = FileWriter::try_new_with_options(file, &batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
}

#[test]
fn every_format_has_the_verdicts_of_its_words() {
    let truth = truth(3_000);
    let rows = 0..truth.words.len();
    let value = |row: usize| truth.text(row, "").map_or("null".to_string(), |text| format!("\"{text}\""));
    let json: Vec<String> = rows.clone().map(|row| format!("{{\"row\": {row}, \"words\": {}}}", value(row))).collect();
    let csv: Vec<String> = rows.map(|row| format!("{row},{}", truth.text(row, " ").unwrap_or_default())).collect();
    let (json, csv) = (json.join("\n"), format!("row,words\n{}", csv.join("\n")));
    let cases: [(&str, &[&str]); 11] = [
        ("a.parquet", &[]),
        ("b.parquet", &[]),
        ("dictionary.parquet", &[]),
        ("separated.parquet", &["--tokens"]),
        ("c.arrow", &[]),
        ("c.feather", &[]),
        ("d.jsonl", &[]),
        ("d.jsonl.gz", &[]),
        ("d.ndjson.zst", &[]),
        ("e.csv", &["--tokens"]),
        ("E.CSV.GZ", &["--tokens"]),
    ];
    for (name, options) in cases {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        truth.table.save(folder.path().join("table")).unwrap();
        match name {
            "a.parquet" => parquet(&path, &truth.numbers()),
            "b.parquet" => parquet(&path, &truth.texts()),
            "dictionary.parquet" => parquet(&path, &truth.dictionary("")),
            "separated.parquet" => parquet(&path, &truth.dictionary(" ")),
            "c.arrow" => arrow(&path, &truth.numbers(), None),
            // This is how Python writes Feather files.
            "c.feather" => arrow(&path, &truth.dictionary(""), Some(CompressionType::LZ4_FRAME)),
            "d.jsonl" => std::fs::write(&path, &json).unwrap(),
            // A file may be the concatenation of compressed files.
            "d.jsonl.gz" => {
                let (one, two) = json.split_at(json.len() / 2);
                std::fs::write(&path, [gzip(one), gzip(two)].concat()).unwrap();
            }
            "d.ndjson.zst" => std::fs::write(&path, zstd::encode_all(json.as_bytes(), 3).unwrap()).unwrap(),
            "e.csv" => std::fs::write(&path, &csv).unwrap(),
            _ => std::fs::write(&path, gzip(&csv)).unwrap(),
        }
        let told = counts(&score(folder.path(), &[&[name], options].concat()));
        // CSV and strings of tokens have no difference between an empty word and none.
        check(&truth, folder.path(), name.to_lowercase().contains("csv"));
        assert_eq!(told["rows"], truth.words.len() as u64, "{name}");
        let accepted = truth.verdicts.iter().flatten().filter(|(verdict, _)| verdict == "accept").count();
        assert_eq!(told["accept"], accepted as u64, "{name}");
    }
}

#[test]
fn faulty_rows_are_reported_and_stop_nothing() {
    let folder = tempfile::tempdir().unwrap();
    truth(1).table.save(folder.path().join("table")).unwrap();
    let lines: [&[u8]; 8] = [
        b"{\"row\": 0, \"words\": \"()\"}",
        b"no JSON",
        b"{\"row\": 1, \"words\": \"([\"",
        b"{\"row\": 2, \"words\": 17}",
        b"{\"row\": 3, \"words\": \"\xff\xfe\"}",
        b"{\"row\": 4}",
        b"{\"row\": 5, \"words\": \"([)]\"} {}",
        b"{\"row\": 6, \"words\": \"(\"}",
    ];
    std::fs::write(folder.path().join("rows.jsonl"), lines.join(&b'\n')).unwrap();
    std::fs::write(folder.path().join("rows.csv"), "row,words\n0,()\n1\n2,(,3\n\"4,()\n5,()\n").unwrap();
    let told = counts(&score(folder.path(), &["rows.jsonl"]));
    assert_eq!((told["accept"], told["incomplete"], told["null"]), (1, 1, 1));
    assert_eq!((told["unreadable"], told["rows"]), (5, 8));
    std::fs::remove_dir_all(folder.path().join("out")).unwrap();
    // The row with the open quote includes the rest of this small file.
    let told = counts(&score(folder.path(), &["rows.csv"]));
    assert_eq!((told["accept"], told["unreadable"], told["rows"]), (1, 3, 4));
}

#[test]
fn finished_parts_are_not_done_again() {
    let folder = tempfile::tempdir().unwrap();
    truth(1).table.save(folder.path().join("table")).unwrap();
    std::fs::create_dir(folder.path().join("in")).unwrap();
    for (name, words) in [("a", "()"), ("b", "(("), ("c", "[]")] {
        let line = format!("{{\"row\": 1, \"words\": \"{words}\"}}\n");
        std::fs::write(folder.path().join(format!("in/{name}.jsonl")), line).unwrap();
    }
    let first = counts(&score(folder.path(), &["in/"]));
    assert_eq!((first["accept"], first["incomplete"], first["files"]), (2, 1, 3));
    let written = |name: &str| {
        let files = std::fs::read_dir(folder.path().join("out")).unwrap().map(|file| file.unwrap());
        let mut of = files.filter(|file| file.file_name().to_string_lossy().starts_with(name));
        of.next().unwrap().metadata().unwrap().modified().unwrap()
    };
    let before = ["a-", "b-", "c-"].map(written);
    // The marker of one file is missing, as if the run had been killed there; the input of another has changed.
    let markers = folder.path().join("out/_finished");
    let mut marker = std::fs::read_dir(&markers).unwrap().map(|file| file.unwrap().path());
    let marker = marker.find(|path| path.to_string_lossy().contains("/b-")).unwrap();
    std::fs::remove_file(marker).unwrap();
    std::fs::write(folder.path().join("in/c.jsonl"), "{\"row\": 1, \"words\": \"[][)\"}\n").unwrap();
    let again = counts(&score(folder.path(), &["in/"]));
    assert_eq!((again["accept"], again["incomplete"], again["reject"], again["files"]), (1, 1, 1, 3));
    let after = ["a-", "b-", "c-"].map(written);
    assert!(before[0] == after[0] && before[1] < after[1] && before[2] < after[2]);
}

#[test]
fn a_file_whose_output_is_gone_or_damaged_is_scored_again() {
    let folder = tempfile::tempdir().unwrap();
    truth(1).table.save(folder.path().join("table")).unwrap();
    std::fs::create_dir(folder.path().join("in")).unwrap();
    for name in ["a", "b", "c"] {
        std::fs::write(folder.path().join(format!("in/{name}.jsonl")), "{\"row\": 1, \"words\": \"()\"}\n").unwrap();
    }
    let told = counts(&score(folder.path(), &["in"]));
    let written = outputs(folder.path());
    let of = |name: &str| -> PathBuf {
        let begins = |path: &&PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(name);
        written.iter().find(begins).unwrap().clone()
    };
    let contents = |name: &str| std::fs::read(of(name)).unwrap();
    let whole = ["a-", "b-"].map(contents);
    std::fs::remove_file(of("a-")).unwrap();
    std::fs::write(of("b-"), &whole[1][..whole[1].len() / 2]).unwrap();
    assert_eq!(counts(&score(folder.path(), &["in"])), told);
    assert_eq!(["a-", "b-"].map(contents), whole);
}

#[test]
fn folders_are_searched_and_the_columns_in_their_names_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    truth(1).table.save(folder.path().join("table")).unwrap();
    let write = |name: &str, content: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    };
    let line = |row: usize| format!("{{\"row\": {row}, \"words\": \"()\"}}\n");
    write("in/a.jsonl", &line(0));
    write("in/2026/deep/b.jsonl", &line(1));
    write("in/day=3/hour=a%3Ab/c.jsonl", &line(2));
    write("in/day=__HIVE_DEFAULT_PARTITION__/a b#?.jsonl", &line(3));
    for name in ["_SUCCESS", ".a.jsonl.crc", "a.jsonl.crc", "_temporary/0/x.jsonl", ".cache/x.jsonl"] {
        write(&format!("in/{name}"), "no words");
    }
    // The output is within the input, and is not an input of the second run.
    for _ in 0..2 {
        let told = counts(&score(folder.path(), &["in/", "--output", "in/out"]));
        assert_eq!((told["accept"], told["files"]), (4, 4));
    }
    let mut found = Vec::new();
    for file in outputs(&folder.path().join("in")) {
        let reader = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(file).unwrap()).unwrap();
        let batch = reader.build().unwrap().next().unwrap().unwrap();
        let text = |name: &str| {
            let column = batch.column_by_name(name)?;
            Some(column.as_string::<i32>().iter().next().unwrap().map(ToString::to_string))
        };
        let row = batch.column_by_name("row").unwrap().as_primitive::<Int64Type>().value(0);
        found.push((row, text("day"), text("hour")));
    }
    found.sort();
    let some = |value: &str| Some(Some(value.to_string()));
    assert_eq!(found, [(0, None, None), (1, None, None), (2, some("3"), some("a:b")), (3, Some(None), None)]);

    let told = counts(&score(folder.path(), &["in/day=*/**/*.jsonl", "--keep", "row,day", "--output", "out2"]));
    assert_eq!(told["files"], 2);
    write("twice/row=1/a.jsonl", &line(0));
    let twice = score(folder.path(), &["twice", "--output", "out3"]);
    let told = String::from_utf8(twice.stderr).unwrap();
    assert!(twice.status.code() == Some(2) && told.contains("in the file and in the name of its folder"), "{told}");
}

#[test]
fn damaged_compressed_files_are_faults_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    truth(1).table.save(folder.path().join("table")).unwrap();
    let lines = "{\"row\": 1, \"words\": \"()\"}\n".repeat(10_000);
    let (gzip, zstd) = (gzip(&lines), zstd::encode_all(lines.as_bytes(), 3).unwrap());
    for (name, bytes) in [("a.jsonl.gz", gzip), ("b.jsonl.zst", zstd)] {
        std::fs::write(folder.path().join(name), &bytes[..bytes.len() - 9]).unwrap();
        let output = score(folder.path(), &[name]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && told.contains(name), "{told}");
        assert!(outputs(folder.path()).is_empty());
    }
}

#[test]
fn mistakes_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    truth(1).table.save(folder.path().join("table")).unwrap();
    let refused = |arguments: &[&str]| {
        let output = score(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(refused(&["nowhere.parquet"]).contains("nowhere.parquet"));
    std::fs::write(folder.path().join("a.txt"), "()").unwrap();
    assert!(refused(&["a.txt"]).contains("has no known extension"));
    std::fs::write(folder.path().join("a.parquet"), "()").unwrap();
    std::fs::write(folder.path().join("b.jsonl"), "{\"text\": \"()\"}\n").unwrap();
    std::fs::write(folder.path().join("empty.parquet"), "").unwrap();
    let told = refused(&["empty.parquet"]);
    assert!(told.contains("empty.parquet: ") && told.contains("the file is empty (0 bytes)"), "{told}");
    let both = refused(&["a.parquet", "b.jsonl"]);
    assert!(both.contains("a.parquet: ") && both.contains("no column \"words\"; the columns are text"), "{both}");
    assert!(refused(&["b.jsonl", "--column", "text", "--memory", "1"]).contains("--memory is 1 MiB"));
    let told = refused(&["b.jsonl", "--model-limits", "states=1"]);
    assert!(told.contains("could not use the model table") && told.contains("the limit is 1"), "{told}");
    assert!(refused(&["b.jsonl", "--model-limits", "teeth=32"]).contains("bytes, symbols, neurons"));
    std::fs::write(folder.path().join("table"), "no table").unwrap();
    assert!(refused(&["b.jsonl"]).contains("could not use the model"));
}
