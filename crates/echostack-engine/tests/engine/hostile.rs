//! Tests of what a hostile client of a cluster can do: nothing outside the list, and nothing at all without a
//! certificate.
#![cfg(unix)]

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use datafusion::error::DataFusionError;
use datafusion::prelude::SessionContext;
use echostack_engine::{Models, Tls, connect, register};
use tempfile::TempDir;

use crate::cluster::{program, started};
use crate::common::{counts, parquet, truth};

/// A folder with words and a model, which are allowed, and with a secret, which is not.
fn ground() -> TempDir {
    let ground = tempfile::tempdir().unwrap();
    let at = |name: &str| ground.path().join(name);
    for name in ["in", "out", "secret", "secret/full"] {
        std::fs::create_dir(at(name)).unwrap();
    }
    let truth = truth(100);
    truth.table.save(at("in/table")).unwrap();
    truth.table.save(at("secret/table")).unwrap();
    parquet(&at("in/words.parquet"), &truth.numbers());
    std::fs::write(at("in/words.csv"), "words\n()\n").unwrap();
    std::fs::write(at("secret/key.csv"), "words\nthe-key\n").unwrap();
    std::fs::write(at("key.csv"), "words\nthe-key\n").unwrap();
    std::fs::set_permissions(at("secret/key.csv"), std::fs::Permissions::from_mode(0o600)).unwrap();
    symlink(at("secret"), at("in/link")).unwrap();
    symlink(at("secret/key.csv"), at("in/link.csv")).unwrap();
    ground
}

/// Runs a statement and returns its result as a text.
async fn run(session: &SessionContext, statement: &str) -> Result<String, String> {
    let shown = |error: DataFusionError| error.strip_backtrace();
    session.sql(statement).await.map_err(shown)?.to_string().await.map_err(shown)
}

/// Reads a CSV file through the cluster. The columns are declared, so the client does not look at the file itself.
async fn read(session: &SessionContext, location: &str) -> Result<String, String> {
    run(session, "DROP TABLE IF EXISTS t").await?;
    let create = format!("CREATE EXTERNAL TABLE t (words VARCHAR) STORED AS CSV LOCATION '{location}'");
    run(session, &create).await?;
    run(session, "SELECT * FROM t").await
}

/// Asserts that a client can use what is in the list, and nothing else. If only the executors have a list, the scheduler
/// tells which files there are.
async fn attack(session: &SessionContext, ground: &Path, is_scheduler_strict: bool) {
    let at = |name: &str| format!("{}/{name}", ground.display());
    assert!(read(session, &at("in/words.csv")).await.unwrap().contains("()"));

    // Reading: a file of mode 0600, by its name, through `..`, through links, and by listing its folder.
    for name in ["secret/key.csv", "in/../secret/key.csv", "in/link/key.csv", "in/link.csv", "secret/", "", "in/link/"]
    {
        for scheme in ["", "file://"] {
            let told = read(session, &format!("{scheme}{}", at(name))).await.unwrap_err();
            assert!(told.contains("allowed") || name.contains(".."), "{name}: {told}");
            assert!(!told.contains("the-key"), "{name}: {told}");
        }
    }
    let told = read(session, &format!("file://{}", at("in/%2e%2e/secret/key.csv"))).await.unwrap_err();
    assert!(told.contains("allowed"), "{told}");
    // Guessing: what is there and what is not have the same answer.
    let guess = |name: &'static str| async move {
        let told = read(session, &at(name)).await.unwrap_err();
        let place = told.find("allowed").unwrap_or_else(|| panic!("{told}"));
        (told[place..].to_string(), told.contains("NotFound") || told.contains("No such file"))
    };
    if is_scheduler_strict {
        assert_eq!(guess("secret/key.csv").await, guess("secret/nothing.csv").await);
        assert_eq!(guess("in/link/key.csv").await, guess("in/link/nothing.csv").await);
    }
    // An object store that nobody mentioned, with an address that the client chose.
    let told = read(session, "s3://bucket/key.csv").await.unwrap_err();
    assert!(told.contains("allowed"), "{told}");

    // Writing: into a folder, through `..`, and through links.
    for name in ["secret/new", "out/../secret/new", "in/new", "in/link/new"] {
        for format in ["CSV", "JSON", "PARQUET"] {
            let copy = format!("COPY (SELECT 1 AS a) TO '{}.{}' STORED AS {format}", at(name), format.to_lowercase());
            let told = run(session, &copy).await.unwrap_err();
            assert!(told.contains("allowed") || name.contains(".."), "{copy}: {told}");
        }
    }
    assert_eq!(std::fs::read_dir(ground.join("secret")).unwrap().count(), 3);
    run(session, &format!("COPY (SELECT 1 AS a) TO '{}' STORED AS CSV", at("out/a.csv"))).await.unwrap();
    assert!(ground.join("out/a.csv").exists());

    // Models: one that is there but outside the list, and one that is not there.
    let bytes = std::fs::read(ground.join("secret/table")).unwrap();
    let mut told = Vec::new();
    for name in ["secret/table", "secret/nothing", "in/link/table", "in/table"] {
        let mut models = Models::default();
        models.add("m", &bytes, Some(at(name))).unwrap();
        register(session, &models);
        read(session, &at("in/words.csv")).await.unwrap();
        told.push(run(session, "SELECT echostack_accepts('m', words) FROM t").await);
    }
    let refused = |told: &Result<String, String>| {
        told.as_ref().unwrap_err().contains("is not in a folder that this process was allowed to use")
    };
    assert!(told[..3].iter().all(refused), "{told:?}");
    assert!(told[3].as_ref().unwrap().contains("true"), "{told:?}");
}

