//! The runtime of the crate `tokio`.

use std::future::Future;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Instant;

use tokio::io::unix::AsyncFd;
use tokio::time::{Sleep, sleep_until};

use super::runtime::{Reactor, Runtime};

/// The runtime of the crate `tokio`, in whose context the current code runs. It needs the drivers
/// for I/O and time (`enable_all`): without them, and outside of a runtime, connecting panics, as
/// the types of tokio do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tokio;

impl Runtime for Tokio {
    fn watch(&self, socket: BorrowedFd<'_>) -> io::Result<Box<dyn Reactor>> {
        #[expect(
            deprecated,
            reason = "its replacement is unsafe, for descriptors that are not owned"
        )]
        let socket = AsyncFd::new(socket.try_clone_to_owned()?)?;
        Ok(Box::new(TokioReactor { socket, alarm: Mutex::new(None) }))
    }
}

#[derive(Debug)]
struct TokioReactor {
    socket: AsyncFd<OwnedFd>,
    alarm: Mutex<Option<Pin<Box<Sleep>>>>,
}

impl Reactor for TokioReactor {
    fn poll_read(
        &self,
        context: &mut Context<'_>,
        read: &mut dyn FnMut() -> io::Result<()>,
    ) -> Poll<io::Result<()>> {
        loop {
            let mut guard = ready!(self.socket.poll_read_ready(context))?;
            if let Ok(outcome) = guard.try_io(|_| read()) {
                return Poll::Ready(outcome);
            }
        }
    }

    fn poll_write(
        &self,
        context: &mut Context<'_>,
        write: &mut dyn FnMut() -> io::Result<()>,
    ) -> Poll<io::Result<()>> {
        loop {
            let mut guard = ready!(self.socket.poll_write_ready(context))?;
            if let Ok(outcome) = guard.try_io(|_| write()) {
                return Poll::Ready(outcome);
            }
        }
    }

    fn watch_another(&self, socket: BorrowedFd<'_>) -> io::Result<Box<dyn Reactor>> {
        Tokio.watch(socket)
    }

    fn poll_deadline(&self, context: &mut Context<'_>, at: Instant) -> Poll<()> {
        let mut alarm = self.alarm.lock().unwrap_or_else(PoisonError::into_inner);
        let at = tokio::time::Instant::from_std(at);
        let sleep = alarm.get_or_insert_with(|| Box::pin(sleep_until(at)));
        loop {
            // An alarm that is too early costs one more poll; setting it again for each call, more.
            if sleep.deadline() > at {
                sleep.as_mut().reset(at);
            }
            ready!(sleep.as_mut().poll(context));
            if sleep.deadline() >= at {
                return Poll::Ready(());
            }
            sleep.as_mut().reset(at);
        }
    }
}
