//! Timers on the clock of the machine.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use crate::machine::{self, SimulatedFile};

/// A timer, readable from the moment that it was set to.
#[derive(Debug)]
pub struct Timer {
    descriptor: OwnedFd,
}

impl Timer {
    /// A timer that is not set.
    ///
    /// # Errors
    ///
    /// When this process has no descriptors left.
    pub fn new() -> io::Result<Self> {
        let descriptor = machine::with(|machine| machine.open(SimulatedFile::Timer { at: None }))?;
        Ok(Self { descriptor })
    }

    /// Sets it to a moment; `None` stops it.
    ///
    /// # Errors
    ///
    /// None.
    pub fn set(&self, at: Option<Duration>) -> io::Result<()> {
        machine::with(|machine| machine.set_timer(&self.descriptor, at));
        Ok(())
    }
}

impl AsFd for Timer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}
