//! Tests with a scheduler and two executors as processes: they give the same answers as one process, even if an
//! executor is killed.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::common::{Truth, check, counts, parquet, truth};

/// A process that is killed when the test ends.
pub struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_echostack-engine"))
}

/// Returns a port that is free now.
fn port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// The environment variables of a process.
type Variables = [(&'static str, String)];

fn start(arguments: &str, variables: &Variables) -> Running {
    let mut command = program();
    command
        .arg("cluster")
        .args(arguments.split_whitespace())
        .envs(variables.iter().cloned())
        .env("RUST_LOG", "error")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Running(command.spawn().unwrap())
}

fn wait_for(port: u16) {
    let start = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(start.elapsed() < Duration::from_mins(1), "nothing listens on port {port}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Starts a scheduler that considers an executor dead after a short time, and two executors with one slot each, with
/// additional options for each. The executors come first in the result, because they can be killed.
pub fn started(of_scheduler: &str, of_executors: &str, variables: &Variables) -> (u16, Vec<Running>) {
    let scheduler = port();
    let mut running =
        vec![start(&format!("scheduler --bind 127.0.0.1:{scheduler} --timeout 10 {of_scheduler}"), variables)];
    wait_for(scheduler);
    for _ in 0..2 {
        let own = port();
        let arguments = format!(
            "executor --scheduler 127.0.0.1:{scheduler} --bind 127.0.0.1:{own} --slots 1 --allow-root {of_executors}"
        );
        running.insert(0, start(&arguments, variables));
        wait_for(own);
    }
    (scheduler, running)
}

/// Starts a cluster that may read a folder or a store.
pub fn cluster(place: &str, variables: &Variables) -> (u16, Vec<Running>) {
    let read = format!("--read {place}");
    started(&read, &read, variables)
}

fn score(folder: &Path, scheduler: u16, output: &str) -> Command {
    let mut command = program();
    command.current_dir(folder).args(["score", "table", "in/", "--quiet", "--keep", "row", "--output", output]);
    command.args(["--cluster", &format!("127.0.0.1:{scheduler}")]);
    command
}

/// Creates a folder with the table, and with the words in `files` files of equal size.
fn folder(truth: &Truth, files: usize) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    truth.table.save(folder.path().join("table")).unwrap();
    std::fs::create_dir(folder.path().join("in")).unwrap();
    let all = truth.numbers();
    let rows = all.num_rows() / files;
    for file in 0..files {
        parquet(&folder.path().join(format!("in/{file}.parquet")), &all.slice(file * rows, rows));
    }
    folder
}

#[test]
fn a_cluster_answers_what_one_process_does_and_loses_nothing_with_an_executor() {
    let truth = truth(20_000);
    let folder = folder(&truth, 8);
    let times = std::env::var("ECHOSTACK_KILLS").ok().and_then(|times| times.parse().ok()).unwrap_or(3);

    let place = folder.path().to_string_lossy();
    let (scheduler, _running) = cluster(&place, &[]);
    let start = Instant::now();
    let told = counts(&score(folder.path(), scheduler, "out").output().unwrap());
    let time = start.elapsed();
    assert_eq!(told["rows"], truth.words.len() as u64);
    check(&truth, folder.path(), false);

    for kill in 0..times {
        std::fs::remove_dir_all(folder.path().join("out")).unwrap();
        let (scheduler, mut running) = cluster(&place, &[]);
        let child =
            score(folder.path(), scheduler, "out").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(time.mul_f64(f64::from(kill + 1) / f64::from(times + 1)));
        drop(running.remove(0));
        assert_eq!(counts(&child.wait_with_output().unwrap()), told);
        check(&truth, folder.path(), false);
    }
}

#[test]
fn a_missing_scheduler_is_reported() {
    let folder = folder(&truth(100), 1);
    let nobody = score(folder.path(), port(), "out").output().unwrap();
    let told = String::from_utf8(nobody.stderr).unwrap();
    assert_eq!(nobody.status.code(), Some(2));
    assert!(told.contains("there is no scheduler on 127.0.0.1"), "{told}");
}

#[test]
fn a_scheduler_without_executors_is_reported_within_seconds() {
    let folder = folder(&truth(100), 1);
    let port = port();
    let _scheduler = start(&format!("scheduler --bind 127.0.0.1:{port}"), &[]);
    wait_for(port);
    let start = Instant::now();
    let output = score(folder.path(), port, "out").output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && told.contains("has no executor"), "{told}");
    assert!(start.elapsed() < Duration::from_secs(30));
}
