//! One clock for everything that is recorded.

use std::time::Duration;

use capture::record::RecordedTime;
use sys::clock;

/// Tells the time of day without ever going back: it is asked once, and counted on from there. So
/// spans are right even if somebody sets the clock of the machine, and several buses can be
/// compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordingClock {
    /// Nanoseconds that the time of day is ahead of the monotonic clock.
    ahead: i64,
}

impl RecordingClock {
    /// Asks for the time of day.
    pub fn start() -> Self {
        let (day, monotonic) = (clock::realtime(), clock::monotonic());
        Self { ahead: nanos(day) - nanos(monotonic) }
    }

    /// The time now.
    pub fn now(self) -> RecordedTime {
        self.at(clock::monotonic())
    }

    /// The time of day at a moment of the monotonic clock.
    pub fn at(self, monotonic: Duration) -> RecordedTime {
        RecordedTime(self.ahead + nanos(monotonic))
    }

    /// The moment of the monotonic clock at a time of day; zero if that was before its start.
    pub fn monotonic(self, at: RecordedTime) -> Duration {
        Duration::from_nanos(u64::try_from(at.0.saturating_sub(self.ahead)).unwrap_or_default())
    }

    /// Nanoseconds that the time of day is ahead of the monotonic clock.
    pub const fn ahead(self) -> i64 {
        self.ahead
    }
}

fn nanos(span: Duration) -> i64 {
    i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)
}
