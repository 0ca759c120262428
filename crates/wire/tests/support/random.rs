//! Random messages, reproducible with the same seed.

use std::num::NonZeroU32;

use diligence_wire::Endian;
use diligence_wire::body::Value;
use diligence_wire::message::{Builder, Flags};
use diligence_wire::names::{BusName, ErrorName, InterfaceName, MemberName, ObjectPath};
use diligence_wire::signature::Signature;
use testkit::mutated::mend_body_len;
pub(crate) use testkit::random::Random;

/// Generation of random messages.
pub(crate) trait Messages {
    /// A valid message with a random body.
    fn message(&mut self) -> Vec<u8>;

    /// A valid message with this body and random header fields.
    fn message_of(&mut self, signature: Signature<'_>, values: &[Value]) -> Vec<u8>;

    /// Changes a message slightly, and usually keeps its lengths correct.
    fn mutate(&mut self, bytes: &mut Vec<u8>);
}

impl Messages for Random {
    fn message(&mut self) -> Vec<u8> {
        let text = self.signature();
        let signature = Signature::new(&text).expect("valid");
        let values = self.values(signature);
        self.message_of(signature, &values)
    }

    fn message_of(&mut self, signature: Signature<'_>, values: &[Value]) -> Vec<u8> {
        let (path_text, member, dotted) = (self.path(), self.element(), self.dotted());
        let interface = InterfaceName::new(&dotted).expect("valid");
        let member = MemberName::new(&member).expect("valid");
        let call = NonZeroU32::MIN.saturating_add(self.number() as u32);
        let mut builder = match self.below(4) {
            0 => Builder::method_call(path(&path_text), member),
            1 => Builder::method_return(call),
            2 => Builder::error(ErrorName::new(&dotted).expect("valid"), call),
            _ => Builder::signal(path(&path_text), interface, member),
        };
        if self.once_in(2) {
            builder = builder.interface(interface);
        }
        if self.once_in(2) {
            builder = builder.destination(BusName::new(&dotted).expect("valid"));
        }
        if self.once_in(2) {
            builder = builder.sender(BusName::new(":1.42").expect("valid"));
        }
        let endian = self.pick(&[Endian::Little, Endian::Big]);
        let builder = builder.flags(Flags::from_bits(self.number() as u8)).endian(endian);
        let mut bytes = Vec::new();
        builder
            .write_with(&mut bytes, call, signature, |writer| {
                values.iter().for_each(|value| value.write(writer));
            })
            .expect("small enough");
        bytes
    }

    fn mutate(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(3) {
            let at = self.below(bytes.len());
            match self.below(6) {
                0 => bytes[at] ^= 1 << self.below(8),
                1 | 2 => {
                    bytes[at] = self.pick(b"\x00\x01\x02\x07\x08\xff\xc0ybnqiuxtdsoghva(){}./:-_0Z")
                }
                3 => bytes[at] = bytes[at].wrapping_add(self.pick(&[1, 4, 8, 252, 255])),
                4 => bytes.insert(at, self.pick(b"\x00\x01as")),
                _ => drop(bytes.remove(at)),
            }
            if bytes.is_empty() {
                return;
            }
        }
        if !self.once_in(8) {
            mend_body_len(bytes);
        }
    }
}

fn path(text: &str) -> ObjectPath<'_> {
    ObjectPath::new(text).expect("valid")
}
