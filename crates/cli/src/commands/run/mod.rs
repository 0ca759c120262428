//! `diligence run -- CMD`: a private bus around one command.
//!
//! The command gets our standard streams as they are, and our terminal: what its keys send reaches
//! the command directly. The bus is a process group of its own, so it outlives that, and it ends
//! when this process does, however that happens.

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
use crate::guest::{self, Guest, shell_status};
use crate::output::complain;
use crate::private_bus::{PrivateBus, PrivateBusConfig, PrivateBusOptions, describe_end};

/// What `run` is asked to do.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct RunArgs {
    /// The configuration of the bus [default: like that of a user's session]
    #[arg(long, value_name = "FILE")]
    config_file: Option<PathBuf>,
    /// Record what goes over the bus into this file
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
    /// Runs a command with a bus of its own, and returns its exit status.
    pub(crate) fn run(self) -> Result<u8, RunCommandError> {
        let signals = SignalSource::block(&guest::SIGNALS)?;
        let command = guest::command(&self.command)?;
        let config = self.config_file.map_or(PrivateBusConfig::Session, PrivateBusConfig::File);
        let plan = PrivateBusOptions { config, address: None, log: Stdio::inherit() };
        let bus = PrivateBus::start(plan, &signals)?;
        let place = BusPlace::Address(bus.address().to_owned());
        let recording = self.record.map(|path| ActiveRecording::of(place, path)).transpose()?;
        let guest = match start(command, &bus) {
            Ok(guest) => guest,
            Err(error) => {
                recording.into_iter().for_each(ActiveRecording::discard);
                return Err(error);
            }
        };
        let mut around =
            Around { guest, bus, watched: BusState::Running, recording: Ok(recording) };
        let status = around.wait(&signals)?;
        around.end_recording(EndCause::Command);
        Ok(status_with(shell_status(status), around.recording.err(), "run")?)
    }
}

fn start(mut command: Command, bus: &PrivateBus) -> Result<Guest, RunCommandError> {
    command.env("DBUS_SESSION_BUS_ADDRESS", bus.address());
    command.env("DBUS_SESSION_BUS_PID", bus.pid().to_string());
    // They are about another bus.
    for name in FOREIGN_VARIABLES {
        command.env_remove(name);
    }
    Ok(Guest::start(command)?)
}

/// A command, and what is around it.
#[derive(Debug)]
struct Around {
    guest: Guest,
    bus: PrivateBus,
    watched: BusState,
    /// While it goes on, or why it does not.
    recording: Result<Option<ActiveRecording>, RecordError>,
}

impl Around {
    /// Waits for the command, passes on the signals that were meant for it, and records.
    fn wait(&mut self, signals: &SignalSource) -> Result<ExitStatus, RunCommandError> {
        let poller = Poller::new()?;
        poller.add(signals, 0, Interest::Read)?;
        if let Ok(Some(recording)) = &self.recording {
            poller.add(recording.session(), 1, Interest::Read)?;
        }
        let mut events = Events::with_capacity(2);
        loop {
            if let Some(status) = self.guest.ended()? {
                return Ok(status);
            }
            self.watched.look(&mut self.bus);
            let rest = self.record();
            poller.wait(&mut events, rest)?;
            while let Some(signal) = signals.take()? {
                self.guest.pass_on(signal);
            }
        }
    }

    /// Takes what there is to record; says how long there will be nothing.
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

    /// Ends it, if it goes on; the command does in any case.
    fn end_recording(&mut self, cause: EndCause) {
        let Ok(Some(recording)) = self.recording.as_mut().map(Option::take) else { return };
        match recording.finish(cause) {
            Ok(summary) => complain(&report(&summary)),
            Err(error) => self.recording = Err(error),
        }
    }
}

/// Whether the bus is still there. If it ends, the command is told by its connection, and the user
/// here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum BusState {
    Running,
    Ended,
}

impl BusState {
    fn look(&mut self, bus: &mut PrivateBus) {
        if *self == Self::Running
            && let Some(status) = bus.ended()
        {
            *self = Self::Ended;
            let how = describe_end(status);
            complain(&format!("diligence run: the bus has ended with {how}\n"));
        }
    }
}

/// What other buses leave in the environment.
const FOREIGN_VARIABLES: [&str; 3] =
    ["DBUS_STARTER_ADDRESS", "DBUS_STARTER_BUS_TYPE", "DBUS_SESSION_BUS_WINDOWID"];

const LONG_HELP: &str = "\
Starts a bus, runs the command with DBUS_SESSION_BUS_ADDRESS and DBUS_SESSION_BUS_PID set, and ends \
the bus when the command has ended. SIGTERM, SIGHUP and SIGINT are passed on to the command. What \
the bus has to say goes to standard error. With --record, all that goes over the bus is in FILE \
when the command has ended, for `diligence stats` and the others.

The exit status is that of the command; 128 and the number of the signal if a signal ended it; 127 \
if it could not be started; 1 if the bus could not, or if the command succeeded and not all of the \
recording could be written; and 2 when the command line is wrong.";
