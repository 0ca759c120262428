//! Listening in a task for other programs that connect without a bus.

use std::future::poll_fn;
use std::io;
use std::os::fd::AsFd;

use wire::address::Address;

use super::runtime::{Reactor, Runtime};
use crate::connect::{self, BindError, IncomingPeer, ListenOptions};

/// A socket at which other programs connect to this one, without a bus.
pub struct PeerListener {
    /// It is dropped before the socket.
    reactor: Box<dyn Reactor>,
    inner: connect::PeerListener,
}

impl PeerListener {
    /// Listens at an address; see [`PeerListener::bind`](crate::PeerListener::bind).
    ///
    /// # Errors
    ///
    /// If the address is malformed or of another kind, or if the system cannot listen there.
    pub fn bind(
        address: &str,
        options: ListenOptions,
        runtime: &impl Runtime,
    ) -> Result<Self, BindError> {
        let inner = connect::PeerListener::bind(address, options)?;
        Ok(Self { reactor: runtime.watch(inner.as_fd())?, inner })
    }

    /// The address for programs that connect, with the GUID of this listener.
    pub const fn address(&self) -> &Address {
        self.inner.address()
    }

    /// Waits until a program connects. [`Connection::accept_peer`](super::Connection::accept_peer)
    /// authenticates it.
    ///
    /// # Errors
    ///
    /// If this process or the system has no descriptors or memory left.
    pub async fn accept(&self) -> io::Result<IncomingPeer> {
        let mut accepted = None;
        poll_fn(|context| {
            let mut accept = || {
                accepted = self.inner.accept_now()?;
                accepted.as_ref().map(drop).ok_or_else(|| io::ErrorKind::WouldBlock.into())
            };
            self.reactor.poll_read(context, &mut accept)
        })
        .await?;
        Ok(accepted.expect("the last attempt has succeeded"))
    }
}
