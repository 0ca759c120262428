//! Messages that the kernel rejected, and the errors that the bus sends for them.
//!
//! The simulated kernel knows which writes it rejected. The bus also drops messages by itself, if
//! the user of the recipient has reached its limit of unread descriptors. Those show only as
//! missing.

use wire::Message;
use wire::message::MessageType;

use super::{DRIVER, Deviation, Oracle, id_of};
use crate::peer::message_len;
use crate::setting::Feature;

/// A dropped message because of which a caller does not get its reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ExpectedDrop {
    kind: DroppedKind,
    /// The connection that did not get the message.
    to: u64,
    /// The connection that made the call.
    caller: u64,
    /// The serial of the call.
    serial: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum DroppedKind {
    Call,
    Reply,
}

impl ExpectedDrop {
    /// Returns `None` if no caller waits because of this message.
    fn of(to: u64, message: &Message<'_>) -> Option<Self> {
        let id = |name: Option<&str>| name.and_then(id_of);
        if message.expects_reply() {
            let caller = id(message.sender().map(|name| name.as_str()))?;
            let serial = message.serial().get();
            return Some(Self { kind: DroppedKind::Call, to, caller, serial });
        }
        // For an eavesdropper, the copy is not a reply to a call of its own.
        let is_own = id(message.destination().map(|name| name.as_str())) == Some(to);
        let serial = message.reply_serial().filter(|_| is_own)?.get();
        Some(Self { kind: DroppedKind::Reply, to, caller: to, serial })
    }
}

/// The state of dropped messages.
#[derive(Debug, Default)]
pub(super) struct UndeliveredMessages {
    /// Messages that the kernel rejected, before the bus has sent an error.
    unreported: Vec<ExpectedDrop>,
    /// Messages that did not arrive, although the kernel rejected no write.
    missing: Vec<ExpectedDrop>,
    /// Messages that the bus reported as dropped, although the kernel rejected no write.
    reported: Vec<ExpectedDrop>,
}

impl Oracle {
    /// Notes that the kernel rejected a write to a peer.
    pub fn failed_write(&mut self, to: u64, bytes: &[u8]) {
        let message = whole_message(bytes).and_then(|bytes| Message::parse(bytes).ok());
        let message = message.filter(|message| !is_retried(message));
        self.undelivered
            .unreported
            .extend(message.and_then(|message| ExpectedDrop::of(to, &message)));
    }

    /// Notes that a message with descriptors did not arrive, although the kernel rejected no write.
    pub fn missing(&mut self, to: u64, bytes: &[u8]) {
        let message = Message::parse(bytes).expect("it was routed");
        self.undelivered.missing.extend(ExpectedDrop::of(to, &message));
    }

    /// Handles the error of the bus that a call, or its reply, could not be delivered.
    pub(super) fn record_delivery_error(
        &mut self,
        caller: u64,
        serial: u32,
    ) -> Result<(), Deviation> {
        if !self.setting.has(Feature::KernelShortages) {
            return Err("a delivery error, although the kernel accepts everything".to_owned());
        }
        let pending = self.pending.iter();
        let callee = pending.copied().find(|call| (call.0, call.1) == (caller, serial));
        let is_reported = |one: &ExpectedDrop| {
            let is_pending = callee == Some((caller, serial, one.to));
            let is_due = one.kind == DroppedKind::Reply || is_pending;
            (one.caller, one.serial) == (caller, serial) && is_due
        };
        let unreported = &mut self.undelivered.unreported;
        let dropped = if let Some(place) = unreported.iter().position(is_reported) {
            unreported.remove(place)
        } else {
            let (kind, to) = match callee {
                Some((.., callee)) => (DroppedKind::Call, callee),
                None => (DroppedKind::Reply, caller),
            };
            let report = ExpectedDrop { kind, to, caller, serial };
            self.undelivered.reported.push(report);
            report
        };
        if dropped.kind == DroppedKind::Call {
            self.pending.retain(|call| *call != (caller, serial, dropped.to));
        }
        Ok(())
    }

    /// Checks that exactly those calls ended with an error that were dropped, or whose reply was
    /// dropped.
    pub(super) fn undelivered_settled(&self) -> Result<(), Deviation> {
        let UndeliveredMessages { unreported, missing, reported } = &self.undelivered;
        let waits = |one: &ExpectedDrop| match one.kind {
            DroppedKind::Call => self.pending.contains(&(one.caller, one.serial, one.to)),
            DroppedKind::Reply => true,
        };
        if let Some(one) = unreported.iter().find(|one| waits(one)) {
            return Err(format!("the kernel rejected {one:?}, and the bus sent no error"));
        }
        if let Some(one) = missing.iter().find(|one| !reported.contains(one) && waits(one)) {
            return Err(format!("{one:?} was not delivered, and the bus sent no error"));
        }
        // For a peer that has left, it is unknown which messages it would have received.
        let is_connected =
            |one: &&ExpectedDrop| !self.accounts.get(&one.to).is_none_or(|it| it.is_gone);
        match reported.iter().filter(is_connected).find(|one| !missing.contains(one)) {
            Some(one) => Err(format!("the bus reported {one:?} as dropped, but it was delivered")),
            None => Ok(()),
        }
    }
}

/// True if the message is an error of the bus. The bus retries errors until the kernel accepts
/// them, because it has no other way to report a loss.
pub fn is_retried(message: &Message<'_>) -> bool {
    let is_bus = message.sender().is_some_and(|name| name.as_str() == DRIVER);
    is_bus && message.message_type() == MessageType::Error
}

/// Returns the message at the start of `bytes`, unless they start in the middle of one.
pub fn whole_message(bytes: &[u8]) -> Option<&[u8]> {
    let message = bytes.get(..message_len(bytes)?)?;
    Message::parse(message).is_ok().then_some(message)
}

/// The start of the text of an error for a dropped message.
pub(super) const COULD_NOT_BE_DELIVERED: &str = "A message could not be delivered: ";

/// The start of the text of an error for a message whose descriptors the bus does not receive,
/// because it holds too many of the same user.
pub(super) const FDS_NOT_RECEIVED: &str =
    "The file descriptors of the message could not be received: ";
