//! The loop that moves the bytes: drain, route, flush.
//!
//! ```text
//! wait ─▶ receive: for each readable connection one read, cut into messages, route each
//!      ─▶ deliver: for each connection with something queued one write, first those that
//!                  somebody waits for
//!      ─▶ close what has ended
//! ```
//!
//! One message in flight costs three system calls: wait, read, write. Nothing waits for a timer to
//! be sent together, and the poller is told of writing only while a socket is full.
//!
//! A turn has a budget, so that no flood starves the others: each connection is read once, those
//! that flood come last and with few messages (`budget`), and when routing has taken 500 µs,
//! everything queued is written before it goes on.

mod accept;
mod admission;
mod admission_queue;
mod back_pressure;
mod deadlines;
mod deliver;
mod listening;
mod memory_trimmer;
mod metrics;
pub(crate) mod read_budget;
mod receive;
mod reload;
mod services;
mod tracing;

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::mem;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::OnceLock;
use std::time::Duration;

use bus::mediation::Mediator;
use bus::{
    Bus, Effects, ForeignError, HashKey, HashSeed, HeldFds, Incident, IncidentKind, IncidentReason,
    Input, PeerId, PeerSnapshot, Time, Urgency,
};
use sys::poll::{Event, Events, Interest, Poller};
use sys::rlimit::OpenFiles;
use sys::signals::{Signal, SignalSource};
use wire::framer::SCRATCH_LEN_MIN;

use crate::activation::{Catalog, ChildKey, Children, Launcher};
use crate::arrivals::Arrivals;
use crate::authority::SystemAuthority;
use crate::back_pressure::Loads;
use crate::busconfig::{Config, ConfigError};
use crate::connection::End;
use crate::fault::Fault;
use crate::fd_quota::FdQuotas;
use crate::fds_in_kernel::UserFds;
use crate::listen::Listener;
use crate::log::Log;
use crate::metrics::{Metrics, Place};
use crate::outgoing::{SharedFds, Spare};
use crate::report::Reporter;
use crate::table::Table;
use crate::trace::{Dump, Traces};
use admission_queue::AdmissionQueue;
use deadlines::Alarm;
use listening::{Descriptors, Listening};
use memory_trimmer::MemoryTrimmer;
use read_budget::InteractiveTraffic;
use reload::Changes;

/// What is read from files: the configuration, and the services of the folders that it names.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// What the bus is told to do, the services included.
    pub config: Config,
    /// How the services are started.
    pub catalog: Catalog,
}

/// A configuration without services.
impl From<Config> for Loaded {
    fn from(config: Config) -> Self {
        Self { config, catalog: Catalog::default() }
    }
}

/// Reads the configuration again.
pub trait Reload {
    /// Reads it.
    ///
    /// # Errors
    ///
    /// What is wrong with it. The old one stays in force then.
    fn read(&mut self) -> Result<Loaded, ConfigError>;

