//! What all tests of the program need: running it, and reading what it prints.

#![allow(dead_code, reason = "not every test file needs everything")]

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

pub(crate) fn echostack(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_echostack"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || _ = stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Returns the standard output of a call that must succeed.
pub(crate) fn good(arguments: &[&str]) -> String {
    let output = echostack(arguments, b"");
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// Returns the exit code and the messages of a call.
pub(crate) fn told(arguments: &[&str]) -> (i32, String) {
    let output = echostack(arguments, b"");
    (output.status.code().unwrap(), text(&output.stdout) + &text(&output.stderr))
}

pub(crate) fn json(arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&good(arguments)).unwrap()
}

/// Returns the most memory that a running program has used so far, in KiB. Only Linux tells.
pub(crate) fn peak_kib(child: &Child) -> Option<u64> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    Some(peak.trim().trim_end_matches(" kB").parse().unwrap())
}

/// Learns quietly, and returns the path of the model.
pub(crate) fn learned(folder: &Path, more: &[&str]) -> String {
    let path = folder.join("m.safetensors").display().to_string();
    let arguments = [&["learn", "-o", &path, "--quiet"], more].concat();
    assert_eq!(good(&arguments), "");
    path
}
