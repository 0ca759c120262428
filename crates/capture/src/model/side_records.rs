//! The order of records other than messages, so that a capture can be written again.

use super::TextId;
use super::directory::RecordedPeerId;
use crate::record::{BusId, RecordedTime};

/// Records other than messages that changed the model, and replies of the bus that did. Information
/// from message headers and from signals of the bus is not included.
#[derive(Debug, Default)]
pub(super) struct SideRecords {
    all: Vec<SideRecord>,
    /// The number of messages before the next side record.
    messages: u32,
}

/// A record other than a message, or information from a reply of the bus.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SideRecord {
    /// The number of messages before it.
    pub(super) messages: u32,
    pub(super) at: RecordedTime,
    pub(super) kind: SideRecordKind,
}

const _: () = assert!(size_of::<SideRecord>() <= 32, "there may be as many as messages");

/// The kind of a side record. The content is stored elsewhere. Of a process, the content is
/// everything that is known at the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SideRecordKind {
    /// The next of the stored facts.
    Fact,
    /// The next of the stored gaps.
    Gap,
    /// The next of the stored damages.
    Damage,
    /// A connection exists, possibly with a known process.
    Peer(RecordedPeerId),
    /// A connection belongs to the recorder.
    Recorder(RecordedPeerId),
    /// A connection has left.
    Left(RecordedPeerId),
    /// A well-known name has this owner.
    Owner(BusId, TextId, RecordedPeerId),
    /// A well-known name has had this owner since the time of the record.
    Taken(BusId, TextId, RecordedPeerId),
    /// A well-known name has no owner.
    Released(BusId, TextId),
}

impl SideRecords {
    /// Sets the number of messages before the following side records.
    pub(super) const fn set_position(&mut self, messages: u32) {
        self.messages = messages;
    }

    pub(super) fn add(&mut self, at: RecordedTime, kind: SideRecordKind) {
        let record = SideRecord { messages: self.messages, at, kind };
        let is_peer = matches!(kind, SideRecordKind::Peer(_));
        if !is_peer || self.all.last() != Some(&record) {
            self.all.push(record);
        }
    }

    /// All side records, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &SideRecord> {
        self.all.iter()
    }
}
