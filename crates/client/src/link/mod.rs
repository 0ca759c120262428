//! The link to the bus: the core of a connection, its socket, and its waiters, which are threads or
//! tasks.
//!
//! Nothing runs in the background. If several threads wait, one of them reads from the socket, and
//! the others sleep:
//!
//! ```text
//!  reader   takes the receiver out of the core ── reads, without the lock ── puts it back,
//!           files the messages, wakes those whose messages have arrived
//!  others   sleep until they are woken: their message has arrived, or they are the next reader
//! ```
//!
//! A waiter that leaves while the receiver is in its place wakes another one, which then reads. A
//! thread that waits for room in the socket is a waiter, too. Only a thread that has the receiver,
//! or finds it in its place, ends the connection, so that nothing which arrived before is lost. In
//! the asynchronous front end, one of the waiting tasks (the driver) is registered at the runtime
//! in the same way. After the bus went away, one of the waiters connects again ([`recovery`]).

mod group;
mod identity;
mod lanes;
mod outage;
mod recovery;
mod socket;
mod timeout;
mod waiters;

use std::mem;
use std::ops::{Deref, DerefMut};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::thread;
use std::time::Duration;

use lane::LaneKey;
use unix::clock;
use unix::event::Event;

use self::group::IncomingSockets;
pub(crate) use self::identity::ConnectionIdentity;
use self::lanes::{LaneSockets, LinkReader, ended_by};
pub use self::recovery::{
    ATTEMPT_TIME, FIRST_DELAY, GIVE_UP_AFTER, LONGEST_DELAY, Reconnect, ReconnectLimits,
};
pub(crate) use self::recovery::{EstablishedSocket, OutageStep, Redial};
use self::recovery::{Outage, Recovery};
use self::socket::IdleSocket;
pub(crate) use self::socket::{
    BusSocket, ConnectedProgram, SendOutcome, SocketReadOutcome, WaitInterest, WaitStatus,
};
pub(crate) use self::timeout::AtomicTimeout;
use self::waiters::{PollingThread, Waiters, thread_waker};
pub(crate) use self::waiters::{WaitTarget, WaiterId};
use crate::core::{Core, Ended, Established, Incoming, MessageDisposition, earliest};

/// A received message with its file descriptors.
pub type ReceivedMessage = Incoming<OwnedFd>;

/// The core of a connection and its socket.
pub(crate) struct ConnectionLink {
    state: Mutex<LinkState>,
    pub(crate) socket: BusSocket,
    group: IncomingSockets,
    pub(crate) identity: ConnectionIdentity,
    /// Connects again in the current thread; `None` if tasks do it, or nobody.
    redial: Option<Box<dyn Redial>>,
}

/// The core of a connection, and the waiters for its messages.
pub(crate) struct LinkState {
    pub(crate) core: Core<OwnedFd>,
    lanes: LaneSockets,
    read_mode: ReadMode,
    waiters: Waiters,
    /// The task that is registered at the runtime, for all tasks.
    driver: Option<WaiterId>,
    /// The time at which the runtime wakes the driver.
    driver_until: Option<Duration>,
    /// Woken after the lock is released, because a waker may run any code.
    woken: Vec<Waker>,
    recovery: Recovery,
    /// Takes the place of the socket during an outage.
    idle: Option<IdleSocket>,
}

/// The incoming messages that the program reads in addition to replies and signals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReadMode {
    /// No calls: they are answered with errors at once, so that no caller has to wait for its
    /// timeout.
    Replies,
    /// Calls: the program has objects, or reads calls itself.
    Requests,
    /// All messages, unprocessed: the link must not dispatch any itself.
    Messages,
}

/// The result of waiting for a condition.
pub(crate) enum WaitOutcome<T> {
    Found(T),
    TimedOut,
    Ended(Ended),
}

/// The time limit of a wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaitLimit {
    /// The time at which the wait ends; `None` if it can last forever.
    pub(crate) deadline: Option<Duration>,
    /// The time now, if the clock has just been read.
    pub(crate) now: Option<Duration>,
}

impl WaitLimit {
    /// The limit of a wait that begins now, and lasts for at most `timeout`.
    pub(crate) fn after(timeout: Option<Duration>) -> Self {
        let now = timeout.map(|_| clock::monotonic());
        let deadline = timeout.zip(now).map(|(timeout, now)| now.saturating_add(timeout));
        Self { deadline, now }
    }
}

/// What became of the queued bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SendProgress {
    /// All of them were sent.
    Done,
    /// The socket is full, or the bus is away.
    Full,
    /// The other end does not read any more. The connection ends when the thread that reads has
    /// taken what was sent before.
    Ending,
}

