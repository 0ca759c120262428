//! Where a bus is.

use client::{ConnectError, Connection, StandardBus};

/// A bus that can be listened to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BusPlace {
    /// The bus of the user's session.
    Session,
    /// The bus of the machine.
    System,
    /// The bus at this address.
    Address(String),
}

impl BusPlace {
    /// What recordings call it; empty if it is known by its address only.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::System => "system",
            Self::Address(_) => "",
        }
    }

    /// Its address; `None` if the environment tells none.
    pub fn address(&self) -> Option<String> {
        let standard = |bus: StandardBus| bus.address().ok().map(|list| list.to_string());
        match self {
            Self::Session => standard(StandardBus::Session),
            Self::System => standard(StandardBus::System),
            Self::Address(address) => Some(address.clone()),
        }
    }

    /// Connects to it.
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
