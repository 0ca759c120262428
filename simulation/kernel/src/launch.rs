//! Processes that the daemon starts: the world decides what becomes of them.

use std::ffi::OsString;
use std::io::{self, PipeReader};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

pub use real::launch::Ending;

use crate::machine::{self, File};
use crate::spawn::ChildSetup;

/// A program to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    words: Vec<OsString>,
}

impl Program {
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
    pub fn start(&self, _: &ChildSetup) -> io::Result<(Child, PipeReader)> {
        let (output, _) = io::pipe()?;
        machine::with(|machine| {
            let pid = machine.start(self.words.clone());
            let descriptor = machine.open(File::Process(pid))?;
            Ok((Child { pid, descriptor }, output))
        })
    }
}

/// A process that was started.
#[derive(Debug)]
pub struct Child {
    pid: u32,
    descriptor: OwnedFd,
}

impl AsFd for Child {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl Child {
    /// How it has ended, and `None` while it runs.
    ///
    /// # Errors
    ///
    /// None.
    pub fn ending(&self) -> io::Result<Option<Ending>> {
        Ok(machine::with(|machine| machine.ending(self.pid)))
    }

    /// Kills it.
    ///
    /// # Errors
    ///
    /// None.
    pub fn kill(&self) -> io::Result<()> {
        machine::with(|machine| machine.end(self.pid, machine::End::Killed));
        Ok(())
    }
}
