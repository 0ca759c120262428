//! The buses that are compared: how each is found, started and stopped.
//!
//! A [`BusKind`] is a choice on the command line. [`BusKind::find`] searches for its programs and
//! returns an [`InstalledBus`], or a [`MissingBus`] that says how to install the missing program.
//! [`InstalledBus::start`] returns a [`RunningBus`], which ends when it is dropped, and when this
//! process ends for any reason.
//!
//! All buses get the same environment: a configuration file with generous limits, a socket in a
//! separate directory, the maximum number of open files, and the processor of the
//! [placement](crate::placement). They do not need root, except that dbus-broker requires a process
//! that reads its messages from the journal socket: without systemd, this program needs root to
//! replace the journal.
//!
//! | bus | how it is started |
//! | --- | --- |
//! | `diligence` | directly: `diligence-bus` next to this program, or in `PATH` |
//! | `dbus-daemon` | directly |
//! | `dbus-broker` | by its launcher, which gets the socket from `systemd-socket-activate`; the launcher stays, and is one more connection on the bus |
//! | `busd` | directly |
//! | an address | not started: it runs already, and keeps running |
//!
//! ```no_run
//! use bench::buses::{BusKind, ProgramPaths, StartOptions};
//!
//! let places = ProgramPaths::of_this_process()?;
//! let kind: BusKind = "dbus-daemon".parse()?;
//! let bus = kind.find(&places)?.start(&StartOptions::default())?;
//! println!("{} routes at {}", bus.pid().unwrap_or(0), bus.address());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod directory;
mod find;
mod journal;
mod launch;
mod list;
mod log_tail;
mod process_handle;
mod running;
mod start;

use std::fmt;
use std::str::FromStr;

pub use find::{InstalledBus, MissingBus, ProgramPaths};
pub use list::{BusList, BusListError};
pub use running::{ExitReport, RunningBus};
pub use start::{BusStartError, StartOptions};
use wire::address::{Address, AddressError, AddressList};

pub use crate::body_validation::BenchBodyValidation;

/// A bus that takes part in a comparison.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum BusKind {
    /// The bus of this project.
    Diligence,
    /// The reference implementation, `dbus-daemon`.
    DbusDaemon,
    /// `dbus-broker`, the bus of most desktops.
    DbusBroker,
    /// `busd`, the bus of the zbus project.
    Busd,
    /// A bus that listens at one of these addresses, at least one of which a client can connect to.
    Address(AddressList),
}

impl BusKind {
    /// The buses that have a name, this project's bus first.
    pub const ALL: [Self; 4] = [Self::Diligence, Self::DbusDaemon, Self::DbusBroker, Self::Busd];

    /// Describes how much the bus reads from a connection at once, if known. This is not
    /// configurable: libdbus fixes it in dbus-daemon (`max_bytes_read_per_iteration`), and our bus
    /// copies the received part of a message with each read, so a small buffer would measure these
    /// copies.
    #[must_use]
    pub const fn reads_at_once(&self) -> Option<&'static str> {
        match self {
            Self::Diligence => Some("reads up to 256 KiB at once"),
            Self::DbusDaemon => Some("reads 2 KiB at once"),
            Self::DbusBroker => Some("reads 2 KiB, then the rest of the message at once"),
            Self::Busd | Self::Address(_) => None,
        }
    }

    /// True if the bus has an option to skip body validation.
    #[must_use]
    pub fn can_skip_validation(&self) -> bool {
        *self == Self::Diligence
    }
}

impl fmt::Display for BusKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Diligence => f.write_str("diligence"),
            Self::DbusDaemon => f.write_str("dbus-daemon"),
            Self::DbusBroker => f.write_str("dbus-broker"),
            Self::Busd => f.write_str("busd"),
            Self::Address(addresses) => addresses.fmt(f),
        }
    }
}

impl FromStr for BusKind {
    type Err = UnknownBus;

    /// Parses a name or, if there is a colon, an address.
    fn from_str(text: &str) -> Result<Self, UnknownBus> {
        if let Some(named) = Self::ALL.into_iter().find(|named| named.to_string() == text) {
            return Ok(named);
        }
        if !text.contains(':') {
            return Err(UnknownBus::Unknown(text.to_owned()));
        }
        let addresses: AddressList =
            text.parse().map_err(|error| UnknownBus::Address { text: text.to_owned(), error })?;
        if !addresses.entries().iter().any(Address::is_connectable) {
            return Err(UnknownBus::NotConnectable(addresses));
        }
        Ok(Self::Address(addresses))
    }
}

/// A text does not name a bus.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum UnknownBus {
    /// The text is neither a name nor an address.
    #[error(
        "unknown bus {0:?}; expected {names}, or the address of a running bus",
        names = BusKind::ALL.map(|named| named.to_string()).join(", ")
    )]
    Unknown(String),
    /// The text has a colon but is not an address.
    #[error("{text:?} is not an address: {error}")]
    Address {
        /// The text that was parsed.
        text: String,
        /// The error of the address parser.
        error: AddressError,
    },
    /// The address is for a server to listen at, and lacks the information to connect.
    #[error("{0} is an address to listen at, not one to connect to")]
    NotConnectable(AddressList),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&BusKind, &str>) {
        let parsed: Result<BusKind, UnknownBus> = text.parse();
        assert_eq!(parsed.as_ref().map_err(ToString::to_string), expected.map_err(str::to_owned));
        if let Ok(kind) = parsed {
            assert_eq!(kind.to_string(), text);
        }
    }

    #[test]
    fn buses_are_parsed_from_names_and_addresses() {
        for named in &BusKind::ALL {
            check(&named.to_string(), Ok(named));
        }
        for text in ["unix:path=/run/user/1000/bus", "tcp:host=localhost,port=1;unix:abstract=a"] {
            check(text, Ok(&BusKind::Address(text.parse().unwrap())));
        }
    }

    #[test]
    fn unknown_bus_names_and_invalid_addresses_are_rejected() {
        let choices = "diligence, dbus-daemon, dbus-broker, busd, or the address of a \
                       running bus";
        check("", Err(&format!("unknown bus \"\"; expected {choices}")));
        check("Busd", Err(&format!("unknown bus \"Busd\"; expected {choices}")));
        check(
            "unix:tcp",
            Err(
                "\"unix:tcp\" is not an address: the key must be followed by '=' and a value (at byte 8)",
            ),
        );
        check(
            "unix:tmpdir=/tmp",
            Err("unix:tmpdir=/tmp is an address to listen at, not one to connect to"),
        );
    }

    #[test]
    fn only_diligence_can_skip_validation() {
        let able: Vec<_> = BusKind::ALL.into_iter().filter(BusKind::can_skip_validation).collect();
        assert_eq!(able, [BusKind::Diligence]);
    }
}