/// What happened while a thread waited once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum WaitStep {
    /// New bytes, a timeout or another thread may have changed the state.
    Moved,
    /// The deadline passed, and nothing happened.
    TimedOut,
}

/// The locked state of a link.
pub(crate) struct LinkGuard<'l> {
    /// `None` only while it is dropped.
    state: Option<MutexGuard<'l, LinkState>>,
}

impl Deref for LinkGuard<'_> {
    type Target = LinkState;

    fn deref(&self) -> &LinkState {
        self.state.as_ref().expect("it is locked")
    }
}

impl DerefMut for LinkGuard<'_> {
    fn deref_mut(&mut self) -> &mut LinkState {
        self.state.as_mut().expect("it is locked")
    }
}

impl Drop for LinkGuard<'_> {
    fn drop(&mut self) {
        if let Some(mut state) = self.state.take()
            && !state.woken.is_empty()
        {
            let woken = mem::take(&mut state.woken);
            drop(state);
            woken.into_iter().for_each(Waker::wake);
        }
    }
}

impl LinkState {
    /// Files the next complete message, and wakes its waiters.
    pub(crate) fn poll_message(&mut self) -> Option<MessageDisposition> {
        let disposition = self.core.poll_message();
        match disposition {
            Some(disposition) => self.woken.extend(self.waiters.concerned(disposition).cloned()),
            // The message was invalid.
            None if self.core.ended().is_some() => self.wake_all(),
            None => {}
        }
        disposition
    }

    /// Files all messages that were received, unless the program reads all of them itself.
    fn file_received(&mut self) {
        if self.read_mode != ReadMode::Messages {
            while self.poll_message().is_some() {}
        }
    }

    pub(crate) fn set_read_mode(&mut self, mode: ReadMode) {
        if self.read_mode != ReadMode::Messages {
            self.read_mode = mode;
        }
    }

    /// Ends the connection for all waiters, or interrupts it if it will be restored.
    ///
    /// What was received before is filed first. The receiver must be in its place: a thread that
    /// reads may have more, and ends the connection itself.
    pub(crate) fn handle_ended(&mut self, reason: Ended) {
        self.file_received();
        match self.recovery {
            Recovery::Armed(limits) if self.core.ended().is_none() => {
                self.core.interrupt(reason);
                let outage = Outage::begin(limits, reason, clock::monotonic());
                self.recovery = Recovery::Outage(outage);
            }
            Recovery::Outage(_) => return,
            Recovery::Armed(_) | Recovery::None => self.core.handle_ended(reason),
        }
        self.wake_all();
    }

    /// Times out calls, and returns true if any did.
    #[inline]
    pub(crate) fn handle_timeout(&mut self, now: Duration) -> bool {
        let has_expired = self.core.handle_timeout(now);
        if has_expired {
            let waits = |target| matches!(target, WaitTarget::Reply(_));
            self.woken.extend(self.waiters.select(waits).cloned());
        }
        has_expired
    }

    /// True if somebody waits for messages, and would not notice queued bytes.
    pub(crate) const fn is_waited_for(&self) -> bool {
        !self.core.has_receiver() || self.driver.is_some()
    }

    /// Makes another waiter read, unless one does.
    fn pass_reading_on(&mut self) {
        if self.core.has_receiver() && !self.waiters.is_empty() {
            self.woken.extend(self.waiters.first().cloned());
        }
    }

    fn wake_all(&mut self) {
        self.woken.extend(self.waiters.select(|_| true).cloned());
    }
}

/// The registration of tasks, for the asynchronous front end.
impl LinkState {
    /// Registers a task, or its latest waker, and returns its id. The first becomes the driver.
    pub(crate) fn register_task(
        &mut self,
        id: Option<WaiterId>,
        target: WaitTarget,
        waker: &Waker,
    ) -> WaiterId {
        let id = match id {
            Some(id) => {
                self.waiters.update(id, waker);
                id
            }
            None => self.waiters.add(target, waker.clone()),
        };
        self.driver.get_or_insert(id);
        id
    }

    /// Records that a registered task runs, so that it need not be woken.
    pub(crate) fn note_running(&mut self, id: WaiterId) {
        self.waiters.note_running(id);
    }

    /// True if this task is registered at the runtime, for all tasks.
    pub(crate) fn is_driver(&self, id: WaiterId) -> bool {
        self.driver == Some(id)
    }

    /// Removes a task. If no driver is left, wakes another task, which becomes the driver. That is
    /// needed if the removed task was the driver, and also if it was woken to become the driver and
    /// had its message already.
    pub(crate) fn remove_task(&mut self, id: WaiterId) {
        self.waiters.remove(id);
        if self.is_driver(id) {
            self.driver = None;
        }
        if self.driver.is_none() {
            self.pass_reading_on();
        }
    }

