//! The loop that moves the bytes: drain, route, flush.
//!
//! ```text
//! wait ─▶ receive: for each readable connection one read, cut into messages, route each
//!      ─▶ flush:   for each connection with something queued one write, first those that
//!                  a peer waits for
//!      ─▶ close what has ended
//! ```
//!
//! The event loop is the only type that knows all parts. Each part has state of its own; its methods take
//! the parts that they need and return small results.
//!
//! One message in flight costs three system calls: wait, read, write. Nothing waits for a timer to
//! be sent together, and the poller watches for writing only while a socket is full.
//!
//! A turn has a budget, so that a connection that floods does not delay the others. Each connection is read
//! once. Connections that flood come last and with few messages (`read_budget`). After each event, which can
//! route up to 64 messages, the queues are written if 500 µs have passed since they last were.

mod accept;
mod admission;
mod admission_queue;
mod alarm;
mod changes;
mod entrance;
mod handshake;
mod lifetimes;
mod listening;
mod loaded;
mod loop_state;
mod memory_trimmer;
mod metrics;
mod origin;
mod replacement;
mod services;
mod source;
mod switchboard;
mod tracing;
mod trial;
mod work;

use std::io;
use std::mem;
use std::os::fd::{AsFd as _, OwnedFd};
use std::rc::Rc;
use std::sync::OnceLock;
use std::time::Duration;

use bus::mediation::Mediator;
use bus::{
    Bus, ContainerDescriptors, ContainerId, ContainerSocket, Effect, Effects, ForeignError,
    HashKey, HashSeed, Input, PeerId, StartId,
};
use sys::poll::{Events, Interest, PollEvent, Poller};
use sys::rlimit::OpenFiles;
use sys::signals::{ProcessSignal, SignalSource};
use wire::Message;
use wire::message::InvalidMessage;

use crate::activation::{ChildKey, Children, Launcher};
use crate::authority::SystemAuthority;
use crate::busconfig::{Config, ConfigError};
use crate::connection::{DescriptorClaim, End, Phase};
use crate::fault::Fault;
use crate::fd_quota::CountedFd;
use crate::listen::{ContainerFolder, Listener, joined_address, listener_of_program};
use crate::log::Log;
use crate::metrics::Metrics;
use crate::os_error::OsError;
use crate::report::{ReloadReport, Reporter};
pub use crate::saved_state::StateError;
use crate::table::ConnectionTable;
use accept::Acceptor;
use alarm::Alarm;
use changes::ConfigChanges;
use entrance::Entrance;
use lifetimes::NotAReadEnd;
pub use loaded::{Loaded, Reload};
use loop_state::LoopState;
use metrics::MetricsService;
use origin::EffectOrigin;
use replacement::ReplacementStage;
pub use replacement::{ReadPurpose, RestoreParts, RestoredLoop, UnwrittenLoop};
use services::ServiceStarter;
use source::EventSource;
use switchboard::{ReadOutcome, Switchboard, is_unread};
pub use trial::{ACCEPTED, CHECK_OPTION, StateTrial, TrialError};
use work::TurnRecipients;

/// The parts of an event loop.
pub struct LoopParts {
    /// The listeners that accept connections.
    pub listeners: Vec<Listener>,
    /// The identity of the bus.
    pub identity: bus::BusIdentity,
    /// The configuration and the activatable services.
    pub loaded: Loaded,
    /// The security modules that mediate, if any.
    pub mediator: Option<Box<dyn Mediator>>,
    /// The limit of open files for services: the original limit of this process.
    pub open_files: OpenFiles,
    /// Reads the configuration again on request.
    pub reload: Box<dyn Reload>,
    /// The log for administrators.
    pub log: Log,
    /// The metrics socket, if configured.
    pub metrics: Option<Metrics>,
    /// SIGTERM and SIGINT stop the loop, SIGHUP reloads the configuration, SIGUSR2 writes the
    /// flight recorder to a file, and SIGRTMIN+25 replaces the program.
    pub signals: SignalSource,
}

