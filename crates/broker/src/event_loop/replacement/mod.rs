//! Saves the event loop for a program that replaces this one, and restores it there.

#[cfg(test)]
mod description;

use std::io::{self, Cursor, Seek, Write};
use std::os::fd::{BorrowedFd, OwnedFd};

use bus::mediation::Mediator;
use bus::{Bus, BusWithoutRules, ForeignError, Input, Replacement};
use serde::{Deserialize, Serialize};
use services::Table;
use services::saved_path::SavedPath;
use sys::parallel::both;
use sys::poll::{Interest, Poller};
use sys::rlimit::OpenFiles;
use sys::signals::SignalSource;

use super::accept::{Acceptor, RestoredAcceptor, SavedAcceptor};
use super::alarm::Alarm;
use super::changes::{ConfigChanges, SavedChanges};
use super::loop_state::LoopState;
use super::metrics::MetricsService;
use super::services::ServiceStarter;
use super::source::EventSource;
use super::switchboard::{RestoredConnections, SavedConnections, Switchboard};
use super::trial::StateTrial;
use super::{EventLoop, LoopExit, Reload};
use crate::activation::{Catalog, Children, Launcher, SavedChild};
use crate::authority::SystemAuthority;
use crate::busconfig::{AppArmorMode, BusType, Config, SavedConfig};
use crate::fd_quota::FdQuotas;
use crate::listen::joined_address;
use crate::log::{Log, Severity};
use crate::metrics::{RestoredMetrics, SavedMetrics};
use crate::outgoing::WriteQueue;
use crate::report::{Reporter, SavedWindow};
use crate::saved_state::{
    FdCollector, RestoredFds, SavedFdSet, StateError, StateReader, StateWriter,
};
use crate::trace::{RestoredRings, SavedRings};

/// Everything that an event loop saves, in the order in which it is encoded. The match rules and
/// the rest of the bus precede it.
#[derive(Debug, Serialize, Deserialize)]
struct SavedLoop {
    /// The descriptors of each message that has any.
    fd_sets: Vec<SavedFdSet>,
    connections: SavedConnections,
    children: Vec<SavedChild>,
    acceptor: SavedAcceptor,
    metrics: Option<SavedMetrics>,
    changes: SavedChanges,
    config: SavedConfig,
    services: Table,
    service_helper: Option<SavedPath>,
    log_windows: Vec<SavedWindow>,
    rings: SavedRings,
}

/// The state of an event loop between two turns, ready to be encoded.
#[derive(Debug)]
pub struct UnwrittenLoop<'l> {
    bus: &'l Bus,
    parts: SavedLoop,
}

/// An event loop that was read from a saved state. Until it is [restored](EventLoop::restore), it
/// has no effect outside the process, not even when it is dropped.
pub struct RestoredLoop {
    bus: Bus,
    /// Watches the connections, unless the state is only checked.
    poller: Poller,
    connections: RestoredConnections,
    children: Children,
    acceptor: RestoredAcceptor,
    metrics: Option<RestoredMetrics>,
    changes: ConfigChanges,
    config: Config,
    app_armor: Option<AppArmorMode>,
    catalog: Catalog,
    reporter: Reporter,
    rings: RestoredRings,
}

/// What a state is read for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadPurpose {
    /// To check it, in a process that does not have its connections.
    Check,
    /// To continue with it.
    Continue,
}

/// The parts of an event loop that are not saved.
pub struct RestoreParts {
    /// The security modules that mediate, if any.
    pub mediator: Option<Box<dyn Mediator>>,
    /// The limit of open files for services.
    pub open_files: OpenFiles,
    /// Reads the configuration again on request.
    pub reload: Box<dyn Reload>,
    /// The log for administrators.
    pub log: Log,
    /// The signals of [`LoopParts`](super::LoopParts).
    pub signals: SignalSource,
}

/// How far a replacement of the program has got.
#[derive(Debug)]
pub(super) enum ReplacementStage {
    /// Nobody has asked for one.
    Idle,
    /// A caller or a signal has asked for one.
    Requested,
    /// The other program checks the state.
    Trying(StateTrial),
    /// The other program has accepted the state.
    Accepted,
}

impl ReplacementStage {
    /// Requests a replacement. A request during a replacement joins it.
    pub(super) fn request(&mut self) {
        if let Self::Idle = self {
            *self = Self::Requested;
        }
    }
}

