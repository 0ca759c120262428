//! Keeps a bus while the service manager restarts its service.
//!
//! ```text
//!  process that ends: save the state in sealed memory ─ let the installed program check it
//!    └─ pass two descriptors to the service manager: the state, and a queue of all descriptors ─ exit
//!  next process: take both ─ restore the state ─ let the service manager forget both ─ serve
//! ```
//!
//! The service manager keeps the descriptors in its file descriptor store (systemd.service(5),
//! `FileDescriptorStoreMax=`) during a restart. When the service is stopped, it closes them, and
//! with them all connections.
//!
//! The queue ([`sys::fd_queue`]) has three advantages over storing each descriptor. The names of
//! all stored descriptors are in one environment variable, which the kernel limits to 128 KiB.
//! systemd compares each new descriptor with all others. And after the next process has emptied the
//! queue, the service manager has no copies that keep closed connections open.
//!
//! The next process of the system bus is root, but the state is from a process that was not, and
//! that an attacker may have controlled. So until the next process has switched to the user of the
//! *configuration*, nothing in the state has an effect outside the process.

use std::fs::File;
use std::os::fd::{AsFd as _, OwnedFd};
use std::process;
use std::time::Duration;

use sys::fd_queue;
use sys::inherited::PassedDescriptor;
use sys::rlimit::OpenFiles;

use super::output::StartupOutputs;
use super::pid_file::PidFile;
use super::plan::StartupPlan;
use super::replacement::{
    DecodedState, ReplacementError, Replacer, RestoredBus, SavedProcess, StateBytes, program_path,
    unreadable,
};
use super::service_manager::ManagerNotifier;
use super::settings::Settings;
use super::user::DaemonUser;
use super::{
    ROOT, StartError, StartedBus, block_signals, load, own_identity, type_name, warn_if_failed,
};
use crate::event_loop::{EventLoop, ReadPurpose, RestoredLoop, StateTrial};
use crate::listen::ListenEnvironment;
use crate::log::{Log, Severity};

impl Replacer {
    /// Lets the service manager keep the bus until its next start. Returns the number of
    /// descriptors. If that fails, the connections must be closed.
    pub(super) fn store(
        &self,
        event_loop: &mut EventLoop,
        manager: &ManagerNotifier,
    ) -> Result<usize, ReplacementError> {
        let began = sys::clock::monotonic();
        let program = self.program()?;
        let (state, fds) = event_loop.save();
        let state = self.write(&state, &fds, began).map_err(ReplacementError::Save)?;
        let trial = StateTrial::begin(program, state.as_fd(), began).and_then(StateTrial::finish);
        trial.map_err(ReplacementError::Trial)?;
        let queue = fd_queue::fill(&fds).map_err(|error| ReplacementError::Store(error.into()))?;
        let stored = manager.store(&[(STATE_NAME, state.as_fd()), (QUEUE_NAME, queue.as_fd())]);
        if let Err(error) = stored {
            // The service manager may have the queue. Nobody can continue with an empty one.
            let _ = fd_queue::take_all(&queue);
            return Err(ReplacementError::Store(error.into()));
        }
        Ok(fds.len())
    }
}

impl ManagerNotifier {
    /// Whether the service manager can keep a bus until its next start.
    pub(super) const fn can_store_bus(&self) -> bool {
        self.can_store(STORED_NAMES.len())
    }

    /// Lets the service manager forget a bus that it has kept.
    fn forget_bus(&self, log: &Log) {
        for name in STORED_NAMES {
            warn_if_failed(log, "empty the file descriptor store", self.remove_stored(name));
        }
    }
}

/// The descriptors of a bus that the service manager has kept.
#[derive(Debug, Default)]
pub(super) struct StoredBus {
    state: Option<OwnedFd>,
    queue: Option<OwnedFd>,
}

impl StoredBus {
    /// Takes the descriptors of a bus out of those that the service manager has passed. Returns the
    /// others, which are sockets, too.
    pub(super) fn take(passed: Vec<PassedDescriptor>) -> (Self, Vec<OwnedFd>) {
        let (mut stored, mut others) = (Self::default(), Vec::new());
        for PassedDescriptor { name, descriptor } in passed {
            match &*name {
                STATE_NAME => stored.state = Some(descriptor),
                QUEUE_NAME => stored.queue = Some(descriptor),
                _ => others.push(descriptor),
            }
        }
        (stored, others)
    }

    /// Continues the bus, if there is one. If that is impossible, logs the reason and closes all of
    /// its descriptors.
    pub(super) fn restore(
        self,
        settings: &Settings,
        manager: &ManagerNotifier,
        log: &Log,
    ) -> Option<ContinuedBus> {
        if self.state.is_none() && self.queue.is_none() {
            return None;
        }
        // From now on the descriptors are only here, so a signal must not end this process.
        if let Err(error) = block_signals(settings.interrupt) {
            log.write(Severity::Warning, error);
        }
        let open_files = OpenFiles::current();
        warn_if_failed(log, "raise the limit of open files", OpenFiles::raise().map(|_| ()));
        let restored = ContinuedBus::read(self, settings, open_files.clone());
        manager.forget_bus(log);
        match restored {
            Ok(restored) => Some(restored),
            Err(error) => {
                log.write(Severity::Error, format_args!("{error}. All connections are closed"));
                warn_if_failed(log, "restore the limit of open files", open_files.restore());
                None
            }
        }
    }
}

