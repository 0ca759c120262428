//! A program of a library while it runs.
//!
//! It is started with a [command](super::BuiltLibrary::command) of its mode, which the caller may have
//! changed, for example by a processor. Threads read what it writes, so that every wait has a limit.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde::de::DeserializeOwned;

/// A program of a library that is connected. Dropping it ends it.
#[derive(Debug)]
pub struct RunningProgram {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// What it writes to standard error, once that has ended.
    errors: Receiver<String>,
    name: String,
}

impl RunningProgram {
    /// Starts it, and waits until it is ready: it serves, has warmed up, is connected, or has its
    /// match rule.
    pub fn start(mut command: Command) -> Result<Self, LibraryRunError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let input = child.stdin.take();
        let lines = lines_of(child.stdout.take().expect("the pipe was requested"));
        let errors = errors_of(child.stderr.take().expect("the pipe was requested"));
        let mut program = Self { child, input, lines, errors, name: String::new() };
        match program.line(START_LIMIT)? {
            line if line == "ready" => {}
            line if line.starts_with(':') => program.name = line,
            line => return Err(LibraryRunError::Unexpected { line }),
        }
        Ok(program)
    }

    /// Its unique name on the bus, if it serves or emits; otherwise empty.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of its process, which stays until this is dropped.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Lets it call or emit.
    pub fn begin(&mut self) {
        // If it has ended, the wait for its report returns an error.
        let _ = self.input.as_mut().map(|input| input.write_all(b"\n"));
    }

    /// Waits for its report.
    pub fn report<T: DeserializeOwned>(&mut self, limit: Duration) -> Result<T, LibraryRunError> {
        let line = self.line(limit)?;
        serde_json::from_str(&line).map_err(|_| LibraryRunError::Unexpected { line })
    }

    fn line(&mut self, limit: Duration) -> Result<String, LibraryRunError> {
        match self.lines.recv_timeout(limit) {
            Ok(line) => Ok(line),
            Err(RecvTimeoutError::Timeout) => Err(LibraryRunError::TimedOut { limit }),
            Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
        }
    }

    /// How it ended, after it has closed its output.
    fn ended(&mut self) -> LibraryRunError {
        drop(self.input.take());
        let said = self.errors.recv_timeout(END_LIMIT).unwrap_or_default();
        for _ in 0..LOOKS_MAX {
            match self.child.try_wait() {
                Ok(None) => thread::sleep(LOOK_EACH),
                Ok(status) => return LibraryRunError::Ended { status, said },
                Err(error) => return error.into(),
            }
        }
        LibraryRunError::Ended { status: None, said }
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        drop(self.input.take());
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Why the program of a library failed.
#[derive(Debug, thiserror::Error)]
pub enum LibraryRunError {
    /// The system does not let it be started or talked to.
    #[error(transparent)]
    System(#[from] io::Error),
    /// It ended.
    #[error("{}", ending(*.status, .said))]
    Ended {
        /// Its exit status; `None` if it only closed its output.
        status: Option<ExitStatus>,
        /// What it wrote to standard error.
        said: String,
    },
    /// It wrote nothing in time.
    #[error("the program took longer than {limit:?}")]
    TimedOut {
        /// The time that it had.
        limit: Duration,
    },
    /// It wrote an unexpected line.
    #[error("expected a report, found the line {line:?}")]
    Unexpected {
        /// The line.
        line: String,
    },
}

fn ending(status: Option<ExitStatus>, said: &str) -> String {
    match status {
        _ if !said.is_empty() => said.to_owned(),
        Some(status) => format!("the program ended with {status}"),
        None => "the program closed its standard output".to_owned(),
    }
}

fn lines_of(output: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        let all = BufReader::new(output).lines().map_while(Result::ok);
        all.map(|line| sender.send(line)).take_while(Result::is_ok).for_each(drop);
    });
    lines
}

/// What is written to standard error, as one line, when that ends.
fn errors_of(errors: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, received) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut errors = BufReader::new(errors);
        // What is not kept is read all the same, so that nobody waits for it.
        let read = errors.by_ref().take(ERRORS_LEN_MAX).read_to_end(&mut bytes);
        let _ = read.and_then(|_| io::copy(&mut errors, &mut io::sink()));
        let text = String::from_utf8_lossy(&bytes);
        let _ = sender.send(text.split_whitespace().collect::<Vec<_>>().join(" "));
    });
    received
}

/// How long a program may take to connect and to warm up.
const START_LIMIT: Duration = Duration::from_secs(60);
/// How long a program that has closed its output may take to end.
const END_LIMIT: Duration = Duration::from_secs(1);
/// How often to look whether it has, and after how long again.
const LOOKS_MAX: u32 = 200;
const LOOK_EACH: Duration = Duration::from_millis(5);
/// Bytes that are kept of the standard error of a program.
const ERRORS_LEN_MAX: u64 = 4096;
