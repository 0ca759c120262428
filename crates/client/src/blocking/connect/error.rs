//! Why a program is not connected.

use std::io;

use wire::address::{Address, AddressError};
use wire::guid::Guid;

use super::StandardBus;
use crate::core::{Ended, HandshakeError, SystemError};

/// Why there is no connection.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The environment does not say where this bus is.
    #[error("{}", no_address(*.0))]
    NoAddress(StandardBus),
    /// The address is malformed.
    #[error("the address is malformed: {0}")]
    Address(AddressError),
    /// None of the addresses works; with each, why.
    #[error("cannot connect: {}", attempts_text(.0))]
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
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttemptError {
    /// It is `autolaunch:`, which would have to find or start a bus.
    #[error("no bus is started automatically; start one and set DBUS_SESSION_BUS_ADDRESS")]
    Autolaunch,
    /// Its transport is not known here.
    #[error("the transport is not known")]
    UnknownTransport,
    /// It is for a server to listen at, and does not say enough to connect.
    #[error("this is enough to listen at, but not enough to connect to")]
    ForServersOnly,
    /// It is `unix:runtime=yes`, and `XDG_RUNTIME_DIR` is not set.
    #[error("XDG_RUNTIME_DIR is not set")]
    NoRuntimeDirectory,
    /// The system did not connect the two.
    #[error(transparent)]
    System(SystemError),
    /// The file of the nonce cannot be read.
    #[error("the nonce cannot be read: {0}")]
    NonceFile(SystemError),
    /// The file of the nonce has not 16 bytes.
    #[error("the file of the nonce has {len} bytes and not 16")]
    NonceLength {
        /// How many it has.
        len: usize,
    },
    /// The two did not come to terms.
    #[error(transparent)]
    Handshake(#[from] HandshakeError),
    /// The connection ended before they did.
    #[error(transparent)]
    Ended(#[from] Ended),
    /// The server did not answer in time.
    #[error("the bus did not answer in time")]
    TimedOut,
    /// Another server listens there than the address says.
    #[error("the server is {found}, and the address means {expected}")]
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

const fn no_address(bus: StandardBus) -> &'static str {
    match bus {
        StandardBus::Session => {
            "there is no session bus: DBUS_SESSION_BUS_ADDRESS is not set, and there is no socket \
             \"bus\" in XDG_RUNTIME_DIR"
        }
        StandardBus::System => "there is no system bus",
        StandardBus::Starter => {
            "no bus started this program: neither DBUS_STARTER_ADDRESS nor DBUS_STARTER_BUS_TYPE \
             says which"
        }
    }
}

fn attempts_text(attempts: &[FailedAttempt]) -> String {
    let texts = attempts.iter().map(|failed| format!("{}: {}", failed.address, failed.error));
    texts.collect::<Vec<_>>().join("; ")
}
