//! Whole messages: validation, building, and stamping.
//!
//! Errors about descriptors and configured limits are tested in `framer.rs`.

#![expect(clippy::unwrap_used, reason = "a panic in a test is its report")]

#[path = "support/notation.rs"]
mod notation;

use std::num::NonZeroU32;

use diligence_wire::Endian;
use diligence_wire::limits::STAMP_LEN_MAX;
use diligence_wire::match_rule::MatchArgument;
use diligence_wire::message::{
    Builder, FieldCode, Flags, InvalidMessage, InvalidReason, Message, MessageType, SenderField,
    WriteError,
};
use diligence_wire::names::{
    BusName, ErrorName, InterfaceName, MemberName, NameErrorKind, ObjectPath,
};
use diligence_wire::signature::SignatureErrorKind;
use notation::{ORDERS, bytes};

type HeaderVerdict = Result<(), InvalidMessage>;

/// Checks the result of validating a message, in both byte orders.
fn check(words: &str, expected: HeaderVerdict) {
    for endian in ORDERS {
        let message = bytes(endian, words);
        let found = Message::parse(&message).and_then(|message| message.validate_body());
        assert_eq!(found, expected, "{endian:?} {words}");
    }
}

/// The header of a message of this type with these fields.
fn header(kind: &str, body_len: usize, fields: &[&str]) -> String {
    let mut words = String::new();
    let mut len: usize = 0;
    for field in fields {
        words += &"00".repeat(len.next_multiple_of(8) - len);
        words += &format!(" {field} ");
        len = bytes(Endian::Little, &words).len();
    }
    let padding = "00".repeat(len.next_multiple_of(8) - len);
    format!("@ {kind} 00 01 u{body_len} u1 u{len} {words} {padding} ")
}

/// A method return with one more header field, which begins at byte 24.
fn with_field(field: &str) -> String {
    header("02", 0, &[SERIAL, field])
}

/// A method return with this body, which begins at byte 32 after a signature of one or two bytes,
/// and at byte 40 after a longer one.
fn with_body(signature: &str, body: &str) -> String {
    let field = format!("08 01 'g' 00 {:02x} '{signature}' 00", signature.len());
    header("02", bytes(Endian::Little, body).len(), &[SERIAL, &field]) + body
}

const SERIAL: &str = "05 01 'u' 00 u7";

#[test]
fn fixed_headers_are_checked() {
    let rest = format!("u0 u1 u8 {SERIAL}");
    check(&format!("@ 02 00 01 {rest}"), Ok(()));
    check(&format!("@ 02 ff 01 {rest}"), Ok(()));
    check(&format!("'x' 02 00 01 {rest}"), Err(InvalidReason::ByteOrder.at(0)));
    check(&format!("@ 00 00 01 {rest}"), Err(InvalidReason::TypeZero.at(1)));
    check(&format!("@ 02 00 02 {rest}"), Err(InvalidReason::Version.at(3)));
    check(&format!("@ 02 00 01 u0 u0 u8 {SERIAL}"), Err(InvalidReason::SerialZero.at(8)));
}

#[test]
fn message_lengths_are_checked() {
    check("", Err(InvalidReason::Truncated.at(0)));
    check("@ 02 00 01 u0 u1", Err(InvalidReason::Truncated.at(12)));
    check("@ 02 00 01 u0 u1 u8 05 01 'u' 00", Err(InvalidReason::Truncated.at(20)));
    check("@ 02 00 01 u0 u1 u8 05 01 'u' 00 u7 00", Err(InvalidReason::Surplus.at(24)));
    check("@ 02 00 01 u0 u1 u67108864", Err(InvalidReason::Truncated.at(16)));
    check("@ 02 00 01 u0 u1 u67108865", Err(InvalidReason::FieldsTooLong.at(12)));
    check("@ 02 00 01 u0 u1 u4294967295", Err(InvalidReason::FieldsTooLong.at(12)));
    check("@ 02 00 01 u134217712 u1 u0", Err(InvalidReason::Truncated.at(16)));
    check("@ 02 00 01 u134217713 u1 u0", Err(InvalidReason::TooLong.at(4)));
    check("@ 02 00 01 u4294967295 u1 u67108864", Err(InvalidReason::TooLong.at(4)));
}

