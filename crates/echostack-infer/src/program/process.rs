//! A program that stays open: one line with a text in, one line with an answer out.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::command::{end, in_own_group};
use super::patience::Patience;
use super::sandbox::Sandbox;
use super::{Failure, Program, Reply};

/// The maximum length of a line with an answer, in bytes.
const MAX_LINE: u64 = 1 << 16;

/// A program that stays open. It reads one text per line, as a JSON string, and writes one answer per line: `true` or
/// `false`, or an object with the field `valid`. In `{"valid": false, "at": 3}`, no valid text begins with the first three
/// characters and the next one.
///
/// As many copies of the program run as there are queries at the same time. A copy that does not answer in time is
/// ended and replaced. The first answer of a copy may take longer, because the program has to start.
///
/// ```
/// use echostack_infer::program::{Reply, Program, Process, split};
/// use std::time::Duration;
/// let script = "import json, sys\nfor line in sys.stdin: print(json.dumps(len(json.loads(line)) < 3), flush=True)";
/// let oracle = Process::new(vec!["python3".into(), "-c".into(), script.into()], Duration::from_secs(5), None);
/// assert_eq!(oracle.ask("ab"), Reply::Yes);
/// assert_eq!(oracle.ask("a\nb"), Reply::No);
/// ```
#[derive(Debug)]
pub struct Process {
    words: Vec<String>,
    patience: Patience,
    sandbox: Option<Sandbox>,
    /// Each character of a line stands for a byte.
    by_bytes: bool,
    idle: Mutex<Vec<Worker>>,
}

/// A running copy of the program.
#[derive(Debug)]
struct Worker {
    child: Child,
    texts: Sender<String>,
    answers: Receiver<String>,
}

impl Process {
    /// Creates an oracle from a program and its arguments, and a time limit for each text. When it is known how fast the
    /// program is, the limit is 100 times the usual time, but at least a second, if that is less.
    pub fn new(words: Vec<String>, limit: Duration, sandbox: Option<Sandbox>) -> Self {
        Self { words, patience: Patience::new(limit), sandbox, by_bytes: false, idle: Mutex::new(Vec::new()) }
    }

    /// Writes each byte of a text as one character, from U+0000 to U+00FF, so that the program can be asked about bytes that
    /// are not UTF-8. In Python, `json.loads(line).encode("latin-1")` has the bytes.
    #[must_use]
    pub fn by_bytes(mut self, by_bytes: bool) -> Self {
        self.by_bytes = by_bytes;
        self
    }

    fn start(&self) -> std::io::Result<Worker> {
        let words = match &self.sandbox {
            Some(sandbox) => sandbox.wrap(self.words.clone(), None),
            None => self.words.clone(),
        };
        let (program, arguments) = words.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
        let mut command = std::process::Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        in_own_group(&mut command);
        let mut child = command.spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            end(&mut child);
            return Err(std::io::ErrorKind::BrokenPipe.into());
        };
        // Both ends of the pipe have a thread of their own, so that a program that neither reads nor writes cannot block
        // us. The threads end when the program does, or when the worker is dropped.
        let (texts, waiting) = channel();
        let (sender, answers) = channel();
        std::thread::spawn(move || write(input, &waiting));
        std::thread::spawn(move || read(output, &sender));
        Ok(Worker { child, texts, answers })
    }

    /// Asks with what a line of the protocol holds.
    fn send(&self, text: &str) -> Reply {
        let worker = self.idle().pop();
        let is_first = worker.is_none();
        let mut worker = match worker.map_or_else(|| self.start(), Ok) {
            Ok(worker) => worker,
            Err(error) => return Reply::Failed(Failure::Start(error.kind())),
        };
        let began = Instant::now();
        let limit = if is_first { self.patience.first_limit() } else { self.patience.limit() };
        let failure = if worker.texts.send(serde_json::Value::from(text).to_string()).is_err() {
            Failure::Crash
        } else {
            match worker.answers.recv_timeout(limit) {
                Ok(line) => match Reply::from_line(&line) {
                    Some(answer) => {
                        let took = began.elapsed();
                        if is_first {
                            self.patience.note_first(took);
                        } else {
                            self.patience.note(took);
                        }
                        self.idle().push(worker);
                        return answer;
                    }
                    None => Failure::Unclear,
                },
                Err(RecvTimeoutError::Timeout) => Failure::Timeout,
                Err(RecvTimeoutError::Disconnected) => Failure::Crash,
            }
        };
        end(&mut worker.child);
        Reply::Failed(failure)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Worker>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn write(mut input: ChildStdin, texts: &Receiver<String>) {
    while let Ok(mut text) = texts.recv() {
        text.push('\n');
        if input.write_all(text.as_bytes()).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

fn read(output: ChildStdout, answers: &Sender<String>) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        match output.by_ref().take(MAX_LINE).read_until(b'\n', &mut line) {
            Ok(length) if length > 0 && line.last() == Some(&b'\n') => {}
            _ => return,
        }
        if answers.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
            return;
        }
    }
}

