//! Starts a bus from its settings, in the order that callers of `dbus-daemon` expect.
//!
//! ```text
//!  take what the caller left open: descriptors to print to, sockets of the service manager
//!  continue a bus that the service manager has kept, if there is one
//!  read the configuration ─ refuse if another bus has the pid file
//!  listen ─ print the addresses
//!  go to the background ─ write the pid file ─ print the process id
//!  raise the limit of open files ─ switch to the configured user
//!  create the event loop ─ release the caller ─ notify the service manager ─ serve
//! ```
//!
//! If a step fails, the earlier steps are undone: sockets and the pid file are removed.

mod background;
mod descriptor_store;
mod error;
mod fallback;
mod output;
mod passed_state;
mod pid_file;
mod plan;
mod replacement;
mod runtime_dir;
mod service_manager;
mod settings;
mod user;

use std::env;
use std::fs;
use std::io;
use std::mem;
use std::path::{Path, PathBuf};
use std::process;
use std::rc::Rc;

use bus::BodyValidation;
use bus::mediation::Mediator;
use sys::credentials::{PeerCredentials, own_credentials};
use sys::daemonize::{StandardStream, set_all_close_on_exec, silence};
use sys::filesystem::{FileOwner, is_removable};
use sys::inherited::{ListenVariables, listen_fds};
use sys::rlimit::OpenFiles;
use sys::signals::{ProcessSignal, SignalSource};
use wire::guid::Guid;

pub use crate::event_loop::{ACCEPTED, CHECK_OPTION};
pub use error::{RunError, StartError, StartupStep};
pub use passed_state::PassedState;
pub use replacement::{check_state, read_state, resume};
pub use settings::{
    BackgroundChoice, ConfigSource, DescriptorNumber, Interrupt, PidFileChoice, Settings,
};

pub use crate::activation::{UnitActivation, UnitTemplate};

use crate::activation;
use crate::busconfig::{self, BusType, Config, ConfigError, Document, ServiceDir};
use crate::event_loop::{EventLoop, Loaded, LoopExit, LoopParts, Reload};
use crate::listen::{
    ContainerFolder, ListenEnvironment, ListenError, Listener, joined_address, new_guid,
};
use crate::log::{Log, LogTarget, Severity};
use crate::mediation::Mediation;
use crate::metrics::Metrics;
use background::WaitingCaller;
use descriptor_store::StoredBus;
use output::StartupOutputs;
use pid_file::PidFile;
use plan::StartupPlan;
use replacement::{Replacer, program_path};
use service_manager::ManagerNotifier;
use user::DaemonUser;

/// Runs a bus until a signal stops it. Log lines begin with `program`, the name by which the
/// program was called.
///
/// If the settings or the configuration ask for the background, this forks: the caller's process
/// exits inside this function, and the child returns from it. Call it while the process has only
/// one thread.
///
/// # Errors
///
/// See [`RunError`]. The error has been logged when this returns.
pub fn run(settings: &Settings, program: &str) -> Result<(), RunError> {
    let mut log = Log::new(program, LogTarget::Stderr);
    let outcome = match start(settings, program, &mut log) {
        Ok(bus) => bus.serve(),
        Err(error) => Err(RunError::Start(error)),
    };
    if let Err(error) = &outcome {
        log.write(Severity::Error, error);
    }
    outcome
}

/// A bus that is ready to serve. Fields drop in order, so the sockets are removed before the pid
/// file.
struct StartedBus {
    event_loop: EventLoop,
    manager: ManagerNotifier,
    replacer: Replacer,
    log: Log,
    _pid_file: Option<PidFile>,
}

