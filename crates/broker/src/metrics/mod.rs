//! The metrics of the bus on a local socket, as OpenMetrics text over HTTP, for monitoring systems.
//!
//! ```sh
//! curl --unix-socket /run/dbus/metrics http://bus/metrics
//! ```
//!
//! The bus serves them between messages and never blocks: a few clients at a time, each for a few
//! seconds. The permissions of the file decide which users may connect; initially only the owner
//! may.

mod document;
mod http;
mod saved;
mod text;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use bus::Bus;
use sys::filesystem::{FileOwner, SocketFile, give_socket, remove_stale_socket};
use sys::poll::Interest;
use sys::socket::{Accepted, accept, listen_unix_for_owner};
use sys::transfer::{TransferWait, receive, send};

use document::document;
use http::{MetricsRequest, MetricsStream};
pub(crate) use saved::{RestoredMetrics, SavedMetrics};

/// The metrics socket, and its connected clients.
#[derive(Debug)]
pub struct Metrics {
    listener: OwnedFd,
    file: SocketFile,
    clients: [Option<MetricsClient>; CLIENTS_MAX],
}

/// A client of the metrics socket.
#[derive(Debug)]
struct MetricsClient {
    socket: OwnedFd,
    exchange: MetricsExchange,
    /// When the connection is closed at the latest.
    due: Duration,
}

/// The state of a request.
#[derive(Debug)]
enum MetricsExchange {
    Asking { request: Vec<u8> },
    Answering { answer: Vec<u8>, sent: usize },
}

/// The listening socket, or the socket of a client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MetricsPlace {
    Listener,
    Client(usize),
}

impl MetricsPlace {
    /// The number of a place in poller tokens.
    pub(crate) const fn number(self) -> u32 {
        match self {
            Self::Listener => 0,
            Self::Client(index) => index as u32 + 1,
        }
    }

    /// The place with this number.
    pub(crate) const fn from_number(number: u32) -> Self {
        match number {
            0 => Self::Listener,
            _ => Self::Client((number - 1) as usize),
        }
    }
}

/// The next action for the socket of a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// Wait for the same events as before.
    Same,
    /// Begin to wait for these events.
    Watch(MetricsPlace, Interest),
    /// Wait for other events from now on.
    Change(Interest),
    /// The socket is closed; there is nothing to wait for.
    Closed,
}

impl Metrics {
    /// Listens at `path` and replaces any existing socket there.
    ///
    /// # Errors
    ///
    /// The errors of creating the socket and its file.
    pub fn listen(path: &Path) -> io::Result<Self> {
        let _ = remove_stale_socket(path)?;
        let listener = listen_unix_for_owner(path)?;
        let file = SocketFile::of(path)?;
        Ok(Self { listener, file, clients: Default::default() })
    }

    /// The path of the socket file.
    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Changes the owner of the file. The new owner may connect, and may remove the file if the
    /// directory allows it.
    pub(crate) fn hand_over(&self, owner: FileOwner) -> io::Result<()> {
        give_socket(self.path(), owner)
    }

