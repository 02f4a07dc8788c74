//! A program that is run once for each text, and answers by its exit code.

use std::fs::File;
use std::io::{PipeReader, Read, Write, pipe};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use tempfile::NamedTempFile;

use super::patience::Patience;
use super::position::Pattern;
use super::sandbox::Sandbox;
use super::{Failure, Program, Reply};

/// The first and the longest pause between two looks at a running program.
const PAUSES: (Duration, Duration) = (Duration::from_micros(20), Duration::from_millis(5));
/// The lowest exit code that is not an answer. Shells use it and those above for programs that they could not run, and
/// for signals.
const FIRST_FAILURE: i32 = 126;
/// The number of bytes that are read of what a program prints.
const MAX_MESSAGE: u64 = 1 << 16;

/// A program that is run once for each text. Exit code 0 means that the text is valid, 1 to 125 that it is not.
///
/// The text is in a file, whose path replaces `{}` in the arguments. If there is no `{}`, the text is the standard
/// input. If the program prints where a text fails, in one of the usual forms or as a [`Pattern`] says, the answer has this
/// position.
///
/// ```
/// use echostack_infer::program::{Reply, Command, Program, split};
/// use std::time::Duration;
/// let words = split("grep -q x {}")?;
/// let oracle = Command::new(words, Duration::from_secs(5), None)?;
/// assert_eq!(oracle.ask("axb"), Reply::Yes);
/// assert_eq!(oracle.ask("ab"), Reply::No);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Command {
    name: String,
    words: Vec<String>,
    patience: Patience,
    sandbox: Option<Sandbox>,
    pattern: Option<Pattern>,
    folder: tempfile::TempDir,
}

impl Command {
    /// Creates an oracle from a program and its arguments, and a time limit for each text. When it is known how fast the
    /// program is, the limit is 100 times the usual time, but at least a second, if that is less.
    ///
    /// # Errors
    /// If the temporary folder for the texts cannot be created.
    pub fn new(words: Vec<String>, limit: Duration, sandbox: Option<Sandbox>) -> std::io::Result<Self> {
        let (name, words) = (words.join(" "), located(words));
        Ok(Self { name, words, patience: Patience::new(limit), sandbox, pattern: None, folder: tempfile::tempdir()? })
    }

    /// Finds the positions of failures in what the program prints by a pattern, instead of by the usual forms: `char 7`,
    /// `line 2, column 3` or `:2:3:`.
    #[must_use]
    pub fn with_pattern(self, pattern: Option<Pattern>) -> Self {
        Self { pattern, ..self }
    }

    /// Starts the program. The text is in a file, which is removed when it is dropped. What the program prints arrives when
    /// it is complete.
    fn start(&self, text: &[u8]) -> std::io::Result<(NamedTempFile, Receiver<String>, Child)> {
        let mut file = NamedTempFile::new_in(self.folder.path())?;
        file.write_all(text)?;
        let path = file.path().display().to_string();
        let words: Vec<String> = self.words.iter().map(|word| word.replace("{}", &path)).collect();
        let by_path = words != self.words;
        let words = match &self.sandbox {
            Some(sandbox) => sandbox.wrap(words, Some(self.folder.path())),
            None => words,
        };
        let (program, arguments) = words.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
        // The text comes from a file in either case: a pipe would block if the program did not read it.
        let input = if by_path { Stdio::null() } else { File::open(file.path())?.into() };
        let (output, printing) = pipe()?;
        let mut command = std::process::Command::new(program);
        command.args(arguments).stdin(input).stdout(printing.try_clone()?).stderr(printing);
        in_own_group(&mut command);
        let child = command.spawn()?;
        let (sender, printed) = channel();
        std::thread::spawn(move || sender.send(read(output)));
        Ok((file, printed, child))
    }

    /// Adds the position of the failure, if the program has printed it.
    fn locate(&self, answer: Reply, printed: Option<String>, text: &[u8]) -> Reply {
        let (Reply::No, Some(printed), Ok(text)) = (answer, printed, std::str::from_utf8(text)) else { return answer };
        let at = match &self.pattern {
            Some(pattern) => pattern.find(&printed, text),
            None => Pattern::find_usual(&printed, text),
        };
        at.map_or(Reply::No, Reply::NoAt)
    }
}

/// Reads what a program prints until it ends, so that it cannot be blocked, and returns the beginning.
fn read(mut output: PipeReader) -> String {
    let mut message = Vec::new();
    // A pipe that cannot be read says nothing about the text.
    _ = output.by_ref().take(MAX_MESSAGE).read_to_end(&mut message);
    _ = std::io::copy(&mut output, &mut std::io::sink());
    String::from_utf8_lossy(&message).into_owned()
}

impl Program for Command {
    fn ask(&self, text: &str) -> Reply {
        self.ask_bytes(text.as_bytes())
    }

    fn takes_bytes(&self) -> bool {
        true
    }

