//! Redacts messages: removes the values from the body and keeps its structure.
//!
//! The header stays, with sender, recipient, path, interface and member. Of the body, these stay:
//! types, lengths of texts and arrays, and the indexes of file descriptors. Numbers become 0, and
//! each byte of a text becomes `x`. The redacted message is valid and as long as before.

use wire::Message;
use wire::body::Reader;
use wire::message::{FieldCode, FixedHeader, InvalidMessage, MessageType};
use wire::signature::{Signature, Type};

/// The part of a body that remains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RedactedBodyShape {
    /// Types and lengths remain.
    Kept,
    /// The whole body is removed.
    Gone,
}

/// Replaces the content of `out` with the redacted message. Of a truncated or invalid message only
/// the header remains; if the header is truncated or invalid, nothing remains.
pub(super) fn redact(bytes: &[u8], shape: RedactedBodyShape, out: &mut Vec<u8>) {
    out.clear();
    let message = Message::parse(bytes).ok().filter(|message| message.validate_body().is_ok());
    match message {
        Some(message) if is_bus_signal(&message) => out.extend_from_slice(bytes),
        Some(message) if shape == RedactedBodyShape::Kept => {
            out.extend_from_slice(bytes);
            let mut blanking = BlankingCursor { bytes, reader: message.reader(), out };
            // A valid body can always be read.
            if blanking.values(message.signature()).is_err() {
                out.truncate(message.header_bytes().len());
            }
        }
        _ => keep_header(bytes, out),
    }
    blank_unknown_fields(bytes, out);
}

/// Keeps the header if it is whole and valid, regardless of the body.
fn keep_header(bytes: &[u8], out: &mut Vec<u8>) {
    let fixed = bytes.first_chunk().and_then(|start| FixedHeader::parse(start).ok());
    let Some(header) = fixed.and_then(|fixed| bytes.get(..fixed.body_start())) else { return };
    out.extend_from_slice(header);
    // The header can be validated on its own if it states an empty body.
    out[BODY_LEN].fill(0);
    if Message::parse(out).is_ok() {
        out[BODY_LEN].copy_from_slice(&bytes[BODY_LEN]);
    } else {
        out.clear();
    }
}

/// Redacts header fields that the specification does not define, as their values can be anything.
fn blank_unknown_fields(bytes: &[u8], out: &mut Vec<u8>) {
    let Some(fixed) = out.first_chunk().and_then(|start| FixedHeader::parse(start).ok()) else {
        return;
    };
    let reader = Reader::new(bytes, fixed.endian, FixedHeader::LEN);
    if (BlankingCursor { bytes, reader, out }).unknown_fields(fixed.fields_end()).is_err() {
        out.clear();
    }
}

/// Returns true if a message is a signal of the bus itself. These contain only names, which headers
/// contain too.
fn is_bus_signal(message: &Message<'_>) -> bool {
    message.message_type() == MessageType::Signal
        && message.sender().is_some_and(|sender| sender.as_str() == "org.freedesktop.DBus")
}

/// A reader of the values of a message, and a copy in which they are blanked.
struct BlankingCursor<'m, 'o> {
    bytes: &'m [u8],
    reader: Reader<'m>,
    out: &'o mut Vec<u8>,
}

impl BlankingCursor<'_, '_> {
    fn unknown_fields(&mut self, end: usize) -> Result<(), InvalidMessage> {
        while self.reader.at() < end {
            self.reader.start_struct()?;
            let code = self.reader.byte()?;
            let types = self.reader.variant()?;
            let start = self.reader.at();
            self.values(types)?;
            if FieldCode::from_code(code).is_some() {
                let value = start..self.reader.at();
                self.out[value.clone()].copy_from_slice(&self.bytes[value]);
            }
        }
        Ok(())
    }

    fn values(&mut self, types: Signature<'_>) -> Result<(), InvalidMessage> {
        types.types().try_for_each(|each| self.value(each))
    }