/// Returns the options with which a process may use what is allowed.
fn allowed(ground: &Path) -> String {
    format!("--read {0}/in --write {0}/out", ground.display())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_reaches_only_what_is_in_the_list() {
    let ground = ground();
    let executors = allowed(ground.path());
    for (is_strict, folder) in [(true, ground.path().join("in")), (false, "/".into())] {
        let (scheduler, _running) = started(&format!("--read {}", folder.display()), &executors, &[]);
        let session = connect(&format!("127.0.0.1:{scheduler}"), 2, None).await.unwrap();
        attack(&session, ground.path(), is_strict).await;
        std::fs::remove_file(ground.path().join("out/a.csv")).unwrap();
    }
    // Without a list, nothing is allowed.
    let (scheduler, _running) = started("", "", &[]);
    let session = connect(&format!("127.0.0.1:{scheduler}"), 2, None).await.unwrap();
    let told = read(&session, &format!("{}/in/words.csv", ground.path().display())).await.unwrap_err();
    assert!(told.contains("allowed"), "{told}");
    assert!(run(&session, "SELECT 1 + 1").await.unwrap().contains('2'));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_is_too_large_for_the_cluster_is_refused() {
    let ground = ground();
    let model = ground.path().join("in/table");
    let mut models = Models::default();
    models.open("m", &model).unwrap();
    let (own, limits) = (format!("--read {}", ground.path().join("in").display()), "--model-limits bytes=100");
    for (of_scheduler, of_executors) in [(limits, ""), ("", limits)] {
        let running = started(&format!("{own} {of_scheduler}"), &format!("{own} {of_executors}"), &[]);
        let session = connect(&format!("127.0.0.1:{}", running.0), 2, None).await.unwrap();
        register(&session, &models);
        read(&session, &format!("{}/in/words.csv", ground.path().display())).await.unwrap();
        let told = run(&session, "SELECT echostack_accepts('m', words) FROM t").await.unwrap_err();
        assert!(told.contains("the limit is 100"), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_certificate_there_is_no_connection() {
    let ground = ground();
    let at = |name: &str| ground.path().join(name);
    for name in ["certificates", "others"] {
        let made = program().args(["cluster", "certificates"]).arg(at(name)).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        assert_eq!(at(name).join("key.pem").metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    let certificates = format!("--certificates {}", at("certificates").display());
    let scheduler = format!("--read {} {certificates}", at("in").display());
    let (scheduler, _running) = started(&scheduler, &format!("{} {certificates}", allowed(ground.path())), &[]);
    let address = format!("127.0.0.1:{scheduler}");

    let others = Tls::open(&at("others")).unwrap();
    for certificates in [None, Some(&others)] {
        let told = connect(&address, 2, certificates).await.map(|_| ()).unwrap_err().strip_backtrace();
        assert!(told.contains("there is no scheduler"), "{told}");
    }
    let own = Tls::open(&at("certificates")).unwrap();
    attack(&connect(&address, 2, Some(&own)).await.unwrap(), ground.path(), true).await;

    let score = |options: &[&str]| {
        let mut command = program();
        command.current_dir(ground.path()).args(["score", "in/table", "in/words.parquet", "-q", "-o", "scored"]);
        command.args(["--cluster", &address]).args(options).output().unwrap()
    };
    assert_eq!(score(&[]).status.code(), Some(2));
    assert_eq!(counts(&score(&["--certificates", "certificates"]))["rows"], 100);
}

#[test]
fn an_executor_does_not_run_as_root_unless_it_is_asked_to() {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    let executor = ["cluster", "executor", "--scheduler", "127.0.0.1:1"];
    let output = program().args(executor).args(["--bind", "127.0.0.1:1"]).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && told.contains("--allow-root") == is_root, "{told}");
}

#[test]
fn addresses_that_others_can_reach_need_certificates() {
    let output = program().args(["cluster", "scheduler", "--bind", "192.0.2.1:50050"]).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && told.contains("--certificates is needed"), "{told}");
}