/// A running message bus. It is the only type that knows all parts.
pub struct EventLoop {
    switchboard: Switchboard,
    acceptor: Acceptor,
    authority: SystemAuthority,
    config: Config,
    services: ServiceStarter,
    reload: Box<dyn Reload>,
    changes: ConfigChanges,
    metrics: MetricsService,
    signals: SignalSource,
    replacement: ReplacementStage,
}

/// Why an event loop has returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoopExit {
    /// A signal has stopped the bus.
    Stopped,
    /// Another program shall replace this one. The caller starts a [`StateTrial`], or reports why it
    /// cannot, and continues the loop.
    Try,
    /// The trial of the other program was successful, so it shall replace this one. If it cannot,
    /// the loop can continue.
    Replace,
}

/// Whether the loop continues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Flow {
    Continue,
    Stop,
}

impl EventLoop {
    /// Creates a loop that is ready to run.
    pub fn new(parts: LoopParts) -> io::Result<Self> {
        let Loaded { config, catalog } = parts.loaded;
        let address = joined_address(&parts.listeners);
        let bus_type = config.document.bus_type.as_ref();
        let launcher = Launcher::new(&address, bus_type, parts.open_files);
        let configuration = config.configuration.clone();
        let authority = SystemAuthority::new(parts.identity.uid);
        let (changes, unwatched) = ConfigChanges::of(&config.document);
        let mut bus = Bus::new(parts.identity, configuration, hash_key()?);
        if sys::cycles::are_trusted() {
            bus.set_stopwatch(sys::cycles::read);
        }
        let bus = match parts.mediator {
            Some(mediator) => bus.mediated_by(mediator),
            None => bus,
        };
        let state = LoopState {
            poller: Poller::new()?,
            bus,
            table: ConnectionTable::default(),
            children: Children::default(),
            log: parts.log,
            reporter: Reporter::default(),
            alarm: Alarm::new()?,
            now: sys::clock::monotonic(),
        };
        let mut switchboard = Switchboard::new(state);
        let Switchboard { state, desk, .. } = &mut switchboard;
        state.poller.add(&parts.signals, EventSource::Signals.token(), Interest::Read)?;
        state.poller.add(state.alarm.timer(), EventSource::Alarm.token(), Interest::Read)?;
        if let Some(folders) = &changes.folders {
            state.poller.add(folders, EventSource::Folders.token(), Interest::Read)?;
        }
        let mut metrics = MetricsService::new(parts.metrics);
        metrics.start(state)?;
        desk.set_recorder(state, &config.document.own);
        unwatched.into_iter().for_each(|fault| state.fault(fault));
        Ok(Self {
            switchboard,
            acceptor: Acceptor::new(parts.listeners),
            authority,
            config,
            services: ServiceStarter::new(launcher, catalog),
            reload: parts.reload,
            changes,
            metrics,
            signals: parts.signals,
            replacement: ReplacementStage::Idle,
        })
    }

    /// Disables the invariant checks of debug builds, so that the cost of messages can be measured.
    pub const fn stop_checking(&mut self) {
        self.switchboard.state.bus.stop_checking();
    }

    /// Runs until SIGTERM or SIGINT, or until another program shall replace this one.
    ///
    /// # Errors
    ///
    /// An operation has failed that the bus needs.
    pub fn run(&mut self) -> io::Result<LoopExit> {
        let mut events = Events::with_capacity(EVENTS_PER_TURN);
        self.acceptor.listeners.update(&mut self.switchboard.state)?;
        loop {
            if let Some(exit) = self.next_exit() {
                return Ok(exit);
            }
            let backlog_waits = !self.switchboard.work.backlog.is_empty();
            let timeout = backlog_waits.then_some(Duration::ZERO);
            self.switchboard.state.poller.wait(&mut events, timeout)?;
            if self.turn(&events)? == Flow::Stop {
                let Switchboard { state, desk, .. } = &mut self.switchboard;
                desk.dump_at_exit(state);
                return Ok(LoopExit::Stopped);
            }
        }
    }