    /// Blanks a value. The nesting depth was checked before.
    fn value(&mut self, each: Type<'_>) -> Result<(), InvalidMessage> {
        match each {
            Type::Byte => self.reader.byte().map(|_| self.zero(1)),
            Type::Boolean => self.reader.boolean().map(|_| self.zero(4)),
            Type::Int16 => self.reader.int16().map(|_| self.zero(2)),
            Type::Uint16 => self.reader.uint16().map(|_| self.zero(2)),
            Type::Int32 => self.reader.int32().map(|_| self.zero(4)),
            Type::Uint32 => self.reader.uint32().map(|_| self.zero(4)),
            Type::Int64 => self.reader.int64().map(|_| self.zero(8)),
            Type::Uint64 => self.reader.uint64().map(|_| self.zero(8)),
            Type::Double => self.reader.double().map(|_| self.zero(8)),
            Type::UnixFd => self.reader.uint32().map(drop),
            Type::Signature => self.reader.signature().map(drop),
            Type::String => self.reader.string().map(|text| self.mask_text(text.len())),
            Type::ObjectPath => {
                self.reader.object_path().map(|path| self.mask_text(path.as_str().len()))
            }
            Type::Variant => {
                let held = self.reader.variant()?;
                self.values(held)
            }
            Type::Array(element) => self.array(element),
            Type::Struct(fields) | Type::DictEntry(fields) => {
                self.reader.start_struct()?;
                self.values(fields)
            }
        }
    }

    fn array(&mut self, element: Signature<'_>) -> Result<(), InvalidMessage> {
        let alignment = element.single().map_or(1, Type::alignment);
        let end = self.reader.start_array(alignment)?;
        while self.reader.has_more(end)? {
            self.values(element)?;
        }
        Ok(())
    }

    /// Blanks the number that was read last.
    fn zero(&mut self, len: usize) {
        let end = self.reader.at();
        self.out[end - len..end].fill(0);
    }

    /// Blanks the text that was read last, except its terminating zero byte. The slashes of paths
    /// stay, so that paths remain valid.
    fn mask_text(&mut self, len: usize) {
        let end = self.reader.at() - 1;
        let text = &mut self.out[end - len..end];
        text.iter_mut().filter(|byte| **byte != b'/').for_each(|byte| *byte = b'x');
    }
}