impl Program for Process {
    fn ask(&self, text: &str) -> Reply {
        if self.by_bytes { self.ask_bytes(text.as_bytes()) } else { self.send(text) }
    }

    fn takes_bytes(&self) -> bool {
        self.by_bytes
    }

    fn ask_bytes(&self, bytes: &[u8]) -> Reply {
        if self.by_bytes {
            return self.send(&bytes.iter().map(|&byte| char::from(byte)).collect::<String>());
        }
        std::str::from_utf8(bytes).map_or(Reply::Failed(Failure::Unclear), |text| self.send(text))
    }

    fn name(&self) -> String {
        self.words.join(" ")
    }

    fn protocol(&self) -> Option<String> {
        let seconds = self.patience.most().as_secs_f64();
        Some(format!(
            "a program that stays open reads one JSON string per line, and writes true or false per line within {seconds} \
             s, without waiting for more input"
        ))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.idle().iter_mut().for_each(|worker| end(&mut worker.child));
    }
}

impl Reply {
    /// Returns what a line of the protocol says, if it is an answer.
    pub fn from_line(line: &str) -> Option<Self> {
        let value: serde_json::Value = serde_json::from_str(line).ok()?;
        if value.as_bool().or_else(|| value.get("valid")?.as_bool())? {
            return Some(Self::Yes);
        }
        let at = value.get("at").and_then(|at| usize::try_from(at.as_u64()?).ok());
        Some(at.map_or(Self::No, Self::NoAt))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(script: &str) -> Process {
        Process::new(vec!["sh".into(), "-c".into(), script.into()], Duration::from_millis(500), None)
    }

    #[test]
    fn one_line_in_and_one_line_out() {
        let oracle = process(
            "while read -r line; do [ \"$line\" = '\"a\\nb\"' ] && echo true || echo '{\"valid\": false, \"at\": 2}'; done",
        );
        assert_eq!(oracle.ask("a\nb"), Reply::Yes);
        assert_eq!(oracle.ask("ab"), Reply::NoAt(2));
        assert_eq!(oracle.idle().len(), 1);
    }

    #[test]
    fn bytes_are_characters_of_a_line() {
        let script = "while read -r line; do [ \"$line\" = '\"aÿ\"' ] && echo true || echo false; done";
        assert_eq!(process(script).by_bytes(true).ask_bytes(b"a\xff"), Reply::Yes);
        assert_eq!(process(script).by_bytes(true).ask("aÿ"), Reply::No, "two bytes");
        assert_eq!(process(script).ask_bytes("aÿ".as_bytes()), Reply::Yes);
        assert_eq!(process(script).ask_bytes(b"a\xff"), Reply::Failed(Failure::Unclear));
    }

    #[test]
    fn hostile_programs_lead_to_failures() {
        assert_eq!(process("exit 0").ask("a"), Reply::Failed(Failure::Crash));
        assert_eq!(process("sleep 60").ask(&"a".repeat(1 << 20)), Reply::Failed(Failure::Timeout));
        assert_eq!(process("read -r line; echo maybe").ask("a"), Reply::Failed(Failure::Unclear));
        assert_eq!(process("cat /dev/zero").ask("a"), Reply::Failed(Failure::Crash));
        let oracle = process("read -r line; echo true");
        assert_eq!(oracle.ask("a"), Reply::Yes);
        assert_eq!(oracle.ask("b"), Reply::Failed(Failure::Crash));
        assert_eq!(oracle.ask("c"), Reply::Yes);
    }
}
