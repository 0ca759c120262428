//! A timeout that threads share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A timeout that can be missing, in nanoseconds or [`NONE`].
pub(crate) struct AtomicTimeout(AtomicU64);

impl AtomicTimeout {
    pub(crate) fn new(timeout: Option<Duration>) -> Self {
        Self(AtomicU64::new(nanoseconds(timeout)))
    }

    pub(crate) fn load(&self) -> Option<Duration> {
        match self.0.load(Ordering::Relaxed) {
            NONE => None,
            timeout => Some(Duration::from_nanos(timeout)),
        }
    }

    pub(crate) fn store(&self, timeout: Option<Duration>) {
        self.0.store(nanoseconds(timeout), Ordering::Relaxed);
    }
}

/// A timeout of more than 500 years never expires.
fn nanoseconds(timeout: Option<Duration>) -> u64 {
    timeout.and_then(|timeout| timeout.as_nanos().try_into().ok()).unwrap_or(NONE)
}

const NONE: u64 = u64::MAX;
