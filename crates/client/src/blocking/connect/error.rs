//! Why a program is not connected.

use std::fmt;
use std::io;

use wire::address::{Address, AddressError};
use wire::guid::Guid;

use super::StandardBus;
use crate::core::{Ended, HandshakeError, SystemError};

/// Why there is no connection.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConnectError {
    /// The environment does not say where this bus is.
    NoAddress(StandardBus),
    /// The address is malformed.
    Address(AddressError),
    /// None of the addresses works; with each, why.
    Failed(Vec<FailedAttempt>),
}

/// An address that does not work.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FailedAttempt {
    /// The address.
    pub address: Address,
    /// What is wrong with it.
    pub error: AttemptError,
}

/// Why one address does not work.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AttemptError {
    /// It is `autolaunch:`, which would have to find or start a bus.
    Autolaunch,
    /// Its transport is not known here.
    UnknownTransport,
    /// It is for a server to listen at, and does not say enough to connect.
    ForServersOnly,
    /// It is `unix:runtime=yes`, and `XDG_RUNTIME_DIR` is not set.
    NoRuntimeDirectory,
    /// The system did not connect the two.
    System(SystemError),
    /// The file of the nonce cannot be read.
    NonceFile(SystemError),
    /// The file of the nonce has not 16 bytes.
    NonceLength {
        /// How many it has.
        len: usize,
    },
    /// The two did not come to terms.
    Handshake(HandshakeError),
    /// The connection ended before they did.
    Ended(Ended),
    /// The server did not answer in time.
    TimedOut,
    /// Another server listens there than the address says.
    OtherServer {
        /// The server that the address means.
        expected: Guid,
        /// The one that answered.
        found: Guid,
    },
}

impl AttemptError {
    pub(super) fn system(error: io::Error) -> Self {
        Self::System(error.into())
    }
}

impl From<AddressError> for ConnectError {
    fn from(error: AddressError) -> Self {
        Self::Address(error)
    }
}

impl From<HandshakeError> for AttemptError {
    fn from(error: HandshakeError) -> Self {
        Self::Handshake(error)
    }
}

impl From<Ended> for AttemptError {
    fn from(ended: Ended) -> Self {
        Self::Ended(ended)
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAddress(StandardBus::Session) => f.write_str(
                "there is no session bus: DBUS_SESSION_BUS_ADDRESS is not set, and there is no \
                 socket \"bus\" in XDG_RUNTIME_DIR",
            ),
            Self::NoAddress(StandardBus::System) => f.write_str("there is no system bus"),
            Self::NoAddress(StandardBus::Starter) => f.write_str(
                "no bus started this program: neither DBUS_STARTER_ADDRESS nor \
                 DBUS_STARTER_BUS_TYPE says which",
            ),
            Self::Address(error) => write!(f, "the address is malformed: {error}"),
            Self::Failed(attempts) => {
                f.write_str("cannot connect")?;
                let mut separator = ": ";
                attempts.iter().try_for_each(|FailedAttempt { address, error }| {
                    write!(f, "{}{address}: {error}", std::mem::replace(&mut separator, "; "))
                })
            }
        }
    }
}

impl std::error::Error for ConnectError {}

impl fmt::Display for AttemptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Autolaunch => f.write_str(
                "no bus is started automatically; start one and set DBUS_SESSION_BUS_ADDRESS",
            ),
            Self::UnknownTransport => f.write_str("the transport is not known"),
            Self::ForServersOnly => {
                f.write_str("this is enough to listen at, but not enough to connect to")
            }
            Self::NoRuntimeDirectory => f.write_str("XDG_RUNTIME_DIR is not set"),
            Self::System(error) => error.fmt(f),
            Self::NonceFile(error) => write!(f, "the nonce cannot be read: {error}"),
            Self::NonceLength { len } => {
                write!(f, "the file of the nonce has {len} bytes and not 16")
            }
            Self::Handshake(error) => error.fmt(f),
            Self::Ended(ended) => ended.fmt(f),
            Self::TimedOut => f.write_str("the bus did not answer in time"),
            Self::OtherServer { expected, found } => {
                write!(f, "the server is {found}, and the address means {expected}")
            }
        }
    }
}

impl std::error::Error for AttemptError {}
