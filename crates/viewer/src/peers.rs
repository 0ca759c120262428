//! Rejection of connections of other users.
//!
//! Every user of the machine can connect to the loopback address. The server accepts a connection
//! only if the kernel reports that its other end belongs to the user of this program or to root.
//! Root can read this process's memory anyway, and relays connections, for example into WSL. If the
//! kernel does not know the socket, the connection is closed.

use std::io;
use std::net::SocketAddr;

use axum::serve::Listener;
use sys::privileges::effective_user;
use tokio::net::{TcpListener, TcpStream};

/// A listener that accepts only connections of this user and of root.
#[derive(Debug)]
pub(crate) struct OwnConnections {
    listener: TcpListener,
    uid: u32,
}

impl OwnConnections {
    pub(crate) fn new(listener: TcpListener) -> Self {
        Self { listener, uid: effective_user() }
    }

    fn accepts(&self, stream: &TcpStream) -> io::Result<bool> {
        let uid = sys::loopback::peer_uid(stream.local_addr()?, stream.peer_addr()?)?;
        Ok(uid.is_some_and(|uid| uid == self.uid || uid == ROOT))
    }
}

impl Listener for OwnConnections {
    type Io = TcpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        loop {
            let (stream, peer) = Listener::accept(&mut self.listener).await;
            match self.accepts(&stream) {
                Ok(true) => return (stream, peer),
                // If the response cannot be sent, the peer still sees that the connection was
                // closed.
                Ok(false) | Err(_) => drop(stream.try_write(REJECTED)),
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

const ROOT: u32 = 0;

const REJECTED: &[u8] = b"HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\n\
    Connection: close\r\n\r\n\
    Only the user who started this page can open it. The kernel does not report that this connection\n\
    belongs to a process of that user.\n";