impl StartedBus {
    fn serve(mut self) -> Result<(), RunError> {
        warn_if_failed(&self.log, NOTIFY_MANAGER, self.manager.ready());
        let outcome = loop {
            match self.event_loop.run() {
                Ok(LoopExit::Try) => self.replacer.try_out(&mut self.event_loop),
                Ok(LoopExit::Replace) => self.replacer.replace(&mut self.event_loop),
                Ok(LoopExit::Stopped) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        warn_if_failed(&self.log, NOTIFY_MANAGER, self.manager.stopping());
        if outcome.is_ok() && self.is_kept() {
            // Files and services belong to the next process of the bus.
            mem::forget(self);
            return Ok(());
        }
        outcome.map_err(|error| RunError::Serve(error.into()))
    }

    /// Lets the service manager keep the bus until its next start, if it can. Returns whether it
    /// does.
    fn is_kept(&mut self) -> bool {
        if !self.manager.can_store_bus() {
            return false;
        }
        match self.replacer.store(&mut self.event_loop, &self.manager) {
            Ok(count) => {
                let connections = self.event_loop.connection_count();
                let line = format!(
                    "The service manager keeps the bus for its next start (connections: \
                     {connections}, descriptors: {count})"
                );
                self.log.write(Severity::Notice, line);
                true
            }
            Err(error) => {
                self.log.write(
                    Severity::Error,
                    format_args!("All connections are closed, not kept: {error}"),
                );
                false
            }
        }
    }
}

fn start(settings: &Settings, program: &str, log: &mut Log) -> Result<StartedBus, StartError> {
    silence(StandardStream::Input).map_err(StartError::at(StartupStep::SilenceInput))?;
    let mut outputs = StartupOutputs::take(settings)?;
    let (mut environment, stored) = environment();
    warn_if_failed(log, "mark inherited descriptors close-on-exec", set_all_close_on_exec());

    let settings = &Settings { config: settings.config.rereadable()?, ..settings.clone() };
    let manager = ManagerNotifier::from_environment();
    if let Some(bus) = stored.restore(settings, &manager, log) {
        return bus.start(environment, outputs, manager, program, log);
    }
    let (mut loaded, warnings) =
        load(&settings.config, settings.body_validation, &settings.activation)?;
    for warning in warnings {
        log.write(Severity::Warning, warning);
    }
    let plan = StartupPlan::new(settings, &loaded.config)?;
    plan.overrule(&mut loaded.config);
    *log = Log::new(program, plan.log);
    let opened = Opened::new(loaded, plan, &mut environment, log)?;
    outputs.print_address(&joined_address(&opened.listeners))?;
    opened.finish(outputs, log)
}

/// A bus that clients can already connect to, before the process goes to the background.
struct Opened {
    loaded: Loaded,
    plan: StartupPlan,
    signals: SignalSource,
    listeners: Vec<Listener>,
    metrics: Option<Metrics>,
    mediation: Option<Mediation>,
    uid: u32,
}

impl Opened {
    fn new(
        loaded: Loaded,
        plan: StartupPlan,
        environment: &mut ListenEnvironment,
        log: &Log,
    ) -> Result<Self, StartError> {
        plan.pid_file.as_deref().map_or(Ok(()), PidFile::check_absent)?;
        let document = &loaded.config.document;
        let mediation = Mediation::of(
            document.bus_type.as_ref(),
            document.app_armor.as_ref().map(|element| element.mode),
        )?;
        let uid = own_identity()?.uid;
        make_service_dir(&loaded.config, environment, uid, log);
        // From now on SIGTERM is handled by the event loop, which removes the files created below.
        let signals = block_signals(plan.interrupt)?;
        let listeners = plan.listen(environment)?;
        let metrics_socket = loaded.config.document.own.metrics_socket.as_deref();
        let metrics = metrics_socket.map(listen_for_metrics).transpose()?;
        Ok(Self { loaded, plan, signals, listeners, metrics, mediation, uid })
    }

    fn finish(self, outputs: StartupOutputs, log: &Log) -> Result<StartedBus, StartError> {
        let Self { loaded, plan, signals, listeners, metrics, mediation, uid } = self;
        let user = plan.user.as_deref().map(DaemonUser::find).transpose()?;
        let failed = StartError::at(StartupStep::GoToBackground);
        let caller = plan.background.map(background::leave).transpose().map_err(&failed)?;
        let pid_file = plan.pid_file.clone().map(PidFile::write).transpose()?;
        outputs.print_pid()?;
        let open_files = OpenFiles::current();
        warn_if_failed(log, "raise the limit of open files", OpenFiles::raise().map(|_| ()));
        if let Some(user) = user.filter(|_| uid == ROOT) {
            let files = Files { listeners: &listeners, metrics: metrics.as_ref() };
            warn_if_failed(log, "change the owner of files", files.hand_over(user.owner()));
            if loaded.config.document.bus_type == Some(BusType::System) {
                let prepared = ContainerFolder::prepare_for(user.owner());
                warn_if_failed(log, "create the directory for sockets of containers", prepared);
            }
            user.take_over()?;
            files.log_undeletable(log);
        }

        let manager = ManagerNotifier::from_environment();
        let identity = bus_identity()?;
        let bus_type = loaded.config.document.bus_type.as_ref();
        let log = log.clone().of_bus(type_name(bus_type), identity.uid);
        let plan = Rc::new(plan);
        let replacer = Replacer::new(program_path(), Rc::clone(&plan), open_files.clone());
        let reload = Box::new(Reread::new(plan, manager.clone(), log.clone()));
        let parts = LoopParts {
            listeners,
            identity,
            loaded,
            mediator: mediation.map(|mediation| Box::new(mediation) as Box<dyn Mediator>),
            open_files,
            reload,
            log: log.clone(),
            metrics,
            signals,
        };
        let mut event_loop =
            EventLoop::new(parts).map_err(StartError::at(StartupStep::MakeEventLoop))?;
        if env::var_os(UNCHECKED).is_some() {
            event_loop.stop_checking();
        }
        caller.map_or(Ok(()), WaitingCaller::release).map_err(failed)?;
        Ok(StartedBus { event_loop, manager, replacer, log, _pid_file: pid_file })
    }
}

/// Files that root created and the unprivileged user has to remove at exit.
struct Files<'b> {
    listeners: &'b [Listener],
    metrics: Option<&'b Metrics>,
}

impl Files<'_> {
    fn hand_over(&self, owner: FileOwner) -> io::Result<()> {
        self.listeners.iter().try_for_each(|listener| listener.hand_over(owner))?;
        self.metrics.map_or(Ok(()), |metrics| metrics.hand_over(owner))
    }

