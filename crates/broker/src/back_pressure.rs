//! Back-pressure: which senders the bus stops reading for a while, and which recipients may cause it.
//!
//! While a recipient's socket is full, the calls and signals in its queue count against the peers
//! that sent them. A sender is *held*, that is not read, only if all of this is true:
//!
//! - at least [`HoldLimits::sender_bytes`], or [`HoldLimits::sender_fds`] descriptors, of its calls and
//!   signals wait for recipients that keep up on average. Replies never count;
//! - it owes no peer a reply;
//! - for [`READY_GRACE`] it has sent no message with a destination to a recipient that has nothing
//!   unread, so all its recipients are behind. Broadcasts do not count: one of many
//!   recipients has always just caught up.
//!
//! A recipient keeps up as long as it takes [`KEEP_UP_BYTES`] in each [`WINDOW`]. One that does not
//! *lags*: nothing in its queue counts against a sender until it has emptied its queue, or has taken
//! [`RECOVER_BYTES`] within one window. So a recipient that stops reading holds a sender for one
//! window, however many connections its user has. What is sent to it after that fills its queue up to
//! `max_outgoing_bytes`; then addressed messages are refused and broadcasts are dropped for this
//! recipient alone.

use std::time::Duration;

use bus::PeerId;
use serde::{Deserialize, Serialize};

use crate::outgoing::Charge;

/// The state of writing to a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Writing {
    /// The socket accepts everything.
    Flowing,
    /// The socket is full, and the recipient keeps up on average.
    Blocked(Window),
    /// The socket is full, and the recipient does not keep up.
    Lagging(Window),
}

/// The bytes that a recipient with a full socket has read in the current window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Window {
    since: Duration,
    bytes: u64,
}

impl Window {
    const fn new(since: Duration) -> Self {
        Self { since, bytes: 0 }
    }

    fn end(self) -> Duration {
        self.since.saturating_add(WINDOW)
    }
}

impl Writing {
    /// The state when the socket is full again after it accepted `written` bytes.
    pub(crate) fn filled(self, written: u64, now: Duration) -> Self {
        match self {
            Self::Flowing => Self::Blocked(Window::new(now)),
            Self::Blocked(window) => {
                Self::Blocked(Window { bytes: window.bytes + written, ..window })
            }
            Self::Lagging(window) => {
                let window = if window.end() <= now { Window::new(now) } else { window };
                let bytes = window.bytes + written;
                if bytes >= RECOVER_BYTES {
                    Self::Blocked(Window::new(now))
                } else {
                    Self::Lagging(Window { bytes, ..window })
                }
            }
        }
    }

    /// When to call [`window_ended`](Self::window_ended), if ever.
    pub(crate) fn due(self) -> Option<Duration> {
        match self {
            Self::Blocked(window) => Some(window.end()),
            Self::Flowing | Self::Lagging(_) => None,
        }
    }

    /// The state after the end of a window: another window, or the recipient lags.
    pub(crate) fn window_ended(self, now: Duration) -> Self {
        match self {
            Self::Blocked(window) if window.end() > now => self,
            Self::Blocked(window) if window.bytes >= KEEP_UP_BYTES => {
                Self::Blocked(Window::new(now))
            }
            Self::Blocked(_) => Self::Lagging(Window::new(now)),
            Self::Flowing | Self::Lagging(_) => self,
        }
    }

    /// Whether the socket accepts everything.
    pub(crate) const fn is_flowing(self) -> bool {
        matches!(self, Self::Flowing)
    }

    /// Whether chargeable messages in this queue count against their senders now.
    pub(crate) const fn charge(self) -> Charge {
        match self {
            Self::Blocked(_) => Charge::OnSender,
            Self::Flowing | Self::Lagging(_) => Charge::Free,
        }
    }
}

/// The size of queued messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Load {
    pub(crate) bytes: usize,
    /// The number of descriptors.
    pub(crate) fds: u32,
}

impl Load {
    pub(crate) const fn add(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.fds += other.fds;
    }
}

/// Loads by sender; consecutive loads of one sender are merged.
#[derive(Debug, Default)]
pub(crate) struct Loads(Vec<(PeerId, Load)>);

impl Loads {
    pub(crate) fn add(&mut self, from: PeerId, load: Load) {
        match self.0.last_mut() {
            Some((last, sum)) if *last == from => sum.add(load),
            _ => self.0.push((from, load)),
        }
    }

    pub(crate) fn list(&self) -> &[(PeerId, Load)] {
        &self.0
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// The messages of one connection that its recipients have not read.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Backlog {
    /// Calls and signals in the queues of recipients that keep up on average.
    pub(crate) unread: Load,
    /// When it last sent an addressed message to a recipient that had nothing unread, or a recipient
    /// of such messages caught up.
    pub(crate) ready_at: Duration,
    /// Whether all messages of its last turn were broadcasts, so that all recipients get the same
    /// messages and none of them must wait for other ones.
    pub(crate) is_broadcasting: bool,
}

impl Backlog {
    /// Whether so much is unread that the sender is held, unless another peer needs it.
    pub(crate) fn is_over(&self, limits: &HoldLimits) -> bool {
        self.unread.bytes as u64 >= limits.sender_bytes
            || u64::from(self.unread.fds) >= limits.sender_fds
    }