    fn ask_bytes(&self, text: &[u8]) -> Reply {
        let (start, limit) = (Instant::now(), self.patience.limit());
        let (_file, output, mut child) = match self.start(text) {
            Ok(started) => started,
            Err(error) => return Reply::Failed(Failure::Start(error.kind())),
        };
        // Most programs end when their output does. Others leave it to a program that goes on, or close it early.
        let (mut printed, mut pause) = (None, PAUSES.0);
        loop {
            if printed.is_none() {
                match output.recv_timeout(PAUSES.1) {
                    Ok(message) => printed = Some(message),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => printed = Some(String::new()),
                }
            } else {
                std::thread::sleep(pause);
                pause = (pause * 2).min(PAUSES.1);
            }
            match child.try_wait() {
                Ok(Some(status)) => {
                    self.patience.note(start.elapsed());
                    return self.locate(answer(status), printed, text);
                }
                Ok(None) if start.elapsed() < limit => {}
                Ok(None) => {
                    end(&mut child);
                    return Reply::Failed(Failure::Timeout);
                }
                Err(_) => {
                    end(&mut child);
                    return Reply::Failed(Failure::Crash);
                }
            }
        }
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}

/// Replaces the name of a program by its path, so that it is not looked for again for each text.
fn located(mut words: Vec<String>) -> Vec<String> {
    if let Some(program) = words.first_mut().filter(|program| !program.contains(std::path::is_separator)) {
        let folders: Vec<PathBuf> = std::env::var_os("PATH").iter().flat_map(std::env::split_paths).collect();
        let found = folders.iter().map(|folder| folder.join(&*program)).find(|path| is_executable(path));
        if let Some(path) = found.and_then(|path| path.into_os_string().into_string().ok()) {
            *program = path;
        }
    }
    words
}

fn is_executable(path: &Path) -> bool {
    #[cfg(unix)]
    let may_run = |file: &std::fs::Metadata| std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may_run = |_: &std::fs::Metadata| true;
    path.metadata().is_ok_and(|file| file.is_file() && may_run(&file))
}

fn answer(status: ExitStatus) -> Reply {
    match status.code() {
        Some(0) => Reply::Yes,
        Some(1..FIRST_FAILURE) => Reply::No,
        _ => Reply::Failed(Failure::Crash),
    }
}

/// Lets a program start as a process group of its own, on systems that have such groups.
#[cfg_attr(not(unix), allow(unused_variables))]
pub(super) fn in_own_group(command: &mut std::process::Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
}

/// Ends a program, with the processes that it has started.
pub(super) fn end(child: &mut Child) {
    let id = child.id();
    let (program, arguments) = if cfg!(windows) {
        ("taskkill", vec!["/F".to_string(), "/T".to_string(), "/PID".to_string(), id.to_string()])
    } else {
        ("kill", vec!["-KILL".to_string(), "--".to_string(), format!("-{id}")])
    };
    let kill = std::process::Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !kill.is_ok_and(|status| status.success()) {
        _ = child.kill();
    }
    _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(words: &[&str], text: &str) -> Reply {
        let words = words.iter().map(ToString::to_string).collect();
        Command::new(words, Duration::from_millis(300), None).unwrap().ask(text)
    }

    #[test]
    fn exit_codes_are_answers_and_signals_are_not() {
        assert_eq!(ask(&["grep", "-q", "b"], "abc"), Reply::Yes);
        assert_eq!(ask(&["grep", "-q", "b", "{}"], "ac"), Reply::No);
        assert_eq!(ask(&["sh", "-c", "exit 125"], ""), Reply::No);
        let words = ["sh", "-c", "[ $(wc -c) = 1 ]"].map(String::from).to_vec();
        let one = Command::new(words, Duration::from_secs(5), None).unwrap();
        assert!(one.takes_bytes());
        assert_eq!((one.ask_bytes(b"\xff"), one.ask_bytes(b"ab")), (Reply::Yes, Reply::No));
        assert_eq!(ask(&["sh", "-c", "exit 126"], ""), Reply::Failed(Failure::Crash));
        assert_eq!(ask(&["sh", "-c", "kill -SEGV $$"], ""), Reply::Failed(Failure::Crash));
        assert_eq!(ask(&["sleep", "60"], ""), Reply::Failed(Failure::Timeout));
        assert_eq!(ask(&["sh", "-c", "sleep 60; true"], ""), Reply::Failed(Failure::Timeout));
        assert_eq!(ask(&["/no/such/program"], ""), Reply::Failed(Failure::Start(std::io::ErrorKind::NotFound)));
        let words = ["sh", "-c", "echo 'wrong at 7' >&2; exit 1"].map(String::from).to_vec();
        let oracle = Command::new(words, Duration::from_secs(5), None).unwrap();
        assert_eq!(oracle.with_pattern(Pattern::new(r"at (\d+)").ok()).ask("x"), Reply::NoAt(7));
        assert_eq!(ask(&["sh", "-c", "echo wrong at column 7, char 3; exit 1"], "abcd"), Reply::NoAt(3));
        assert_eq!(Command::new(vec!["grep".into()], Duration::MAX, None).unwrap().name(), "grep");
        // A program that does not read its input must not block us.
        assert_eq!(ask(&["true"], &"x".repeat(1 << 20)), Reply::Yes);
        // Neither must one that prints without end, one that closes its output, or one that leaves it to another program.
        assert_eq!(ask(&["yes"], ""), Reply::Failed(Failure::Timeout));
        assert_eq!(ask(&["sh", "-c", "exec >&- 2>&-; sleep 0.1; exit 1"], ""), Reply::No);
        assert_eq!(ask(&["sh", "-c", "sleep 1 & exit 1"], ""), Reply::No);
    }
}
