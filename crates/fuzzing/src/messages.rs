//! Headers, bodies and streams of messages.

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

/// One message: its header is scanned as it is parsed, it stays what it is when it is passed on, and its
/// body can be read and written if it is valid.
pub fn header(bytes: &[u8]) {
    let scan = bytes.first_chunk().and_then(|start| FixedHeader::parse(start).ok());
    let scan = scan.map(|fixed| HeaderScan::new(bytes, &fixed).each(|_| Ok(())));
    let Ok(message) = Message::parse(bytes) else { return };
    assert_eq!(scan, Some(Ok(())), "what is valid can be scanned");
    let sender = SenderField::new(BusName::new(":1.42").expect("a name"));
    let mut stamped = Vec::new();
    message.stamp(&sender, &mut stamped);
    assert!(stamped.len() <= message.header_bytes().len() + STAMP_LEN_MAX);
    stamped.extend_from_slice(message.body());
    let again = Message::parse(&stamped).expect("a message that is passed on is valid");
    assert_eq!(again.sender().map(BusName::as_str), Some(sender.name()));
    assert_eq!(
        (again.serial(), again.flags(), again.path(), again.interface(), again.member()),
        (message.serial(), message.flags(), message.path(), message.interface(), message.member()),
    );
    assert_eq!(again.validate_body().is_ok(), message.validate_body().is_ok());
    match message.validate_body() {
        Ok(()) => {
            let values = Value::read_args(&message).expect("what is valid can be read");
            assert_eq!(message.args().count(), values.len());
            assert_eq!(written(&values, message.endian()), message.body());
        }
        Err(_) => drop((Value::read_args(&message), message.args().count())),
    }
}

/// A body: a byte for the order, one for the length of the signature, the signature, and the values.
pub fn body(bytes: &[u8]) {
    let (order, rest) = split_first(bytes);
    let (len, rest) = split_first(rest);
    let endian = if order % 2 == 0 { Endian::Little } else { Endian::Big };
    let (types, body) = rest.split_at(usize::from(len).min(rest.len()));
    let Ok(types) = Signature::from_bytes(types) else { return };
    let mut reader = Reader::new(body, endian, 0);
    // Also what nobody has checked does no harm.
    let values: Result<Vec<_>, _> =
        types.types().map(|kind| Value::read(kind, &mut reader)).collect();
    if Validator::new(body, endian, 0).body(types).is_ok() {
        let values = values.expect("what is valid can be read");
        assert_eq!(reader.at(), body.len(), "it is read to its end");
        assert_eq!(written(&values, endian), body, "{types} {values:?}");
    }
}

fn written(values: &[Value], endian: Endian) -> Vec<u8> {
    let mut body = Vec::new();
    let mut writer = Writer::new(&mut body, endian);
    values.iter().for_each(|value| value.write(&mut writer));
    writer.finish().expect("what was read can be written");
    body
}

/// A stream: the first byte says in which pieces the rest comes, and that must not matter.
pub fn framer(bytes: &[u8]) {
    let (piece, stream) = split_first(bytes);
    let whole = cut(stream.chunks(SCRATCH_LEN_MIN));
    let pieces = cut(stream.chunks(usize::from(piece) + 1));
    assert_eq!(pieces, whole, "in pieces of {}", usize::from(piece) + 1);
    if let (messages, None) = &whole {
        let len: usize = messages.iter().map(Vec::len).sum();
        assert_eq!(messages.concat(), stream[..len], "no byte is lost");
    }
}

type StreamCuts = (Vec<Vec<u8>>, Option<InvalidMessage>);

/// Messages, and what was wrong with the next. Parks each time, as if others used the buffer too.
fn cut<'s>(pieces: impl Iterator<Item = &'s [u8]>) -> StreamCuts {
    let mut framer =
        Framer::new(FramerLimits { message_len_max: LEN_MAX, ..FramerLimits::default() });
    let mut scratch = vec![0; SCRATCH_LEN_MIN];
    let mut messages = Vec::new();
    for mut piece in pieces {
        while !piece.is_empty() {
            let count = framer.space(&mut scratch).put(piece);
            assert!(count > 0, "there is always room");
            framer.received(count);
            piece = &piece[count..];
            loop {
                let said = framer.has_message(&scratch);
                match framer.next(&scratch) {
                    Ok(Some(Frame::Scratch(message))) => messages.push(message.to_vec()),
                    Ok(Some(Frame::Owned(message))) => messages.push(message),
                    Ok(None) => {
                        assert!(!said, "there is more to say");
                        break;
                    }
                    Err(invalid) => return (messages, Some(invalid)),
                }
                assert!(said, "a message was announced");
            }
            framer.park(&scratch);
        }
    }
    (messages, None)
}

/// Large enough for a buffer of its own, small enough for every run.
const LEN_MAX: usize = 200_000;

/// Messages of all kinds.
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

/// The bodies of these.
pub fn bodies() -> Vec<Seed> {
    numbered(whole_messages().into_iter().map(|(_, bytes)| {
        let message = Message::parse(&bytes).expect("it is valid");
        let types = message.signature().as_bytes();
        let order = u8::from(message.endian() == Endian::Big);
        [&[order, types.len() as u8], types, message.body()].concat()
    }))
}

/// Three of them each, in pieces of several sizes.
pub fn streams() -> Vec<Seed> {
    let messages = whole_messages();
    numbered(messages.chunks(3).zip([0, 6, 63, 255]).map(|(messages, piece)| {
        let mut stream = vec![piece];
        messages.iter().for_each(|(_, bytes)| stream.extend_from_slice(bytes));
        stream
    }))
}