    fn turn(&mut self, events: &Events) -> io::Result<Flow> {
        let now = sys::clock::monotonic();
        self.switchboard.state.now = now;
        if let Some(active) = self.switchboard.desk.traces.active() {
            active.clock.turn_began(now);
        }
        let mut flushed_at = now;
        let mut floods = false;
        for event in events.iter() {
            let source = EventSource::from_token(event.token());
            let is_calm = matches!(source, EventSource::Peer(peer) if self.is_calm(peer));
            let state = &mut self.switchboard.state;
            match source {
                EventSource::Peer(peer) if is_calm => self.peer_event(peer, event),
                EventSource::Peer(_) => floods = true,
                EventSource::Child(key) => self.child_ended(key),
                EventSource::Output(key) => self.services.child_spoke(state, key),
                EventSource::Stderr => self.services.resume_outputs(state),
                EventSource::Metrics(place) => {
                    self.switchboard.count_lane_traffic();
                    self.metrics.serve(&mut self.switchboard.state, place);
                }
                EventSource::Lifetime(container) => {
                    self.acceptor.lifetimes.remove(state, container);
                    self.switchboard.handle(Input::ContainerExpired { container });
                    self.close_container(container);
                }
                EventSource::Listener { entrance: Entrance::Container(container), .. } => {
                    let Self { acceptor, switchboard, config, .. } = self;
                    acceptor.accept_contained(switchboard, config, container, event);
                }
                EventSource::Listener { entrance, socket } => {
                    self.acceptor.accept(&mut self.switchboard, &self.config, entrance, socket)?;
                }
                EventSource::Alarm => self.check_deadlines()?,
                EventSource::Trial => self.check_trial(),
                EventSource::Folders => self.changes.look(state.now, &mut state.alarm)?,
                EventSource::Signals => {
                    if self.take_signals()? == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                }
            }
            self.switchboard.flush_if_late(&mut flushed_at);
        }
        if floods || !self.switchboard.work.backlog.is_empty() {
            self.switchboard.flush();
            self.floods(events, &mut flushed_at);
        }
        self.switchboard.flush();
        if self.switchboard.close_ended() {
            self.acceptor.listeners.note_closed(self.switchboard.state.now);
            while let Some(container) = self.switchboard.work.closed_containers.pop() {
                self.close_container(container);
            }
            while let Some(container) = self.switchboard.work.removed_containers.pop() {
                self.acceptor.lifetimes.remove(&self.switchboard.state, container);
            }
        }
        self.acceptor.serve_queued(&mut self.switchboard, &self.config);
        let state = &mut self.switchboard.state;
        self.acceptor.listeners.update(state)?;
        state.set_alarm()?;
        self.switchboard.check_held_fds();
        Ok(Flow::Continue)
    }

    /// Continues with connections that have sent more than is routed at once.
    fn floods(&mut self, events: &Events, flushed_at: &mut Duration) {
        for _ in 0..self.switchboard.work.backlog.len() {
            if let Some(peer) = self.switchboard.work.backlog.pop_front() {
                self.receive_backlog(peer);
                self.switchboard.flush_if_late(flushed_at);
            }
        }
        for event in events.iter() {
            if let EventSource::Peer(peer) = EventSource::from_token(event.token())
                && !self.is_calm(peer)
            {
                self.peer_event(peer, event);
                self.switchboard.flush_if_late(flushed_at);
            }
        }
    }

    /// True unless the connection is flooding.
    fn is_calm(&self, peer: PeerId) -> bool {
        let connection = self.switchboard.state.table.get(peer);
        connection.is_none_or(|connection| !connection.budget.is_flood())
    }

    fn peer_event(&mut self, peer: PeerId, event: PollEvent) {
        if event.is_writable() {
            self.switchboard.flush_one(peer);
        }
        // Everything that a peer sent before it closed is read first.
        if event.is_readable()
            || ((event.is_hangup() || event.is_error()) && self.switchboard.may_read_last(peer))
        {
            self.receive(peer);
        }
    }

