//! The socket of a connection: one system call to send, one to wait and receive.

use std::cell::Cell;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Child;
use std::time::Duration;

use sys::poll::{Events, Interest, Poller};
use sys::socket::set_receive_timeout;
use sys::transfer::{self, DescriptorDelivery, TransferWait};
use wire::framer::Space;

use crate::core::{Ended, SystemError, Transmit};

/// A connected stream socket, in blocking mode.
pub(super) struct BusSocket {
    descriptor: OwnedFd,
    /// The receive timeout that the socket has now.
    armed: Cell<Option<Duration>>,
    /// The program at the other end, if this process started it. It goes after the descriptor.
    _program: Option<ConnectedProgram>,
}

/// A program that lives as long as the connection to it.
pub(super) struct ConnectedProgram(pub(super) Child);

impl Drop for ConnectedProgram {
    fn drop(&mut self) {
        // It may be gone already, and if it is not there is nothing more to be done about it.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What an attempt to receive brought.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ReceiveOutcome {
    /// So many bytes.
    Bytes(usize),
    /// Nothing, in all the time that was given, or a little less.
    Nothing,
}

/// What an attempt to send came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SendOutcome {
    /// So many bytes are gone.
    Bytes(usize),
    /// The other side has not read enough.
    Full,
}

/// What is waited for besides room to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WaitInterest {
    Writable,
    WritableOrReadable,
}

/// What ended waiting for room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WaitStatus {
    Ready,
    TimedOut,
}

impl BusSocket {
    pub(super) const fn new(descriptor: OwnedFd, program: Option<ConnectedProgram>) -> Self {
        Self { descriptor, armed: Cell::new(None), _program: program }
    }

    /// Receives once; waits for at most `timeout`, or for ever, while there is nothing.
    pub(super) fn receive(
        &self,
        space: Space<'_>,
        descriptors: &mut Vec<OwnedFd>,
        timeout: Option<Duration>,
    ) -> Result<ReceiveOutcome, Ended> {
        let wait = self.set_timeout(timeout)?;
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
            Ok(received) => Ok(ReceiveOutcome::Bytes(received.bytes)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(ReceiveOutcome::Nothing),
            Err(error) => Err(ended_by(error)),
        }
    }

    /// Sends once, without waiting.
    pub(super) fn send(&self, transmit: &Transmit<'_, OwnedFd>) -> Result<SendOutcome, Ended> {
        let descriptors: Vec<BorrowedFd<'_>> =
            transmit.descriptors.iter().map(AsFd::as_fd).collect();
        let slices = [IoSlice::new(transmit.bytes)];
        match transfer::send(&self.descriptor, &slices, &descriptors, TransferWait::Never) {
            Ok(count) => Ok(SendOutcome::Bytes(count)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(SendOutcome::Full),
            Err(error) => Err(ended_by(error)),
        }
    }

    /// Waits until there is room to send again. Needed rarely, so it sets up what it needs anew.
    pub(super) fn wait_for(
        &self,
        interest: WaitInterest,
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
            poller.wait(&mut events, timeout)
        };
        wait().map_err(ended_by)?;
        Ok(if events.is_empty() { WaitStatus::TimedOut } else { WaitStatus::Ready })
    }

    /// Sets the timeout of the socket, unless the one that it has will do. So a program that makes
    /// one call after the other sets it once.
    fn set_timeout(&self, timeout: Option<Duration>) -> Result<TransferWait, Ended> {
        if timeout == Some(Duration::ZERO) {
            return Ok(TransferWait::Never);
        }
        if !timeout_suffices(self.armed.get(), timeout) {
            set_receive_timeout(&self.descriptor, timeout).map_err(ended_by)?;
            self.armed.set(timeout);
        }
        Ok(TransferWait::Block)
    }
}

impl AsFd for BusSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// Whether the timeout `armed` serves one who wants `wanted`: it may wake him a little late, or
/// early, which only costs a turn, if it does not do so all the time.
fn timeout_suffices(armed: Option<Duration>, wanted: Option<Duration>) -> bool {
    match (armed, wanted) {
        (None, None) => true,
        (None, Some(_)) => false,
        (Some(armed), None) => armed >= WAKEUP_INTERVAL_MIN,
        (Some(armed), Some(wanted)) => {
            let slack = wanted / 16;
            armed <= wanted + slack && (armed >= WAKEUP_INTERVAL_MIN || armed >= wanted - slack)
        }
    }
}

/// A socket whose other end is gone says so in two ways; what matters is that it is gone.
fn ended_by(error: io::Error) -> Ended {
    match error.kind() {
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => Ended::Closed,
        _ => Ended::System(SystemError::from(error)),
    }
}

/// Waking up for nothing at intervals shorter than this is too often.
const WAKEUP_INTERVAL_MIN: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn socket_timeouts_are_set_only_if_they_differ_much() {
        let ms = |number| Some(Duration::from_millis(number));
        for (armed, wanted, expected) in [
            (None, None, true),
            (None, ms(1), false),
            (ms(25_000), None, true),
            (ms(100), None, false),
            (ms(25_000), ms(24_999), true),
            (ms(25_000), ms(20_000), false),
            (ms(2_000), ms(25_000), true),
            (ms(100), ms(25_000), false),
            (ms(100), ms(101), true),
            (ms(100), ms(90), false),
        ] {
            assert_eq!(timeout_suffices(armed, wanted), expected, "{armed:?} for {wanted:?}");
        }
    }
}