    /// Makes the driver look at the queued bytes, for which the socket has no room.
    pub(crate) fn wake_driver(&mut self) {
        let driver = self.driver.and_then(|id| self.waiters.waker_of(id));
        self.woken.extend(driver.cloned());
    }

    /// The time until which the driver waits: the [next one](Self::next_timeout), or an earlier one
    /// of a call that has ended meanwhile. Changing the timer for each call would cost more than
    /// waking once in vain.
    pub(crate) fn driver_until(&mut self) -> Option<Duration> {
        self.driver_until = earliest(self.next_timeout(), self.driver_until);
        self.driver_until
    }

    /// Times out calls when the time until which the driver waits has come.
    pub(crate) fn handle_driver_timeout(&mut self) {
        if let Some(until) = self.driver_until.take() {
            self.handle_timeout(until);
        }
    }

    /// Wakes the driver if a call ends before the driver would notice.
    pub(crate) fn wake_driver_in_time(&mut self) {
        let is_late = |next| self.driver_until.is_none_or(|until| next < until);
        if self.core.next_timeout().is_some_and(is_late) {
            self.wake_driver();
        }
    }

    /// Wakes the tasks that wait until all bytes are sent.
    pub(crate) fn wake_senders(&mut self) {
        let waits = |target| target == WaitTarget::Room;
        self.woken.extend(self.waiters.select(waits).cloned());
    }
}

impl ConnectionLink {
    pub(crate) fn new(
        established: Established<OwnedFd>,
        socket: BusSocket,
        reconnect: Reconnect,
        redial: Option<Box<dyn Redial>>,
    ) -> Self {
        let Established { core, unique_name, guid } = established;
        let recovery = match reconnect {
            Reconnect::Never => Recovery::None,
            Reconnect::WhenLost(limits) => Recovery::Armed(limits),
        };
        let state = LinkState {
            core,
            lanes: LaneSockets::default(),
            read_mode: ReadMode::Replies,
            waiters: Waiters::default(),
            driver: None,
            driver_until: None,
            woken: Vec::new(),
            recovery,
            idle: None,
        };
        let identity = ConnectionIdentity::new(unique_name, guid);
        let group = IncomingSockets::default();
        Self { state: Mutex::new(state), socket, group, identity, redial }
    }

