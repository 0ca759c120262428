//! One message of a capture.

use std::time::Duration;

use wire::message::{Flags, MessageType};

use super::directory::RecordedPeerId;
use super::row::{Health, MessageRow, NOBODY};
use super::{Capture, TextId};
use crate::record::{BusId, CaptureMethod, RecordedTime, Routing, TracedDelivery};

/// A message's place in its capture, from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CapturedMessageId(pub(super) u32);

impl CapturedMessageId {
    /// The place as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The number that people see, from 1, as Wireshark counts.
    pub const fn number(self) -> u64 {
        self.0 as u64 + 1
    }
}

/// A message of a capture. Header fields that it does not have are empty.
#[derive(Clone, Copy, Debug)]
pub struct CapturedMessage<'c> {
    capture: &'c Capture,
    id: CapturedMessageId,
    row: &'c MessageRow,
}

/// One accessor of a text and one of its id for each header field that is a text.
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
    /// From whom: a unique name, or that of the bus.
    sender, sender_id;
    /// To whom: a unique or well-known name.
    destination, destination_id;
    /// The object.
    path, path_id;
    /// The interface.
    interface, interface_id;
    /// The method or signal; of an error its name.
    member, member_id;
    /// The types of the body.
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

    /// The capture it is of.
    pub const fn capture(&self) -> &'c Capture {
        self.capture
    }

    /// Its place.
    pub const fn id(&self) -> CapturedMessageId {
        self.id
    }

    /// When: as the bus received it, or as the recorder did, see [`CaptureMethod`](crate::record::CaptureMethod).
    pub const fn at(&self) -> RecordedTime {
        self.row.at
    }

    /// On which bus.
    pub const fn bus(&self) -> BusId {
        self.row.bus
    }

    /// Its type; `Unknown(0)` if the header is too broken to say.
    pub const fn kind(&self) -> MessageType {
        self.row.kind
    }

    /// Its flags.
    pub const fn flags(&self) -> Flags {
        self.row.flags
    }

    /// The sender's number for it; 0 if the header is too broken to say.
    pub const fn serial(&self) -> u32 {
        self.row.serial
    }

    /// The serial of the call it answers; 0 if it answers none.
    pub const fn reply_serial(&self) -> u32 {
        self.row.reply_serial
    }

    /// Bytes that it had on the wire, whatever was kept of it.
    pub const fn len(&self) -> u32 {
        self.row.len
    }

    /// Whether it had no byte.
    pub const fn is_empty(&self) -> bool {
        self.row.len == 0
    }

    /// Bytes that were kept.
    pub const fn kept(&self) -> u32 {
        self.row.kept
    }

    /// How much of it there is.
    pub const fn health(&self) -> Health {
        self.row.health
    }

    /// How many descriptors came with it; 255 is that many or more.
    pub const fn unix_fds(&self) -> u8 {
        self.row.unix_fds
    }

    /// Whether this is a call that wants an answer.
    pub fn expects_reply(&self) -> bool {
        self.row.kind == MessageType::MethodCall
            && !self.row.flags.contains(Flags::NO_REPLY_EXPECTED)
    }

    /// Of a call its reply, of a reply its call.
    pub fn partner(&self) -> Option<Self> {
        let index = self.row.partner;
        (index != NOBODY).then(|| self.capture.message(CapturedMessageId(index)))
    }

    /// The call: itself, or that which it answers.
    pub fn call(&self) -> Option<Self> {
        if self.row.kind == MessageType::MethodCall { Some(*self) } else { self.partner() }
    }

    /// The connection it came from.
    pub fn from(&self) -> Option<RecordedPeerId> {
        self.capture.directory().by_unique(self.row.bus, self.row.sender)
    }

    /// The recipient: the connection that the destination stood for, if that is known.
    ///
    /// A call to a name without an owner goes to the connection that the bus delivered it to, or that
    /// replied, or that took the name before the reply. An error from the bus does not identify the recipient.
    pub fn to(&self) -> Option<RecordedPeerId> {
        let MessageRow { bus, destination, at, .. } = *self.row;
        let directory = self.capture.directory();
        directory
            .by_unique(bus, destination)
            .or_else(|| self.delivered_to())
            .or_else(|| directory.resolve(bus, destination, at))
            .or_else(|| if self.row.kind == MessageType::MethodCall { self.taker() } else { None })
    }

    /// The connection to which the bus itself delivered it as its addressee.
    fn delivered_to(&self) -> Option<RecordedPeerId> {
        let copy = self.deliveries()?.iter().find(|copy| copy.rules == 0)?;
        self.capture.peer_numbered(self.row.bus, copy.recipient)
    }

    /// The connection that took the name that this call is for, so that the call was held for it.
    fn taker(&self) -> Option<RecordedPeerId> {
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

    /// Whether it comes from the bus itself or goes to it.
    pub fn is_driver_traffic(&self) -> bool {
        let driver = self.capture.driver();
        self.row.sender == driver || self.row.destination == driver
    }

    /// Interface and member, or the member alone; of an error its name.
    pub fn full_member(&self) -> String {
        match self.interface() {
            "" => self.member().to_owned(),
            interface => format!("{interface}.{}", self.member()),
        }
    }

    /// Whether the bus itself has recorded it. Then messages stand in the order of routing, and
    /// their times, those of receiving, may go back a little.
    pub fn is_traced(&self) -> bool {
        let bus = self.capture.buses().get(usize::from(self.row.bus.0));
        bus.is_some_and(|bus| bus.method == CaptureMethod::Trace)
    }

    /// Whether a connection of the recorder has sent it, or is its destination. Such messages exist only
    /// because somebody recorded; [`Query::matcher`](crate::query::Query::matcher) leaves them out.
    pub fn is_of_recorder(&self) -> bool {
        let directory = self.capture.directory();
        directory.is_recorder(self.row.bus, self.row.sender)
            || directory.is_recorder(self.row.bus, self.row.destination)
    }

    /// Its copies for connections other than those of the recorder, if the bus itself has recorded.
    pub fn copies(&self) -> Option<impl Iterator<Item = &'c TracedDelivery> + use<'c>> {
        let (directory, bus) = (self.capture.directory(), self.row.bus);
        let is_wanted =
            move |copy: &&TracedDelivery| !directory.is_recorder_numbered(bus, copy.recipient);
        Some(self.deliveries()?.iter().filter(is_wanted))
    }

    /// All its copies, also those for the recorder, if the bus itself has recorded.
    pub fn deliveries(&self) -> Option<&'c [TracedDelivery]> {
        self.capture.traces.deliveries(self.id.index())
    }

    /// From when the bus received it until it had decided who gets it, if the bus has recorded.
    pub fn routed_after(&self) -> Option<Duration> {
        self.capture.traces.routed_after(self.id.index())
    }

    /// How the bus routed it, if the bus has recorded.
    pub fn routing(&self) -> Option<Routing> {
        let stages = self.capture.traces.stages(self.id.index());
        Some(Routing { after: self.routed_after()?, stages })
    }
}
