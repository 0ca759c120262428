//! What a bus of ours tells of itself and of its connections, when it is asked (`org.diligence.Statistics1`).

use std::collections::HashMap;

use client::ReceivedMessage;
use client::wire::body::Value;

/// What a bus of ours tells of itself and of its busiest connections.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BusStatistics {
    /// Messages that were dropped because the queue of a recipient was full.
    pub lost: u64,
    /// Messages that the bus answered with an error.
    pub refused: u64,
    /// The connections with the most traffic, by their unique names.
    pub connections: HashMap<String, ConnectionStatistics>,
}

/// What a bus of ours tells of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ConnectionStatistics {
    /// Bytes in its queue.
    pub queued: u64,
    /// The most bytes that have been in its queue.
    pub queued_peak: u64,
    /// Messages that it did not get because its queue was full.
    pub lost: u64,
    /// Its match rules.
    pub rules: u64,
}

impl BusStatistics {
    /// Takes in the answer to GetTotals.
    pub(crate) fn read_totals(&mut self, totals: &HashMap<String, Value>) {
        self.lost = number(totals.get("LostMessages"));
        self.refused = number(totals.get("RefusedMessages"));
    }

    /// Takes in the answer to GetConnections.
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

/// A number among the answers of the bus; 0 if there is none.
pub(crate) fn number(value: Option<&Value>) -> u64 {
    match value {
        Some(&Value::Uint64(number)) => number,
        Some(&Value::Uint32(number)) => number.into(),
        _ => 0,
    }
}

/// Connections that are asked about: more than are ever on a screen.
pub(crate) const CONNECTIONS_MAX: u32 = 100;
