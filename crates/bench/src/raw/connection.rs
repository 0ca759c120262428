//! The connection of the raw client: a socket and one buffer.

use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::io::retry_on_intr;
use rustix::net::{self, RecvFlags, SendFlags, sockopt};
use serde::{Deserialize, Serialize};
use wire::message::FixedHeader;

use super::RawError;

/// A connection that transfers whole messages and counts its system calls.
#[derive(Debug)]
pub(crate) struct RawConnection {
    socket: OwnedFd,
    buffer: Vec<u8>,
    /// The received part of the buffer that was not consumed yet.
    unread: Range<usize>,
    read_at_most: usize,
    traffic: SocketCalls,
    /// The serial of the last call of the bus, 0 before the first.
    pub(super) last_serial: u32,
}

/// The number of bytes that a peer reads at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ReadBuffer {
    /// As many bytes as are available, or the rest of the message, up to the size of the buffer.
    #[default]
    Ours,
    Bytes(usize),
}

/// The number of system calls that transferred data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SocketCalls {
    pub sends: u64,
    pub receives: u64,
}

impl RawConnection {
    /// Creates a connection from a blocking socket that has not transferred any data yet.
    pub(super) fn new(socket: OwnedFd) -> Self {
        let buffer = vec![0; FIRST_BUFFER_LEN];
        let traffic = SocketCalls::default();
        let read_at_most = usize::MAX;
        Self { socket, buffer, unread: 0..0, read_at_most, traffic, last_serial: 0 }
    }

    /// Creates a connection from a socket created elsewhere, and sets it to blocking mode.
    pub(crate) fn blocking(socket: OwnedFd) -> Result<Self, RawError> {
        rustix::io::ioctl_fionbio(&socket, false).map_err(RawError::system)?;
        Ok(Self::new(socket))
    }

    pub(crate) fn into_socket(self) -> OwnedFd {
        self.socket
    }

    /// Sets the number of bytes that are read at once.
    pub(crate) fn set_read_buffer(&mut self, size: ReadBuffer) {
        self.read_at_most = match size {
            ReadBuffer::Ours => usize::MAX,
            ReadBuffer::Bytes(bytes) => bytes.max(1),
        };
    }

    /// Sets the time after which reads and writes fail with [`RawError::Silence`].
    pub(crate) fn set_timeout(&self, timeout: Duration) -> Result<(), RawError> {
        for direction in [sockopt::Timeout::Recv, sockopt::Timeout::Send] {
            sockopt::set_socket_timeout(&self.socket, direction, Some(timeout))
                .map_err(RawError::system)?;
        }
        Ok(())
    }

    /// The serial after which the serials of a workload continue: xdg-dbus-proxy before version
    /// 0.1.6 closes connections whose serials do not grow.
    pub(crate) const fn last_serial(&self) -> u32 {
        self.last_serial
    }

    pub(crate) const fn traffic(&self) -> SocketCalls {
        self.traffic
    }

    /// Sends all of `bytes`; waits while the socket is full.
    pub(crate) fn send(&mut self, mut bytes: &[u8]) -> Result<(), RawError> {
        while !bytes.is_empty() {
            self.traffic.sends += 1;
            let sent = retry_on_intr(|| net::send(&self.socket, bytes, SendFlags::NOSIGNAL));
            bytes = &bytes[sent.map_err(RawError::system)?..];
        }
        Ok(())
    }

    /// Receives the next whole message; waits for it.
    pub(crate) fn receive(&mut self) -> Result<&mut [u8], RawError> {
        loop {
            if let Some(range) = self.take_message()? {
                return Ok(&mut self.buffer[range]);
            }
            self.fill()?;
        }
    }

    /// Returns the next whole message, if it has arrived already.
    pub(crate) fn received(&mut self) -> Result<Option<&mut [u8]>, RawError> {
        Ok(self.take_message()?.map(|range| &mut self.buffer[range]))
    }

    /// Receives a line of the handshake, without CR LF at its end.
    pub(super) fn receive_line(&mut self) -> Result<String, RawError> {
        loop {
            let bytes = &self.buffer[self.unread.clone()];
            if let Some(end) = bytes.windows(2).position(|pair| pair == b"\r\n") {
                let line = String::from_utf8_lossy(&bytes[..end]).into_owned();
                self.unread.start += end + 2;
                return Ok(line);
            }
            self.fill()?;
        }
    }

    fn take_message(&mut self) -> Result<Option<Range<usize>>, RawError> {
        let Range { start, end } = self.unread;
        let Some(header) = self.buffer[start..end].first_chunk() else { return Ok(None) };
        let len = FixedHeader::parse(header)?.message_len();
        if end - start < len {
            self.make_room(len);
            return Ok(None);
        }
        self.unread.start += len;
        Ok(Some(start..start + len))
    }

    /// Ensures that a message of `len` bytes fits at `unread.start`.
    fn make_room(&mut self, len: usize) {
        if self.unread.start + len > self.buffer.len() {
            self.buffer.copy_within(self.unread.clone(), 0);
            self.unread = 0..self.unread.len();
            if len > self.buffer.len() {
                self.buffer.resize(len, 0);
            }
        }
    }

    fn fill(&mut self) -> Result<(), RawError> {
        if self.unread.is_empty() {
            self.unread = 0..0;
        } else if self.unread.end == self.buffer.len() {
            self.buffer.copy_within(self.unread.clone(), 0);
            self.unread = 0..self.unread.len();
        }
        let room = (self.buffer.len() - self.unread.end).min(self.read_at_most);
        let space = &mut self.buffer[self.unread.end..][..room];
        self.traffic.receives += 1;
        let received = retry_on_intr(|| net::recv(&self.socket, &mut *space, RecvFlags::empty()));
        match received.map_err(RawError::system)? {
            (_, 0) => Err(RawError::Closed),
            (_, count) => {
                self.unread.end += count;
                if self.unread.end == self.buffer.len() && self.buffer.len() < BUFFER_LEN {
                    self.buffer.resize(BUFFER_LEN, 0);
                }
                Ok(())
            }
        }
    }
}

impl SocketCalls {
    pub(crate) const fn since(self, earlier: Self) -> Self {
        Self { sends: self.sends - earlier.sends, receives: self.receives - earlier.receives }
    }
}

impl From<RawError> for io::Error {
    fn from(error: RawError) -> Self {
        match error {
            RawError::Socket(error) => error,
            other => Self::other(other),
        }
    }
}

/// Size of the buffer in bytes after the first large read, until a message is larger.
const BUFFER_LEN: usize = 256 * 1024;

/// Initial size of the buffer in bytes.
const FIRST_BUFFER_LEN: usize = 1024;
