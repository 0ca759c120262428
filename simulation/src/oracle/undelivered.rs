//! Messages that the kernel did not take, and what the bus says of them.
//!
//! The simulated kernel knows which writes it failed. The bus also drops messages by itself, if the
//! user of the recipient has its share of unread descriptors: which ones shows in what is missing.

use wire::Message;
use wire::message::MessageType;

use super::{DRIVER, Oracle, Wrong, id_of};
use crate::peer::message_len;
use crate::setting::Feature;

/// A dropped message because of which somebody waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ExpectedDrop {
    kind: DroppedKind,
    /// The connection that was to get it.
    to: u64,
    /// The connection that has made the call.
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
    /// `None` if nobody waits because of this message.
    fn of(to: u64, message: &Message<'_>) -> Option<Self> {
        let id = |name: Option<&str>| name.and_then(id_of);
        if message.expects_reply() {
            let caller = id(message.sender().map(|name| name.as_str()))?;
            let serial = message.serial().get();
            return Some(Self { kind: DroppedKind::Call, to, caller, serial });
        }
        // The copy of somebody who listens is no reply to him.
        let is_own = id(message.destination().map(|name| name.as_str())) == Some(to);
        let serial = message.reply_serial().filter(|_| is_own)?.get();
        Some(Self { kind: DroppedKind::Reply, to, caller: to, serial })
    }
}

/// What is known of dropped messages.
#[derive(Debug, Default)]
pub(super) struct ExpectedUndelivered {
    /// Those that the kernel did not take and of which the bus has not said anything yet.
    unsaid: Vec<ExpectedDrop>,
    /// Those that are missing although the kernel was not asked to take them.
    missing: Vec<ExpectedDrop>,
    /// What the bus has said of messages that the kernel was not asked to take.
    claimed: Vec<ExpectedDrop>,
}

impl Oracle {
    /// The kernel has not taken this for somebody.
    pub fn failed_write(&mut self, to: u64, bytes: &[u8]) {
        let message = whole_message(bytes).and_then(|bytes| Message::parse(bytes).ok());
        let message = message.filter(|message| !is_retried(message));
        self.undelivered.unsaid.extend(message.and_then(|message| ExpectedDrop::of(to, &message)));
    }

    /// Somebody has not got a message with descriptors, and the kernel was not asked to take it.
    pub fn missing(&mut self, to: u64, bytes: &[u8]) {
        let message = Message::parse(bytes).expect("it was routed");
        self.undelivered.missing.extend(ExpectedDrop::of(to, &message));
    }

    /// The bus says to a caller that its call, or the reply, could not be delivered.
    pub(super) fn said_undelivered(&mut self, caller: u64, serial: u32) -> Result<(), Wrong> {
        if !self.setting.has(Feature::KernelShortages) {
            return Err("the kernel takes everything".to_owned());
        }
        let pending = self.pending.iter();
        let callee = pending.copied().find(|call| (call.0, call.1) == (caller, serial));
        let is_meant = |one: &ExpectedDrop| {
            let is_pending = callee == Some((caller, serial, one.to));
            let is_owed = one.kind == DroppedKind::Reply || is_pending;
            (one.caller, one.serial) == (caller, serial) && is_owed
        };
        let unsaid = &mut self.undelivered.unsaid;
        let dropped = if let Some(place) = unsaid.iter().position(is_meant) {
            unsaid.remove(place)
        } else {
            let (kind, to) = match callee {
                Some((.., callee)) => (DroppedKind::Call, callee),
                None => (DroppedKind::Reply, caller),
            };
            let claim = ExpectedDrop { kind, to, caller, serial };
            self.undelivered.claimed.push(claim);
            claim
        };
        if dropped.kind == DroppedKind::Call {
            self.pending.retain(|call| *call != (caller, serial, dropped.to));
        }
        Ok(())
    }

    /// Each call that was dropped, or whose reply was, has ended with an error, and no other has.
    pub(super) fn undelivered_settled(&self) -> Result<(), Wrong> {
        let ExpectedUndelivered { unsaid, missing, claimed } = &self.undelivered;
        let waits = |one: &ExpectedDrop| match one.kind {
            DroppedKind::Call => self.pending.contains(&(one.caller, one.serial, one.to)),
            DroppedKind::Reply => true,
        };
        if let Some(one) = unsaid.iter().find(|one| waits(one)) {
            return Err(format!("the kernel did not take {one:?}, and nobody was told"));
        }
        if let Some(one) = missing.iter().find(|one| !claimed.contains(one) && waits(one)) {
            return Err(format!("{one:?} is missing, and nobody was told"));
        }
        // What somebody who has left would have got is not known.
        let is_there =
            |one: &&ExpectedDrop| !self.accounts.get(&one.to).is_none_or(|it| it.is_gone);
        match claimed.iter().filter(is_there).find(|one| !missing.contains(one)) {
            Some(one) => Err(format!("the bus says that it dropped {one:?}, which came")),
            None => Ok(()),
        }
    }
}

/// Whether a message is the error that the bus sends: it must come, however often the kernel does not
/// take it, since nothing could be sent in its place.
pub fn is_retried(message: &Message<'_>) -> bool {
    let is_bus = message.sender().is_some_and(|name| name.as_str() == DRIVER);
    is_bus && message.message_type() == MessageType::Error
}

/// The message that bytes begin with, unless they begin in the middle of one.
pub fn whole_message(bytes: &[u8]) -> Option<&[u8]> {
    let message = bytes.get(..message_len(bytes)?)?;
    Message::parse(message).is_ok().then_some(message)
}

/// How the error for a dropped message begins.
pub(super) const COULD_NOT_BE_DELIVERED: &str = "A message could not be delivered: ";

/// How the error for a message begins whose descriptors the bus does not take, because it holds too many
/// of the same user.
pub(super) const FDS_NOT_RECEIVED: &str =
    "The file descriptors of the message could not be received: ";
