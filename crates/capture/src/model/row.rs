//! The data that a capture stores for each message.

use wire::message::{Flags, MessageType};

use super::TextId;
use super::store::StoredPlace;
use crate::record::{BusId, RecordedTime};

/// One message. A million of these take 72 MB.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageRow {
    pub(super) at: RecordedTime,
    pub(super) place: StoredPlace,
    /// The full length of the message in bytes.
    pub(super) len: u32,
    /// The number of bytes that were kept.
    pub(super) kept: u32,
    pub(super) serial: u32,
    /// The serial of the call; 0 if the message is not a reply.
    pub(super) reply_serial: u32,
    pub(super) sender: TextId,
    pub(super) destination: TextId,
    pub(super) path: TextId,
    pub(super) interface: TextId,
    /// The member, or the name of an error.
    pub(super) member: TextId,
    pub(super) signature: TextId,
    /// The reply of a call or the call of a reply; [`ABSENT`] if there is none.
    pub(super) partner: u32,
    pub(super) bus: BusId,
    pub(super) kind: MessageType,
    pub(super) flags: Flags,
    pub(super) health: Health,
    pub(super) unix_fds: u8,
}

impl MessageRow {
    /// Returns true if the fields that pair a call with its reply are missing.
    pub(super) const fn is_unpairable(&self) -> bool {
        match self.kind {
            MessageType::MethodCall => self.sender.is_none(),
            _ => self.destination.is_none() || self.reply_serial == 0,
        }
    }
}

const _: () = assert!(size_of::<MessageRow>() == 72, "the documentation says so");

/// The partner of a message without one.
pub(super) const ABSENT: u32 = u32::MAX;

/// The completeness and validity of a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Health {
    /// The message is complete and valid.
    Whole,
    /// The message is complete, but its body is redacted: only the structure is real.
    BodyRedacted,
    /// The header is complete, but a part of the body is missing.
    BodyCut,
    /// The header is incomplete; fields after the cut are absent.
    HeaderCut,
    /// The body violates the specification.
    BodyInvalid,
    /// The header violates the specification.
    HeaderInvalid,
}
