//! A runtime for one thread, which needs no other crate.

use std::future::Future;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::mem;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::pin::pin;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use unix::clock;
use unix::poll::{Events, Interest, PollEvent, Poller};
use unix::timer::Timer;

use super::runtime::{Reactor, Runtime};

/// A runtime that runs one future at a time in the current thread, and waits for the connections
/// that were opened with it.
///
/// It is for programs that use no other runtime. Futures that need one, such as timers of other
/// crates, do not work in it.
#[derive(Debug)]
pub struct LocalRuntime {
    sockets: Arc<WatchedSockets>,
    wakes: Mutex<PipeReader>,
}

impl LocalRuntime {
    /// Creates a runtime.
    ///
    /// # Errors
    ///
    /// If the system has no descriptors or memory left.
    pub fn new() -> io::Result<Self> {
        let (wakes, sender) = io::pipe()?;
        let (poller, timer) = (Poller::new()?, SharedTimer::new()?);
        poller.add(&wakes, WAKE_TOKEN, Interest::Read)?;
        poller.add(&timer.timer, TIMER_TOKEN, Interest::Read)?;
        let alarm = Arc::new(WakePipe { state: AtomicU8::new(RunnerState::Running as u8), sender });
        Ok(Self { sockets: WatchedSockets::new(poller, timer, alarm), wakes: Mutex::new(wakes) })
    }

    /// Runs a future to its end.
    ///
    /// # Panics
    ///
    /// If the kernel refuses to wait, because memory runs out.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        let alarm = &self.sockets.alarm;
        let waker = Waker::from(Arc::clone(alarm));
        let mut context = Context::from_waker(&waker);
        let mut events = Events::with_capacity(EVENTS_AT_ONCE);
        let mut polls = 0;
        loop {
            alarm.set(RunnerState::Running);
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return output;
            }
            polls += 1;
            while alarm.begin_waiting() {
                self.turn(&mut events, None).expect(WAITS);
                polls = 0;
            }
            // A future that wakes itself each time must not keep others from their events.
            if polls == POLLS_MAX {
                self.turn(&mut events, Some(Duration::ZERO)).expect(WAITS);
                polls = 0;
            }
        }
    }

    /// Waits once, for at most `longest`, and wakes the tasks whose socket is ready, or whose time
    /// has come.
    fn turn(&self, events: &mut Events, longest: Option<Duration>) -> io::Result<()> {
        let mut wakes = lock(&self.wakes);
        self.sockets.poller.wait(events, longest)?;
        // From here on, a wake-up needs no byte.
        self.sockets.alarm.end_waiting();
        for event in events.iter() {
            match event.token() {
                // More than this many are read in the next turn.
                WAKE_TOKEN => drop(wakes.read(&mut [0; 64])?),
                TIMER_TOKEN => self.sockets.handle_deadlines()?,
                token => self.sockets.handle_event(token, event)?,
            }
        }
        Ok(())
    }
}

impl Runtime for LocalRuntime {
    fn watch(&self, socket: BorrowedFd<'_>) -> io::Result<Box<dyn Reactor>> {
        self.sockets.watch(socket)
    }
}

/// The sockets that a runtime watches.
#[derive(Debug)]
struct WatchedSockets {
    poller: Poller,
    timer: SharedTimer,
    alarm: Arc<WakePipe>,
    list: Mutex<Vec<Arc<SocketWatch>>>,
    next_token: AtomicU64,
}

impl WatchedSockets {
    fn new(poller: Poller, timer: SharedTimer, alarm: Arc<WakePipe>) -> Arc<Self> {
        let (list, next_token) = (Mutex::default(), AtomicU64::new(FIRST_SOCKET_TOKEN));
        Arc::new(Self { poller, timer, alarm, list, next_token })
    }

    fn watch(self: &Arc<Self>, socket: BorrowedFd<'_>) -> io::Result<Box<dyn Reactor>> {
        let token = self.next_token.fetch_add(1, Ordering::Relaxed);
        let socket = socket.try_clone_to_owned()?;
        let watch = Arc::new(SocketWatch { token, socket, wants: Mutex::default() });
        lock(&self.list).push(Arc::clone(&watch));
        Ok(Box::new(LocalReactor { watch, all: Arc::clone(self) }))
    }

    fn handle_event(&self, token: u64, event: PollEvent) -> io::Result<()> {
        let watch = lock(&self.list).iter().find(|watch| watch.token == token).map(Arc::clone);
        match watch {
            Some(watch) => watch.handle_event(&self.poller, event),
            // It was removed after the kernel reported the event.
            None => Ok(()),
        }
    }

    /// Wakes the tasks whose deadline has passed, and sets the timer to the next one.
    fn handle_deadlines(&self) -> io::Result<()> {
        let mut set_to = lock(&self.timer.set_to);
        let (now, watches) = (Instant::now(), lock(&self.list).clone());
        watches.iter().for_each(|watch| watch.handle_deadline(now));
        *set_to = watches.iter().filter_map(|watch| watch.next_deadline()).min();
        self.timer.set(*set_to)
    }
}

/// The timer for the deadlines of all sockets. It stays set between waits, because the kernel would
/// set up and remove a timer for each wait with a timeout.
#[derive(Debug)]
struct SharedTimer {
    timer: Timer,
    /// The earliest deadline, or an earlier one: the deadline of a task that has ended meanwhile.
    set_to: Mutex<Option<Instant>>,
}

impl SharedTimer {
    fn new() -> io::Result<Self> {
        Ok(Self { timer: Timer::new()?, set_to: Mutex::default() })
    }

    /// Makes the timer expire at a deadline, unless it expires earlier.
    fn include(&self, deadline: Instant) -> io::Result<()> {
        let mut set_to = lock(&self.set_to);
        if set_to.is_none_or(|earliest| deadline < earliest) {
            *set_to = Some(deadline);
            self.set(*set_to)?;
        }
        Ok(())
    }

