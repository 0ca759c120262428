//! Programs of libraries while they run.
//!
//! Each is started with a [command](super::BuiltLibrary::command) of its mode, which the caller may have
//! changed: put on a processor, for example. What comes from it is read in threads, so that every
//! wait has its limit. Dropped, it is ended.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use client::SystemError;
use serde::de::DeserializeOwned;

use super::{CallReport, EmitReport, ListenReport};

/// A program that serves the method.
#[derive(Debug)]
pub struct Service {
    process: LibraryProcess,
    name: String,
}

impl Service {
    /// Starts it, and waits until it serves.
    ///
    /// # Errors
    ///
    /// See [`RunError`].
    pub fn start(command: Command) -> Result<Self, RunError> {
        let mut process = LibraryProcess::start(command)?;
        Ok(Self { name: process.name()?, process })
    }

    /// Its unique name on the bus.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of its process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }
}

/// A program that calls the method.
#[derive(Debug)]
pub struct Caller {
    process: LibraryProcess,
}

impl Caller {
    /// Starts it, and waits until it has warmed up.
    ///
    /// # Errors
    ///
    /// See [`RunError`].
    pub fn start(command: Command) -> Result<Self, RunError> {
        let mut process = LibraryProcess::start(command)?;
        process.ready()?;
        Ok(Self { process })
    }

    /// The number of its process, which stays until this is dropped.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Lets it call, and waits for what comes of it.
    ///
    /// # Errors
    ///
    /// See [`RunError`].
    pub fn run(&mut self, limit: Duration) -> Result<CallReport, RunError> {
        self.process.begin();
        self.process.report(limit)
    }
}

/// A program that emits signals.
#[derive(Debug)]
pub struct Emitter {
    process: LibraryProcess,
    name: String,
}

impl Emitter {
    /// Starts it, and waits until it is connected.
    ///
    /// # Errors
    ///
    /// See [`RunError`].
    pub fn start(command: Command) -> Result<Self, RunError> {
        let mut process = LibraryProcess::start(command)?;
        Ok(Self { name: process.name()?, process })
    }

    /// Its unique name on the bus.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of its process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Lets it emit, and waits until it has sent everything.
    ///
    /// # Errors
    ///
    /// See [`RunError`].
    pub fn run(&mut self, limit: Duration) -> Result<EmitReport, RunError> {
        self.process.begin();
        self.process.report(limit)
    }
}

/// A program that receives signals.
#[derive(Debug)]
pub struct Listener {
    process: LibraryProcess,
}

impl Listener {
    /// Starts it, and waits until the bus has its match rule.
    ///
    /// # Errors
    ///
    /// See [`RunError`].
    pub fn start(command: Command) -> Result<Self, RunError> {
        let mut process = LibraryProcess::start(command)?;
        process.ready()?;
        Ok(Self { process })
    }

    /// The number of its process, which stays until this is dropped.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Waits until it has all signals, or silence.
    ///
    /// # Errors
    ///
    /// See [`RunError`].
    pub fn finish(&mut self, limit: Duration) -> Result<ListenReport, RunError> {
        self.process.report(limit)
    }
}

/// Why the program of a library failed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RunError {
    /// The system does not let it be started or talked to.
    #[error(transparent)]
    System(#[from] SystemError),
    /// It ended.
    #[error("{}", ending(*.status, .said))]
    Ended {
        /// Its exit status; `None` if it only closed its output.
        status: Option<ExitStatus>,
        /// What it wrote to standard error.
        said: String,
    },
    /// It wrote nothing in time.
    #[error("it took longer than {limit:?}")]
    TimedOut {
        /// The time that it had.
        limit: Duration,
    },
    /// It wrote an unexpected line.
    #[error("it said {line:?}")]
    Unexpected {
        /// The line.
        line: String,
    },
}

impl From<io::Error> for RunError {
    fn from(error: io::Error) -> Self {
        SystemError::from(error).into()
    }
}

fn ending(status: Option<ExitStatus>, said: &str) -> String {
    match status {
        _ if !said.is_empty() => said.to_owned(),
        Some(status) => format!("it ended with {status}"),
        None => "it closed its output".to_owned(),
    }
}

/// A process, and what it says.
#[derive(Debug)]
struct LibraryProcess {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// What it says of errors, once it has said all.
    words: Receiver<String>,
}

impl LibraryProcess {
    fn start(mut command: Command) -> Result<Self, RunError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let input = child.stdin.take();
        let lines = lines_of(child.stdout.take().expect("it was asked for"));
        let words = words_of(child.stderr.take().expect("it was asked for"));
        Ok(Self { child, input, lines, words })
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }

    fn name(&mut self) -> Result<String, RunError> {
        let line = self.line(START_LIMIT)?;
        if line.starts_with(':') { Ok(line) } else { Err(RunError::Unexpected { line }) }
    }

    fn ready(&mut self) -> Result<(), RunError> {
        let line = self.line(START_LIMIT)?;
        if line == "ready" { Ok(()) } else { Err(RunError::Unexpected { line }) }
    }

    fn begin(&mut self) {
        // If it has ended, that is told when a line is expected from it.
        let _ = self.input.as_mut().map(|input| input.write_all(b"\n"));
    }

    fn report<T: DeserializeOwned>(&mut self, limit: Duration) -> Result<T, RunError> {
        let line = self.line(limit)?;
        serde_json::from_str(&line).map_err(|_| RunError::Unexpected { line })
    }

    fn line(&mut self, limit: Duration) -> Result<String, RunError> {
        match self.lines.recv_timeout(limit) {
            Ok(line) => Ok(line),
            Err(RecvTimeoutError::Timeout) => Err(RunError::TimedOut { limit }),
            Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
        }
    }

    /// How it ended, after it has closed its output.
    fn ended(&mut self) -> RunError {
        drop(self.input.take());
        let said = self.words.recv_timeout(LAST_WORDS_LIMIT).unwrap_or_default();
        for _ in 0..LOOKS_MAX {
            match self.child.try_wait() {
                Ok(None) => thread::sleep(LOOK_EACH),
                Ok(status) => return RunError::Ended { status, said },
                Err(error) => return error.into(),
            }
        }
        RunError::Ended { status: None, said }
    }
}

impl Drop for LibraryProcess {
    fn drop(&mut self) {
        drop(self.input.take());
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
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

/// All that is written to standard error, as one line, when that ends.
fn words_of(errors: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, words) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut errors = BufReader::new(errors);
        // What is not kept is read all the same, so that nobody waits for it.
        let read = errors.by_ref().take(WORDS_LEN_MAX).read_to_end(&mut bytes);
        let _ = read.and_then(|_| io::copy(&mut errors, &mut io::sink()));
        let text = String::from_utf8_lossy(&bytes);
        let _ = sender.send(text.split_whitespace().collect::<Vec<_>>().join(" "));
    });
    words
}

/// How long a program may take to connect and to warm up.
const START_LIMIT: Duration = Duration::from_secs(60);
/// How long a program that has closed its output may take to end.
const LAST_WORDS_LIMIT: Duration = Duration::from_secs(1);
/// How often to look whether it has, and after how long again.
const LOOKS_MAX: u32 = 200;
const LOOK_EACH: Duration = Duration::from_millis(5);
/// Bytes that are kept of what a program says about errors.
const WORDS_LEN_MAX: u64 = 4096;
