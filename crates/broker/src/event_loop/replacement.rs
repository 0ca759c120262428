//! Saves the event loop for a program that replaces this one, and restores it there.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use bus::mediation::Mediator;
use bus::{Bus, ForeignError, Input, Replacement};
use serde::{Deserialize, Serialize};
use services::Table;
use services::saved_path::SavedPath;
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
use super::{EventLoop, Reload};
use crate::activation::{Catalog, Children, Launcher, SavedChild};
use crate::authority::SystemAuthority;
use crate::busconfig::{AppArmorMode, BusType, Config, SavedConfig};
use crate::fd_quota::FdQuotas;
use crate::listen::joined_address;
use crate::log::{Log, Severity};
use crate::metrics::{RestoredMetrics, SavedMetrics};
use crate::report::{Reporter, SavedWindow};
use crate::saved_state::{
    FdCollector, RestoredFds, SavedFdSet, StateError, StateReader, StateWriter,
};
use crate::trace::{RestoredRings, SavedRings};

/// Everything that an event loop saves, in the order in which it is encoded. The bus precedes it.
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

/// An event loop that was read from a saved state. Until it is [restored](EventLoop::restore), it
/// has no effect outside the process, not even when it is dropped.
pub struct RestoredLoop {
    bus: Bus,
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

impl EventLoop {
    /// Saves the loop between two turns. Returns the state, and the descriptors to which the state
    /// refers by their position in this list.
    ///
    /// # Errors
    ///
    /// A part cannot be encoded.
    pub fn save(&mut self) -> Result<(Vec<u8>, Vec<BorrowedFd<'_>>), StateError> {
        self.switchboard.settle();
        let Self { switchboard, acceptor, config, services, changes, metrics, .. } = &*self;
        let LoopState { bus, children, reporter, .. } = &switchboard.state;
        let mut fds = FdCollector::default();
        let mut saved = SavedLoop {
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
        saved.fd_sets = sets;
        let mut writer = StateWriter::default();
        writer.write(bus)?;
        writer.write(&saved)?;
        Ok((writer.finish(), fds))
    }

    /// Restores a loop, which is then ready to run.
    ///
    /// # Errors
    ///
    /// A descriptor that is not saved cannot be created, or a saved one cannot be watched.
    pub fn restore(restored: RestoredLoop, parts: RestoreParts) -> io::Result<Self> {
        let RestoredLoop { mut bus, config, catalog, .. } = restored;
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
            poller: Poller::new()?,
            bus,
            table: Default::default(),
            children: restored.children,
            log,
            reporter: restored.reporter,
            alarm: Alarm::new()?,
            now: sys::clock::monotonic(),
        });
        switchboard.adopt(restored.connections)?;
        let acceptor = Acceptor::adopt(restored.acceptor);
        let address = joined_address(acceptor.listeners.listeners());
        let launcher = Launcher::new(&address, config.document.bus_type.as_ref(), open_files);
        let metrics = MetricsService::new(restored.metrics.map(RestoredMetrics::adopt));
        let changes = restored.changes;
        let Switchboard { state, desk, .. } = &mut switchboard;
        desk.adopt(state, &config.document.own, restored.rings);
        state.poller.add(&signals, EventSource::Signals.token(), Interest::Read)?;
        state.poller.add(state.alarm.timer(), EventSource::Alarm.token(), Interest::Read)?;
        if let Some(folders) = &changes.folders {
            state.poller.add(folders, EventSource::Folders.token(), Interest::Read)?;
        }
        metrics.resume(state)?;
        let services = ServiceStarter::new(launcher, catalog);
        ServiceStarter::watch_all(state)?;
        // All deadlines are checked in the first turn.
        state.alarm.no_later_than(state.now);
        state.set_alarm()?;
        let is_replacement_due = false;
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
            is_replacement_due,
        })
    }

    /// Reports to the callers and to the log that this program has replaced another one.
    pub fn replaced(&mut self, replacement: Replacement) {
        let Replacement { old_version, new_version, paused } = &replacement;
        let milliseconds = paused.as_secs_f64() * 1e3;
        let line = format!(
            "Version {new_version} replaced version {old_version}; the bus paused for \
             {milliseconds:.1} ms"
        );
        let state = &mut self.switchboard.state;
        state.log.write(Severity::Notice, line);
        self.switchboard.answer(Input::Replaced { outcome: Ok(replacement) }, None);
        self.switchboard.flush();
    }

    /// Reports to the callers and to the log that this program continues, because it could not be
    /// replaced.
    pub fn replacement_failed(&mut self, error: impl std::error::Error + 'static) {
        let state = &mut self.switchboard.state;
        state.now = sys::clock::monotonic();
        state.log.write(Severity::Error, format_args!("Cannot replace the bus: {error}"));
        let outcome = Err(ForeignError::new(error));
        self.switchboard.answer(Input::Replaced { outcome }, None);
        self.switchboard.flush();
    }
}

impl RestoredLoop {
    /// Reads a state, which refers to `fds` by their position.
    ///
    /// # Errors
    ///
    /// The state cannot be decoded, or contradicts itself.
    pub fn read(state: &[u8], fds: Vec<OwnedFd>) -> Result<Self, StateError> {
        let mut reader = StateReader::new(state);
        let bus: Bus = reader.read()?;
        let saved: SavedLoop = reader.read()?;
        reader.finish()?;
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

    /// Checks the invariants of the bus, and that the bus and the table have the same connections.
    ///
    /// # Panics
    ///
    /// Panics if the state is damaged.
    pub fn check(&self) {
        self.bus.check();
        let count = self.bus.connection_count();
        assert_eq!(self.connections.table.len(), count, "connections of the bus and the table");
        let mut peers = self.connections.table.peers();
        assert!(peers.all(|peer| self.bus.credentials(peer).is_some()), "an unknown connection");
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
