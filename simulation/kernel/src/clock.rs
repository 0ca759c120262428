//! The simulated clock. It advances a little at each reading, and otherwise only when the world
//! lets time pass.

use std::time::Duration;

use crate::machine;

/// Returns the time since the simulated machine started.
#[must_use]
pub fn monotonic() -> Duration {
    machine::with(machine::SimulatedMachine::tick)
}

/// Returns the same as [`monotonic`], because a simulated machine is never suspended.
#[must_use]
pub fn boottime() -> Duration {
    monotonic()
}

/// Returns the time since 1970-01-01 00:00 UTC.
#[must_use]
pub fn realtime() -> Duration {
    STARTED + monotonic()
}

/// The wall-clock time at which the machine starts, an arbitrary day in 2026.
const STARTED: Duration = Duration::from_secs(1_780_000_000);
