//! The peer that receives signals.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use wire::message::{Message, MessageType};

use super::emitter::{Stamps, now_ns};
use super::{BusSetup, Control, WorkloadRole};
use crate::durations::{Distribution, Durations};
use crate::raw::{Endpoint, HubOrSpoke, RawConnection, RawError, SocketCalls};

/// Receives the signals of an emitter.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ListenerPeer {
    pub(crate) endpoint: Endpoint,
    pub(crate) rules: Vec<String>,
    pub(crate) bursts: u64,
    pub(crate) per_burst: u64,
    /// Whether each signal carries the time of its emission.
    pub(crate) stamps: Stamps,
    /// Time without a message after which the missing signals count as lost, in milliseconds.
    pub(crate) timeout_ms: u64,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct ListenerReport {
    /// The time at which each burst was complete, in nanoseconds of the monotonic clock.
    pub(crate) complete_ns: Vec<u64>,
    pub(crate) last_ns: u64,
    pub(crate) received: u64,
    /// Times from emission to receipt, if the signals have time stamps.
    pub(crate) delays: Option<Distribution>,
    pub(crate) traffic: SocketCalls,
}

impl ListenerPeer {
    /// Creates a listener for `count` signals in one burst.
    pub(crate) fn of_stream(
        endpoint: &Endpoint,
        rules: Vec<String>,
        count: u64,
        stamps: Stamps,
    ) -> Self {
        let (endpoint, timeout_ms) = (endpoint.clone(), TIMEOUT_MS);
        Self { endpoint, rules, bursts: 1, per_burst: count, stamps, timeout_ms }
    }
}

impl WorkloadRole for ListenerPeer {
    const NAME: &str = "listener";

    type Report = ListenerReport;

    fn play(self, control: &mut Control) -> Result<ListenerReport, RawError> {
        let setup = BusSetup { rules: &self.rules, ..BusSetup::default() };
        let mut connection = control.join(&self.endpoint, HubOrSpoke::Spoke, setup)?;
        connection.set_timeout(Duration::from_millis(self.timeout_ms))?;
        let mut counter = SignalCounter::new(&self, &connection);
        let expected = self.bursts * self.per_burst;
        while counter.report.received < expected {
            match counter.receive_next(&mut connection) {
                Ok(()) => {}
                Err(RawError::Silence)
                    if counter.report.received == 0 && counter.waits < WAITS_MAX =>
                {
                    counter.waits += 1;
                }
                Err(RawError::Silence | RawError::Closed) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(counter.finish(&connection))
    }
}

struct SignalCounter {
    per_burst: u64,
    stamps: Stamps,
    delays: Durations,
    before: SocketCalls,
    waits: u32,
    report: ListenerReport,
}

impl SignalCounter {
    fn new(listener: &ListenerPeer, connection: &RawConnection) -> Self {
        let report = ListenerReport {
            complete_ns: Vec::with_capacity(listener.bursts as usize),
            last_ns: 0,
            received: 0,
            delays: None,
            traffic: SocketCalls::default(),
        };
        Self {
            per_burst: listener.per_burst,
            stamps: listener.stamps,
            delays: Durations::new(),
            before: connection.traffic(),
            waits: 0,
            report,
        }
    }

    fn receive_next(&mut self, connection: &mut RawConnection) -> Result<(), RawError> {
        self.count(connection.receive()?)?;
        while let Some(message) = connection.received()? {
            self.count(message)?;
        }
        Ok(())
    }

    fn count(&mut self, message: &[u8]) -> Result<(), RawError> {
        if message[1] != MessageType::Signal.code() {
            return Err(RawError::describe(message));
        }
        // Before the first signal of the workload, the bus may emit signals such as
        // NameOwnerChanged.
        if self.report.received == 0 && is_from_bus(message)? {
            return Ok(());
        }
        self.report.received += 1;
        if self.stamps == Stamps::On {
            let body = Message::parse(message)?.body();
            let stamp =
                body.first_chunk().ok_or(RawError::Unexpected("a signal without a stamp"))?;
            self.report.last_ns = now_ns();
            let delay = self.report.last_ns.saturating_sub(u64::from_ne_bytes(*stamp));
            self.delays.record(Duration::from_nanos(delay));
        }
        if self.report.received.is_multiple_of(self.per_burst) {
            self.report.last_ns = now_ns();
            self.report.complete_ns.push(self.report.last_ns);
        }
        Ok(())
    }

    fn finish(mut self, connection: &RawConnection) -> ListenerReport {
        if self.stamps == Stamps::On && self.report.received > 0 {
            self.report.delays = Some(self.delays.distribution());
        }
        self.report.traffic = connection.traffic().since(self.before);
        self.report
    }
}

/// True if the bus itself emitted the signal, such as NameAcquired.
fn is_from_bus(message: &[u8]) -> Result<bool, RawError> {
    let interface = Message::parse(message)?.interface();
    Ok(interface.is_some_and(|interface| interface.as_str() == "org.freedesktop.DBus"))
}

/// Time for which recipients wait for signals that may be lost, in milliseconds.
pub(crate) const TIMEOUT_MS: u64 = 3000;

/// The number of times that a listener continues to wait for the first signal.
const WAITS_MAX: u32 = 30;
