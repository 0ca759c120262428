//! Addresses: where a server listens and where a client connects ("Server Addresses").
//!
//! An [`AddressList`] is the text of an environment variable or a configuration file, read once:
//! entries in the order in which to try them, each with a [`Transport`] whose keys are checked.
//!
//! ```
//! use diligence_wire::address::{AddressList, Transport, UnixTransport};
//!
//! let list: AddressList = "unix:path=/run/a%20bus;tcp:host=localhost,port=4242".parse()?;
//! let [first, second] = list.entries() else { panic!("two entries") };
//! assert_eq!(first.transport, Transport::Unix(UnixTransport::Path(b"/run/a bus".to_vec())));
//! assert!(second.is_connectable());
//! assert_eq!(first.to_string(), "unix:path=/run/a%20bus");
//! # Ok::<(), diligence_wire::address::AddressError>(())
//! ```

mod error;
mod keys;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write as _};
use core::num::NonZeroU16;
use core::str::FromStr;

pub use error::{AddressError, AddressErrorKind};
use keys::{AddressKeys, pieces};

use crate::guid::Guid;

/// One or more addresses, separated by `;`, in the order in which to try them. Never empty.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct AddressList(Vec<Address>);

impl AddressList {
    /// Parses a list. A `;` after the last entry is allowed, like in the reference implementation.
    ///
    /// # Errors
    ///
    /// If an entry is not a valid address.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        if text.is_empty() {
            return Err(AddressErrorKind::Empty.at(0));
        }
        let entries = pieces(text.strip_suffix(';').unwrap_or(text), ';');
        entries.map(|(at, entry)| Address::parse_at(entry, at)).collect::<Result<_, _>>().map(Self)
    }

    /// The entries, at least one.
    pub fn entries(&self) -> &[Address] {
        &self.0
    }
}

impl From<Address> for AddressList {
    fn from(address: Address) -> Self {
        Self([address].into())
    }
}

impl<'a> IntoIterator for &'a AddressList {
    type Item = &'a Address;
    type IntoIter = core::slice::Iter<'a, Address>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl FromStr for AddressList {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        Self::parse(text)
    }
}

impl fmt::Display for AddressList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, address) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { ";" };
            write!(f, "{separator}{address}")?;
        }
        Ok(())
    }
}

/// One entry of an address list.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Address {
    /// How to reach the server.
    pub transport: Transport,
    /// The id of the server, by which a client can recognize a server to which it is connected
    /// already.
    pub guid: Option<Guid>,
    /// Keys that the transport does not use. They have no effect, and are kept so that the address
    /// can be printed as it was written.
    pub ignored: Vec<AddressKey>,
}

impl Address {
    /// Parses one entry, without a `;`. A `,` after the last key is allowed.
    ///
    /// # Errors
    ///
    /// If the text violates one of the rules in [`AddressErrorKind`].
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        Self::parse_at(text, 0)
    }

    /// Returns true if a client can connect to this address.
    pub fn is_connectable(&self) -> bool {
        match &self.transport {
            Transport::Unix(unix) => {
                matches!(unix, UnixTransport::Path(_) | UnixTransport::Abstract(_))
            }
            Transport::Tcp(tcp) => tcp.port.is_some(),
            Transport::NonceTcp { tcp, noncefile } => tcp.port.is_some() && noncefile.is_some(),
            Transport::Unixexec { .. }
            | Transport::Autolaunch { .. }
            | Transport::Launchd { .. } => true,
            Transport::Systemd | Transport::Other { .. } => false,
        }
    }

    /// Returns true if a server can listen at this address, on a system that supports the
    /// transport.
    pub fn is_listenable(&self) -> bool {
        match &self.transport {
            Transport::Unix(_)
            | Transport::Tcp(_)
            | Transport::NonceTcp { .. }
            | Transport::Systemd
            | Transport::Launchd { .. } => true,
            Transport::Unixexec { .. } | Transport::Autolaunch { .. } | Transport::Other { .. } => {
                false
            }
        }
    }

    fn parse_at(text: &str, at: usize) -> Result<Self, AddressError> {
        if text.is_empty() {
            return Err(AddressErrorKind::EmptyEntry.at(at));
        }
        let (name, rest) =
            text.split_once(':').ok_or(AddressErrorKind::MissingColon.at(at + text.len()))?;
        if name.is_empty() {
            return Err(AddressErrorKind::EmptyTransport.at(at));
        }
        let mut keys = AddressKeys::parse(rest, at + name.len() + 1)?;
        let guid = keys.take("guid").map(|raw| raw.guid()).transpose()?;
        let transport = Transport::from_keys(name, &mut keys)?;
        Ok(Self { transport, guid, ignored: keys.into_rest() })
    }
}

impl From<Transport> for Address {
    fn from(transport: Transport) -> Self {
        Self { transport, guid: None, ignored: Vec::new() }
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        Self::parse(text)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.transport.name())?;
        let mut keys = AddressKeyWriter { f, separator: "" };
        self.transport.write_keys(&mut keys)?;
        keys.all(&self.ignored)?;
        self.guid.map_or(Ok(()), |guid| keys.number("guid", guid))
    }
}

