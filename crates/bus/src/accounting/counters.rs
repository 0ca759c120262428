//! Numbers about the whole bus.

use crate::types::WithheldBy;

/// What was counted since the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// Connections that were accepted.
    pub connected: u64,
    /// Connections that the bus has ended.
    pub disconnected: u64,
    /// Messages that came.
    pub messages: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Bytes that the daemon has copied in memory on the way from one connection to another.
    pub copied_bytes: u64,
    /// Bytes that were written to connections.
    pub written_bytes: u64,
    /// Messages whose bodies were validated.
    pub validated: u64,
    /// Bytes of these bodies.
    pub validated_bytes: u64,
    /// Messages that were queued for connections.
    pub deliveries: u64,
    /// Messages that were refused.
    pub refused: u64,
    /// Messages that the policy has kept from somebody, and nobody was told.
    pub withheld: u64,
    /// Messages that connections have lost because they did not read.
    pub lost: u64,
}

/// What there is at this moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Gauges {
    /// Connections that have said Hello.
    pub connections: u64,
    /// Connections that have not.
    pub incomplete: u64,
    /// Connections that see everything.
    pub monitors: u64,
    /// Traces that connections have asked for.
    pub traces: u64,
    /// Unique names, and places in queues for others.
    pub names: u64,
    /// Match rules.
    pub rules: u64,
    /// Calls that wait for their replies.
    pub pending_replies: u64,
    /// Messages that wait to be read.
    pub queued_messages: u64,
    /// Bytes of them.
    pub queued_bytes: u64,
    /// Connections that lose messages because they do not read.
    pub losing: u64,
}

/// The counters behind [`Totals`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BusCounters {
    /// Everything but [`Totals::withheld`].
    pub(super) totals: Totals,
    /// Messages of peers that were queued for connections other than monitors.
    pub(super) recipients: u64,
    /// Messages that a policy withheld, by [`WithheldBy`].
    pub(super) withheld: [u64; WithheldBy::ALL.len()],
}

impl BusCounters {
    pub(super) fn totals(&self) -> Totals {
        Totals { withheld: self.withheld.iter().sum(), ..self.totals }
    }
}
