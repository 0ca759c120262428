//! Which bus a command is about, spelled the same everywhere.

use std::fmt;

use clap::Args;
use client::{ConnectError, Connection};

/// The options that choose a bus.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
#[group(multiple = false)]
pub(crate) struct BusChoice {
    /// The bus of the session; so without any of these
    #[arg(long)]
    session: bool,
    /// The bus of the machine
    #[arg(long)]
    system: bool,
    /// The bus at this address
    #[arg(long, value_name = "ADDRESS")]
    address: Option<String>,
}

impl BusChoice {
    /// Connects to it.
    pub(crate) fn connect(&self) -> Result<Connection, ConnectError> {
        match &self.address {
            Some(address) => Connection::open(address),
            None if self.system => Connection::system(),
            None => Connection::session(),
        }
    }
}

impl fmt::Display for BusChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.address {
            Some(address) => write!(f, "the bus at {address}"),
            None if self.system => f.write_str("the system bus"),
            None => f.write_str("the session bus"),
        }
    }
}
