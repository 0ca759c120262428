//! The messages between an end of a lane and the bus, and checks of messages on lanes.

use std::num::NonZeroU32;

use wire::body::UnixFd;
use wire::message::{Builder, Flags, Message, MessageType};
use wire::names::{InterfaceName, MemberName, ObjectPath, WellKnownName};

use crate::set::RequestOutcome;

const BUS_NAME: WellKnownName<'static> = WellKnownName::literal("org.freedesktop.DBus");
const BUS_PATH: ObjectPath<'static> = ObjectPath::literal("/org/freedesktop/DBus");
const INTERFACE: InterfaceName<'static> = InterfaceName::literal("org.diligence.Lanes1");
const OPENED: MemberName<'static> = MemberName::literal("Opened");

/// The arguments of the signal Opened: the partner, the socket, the counters of this connection,
/// the counters of the partner, and the counters for the traffic of this connection.
type OpenedArguments<'a> = (&'a str, UnixFd, UnixFd, UnixFd, UnixFd);

/// Returns a call that asks for a lane. Its argument is the name of the partner.
pub fn request() -> Builder<'static> {
    method(MemberName::literal("Request"))
}

/// Returns a call that ends a lane, or takes a request back. Its argument is the unique name of the
/// partner.
pub fn release() -> Builder<'static> {
    method(MemberName::literal("Release"))
}

/// Returns a call that tells the bus that a lane has ended. Its arguments are the unique name of
/// the partner, and the serials of the calls on the lane that wait for a reply. It gets no reply.
pub fn resume() -> Builder<'static> {
    method(MemberName::literal("Resume")).flags(Flags::NO_REPLY_EXPECTED)
}

fn method(member: MemberName<'static>) -> Builder<'static> {
    Builder::method_call(BUS_PATH, member).interface(INTERFACE).destination(BUS_NAME.into())
}

/// True if this is the name of the bus itself, to which nobody has a lane.
pub fn is_bus(name: &str) -> bool {
    name == BUS_NAME.as_str()
}

/// True if a signal of the bus opens a lane.
pub fn is_opening(signal: &Message<'_>) -> bool {
    signal.message_type() == MessageType::Signal
        && signal.member() == Some(OPENED)
        && signal.interface() == Some(INTERFACE)
        && signal.sender().is_some_and(|sender| is_bus(sender.as_str()))
}

/// The unique name of the partner in a signal that opens a lane. `None` if the signal has other
/// arguments.
pub fn opened_partner<'a>(signal: &Message<'a>) -> Option<&'a str> {
    signal.read::<OpenedArguments<'a>>().ok().map(|(partner, ..)| partner)
}

impl<'a> RequestOutcome<'a> {
    /// The outcome that the reply to a request states.
    pub fn of(reply: &Message<'a>) -> Self {
        if let Some(error) = reply.error_name() {
            return match UNSUPPORTED.contains(&error.as_str()) {
                true => Self::Unsupported,
                false => Self::Refused,
            };
        }
        match reply.read::<(bool, &str, u64)>() {
            Ok((_, partner, name_changes)) => Self::Noted { partner, name_changes },
            Err(_) => Self::Unsupported,
        }
    }
}

/// A message of a lane that is valid, and of the connection at its other end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CheckedMessage {
    /// A call that expects a reply, with its serial.
    Call(NonZeroU32),
    /// A message without a reply.
    Other,
}

impl CheckedMessage {
    /// Checks that a bus would pass a message of a lane on as it is, and that it has no descriptors.
    /// `own` is the unique name of this connection, and `partner` the one of the connection at the
    /// other end. `None` if the message is invalid.
    pub fn of(message: &Message<'_>, own: &str, partner: &str) -> Option<Self> {
        message.validate_body().ok()?;
        // A well-known name can have moved while the message was on its way.
        let is_for_own = |name: &str| name == own || !name.starts_with(':') && !is_bus(name);
        let is_passed_on = message.sender().is_some_and(|sender| sender.as_str() == partner)
            && message.destination().is_some_and(|name| is_for_own(name.as_str()))
            && !message.has_unknown_fields()
            && !matches!(message.message_type(), MessageType::Unknown(_));
        if message.unix_fds() > 0 || !is_passed_on {
            return None;
        }
        Some(match message.expects_reply() {
            true => Self::Call(message.serial()),
            false => Self::Other,
        })
    }
}

