//! A cycle counter that runs with the clock of the machine.

/// Always, so that the daemon uses it.
#[must_use]
pub fn are_trusted() -> bool {
    true
}

/// Three cycles for a nanosecond.
#[must_use]
pub fn read() -> u64 {
    3 * crate::clock::monotonic().as_nanos() as u64
}