    /// Takes what the log should say about the last [`Self::read`], one line each.
    fn warnings(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// What was read is in force, or the old one after an error.
    fn done(&mut self);
}

/// What a loop is made of.
pub struct Parts {
    /// Where connections come from.
    pub listeners: Vec<Listener>,
    /// Who the bus is.
    pub identity: bus::Identity,
    /// What it is told to do, and what it can start.
    pub loaded: Loaded,
    /// Security modules that have a say, if any have.
    pub mediator: Option<Box<dyn Mediator>>,
    /// What the processes of services may have open: as much as this one might at its start.
    pub open_files: OpenFiles,
    /// How to read that again.
    pub reload: Box<dyn Reload>,
    /// Where to tell what an administrator should know.
    pub log: Log,
    /// Where to tell what is counted, if anywhere.
    pub metrics: Option<Metrics>,
    /// SIGTERM and SIGINT end the loop, SIGHUP reads the configuration again, SIGUSR2 writes what
    /// the flight recorder has to a file.
    pub signals: SignalSource,
}

/// A running message bus.
pub struct EventLoop {
    poller: Poller,
    listeners: Vec<Listener>,
    listening: Listening,
    descriptors: Descriptors,
    signals: SignalSource,
    bus: Bus,
    table: Table,
    authority: SystemAuthority,
    config: Config,
    catalog: Catalog,
    launcher: Launcher,
    children: Children,
    /// Whose output waits for our own standard error.
    paused_outputs: Vec<ChildKey>,
    /// Descriptors of messages that wait for a service.
    held_fds: BTreeMap<HeldFds, SharedFds>,
    /// Descriptors that were written and not received.
    user_fds: UserFds,
    /// Descriptors that came and were not written.
    fd_quotas: FdQuotas,
    reload: Box<dyn Reload>,
    changes: Changes,
    log: Log,
    reporter: Reporter,
    metrics: Option<Metrics>,
    traces: Traces,
    /// What the flight recorder had, on its way to a file.
    dump: Option<Dump>,
    now: Duration,
    alarm: Alarm,
    work: Work,
    interactive: InteractiveTraffic,
    arrivals: Arrivals,
    admission_queue: AdmissionQueue,
    buffers: Buffers,
    trimmer: MemoryTrimmer,
}

/// Connections that need something.
#[derive(Debug, Default)]
struct Work {
    /// To be written to, a message in the queue being awaited by somebody.
    awaited: Vec<PeerId>,
    /// To be written to.
    passing: Vec<PeerId>,
    /// To be written to as soon as all effects of the current input are applied: their queues are
    /// long.
    long: Vec<PeerId>,
    /// With messages that were read and not routed yet.
    backlog: VecDeque<PeerId>,
    /// To be closed.
    ended: Vec<PeerId>,
    /// That may not stay as they are: whose sockets are full, or with descriptors that wait for
    /// their message.
    timed: Vec<PeerId>,
    /// Whether something of the connection that is being read went to a recipient that had nothing
    /// unread.
    reached_ready: bool,
}

impl Work {
    /// Adds a connection that has something queued to the list for its urgency.
    #[inline]
    fn mark(&mut self, peer: PeerId, urgency: Urgency) {
        match urgency {
            Urgency::Awaited => self.awaited.push(peer),
            Urgency::Passing => self.passing.push(peer),
        }
    }
}

/// Memory that is used in every turn and kept.
#[derive(Debug, Default)]
struct Buffers {
    /// Where bytes are read to. One is taken while one connection's are looked at; parts of others
    /// may be lent to queues.
    scratch: Vec<Rc<Vec<u8>>>,
    fds: Vec<OwnedFd>,
    effects: Effects,
    effects_of_answers: Effects,
    /// What the bus wants done about writes. It is rarely anything.
    effects_of_writes: Effects,
    released: Loads,
    /// Bytes of messages that were copied in memory since the bus was told.
    copied: u64,
    spare: Spare,
}

/// Whether the loop goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Flow {
    Continue,
    Stop,
}

impl EventLoop {
    /// A loop that is ready to run.
    pub fn new(parts: Parts) -> io::Result<Self> {
        let Loaded { config, catalog } = parts.loaded;
        let address = joined_address(&parts.listeners);
        let bus_type = config.document.bus_type.as_ref();
        let launcher = Launcher::new(&address, bus_type, parts.open_files);
        let configuration = config.configuration.clone();
        let authority = SystemAuthority::new(parts.identity.uid);
        let (changes, unwatched) = Changes::of(&config.document);
        let mut bus = Bus::new(parts.identity, configuration, hash_key()?);
        if sys::cycles::are_trusted() {
            bus.set_stopwatch(sys::cycles::read);
        }
        let bus = match parts.mediator {
            Some(mediator) => bus.mediated_by(mediator),
            None => bus,
        };
        let mut event_loop = Self {
            poller: Poller::new()?,
            listeners: parts.listeners,
            listening: Listening::NotYet,
            descriptors: Descriptors::of_this_process(),
            signals: parts.signals,
            bus,
            table: Table::default(),
            authority,
            config,
            reload: parts.reload,
            catalog,
            launcher,
            children: Children::default(),
            paused_outputs: Vec::new(),
            held_fds: BTreeMap::new(),
            user_fds: UserFds::within(sys::rlimit::open_files_max()),
            fd_quotas: FdQuotas::within(sys::rlimit::open_files_max()),
            changes,
            log: parts.log,
            reporter: Reporter::default(),
            metrics: parts.metrics,
            traces: Traces::default(),
            dump: None,
            now: sys::clock::monotonic(),
            alarm: Alarm::new()?,
            work: Work::default(),
            interactive: InteractiveTraffic::default(),
            arrivals: Arrivals::default(),
            admission_queue: AdmissionQueue::default(),
            buffers: Buffers::default(),
            trimmer: MemoryTrimmer::begin(),
        };
        event_loop.poller.add(&event_loop.signals, Source::Signals.token(), Interest::Read)?;
        event_loop.poller.add(event_loop.alarm.timer(), Source::Alarm.token(), Interest::Read)?;
        if let Some(folders) = &event_loop.changes.folders {
            event_loop.poller.add(folders, Source::Folders.token(), Interest::Read)?;
        }
        event_loop.start_metrics()?;
        event_loop.set_recorder();
        event_loop.tell_unwatched(unwatched);
        Ok(event_loop)
    }

