//! Tests of object stores: files there are scored like local files, by one process and by a cluster.

use std::path::Path;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;

use crate::cluster::{cluster, program};
use crate::common::{check, counts, parquet, truth};

const KEY: &str = "a key";
const SECRET: &str = "a secret";

/// Starts a server that keeps the objects of a bucket as files in a folder, and returns the environment variables that
/// a program needs to use it.
fn serve(root: &Path) -> Vec<(&'static str, String)> {
    let mut service = S3ServiceBuilder::new(FileSystem::new(root).unwrap());
    service.set_auth(SimpleAuth::from_single(KEY, SECRET));
    let service = service.build();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    listener.set_nonblocking(true).unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            while let Ok((socket, _)) = listener.accept().await {
                let server = Builder::new(TokioExecutor::new());
                let service = service.clone();
                tokio::spawn(async move { server.serve_connection(TokioIo::new(socket), service).await.is_ok() });
            }
        });
    });
    vec![
        ("AWS_ENDPOINT", format!("http://{address}")),
        ("AWS_ALLOW_HTTP", "true".into()),
        ("AWS_REGION", "here".into()),
        ("AWS_ACCESS_KEY_ID", KEY.into()),
        ("AWS_SECRET_ACCESS_KEY", SECRET.into()),
    ]
}

#[test]
fn an_object_store_is_read_and_written() {
    let truth = truth(4_000);
    let root = tempfile::tempdir().unwrap();
    let bucket = root.path().join("bucket");
    std::fs::create_dir_all(bucket.join("in")).unwrap();
    let table = root.path().join("table");
    truth.table.save(&table).unwrap();
    let all = truth.numbers();
    for file in 0..4 {
        parquet(&bucket.join(format!("in/{file}.parquet")), &all.slice(file * 1000, 1000));
    }
    let variables = serve(root.path());
    let score = |options: &[&str]| {
        let mut command = program();
        command.arg("score").arg(&table).args(["s3://bucket/in/", "--output", "s3://bucket/out", "--quiet"]);
        command.args(options).envs(variables.clone()).output().unwrap()
    };

    let told = counts(&score(&[]));
    assert_eq!((told["rows"], told["files"]), (4_000, 4));
    check(&truth, &bucket, false);
    let again = score(&[]);
    assert!(String::from_utf8_lossy(&again.stderr).is_empty() && counts(&again) == told);

    // The model may be in the store as well, and patterns are possible there.
    std::fs::remove_dir_all(bucket.join("out")).unwrap();
    std::fs::copy(&table, bucket.join("json.table")).unwrap();
    let from_store = |model: &str, options: &[&str]| {
        let mut command = program();
        command.args(["score", model, "s3://bucket/i*/?.parquet", "--output", "s3://bucket/out", "--quiet"]);
        command.args(options).envs(variables.clone()).output().unwrap()
    };
    assert_eq!(counts(&from_store("s3://bucket/json.table", &[])), told);
    check(&truth, &bucket, false);
    let refused = |output: std::process::Output| {
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let missing = refused(from_store("s3://bucket/nothing", &[]));
    assert!(missing.contains("could not use the model s3://bucket/nothing"), "{missing}");
    let on_cluster = refused(from_store("s3://bucket/json.table", &["--cluster", "127.0.0.1:1"]));
    assert!(on_cluster.contains("on a cluster, the model must be a file"), "{on_cluster}");

    std::fs::remove_dir_all(bucket.join("out")).unwrap();
    let places = format!("s3://bucket/in --read {}", root.path().display());
    let (scheduler, _running) = cluster(&places, &variables);
    assert_eq!(counts(&score(&["--cluster", &format!("127.0.0.1:{scheduler}")])), told);
    check(&truth, &bucket, false);
}

#[test]
fn contexts_are_written_to_a_store_and_pack_says_that_it_cannot() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(root.path().join("bucket/in/deep")).unwrap();
    crate::contexts::written(&root.path().join("bucket/in/deep/0.parquet"), &crate::contexts::traces(30));
    let variables = serve(root.path());
    let run = |arguments: &str| program().args(arguments.split(' ')).envs(variables.clone()).output().unwrap();
    let told = counts(&run("contexts s3://bucket/in/ -q -o s3://bucket/contexts.jsonl"));
    let written = std::fs::read_to_string(root.path().join("bucket/contexts.jsonl")).unwrap();
    assert_eq!((told["traces"], written.lines().count() as u64), (30, told["contexts"] + 1));
    for arguments in ["pack s3://bucket/a.jsonl -o b.parquet", "pack a.jsonl -o s3://bucket/b.parquet"] {
        let output = run(arguments);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && told.contains("only local files"), "{told}");
    }
}

#[test]
fn a_missing_store_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("table");
    truth(1).table.save(&table).unwrap();
    let refused = |address: &str| {
        let variables = [
            ("AWS_ENDPOINT", "http://127.0.0.1:1"),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_ACCESS_KEY_ID", KEY),
            ("AWS_SECRET_ACCESS_KEY", SECRET),
        ];
        let mut command = program();
        command.arg("score").arg(&table).args([address, "--output", "out", "--quiet"]).current_dir(folder.path());
        let output = command.envs(variables).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let told = refused("s3://bucket/in/");
    assert!(told.contains("127.0.0.1:1"), "{told}");
    let told = refused("ftp://bucket/in/");
    assert!(told.contains("could not open the store of ftp://bucket"), "{told}");
}
