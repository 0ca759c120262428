//! Replaces the program of a running bus, in the same process.
//!
//! ```text
//!  running program: save the state in sealed memory
//!    ├─ installed program, as a child: check the state, print the version      (trial)
//!    └─ execute the installed program in this process, with all descriptors
//!  installed program: restore the state, reply to the callers, serve
//! ```
//!
//! If the trial fails or takes too long, the running program continues as if nothing had happened.
//! The trial does everything that could fail because of the state. After it, only a lack of
//! resources can make the installed program fail.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use bus::Replacement;
use bus::mediation::Mediator;
use serde::{Deserialize, Serialize};
use sys::inherited;
use sys::launch::LaunchedProgram;
use sys::poll::{Events, Interest, Poller};
use sys::rlimit::OpenFiles;
use sys::spawn::ChildSetup;

use super::error::{RunError, StartError, StartupStep};
use super::pid_file::PidFile;
use super::plan::StartupPlan;
use super::service_manager::ManagerNotifier;
use super::settings::DescriptorNumber;
use super::{Reread, StartedBus, block_signals, type_name};
use crate::event_loop::{EventLoop, RestoreParts, RestoredLoop, StateError};
use crate::log::{Log, LogTarget, Severity};
use crate::mediation::Mediation;
use crate::os_error::OsError;
use crate::saved_state::{STATE_VARIABLE, StateReader, StateWriter};

/// The settings of the process, which are saved with the event loop.
#[derive(Debug, Serialize, Deserialize)]
struct SavedProcess {
    /// The version of the program that saves the state.
    version: String,
    /// When the replacement began.
    began: Duration,
    plan: StartupPlan,
    /// The limit of open files for services.
    open_files: (Option<u64>, Option<u64>),
    /// Whether other processes of the same user may read the memory of the process.
    is_readable_by_user: bool,
}

/// Why a running bus cannot be replaced.
#[derive(Debug)]
pub(super) enum ReplacementError {
    /// The state cannot be saved.
    Save(StateError),
    /// The memory for the state cannot be created.
    Memory(OsError),
    /// The path of the running program is not known.
    UnknownProgram,
    /// The installed program cannot be started.
    Start {
        /// The path of the program.
        program: PathBuf,
        /// The error of the system.
        error: OsError,
    },
    /// The installed program rejected the state.
    Rejected {
        /// The path of the program.
        program: PathBuf,
        /// The last line that the program printed to standard error.
        reason: String,
    },
    /// The installed program did not finish the check of the state in time.
    TimedOut {
        /// The path of the program.
        program: PathBuf,
    },
    /// The installed program cannot be executed in this process.
    Execute {
        /// The path of the program.
        program: PathBuf,
        /// The error of the system.
        error: OsError,
    },
}

impl fmt::Display for ReplacementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Save(error) => error.fmt(f),
            Self::Memory(error) => write!(f, "no memory for the state: {error}"),
            Self::UnknownProgram => f.write_str("the path of the running program is not known"),
            Self::Start { program, error } => {
                write!(f, "{} cannot be started: {error}", program.display())
            }
            Self::Rejected { program, reason } => {
                write!(f, "{} cannot continue with the state: {reason}", program.display())
            }
            Self::TimedOut { program } => {
                let seconds = TRIAL_MAX.as_secs();
                let program = program.display();
                write!(f, "{program} did not finish the check of the state in {seconds} seconds")
            }
            Self::Execute { program, error } => {
                write!(f, "{} cannot be executed: {error}", program.display())
            }
        }
    }
}

impl std::error::Error for ReplacementError {}

/// Replaces the program of a running bus.
#[derive(Debug)]
pub(super) struct Replacer {
    /// The path of the program when it was started. A package that is upgraded puts the new program
    /// at the same path.
    program: Option<PathBuf>,
    plan: Rc<StartupPlan>,
    open_files: OpenFiles,
}

impl Replacer {
    pub(super) fn new(plan: Rc<StartupPlan>, open_files: OpenFiles) -> Self {
        Self { program: env::current_exe().ok(), plan, open_files }
    }

    /// Replaces this program by the installed one. Returns only if that fails.
    pub(super) fn replace(&self, event_loop: &mut EventLoop) -> ReplacementError {
        match self.try_replace(event_loop) {
            Ok(never) => match never {},
            Err(error) => error,
        }
    }

