//! The trial of another program: a child checks whether it can continue the bus. The bus serves in
//! the meantime.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, PipeReader, Read as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use sys::launch::{ChildEnding, ChildProcess, LaunchedProgram};
use sys::poll::{Events, Interest, Poller};
use sys::spawn::ChildSetup;

use crate::os_error::OsError;
use crate::saved_state::{STATE_ERROR_PREFIX, environment_without_state};

/// A program that checks a saved state in a child process. The child is readable when it has ended.
#[derive(Debug)]
pub struct StateTrial {
    program: PathBuf,
    process: ChildProcess,
    output: PipeReader,
    /// When the child is killed; `None` after that.
    deadline: Option<Duration>,
}

/// The reason why another program cannot continue the bus.
#[derive(Debug)]
pub enum TrialError {
    /// The program cannot be started.
    Start {
        /// The path of the program.
        program: PathBuf,
        /// The error of the system.
        error: OsError,
    },
    /// The program rejected the state.
    Rejected {
        /// The path of the program.
        program: PathBuf,
        /// The last line that the program printed, or else how it ended.
        reason: String,
    },
    /// The program did not finish the check of the state in time.
    TimedOut {
        /// The path of the program.
        program: PathBuf,
    },
}

impl fmt::Display for TrialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
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
        }
    }
}

impl std::error::Error for TrialError {}

impl AsFd for StateTrial {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.process.as_fd()
    }
}

/// A child that still runs holds the state, so it is killed.
impl Drop for StateTrial {
    fn drop(&mut self) {
        if let Ok(None) = self.process.ending() {
            let _ = self.process.kill();
        }
    }
}

impl StateTrial {
    /// Starts a program that checks the state in `memory`, at the time `now`.
    ///
    /// # Errors
    ///
    /// See [`TrialError::Start`].
    pub fn begin(
        program: &Path,
        memory: BorrowedFd<'_>,
        now: Duration,
    ) -> Result<Self, TrialError> {
        let failed = |error: io::Error| TrialError::Start {
            program: program.to_owned(),
            error: error.into(),
        };
        let words = [OsString::from(program), CHECK_OPTION.into()];
        let launched = LaunchedProgram::new(words, environment_without_state()).map_err(failed)?;
        let (process, output) =
            launched.start_reading(&ChildSetup::new(), memory).map_err(failed)?;
        let (program, deadline) = (program.to_owned(), Some(now + TRIAL_MAX));
        Ok(Self { program, process, output, deadline })
    }

    /// When the trial takes too long; `None` if it already does.
    pub(super) const fn deadline(&self) -> Option<Duration> {
        self.deadline
    }

    /// Kills the child if it takes too long.
    pub(super) fn check_deadline(&mut self, now: Duration) -> io::Result<()> {
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.deadline = None;
            self.process.kill()?;
        }
        Ok(())
    }

    /// Waits for the result of the trial.
    ///
    /// # Errors
    ///
    /// See [`TrialError`].
    pub fn finish(mut self) -> Result<(), TrialError> {
        let failed = |trial: &Self, error: io::Error| TrialError::Start {
            program: trial.program.clone(),
            error: error.into(),
        };
        let poller = Poller::new().and_then(|poller| {
            poller.add(&self, 0, Interest::Read)?;
            Ok(poller)
        });
        let poller = poller.map_err(|error| failed(&self, error))?;
        let mut events = Events::with_capacity(1);
        loop {
            if let Some(outcome) = self.outcome() {
                return outcome;
            }
            let now = sys::clock::monotonic();
            self.check_deadline(now).map_err(|error| failed(&self, error))?;
            let rest = self.deadline.map(|deadline| deadline.saturating_sub(now));
            poller.wait(&mut events, rest).map_err(|error| failed(&self, error))?;
        }
    }

    /// The result of the trial, or `None` while the child runs.
    pub(super) fn outcome(&self) -> Option<Result<(), TrialError>> {
        let program = self.program.clone();
        let rejected = |status: String| {
            let reason = self.last_line().unwrap_or(status);
            Err(TrialError::Rejected { program: program.clone(), reason })
        };
        Some(match self.process.ending() {
            Ok(None) => return None,
            Ok(Some(ChildEnding::Exited(0))) => match self.last_line() {
                Some(line) if line == ACCEPTED => Ok(()),
                line => {
                    let reason = line.unwrap_or_else(|| "it printed no result".to_owned());
                    Err(TrialError::Rejected { program, reason })
                }
            },
            Ok(Some(_)) if self.deadline.is_none() => Err(TrialError::TimedOut { program }),
            Ok(Some(ChildEnding::NotExecuted(error))) | Err(error) => {
                Err(TrialError::Start { program, error: error.into() })
            }
            // The layout of a wait status is the same on all platforms of Linux.
            Ok(Some(ChildEnding::Exited(code))) => {
                rejected(ExitStatus::from_raw(code << 8).to_string())
            }
            Ok(Some(ChildEnding::Signaled(signal))) => {
                rejected(ExitStatus::from_raw(signal).to_string())
            }
            Ok(Some(ChildEnding::Unknown)) => rejected("its exit status is not known".to_owned()),
        })
    }

    /// The last line that the child has printed, within the first [`PRINTED_MAX`] bytes.
    fn last_line(&self) -> Option<String> {
        let mut printed = Vec::new();
        // The pipe never blocks: an error is the end of what was printed.
        let _ = (&self.output).take(PRINTED_MAX).read_to_end(&mut printed);
        let text = String::from_utf8_lossy(&printed);
        let is_reason = |line: &&str| !line.trim().is_empty() && !line.starts_with("note: ");
        let line = text.lines().rfind(is_reason)?;
        Some(line.strip_prefix(STATE_ERROR_PREFIX).unwrap_or(line).to_owned())
    }
}

/// The option with which a program checks the state in its standard input.
pub const CHECK_OPTION: &str = "--check-state";

/// The line that a program prints if it can continue with the state. Other programs may exit with
/// status 0, too.
pub const ACCEPTED: &str = "The state can be continued";

/// The time limit of a trial.
const TRIAL_MAX: Duration = Duration::from_secs(5);

/// Number of bytes of output in which the reason of a rejection is looked for. A pipe holds no more.
const PRINTED_MAX: u64 = 64 * 1024;