    /// Does not check the invariants of the bus in debug builds any more, so that the cost of messages
    /// can be measured.
    pub const fn stop_checking(&mut self) {
        self.bus.stop_checking();
    }

    /// Runs until SIGTERM or SIGINT.
    pub fn run(&mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(EVENTS_PER_TURN);
        self.update_listening()?;
        loop {
            let backlog_waits = !self.work.backlog.is_empty();
            self.poller.wait(&mut events, backlog_waits.then_some(Duration::ZERO))?;
            if self.turn(&events)? == Flow::Stop {
                self.dump_at_exit();
                return Ok(());
            }
        }
    }

    fn turn(&mut self, events: &Events) -> io::Result<Flow> {
        self.now = sys::clock::monotonic();
        if let Some(active) = self.traces.active() {
            active.clock.turn_began(self.now);
        }
        let mut flushed_at = self.now;
        let mut floods = false;
        for event in events.iter() {
            match Source::from_token(event.token()) {
                Source::Peer(peer) if !self.is_calm(peer) => floods = true,
                Source::Peer(peer) => self.peer_event(peer, event),
                Source::Child(key) => self.child_ended(key),
                Source::Output(key) => self.child_spoke(key),
                Source::Stderr => self.resume_outputs(),
                Source::Metrics(place) => self.serve_metrics(place),
                Source::Listener { index, socket } => self.accept(index, socket)?,
                Source::Alarm => self.check_deadlines()?,
                Source::Folders => self.folders_changed()?,
                Source::Signals => {
                    if self.take_signals()? == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                }
            }
            self.flush_if_late(&mut flushed_at);
        }
        if floods || !self.work.backlog.is_empty() {
            self.flush();
            self.floods(events, &mut flushed_at);
        }
        self.flush();
        self.close_ended();
        self.serve_queued();
        self.update_listening()?;
        self.set_alarm()?;
        Ok(Flow::Continue)
    }

    /// Goes on with those that have sent more than is taken at once.
    fn floods(&mut self, events: &Events, flushed_at: &mut Duration) {
        for _ in 0..self.work.backlog.len() {
            if let Some(peer) = self.work.backlog.pop_front() {
                self.receive_backlog(peer);
                self.flush_if_late(flushed_at);
            }
        }
        for event in events.iter() {
            if let Source::Peer(peer) = Source::from_token(event.token())
                && !self.is_calm(peer)
            {
                self.peer_event(peer, event);
                self.flush_if_late(flushed_at);
            }
        }
    }

    /// Whether not more comes from a connection than is taken at once.
    fn is_calm(&self, peer: PeerId) -> bool {
        self.table.get(peer).is_none_or(|connection| !connection.budget.is_flood())
    }

    fn peer_event(&mut self, peer: PeerId, event: Event) {
        if event.is_writable() {
            self.flush_one(peer);
        }
        if event.is_readable() {
            self.receive(peer);
        } else if event.is_hangup() || event.is_error() {
            self.hung_up(peer);
        }
    }

    /// Writes what is queued if routing has taken long, so that nobody waits for the end of a turn.
    #[inline]
    fn flush_if_late(&mut self, flushed_at: &mut Duration) {
        if self.work.awaited.is_empty() && self.work.passing.is_empty() {
            return;
        }
        let is_traced = self.traces.is_on();
        let now = if is_traced { self.traces.time_after() } else { sys::clock::monotonic() };
        if now.saturating_sub(*flushed_at) > FLUSH_INTERVAL {
            self.now = now;
            self.flush();
            *flushed_at = now;
        }
    }

    /// Hands an input that is not a message to the bus, and does what comes of it.
    fn handle(&mut self, input: Input<'_>) {
        let mut effects = mem::take(&mut self.buffers.effects);
        effects.clear();
        self.bus.handle(self.time(), input, &mut effects);
        self.apply(&effects, &deliver::Origin::Bus { fds: None });
        self.buffers.effects = effects;
        self.write_long_queues();
    }

    /// Logs a fault, and adds it to the history.
    fn fault(&mut self, fault: Fault) {
        self.reporter.fault(&self.log, &self.bus, &fault, self.now);
        self.watch_log();
        let (kind, cause, peer) = (IncidentKind::Fault, fault.word(), PeerSnapshot::default());
        let reason = IncidentReason::Foreign(ForeignError::new(fault));
        self.bus.note_incident(Incident::new(kind, cause, peer, reason, None, self.time()));
    }

    const fn time(&self) -> Time {
        Time::from_nanos(self.now.as_nanos() as u64)
    }