    fn take_signals(&mut self) -> io::Result<Flow> {
        while let Some(signal) = self.signals.take()? {
            match signal {
                ProcessSignal::Terminate | ProcessSignal::Interrupt => return Ok(Flow::Stop),
                ProcessSignal::HangUp => self.reconfigure(None),
                ProcessSignal::User2 => {
                    let Switchboard { state, desk, .. } = &mut self.switchboard;
                    desk.dump_recorder(state);
                }
                ProcessSignal::Reexecute => self.replacement.request(),
                // The failed operation has reported its error.
                ProcessSignal::FileSize => {}
                ProcessSignal::User1
                | ProcessSignal::Child
                | ProcessSignal::Resized
                | ProcessSignal::Suspend => {
                    unreachable!("it is not blocked")
                }
            }
        }
        Ok(Flow::Continue)
    }

    /// Handles expired deadlines, after the alarm.
    fn check_deadlines(&mut self) -> io::Result<()> {
        let Switchboard { state, desk, trimmer, .. } = &mut self.switchboard;
        state.alarm.rang()?;
        state.sum_up_log();
        self.metrics.check(state);
        desk.check_dump(state);
        desk.write_late_programs(state);
        trimmer.check(state.now, &mut state.alarm);
        self.switchboard.check_closed();
        self.check_trial_deadline();
        let state = &self.switchboard.state;
        if state.bus.next_deadline().is_some_and(|deadline| deadline <= state.time()) {
            self.deadline_passed();
        }
        for peer in mem::take(&mut self.switchboard.work.timed) {
            self.switchboard.check_timed(peer);
        }
        let state = &mut self.switchboard.state;
        if self.changes.are_due(state.now, &mut state.alarm) {
            self.reconfigure(None);
        }
        self.switchboard.release_senders();
        Ok(())
    }

    fn deadline_passed(&mut self) {
        let mut effects = mem::take(&mut self.switchboard.buffers.effects);
        effects.clear();
        let state = &mut self.switchboard.state;
        state.bus.handle(state.time(), Input::DeadlinePassed, &mut effects);
        self.apply(&effects, &EffectOrigin::Bus { fds: None });
        self.switchboard.buffers.effects = effects;
        self.switchboard.write_long_queues();
    }
}

/// Receiving and routing messages.
impl EventLoop {
    /// Reads once from a connection and handles the received bytes.
    fn receive(&mut self, peer: PeerId) {
        let mut scratch = self.switchboard.take_scratch();
        if let Err(end) = self.receive_into(peer, &mut scratch) {
            self.switchboard.end(peer, end);
        }
        self.switchboard.buffers.scratch.push(scratch);
    }

    fn receive_into(&mut self, peer: PeerId, buffer: &mut Rc<Vec<u8>>) -> Result<(), End> {
        match self.switchboard.read(peer, buffer)? {
            ReadOutcome::Nothing => Ok(()),
            ReadOutcome::Lines(len) => {
                let scratch = Rc::get_mut(buffer).expect("no part of it is lent");
                let chunk = &mut scratch[..len];
                let Self { switchboard, authority, config, .. } = self;
                handshake::proceed(switchboard, authority, config, peer, chunk)
            }
            ReadOutcome::Messages(len) => self.route_messages(peer, buffer, Some(len)),
        }
    }

    /// Continues with messages that were read in an earlier turn.
    fn receive_backlog(&mut self, peer: PeerId) {
        if !self.switchboard.takes_backlog(peer) {
            return;
        }
        let mut scratch = self.switchboard.take_scratch();
        self.switchboard.unpark(peer, &mut scratch);
        if let Err(end) = self.route_messages(peer, &scratch, None) {
            self.switchboard.end(peer, end);
        }
        self.switchboard.buffers.scratch.push(scratch);
    }

    /// Routes the messages of a connection that are in the scratch buffer, within the budget.
    /// `received` is the number of bytes if they were read just now.
    fn route_messages(
        &mut self,
        peer: PeerId,
        scratch: &Rc<Vec<u8>>,
        received: Option<usize>,
    ) -> Result<(), End> {
        self.switchboard.count_lane_traffic();
        let Switchboard { state, work, interactive, .. } = &mut self.switchboard;
        let Some(connection) = state.table.get(peer) else { return Ok(()) };
        let mut routed = 0;
        work.recipients = TurnRecipients::Nothing;
        for _ in 0..interactive.messages_of(connection.budget, state.now) {
            match self.route_next(peer, scratch).map_err(End::Invalid)? {
                Some(len) => routed += len,
                None => break,
            }
        }
        self.switchboard.finish_reading(peer, scratch, routed, received);
        Ok(())
    }

