//! Messages that were queued for a connection, but that the kernel did not accept. The recipient
//! stays connected, the message is dropped, and a caller that waits for it gets LimitsExceeded.

use core::num::NonZeroU32;

use wire::message::{FieldCode, FixedHeader, Flags, HeaderScan, MessageType, ScannedField};
use wire::names::BusName;

use super::router::Router;
use crate::accounting::{IncidentKind, IncidentReason};
use crate::calls::PendingCall;
use crate::types::{Effects, KernelShortage, LogEvent, PeerId, RefusalReason, Undelivered};

impl Router {
    pub(crate) fn undelivered(&mut self, undelivered: Undelivered<'_>, fx: &mut Effects) {
        let Undelivered { to, from, head, amount, shortage } = undelivered;
        let Some(recipient) = self.registry.get_mut(to) else { return };
        recipient.queue.pop(amount);
        recipient.statistics.lost += 1;
        let cause = shortage.word();
        self.accounting.lost(cause);
        self.note(IncidentKind::Lost, cause, to, IncidentReason::Undelivered(shortage), None);
        fx.log(LogEvent::Undelivered { peer: to, sender: from, shortage });
        self.end_lanes_of(to, fx);
        match Awaiting::of(head) {
            Some(Awaiting::Caller { serial, name }) => {
                // The bus sends a call that was held for a service, so `from` is `None`.
                if let Some(caller) = self.registry.resolve(name) {
                    self.end_call(PendingCall { caller, serial, callee: to }, shortage, fx);
                }
            }
            // Other connections may have copies of a reply.
            Some(Awaiting::Recipient { call, name }) if self.registry.resolve(name) == Some(to) => {
                self.fail_call(to, call, shortage, fx);
            }
            _ => {}
        }
    }

    /// Sends an error to the caller of a dropped call, unless the call was answered in the
    /// meantime.
    fn end_call(&mut self, call: PendingCall, shortage: KernelShortage, fx: &mut Effects) {
        if let Some(id) = self.calls.find(&call) {
            self.calls.take(id);
            self.fail_call(call.caller, call.serial, shortage, fx);
        }
    }

    fn fail_call(
        &mut self,
        caller: PeerId,
        serial: NonZeroU32,
        shortage: KernelShortage,
        fx: &mut Effects,
    ) {
        self.send_error(caller, serial, &RefusalReason::Undelivered(shortage), fx);
    }
}

/// The connection that waits for a message.
enum Awaiting<'a> {
    /// The sender: the message is a call that expects a reply.
    Caller { serial: NonZeroU32, name: BusName<'a> },
    /// The recipient: the message is the reply to this call.
    Recipient { call: NonZeroU32, name: BusName<'a> },
}

impl<'a> Awaiting<'a> {
    /// Determines it from the header of a queued message.
    fn of(head: &'a [u8]) -> Option<Self> {
        let fixed = FixedHeader::parse(head.first_chunk()?).ok()?;
        let (mut reply_serial, mut sender, mut destination) = (None, None, None);
        let take = |field| {
            match field {
                ScannedField::Number(FieldCode::ReplySerial, serial) => {
                    reply_serial = NonZeroU32::new(serial);
                }
                ScannedField::Text(FieldCode::Sender, text) => sender = Some(text),
                ScannedField::Text(FieldCode::Destination, text) => destination = Some(text),
                _ => {}
            }
            Ok(())
        };
        HeaderScan::new(head, &fixed).each(take).ok()?;
        let name = |text: Option<&'a [u8]>| BusName::new(core::str::from_utf8(text?).ok()?).ok();
        match fixed.message_type {
            MessageType::MethodCall if !fixed.flags.contains(Flags::NO_REPLY_EXPECTED) => {
                Some(Self::Caller { serial: fixed.serial, name: name(sender)? })
            }
            MessageType::MethodReturn | MessageType::Error => {
                Some(Self::Recipient { call: reply_serial?, name: name(destination)? })
            }
            MessageType::MethodCall | MessageType::Signal | MessageType::Unknown(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use testkit::world::{build, interface, member, name, path};
    use wire::message::Builder;

    use super::*;

    fn call() -> Builder<'static> {
        let call = Builder::method_call(path("/"), member("Ask")).interface(interface("a.b"));
        call.sender(name(":1.7")).destination(name("com.example.Service"))
    }

    #[test]
    fn only_a_call_that_expects_a_reply_has_a_caller_that_waits() {
        let waits = |call| match Awaiting::of(&build(call, 5, &[])) {
            Some(Awaiting::Caller { serial, name }) => serial.get() == 5 && name.as_str() == ":1.7",
            _ => false,
        };
        assert!(waits(call()));
        assert!(!waits(call().flags(Flags::NO_REPLY_EXPECTED)));
    }
}
