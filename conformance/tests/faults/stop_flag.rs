//! Ends threads that run forever, also if the test fails.

use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that is set when the test is over.
#[derive(Debug, Default)]
pub(crate) struct StopFlag(AtomicBool);

impl StopFlag {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns a guard that sets the flag when it is dropped.
    #[must_use]
    pub(crate) fn when_dropped(&self) -> StopGuard<'_> {
        StopGuard(self)
    }
}

/// The guard of [`StopFlag::when_dropped`].
pub(crate) struct StopGuard<'f>(&'f StopFlag);

impl Drop for StopGuard<'_> {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}
