//! Replaces the program of a running bus, in the same process.
//!
//! ```text
//!  running program: save the state in sealed memory, and serve
//!    └─ installed program, as a child: check the state                         (trial)
//!  running program: save the state again
//!    └─ execute the installed program in this process, with all descriptors
//!  installed program: restore the state, reply to the callers, serve
//!    └─ if it cannot: execute the replaced program, with its state and all descriptors
//! ```
//!
//! If the trial fails or takes too long, the running program continues as if nothing had happened.
//! The state of the trial is not the one with which the installed program continues. So the replaced
//! program remains [ready](Fallback) until the bus serves again.

#[cfg(test)]
mod golden_states;

use std::convert::Infallible;
use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read as _, Seek as _};
use std::ops::Deref;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use bus::Replacement;
use bus::mediation::Mediator;
use serde::{Deserialize, Serialize};
use sys::inherited;
use sys::launch::LaunchedProgram;
use sys::memory::{HeapReserve, SealedContent};
use sys::privileges::{end_protection_from_user, protect_from_user};
use sys::reexec::set_name;
use sys::rlimit::OpenFiles;

use super::error::{RunError, StartError, StartupStep};
use super::fallback::Fallback;
use super::passed_state::{PassedState, environment_with_state};
use super::pid_file::PidFile;
use super::plan::StartupPlan;
use super::service_manager::ManagerNotifier;
use super::settings::DescriptorNumber;
use super::{Reread, StartedBus, block_signals, type_name, warn_if_failed};
use crate::event_loop::{
    EventLoop, ReadPurpose, RestoreParts, RestoredLoop, StateError, StateTrial, TrialError,
    UnwrittenLoop,
};
use crate::log::{Log, LogTarget, Severity};
use crate::mediation::Mediation;
use crate::os_error::OsError;
use crate::saved_state::{STATE_ERROR_PREFIX, StateReader, StateWriter};

/// The settings of the process, which are saved with the event loop.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SavedProcess {
    /// The version of the program that saves the state.
    pub(super) version: String,
    /// When the replacement began.
    pub(super) began: Duration,
    pub(super) plan: StartupPlan,
    /// The limit of open files for services.
    open_files: (Option<u64>, Option<u64>),
    /// Whether other processes of the same user may read the memory of the process.
    is_readable_by_user: bool,
    /// The path of the program, which is not known from the process if the file was replaced.
    #[serde(default, with = "services::saved_path::option")]
    program: Option<PathBuf>,
}

/// Why a running bus cannot be replaced.
#[derive(Debug)]
pub(super) enum ReplacementError {
    /// The state cannot be saved.
    Save(StateError),
    /// The path of the running program is not known.
    UnknownProgram,
    /// The installed program cannot continue the bus.
    Trial(TrialError),
    /// The installed program changed during each trial.
    Unstable,
    /// The installed program cannot be executed in this process.
    Execute {
        /// The path of the program.
        program: PathBuf,
        /// The error of the system.
        error: OsError,
    },
    /// The service manager cannot keep the bus until its next start.
    Store(OsError),
}

impl fmt::Display for ReplacementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Save(error) => error.fmt(f),
            Self::UnknownProgram => f.write_str("the path of the running program is not known"),
            Self::Trial(error) => error.fmt(f),
            Self::Unstable => f.write_str("the installed program changes again and again"),
            Self::Execute { program, error } => {
                write!(f, "{} cannot be executed: {error}", program.display())
            }
            Self::Store(error) => {
                write!(f, "the service manager cannot take the descriptors: {error}")
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
    /// The file that was tried last.
    tried: Option<ProgramFile>,
    /// How often another file was installed during a trial.
    retrials: u32,
    plan: Rc<StartupPlan>,
    open_files: OpenFiles,
}

/// The identity of the file of a program, which changes when another program is installed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ProgramFile {
    device: u64,
    inode: u64,
    /// The time of the last change of its content or its attributes.
    changed: (i64, i64),
}

impl ProgramFile {
    fn at(path: &Path) -> Option<Self> {
        let file = fs::metadata(path).ok()?;
        let changed = (file.ctime(), file.ctime_nsec());
        Some(Self { device: file.dev(), inode: file.ino(), changed })
    }
}

