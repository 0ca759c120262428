//! The simulated machine: open descriptors, data in transit, processes, signals and the clock.

mod chance;
mod listener;
mod process;
mod shortage;
mod socket;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::io::{self, PipeReader};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

pub use chance::Chance;
pub use listener::ListenerId;
pub use process::{ProcessEnd, SimulatedProcess};
pub use shortage::FailedWrite;
pub(crate) use socket::Simulated;
pub use socket::{ReceivedData, SimulatedSocket, SocketId};

use crate::poll::{Interest, PollEvent, Ready};
use crate::signals::ProcessSignal;

/// Everything outside the daemon: its peers, its services and the passing of time.
pub trait KernelWorld {
    /// Performs one step. Inside, use [`with`] to access the machine.
    fn act(&mut self) -> MachineActivity;
}

/// The outcome of one step of the world.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MachineActivity {
    /// The world did something, and may have more to do now.
    Acted,
    /// The world has nothing to do until the daemon acts or time passes.
    Idle,
    /// The world has finished. The machine sends the daemon SIGTERM.
    Ended,
}

/// The complete state of one simulated machine.
#[derive(Debug)]
pub struct SimulatedMachine {
    /// The source of randomness for all decisions of the machine.
    pub chance: Chance,
    now: Duration,
    sockets: HashMap<SocketId, SimulatedSocket>,
    next_socket: u64,
    listeners: listener::Listeners,
    // Never iterate over these maps where order matters: their order is not reproducible.
    files: HashMap<RawFd, OpenDescriptor>,
    watches: HashMap<RawFd, SimulatedWatch>,
    timers: Vec<RawFd>,
    /// Watched descriptors that may be ready. Others are certainly not ready.
    candidates: BTreeSet<RawFd>,
    signals: VecDeque<ProcessSignal>,
    processes: BTreeMap<u32, SimulatedProcess>,
    /// The last entries of the journal, at most [`ENTRIES_MAX`].
    journal: VecDeque<String>,
    shortages: shortage::Shortages,
    /// Reports the descriptors that the daemon has closed.
    close_events: real::poll::Poller,
}

/// The object behind a descriptor of the daemon.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SimulatedFile {
    Listener(ListenerId),
    Socket(SocketId),
    Timer { at: Option<Duration> },
    Signals,
    Process(u32),
    Poller,
}

/// An open descriptor of the daemon. It is really the write end of a pipe, so that the read end,
/// which is kept here, reports a hang-up when the daemon closes it.
#[derive(Debug)]
struct OpenDescriptor {
    file: SimulatedFile,
    _close_event: PipeReader,
}

#[derive(Clone, Copy, Debug)]
struct SimulatedWatch {
    token: u64,
    interest: Interest,
}

thread_local! {
    static MACHINE: RefCell<Option<SimulatedMachine>> = const { RefCell::new(None) };
    static WORLD: RefCell<Option<Box<dyn KernelWorld>>> = const { RefCell::new(None) };
}

/// Starts a machine in this thread and replaces an earlier one. The seed determines all its random
/// decisions; `world` acts whenever the daemon waits.
///
/// # Errors
///
/// Fails if this process has no descriptors left.
pub fn start(seed: u64, world: Box<dyn KernelWorld>) -> io::Result<()> {
    let machine = SimulatedMachine {
        chance: Chance::new(seed),
        // Not zero, so that times in the recent past are not before the start of the machine.
        now: Duration::from_secs(1000),
        sockets: HashMap::new(),
        next_socket: 0,
        listeners: listener::Listeners::default(),
        files: HashMap::new(),
        watches: HashMap::new(),
        timers: Vec::new(),
        candidates: BTreeSet::new(),
        signals: VecDeque::new(),
        processes: BTreeMap::new(),
        journal: VecDeque::new(),
        shortages: shortage::Shortages::default(),
        close_events: real::poll::Poller::new()?,
    };
    MACHINE.set(Some(machine));
    WORLD.set(Some(world));
    Ok(())
}

/// Stops the machine of this thread and returns its world.
pub fn stop() -> Option<Box<dyn KernelWorld>> {
    MACHINE.set(None);
    WORLD.take()
}

/// Calls `act` with the machine of this thread.
///
/// # Panics
///
/// Panics if no machine was started in this thread.
pub fn with<T>(act: impl FnOnce(&mut SimulatedMachine) -> T) -> T {
    MACHINE.with_borrow_mut(|machine| act(machine.as_mut().expect("the machine was started")))
}

