//! The numbers of the bus on a local socket, as OpenMetrics text over HTTP, for who collects such
//! numbers from many machines.
//!
//! ```sh
//! curl --unix-socket /run/dbus/metrics http://bus/metrics
//! ```
//!
//! It is served between messages and never waited for: a few clients at a time, each with a few
//! seconds. Who may connect is decided by the permissions of the file, which at first are for the
//! owner only.

mod document;
mod http;
mod text;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use bus::Bus;
use sys::filesystem::{FileOwner, give_socket, remove_stale_socket};
use sys::poll::Interest;
use sys::socket::{Accepted, accept, listen_unix_for_owner};
use sys::transfer::{TransferWait, receive, send};

use crate::listen::SocketFile;
use document::document;
use http::{MetricsRequest, MetricsStream};

/// The socket, and who is connected to it.
#[derive(Debug)]
pub struct Metrics {
    listener: OwnedFd,
    file: SocketFile,
    clients: [Option<MetricsClient>; CLIENTS_MAX],
}

/// Who asks for the numbers.
#[derive(Debug)]
struct MetricsClient {
    socket: OwnedFd,
    exchange: MetricsExchange,
    /// When it is given up.
    due: Duration,
}

/// How far it is.
#[derive(Debug)]
enum MetricsExchange {
    Asking { request: Vec<u8> },
    Answering { answer: Vec<u8>, sent: usize },
}

/// The listening socket, or one of those who are connected to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MetricsPlace {
    Listener,
    Client(usize),
}

impl MetricsPlace {
    /// A small number, for the poller.
    pub(crate) const fn number(self) -> u32 {
        match self {
            Self::Listener => 0,
            Self::Client(index) => index as u32 + 1,
        }
    }

    /// The place of a number.
    pub(crate) const fn from_number(number: u32) -> Self {
        match number {
            0 => Self::Listener,
            _ => Self::Client((number - 1) as usize),
        }
    }
}

/// What to do with the socket of a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// Wait for it as before.
    Same,
    /// Begin to wait for this.
    Watch(MetricsPlace, Interest),
    /// Wait for something else from now on.
    Change(Interest),
    /// Nothing; it is closed.
    Closed,
}

impl Metrics {
    /// Listens at `path`, in the place of any socket that is there.
    ///
    /// # Errors
    ///
    /// Those of making the socket and its file.
    pub fn listen(path: &Path) -> io::Result<Self> {
        let _ = remove_stale_socket(path)?;
        let listener = listen_unix_for_owner(path)?;
        let file = SocketFile::of(path)?;
        Ok(Self { listener, file, clients: Default::default() })
    }

    /// Where its file is.
    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Makes the file somebody else's: who may connect, and, where the folder lets him, remove it.
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

    /// When somebody is to be given up.
    pub(crate) fn due(&self) -> Option<Duration> {
        self.clients.iter().flatten().map(|client| client.due).min()
    }

    /// Gives up who has taken too long. Closing ends the watch.
    pub(crate) fn give_up(&mut self, now: Duration) {
        for client in &mut self.clients {
            if client.as_ref().is_some_and(|client| client.due <= now) {
                *client = None;
            }
        }
    }

    /// Does what can be done at a place whose socket is ready.
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

    /// Takes one more client, in the place of the one that came first if there is no other.
    fn accept(&mut self, now: Duration) -> io::Result<Next> {
        let Accepted::Connection(socket) = accept(&self.listener)? else { return Ok(Next::Same) };
        let free = self.clients.iter().position(Option::is_none);
        let oldest = || {
            let due = |index: &usize| self.clients[*index].as_ref().map(|client| client.due);
            (0..CLIENTS_MAX).min_by_key(due)
        };
        let index = free.or_else(oldest).unwrap_or_default();
        let exchange = MetricsExchange::Asking { request: Vec::new() };
        self.clients[index] = Some(MetricsClient { socket, exchange, due: now + PATIENCE });
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

    /// Writes as much of the answer as the socket takes.
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

/// Reads once, and says what is asked for by all that has come so far.
fn read_request(socket: &OwnedFd, so_far: &mut Vec<u8>) -> io::Result<MetricsRequest> {
    let mut chunk = [0; 4096];
    let received = match receive(socket, &mut chunk, &mut Vec::new(), TransferWait::Never) {
        // The event was for another client, who had this place.
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            return Ok(MetricsRequest::Incomplete);
        }
        received => received?,
    };
    so_far.extend_from_slice(&chunk[..received.bytes]);
    let stream = if received.bytes == 0 { MetricsStream::Ended } else { MetricsStream::Open };
    Ok(MetricsRequest::parse(so_far, stream))
}

/// Clients at a time.
pub(crate) const CLIENTS_MAX: usize = 4;

/// How long a client may take.
const PATIENCE: Duration = Duration::from_secs(5);
