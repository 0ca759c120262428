//! `diligence run -- CMD`: runs one command with a private bus.
//!
//! The command inherits the standard streams and the terminal, so signals from the keyboard reach
//! it directly. The bus has its own process group, so these signals do not end it. It ends when
//! this process ends for any reason.

mod error;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use capture::record::EndCause;
use clap::Args;
use error::RunCommandError;
use recorder::{BusPlace, SessionTurn};
use sys::poll::{Events, Interest, Poller};
use sys::signals::SignalSource;

use crate::commands::record::{ActiveRecording, RecordError, report, status_with};
use crate::output::print_to_stderr;
use crate::private_bus::{PrivateBus, PrivateBusConfig, PrivateBusOptions, describe_end};
use crate::user_command::{self, UserCommand, shell_status};

/// Arguments of `diligence run`.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct RunArgs {
    /// The configuration of the bus [default: like a session bus]
    #[arg(long, value_name = "FILE")]
    config_file: Option<PathBuf>,
    /// Record the messages of the bus into this file
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// The command and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "CMD"
    )]
    command: Vec<OsString>,
}

impl RunArgs {
    /// Runs a command with its own bus, and returns its exit status.
    pub(crate) fn run(self) -> Result<u8, RunCommandError> {
        let signals = SignalSource::block(&user_command::SIGNALS)?;
        let command = user_command::command(&self.command)?;
        let config = self.config_file.map_or(PrivateBusConfig::Session, PrivateBusConfig::File);
        let plan = PrivateBusOptions { config, address: None, log: Stdio::inherit() };
        let bus = PrivateBus::start(plan, &signals)?;
        let place = BusPlace::Address(bus.address().to_owned());
        let recording = self.record.map(|path| ActiveRecording::of(place, path)).transpose()?;
        let user_command = match start(command, &bus) {
            Ok(user_command) => user_command,
            Err(error) => {
                recording.into_iter().for_each(ActiveRecording::discard);
                return Err(error);
            }
        };
        let mut running = CommandWithBus {
            user_command,
            bus,
            bus_state: BusState::Running,
            recording: Ok(recording),
        };
        let status = running.wait(&signals)?;
        running.end_recording(EndCause::Command);
        Ok(status_with(shell_status(status), running.recording.err(), "run")?)
    }
}

fn start(mut command: Command, bus: &PrivateBus) -> Result<UserCommand, RunCommandError> {
    command.env("DBUS_SESSION_BUS_ADDRESS", bus.address());
    command.env("DBUS_SESSION_BUS_PID", bus.pid().to_string());
    // These variables refer to another bus.
    for name in FOREIGN_VARIABLES {
        command.env_remove(name);
    }
    Ok(UserCommand::start(command)?)
}

/// The running command, its bus, and the recording of the bus.
#[derive(Debug)]
struct CommandWithBus {
    user_command: UserCommand,
    bus: PrivateBus,
    bus_state: BusState,
    /// The running recording, or the error that ended it.
    recording: Result<Option<ActiveRecording>, RecordError>,
}

impl CommandWithBus {
    /// Waits for the command, forwards signals to it, and records.
    fn wait(&mut self, signals: &SignalSource) -> Result<ExitStatus, RunCommandError> {
        let poller = Poller::new()?;
        poller.add(signals, 0, Interest::Read)?;
        if let Ok(Some(recording)) = &self.recording {
            poller.add(recording.session(), 1, Interest::Read)?;
        }
        let mut events = Events::with_capacity(2);
        loop {
            if let Some(status) = self.user_command.ended()? {
                return Ok(status);
            }
            self.bus_state.check(&mut self.bus);
            let rest = self.record();
            poller.wait(&mut events, rest)?;
            while let Some(signal) = signals.take()? {
                self.user_command.forward(signal);
            }
        }
    }

    /// Records the available messages; returns the time to wait for more.
    fn record(&mut self) -> Option<Duration> {
        let Ok(Some(recording)) = &mut self.recording else { return None };
        match recording.turn() {
            SessionTurn::More => Some(Duration::ZERO),
            SessionTurn::Rest(rest) => Some(rest),
            SessionTurn::Over(cause) => {
                self.end_recording(cause);
                None
            }
        }
    }

    /// Ends the recording, if it is running; the command continues.
    fn end_recording(&mut self, cause: EndCause) {
        let Ok(Some(recording)) = self.recording.as_mut().map(Option::take) else { return };
        match recording.finish(cause) {
            Ok(summary) => print_to_stderr(&report(&summary)),
            Err(error) => self.recording = Err(error),
        }
    }
}

/// The state of the bus. If the bus ends while the command runs, a message is printed once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum BusState {
    Running,
    Ended,
}

impl BusState {
    fn check(&mut self, bus: &mut PrivateBus) {
        if *self == Self::Running
            && let Some(status) = bus.ended()
        {
            *self = Self::Ended;
            let how = describe_end(status);
            print_to_stderr(&format!("diligence run: the bus has ended with {how}\n"));
        }
    }
}

/// Variables that refer to other buses.
const FOREIGN_VARIABLES: [&str; 3] =
    ["DBUS_STARTER_ADDRESS", "DBUS_STARTER_BUS_TYPE", "DBUS_SESSION_BUS_WINDOWID"];

const LONG_HELP: &str = "\
Starts a bus, runs the command with DBUS_SESSION_BUS_ADDRESS and DBUS_SESSION_BUS_PID set, and ends \
the bus after the command. SIGTERM, SIGHUP and SIGINT are passed on to the command. The log of the bus \
goes to standard error. With --record, FILE contains all messages of the bus at the end of the command, \
for `diligence stats` and other commands.

The exit status is the status of the command; 128 plus the number of the signal if a signal ended it; \
127 if it could not be started; 1 if the bus could not be started, or if the command succeeded and the \
recording is incomplete; and 2 if the command line is wrong.";
