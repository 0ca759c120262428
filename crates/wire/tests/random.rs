//! Properties of all messages, tested on random ones.
//!
//! Each run uses new messages. `DILIGENCE_SEED` with the printed number repeats a run.

#![expect(clippy::unwrap_used, reason = "a panic in a test is its report")]

#[path = "support/random.rs"]
mod random;

use diligence_wire::Endian;
use diligence_wire::body::{Reader, Value, Writer};
use diligence_wire::limits::STAMP_LEN_MAX;
use diligence_wire::message::{InvalidReason, KnownHeader, Message, SenderField};
use diligence_wire::names::{
    BusName, InterfaceName, MemberName, NameError, NameErrorKind, ObjectPath, WellKnownName,
};
use diligence_wire::signature::Signature;
use random::{Messages as _, Random};
use testkit::random::rounds;

#[test]
fn written_messages_are_valid_and_round_trip() {
    let mut random = Random::from_env();
    for _ in 0..rounds(20_000) {
        let text = random.signature();
        let signature = Signature::new(&text).unwrap();
        let values = random.values(signature);
        let bytes = random.message_of(signature, &values);
        let message = Message::parse(&bytes).unwrap();
        assert_eq!(message.validate_body(), Ok(()), "{signature} {values:?}");
        assert_eq!(Value::read_args(&message), Ok(values));
    }
}

#[test]
fn accepted_messages_can_be_read_and_written_again() {
    let mut random = Random::from_env();
    let mut accepted = 0;
    let rounds = rounds(200_000);
    for _ in 0..rounds {
        let mut bytes = random.message();
        random.mutate(&mut bytes);
        if let Ok(message) = Message::parse(&bytes) {
            accepted += usize::from(reads_as_it_validates(&message));
        }
    }
    println!("{accepted} were valid");
    assert!(accepted > rounds / 20, "most mutations break the message: {accepted}");
}

#[test]
fn recognized_headers_are_valid_and_the_same_apart_from_numbers() {
    let mut random = Random::from_env();
    let (mut recognized, mut known) = (0, KnownHeader::default());
    let rounds = rounds(200_000);
    for _ in 0..rounds {
        let original = random.message();
        let message = Message::parse(&original).unwrap();
        known.set(&message);
        let mut bytes = original.clone();
        random.mutate(&mut bytes);
        let parsed = Message::parse(&bytes).ok();
        let expected = parsed.filter(|parsed| has_same_header(&message, parsed));
        let found = known.recognize(&bytes);
        let serials = expected.map(|it| (it.serial(), it.reply_serial()));
        assert_eq!(found.map(|it| (it.serial, it.reply_serial)), serials, "{message:?}");
        if let Some(parsed) = expected {
            assert_eq!(known.validate_body(&bytes), parsed.validate_body(), "{message:?}");
        }
        recognized += usize::from(found.is_some());
    }
    println!("{recognized} were recognized");
    assert!(recognized > rounds / 20, "many mutations change only the body: {recognized}");
}

/// True if two messages are the same apart from their serials and their bodies.
fn has_same_header(one: &Message<'_>, other: &Message<'_>) -> bool {
    let without_numbers = |message: &Message<'_>| {
        let mut header = message.header_bytes().to_vec();
        header[4..12].fill(0);
        let is_reply_serial = |field: &[u8]| field[..4] == [5, 1, b'u', 0];
        if let Some(place) = header[16..].chunks(8).position(is_reply_serial) {
            header[16 + 8 * place + 4..][..4].fill(0);
        }
        header
    };
    without_numbers(one) == without_numbers(other)
}

/// Checks that decoding the body agrees with validating it; returns whether it is valid.
fn reads_as_it_validates(message: &Message<'_>) -> bool {
    let verdict = message.validate_body();
    let values = Value::read_args(message);
    let args = message.args().count();
    if let Err(error) = verdict {
        // Decoding fails too, or does not reach the bytes after the last value.
        assert_eq!(values.is_ok(), error.reason == InvalidReason::BodyTooLong, "{message:?}");
        return false;
    }
    let values = values.unwrap();
    assert_eq!(args, values.len());
    let mut body = Vec::new();
    let mut writer = Writer::new(&mut body, message.endian());
    values.iter().for_each(|value| value.write(&mut writer));
    writer.finish().unwrap();
    assert_eq!(body, message.body(), "{message:?}");
    true
}