#[test]
fn header_fields_are_checked() {
    use NameErrorKind::*;
    let name = |field, kind| InvalidReason::FieldName(field, kind);
    let rows = [
        ("00 01 's' 00 u0 00", InvalidReason::FieldCodeZero.at(24)),
        ("05 01 'u' 00 u7", InvalidReason::FieldDuplicate(FieldCode::ReplySerial).at(24)),
        ("01 01 's' 00 u1 '/' 00", InvalidReason::FieldType(FieldCode::Path).at(24)),
        ("08 01 's' 00 u0 00", InvalidReason::FieldType(FieldCode::Signature).at(24)),
        ("01 01 'o' 00 u1 c3 00", name(FieldCode::Path, NotAbsolute).at(32)),
        ("01 01 'o' 00 u2 '/' c3 00", name(FieldCode::Path, InvalidByte).at(33)),
        ("02 01 's' 00 u1 'a' 00", name(FieldCode::Interface, SingleElement).at(33)),
        ("03 01 's' 00 u1 '1' 00", name(FieldCode::Member, LeadingDigit).at(32)),
        ("04 01 's' 00 u2 c3a9 00", name(FieldCode::ErrorName, InvalidByte).at(32)),
        ("06 01 's' 00 u2 'a.' 00", name(FieldCode::Destination, EmptyElement).at(34)),
        ("07 01 's' 00 u0 00", name(FieldCode::Sender, Empty).at(32)),
        ("02 02 'ii' 00 u1 u2", InvalidReason::VariantNotSingle.at(25)),
        ("64 00 00", InvalidReason::VariantNotSingle.at(25)),
        ("64 01 'z' 00 00", InvalidReason::Signature(SignatureErrorKind::UnknownType).at(26)),
        ("64 01 'b' 00 u2", InvalidReason::Boolean.at(28)),
        ("09", InvalidReason::ValueTruncated.at(25)),
        ("03 01 's' 00 u1", InvalidReason::ValueTruncated.at(32)),
        ("03 01 's' 00 u1 'a'", InvalidReason::ValueTruncated.at(32)),
        ("03 01 's' 00 u4294967295 'a' 00", InvalidReason::ValueTruncated.at(32)),
        ("03 01 's' 00 u1 'ab'", InvalidReason::StringNotTerminated.at(33)),
        ("08 01 'g' 00 01 'i' 01", InvalidReason::SignatureNotTerminated.at(30)),
        ("08 01 'g' 00 01 'i' 00 00", InvalidReason::ValueTruncated.at(32)),
        ("08 01 'g' 00 01 'i' 00 01 09", InvalidReason::PaddingNotZero.at(31)),
    ];
    for (field, expected) in rows {
        check(&with_field(field), Err(expected));
    }
    let zero = header("02", 0, &["05 01 'u' 00 u0"]);
    check(&zero, Err(InvalidReason::ReplySerialZero.at(20)));
    let padding = "@ 02 00 01 u0 u1 u14 05 01 'u' 00 u7 08 01 'g' 00 00 00 00 01";
    check(padding, Err(InvalidReason::PaddingNotZero.at(31)));
}

#[test]
fn unnecessary_and_unknown_header_fields_are_allowed() {
    for field in [
        "01 01 'o' 00 u1 '/' 00",
        "06 01 's' 00 u2 ':1' 00",
        "09 01 'u' 00 u0",
        "0a 01 's' 00 u1 'x' 00",
        "ff 05 'a{sv}' 00 u0 00000000",
    ] {
        check(&with_field(field), Ok(()));
    }
}

#[test]
fn required_header_fields_depend_on_the_message_type() {
    let path = "01 01 'o' 00 u1 '/' 00";
    let interface = "02 01 's' 00 u3 'a.b' 00";
    let member = "03 01 's' 00 u1 'M' 00";
    let error = "04 01 's' 00 u3 'a.b' 00";
    let missing = |field, at| Err(InvalidReason::FieldMissing(field).at(at));
    let rows: &[(&str, &[&str], HeaderVerdict)] = &[
        ("01", &[path, member], Ok(())),
        ("01", &[member], missing(FieldCode::Path, 26)),
        ("01", &[path], missing(FieldCode::Member, 26)),
        ("02", &[SERIAL], Ok(())),
        ("02", &[path], missing(FieldCode::ReplySerial, 26)),
        ("03", &[error, SERIAL], Ok(())),
        ("03", &[SERIAL], missing(FieldCode::ErrorName, 24)),
        ("03", &[error], missing(FieldCode::ReplySerial, 28)),
        ("04", &[path, interface, member], Ok(())),
        ("04", &[path, member], missing(FieldCode::Interface, 42)),
        ("04", &[interface, member], missing(FieldCode::Path, 42)),
        ("04", &[path, interface], missing(FieldCode::Member, 44)),
        // An unknown message type requires no fields.
        ("05", &[], Ok(())),
    ];
    for &(kind, fields, expected) in rows {
        check(&header(kind, 0, fields), expected);
    }
}

