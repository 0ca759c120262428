//! Amounts that flow, and how fast.

use std::collections::VecDeque;
use std::time::Duration;

/// Messages, and the bytes that they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Amount {
    /// How many messages.
    pub(crate) messages: u64,
    /// How many bytes, headers included.
    pub(crate) bytes: u64,
}

impl Amount {
    /// Adds messages that have so many bytes together.
    pub(crate) const fn add(&mut self, messages: u64, bytes: u64) {
        self.messages += messages;
        self.bytes += bytes;
    }
}

/// How fast something flows.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Rate {
    /// Messages in a second.
    pub(crate) messages: f64,
    /// Bytes in a second.
    pub(crate) bytes: f64,
}

/// What has flowed: in all, and step by step in the window over which rates are measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Flow {
    total: Amount,
    /// Since the last step.
    current: Amount,
    /// In the latest steps, the last one first.
    past: [Amount; STEPS],
}

impl Flow {
    /// Adds messages that have so many bytes together.
    pub(crate) const fn add(&mut self, messages: u64, bytes: u64) {
        self.current.add(messages, bytes);
        self.total.add(messages, bytes);
    }

    /// Ends a step. All flows do it at once, and the [`Window`] with them.
    pub(crate) fn step(&mut self) {
        self.past.rotate_right(1);
        self.past[0] = std::mem::take(&mut self.current);
    }

    /// All that has ever flowed.
    pub(crate) const fn total(&self) -> Amount {
        self.total
    }

    /// What flowed in the step that ended last.
    pub(crate) const fn last_step(&self) -> Amount {
        self.past[0]
    }

    /// How fast it flows, averaged over the window.
    pub(crate) fn rate(&self, window: &Window) -> Rate {
        let seconds = window.seconds();
        let sum = |what: fn(&Amount) -> u64| self.past.iter().map(what).sum::<u64>() as f64;
        if seconds > 0.0 {
            Rate {
                messages: sum(|amount| amount.messages) / seconds,
                bytes: sum(|amount| amount.bytes) / seconds,
            }
        } else {
            Rate::default()
        }
    }
}

/// The latest steps, and how long each was: a busy program is not punctual.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Window {
    since: Duration,
    lengths: VecDeque<Duration>,
}

impl Window {
    /// A window in which nothing has happened yet; the first step begins `now`.
    pub(crate) const fn starting(now: Duration) -> Self {
        Self { since: now, lengths: VecDeque::new() }
    }

    /// Ends a step, and says how long it was.
    pub(crate) fn step(&mut self, now: Duration) -> Duration {
        let length = now.saturating_sub(self.since);
        self.since = now;
        self.lengths.truncate(STEPS - 1);
        self.lengths.push_front(length);
        length
    }

    fn seconds(&self) -> f64 {
        self.lengths.iter().sum::<Duration>().as_secs_f64()
    }
}

/// Steps over which a rate is averaged. Of what happens once a second, one second alone would show
/// 0, 1 or 2 by chance.
const STEPS: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps of so many milliseconds, in each of which so many messages of 10 bytes flow.
    fn check(steps: &[(u64, u64)], expected: f64) {
        let mut window = Window::starting(Duration::ZERO);
        let (mut flow, mut now) = (Flow::default(), Duration::ZERO);
        for &(millis, messages) in steps {
            flow.add(messages, messages * 10);
            now += Duration::from_millis(millis);
            flow.step();
            window.step(now);
        }
        let rate = flow.rate(&window);
        assert_eq!(rate, Rate { messages: expected, bytes: expected * 10.0 }, "{steps:?}");
    }

    #[test]
    fn a_rate_is_the_average_over_the_window() {
        check(&[], 0.0);
        check(&[(1000, 6)], 6.0);
        check(&[(1000, 6), (1000, 0)], 3.0);
        check(&[(1000, 6), (1000, 0), (1000, 0)], 2.0);
        check(&[(1000, 6), (1000, 0), (1000, 0), (1000, 0)], 0.0);
        check(&[(1000, 0), (500, 4), (500, 4)], 4.0);
    }

    #[test]
    fn the_total_is_never_forgotten() {
        let mut flow = Flow::default();
        for _ in 0..10 {
            flow.add(2, 30);
            flow.step();
        }
        assert_eq!(flow.total(), Amount { messages: 20, bytes: 300 });
        assert_eq!(flow.last_step(), Amount { messages: 2, bytes: 30 });
    }
}