#[test]
fn stamped_messages_differ_only_in_their_sender() {
    let mut random = Random::from_env();
    let sender = SenderField::new(BusName::new(":1.42").unwrap());
    for _ in 0..rounds(100_000) {
        let mut bytes = random.message();
        random.mutate(&mut bytes);
        let Ok(before) = Message::parse(&bytes) else { continue };
        let mut stamped = Vec::new();
        before.stamp(&sender, &mut stamped);
        assert!(stamped.len() <= before.header_bytes().len() + STAMP_LEN_MAX);
        stamped.extend_from_slice(before.body());
        let after = Message::parse(&stamped).unwrap();
        assert_eq!(after.sender().map(BusName::as_str), Some(":1.42"));
        assert_eq!((before.serial(), before.signature()), (after.serial(), after.signature()));
        assert_eq!((before.member(), before.body()), (after.member(), after.body()));
    }
}

#[test]
fn readers_do_not_panic_on_unchecked_bytes() {
    let mut random = Random::from_env();
    for _ in 0..rounds(50_000) {
        let text = random.signature();
        let bytes: Vec<u8> =
            (0..random.below(64)).map(|_| random.pick(b"\0\0\0\x01\x04iav")).collect();
        for endian in [Endian::Little, Endian::Big] {
            let mut reader = Reader::new(&bytes, endian, 0);
            for kind in Signature::new(&text).unwrap().types() {
                let _ = Value::read(kind, &mut reader);
            }
        }
    }
}

/// Compares the optimized name checks with simple ones.
#[test]
fn fast_name_checks_agree_with_the_grammar() {
    let mut random = Random::from_env();
    for _ in 0..rounds(300_000) {
        let text = name_like(&mut random);
        let dotted = |text: &str, hyphen, digit| {
            text.split('.').all(|element| is_element(element, hyphen, digit))
        };
        let short = text.len() <= 255;
        let well_known = short && text.contains('.') && dotted(&text, Hyphen::Yes, Digit::Later);
        let interface = short && text.contains('.') && dotted(&text, Hyphen::No, Digit::Later);
        let unique = text.strip_prefix(':').is_some_and(|rest| {
            short && (rest.is_empty() || dotted(rest, Hyphen::Yes, Digit::First))
        });
        let member = short && is_element(&text, Hyphen::No, Digit::Later);
        let path = text == "/"
            || text.strip_prefix('/').is_some_and(|rest| {
                rest.split('/').all(|element| is_element(element, Hyphen::No, Digit::First))
            });
        check_name(&text, WellKnownName::new(&text).err(), well_known);
        check_name(&text, InterfaceName::new(&text).err(), interface);
        check_name(&text, BusName::new(&text).err(), well_known || unique);
        check_name(&text, MemberName::new(&text).err(), member);
        check_name(&text, ObjectPath::new(&text).err(), path);
    }
}

fn check_name(text: &str, error: Option<NameError>, valid: bool) {
    assert_eq!(error.is_none(), valid, "{text:?}");
    if let Some(NameError { kind, at }) = error {
        assert!(at <= text.len(), "{text:?}");
        let is_bad = kind == NameErrorKind::InvalidByte;
        assert!(!is_bad || !text.as_bytes()[at].is_ascii_alphabetic(), "{text:?} {at}");
    }
}

#[derive(Clone, Copy)]
enum Hyphen {
    Yes,
    No,
}

#[derive(Clone, Copy)]
enum Digit {
    First,
    Later,
}

fn is_element(text: &str, hyphen: Hyphen, digit: Digit) -> bool {
    let inside = |c: char| {
        c.is_ascii_alphanumeric() || c == '_' || (c == '-' && matches!(hyphen, Hyphen::Yes))
    };
    let first = |c: char| !c.is_ascii_digit() || matches!(digit, Digit::First);
    text.chars().next().is_some_and(first) && text.chars().all(inside)
}

/// A text that resembles a name: words with separators, and sometimes an invalid character.
fn name_like(random: &mut Random) -> String {
    let mut text = String::from(random.pick(&["", "", ":", "/"]));
    let separator = random.pick(&['.', '.', '/']);
    let len = if random.once_in(20) { 280 } else { 50 };
    for _ in 0..random.below(len) {
        match random.below(30) {
            0..4 => text.push(separator),
            4..6 => text.push(random.pick(&['0', '9', '-'])),
            6 if random.once_in(6) => {
                text.push(random.pick(&['@', '[', '`', '{', '^', ' ', '\0', 'é']))
            }
            _ => text.push(random.pick(&['a', 'z', 'A', 'Z', '_', 'm'])),
        }
    }
    text
}
