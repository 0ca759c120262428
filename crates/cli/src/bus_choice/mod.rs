//! Options that select a bus, which are the same for all commands.

mod elsewhere;

use std::fmt;

use capture::text::visible::printable;
use clap::Args;
use client::{ConnectError, Connection};
use inspector::{Inspector, InspectorTimeouts};
use recorder::BusPlace;

/// The options that select one bus.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
#[group(multiple = false)]
pub(crate) struct BusChoice {
    /// Use the session bus (default)
    #[arg(long, alias = "user", short_alias = 'e')]
    session: bool,
    /// Use the system bus
    #[arg(long, short_alias = 'y')]
    system: bool,
    /// Use the bus at this address
    #[arg(long, value_name = "ADDRESS", short_alias = 'a')]
    address: Option<String>,
    /// Use the system bus of another machine, through ssh
    #[arg(short = 'H', long, value_name = "[USER@]HOST[:PORT]", value_parser = elsewhere::of_host)]
    host: Option<String>,
    /// Use the system bus of a container
    #[arg(short = 'M', long, value_name = "NAME", value_parser = elsewhere::of_machine)]
    machine: Option<String>,
    /// Use the session bus of another user; only for root
    #[arg(long, value_name = "USER", value_parser = elsewhere::of_user)]
    uid: Option<String>,
}

impl BusChoice {
    /// The place of the selected bus.
    pub(crate) fn place(&self) -> BusPlace {
        let elsewhere = self.host.as_ref().or(self.machine.as_ref()).or(self.uid.as_ref());
        match self.address.as_ref().or(elsewhere) {
            Some(address) => BusPlace::Address(address.clone()),
            None if self.system => BusPlace::System,
            None => BusPlace::Session,
        }
    }

    /// Connects to the selected bus.
    pub(crate) fn connect(&self) -> Result<Connection, Unreachable> {
        let place = self.place();
        place.connect().map_err(|error| Unreachable { place, error })
    }

    /// Connects to the selected bus, to inspect it with these timeouts.
    pub(crate) fn inspector(&self, timeouts: InspectorTimeouts) -> Result<Inspector, Unreachable> {
        Ok(Inspector::with_timeouts(self.connect()?, timeouts))
    }
}

/// Connecting to a bus failed. The text is safe for a terminal.
#[derive(Debug, thiserror::Error)]
#[error("{}", match (place, error) {
    (BusPlace::Address(address), ConnectError::Address(_)) => malformed(address),
    _ => format!("cannot connect to {}: {}", printable(&place.to_string()), reason(error)),
})]
pub(crate) struct Unreachable {
    place: BusPlace,
    error: ConnectError,
}

/// The reason without the words that [`Unreachable`] begins with.
fn reason(error: &ConnectError) -> String {
    let ConnectError::Failed(attempts) = error else { return error.to_string() };
    let texts = attempts.iter().map(|failed| format!("{}: {}", failed.address, failed.error));
    texts.collect::<Vec<_>>().join("; ")
}

/// The error message for a text that is not an address.
pub(crate) fn malformed(address: &str) -> String {
    format!(
        "not a D-Bus address: {} (expected transport:..., such as unix:path=/run/user/1000/bus)",
        printable(address)
    )
}

impl fmt::Display for BusChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place().fmt(f)
    }
}

/// The options that select one or more buses.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub(crate) struct BusChoices {
    /// Use the session bus (default)
    #[arg(long, alias = "user")]
    session: bool,
    /// Use the system bus
    #[arg(long)]
    system: bool,
    /// Use the bus at this address; can be repeated
    #[arg(long, value_name = "ADDRESS")]
    address: Vec<String>,
}

impl BusChoices {
    /// The places of the selected buses; at least one.
    pub(crate) fn places(&self) -> Vec<BusPlace> {
        let session = self.session || (!self.system && self.address.is_empty());
        let session = session.then_some(BusPlace::Session);
        let system = self.system.then_some(BusPlace::System);
        let addresses = self.address.iter().cloned().map(BusPlace::Address);
        session.into_iter().chain(system).chain(addresses).collect()
    }
}