#[test]
fn reserved_local_names_are_rejected() {
    let local = "'org.freedesktop.DBus.Local'";
    check(
        &with_field(&format!("02 01 's' 00 u26 {local} 00")),
        Err(InvalidReason::LocalInterface.at(32)),
    );
    let local = "'/org/freedesktop/DBus/Local'";
    check(
        &with_field(&format!("01 01 'o' 00 u27 {local} 00")),
        Err(InvalidReason::LocalPath.at(32)),
    );
    let below = "'/org/freedesktop/DBus/Local/x'";
    check(&with_field(&format!("01 01 'o' 00 u29 {below} 00")), Ok(()));
}

#[test]
fn reserved_local_names_are_not_written() {
    let write = |path, interface| {
        let path = ObjectPath::new(path).expect("valid");
        let call = Builder::method_call(path, MemberName::literal("M"));
        let call = call.interface(InterfaceName::new(interface).expect("valid"));
        call.write(&mut Vec::new(), NonZeroU32::MIN, &())
    };
    let (path, interface) = ("/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local");
    assert_eq!(write(path, "a.b"), Err(WriteError::LocalPath));
    assert_eq!(write("/", interface), Err(WriteError::LocalInterface));
    assert_eq!(write(&format!("{path}/x"), &format!("{interface}.x")), Ok(()));
}

#[test]
fn invalid_values_in_bodies_are_rejected() {
    use SignatureErrorKind as Kind;
    let rows = [
        ("y", "", InvalidReason::ValueTruncated.at(32)),
        ("x", "u1 000000", InvalidReason::ValueTruncated.at(32)),
        ("yi", "01 00 00", InvalidReason::ValueTruncated.at(33)),
        ("yi", "01 00 01 00 u7", InvalidReason::PaddingNotZero.at(34)),
        ("b", "u2", InvalidReason::Boolean.at(32)),
        ("s", "u3 'ab' 00", InvalidReason::ValueTruncated.at(36)),
        ("s", "u3 'abc'", InvalidReason::ValueTruncated.at(36)),
        ("s", "u2 'abc' 00", InvalidReason::StringNotTerminated.at(38)),
        ("s", "u3 'a' 00 'c' 00", InvalidReason::StringContainsNul.at(37)),
        ("s", "u12 'abcdefghi' 00 'kl' 00", InvalidReason::StringContainsNul.at(45)),
        ("s", "u3 'ab' ff 00", InvalidReason::StringNotUtf8.at(38)),
        ("s", "u2 c0 80 00", InvalidReason::StringNotUtf8.at(36)),
        ("s", "u3 eda080 00", InvalidReason::StringNotUtf8.at(36)),
        ("s", "u4 f4908080 00", InvalidReason::StringNotUtf8.at(36)),
        ("s", "u3 ff 00 'a' 00", InvalidReason::StringNotUtf8.at(36)),
        ("o", "u0 00", InvalidReason::ObjectPath(NameErrorKind::Empty).at(36)),
        ("o", "u3 '/a/' 00", InvalidReason::ObjectPath(NameErrorKind::TrailingSlash).at(38)),
        ("g", "02 'i' 00", InvalidReason::ValueTruncated.at(33)),
        ("g", "01 'i' 01", InvalidReason::SignatureNotTerminated.at(34)),
        ("g", "02 'ia' 00", InvalidReason::Signature(Kind::ArrayWithoutElement).at(34)),
        ("v", "00 00", InvalidReason::VariantNotSingle.at(32)),
        ("v", "02 'yy' 00 01 01", InvalidReason::VariantNotSingle.at(32)),
        ("v", "01 '(' 00 01", InvalidReason::Signature(Kind::StructNotClosed).at(33)),
        ("v", "01 'b' 00 00 u3", InvalidReason::Boolean.at(36)),
        ("ay", "u67108865", InvalidReason::ArrayTooLong.at(32)),
        ("ay", "u2 01", InvalidReason::ValueTruncated.at(32)),
        ("ai", "u5 u1 00", InvalidReason::ArrayLength.at(41)),
        ("as", "u5 u1 'a' 00", InvalidReason::ArrayLength.at(41)),
        ("ax", "u0 00 01 00 00", InvalidReason::PaddingNotZero.at(37)),
        ("ax", "u0", InvalidReason::ValueTruncated.at(36)),
        ("y", "01 02", InvalidReason::BodyTooLong.at(33)),
        ("ab", "u8 u1 u2", InvalidReason::Boolean.at(40)),
        ("(yb)", "01 000000 u2", InvalidReason::Boolean.at(44)),
        ("a{yb}", "u8 00000000 01 000000 u2", InvalidReason::Boolean.at(52)),
    ];
    for (signature, body, expected) in rows {
        check(&with_body(signature, body), Err(expected));
    }
    // Without a signature there must be no body.
    check(&(header("02", 1, &[SERIAL]) + "00"), Err(InvalidReason::BodyTooLong.at(24)));
}

