//! A simulated cycle counter, derived from the simulated clock.

/// Returns true, so that the daemon uses the cycle counter.
#[must_use]
pub fn are_trusted() -> bool {
    true
}

/// Returns the counter, which advances by three cycles per nanosecond.
#[must_use]
pub fn read() -> u64 {
    3 * crate::clock::monotonic().as_nanos() as u64
}
