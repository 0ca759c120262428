//! The minimal carrier: a process that only reads and writes.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::io::retry_on_intr;
use rustix::net::{self, RecvFlags, SendFlags};
use serde::{Deserialize, Serialize};
use sys::poll::{Events, Interest, Poller};
use sys::socket::{Accepted, UnixAddress, accept, listen_unix};

use super::{Control, WorkloadRole};
use crate::raw::{HUB, RawConnection, RawError};

/// Forwards bytes from the hub to all spokes, and bytes from a spoke to the hub, without parsing
/// them. Every bus does at least this work, so no bus is faster.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Forwarder {
    /// The socket file where the peers connect.
    pub(crate) path: PathBuf,
    /// The number of bytes that it reads at once.
    pub(crate) read_buffer: usize,
}

impl WorkloadRole for Forwarder {
    const NAME: &str = "forwarder";

    type Report = ();

    fn play(self, control: &mut Control) -> Result<(), RawError> {
        let listener = listen_unix(UnixAddress::Path(&self.path)).map_err(RawError::system)?;
        let poller = Poller::new().map_err(RawError::system)?;
        poller.add(&listener, LISTENER, Interest::Read).map_err(RawError::system)?;
        let mut switchboard = Forwarding { poller, listener, connections: Vec::new(), hub: None };
        control.ready("")?;
        let mut events = Events::with_capacity(64);
        let mut buffer = vec![0; self.read_buffer];
        loop {
            switchboard.poller.wait(&mut events, None).map_err(RawError::system)?;
            for event in events.iter() {
                match event.token() {
                    LISTENER => switchboard.accept()?,
                    token => switchboard.forward(token as usize, &mut buffer)?,
                }
            }
        }
    }
}

struct Forwarding {
    poller: Poller,
    listener: OwnedFd,
    /// Connections by token; `None` if the peer has disconnected.
    connections: Vec<Option<OwnedFd>>,
    hub: Option<usize>,
}

impl Forwarding {
    fn accept(&mut self) -> Result<(), RawError> {
        let Accepted::Connection(socket) = accept(&self.listener).map_err(RawError::system)? else {
            return Ok(());
        };
        let socket = RawConnection::blocking(socket)?.into_socket();
        let mut greeting = [0; 1];
        net::recv(&socket, &mut greeting, RecvFlags::WAITALL).map_err(RawError::system)?;
        let token = self.connections.len();
        if greeting == *HUB {
            self.hub = Some(token);
        }
        self.poller.add(&socket, token as u64, Interest::Read).map_err(RawError::system)?;
        self.connections.push(Some(socket));
        Ok(())
    }

    fn forward(&mut self, from: usize, buffer: &mut [u8]) -> Result<(), RawError> {
        let Some(source) = &self.connections[from] else { return Ok(()) };
        let (_, count) = retry_on_intr(|| net::recv(source, &mut *buffer, RecvFlags::empty()))
            .unwrap_or_default();
        if count == 0 {
            self.connections[from] = None;
            return Ok(());
        }
        let is_hub = self.hub == Some(from);
        for (token, connection) in self.connections.iter().enumerate() {
            let Some(target) = connection else { continue };
            if token != from && (is_hub || self.hub == Some(token)) {
                send_all(target, &buffer[..count])?;
            }
        }
        Ok(())
    }
}

fn send_all(target: &OwnedFd, mut bytes: &[u8]) -> Result<(), RawError> {
    while !bytes.is_empty() {
        let sent = retry_on_intr(|| net::send(target, bytes, SendFlags::NOSIGNAL));
        match sent.map_err(RawError::system) {
            Ok(count) => bytes = &bytes[count..],
            // The peer has disconnected, so its bytes are dropped.
            Err(RawError::Closed) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The token of the listening socket.
const LISTENER: u64 = u64::MAX;
