//! Starting a program without waiting for it: not even until the kernel has found its file, which
//! may be on a disk that sleeps or on another machine.
//!
//! [`std::process::Command`] waits for that, because it returns what went wrong. Here the new
//! process says so itself, by a pipe that is read when it has ended ([`ChildProcess::ending`]).
//!
//! The program inherits what is not close-on-exec, which is nothing but the standard streams, and
//! an ignored `SIGPIPE`.

use crate::raw;
use crate::spawn::ChildSetup;
use rustix::io::ioctl_fionbio;
use rustix::process::{
    PidfdFlags, Signal, WaitId, WaitIdOptions, WaitIdStatus, pidfd_open, pidfd_send_signal, waitid,
};
use std::ffi::{CString, OsString};
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;

/// A program to start, with all that it is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchedProgram {
    words: Vec<CString>,
    environment: Vec<CString>,
}

impl LaunchedProgram {
    /// A program by its path, which stands first, and its arguments; and the variables that it
    /// gets, no others.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::InvalidInput`] when there is a zero byte in anything.
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

    /// Starts it. What it writes to its standard error, and what its own children do, can be read
    /// from the pipe that comes with it; reading never waits.
    ///
    /// # Errors
    ///
    /// No process could be made, or no descriptors. That the file cannot be executed is no error
    /// here, but an [`ChildEnding`].
    pub fn start(&self, setup: &ChildSetup) -> io::Result<(ChildProcess, PipeReader)> {
        let (report, reporting) = io::pipe()?;
        let (output, writing) = io::pipe()?;
        ioctl_fionbio(&report, true)?;
        ioctl_fionbio(&output, true)?;
        let outputs = raw::LaunchOutputs { stderr: writing.as_fd(), report: reporting.as_fd() };
        let pid = raw::launch(&self.words, &self.environment, setup, &outputs)?;
        Ok((ChildProcess::new(pid, report)?, output))
    }
}

/// A process that was started.
#[derive(Debug)]
pub struct ChildProcess {
    pidfd: OwnedFd,
    report: PipeReader,
}

/// A child is readable when it has ended.
impl AsFd for ChildProcess {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }
}

/// How a process has ended.
#[derive(Debug)]
pub enum ChildEnding {
    /// The program could not be executed, because of this.
    NotExecuted(io::Error),
    /// With this exit status.
    Exited(i32),
    /// By this signal.
    Signaled(i32),
    /// In a way that somebody else in this process was told.
    Unknown,
}

impl ChildProcess {
    fn new(pid: u32, report: PipeReader) -> io::Result<Self> {
        let number = crate::process::to_pid(pid)?;
        // Nobody waits for it before `ending` does, so the number is still its own.
        Ok(Self { pidfd: pidfd_open(number, PidfdFlags::empty())?, report })
    }

    /// How it has ended, and `None` while it runs. It is gone from the process table then.
    ///
    /// # Errors
    ///
    /// None that a correct caller can cause.
    pub fn ending(&self) -> io::Result<Option<ChildEnding>> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        let status = match waitid(WaitId::PidFd(self.pidfd.as_fd()), options) {
            Ok(Some(status)) => status,
            Ok(None) => return Ok(None),
            Err(rustix::io::Errno::CHILD) => return Ok(Some(ChildEnding::Unknown)),
            Err(error) => return Err(error.into()),
        };
        Ok(Some(match self.report() {
            Some(error) => ChildEnding::NotExecuted(error),
            None => ChildEnding::of(&status),
        }))
    }

    /// What kept the program from being executed.
    fn report(&self) -> Option<io::Error> {
        let mut number = [0; size_of::<i32>()];
        (&self.report).read_exact(&mut number).ok()?;
        Some(io::Error::from_raw_os_error(i32::from_ne_bytes(number)))
    }

    /// Kills it, and none of its own children.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::PermissionDenied`] when it runs as another user.
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
