//! A client with nothing in it: it moves messages through a socket and does not look into them
//! more than the measurement needs.
//!
//! Measured with it, what differs between two buses is the buses. Programs use libraries, which
//! cost more than this; what each of those costs is measured with [`library`](crate::library).

mod connection;
mod error;
mod handshake;
mod template;

pub(crate) use connection::{RawConnection, ReadBuffer, SocketCalls};
pub(crate) use error::RawError;
pub(crate) use handshake::HUB;
pub(crate) use template::serial_bytes;
pub(crate) use template::{Template, echo_member, member, sample_rule};

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What carries the messages of a workload.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Endpoint {
    /// A message bus at this address.
    Bus(String),
    /// A process that only reads and writes, at this socket file: what comes from the
    /// [hub](End::Hub) goes to all spokes, what comes from a spoke goes to the hub.
    Floor(PathBuf),
    /// Nothing: the spoke listens at this socket file, the hub connects to it.
    Direct(PathBuf),
}

/// The place of a peer in a workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HubOrSpoke {
    /// It begins: it calls, or emits.
    Hub,
    Spoke,
}