/// The position of the body length in the fixed part of a header.
const BODY_LEN: std::ops::Range<usize> = 4..8;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::num::NonZeroU32;

    use wire::body::{EncodeArgs, Value};
    use wire::message::Builder;
    use wire::names::{InterfaceName, MemberName, ObjectPath};

    use super::*;

    fn redacted(args: &impl EncodeArgs) -> Vec<u8> {
        let mut bytes = Vec::new();
        let path = ObjectPath::literal("/org/example/Vault");
        let member = MemberName::new("Unlock").unwrap();
        let call = Builder::method_call(path, member)
            .interface(InterfaceName::new("org.example.Vault").unwrap());
        call.write(&mut bytes, NonZeroU32::MIN, args).unwrap();
        let mut out = Vec::new();
        redact(&bytes, RedactedBodyShape::Kept, &mut out);
        assert_eq!(out.len(), bytes.len());
        out
    }

    fn holds(bytes: &[u8], part: &[u8]) -> bool {
        bytes.windows(part.len()).any(|window| window == part)
    }

    #[test]
    fn redacted_bodies_keep_their_shape_and_lose_their_values() {
        let entries = BTreeMap::from([("pin", Value::Uint32(0x0BAD_CAFE))]);
        let out =
            redacted(&("secret", entries, ObjectPath::literal("/home/me"), true, vec![7_u8; 3]));
        for gone in ["secret", "pin", "home", "\u{7}\u{7}"] {
            assert!(!holds(&out, gone.as_bytes()), "{gone}");
        }
        assert!(!holds(&out, &0x0BAD_CAFE_u32.to_ne_bytes()));
        for kept in ["/org/example/Vault", "org.example.Vault", "Unlock", "sa{sv}obay"] {
            assert!(holds(&out, kept.as_bytes()), "{kept}");
        }
        let message = Message::parse(&out).unwrap();
        message.validate_body().unwrap();
        type CutBody<'a> = (&'a str, BTreeMap<&'a str, Value>, ObjectPath<'a>, bool, Vec<u8>);
        let (text, entries, path, truth, bytes): CutBody<'_> = message.read().unwrap();
        assert_eq!((text, path.as_str(), truth, bytes), ("xxxxxx", "/xxxx/xx", false, vec![0; 3]));
        assert_eq!(entries.into_iter().collect::<Vec<_>>(), [("xxx", Value::Uint32(0))]);
    }

    /// A call with a text in its body and another in a header field.
    fn call(field: u8, said: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        let path = ObjectPath::literal("/org/example/Vault");
        let call = Builder::method_call(path, MemberName::new("Unlock").unwrap());
        call.write(&mut bytes, NonZeroU32::MIN, &(said,)).unwrap();
        let fixed = FixedHeader::parse(bytes.first_chunk().unwrap()).unwrap();
        let (fields, body) = (fixed.fields_end(), bytes.split_off(fixed.body_start()));
        let mut more = vec![field, 1, b's', 0];
        more.extend((said.len() as u32).to_ne_bytes());
        more.extend(said.as_bytes());
        more.push(0);
        bytes.resize(fields.next_multiple_of(8), 0);
        bytes.extend(more);
        let fields_len = (bytes.len() - FixedHeader::LEN) as u32;
        bytes[12..16].copy_from_slice(&fields_len.to_ne_bytes());
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes.extend(body);
        bytes
    }

    /// The length of the redacted bytes, and whether they are a valid message.
    fn left(bytes: &[u8], shape: RedactedBodyShape) -> (usize, bool) {
        let mut out = b"before".to_vec();
        redact(bytes, shape, &mut out);
        assert!(!holds(&out, b"secret"));
        (out.len(), Message::parse(&out).is_ok_and(|message| message.validate_body().is_ok()))
    }

    #[test]
    fn bodies_that_cannot_be_redacted_are_removed() {
        const UNKNOWN: u8 = 77;
        const SENDER: u8 = FieldCode::Sender as u8;
        let whole = call(UNKNOWN, "a secret");
        let header = whole.len() - (4 + "a secret".len() + 1);
        let changed = |at: usize, byte: u8| {
            let mut bytes = whole.clone();
            bytes[at] = byte;
            bytes
        };
        for (bytes, shape, expected) in [
            (whole.clone(), RedactedBodyShape::Kept, (whole.len(), true)),
            (whole.clone(), RedactedBodyShape::Gone, (header, false)),
            (whole[..whole.len() - 1].to_vec(), RedactedBodyShape::Kept, (header, false)),
            (whole[..header].to_vec(), RedactedBodyShape::Kept, (header, false)),
            (whole[..header - 1].to_vec(), RedactedBodyShape::Kept, (0, false)),
            ([whole.as_slice(), b"secret"].concat(), RedactedBodyShape::Kept, (header, false)),
            // The text is longer than the body, or does not end at its stated length.
            (changed(header, 200), RedactedBodyShape::Kept, (header, false)),
            (changed(header, 2), RedactedBodyShape::Kept, (header, false)),
            (call(SENDER, "a secret"), RedactedBodyShape::Kept, (0, false)),
            (b"secret".to_vec(), RedactedBodyShape::Kept, (0, false)),
        ] {
            assert_eq!(left(&bytes, shape), expected, "{bytes:?}");
        }
    }

    /// Each level is an array of one variant.
    #[test]
    fn redacted_bodies_lose_values_that_are_too_deep() {
        let mut bytes = Vec::new();
        let path = ObjectPath::literal("/org/example/Vault");
        let call = Builder::method_call(path, MemberName::new("Unlock").unwrap());
        call.write(&mut bytes, NonZeroU32::MIN, &(vec![Value::Byte(7)],)).unwrap();
        let header = bytes.len() - 8;
        for levels in [20_u32, 40, 200] {
            let mut deep = bytes[..header].to_vec();
            for level in (1..=levels).rev() {
                deep.extend((8 * level - 4).to_ne_bytes());
                deep.extend(if level > 1 { *b"\x02av\0" } else { *b"\x01y\0\x07" });
            }
            let body_len = (deep.len() - header) as u32;
            deep[BODY_LEN].copy_from_slice(&body_len.to_ne_bytes());
            let whole = (deep.len(), true);
            let expected = if levels < 32 { whole } else { (header, false) };
            assert_eq!(left(&deep, RedactedBodyShape::Kept), expected, "{levels}");
        }
    }
}
