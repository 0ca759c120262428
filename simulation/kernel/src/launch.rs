//! Processes that the daemon starts. The world decides how they end.

use std::ffi::OsString;
use std::io::{self, PipeReader};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

pub use real::launch::ChildEnding;

use crate::machine::{self, SimulatedFile};
use crate::spawn::ChildSetup;

/// A program to start, with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchedProgram {
    words: Vec<OsString>,
}

impl LaunchedProgram {
    /// Creates a program from its path, which comes first, and its arguments. The environment is
    /// ignored.
    ///
    /// # Errors
    ///
    /// Never fails.
    pub fn new(
        words: impl IntoIterator<Item = OsString>,
        _: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> io::Result<Self> {
        Ok(Self { words: words.into_iter().collect() })
    }

    /// Starts the program in the simulated machine. The returned pipe stays empty.
    ///
    /// # Errors
    ///
    /// Fails if this process has no descriptors left.
    pub fn start(&self, _: &ChildSetup) -> io::Result<(ChildProcess, PipeReader)> {
        let (output, _) = io::pipe()?;
        machine::with(|machine| {
            let pid = machine.start(self.words.clone());
            let descriptor = machine.open(SimulatedFile::Process(pid))?;
            Ok((ChildProcess { pid, descriptor }, output))
        })
    }

    /// Starts the program as [`Self::start`] does. The simulated program reads no input.
    ///
    /// # Errors
    ///
    /// See [`Self::start`].
    pub fn start_reading(
        &self,
        setup: &ChildSetup,
        _: BorrowedFd<'_>,
    ) -> io::Result<(ChildProcess, PipeReader)> {
        self.start(setup)
    }
}

/// A simulated child process that was launched.
#[derive(Debug)]
pub struct ChildProcess {
    pid: u32,
    descriptor: OwnedFd,
}

impl AsFd for ChildProcess {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl ChildProcess {
    /// The descriptors of the process and of its report, which the simulation does not have.
    pub fn descriptors(&self) -> [BorrowedFd<'_>; 2] {
        [self.descriptor.as_fd(), self.descriptor.as_fd()]
    }

    /// Restores a child from its [descriptors](Self::descriptors).
    pub fn from_descriptors([descriptor, _]: [OwnedFd; 2]) -> Self {
        let pid = machine::with(|machine| machine.pid_of(&descriptor));
        Self { pid, descriptor }
    }

    /// Returns how the process has ended, or `None` while it runs.
    ///
    /// # Errors
    ///
    /// Never fails.
    pub fn ending(&self) -> io::Result<Option<ChildEnding>> {
        Ok(machine::with(|machine| machine.ending(self.pid)))
    }

    /// Kills the process, unless it has ended.
    ///
    /// # Errors
    ///
    /// Never fails.
    pub fn kill(&self) -> io::Result<()> {
        machine::with(|machine| machine.end(self.pid, machine::ProcessEnd::Killed));
        Ok(())
    }
}
