//! `diligence status`: the credentials of a name or process ([`credentials`]), and with `--bus` the
//! state of a bus.
//!
//! ```text
//!  ask ─▶ BusReport ─┬─ text   for people, as wide as the terminal
//!                    └─ JSON   for programs
//! ```
//!
//! Buses of Diligence report their whole state; other buses support
//! `org.freedesktop.DBus.Debug.Stats`, or nothing.

mod ask;
mod credentials;
mod dict;
mod error;
mod incidents;
mod report;
#[cfg(test)]
mod tests;
mod text;

use clap::Args;
use inspector::InspectorTimeouts;

use crate::bus_choice::BusChoice;
use crate::inspection::{InspectionError, inspector};
use crate::json_choice::JsonChoice;
use crate::style;
use crate::table_options::NoPager;
use error::StatusError;

/// Arguments of `diligence status`.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct StatusArgs {
    /// A name or a process id, whose credentials are shown [default: the bus itself]
    #[arg(value_name = "NAME|PID", conflicts_with = "bus")]
    subject: Option<String>,
    /// Show the state of the bus itself
    #[arg(long)]
    bus: bool,
    #[command(flatten)]
    choice: BusChoice,
    /// The number of connections, members and incidents to show; 0 for all
    #[arg(long, value_name = "COUNT", default_value_t = 10, requires = "bus")]
    top: u32,
    #[command(flatten)]
    json: JsonChoice,
    #[command(flatten)]
    _pager: NoPager,
}

impl StatusArgs {
    /// Queries the bus and returns the report.
    pub(crate) fn run(&self) -> Result<String, StatusError> {
        if self.bus { self.bus_state() } else { Ok(self.credentials()?) }
    }

    /// Returns the credentials of the subject. A subject that is a number is a pid, because no bus
    /// name is a number.
    fn credentials(&self) -> Result<String, InspectionError> {
        let choice = &self.choice;
        let inspector = inspector(choice, InspectorTimeouts::default().reply)?;
        let credentials = match &self.subject {
            None => credentials::of_bus(&inspector, choice)?,
            Some(subject) => match subject.parse() {
                Ok(pid) => credentials::of_process(&inspector, choice, pid)?,
                Err(_) => credentials::of_name(&inspector, choice, subject)?,
            },
        };
        Ok(self.json.text(&credentials).unwrap_or_else(|| credentials.to_text(style::of_stdout())))
    }

    fn bus_state(&self) -> Result<String, StatusError> {
        let choice = self.choice.to_string();
        let connection = self.choice.connect()?;
        let report = ask::ask(&connection, choice, self.top)?;
        let text = || text::render(&report, style::of_stdout(), self.top);
        // The conversion to a value sorts the keys.
        let json = serde_json::to_value(&report).unwrap_or_default();
        Ok(self.json.text(&json).unwrap_or_else(text))
    }
}

const LONG_HELP: &str = "\
For a name or a process it prints the credentials like `busctl status`, as lines of KEY=VALUE, and then \
other known facts: the names of user and groups, the start time of the process, and its other names. \
Without a name it prints the address and the id of the bus, and then describes the bus itself.

  diligence status org.freedesktop.login1 --system
  diligence status :1.7
  diligence status 4242                              the process, and its names on the bus
  diligence status --bus                             the state of the bus

With --bus, a bus of Diligence reports its current resources, the counters since its start, the busiest \
peers, the most used members, and recent incidents with the peers that caused them. Only root and the \
user of the bus may see this. Members are counted from the first request on, or from the start if the bus has a metrics socket.

For other buses, --bus prints the contents of org.freedesktop.DBus.Debug.Stats.

The exit status is 0 if the bus has replied, 1 if it has not, and 2 if the command line is \
wrong.";
