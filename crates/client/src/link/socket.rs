//! The socket of a connection: one system call to send, one to wait and receive.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Child;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use unix::poll::{Events, Interest, Poller, wait_for_data};
use unix::socket::{replace_socket, set_receive_timeout, shut_down, socket_pair};
use unix::transfer::{self, DescriptorDelivery, TransferWait};
use wire::framer::Space;

use super::timeout::AtomicTimeout;
use crate::core::{Ended, SystemError, Transmit};

/// A connected stream socket, in blocking mode.
pub(crate) struct BusSocket {
    descriptor: OwnedFd,
    /// The receive timeout that is set on the socket (`SO_RCVTIMEO`). Only the reader uses it.
    armed: AtomicTimeout,
    /// The program at the other end, if this process started it. It is dropped after the
    /// descriptor.
    program: Mutex<Option<ConnectedProgram>>,
}

/// A program that is killed when the connection to it is dropped.
pub(crate) struct ConnectedProgram(pub(crate) Child);

impl Drop for ConnectedProgram {
    fn drop(&mut self) {
        // It may have exited already; other errors cannot be handled here.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A socket that is connected to nothing that sends.
pub(crate) struct IdleSocket {
    here: OwnedFd,
    /// While it is open, the other end is not at its end.
    _there: OwnedFd,
}

impl IdleSocket {
    pub(crate) fn new() -> io::Result<Self> {
        let (here, there) = socket_pair()?;
        Ok(Self { here, _there: there })
    }
}

/// The result of one receive call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SocketReadOutcome {
    /// Number of received bytes, at least 1.
    Bytes(usize),
    /// No bytes arrived within the timeout, or slightly less.
    Nothing,
}

/// The reason why a wait for room ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WaitStatus {
    Ready,
    TimedOut,
}

/// The result of one send call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SendOutcome {
    /// Number of bytes that the socket accepted.
    Bytes(usize),
    /// The socket's buffer is full.
    Full,
}

/// The events that a wait for room can end with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WaitInterest {
    Writable,
    WritableOrReadable,
}

impl BusSocket {
    pub(crate) fn new(descriptor: OwnedFd, program: Option<ConnectedProgram>) -> Self {
        let program = Mutex::new(program);
        Self { descriptor, armed: AtomicTimeout::new(None), program }
    }

    /// Continues with another socket, by the same number of the descriptor.
    pub(crate) fn replace(&self, other: Self) -> io::Result<()> {
        let Self { descriptor, armed, program } = other;
        replace_socket(&self.descriptor, descriptor)?;
        self.armed.store(armed.load());
        let program = program.into_inner().unwrap_or_else(PoisonError::into_inner);
        *self.program.lock().unwrap_or_else(PoisonError::into_inner) = program;
        Ok(())
    }

    /// Disconnects, and never becomes readable, until the socket is [replaced](Self::replace).
    pub(crate) fn rest(&self, idle: &IdleSocket) -> io::Result<()> {
        replace_socket(&self.descriptor, idle.here.try_clone()?)
    }

    /// Receives once. While there are no bytes, waits for at most `timeout`, or forever if it is
    /// `None`.
    pub(crate) fn receive(
        &self,
        space: Space<'_>,
        descriptors: &mut Vec<OwnedFd>,
        timeout: Option<Duration>,
    ) -> Result<SocketReadOutcome, Ended> {
        let wait = self.begin_wait(timeout)?;
        let received = match space {
            Space::Scratch(space) => transfer::receive(&self.descriptor, space, descriptors, wait),
            Space::Large { buffer, room } => {
                transfer::receive_more(&self.descriptor, buffer, room, descriptors, wait)
            }
        };
        match received {
            Ok(received) if received.descriptors == DescriptorDelivery::Truncated => {
                Err(Ended::DescriptorsLost)
            }
            Ok(received) if received.bytes == 0 => Err(Ended::Closed),
            Ok(received) => Ok(SocketReadOutcome::Bytes(received.bytes)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                Ok(SocketReadOutcome::Nothing)
            }
            Err(error) => Err(ended_by(error)),
        }
    }

