//! Messages that were queued for a connection and that the kernel did not take, although the
//! connection is there: the recipient stays connected, this one message is dropped, and whoever
//! waits because of it gets LimitsExceeded.

use core::num::NonZeroU32;

use wire::message::{FieldCode, FixedHeader, Flags, HeaderScan, MessageType, ScannedField};
use wire::names::BusName;

use crate::bus::Bus;
use crate::effects::{Effects, Event};
use crate::error::ErrorKind;
use crate::history::Trouble;
use crate::input::{Amount, PeerId};
use crate::replies::PendingReply;

/// A message that the kernel did not take.
#[derive(Clone, Copy, Debug)]
pub struct Undelivered<'a> {
    /// The connection that it was queued for.
    pub to: PeerId,
    /// The connection that sent it; `None` for the bus itself.
    pub from: Option<PeerId>,
    /// The beginning of the message, at least its header.
    pub head: &'a [u8],
    /// What it took up in the queue.
    pub amount: Amount,
    /// What the kernel lacks.
    pub shortage: Shortage,
}

/// What the kernel lacks to take a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shortage {
    /// The user of the bus has more descriptors in sockets that nobody has received than it may have
    /// open files.
    Descriptors,
    /// Memory.
    Memory,
    /// The message is longer than the socket takes.
    Size,
}

impl Shortage {
    /// The shortage in one word, under which it is counted.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Descriptors => "descriptors-in-flight",
            Self::Memory => "kernel-memory",
            Self::Size => "kernel-message-size",
        }
    }

    /// The shortage as a clause.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Descriptors => "too many file descriptors are in sockets that nobody reads",
            Self::Memory => "the kernel has no memory for it",
            Self::Size => "it is longer than the socket takes",
        }
    }
}

impl Bus {
    pub(crate) fn undelivered(&mut self, undelivered: Undelivered<'_>, fx: &mut Effects) {
        let Undelivered { to, from, head, amount, shortage } = undelivered;
        let Some(recipient) = self.peers.get_mut(to) else { return };
        recipient.drop_queued(amount);
        recipient.lost += 1;
        self.counters.lost += 1;
        let cause = shortage.word();
        self.history.count(Trouble::Lost, cause);
        self.note(Trouble::Lost, cause, to, shortage.as_str(), None);
        fx.log(Event::Undelivered { peer: to, sender: from, shortage });
        match Awaiting::of(head) {
            Some(Awaiting::Caller { serial, name }) => {
                // A call that has waited for a service is sent by the bus, so `from` is `None`.
                if let Some(caller) = self.resolve(name) {
                    self.end_call(PendingReply { caller, serial, callee: to }, shortage, fx);
                }
            }
            // Others may have copies of a reply.
            Some(Awaiting::Recipient { call, name }) if self.resolve(name) == Some(to) => {
                self.fail_call(to, call, shortage, fx);
            }
            _ => {}
        }
    }

    /// Tells the sender of a call that it was dropped, if nobody has answered it meanwhile.
    fn end_call(&mut self, call: PendingReply, shortage: Shortage, fx: &mut Effects) {
        if let Some(id) = self.replies.find(&call) {
            self.replies.take(id);
            self.fail_call(call.caller, call.serial, shortage, fx);
        }
    }

    fn fail_call(
        &mut self,
        caller: PeerId,
        serial: NonZeroU32,
        shortage: Shortage,
        fx: &mut Effects,
    ) {
        let text = alloc::format!("A message could not be delivered: {}", shortage.as_str());
        self.send_error(caller, serial, &ErrorKind::LimitsExceeded.because(text), fx);
    }
}

/// The connection that waits because of a message.
enum Awaiting<'a> {
    /// The sender: the message is a call that expects a reply.
    Caller { serial: NonZeroU32, name: BusName<'a> },
    /// The recipient: the message is the reply to this call.
    Recipient { call: NonZeroU32, name: BusName<'a> },
}

impl<'a> Awaiting<'a> {
    /// Reads it from the header of a message that was queued.
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
    use diligence_testkit::world::{build, interface, member, name, path};
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