    /// The socket of a place, if there is one.
    pub(crate) fn socket(&self, place: MetricsPlace) -> Option<BorrowedFd<'_>> {
        match place {
            MetricsPlace::Listener => Some(self.listener.as_fd()),
            MetricsPlace::Client(index) => Some(self.clients.get(index)?.as_ref()?.socket.as_fd()),
        }
    }

    /// The events that each socket waits for.
    pub(crate) fn interests(&self) -> impl Iterator<Item = (MetricsPlace, Interest)> {
        let clients = self.clients.iter().enumerate().filter_map(|(index, client)| {
            let interest = match client.as_ref()?.exchange {
                MetricsExchange::Asking { .. } => Interest::Read,
                MetricsExchange::Answering { .. } => Interest::Write,
            };
            Some((MetricsPlace::Client(index), interest))
        });
        std::iter::once((MetricsPlace::Listener, Interest::Read)).chain(clients)
    }

    /// When the next client times out.
    pub(crate) fn due(&self) -> Option<Duration> {
        self.clients.iter().flatten().map(|client| client.due).min()
    }

    /// Closes clients that have timed out. Closing a socket also ends its watch.
    pub(crate) fn give_up(&mut self, now: Duration) {
        for client in &mut self.clients {
            if client.as_ref().is_some_and(|client| client.due <= now) {
                *client = None;
            }
        }
    }

    /// Serves a place whose socket is ready, as far as possible without blocking.
    pub(crate) fn serve(
        &mut self,
        place: MetricsPlace,
        bus: &Bus,
        now: Duration,
    ) -> io::Result<Next> {
        match place {
            MetricsPlace::Listener => self.accept(now),
            MetricsPlace::Client(index) => {
                let Some(client) = self.clients.get_mut(index).and_then(Option::as_mut) else {
                    return Ok(Next::Closed);
                };
                let next = client.go_on(bus).unwrap_or(Next::Closed);
                if next == Next::Closed {
                    self.clients[index] = None;
                }
                Ok(next)
            }
        }
    }

    /// Accepts one more client. If all places are in use, it replaces the oldest client.
    fn accept(&mut self, now: Duration) -> io::Result<Next> {
        let Accepted::Connection(socket) = accept(&self.listener)? else { return Ok(Next::Same) };
        let free = self.clients.iter().position(Option::is_none);
        let oldest = || {
            let due = |index: &usize| self.clients[*index].as_ref().map(|client| client.due);
            (0..CLIENTS_MAX).min_by_key(due)
        };
        let index = free.or_else(oldest).unwrap_or_default();
        let exchange = MetricsExchange::Asking { request: Vec::new() };
        self.clients[index] = Some(MetricsClient { socket, exchange, due: now + TIMEOUT });
        Ok(Next::Watch(MetricsPlace::Client(index), Interest::Read))
    }
}

impl MetricsClient {
    fn go_on(&mut self, bus: &Bus) -> io::Result<Next> {
        match &mut self.exchange {
            MetricsExchange::Answering { .. } => self.write(),
            MetricsExchange::Asking { request } => match read_request(&self.socket, request)? {
                MetricsRequest::Incomplete => Ok(Next::Same),
                request => {
                    let answer = request.answer(|| document(bus));
                    self.exchange = MetricsExchange::Answering { answer, sent: 0 };
                    match self.write()? {
                        Next::Same => Ok(Next::Change(Interest::Write)),
                        next => Ok(next),
                    }
                }
            },
        }
    }

    /// Writes as much of the response as the socket accepts.
    fn write(&mut self) -> io::Result<Next> {
        let MetricsExchange::Answering { answer, sent } = &mut self.exchange else {
            return Ok(Next::Same);
        };
        let rest = [io::IoSlice::new(&answer[*sent..])];
        match send(&self.socket, &rest, &[], TransferWait::Never) {
            Ok(count) => *sent += count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Next::Same),
            Err(error) => return Err(error),
        }
        Ok(if *sent == answer.len() { Next::Closed } else { Next::Same })
    }
}

/// Reads once, and parses everything received so far.
fn read_request(socket: &OwnedFd, so_far: &mut Vec<u8>) -> io::Result<MetricsRequest> {
    let mut chunk = [0; 4096];
    let received = match receive(socket, &mut chunk, &mut Vec::new(), TransferWait::Never) {
        // The event was for an earlier client in this place.
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            return Ok(MetricsRequest::Incomplete);
        }
        received => received?,
    };
    so_far.extend_from_slice(&chunk[..received.bytes]);
    let stream = if received.bytes == 0 { MetricsStream::Ended } else { MetricsStream::Open };
    Ok(MetricsRequest::parse(so_far, stream))
}

/// The maximum number of clients at a time.
pub(crate) const CLIENTS_MAX: usize = 4;

/// The time limit for a client.
const TIMEOUT: Duration = Duration::from_secs(5);
