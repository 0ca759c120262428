//! `diligence run -- CMD`: a private bus around one command.
//!
//! The command gets our standard streams as they are, and our terminal: what its keys send reaches
//! the command directly. The bus is a process group of its own, so it outlives that, and it ends
//! when this process does, however that happens.

mod error;
mod terminal;

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};

use clap::Args;
use error::RunError;
use rustix::process::Signal as Number;
use sys::poll::{Events, Interest, Poller};
use sys::signals::{Signal, SignalSource};
use sys::spawn::ChildSetup;

use crate::children::send_signal;
use crate::output::complain;
use crate::private_bus::{Config, Plan, PrivateBus, describe_end};

/// What `run` is asked to do.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct Run {
    /// The configuration of the bus [default: like that of a user's session]
    #[arg(long, value_name = "FILE")]
    config_file: Option<PathBuf>,
    /// The command and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "CMD"
    )]
    command: Vec<OsString>,
}

/// Runs a command with a bus of its own, and returns its exit status.
pub(crate) fn run(run: Run) -> ExitCode {
    match around_command(run) {
        Ok(status) => ExitCode::from(shell_status(status)),
        Err(error) => {
            complain(&format!("diligence run: {error}\n"));
            ExitCode::from(error.exit_status())
        }
    }
}

fn around_command(run: Run) -> Result<ExitStatus, RunError> {
    let signals = SignalSource::block(&[
        Signal::Interrupt,
        Signal::Terminate,
        Signal::HangUp,
        Signal::Child,
    ])?;
    let command = command(&run.command)?;
    let config = run.config_file.map_or(Config::Session, Config::File);
    let plan = Plan { config, address: None, log: Stdio::inherit() };
    let mut bus = PrivateBus::start(plan, &signals)?;
    let mut child = start(command, &bus)?;
    wait(&mut child, &mut bus, &signals)
}

/// The command, without its environment. That no option of ours is spelled so, the parser does not
/// notice in front of a command that may have any options.
fn command(words: &[OsString]) -> Result<Command, RunError> {
    let (program, arguments) = words.split_first().expect("the command line requires one");
    if program.as_bytes().starts_with(b"-") {
        return Err(RunError::UnknownOption(program.clone()));
    }
    let mut command = Command::new(program);
    command.args(arguments);
    Ok(command)
}

fn start(mut command: Command, bus: &PrivateBus) -> Result<Child, RunError> {
    command.env("DBUS_SESSION_BUS_ADDRESS", bus.address());
    command.env("DBUS_SESSION_BUS_PID", bus.pid().to_string());
    // They are about another bus.
    for name in FOREIGN_VARIABLES {
        command.env_remove(name);
    }
    ChildSetup::new().install(&mut command);
    let program = command.get_program().to_owned();
    command.spawn().map_err(|error| RunError::Command { program, error })
}

/// Waits for the command, and passes on the signals that were meant for it.
fn wait(
    child: &mut Child,
    bus: &mut PrivateBus,
    signals: &SignalSource,
) -> Result<ExitStatus, RunError> {
    let poller = Poller::new()?;
    poller.add(signals, 0, Interest::Read)?;
    let mut events = Events::with_capacity(1);
    let mut watched = BusState::Running;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        watched.look(bus);
        poller.wait(&mut events, None)?;
        while let Some(signal) = signals.take()? {
            if let Some(number) = passed_on(signal) {
                send_signal(child, number);
            }
        }
    }
}

/// The signal that the command is to get, which does not get it anyway.
fn passed_on(signal: Signal) -> Option<Number> {
    match signal {
        Signal::Terminate => Some(Number::TERM),
        Signal::HangUp => Some(Number::HUP),
        // From the keys of a terminal, all processes in the foreground get it.
        Signal::Interrupt if terminal::is_in_foreground() => None,
        Signal::Interrupt => Some(Number::INT),
        Signal::User1 | Signal::User2 | Signal::Child => None,
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

/// The exit status as a shell has it: 128 more than the number of the signal that ended a command.
fn shell_status(status: ExitStatus) -> u8 {
    let number = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    // A process has one of the two, and both are small.
    number.and_then(|number| u8::try_from(number).ok()).unwrap_or(u8::MAX)
}

/// What other buses leave in the environment.
const FOREIGN_VARIABLES: [&str; 3] =
    ["DBUS_STARTER_ADDRESS", "DBUS_STARTER_BUS_TYPE", "DBUS_SESSION_BUS_WINDOWID"];

const LONG_HELP: &str = "\
Starts a bus, runs the command with DBUS_SESSION_BUS_ADDRESS and DBUS_SESSION_BUS_PID set, and ends \
the bus when the command has ended. SIGTERM, SIGHUP and SIGINT are passed on to the command. What \
the bus has to say goes to standard error.

The exit status is that of the command; 128 and the number of the signal if a signal ended it; 127 \
if it could not be started; 1 if the bus could not, and 2 when the command line is wrong.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_status_is_that_of_a_shell() {
        for (raw, expected) in [(0, 0), (3 << 8, 3), (255 << 8, 255), (15, 143), (9, 137)] {
            assert_eq!(shell_status(ExitStatus::from_raw(raw)), expected, "{raw}");
        }
    }
}
