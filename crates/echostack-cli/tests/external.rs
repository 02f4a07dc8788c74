//! A test of the commands that another program carries out. It is alone in its file because it runs programs that it
//! has just written, which fails if another thread starts a process at that moment.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use echostack::file::FileLimits;

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn commands_of_the_engine_pass_their_options_on_and_have_help_without_it() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("echostack");
    std::fs::copy(env!("CARGO_BIN_EXE_echostack"), &program).unwrap();
    let run = |arguments: &[&str]| Command::new(&program).env("PATH", folder.path()).args(arguments).output().unwrap();
    for command in ["score", "contexts", "pack", "cluster"] {
        let help = run(&[command, "--help"]);
        let told = text(help.stdout);
        assert!(help.status.success() && told.contains(&format!("Usage: echostack {command} ")), "{told}");
        assert!(told.contains("docs/scale.md") && told.contains("could not start echostack-engine"), "{told}");
    }
    let missing = run(&["score", "table", "in", "-o", "out"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(text(missing.stderr).contains("could not start echostack-engine"));

    let engine = folder.path().join("echostack-engine");
    std::fs::write(&engine, "#!/bin/sh\necho \"$@\"\n").unwrap();
    std::fs::set_permissions(&engine, std::fs::Permissions::from_mode(0o755)).unwrap();
    let passed = |arguments: &[&str]| text(run(arguments).stdout);
    assert_eq!(passed(&["score", "-q", "table", "in"]), "--quiet score table in\n");
    assert_eq!(passed(&["score", "--threads", "2", "table", "--tokens"]), "--threads=2 score table --tokens\n");
    assert_eq!(passed(&["--threads", "3", "-q", "pack", "a"]), "--quiet --threads=3 pack a\n");
    assert_eq!(passed(&["score", "table", "in", "-q", "--help"]), "score table in -q --help\n");
    // A limit is passed on wherever it stands, or refused; it is never dropped.
    let limits: FileLimits = "bytes=10,states=7".parse().unwrap();
    let given = ["--model-limits", "states=7,bytes=10"];
    assert_eq!(
        passed(&[&given[..], &["-q", "score", "m"]].concat()),
        format!("--quiet --model-limits={limits} score m\n")
    );
    assert_eq!(
        passed(&[&["cluster"], &given[..], &["executor"]].concat()),
        format!("--model-limits={limits} cluster executor\n")
    );
    assert_eq!(passed(&[&["score", "m"], &given[..]].concat()), "score m --model-limits states=7,bytes=10\n");
    let refused = run(&["--grammar-limits", "bytes=10", "score", "m"]);
    assert_eq!((refused.status.code(), text(refused.stdout).as_str()), (Some(2), ""));
    assert!(text(refused.stderr).contains("reads no grammar"));
}
