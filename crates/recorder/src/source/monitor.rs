//! A connection that receives a copy of each message.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use capture::record::{BusId, CaptureMethod, RawMessage, RecordingRecord};
use client::{CallError, Connection, Ended, driver};

use super::{MessageSource, SourceState};
use crate::clock::RecordingClock;

/// A connection that receives a copy of each message, as a monitor or by eavesdropping.
#[derive(Debug)]
pub(crate) struct MonitorSource {
    connection: Connection,
    bus: BusId,
    method: CaptureMethod,
}

impl MonitorSource {
    pub(super) const fn new(connection: Connection, bus: BusId, method: CaptureMethod) -> Self {
        Self { connection, bus, method }
    }
}

impl MessageSource for MonitorSource {
    fn method(&self) -> CaptureMethod {
        self.method
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.connection.as_fd())
    }

    fn take(
        &mut self,
        clock: RecordingClock,
        each: &mut dyn FnMut(RecordingRecord<'_>),
    ) -> Result<SourceState, Ended> {
        for _ in 0..MESSAGES_PER_TURN {
            let Some(message) = self.connection.next_message(Some(Duration::ZERO))? else {
                return Ok(SourceState::Empty);
            };
            let bytes = message.bytes();
            each(RecordingRecord::Message(RawMessage {
                at: clock.now(),
                bus: self.bus,
                bytes,
                len: bytes.len() as u32,
                place: None,
                trace: None,
            }));
        }
        Ok(SourceState::More)
    }
}

/// Makes a connection a monitor, which must not send messages afterwards.
pub(super) fn become_monitor(connection: &Connection, rules: &[String]) -> Result<(), CallError> {
    let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
    let arguments = (rules, 0_u32);
    connection.call(driver::NAME, driver::PATH, MONITORING, "BecomeMonitor", &arguments).map(drop)
}

/// Requests copies of messages to other connections, for buses without BecomeMonitor.
pub(super) fn eavesdrop(connection: &Connection, rules: &[String]) -> Result<(), CallError> {
    let all = [String::new()];
    for rule in if rules.is_empty() { &all } else { rules } {
        let comma = if rule.is_empty() { "" } else { "," };
        let rule = format!("{rule}{comma}eavesdrop='true'");
        connection.call(driver::NAME, driver::PATH, driver::INTERFACE, "AddMatch", &(rule,))?;
    }
    Ok(())
}

const MONITORING: &str = "org.freedesktop.DBus.Monitoring";

/// The maximum number of messages read before other sources get a turn.
const MESSAGES_PER_TURN: usize = 2048;
