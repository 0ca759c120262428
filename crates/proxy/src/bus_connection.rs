//! Connecting to the bus.

use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs};

use sys::socket::{UnixAddress, connect_unix_at_once, send_at_once};
use wire::address::{Address, AddressList, TcpAddress, Transport, UnixTransport};

/// A connection to the bus before the handshake.
#[derive(Debug)]
pub(crate) struct BusStream {
    /// The socket, which is connected.
    pub(crate) socket: OwnedFd,
    /// True if the socket carries credentials and descriptors.
    pub(crate) is_unix: bool,
}

/// Connects to the first entry of an address that works.
///
/// Returns [`io::ErrorKind::WouldBlock`] while the bus has not accepted earlier connections.
pub(crate) fn connect(address: &OsStr) -> io::Result<BusStream> {
    let invalid = |reason: String| io::Error::new(io::ErrorKind::InvalidInput, reason);
    let text = address.to_str().ok_or_else(|| invalid("the address is not UTF-8".into()))?;
    let list = AddressList::parse(text).map_err(|error| invalid(error.to_string()))?;
    let mut first_error = None;
    for entry in &list {
        match connect_to(entry) {
            Ok(socket) => return Ok(socket),
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    Err(first_error.unwrap_or_else(|| invalid("the address is empty".into())))
}

fn connect_to(address: &Address) -> io::Result<BusStream> {
    let unix = |socket: OwnedFd| BusStream { socket, is_unix: true };
    let path = |path: &Path| connect_unix_at_once(UnixAddress::Path(path)).map(unix);
    match &address.transport {
        Transport::Unix(UnixTransport::Path(bytes)) => path(Path::new(OsStr::from_bytes(bytes))),
        Transport::Unix(UnixTransport::Abstract(name)) => {
            connect_unix_at_once(UnixAddress::Abstract(name)).map(unix)
        }
        Transport::Unix(UnixTransport::Runtime) => {
            let folder = env::var_os("XDG_RUNTIME_DIR").ok_or(io::ErrorKind::NotFound)?;
            path(&PathBuf::from(folder).join("bus"))
        }
        Transport::Tcp(tcp) => connect_tcp(tcp, &[]),
        Transport::NonceTcp { tcp, noncefile: Some(file) } => {
            connect_tcp(tcp, &fs::read(OsStr::from_bytes(file))?)
        }
        _ => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!("the proxy cannot connect to addresses like {address}"),
        )),
    }
}

fn connect_tcp(address: &TcpAddress, nonce: &[u8]) -> io::Result<BusStream> {
    let port = address.port.ok_or(io::ErrorKind::InvalidInput)?;
    let mut error = io::Error::from(io::ErrorKind::NotFound);
    for target in (address.host_or_default(), port.get()).to_socket_addrs()? {
        match TcpStream::connect_timeout(&target, TCP_TIMEOUT) {
            Ok(mut stream) => {
                stream.write_all(nonce)?;
                send_at_once(&stream)?;
                return Ok(BusStream { socket: stream.into(), is_unix: false });
            }
            Err(failed) => error = failed,
        }
    }
    Err(error)
}

/// The time to wait for a bus on another machine. All programs wait meanwhile.
const TCP_TIMEOUT: Duration = Duration::from_secs(5);
