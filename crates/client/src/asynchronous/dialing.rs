//! Connecting a socket in a task, by means of a runtime.

use std::future::poll_fn;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::task::Poll;
use std::time::Duration;

use wire::address::Address;
use wire::framer::Space;

use super::runtime::{Reactor, Runtime};
use super::waiting::instant_of;
use crate::connect::{
    ConnectError, ConnectOptions, ConnectWaiting, IncomingPeer, WelcomeError, open, welcome,
};
use crate::core::{Ended, SystemError};
use crate::link::{BusSocket, EstablishedSocket, SocketReadOutcome, WaitInterest, WaitStatus};

/// Connects by means of a runtime. Returns the reactor for the socket, too.
pub(super) async fn open_in(
    runtime: &(impl Runtime + Sync),
    addresses: &[Address],
    options: &ConnectOptions,
) -> Result<(EstablishedSocket, Box<dyn Reactor>), ConnectError> {
    let mut waiting = TaskWaiting { runtime, reactor: None };
    let connected = open(addresses, options, &mut waiting).await?;
    let reactor = waiting.reactor.expect("the handshake has waited with it");
    Ok((connected, reactor))
}

/// Authenticates another program by means of a runtime. Returns the reactor for its socket, too.
pub(super) async fn welcome_in(
    runtime: &(impl Runtime + Sync),
    peer: IncomingPeer,
) -> Result<(EstablishedSocket, Box<dyn Reactor>), WelcomeError> {
    let mut waiting = TaskWaiting { runtime, reactor: None };
    let welcomed = welcome(peer, &mut waiting).await?;
    let reactor = waiting.reactor.expect("the handshake has waited with it");
    Ok((welcomed, reactor))
}

/// Waits by means of a runtime.
struct TaskWaiting<'r, R> {
    runtime: &'r R,
    /// For the latest socket.
    reactor: Option<Box<dyn Reactor>>,
}

impl<R: Runtime + Sync> TaskWaiting<'_, R> {
    fn reactor(&self) -> &dyn Reactor {
        &**self.reactor.as_ref().expect("`watch` comes first")
    }

    /// Tries until the deadline; `None` if it passes.
    async fn attempt<T>(
        &self,
        interest: WaitInterest,
        deadline: Option<Duration>,
        mut operation: impl FnMut() -> Option<T>,
    ) -> Result<Option<T>, Ended> {
        poll_fn(|context| {
            let mut found = None;
            let mut attempt = || {
                found = operation();
                match found {
                    Some(_) => Ok(()),
                    None => Err(io::ErrorKind::WouldBlock.into()),
                }
            };
            let polled = match interest {
                WaitInterest::Writable => self.reactor().poll_write(context, &mut attempt),
                WaitInterest::WritableOrReadable => self.reactor().poll_read(context, &mut attempt),
            };
            if let Poll::Ready(outcome) = polled {
                return Poll::Ready(outcome.map(|()| found).map_err(system));
            }
            let at = deadline.map(instant_of);
            match at.map(|at| self.reactor().poll_deadline(context, at)) {
                Some(Poll::Ready(())) => Poll::Ready(Ok(None)),
                Some(Poll::Pending) | None => Poll::Pending,
            }
        })
        .await
    }
}

impl<R: Runtime + Sync> ConnectWaiting for TaskWaiting<'_, R> {
    fn watch(&mut self, socket: &BusSocket) -> Result<(), Ended> {
        // The reactor of an earlier socket, which was closed, comes to its end here.
        self.reactor = None;
        self.reactor = Some(self.runtime.watch(socket.as_fd()).map_err(system)?);
        Ok(())
    }

    async fn receive(
        &mut self,
        socket: &BusSocket,
        space: &mut [u8],
        descriptors: &mut Vec<OwnedFd>,
        deadline: Option<Duration>,
    ) -> Result<SocketReadOutcome, Ended> {
        let receive = || {
            let space = Space::Scratch(space);
            match socket.receive(space, descriptors, Some(Duration::ZERO)) {
                Ok(SocketReadOutcome::Nothing) => None,
                outcome => Some(outcome),
            }
        };
        let received = self.attempt(WaitInterest::WritableOrReadable, deadline, receive).await?;
        received.unwrap_or(Ok(SocketReadOutcome::Nothing))
    }

    async fn wait_for_room(
        &mut self,
        socket: &BusSocket,
        deadline: Option<Duration>,
    ) -> Result<WaitStatus, Ended> {
        let check = || match socket.wait_for(WaitInterest::Writable, &[], Some(Duration::ZERO)) {
            Ok(WaitStatus::TimedOut) => None,
            outcome => Some(outcome),
        };
        let room = self.attempt(WaitInterest::Writable, deadline, check).await?;
        room.unwrap_or(Ok(WaitStatus::TimedOut))
    }
}

fn system(error: io::Error) -> Ended {
    Ended::System(SystemError::from(error))
}
