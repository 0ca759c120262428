//! The buses that are compared: finding, starting and stopping each.
//!
//! A [`BusKind`] is a choice on the command line. [`BusKind::find`] looks for its programs
//! and gives what is [`InstalledBus`], or says how to get what is [`MissingBus`]. [`InstalledBus::start`]
//! gives a [`RunningBus`], which ends when it is dropped, and with this process however that ends.
//!
//! All get the same: one configuration file with generous limits, a socket in a directory of its
//! own, as many open files as the system allows, and the processor that the
//! [placement](crate::placement) says. None needs root, except that dbus-broker requires a process to
//! read what it writes to the journal: where no systemd runs, root stands in for it.
//!
//! | bus | how it is started |
//! | --- | --- |
//! | `diligence` | directly: `diligence-bus` next to this program, or in `PATH` |
//! | `dbus-daemon` | directly |
//! | `dbus-broker` | by its launcher, which gets the socket from `systemd-socket-activate`; the launcher stays, and is one more connection on the bus |
//! | `busd` | directly |
//! | an address | not at all: it runs already, and is left running |
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
    /// The reference implementation.
    DbusDaemon,
    /// The one that most desktops run.
    DbusBroker,
    /// The one of the zbus project.
    Busd,
    /// Whichever listens there. At least one address is one that a program can connect to.
    Address(AddressList),
}

impl BusKind {
    /// The buses that have a name, ours first.
    pub const ALL: [Self; 4] = [Self::Diligence, Self::DbusDaemon, Self::DbusBroker, Self::Busd];

    /// How much it reads from a connection at once, where that is known. None can be told to read more
    /// or less: libdbus fixes it in dbus-daemon (`max_bytes_read_per_iteration`), and ours copies what
    /// has arrived of a message with each read, so a small buffer would measure these copies.
    #[must_use]
    pub const fn reads_at_once(&self) -> Option<&'static str> {
        match self {
            Self::Diligence => Some("reads up to 256 KiB at once"),
            Self::DbusDaemon => Some("reads 2 KiB at once"),
            Self::DbusBroker => Some("reads 2 KiB, then the rest of the message at once"),
            Self::Busd | Self::Address(_) => None,
        }
    }

    /// Whether it can be told not to check the bodies of messages.
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

    /// Reads a name, or, where there is a colon, an address.
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

/// Why a text names no bus.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum UnknownBus {
    /// It is neither a name nor an address.
    #[error(
        "there is no bus {0:?}; there are {names}, and the address of one that runs",
        names = BusKind::ALL.map(|named| named.to_string()).join(", ")
    )]
    Unknown(String),
    /// It has a colon but is not an address.
    #[error("{text:?} is not an address: {error}")]
    Address {
        /// The whole text.
        text: String,
        /// What is wrong with it as an address.
        error: AddressError,
    },
    /// It is for a server to listen at, and does not say enough to connect.
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
    fn names_and_addresses() {
        for named in &BusKind::ALL {
            check(&named.to_string(), Ok(named));
        }
        for text in ["unix:path=/run/user/1000/bus", "tcp:host=localhost,port=1;unix:abstract=a"] {
            check(text, Ok(&BusKind::Address(text.parse().unwrap())));
        }
    }

    #[test]
    fn what_is_neither() {
        let choices = "there are diligence, dbus-daemon, dbus-broker, busd, and the address of one \
                       that runs";
        check("", Err(&format!("there is no bus \"\"; {choices}")));
        check("Busd", Err(&format!("there is no bus \"Busd\"; {choices}")));
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
    fn only_ours_can_skip_validation() {
        let able: Vec<_> = BusKind::ALL.into_iter().filter(BusKind::can_skip_validation).collect();
        assert_eq!(able, [BusKind::Diligence]);
    }
}
