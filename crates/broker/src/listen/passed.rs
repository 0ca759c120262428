//! Sockets that the service manager opened and passed to this process: `systemd:`.

use std::error::Error;
use std::fmt;
use std::io;
use std::mem;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixListener;

use sys::socket::{
    LocalAddress, SocketKind, is_listening, local_address, send_at_once, socket_kind,
};
use wire::address::{Transport, UnixTransport};

use super::error::{ListenError, PassedSocketProblem};
use super::{ListenEnvironment, Listener, ListenerEntry, Remains, tcp};

/// Creates a listener for each passed socket that is not used yet, in their order.
pub(super) fn listeners(environment: &mut ListenEnvironment) -> Result<Vec<Listener>, ListenError> {
    let sockets =
        mem::replace(&mut environment.passed, Ok(Vec::new())).map_err(ListenError::Variables)?;
    if sockets.is_empty() {
        return Err(ListenError::NoSocketPassed);
    }
    let adopt = |(index, socket)| {
        adopt(socket).map_err(|problem| ListenError::PassedSocket { index, problem })
    };
    let adopted: Vec<_> = sockets.into_iter().enumerate().map(adopt).collect::<Result<_, _>>()?;
    let listener = |Adopted { socket, kind, transport }| {
        Listener::new(vec![socket], kind, transport, ListenerEntry::Open, Remains::Nothing)
    };
    adopted.into_iter().map(listener).collect()
}

/// Creates a listener for a Unix socket that a program has opened.
pub(crate) fn listener_of_program(socket: OwnedFd) -> Result<Listener, PassedSocketError> {
    let Adopted { socket, kind, transport } = adopt(socket).map_err(PassedSocketError)?;
    if kind != SocketKind::Unix {
        return Err(PassedSocketError(PassedSocketProblem::NotUnix));
    }
    let (entry, remains) = (ListenerEntry::Open, Remains::Nothing);
    Listener::with_new_guid(vec![socket], kind, transport, entry, remains)
        .map_err(|error| PassedSocketError(PassedSocketProblem::failed(error)))
}

/// The socket of a program cannot be the socket of its container.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PassedSocketError(pub(crate) PassedSocketProblem);

impl fmt::Display for PassedSocketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the descriptor of org.diligence.Socket {}", self.0)
    }
}

impl Error for PassedSocketError {}

struct Adopted {
    socket: OwnedFd,
    kind: SocketKind,
    transport: Transport,
}

fn adopt(socket: OwnedFd) -> Result<Adopted, PassedSocketProblem> {
    let kind = socket_kind(&socket).map_err(|_| PassedSocketProblem::NoSocket)?;
    if kind == SocketKind::Other {
        return Err(PassedSocketProblem::NoStream);
    }
    if !is_listening(&socket).map_err(PassedSocketProblem::failed)? {
        return Err(PassedSocketProblem::NotListening);
    }
    let address = local_address(&socket).map_err(PassedSocketProblem::failed)?;
    let transport = transport(address).ok_or(PassedSocketProblem::NoName)?;
    let socket = without_blocking(socket, kind).map_err(PassedSocketProblem::failed)?;
    Ok(Adopted { socket, kind, transport })
}

fn transport(address: LocalAddress) -> Option<Transport> {
    Some(match address {
        LocalAddress::Path(path) => {
            Transport::Unix(UnixTransport::Path(path.as_os_str().as_bytes().to_vec()))
        }
        LocalAddress::Abstract(name) => Transport::Unix(UnixTransport::Abstract(name)),
        LocalAddress::Internet(address) => {
            Transport::Tcp(tcp::reached_by(address.ip().to_string(), address))
        }
        LocalAddress::Unnamed => return None,
    })
}

/// Sets a listening socket non-blocking: the service manager may have changed that.
pub(super) fn without_blocking(socket: OwnedFd, kind: SocketKind) -> io::Result<OwnedFd> {
    if kind == SocketKind::Tcp {
        send_at_once(&socket)?;
        let listener = TcpListener::from(socket);
        listener.set_nonblocking(true)?;
        return Ok(listener.into());
    }
    let listener = UnixListener::from(socket);
    listener.set_nonblocking(true)?;
    Ok(listener.into())
}