/// The path of the program of this process, where another version may be installed already.
pub(super) fn program_path() -> Option<PathBuf> {
    // The kernel adds this to the path of a file that was replaced.
    const MARK: &[u8] = b" (deleted)";
    let path = env::current_exe().ok()?;
    let replaced = path.as_os_str().as_bytes().strip_suffix(MARK).map(OsStr::from_bytes);
    let replaced = replaced.filter(|_| !path.exists()).map(PathBuf::from);
    Some(replaced.unwrap_or(path))
}

impl Replacer {
    pub(super) const fn new(
        program: Option<PathBuf>,
        plan: Rc<StartupPlan>,
        open_files: OpenFiles,
    ) -> Self {
        Self { program, tried: None, retrials: 0, plan, open_files }
    }

    /// Lets the installed program check the state of the bus. The loop continues in any case.
    pub(super) fn try_out(&mut self, event_loop: &mut EventLoop) {
        if let Err(error) = self.begin_trial(event_loop) {
            event_loop.replacement_failed(error);
        }
    }

    fn begin_trial(&mut self, event_loop: &mut EventLoop) -> Result<(), ReplacementError> {
        let began = sys::clock::monotonic();
        let program = self.program()?;
        let tried = ProgramFile::at(program);
        let (state, fds) = event_loop.save();
        let memory = self.write(&state, &fds, began).map_err(ReplacementError::Save)?;
        let trial = StateTrial::begin(program, memory.as_fd(), began);
        let trial = trial.map_err(ReplacementError::Trial)?;
        event_loop.wait_for(trial).map_err(|error| {
            let (program, error) = (program.to_owned(), error.into());
            ReplacementError::Trial(TrialError::Start { program, error })
        })?;
        self.tried = tried;
        Ok(())
    }

    /// Replaces this program by the installed one. Returns only if the loop must continue.
    pub(super) fn replace(&mut self, event_loop: &mut EventLoop) {
        // Another program may have been installed during the trial.
        if self.program.as_deref().and_then(ProgramFile::at) != self.tried {
            self.retrials += 1;
            if self.retrials <= RETRIALS_MAX {
                return event_loop.request_replacement();
            }
            self.retrials = 0;
            return event_loop.replacement_failed(ReplacementError::Unstable);
        }
        match self.try_replace(event_loop) {
            Ok(never) => match never {},
            Err(error) => event_loop.replacement_failed(error),
        }
    }

    fn try_replace(&self, event_loop: &mut EventLoop) -> Result<Infallible, ReplacementError> {
        let began = sys::clock::monotonic();
        let program = self.program()?;
        let (state, mut fds) = event_loop.save();
        let memory = self.write(&state, &fds, began).map_err(ReplacementError::Save)?;
        let failed = |error: io::Error| ReplacementError::Execute {
            program: program.to_owned(),
            error: error.into(),
        };
        let previous = sys::reexec::own_program().map_err(failed)?;
        fds.extend([memory.as_fd(), previous.as_fd()]);
        let environment = environment_with_state(memory.as_raw_fd(), previous.as_raw_fd());
        let installed = LaunchedProgram::new(env::args_os(), environment).map_err(failed)?;
        Err(failed(sys::reexec::execute(program, &installed, &fds)))
    }

    pub(super) fn program(&self) -> Result<&Path, ReplacementError> {
        self.program.as_deref().ok_or(ReplacementError::UnknownProgram)
    }

