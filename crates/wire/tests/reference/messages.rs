//! Comparison of messages with libdbus.

use diligence_wire::body::Value;
use diligence_wire::framer::{Frame, Framer, FramerLimits, SCRATCH_LEN_MIN};
use diligence_wire::message::{FixedHeader, Flags, InvalidMessage, Message};
use std::cell::RefCell;
use testkit::forged::Forged;
use testkit::mutated;
use testkit::random::Random;

use crate::judge::{Judge, JudgedText, ReferenceVerdict};
use crate::{ReferenceComparison, cases, deviations};

#[test]
fn messages_are_validated_and_read_like_libdbus() {
    let comparison = ReferenceComparison {
        kind: JudgedText::Message,
        count: cases(100),
        case: &message,
        ours: &|bytes: &Vec<u8>| ours(bytes),
        deviation: &|bytes, ours, theirs| deviations::message_deviation(bytes, ours, theirs),
    };
    comparison.run(&mut Judge::new());
}

/// A message, valid or almost valid.
fn message(random: &mut Random) -> Vec<u8> {
    let mut forged = Forged::valid(random);
    if random.once_in(20) {
        forged.nest(random);
    }
    let is_spoiled = random.once_in(3);
    if is_spoiled {
        forged.spoil(random);
    }
    let mut bytes = forged.bytes();
    if !random.once_in(if is_spoiled { 2 } else { 3 }) {
        mutated::message(&mut bytes, random);
        if !random.once_in(4) {
            complete(&mut bytes);
        }
    }
    bytes
}

/// Appends the missing bytes of a short message, so that more of it can be compared.
fn complete(bytes: &mut Vec<u8>) {
    let fixed = bytes.first_chunk().and_then(|start| FixedHeader::parse(start).ok());
    let len = fixed.map_or(0, |fixed| fixed.message_len());
    if len < LONG_ENOUGH {
        bytes.resize(bytes.len().max(len), 0);
    }
}

const LONG_ENOUGH: usize = 2000;

/// The verdict on the first message in a stream without descriptors.
fn ours(bytes: &[u8]) -> ReferenceVerdict {
    thread_local! {
        static SCRATCH: RefCell<Vec<u8>> = RefCell::new(vec![0; SCRATCH_LEN_MIN]);
    }
    SCRATCH.with_borrow_mut(|scratch| match first_message(bytes, scratch) {
        Ok(Some(read)) => ReferenceVerdict::Valid(read),
        Ok(None) => ReferenceVerdict::Incomplete,
        Err(invalid) => ReferenceVerdict::Invalid(format!("{:?}", invalid.reason)),
    })
}

fn first_message(bytes: &[u8], scratch: &mut [u8]) -> Result<Option<u64>, InvalidMessage> {
    let mut framer = Framer::new(FramerLimits::default());
    let count = framer.space(scratch).put(bytes);
    assert_eq!(count, bytes.len(), "there is room");
    framer.received(count);
    let bytes = match framer.next(scratch)? {
        Some(Frame::Scratch(bytes)) => bytes,
        Some(Frame::Owned(_)) => panic!("test messages are small"),
        None => return Ok(None),
    };
    let message = Message::parse(bytes)?;
    framer.claim_fds(&message)?;
    message.validate_body()?;
    Ok(Some(read(&message)))
}

/// A hash of the content of a message.
fn read(message: &Message<'_>) -> u64 {
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    hash.number(message.message_type().code().into());
    let known = Flags::NO_REPLY_EXPECTED
        .with(Flags::NO_AUTO_START)
        .with(Flags::ALLOW_INTERACTIVE_AUTHORIZATION);
    hash.number((message.flags().bits() & known.bits()).into());
    hash.number(message.serial().get().into());
    hash.number(message.reply_serial().map_or(0, |serial| serial.get().into()));
    hash.text(message.path().map(|path| path.as_str()));
    hash.text(message.interface().map(|name| name.as_str()));
    hash.text(message.member().map(|name| name.as_str()));
    hash.text(message.error_name().map(|name| name.as_str()));
    hash.text(message.destination().map(|name| name.as_str()));
    hash.text(message.sender().map(|name| name.as_str()));
    hash.text(Some(message.signature().as_str()));
    for value in Value::read_args(message).expect("the body is valid") {
        hash.value(&value);
    }
    hash.0
}

/// The hash FNV-1a, as in `judge.c`.
struct Hash(u64);

impl Hash {
    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    fn text(&mut self, text: Option<&str>) {
        match text {
            Some(text) => {
                self.bytes(text.as_bytes());
                self.bytes(&[0]);
            }
            None => self.bytes(&[0xff]),
        }
    }

    fn typed(&mut self, code: u8, number: u64) {
        self.bytes(&[code]);
        self.number(number);
    }

    fn typed_text(&mut self, code: u8, text: &str) {
        self.bytes(&[code]);
        self.text(Some(text));
    }

    fn inside<'v>(&mut self, code: u8, values: impl IntoIterator<Item = &'v Value>) {
        self.bytes(&[code]);
        values.into_iter().for_each(|value| self.value(value));
        self.bytes(b".");
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Byte(byte) => self.typed(b'y', (*byte).into()),
            Value::Boolean(yes) => self.typed(b'b', (*yes).into()),
            Value::Int16(number) => self.typed(b'n', (*number as u16).into()),
            Value::Uint16(number) => self.typed(b'q', (*number).into()),
            Value::Int32(number) => self.typed(b'i', (*number as u32).into()),
            Value::Uint32(number) => self.typed(b'u', (*number).into()),
            Value::Int64(number) => self.typed(b'x', *number as u64),
            Value::Uint64(number) => self.typed(b't', *number),
            Value::Double(number) => self.typed(b'd', number.to_bits()),
            Value::String(text) => self.typed_text(b's', text),
            Value::ObjectPath(path) => self.typed_text(b'o', path.as_str()),
            Value::Signature(signature) => self.typed_text(b'g', signature.as_str()),
            // libdbus does not expose the index of a descriptor.
            Value::UnixFd(_) => self.bytes(b"h"),
            Value::Variant(value) => self.inside(b'v', [&**value]),
            Value::Bytes(bytes) => {
                self.bytes(b"a");
                bytes.iter().for_each(|byte| self.typed(b'y', (*byte).into()));
                self.bytes(b".");
            }
            Value::Array { items, .. } => self.inside(b'a', items),
            Value::Struct(fields) => self.inside(b'r', fields),
            Value::DictEntry(entry) => self.inside(b'e', [&entry.0, &entry.1]),
        }
    }
}
