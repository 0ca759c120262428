//! Where the two are known to differ, as narrow as it can be said. Each entry is a row of
//! docs/deviations.md, but for those that only say when a verdict is reached.

use diligence_wire::message::{FixedHeader, HeaderScan, ScannedField};

use crate::Excuse;
use crate::judge::{JudgedText, ReferenceVerdict};

/// Of messages.
pub(crate) fn of_message(
    bytes: &[u8],
    ours: &ReferenceVerdict,
    theirs: &ReferenceVerdict,
) -> Excuse {
    match (ours, theirs) {
        // Both refuse it in the end.
        (ReferenceVerdict::Invalid(reason), ReferenceVerdict::Incomplete)
            if KNOWN_FROM_START.contains(&reason.as_str()) =>
        {
            Some("refused at its first bytes")
        }
        (ReferenceVerdict::Invalid(reason), ReferenceVerdict::Incomplete)
            if reason.starts_with("NoRoomForSender") =>
        {
            Some("header fields that leave no room for a sender")
        }
        (ReferenceVerdict::Invalid(reason), ReferenceVerdict::Valid(_)) => match reason.as_str() {
            "FieldName(Sender, EmptyElement)" | "FieldName(Destination, EmptyElement)"
                if contains(bytes, b":.") =>
            {
                Some("a unique name without a first element")
            }
            "TooDeep" => Some("the depth of a body"),
            "Signature(ArrayTooDeep)" | "FieldName(Signature, ArrayTooDeep)" => {
                Some("the depth of a signature")
            }
            _ => None,
        },
        (ReferenceVerdict::Valid(_), ReferenceVerdict::Invalid(reason))
            if CONTAINER_INSTANCE_ERRORS.iter().any(|error| reason.contains(error))
                && has_container_instance(bytes) =>
        {
            Some("a header field of the reference's own")
        }
        _ => None,
    }
}

/// What the first 16 bytes show. The reference looks at these things when the message is there.
const KNOWN_FROM_START: [&str; 4] = ["Version", "TypeZero", "SerialZero", "FieldsTooLong"];

/// What the reference says of a field that it knows and the specification does not.
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

/// Of names and signatures.
pub(crate) fn of_text(
    kind: JudgedText,
    text: &[u8],
    ours: &ReferenceVerdict,
    theirs: &ReferenceVerdict,
) -> Excuse {
    let (ReferenceVerdict::Invalid(reason), ReferenceVerdict::Valid(_)) = (ours, theirs) else {
        return None;
    };
    match kind {
        JudgedText::BusName if text.starts_with(b":.") && reason.contains("EmptyElement") => {
            Some("a unique name without a first element")
        }
        JudgedText::Signature | JudgedText::SingleType if reason.contains("ArrayTooDeep") => {
            Some("the depth of a signature")
        }
        _ => None,
    }
}

/// Of addresses.
pub(crate) fn of_address(ours: &ReferenceVerdict, theirs: &ReferenceVerdict) -> Excuse {
    let (ReferenceVerdict::Invalid(reason), ReferenceVerdict::Valid(_)) = (ours, theirs) else {
        return None;
    };
    let is_of = |kinds: &[&str]| kinds.iter().any(|kind| reason.starts_with(kind));
    if is_of(&["DuplicateKey", "InvalidGuid"]) {
        Some("a key that stands twice, a GUID that is none")
    } else if is_of(&OF_TRANSPORTS) {
        Some("refused when it is read")
    } else {
        None
    }
}

/// What a transport cannot be used with. The reference says so when it shall use it.
const OF_TRANSPORTS: [&str; 9] = [
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

/// Of match rules.
pub(crate) fn of_rule(text: &str, ours: &ReferenceVerdict, theirs: &ReferenceVerdict) -> Excuse {
    if text.contains(r"\,") || text.contains(r"\\") {
        return Some("a backslash before a comma or another");
    }
    let (ReferenceVerdict::Invalid(reason), ReferenceVerdict::Valid(_)) = (ours, theirs) else {
        return None;
    };
    let is = |kind: &str| reason.starts_with(kind);
    if is("EmptyKey") {
        Some("an empty key")
    } else if is("ArgNumberLeadingZero") && text.contains("arg0") {
        Some("a zero before the number of an argument")
    } else if is("MissingArgNumber") && SIGNED.iter().any(|key| text.contains(key)) {
        Some("a sign or a blank before the number of an argument")
    } else if reason.contains("EmptyElement") && text.contains(":.") {
        Some("a unique name without a first element")
    } else if text.matches('=').count() > KEYS_MAX {
        Some("keys behind the sixteenth")
    } else {
        None
    }
}

/// What strtoul(3) takes before a number.
const SIGNED: [&str; 3] = ["arg+", "arg-", "arg\u{b}"];

/// The reference looks at no more keys of a rule.
const KEYS_MAX: usize = 16;

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
