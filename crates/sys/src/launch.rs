//! Starts a program without blocking, not even until the kernel has found its file, which may be on
//! a sleeping disk or on another machine.
//!
//! [`std::process::Command`] blocks for that, because it returns the error. Here the new process
//! reports the error through a pipe that is read when the process has ended
//! ([`ChildProcess::ending`]).
//!
//! The program inherits the descriptors that are not close-on-exec, which are only the standard
//! streams, and an ignored `SIGPIPE`.

use crate::raw;
use crate::spawn::ChildSetup;
use rustix::io::ioctl_fionbio;
use rustix::process::{
    PidfdFlags, Signal, WaitId, WaitIdOptions, WaitIdStatus, pidfd_open, pidfd_send_signal, waitid,
};
use std::ffi::{CStr, CString, OsString};
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;

/// A program to start, with its arguments and environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchedProgram {
    words: Vec<CString>,
    environment: Vec<CString>,
}

impl LaunchedProgram {
    /// Creates a program from its path, which comes first, and its arguments, with exactly the
    /// given environment variables.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::InvalidInput`] if any string contains a zero byte.
    pub fn new(
        words: impl IntoIterator<Item = OsString>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> io::Result<Self> {
        let text = |text: OsString| Ok(CString::new(text.into_vec())?);
        let variable = |(mut name, value): (OsString, OsString)| {
            name.push("=");
            name.push(value);
            text(name)
        };
        let words = words.into_iter().map(text).collect::<io::Result<Vec<_>>>()?;
        let environment = environment.into_iter().map(variable).collect::<io::Result<_>>()?;
        Ok(Self { words, environment })
    }

    /// Executes the file at `path` in this process, with these words and this environment. Returns
    /// only if that fails.
    pub(crate) fn execute(&self, path: &CStr) -> io::Error {
        raw::execute(path, &self.words, &self.environment)
    }

    /// Starts the program. The returned pipe has the standard error of the program and the output
    /// of its own children; reading it never blocks.
    ///
    /// # Errors
    ///
    /// Fails if a process or descriptors cannot be created. If the file cannot be executed, the
    /// result is a [`ChildEnding`], not an error here.
    pub fn start(&self, setup: &ChildSetup) -> io::Result<(ChildProcess, PipeReader)> {
        self.start_with(setup, None)
    }

    /// Starts the program as [`Self::start`] does, with `input` as its standard input. The returned
    /// pipe has its standard output, too.
    ///
    /// # Errors
    ///
    /// See [`Self::start`].
    pub fn start_reading(
        &self,
        setup: &ChildSetup,
        input: BorrowedFd<'_>,
    ) -> io::Result<(ChildProcess, PipeReader)> {
        self.start_with(setup, Some(input))
    }

    fn start_with(
        &self,
        setup: &ChildSetup,
        input: Option<BorrowedFd<'_>>,
    ) -> io::Result<(ChildProcess, PipeReader)> {
        let (report, reporting) = io::pipe()?;
        let (output, writing) = io::pipe()?;
        ioctl_fionbio(&report, true)?;
        ioctl_fionbio(&output, true)?;
        let streams = raw::LaunchStreams {
            input,
            stdout: input.map(|_| writing.as_fd()),
            stderr: writing.as_fd(),
            report: reporting.as_fd(),
        };
        let pid = raw::launch(&self.words, &self.environment, setup, &streams)?;
        Ok((ChildProcess::new(pid, report)?, output))
    }
}

/// A child process that was launched.
///
/// [`Self::descriptors`] and [`Self::from_descriptors`] pass it on to another program in this process, or
/// to another process.
#[derive(Debug)]
pub struct ChildProcess {
    pidfd: OwnedFd,
    report: PipeReader,
}

/// The child is readable when it has ended.
impl AsFd for ChildProcess {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }
}

/// The way a process has ended.
#[derive(Debug)]
pub enum ChildEnding {
    /// The program could not be executed, with this error.
    NotExecuted(io::Error),
    /// The process exited with this status.
    Exited(i32),
    /// This signal ended the process.
    Signaled(i32),
    /// Unknown, because other code in this process has waited for it, or because it is the child of
    /// another process.
    Unknown,
}

impl ChildProcess {
    fn new(pid: u32, report: PipeReader) -> io::Result<Self> {
        let number = crate::process::to_pid(pid)?;
        // Only `ending` waits for it, so its process id has not been reused.
        Ok(Self { pidfd: pidfd_open(number, PidfdFlags::empty())?, report })
    }

    /// The descriptors of the process and of its report.
    pub fn descriptors(&self) -> [BorrowedFd<'_>; 2] {
        [self.pidfd.as_fd(), self.report.as_fd()]
    }

    /// Restores a child from its [descriptors](Self::descriptors).
    pub fn from_descriptors([pidfd, report]: [OwnedFd; 2]) -> Self {
        Self { pidfd, report: report.into() }
    }

    /// Returns how it has ended, or `None` while it runs. Then it is removed from the process
    /// table. Call it for the child of an earlier process only if the child has ended.
    ///
    /// # Errors
    ///
    /// Fails only if the child is misused by its caller.
    pub fn ending(&self) -> io::Result<Option<ChildEnding>> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        let status = match waitid(WaitId::PidFd(self.pidfd.as_fd()), options) {
            Ok(Some(status)) => status,
            Ok(None) => return Ok(None),
            Err(rustix::io::Errno::CHILD) => {
                return Ok(Some(
                    self.report().map_or(ChildEnding::Unknown, ChildEnding::NotExecuted),
                ));
            }
            Err(error) => return Err(error.into()),
        };
        Ok(Some(match self.report() {
            Some(error) => ChildEnding::NotExecuted(error),
            None => ChildEnding::of(&status),
        }))
    }

    /// Returns the error that prevented the execution of the program.
    fn report(&self) -> Option<io::Error> {
        let mut number = [0; size_of::<i32>()];
        (&self.report).read_exact(&mut number).ok()?;
        Some(io::Error::from_raw_os_error(i32::from_ne_bytes(number)))
    }

    /// Kills the process, but not its children.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::PermissionDenied`] if it runs as another user.
    pub fn kill(&self) -> io::Result<()> {
        Ok(pidfd_send_signal(&self.pidfd, Signal::KILL)?)
    }
}

impl ChildEnding {
    fn of(status: &WaitIdStatus) -> Self {
        let exited = status.exit_status().map(Self::Exited);
        let signaled = || status.terminating_signal().map(Self::Signaled);
        exited.or_else(signaled).unwrap_or(Self::Unknown)
    }
}
