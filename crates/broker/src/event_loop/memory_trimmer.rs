//! Returns free memory to the system.
//!
//! The allocator keeps freed memory for later use. After a peer had very many match rules, or many
//! peers stopped reading, that may be far more than the bus will need. So a while after a
//! connection has closed or caught up, the bus compares its memory with the minimum so far and
//! trims it if it is much larger. If trimming frees little, because the memory is in use, it is
//! tried less often.

use std::time::Duration;

use super::alarm::Alarm;

/// When to check next, and the memory use so far.
#[derive(Debug)]
pub(super) struct MemoryTrimmer {
    due: Option<Duration>,
    /// The minimum number of bytes in use at any check.
    least: u64,
    /// The time from the end of a connection to the next check.
    delay: Duration,
}

impl MemoryTrimmer {
    /// The initial state of a bus that has just started.
    pub(super) fn begin() -> Self {
        let least = sys::memory::resident().unwrap_or_default();
        Self { due: None, least, delay: DELAY_MIN }
    }

    /// Notes that a connection closed, or read everything queued for it, so that memory is free.
    pub(super) fn note_freed(&mut self, now: Duration, alarm: &mut Alarm) {
        if self.due.is_none() {
            let due = now + self.delay;
            self.due = Some(due);
            alarm.no_later_than(due);
        }
    }

    /// Returns memory to the system, if a check is due and there is much to free.
    pub(super) fn check(&mut self, now: Duration, alarm: &mut Alarm) {
        let Some(due) = self.due else { return };
        if due > now {
            return alarm.no_later_than(due);
        }
        self.due = None;
        let Some(before) = sys::memory::resident() else { return };
        self.least = self.least.min(before);
        if before < self.least + EXCESS_MIN {
            return;
        }
        sys::memory::give_back();
        let given = before.saturating_sub(sys::memory::resident().unwrap_or(before));
        let slower = (self.delay * 2).min(DELAY_MAX);
        self.delay = if given >= GAIN_MIN { DELAY_MIN } else { slower };
    }
}

/// The delay of a check after a connection closed: many often close together, and the next
/// connections may need the memory.
const DELAY_MIN: Duration = Duration::from_secs(1);
const DELAY_MAX: Duration = Duration::from_secs(64);

/// Trimming is tried if this many bytes more than the minimum are in use.
const EXCESS_MIN: u64 = 4 << 20;

/// If trimming frees at least this many bytes, the delay returns to its minimum, else it doubles.
const GAIN_MIN: u64 = 1 << 20;
