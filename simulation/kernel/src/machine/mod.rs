//! The machine: who has opened what, what is under way, and what time it is.

mod chance;
mod process;
mod shortage;
mod socket;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::io::{self, PipeReader};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

pub use chance::Chance;
pub use process::{ProcessEnd, SimulatedProcess};
pub use shortage::FailedWrite;
pub use socket::{Arrived, SimulatedSocket, SocketId};

use crate::poll::{Interest, PollEvent, Ready};
use crate::signals::ProcessSignal;

/// Everybody but the daemon.
pub trait KernelWorld {
    /// Does the next thing, by [`with`].
    fn act(&mut self) -> MachineActivity;
}

/// What came of it when the world acted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MachineActivity {
    /// Something was done, and more may be.
    Acted,
    /// Nothing is to be done before the daemon does something, or time passes.
    Idle,
    /// All is done: the daemon is told to end.
    Ended,
}

/// The state of a machine.
#[derive(Debug)]
pub struct SimulatedMachine {
    /// What decides where nothing else does.
    pub chance: Chance,
    now: Duration,
    sockets: HashMap<SocketId, SimulatedSocket>,
    next_socket: u64,
    /// Those who have connected and were not accepted.
    pub(crate) waiting: VecDeque<SocketId>,
    // Those are never gone through in their order, which is any.
    files: HashMap<RawFd, OpenDescriptor>,
    watches: HashMap<RawFd, SimulatedWatch>,
    timers: Vec<RawFd>,
    /// Of what is watched, what may be ready.
    candidates: BTreeSet<RawFd>,
    signals: VecDeque<ProcessSignal>,
    processes: BTreeMap<u32, SimulatedProcess>,
    /// What was written to the journal last.
    journal: VecDeque<String>,
    shortages: shortage::Shortages,
    /// Reports when the daemon has closed something.
    closings: real::poll::Poller,
}

/// What a descriptor of the daemon is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SimulatedFile {
    Listener,
    Socket(SocketId),
    Timer { at: Option<Duration> },
    Signals,
    Process(u32),
    Poller,
}

/// The number that the daemon has is that of the end of a pipe, of which the other end tells when it
/// is closed.
#[derive(Debug)]
struct OpenDescriptor {
    file: SimulatedFile,
    _closing: PipeReader,
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

/// Starts a machine in this thread, in place of any before, with this seed and everybody but the
/// daemon.
///
/// # Errors
///
/// When this process has no descriptors left.
pub fn start(seed: u64, world: Box<dyn KernelWorld>) -> io::Result<()> {
    let machine = SimulatedMachine {
        chance: Chance::new(seed),
        // So that what is a while ago is no time before the start.
        now: Duration::from_secs(1000),
        sockets: HashMap::new(),
        next_socket: 0,
        waiting: VecDeque::new(),
        files: HashMap::new(),
        watches: HashMap::new(),
        timers: Vec::new(),
        candidates: BTreeSet::new(),
        signals: VecDeque::new(),
        processes: BTreeMap::new(),
        journal: VecDeque::new(),
        shortages: shortage::Shortages::default(),
        closings: real::poll::Poller::new()?,
    };
    MACHINE.set(Some(machine));
    WORLD.set(Some(world));
    Ok(())
}

/// Ends the machine of this thread; gives back its world.
pub fn stop() -> Option<Box<dyn KernelWorld>> {
    MACHINE.set(None);
    WORLD.take()
}

/// Does something to the machine of this thread.
///
/// # Panics
///
/// If there is none.
pub fn with<T>(act: impl FnOnce(&mut SimulatedMachine) -> T) -> T {
    MACHINE.with_borrow_mut(|machine| act(machine.as_mut().expect("the machine was started")))
}

/// Lets the world act until something is ready or `timeout` is over.
pub(crate) fn wait(ready: &mut Vec<PollEvent>, capacity: usize, timeout: Option<Duration>) {
    let end = with(|machine| {
        machine.begin_turn();
        timeout.map(|timeout| machine.now + timeout)
    });
    loop {
        let times = with(|machine| machine.chance.below(ACTS_MAX) + 1);
        let mut activity = MachineActivity::Acted;
        for _ in 0..times {
            // The world looks at the machine while it acts.
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
            machine.note_closed();
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

/// Time.
impl SimulatedMachine {
    /// What time it is. The next one who looks sees a little more.
    pub fn tick(&mut self) -> Duration {
        self.now += Duration::from_nanos(self.chance.below(TICK_NS_MAX) as u64);
        self.now
    }

    /// Lets time pass.
    pub fn pass(&mut self, time: Duration) {
        self.now += time;
    }

    /// Lets time pass until a timer rings, or until `end`.
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

/// Signals.
impl SimulatedMachine {
    /// Sends a signal to the daemon.
    pub fn send_signal(&mut self, signal: ProcessSignal) {
        self.signals.push_back(signal);
        self.note_all(|file| file == SimulatedFile::Signals);
    }

    pub(crate) fn take_signal(&mut self) -> Option<ProcessSignal> {
        self.signals.pop_front()
    }
}

/// What is logged.
impl SimulatedMachine {
    pub(crate) fn log(&mut self, entry: &[u8]) {
        if self.journal.len() >= ENTRIES_MAX {
            self.journal.pop_front();
        }
        self.journal.push_back(String::from_utf8_lossy(entry).into_owned());
    }

    /// The last entries of the journal.
    pub fn journal(&self) -> impl Iterator<Item = &str> {
        self.journal.iter().map(String::as_str)
    }
}

/// Descriptors of the daemon.
impl SimulatedMachine {
    pub(crate) fn open(&mut self, file: SimulatedFile) -> io::Result<OwnedFd> {
        let (closing, descriptor) = io::pipe()?;
        let descriptor = OwnedFd::from(descriptor);
        let number = descriptor.as_raw_fd();
        // A number that is given again was given back.
        self.closed(number);
        self.closings.add(&closing, number as u64, Interest::Hangup)?;
        self.files.insert(number, OpenDescriptor { file, _closing: closing });
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

    fn note_closed(&mut self) {
        let mut events = real::poll::Events::with_capacity(64);
        loop {
            // It does not wait, so it cannot be interrupted.
            let _ = self.closings.wait(&mut events, Some(Duration::ZERO));
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
        if let Some(OpenDescriptor { file: SimulatedFile::Socket(socket), .. }) =
            self.files.remove(&number)
        {
            self.closed_by_daemon(socket);
        }
    }

    fn note_all(&mut self, is_meant: impl Fn(SimulatedFile) -> bool) {
        let numbers = self.files.iter().filter(|(_, opened)| is_meant(opened.file));
        self.candidates.extend(numbers.map(|(number, _)| *number));
    }

    /// How many descriptors of the machine the daemon has open.
    pub fn open_count(&mut self) -> usize {
        self.note_closed();
        self.files.len()
    }
}

/// What is watched.
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
            self.note_closed();
        }
        // The output of services is no file of the machine: nothing is in it.
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

    /// What is ready, in any order; some of it if there is much.
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
            SimulatedFile::Listener => Ready { read: !self.waiting.is_empty(), ..Ready::default() },
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

/// How often the world acts at most before it is looked at what is ready.
const ACTS_MAX: usize = 40;

/// How long nothing happens where no timer is set. The world knows when it has waited enough.
const SLEEP: Duration = Duration::from_secs(1);

/// Entries of the journal that are kept.
const ENTRIES_MAX: usize = 50;

/// Between two looks at the clock.
const TICK_NS_MAX: usize = 3000;