#[test]
fn valid_bodies_are_accepted() {
    for (signature, body) in [
        ("", ""),
        ("ybnqi", "01 000000 u1 ffff ffff u4294967295"),
        ("s", "u0 00"),
        ("s", "u10 e282ac f09fa680 efbfbf 00"),
        ("s", "u7 'a' c3a9 'bcd' 7f 00"),
        ("g", "00 00"),
        ("ax", "u0 00000000"),
        ("a(s)", "u0 00000000"),
        ("aas", "u0"),
        ("aay", "u9 u0 u1 07"),
        ("a{sv}", "u12 00000000 u1 'k' 00 01 'n' 00 00 ffff"),
        ("v", "01 'v' 00 05 'a{sv}' 00 0000 u0"),
        ("a((y)y)", "u2 00000000 0708"),
    ] {
        check(&with_body(signature, body), Ok(()));
    }
}

#[test]
fn sixty_four_containers_may_be_nested() {
    let nested =
        |count: usize, last: &str| with_body("v", &("01 'v' 00 ".repeat(count - 1) + last));
    for (count, last) in [
        (64, "01 'y' 00 07"),
        (63, "02 'ay' 00 0000 u0"),
        (63, "02 'as' 00 0000 u0"),
        (63, "03 '(y)' 00 00 07"),
        (62, "05 'a{yv}' 00 0000 u0 00000000"),
        (61, "05 'a{yv}' 00 00 u5 01 01 'y' 00 07"),
    ] {
        check(&nested(count, last), Ok(()));
    }
    for (count, last, at) in [
        (65, "01 'y' 00 07", 192),
        (64, "02 'ay' 00 000000 u0", 196),
        (64, "03 '(y)' 00 000000000000 07", 200),
    ] {
        check(&nested(count, last), Err(InvalidReason::TooDeep.at(32 + at)));
    }
    // In a header, the array of fields, the field and its variant count as containers.
    let in_field = |variants: usize| "01 'v' 00 ".repeat(variants - 1) + "01 'y' 00 07";
    check(&with_field(&format!("64 {}", in_field(62))), Ok(()));
    let at = 24 + 1 + 62 * 3;
    check(&with_field(&format!("64 {}", in_field(63))), Err(InvalidReason::TooDeep.at(at)));
}

fn path(text: &str) -> ObjectPath<'_> {
    ObjectPath::new(text).unwrap()
}

fn member(text: &str) -> MemberName<'_> {
    MemberName::new(text).unwrap()
}

fn bus(text: &str) -> BusName<'_> {
    BusName::new(text).unwrap()
}

fn serial(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap()
}

