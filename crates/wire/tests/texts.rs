//! The text of each error.

use std::fmt::Display;

use diligence_wire::address::{Address, AddressErrorKind, AddressList};
use diligence_wire::body::ReadError;
use diligence_wire::guid::{Guid, GuidError};
use diligence_wire::hex::HexError;
use diligence_wire::match_rule::MatchRuleErrorKind;
use diligence_wire::message::{Flags, InvalidReason, WriteError};
use diligence_wire::sasl::client;
use diligence_wire::sasl::cookie::{Cookie, CookieError};
use diligence_wire::sasl::line::{ClientLine, LineError};
use diligence_wire::sasl::server::Violation;
use diligence_wire::signature::SignatureErrorKind;

fn check(rows: &[(&dyn Display, &str)]) {
    for (error, text) in rows {
        assert_eq!(error.to_string(), *text);
    }
}

#[test]
fn address_error_texts() {
    use AddressErrorKind::*;
    check(&[
        (&Empty, "the address is empty"),
        (&EmptyEntry, "an entry between ';' is empty"),
        (&MissingColon, "the transport's name must be followed by ':'"),
        (&EmptyTransport, "the name of the transport is missing before ':'"),
        (&MissingEquals, "the key must be followed by '=' and a value"),
        (&EmptyKey, "the key is missing before '='"),
        (&EmptyValue, "the value is missing after '='"),
        (&DuplicateKey, "the key is given twice"),
        (&BadEscape, "'%' must be followed by two hexadecimal digits"),
        (&UnescapedByte(b' '), "the byte ' ' must be written as %20"),
        (&MissingKey("port"), "the transport needs the key \"port\""),
        (
            &NoUnixKey,
            "\"unix\" needs one of \"path\", \"abstract\", \"dir\", \"tmpdir\" and \"runtime\"",
        ),
        (
            &SeveralUnixKeys,
            "\"unix\" takes only one of \"path\", \"abstract\", \"dir\", \"tmpdir\" and \"runtime\"",
        ),
        (&RuntimeNotYes, "the only value of \"runtime\" is \"yes\""),
        (&NulInPath, "a path cannot have a NUL byte"),
        (&NotUtf8, "the name of a host must be UTF-8"),
        (&InvalidPort, "the port must be a number from 0 to 65535"),
        (&InvalidFamily, "the family must be \"ipv4\" or \"ipv6\""),
        (
            &InvalidGuid(GuidError::WrongLength { len: 3 }),
            "a GUID has 32 hexadecimal digits, not 3",
        ),
    ]);
    let error = "unix:path".parse::<Address>().expect_err("no value");
    assert_eq!(error.to_string(), "the key must be followed by '=' and a value (at byte 9)");
    let error = "unix:path=/x;;unix:path=/y".parse::<AddressList>().expect_err("an empty entry");
    assert_eq!(error.to_string(), "an entry between ';' is empty (at byte 13)");
}

#[test]
fn message_error_texts() {
    let surplus = InvalidReason::Surplus.at(7);
    check(&[
        (&InvalidReason::Truncated, "the message is shorter than its header says"),
        (&InvalidReason::Surplus, "the message is longer than its header says"),
        (
            &InvalidReason::NoRoomForSender { len: 9, limit: 8 },
            "it has 9 bytes, more than the 8 that leave room for a sender's name",
        ),
        (&ReadError::Value("no boolean".to_owned()), "no boolean"),
        (&ReadError::Invalid(surplus), &surplus.to_string()),
        (&WriteError::StringContainsNul, "a string contains a 0 byte"),
        (&WriteError::ArrayTooLong { len: 5 }, "an array of 5 bytes exceeds 64 MiB"),
        (&WriteError::TooDeep, "more than 64 containers are nested"),
        (&WriteError::ElementType, "an array has items that are not of its type"),
        (&WriteError::TooLong { len: 5 }, "a message of 5 bytes exceeds 128 MiB"),
        (&WriteError::LocalInterface, "the interface is reserved for use inside a process"),
        (&WriteError::LocalPath, "the path is reserved for use inside a process"),
        (
            &WriteError::Signature(SignatureErrorKind::TooLong),
            "the signature is longer than 255 bytes",
        ),
        (&SignatureErrorKind::DictEntryNotClosed, "a dict entry is not closed"),
    ]);
    assert_eq!(format!("{:?}", Flags::NO_AUTO_START), "Flags(0x02)");
}

#[test]
fn nested_error_texts() {
    use MatchRuleErrorKind::*;
    check(&[
        (&GuidError::InvalidDigit { at: 3 }, "byte 3 of the GUID is not a hexadecimal digit"),
        (&HexError::OddLength { len: 3 }, "hexadecimal text has an even number of digits, not 3"),
        (&HexError::InvalidDigit { at: 3 }, "byte 3 is not a hexadecimal digit"),
        (&TooLong { len: 1025 }, "the match rule has 1025 bytes, and 1024 are allowed"),
        (&ArgNumberLeadingZero, "the argument's number must not begin with a zero"),
    ]);
    let guid = Guid::parse("0123456789ABCDEF0123456789abcdef").expect("a GUID");
    assert_eq!(format!("{guid:?}"), "Guid(0123456789abcdef0123456789abcdef)");
}

#[test]
fn handshake_error_texts() {
    let not_ascii = LineError::NotAscii { at: 2 };
    let rejected = |offered: &str| client::AuthenticationFailure::Rejected {
        at: 1,
        offered: offered.to_owned(),
    };
    check(&[
        (&ClientLine::ListMechanisms, "AUTH"),
        (&ClientLine::Unknown("WHAT ever"), "WHAT ever"),
        (&not_ascii, "byte 2 of the line is NUL or not ASCII"),
        (
            &Violation::TooManyCommands { at: 9 },
            "the line at byte 9 exceeds the limit of 256 lines",
        ),
        (&rejected(""), "the server rejected the authentication"),
        (&rejected("EXTERNAL"), "the server rejected the authentication; it offers EXTERNAL"),
        (
            &client::AuthenticationFailure::Unexpected { at: 9, found: "OK".to_owned() },
            "the server's line \"OK\" at byte 9 is not expected here",
        ),
        (
            &client::AuthenticationFailure::NotAscii { at: 9, error: not_ascii },
            "the server's line at byte 9 is not text: byte 2 of the line is NUL or not ASCII",
        ),
        (
            &client::AuthenticationFailure::LineTooLong { at: 9 },
            "the server's line at byte 9 is too long",
        ),
        (
            &client::AuthenticationFailure::TooManyAnswers { at: 9 },
            "the server's line at byte 9 exceeds the limit of 256 lines",
        ),
        (&CookieError::NotText, "the data is not UTF-8"),
        (&CookieError::ContextEmpty, "the name of the cookie context is empty"),
        (
            &CookieError::ContextByte { at: 4 },
            "byte 4 is not allowed in the name of a cookie context",
        ),
        (&CookieError::CookieId, "the id of the cookie is missing or not a number"),
        (&CookieError::MissingField, "a field is missing after the last space"),
    ]);
}

/// Printing a cookie by mistake must not reveal its secret.
#[test]
fn cookies_do_not_print_their_secret() {
    let cookie = Cookie { id: 1, created_unix: 2, secret: "abcd".to_owned() };
    assert_eq!(format!("{cookie:?}"), "Cookie { id: 1, created_unix: 2, .. }");
}
