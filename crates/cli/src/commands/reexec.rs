//! `diligence reexec`: replaces the program of a running bus by the installed one.

use std::time::Duration;

use capture::text::units;
use capture::text::visible::printable;
use clap::Args;
use client::wire::names::{InterfaceName, MemberName};
use client::{CallError, driver};
use serde::Serialize;

use crate::bus_choice::{BusChoice, Unreachable};
use crate::exit::ExitError;
use crate::json_choice::JsonChoice;

/// Arguments of `diligence reexec`.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct Reexec {
    #[command(flatten)]
    bus: BusChoice,
    #[command(flatten)]
    json: JsonChoice,
}

/// A replacement, as JSON.
#[derive(Debug, Serialize)]
struct ReplacementReport {
    old_version: String,
    new_version: String,
    /// The time in which the bus did not route messages, in microseconds.
    paused_us: u64,
}

/// The program of a bus was not replaced.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReexecError {
    #[error(transparent)]
    Connect(#[from] Unreachable),
    #[error("{choice} is not a bus of Diligence, so its program cannot be replaced while it runs")]
    OtherBus { choice: String },
    #[error(
        "only root and the user of the bus may replace the program of {choice}; run this command as root or as this user"
    )]
    Denied { choice: String },
    #[error("{choice} continues with its old program: {}", printable(reason))]
    Failed { choice: String, reason: String },
    #[error("{choice} does not reply: {error}")]
    Ask { choice: String, error: CallError },
}

impl ExitError for ReexecError {}

impl Reexec {
    /// Replaces the program, and returns both versions and the pause.
    pub(crate) fn run(&self) -> Result<String, ReexecError> {
        let connection = self.bus.connect()?;
        let reply = connection.call(driver::NAME, driver::PATH, INTERFACE, REEXECUTE, &());
        let report = reply.and_then(|reply| reply.read().map_err(CallError::from));
        let (old_version, new_version, paused_us) = report.map_err(|error| self.failed(error))?;
        let report = ReplacementReport { old_version, new_version, paused_us };
        Ok(self.json.text(&report).unwrap_or_else(|| report.text()))
    }

    fn failed(&self, error: CallError) -> ReexecError {
        let choice = self.bus.to_string();
        let CallError::Remote { name, message, .. } = &error else {
            return ReexecError::Ask { choice, error };
        };
        match name.strip_prefix("org.freedesktop.DBus.Error.") {
            Some("AccessDenied") => ReexecError::Denied { choice },
            Some("UnknownMethod" | "UnknownInterface" | "UnknownObject") => {
                ReexecError::OtherBus { choice }
            }
            Some("Failed") => {
                let reason = message.strip_prefix(FAILED).unwrap_or(message).to_owned();
                ReexecError::Failed { choice, reason }
            }
            _ => ReexecError::Ask { choice, error },
        }
    }
}

impl ReplacementReport {
    fn text(&self) -> String {
        let (old, new) = (printable(&self.old_version), printable(&self.new_version));
        let paused = units::duration(Duration::from_micros(self.paused_us));
        format!("version {new} replaced version {old}; the bus paused for {paused}\n")
    }
}

const INTERFACE: InterfaceName<'static> = InterfaceName::literal("org.diligence.Daemon1");
const REEXECUTE: MemberName<'static> = MemberName::literal("Reexecute");

/// The beginning of the text of a failure.
const FAILED: &str = "Cannot replace the bus: ";

const LONG_HELP: &str = "\
The running bus executes the installed version of its program, in the same process. All connections, \
names, match rules, queued messages and pending calls stay, and no message is lost. Before that, the new \
program checks whether it can continue; if it cannot, the old program does.

Examples:
  diligence reexec
  sudo diligence reexec --system

The exit status is 0 if the program was replaced, 1 if the old program continues, and 2 if the command \
line is wrong.";
