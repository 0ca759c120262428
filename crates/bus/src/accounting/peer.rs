//! Statistics of one connection.

use serde::{Deserialize, Serialize};

use super::history::MissedCount;
use super::members::MemberId;
use crate::types::{Amount, LaneCounts, LimitName, Time};

/// Counters of one connection since it connected.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PeerStatistics {
    /// Messages and bytes that the connection sent.
    pub(crate) sent: Amount,
    /// Messages and bytes that the connection received: everything that left its queue.
    pub(crate) received: Amount,
    /// Messages that it exchanged on lanes, as it says.
    pub(crate) lanes: LaneCounts,
    /// Messages of this connection that were refused.
    pub(crate) refused: u64,
    /// Messages that were dropped because its queue was full, or because the kernel did not accept
    /// them.
    pub(crate) lost: u64,
    /// Messages that were dropped since the connection last kept up.
    pub(crate) losing: Option<Losing>,
    /// Messages that a policy withheld from this connection.
    pub(crate) withheld: MissedCount,
    /// Size of the largest message that it sent, in bytes.
    pub(crate) peak_sent_bytes: u64,
    /// Most file descriptors that it sent with one message.
    pub(crate) peak_sent_fds: u64,
    /// The row in which its most recent message was counted.
    pub(super) last_member: MemberId,
}

/// Messages that were dropped since a connection last kept up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Losing {
    /// The limit that the first dropped message hit.
    pub(crate) limit: LimitName,
    /// The messages that were dropped so far.
    pub(crate) missed: MissedCount,
}

impl Losing {
    /// Counts the first dropped message.
    pub(crate) const fn first(limit: LimitName, now: Time) -> Self {
        Self { limit, missed: MissedCount::first(now) }
    }
}

impl PeerStatistics {
    /// Messages that the connection sent and received, also on lanes.
    pub(crate) const fn messages(&self) -> u64 {
        let on_lanes = self.lanes.sent.saturating_add(self.lanes.received);
        on_lanes.saturating_add(self.sent.messages + self.received.messages)
    }
}

impl Default for PeerStatistics {
    fn default() -> Self {
        Self {
            sent: Amount::default(),
            received: Amount::default(),
            lanes: LaneCounts::default(),
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
