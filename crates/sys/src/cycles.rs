//! The cycle counter of the processor: a clock that takes less than half the time of
//! clock_gettime(2).

use std::fs;

/// True if [`read`] can serve as a clock: it runs at a constant rate, and equally on all
/// processors. This holds if the kernel itself uses it as its clock source.
#[must_use]
pub fn are_trusted() -> bool {
    cfg!(target_arch = "x86_64")
        && fs::read_to_string(CLOCK_SOURCE).is_ok_and(|source| source.trim_end() == "tsc")
}

/// Reads the cycle counter, whose start and period are unspecified. It is meaningless unless
/// [`are_trusted`]; on processors other than x86-64 it is 0.
#[inline]
#[must_use]
pub fn read() -> u64 {
    crate::raw::cycles::read()
}

/// The file with the clock source of the kernel.
const CLOCK_SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::monotonic;
    use std::thread::sleep;
    use std::time::Duration;

    #[test]
    fn cycles_have_a_constant_length_where_they_are_trusted() {
        if !are_trusted() {
            return eprintln!("left out: the kernel does not keep time by the cycle counter");
        }
        let length = |pause: u64| {
            let (at, cycles) = (monotonic(), read());
            sleep(Duration::from_millis(pause));
            let passed = read() - cycles;
            (monotonic() - at).as_nanos() as f64 / passed as f64
        };
        // If a thread is preempted between the two clock readings, one result is wrong.
        let is_constant = (0..10).any(|_| (length(20) / length(40) - 1.0).abs() < 0.001);
        assert!(is_constant, "{} and {} ns", length(20), length(40));
    }
}