    fn try_replace(
        &self,
        event_loop: &mut EventLoop,
    ) -> Result<std::convert::Infallible, ReplacementError> {
        let began = sys::clock::monotonic();
        let program = self.program.as_deref().ok_or(ReplacementError::UnknownProgram)?;
        let (state, mut fds) = event_loop.save().map_err(ReplacementError::Save)?;
        let state = self.encode(&state, &fds, began).map_err(ReplacementError::Save)?;
        let memory = sys::memory::sealed("diligence-state", &state);
        let memory = File::from(memory.map_err(|error| ReplacementError::Memory(error.into()))?);
        try_out(program, &memory)?;
        fds.push(memory.as_fd());
        let number = OsString::from(memory.as_raw_fd().to_string());
        let environment = env::vars_os().filter(|(name, _)| name != STATE_VARIABLE);
        let environment = environment.chain([(STATE_VARIABLE.into(), number)]);
        let failed = |error: io::Error| ReplacementError::Execute {
            program: program.to_owned(),
            error: error.into(),
        };
        let installed = LaunchedProgram::new(env::args_os(), environment).map_err(failed)?;
        Err(failed(sys::reexec::execute(program, &installed, &fds)))
    }

    fn encode(
        &self,
        event_loop: &[u8],
        fds: &[BorrowedFd<'_>],
        began: Duration,
    ) -> Result<Vec<u8>, StateError> {
        let numbers: Vec<RawFd> = fds.iter().map(|fd| fd.as_raw_fd()).collect();
        let version = VERSION.to_owned();
        let open_files = (self.open_files.soft(), self.open_files.hard());
        let mut writer = StateWriter::with_header();
        writer.write(&numbers)?;
        writer.write(&SavedProcess {
            version,
            began,
            plan: self.plan.as_ref().clone(),
            open_files,
            is_readable_by_user: sys::privileges::is_readable_by_user(),
        })?;
        writer.append(event_loop);
        Ok(writer.finish())
    }
}

/// Lets the installed program check the state, in a child process.
fn try_out(program: &Path, memory: &File) -> Result<(), ReplacementError> {
    let failed = |error: io::Error| ReplacementError::Start {
        program: program.to_owned(),
        error: error.into(),
    };
    let mut command = Command::new(program);
    command
        .arg(CHECK_OPTION)
        .env_remove(STATE_VARIABLE)
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command.stdin(memory.try_clone().map_err(failed)?);
    ChildSetup::new().install(&mut command);
    let mut child = command.spawn().map_err(failed)?;
    let deadline = sys::clock::monotonic() + TRIAL_MAX;
    let stderr = child.stderr.take().map(OwnedFd::from).map(File::from);
    let printed = stderr.map_or(Ok(Vec::new()), |stderr| read_until(stderr, deadline));
    let status = wait_until(&mut child, deadline).map_err(failed)?;
    let program = program.to_owned();
    match status {
        None => Err(ReplacementError::TimedOut { program }),
        Some(status) if status.success() => Ok(()),
        Some(status) => {
            let printed = printed.unwrap_or_default();
            let text = String::from_utf8_lossy(&printed);
            let last = text.lines().rfind(|line| !line.trim().is_empty());
            let reason = last.map_or_else(|| status.to_string(), str::to_owned);
            Err(ReplacementError::Rejected { program, reason })
        }
    }
}

/// Reads from a pipe until its end, until the deadline, or until there is more than a program prints
/// about one error.
fn read_until(mut pipe: File, deadline: Duration) -> io::Result<Vec<u8>> {
    let (poller, mut events) = (Poller::new()?, Events::with_capacity(1));
    poller.add(&pipe, 0, Interest::Read)?;
    let mut text = Vec::new();
    let mut chunk = [0; 4096];
    while text.len() < PRINTED_MAX {
        let rest = deadline.saturating_sub(sys::clock::monotonic());
        poller.wait(&mut events, Some(rest))?;
        if events.is_empty() {
            if rest.is_zero() {
                break;
            }
            continue;
        }
        match pipe.read(&mut chunk)? {
            0 => break,
            count => text.extend_from_slice(&chunk[..count]),
        }
    }
    Ok(text)
}

/// Waits for the end of a child that is about to end. Kills it at the deadline and returns `None`.
fn wait_until(child: &mut Child, deadline: Duration) -> io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if sys::clock::monotonic() >= deadline {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(WAIT_INTERVAL);
    }
}

/// The number of the descriptor with the state of a bus, if another program has executed this one to
/// continue its bus.
#[must_use]
pub fn passed_state() -> Option<DescriptorNumber> {
    DescriptorNumber::parse(env::var_os(STATE_VARIABLE)?.to_str()?)
}

/// Continues the bus whose state is in this descriptor, until a signal stops it. Log lines begin
/// with `program`, the name by which the program was called.
///
/// # Errors
///
/// See [`RunError`]. The error has been logged when this returns.
pub fn resume(state: DescriptorNumber, program: &str) -> Result<(), RunError> {
    let mut log = Log::new(program, LogTarget::Stderr);
    let outcome = match restore(state, program, &mut log) {
        Ok(bus) => bus.serve(),
        Err(error) => Err(RunError::Start(error)),
    };
    if let Err(error) = &outcome {
        log.write(Severity::Error, error);
    }
    outcome
}

