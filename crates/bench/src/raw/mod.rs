//! A raw client: it transfers messages through a socket, and inspects them only as far as a
//! measurement requires.
//!
//! Differences measured with it are differences between buses. Programs use libraries, which cost
//! more; [`library`](crate::library) measures their cost.

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

/// The carrier of the messages of a workload.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Endpoint {
    /// A message bus at this address.
    Bus(String),
    /// A process that only reads and writes, at this socket file: it forwards bytes from the
    /// [hub](HubOrSpoke::Hub) to all spokes, and bytes from a spoke to the hub.
    Floor(PathBuf),
    /// No carrier: the spoke listens at this socket file, and the hub connects to it.
    Direct(PathBuf),
}

/// The position of a peer in a workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HubOrSpoke {
    /// The peer that begins: it calls, or emits.
    Hub,
    Spoke,
}
