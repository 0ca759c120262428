//! Processes that the daemon starts: the world decides what becomes of them.

use std::ffi::OsString;
use std::io::{self, PipeReader};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

pub use real::launch::ChildEnding;

use crate::machine::{self, SimulatedFile};
use crate::spawn::ChildSetup;

/// A program to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchedProgram {
    words: Vec<OsString>,
}

impl LaunchedProgram {
    /// A program by its path and arguments.
    ///
    /// # Errors
    ///
    /// None.
    pub fn new(
        words: impl IntoIterator<Item = OsString>,
        _: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> io::Result<Self> {
        Ok(Self { words: words.into_iter().collect() })
    }

    /// Starts it. It writes nothing.
    ///
    /// # Errors
    ///
    /// When this process has no descriptors left.
    pub fn start(&self, _: &ChildSetup) -> io::Result<(ChildProcess, PipeReader)> {
        let (output, _) = io::pipe()?;
        machine::with(|machine| {
            let pid = machine.start(self.words.clone());
            let descriptor = machine.open(SimulatedFile::Process(pid))?;
            Ok((ChildProcess { pid, descriptor }, output))
        })
    }
}

/// A process that was started.
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
    /// How it has ended, and `None` while it runs.
    ///
    /// # Errors
    ///
    /// None.
    pub fn ending(&self) -> io::Result<Option<ChildEnding>> {
        Ok(machine::with(|machine| machine.ending(self.pid)))
    }

    /// Kills it.
    ///
    /// # Errors
    ///
    /// None.
    pub fn kill(&self) -> io::Result<()> {
        machine::with(|machine| machine.end(self.pid, machine::ProcessEnd::Killed));
        Ok(())
    }
}
