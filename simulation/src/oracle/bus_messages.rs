//! Messages that the bus itself sends.

use wire::Message;
use wire::body::Value;
use wire::message::MessageType;

use super::containers::container_of_path;
use super::subscribers::Destination;
use super::undelivered::{COULD_NOT_BE_DELIVERED, FDS_NOT_RECEIVED};
use super::{Deviation, Oracle, arguments, id_of};
use crate::setting::Feature;

/// A message that the bus sends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum BusMessage {
    /// A reply to a call, with this body if it is known.
    Reply { to: u64, serial: u32, body: Option<String> },
    /// An error for a message.
    Error { to: u64, serial: u32, name: &'static str },
    /// An error that only monitors receive: a subscriber does not get a copy of the message.
    Withheld { from: u64, serial: u32 },
    /// The signal NameOwnerChanged, sent to all subscribers.
    OwnerChanged { name: String, old: String, new: String },
    /// The signal NameAcquired to a new owner.
    Acquired { by: u64, name: String },
    /// The signal NameLost to a former owner.
    Lost { by: u64, name: String },
    /// The signal that a container has ended. The oracle does not know when, because it does not
    /// know of connections without a name.
    ContainerRemoved { number: u32 },
}

impl BusMessage {
    /// True if the bus counts this error as a refusal.
    fn is_refusal(&self) -> bool {
        matches!(self, Self::Error { name, .. } if *name != NO_REPLY && !START_ERRORS.contains(name))
    }
}

impl Oracle {
    pub(super) fn bus_sent(&mut self, message: &Message<'_>) -> Result<(), Deviation> {
        let to = message.destination().and_then(|name| id_of(name.as_str()));
        if to.is_none() && message.message_type() == MessageType::Error {
            // This error answers a peer without a unique name.
            self.notifications.refused += 1;
            return Ok(());
        }
        let sent = self.classify(message, to)?;
        if let BusMessage::Error { to, serial, name } = sent
            && !self.due.contains(&sent)
        {
            self.handle_spontaneous_error(to, serial, name, &explanation(message))?;
        }
        let serial = message.reply_serial().map_or(0, core::num::NonZero::get);
        let mut number = self.take_place(to.unwrap_or_default(), serial);
        match sent {
            BusMessage::Error { to, serial, name: LIMITS_EXCEEDED }
                if explanation(message).starts_with(COULD_NOT_BE_DELIVERED) =>
            {
                self.record_delivery_error(to, serial)?;
            }
            BusMessage::Error { to, serial, name: LIMITS_EXCEEDED }
                if explanation(message).starts_with(FDS_NOT_RECEIVED)
                    && self.setting.has(Feature::KernelShortages) =>
            {
                self.notifications.refused += 1;
                self.account(to).refused_fds.push(serial);
            }
            BusMessage::Error { to, serial, name: LIMITS_EXCEEDED }
                if !self.due.contains(&sent) =>
            {
                self.notifications.refused += 1;
                number = self.refused(to, serial)?;
            }
            BusMessage::Error { to: from, serial, name: ACCESS_DENIED }
                if self.due.contains(&BusMessage::Withheld { from, serial }) =>
            {
                self.notifications.withheld += 1;
                return self.settle(&BusMessage::Withheld { from, serial });
            }
            BusMessage::ContainerRemoved { number } => self.container_removed(number)?,
            ref sent => {
                self.notifications.refused += u64::from(sent.is_refusal());
                self.settle(sent)?;
            }
        }
        match to {
            None => {
                self.copy_to_subscribers(message, Destination::Broadcast);
            }
            Some(id) => self.expect_after(number, id, message, true),
        }
        self.note_bus_message(&sent);
        match sent {
            BusMessage::Acquired { by, name } => self.deliver_held(by, &name),
            _ => Ok(()),
        }
    }

    /// Returns the number of the message that a reply follows: the latest message, unless the
    /// position is fixed.
    pub(super) fn take_place(&mut self, to: u64, serial: u32) -> u64 {
        let place = self.placed.iter().position(|(by, sent, _)| (*by, *sent) == (to, serial));
        place.map_or(self.routed, |place| self.placed.remove(place).2)
    }

    /// Handles errors that no message causes, but a timeout or the end of a process.
    fn handle_spontaneous_error(
        &mut self,
        to: u64,
        serial: u32,
        name: &'static str,
        explanation: &str,
    ) -> Result<(), Deviation> {
        if START_ERRORS.contains(&name) {
            self.fail_start(explanation, name);
        } else if name == NO_REPLY && explanation.contains("timeout") {
            let mut pending = self.pending.iter();
            let place = pending.position(|(caller, call, _)| (*caller, *call) == (to, serial));
            let place = place.filter(|_| self.setting.has(Feature::Deadlines));
            self.pending.remove(place.ok_or("a timeout of a call that is not pending")?);
            self.due.push(BusMessage::Error { to, serial, name });
        }
        Ok(())
    }

