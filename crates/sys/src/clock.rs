//! The clocks of the kernel (clock_gettime(2)). The other crates are told the time; this is
//! where it comes from.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// The time since some moment in the past, usually the start of the machine. It never goes back
/// and nobody can set it, so it is the one for deadlines and measurements.
#[must_use]
pub fn monotonic() -> Duration {
    read(ClockId::Monotonic)
}

/// The time since 1970-01-01 00:00 UTC, for what people or other programs shall read. It jumps when
/// somebody sets the clock.
#[must_use]
pub fn realtime() -> Duration {
    read(ClockId::Realtime)
}

/// The time since the start of the machine, with the time that it slept.
#[must_use]
pub fn boottime() -> Duration {
    read(ClockId::Boottime)
}

/// How long this process has had a processor, in user programs and in the kernel, with all its
/// threads but without its children.
#[must_use]
pub fn used() -> Duration {
    read(ClockId::ProcessCPUTime)
}

fn read(clock: ClockId) -> Duration {
    // A clock that was set to before 1970 reads as 1970.
    clock_gettime(clock).try_into().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::processor_time;
    use std::time::SystemTime;

    #[test]
    fn what_this_process_has_used_is_what_the_kernel_tells_of_it() {
        let known = || processor_time(std::process::id()).unwrap();
        let (before, used, after) = (known(), used(), known());
        assert!(before <= used && used <= after, "{before:?} {used:?} {after:?}");
        assert!(used > Duration::ZERO);
    }

    #[test]
    fn one_clock_goes_forward_and_the_other_tells_the_time() {
        let before = monotonic();
        assert!(monotonic() >= before);
        let since_1970 = SystemTime::UNIX_EPOCH.elapsed().unwrap();
        assert!(realtime().abs_diff(since_1970) < Duration::from_secs(10));
    }
}