    fn take_signals(&mut self) -> io::Result<Flow> {
        while let Some(signal) = self.signals.take()? {
            match signal {
                Signal::Terminate | Signal::Interrupt => return Ok(Flow::Stop),
                Signal::HangUp => self.reconfigure(None),
                Signal::User2 => self.dump_recorder(),
                // What was refused says so itself.
                Signal::FileSize => {}
                Signal::User1 | Signal::Child | Signal::Resized | Signal::Suspend => {
                    unreachable!("it is not blocked")
                }
            }
        }
        Ok(Flow::Continue)
    }

    /// Marks a connection to be closed at the end of the turn.
    fn end(&mut self, peer: PeerId, end: End) {
        if let Some(connection) = self.table.get_mut(peer)
            && connection.end.is_none()
        {
            connection.end = Some(end);
            self.work.ended.push(peer);
        }
    }
}

/// A key for the tables of a bus, of random numbers.
fn hash_key() -> io::Result<HashKey> {
    static SEED: OnceLock<HashSeed> = OnceLock::new();
    let (own, seed) = (random_number()?, random_number()?);
    Ok(HashKey::new(own, SEED.get_or_init(|| HashSeed::new(seed))))
}

fn random_number() -> io::Result<u64> {
    let mut bytes = [0; 8];
    sys::random::fill(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

/// Where clients find a bus: at any of the places that it listens at.
pub(crate) fn joined_address(listeners: &[Listener]) -> String {
    let addresses: Vec<_> = listeners.iter().map(|it| it.address.to_string()).collect();
    addresses.join(";")
}

/// What the poller reports on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    Signals,
    Alarm,
    /// Our own standard error, while services have more for it than it takes.
    Stderr,
    /// The process of a service.
    Child(ChildKey),
    /// What a service writes to its standard error.
    Output(ChildKey),
    /// Folders of the configuration.
    Folders,
    /// The socket for what is counted, and who asks there.
    Metrics(Place),
    /// One of the sockets of a listener.
    Listener {
        index: usize,
        socket: usize,
    },
    Peer(PeerId),
}

impl Source {
    fn token(self) -> u64 {
        match self {
            Self::Signals => SIGNALS,
            Self::Alarm => ALARM,
            Self::Stderr => STDERR,
            Self::Child(key) => u64::from(key.number()) << 32 | CHILD,
            Self::Output(key) => u64::from(key.number()) << 32 | OUTPUT,
            Self::Metrics(place) => u64::from(place.number()) << 32 | METRICS,
            Self::Folders => FOLDERS,
            Self::Listener { index, socket } => (socket as u64) << 32 | OTHER_BIT | index as u64,
            Self::Peer(peer) => u64::from(peer.generation()) << 32 | peer.index() as u64,
        }
    }

    const fn from_token(token: u64) -> Self {
        let (upper, lower) = ((token >> 32) as u32, token as u32);
        match token {
            // An index of a connection has less than 31 bits, as a descriptor has.
            _ if token & OTHER_BIT == 0 => Self::Peer(PeerId::new(lower, upper)),
            SIGNALS => Self::Signals,
            ALARM => Self::Alarm,
            STDERR => Self::Stderr,
            FOLDERS => Self::Folders,
            _ if lower as u64 == CHILD => Self::Child(ChildKey::new(upper)),
            _ if lower as u64 == OUTPUT => Self::Output(ChildKey::new(upper)),
            _ if lower as u64 == METRICS => Self::Metrics(Place::from_number(upper)),
            _ => Self::Listener {
                index: (lower & !(OTHER_BIT as u32)) as usize,
                socket: upper as usize,
            },
        }
    }
}

/// Set in the tokens of everything that is no connection.
const OTHER_BIT: u64 = 1 << 31;

const SIGNALS: u64 = u64::MAX;
const ALARM: u64 = u64::MAX - 1;
const STDERR: u64 = u64::MAX - 2;
const FOLDERS: u64 = u64::MAX - 3;

/// The lower halves of tokens of services and of who asks what is counted; there are never as many
/// listeners.
const CHILD: u64 = OTHER_BIT | 1 << 30;
const OUTPUT: u64 = OTHER_BIT | 1 << 30 | 1;
const METRICS: u64 = OTHER_BIT | 1 << 30 | 2;

/// Bytes that are read at once.
const SCRATCH_LEN: usize = 256 * 1024;
const _: () = assert!(SCRATCH_LEN >= SCRATCH_LEN_MIN);

/// Events that are taken at once.
const EVENTS_PER_TURN: usize = 256;

/// How long messages are routed before what is queued is written.
const FLUSH_INTERVAL: Duration = Duration::from_micros(500);