#[test]
fn builders_write_the_expected_bytes() {
    let interface = InterfaceName::new("a.b").unwrap();
    let error = ErrorName::new("e.f").unwrap();
    let rows = [
        (
            Builder::method_call(path("/p"), member("M")),
            "@ 01 00 01 u8 u9 u39 01 01 'o' 00 u2 '/p' 00 0000000000 \
             03 01 's' 00 u1 'M' 00 000000000000 08 01 'g' 00 01 's' 00 00 u3 'abc' 00",
        ),
        (
            Builder::method_call(path("/"), member("M"))
                .interface(interface)
                .destination(bus("c.d"))
                .sender(bus(":1.2"))
                .flags(Flags::NO_AUTO_START)
                .flags(Flags::NO_REPLY_EXPECTED)
                .unix_fds(2),
            "@ 01 03 01 u8 u9 u96 01 01 'o' 00 u1 '/' 00 000000000000 \
             02 01 's' 00 u3 'a.b' 00 00000000 03 01 's' 00 u1 'M' 00 000000000000 \
             06 01 's' 00 u3 'c.d' 00 00000000 07 01 's' 00 u4 ':1.2' 00 000000 \
             08 01 'g' 00 01 's' 00 00 09 01 'u' 00 u2 u3 'abc' 00",
        ),
        (
            Builder::method_return(serial(7)),
            "@ 02 00 01 u8 u9 u15 05 01 'u' 00 u7 08 01 'g' 00 01 's' 00 00 u3 'abc' 00",
        ),
        (
            Builder::error(error, serial(7)),
            "@ 03 00 01 u8 u9 u31 04 01 's' 00 u3 'e.f' 00 00000000 05 01 'u' 00 u7 \
             08 01 'g' 00 01 's' 00 00 u3 'abc' 00",
        ),
        (
            Builder::signal(path("/"), interface, member("M")),
            "@ 04 00 01 u8 u9 u55 01 01 'o' 00 u1 '/' 00 000000000000 \
             02 01 's' 00 u3 'a.b' 00 00000000 03 01 's' 00 u1 'M' 00 000000000000 \
             08 01 'g' 00 01 's' 00 00 u3 'abc' 00",
        ),
    ];
    for (builder, words) in rows {
        for endian in ORDERS {
            // Offsets are relative to the start of the message, not of the buffer.
            let mut out = b"before".to_vec();
            builder.endian(endian).write(&mut out, serial(9), &("abc",)).unwrap();
            assert_eq!(out.split_off(6), bytes(endian, words), "{endian:?} {words}");
            assert_eq!(out, b"before");
        }
        check(words, Ok(()));
    }
}

#[test]
fn accessors_return_the_header_fields() {
    let error = ErrorName::new("e.f").unwrap();
    let builder = Builder::error(error, serial(7)).destination(bus("c.d")).unix_fds(2);
    let mut out = Vec::new();
    builder.write(&mut out, serial(9), &()).unwrap();
    let message = Message::parse(&out).unwrap();
    assert_eq!(message.message_type(), MessageType::Error);
    assert_eq!(message.endian(), Endian::NATIVE);
    assert_eq!(message.error_name(), Some(error));
    assert_eq!(message.reply_serial(), Some(serial(7)));
    assert_eq!(message.serial(), serial(9));
    assert_eq!(message.destination(), Some(bus("c.d")));
    assert_eq!(message.unix_fds(), 2);
    assert_eq!((message.path(), message.interface(), message.member()), (None, None, None));
    assert_eq!((message.sender(), message.signature().as_str()), (None, ""));
    assert_eq!([message.header_bytes(), message.body()].concat(), message.bytes());
    assert!(message.body().is_empty() && !message.expects_reply());
}

#[test]
fn only_calls_without_the_flag_expect_a_reply() {
    let call = Builder::method_call(path("/"), member("M"));
    for (builder, expected) in [
        (call, true),
        (call.flags(Flags::NO_AUTO_START), true),
        (call.flags(Flags::NO_REPLY_EXPECTED), false),
        (Builder::method_return(serial(1)), false),
    ] {
        let mut out = Vec::new();
        builder.write(&mut out, serial(1), &()).unwrap();
        assert_eq!(Message::parse(&out).unwrap().expects_reply(), expected, "{builder:?}");
    }
}

/// Stamps a message, and checks that only the sender and unknown fields changed.
fn stamped(original: &[u8], name: &str) -> Vec<u8> {
    let before = Message::parse(original).unwrap();
    let mut out = b"before".to_vec();
    before.stamp(&SenderField::new(bus(name)), &mut out);
    assert!(out.len() - 6 <= before.header_bytes().len() + STAMP_LEN_MAX);
    out.extend_from_slice(before.body());
    let out = out.split_off(6);
    let after = Message::parse(&out).unwrap();
    assert_eq!(after.sender(), Some(bus(name)));
    assert_eq!(same_fields(&before), same_fields(&after));
    assert_eq!(before.validate_body(), Ok(()));
    assert_eq!(after.validate_body(), Ok(()));
    out
}

/// The properties that a stamp does not change.
fn same_fields(message: &Message<'_>) -> impl PartialEq + std::fmt::Debug {
    let kind = (message.endian(), message.message_type(), message.flags(), message.serial());
    let names = (message.path(), message.interface(), message.member(), message.error_name());
    let rest = (message.reply_serial(), message.destination(), message.signature());
    (kind, names, rest, message.unix_fds(), message.body().to_vec())
}