/// A key of an address without its own field here, with its value unescaped.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct AddressKey {
    /// The text before the `=`.
    pub name: String,
    /// The bytes after it.
    pub value: Vec<u8>,
}

/// How to reach a server ("Transports").
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Transport {
    /// `unix:` A Unix domain socket.
    Unix(UnixTransport),
    /// `tcp:` A TCP socket.
    Tcp(TcpAddress),
    /// `nonce-tcp:` A TCP socket on which the client first proves that it can read a file.
    NonceTcp {
        /// The address of the socket.
        tcp: TcpAddress,
        /// The file with the 16 bytes to send. Only a client needs it: a server creates a new one.
        noncefile: Option<Vec<u8>>,
    },
    /// `systemd:` The sockets that the service manager passed.
    Systemd,
    /// `unixexec:` The standard input and output of a program to start.
    Unixexec {
        /// The program, looked up in the search path if it has no slash.
        path: Vec<u8>,
        /// Its arguments, of which the first is its own name. Never empty.
        argv: Vec<Vec<u8>>,
    },
    /// `autolaunch:` The session bus of this display, which is found or started.
    Autolaunch {
        /// Distinguishes several buses; only Windows uses it.
        scope: Option<Vec<u8>>,
    },
    /// `launchd:` A socket that launchd made.
    Launchd {
        /// The variable, in launchd's environment, that has the path of the socket.
        env: Vec<u8>,
    },
    /// An unknown transport. A client continues with the next entry.
    Other {
        /// The text before the colon.
        name: String,
        /// Its keys, without `guid`, in the order in which they were written.
        keys: Vec<AddressKey>,
    },
}

impl Transport {
    /// The text before the colon.
    pub fn name(&self) -> &str {
        match self {
            Self::Unix(_) => "unix",
            Self::Tcp(_) => "tcp",
            Self::NonceTcp { .. } => "nonce-tcp",
            Self::Systemd => "systemd",
            Self::Unixexec { .. } => "unixexec",
            Self::Autolaunch { .. } => "autolaunch",
            Self::Launchd { .. } => "launchd",
            Self::Other { name, .. } => name,
        }
    }

    fn from_keys(name: &str, keys: &mut AddressKeys<'_>) -> Result<Self, AddressError> {
        Ok(match name {
            "unix" => Self::Unix(UnixTransport::from_keys(keys)?),
            "tcp" => Self::Tcp(TcpAddress::from_keys(keys)?),
            "nonce-tcp" => Self::NonceTcp {
                tcp: TcpAddress::from_keys(keys)?,
                noncefile: keys.take("noncefile").map(|raw| raw.path()).transpose()?,
            },
            "systemd" => Self::Systemd,
            "unixexec" => Self::unixexec(keys)?,
            "autolaunch" => Self::Autolaunch { scope: keys.take("scope").map(|raw| raw.value) },
            "launchd" => Self::Launchd { env: keys.require("env")?.value },
            _ => Self::Other { name: name.into(), keys: keys.take_all() },
        })
    }

    /// Arguments count up to the first missing number; later ones are ignored.
    fn unixexec(keys: &mut AddressKeys<'_>) -> Result<Self, AddressError> {
        let path = keys.require("path")?.path()?;
        let own_name = keys.take("argv0").map_or_else(|| path.clone(), |raw| raw.value);
        let arguments = (1_usize..).map_while(|n| keys.take(&alloc::format!("argv{n}")));
        let argv = core::iter::once(own_name).chain(arguments.map(|raw| raw.value)).collect();
        Ok(Self::Unixexec { path, argv })
    }

    fn write_keys(&self, keys: &mut AddressKeyWriter<'_, '_>) -> fmt::Result {
        match self {
            Self::Unix(unix) => unix.write_keys(keys),
            Self::Tcp(tcp) => tcp.write_keys(keys),
            Self::NonceTcp { tcp, noncefile } => {
                tcp.write_keys(keys)?;
                keys.optional("noncefile", noncefile.as_deref())
            }
            Self::Systemd => Ok(()),
            Self::Unixexec { path, argv } => write_command(keys, path, argv),
            Self::Autolaunch { scope } => keys.optional("scope", scope.as_deref()),
            Self::Launchd { env } => keys.bytes("env", env),
            Self::Other { keys: others, .. } => keys.all(others),
        }
    }
}

/// The address of a Unix domain socket.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum UnixTransport {
    /// `path`: a socket in the file system.
    Path(Vec<u8>),
    /// `abstract`: a name outside of the file system. Only Linux supports these.
    Abstract(Vec<u8>),
    /// `dir`: a directory in which a server creates a socket with a random name.
    Dir(Vec<u8>),
    /// `tmpdir`: like `dir`; a server may create an abstract socket instead.
    Tmpdir(Vec<u8>),
    /// `runtime=yes`: the socket `bus` in the user's runtime directory.
    Runtime,
}

