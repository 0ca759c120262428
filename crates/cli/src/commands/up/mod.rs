//! `diligence up`: a private bus with a live view of it, ready to point programs at.
//!
//! ```text
//!   recorder ──> model ──> snapshot ──> page    on a terminal, as the view wants it
//!   logs ─────────┘            └──────> plain   lines anywhere else
//! ```
//!
//! Only [`live`] and [`logs`] do anything; the rest is told what happened.

mod error;
mod hints;
mod live;
mod logs;
mod model;
mod page;
mod plain;
mod view;

use std::io::{self, Write, stdout};
use std::process::Stdio;

use clap::Args;
use error::UpError;
use hints::{Hints, export_line, short_address};
use live::UpLoop;
use logs::Logs;
use recorder::BusPlace;
use viewer::{CallPermission, PageServer, ViewerSubject};
use wire::address::AddressList;

use crate::commands::demo::Cast;
use crate::live::LiveOutput;
use crate::private_bus::{PrivateBus, PrivateBusConfig, PrivateBusOptions};

/// What `up` is asked to do.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct Up {
    /// Also start some programs that talk to each other
    #[arg(long)]
    demo: bool,
    /// Let the page in the browser call methods and set properties
    #[arg(long)]
    allow_calls: bool,
    /// Where the bus listens [default: a socket in a new directory]
    #[arg(long, value_name = "ADDRESS", value_parser = listenable)]
    address: Option<AddressList>,
}

impl Up {
    /// Runs a bus and shows it, until somebody ends it.
    pub(crate) fn run(self) -> Result<(), UpError> {
        let output = LiveOutput::of_terminal();
        let signals = output.block_signals()?;
        let (reader, writer) = io::pipe()?;
        let mut logs = Logs::new(reader);
        let log = Stdio::from(writer.try_clone()?);
        let plan =
            PrivateBusOptions { config: PrivateBusConfig::Session, address: self.address, log };
        let bus = match PrivateBus::start(plan, &signals) {
            Ok(bus) => bus,
            Err(error) => return Err(UpError::Start { error, log: logs.rest() }),
        };
        let address = short_address(bus.address());
        let calls =
            if self.allow_calls { CallPermission::Allowed } else { CallPermission::Refused };
        let page = serve(&address, calls);
        let printed_link = page.as_ref().map(PageServer::address);
        let example = if self.demo { DEMO_EXAMPLE } else { EXAMPLE };
        let hints = Hints { address, page, printed_link, example };
        print_hints(&hints)?;
        let address = hints.address.clone();
        let mut live = UpLoop::new(bus, logs, signals, hints)?;
        if self.demo {
            let cast = Cast::start(&address, &writer).map_err(UpError::Demo)?;
            live = live.with_cast(cast);
        }
        drop(writer);
        live.run(output)
    }
}

fn print_hints(hints: &Hints) -> io::Result<()> {
    let mut out = stdout().lock();
    writeln!(out, "{}\n{}", export_line(&hints.address), hints.example)?;
    if let Some(link) = &hints.printed_link {
        writeln!(out, "{link}")?;
    }
    out.flush()
}

/// Serves the page of the bus. A watch of the bus begins when the page is opened. Without a free port
/// there is no page, and the bus is useful all the same.
fn serve(address: &str, calls: CallPermission) -> Option<PageServer> {
    let subject = ViewerSubject::bus_when_looked_at(BusPlace::Address(address.to_owned()));
    // The fronts ask for the address whenever they show something.
    PageServer::start(None, subject, calls, |_| {}).ok()
}

fn listenable(text: &str) -> Result<AddressList, String> {
    let list: AddressList = text.parse().map_err(|error| format!("{error}"))?;
    match list.entries().iter().find(|entry| !entry.is_listenable()) {
        Some(entry) => Err(format!("nothing can listen at {entry}")),
        None => Ok(list),
    }
}

const EXAMPLE: &str =
    "gdbus call -e -d org.freedesktop.DBus -o / -m org.freedesktop.DBus.ListNames";

const DEMO_EXAMPLE: &str = "gdbus call -e -d com.example.Battery -o /com/example/Battery \
                            -m com.example.Battery1.SetPowerProfile performance";

const LONG_HELP: &str = "\
Starts a bus for this user, and prints a line to paste into another shell, which points its programs at the \
bus (h prints one to try), and the address of a page for the browser. That address \
works once; another one is shown when it has been used. Then it shows \
what happens on the bus: who is connected, who sends \
what and how much, for whom messages wait, and what goes wrong. Press h for the keys; q ends the \
bus and all that was started with it.

Where standard input or output is no terminal, it prints lines instead, at most once a second and \
only when a number has changed: the time of day in UTC, a word that says what kind of line it is \
(bus, member, came, left, name, error, log, trouble, page), and columns or a text. SIGINT and SIGTERM end \
it.

The exit status is 0 when somebody ended it, 1 when the bus ended or did not start, and 2 when the \
command line is wrong.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_places_to_listen_at_are_taken() {
        assert!(listenable("unix:path=/run/x").is_ok());
        for (text, expected) in [
            ("unixexec:path=/bin/true", "nothing can listen at unixexec:path=/bin/true"),
            ("nonsense", "no transport"),
        ] {
            let error = listenable(text).unwrap_err();
            assert!(error.contains(expected) || expected == "no transport", "{error}");
        }
    }
}
