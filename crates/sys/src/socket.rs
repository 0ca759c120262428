//! Stream sockets: how they come to be and what they are. What goes through them is in
//! [`transfer`](crate::transfer).
//!
//! Clients make their TCP sockets with [`std::net`]; what listens is made here, and [`accept`] and
//! the rest treat both kinds alike. Every descriptor made here is close-on-exec.

use rustix::io::{Errno, retry_on_intr};
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};
use std::fs;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr as UnixSocketAddr, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where a Unix socket listens (unix(7)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnixAddress<'a> {
    /// A file, of at most 108 bytes; programs that count a NUL byte at the end reach 107.
    Path(&'a Path),
    /// A name outside the file system, of 1 to 107 bytes of any value, gone with the socket.
    Abstract(&'a [u8]),
}

impl UnixAddress<'_> {
    fn encode(self) -> io::Result<SocketAddrUnix> {
        let address = match self {
            // To the kernel an empty address is a wish for one of its choice.
            Self::Path(path) if path.as_os_str().is_empty() => Err(Errno::INVAL),
            Self::Path(path) => SocketAddrUnix::new(path),
            Self::Abstract([]) => Err(Errno::INVAL),
            Self::Abstract(name) => SocketAddrUnix::new_abstract_name(name),
        };
        Ok(address?)
    }
}

/// Makes a non-blocking Unix stream socket that listens at `address`.
///
/// # Errors
///
/// [`io::ErrorKind::AddrInUse`] when the file exists (a socket left over by a crash can be
/// [removed](crate::filesystem::remove_stale_socket)) or another socket has the abstract name;
/// `ENAMETOOLONG` when the address is too long and `EINVAL` when it is empty; otherwise those of bind(2).
pub fn listen_unix(address: UnixAddress<'_>) -> io::Result<OwnedFd> {
    let address = address.encode()?;
    let socket = unix_socket(SocketFlags::CLOEXEC | SocketFlags::NONBLOCK)?;
    net::bind(&socket, &address)?;
    net::listen(&socket, BACKLOG)?;
    Ok(socket)
}

/// As [`listen_unix`] at a file that only its owner may connect to, from the first moment on.
///
/// # Errors
///
/// As [`listen_unix`].
pub fn listen_unix_for_owner(path: &Path) -> io::Result<OwnedFd> {
    let address = UnixAddress::Path(path).encode()?;
    let socket = unix_socket(SocketFlags::CLOEXEC | SocketFlags::NONBLOCK)?;
    net::bind(&socket, &address)?;
    // Nobody can connect before it listens.
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    net::listen(&socket, BACKLOG)?;
    Ok(socket)
}

/// Which protocols a socket takes connections of that listens at an IPv6 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ipv6Scope {
    /// Those of IPv4 too, where the system is set up so (ipv6(7): `net.ipv6.bindv6only`).
    AsSystem,
    /// Those of IPv6 alone, so that another socket can listen at the same port for the others.
    Only,
}

/// Makes a non-blocking TCP socket that listens at `address`, at a port of the kernel's choice if
/// that is 0. What is written to the connections leaves at once (tcp(7): `TCP_NODELAY`).
///
/// # Errors
///
/// [`io::ErrorKind::AddrInUse`] when another socket listens there; otherwise those of bind(2).
pub fn listen_tcp(address: SocketAddr, scope: Ipv6Scope) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = net::socket_with(family, SocketType::STREAM, flags, None)?;
    if address.is_ipv6() && scope == Ipv6Scope::Only {
        sockopt::set_ipv6_v6only(&socket, true)?;
    }
    // A connection that has just ended keeps its port for minutes.
    sockopt::set_socket_reuseaddr(&socket, true)?;
    send_at_once(&socket)?;
    net::bind(&socket, &address)?;
    net::listen(&socket, BACKLOG)?;
    Ok(socket)
}

/// Lets a TCP socket send what is written without waiting for more (tcp(7): `TCP_NODELAY`). What
/// it accepts does the same.
///
/// # Errors
///
/// When `socket` is no TCP socket.
pub fn send_at_once(socket: impl AsFd) -> io::Result<()> {
    Ok(sockopt::set_tcp_nodelay(socket, true)?)
}

/// Connects a blocking Unix stream socket to `address`, and waits while the listener is busy.
///
/// # Errors
///
/// [`io::ErrorKind::NotFound`] when there is no such file, [`io::ErrorKind::ConnectionRefused`]
/// when nobody listens there; otherwise those of connect(2).
pub fn connect_unix(address: UnixAddress<'_>) -> io::Result<OwnedFd> {
    let address = address.encode()?;
    let socket = unix_socket(SocketFlags::CLOEXEC)?;
    retry_on_intr(|| net::connect(&socket, &address))?;
    Ok(socket)
}

/// Two blocking Unix stream sockets, connected to each other (socketpair(2)).
///
/// # Errors
///
/// Only when descriptors or memory run out.
pub fn socket_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let (one, other) = UnixStream::pair()?;
    Ok((one.into(), other.into()))
}

