//! `diligence up`: a private bus with a live view, for programs that are pointed at it.
//!
//! ```text
//!   recorder ──> model ──> snapshot ──> page    on a terminal, as the view needs it
//!   logs ─────────┘            └──────> plain   lines for other outputs
//! ```
//!
//! Only [`live`] and [`logs`] perform input and output; the other modules process events.

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

use crate::commands::demo::DemoPrograms;
use crate::live::LiveOutput;
use crate::private_bus::{PrivateBus, PrivateBusConfig, PrivateBusOptions};

/// Arguments of `diligence up`.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct Up {
    /// Also start some programs that exchange messages
    #[arg(long)]
    demo: bool,
    /// Allow the page in the browser to call methods and set properties
    #[arg(long)]
    allow_calls: bool,
    /// The listening address of the bus [default: a socket in a new directory]
    #[arg(long, value_name = "ADDRESS", value_parser = listenable)]
    address: Option<AddressList>,
}

impl Up {
    /// Runs a bus and shows it until the user ends the command.
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
            let demo = DemoPrograms::start(&address, &writer).map_err(UpError::Demo)?;
            live = live.with_demo(demo);
        }
        drop(writer);
        live.run(output)?;
        if output == LiveOutput::Screen {
            // The terminal shows again what was printed before, unless it was closed.
            let _ = writeln!(stdout(), "The bus at {address} has ended.");
        }
        Ok(())
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

/// Serves the page of the bus, which watches the bus from the first visit on. Returns `None` if no
/// port is available; the bus runs without a page then.
fn serve(address: &str, calls: CallPermission) -> Option<PageServer> {
    let subject = ViewerSubject::lazy_bus(BusPlace::Address(address.to_owned()));
    // The views poll the current address, so changes need no callback.
    PageServer::start(None, subject, calls, |_| {}).ok()
}

fn listenable(text: &str) -> Result<AddressList, String> {
    let list: AddressList = text.parse().map_err(|error| format!("{error}"))?;
    match list.entries().iter().find(|entry| !entry.is_listenable()) {
        Some(entry) => Err(format!("a bus cannot listen at {entry}")),
        None => Ok(list),
    }
}

const EXAMPLE: &str =
    "gdbus call -e -d org.freedesktop.DBus -o / -m org.freedesktop.DBus.ListNames";

const DEMO_EXAMPLE: &str = "gdbus call -e -d com.example.Battery -o /com/example/Battery \
                            -m com.example.Battery1.SetPowerProfile performance";

const LONG_HELP: &str = "\
Starts a bus for this user. It prints a command to paste into another shell, which points the programs \
of that shell at the bus (h shows an example), and the address of a page for the browser. That address \
works once; after its use a new one is shown. Then it shows the activity of the bus: connections, \
senders, rates, queues, and incidents. Press h for the keys; q ends the bus and all programs that were \
started with it.

If standard input or output is not a terminal, it first prints the command to paste, an example, and \
the address of the page, and then lines about the activity, at most once a second and only when a \
number has changed: the time of day in UTC, the kind of the line (bus, member, connected, left, name, \
error, log, problem, page), and columns or a text. SIGINT and SIGTERM end it.

The exit status is 0 if the user ended it, 1 if the bus ended or did not start, and 2 if the \
command line is wrong.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listenable_addresses_are_accepted() {
        assert!(listenable("unix:path=/run/x").is_ok());
        for (text, expected) in [
            ("unixexec:path=/bin/true", "a bus cannot listen at unixexec:path=/bin/true"),
            ("nonsense", "no transport"),
        ] {
            let error = listenable(text).unwrap_err();
            assert!(error.contains(expected) || expected == "no transport", "{error}");
        }
    }
}
