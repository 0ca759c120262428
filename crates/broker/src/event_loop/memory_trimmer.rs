//! Memory that was needed once is given back.
//!
//! The allocator keeps what is free for the next that asks. After somebody has had very many rules, or
//! many have not read, that would be more than the bus needs for years. So a while after a connection
//! has ended, or has caught up, the bus looks whether it has much more than it had when it had least.
//! Where that gives little back, since others need it, it is done less often.

use std::time::Duration;

use super::alarm::Alarm;

/// When to look, and what there was.
#[derive(Debug)]
pub(super) struct MemoryTrimmer {
    due: Option<Duration>,
    /// The fewest bytes that were occupied at any look.
    least: u64,
    /// From the end of a connection to the next look.
    delay: Duration,
}

impl MemoryTrimmer {
    /// That of a bus which has just begun.
    pub(super) fn begin() -> Self {
        let least = sys::memory::resident().unwrap_or_default();
        Self { due: None, least, delay: DELAY_MIN }
    }

    /// A connection has ended, or has read all that waited for it, so that what it had is free.
    pub(super) fn note_freed(&mut self, now: Duration, alarm: &mut Alarm) {
        if self.due.is_none() {
            let due = now + self.delay;
            self.due = Some(due);
            alarm.no_later_than(due);
        }
    }

    /// Gives memory back, if it is time to and there is much.
    pub(super) fn check(&mut self, now: Duration, alarm: &mut Alarm) {
        let Some(due) = self.due else { return };
        if due > now {
            return alarm.no_later_than(due);
        }
        self.due = None;
        let Some(before) = sys::memory::resident() else { return };
        self.least = self.least.min(before);
        if before < self.least + MUCH {
            return;
        }
        sys::memory::give_back();
        let given = before.saturating_sub(sys::memory::resident().unwrap_or(before));
        let slower = (self.delay * 2).min(DELAY_MAX);
        self.delay = if given >= WORTH_IT { DELAY_MIN } else { slower };
    }
}

/// How long after somebody has left it is looked: many often leave together, and whoever comes next may
/// want the memory.
const DELAY_MIN: Duration = Duration::from_secs(1);
const DELAY_MAX: Duration = Duration::from_secs(64);

/// Bytes more than there were at least that are worth a try.
const MUCH: u64 = 4 << 20;

/// Bytes that are worth another try as soon.
const WORTH_IT: u64 = 1 << 20;
