//! Sockets that the service manager made and passed to this process: `systemd:`.

use std::io;
use std::mem;
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroU16;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixListener;

use sys::socket::{LocalAddress, SocketKind, is_listening, local_address, socket_kind};
use wire::address::{Family, TcpAddress, Transport, UnixAddress};

use super::error::{ListenError, PassedSocketProblem};
use super::{Environment, Listener};

/// A listener for each socket that was passed and not used yet, in their order.
pub(super) fn listeners(environment: &mut Environment) -> Result<Vec<Listener>, ListenError> {
    let sockets =
        mem::replace(&mut environment.passed, Ok(Vec::new())).map_err(ListenError::Variables)?;
    if sockets.is_empty() {
        return Err(ListenError::NoSocketPassed);
    }
    let adopt = |(index, socket)| {
        adopt(socket).map_err(|problem| ListenError::PassedSocket { index, problem })
    };
    let adopted: Vec<_> = sockets.into_iter().enumerate().map(adopt).collect::<Result<_, _>>()?;
    adopted.into_iter().map(|it| Listener::new(it.socket, it.kind, it.transport, None)).collect()
}

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
            Transport::Unix(UnixAddress::Path(path.as_os_str().as_bytes().to_vec()))
        }
        LocalAddress::Abstract(name) => Transport::Unix(UnixAddress::Abstract(name)),
        LocalAddress::Internet(address) => Transport::Tcp(tcp_address(address)),
        LocalAddress::Unnamed => return None,
    })
}

fn tcp_address(address: SocketAddr) -> TcpAddress {
    TcpAddress {
        host: Some(address.ip().to_string()),
        bind: None,
        port: NonZeroU16::new(address.port()),
        family: Some(if address.is_ipv4() { Family::V4 } else { Family::V6 }),
    }
}

fn without_blocking(socket: OwnedFd, kind: SocketKind) -> io::Result<OwnedFd> {
    if kind == SocketKind::Tcp {
        let listener = TcpListener::from(socket);
        listener.set_nonblocking(true)?;
        return Ok(listener.into());
    }
    let listener = UnixListener::from(socket);
    listener.set_nonblocking(true)?;
    Ok(listener.into())
}