/// What became of an attempt to [`accept`].
#[derive(Debug)]
#[must_use]
pub enum Accepted {
    /// A connection, non-blocking and close-on-exec.
    Connection(OwnedFd),
    /// Nobody waits, or who did has given up.
    NoneWaiting,
    /// Somebody waits, but this process or the system has no descriptor or memory left. The
    /// listener stays readable, so stop watching it until a descriptor was closed.
    OutOfRoom(io::Error),
}

/// Takes one waiting connection from `listener`, Unix or TCP (accept4(2)). Set the listener
/// non-blocking, as [`listen_unix`] does, or this waits for one.
///
/// # Errors
///
/// Only when `listener` is no listening socket, or a security module forbids to accept; what a
/// peer or a shortage can cause is in [`Accepted`].
pub fn accept(listener: impl AsFd) -> io::Result<Accepted> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    match retry_on_intr(|| net::accept_with(&listener, flags)) {
        Ok(connection) => Ok(Accepted::Connection(connection)),
        Err(error) if is_shortage(error) => Ok(Accepted::OutOfRoom(error.into())),
        Err(error) if is_absence(error) => Ok(Accepted::NoneWaiting),
        Err(error) => Err(error.into()),
    }
}

/// The transport of a socket, which decides what it can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketKind {
    /// A Unix stream socket: carries descriptors and knows its peer's credentials.
    Unix,
    /// A TCP socket over IPv4 or IPv6: carries bytes only.
    Tcp,
    /// Any other socket, not a stream that this crate knows.
    Other,
}

/// Tells the transport of a socket that somebody else made.
///
/// # Errors
///
/// `ENOTSOCK` when `socket` is not a socket.
pub fn socket_kind(socket: impl AsFd) -> io::Result<SocketKind> {
    if sockopt::socket_type(&socket)? != SocketType::STREAM {
        return Ok(SocketKind::Other);
    }
    Ok(match sockopt::socket_domain(&socket)? {
        AddressFamily::UNIX => SocketKind::Unix,
        AddressFamily::INET | AddressFamily::INET6 => SocketKind::Tcp,
        _ => SocketKind::Other,
    })
}

/// Whether listen(2) was called on `socket`, so that it can [`accept`].
///
/// # Errors
///
/// `ENOTSOCK` when `socket` is not a socket.
pub fn is_listening(socket: impl AsFd) -> io::Result<bool> {
    Ok(sockopt::socket_acceptconn(socket)?)
}

/// The address that a socket is bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocalAddress {
    /// A Unix socket with a file.
    Path(PathBuf),
    /// A Unix socket with an abstract name, without its leading NUL byte.
    Abstract(Vec<u8>),
    /// A Unix socket that was not bound.
    Unnamed,
    /// An Internet socket.
    Internet(SocketAddr),
}

/// Asks where `socket` is bound, to learn what the kernel or the service manager chose
/// (getsockname(2)).
///
/// # Errors
///
/// `ENOTSOCK` when `socket` is not a socket; [`io::ErrorKind::Unsupported`] when it is of a family
/// that [`LocalAddress`] does not know.
pub fn local_address(socket: impl AsFd) -> io::Result<LocalAddress> {
    let family = sockopt::socket_domain(&socket)?;
    let duplicate = socket.as_fd().try_clone_to_owned()?;
    match family {
        AddressFamily::UNIX => Ok(decode_unix(&UnixStream::from(duplicate).local_addr()?)),
        AddressFamily::INET | AddressFamily::INET6 => {
            Ok(LocalAddress::Internet(TcpStream::from(duplicate).local_addr()?))
        }
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// Limits how long a [blocking](crate::transfer::TransferWait::Block) receive waits; `None` is for ever
/// (`SO_RCVTIMEO`, socket(7)).
///
/// # Errors
///
/// [`io::ErrorKind::InvalidInput`] for zero, which the kernel would take for "for ever".
pub fn set_receive_timeout(socket: impl AsFd, timeout: Option<Duration>) -> io::Result<()> {
    Ok(sockopt::set_socket_timeout(socket, sockopt::Timeout::Recv, timeout)?)
}

fn unix_socket(flags: SocketFlags) -> rustix::io::Result<OwnedFd> {
    net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
}

fn is_shortage(error: Errno) -> bool {
    matches!(error, Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM)
}

/// Nobody there, or an error of the one connection that was taken: accept(2) lists those that TCP
/// passes on.
fn is_absence(error: Errno) -> bool {
    matches!(
        error,
        Errno::AGAIN
            | Errno::CONNABORTED
            | Errno::PROTO
            | Errno::NETDOWN
            | Errno::NOPROTOOPT
            | Errno::HOSTDOWN
            | Errno::NONET
            | Errno::HOSTUNREACH
            | Errno::NETUNREACH
    )
}

fn decode_unix(address: &UnixSocketAddr) -> LocalAddress {
    match (address.as_pathname(), address.as_abstract_name()) {
        (Some(path), _) => LocalAddress::Path(path.into()),
        (None, Some(name)) => LocalAddress::Abstract(name.to_vec()),
        (None, None) => LocalAddress::Unnamed,
    }
}

/// Connections that may wait to be accepted. The kernel lowers it to `net.core.somaxconn`, whose
/// default is the same number.
const BACKLOG: i32 = 4096;
