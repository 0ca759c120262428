//! Why a bus cannot listen. Where callers of `dbus-daemon` know a text for it, it is that text.

use std::ffi::OsString;
use std::fmt;
use std::io;

use sys::inherited::InheritError;
use wire::address::{AddressError, AddressErrorKind};

use crate::os_error::OsError;

/// Why a bus cannot listen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ListenError {
    /// The text is no address list.
    Address(AddressError),
    /// No server can listen at a transport of this name, or nobody here knows it.
    UnknownTransport {
        /// The text before the colon.
        name: String,
    },
    /// Servers can listen at a transport of this name, but this one does not.
    UnservedTransport {
        /// The text before the colon.
        name: String,
    },
    /// `unix:runtime=yes` without a runtime folder.
    NoRuntimeDir,
    /// The system refuses.
    Bind {
        /// The path or the abstract name of the socket.
        name: OsString,
        /// Why.
        error: OsError,
    },
    /// `systemd:` when no socket was passed, or all are used already.
    NoSocketPassed,
    /// `systemd:` when the variables that announce sockets make no sense.
    Variables(InheritError),
    /// `systemd:` when a bus cannot use what was passed.
    PassedSocket {
        /// Which of the sockets, from 0 on.
        index: usize,
        /// What is wrong with it.
        problem: PassedSocketProblem,
    },
    /// The kernel gives no random bytes.
    Random(OsError),
}

impl ListenError {
    /// Whether somebody else has that place.
    pub(super) fn is_taken(&self) -> bool {
        matches!(self, Self::Bind { error, .. } if error.kind() == io::ErrorKind::AddrInUse)
    }
}

/// What is wrong with a descriptor that was passed as a socket to listen on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PassedSocketProblem {
    /// It is no socket.
    NoSocket,
    /// It is a socket, but neither a Unix stream socket nor a TCP socket.
    NoStream,
    /// Nobody called listen(2) on it.
    NotListening,
    /// It has no name to connect to.
    NoName,
    /// The system tells nothing about it.
    System(OsError),
}

impl PassedSocketProblem {
    pub(super) fn failed(error: io::Error) -> Self {
        Self::System(error.into())
    }
}

impl fmt::Display for ListenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(error) => write_address_error(f, error),
            Self::UnknownTransport { name } => write!(f, "Unknown address type '{name}'"),
            Self::UnservedTransport { name } => {
                write!(f, "Address type '{name}' is not supported, use 'unix' or 'systemd'")
            }
            Self::NoRuntimeDir => f.write_str("\"XDG_RUNTIME_DIR\" is not set"),
            Self::Bind { name, error } => {
                write!(f, "Failed to bind socket \"{}\": {error}", name.display())
            }
            Self::NoSocketPassed => f.write_str("No socket received."),
            Self::Variables(error) => write!(f, "Cannot take the sockets of systemd: {error}"),
            Self::PassedSocket { index, problem } => {
                write!(f, "Passed socket has wrong type: number {} {problem}", index + 1)
            }
            Self::Random(error) => write!(f, "Cannot get random bytes: {error}"),
        }
    }
}

impl fmt::Display for PassedSocketProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSocket => f.write_str("is no socket"),
            Self::NoStream => f.write_str("is neither a Unix stream socket nor a TCP socket"),
            Self::NotListening => f.write_str("does not listen"),
            Self::NoName => f.write_str("has no name to connect to"),
            Self::System(error) => write!(f, "cannot be examined: {error}"),
        }
    }
}

fn write_address_error(f: &mut fmt::Formatter<'_>, error: &AddressError) -> fmt::Result {
    f.write_str(match error.kind {
        AddressErrorKind::EmptyEntry | AddressErrorKind::MissingColon => {
            "Address does not contain a colon"
        }
        AddressErrorKind::EmptyTransport => "Unknown address type ''",
        AddressErrorKind::MissingEquals
        | AddressErrorKind::EmptyKey
        | AddressErrorKind::EmptyValue => "'=' character not found or has no value following it",
        AddressErrorKind::BadEscape => {
            "In D-Bus address, percent character was followed by characters other than hex digits"
        }
        AddressErrorKind::UnescapedByte(byte) => {
            let character = char::from(byte);
            return write!(f, "In D-Bus address, character {character:?} should have been escaped");
        }
        AddressErrorKind::NoUnixKey => {
            "Server address of type unix was missing argument path or tmpdir or abstract or \
             runtime or dir"
        }
        AddressErrorKind::SeveralUnixKeys => {
            "Could not parse server address: cannot specify two of \"path\", \"tmpdir\", \
             \"abstract\", \"runtime\" and \"dir\" at the same time"
        }
        AddressErrorKind::RuntimeNotYes => {
            "Could not parse server address: if given, the only value allowed for \"runtime\" is \
             \"yes\""
        }
        _ => return write!(f, "Could not parse server address: {error}"),
    })
}

impl std::error::Error for ListenError {}
