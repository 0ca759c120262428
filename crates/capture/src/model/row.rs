//! What is kept of each message.

use wire::message::{Flags, MessageType};

use super::TextId;
use super::store::StoredPlace;
use crate::record::{BusId, RecordedTime};

/// One message. A million of these are 72 MB.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageRow {
    pub(super) at: RecordedTime,
    pub(super) place: StoredPlace,
    /// Bytes that the message had.
    pub(super) len: u32,
    /// Bytes that were kept.
    pub(super) kept: u32,
    pub(super) serial: u32,
    /// 0 for none.
    pub(super) reply_serial: u32,
    pub(super) sender: TextId,
    pub(super) destination: TextId,
    pub(super) path: TextId,
    pub(super) interface: TextId,
    /// The member; the name of an error.
    pub(super) member: TextId,
    pub(super) signature: TextId,
    /// Of a call its reply, of a reply its call; [`NOBODY`] if there is none.
    pub(super) partner: u32,
    pub(super) bus: BusId,
    pub(super) kind: MessageType,
    pub(super) flags: Flags,
    pub(super) health: Health,
    pub(super) unix_fds: u8,
}

impl MessageRow {
    /// Whether the fields that pair a call with its reply are missing.
    pub(super) const fn is_unpairable(&self) -> bool {
        match self.kind {
            MessageType::MethodCall => self.sender.is_none(),
            _ => self.destination.is_none() || self.reply_serial == 0,
        }
    }
}

const _: () = assert!(size_of::<MessageRow>() == 72, "the documentation says so");

/// The partner of a message that has none.
pub(super) const NOBODY: u32 = u32::MAX;

/// How much of a message there is, and whether it is right.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Health {
    /// All of it, and valid.
    Whole,
    /// All of it, but what the body says was crossed out; only its shape can be believed.
    BodyRedacted,
    /// The header is whole, of the body a part is missing.
    BodyCut,
    /// The header itself is not whole; fields behind the cut are absent.
    HeaderCut,
    /// The body breaks a rule of the specification.
    BodyInvalid,
    /// The header does.
    HeaderInvalid,
}