    /// Routes the next message of a connection, if there is a complete one. Returns its length.
    #[inline]
    fn route_next(
        &mut self,
        from: PeerId,
        scratch: &Rc<Vec<u8>>,
    ) -> Result<Option<usize>, InvalidMessage> {
        let Switchboard { state, desk, buffers, work, .. } = &mut self.switchboard;
        let Some(connection) = state.table.get_mut(from) else { return Ok(None) };
        if connection.end.is_some()
            || work.recipients != TurnRecipients::Ready
                && is_unread(connection, &state.bus, state.now)
        {
            return Ok(None);
        }
        let Phase::Messages(stream) = &mut connection.phase else { return Ok(None) };
        let Some(slice) = stream.next_message(scratch)? else { return Ok(None) };
        if let Some(active) = desk.traces.active() {
            active.routing_begins();
        }
        let message = Message::parse(slice.bytes())?;
        let (input, fds) = match stream.claim_fds(&message)? {
            DescriptorClaim::Complete(fds) => (Input::Message { from, message }, fds),
            DescriptorClaim::Lost => (Input::DescriptorsLost { from, message }, None),
        };
        let is_calm = !connection.budget.is_flood();
        let mut effects = mem::take(&mut buffers.effects);
        effects.clear();
        state.bus.handle(state.time(), input, &mut effects);
        let slice = &slice;
        self.apply(&effects, &EffectOrigin::Peer { from, is_calm, message: &message, slice, fds });
        self.switchboard.buffers.effects = effects;
        self.switchboard.publish_routed(from);
        self.switchboard.write_long_queues();
        Ok(Some(slice.range.len()))
    }

    /// Applies the effects of the bus. If the bus asks something, it gets the answer before the
    /// next effect is applied, so that messages keep their order.
    fn apply(&mut self, effects: &Effects, origin: &EffectOrigin<'_>) {
        self.switchboard.begin_applying(effects, origin);
        for effect in effects.list() {
            match effect {
                Effect::OpenContainer { .. }
                | Effect::CloseContainer { .. }
                | Effect::RemoveContainer { .. } => {
                    self.apply_to_container(effect, origin);
                }
                Effect::Replace { caller: _ } => self.replacement.request(),
                Effect::Reload { caller } => self.reconfigure(Some(*caller)),
                Effect::Start { start, name } => self.start_service(*start, name),
                Effect::Abandon { start } => self.abandon(*start),
                effect => self.switchboard.apply(effect, effects, origin),
            }
        }
    }
}

/// Opening and closing the sockets of containers.
impl EventLoop {
    #[cold]
    fn apply_to_container(&mut self, effect: &Effect, origin: &EffectOrigin<'_>) {
        match effect {
            Effect::OpenContainer { container, creator, call, descriptors } => {
                let opened = self.open_container(**descriptors, origin.fds());
                let outcome = opened.and_then(|(listener, lifetime)| {
                    let socket = ContainerSocket {
                        path: listener.socket_path().unwrap_or_default().into(),
                        address: listener.address.to_string().into(),
                        creator: self.switchboard.details_of(*creator),
                    };
                    let state = &mut self.switchboard.state;
                    let added = self.acceptor.add_container(state, *container, listener, lifetime);
                    added.map_err(|error| ForeignError::new(OsError::from(error)))?;
                    Ok(socket)
                });
                let (container, call) = (*container, *call);
                let opened = Input::ContainerOpened { container, call, outcome };
                self.switchboard.answer(opened, None);
            }
            Effect::CloseContainer { container } => self.close_container(*container),
            Effect::RemoveContainer { container } => {
                self.acceptor.lifetimes.remove(&self.switchboard.state, *container);
            }
            _ => unreachable!("it is about a container"),
        }
    }

