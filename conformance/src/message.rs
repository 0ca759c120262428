//! Messages: encoding and decoding of header fields and body.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use crate::wire::{PlainValue, ValueReader, ValueWriter, WireByteOrder, signature_of};

/// The codes of header fields.
pub mod field {
    #![expect(missing_docs, reason = "the names are in the specification")]
    pub const PATH: u8 = 1;
    pub const INTERFACE: u8 = 2;
    pub const MEMBER: u8 = 3;
    pub const ERROR_NAME: u8 = 4;
    pub const REPLY_SERIAL: u8 = 5;
    pub const DESTINATION: u8 = 6;
    pub const SENDER: u8 = 7;
    pub const SIGNATURE: u8 = 8;
    pub const UNIX_FDS: u8 = 9;
}

/// The types of messages.
pub mod kind {
    #![expect(missing_docs, reason = "the names are in the specification")]
    pub const CALL: u8 = 1;
    pub const RETURN: u8 = 2;
    pub const ERROR: u8 = 3;
    pub const SIGNAL: u8 = 4;
}

/// The flags of messages.
pub mod flag {
    #![expect(missing_docs, reason = "the names are in the specification")]
    pub const NO_REPLY_EXPECTED: u8 = 1;
    pub const NO_AUTO_START: u8 = 2;
}

/// The name of the bus driver.
pub const BUS_NAME: &str = "org.freedesktop.DBus";
/// The object path of the bus driver.
pub const BUS_PATH: &str = "/org/freedesktop/DBus";

/// A message, valid or not.
#[derive(Debug, Clone)]
pub struct PlainMessage {
    /// Byte order of header and body.
    pub order: WireByteOrder,
    /// Message type, see [`kind`].
    pub kind: u8,
    /// Message flags, see [`flag`].
    pub flags: u8,
    /// Serial; 0 until a [`TestPeer`](crate::TestPeer) sends the message and sets it.
    pub serial: u32,
    /// Header fields in their order, without [`field::SIGNATURE`], which is computed from the body.
    pub fields: Vec<(u8, PlainValue)>,
    /// The arguments of the message.
    pub body: Vec<PlainValue>,
    /// Descriptors that arrived with the message.
    pub descriptors: Vec<Arc<OwnedFd>>,
}

impl PlainMessage {
    /// A message of a type, without header fields.
    #[must_use]
    pub fn new(kind: u8) -> Self {
        Self {
            order: WireByteOrder::Little,
            kind,
            flags: 0,
            serial: 0,
            fields: Vec::new(),
            body: Vec::new(),
            descriptors: Vec::new(),
        }
    }

    /// A method call with all usual fields.
    #[must_use]
    pub fn call(destination: &str, path: &str, interface: &str, member: &str) -> Self {
        Self::new(kind::CALL)
            .field(field::PATH, PlainValue::Path(path.to_owned()))
            .text(field::DESTINATION, destination)
            .text(field::INTERFACE, interface)
            .text(field::MEMBER, member)
    }

    /// A call of a method of the driver's interface.
    #[must_use]
    pub fn to_bus(member: &str) -> Self {
        Self::call(BUS_NAME, BUS_PATH, BUS_NAME, member)
    }

    /// A call of a method of the driver with one string argument.
    #[must_use]
    pub fn asking(member: &str, argument: &str) -> Self {
        Self::to_bus(member).arg(PlainValue::text(argument))
    }

    /// A call for tests in which its content does not matter.
    #[must_use]
    pub fn some_call(destination: &str) -> Self {
        Self::call(destination, "/com/example/Object", "com.example.I", "Method")
    }

    /// A broadcast signal for tests in which its content does not matter.
    #[must_use]
    pub fn some_signal() -> Self {
        Self::signal("/com/example/Object", "com.example.I", "Signal")
    }

    /// A broadcast signal with all usual fields.
    #[must_use]
    pub fn signal(path: &str, interface: &str, member: &str) -> Self {
        Self::new(kind::SIGNAL)
            .field(field::PATH, PlainValue::Path(path.to_owned()))
            .text(field::INTERFACE, interface)
            .text(field::MEMBER, member)
    }

