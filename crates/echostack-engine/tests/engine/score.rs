//! Tests of scoring files in every format: each row gets the verdict that its word gets alone, faulty rows do not stop
//! a run, and finished files are not scored again.

use std::path::Path;
use std::process::{Command, Output};

use crate::common::{check, counts, parquet, truth};
use datafusion::arrow::ipc::writer::FileWriter;

fn score(folder: &Path, arguments: &[&str]) -> Output {
    let command = Command::new(env!("CARGO_BIN_EXE_echostack-engine"))
        .current_dir(folder)
        .args(["score", "table", "--quiet", "--output", "out"])
        .args(arguments)
        .output();
    command.unwrap()
}

#[test]
fn every_format_has_the_verdicts_of_its_words() {
    let truth = truth(3_000);
    let rows = 0..truth.words.len();
    let value = |row: usize| truth.text(row, "").map_or("null".to_string(), |text| format!("\"{text}\""));
    let json: Vec<String> = rows.clone().map(|row| format!("{{\"row\": {row}, \"words\": {}}}", value(row))).collect();
    let csv: Vec<String> = rows.map(|row| format!("{row},{}", truth.text(row, " ").unwrap_or_default())).collect();
    let cases: [(&str, &[&str]); 5] =
        [("a.parquet", &[]), ("b.parquet", &[]), ("c.arrow", &[]), ("d.jsonl", &[]), ("e.csv", &["--tokens"])];
    for (name, options) in cases {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        truth.table.save(folder.path().join("table")).unwrap();
        match name {
            "a.parquet" => parquet(&path, &truth.numbers()),
            "b.parquet" => parquet(&path, &truth.texts()),
            "c.arrow" => {
                let batch = truth.numbers();
                let mut writer = FileWriter::try_new(std::fs::File::create(&path).unwrap(), &batch.schema()).unwrap();
                writer.write(&batch).unwrap();
                writer.finish().unwrap();
            }
            "d.jsonl" => std::fs::write(&path, json.join("\n")).unwrap(),
            _ => std::fs::write(&path, format!("row,words\n{}", csv.join("\n"))).unwrap(),
        }
        let told = counts(&score(folder.path(), &[&[name], options].concat()));
        check(&truth, folder.path(), name == "e.csv");
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
    let both = refused(&["a.parquet", "b.jsonl"]);
    assert!(both.contains("a.parquet: ") && both.contains("no column \"words\"; the columns are text"), "{both}");
    assert!(refused(&["b.jsonl", "--column", "text", "--memory", "1"]).contains("--memory is 1 MiB"));
    std::fs::write(folder.path().join("table"), "no table").unwrap();
    assert!(refused(&["b.jsonl"]).contains("could not use the model"));
}