    /// Whether all current recipients of the sender are behind.
    pub(crate) fn all_recipients_are_behind(&self, now: Duration) -> bool {
        now.saturating_sub(self.ready_at) >= READY_GRACE
    }

    pub(crate) const fn add(&mut self, load: Load) {
        self.unread.add(load);
    }

    pub(crate) fn subtract(&mut self, load: Load) {
        self.unread.bytes = self.unread.bytes.saturating_sub(load.bytes);
        self.unread.fds = self.unread.fds.saturating_sub(load.fds);
    }
}

/// The limits of one connection for back-pressure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct HoldLimits {
    /// Bytes of its calls and signals that may wait for slow recipients before it is held.
    sender_bytes: u64,
    /// The maximum number of descriptors of these messages.
    sender_fds: u64,
    /// Bytes in its own queue above which it is not read: it sends requests and does not read the
    /// replies.
    pub(crate) queued_bytes: u64,
}

impl HoldLimits {
    /// A sender is held well before the queue of a recipient that keeps up is full, so that such a
    /// recipient loses no signals.
    pub(crate) fn within(limits: &bus::BusLimits) -> Self {
        let before_loss = limits.max_outgoing_bytes / 2;
        Self {
            sender_bytes: limits.max_incoming_bytes.min(SENDER_BYTES_MAX).min(before_loss).max(1),
            sender_fds: limits.max_incoming_unix_fds.max(1),
            queued_bytes: limits.max_outgoing_bytes,
        }
    }
}

/// Bytes of calls and signals of one sender that may wait for slow recipients, where the
/// configuration does not set less. Sockets buffer bursts too; a larger limit makes the bus use more
/// memory and delays signals, and is not faster.
const SENDER_BYTES_MAX: u64 = 256 << 10;

/// How often the bus checks whether a recipient with a full socket keeps up. A recipient that does
/// not read holds a sender at most this long.
const WINDOW: Duration = Duration::from_millis(50);

/// Bytes that a recipient reads in a window if it keeps up: 2.5 MB/s. The kernel reports a full
/// socket as writable after about 150 KB of it were read.
const KEEP_UP_BYTES: u64 = 128 << 10;

/// Bytes that a lagging recipient reads within a window to count as keeping up again: 20 MB/s.
const RECOVER_BYTES: u64 = 1 << 20;

/// A sender is not held for this long after it sent a message to a recipient that reads everything
/// at once: such recipients are delayed by less than this.
const READY_GRACE: Duration = Duration::from_millis(5);

#[cfg(test)]
mod tests {
    use super::*;

    const START: Duration = Duration::from_secs(100);

    /// A time in milliseconds, and the bytes that the recipient reads after it.
    type TimedBytes = (u64, u64);

    /// The state after a sequence of reads.
    fn after(takes: &[TimedBytes]) -> Writing {
        let mut now = START;
        let mut writing = Writing::Flowing.filled(0, now);
        for &(milliseconds, bytes) in takes {
            let until = now + Duration::from_millis(milliseconds);
            while let Some(due) = writing.due().filter(|&due| due <= until) {
                writing = writing.window_ended(due);
            }
            now = until;
            writing = writing.filled(bytes, now);
        }
        writing
    }

    #[test]
    fn a_recipient_that_takes_too_little_in_a_window_lags() {
        let cases: [(&str, &[TimedBytes], bool); 6] = [
            ("a recipient within its first window", &[(49, 0)], false),
            ("a recipient that reads nothing", &[(60, 0)], true),
            ("220 KB each 450 ms", &[(450, 220_000); 20], true),
            ("150 KB each 20 ms", &[(20, 150_000); 200], false),
            ("one byte at a time", &[(1, 1); 200], true),
            ("a burst, then nothing", &[(10, 10_000_000), (91, 0)], true),
        ];
        for (name, takes, lags) in cases {
            let writing = after(takes);
            assert_eq!(matches!(writing, Writing::Lagging(_)), lags, "{name}: {writing:?}");
        }
    }

    #[test]
    fn a_lagging_recipient_recovers_by_reading_fast() {
        let slow = [(60, 0), (40, 500_000), (60, 500_000), (60, 500_000)];
        assert!(matches!(after(&slow), Writing::Lagging(_)));
        let fast = [(60, 0), (1, 600_000), (1, 600_000)];
        assert!(matches!(after(&fast), Writing::Blocked(_)));
    }

    #[test]
    fn a_sender_is_held_at_256_kib_or_a_smaller_configured_limit() {
        let limits = |max_outgoing_bytes, max_incoming_bytes| bus::BusLimits {
            max_outgoing_bytes,
            max_incoming_bytes,
            ..bus::BusLimits::default()
        };
        let of = |outgoing, incoming| HoldLimits::within(&limits(outgoing, incoming)).sender_bytes;
        assert_eq!(of(127 << 20, 127 << 20), 256 << 10);
        assert_eq!(of(1 << 18, 127 << 20), 1 << 17);
        assert_eq!(of(127 << 20, 1000), 1000);
        assert_eq!(of(0, 0), 1);
    }
}
