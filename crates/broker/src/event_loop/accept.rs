//! New connections.

use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use bus::{Asker, Credentials, Details, Input, PeerId, PidFd};
use sys::poll::Interest;
use sys::socket::{Accepted, SocketKind};
use wire::sasl::server::{FdSupport, PeerIdentity};
use wire::sasl::{Server, ServerConfig};

use super::listening::Listening;
use super::{EventLoop, Source};
use crate::connection::Connection;
use crate::log::Severity;
use crate::login::Login;
use crate::os_error::OsError;

impl EventLoop {
    /// Takes one connection, if there is room for more. If others wait, the next turn says so, and
    /// one that comes alone costs no look for a second.
    pub(super) fn accept(&mut self, index: usize, socket: usize) -> io::Result<()> {
        if self.listening != Listening::Watched || !self.bus.is_accepting() {
            return Ok(());
        }
        match sys::socket::accept(&self.listeners[index].sockets[socket])? {
            Accepted::Connection(socket) => {
                self.note_accepted(&socket)?;
                self.connected(index, socket);
                Ok(())
            }
            Accepted::NoneWaiting => Ok(()),
            Accepted::OutOfRoom(error) => self.out_of_room(&OsError::from(error)),
        }
    }

    fn connected(&mut self, index: usize, socket: OwnedFd) {
        let listener = &self.listeners[index];
        let known = match listener.kind {
            SocketKind::Unix => match sys::credentials::peer_ids(&socket) {
                Ok(known) => Some(known),
                Err(error) => {
                    let line = format!("Cannot tell who has connected, so refuse it: {error}");
                    self.log.write(Severity::Warning, line);
                    return;
                }
            },
            SocketKind::Tcp | SocketKind::Other => None,
        };
        let peer = self.table.next_id();
        let server = Server::new(ServerConfig {
            guid: listener.guid,
            mechanisms: self.config.mechanisms(),
            peer: PeerIdentity { uid: known.as_ref().map(|known| known.uid) },
            fds: match listener.kind {
                SocketKind::Unix => FdSupport::Available,
                SocketKind::Tcp | SocketKind::Other => FdSupport::Unavailable,
            },
            cookie_context: Default::default(),
        });
        let login = Login::new(listener.entry, server);
        if let Err(error) = self.poller.add(&socket, Source::Peer(peer).token(), Interest::Read) {
            let line = format!("Cannot watch a new connection, so refuse it: {error}");
            self.log.write(Severity::Warning, line);
            return;
        }
        self.table.insert(Connection::new(peer, socket, login));
        let credentials = known.map(|known| Credentials { pid: known.pid, uid: Some(known.uid) });
        self.handle(Input::Connected { peer, credentials: credentials.unwrap_or_default() });
    }

    /// Asks the kernel for all about the process behind a connection. What it cannot tell, or not
    /// any longer, is left out.
    pub(super) fn identify(&mut self, peer: PeerId, asker: Asker) {
        let Some(connection) = self.table.get_mut(peer) else { return };
        let mut details = Details::default();
        // Of who comes over a network it knows nothing.
        if let Ok(known) = sys::credentials::peer_credentials(&connection.socket) {
            details.groups = known.groups.map(Into::into);
            details.security_label = known.security_label.map(Into::into);
            connection.pidfd = known.pidfd.map(|pidfd| Rc::from([pidfd]));
            if connection.pidfd.is_some() {
                details.pidfd = PidFd::Held;
            }
        }
        self.handle(Input::Identified { peer, details, asker });
        // Whoever asked has it in the queue.
        if let Some(connection) = self.table.get_mut(peer) {
            connection.pidfd = None;
        }
    }
}