#[test]
fn stamping_replaces_the_sender_and_removes_unknown_fields() {
    let sender = "07 01 's' 00 u4 ':1.2' 00";
    let forged = "07 01 's' 00 u22 'org.freedesktop.Forged' 00";
    let unknown = "64 05 'a{sv}' 00 u12 00000000 u1 'k' 00 01 'n' 00 00 ffff";
    let signature = "08 01 'g' 00 01 's' 00";
    let rows: &[(&[&str], &[&str])] = &[
        (&[SERIAL, signature], &[SERIAL, signature, sender]),
        (&[signature, SERIAL], &[signature, SERIAL, sender]),
        (&[SERIAL, sender, signature], &[SERIAL, sender, signature]),
        (&[SERIAL, forged, signature], &[SERIAL, signature, sender]),
        (&[forged, SERIAL, signature], &[SERIAL, signature, sender]),
        (&[SERIAL, unknown, signature], &[SERIAL, signature, sender]),
        (&[unknown, SERIAL, sender, signature, "ff 01 'y' 00 00"], &[SERIAL, signature, sender]),
        (&["ff 01 's' 00 u1 'x' 00", signature, SERIAL], &[signature, SERIAL, sender]),
    ];
    for endian in ORDERS {
        for (fields, expected) in rows {
            let body = "u3 'abc' 00";
            let original = bytes(endian, &(header("02", 8, fields) + body));
            let expected = bytes(endian, &(header("02", 8, expected) + body));
            assert_eq!(stamped(&original, ":1.2"), expected, "{endian:?} {fields:?}");
        }
    }
}

#[test]
fn stamping_grows_headers_at_most_by_the_limit() {
    let longest = format!(":1.{}", "9".repeat(252));
    for len in 1..=8 {
        let name = "M".repeat(len);
        let mut out = Vec::new();
        Builder::method_call(path("/"), member(&name)).write(&mut out, serial(1), &()).unwrap();
        stamped(&out, &longest);
    }
}

#[test]
fn filtered_headers_have_no_sender_or_unknown_fields() {
    let fields = [SERIAL, "07 01 's' 00 u4 ':1.2' 00", "64 01 'y' 00 07"];
    for endian in ORDERS {
        let original = bytes(endian, &header("02", 0, &fields));
        let mut out = Vec::new();
        let message = Message::parse(&original).unwrap();
        assert!(message.has_unknown_fields());
        message.copy_header_filtered(&mut out);
        assert_eq!(out, bytes(endian, &header("02", 0, &[SERIAL])));
        assert!(!Message::parse(&out).unwrap().has_unknown_fields());
    }
}

#[test]
fn sender_fields_return_the_name() {
    assert_eq!(SenderField::new(bus(":1.42")).name(), ":1.42");
}

#[test]
fn match_arguments_are_strings_paths_or_others() {
    let rows: &[(&str, &str, &[MatchArgument<'_>])] = &[
        ("", "", &[]),
        (
            "ss",
            "u1 'a' 00 0000 u1 'b' 00",
            &[MatchArgument::String("a"), MatchArgument::String("b")],
        ),
        (
            "os",
            "u2 '/x' 00 00 u1 'b' 00",
            &[MatchArgument::ObjectPath("/x"), MatchArgument::String("b")],
        ),
        ("ys", "01 000000 u1 'a' 00", &[MatchArgument::Other, MatchArgument::String("a")]),
        ("(s)s", "u1 'a' 00 0000 u1 'b' 00", &[MatchArgument::Other, MatchArgument::String("b")]),
        (
            "vs",
            "01 's' 00 00 u1 'a' 00 0000 u1 'b' 00",
            &[MatchArgument::Other, MatchArgument::String("b")],
        ),
        ("ayg", "u1 01 00 00", &[MatchArgument::Other, MatchArgument::Other]),
        // The arguments end at the first invalid value.
        ("ssb", "u1 'a' 00 0000 u9 'b' 00", &[MatchArgument::String("a")]),
        ("bs", "u2 u1 'a' 00", &[]),
    ];
    for endian in ORDERS {
        for (signature, body, expected) in rows {
            let message = bytes(endian, &with_body(signature, body));
            let args: Vec<_> = Message::parse(&message).unwrap().args().collect();
            assert_eq!(args, *expected, "{endian:?} {signature} {body}");
        }
    }
}