/// Lets the world act until a descriptor is ready or `timeout` has passed.
pub(crate) fn wait(ready: &mut Vec<PollEvent>, capacity: usize, timeout: Option<Duration>) {
    let end = with(|machine| {
        machine.begin_turn();
        timeout.map(|timeout| machine.now + timeout)
    });
    loop {
        let times = with(|machine| machine.chance.below(STEPS_MAX) + 1);
        let mut activity = MachineActivity::Acted;
        for _ in 0..times {
            // Taken out of the cell, because the world accesses the machine while it acts.
            let mut world = WORLD.take().expect("the world was started");
            activity = world.act();
            WORLD.set(Some(world));
            if activity != MachineActivity::Acted {
                break;
            }
        }
        let is_over = with(|machine| {
            if activity == MachineActivity::Ended && machine.signals.is_empty() {
                machine.send_signal(ProcessSignal::Terminate);
            }
            machine.collect_closed();
            machine.collect(ready, capacity);
            if ready.is_empty() && activity == MachineActivity::Idle {
                machine.sleep(end);
            }
            !ready.is_empty() || end.is_some_and(|end| machine.now >= end)
        });
        if is_over {
            return;
        }
    }
}

/// The clock and the timers.
impl SimulatedMachine {
    /// Returns the current time, after a small random advance, so that successive readings differ.
    pub fn tick(&mut self) -> Duration {
        self.now += Duration::from_nanos(self.chance.below(TICK_NS_MAX) as u64);
        self.now
    }

    /// Advances the clock by `time`.
    pub fn pass(&mut self, time: Duration) {
        self.now += time;
    }

    /// Advances the clock to the next timer, or to `end` if that is earlier.
    fn sleep(&mut self, end: Option<Duration>) {
        let timers = self.timers.iter().filter_map(|timer| match self.files.get(timer)?.file {
            SimulatedFile::Timer { at } => at,
            _ => None,
        });
        let next = timers.chain(end).filter(|at| *at > self.now).min();
        self.now = next.unwrap_or(self.now + SLEEP);
    }

    pub(crate) fn set_timer(&mut self, timer: impl AsFd, at: Option<Duration>) {
        let number = timer.as_fd().as_raw_fd();
        if let Some(opened) = self.files.get_mut(&number) {
            opened.file = SimulatedFile::Timer { at };
        }
        self.candidates.insert(number);
    }
}

/// Signals to the daemon.
impl SimulatedMachine {
    /// Sends a signal to the daemon.
    pub fn send_signal(&mut self, signal: ProcessSignal) {
        self.signals.push_back(signal);
        self.mark_candidates(|file| file == SimulatedFile::Signals);
    }

    pub(crate) fn take_signal(&mut self) -> Option<ProcessSignal> {
        self.signals.pop_front()
    }
}

/// The journal of the daemon.
impl SimulatedMachine {
    pub(crate) fn log(&mut self, entry: &[u8]) {
        if self.journal.len() >= ENTRIES_MAX {
            self.journal.pop_front();
        }
        self.journal.push_back(String::from_utf8_lossy(entry).into_owned());
    }

    /// Returns the last entries of the journal, oldest first.
    pub fn journal(&self) -> impl Iterator<Item = &str> {
        self.journal.iter().map(String::as_str)
    }
}

/// Descriptors of the daemon.
impl SimulatedMachine {
    pub(crate) fn open(&mut self, file: SimulatedFile) -> io::Result<OwnedFd> {
        let (close_event, descriptor) = io::pipe()?;
        let descriptor = OwnedFd::from(descriptor);
        let number = descriptor.as_raw_fd();
        // A number that is reused was closed before.
        self.closed(number);
        self.close_events.add(&close_event, number as u64, Interest::Hangup)?;
        self.files.insert(number, OpenDescriptor { file, _close_event: close_event });
        match file {
            SimulatedFile::Socket(id) => {
                if let Some(socket) = self.sockets.get_mut(&id) {
                    socket.number = Some(number);
                }
            }
            SimulatedFile::Timer { .. } => self.timers.push(number),
            _ => {}
        }
        Ok(descriptor)
    }

    /// Passes a descriptor of the daemon on to the program that replaces it. The old descriptor then
    /// has no meaning. A descriptor that is not simulated is duplicated.
    ///
    /// # Errors
    ///
    /// Fails if this process has no descriptors left.
    pub fn take_over(&mut self, descriptor: BorrowedFd<'_>) -> io::Result<OwnedFd> {
        let number = descriptor.as_raw_fd();
        let Some(OpenDescriptor { file, .. }) = self.files.remove(&number) else {
            return descriptor.try_clone_to_owned();
        };
        self.watches.remove(&number);
        self.candidates.remove(&number);
        self.timers.retain(|timer| *timer != number);
        self.open(file)
    }

