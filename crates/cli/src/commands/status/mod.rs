//! `diligence status`: who has a name ([`who`]), and with `--bus` how a bus is.
//!
//! ```text
//!  ask ─▶ Report ─┬─ text   for people, as wide as the terminal
//!                 └─ JSON   for programs
//! ```
//!
//! Of how it is our own bus tells much; any other what it has in `org.freedesktop.DBus.Debug.Stats`, or nothing.

mod ask;
mod dict;
mod error;
mod incidents;
mod report;
#[cfg(test)]
mod tests;
mod text;
mod who;

use clap::Args;
use inspector::InspectorPatience;

use crate::bus_choice::BusChoice;
use crate::inspection::{LookError, inspector};
use crate::json_choice::JsonChoice;
use crate::style;
use crate::table_options::NoPager;
use error::StatusError;

/// What to tell.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct StatusArgs {
    /// Whose credentials: a name, or the number of a process [default: of the bus itself]
    #[arg(value_name = "NAME|PID", conflicts_with = "bus")]
    subject: Option<String>,
    /// Tell how the bus itself is
    #[arg(long)]
    bus: bool,
    #[command(flatten)]
    choice: BusChoice,
    /// How many connections, members and incidents to show of each; 0 for all
    #[arg(long, value_name = "COUNT", default_value_t = 10, requires = "bus")]
    top: u32,
    #[command(flatten)]
    json: JsonChoice,
    #[command(flatten)]
    _pager: NoPager,
}

impl StatusArgs {
    /// Asks the bus.
    pub(crate) fn run(&self) -> Result<String, StatusError> {
        if self.bus { self.tell() } else { Ok(self.tell_who()?) }
    }

    /// Whose credentials are told. A name of a bus never is a number alone.
    fn tell_who(&self) -> Result<String, LookError> {
        let choice = &self.choice;
        let inspector = inspector(choice, InspectorPatience::default().answer)?;
        let credentials = match &self.subject {
            None => who::of_bus(&inspector, choice)?,
            Some(subject) => match subject.parse() {
                Ok(pid) => who::of_process(&inspector, choice, pid)?,
                Err(_) => who::of_name(&inspector, choice, subject)?,
            },
        };
        Ok(self.json.text(&credentials).unwrap_or_else(|| credentials.to_text(style::of_stdout())))
    }

    fn tell(&self) -> Result<String, StatusError> {
        let choice = self.choice.to_string();
        let connection = self.choice.connect()?;
        let report = ask::ask(&connection, choice, self.top)?;
        let text = || text::render(&report, style::of_stdout(), self.top);
        // Sorted by key.
        let json = serde_json::to_value(&report).unwrap_or_default();
        Ok(self.json.text(&json).unwrap_or_else(text))
    }
}

const LONG_HELP: &str = "\
Of a name or a process it prints what `busctl status` prints, every credential as KEY=VALUE; behind that \
what is known besides: user and groups by name, when the process was started, and its other names. \
Without a name it is the bus itself that is told of, after its address and its number.

  diligence status org.freedesktop.login1 --system
  diligence status :1.7
  diligence status 4242                              the process, and its names on the bus
  diligence status --bus                             how the bus is

With --bus: of our own bus it tells what there is now, what was counted since the start, who talks most, which \
members are used most, and what went wrong of late and who it was. That is for the superuser and \
the user of the bus. Members are counted from the first time that somebody asks.

Of another bus --bus tells what that has in org.freedesktop.DBus.Debug.Stats.

The exit status is 0 when the bus has answered, 1 when it has not, and 2 when the command line is \
wrong.";