    /// Writes a state to sealed memory.
    pub(super) fn write(
        &self,
        event_loop: &UnwrittenLoop<'_>,
        fds: &[BorrowedFd<'_>],
        began: Duration,
    ) -> Result<File, StateError> {
        let memory = sys::memory::create("diligence-state").map_err(StateError::Write)?;
        let mut writer = StateWriter::with_header(BufWriter::with_capacity(WRITE_SIZE, memory))?;
        let numbers: Vec<RawFd> = fds.iter().map(|fd| fd.as_raw_fd()).collect();
        writer.write(&numbers)?;
        writer.write(&SavedProcess {
            version: VERSION.to_owned(),
            began,
            plan: self.plan.as_ref().clone(),
            open_files: (self.open_files.soft(), self.open_files.hard()),
            is_readable_by_user: sys::privileges::is_readable_by_user(),
            program: self.program.clone(),
        })?;
        event_loop.write(&mut writer)?;
        let memory = writer.finish()?.into_inner();
        let memory = memory.map_err(|error| StateError::Write(error.into_error()))?;
        sys::memory::seal(&memory).map_err(StateError::Write)?;
        Ok(memory)
    }
}

/// Continues the bus whose state was passed to this program, until a signal stops it. Log lines begin
/// with `program`, the name by which the program was called.
///
/// If this program cannot continue the bus, it executes the program that passed the state, and does
/// not return.
///
/// # Errors
///
/// See [`RunError`]. The error has been logged when this returns.
pub fn resume(passed: PassedState, program: &str) -> Result<(), RunError> {
    let mut log = Log::new(program, LogTarget::Stderr);
    // The state may contain messages of a bus that is protected from its own user.
    warn_if_failed(&log, "protect the state from other processes", protect_from_user());
    let PassedState { state, previous, failure } = passed;
    let fallback = match (previous, &failure) {
        (Some(previous), None) => Fallback::prepare(previous)
            .inspect_err(|error| {
                log.write(Severity::Warning, format_args!("Cannot keep descriptors: {error}"));
            })
            .ok(),
        (Some(previous), Some(_)) => {
            // This is the previous program itself.
            drop(inherited::take(previous.file.get()));
            None
        }
        (None, _) => None,
    };
    let outcome = match restore(state, failure, program, &mut log) {
        Ok(bus) => {
            drop(fallback);
            bus.serve()
        }
        Err(error) => {
            if let Some(fallback) = fallback {
                let text = error.to_string();
                let failed =
                    fallback.execute(text.strip_prefix(STATE_ERROR_PREFIX).unwrap_or(&text));
                log.write(
                    Severity::Error,
                    format_args!("Cannot return to the previous program: {failed}"),
                );
            }
            Err(RunError::Start(error))
        }
    };
    if let Err(error) = &outcome {
        log.write(Severity::Error, error);
    }
    outcome
}

fn restore(
    number: DescriptorNumber,
    failure: Option<String>,
    program: &str,
    log: &mut Log,
) -> Result<StartedBus, StartError> {
    let memory = inherited::take(number.get()).map_err(StateError::Inherit)?;
    let bytes = StateBytes::of(memory.into()).map_err(unreadable)?;
    let _reserve = HeapReserve::new(bytes.len() * HEAP_FACTOR);
    let DecodedState { numbers, process, event_loop } = DecodedState::read(&bytes)?;
    if process.is_readable_by_user {
        end_protection_from_user().map_err(unreadable)?;
    }
    let take_fds = || {
        let fds = numbers.into_iter().map(inherited::take).collect::<Result<_, _>>();
        fds.map_err(StateError::Inherit)
    };
    let event_loop = RestoredLoop::read(event_loop, take_fds, ReadPurpose::Continue)?;
    let SavedProcess { version, began, plan, open_files: (soft, hard), .. } = process;
    let installed = process.program.or_else(program_path);
    *log = Log::new(program, plan.log);
    *log = log.clone().of_bus(type_name(event_loop.bus_type()), event_loop.owner());
    let pid_file = plan.pid_file.clone();
    let (open_files, program) = (OpenFiles::new(soft, hard), installed);
    let restored =
        RestoredBus { event_loop, version, began, plan, open_files, program, pid_file: None };
    let bus = restored.start(failure, ManagerNotifier::from_environment(), log)?;
    // A program that fails before this leaves the file to the program that it returns to.
    Ok(StartedBus { _pid_file: pid_file.map(PidFile::adopt), ..bus })
}

/// A bus whose state was read, before it has any effect outside this process.
pub(super) struct RestoredBus {
    pub(super) event_loop: RestoredLoop,
    /// The version of the program that has saved the state.
    pub(super) version: String,
    /// When the replacement began.
    pub(super) began: Duration,
    pub(super) plan: StartupPlan,
    /// The limit of open files for services.
    pub(super) open_files: OpenFiles,
    /// The path at which a package installs the next program.
    pub(super) program: Option<PathBuf>,
    pub(super) pid_file: Option<PidFile>,
}

impl RestoredBus {
    /// Takes the ownership of everything that belongs to the bus, and reports the replacement, or
    /// the failure of another program.
    pub(super) fn start(
        self,
        failure: Option<String>,
        manager: ManagerNotifier,
        log: &Log,
    ) -> Result<StartedBus, StartError> {
        let Self { event_loop, version, began, plan, open_files, program, pid_file } = self;
        let mediation = Mediation::of(event_loop.bus_type(), event_loop.app_armor())?;
        let plan = Rc::new(plan);
        let parts = RestoreParts {
            mediator: mediation.map(|mediation| Box::new(mediation) as Box<dyn Mediator>),
            open_files: open_files.clone(),
            reload: Box::new(Reread::new(Rc::clone(&plan), manager.clone(), log.clone())),
            log: log.clone(),
            signals: block_signals(plan.interrupt)?,
        };
        let mut event_loop = EventLoop::restore(event_loop, parts)
            .map_err(StartError::at(StartupStep::MakeEventLoop))?;
        match failure {
            None => event_loop.replaced(Replacement {
                old_version: version.into(),
                new_version: VERSION.into(),
                paused: sys::clock::monotonic().saturating_sub(began),
            }),
            Some(reason) => {
                let program = program.clone().unwrap_or_default();
                warn_if_failed(log, "set the name of the process", set_name(&program));
                event_loop.replacement_failed(TrialError::Rejected { program, reason });
            }
        }
        let replacer = Replacer::new(program, plan, open_files);
        Ok(StartedBus { event_loop, manager, replacer, log: log.clone(), _pid_file: pid_file })
    }
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
    protect_from_user().map_err(unreadable)?;
    let bytes = StateBytes::of(memory).map_err(unreadable)?;
    let restored = read_state(&bytes)?;
    restored.check();
    Mediation::of(restored.bus_type(), restored.app_armor())?;
    Ok(())
}

/// Reads a state without its descriptors, which belong to the running bus: copies of `/dev/null`
/// stand for them.
///
/// # Errors
///
/// The state cannot be read, or contradicts itself.
pub fn read_state(state: &[u8]) -> Result<RestoredLoop, StartError> {
    let DecodedState { numbers, event_loop, .. } = DecodedState::read(state)?;
    let null = OwnedFd::from(File::open("/dev/null").map_err(unreadable)?);
    let fds = numbers.iter().map(|_| null.try_clone()).collect::<io::Result<_>>();
    let fds = fds.map_err(unreadable)?;
    Ok(RestoredLoop::read(event_loop, || Ok(fds), ReadPurpose::Check)?)
}

/// A state whose event loop is not decoded yet.
pub(super) struct DecodedState<'s> {
    /// The number of each descriptor in the process that has saved the state.
    pub(super) numbers: Vec<RawFd>,
    pub(super) process: SavedProcess,
    pub(super) event_loop: &'s [u8],
}

