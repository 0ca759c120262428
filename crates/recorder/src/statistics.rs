//! Statistics that a Diligence bus provides about itself and its connections
//! (`org.diligence.Statistics1`).

use std::collections::HashMap;

use client::ReceivedMessage;
use client::wire::body::Value;

/// The statistics of a Diligence bus and of its busiest connections.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BusStatistics {
    /// Messages that were dropped because the queue of a recipient was full.
    pub lost: u64,
    /// Messages that the bus answered with an error.
    pub refused: u64,
    /// The connections with the most traffic, by unique name.
    pub connections: HashMap<String, ConnectionStatistics>,
}

/// The statistics of a connection to a Diligence bus.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ConnectionStatistics {
    /// The number of bytes in its queue.
    pub queued: u64,
    /// The maximum number of bytes that were in its queue.
    pub queued_peak: u64,
    /// The number of messages that were dropped because its queue was full.
    pub lost: u64,
    /// The number of its match rules.
    pub rules: u64,
}

impl BusStatistics {
    /// Updates the statistics from the reply to GetTotals.
    pub(crate) fn read_totals(&mut self, totals: &HashMap<String, Value>) {
        self.lost = number(totals.get("LostMessages"));
        self.refused = number(totals.get("RefusedMessages"));
    }

    /// Updates the statistics from the reply to GetConnections.
    pub(crate) fn read_connections(&mut self, reply: &ReceivedMessage) {
        let (connections,) = reply.read::<(Vec<HashMap<&str, Value>>,)>().unwrap_or_default();
        let connections = connections.into_iter().filter_map(|connection| {
            let Some(Value::String(unique)) = connection.get("UniqueName") else { return None };
            let number = |key| number(connection.get(key));
            let statistics = ConnectionStatistics {
                queued: number("QueuedBytes"),
                queued_peak: number("PeakQueuedBytes"),
                lost: number("LostMessages"),
                rules: number("MatchRules"),
            };
            Some((unique.to_string(), statistics))
        });
        self.connections = connections.collect();
    }
}

/// A number in a reply of the bus; 0 if it is absent.
pub(crate) fn number(value: Option<&Value>) -> u64 {
    match value {
        Some(&Value::Uint64(number)) => number,
        Some(&Value::Uint32(number)) => number.into(),
        _ => 0,
    }
}

/// The maximum number of connections in the statistics. It exceeds the lines of any screen.
pub(crate) const CONNECTIONS_MAX: u32 = 100;
