//! Creates and inspects stream sockets. [`transfer`](crate::transfer) sends and receives data.
//!
//! Clients create their TCP sockets with [`std::net`]; this module creates listening sockets, and
//! [`accept`] and the other functions support both kinds. All created descriptors are
//! close-on-exec.

use crate::raw;
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

/// The address of a Unix socket (unix(7)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnixAddress<'a> {
    /// A path of at most 108 bytes; programs that require a NUL byte at the end support 107.
    Path(&'a Path),
    /// A name outside the file system, of 1 to 107 arbitrary bytes, which disappears with the
    /// socket.
    Abstract(&'a [u8]),
}

impl UnixAddress<'_> {
    fn encode(self) -> io::Result<SocketAddrUnix> {
        let address = match self {
            // For the kernel, an empty address requests an automatic one.
            Self::Path(path) if path.as_os_str().is_empty() => Err(Errno::INVAL),
            Self::Path(path) => SocketAddrUnix::new(path),
            Self::Abstract([]) => Err(Errno::INVAL),
            Self::Abstract(name) => SocketAddrUnix::new_abstract_name(name),
        };
        Ok(address?)
    }
}

/// Creates a non-blocking Unix stream socket that listens at `address`.
///
/// # Errors
///
/// [`io::ErrorKind::AddrInUse`] if the file exists (a socket left over from a crash can be
/// removed) or another socket has the abstract name;
/// `ENAMETOOLONG` if the address is too long and `EINVAL` if it is empty; otherwise the errors of
/// bind(2).
pub fn listen_unix(address: UnixAddress<'_>) -> io::Result<OwnedFd> {
    let address = address.encode()?;
    let socket = unix_socket(SocketFlags::CLOEXEC | SocketFlags::NONBLOCK)?;
    net::bind(&socket, &address)?;
    net::listen(&socket, BACKLOG)?;
    Ok(socket)
}

/// Like [`listen_unix`], at a file that only its owner can connect to, from the start.
///
/// # Errors
///
/// Fails like [`listen_unix`].
pub fn listen_unix_for_owner(path: &Path) -> io::Result<OwnedFd> {
    let address = UnixAddress::Path(path).encode()?;
    let socket = unix_socket(SocketFlags::CLOEXEC | SocketFlags::NONBLOCK)?;
    net::bind(&socket, &address)?;
    // Clients cannot connect before the socket listens.
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    net::listen(&socket, BACKLOG)?;
    Ok(socket)
}

/// The protocols of the connections that a socket with an IPv6 address accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ipv6Scope {
    /// IPv6, and IPv4 as well if the system is configured so (ipv6(7): `net.ipv6.bindv6only`).
    AsSystem,
    /// IPv6 only, so that another socket can listen at the same port for IPv4.
    Only,
}

/// Creates a non-blocking TCP socket that listens at `address`; for port 0, the kernel chooses a
/// port. Its connections send written data immediately (tcp(7): `TCP_NODELAY`).
///
/// # Errors
///
/// [`io::ErrorKind::AddrInUse`] if another socket listens there; otherwise the errors of bind(2).
pub fn listen_tcp(address: SocketAddr, scope: Ipv6Scope) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = net::socket_with(family, SocketType::STREAM, flags, None)?;
    if address.is_ipv6() && scope == Ipv6Scope::Only {
        sockopt::set_ipv6_v6only(&socket, true)?;
    }
    // A closed connection occupies its port for minutes.
    sockopt::set_socket_reuseaddr(&socket, true)?;
    send_at_once(&socket)?;
    net::bind(&socket, &address)?;
    net::listen(&socket, BACKLOG)?;
    Ok(socket)
}

/// Makes a TCP socket send written data without waiting for more (tcp(7): `TCP_NODELAY`).
/// Connections that it accepts inherit this.
///
/// # Errors
///
/// Fails if `socket` is not a TCP socket.
pub fn send_at_once(socket: impl AsFd) -> io::Result<()> {
    Ok(sockopt::set_tcp_nodelay(socket, true)?)
}

/// Connects a blocking Unix stream socket to `address`; blocks while the backlog of the listener is
/// full.
///
/// # Errors
///
/// [`io::ErrorKind::NotFound`] if the file does not exist, [`io::ErrorKind::ConnectionRefused`] if
/// no socket listens there; otherwise the errors of connect(2).
pub fn connect_unix(address: UnixAddress<'_>) -> io::Result<OwnedFd> {
    let address = address.encode()?;
    let socket = unix_socket(SocketFlags::CLOEXEC)?;
    retry_on_intr(|| net::connect(&socket, &address))?;
    Ok(socket)
}

