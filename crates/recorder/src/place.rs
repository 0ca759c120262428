//! The location of a bus.

use client::{ConnectError, Connection, StandardBus};

/// A bus that can be recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BusPlace {
    /// The session bus of the user.
    Session,
    /// The system bus of the machine.
    System,
    /// The bus at this address.
    Address(String),
}

impl BusPlace {
    /// Returns the name of the bus in recordings; empty if it only has an address.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::System => "system",
            Self::Address(_) => "",
        }
    }

    /// Returns the address of the bus; `None` if the environment does not provide it.
    pub fn address(&self) -> Option<String> {
        let standard = |bus: StandardBus| bus.address().ok().map(|list| list.to_string());
        match self {
            Self::Session => standard(StandardBus::Session),
            Self::System => standard(StandardBus::System),
            Self::Address(address) => Some(address.clone()),
        }
    }

    /// Connects to the bus.
    ///
    /// # Errors
    ///
    /// If the address is unknown or invalid, or if connecting fails.
    pub fn connect(&self) -> Result<Connection, ConnectError> {
        match self {
            Self::Session => Connection::session(),
            Self::System => Connection::system(),
            Self::Address(address) => Connection::open(address),
        }
    }
}

impl std::fmt::Display for BusPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Session => f.write_str("the session bus"),
            Self::System => f.write_str("the system bus"),
            Self::Address(address) => write!(f, "the bus at {address}"),
        }
    }
}