    /// The method return for a call.
    #[must_use]
    pub fn reply(call: &Self) -> Self {
        Self::new(kind::RETURN)
            .field(field::REPLY_SERIAL, PlainValue::U32(call.serial))
            .text(field::DESTINATION, call.sender())
    }

    /// The error reply for a call.
    #[must_use]
    pub fn error(call: &Self, name: &str) -> Self {
        let mut error = Self::reply(call).text(field::ERROR_NAME, name);
        error.kind = kind::ERROR;
        error
    }

    /// Sets a header field, at its place if it exists.
    #[must_use]
    pub fn field(mut self, code: u8, value: PlainValue) -> Self {
        match self.fields.iter_mut().find(|(found, _)| *found == code) {
            Some((_, old)) => *old = value,
            None => self.fields.push((code, value)),
        }
        self
    }

    /// Sets a header field of type string.
    #[must_use]
    pub fn text(self, code: u8, text: &str) -> Self {
        self.field(code, PlainValue::text(text))
    }

    /// Removes a header field, if it exists.
    #[must_use]
    pub fn without(mut self, code: u8) -> Self {
        self.fields.retain(|(found, _)| *found != code);
        self
    }

    /// Adds an argument to the body.
    #[must_use]
    pub fn arg(mut self, value: PlainValue) -> Self {
        self.body.push(value);
        self
    }

    /// Sets the flags byte.
    #[must_use]
    pub fn flags(mut self, flags: u8) -> Self {
        self.flags |= flags;
        self
    }

    /// Sets the byte order.
    #[must_use]
    pub fn order(mut self, order: WireByteOrder) -> Self {
        self.order = order;
        self
    }

    /// The value of a header field.
    #[must_use]
    pub fn get(&self, code: u8) -> Option<&PlainValue> {
        self.fields.iter().find(|(found, _)| *found == code).map(|(_, value)| value)
    }

    /// The value of SENDER, or an empty string.
    #[must_use]
    pub fn sender(&self) -> &str {
        self.get_text(field::SENDER)
    }

    /// The value of MEMBER, or an empty string.
    #[must_use]
    pub fn member(&self) -> &str {
        self.get_text(field::MEMBER)
    }

    /// The name of the error without `org.freedesktop.DBus.Error.`, or an empty string.
    #[must_use]
    pub fn error_name(&self) -> &str {
        let name = self.get_text(field::ERROR_NAME);
        name.strip_prefix("org.freedesktop.DBus.Error.").unwrap_or(name)
    }

    /// The serial of the call that this message replies to.
    #[must_use]
    pub fn reply_serial(&self) -> Option<u32> {
        self.get(field::REPLY_SERIAL).and_then(PlainValue::as_u32)
    }

    /// The first argument if it is a string, or an empty string.
    #[must_use]
    pub fn first_text(&self) -> &str {
        self.body.first().and_then(PlainValue::as_str).unwrap_or_default()
    }

    /// The first argument, if it is a `u`.
    #[must_use]
    pub fn first_u32(&self) -> Option<u32> {
        self.body.first().and_then(PlainValue::as_u32)
    }

    /// The main facts about the message in one line, for failures.
    #[must_use]
    pub fn summary(&self) -> String {
        match self.kind {
            kind::ERROR => format!("error {}: {}", self.error_name(), self.first_text()),
            kind::RETURN => format!("return {:?}", self.body),
            kind::CALL => format!("call {}", self.member()),
            kind::SIGNAL => format!("signal {} {:?}", self.member(), self.body),
            other => format!("type {other}"),
        }
    }