/// Connects a non-blocking Unix stream socket to `address`, without waiting.
///
/// # Errors
///
/// [`io::ErrorKind::WouldBlock`] while the backlog of the listener is full; otherwise fails like
/// [`connect_unix`].
pub fn connect_unix_at_once(address: UnixAddress<'_>) -> io::Result<OwnedFd> {
    let address = address.encode()?;
    let socket = unix_socket(SocketFlags::CLOEXEC | SocketFlags::NONBLOCK)?;
    retry_on_intr(|| net::connect(&socket, &address))?;
    Ok(socket)
}

/// Creates two blocking Unix stream sockets that are connected to each other (socketpair(2)).
///
/// # Errors
///
/// Fails only if descriptors or memory run out.
pub fn socket_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let (one, other) = UnixStream::pair()?;
    Ok((one.into(), other.into()))
}

/// Creates two blocking Unix sockets that are connected to each other and keep the boundaries of
/// messages (`SOCK_SEQPACKET`). They carry no descriptors: from Linux 6.16 on, sending some fails
/// with `EPERM` (`SO_PASSRIGHTS`), and before, the kernel closes those that arrive.
///
/// # Errors
///
/// Fails only if descriptors or memory run out.
pub fn packet_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let (family, flags) = (AddressFamily::UNIX, SocketFlags::CLOEXEC);
    let (one, other) = net::socketpair(family, SocketType::SEQPACKET, flags, None)?;
    for socket in [&one, &other] {
        if let Err(error) = raw::refuse_descriptors(socket.as_fd())
            && error.raw_os_error() != Some(Errno::NOPROTOOPT.raw_os_error())
        {
            return Err(error);
        }
    }
    Ok((one, other))
}

/// Makes the descriptor `number` refer to another socket, and closes the socket that it referred to
/// (dup3(2)). A call that waits for the earlier socket continues to wait for it.
///
/// # Errors
///
/// Fails only while another thread opens a descriptor with this number, which cannot happen while
/// `number` is open.
pub fn replace_socket(number: impl AsFd, by: OwnedFd) -> io::Result<()> {
    raw::replace_descriptor(number.as_fd(), by)
}

/// Makes a connected socket end for both sides (shutdown(2)). Threads that wait for it wake up, and
/// what it has received can still be read.
///
/// # Errors
///
/// [`io::ErrorKind::NotConnected`] if the socket is not connected.
pub fn shut_down(socket: impl AsFd) -> io::Result<()> {
    Ok(net::shutdown(socket, net::Shutdown::Both)?)
}

/// The result of an attempt to [`accept`].
#[derive(Debug)]
#[must_use]
pub enum Accepted {
    /// A connection, non-blocking and close-on-exec.
    Connection(OwnedFd),
    /// No connection is waiting, or the waiting one was closed.
    NoneWaiting,
    /// A connection is waiting, but this process or the system has no descriptor or memory left.
    /// The listener stays readable, so stop watching it until a descriptor was closed.
    OutOfRoom(io::Error),
}

/// Accepts one waiting connection from `listener`, Unix or TCP (accept4(2)). Set the listener
/// non-blocking, as [`listen_unix`] does, or this blocks.
///
/// # Errors
///
/// Fails only if `listener` is not a listening socket, or a security module forbids accepting;
/// errors caused by a peer or a shortage are in [`Accepted`].
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

/// Returns the transport of a socket from elsewhere.
///
/// # Errors
///
/// `ENOTSOCK` if `socket` is not a socket.
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

/// True if listen(2) was called on `socket`, so that it can [`accept`].
///
/// # Errors
///
/// `ENOTSOCK` if `socket` is not a socket.
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
    /// An Internet socket with this address.
    Internet(SocketAddr),
}

/// Returns the address of `socket`, which the kernel or the service manager may have chosen
/// (getsockname(2)).
///
/// # Errors
///
/// `ENOTSOCK` if `socket` is not a socket; [`io::ErrorKind::Unsupported`] if its family is not in
/// [`LocalAddress`].
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

/// Limits how long a [blocking](crate::transfer::TransferWait::Block) receive waits; `None` means
/// without limit (`SO_RCVTIMEO`, socket(7)).
///
/// # Errors
///
/// [`io::ErrorKind::InvalidInput`] for zero, which the kernel would interpret as "without limit".
pub fn set_receive_timeout(socket: impl AsFd, timeout: Option<Duration>) -> io::Result<()> {
    Ok(sockopt::set_socket_timeout(socket, sockopt::Timeout::Recv, timeout)?)
}

fn unix_socket(flags: SocketFlags) -> rustix::io::Result<OwnedFd> {
    net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
}

fn is_shortage(error: Errno) -> bool {
    matches!(error, Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM)
}

/// True if no connection is waiting, or for an error of the accepted connection: accept(2) lists
/// the errors that TCP passes on.
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

/// The maximum length of the accept queue. The kernel reduces it to `net.core.somaxconn`, whose
/// default is the same number.
const BACKLOG: i32 = 4096;
