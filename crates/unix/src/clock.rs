//! The clocks of the kernel (clock_gettime(2)). Other crates get the time as an argument; this
//! module is its source.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Returns the time since some moment in the past, usually the boot. It never goes back and cannot
/// be set, so it is the clock for deadlines and measurements.
#[must_use]
pub fn monotonic() -> Duration {
    read(ClockId::Monotonic)
}

/// Returns the time since 1970-01-01 00:00 UTC, for people and other programs. It jumps when the
/// clock is set.
#[must_use]
pub fn realtime() -> Duration {
    read(ClockId::Realtime)
}

/// Returns the time since boot, including the time the machine was suspended.
#[must_use]
pub fn boottime() -> Duration {
    read(ClockId::Boottime)
}

/// Returns the processor time of this process, in user space and in the kernel, of all its threads
/// but not of its children.
#[must_use]
pub fn used() -> Duration {
    read(ClockId::ProcessCPUTime)
}

fn read(clock: ClockId) -> Duration {
    // A clock set to before 1970 is read as 1970.
    clock_gettime(clock).try_into().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    #[test]
    fn monotonic_clock_advances_and_realtime_clock_is_current() {
        let before = monotonic();
        assert!(monotonic() >= before);
        let since_1970 = SystemTime::UNIX_EPOCH.elapsed().unwrap();
        assert!(realtime().abs_diff(since_1970) < Duration::from_secs(10));
    }
}
