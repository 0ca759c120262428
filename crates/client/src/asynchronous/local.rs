//! A runtime for one thread, which needs no other crate.

use std::future::Future;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::pin::pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Instant;

use unix::poll::{Interest, wait_for_any};

use super::runtime::{Reactor, Runtime};

/// A runtime that runs one future at a time in the current thread, and waits for the connections
/// that were opened with it.
///
/// It is for programs that use no other runtime. Futures that need one, such as timers of other
/// crates, do not work in it.
#[derive(Debug)]
pub struct LocalRuntime {
    watches: Arc<SocketWatches>,
    alarm: Arc<WakePipe>,
    wakes: Mutex<PipeReader>,
}

impl LocalRuntime {
    /// Creates a runtime.
    ///
    /// # Errors
    ///
    /// If the system has no descriptors left.
    pub fn new() -> io::Result<Self> {
        let (wakes, sender) = io::pipe()?;
        let alarm = Arc::new(WakePipe { state: AtomicU8::new(RunnerState::Running as u8), sender });
        Ok(Self { watches: Arc::default(), alarm, wakes: Mutex::new(wakes) })
    }

    /// Runs a future to its end.
    ///
    /// # Panics
    ///
    /// If the kernel refuses to wait, because memory runs out.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        let waker = Waker::from(Arc::clone(&self.alarm));
        let mut context = Context::from_waker(&waker);
        loop {
            self.alarm.set(RunnerState::Running);
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return output;
            }
            while self.alarm.begin_waiting() {
                self.turn().expect("the kernel waits for descriptors");
            }
        }
    }

    /// Waits once, and wakes the tasks whose socket is ready, or whose time has come.
    fn turn(&self) -> io::Result<()> {
        let watches: Vec<_> = lock(&self.watches).clone();
        let wakes = lock(&self.wakes);
        let interested: Vec<_> =
            watches.iter().filter_map(|watch| Some((watch, watch.interest()?))).collect();
        let sockets = interested.iter().map(|(watch, interest)| (watch.socket.as_fd(), *interest));
        let mut waited = vec![(wakes.as_fd(), Interest::Read)];
        waited.extend(sockets);
        let next = watches.iter().filter_map(|watch| watch.next_deadline()).min();
        let timeout = next.map(|next| next.saturating_duration_since(Instant::now()));
        let ready = wait_for_any(&waited, timeout)?;
        // From here on, a wake-up needs no byte.
        self.alarm.end_waiting();
        if ready[0] {
            // More than this many are read in the next turn.
            let _ = (&*wakes).read(&mut [0; 64])?;
        }
        let with_data = interested.iter().zip(&ready[1..]).filter(|(_, is_ready)| **is_ready);
        with_data.for_each(|((watch, _), _)| watch.wake());
        let now = Instant::now();
        let is_late = |watch: &&Arc<SocketWatch>| watch.next_deadline().is_some_and(|at| at <= now);
        watches.iter().filter(is_late).for_each(|watch| watch.wake());
        Ok(())
    }
}

impl Runtime for LocalRuntime {
    fn watch(&self, socket: BorrowedFd<'_>) -> io::Result<Box<dyn Reactor>> {
        watch(&self.watches, socket)
    }
}

/// Adds a socket to the sockets that a runtime watches.
fn watch(all: &Arc<SocketWatches>, socket: BorrowedFd<'_>) -> io::Result<Box<dyn Reactor>> {
    let socket = socket.try_clone_to_owned()?;
    let watch = Arc::new(SocketWatch { socket, wants: Mutex::default() });
    lock(all).push(Arc::clone(&watch));
    Ok(Box::new(LocalReactor { watch, all: Arc::clone(all) }))
}

/// The sockets that a runtime watches.
type SocketWatches = Mutex<Vec<Arc<SocketWatch>>>;

/// Wakes the thread that is in [`LocalRuntime::block_on`], also from other threads.
#[derive(Debug)]
struct WakePipe {
    /// The number of a [`RunnerState`].
    state: AtomicU8,
    sender: PipeWriter,
}

/// What the thread in [`LocalRuntime::block_on`] does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum RunnerState {
    /// It polls the future, or wakes tasks.
    Running,
    /// It waits in the kernel, so a wake-up must write to the pipe.
    Waiting,
    /// It must poll the future.
    Woken,
}