/// The steps before another program replaces this one.
impl EventLoop {
    /// Returns what the caller of the loop must do for a replacement, if anything.
    pub(super) fn next_exit(&mut self) -> Option<LoopExit> {
        let exit = match self.replacement {
            ReplacementStage::Requested => LoopExit::Try,
            // A thread that writes a file would end with the program.
            ReplacementStage::Accepted if !self.switchboard.desk.is_dumping() => LoopExit::Replace,
            _ => return None,
        };
        self.replacement = ReplacementStage::Idle;
        Some(exit)
    }

    /// Waits for the result of a trial. The bus continues to serve.
    ///
    /// # Errors
    ///
    /// The child cannot be watched. It is left to itself.
    pub fn wait_for(&mut self, trial: StateTrial) -> io::Result<()> {
        let state = &mut self.switchboard.state;
        state.poller.add(&trial, EventSource::Trial.token(), Interest::Read)?;
        trial.deadline().into_iter().for_each(|deadline| state.alarm.no_later_than(deadline));
        self.replacement = ReplacementStage::Trying(trial);
        state.set_alarm()
    }

    /// Requests that the program is replaced without another trial.
    pub fn accept_replacement(&mut self) {
        self.replacement = ReplacementStage::Accepted;
    }

    /// Requests that the program is replaced after another trial.
    pub fn request_replacement(&mut self) {
        self.replacement.request();
    }

    /// Ends the trial, if the child has ended.
    pub(super) fn check_trial(&mut self) {
        let ReplacementStage::Trying(trial) = &self.replacement else { return };
        match trial.outcome() {
            None => {}
            Some(Ok(())) => self.accept_replacement(),
            Some(Err(error)) => self.replacement_failed(error),
        }
    }

    /// Kills the child of a trial that takes too long.
    pub(super) fn check_trial_deadline(&mut self) {
        let ReplacementStage::Trying(trial) = &mut self.replacement else { return };
        let LoopState { now, alarm, log, .. } = &mut self.switchboard.state;
        if let Err(error) = trial.check_deadline(*now) {
            log.write(
                Severity::Warning,
                format_args!("Cannot end the check of the state: {error}"),
            );
        }
        trial.deadline().into_iter().for_each(|deadline| alarm.no_later_than(deadline));
    }
}

/// Saving the loop, restoring it, and reporting the result.
impl EventLoop {
    /// Saves the loop between two turns. Returns its state, and the descriptors to which the state
    /// refers by their position in this list.
    pub fn save(&mut self) -> (UnwrittenLoop<'_>, Vec<BorrowedFd<'_>>) {
        self.switchboard.settle();
        let Self { switchboard, acceptor, config, services, changes, metrics, .. } = &*self;
        let LoopState { bus, children, reporter, .. } = &switchboard.state;
        let mut fds = FdCollector::default();
        let mut parts = SavedLoop {
            fd_sets: Vec::new(),
            connections: switchboard.save(&mut fds),
            children: children.save(&mut fds),
            acceptor: acceptor.save(&mut fds),
            metrics: metrics.metrics().map(|metrics| metrics.save(&mut fds)),
            changes: changes.save(&mut fds),
            config: config.save(),
            services: services.catalog.table.clone(),
            service_helper: services.catalog.helper.as_ref().map(SavedPath::from),
            log_windows: reporter.save(),
            rings: switchboard.desk.traces.save(&mut fds),
        };
        let (fds, sets) = fds.finish();
        parts.fd_sets = sets;
        (UnwrittenLoop { bus, parts }, fds)
    }

