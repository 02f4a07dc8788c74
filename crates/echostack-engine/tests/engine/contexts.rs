//! Tests of the contexts of a corpus: one process and a cluster find the same contexts as the library, which counts
//! them trace by trace.

use std::fs::File;
use std::path::Path;
use std::process::Output;

use echostack::language::{WordKind, examples};
use echostack::tasks::{Split, Task};
use echostack::teach::{Context, ContextFile, Corpus, Depth, read_contexts, write_traces};
use echostack::{Oracle, Trace};
use echostack_engine::TraceWriter;

use crate::cluster::{cluster, program};
use crate::common::counts;

const TASK: Task = Task::Json;

pub fn traces(count: usize) -> Vec<Trace> {
    let oracle = Oracle::strict(TASK.automaton().unwrap()).unwrap();
    let (language, mut random) = (TASK.language().unwrap(), Split::Train.generator(5));
    let kinds = [WordKind::Valid, WordKind::NearMiss, WordKind::Random];
    kinds.iter().flat_map(|kind| examples(&*language, &oracle, *kind, 1..=60, count / 3, &mut random)).collect()
}

pub fn written(path: &Path, traces: &[Trace]) {
    let mut writer = TraceWriter::new(&TASK.alphabet(), File::create(path).unwrap()).unwrap();
    traces.iter().for_each(|trace| writer.write(trace.clone()).unwrap());
    writer.finish().unwrap();
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    program().current_dir(folder).args(arguments).output().unwrap()
}

fn found(folder: &Path) -> ContextFile {
    read_contexts(&mut std::io::BufReader::new(File::open(folder.join("contexts.jsonl")).unwrap())).unwrap()
}

#[test]
fn contexts_are_those_of_the_traces_one_by_one() {
    let traces = traces(3_000);
    let depth = Depth { stack: 5, before: 1 };
    let mut corpus = Corpus::new(depth);
    traces.iter().for_each(|trace| corpus.add(trace).unwrap());
    let truth = ContextFile { alphabet: TASK.alphabet(), depth, contexts: corpus.contexts() };

    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::create_dir(at.join("in")).unwrap();
    for (file, part) in traces.chunks(700).enumerate() {
        written(&at.join(format!("in/{file}.parquet")), part);
    }
    let command = ["contexts", "in/", "--stack", "5", "--before", "1", "--quiet", "--output", "contexts.jsonl"];
    for threads in ["1", "2"] {
        let told = counts(&run(at, &[&command[..], &["--threads", threads]].concat()));
        assert_eq!((told["traces"], told["faulty"]), (traces.len() as u64, 0));
        assert_eq!(told["steps"], traces.iter().map(|trace| trace.steps().len() as u64).sum::<u64>());
        assert_eq!((told["contexts"], told["contradictions"]), (truth.contexts.len() as u64, 0));
        assert_eq!(found(at), truth);
    }
    let (scheduler, _running) = cluster(&at.to_string_lossy(), &[]);
    let told = counts(&run(at, &[&command[..], &["--cluster", &format!("127.0.0.1:{scheduler}")]].concat()));
    assert_eq!(told["traces"], traces.len() as u64);
    assert_eq!(found(at), truth);
}

#[test]
fn traces_are_packed_and_mistakes_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let traces = traces(60);
    write_traces(&mut File::create(at.join("traces.jsonl")).unwrap(), &TASK.alphabet(), &traces).unwrap();
    assert!(run(at, &["pack", "traces.jsonl", "-o", "packed.parquet"]).status.success());
    let told = counts(&run(at, &["contexts", "packed.parquet", "-q", "--stack", "0", "-o", "contexts.jsonl"]));
    assert_eq!(told["traces"], traces.len() as u64);
    // Contexts without any stack symbol contradict each other.
    assert!(told["contradictions"] > 0);
    assert_eq!(Context::contradictions(&found(at).contexts).count() as u64, told["contradictions"]);

    let refused = |arguments: &[&str]| {
        let output = run(at, arguments);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    std::fs::write(at.join("no.jsonl"), "{}").unwrap();
    assert!(refused(&["pack", "no.jsonl", "-o", "no.parquet"]).contains("the first line must be a header"));
    crate::common::parquet(&at.join("words.parquet"), &crate::common::truth(3).numbers());
    let told = refused(&["contexts", "words.parquet", "-q", "-o", "contexts.jsonl"]);
    assert!(told.contains("do not declare their symbols"), "{told}");
}