impl WakePipe {
    fn set(&self, state: RunnerState) {
        self.state.store(state as u8, Ordering::SeqCst);
    }

    /// Records that the thread will wait. Returns false if it was woken.
    fn begin_waiting(&self) -> bool {
        self.replace(RunnerState::Running, RunnerState::Waiting)
    }

    fn end_waiting(&self) {
        self.replace(RunnerState::Waiting, RunnerState::Running);
    }

    fn replace(&self, from: RunnerState, to: RunnerState) -> bool {
        let (from, to) = (from as u8, to as u8);
        self.state.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }
}

impl Wake for WakePipe {
    fn wake(self: Arc<Self>) {
        let before = self.state.swap(RunnerState::Woken as u8, Ordering::SeqCst);
        if before == RunnerState::Waiting as u8 {
            // The pipe has room: each wait is ended by at most one byte, and then reads it.
            let _ = (&self.sender).write(&[0]);
        }
    }
}

/// A socket, and what the task that uses it waits for.
#[derive(Debug)]
struct SocketWatch {
    socket: OwnedFd,
    wants: Mutex<WantedEvents>,
}

#[derive(Debug, Default)]
struct WantedEvents {
    reading: Option<Waker>,
    writing: Option<Waker>,
    deadline: Option<(Instant, Waker)>,
    /// True if the socket was readable after a task waited for that, and was not read since then.
    is_readable: bool,
}

impl SocketWatch {
    fn interest(&self) -> Option<Interest> {
        let wants = lock(&self.wants);
        match (&wants.reading, &wants.writing) {
            (None, None) => None,
            (Some(_), None) => Some(Interest::Read),
            (None, Some(_)) => Some(Interest::Write),
            (Some(_), Some(_)) => Some(Interest::ReadWrite),
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        lock(&self.wants).deadline.as_ref().map(|(at, _)| *at)
    }

    fn wake(&self) {
        let mut wants = lock(&self.wants);
        let WantedEvents { reading, writing, deadline, .. } = std::mem::take(&mut *wants);
        wants.is_readable = reading.is_some();
        drop(wants);
        let deadline = deadline.map(|(_, waker)| waker);
        [reading, writing, deadline].into_iter().flatten().for_each(Waker::wake);
    }
}

#[derive(Debug)]
struct LocalReactor {
    watch: Arc<SocketWatch>,
    all: Arc<SocketWatches>,
}

impl Drop for LocalReactor {
    fn drop(&mut self) {
        lock(&self.all).retain(|watch| !Arc::ptr_eq(watch, &self.watch));
    }
}

impl Reactor for LocalReactor {
    fn poll_read(
        &self,
        context: &mut Context<'_>,
        read: &mut dyn FnMut() -> io::Result<()>,
    ) -> Poll<io::Result<()>> {
        // Otherwise the thread waits for the socket, which is as fast as a read that finds nothing.
        let is_readable = std::mem::take(&mut lock(&self.watch.wants).is_readable);
        if is_readable && let Some(outcome) = try_now(read) {
            return Poll::Ready(outcome);
        }
        lock(&self.watch.wants).reading = Some(context.waker().clone());
        Poll::Pending
    }

    fn poll_write(
        &self,
        context: &mut Context<'_>,
        write: &mut dyn FnMut() -> io::Result<()>,
    ) -> Poll<io::Result<()>> {
        try_now(write).map_or_else(
            || {
                lock(&self.watch.wants).writing = Some(context.waker().clone());
                Poll::Pending
            },
            Poll::Ready,
        )
    }

    fn watch_another(&self, socket: BorrowedFd<'_>) -> io::Result<Box<dyn Reactor>> {
        watch(&self.all, socket)
    }

    fn poll_deadline(&self, context: &mut Context<'_>, at: Instant) -> Poll<()> {
        if at <= Instant::now() {
            return Poll::Ready(());
        }
        lock(&self.watch.wants).deadline = Some((at, context.waker().clone()));
        Poll::Pending
    }
}

/// The outcome of an operation, unless it would have to wait.
fn try_now(operation: &mut dyn FnMut() -> io::Result<()>) -> Option<io::Result<()>> {
    match operation() {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
        outcome => Some(outcome),
    }
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
