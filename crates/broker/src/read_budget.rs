//! How much of one connection is taken at once, so that others need not wait for it.
//!
//! Most connections send a message and wait for the answer, or are told something now and then.
//! Some flood: they send more than is taken at once, for as long as they are let. Those come last in
//! a turn, and as long as others have something to tell each other, only a few messages at a time:
//! then a call beside a flood waits for a few messages of it at each of its four stations, and not
//! for a buffer full.

use std::time::Duration;

/// How much of a connection is taken at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ReadBudget {
    /// Bytes of a read: about as many as are routed then, so that little has to be kept.
    portion: u32,
    /// How many reads without a flood it takes until it is none.
    unrest: u8,
}

impl ReadBudget {
    /// How many bytes are read at once.
    pub(crate) const fn portion(self) -> usize {
        self.portion as usize
    }

    /// Whether more comes from it than is taken at once.
    pub(crate) const fn is_flood(self) -> bool {
        self.unrest > 0
    }

    /// A read brought more than may be routed at once, which was `routed` bytes.
    pub(crate) fn had_enough(&mut self, routed: usize) {
        self.portion = u32::try_from(routed).unwrap_or(u32::MAX).clamp(PORTION_MIN, PORTION_MAX);
        self.unrest = READS_UNTIL_CALM;
    }

    /// All that a read brought was routed.
    pub(crate) fn took_all(&mut self, received: usize) {
        if received >= self.portion() {
            self.portion = (self.portion + self.portion / 4).min(PORTION_MAX);
        } else {
            self.unrest = self.unrest.saturating_sub(1);
        }
    }
}

impl Default for ReadBudget {
    fn default() -> Self {
        Self { portion: PORTION_MAX, unrest: 0 }
    }
}

/// Whether those that do not flood have something to tell each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct InteractiveTraffic {
    last: Option<Duration>,
}

impl InteractiveTraffic {
    /// One that does not flood has sent something to another that does not.
    pub(super) fn goes_on(&mut self, now: Duration) {
        self.last = Some(now);
    }

    /// How many messages of a connection are routed in a turn.
    pub(super) fn messages_of(self, budget: ReadBudget, now: Duration) -> usize {
        let is_over = self.last.is_none_or(|last| now.saturating_sub(last) > PAUSE_MAX);
        if is_over || !budget.is_flood() { MESSAGES_MAX } else { MESSAGES_BESIDE_OTHERS }
    }
}

/// Messages of one connection that are routed before others have their turn.
const MESSAGES_MAX: usize = 64;

/// Messages of one that floods while others talk.
const MESSAGES_BESIDE_OTHERS: usize = 4;

/// How long others may be silent until they are not expected to say more at once.
const PAUSE_MAX: Duration = Duration::from_millis(1);

/// A flood comes in waves: there are reads within it that bring little.
const READS_UNTIL_CALM: u8 = 16;

/// The least that is read at once, or every message would cost a system call.
const PORTION_MIN: u32 = 4 << 10;

/// The most that is read at once.
const PORTION_MAX: u32 = 256 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_ends_after_some_small_reads() {
        let mut budget = ReadBudget::default();
        budget.took_all(200);
        assert!(!budget.is_flood());
        budget.had_enough(10_000);
        assert_eq!(budget.portion(), 10_000);
        for _ in 1..READS_UNTIL_CALM {
            budget.took_all(200);
            assert!(budget.is_flood());
        }
        budget.took_all(200);
        assert!(!budget.is_flood());
    }

    #[test]
    fn what_is_read_at_once_stays_within_bounds() {
        let mut budget = ReadBudget::default();
        budget.had_enough(1);
        assert_eq!(budget.portion(), PORTION_MIN as usize);
        for _ in 0..100 {
            budget.took_all(budget.portion());
        }
        assert_eq!(budget.portion(), PORTION_MAX as usize);
        assert!(budget.is_flood(), "it still brings as much as it may");
        budget.had_enough(usize::MAX);
        assert_eq!(budget.portion(), PORTION_MAX as usize);
    }

    #[test]
    fn a_flood_is_held_back_only_beside_others() {
        let (calm, mut flood) = (ReadBudget::default(), ReadBudget::default());
        flood.had_enough(10_000);
        let mut interactive = InteractiveTraffic::default();
        let at = Duration::from_secs(5);
        assert_eq!(interactive.messages_of(flood, at), MESSAGES_MAX);
        interactive.goes_on(at);
        assert_eq!(interactive.messages_of(flood, at), MESSAGES_BESIDE_OTHERS);
        assert_eq!(interactive.messages_of(calm, at), MESSAGES_MAX);
        let later = at + 2 * PAUSE_MAX;
        assert_eq!(interactive.messages_of(flood, later), MESSAGES_MAX);
    }
}
