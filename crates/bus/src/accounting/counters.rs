//! Counters and gauges of the whole bus.

use serde::{Deserialize, Serialize};

use crate::types::WithheldBy;

/// Counters since the bus started.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Totals {
    /// Connections that the bus accepted.
    pub connected: u64,
    /// Connections that the bus closed.
    pub disconnected: u64,
    /// Messages received from connections.
    pub messages: u64,
    /// Bytes of the received messages.
    pub bytes: u64,
    /// Bytes that the daemon copied in memory on the way from one connection to another.
    pub copied_bytes: u64,
    /// Bytes that were written to connections.
    pub written_bytes: u64,
    /// Messages whose bodies the bus validated.
    pub validated: u64,
    /// Bytes of the validated bodies.
    pub validated_bytes: u64,
    /// Messages queued for connections.
    pub deliveries: u64,
    /// Messages that connections sent on lanes, as they say.
    pub lane_messages: u64,
    /// Bytes of the messages on lanes.
    pub lane_bytes: u64,
    /// Messages that were refused with an error.
    pub refused: u64,
    /// Messages that the policy withheld from a recipient without an error to the sender.
    pub withheld: u64,
    /// Messages dropped because a queue was full or the kernel did not accept them.
    pub lost: u64,
}

/// The present state of the bus, in numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Gauges {
    /// Connections that completed Hello.
    pub connections: u64,
    /// Connections that have not yet completed Hello.
    pub incomplete: u64,
    /// Connections that are monitors.
    pub monitors: u64,
    /// Traces that connections have requested.
    pub traces: u64,
    /// Unique names, and well-known names that connections own or wait for.
    pub names: u64,
    /// Match rules of all connections.
    pub rules: u64,
    /// Method calls that wait for their replies.
    pub pending_replies: u64,
    /// Lanes that are open.
    pub lanes: u64,
    /// Queued messages that the recipients have not read.
    pub queued_messages: u64,
    /// Bytes of the queued messages.
    pub queued_bytes: u64,
    /// Connections whose messages are being dropped because their queues are full.
    pub losing: u64,
}

/// The counters behind [`Totals`].
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct BusCounters {
    /// All totals except [`Totals::withheld`].
    pub(super) totals: Totals,
    /// Messages of peers that were queued for recipients other than monitors.
    pub(super) recipients: u64,
    /// Messages that a policy withheld, by [`WithheldBy`].
    pub(super) withheld: [u64; WithheldBy::ALL.len()],
}

impl BusCounters {
    pub(super) fn totals(&self) -> Totals {
        Totals { withheld: self.withheld.iter().sum(), ..self.totals }
    }
}
