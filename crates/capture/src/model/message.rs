//! A message of a capture.

use std::time::Duration;

use wire::message::{Flags, MessageType};

use super::directory::RecordedPeerId;
use super::row::{ABSENT, Health, MessageRow};
use super::{Capture, TextId};
use crate::record::{BusId, CaptureMethod, RecordedTime, Routing, TracedDelivery};

/// The position of a message in its capture, from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CapturedMessageId(pub(super) u32);

impl CapturedMessageId {
    /// Returns the position as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the number that is shown to people, from 1 as in Wireshark.
    pub const fn number(self) -> u64 {
        self.0 as u64 + 1
    }
}

/// A message of a capture. Absent header fields are empty texts.
#[derive(Clone, Copy, Debug)]
pub struct CapturedMessage<'c> {
    capture: &'c Capture,
    id: CapturedMessageId,
    row: &'c MessageRow,
}

/// Defines an accessor for the text and one for the text id of each header field that is a text.
macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident, $id:ident;)*) => {
        impl<'c> CapturedMessage<'c> {
            $(
                $(#[$doc])*
                pub fn $name(&self) -> &'c str {
                    self.capture.strings().get(self.row.$name)
                }

                $(#[$doc])*
                pub const fn $id(&self) -> TextId {
                    self.row.$name
                }
            )*
        }
    };
}

texts! {
    /// The sender: a unique name, or the name of the bus.
    sender, sender_id;
    /// The destination: a unique or well-known name.
    destination, destination_id;
    /// The path of the object.
    path, path_id;
    /// The name of the interface.
    interface, interface_id;
    /// The name of the method or signal; the error name of an error.
    member, member_id;
    /// The signature of the body.
    signature, signature_id;
}

impl<'c> CapturedMessage<'c> {
    pub(super) const fn new(
        capture: &'c Capture,
        id: CapturedMessageId,
        row: &'c MessageRow,
    ) -> Self {
        Self { capture, id, row }
    }

