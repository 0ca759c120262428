//! Listening on a network: `tcp:` and `nonce-tcp:`.
//!
//! A host can have several addresses; `localhost` usually has two. The bus then opens a socket for
//! each address, all with the same port, and clients get one of the addresses.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::num::NonZeroU16;
use std::os::fd::OwnedFd;

use sys::socket::{Ipv6Scope, LocalAddress, listen_tcp, local_address};
use wire::address::{HostFamily, TcpAddress};

use super::ListenError;

/// Listening sockets, and the address for clients.
pub(super) struct Bound {
    pub(super) sockets: Vec<OwnedFd>,
    pub(super) address: TcpAddress,
}

/// Listens at every address of the host that can be bound.
pub(super) fn listen_at(wanted: &TcpAddress) -> Result<Bound, ListenError> {
    let mut place = TcpPlace::default();
    for address in addresses(wanted)? {
        place.listen_at(address);
    }
    place.bound(wanted)
}

/// The address by which clients on `host` reach a socket that listens at `address`.
pub(super) fn reached_by(host: String, address: SocketAddr) -> TcpAddress {
    TcpAddress {
        host: Some(host),
        bind: None,
        port: NonZeroU16::new(address.port()),
        family: Some(family(&address)),
    }
}

/// The sockets that were bound so far.
#[derive(Default)]
struct TcpPlace {
    sockets: Vec<OwnedFd>,
    /// The address of the first bound socket.
    first: Option<SocketAddr>,
    /// The error of the first address that could not be bound.
    error: Option<ListenError>,
}

impl TcpPlace {
    /// Listens at one more address, with the port of the first. A failure does not matter if
    /// another address works: a host may have an address of a disabled protocol.
    fn listen_at(&mut self, mut address: SocketAddr) {
        if let Some(first) = self.first {
            address.set_port(first.port());
        }
        let scope = match self.first {
            Some(SocketAddr::V4(_)) => Ipv6Scope::Only,
            _ => Ipv6Scope::AsSystem,
        };
        let socket = listen_tcp(address, scope).and_then(|socket| {
            let place = local_address(&socket)?;
            Ok((socket, place))
        });
        match socket {
            Ok((socket, LocalAddress::Internet(place))) => {
                self.first.get_or_insert(place);
                self.sockets.push(socket);
            }
            Ok(_) => unreachable!("it was bound to an address of the Internet"),
            Err(error) => {
                self.error.get_or_insert(ListenError::BindTcp { address, error: error.into() });
            }
        }
    }

    fn bound(self, wanted: &TcpAddress) -> Result<Bound, ListenError> {
        let host = wanted.host_or_default().to_owned();
        match (self.first, self.error) {
            (Some(first), _) => {
                Ok(Bound { sockets: self.sockets, address: reached_by(host, first) })
            }
            (None, Some(error)) => Err(error),
            (None, None) => Err(ListenError::NoAddress { host, port: port(wanted) }),
        }
    }
}

/// The addresses to listen at, in the order of the system's resolver.
fn addresses(wanted: &TcpAddress) -> Result<Vec<SocketAddr>, ListenError> {
    let port = port(wanted);
    let mut found = match wanted.bind.as_deref().unwrap_or_else(|| wanted.host_or_default()) {
        EVERYWHERE => EVERY_ADDRESS.map(|address| SocketAddr::new(address, port)).into(),
        host => look_up(host, port)?,
    };
    found.retain(|address| wanted.family.is_none_or(|wanted| wanted == family(address)));
    Ok(found)
}

fn look_up(host: &str, port: u16) -> Result<Vec<SocketAddr>, ListenError> {
    let failed = |error: io::Error| {
        let text = error.to_string();
        let reason = text.rsplit_once(": ").map_or(&*text, |(_, reason)| reason).to_owned();
        ListenError::LookUp { host: host.to_owned(), port, reason }
    };
    Ok((host, port).to_socket_addrs().map_err(failed)?.collect())
}

/// The port to listen at; 0 lets the kernel choose one.
fn port(wanted: &TcpAddress) -> u16 {
    wanted.port.map_or(0, NonZeroU16::get)
}

const fn family(address: &SocketAddr) -> HostFamily {
    match address {
        SocketAddr::V4(_) => HostFamily::V4,
        SocketAddr::V6(_) => HostFamily::V6,
    }
}

/// The host name that stands for all addresses of this machine.
const EVERYWHERE: &str = "*";

const EVERY_ADDRESS: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::UNSPECIFIED)];