    /// Restores a loop, which is then ready to run.
    ///
    /// # Errors
    ///
    /// A descriptor that is not saved cannot be created, or a saved one cannot be watched. The files
    /// of sockets remain then.
    pub fn restore(restored: RestoredLoop, parts: RestoreParts) -> io::Result<Self> {
        let RestoredLoop { mut bus, poller, config, catalog, .. } = restored;
        let RestoreParts { mediator, open_files, reload, log, signals } = parts;
        if sys::cycles::are_trusted() {
            bus.set_stopwatch(sys::cycles::read);
        }
        let authority = SystemAuthority::new(bus.owner());
        let bus = match mediator {
            Some(mediator) => bus.mediated_by(mediator),
            None => bus,
        };
        let mut switchboard = Switchboard::new(LoopState {
            poller,
            bus,
            table: Default::default(),
            children: restored.children,
            log,
            reporter: restored.reporter,
            alarm: Alarm::new()?,
            now: sys::clock::monotonic(),
        });
        switchboard.adopt(restored.connections)?;
        let changes = restored.changes;
        let state = &mut switchboard.state;
        state.poller.add(&signals, EventSource::Signals.token(), Interest::Read)?;
        state.poller.add(state.alarm.timer(), EventSource::Alarm.token(), Interest::Read)?;
        if let Some(folders) = &changes.folders {
            state.poller.add(folders, EventSource::Folders.token(), Interest::Read)?;
        }
        ServiceStarter::watch_all(state)?;
        restored.acceptor.lifetimes.watch_all(state)?;
        // All deadlines are checked in the first turn.
        state.alarm.no_later_than(state.now);
        state.set_alarm()?;

        // Nothing fails from here on. Sockets and their files now belong to this program.
        let acceptor = Acceptor::adopt(restored.acceptor);
        let address = joined_address(acceptor.listeners.listeners());
        let launcher = Launcher::new(&address, config.document.bus_type.as_ref(), open_files);
        let metrics = MetricsService::adopt(state, restored.metrics);
        let services = ServiceStarter::new(launcher, catalog);
        let Switchboard { state, desk, .. } = &mut switchboard;
        desk.adopt(state, &config.document.own, restored.rings);
        let replacement = ReplacementStage::Idle;
        Ok(Self {
            switchboard,
            acceptor,
            authority,
            config,
            services,
            reload,
            changes,
            metrics,
            signals,
            replacement,
        })
    }

    /// Reads the configuration again, as SIGHUP does.
    pub fn reload_configuration(&mut self) {
        self.switchboard.state.now = sys::clock::monotonic();
        self.reconfigure(None);
        self.switchboard.flush();
    }

    /// The addresses of all listeners, for clients.
    pub fn address(&self) -> String {
        joined_address(self.acceptor.listeners.listeners())
    }

    /// The number of connections, including those that have not called Hello.
    pub fn connection_count(&self) -> usize {
        self.switchboard.state.bus.connection_count()
    }

    /// Reports to the callers and to the log that this program has replaced another one.
    pub fn replaced(&mut self, replacement: Replacement) {
        let Switchboard { state, desk, .. } = &mut self.switchboard;
        state.reporter.replaced(&state.log, &replacement);
        desk.trace_replaced(&replacement);
        self.switchboard.answer(Input::Replaced { outcome: Ok(replacement) }, None);
        self.switchboard.flush();
    }

    /// Reports to the callers and to the log that this program continues, because it could not be
    /// replaced.
    pub fn replacement_failed(&mut self, error: impl std::error::Error + 'static) {
        self.replacement = ReplacementStage::Idle;
        let state = &mut self.switchboard.state;
        state.now = sys::clock::monotonic();
        state.reporter.replacement_failed(&state.log, &error);
        let outcome = Err(ForeignError::new(error));
        self.switchboard.answer(Input::Replaced { outcome }, None);
        self.switchboard.flush();
    }
}

impl UnwrittenLoop<'_> {
    /// Appends the state to other parts.
    pub(crate) fn write<W: Write + Seek + Send>(
        &self,
        writer: &mut StateWriter<W>,
    ) -> Result<(), StateError> {
        let mut rest = StateWriter::new(Cursor::new(Vec::new()));
        let rules = self.bus.rules();
        let (rules, written) = both(
            || writer.write(rules),
            || {
                rest.write(&self.bus.without_rules())?;
                rest.write(&self.parts)
            },
        );
        rules.and(written)?;
        writer.append(rest.finish()?.get_ref())
    }

    /// Encodes the state for [`RestoredLoop::read`].
    ///
    /// # Errors
    ///
    /// A part cannot be encoded.
    pub fn encode(&self) -> Result<Vec<u8>, StateError> {
        let mut writer = StateWriter::new(Cursor::new(Vec::new()));
        self.write(&mut writer)?;
        Ok(writer.finish()?.into_inner())
    }
}

