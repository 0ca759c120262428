//! Messages that are written once and sent many times.

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
    /// A message with this head and body.
    pub(crate) fn new(head: Builder<'_>, body: &impl EncodeArgs) -> Result<Self, RawError> {
        let mut bytes = Vec::new();
        head.endian(Endian::NATIVE).write(&mut bytes, NonZeroU32::MIN, body)?;
        let body_start = bytes.len() - Message::parse(&bytes)?.body().len();
        Ok(Self { bytes, serial: 0, body_start })
    }

    /// A call of a method of the bus.
    pub(crate) fn driver(member: &'static str, body: &impl EncodeArgs) -> Result<Self, RawError> {
        Self::of_bus("org.freedesktop.DBus", member, body)
    }

    /// The call by which a connection becomes a monitor of everything.
    pub(crate) fn become_monitor() -> Result<Self, RawError> {
        let rules: [&str; 0] = [];
        let body = (rules.as_slice(), 0_u32);
        Self::of_bus("org.freedesktop.DBus.Monitoring", "BecomeMonitor", &body)
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

    /// A call of a method of the workload, with a destination if there is a bus.
    pub(crate) fn call(
        destination: Option<BusName<'_>>,
        member: MemberName<'static>,
        body: &impl EncodeArgs,
    ) -> Result<Self, RawError> {
        let head = Builder::method_call(path(), member).interface(interface());
        Self::new(addressed(head, destination), body)
    }

    /// A signal of the workload, to all or to one.
    pub(crate) fn signal(
        destination: Option<BusName<'_>>,
        body: &impl EncodeArgs,
    ) -> Result<Self, RawError> {
        let head = Builder::signal(path(), interface(), member());
        Self::new(addressed(head, destination), body)
    }

    /// A reply without results to the sender of `call`.
    pub(crate) fn empty_reply(call: &[u8]) -> Result<Self, RawError> {
        let call = Message::parse(call)?;
        let head = Builder::method_return(call.serial()).flags(Flags::NO_REPLY_EXPECTED);
        Self::new(addressed(head, call.sender()), &())
    }

    /// A reply with the body of `call` to its sender.
    pub(crate) fn same_reply(call: &[u8]) -> Result<Self, RawError> {
        let call = Message::parse(call)?;
        if call.endian() != Endian::NATIVE {
            return Err(RawError::Unexpected("a call in another byte order"));
        }
        let head = Builder::method_return(call.serial()).flags(Flags::NO_REPLY_EXPECTED);
        let head = addressed(head, call.sender());
        let mut bytes = Vec::new();
        // As it is, without a look at what it means.
        head.write_with(&mut bytes, NonZeroU32::MIN, call.signature(), |_| ())?;
        let body_start = bytes.len();
        let body_len = u32::try_from(call.body().len()).expect("a message has at most 128 MiB");
        bytes[BODY_LEN..BODY_LEN + 4].copy_from_slice(&body_len.to_ne_bytes());
        bytes.extend_from_slice(call.body());
        Ok(Self { bytes, serial: 0, body_start })
    }

    /// Puts the next serial in, and returns it.
    pub(crate) fn next_serial(&mut self) -> u32 {
        self.serial = self.serial.wrapping_add(1).max(1);
        self.bytes[SERIAL..SERIAL + 4].copy_from_slice(&self.serial.to_ne_bytes());
        self.serial
    }

    /// The serial that was put in last.
    pub(crate) const fn serial(&self) -> u32 {
        self.serial
    }

    /// Has the next serial be the one behind this.
    pub(crate) const fn continue_from(&mut self, serial: u32) {
        self.serial = serial;
    }

    /// Makes a reply one to the call with the serial `call`, in the byte order of this machine.
    pub(crate) fn answer(&mut self, call: [u8; 4]) {
        self.bytes[REPLY_SERIAL..REPLY_SERIAL + 4].copy_from_slice(&call);
    }

    /// Writes the time into the first argument, which is to be a UINT64.
    pub(crate) fn stamp(&mut self, nanoseconds: u64) {
        let place = self.body_start..self.body_start + 8;
        self.bytes[place].copy_from_slice(&nanoseconds.to_ne_bytes());
    }

    /// Where a text stands first in the message.
    pub(crate) fn find(&self, text: &str) -> Option<Range<usize>> {
        let mut places = self.bytes.windows(text.len());
        let start = places.position(|place| place == text.as_bytes())?;
        Some(start..start + text.len())
    }

    /// Puts another text there, which is as long.
    pub(crate) fn put(&mut self, place: Range<usize>, text: &[u8]) {
        self.bytes[place].copy_from_slice(text);
    }

    /// The message as it is now.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The serial of a message from this machine, as its bytes stand.
pub(crate) fn serial_bytes(message: &[u8]) -> [u8; 4] {
    [message[SERIAL], message[SERIAL + 1], message[SERIAL + 2], message[SERIAL + 3]]
}

pub(crate) const fn path() -> ObjectPath<'static> {
    ObjectPath::literal("/org/diligence/Bench")
}

pub(crate) const fn interface() -> InterfaceName<'static> {
    InterfaceName::literal("org.diligence.Bench1")
}

/// The match rule for the signal of all workloads.
pub(crate) fn sample_rule() -> String {
    format!("type='signal',interface='{}'", interface())
}

/// The method that returns its argument, a string; as the programs of libraries have it.
pub(crate) const fn echo_member() -> MemberName<'static> {
    MemberName::literal("Echo")
}

/// The other method, and the signal, of all workloads.
pub(crate) const fn member() -> MemberName<'static> {
    MemberName::literal("Sample")
}

fn addressed<'a>(head: Builder<'a>, destination: Option<BusName<'a>>) -> Builder<'a> {
    match destination {
        Some(name) => head.destination(name),
        None => head,
    }
}

/// Where the length of the body stands in a message.
const BODY_LEN: usize = 4;

/// Where the serial stands in a message.
const SERIAL: usize = 8;

/// Where the serial of the call stands in a reply that was written here: it is the first field,
/// behind its code and signature.
const REPLY_SERIAL: usize = 16 + 4;
