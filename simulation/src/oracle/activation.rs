//! Messages that are held for activation.

use sandbox::AccessLevel;
use wire::Message;
use wire::body::Value;

use super::bus_messages::BusMessage;
use super::{Deviation, Oracle};
use crate::setting::{Feature, STARTS_MAX};

/// A message or a call that waits for a service to start.
#[derive(Debug)]
pub(super) struct HeldRequest {
    pub(super) name: String,
    pub(super) from: u64,
    pub(super) kind: HeldKind,
}

#[derive(Debug)]
pub(super) enum HeldKind {
    /// A message to the service.
    Message(Vec<u8>),
    /// A call of StartServiceByName, with this serial.
    Start(u32),
}

impl Oracle {
    pub(super) fn is_startable(&self, name: &str) -> bool {
        self.setting.services().iter().any(|(service, _)| *service == name)
    }

    /// True if the bus holds as many messages for services as it may.
    pub(super) fn is_hold_full(&self) -> bool {
        self.setting.has(Feature::LowLimits) && self.held.len() >= STARTS_MAX
    }

    /// Handles a call of StartServiceByName.
    pub(super) fn start_service(
        &mut self,
        from: u64,
        message: &Message<'_>,
        name: &str,
    ) -> StartOutcome {
        match self.level_of(from, name) {
            None => return StartOutcome::Refused(super::bus_messages::SERVICE_UNKNOWN),
            Some(AccessLevel::See) => {
                return StartOutcome::Refused(super::bus_messages::ACCESS_DENIED);
            }
            Some(_) => {}
        }
        if !self.is_startable(name) {
            return StartOutcome::Refused(super::bus_messages::SERVICE_UNKNOWN);
        }
        if self.find(name).is_some() {
            return StartOutcome::Done(vec![Value::Uint32(ALREADY_RUNNING)]);
        }
        if self.is_hold_full() {
            return StartOutcome::Refused(super::bus_messages::LIMITS_EXCEEDED);
        }
        let kind = HeldKind::Start(message.serial().get());
        self.held.push(HeldRequest { name: name.to_owned(), from, kind });
        StartOutcome::Waits
    }

    /// Delivers the messages held for a name, once the bus has sent NameAcquired for it.
    pub(super) fn deliver_held(&mut self, to: u64, name: &str) -> Result<(), Deviation> {
        let all: Vec<_> = self.held.extract_if(.., |held| held.name == name).collect();
        for HeldRequest { from, kind, .. } in all {
            // A number of its own for each message, so that its replies come before the next held
            // message.
            self.routed += 1;
            match kind {
                HeldKind::Message(bytes) => {
                    let message = Message::parse(&bytes).map_err(|error| error.to_string())?;
                    self.deliver(from, to, &message);
                }
                HeldKind::Start(serial) => {
                    let body = Some(format!("{:?}", [Value::Uint32(STARTED)]));
                    self.placed.push((from, serial, self.routed));
                    self.due.push(BusMessage::Reply { to: from, serial, body });
                }
            }
        }
        Ok(())
    }

    /// Expects an error for everything held for a service that failed to start.
    pub(super) fn fail_start(&mut self, explanation: &str, error: &'static str) {
        let is_for_service = |held: &mut HeldRequest| explanation.contains(held.name.as_str());
        for HeldRequest { from, kind, .. } in self.held.extract_if(.., is_for_service) {
            let serial = match kind {
                HeldKind::Start(serial) => serial,
                HeldKind::Message(bytes) => {
                    Message::parse(&bytes).expect("the oracle has parsed it before").serial().get()
                }
            };
            self.due.push(BusMessage::Error { to: from, serial, name: error });
        }
    }

    /// Returns the names of all services for which messages are held.
    pub(super) fn awaited(&self) -> Vec<&str> {
        self.held.iter().map(|held| held.name.as_str()).collect()
    }
}

/// The outcome of StartServiceByName.
pub(super) enum StartOutcome {
    Done(Vec<Value>),
    Refused(&'static str),
    Waits,
}

const STARTED: u32 = 1;
const ALREADY_RUNNING: u32 = 2;
