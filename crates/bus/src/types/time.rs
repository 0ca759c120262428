//! Time, as the daemon passes it to the bus.

use core::fmt;
use core::time::Duration;

use serde::{Deserialize, Serialize};

/// A moment in nanoseconds, on a clock that never goes back.
///
/// The bus does not read a clock: each input has a time.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
pub struct Time(u64);

impl Time {
    /// The moment `nanoseconds` after the origin of the clock.
    pub const fn from_nanos(nanoseconds: u64) -> Self {
        Self(nanoseconds)
    }

    /// Nanoseconds since the origin of the clock.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The moment `duration` later. It saturates at the largest value.
    #[must_use]
    pub const fn after(self, duration: Duration) -> Self {
        let nanoseconds = duration.as_nanos();
        if nanoseconds > u64::MAX as u128 {
            return Self(u64::MAX);
        }
        Self(self.0.saturating_add(nanoseconds as u64))
    }

    /// The duration since `earlier`; zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", Duration::from_nanos(self.0))
    }
}
