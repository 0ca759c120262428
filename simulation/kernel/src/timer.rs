//! Timers on the simulated clock.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use crate::machine::{self, SimulatedFile};

/// A timer, which is readable from the time it was set to.
#[derive(Debug)]
pub struct Timer {
    descriptor: OwnedFd,
}

impl Timer {
    /// Creates a timer that is not set.
    ///
    /// # Errors
    ///
    /// Fails if this process has no descriptors left.
    pub fn new() -> io::Result<Self> {
        let descriptor = machine::with(|machine| machine.open(SimulatedFile::Timer { at: None }))?;
        Ok(Self { descriptor })
    }

    /// Sets the timer to a time; `None` stops it.
    ///
    /// # Errors
    ///
    /// Never fails.
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
