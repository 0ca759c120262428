//! Errors of listening. Where dbus-daemon has a text for an error, this is the same text.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use sys::inherited::InheritError;
use wire::address::{AddressError, AddressErrorKind};

use crate::os_error::OsError;

/// Why the bus cannot listen at an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ListenError {
    /// The text is not a valid address list.
    Address(AddressError),
    /// The address has an unknown `family`, which must be `ipv4` or `ipv6`.
    UnknownFamily {
        /// The unknown value of `family`.
        name: String,
    },
    /// The port of the address is not a valid number.
    UnknownPort {
        /// The host as it is written.
        host: String,
        /// The port as it is written.
        port: String,
    },
    /// The transport is unknown, or a server cannot listen on it.
    UnknownTransport {
        /// The name of the transport.
        name: String,
    },
    /// `unix:runtime=yes` is used, but no runtime directory is set.
    NoRuntimeDir,
    /// The system cannot bind the Unix socket.
    Bind {
        /// The path or the abstract name of the socket.
        name: OsString,
        /// The error of the system.
        error: OsError,
    },
    /// The system cannot bind a network address.
    BindTcp {
        /// The address and the port.
        address: SocketAddr,
        /// The error of the system.
        error: OsError,
    },
    /// The host name cannot be resolved.
    LookUp {
        /// The name of the host.
        host: String,
        /// The requested port, or 0.
        port: u16,
        /// The message of the resolver, which has no error number here.
        reason: String,
    },
    /// The host has no address of the requested family.
    NoAddress {
        /// The name of the host.
        host: String,
        /// The requested port, or 0.
        port: u16,
    },
    /// The nonce file cannot be created.
    NonceFile {
        /// The directory for the nonce file.
        folder: PathBuf,
        /// The error of the system.
        error: OsError,
    },
    /// The directory for the sockets of containers cannot be created.
    Folder {
        /// The directory that does not exist.
        folder: PathBuf,
        /// The error of the system.
        error: OsError,
    },
    /// `systemd:` is used, but no socket was passed or all are already used.
    NoSocketPassed,
    /// The environment variables for `systemd:` are invalid.
    Variables(InheritError),
    /// The bus cannot listen on a passed socket of `systemd:`.
    PassedSocket {
        /// The index of the socket, starting at 0.
        index: usize,
        /// The problem with the socket.
        problem: PassedSocketProblem,
    },
    /// The kernel does not provide random bytes.
    Random(OsError),
}

impl ListenError {
    /// Converts an error of parsing `text`, with the parts of it that dbus-daemon's message shows.
    pub(super) fn in_text(text: &str, error: AddressError) -> Self {
        let rest = text.get(error.at..).unwrap_or_default();
        let wrong = rest.split([',', ';']).next().unwrap_or_default().to_owned();
        match error.kind {
            AddressErrorKind::InvalidFamily => Self::UnknownFamily { name: wrong },
            AddressErrorKind::InvalidPort => {
                let (_, keys) = entry_at(text, error.at).split_once(':').unwrap_or_default();
                let find = |name: &str| keys.split(',').find_map(|key| key.strip_prefix(name));
                let host = find("bind=").or_else(|| find("host=")).unwrap_or("localhost");
                Self::UnknownPort { host: host.to_owned(), port: wrong }
            }
            _ => Self::Address(error),
        }
    }

    /// Whether another socket already uses the address.
    pub(super) fn is_taken(&self) -> bool {
        matches!(self, Self::Bind { error, .. } if error.kind() == io::ErrorKind::AddrInUse)
    }
}

