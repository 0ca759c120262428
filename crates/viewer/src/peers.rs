//! Which connections are answered.
//!
//! Every user of the machine can connect to the loopback address. A connection is only answered if the
//! kernel says that the socket at its other end belongs to the user of this program or to root, who can
//! read this process's memory anyway (and who relays connections, for example into WSL). If the kernel does
//! not know the socket, the connection is closed.

use std::io;
use std::net::SocketAddr;

use axum::serve::Listener;
use sys::privileges::effective_user;
use tokio::net::{TcpListener, TcpStream};

/// Accepts connections of this user.
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
                // If the answer does not reach the peer, it sees that the connection was closed.
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
    This page is only for the user who started it, and the kernel does not say that this connection\n\
    is from a program of that user.\n";
