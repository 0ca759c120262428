//! Errors of connecting to a bus.

use std::io;

use wire::address::{Address, AddressError};
use wire::guid::Guid;

use super::StandardBus;
use crate::core::{Ended, HandshakeError, SystemError};

/// The reason why a connection could not be made.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The environment has no address for this bus.
    #[error("{}", no_address(*.0))]
    NoAddress(StandardBus),
    /// The address is malformed.
    #[error("the address is malformed: {0}")]
    Address(AddressError),
    /// All addresses failed; each with its reason.
    #[error("cannot connect: {}", attempts_text(.0))]
    Failed(Vec<FailedAttempt>),
}

/// An address that could not be connected to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FailedAttempt {
    /// The address that was tried.
    pub address: Address,
    /// The reason why it failed.
    pub error: AttemptError,
}

/// The reason why one address could not be connected to.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttemptError {
    /// The address is `autolaunch:`, which would have to find or start a bus.
    #[error("no bus is started automatically; start one and set DBUS_SESSION_BUS_ADDRESS")]
    Autolaunch,
    /// The transport of the address is not supported.
    #[error("the transport is not supported")]
    UnknownTransport,
    /// The address is only for servers: it lacks what a client needs to connect.
    #[error("the address is for servers only; it lacks what a client needs to connect")]
    ForServersOnly,
    /// The address is `unix:runtime=yes`, and `XDG_RUNTIME_DIR` is not set.
    #[error("XDG_RUNTIME_DIR is not set")]
    NoRuntimeDirectory,
    /// The operating system could not connect the socket.
    #[error(transparent)]
    System(SystemError),
    /// The nonce file cannot be read.
    #[error("cannot read the nonce file: {0}")]
    NonceFile(SystemError),
    /// The nonce file is not 16 bytes long.
    #[error("the nonce file has {len} bytes, but must have 16")]
    NonceLength {
        /// Length of the file in bytes.
        len: usize,
    },
    /// Authentication or `Hello` failed.
    #[error(transparent)]
    Handshake(#[from] HandshakeError),
    /// The connection ended during the handshake.
    #[error(transparent)]
    Ended(#[from] Ended),
    /// The handshake did not complete in time.
    #[error("the bus did not reply in time")]
    TimedOut,
    /// The GUID of the server differs from the GUID in the address.
    #[error("the server has the GUID {found}, but the address requires {expected}")]
    OtherServer {
        /// The GUID in the address.
        expected: Guid,
        /// The GUID that the server sent.
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

const fn no_address(bus: StandardBus) -> &'static str {
    match bus {
        StandardBus::Session => {
            "no session bus found: DBUS_SESSION_BUS_ADDRESS is not set, and XDG_RUNTIME_DIR has no \
             socket \"bus\""
        }
        StandardBus::System => "no system bus found",
        StandardBus::Starter => {
            "the starting bus is unknown: DBUS_STARTER_ADDRESS is not set, and \
             DBUS_STARTER_BUS_TYPE is not \"session\" or \"system\""
        }
    }
}

fn attempts_text(attempts: &[FailedAttempt]) -> String {
    let texts = attempts.iter().map(|failed| format!("{}: {}", failed.address, failed.error));
    texts.collect::<Vec<_>>().join("; ")
}
