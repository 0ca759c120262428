//! The threads and tasks that wait for something on a connection.

use std::cell::OnceCell;
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::thread::{self, Thread};

use unix::event::Event;

use crate::core::{CallHandle, MessageDisposition};

/// What a thread or task waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WaitTarget {
    /// The outcome of this call.
    Reply(CallHandle),
    /// A signal of a subscription.
    Signal,
    /// A call by a peer.
    Request,
    /// Any message, also one for another waiter.
    Message,
    /// That all queued bytes are sent.
    Room,
    /// That the connection is restored after the bus went away.
    Reconnection,
}

impl WaitTarget {
    /// The call whose outcome is awaited.
    pub(crate) const fn call(self) -> Option<CallHandle> {
        match self {
            Self::Reply(call) => Some(call),
            _ => None,
        }
    }
}

/// The identity of a waiter, which is not reused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct WaiterId(u64);

/// All waiters, in the order in which they began to wait.
#[derive(Default)]
pub(crate) struct Waiters {
    next: u64,
    list: Vec<Waiter>,
}

struct Waiter {
    id: WaiterId,
    target: WaitTarget,
    /// `None` while its task runs, which then finds its message itself.
    waker: Option<Waker>,
}

impl Waiters {
    pub(crate) fn add(&mut self, target: WaitTarget, waker: Waker) -> WaiterId {
        let id = WaiterId(self.next);
        self.next += 1;
        self.list.push(Waiter { id, target, waker: Some(waker) });
        id
    }

    /// Replaces the waker of a task that was polled again.
    pub(crate) fn update(&mut self, id: WaiterId, waker: &Waker) {
        if let Some(waiter) = self.find(id) {
            waiter.waker = Some(waker.clone());
        }
    }

    /// Records that the task of a waiter runs, until it is [updated](Self::update).
    pub(crate) fn note_running(&mut self, id: WaiterId) {
        if let Some(waiter) = self.find(id) {
            waiter.waker = None;
        }
    }

    fn find(&mut self, id: WaiterId) -> Option<&mut Waiter> {
        self.list.iter_mut().find(|waiter| waiter.id == id)
    }

    pub(crate) fn remove(&mut self, id: WaiterId) {
        self.list.retain(|waiter| waiter.id != id);
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The wakers of the waiters that this message may be for.
    pub(crate) fn concerned(
        &self,
        disposition: MessageDisposition,
    ) -> impl Iterator<Item = &Waker> {
        let is_concerned = move |target| match (disposition, target) {
            (MessageDisposition::Reply(call), WaitTarget::Reply(awaited)) => call == awaited,
            (MessageDisposition::Signal { .. }, WaitTarget::Signal)
            | (MessageDisposition::Request, WaitTarget::Request)
            | (MessageDisposition::Reconnected, WaitTarget::Reconnection)
            | (_, WaitTarget::Message) => true,
            _ => false,
        };
        self.select(is_concerned)
    }

    /// The wakers of the waiters whose target `is_concerned` selects.
    pub(crate) fn select(
        &self,
        is_concerned: impl Fn(WaitTarget) -> bool,
    ) -> impl Iterator<Item = &Waker> {
        let concerned = self.list.iter().filter(move |waiter| is_concerned(waiter.target));
        concerned.filter_map(|waiter| waiter.waker.as_ref())
    }

    /// The waker of a waiter.
    pub(crate) fn waker_of(&self, id: WaiterId) -> Option<&Waker> {
        self.list.iter().find(|waiter| waiter.id == id)?.waker.as_ref()
    }

    /// The waker of the waiter that came first, of those whose task does not run.
    pub(crate) fn first(&self) -> Option<&Waker> {
        self.list.iter().find_map(|waiter| waiter.waker.as_ref())
    }
}

/// The waker of the current thread, which parks itself while it waits.
pub(crate) fn thread_waker() -> Waker {
    thread_local! {
        static WAKER: OnceCell<Waker> = const { OnceCell::new() };
    }
    WAKER.with(|waker| {
        waker.get_or_init(|| Arc::new(ParkedThread(thread::current())).into()).clone()
    })
}

/// A thread that waits for its event and for a socket at once.
pub(crate) struct PollingThread(pub(crate) Event);

impl Wake for PollingThread {
    fn wake(self: Arc<Self>) {
        self.0.set();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.set();
    }
}

/// A thread that waits in [`thread::park`].
struct ParkedThread(Thread);

impl Wake for ParkedThread {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}
