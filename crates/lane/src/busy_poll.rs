//! Waiting for the next message of a lane without sleeping.

use std::thread;
use std::time::Duration;

use unix::clock;

/// Waits for a message of a lane that is expected within a few microseconds.
///
/// A thread that sleeps must be woken, which takes longer than many calls do, above all on an idle
/// processor. So the reader of a lane first lets other threads run, and looks at the lane again and
/// again, for at most [`BUSY_POLL_MAX`]. After that it sleeps. If its messages do not come in time,
/// or other programs use the processor, it tries this less and less often.
#[derive(Clone, Copy, Debug, Default)]
pub struct BusyPoll {
    /// One of 2^`doubt` waits is an attempt.
    doubt: u32,
    /// The number of waits until the next attempt.
    skipped: u32,
    /// The number of attempts that may succeed before the time of one is measured.
    unmeasured: u32,
}

impl BusyPoll {
    /// Calls `read` until it returns a value, for at most `timeout`, or not at all if that was in
    /// vain before.
    pub fn poll<T>(
        &mut self,
        timeout: Option<Duration>,
        mut read: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        if timeout == Some(Duration::ZERO) || self.is_skipped() {
            return None;
        }
        if self.is_unmeasured() {
            thread::yield_now();
            let found = read();
            if found.is_some() {
                return found;
            }
        }
        let limit = timeout.map_or(BUSY_POLL_MAX, |timeout| timeout.min(BUSY_POLL_MAX));
        let (found, waited) = poll(limit, read);
        self.note(match found {
            Some(_) if waited < BUSY_POLL_MAX => PollOutcome::InTime,
            Some(_) if waited >= LOST_MIN => PollOutcome::Lost,
            Some(_) | None => PollOutcome::InVain,
        });
        found
    }

    /// True if the next wait is not an attempt.
    const fn is_skipped(&mut self) -> bool {
        let is_skipped = self.skipped > 0;
        self.skipped -= is_skipped as u32;
        is_skipped
    }

    /// True if the next attempt need not be measured, which takes two readings of the clock.
    const fn is_unmeasured(&mut self) -> bool {
        if self.doubt > 0 || self.unmeasured == 0 {
            self.unmeasured = UNMEASURED_MAX;
            return false;
        }
        self.unmeasured -= 1;
        true
    }

    /// Takes note of an attempt.
    fn note(&mut self, outcome: PollOutcome) {
        self.doubt = match outcome {
            PollOutcome::InTime => self.doubt.saturating_sub(1),
            PollOutcome::InVain => (self.doubt + 1).min(DOUBT_MAX),
            PollOutcome::Lost => DOUBT_MAX,
        };
        self.skipped = (1 << self.doubt) - 1;
    }
}

/// The outcome of an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PollOutcome {
    /// The message came in time.
    InTime,
    /// It did not come, or came late.
    InVain,
    /// It came, and another program used the processor. A thread that sleeps would have got it back
    /// earlier.
    Lost,
}

/// Calls `read` at least once, until it returns a value or the time is over. Returns the time that
/// has passed.
fn poll<T>(limit: Duration, mut read: impl FnMut() -> Option<T>) -> (Option<T>, Duration) {
    let start = clock::monotonic();
    loop {
        // The thread that sends the message may need this processor.
        thread::yield_now();
        let found = read();
        let waited = clock::monotonic().saturating_sub(start);
        if found.is_some() || waited >= limit {
            return (found, waited);
        }
    }
}

/// The longest time for which a thread waits without sleeping. It is about twice the time in which
/// a thread falls asleep and wakes up on another processor of a virtual machine.
pub const BUSY_POLL_MAX: Duration = Duration::from_micros(50);

/// The shortest wait that is too long for anything but a thread that lost its processor.
const LOST_MIN: Duration = Duration::from_millis(1);

/// The number of successful attempts whose time is not measured, while none was in vain. A lost
/// processor is noticed that much later.
const UNMEASURED_MAX: u32 = 7;

/// At least one of 1024 waits is an attempt.
const DOUBT_MAX: u32 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_until_it_is_there_or_the_time_is_over() {
        let mut reads = 0;
        let (found, _) = poll(Duration::MAX, || {
            reads += 1;
            (reads == 3).then_some("message")
        });
        assert_eq!((found, reads), (Some("message"), 3));
        let (found, waited) = poll(BUSY_POLL_MAX, || None::<&str>);
        assert!(found.is_none() && waited >= BUSY_POLL_MAX);
        assert_eq!(poll(Duration::ZERO, || Some("message")).0, Some("message"));
    }

    /// Waits that often, and returns the number of attempts, which have this outcome.
    fn attempts(poll: &mut BusyPoll, waits: usize, outcome: PollOutcome) -> usize {
        let is_attempt = |_: &usize| {
            let is_attempt = !poll.is_skipped();
            if is_attempt {
                poll.note(outcome);
            }
            is_attempt
        };
        (0..waits).filter(is_attempt).count()
    }

    #[test]
    fn attempts_in_vain_become_rare_until_they_succeed() {
        let poll = &mut BusyPoll::default();
        assert_eq!(attempts(poll, 100, PollOutcome::InTime), 100);
        assert_eq!(attempts(poll, 1 + 2 + 4 + 8, PollOutcome::InVain), 4);
        assert_eq!(attempts(poll, 16 + 32 + 64 + 128 + 256 + 512, PollOutcome::InVain), 6);
        assert_eq!(attempts(poll, 10 * 1024, PollOutcome::InVain), 10);
        let until_it_is_trusted = 1024 + 512 + 256 + 128 + 64 + 32 + 16 + 8 + 4 + 2;
        assert_eq!(attempts(poll, until_it_is_trusted, PollOutcome::InTime), 10);
        assert_eq!(attempts(poll, 100, PollOutcome::InTime), 100);
    }

    #[test]
    fn without_time_nothing_is_read() {
        let mut poll = BusyPoll::default();
        assert_eq!(poll.poll(Some(Duration::ZERO), || Some("message")), None);
        assert_eq!(poll.poll(None, || Some("message")), Some("message"));
    }

    #[test]
    fn a_lost_processor_is_noticed_after_a_few_attempts() {
        let mut poll = BusyPoll::default();
        let mut reads = 0;
        for _ in 0..100 {
            poll.poll(None, || {
                thread::sleep(LOST_MIN);
                reads += 1;
                Some("message")
            });
        }
        assert!((1..=UNMEASURED_MAX + 1).contains(&reads), "{reads}");
    }

    #[test]
    fn without_a_message_no_processor_is_lost() {
        let mut poll = BusyPoll::default();
        // Other programs may use the processor at the end of a series of messages.
        let found = poll.poll(None, || {
            thread::sleep(LOST_MIN);
            None::<&str>
        });
        assert_eq!(found, None);
        let attempts = [0; 3].map(|_| poll.poll(None, || Some("message")).is_some());
        assert_eq!(attempts, [false, true, true]);
    }

    #[test]
    fn a_lost_processor_makes_attempts_rare_at_once() {
        let poll = &mut BusyPoll::default();
        assert_eq!(attempts(poll, 1, PollOutcome::Lost), 1);
        assert_eq!(attempts(poll, 1023, PollOutcome::InTime), 0);
        assert_eq!(attempts(poll, 1, PollOutcome::InTime), 1);
    }
}