/// A bus of an earlier process that this process can continue.
pub(super) struct ContinuedBus {
    version: String,
    began: Duration,
    plan: StartupPlan,
    /// Why the plan is the one of the earlier process.
    plan_error: Option<StartError>,
    /// The user to switch to, if this process is root and the bus is not.
    user: Option<DaemonUser>,
    event_loop: RestoredLoop,
    open_files: OpenFiles,
}

impl ContinuedBus {
    fn read(
        stored: StoredBus,
        settings: &Settings,
        open_files: OpenFiles,
    ) -> Result<Self, StartError> {
        let StoredBus { state: Some(state), queue: Some(queue) } = stored else {
            return Err(unusable("the service manager has kept only a part of it"));
        };
        let bytes = StateBytes::of(File::from(state)).map_err(unreadable)?;
        let DecodedState { numbers, process, event_loop } = DecodedState::read(&bytes)?;
        let fds = fd_queue::take_all(queue).map_err(unreadable)?;
        if fds.len() != numbers.len() {
            let (found, expected) = (fds.len(), numbers.len());
            let reason = format!("the service manager has {found} of {expected} descriptors");
            return Err(unusable(&reason));
        }
        let event_loop = RestoredLoop::read(event_loop, || Ok(fds), ReadPurpose::Continue)?;
        let uid = own_identity()?.uid;
        let SavedProcess { version, began, plan: old, .. } = process;
        let (plan, plan_error) = match plan(settings) {
            Ok(plan) => (plan, None),
            // Without the configuration, the user that root has to switch to is not known.
            Err(error) if uid == ROOT => return Err(error),
            Err(error) => (old, Some(error)),
        };
        if plan.background.is_some() {
            return Err(unusable("the settings ask for the background"));
        }
        let user = plan.user.as_deref().filter(|_| uid == ROOT);
        let user = user.map(DaemonUser::find).transpose()?;
        let uid = user.as_ref().map_or(uid, |user| user.owner().uid);
        if event_loop.owner() != uid {
            let owner = event_loop.owner();
            return Err(unusable(&format!("it is of user {owner}, not of user {uid}")));
        }
        Ok(Self { version, began, plan, plan_error, user, event_loop, open_files })
    }

    /// Continues the bus with the sockets and outputs of this process.
    pub(super) fn start(
        self,
        environment: ListenEnvironment,
        mut outputs: StartupOutputs,
        manager: ManagerNotifier,
        program: &str,
        log: &mut Log,
    ) -> Result<StartedBus, StartError> {
        let Self { version, began, plan, plan_error, user, mut event_loop, open_files } = self;
        let pid_file = plan.pid_file.clone().map(PidFile::renew).transpose()?;
        user.as_ref().map_or(Ok(()), DaemonUser::take_over)?;
        *log = Log::new(program, plan.log);
        *log = log.clone().of_bus(type_name(event_loop.bus_type()), event_loop.owner());
        if let Some(error) = plan_error {
            let line = format!("The bus continues with its old settings: {error}");
            log.write(Severity::Error, line);
        }
        let sockets = environment.passed.unwrap_or_default();
        let label = own_identity()?.security_label.map(Into::into);
        match event_loop.move_to(process::id(), label, sockets).map_err(unreadable)? {
            0 => {}
            count => log.write(
                Severity::Warning,
                format_args!("{count} new sockets of the service manager are not used"),
            ),
        }
        let program = program_path();
        let restored =
            RestoredBus { event_loop, version, began, plan, open_files, program, pid_file };
        let mut bus = restored.start(None, manager, log)?;
        outputs.print_address(&bus.event_loop.address())?;
        outputs.print_pid()?;
        bus.event_loop.reload_configuration();
        Ok(bus)
    }
}

fn unusable(reason: &str) -> StartError {
    StartError::State { reason: reason.to_owned() }
}

/// The plan of the settings with the current configuration.
fn plan(settings: &Settings) -> Result<StartupPlan, StartError> {
    let (loaded, _) = load(&settings.config, settings.body_validation, &settings.activation)?;
    StartupPlan::new(settings, &loaded.config)
}

/// The name of the memory with the state in the file descriptor store.
const STATE_NAME: &str = "diligence-state";

/// The name of the queue of all descriptors in the file descriptor store.
const QUEUE_NAME: &str = "diligence-descriptors";

const STORED_NAMES: [&str; 2] = [STATE_NAME, QUEUE_NAME];
