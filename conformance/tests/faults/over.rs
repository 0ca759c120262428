//! When threads that go on for ever shall end: also when the test fails meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether all is over.
#[derive(Debug, Default)]
pub(crate) struct Over(AtomicBool);

impl Over {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// It is over when this is dropped.
    #[must_use]
    pub(crate) fn when_dropped(&self) -> LimitSets<'_> {
        LimitSets(self)
    }
}

/// See [`Over::when_dropped`].
pub(crate) struct LimitSets<'o>(&'o Over);

impl Drop for LimitSets<'_> {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}
