//! What waits for services.

use wire::Message;
use wire::body::Value;

use super::owed::Owed;
use super::{Oracle, Wrong};
use crate::setting::{Feature, STARTS_MAX};

/// What waits for a service.
#[derive(Debug)]
pub(super) struct ExpectedHold {
    pub(super) name: String,
    pub(super) from: u64,
    pub(super) what: WaitingMessage,
}

#[derive(Debug)]
pub(super) enum WaitingMessage {
    /// A message that goes to it.
    Message(Vec<u8>),
    /// StartServiceByName, with this serial.
    Question(u32),
}

impl Oracle {
    pub(super) fn is_startable(&self, name: &str) -> bool {
        self.setting.services().iter().any(|(service, _)| *service == name)
    }

    /// Whether nothing more may wait.
    pub(super) fn is_held_enough(&self) -> bool {
        self.setting.has(Feature::FewPlaces) && self.held.len() >= STARTS_MAX
    }

    /// StartServiceByName: what is answered now, and nothing if that waits.
    pub(super) fn start(&mut self, from: u64, message: &Message<'_>, name: &str) -> ExpectedStart {
        if !self.is_startable(name) {
            return ExpectedStart::Refused(super::owed::SERVICE_UNKNOWN);
        }
        if self.find(name).is_some() {
            return ExpectedStart::Done(vec![Value::Uint32(ALREADY_RUNNING)]);
        }
        if self.is_held_enough() {
            return ExpectedStart::Refused(super::owed::LIMITS_EXCEEDED);
        }
        let what = WaitingMessage::Question(message.serial().get());
        self.held.push(ExpectedHold { name: name.to_owned(), from, what });
        ExpectedStart::Waits
    }

    /// Somebody was told that it has a name: what has waited for that comes next.
    pub(super) fn give_held(&mut self, to: u64, name: &str) -> Result<(), Wrong> {
        let all: Vec<_> = self.held.extract_if(.., |held| held.name == name).collect();
        for ExpectedHold { from, what, .. } in all {
            // So that what is said of one comes behind it, and before the next.
            self.routed += 1;
            match what {
                WaitingMessage::Message(bytes) => {
                    let message = Message::parse(&bytes).map_err(|error| error.to_string())?;
                    self.pass_on(from, to, &message);
                }
                WaitingMessage::Question(serial) => {
                    let body = Some(format!("{:?}", [Value::Uint32(STARTED)]));
                    self.placed.push((from, serial, self.routed));
                    self.owed.push(Owed::Reply { to: from, serial, body });
                }
            }
        }
        Ok(())
    }

    /// A service does not come: all that wait for it are told.
    pub(super) fn give_up(&mut self, explanation: &str, why: &'static str) {
        let is_meant = |held: &mut ExpectedHold| explanation.contains(held.name.as_str());
        for ExpectedHold { from, what, .. } in self.held.extract_if(.., is_meant) {
            let serial = match what {
                WaitingMessage::Question(serial) => serial,
                WaitingMessage::Message(bytes) => {
                    Message::parse(&bytes).expect("it was read before").serial().get()
                }
            };
            self.owed.push(Owed::Error { to: from, serial, name: why });
        }
    }

    /// Those for which something waits.
    pub(super) fn awaited(&self) -> Vec<&str> {
        self.held.iter().map(|held| held.name.as_str()).collect()
    }
}

/// What StartServiceByName leads to.
pub(super) enum ExpectedStart {
    Done(Vec<Value>),
    Refused(&'static str),
    Waits,
}

const STARTED: u32 = 1;
const ALREADY_RUNNING: u32 = 2;