/// Why a passed descriptor cannot be used as a listening socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PassedSocketProblem {
    /// It is not a socket.
    NoSocket,
    /// It is a socket, but neither a Unix stream socket nor a TCP socket.
    NoStream,
    /// It is not a Unix socket, as required for a container.
    NotUnix,
    /// A listener of the bus has it already.
    InUse,
    /// It is not in the listening state (listen(2)).
    NotListening,
    /// It has no address that clients could connect to.
    NoName,
    /// The system cannot report its properties.
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
            Self::UnknownFamily { name } => write!(f, "Unknown address family {name}"),
            Self::UnknownPort { host, port } => write!(
                f,
                "Failed to lookup host/port: \"{host}:{port}\": Servname not supported for \
                 ai_socktype (-8)"
            ),
            Self::UnknownTransport { name } => write!(f, "Unknown address type '{name}'"),
            Self::NoRuntimeDir => f.write_str("\"XDG_RUNTIME_DIR\" is not set"),
            Self::Bind { name, error } => {
                write!(f, "Failed to bind socket \"{}\": {error}", name.display())
            }
            Self::BindTcp { address, error } => {
                let (host, port) = (address.ip(), address.port());
                write!(f, "Failed to bind socket \"{host}\" port {port}: {error}")
            }
            Self::LookUp { host, port, reason } => {
                write!(f, "Failed to lookup host/port: \"{host}:{port}\": {reason}")?;
                resolver_error(reason).map_or(Ok(()), |number| write!(f, " ({number})"))
            }
            Self::NoAddress { host, port } => write!(
                f,
                "Failed to lookup host/port: \"{host}:{port}\": Address family for hostname not \
                 supported (-9)"
            ),
            Self::NonceFile { folder, error } => {
                write!(f, "Failed to create a nonce file in \"{}\": {error}", folder.display())
            }
            Self::Folder { folder, error } => {
                write!(f, "Failed to create directory {}: {error}", folder.display())
            }
            Self::NoSocketPassed => f.write_str("No socket received."),
            Self::Variables(error) => {
                write!(f, "Cannot use the sockets passed by systemd: {error}")
            }
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
            Self::NoSocket => f.write_str("is not a socket"),
            Self::NoStream => f.write_str("is neither a Unix stream socket nor a TCP socket"),
            Self::NotUnix => f.write_str("is not a Unix socket"),
            Self::InUse => f.write_str("is already the socket of a container or of the bus"),
            Self::NotListening => f.write_str("is not listening"),
            Self::NoName => f.write_str("has no address that clients can connect to"),
            Self::System(error) => write!(f, "cannot be examined: {error}"),
        }
    }
}

/// The entry of an address list that contains byte `at`.
fn entry_at(text: &str, at: usize) -> &str {
    let start = text[..at].rfind(';').map_or(0, |end| end + 1);
    let end = text[at..].find(';').map_or(text.len(), |length| at + length);
    &text[start..end]
}

/// The number of a resolver error (netdb.h), which dbus-daemon prints after its text.
fn resolver_error(reason: &str) -> Option<i32> {
    match reason {
        "Name or service not known" => Some(-2),
        "Temporary failure in name resolution" => Some(-3),
        "Non-recoverable failure in name resolution" => Some(-4),
        "No address associated with hostname" => Some(-5),
        _ => None,
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

#[cfg(test)]
mod tests {
    use super::super::parse;

    #[test]
    fn address_errors_have_the_texts_of_dbus_daemon() {
        let lookup = |place| {
            format!(
                "Failed to lookup host/port: \"{place}\": Servname not supported for ai_socktype (-8)"
            )
        };
        let rows = [
            ("tcp:host=a,family=b,port=c", "Unknown address family b".to_owned()),
            ("unix:path=/a;nonce-tcp:family=b;unix:path=/c", "Unknown address family b".to_owned()),
            ("tcp:port=x", lookup("localhost:x")),
            ("unix:path=/a;tcp:host=b,port=x;tcp:host=c", lookup("b:x")),
            ("tcp:bind=*,host=b,port=70000", lookup("*:70000")),
            ("tcp", "Address does not contain a colon".to_owned()),
        ];
        for (text, expected) in rows {
            let error = parse(text).expect_err(text);
            assert_eq!(error.to_string(), expected, "{text}");
        }
    }
}