/// The errors of a bus without lanes, or whose policy forbids to ask for them.
const UNSUPPORTED: [&str; 4] = [
    "org.freedesktop.DBus.Error.UnknownMethod",
    "org.freedesktop.DBus.Error.UnknownInterface",
    "org.freedesktop.DBus.Error.UnknownObject",
    "org.freedesktop.DBus.Error.AccessDenied",
];

#[cfg(test)]
mod tests {
    use super::*;
    use wire::names::{BusName, ErrorName};

    const ONE: NonZeroU32 = NonZeroU32::MIN;

    fn bytes(message: &Builder<'_>, arguments: &impl wire::body::EncodeArgs) -> Vec<u8> {
        let mut out = Vec::new();
        message.write(&mut out, ONE, arguments).expect("it is short");
        out
    }

    #[test]
    fn a_bus_without_lanes_differs_from_one_that_refuses() {
        let outcome = |name: &'static str| {
            let message = Builder::error(ErrorName::literal(name), ONE);
            let bytes = bytes(&message, &("text",));
            let outcome = RequestOutcome::of(&Message::parse(&bytes).expect("valid"));
            outcome == RequestOutcome::Unsupported
        };
        assert!(outcome("org.freedesktop.DBus.Error.UnknownMethod"));
        assert!(!outcome("org.freedesktop.DBus.Error.NotSupported"));
    }

    #[test]
    fn only_messages_of_the_partner_to_this_connection_are_valid() {
        let of = |destination| {
            let path = ObjectPath::ROOT;
            let call = Builder::method_call(path, MemberName::literal("M"))
                .destination(BusName::new(destination).expect("a name"))
                .sender(BusName::new(":1.1").expect("a name"));
            bytes(&call, &(7_u32,))
        };
        let to_own = of(":1.9");
        let message = Message::parse(&to_own).expect("valid");
        let valid = Some(CheckedMessage::Call(ONE));
        assert_eq!(CheckedMessage::of(&message, ":1.9", ":1.1"), valid);
        assert_eq!(CheckedMessage::of(&message, ":1.9", ":1.2"), None);
        assert_eq!(CheckedMessage::of(&message, ":1.8", ":1.1"), None);
        for (name, expected) in [("com.example.Name", valid), (BUS_NAME.as_str(), None)] {
            let to_name = of(name);
            let message = Message::parse(&to_name).expect("valid");
            assert_eq!(CheckedMessage::of(&message, ":1.9", ":1.1"), expected, "{name}");
        }
    }

    #[test]
    fn messages_with_descriptors_are_invalid() {
        let name = |name| BusName::new(name).expect("a name");
        for (descriptors, is_valid) in [(0, true), (1, false)] {
            let call = Builder::method_call(ObjectPath::ROOT, MemberName::literal("M"))
                .destination(name(":1.9"))
                .sender(name(":1.1"))
                .unix_fds(descriptors);
            let bytes = bytes(&call, &());
            let message = Message::parse(&bytes).expect("valid");
            let checked = CheckedMessage::of(&message, ":1.9", ":1.1");
            assert_eq!(checked.is_some(), is_valid, "{descriptors}");
        }
    }

    #[test]
    fn messages_that_a_bus_does_not_pass_on_are_invalid() {
        let name = |name| BusName::new(name).expect("a name");
        let of = |bytes: &[u8]| {
            CheckedMessage::of(&Message::parse(bytes).expect("valid"), ":1.9", ":1.1")
        };
        let call = Builder::method_call(ObjectPath::ROOT, MemberName::literal("M"));
        assert_eq!(of(&bytes(&call.sender(name(":1.1")), &())), None, "no destination");
        let call = call.sender(name(":1.1")).destination(name(":1.9"));
        let mut bytes = bytes(&call, &());
        assert!(of(&bytes).is_some());
        bytes[1] = 9;
        assert_eq!(of(&bytes), None, "of an unknown type");
    }
}
