//! Takes what a message says out of it, and leaves its shape.
//!
//! The header stays: who says what to whom. Of the body the types stay, the lengths of texts and
//! arrays, and the places of descriptors; numbers become 0, and texts so many `x`. The message is
//! valid afterwards and as long as before.

use wire::Message;
use wire::body::Reader;
use wire::message::{InvalidMessage, MessageType};
use wire::signature::{Signature, Type};

/// Puts the message into `out`, in place of what that holds, without what its body says. Of a
/// message that is not valid no more than the header is left, or nothing.
pub(crate) fn message(bytes: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let Ok(message) = Message::parse(bytes) else { return };
    if tells_only_of_names(&message) {
        out.extend_from_slice(bytes);
        return;
    }
    out.extend_from_slice(bytes);
    let mut blanking = Blanking { reader: message.reader(), out };
    if blanking.values(message.signature(), 0).is_err() {
        out.truncate(message.header_bytes().len());
    }
}

/// The bus tells by its own signals who comes, goes and owns what: names that stand in headers too.
fn tells_only_of_names(message: &Message<'_>) -> bool {
    message.message_type() == MessageType::Signal
        && message.sender().is_some_and(|sender| sender.as_str() == "org.freedesktop.DBus")
}

/// A cursor over the values of a message, and a copy in which they are blanked.
struct Blanking<'m, 'o> {
    reader: Reader<'m>,
    out: &'o mut Vec<u8>,
}

impl Blanking<'_, '_> {
    fn values(&mut self, types: Signature<'_>, depth: usize) -> Result<(), InvalidMessage> {
        types.types().try_for_each(|each| self.value(each, depth))
    }

    fn value(&mut self, each: Type<'_>, depth: usize) -> Result<(), InvalidMessage> {
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
            Type::String => self.reader.string().map(|text| self.cross_out(text.len())),
            Type::ObjectPath => {
                self.reader.object_path().map(|path| self.cross_out(path.as_str().len()))
            }
            Type::Variant => {
                let held = self.reader.variant()?;
                self.deeper(held, depth)
            }
            Type::Array(element) => self.array(element, depth),
            Type::Struct(fields) | Type::DictEntry(fields) => {
                self.reader.start_struct()?;
                self.deeper(fields, depth)
            }
        }
    }

    fn array(&mut self, element: Signature<'_>, depth: usize) -> Result<(), InvalidMessage> {
        let alignment = element.single().map_or(1, Type::alignment);
        let end = self.reader.start_array(alignment)?;
        while self.reader.has_more(end)? {
            self.deeper(element, depth)?;
        }
        Ok(())
    }

    /// Below what the specification allows nothing is looked at; the bus lets no such message pass.
    fn deeper(&mut self, types: Signature<'_>, depth: usize) -> Result<(), InvalidMessage> {
        if depth < DEPTH_MAX { self.values(types, depth + 1) } else { Ok(()) }
    }

    /// Blanks the number that was read last.
    fn zero(&mut self, len: usize) {
        let end = self.reader.at();
        self.out[end - len..end].fill(0);
    }

    /// Blanks the text that was read last, which a byte follows that is zero. What separates the
    /// parts of a path stays, so that it is one.
    fn cross_out(&mut self, len: usize) {
        let end = self.reader.at() - 1;
        let text = &mut self.out[end - len..end];
        text.iter_mut().filter(|byte| **byte != b'/').for_each(|byte| *byte = b'x');
    }
}

/// Levels of arrays, structs and variants in each other.
const DEPTH_MAX: usize = 64;

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
        message(&bytes, &mut out);
        assert_eq!(out.len(), bytes.len());
        out
    }

    fn holds(bytes: &[u8], what: &[u8]) -> bool {
        bytes.windows(what.len()).any(|window| window == what)
    }

    #[test]
    fn what_a_body_says_is_gone_and_its_shape_is_not() {
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
        type Args<'a> = (&'a str, BTreeMap<&'a str, Value>, ObjectPath<'a>, bool, Vec<u8>);
        let (text, entries, path, truth, bytes): Args<'_> = message.read().unwrap();
        assert_eq!((text, path.as_str(), truth, bytes), ("xxxxxx", "/xxxx/xx", false, vec![0; 3]));
        assert_eq!(entries.into_iter().collect::<Vec<_>>(), [("xxx", Value::Uint32(0))]);
    }

    #[test]
    fn nothing_is_left_of_what_is_no_message() {
        let mut out = b"before".to_vec();
        message(b"secret", &mut out);
        assert!(out.is_empty());
    }
}