impl<'s> DecodedState<'s> {
    pub(super) fn read(state: &'s [u8]) -> Result<Self, StateError> {
        let mut reader = StateReader::after_header(state)?;
        let (numbers, process) = (reader.read()?, reader.read()?);
        Ok(Self { numbers, process, event_loop: reader.rest() })
    }
}

/// The bytes of a state.
pub(super) enum StateBytes {
    /// In the memory that a running bus has sealed.
    Sealed(SealedContent),
    /// From a file, for a check outside of a replacement.
    Read(Vec<u8>),
}

impl StateBytes {
    pub(super) fn of(mut file: File) -> io::Result<Self> {
        if let Ok(content) = SealedContent::map(file.as_fd()) {
            return Ok(Self::Sealed(content));
        }
        file.rewind()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(Self::Read(bytes))
    }
}

impl Deref for StateBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Sealed(content) => content,
            Self::Read(bytes) => bytes,
        }
    }
}

/// The error of a state that cannot be read or used.
pub(super) fn unreadable(error: io::Error) -> StartError {
    StartError::State { reason: error.to_string() }
}

impl From<StateError> for StartError {
    fn from(error: StateError) -> Self {
        Self::State { reason: error.to_string() }
    }
}

/// How many trials are repeated because another file was installed.
const RETRIALS_MAX: u32 = 10;

/// About how much more memory a bus needs than its state.
const HEAP_FACTOR: usize = 4;

/// The number of bytes of a state that are written at once.
const WRITE_SIZE: usize = 64 * 1024;

/// The version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");