impl RestoredLoop {
    /// Reads a state, which refers to the descriptors that `take_fds` returns by their position.
    ///
    /// # Errors
    ///
    /// The state cannot be decoded, or contradicts itself, or a descriptor cannot be taken or watched.
    pub fn read(
        state: &[u8],
        take_fds: impl FnOnce() -> Result<Vec<OwnedFd>, StateError> + Send,
        purpose: ReadPurpose,
    ) -> Result<Self, StateError> {
        let mut reader = StateReader::new(state);
        let [rules, bus, rest] = [reader.next_part()?, reader.next_part()?, reader.next_part()?];
        reader.finish()?;
        let (rest, bus) = both(
            || {
                let (fds, saved): (_, SavedLoop) = (take_fds()?, rest.decode()?);
                let poller =
                    Poller::new().map_err(|error| StateError::Restore("the poller", error))?;
                if purpose == ReadPurpose::Continue {
                    saved.connections.watch(&fds, &poller)?;
                }
                Ok((fds, saved, poller))
            },
            || {
                let rules = rules.decode()?;
                Ok(bus.decode::<BusWithoutRules>()?.with_rules(rules))
            },
        );
        let (fds, saved, poller) = rest?;
        Self::restore(saved, bus?, fds, poller)
    }

    fn restore(
        saved: SavedLoop,
        bus: Bus,
        fds: Vec<OwnedFd>,
        poller: Poller,
    ) -> Result<Self, StateError> {
        let open_files = sys::rlimit::open_files_max();
        let mut quotas = FdQuotas::within(open_files);
        let mut fds = RestoredFds::new(fds, saved.fd_sets, &mut quotas)?;
        let app_armor = saved.config.app_armor;
        let config = Config::restore(saved.config, bus.configuration().clone());
        let helper = saved.service_helper.map(Into::into);
        let metrics = saved.metrics.map(|metrics| RestoredMetrics::new(metrics, &mut fds));
        let connections =
            RestoredConnections::new(saved.connections, &mut fds, quotas, open_files)?;
        let restored = Self {
            poller,
            connections,
            children: Children::restore(saved.children, &mut fds)?,
            acceptor: RestoredAcceptor::new(saved.acceptor, &mut fds)?,
            metrics: metrics.transpose()?,
            changes: ConfigChanges::restore(saved.changes, &mut fds)?,
            config,
            app_armor,
            catalog: Catalog { table: saved.services, helper },
            reporter: Reporter::restore(saved.log_windows),
            rings: RestoredRings::new(saved.rings, &mut fds)?,
            bus,
        };
        fds.finish()?;
        Ok(restored)
    }

    /// Checks the invariants of the bus, and that the bus and the table have the same connections
    /// with the same queues.
    ///
    /// # Panics
    ///
    /// Panics if the state is damaged.
    pub fn check(&self) {
        self.bus.check();
        let count = self.bus.connection_count();
        assert_eq!(self.connections.table.len(), count, "connections of the bus and the table");
        for peer in self.connections.table.peers() {
            assert!(self.bus.credentials(peer).is_some(), "{peer} is not connected to the bus");
            let queue = self.connections.table.get(peer).map(|connection| &connection.queue);
            assert_eq!(queue.map(WriteQueue::amount), self.bus.queued(peer), "queue of {peer}");
        }
    }

    /// The restored bus, with all its connections.
    pub const fn bus(&self) -> &Bus {
        &self.bus
    }

    /// Continues in another process, with the sockets that the service manager has passed to it.
    /// Returns how many of them have an address at which the bus does not listen.
    ///
    /// # Errors
    ///
    /// A socket cannot be set non-blocking.
    pub fn move_to(
        &mut self,
        pid: u32,
        security_label: Option<Box<[u8]>>,
        sockets: Vec<OwnedFd>,
    ) -> io::Result<usize> {
        self.bus.move_to(pid, security_label);
        self.acceptor.use_sockets(sockets)
    }

    /// The type of the bus.
    pub const fn bus_type(&self) -> Option<&BusType> {
        self.config.document.bus_type.as_ref()
    }

    /// Whether AppArmor mediates, if that is configured.
    pub const fn app_armor(&self) -> Option<AppArmorMode> {
        self.app_armor
    }

    /// The user of the bus.
    pub const fn owner(&self) -> u32 {
        self.bus.owner()
    }
}
