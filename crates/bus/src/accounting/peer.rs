//! What is counted for one connection.

use super::history::MissedCount;
use super::members::MemberId;
use crate::types::{Amount, LimitName, Time};

/// What is counted for one connection since it connected.
#[derive(Debug)]
pub(crate) struct PeerStatistics {
    /// What it has sent.
    pub(crate) sent: Amount,
    /// What it has received: everything that has left its queue.
    pub(crate) received: Amount,
    /// Its messages that were refused.
    pub(crate) refused: u64,
    /// Messages that were dropped because its queue was full, or by the kernel.
    pub(crate) lost: u64,
    /// What it has lost since it last kept up.
    pub(crate) losing: Option<Losing>,
    /// Messages that a policy withheld from it.
    pub(crate) withheld: MissedCount,
    /// Bytes of the largest message that it has sent.
    pub(crate) peak_sent_bytes: u64,
    /// The most descriptors that it has sent with one message.
    pub(crate) peak_sent_fds: u64,
    /// The row in which its last message was counted.
    pub(super) last_member: MemberId,
}

/// What a connection has lost since it last kept up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Losing {
    /// The limit that was hit by the first lost message.
    pub(crate) limit: LimitName,
    /// The messages that were lost so far.
    pub(crate) missed: MissedCount,
}

impl Losing {
    /// The first lost message.
    pub(crate) const fn first(limit: LimitName, now: Time) -> Self {
        Self { limit, missed: MissedCount::first(now) }
    }
}

impl Default for PeerStatistics {
    fn default() -> Self {
        Self {
            sent: Amount::default(),
            received: Amount::default(),
            refused: 0,
            lost: 0,
            losing: None,
            withheld: MissedCount::default(),
            peak_sent_bytes: 0,
            peak_sent_fds: 0,
            last_member: MemberId::NONE,
        }
    }
}
