//! A private bus: a command starts it with a temporary directory and ends it when the command ends.

mod config;
mod error;

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

use daemon_command::locate;
pub(crate) use error::PrivateBusError;
use sys::poll::{Events, Interest, Poller};
use sys::private_directory::PrivateDirectory;
use sys::signals::{ProcessSignal, SignalSource};
use wire::address::{Address, AddressList, Transport, UnixTransport};

use crate::children;

/// How to start a private bus.
#[derive(Debug)]
pub(crate) struct PrivateBusOptions {
    /// The source of its configuration.
    pub(crate) config: PrivateBusConfig,
    /// The addresses to listen on; by default a socket in the temporary directory, or the addresses
    /// in the configuration file.
    pub(crate) address: Option<AddressList>,
    /// The destination of its log.
    pub(crate) log: Stdio,
}

/// The source of the configuration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum PrivateBusConfig {
    /// The configuration of a session bus, except for the address.
    Session,
    /// The configuration file at this path.
    File(PathBuf),
}

/// A running private bus. Dropping it ends the process and removes its directory.
#[derive(Debug)]
pub(crate) struct PrivateBus {
    process: Child,
    address: String,
    _directory: PrivateDirectory,
}

impl PrivateBus {
    /// Starts a bus and waits until it listens. A terminating signal interrupts the wait.
    pub(crate) fn start(
        plan: PrivateBusOptions,
        signals: &SignalSource,
    ) -> Result<Self, PrivateBusError> {
        let directory = PrivateDirectory::new("diligence-").map_err(PrivateBusError::Directory)?;
        let mut command = command(&plan, directory.path())?;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(plan.log);
        let mut process = children::start_dependent(&mut command)
            .map_err(|error| PrivateBusError::Spawn(command.get_program().to_owned(), error))?;
        let stdout = process.stdout.take().expect("standard output is piped");
        match read_address(stdout, signals) {
            Ok(address) => Ok(Self { process, address, _directory: directory }),
            Err(error) => Err(explain(error, &mut process)),
        }
    }

    /// The address that the bus printed.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// The pid of the bus.
    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// The exit status of the bus, if it has ended.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        // Waiting fails only if the process is not a child of this one.
        self.process.try_wait().ok().flatten()
    }
}

impl Drop for PrivateBus {
    fn drop(&mut self) {
        children::end_all([&mut self.process]);
    }
}

/// The command line that runs the bus.
fn command(plan: &PrivateBusOptions, directory: &Path) -> Result<Command, PrivateBusError> {
    let program = locate::daemon().map_err(PrivateBusError::Missing)?;
    let file = match &plan.config {
        PrivateBusConfig::File(file) => file.clone(),
        PrivateBusConfig::Session => {
            let address = plan.address.clone().unwrap_or_else(|| address_in(directory));
            let file = directory.join("bus.conf");
            fs::write(&file, config::session(&address)).map_err(PrivateBusError::Directory)?;
            file
        }
    };
    let mut command = Command::new(program);
    command.arg(with_value("--config-file=", file));
    command.args(["--nofork", "--nopidfile", "--print-address=1"]);
    if let (PrivateBusConfig::File(_), Some(address)) = (&plan.config, &plan.address) {
        command.arg(format!("--address={address}"));
    }
    Ok(command)
}

fn address_in(directory: &Path) -> AddressList {
    let path = directory.join("bus").into_os_string().into_vec();
    Address::from(Transport::Unix(UnixTransport::Path(path))).into()
}

fn with_value(option: &str, value: PathBuf) -> OsString {
    let mut word = OsString::from(option);
    word.push(value);
    word
}

/// Waits for the line in which the bus prints its address.
fn read_address(
    mut stdout: ChildStdout,
    signals: &SignalSource,
) -> Result<String, PrivateBusError> {
    let wait = || -> io::Result<(Poller, Events)> {
        let poller = Poller::new()?;
        poller.add(signals, 0, Interest::Read)?;
        poller.add(&stdout, 1, Interest::Read)?;
        Ok((poller, Events::with_capacity(2)))
    };
    let (poller, mut events) = wait().map_err(PrivateBusError::Wait)?;
    let (mut line, mut space) = (Vec::new(), [0; 512]);
    loop {
        poller.wait(&mut events, None).map_err(PrivateBusError::Wait)?;
        if let Some(signal) = end_requested(signals).map_err(PrivateBusError::Wait)? {
            return Err(PrivateBusError::Interrupted(signal));
        }
        if !events.iter().any(|event| event.token() == 1) {
            continue;
        }
        let count = stdout.read(&mut space).map_err(PrivateBusError::Wait)?;
        line.extend_from_slice(&space[..count]);
        if let Some(end) = line.iter().position(|&byte| byte == b'\n') {
            return address_of(&line[..end]);
        }
        if count == 0 {
            return Err(PrivateBusError::Ended(None));
        }
    }
}

fn address_of(line: &[u8]) -> Result<String, PrivateBusError> {
    let text = String::from_utf8_lossy(line);
    let parsed = text.parse::<AddressList>();
    parsed
        .map(|_| text.to_string())
        .map_err(|error| PrivateBusError::Address(text.into_owned(), error))
}

/// Takes signals until one asks this program to end, and returns it. Other signals, such as
/// SIGCHLD, are discarded.
pub(crate) fn end_requested(signals: &SignalSource) -> io::Result<Option<ProcessSignal>> {
    while let Some(signal) = signals.take()? {
        if matches!(
            signal,
            ProcessSignal::Interrupt | ProcessSignal::Terminate | ProcessSignal::HangUp
        ) {
            return Ok(Some(signal));
        }
    }
    Ok(None)
}

/// Ends a bus that failed to start. If it had ended by itself, adds its exit status to the error.
fn explain(error: PrivateBusError, process: &mut Child) -> PrivateBusError {
    let error = match error {
        PrivateBusError::Ended(_) => PrivateBusError::Ended(process.wait().ok()),
        other => other,
    };
    children::end_all([process]);
    error
}

/// Describes how a process ended: `exit status 3`, `signal 9 (SIGKILL)`.
pub(crate) fn describe_end(status: ExitStatus) -> String {
    // The standard library formats it as `exit status: 3`.
    status.to_string().replace(": ", " ")
}
