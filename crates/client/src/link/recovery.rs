//! The end of a connection, and connecting again.
//!
//! ```text
//!   Armed ──the bus went away──> Outage ──connected──> Armed
//!                                  │ ^
//!                 attempt failed   └─┘ after a delay; at last, the connection ends
//! ```
//!
//! Nothing runs in the background: of the threads or tasks that wait, one connects, and the others
//! sleep.

use std::os::fd::OwnedFd;
use std::time::Duration;

use super::socket::BusSocket;
use crate::core::{Ended, Established};

/// Whether a connection connects again after the bus went away.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reconnect {
    /// The connection ends with the bus.
    #[default]
    Never,
    /// Methods that wait connect again, within these limits.
    WhenLost(ReconnectLimits),
}

/// The limits of connecting again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReconnectLimits {
    /// The delay after the first failed attempt. Each further delay is twice as long.
    pub first_delay: Duration,
    /// The longest delay between two attempts.
    pub longest_delay: Duration,
    /// The time limit of one attempt. The timeout of the waiting method may be exceeded by it.
    pub attempt: Duration,
    /// The time after which the connection ends, if no attempt has succeeded.
    pub give_up_after: Duration,
}

impl Default for ReconnectLimits {
    /// Delays from [`FIRST_DELAY`] to [`LONGEST_DELAY`], attempts of at most [`ATTEMPT_TIME`], for
    /// [`GIVE_UP_AFTER`].
    fn default() -> Self {
        Self {
            first_delay: FIRST_DELAY,
            longest_delay: LONGEST_DELAY,
            attempt: ATTEMPT_TIME,
            give_up_after: GIVE_UP_AFTER,
        }
    }
}

/// The default delay after the first failed attempt to connect again.
pub const FIRST_DELAY: Duration = Duration::from_millis(50);
/// The default of the longest delay between two attempts to connect again.
pub const LONGEST_DELAY: Duration = Duration::from_secs(5);
/// The default time limit of one attempt to connect again.
pub const ATTEMPT_TIME: Duration = Duration::from_secs(2);
/// The default time after which attempts to connect again end.
pub const GIVE_UP_AFTER: Duration = Duration::from_secs(300);

/// Connects in the current thread.
pub(crate) trait Redial: Send + Sync {
    /// Tries to connect once; `None` if it failed.
    fn redial(&self) -> Option<EstablishedSocket>;
}

/// A connection that completed the handshake, and its socket.
pub(crate) struct EstablishedSocket {
    pub(crate) established: Established<OwnedFd>,
    pub(crate) socket: BusSocket,
}

/// What happens if the bus goes away.
pub(super) enum Recovery {
    /// The connection ends with the bus.
    None,
    /// An outage begins, and attempts to connect follow.
    Armed(ReconnectLimits),
    /// The bus went away.
    Outage(Outage),
}

/// The time between the end of a connection and the next one.
pub(super) struct Outage {
    limits: ReconnectLimits,
    reason: Ended,
    /// The time at which attempts end.
    end: Duration,
    /// The time of the next attempt.
    next: Duration,
    /// The delay after the next failed attempt.
    delay: Duration,
    worker: OutageWorker,
}

/// Whether a thread or a task connects at the moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum OutageWorker {
    Nobody,
    Somebody,
}

/// What a thread or a task does during an outage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OutageStep {
    /// It connects, and reports the outcome.
    Connect,
    /// It waits until this time of the monotonic clock.
    WaitUntil(Duration),
    /// It waits until the other one, which connects, wakes it.
    WaitForOther,
}

impl Outage {
    pub(super) fn begin(limits: ReconnectLimits, reason: Ended, now: Duration) -> Self {
        Self {
            limits,
            reason,
            end: now.saturating_add(limits.give_up_after),
            next: now,
            delay: limits.first_delay,
            worker: OutageWorker::Nobody,
        }
    }

    /// Decides what the caller does. After [`OutageStep::Connect`], it must report the outcome.
    pub(super) fn step(&mut self, now: Duration) -> OutageStep {
        if self.worker == OutageWorker::Somebody {
            return OutageStep::WaitForOther;
        }
        if now < self.next {
            return OutageStep::WaitUntil(self.next);
        }
        self.worker = OutageWorker::Somebody;
        OutageStep::Connect
    }

    /// Records a failed attempt. Returns the reason of the outage if it was the last attempt.
    pub(super) fn attempt_failed(&mut self, now: Duration) -> Option<Ended> {
        self.worker = OutageWorker::Nobody;
        self.next = now.saturating_add(self.delay).min(self.end);
        self.delay = self.delay.saturating_mul(2).min(self.limits.longest_delay);
        (now >= self.end).then_some(self.reason)
    }

    /// The time of the next attempt, for programs that wait themselves.
    pub(super) fn next_attempt(&self) -> Option<Duration> {
        (self.worker == OutageWorker::Nobody).then_some(self.next)
    }

    pub(super) const fn limits(&self) -> ReconnectLimits {
        self.limits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_the_longest_until_attempts_end() {
        let second = Duration::from_secs(1);
        let limits = ReconnectLimits {
            first_delay: second,
            longest_delay: 3 * second,
            attempt: second,
            give_up_after: 10 * second,
        };
        let mut outage = Outage::begin(limits, Ended::Closed, Duration::ZERO);
        let (mut now, mut times) = (Duration::ZERO, Vec::new());
        loop {
            match outage.step(now) {
                OutageStep::WaitUntil(next) => now = next,
                OutageStep::WaitForOther => panic!("no other thread connects"),
                OutageStep::Connect => {
                    assert_eq!(outage.step(now), OutageStep::WaitForOther);
                    times.push(now.as_secs());
                    if outage.attempt_failed(now) == Some(Ended::Closed) {
                        break;
                    }
                }
            }
        }
        assert_eq!(times, [0, 1, 3, 6, 9, 10]);
    }
}
