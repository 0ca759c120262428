//! The clock of the machine, which only stands still while nobody looks.

use std::time::Duration;

use crate::machine;

/// The time since the start of the machine.
#[must_use]
pub fn monotonic() -> Duration {
    machine::with(machine::SimulatedMachine::tick)
}

/// The same: this machine does not sleep.
#[must_use]
pub fn boottime() -> Duration {
    monotonic()
}

/// The time since 1970-01-01 00:00 UTC.
#[must_use]
pub fn realtime() -> Duration {
    STARTED + monotonic()
}

/// When the machine was started: some day in 2026.
const STARTED: Duration = Duration::from_secs(1_780_000_000);
