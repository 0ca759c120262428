//! Starts the buses under test.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use client::{ConnectError, ConnectOptions, Connection, SystemError};
use sys::clock;
use sys::process;
use sys::rlimit::OpenFiles;
use sys::scheduling::ProcessorSet;
use sys::signals::ProcessSignal;
use sys::spawn::ChildSetup;
use wire::address::AddressList;

use super::BusKind;
use super::directory::{BusFiles, private_directory};
use super::find::InstalledBus;
use super::journal::JournalReader;
use super::launch::{BusCommand, Launch};
use super::log_tail::QuotedOutput;
use super::process_handle::{ProcessHandle, first_child};
use super::running::{BusProcess, ExitReport, RunningBus};
use crate::body_validation::BenchBodyValidation;

/// Options for starting a bus. They do not affect a bus that runs already.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StartOptions {
    /// The only processor that the bus may use; `None` for any.
    pub processor: Option<usize>,
    /// Whether the bus validates the bodies of messages.
    pub body_validation: BenchBodyValidation,
}

impl InstalledBus {
    /// Starts the bus, and returns when it has answered a first client. Raises the limit of open
    /// files of this process, for the bus and its clients.
    ///
    /// The bus ends with the thread that started it, so call this in a thread that lives long
    /// enough.
    ///
    /// # Errors
    ///
    /// Fails if the bus cannot skip body validation as requested, cannot be started, ends early, or
    /// does not reply in time.
    pub fn start(&self, options: &StartOptions) -> Result<RunningBus, BusStartError> {
        if options.body_validation == BenchBodyValidation::Off && !self.kind.can_skip_validation() {
            return Err(BusStartError::CannotSkipValidation(self.kind.clone()));
        }
        OpenFiles::raise().map_err(|error| BusStartError::OpenFiles(error.into()))?;
        match &self.launch {
            Launch::Runs(addresses) => attach(addresses),
            Launch::Program(start) => start_program(start, options),
        }
    }
}

/// A bus could not be started.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BusStartError {
    /// The bus always validates the bodies of messages.
    #[error("{0} has no option to skip body validation")]
    CannotSkipValidation(BusKind),
    /// The directory for socket and configuration cannot be created.
    #[error("cannot create a directory for the files of the bus: {0}")]
    Directory(SystemError),
    /// The limit of open files cannot be raised.
    #[error("cannot raise the limit of open files: {0}")]
    OpenFiles(SystemError),
    /// No process reads from the journal socket, and this process cannot replace the journal.
    #[error("no process reads the journal socket, and replacing the journal failed: {0}")]
    Journal(SystemError),
    /// The machine has no processor with this number.
    #[error("there is no processor {0}")]
    NoSuchProcessor(usize),
    /// The program cannot be executed, or not on that processor.
    #[error(
        "cannot start the program of the bus{}: {error}",
        .processor.map_or(String::new(), |number| format!(" on processor {number}"))
    )]
    Program {
        /// The only processor that the bus may use, if limited.
        processor: Option<usize>,
        /// The error of the system.
        error: SystemError,
    },
    /// The bus ended before it answered.
    #[error("the bus did not start: {0}")]
    Ended(ExitReport),
    /// The bus did not reply in time.
    #[error(
        "the bus did not reply within {} s: {error}{}",
        START_TIMEOUT.as_secs(),
        QuotedOutput(.last_words)
    )]
    Silent {
        /// The error of the last attempt to connect.
        error: ConnectError,
        /// The last output of the bus.
        last_words: String,
    },
    /// The bus answered, but its process was not found.
    #[error("the bus started, but its process was not found")]
    NoRouter,
    /// No bus answers at the address of a bus that should be running.
    #[error(transparent)]
    Unreachable(ConnectError),
}

/// Checks that a bus answers at the address, and asks for its process.
fn attach(addresses: &AddressList) -> Result<RunningBus, BusStartError> {
    let connection = connect(addresses, START_TIMEOUT).map_err(BusStartError::Unreachable)?;
    let router = asked_pid(&connection).and_then(router_of).and_then(ProcessHandle::new);
    Ok(RunningBus::of_others(addresses.clone(), router))
}

fn start_program(start: &BusCommand, options: &StartOptions) -> Result<RunningBus, BusStartError> {
    let journal = journal_for(start).map_err(|error| BusStartError::Journal(error.into()))?;
    let place = |error: io::Error| BusStartError::Directory(error.into());
    let directory = private_directory().map_err(place)?;
    let files = BusFiles::new_in(directory.path());
    let setup = child_setup(options.processor)?;
    let mut command = command(start, options.body_validation, &files).map_err(place)?;
    setup.install(&mut command);
    let processor = options.processor;
    let program = |error: io::Error| BusStartError::Program { processor, error: error.into() };
    let child = command.spawn().map_err(program)?;
    let mut process = BusProcess::new(child, directory, journal);
    wait_for_answer(&files.address(), &mut process)?;
    let router =
        router_of(process.pid()).and_then(ProcessHandle::new).ok_or(BusStartError::NoRouter)?;
    Ok(RunningBus::ours(files.address(), router, process))
}

