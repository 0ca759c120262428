//! Known differences from libdbus, defined as narrowly as possible. Each is a row of
//! docs/deviations.md, except rows that only concern the time of a verdict.

use diligence_wire::message::{FixedHeader, HeaderScan, ScannedField};

use crate::KnownDeviation;
use crate::judge::{JudgedText, ReferenceVerdict};

/// The known difference for a message.
pub(crate) fn message_deviation(
    bytes: &[u8],
    ours: &ReferenceVerdict,
    theirs: &ReferenceVerdict,
) -> KnownDeviation {
    match (ours, theirs) {
        // libdbus rejects the message when it is complete.
        (ReferenceVerdict::Invalid(reason), ReferenceVerdict::Incomplete)
            if KNOWN_FROM_START.contains(&reason.as_str()) =>
        {
            Some("rejected after the fixed header")
        }
        (ReferenceVerdict::Invalid(reason), ReferenceVerdict::Incomplete)
            if reason.starts_with("NoRoomForSender") =>
        {
            Some("header fields without room for a sender")
        }
        (ReferenceVerdict::Invalid(reason), ReferenceVerdict::Valid(_)) => match reason.as_str() {
            "FieldName(Sender, EmptyElement)" | "FieldName(Destination, EmptyElement)"
                if contains(bytes, b":.") =>
            {
                Some("a unique name with an empty first element")
            }
            "TooDeep" => Some("the nesting depth of a body"),
            "Signature(ArrayTooDeep)" | "FieldName(Signature, ArrayTooDeep)" => {
                Some("the nesting depth of a signature")
            }
            _ => None,
        },
        (ReferenceVerdict::Valid(_), ReferenceVerdict::Invalid(reason))
            if CONTAINER_INSTANCE_ERRORS.iter().any(|error| reason.contains(error))
                && has_container_instance(bytes) =>
        {
            Some("a header field that only libdbus defines")
        }
        _ => None,
    }
}

/// Errors in the fixed header. libdbus reports them only once the message is complete.
const KNOWN_FROM_START: [&str; 4] = ["Version", "TypeZero", "SerialZero", "FieldsTooLong"];

/// Errors of libdbus about a header field that the specification does not define.
const CONTAINER_INSTANCE_ERRORS: [&str; 2] = ["Header field has wrong type", "appears twice"];

fn has_container_instance(bytes: &[u8]) -> bool {
    let mut found = false;
    if let Some(Ok(fixed)) = bytes.first_chunk().map(FixedHeader::parse) {
        let _ = HeaderScan::new(bytes, &fixed).each(|field| {
            found |= field == ScannedField::Unknown(10);
            Ok(())
        });
    }
    found
}

/// The known difference for a name or a signature.
pub(crate) fn text_deviation(
    kind: JudgedText,
    text: &[u8],
    ours: &ReferenceVerdict,
    theirs: &ReferenceVerdict,
) -> KnownDeviation {
    let (ReferenceVerdict::Invalid(reason), ReferenceVerdict::Valid(_)) = (ours, theirs) else {
        return None;
    };
    match kind {
        JudgedText::BusName if text.starts_with(b":.") && reason.contains("EmptyElement") => {
            Some("a unique name with an empty first element")
        }
        JudgedText::Signature | JudgedText::SingleType if reason.contains("ArrayTooDeep") => {
            Some("the nesting depth of a signature")
        }
        _ => None,
    }
}

/// The known difference for an address.
pub(crate) fn address_deviation(
    ours: &ReferenceVerdict,
    theirs: &ReferenceVerdict,
) -> KnownDeviation {
    let (ReferenceVerdict::Invalid(reason), ReferenceVerdict::Valid(_)) = (ours, theirs) else {
        return None;
    };
    let starts_with_any = |kinds: &[&str]| kinds.iter().any(|kind| reason.starts_with(kind));
    if starts_with_any(&["DuplicateKey", "InvalidGuid"]) {
        Some("a duplicate key or an invalid GUID")
    } else if starts_with_any(&TRANSPORT_ERRORS) {
        Some("rejected by the parser instead of the transport")
    } else {
        None
    }
}

/// Errors in the keys of a transport, which libdbus reports only when it uses the transport.
const TRANSPORT_ERRORS: [&str; 9] = [
    "EmptyTransport",
    "MissingKey",
    "NoUnixKey",
    "SeveralUnixKeys",
    "RuntimeNotYes",
    "NulInPath",
    "NotUtf8",
    "InvalidPort",
    "InvalidFamily",
];

/// The known difference for a match rule.
pub(crate) fn rule_deviation(
    text: &str,
    ours: &ReferenceVerdict,
    theirs: &ReferenceVerdict,
) -> KnownDeviation {
    if text.contains(r"\,") || text.contains(r"\\") {
        return Some("a backslash before a comma or a backslash");
    }
    let (ReferenceVerdict::Invalid(reason), ReferenceVerdict::Valid(_)) = (ours, theirs) else {
        return None;
    };
    let is = |kind: &str| reason.starts_with(kind);
    if is("EmptyKey") {
        Some("an empty key")
    } else if is("ArgNumberLeadingZero") && text.contains("arg0") {
        Some("a leading zero in the number of an argument")
    } else if is("MissingArgNumber") && SIGNS_AND_BLANKS.iter().any(|key| text.contains(key)) {
        Some("a sign or a blank before the number of an argument")
    } else if reason.contains("EmptyElement") && text.contains(":.") {
        Some("a unique name with an empty first element")
    } else if text.matches('=').count() > KEYS_MAX {
        Some("keys after the sixteenth")
    } else {
        None
    }
}

/// Characters that strtoul(3) accepts before a number.
const SIGNS_AND_BLANKS: [&str; 3] = ["arg+", "arg-", "arg\u{b}"];

/// Maximum number of keys that dbus-daemon reads in a rule.
const KEYS_MAX: usize = 16;

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
