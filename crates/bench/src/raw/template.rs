//! Messages that are encoded once and sent many times.

use std::num::NonZeroU32;
use std::ops::Range;

use wire::body::EncodeArgs;
use wire::endian::Endian;
use wire::message::{Builder, Flags, Message};
use wire::names::{BusName, InterfaceName, MemberName, ObjectPath, WellKnownName};

use super::RawError;

/// A message that is sent many times, with a new serial each time.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    bytes: Vec<u8>,
    serial: u32,
    body_start: usize,
}

impl Template {
    /// Creates a message with this header and body.
    pub(crate) fn new(head: Builder<'_>, body: &impl EncodeArgs) -> Result<Self, RawError> {
        let mut bytes = Vec::new();
        head.endian(Endian::NATIVE).write(&mut bytes, NonZeroU32::MIN, body)?;
        let body_start = bytes.len() - Message::parse(&bytes)?.body().len();
        Ok(Self { bytes, serial: 0, body_start })
    }

    /// Creates a call of a method of the bus.
    pub(crate) fn driver(member: &'static str, body: &impl EncodeArgs) -> Result<Self, RawError> {
        Self::of_bus("org.freedesktop.DBus", member, body)
    }

    /// Creates the call that turns a connection into a monitor of all messages.
    pub(crate) fn become_monitor() -> Result<Self, RawError> {
        let rules: [&str; 0] = [];
        let body = (rules.as_slice(), 0_u32);
        Self::of_bus("org.freedesktop.DBus.Monitoring", "BecomeMonitor", &body)
    }

    /// Creates the call that replaces the program of our bus.
    pub(crate) fn reexecute() -> Result<Self, RawError> {
        Self::of_bus("org.diligence.Daemon1", "Reexecute", &())
    }

    fn of_bus(
        interface: &'static str,
        member: &'static str,
        body: &impl EncodeArgs,
    ) -> Result<Self, RawError> {
        let path = ObjectPath::literal("/org/freedesktop/DBus");
        let head = Builder::method_call(path, MemberName::literal(member));
        let bus = WellKnownName::literal("org.freedesktop.DBus").into();
        Self::new(head.interface(InterfaceName::literal(interface)).destination(bus), body)
    }

    /// Creates a call of a method of the workload, with a destination if there is a bus.
    pub(crate) fn call(
        destination: Option<BusName<'_>>,
        member: MemberName<'static>,
        body: &impl EncodeArgs,
    ) -> Result<Self, RawError> {
        let head = Builder::method_call(path(), member).interface(interface());
        Self::new(addressed(head, destination), body)
    }

    /// Creates a signal of the workload, broadcast or unicast.
    pub(crate) fn signal(
        destination: Option<BusName<'_>>,
        body: &impl EncodeArgs,
    ) -> Result<Self, RawError> {
        let head = Builder::signal(path(), interface(), member());
        Self::new(addressed(head, destination), body)
    }

    /// Creates a reply without arguments to the sender of `call`.
    pub(crate) fn empty_reply(call: &[u8]) -> Result<Self, RawError> {
        let call = Message::parse(call)?;
        let head = Builder::method_return(call.serial()).flags(Flags::NO_REPLY_EXPECTED);
        Self::new(addressed(head, call.sender()), &())
    }

    /// Creates a reply with the body of `call` to its sender.
    pub(crate) fn same_reply(call: &[u8]) -> Result<Self, RawError> {
        let call = Message::parse(call)?;
        if call.endian() != Endian::NATIVE {
            return Err(RawError::Unexpected("a call in another byte order"));
        }
        let head = Builder::method_return(call.serial()).flags(Flags::NO_REPLY_EXPECTED);
        let head = addressed(head, call.sender());
        let mut bytes = Vec::new();
        // Copies the encoded body without decoding it.
        head.write_with(&mut bytes, NonZeroU32::MIN, call.signature(), |_| ())?;
        let body_start = bytes.len();
        let body_len = u32::try_from(call.body().len()).expect("a message has at most 128 MiB");
        bytes[BODY_LEN..BODY_LEN + 4].copy_from_slice(&body_len.to_ne_bytes());
        bytes.extend_from_slice(call.body());
        Ok(Self { bytes, serial: 0, body_start })
    }

    /// Sets the next serial, and returns it.
    pub(crate) fn next_serial(&mut self) -> u32 {
        self.serial = self.serial.wrapping_add(1).max(1);
        self.bytes[SERIAL..SERIAL + 4].copy_from_slice(&self.serial.to_ne_bytes());
        self.serial
    }

    /// The current serial of the message.
    pub(crate) const fn serial(&self) -> u32 {
        self.serial
    }

    /// Sets the serial after which [`next_serial`](Self::next_serial) continues.
    pub(crate) const fn continue_from(&mut self, serial: u32) {
        self.serial = serial;
    }

    /// Sets the reply serial to `call`, in the byte order of this machine.
    pub(crate) fn answer(&mut self, call: [u8; 4]) {
        self.bytes[REPLY_SERIAL..REPLY_SERIAL + 4].copy_from_slice(&call);
    }

    /// Writes the time into the first argument, which must be a UINT64.
    pub(crate) fn stamp(&mut self, nanoseconds: u64) {
        let place = self.body_start..self.body_start + 8;
        self.bytes[place].copy_from_slice(&nanoseconds.to_ne_bytes());
    }

    /// Returns the first position of a text in the message.
    pub(crate) fn find(&self, text: &str) -> Option<Range<usize>> {
        let mut places = self.bytes.windows(text.len());
        let start = places.position(|place| place == text.as_bytes())?;
        Some(start..start + text.len())
    }

    /// Replaces the text at `place` by another of the same length.
    pub(crate) fn put(&mut self, place: Range<usize>, text: &[u8]) {
        self.bytes[place].copy_from_slice(text);
    }

    /// Returns the encoded message.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Returns the bytes of the serial of a message from this machine.
pub(crate) fn serial_bytes(message: &[u8]) -> [u8; 4] {
    [message[SERIAL], message[SERIAL + 1], message[SERIAL + 2], message[SERIAL + 3]]
}

pub(crate) const fn path() -> ObjectPath<'static> {
    ObjectPath::literal("/org/diligence/Bench")
}

pub(crate) const fn interface() -> InterfaceName<'static> {
    InterfaceName::literal("org.diligence.Bench1")
}

/// Returns the match rule for the signal of all workloads.
pub(crate) fn sample_rule() -> String {
    format!("type='signal',interface='{}'", interface())
}

/// The method that returns its argument, a string, as in the library programs.
pub(crate) const fn echo_member() -> MemberName<'static> {
    MemberName::literal("Echo")
}

/// The name of the other method, and of the signal, of all workloads.
pub(crate) const fn member() -> MemberName<'static> {
    MemberName::literal("Sample")
}

fn addressed<'a>(head: Builder<'a>, destination: Option<BusName<'a>>) -> Builder<'a> {
    match destination {
        Some(name) => head.destination(name),
        None => head,
    }
}

/// The offset of the body length in a message.
const BODY_LEN: usize = 4;

/// The offset of the serial in a message.
const SERIAL: usize = 8;

/// The offset of the reply serial in a reply from this module: it is the first header field, after
/// its code and signature.
const REPLY_SERIAL: usize = 16 + 4;