fn restore(
    number: DescriptorNumber,
    program: &str,
    log: &mut Log,
) -> Result<StartedBus, StartError> {
    let unreadable = |error: io::Error| StartError::State { reason: error.to_string() };
    let memory = inherited::take(number.get()).map_err(StartError::PrintTo)?;
    let bytes = read_whole(memory.into()).map_err(unreadable)?;
    let DecodedState { numbers, process, event_loop } = DecodedState::read(&bytes)?;
    if !process.is_readable_by_user {
        sys::privileges::protect_from_user().map_err(unreadable)?;
    }
    let fds = numbers.into_iter().map(inherited::take).collect::<Result<_, _>>();
    let restored = RestoredLoop::read(event_loop, fds.map_err(StartError::PrintTo)?)?;
    let mediation = Mediation::of(restored.bus_type(), restored.app_armor())?;
    let SavedProcess { version, began, plan, open_files: (soft, hard), .. } = process;
    *log = Log::new(program, plan.log);
    *log = log.clone().of_bus(type_name(restored.bus_type()), restored.owner());
    let (plan, open_files) = (Rc::new(plan), OpenFiles::new(soft, hard));
    let manager = ManagerNotifier::from_environment();
    let parts = RestoreParts {
        mediator: mediation.map(|mediation| Box::new(mediation) as Box<dyn Mediator>),
        open_files: open_files.clone(),
        reload: Box::new(Reread::new(Rc::clone(&plan), manager.clone(), log.clone())),
        log: log.clone(),
        signals: block_signals(plan.interrupt)?,
    };
    let pid_file = plan.pid_file.clone().map(PidFile::adopt);
    let mut event_loop =
        EventLoop::restore(restored, parts).map_err(StartError::at(StartupStep::MakeEventLoop))?;
    event_loop.replaced(Replacement {
        old_version: version.into(),
        new_version: VERSION.into(),
        paused: sys::clock::monotonic().saturating_sub(began),
    });
    let replacer = Replacer::new(plan, open_files);
    Ok(StartedBus { event_loop, manager, replacer, log: log.clone(), _pid_file: pid_file })
}

/// Checks whether this program can continue the bus whose state is in `memory`. Has no effect
/// outside this process.
///
/// # Errors
///
/// The state cannot be read or restored, or a security module cannot be used.
///
/// # Panics
///
/// Panics if an invariant of the bus is violated.
pub fn check_state(memory: File) -> Result<(), StartError> {
    let unreadable = |error: io::Error| StartError::State { reason: error.to_string() };
    let bytes = read_whole(memory).map_err(unreadable)?;
    let DecodedState { numbers, event_loop, .. } = DecodedState::read(&bytes)?;
    // The descriptors themselves belong to the running bus.
    let null = OwnedFd::from(File::open("/dev/null").map_err(unreadable)?);
    let fds = numbers.iter().map(|_| null.try_clone()).collect::<io::Result<_>>();
    let restored = RestoredLoop::read(event_loop, fds.map_err(unreadable)?)?;
    restored.check();
    Mediation::of(restored.bus_type(), restored.app_armor())?;
    Ok(())
}

/// A state whose event loop is not decoded yet.
struct DecodedState<'s> {
    numbers: Vec<RawFd>,
    process: SavedProcess,
    event_loop: &'s [u8],
}

impl<'s> DecodedState<'s> {
    fn read(state: &'s [u8]) -> Result<Self, StateError> {
        let mut reader = StateReader::after_header(state)?;
        let (numbers, process) = (reader.read()?, reader.read()?);
        Ok(Self { numbers, process, event_loop: reader.rest() })
    }
}

fn read_whole(mut memory: File) -> io::Result<Vec<u8>> {
    memory.rewind()?;
    let mut bytes = Vec::new();
    memory.read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl From<StateError> for StartError {
    fn from(error: StateError) -> Self {
        Self::State { reason: error.to_string() }
    }
}

/// The option with which the installed program checks the state in its standard input.
pub const CHECK_OPTION: &str = "--check-state";

/// The version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The time limit of the check. The bus does not route messages in the meantime.
const TRIAL_MAX: Duration = Duration::from_secs(5);

/// The interval of checks whether a child has ended that has closed its standard error.
const WAIT_INTERVAL: Duration = Duration::from_micros(100);

/// The maximum number of bytes that are read of what the installed program prints.
const PRINTED_MAX: usize = 64 * 1024;