    fn set(&self, at: Option<Instant>) -> io::Result<()> {
        let left = at.map(|at| at.saturating_duration_since(Instant::now()));
        self.timer.set(left.map(|left| clock::monotonic().saturating_add(left)))
    }
}

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
    token: u64,
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
    /// True if the poller is to report that the socket can be read, until that happens while no
    /// task waits for it. Most tasks wait for it again and again.
    reports_reading: bool,
    /// What the poller reports.
    reported: Option<Interest>,
}

impl SocketWatch {
    fn next_deadline(&self) -> Option<Instant> {
        lock(&self.wants).deadline.as_ref().map(|(at, _)| *at)
    }

    fn handle_event(&self, poller: &Poller, event: PollEvent) -> io::Result<()> {
        let mut wants = lock(&self.wants);
        let is_broken = event.is_hangup() || event.is_error();
        let is_readable = event.is_readable() || is_broken;
        let reader = wants.reading.take_if(|_| is_readable);
        let writer = wants.writing.take_if(|_| event.is_writable() || is_broken);
        wants.is_readable |= reader.is_some();
        wants.reports_reading &= reader.is_some() || !is_readable;
        self.report(poller, &mut wants)?;
        drop(wants);
        [reader, writer].into_iter().flatten().for_each(Waker::wake);
        Ok(())
    }

    fn handle_deadline(&self, now: Instant) {
        let deadline = lock(&self.wants).deadline.take_if(|(at, _)| *at <= now);
        deadline.into_iter().for_each(|(_, waker)| waker.wake());
    }

    /// Makes the poller report what is wanted.
    fn report(&self, poller: &Poller, wants: &mut WantedEvents) -> io::Result<()> {
        let wanted = match (wants.reports_reading, wants.writing.is_some()) {
            (false, false) => None,
            (true, false) => Some(Interest::Read),
            (false, true) => Some(Interest::Write),
            (true, true) => Some(Interest::ReadWrite),
        };
        match (wants.reported, wanted) {
            (before, now) if before == now => {}
            (None, Some(now)) => poller.add(&self.socket, self.token, now)?,
            (Some(_), Some(now)) => poller.modify(&self.socket, self.token, now)?,
            (_, None) => poller.remove(&self.socket)?,
        }
        wants.reported = wanted;
        Ok(())
    }
}

#[derive(Debug)]
struct LocalReactor {
    watch: Arc<SocketWatch>,
    all: Arc<WatchedSockets>,
}

impl Drop for LocalReactor {
    fn drop(&mut self) {
        lock(&self.all.list).retain(|watch| !Arc::ptr_eq(watch, &self.watch));
        // Another thread can have an event of this socket, and must not change the poller then.
        let mut wants = lock(&self.watch.wants);
        let before = mem::take(&mut *wants);
        if before.reported.is_some() {
            // The kernel would report events of the connection, which has a copy of the socket. It
            // fails only if the poller does not have it.
            let _ = self.all.poller.remove(&self.watch.socket);
        }
        drop(wants);
    }
}

impl LocalReactor {
    /// Makes the poller report what a task waits for.
    fn wait(&self, mut wants: MutexGuard<'_, WantedEvents>) -> Poll<io::Result<()>> {
        match self.watch.report(&self.all.poller, &mut wants) {
            Ok(()) => Poll::Pending,
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

impl Reactor for LocalReactor {
    fn poll_read(
        &self,
        context: &mut Context<'_>,
        read: &mut dyn FnMut() -> io::Result<()>,
    ) -> Poll<io::Result<()>> {
        // Otherwise the thread waits for the socket, which is as fast as a read that finds nothing.
        let mut wants = lock(&self.watch.wants);
        if mem::take(&mut wants.is_readable) {
            drop(wants);
            if let Some(outcome) = try_now(read) {
                return Poll::Ready(outcome);
            }
            wants = lock(&self.watch.wants);
        }
        wants.reading = Some(context.waker().clone());
        wants.reports_reading = true;
        self.wait(wants)
    }

    fn poll_write(
        &self,
        context: &mut Context<'_>,
        write: &mut dyn FnMut() -> io::Result<()>,
    ) -> Poll<io::Result<()>> {
        if let Some(outcome) = try_now(write) {
            return Poll::Ready(outcome);
        }
        let mut wants = lock(&self.watch.wants);
        wants.writing = Some(context.waker().clone());
        self.wait(wants)
    }

    fn watch_another(&self, socket: BorrowedFd<'_>) -> io::Result<Box<dyn Reactor>> {
        self.all.watch(socket)
    }

    fn poll_deadline(&self, context: &mut Context<'_>, at: Instant) -> Poll<()> {
        let mut wants = lock(&self.watch.wants);
        if let Some((known, waker)) = &wants.deadline
            && *known == at
            && waker.will_wake(context.waker())
        {
            return Poll::Pending;
        }
        if at <= Instant::now() {
            return Poll::Ready(());
        }
        wants.deadline = Some((at, context.waker().clone()));
        drop(wants);
        self.all.timer.include(at).expect(WAITS);
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

/// The token of the pipe that wakes the thread.
const WAKE_TOKEN: u64 = 0;

/// The token of the timer for deadlines.
const TIMER_TOKEN: u64 = 1;

const FIRST_SOCKET_TOKEN: u64 = 2;

const WAITS: &str = "the kernel waits for descriptors and times";

/// The number of times that a future is polled in sequence without a turn.
const POLLS_MAX: u32 = 32;

/// The number of events that one turn handles. More are handled in the next turns.
const EVENTS_AT_ONCE: usize = 32;
