//! Other programs, which tests compare with.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs a program in a folder, and returns what it writes to standard output and standard error.
pub(crate) fn run(folder: &Path, program: &str, arguments: &[&str], input: &str) -> Option<(String, String)> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("this test needs {program}: {error}"));
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    output.status.success().then(|| (text(output.stdout), text(output.stderr)))
}