    /// Logs a file that the bus cannot remove at exit, because the user cannot write to its
    /// directory.
    fn log_undeletable(&self, log: &Log) {
        if let Some(path) = self.metrics.map(Metrics::path).filter(|path| !is_removable(path)) {
            let path = path.display();
            let line = format!(
                "{path} will be left behind at exit, since this user cannot remove files from its \
                 directory; the next bus at this path replaces it"
            );
            log.write(Severity::Notice, line);
        }
    }
}

/// The type of the bus, as shown in log lines.
fn type_name(bus_type: Option<&BusType>) -> &str {
    bus_type.map_or("unknown", BusType::name)
}

/// The parts of the process environment that affect where the bus can listen, and the bus that the
/// service manager has kept.
fn environment() -> (ListenEnvironment, StoredBus) {
    let [pid, count, names] =
        ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"].map(|name| env::var(name).ok());
    let variables =
        ListenVariables { pid: pid.as_deref(), count: count.as_deref(), names: names.as_deref() };
    let (stored, passed) = match listen_fds(variables) {
        Ok(passed) => {
            let (stored, sockets) = StoredBus::take(passed);
            (stored, Ok(sockets))
        }
        Err(error) => (StoredBus::default(), Err(error)),
    };
    let runtime_dir = env::var_os("XDG_RUNTIME_DIR").filter(|path| !path.is_empty());
    let runtime_dir = runtime_dir.map(PathBuf::from);
    (ListenEnvironment { runtime_dir, temp_dir: env::temp_dir(), passed }, stored)
}

/// Reads the configuration and the service files that it names. Returns both with the warnings to
/// log. A session bus does not need a configuration file.
fn load(
    source: &ConfigSource,
    body_validation: BodyValidation,
    activation: &UnitActivation,
) -> Result<(Loaded, Vec<String>), ConfigError> {
    let mut config = match source {
        ConfigSource::Session if !source.path().exists() => busconfig::built_in_session(),
        ConfigSource::Pipe { path, content } => {
            let environment = busconfig::Environment::of_this_system();
            busconfig::load_content(path, content, &environment)?
        }
        _ => busconfig::load(source.path(), &busconfig::Environment::of_this_system())?,
    };
    let mut warnings: Vec<_> = config.document.warnings.iter().map(ToString::to_string).collect();
    config.configuration.body_validation = body_validation;
    if body_validation == BodyValidation::Off {
        warnings.push("Message bodies are forwarded without validation".to_owned());
    }
    let Document { service_dirs, service_helper, .. } = &config.document;
    let (catalog, rejected) = activation::read(service_dirs, service_helper.clone());
    warnings.extend(rejected.iter().map(ToString::to_string));
    config.configuration.services = catalog.services(activation);
    Ok((Loaded { config, catalog }, warnings))
}

