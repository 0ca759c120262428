//! Runs library programs.
//!
//! A program is started with a [command](super::BuiltLibrary::command) for its mode, which the
//! caller may modify, for example to set a processor. Threads read its output, so that every wait
//! has a time limit.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde::de::DeserializeOwned;

/// A running library program that is connected to the bus. Dropping it ends it.
#[derive(Debug)]
pub struct RunningProgram {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// The content of standard error, available when that is closed.
    errors: Receiver<String>,
    name: String,
}

impl RunningProgram {
    /// Starts the program, and waits until it is ready: it serves, has warmed up, is connected, or
    /// has added its match rule.
    ///
    /// # Errors
    ///
    /// Fails if the program cannot be started, ends, or is not ready in time.
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

    /// The process id, which is not reused until this value is dropped.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Makes the program start to call or emit.
    pub fn begin(&mut self) {
        // If the program has ended, waiting for its report returns an error.
        let _ = self.input.as_mut().map(|input| input.write_all(b"\n"));
    }

    /// Waits for the report of the program.
    ///
    /// # Errors
    ///
    /// Fails if the program ends without a report, writes an unexpected line, or exceeds `limit`.
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

    /// Describes how the program ended, after it has closed its output.
    fn ended(&mut self) -> LibraryRunError {
        drop(self.input.take());
        let output = self.errors.recv_timeout(END_LIMIT).unwrap_or_default();
        for _ in 0..LOOKS_MAX {
            match self.child.try_wait() {
                Ok(None) => thread::sleep(LOOK_EACH),
                Ok(status) => return LibraryRunError::Ended { status, output },
                Err(error) => return error.into(),
            }
        }
        LibraryRunError::Ended { status: None, output }
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        drop(self.input.take());
        // Fails if the program has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A library program failed.
#[derive(Debug, thiserror::Error)]
pub enum LibraryRunError {
    /// The program cannot be started, or its pipes fail.
    #[error(transparent)]
    System(#[from] io::Error),
    /// The program ended early.
    #[error("{}", ending(*.status, .output))]
    Ended {
        /// The exit status; `None` if the program only closed its output.
        status: Option<ExitStatus>,
        /// The text on standard error.
        output: String,
    },
    /// The program wrote no line in time.
    #[error("the program took longer than {limit:?}")]
    TimedOut {
        /// The time limit that was exceeded.
        limit: Duration,
    },
    /// The program wrote an unexpected line.
    #[error("expected a report, found the line {line:?}")]
    Unexpected {
        /// The unexpected line, for diagnostics.
        line: String,
    },
}

fn ending(status: Option<ExitStatus>, output: &str) -> String {
    match status {
        _ if !output.is_empty() => output.to_owned(),
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

/// Collects the text on standard error in a single line, until standard error is closed.
fn errors_of(errors: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, received) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut errors = BufReader::new(errors);
        // Reads and discards the rest, so that the program never blocks.
        let read = errors.by_ref().take(ERRORS_LEN_MAX).read_to_end(&mut bytes);
        let _ = read.and_then(|_| io::copy(&mut errors, &mut io::sink()));
        let text = String::from_utf8_lossy(&bytes);
        let _ = sender.send(text.split_whitespace().collect::<Vec<_>>().join(" "));
    });
    received
}

/// Time limit for a program to connect and warm up.
const START_LIMIT: Duration = Duration::from_secs(60);
/// Time limit for a program to end after it has closed its output.
const END_LIMIT: Duration = Duration::from_secs(1);
/// The number of checks whether the program has ended.
const LOOKS_MAX: u32 = 200;
const LOOK_EACH: Duration = Duration::from_millis(5);
/// The number of bytes that are kept of standard error.
const ERRORS_LEN_MAX: u64 = 4096;