impl UnixTransport {
    fn from_keys(keys: &mut AddressKeys<'_>) -> Result<Self, AddressError> {
        let end = keys.end();
        let mut found = keys.take_any(&["path", "abstract", "dir", "tmpdir", "runtime"]);
        if let Some(second) = found.get(1) {
            return Err(AddressErrorKind::SeveralUnixKeys.at(second.at));
        }
        let only = found.pop().ok_or(AddressErrorKind::NoUnixKey.at(end))?;
        match only.name {
            "path" => only.path().map(Self::Path),
            "abstract" => Ok(Self::Abstract(only.value)),
            "dir" => only.path().map(Self::Dir),
            "tmpdir" => only.path().map(Self::Tmpdir),
            _ if only.value == b"yes" => Ok(Self::Runtime),
            _ => Err(AddressErrorKind::RuntimeNotYes.at(only.value_at)),
        }
    }

    fn write_keys(&self, keys: &mut AddressKeyWriter<'_, '_>) -> fmt::Result {
        match self {
            Self::Path(path) => keys.bytes("path", path),
            Self::Abstract(name) => keys.bytes("abstract", name),
            Self::Dir(dir) => keys.bytes("dir", dir),
            Self::Tmpdir(dir) => keys.bytes("tmpdir", dir),
            Self::Runtime => keys.bytes("runtime", b"yes"),
        }
    }
}

/// The address of a TCP socket.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct TcpAddress {
    /// The name or address to connect to; see [`host_or_default`](Self::host_or_default).
    pub host: Option<String>,
    /// The name or address to listen on: `*` for all interfaces, absent for the same as `host`.
    pub bind: Option<String>,
    /// The port; without one (0 in the text, or no such key) a server takes any free port.
    pub port: Option<NonZeroU16>,
    /// The version of the internet protocol; `None` means any.
    pub family: Option<HostFamily>,
}

impl TcpAddress {
    /// The host; the default is `localhost`, like in the reference implementation.
    pub fn host_or_default(&self) -> &str {
        self.host.as_deref().unwrap_or("localhost")
    }

    fn from_keys(keys: &mut AddressKeys<'_>) -> Result<Self, AddressError> {
        // The family is first, because the reference implementation reports its errors before all
        // others.
        let family = keys.take("family").map(|raw| raw.family()).transpose()?;
        Ok(Self {
            host: keys.take("host").map(|raw| raw.text()).transpose()?,
            bind: keys.take("bind").map(|raw| raw.text()).transpose()?,
            port: keys.take("port").map(|raw| raw.port()).transpose()?.flatten(),
            family,
        })
    }

    fn write_keys(&self, keys: &mut AddressKeyWriter<'_, '_>) -> fmt::Result {
        keys.optional("host", self.host.as_deref().map(str::as_bytes))?;
        keys.optional("bind", self.bind.as_deref().map(str::as_bytes))?;
        self.port.map_or(Ok(()), |port| keys.number("port", port))?;
        self.family.map_or(Ok(()), |family| keys.bytes("family", family.as_str().as_bytes()))
    }
}

/// A version of the internet protocol.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HostFamily {
    /// IP version 4, `ipv4`.
    V4,
    /// IP version 6, `ipv6`.
    V6,
}

impl HostFamily {
    /// The value of the key `family`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V4 => "ipv4",
            Self::V6 => "ipv6",
        }
    }
}

/// Formats `key=value`, separated by commas.
struct AddressKeyWriter<'w, 'f> {
    f: &'w mut fmt::Formatter<'f>,
    separator: &'static str,
}

impl AddressKeyWriter<'_, '_> {
    fn bytes(&mut self, name: &str, value: &[u8]) -> fmt::Result {
        self.name(name)?;
        value.iter().try_for_each(|&byte| {
            if is_bare(byte) {
                self.f.write_char(char::from(byte))
            } else {
                write!(self.f, "%{byte:02x}")
            }
        })
    }

    fn number(&mut self, name: &str, value: impl fmt::Display) -> fmt::Result {
        self.name(name)?;
        write!(self.f, "{value}")
    }

    fn optional(&mut self, name: &str, value: Option<&[u8]>) -> fmt::Result {
        value.map_or(Ok(()), |value| self.bytes(name, value))
    }

    fn all(&mut self, keys: &[AddressKey]) -> fmt::Result {
        keys.iter().try_for_each(|key| self.bytes(&key.name, &key.value))
    }

    fn name(&mut self, name: &str) -> fmt::Result {
        let separator = core::mem::replace(&mut self.separator, ",");
        write!(self.f, "{separator}{name}=")
    }
}

fn write_command(
    keys: &mut AddressKeyWriter<'_, '_>,
    path: &[u8],
    argv: &[Vec<u8>],
) -> fmt::Result {
    keys.bytes("path", path)?;
    for (n, argument) in argv.iter().enumerate() {
        if n > 0 || argument != path {
            keys.bytes(&alloc::format!("argv{n}"), argument)?;
        }
    }
    Ok(())
}

/// Returns true if a byte may be in a value without escaping.
const fn is_bare(byte: u8) -> bool {
    matches!(byte, b'-' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'/' | b'.' | b'\\' | b'*')
}