    /// Locks the state. It is never locked while a thread waits for the bus.
    pub(crate) fn lock(&self) -> LinkGuard<'_> {
        // If a thread panicked while it had the lock, the core is consistent: it runs no code of
        // others.
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        LinkGuard { state: Some(state) }
    }

    /// Waits until `ready` returns a value. Meanwhile, files messages, and passes calls that the
    /// program does not read to `refuse`.
    pub(crate) fn wait<'l, T>(
        &'l self,
        mut state: LinkGuard<'l>,
        target: WaitTarget,
        mut limit: WaitLimit,
        mut ready: impl FnMut(&mut LinkState) -> Option<T>,
        mut refuse: impl FnMut(ReceivedMessage),
    ) -> WaitOutcome<T> {
        let outcome = loop {
            let found;
            (state, found) = self.file_messages(state, &mut ready, &mut refuse);
            match found {
                Some(Ok(found)) => break WaitOutcome::Found(found),
                Some(Err(ended)) => break WaitOutcome::Ended(ended),
                None => {}
            }
            let step;
            (state, step) = match state.is_interrupted() {
                true => self.reconnect_once(state, target, limit.deadline),
                false => self.wait_once(state, target, limit),
            };
            limit.now = None;
            if step == WaitStep::TimedOut {
                break WaitOutcome::TimedOut;
            }
        };
        state.pass_reading_on();
        outcome
    }

    /// Files messages until `ready` returns a value, or the connection has ended. Returns `None` if
    /// bytes must arrive first.
    pub(crate) fn file_messages<'l, T>(
        &'l self,
        mut state: LinkGuard<'l>,
        ready: &mut impl FnMut(&mut LinkState) -> Option<T>,
        refuse: &mut impl FnMut(ReceivedMessage),
    ) -> (LinkGuard<'l>, Option<Result<T, Ended>>) {
        let mut ended = None;
        loop {
            if state.core.take_lane_change() {
                self.update_lanes(&mut state);
            }
            if let Some(found) = ready(&mut state) {
                return (state, Some(Ok(found)));
            }
            if let Some(ended) = ended {
                return (state, Some(Err(ended)));
            }
            match state.poll_message() {
                Some(MessageDisposition::Request) if state.read_mode == ReadMode::Replies => {
                    let request = state.core.poll_request();
                    drop(state);
                    request.into_iter().for_each(&mut *refuse);
                    state = self.lock();
                }
                Some(_) => {}
                None => {
                    ended = state.core.ended();
                    if ended.is_none() {
                        break;
                    }
                }
            }
        }
        self.watch_lanes(&mut state);
        (state, None)
    }

    /// Sends the queued bytes, then waits for bytes, for another thread, or for a deadline, and also
    /// for room if the socket is full.
    fn wait_once<'l>(
        &'l self,
        mut state: LinkGuard<'l>,
        target: WaitTarget,
        limit: WaitLimit,
    ) -> (LinkGuard<'l>, WaitStep) {
        let WaitLimit { deadline, now } = limit;
        let mut sent = SendProgress::Done;
        if state.core.waiting_len() > 0 {
            sent = self.send(&mut state);
            if state.is_interrupted() {
                return (state, WaitStep::Moved);
            }
        }
        let (mut timeout, mut is_late) = (None, false);
        if deadline.is_some() || state.core.next_timeout().is_some() {
            let now = now.unwrap_or_else(clock::monotonic);
            if state.handle_timeout(now) {
                return (state, WaitStep::Moved);
            }
            let wake = earliest(deadline, state.core.next_timeout());
            timeout = wake.map(|wake| wake.saturating_sub(now));
            is_late = deadline.is_some_and(|deadline| deadline <= now);
        }
        let moved = if is_late {
            self.read_now(&mut state)
        } else if sent == SendProgress::Full {
            if !self.read_now(&mut state) {
                state = self.wait_for_room(state, target, timeout);
            }
            true
        } else {
            let expected = state.core.expected_lane(target.call());
            state = match state.take_reader() {
                Some(reader) => self.read(state, reader, timeout, expected),
                None => self.sleep(state, target, timeout),
            };
            true
        };
        (state, if moved { WaitStep::Moved } else { WaitStep::TimedOut })
    }

    /// Sleeps while another thread reads.
    fn sleep<'l>(
        &'l self,
        mut state: LinkGuard<'l>,
        target: WaitTarget,
        timeout: Option<Duration>,
    ) -> LinkGuard<'l> {
        let id = state.waiters.add(target, thread_waker());
        drop(state);
        match timeout {
            Some(timeout) => thread::park_timeout(timeout),
            None => thread::park(),
        }
        state = self.lock();
        state.waiters.remove(id);
        state
    }

    /// Reads once, without the lock, and puts the reader back. A message is expected on the lane
    /// `expected`.
    fn read<'l>(
        &'l self,
        mut state: LinkGuard<'l>,
        mut reader: LinkReader,
        timeout: Option<Duration>,
        expected: Option<LaneKey>,
    ) -> LinkGuard<'l> {
        drop(state);
        let received = reader.receive(&self.socket, timeout, expected);
        state = self.lock();
        state.return_reader(reader);
        if let Err(ended) = received {
            state.handle_ended(ended);
        }
        state
    }

    /// Sends all queued bytes, and waits while the socket is full.
    pub(crate) fn flush(&self) -> LinkGuard<'_> {
        self.flush_until(self.lock(), None)
    }

    /// Sends all queued bytes. Stops if the socket is full at the deadline.
    ///
    /// While the socket is full, incoming bytes are read, so that two sides that both send much do
    /// not deadlock.
    pub(crate) fn flush_until<'l>(
        &'l self,
        mut state: LinkGuard<'l>,
        deadline: Option<Duration>,
    ) -> LinkGuard<'l> {
        loop {
            let sent = self.send(&mut state);
            if sent == SendProgress::Done {
                break;
            }
            if state.is_interrupted() {
                let step;
                (state, step) = self.reconnect_once(state, WaitTarget::Room, deadline);
                match step {
                    WaitStep::Moved => continue,
                    WaitStep::TimedOut => break,
                }
            }
            if self.read_beside_sending(&mut state) {
                continue;
            }
            let timeout = deadline.map(|deadline| deadline.saturating_sub(clock::monotonic()));
            if timeout == Some(Duration::ZERO) {
                break;
            }
            state = match sent {
                SendProgress::Ending => self.sleep(state, WaitTarget::Room, timeout),
                SendProgress::Full | SendProgress::Done => {
                    self.wait_for_room(state, WaitTarget::Room, timeout)
                }
            };
        }
        state.pass_reading_on();
        state
    }

    /// Sends as many of the queued bytes as the socket accepts now.
    pub(crate) fn send(&self, state: &mut LinkState) -> SendProgress {
        if state.is_interrupted() && state.core.waiting_len() > 0 {
            return SendProgress::Full;
        }
        state.send_on_lane(None);
        while let Some(transmit) = state.core.poll_transmit() {
            match self.socket.send(&transmit) {
                Ok(SendOutcome::Bytes(count)) => state.core.transmitted(count),
                Ok(SendOutcome::Full) => return SendProgress::Full,
                Err(ended) => {
                    self.end(state, ended);
                    if !state.core.has_receiver() {
                        return SendProgress::Ending;
                    }
                }
            }
        }
        SendProgress::Done
    }

    /// Takes the next call by a peer. The answers to earlier calls leave before, because this one may
    /// take long.
    pub(crate) fn take_request(&self, state: &mut LinkState) -> Option<ReceivedMessage> {
        let request = state.core.poll_request()?;
        if state.core.waiting_len() > 0 {
            self.send(state);
        }
        Some(request)
    }

    /// Sends the queued bytes if somebody is waiting already, who would not send them.
    pub(crate) fn send_beside_waiter(&self, state: &mut LinkState) -> SendProgress {
        match state.is_waited_for() {
            true => self.send(state),
            false => SendProgress::Done,
        }
    }

    /// Waits until the socket has room, until bytes arrive if no thread reads, or until the message
    /// for `target` was filed or another thread leaves the reading to this one.
    fn wait_for_room<'l>(
        &'l self,
        mut state: LinkGuard<'l>,
        target: WaitTarget,
        timeout: Option<Duration>,
    ) -> LinkGuard<'l> {
        // Bytes that this thread does not read must not wake it again and again.
        let reads = (target != WaitTarget::Room || state.read_mode != ReadMode::Messages)
            && state.core.has_receiver();
        let interest = match reads {
            true => WaitInterest::WritableOrReadable,
            false => WaitInterest::Writable,
        };
        let has_lanes = state.core.lane_count() > 0;
        let wait = |event: &Event| {
            let mut others = vec![event.as_fd()];
            if reads && has_lanes {
                others.push(self.incoming().map_err(ended_by)?);
            }
            self.socket.wait_for(interest, &others, timeout)
        };
        let waited = match Event::new() {
            Ok(event) => {
                let thread = Arc::new(PollingThread(event));
                let id = state.waiters.add(target, Arc::clone(&thread).into());
                drop(state);
                let waited = wait(&thread.0);
                state = self.lock();
                state.waiters.remove(id);
                waited
            }
            Err(error) => Err(ended_by(error)),
        };
        if let Err(ended) = waited {
            self.end(&mut state, ended);
        }
        state
    }

    /// Ends the connection, after reading what the other side has sent before. If a thread reads,
    /// that thread does both.
    pub(crate) fn end(&self, state: &mut LinkState, reason: Ended) {
        if !state.core.has_receiver() {
            return self.socket.shut_down();
        }
        while self.read_beside_sending(state) {}
        state.handle_ended(reason);
    }

    /// Reads once while the socket is full. Returns true if bytes arrived or the connection ended.
    fn read_beside_sending(&self, state: &mut LinkState) -> bool {
        if state.read_mode == ReadMode::Messages {
            return false;
        }
        state.file_received();
        let has_read = state.core.ended().is_none() && self.read_now(state);
        state.file_received();
        has_read
    }

    /// Reads once without waiting. Returns true if bytes arrived or the connection ended; false
    /// also while a thread reads.
    pub(crate) fn read_now(&self, state: &mut LinkState) -> bool {
        if state.is_interrupted() {
            return false;
        }
        let Some(mut reader) = state.take_reader() else { return false };
        let received = reader.receive(&self.socket, Some(Duration::ZERO), None);
        state.return_reader(reader);
        match received {
            Ok(SocketReadOutcome::Nothing) => false,
            Ok(SocketReadOutcome::Bytes(_)) => true,
            Err(ended) => {
                state.handle_ended(ended);
                true
            }
        }
    }
}

impl Drop for ConnectionLink {
    fn drop(&mut self) {
        let state = self.lock();
        if !state.is_interrupted() {
            let deadline = clock::monotonic().saturating_add(LINGER);
            drop(self.flush_until(state, Some(deadline)));
        }
    }
}

/// How long dropping a connection waits for the bus to read the queued bytes.
const LINGER: Duration = Duration::from_secs(1);

/// The time on the monotonic clock at which a timeout that starts now expires.
pub(crate) fn deadline(timeout: Option<Duration>) -> Option<Duration> {
    timeout.map(|timeout| clock::monotonic().saturating_add(timeout))
}
