//! `diligence status --bus`: how a bus is.
//!
//! ```text
//!  ask ─▶ Report ─┬─ text   for people, as wide as the terminal
//!                 └─ json   for programs
//! ```
//!
//! Our own bus tells much; any other what it has in `org.freedesktop.DBus.Debug.Stats`, or nothing.

mod ask;
mod dict;
mod error;
mod incidents;
mod json;
mod report;
#[cfg(test)]
mod tests;
mod text;

use std::process::ExitCode;

use clap::Args;

use crate::bus_choice::BusChoice;
use crate::output::{failed, print};
use crate::style;
use error::StatusError;

/// What to tell.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct Status {
    /// Tell how the bus itself is
    #[arg(long, required = true)]
    bus: bool,
    #[command(flatten)]
    choice: BusChoice,
    /// How many connections, members and incidents to show of each; 0 for all
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    top: u32,
    /// Print what the bus says as JSON
    #[arg(long)]
    json: bool,
}

/// Asks the bus, and prints what it says.
pub(crate) fn run(status: &Status) -> ExitCode {
    match tell(status) {
        Ok(text) => print(&text),
        Err(error) => failed("status", &error, ExitCode::FAILURE),
    }
}

fn tell(status: &Status) -> Result<String, StatusError> {
    let choice = status.choice.to_string();
    let connection = status
        .choice
        .connect()
        .map_err(|error| StatusError::Connect { choice: choice.clone(), error })?;
    let report = ask::ask(&connection, choice, status.top)?;
    Ok(match status.json {
        true => json::render(&report),
        false => text::render(&report, style::of_stdout(), status.top),
    })
}

const LONG_HELP: &str = "\
Of our own bus it tells what there is now, what was counted since the start, who talks most, which \
members are used most, and what went wrong of late and who it was. That is for the superuser and \
the user of the bus. Members are counted from the first time that somebody asks.

Of another bus it tells what that has in org.freedesktop.DBus.Debug.Stats.

The exit status is 0 when the bus has answered, 1 when it has not, and 2 when the command line is \
wrong.";