/// Returns the reader of the journal socket, if this bus requires one.
fn journal_for(start: &BusCommand) -> io::Result<Option<JournalReader>> {
    match start {
        BusCommand::DbusBroker { .. } => JournalReader::ensure().map(Some),
        BusCommand::Diligence { .. } | BusCommand::DbusDaemon { .. } | BusCommand::Busd { .. } => {
            Ok(None)
        }
    }
}

/// Configures the child to end with this process and, if `processor` is given, to run only there.
fn child_setup(processor: Option<usize>) -> Result<ChildSetup, BusStartError> {
    let setup = ChildSetup::new().end_with_parent(ProcessSignal::Terminate);
    let Some(number) = processor else { return Ok(setup) };
    let only = ProcessorSet::one(number).ok_or(BusStartError::NoSuchProcessor(number))?;
    Ok(setup.processors(only))
}

/// Writes the configuration and returns the command. Key presses in the terminal do not signal the
/// process.
fn command(
    start: &BusCommand,
    validation: BenchBodyValidation,
    files: &BusFiles,
) -> io::Result<Command> {
    fs::write(files.config(), configuration(&files.address()))?;
    let log = File::create(files.log())?;
    let words = start.words(files, validation);
    let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    command.process_group(0);
    Ok(command)
}

fn configuration(addresses: &AddressList) -> String {
    let escaped = addresses.to_string().replace('&', "&amp;").replace('<', "&lt;");
    include_str!("bus.conf").replace("ADDRESS", &escaped)
}

/// Connects until it succeeds, the process has ended, or [the time](START_TIMEOUT) is over.
fn wait_for_answer(addresses: &AddressList, process: &mut BusProcess) -> Result<(), BusStartError> {
    let deadline = clock::monotonic() + START_TIMEOUT;
    loop {
        let left = deadline.saturating_sub(clock::monotonic());
        let Err(error) = connect(addresses, left) else { return Ok(()) };
        if let Some(exit_report) = process.ended() {
            return Err(BusStartError::Ended(exit_report));
        }
        if left.is_zero() {
            return Err(BusStartError::Silent { error, last_words: process.last_words() });
        }
        thread::sleep(Duration::from_millis(1));
    }
}

fn connect(addresses: &AddressList, timeout: Duration) -> Result<Connection, ConnectError> {
    let options = ConnectOptions { timeout: Some(timeout), ..ConnectOptions::default() };
    Connection::open_with(addresses, &options)
}

/// Asks the bus for its process id.
fn asked_pid(connection: &Connection) -> Option<u32> {
    let bus = "org.freedesktop.DBus";
    let call =
        connection.call(bus, "/org/freedesktop/DBus", bus, "GetConnectionUnixProcessID", &(bus,));
    let (pid,): (u32,) = call.ok()?.read().ok()?;
    Some(pid)
}

/// Returns the process that routes messages: the given process or, if that is the launcher of
/// dbus-broker, its child.
fn router_of(pid: u32) -> Option<u32> {
    if process::comm(pid)? == BROKER_LAUNCHER { first_child(pid) } else { Some(pid) }
}

/// Time in which a bus must answer after its start.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// The name of the launcher of dbus-broker; the kernel keeps 15 bytes.
const BROKER_LAUNCHER: &str = "dbus-broker-lau";

#[cfg(test)]
mod tests {
    use super::super::ProgramPaths;
    use super::*;

    #[test]
    fn the_address_is_escaped_in_the_configuration() {
        let addresses = "unix:path=/a%26b".parse().unwrap();
        assert!(configuration(&addresses).contains("<listen>unix:path=/a%26b</listen>"));
    }

    #[test]
    fn bus_start_fails_if_no_bus_listens_at_the_address() {
        let kind: BusKind = "unix:path=/nowhere/bus".parse().unwrap();
        let installed = kind.find(&ProgramPaths::of_this_process().unwrap()).unwrap();
        let check = |body_validation, expected: &str| {
            let options = StartOptions { body_validation, ..StartOptions::default() };
            let error = installed.start(&options).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        };
        check(BenchBodyValidation::On, "cannot connect: unix:path=/nowhere/bus: No such file");
        check(BenchBodyValidation::Off, "has no option to skip body validation");
    }
}