    /// Returns the process behind a descriptor.
    ///
    /// # Panics
    ///
    /// Panics if the descriptor does not belong to a process.
    pub(crate) fn pid_of(&self, descriptor: &OwnedFd) -> u32 {
        match self.files.get(&descriptor.as_raw_fd()).map(|opened| opened.file) {
            Some(SimulatedFile::Process(pid)) => pid,
            other => panic!("{other:?} is not a process"),
        }
    }

    fn collect_closed(&mut self) {
        let mut events = real::poll::Events::with_capacity(64);
        loop {
            // The wait has a timeout of zero, so a signal cannot interrupt it.
            let _ = self.close_events.wait(&mut events, Some(Duration::ZERO));
            if events.is_empty() {
                return;
            }
            events.iter().for_each(|event| self.closed(event.token() as RawFd));
        }
    }

    fn closed(&mut self, number: RawFd) {
        self.watches.remove(&number);
        self.candidates.remove(&number);
        self.timers.retain(|timer| *timer != number);
        match self.files.remove(&number).map(|opened| opened.file) {
            Some(SimulatedFile::Socket(socket)) => self.closed_by_daemon(socket),
            Some(SimulatedFile::Listener(listener)) => self.stop_listening(listener),
            _ => {}
        }
    }

    fn mark_candidates(&mut self, matches: impl Fn(SimulatedFile) -> bool) {
        let numbers = self.files.iter().filter(|(_, opened)| matches(opened.file));
        self.candidates.extend(numbers.map(|(number, _)| *number));
    }

    /// Returns how many simulated descriptors the daemon has open.
    pub fn open_count(&mut self) -> usize {
        self.collect_closed();
        self.files.len()
    }
}

/// Descriptors that the daemon watches.
impl SimulatedMachine {
    pub(crate) fn watch(
        &mut self,
        source: BorrowedFd<'_>,
        token: u64,
        interest: Interest,
        is_watched: bool,
    ) -> io::Result<()> {
        let number = source.as_raw_fd();
        if !is_watched && self.watches.contains_key(&number) {
            self.collect_closed();
        }
        // Pipes with the output of services are real and always empty, so they never become ready.
        if !self.files.contains_key(&number) {
            return Ok(());
        }
        match (self.watches.contains_key(&number), is_watched) {
            (true, false) => return Err(io::ErrorKind::AlreadyExists.into()),
            (false, true) => return Err(io::ErrorKind::NotFound.into()),
            _ => {}
        }
        self.watches.insert(number, SimulatedWatch { token, interest });
        self.candidates.insert(number);
        Ok(())
    }

    pub(crate) fn unwatch(&mut self, source: BorrowedFd<'_>) -> io::Result<()> {
        let number = source.as_raw_fd();
        self.candidates.remove(&number);
        self.watches.remove(&number).map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Collects the events of ready descriptors in a random order, at most `capacity`.
    fn collect(&mut self, ready: &mut Vec<PollEvent>, capacity: usize) {
        self.candidates.extend(&self.timers);
        let candidates: Vec<_> = self.candidates.iter().copied().collect();
        for number in candidates {
            match self.event(number) {
                Some(event) => ready.push(event),
                None => {
                    self.candidates.remove(&number);
                }
            }
        }
        self.chance.shuffle(ready);
        ready.truncate(capacity);
    }

    fn event(&self, number: RawFd) -> Option<PollEvent> {
        let watch = self.watches.get(&number)?;
        let is = match self.files.get(&number)?.file {
            SimulatedFile::Listener(listener) => {
                Ready { read: self.listeners.has_waiting(listener), ..Ready::default() }
            }
            SimulatedFile::Socket(socket) => self.sockets.get(&socket)?.ready(),
            SimulatedFile::Timer { at } => {
                Ready { read: at.is_some_and(|at| at <= self.now), ..Ready::default() }
            }
            SimulatedFile::Signals => Ready { read: !self.signals.is_empty(), ..Ready::default() },
            SimulatedFile::Process(pid) => Ready { read: self.has_ended(pid), ..Ready::default() },
            SimulatedFile::Poller => Ready::default(),
        };
        let (reads, writes) = match watch.interest {
            Interest::Read => (true, false),
            Interest::Write => (false, true),
            Interest::ReadWrite => (true, true),
            Interest::Hangup => (false, false),
        };
        let ready = Ready { read: is.read && reads, write: is.write && writes, ..is };
        (ready != Ready::default()).then_some(PollEvent { token: watch.token, ready })
    }
}

/// The most steps of the world between two checks for ready descriptors.
const STEPS_MAX: usize = 40;

/// The time that passes while the world is idle and no timer is set.
const SLEEP: Duration = Duration::from_secs(1);

/// The most journal entries that the machine keeps.
const ENTRIES_MAX: usize = 50;

/// The most nanoseconds that pass between two readings of the clock.
const TICK_NS_MAX: usize = 3000;