    /// Returns the capture that contains the message.
    pub const fn capture(&self) -> &'c Capture {
        self.capture
    }

    /// Returns the position of the message.
    pub const fn id(&self) -> CapturedMessageId {
        self.id
    }

    /// Returns the time at which the bus received the message, or the recorder read it, depending
    /// on the [`CaptureMethod`](crate::record::CaptureMethod).
    pub const fn at(&self) -> RecordedTime {
        self.row.at
    }

    /// Returns the bus of the message.
    pub const fn bus(&self) -> BusId {
        self.row.bus
    }

    /// Returns the message type; `Unknown(0)` if the header is too incomplete or invalid.
    pub const fn kind(&self) -> MessageType {
        self.row.kind
    }

    /// Returns the message flags.
    pub const fn flags(&self) -> Flags {
        self.row.flags
    }

    /// Returns the serial that the sender gave the message; 0 if the header is too incomplete or
    /// invalid.
    pub const fn serial(&self) -> u32 {
        self.row.serial
    }

    /// Returns the serial of the call that the message answers; 0 if it is not a reply.
    pub const fn reply_serial(&self) -> u32 {
        self.row.reply_serial
    }

    /// Returns the length of the message on the wire in bytes, regardless of how much was kept.
    pub const fn len(&self) -> u32 {
        self.row.len
    }

    /// Returns true if the message has no bytes.
    pub const fn is_empty(&self) -> bool {
        self.row.len == 0
    }

    /// Returns the number of bytes that were kept.
    pub const fn kept(&self) -> u32 {
        self.row.kept
    }

    /// Returns how much of the message is present and valid.
    pub const fn health(&self) -> Health {
        self.row.health
    }

    /// Returns the number of file descriptors of the message; 255 means that many or more.
    pub const fn unix_fds(&self) -> u8 {
        self.row.unix_fds
    }

    /// Returns true if the message is a call that expects a reply.
    pub fn expects_reply(&self) -> bool {
        self.row.kind == MessageType::MethodCall
            && !self.row.flags.contains(Flags::NO_REPLY_EXPECTED)
    }

    /// Returns the reply of a call, or the call of a reply.
    pub fn partner(&self) -> Option<Self> {
        let index = self.row.partner;
        (index != ABSENT).then(|| self.capture.message(CapturedMessageId(index)))
    }

    /// Returns the message itself if it is a call, or the call that it answers.
    pub fn call(&self) -> Option<Self> {
        if self.row.kind == MessageType::MethodCall { Some(*self) } else { self.partner() }
    }

    /// Returns the connection that sent the message, if known.
    pub fn from(&self) -> Option<RecordedPeerId> {
        self.capture.directory().by_unique(self.row.bus, self.row.sender)
    }

    /// Returns the recipient: the connection that had the destination name, if known.
    ///
    /// If a call is sent to a name without an owner, its recipient is the connection to which the
    /// bus delivered it, or that replied, or that acquired the name before the reply. An error from
    /// the bus does not identify the recipient.
    pub fn to(&self) -> Option<RecordedPeerId> {
        let MessageRow { bus, destination, at, .. } = *self.row;
        let directory = self.capture.directory();
        directory
            .by_unique(bus, destination)
            .or_else(|| self.delivered_to())
            .or_else(|| directory.resolve(bus, destination, at))
            .or_else(|| {
                if self.row.kind == MessageType::MethodCall { self.later_owner() } else { None }
            })
    }

    /// The connection to which the bus delivered the message as its destination.
    fn delivered_to(&self) -> Option<RecordedPeerId> {
        let copy = self.deliveries()?.iter().find(|copy| copy.rules == 0)?;
        self.capture.peer_numbered(self.row.bus, copy.recipient)
    }

    /// The connection that took the destination name while the bus held this call.
    fn later_owner(&self) -> Option<RecordedPeerId> {
        let reply = self.partner();
        let callee = reply.filter(|reply| reply.sender_id() != self.capture.driver());
        if callee.is_some() {
            return callee?.from();
        }
        let until = reply.map_or(RecordedTime(i64::MAX), |reply| reply.at());
        let owners = self.capture.directory().ownerships(self.row.bus, self.row.destination);
        let held_for = |since: RecordedTime| self.row.at <= since && since <= until;
        owners.iter().find(|one| one.since.is_some_and(held_for)).map(|one| one.owner)
    }

    /// Returns true if the bus itself is the sender or destination.
    pub fn is_driver_traffic(&self) -> bool {
        let driver = self.capture.driver();
        self.row.sender == driver || self.row.destination == driver
    }

    /// Returns the interface and member, separated by a dot; the member alone if there is no
    /// interface; the error name of an error.
    pub fn full_member(&self) -> String {
        match self.interface() {
            "" => self.member().to_owned(),
            interface => format!("{interface}.{}", self.member()),
        }
    }

    /// Returns true if the bus itself recorded the message. Such messages are in the order of
    /// routing, and their times of receiving may go back slightly.
    pub fn is_traced(&self) -> bool {
        let bus = self.capture.buses().get(usize::from(self.row.bus.0));
        bus.is_some_and(|bus| bus.method == CaptureMethod::Trace)
    }

    /// Returns true if a connection of the recorder is the sender or destination. Such messages
    /// exist only because of the recording; [`Query::matcher`](crate::query::Query::matcher) leaves
    /// them out.
    pub fn is_of_recorder(&self) -> bool {
        let directory = self.capture.directory();
        directory.is_recorder(self.row.bus, self.row.sender)
            || directory.is_recorder(self.row.bus, self.row.destination)
    }

    /// Returns the copies for connections other than the recorder's, if the bus itself recorded
    /// them.
    pub fn copies(&self) -> Option<impl Iterator<Item = &'c TracedDelivery> + use<'c>> {
        let (directory, bus) = (self.capture.directory(), self.row.bus);
        let is_wanted =
            move |copy: &&TracedDelivery| !directory.is_recorder_numbered(bus, copy.recipient);
        Some(self.deliveries()?.iter().filter(is_wanted))
    }

    /// Returns all copies, including copies for the recorder, if the bus itself recorded them.
    pub fn deliveries(&self) -> Option<&'c [TracedDelivery]> {
        self.capture.traces.deliveries(self.id.index())
    }

    /// Returns the time from when the bus received the message until it had determined the
    /// recipients, if the bus itself recorded it.
    pub fn routed_after(&self) -> Option<Duration> {
        self.capture.traces.routed_after(self.id.index())
    }

    /// Returns how the bus routed the message, if the bus itself recorded that.
    pub fn routing(&self) -> Option<Routing> {
        let stages = self.capture.traces.stages(self.id.index());
        Some(Routing { after: self.routed_after()?, stages })
    }
}
