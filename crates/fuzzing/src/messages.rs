//! Fuzzing targets for headers, bodies and streams of messages.

use testkit::forged::Forged;
use testkit::random::Random;
use wire::body::{Reader, Validator, Value, Writer};
use wire::framer::{Frame, Framer, FramerLimits, SCRATCH_LEN_MIN};
use wire::limits::STAMP_LEN_MAX;
use wire::message::{FixedHeader, HeaderScan, InvalidMessage, SenderField};
use wire::names::BusName;
use wire::signature::Signature;
use wire::{Endian, Message};

use crate::seed::{Seed, numbered, split_first};

/// Parses a message. A valid header can be scanned and stamped, and a valid body can be read and
/// written.
pub fn header(bytes: &[u8]) {
    let scan = bytes.first_chunk().and_then(|start| FixedHeader::parse(start).ok());
    let scan = scan.map(|fixed| HeaderScan::new(bytes, &fixed).each(|_| Ok(())));
    let Ok(message) = Message::parse(bytes) else { return };
    assert_eq!(scan, Some(Ok(())), "a valid header can be scanned");
    let sender = SenderField::new(BusName::new(":1.42").expect("a name"));
    let mut stamped = Vec::new();
    message.stamp(&sender, &mut stamped);
    assert!(stamped.len() <= message.header_bytes().len() + STAMP_LEN_MAX);
    stamped.extend_from_slice(message.body());
    let again = Message::parse(&stamped).expect("a stamped message is valid");
    assert_eq!(again.sender().map(BusName::as_str), Some(sender.name()));
    assert_eq!(
        (again.serial(), again.flags(), again.path(), again.interface(), again.member()),
        (message.serial(), message.flags(), message.path(), message.interface(), message.member()),
    );
    assert_eq!(again.validate_body().is_ok(), message.validate_body().is_ok());
    match message.validate_body() {
        Ok(()) => {
            let values = Value::read_args(&message).expect("a valid body can be read");
            assert_eq!(message.args().count(), values.len());
            assert_eq!(written(&values, message.endian()), message.body());
        }
        Err(_) => drop((Value::read_args(&message), message.args().count())),
    }
}

/// Validates and reads a body. The input is a byte for the byte order, a byte for the length of the
/// signature, the signature, and the values.
pub fn body(bytes: &[u8]) {
    let (order, rest) = split_first(bytes);
    let (len, rest) = split_first(rest);
    let endian = if order % 2 == 0 { Endian::Little } else { Endian::Big };
    let (types, body) = rest.split_at(usize::from(len).min(rest.len()));
    let Ok(types) = Signature::from_bytes(types) else { return };
    let mut reader = Reader::new(body, endian, 0);
    // Reading an unvalidated body must not panic.
    let values: Result<Vec<_>, _> =
        types.types().map(|kind| Value::read(kind, &mut reader)).collect();
    if Validator::new(body, endian, 0).body(types).is_ok() {
        let values = values.expect("a valid body can be read");
        assert_eq!(reader.at(), body.len(), "the reader reaches the end");
        assert_eq!(written(&values, endian), body, "{types} {values:?}");
    }
}

fn written(values: &[Value], endian: Endian) -> Vec<u8> {
    let mut body = Vec::new();
    let mut writer = Writer::new(&mut body, endian);
    values.iter().for_each(|value| value.write(&mut writer));
    writer.finish().expect("values that were read can be written");
    body
}

/// Splits a stream. The first byte selects the size of the pieces, which must not change the
/// result.
pub fn framer(bytes: &[u8]) {
    let (piece, stream) = split_first(bytes);
    let whole = split_messages(stream.chunks(SCRATCH_LEN_MIN));
    let pieces = split_messages(stream.chunks(usize::from(piece) + 1));
    assert_eq!(pieces, whole, "in pieces of {} bytes", usize::from(piece) + 1);
    if let (messages, None) = &whole {
        let len: usize = messages.iter().map(Vec::len).sum();
        assert_eq!(messages.concat(), stream[..len], "no byte is lost");
    }
}

type SplitStream = (Vec<Vec<u8>>, Option<InvalidMessage>);

/// The messages in a stream, and the error that ends it. Parks after each piece, as with a shared
/// buffer.
fn split_messages<'s>(pieces: impl Iterator<Item = &'s [u8]>) -> SplitStream {
    let mut framer =
        Framer::new(FramerLimits { message_len_max: LEN_MAX, ..FramerLimits::default() });
    let mut scratch = vec![0; SCRATCH_LEN_MIN];
    let mut messages = Vec::new();
    for mut piece in pieces {
        while !piece.is_empty() {
            let count = framer.space(&mut scratch).put(piece);
            assert!(count > 0, "there is always space");
            framer.received(count);
            piece = &piece[count..];
            loop {
                let announced = framer.has_message(&scratch);
                match framer.next(&scratch) {
                    Ok(Some(Frame::Scratch(message))) => messages.push(message.to_vec()),
                    Ok(Some(Frame::Owned(message))) => messages.push(message),
                    Ok(None) => {
                        assert!(!announced, "the announced message is missing");
                        break;
                    }
                    Err(invalid) => return (messages, Some(invalid)),
                }
                assert!(announced, "has_message missed a message");
            }
            framer.park(&scratch);
        }
    }
    (messages, None)
}

/// Large enough for messages with their own buffer, but small enough to be fast.
const LEN_MAX: usize = 200_000;

/// Seeds with messages of all kinds.
pub fn whole_messages() -> Vec<Seed> {
    numbered((0..12_u8).map(|number| {
        let mut random = Random::from_seed(number.into());
        let mut forged = Forged::valid(&mut random);
        if number >= 10 {
            forged.nest(&mut random);
        }
        forged.bytes()
    }))
}

/// Seeds with the bodies of these messages.
pub fn bodies() -> Vec<Seed> {
    numbered(whole_messages().into_iter().map(|(_, bytes)| {
        let message = Message::parse(&bytes).expect("a valid message");
        let types = message.signature().as_bytes();
        let order = u8::from(message.endian() == Endian::Big);
        [&[order, types.len() as u8], types, message.body()].concat()
    }))
}

/// Seeds with three of these messages each, in pieces of several sizes.
pub fn streams() -> Vec<Seed> {
    let messages = whole_messages();
    numbered(messages.chunks(3).zip([0, 6, 63, 255]).map(|(messages, piece)| {
        let mut stream = vec![piece];
        messages.iter().for_each(|(_, bytes)| stream.extend_from_slice(bytes));
        stream
    }))
}
