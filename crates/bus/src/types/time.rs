//! Time as the bus is told it.

use core::fmt;
use core::time::Duration;

/// Nanoseconds since some fixed moment, on a clock that never goes back.
///
/// The bus never asks a clock: every input brings the time with it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Time(u64);

impl Time {
    /// The moment `nanoseconds` after the clock's own beginning.
    pub const fn from_nanos(nanoseconds: u64) -> Self {
        Self(nanoseconds)
    }

    /// Nanoseconds since the clock's own beginning.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The moment `duration` later; the end of time if that is beyond it.
    #[must_use]
    pub const fn after(self, duration: Duration) -> Self {
        let nanoseconds = duration.as_nanos();
        if nanoseconds > u64::MAX as u128 {
            return Self(u64::MAX);
        }
        Self(self.0.saturating_add(nanoseconds as u64))
    }

    /// How long after `earlier` this is; nothing if it is not.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", Duration::from_nanos(self.0))
    }
}