    /// The bytes of the message.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut body = ValueWriter::new(self.order);
        body.values(&self.body);
        self.encode_with_body(&body.finish())
    }

    /// The bytes of the message with this body instead of its arguments. The signature comes from
    /// the arguments, or from an explicitly set field if there are none.
    #[must_use]
    pub fn encode_with_body(&self, body: &[u8]) -> Vec<u8> {
        let mut message = self.encode_header(body.len());
        message.extend(body);
        message
    }

    /// Decodes one message at the start of `bytes`; `None` while it is incomplete.
    ///
    /// # Panics
    ///
    /// If the specification does not allow a bus to send these bytes.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<(Self, usize)> {
        let fixed = bytes.get(..FIXED_HEADER)?;
        let order = match fixed[0] {
            b'l' => WireByteOrder::Little,
            b'B' => WireByteOrder::Big,
            other => panic!("byte order mark {other}"),
        };
        let body_length = u32_at(bytes, 4, order) as usize;
        let header = (FIXED_HEADER + u32_at(bytes, 12, order) as usize).next_multiple_of(8);
        let whole = bytes.get(..header + body_length)?;
        let mut message = Self::decode_header(&whole[..header], order);
        let signature = message.get_text(field::SIGNATURE).to_owned();
        let mut reader = ValueReader::new(&whole[header..], order);
        message.body = reader.values(&signature);
        assert_eq!(reader.position(), body_length, "bytes after the body");
        Some((message, whole.len()))
    }

    fn get_text(&self, code: u8) -> &str {
        self.get(code).and_then(PlainValue::as_str).unwrap_or_default()
    }

    fn encode_header(&self, body_length: usize) -> Vec<u8> {
        let mut fields = self.fields.clone();
        if !self.body.is_empty() {
            let signature = PlainValue::Signature(signature_of(&self.body));
            fields.push((field::SIGNATURE, signature));
        }
        let as_struct = |(code, value)| {
            PlainValue::Struct(vec![PlainValue::Byte(code), PlainValue::variant(value)])
        };
        let mut header = ValueWriter::new(self.order);
        header.value(&PlainValue::Byte(if self.order == WireByteOrder::Little {
            b'l'
        } else {
            b'B'
        }));
        header.value(&PlainValue::Byte(self.kind));
        header.value(&PlainValue::Byte(self.flags));
        header.value(&PlainValue::Byte(PROTOCOL_VERSION));
        header.value(&PlainValue::U32(u32::try_from(body_length).expect("a body below 4 GiB")));
        header.value(&PlainValue::U32(self.serial));
        header
            .value(&PlainValue::Array("(yv)".into(), fields.into_iter().map(as_struct).collect()));
        header.align(8);
        header.finish()
    }

    fn decode_header(bytes: &[u8], order: WireByteOrder) -> Self {
        let mut reader = ValueReader::new(bytes, order);
        let values = reader.values("yyyyuua(yv)");
        reader.align(8);
        let [
            _,
            PlainValue::Byte(kind),
            PlainValue::Byte(flags),
            _,
            _,
            PlainValue::U32(serial),
            fields,
        ] = &values[..]
        else {
            panic!("the header is {values:?}");
        };
        let mut message = Self::new(*kind).order(order).flags(*flags);
        message.serial = *serial;
        message.fields = fields.elements().unwrap_or_default().iter().map(open_field).collect();
        message
    }
}

fn open_field(value: &PlainValue) -> (u8, PlainValue) {
    match value {
        PlainValue::Struct(pair) => match &pair[..] {
            [PlainValue::Byte(code), PlainValue::Variant(value)] => (*code, (**value).clone()),
            other => panic!("the header field {other:?}"),
        },
        other => panic!("the header field {other:?}"),
    }
}

fn u32_at(bytes: &[u8], at: usize, order: WireByteOrder) -> u32 {
    let four: [u8; 4] = bytes[at..at + 4].try_into().expect("four bytes are four");
    match order {
        WireByteOrder::Little => u32::from_le_bytes(four),
        WireByteOrder::Big => u32::from_be_bytes(four),
    }
}

/// The size of the header up to the length of the field array, inclusive.
const FIXED_HEADER: usize = 16;
const PROTOCOL_VERSION: u8 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_survives_the_round_trip() {
        for order in [WireByteOrder::Little, WireByteOrder::Big] {
            let mut sent = PlainMessage::to_bus("RequestName")
                .arg(PlainValue::text("com.example"))
                .arg(PlainValue::U32(4))
                .order(order);
            sent.serial = 7;
            let bytes = sent.encode();
            let (read, length) = PlainMessage::decode(&bytes).expect("it is complete");
            assert_eq!(length, bytes.len());
            assert_eq!((read.order, read.serial, read.member()), (order, 7, "RequestName"));
            assert_eq!(read.body, sent.body);
            assert!(PlainMessage::decode(&bytes[..length - 1]).is_none());
        }
    }
}
