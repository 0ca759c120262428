//! Starting a bus.

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

/// How a bus is started. A bus that runs already is taken as it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StartOptions {
    /// The only processor that it may use; `None` for any.
    pub processor: Option<usize>,
    /// Whether it checks the bodies of messages.
    pub body_validation: BenchBodyValidation,
}

impl InstalledBus {
    /// Starts the bus, and returns when it has answered a first program. The limit of open files
    /// of this process is raised, for the bus and for those who connect to it.
    ///
    /// A bus ends with the thread that has started it, so call this in one that lasts.
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

/// Why a bus does not run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BusStartError {
    /// It always checks the bodies of messages.
    #[error("{0} has no option to skip body validation")]
    CannotSkipValidation(BusKind),
    /// The directory for its socket and configuration cannot be made.
    #[error("cannot create a directory for the files of the bus: {0}")]
    Directory(SystemError),
    /// The limit of open files cannot be raised.
    #[error("cannot raise the limit of open files: {0}")]
    OpenFiles(SystemError),
    /// Nothing reads what it writes to the journal, and this process cannot do it instead.
    #[error("no process reads the journal socket, and replacing the journal failed: {0}")]
    Journal(SystemError),
    /// No machine has a processor of this number.
    #[error("there is no processor {0}")]
    NoSuchProcessor(usize),
    /// Its program cannot be executed, or not on that processor.
    #[error(
        "cannot start the program of the bus{}: {error}",
        .processor.map_or(String::new(), |number| format!(" on processor {number}"))
    )]
    Program {
        /// The only processor that it may use, if there is such a limit.
        processor: Option<usize>,
        /// The system's error.
        error: SystemError,
    },
    /// It ended before it answered.
    #[error("the bus did not start: {0}")]
    Ended(ExitReport),
    /// It did not answer in time.
    #[error(
        "the bus did not answer within {} s: {error}{}",
        START_TIMEOUT.as_secs(),
        QuotedOutput(.last_words)
    )]
    Silent {
        /// Why the last attempt to connect failed.
        error: ConnectError,
        /// What it has written.
        last_words: String,
    },
    /// It answered, but its process was not found.
    #[error("the bus started, but its process was not found")]
    NoRouter,
    /// Nothing answers at the address of a bus that should run already.
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

/// The reader of the journal that this bus needs, if it does.
fn journal_for(start: &BusCommand) -> io::Result<Option<JournalReader>> {
    match start {
        BusCommand::DbusBroker { .. } => JournalReader::ensure().map(Some),
        BusCommand::Diligence { .. } | BusCommand::DbusDaemon { .. } | BusCommand::Busd { .. } => {
            Ok(None)
        }
    }
}

/// It ends with this process, and is confined to the processor, if there is one.
fn child_setup(processor: Option<usize>) -> Result<ChildSetup, BusStartError> {
    let setup = ChildSetup::new().end_with_parent(ProcessSignal::Terminate);
    let Some(number) = processor else { return Ok(setup) };
    let only = ProcessorSet::one(number).ok_or(BusStartError::NoSuchProcessor(number))?;
    Ok(setup.processors(only))
}

/// The command, with its configuration written. The keys of the terminal do not reach it.
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

/// Connects until it works, the process has ended, or [time](START_TIMEOUT) is up.
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

/// The process that answers, as it says itself.
fn asked_pid(connection: &Connection) -> Option<u32> {
    let bus = "org.freedesktop.DBus";
    let call =
        connection.call(bus, "/org/freedesktop/DBus", bus, "GetConnectionUnixProcessID", &(bus,));
    let (pid,): (u32,) = call.ok()?.read().ok()?;
    Some(pid)
}

/// The process that routes, where this one was started or answers for it: itself, or, if it is
/// the launcher of dbus-broker, what it has launched.
fn router_of(pid: u32) -> Option<u32> {
    if process::comm(pid)? == BROKER_LAUNCHER { first_child(pid) } else { Some(pid) }
}

/// How long a bus may take until it answers.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// The name of the launcher of dbus-broker, of which the kernel keeps fifteen bytes.
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
    fn nobody_listens_at_an_address() {
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
