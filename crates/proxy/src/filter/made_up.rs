//! Messages that the filter writes in place of others.

use std::num::NonZeroU32;

use wire::Message;
use wire::message::{Builder, Flags};
use wire::names::{BusName, ErrorName, ObjectPath};

use super::well_known::{BUS_NAME, PEER, PING};

/// A reply to the client that no other connection has sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum MadeUpReply {
    /// An error, whose text is its name.
    Error(ErrorName<'static>),
    /// The return of a method with the value false.
    False,
}

impl MadeUpReply {
    /// Writes the reply in place of `reply`, with its serial, to the client with this unique name.
    pub(super) fn write(
        &self,
        reply: &Message<'_>,
        call: NonZeroU32,
        client: Option<&str>,
    ) -> Vec<u8> {
        let builder = match self {
            Self::Error(name) => Builder::error(*name, call),
            Self::False => Builder::method_return(call),
        };
        let mut builder = builder.flags(Flags::NO_REPLY_EXPECTED).sender(bus_name());
        if let Some(client) = client.and_then(|name| BusName::new(name).ok()) {
            builder = builder.destination(client);
        }
        let mut bytes = Vec::new();
        let written = match self {
            Self::Error(name) => builder.write(&mut bytes, reply.serial(), &(name.as_str(),)),
            Self::False => builder.write(&mut bytes, reply.serial(), &(false,)),
        };
        written.expect("a short message can be written");
        bytes
    }
}

/// Writes a Ping to the bus with the serial and the flags of a refused call.
pub(super) fn ping(call: &Message<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    Builder::method_call(ObjectPath::ROOT, PING)
        .interface(PEER)
        .flags(call.flags())
        .write(&mut bytes, call.serial(), &())
        .expect("a short message can be written");
    bytes
}

/// Writes a return of the bus with other names. Returns `None` if it is too long, which is
/// impossible for a part of a valid list.
pub(super) fn name_list(reply: &Message<'_>, names: &[&str]) -> Option<Vec<u8>> {
    let mut builder = Builder::method_return(reply.reply_serial()?).flags(reply.flags());
    if let Some(sender) = reply.sender() {
        builder = builder.sender(sender);
    }
    if let Some(destination) = reply.destination() {
        builder = builder.destination(destination);
    }
    let mut bytes = Vec::new();
    builder.write(&mut bytes, reply.serial(), &(names,)).ok()?;
    Some(bytes)
}

/// The name of the bus, as a sender or destination.
pub(super) fn bus_name() -> BusName<'static> {
    BusName::new(BUS_NAME).expect("the name is valid")
}
