//! Connecting a socket to the transport of an address.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use unix::socket::{UnixAddress as SocketAddress, connect_unix, socket_pair};
use wire::address::{HostFamily, TcpAddress, Transport, UnixTransport};

use super::{AttemptError, standard};
use crate::link::{BusSocket, ConnectedProgram};

/// A connected socket on which nothing was sent.
pub(super) struct DialedSocket {
    pub(super) socket: BusSocket,
    pub(super) carrier: ConnectionCarrier,
}

/// The kind of transport that carries the bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ConnectionCarrier {
    /// A Unix socket: the kernel reports the user of the process, and descriptors can be passed.
    Local,
    /// A TCP socket, which passes no credentials or descriptors.
    Network,
}

pub(super) fn dial(
    transport: &Transport,
    timeout: Option<Duration>,
) -> Result<DialedSocket, AttemptError> {
    match transport {
        Transport::Unix(address) => dial_unix(address),
        Transport::Tcp(address) => Ok(network(dial_tcp(address, timeout)?)),
        Transport::NonceTcp { tcp, noncefile: Some(file) } => {
            let nonce = read_nonce(path(file))?;
            let mut stream = dial_tcp(tcp, timeout)?;
            stream.write_all(&nonce).map_err(AttemptError::system)?;
            Ok(network(stream))
        }
        Transport::NonceTcp { noncefile: None, .. } => Err(AttemptError::ForServersOnly),
        Transport::Unixexec { path: program, argv } => {
            dial_program(program, argv).map_err(AttemptError::system)
        }
        Transport::Autolaunch { .. } => Err(AttemptError::Autolaunch),
        Transport::Systemd => Err(AttemptError::ForServersOnly),
        _ => Err(AttemptError::UnknownTransport),
    }
}

fn dial_unix(address: &UnixTransport) -> Result<DialedSocket, AttemptError> {
    let connected = match address {
        UnixTransport::Path(file) => connect_unix(SocketAddress::Path(path(file))),
        UnixTransport::Abstract(name) => connect_unix(SocketAddress::Abstract(name)),
        UnixTransport::Runtime => {
            let directory =
                standard::runtime_directory().ok_or(AttemptError::NoRuntimeDirectory)?;
            connect_unix(SocketAddress::Path(&directory.join("bus")))
        }
        UnixTransport::Dir(_) | UnixTransport::Tmpdir(_) => {
            return Err(AttemptError::ForServersOnly);
        }
    };
    let socket = BusSocket::new(connected.map_err(AttemptError::system)?, None);
    Ok(DialedSocket { socket, carrier: ConnectionCarrier::Local })
}

/// Tries all addresses of a host, in the order in which the resolver lists them.
fn dial_tcp(address: &TcpAddress, timeout: Option<Duration>) -> Result<TcpStream, AttemptError> {
    let port = address.port.ok_or(AttemptError::ForServersOnly)?.get();
    let found = (address.host_or_default(), port).to_socket_addrs();
    let has_family = |found: &SocketAddr| match address.family {
        None => true,
        Some(HostFamily::V4) => found.is_ipv4(),
        Some(HostFamily::V6) => found.is_ipv6(),
    };
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in found.map_err(AttemptError::system)?.filter(has_family) {
        match connect_tcp(&address, timeout) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(AttemptError::system(last))
}

fn connect_tcp(address: &SocketAddr, timeout: Option<Duration>) -> io::Result<TcpStream> {
    let stream = match timeout {
        Some(timeout) => TcpStream::connect_timeout(address, timeout)?,
        None => TcpStream::connect(address)?,
    };
    // Messages are already batched in the output queue; Nagle's algorithm would only delay them.
    stream.set_nodelay(true)?;
    Ok(stream)
}

fn network(stream: TcpStream) -> DialedSocket {
    DialedSocket {
        socket: BusSocket::new(OwnedFd::from(stream), None),
        carrier: ConnectionCarrier::Network,
    }
}

fn read_nonce(file: &Path) -> Result<[u8; NONCE_LEN], AttemptError> {
    let bytes = fs::read(file).map_err(|error| AttemptError::NonceFile(error.into()))?;
    let len = bytes.len();
    bytes.try_into().map_err(|_| AttemptError::NonceLength { len })
}

/// Starts a program and connects to its standard input and output.
fn dial_program(program: &[u8], argv: &[Vec<u8>]) -> io::Result<DialedSocket> {
    let (own_end, child_end) = socket_pair()?;
    let mut command = Command::new(OsStr::from_bytes(program));
    if let [name, arguments @ ..] = argv {
        command.arg0(OsStr::from_bytes(name));
        command.args(arguments.iter().map(|argument| OsStr::from_bytes(argument)));
    }
    let child = command.stdin(Stdio::from(child_end.try_clone()?)).stdout(child_end).spawn()?;
    let socket = BusSocket::new(own_end, Some(ConnectedProgram(child)));
    Ok(DialedSocket { socket, carrier: ConnectionCarrier::Local })
}

fn path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// Length of a nonce in bytes ("Nonce-authenticated TCP Sockets").
const NONCE_LEN: usize = 16;