    /// Opens the socket of a container, or uses the descriptors that its creator has passed. Returns
    /// also the pipe that determines the lifetime, if the creator has passed one.
    fn open_container(
        &self,
        ContainerDescriptors { socket, lifetime }: ContainerDescriptors,
        fds: &[CountedFd],
    ) -> Result<(Listener, Option<OwnedFd>), ForeignError> {
        let passed = |index: u32| {
            let passed = &fds.get(index as usize).ok_or(io::ErrorKind::NotFound)?;
            passed.as_fd().try_clone_to_owned()
        };
        let failed = |error: io::Error| ForeignError::new(OsError::from(error));
        let lifetime = lifetime.map(passed).transpose().map_err(failed)?;
        if let Some(lifetime) = &lifetime
            && !sys::filesystem::is_read_end(lifetime).map_err(failed)?
        {
            return Err(ForeignError::new(NotAReadEnd));
        }
        let listener = match socket.map(passed).transpose().map_err(failed)? {
            Some(socket) => self
                .acceptor
                .check_new(&socket)
                .and_then(|()| listener_of_program(socket))
                .map_err(ForeignError::new)?,
            None => {
                let bus_type = self.config.document.bus_type.as_ref();
                let folder = ContainerFolder::of_bus(bus_type, self.authority.uid);
                folder.listen().map_err(ForeignError::new)?
            }
        };
        Ok((listener, lifetime))
    }

    /// Closes the socket of a container, and removes its file.
    fn close_container(&mut self, container: ContainerId) {
        self.acceptor.close_container(&self.switchboard.state, container);
    }
}

/// Starting services and reloading the configuration.
impl EventLoop {
    fn start_service(&mut self, start: StartId, name: &str) {
        if let Err(failure) = self.services.launch(&mut self.switchboard.state, start, name) {
            self.switchboard.answer(Input::StartFailed { start, failure }, None);
        }
    }

    /// Kills the process of an activation that has timed out.
    fn abandon(&mut self, start: StartId) {
        let state = &mut self.switchboard.state;
        if let Err(error) = state.children.kill(start) {
            state.fault(Fault::StrayService(error));
        }
    }

    fn child_ended(&mut self, key: ChildKey) {
        let ended = self.services.child_ended(&mut self.switchboard.state, key);
        if let Some((start, failure)) = ended {
            self.switchboard.handle(Input::StartFailed { start, failure });
        }
        self.switchboard.state.children.forget_if_gone(key);
    }

    /// Reloads the configuration; if that fails, the old one stays in force. `caller` is the
    /// connection that called ReloadConfig, if one did.
    fn reconfigure(&mut self, caller: Option<PeerId>) {
        let mut unwatched = self.changes.settle();
        let outcome = match self.reload.read() {
            Ok(Loaded { config, catalog }) => {
                unwatched.extend(self.changes.watch(&config.document));
                admission::describe_anew(&mut self.switchboard, &config.configuration.policy);
                self.config.document.own = config.document.own;
                self.config.configuration = config.configuration;
                self.services.catalog = catalog;
                self.log_reload(caller, Ok(()));
                Ok(Box::new(self.config.configuration.clone()))
            }
            Err(error) => {
                self.log_reload(caller, Err(&error));
                Err(ForeignError::new(error))
            }
        };
        let Switchboard { state, desk, .. } = &mut self.switchboard;
        unwatched.into_iter().for_each(|fault| state.fault(fault));
        let own = &self.config.document.own;
        self.metrics.move_to(state, own.metrics_socket.as_deref());
        desk.set_recorder(state, own);
        self.switchboard.answer(Input::Reconfigured { outcome }, None);
        self.switchboard.limits_changed();
        // A timeout may have become shorter.
        let state = &mut self.switchboard.state;
        state.alarm.no_later_than(state.now);
        self.reload.done();
    }

    fn log_reload(&mut self, caller: Option<PeerId>, result: Result<(), &ConfigError>) {
        let warnings = self.reload.warnings();
        self.switchboard.state.log_reload(&ReloadReport { caller, result, warnings });
    }
}

/// A random key for the hash tables of the bus.
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

/// The maximum number of poller events per turn.
const EVENTS_PER_TURN: usize = 256;