    /// Classifies a message of the bus.
    fn classify(&self, message: &Message<'_>, to: Option<u64>) -> Result<BusMessage, Deviation> {
        let args = arguments(message);
        let serial = message.reply_serial().map_or(0, core::num::NonZero::get);
        let member = message.member().map(|name| name.as_str().to_owned()).unwrap_or_default();
        let text = |place: usize| match args.get(place) {
            Some(Value::String(text)) => text.clone(),
            _ => String::new(),
        };
        Ok(match (message.message_type(), to, member.as_str()) {
            (MessageType::MethodReturn, Some(to), _) => {
                let body = Some(format!("{:?}", sorted(args)));
                let known = BusMessage::Reply { to, serial, body };
                let unknown = BusMessage::Reply { to, serial, body: None };
                if self.due.contains(&unknown) { unknown } else { known }
            }
            (MessageType::Error, Some(to), _) => {
                let name = message.error_name().map(|name| name.as_str().to_owned());
                let name = ERRORS.into_iter().find(|known| Some(*known) == name.as_deref());
                let name = name.ok_or_else(|| format!("unexpected error: {args:?}"))?;
                BusMessage::Error { to, serial, name }
            }
            (MessageType::Signal, None, "InstanceRemoved") => {
                let number = match args.first() {
                    Some(Value::ObjectPath(path)) => container_of_path(path.as_str()),
                    _ => None,
                };
                BusMessage::ContainerRemoved { number: number.ok_or("not a container")? }
            }
            (MessageType::Signal, None, "NameOwnerChanged") => {
                BusMessage::OwnerChanged { name: text(0), old: text(1), new: text(2) }
            }
            (MessageType::Signal, Some(by), "NameAcquired") => {
                BusMessage::Acquired { by, name: text(0) }
            }
            (MessageType::Signal, Some(by), "NameLost") => BusMessage::Lost { by, name: text(0) },
            other => return Err(format!("unexpected message of the bus: {other:?} {args:?}")),
        })
    }

    /// Removes a message from the list of due ones. A message that results from a disconnect shows
    /// that the peer has disconnected.
    fn settle(&mut self, sent: &BusMessage) -> Result<(), Deviation> {
        if !self.due.contains(sent)
            && let Some(id) = self.departed_peer(sent)
        {
            self.depart(id);
        }
        let place = self.due.iter().position(|due| due == sent);
        let place = place.ok_or_else(|| {
            format!("the bus sent {sent:?}, which was not due; these are: {:?}", self.due)
        })?;
        self.due.remove(place);
        Ok(())
    }

    fn departed_peer(&self, sent: &BusMessage) -> Option<u64> {
        let id = match sent {
            BusMessage::OwnerChanged { old, .. } => id_of(old)?,
            BusMessage::Acquired { name, .. } => u64::from(self.names.owner(name)?.index() as u32),
            BusMessage::Error { to, serial, name: NO_REPLY } => {
                let mut pending = self.pending.iter();
                pending.find(|(caller, call, _)| (caller, call) == (to, serial))?.2
            }
            BusMessage::Lost { by, .. } => *by,
            BusMessage::Error { .. }
            | BusMessage::Reply { .. }
            | BusMessage::Withheld { .. }
            | BusMessage::ContainerRemoved { .. } => return None,
        };
        self.accounts.get(&id).filter(|account| !account.is_gone).map(|_| id)
    }

    /// Checks that the bus has sent all messages that were due, and that nothing waits longer than
    /// its timeout.
    ///
    /// # Errors
    ///
    /// Fails with the first thing that is missing.
    pub fn settled(&self) -> Result<(), Deviation> {
        if !self.due.is_empty() {
            return Err(format!("the bus has not sent: {:?}", self.due));
        }
        if !self.held.is_empty() {
            return Err(format!("messages are held forever for services: {:?}", self.awaited()));
        }
        if self.setting.has(Feature::Deadlines) && !self.pending.is_empty() {
            return Err(format!("calls never time out: {:?}", self.pending));
        }
        self.undelivered_settled()
    }
}

/// Sorts lists of names, whose order is not specified.
fn sorted(mut args: Vec<Value>) -> Vec<Value> {
    for arg in &mut args {
        if let Value::Array { items, .. } = arg {
            items.sort_by_key(|item| match item {
                Value::String(text) => text.clone(),
                _ => String::new(),
            });
        }
    }
    args
}

/// Returns the text of an error message.
fn explanation(message: &Message<'_>) -> String {
    match arguments(message).first() {
        Some(Value::String(text)) => text.clone(),
        _ => String::new(),
    }
}

pub(super) const ACCESS_DENIED: &str = "org.freedesktop.DBus.Error.AccessDenied";
pub(super) const INVALID_ARGS: &str = "org.freedesktop.DBus.Error.InvalidArgs";
pub(super) const LIMITS_EXCEEDED: &str = "org.freedesktop.DBus.Error.LimitsExceeded";
pub(super) const NAME_HAS_NO_OWNER: &str = "org.freedesktop.DBus.Error.NameHasNoOwner";
pub(super) const NOT_CONTAINER: &str = "org.freedesktop.DBus.Error.NotContainer";
pub(super) const NOT_SUPPORTED: &str = "org.freedesktop.DBus.Error.NotSupported";
pub(super) const NO_REPLY: &str = "org.freedesktop.DBus.Error.NoReply";
pub(super) const RULE_NOT_FOUND: &str = "org.freedesktop.DBus.Error.MatchRuleNotFound";
pub(super) const SERVICE_UNKNOWN: &str = "org.freedesktop.DBus.Error.ServiceUnknown";

/// Errors for a service that fails to start.
const START_ERRORS: [&str; 2] =
    ["org.freedesktop.DBus.Error.Spawn.ChildExited", "org.freedesktop.DBus.Error.TimedOut"];

/// All errors that the bus may send here.
const ERRORS: [&str; 11] = [
    START_ERRORS[0],
    START_ERRORS[1],
    ACCESS_DENIED,
    INVALID_ARGS,
    LIMITS_EXCEEDED,
    NAME_HAS_NO_OWNER,
    NOT_CONTAINER,
    NOT_SUPPORTED,
    NO_REPLY,
    RULE_NOT_FOUND,
    SERVICE_UNKNOWN,
];
