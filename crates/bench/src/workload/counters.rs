//! Copies and validations of messages, as counted by the bus.

use std::collections::BTreeMap;
use std::ops::Sub;

use client::Connection;
use wire::body::Value;

use crate::raw::Endpoint;
use crate::result::{Figures, Metric};
use crate::stage::{MeasureError, MeasurementStage};

/// Counts copies and validations. Requires a bus with the interface `org.diligence.Statistics1`.
#[derive(Debug)]
pub(super) struct CopyCounters {
    connection: Connection,
    begun: BusTotals,
    question: BusTotals,
}

/// Counters of the bus from `GetTotals`.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct BusTotals {
    pub(super) messages: f64,
    /// Messages that were queued for connections.
    pub(super) deliveries: f64,
    /// Bytes that the bus wrote to connections.
    pub(super) written_bytes: f64,
    /// Bytes that the bus copied in its own memory.
    pub(super) copied_bytes: f64,
    /// Messages whose bodies the bus validated.
    pub(super) validated: f64,
}

impl CopyCounters {
    /// Starts to count; `None` if the carrier has no counters.
    pub(super) fn begin(stage: &MeasurementStage<'_>) -> Result<Option<Self>, MeasureError> {
        let Endpoint::Bus(address) = &stage.endpoint else { return Ok(None) };
        let connection = Connection::open(address)
            .map_err(|error| MeasureError::Unable(format!("the counters of the bus: {error}")))?;
        let Some(first) = BusTotals::ask(&connection) else { return Ok(None) };
        let Some(begun) = BusTotals::ask(&connection) else { return Ok(None) };
        Ok(Some(Self { connection, begun, question: begun - first }))
    }

    /// Returns the counts since the start, without the queries; `None` if the bus no longer
    /// replies.
    pub(super) fn end(&self) -> Option<BusTotals> {
        Some(BusTotals::ask(&self.connection)? - self.begun - self.question)
    }
}

impl BusTotals {
    fn ask(connection: &Connection) -> Option<Self> {
        let (bus, path) = ("org.freedesktop.DBus", "/org/freedesktop/DBus");
        let reply = connection.call(bus, path, STATISTICS, "GetTotals", &()).ok()?;
        let (totals,): (BTreeMap<String, Value>,) = reply.read().ok()?;
        let count = |key: &str| match totals.get(key)? {
            Value::Uint64(count) => Some(*count as f64),
            _ => None,
        };
        Some(Self {
            messages: count("Messages")?,
            deliveries: count("Deliveries")?,
            written_bytes: count("WrittenBytes")?,
            copied_bytes: count("CopiedBytes")?,
            validated: count("ValidatedMessages")?,
        })
    }

    /// Computes the copies and validations of a message on its way. The recipients have validated
    /// `validated_by_peers` bodies.
    pub(super) fn figures(&self, validated_by_peers: u64) -> Figures {
        let message_bytes = self.written_bytes / self.deliveries;
        Figures::from([
            // The sender writes, the bus reads; then the bus writes and a recipient reads.
            (Metric::KernelCopies, (2.0 * self.messages + 2.0 * self.deliveries) / self.messages),
            (Metric::BusCopies, self.copied_bytes / message_bytes / self.messages),
            (Metric::Validations, (self.validated + validated_by_peers as f64) / self.messages),
        ])
    }
}

impl Sub for BusTotals {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            messages: self.messages - other.messages,
            deliveries: self.deliveries - other.deliveries,
            written_bytes: self.written_bytes - other.written_bytes,
            copied_bytes: self.copied_bytes - other.copied_bytes,
            validated: self.validated - other.validated,
        }
    }
}

/// Computes the copies and validations of a message to this many recipients, according to the model
/// of "The Slothful Ways of D-Bus": sender and recipients use libdbus, and the bus is dbus-daemon.
pub(super) fn model(recipients: u64) -> Figures {
    Figures::from([
        (Metric::ModelCopies, (4 + 2 * recipients) as f64),
        (Metric::ModelValidations, (1 + 2 * recipients) as f64),
    ])
}

/// The interface with the counters of a bus.
const STATISTICS: &str = "org.diligence.Statistics1";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_copied_by_the_kernel_and_by_the_bus() {
        let totals = BusTotals {
            messages: 10.0,
            deliveries: 30.0,
            written_bytes: 3000.0,
            copied_bytes: 1500.0,
            validated: 10.0,
        };
        let expected =
            [(Metric::KernelCopies, 8.0), (Metric::BusCopies, 1.5), (Metric::Validations, 4.0)];
        assert_eq!(totals.figures(30), Figures::from(expected));
        assert_eq!(
            model(3),
            Figures::from([(Metric::ModelCopies, 10.0), (Metric::ModelValidations, 7.0),])
        );
    }
}