    /// Sends once, without waiting.
    pub(crate) fn send(&self, transmit: &Transmit<'_, OwnedFd>) -> Result<SendOutcome, Ended> {
        let descriptors: Vec<BorrowedFd<'_>> =
            transmit.descriptors.iter().map(AsFd::as_fd).collect();
        let slices = [IoSlice::new(transmit.bytes)];
        match transfer::send(&self.descriptor, &slices, &descriptors, TransferWait::Never) {
            Ok(count) => Ok(SendOutcome::Bytes(count)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(SendOutcome::Full),
            Err(error) => Err(ended_by(error)),
        }
    }

    /// Makes the socket end for both sides. What was received before can still be read.
    pub(crate) fn shut_down(&self) {
        // It fails only if the socket was never connected, or is at its end.
        let _ = shut_down(&self.descriptor);
    }

    /// Waits until the socket is writable, or one of the other descriptors is readable. This is
    /// rare, so a poller is created each time.
    pub(crate) fn wait_for(
        &self,
        interest: WaitInterest,
        others: &[BorrowedFd<'_>],
        timeout: Option<Duration>,
    ) -> Result<WaitStatus, Ended> {
        let interest = match interest {
            WaitInterest::Writable => Interest::Write,
            WaitInterest::WritableOrReadable => Interest::ReadWrite,
        };
        let mut events = Events::with_capacity(1);
        let mut wait = || {
            let poller = Poller::new()?;
            poller.add(&self.descriptor, 0, interest)?;
            others.iter().try_for_each(|other| poller.add(other, 0, Interest::Read))?;
            poller.wait(&mut events, timeout)
        };
        wait().map_err(ended_by)?;
        Ok(if events.is_empty() { WaitStatus::TimedOut } else { WaitStatus::Ready })
    }

    /// Waits until bytes can be received, for at most `timeout`, if that has to be exact. Otherwise
    /// sets the receive timeout of the socket, unless the current one suffices: a program that
    /// makes one call after the other sets it once.
    fn begin_wait(&self, timeout: Option<Duration>) -> Result<TransferWait, Ended> {
        match timeout {
            Some(Duration::ZERO) => return Ok(TransferWait::Never),
            Some(short) if short < SOCKET_TIMEOUT_MIN => {
                wait_for_data([self.as_fd()], timeout).map_err(ended_by)?;
                return Ok(TransferWait::Never);
            }
            _ => {}
        }
        if !timeout_suffices(self.armed.load(), timeout) {
            let early = timeout.map(|timeout| timeout - timeout / 8);
            set_receive_timeout(&self.descriptor, early).map_err(ended_by)?;
            self.armed.store(early);
        }
        Ok(TransferWait::Block)
    }
}

impl AsFd for BusSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// True if the current timeout `armed` suffices for `requested`. The kernel wakes up to an eighth
/// later than the timeout says, which must not be too late; an early wake-up costs only another
/// wait, unless that happens often.
fn timeout_suffices(armed: Option<Duration>, requested: Option<Duration>) -> bool {
    match (armed, requested) {
        (None, None) => true,
        (None, Some(_)) => false,
        (Some(armed), None) => armed >= WAKEUP_INTERVAL_MIN,
        (Some(armed), Some(requested)) => {
            armed + armed / 8 <= requested
                && (armed >= WAKEUP_INTERVAL_MIN || armed >= requested / 2)
        }
    }
}

/// Maps the two errors of a closed socket to [`Ended::Closed`].
fn ended_by(error: io::Error) -> Ended {
    match error.kind() {
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => Ended::Closed,
        _ => Ended::System(SystemError::from(error)),
    }
}

/// The shortest timeout that the socket is given. The timer of the kernel is up to 8 ms and an eighth
/// late, so that shorter waits are done in another way.
const SOCKET_TIMEOUT_MIN: Duration = Duration::from_millis(500);

/// The shortest timeout that is acceptable although it expires before the requested one.
const WAKEUP_INTERVAL_MIN: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn socket_timeouts_are_set_only_if_they_differ_much() {
        let ms = |number| Some(Duration::from_millis(number));
        for (armed, requested, expected) in [
            (None, None, true),
            (None, ms(1), false),
            (ms(25_000), None, true),
            (ms(100), None, false),
            (ms(25_000), ms(24_999), false),
            (ms(21_875), ms(24_999), true),
            (ms(21_875), ms(24_000), false),
            (ms(2_000), ms(25_000), true),
            (ms(500), ms(25_000), false),
            (ms(500), ms(600), true),
            (ms(500), ms(1_000), true),
            (ms(500), ms(560), false),
        ] {
            assert_eq!(timeout_suffices(armed, requested), expected, "{armed:?} for {requested:?}");
        }
    }
}