/// Reloads the configuration, and notifies the service manager of it.
struct Reread {
    plan: Rc<StartupPlan>,
    manager: ManagerNotifier,
    log: Log,
    warnings: Vec<String>,
}

impl Reread {
    const fn new(plan: Rc<StartupPlan>, manager: ManagerNotifier, log: Log) -> Self {
        Self { plan, manager, log, warnings: Vec::new() }
    }
}

impl Reload for Reread {
    fn read(&mut self) -> Result<Loaded, ConfigError> {
        warn_if_failed(&self.log, NOTIFY_MANAGER, self.manager.reloading());
        let StartupPlan { config, body_validation, activation, .. } = &*self.plan;
        let (mut loaded, warnings) = load(config, *body_validation, activation)?;
        self.warnings = warnings;
        self.plan.overrule(&mut loaded.config);
        Ok(loaded)
    }

    fn warnings(&mut self) -> Vec<String> {
        mem::take(&mut self.warnings)
    }

    fn done(&mut self) {
        warn_if_failed(&self.log, NOTIFY_MANAGER, self.manager.ready());
    }
}

fn make_service_dir(config: &Config, environment: &ListenEnvironment, uid: u32, log: &Log) {
    if let Some(runtime_dir) = &environment.runtime_dir
        && config.document.service_dirs.contains(&ServiceDir::StandardSession)
        && let Err(error) = runtime_dir::make_service_dir(runtime_dir, uid)
    {
        log.write(Severity::Warning, error);
    }
}

fn block_signals(interrupt: Interrupt) -> Result<SignalSource, StartError> {
    let mut signals = vec![
        ProcessSignal::Terminate,
        ProcessSignal::HangUp,
        ProcessSignal::User2,
        ProcessSignal::FileSize,
        ProcessSignal::Reexecute,
    ];
    if interrupt == Interrupt::Stops {
        signals.push(ProcessSignal::Interrupt);
    }
    SignalSource::block(&signals).map_err(StartError::at(StartupStep::BlockSignals))
}

/// The current credentials of this process, which change in the background and after switching the
/// user.
fn own_identity() -> Result<PeerCredentials, StartError> {
    own_credentials().map_err(StartError::at(StartupStep::ReadCredentials))
}

fn listen_for_metrics(path: &Path) -> Result<Metrics, StartError> {
    let failed = |error: io::Error| ListenError::Bind { name: path.into(), error: error.into() };
    Metrics::listen(path).map_err(|error| StartError::Listen(failed(error)))
}

/// The identity that the bus reports to its clients.
fn bus_identity() -> Result<bus::BusIdentity, StartError> {
    let own = own_identity()?;
    Ok(bus::BusIdentity {
        id: new_guid().map_err(StartError::at(StartupStep::MakeId))?,
        machine_id: machine_id(),
        pid: process::id(),
        uid: own.uid,
        security_label: own.security_label.map(Into::into),
    })
}

/// The machine id: from the file that clients read, or else from systemd's file (machine-id(5)).
fn machine_id() -> Option<String> {
    let read = |path| Some(fs::read_to_string(path).ok()?.trim_end().to_owned());
    MACHINE_ID_FILES.into_iter().filter_map(read).find(|id| Guid::parse(id).is_ok())
}

/// Logs a warning if an optional step failed.
fn warn_if_failed(log: &Log, step: &str, outcome: io::Result<()>) {
    if let Err(error) = outcome {
        log.write(Severity::Warning, format_args!("Cannot {step}: {error}"));
    }
}

const ROOT: u32 = 0;

const NOTIFY_MANAGER: &str = "notify the service manager";

const MACHINE_ID_FILES: [&str; 2] = ["/var/lib/dbus/machine-id", "/etc/machine-id"];

/// An environment variable for measurements: a debug build of the bus then does not check its
/// invariants.
const UNCHECKED: &str = "DILIGENCE_UNCHECKED";
