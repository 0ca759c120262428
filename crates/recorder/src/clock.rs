//! The common clock of all records.

use std::time::Duration;

use capture::record::RecordedTime;
use sys::clock;

/// A time of day that never goes back: it is read once and advanced by the monotonic clock.
/// Therefore durations are correct even if the clock of the machine is set, and several buses can
/// be compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordingClock {
    /// The nanoseconds from the monotonic clock to the time of day.
    ahead: i64,
}

impl RecordingClock {
    /// Creates a clock from the present time of day.
    pub fn start() -> Self {
        let (day, monotonic) = (clock::realtime(), clock::monotonic());
        Self { ahead: nanos(day) - nanos(monotonic) }
    }

    /// Returns the present time.
    pub fn now(self) -> RecordedTime {
        self.at(clock::monotonic())
    }

    /// Returns the time of day for a time of the monotonic clock.
    pub fn at(self, monotonic: Duration) -> RecordedTime {
        RecordedTime(self.ahead + nanos(monotonic))
    }

    /// Returns the time of the monotonic clock for a time of day; zero for times before its start.
    pub fn monotonic(self, at: RecordedTime) -> Duration {
        Duration::from_nanos(u64::try_from(at.0.saturating_sub(self.ahead)).unwrap_or_default())
    }

    /// Returns the nanoseconds from the monotonic clock to the time of day.
    pub const fn ahead(self) -> i64 {
        self.ahead
    }
}

fn nanos(span: Duration) -> i64 {
    i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)
}
