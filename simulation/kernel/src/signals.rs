//! Signals that the world sends to the daemon.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

pub use real::signals::ProcessSignal;

use crate::machine::{self, SimulatedFile};

/// A descriptor from which the daemon takes its signals.
#[derive(Debug)]
pub struct SignalSource {
    descriptor: OwnedFd,
}

impl SignalSource {
    /// Creates a source of all signals.
    ///
    /// # Errors
    ///
    /// Fails if this process has no descriptors left.
    pub fn block(_: &[ProcessSignal]) -> io::Result<Self> {
        let descriptor = machine::with(|machine| machine.open(SimulatedFile::Signals))?;
        Ok(Self { descriptor })
    }

    /// Takes the next signal; `None` if no signal is pending.
    ///
    /// # Errors
    ///
    /// Never fails.
    pub fn take(&self) -> io::Result<Option<ProcessSignal>> {
        Ok(machine::with(machine::SimulatedMachine::take_signal))
    }
}

impl AsFd for SignalSource {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}
