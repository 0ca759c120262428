//! How much of one connection is read and routed at once, so that other connections need not wait
//! for it.
//!
//! Most connections send a message and wait for the reply, or receive a message occasionally. Some
//! flood: they continuously send more than one read routes. Flooding connections are served last in
//! a turn, and while other connections exchange messages, only a few of their messages are routed
//! at a time. So a call waits for a few messages of a flood on each of its four ways through the
//! bus, and not for a full buffer.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How much of a connection is read and routed at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct ReadBudget {
    /// Bytes to read at once: about as many as are routed afterwards, so that little has to be
    /// kept.
    portion: u32,
    /// How many reads without a flood are left until the connection counts as calm.
    reads_until_calm: u8,
}

impl ReadBudget {
    /// The number of bytes to read at once.
    pub(crate) const fn portion(self) -> usize {
        self.portion as usize
    }

    /// Whether the connection sends more than is routed at once.
    pub(crate) const fn is_flood(self) -> bool {
        self.reads_until_calm > 0
    }

    /// Notes that a read brought more than may be routed at once; `routed` bytes were routed.
    pub(crate) fn note_flood(&mut self, routed: usize) {
        self.portion = u32::try_from(routed).unwrap_or(u32::MAX).clamp(PORTION_MIN, PORTION_MAX);
        self.reads_until_calm = READS_UNTIL_CALM;
    }

    /// Notes that everything from a read was routed.
    pub(crate) fn note_all_routed(&mut self, received: usize) {
        if received >= self.portion() {
            self.portion = (self.portion + self.portion / 4).min(PORTION_MAX);
        } else {
            self.reads_until_calm = self.reads_until_calm.saturating_sub(1);
        }
    }
}

impl Default for ReadBudget {
    fn default() -> Self {
        Self { portion: PORTION_MAX, reads_until_calm: 0 }
    }
}

/// Whether connections that do not flood are exchanging messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct InteractiveTraffic {
    last: Option<Duration>,
}

impl InteractiveTraffic {
    /// Notes that a calm connection sent a message to another calm connection.
    pub(super) fn note_message(&mut self, now: Duration) {
        self.last = Some(now);
    }

    /// The maximum number of messages of a connection to route in a turn.
    pub(super) fn messages_of(self, budget: ReadBudget, now: Duration) -> usize {
        let is_over = self.last.is_none_or(|last| now.saturating_sub(last) > PAUSE_MAX);
        if is_over || !budget.is_flood() { MESSAGES_MAX } else { MESSAGES_BESIDE_OTHERS }
    }
}

/// The maximum number of messages of one connection before others have their turn.
const MESSAGES_MAX: usize = 64;

/// The same for a flooding connection while other connections exchange messages.
const MESSAGES_BESIDE_OTHERS: usize = 4;

/// Calm connections without messages for this long do not count as exchanging messages.
const PAUSE_MAX: Duration = Duration::from_millis(1);

/// A flood comes in waves, so some of its reads bring little.
const READS_UNTIL_CALM: u8 = 16;

/// The minimum size of a read; smaller reads would cost a system call for each message.
const PORTION_MIN: u32 = 4 << 10;

/// The maximum size of a read.
const PORTION_MAX: u32 = 256 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_ends_after_some_small_reads() {
        let mut budget = ReadBudget::default();
        budget.note_all_routed(200);
        assert!(!budget.is_flood());
        budget.note_flood(10_000);
        assert_eq!(budget.portion(), 10_000);
        for _ in 1..READS_UNTIL_CALM {
            budget.note_all_routed(200);
            assert!(budget.is_flood());
        }
        budget.note_all_routed(200);
        assert!(!budget.is_flood());
    }

    #[test]
    fn read_sizes_stay_within_bounds() {
        let mut budget = ReadBudget::default();
        budget.note_flood(1);
        assert_eq!(budget.portion(), PORTION_MIN as usize);
        for _ in 0..100 {
            budget.note_all_routed(budget.portion());
        }
        assert_eq!(budget.portion(), PORTION_MAX as usize);
        assert!(budget.is_flood(), "reads still return the maximum");
        budget.note_flood(usize::MAX);
        assert_eq!(budget.portion(), PORTION_MAX as usize);
    }

    #[test]
    fn a_flood_is_slowed_down_only_while_others_exchange_messages() {
        let (calm, mut flood) = (ReadBudget::default(), ReadBudget::default());
        flood.note_flood(10_000);
        let mut interactive = InteractiveTraffic::default();
        let at = Duration::from_secs(5);
        assert_eq!(interactive.messages_of(flood, at), MESSAGES_MAX);
        interactive.note_message(at);
        assert_eq!(interactive.messages_of(flood, at), MESSAGES_BESIDE_OTHERS);
        assert_eq!(interactive.messages_of(calm, at), MESSAGES_MAX);
        let later = at + 2 * PAUSE_MAX;
        assert_eq!(interactive.messages_of(flood, later), MESSAGES_MAX);
    }
}
