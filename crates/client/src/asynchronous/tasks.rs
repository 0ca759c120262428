//! What the tasks of a connection share: the reactor of its socket, and an attempt to connect
//! again.

use std::future::Future;
use std::io;
use std::os::fd::BorrowedFd;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll};

use wire::address::Address;

use super::dialing::open_in;
use super::runtime::{Reactor, Runtime};
use crate::connect::ConnectOptions;
use crate::link::EstablishedSocket;

/// The part of a connection that only tasks use.
pub(super) struct ConnectionTasks {
    reactor: Mutex<Arc<dyn Reactor>>,
    /// Waits for the sockets of the bus and of all lanes, once lanes are on.
    incoming: OnceLock<Box<dyn Reactor>>,
    /// `None` if the connection ends when the bus goes away.
    redial: Option<TaskRedial>,
}

impl ConnectionTasks {
    pub(super) fn new(reactor: Box<dyn Reactor>, redial: Option<TaskRedial>) -> Self {
        Self { reactor: Mutex::new(reactor.into()), incoming: OnceLock::new(), redial }
    }

    /// From now on, also waits for lanes, by means of the descriptor of all sockets.
    pub(super) fn watch_lanes(&self, incoming: BorrowedFd<'_>) -> io::Result<()> {
        if self.incoming.get().is_none() {
            let reactor = self.reactor().watch_another(incoming)?;
            self.incoming.get_or_init(|| reactor);
        }
        Ok(())
    }

    /// The reactor that waits for messages from the bus and on lanes, if lanes are on.
    pub(super) fn incoming(&self) -> Option<&dyn Reactor> {
        self.incoming.get().map(|reactor| &**reactor)
    }

    /// The reactor of the current socket.
    pub(super) fn reactor(&self) -> Arc<dyn Reactor> {
        Arc::clone(&lock(&self.reactor))
    }

    /// Continues an attempt to connect, if one was started. On success the reactor of the new
    /// socket is in its place.
    pub(super) fn poll_attempt(
        &self,
        context: &mut Context<'_>,
    ) -> Option<Poll<Option<EstablishedSocket>>> {
        let mut attempt = lock(&self.redial.as_ref()?.attempt);
        let polled = attempt.as_mut()?.as_mut().poll(context);
        let Poll::Ready(connected) = polled else { return Some(Poll::Pending) };
        *attempt = None;
        Some(Poll::Ready(connected.map(|(restored, reactor)| {
            *lock(&self.reactor) = reactor.into();
            restored
        })))
    }

    /// Starts an attempt to connect.
    pub(super) fn start_attempt(&self) {
        if let Some(redial) = &self.redial {
            *lock(&redial.attempt) = Some(redial.attempt(self.reactor()));
        }
    }
}

/// Connects again after the bus went away.
pub(super) struct TaskRedial {
    addresses: Arc<[Address]>,
    options: ConnectOptions,
    /// It is shared, so that another task continues it if the task that started it is dropped.
    attempt: Mutex<Option<RedialAttempt>>,
}

/// A future of a new connection and its reactor; `None` if the attempt failed.
type RedialAttempt =
    Pin<Box<dyn Future<Output = Option<(EstablishedSocket, Box<dyn Reactor>)>> + Send>>;

impl TaskRedial {
    pub(super) fn new(addresses: Vec<Address>, options: ConnectOptions) -> Self {
        Self { addresses: addresses.into(), options, attempt: Mutex::new(None) }
    }

    fn attempt(&self, reactor: Arc<dyn Reactor>) -> RedialAttempt {
        let (addresses, options) = (Arc::clone(&self.addresses), self.options.clone());
        Box::pin(async move {
            let runtime = RuntimeOfReactor(reactor);
            open_in(&runtime, &addresses, &options).await.ok()
        })
    }
}

/// The runtime in which a reactor waits.
struct RuntimeOfReactor(Arc<dyn Reactor>);

impl Runtime for RuntimeOfReactor {
    fn watch(&self, socket: BorrowedFd<'_>) -> io::Result<Box<dyn Reactor>> {
        self.0.watch_another(socket)
    }
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
