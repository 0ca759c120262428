//! Random types, values and messages, the same for the same seed.

use std::env;
use std::num::NonZeroU32;

use diligence_wire::Endian;
use diligence_wire::body::Value;
use diligence_wire::message::{Builder, Flags};
use diligence_wire::names::{BusName, ErrorName, InterfaceName, MemberName, ObjectPath};
use diligence_wire::signature::{Signature, Type};

/// A generator of numbers (splitmix64) and of what can be made of them.
pub(crate) struct Random(u64);

impl Random {
    /// Begins at `DILIGENCE_SEED`, or always at the same place, and prints where, so that a
    /// failure can be had again.
    pub(crate) fn from_env() -> Self {
        let seed = env::var("DILIGENCE_SEED").map_or(1, |text| text.parse().expect("a number"));
        println!("DILIGENCE_SEED={seed}");
        Self(seed)
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.number() % end as u64) as usize
    }

    pub(crate) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub(crate) fn pick<'t, T>(&mut self, choices: &'t [T]) -> &'t T {
        &choices[self.below(choices.len())]
    }

    /// A few complete types.
    pub(crate) fn signature(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..self.below(5) {
            self.push_type(&mut text, 4);
        }
        text
    }

    fn push_type(&mut self, text: &mut String, depth: usize) {
        match self.below(if depth == 0 { 7 } else { 12 }) {
            0..7 => text.push(*self.pick(&BASIC) as char),
            7 => text.push('v'),
            8 | 9 => self.push_array(text, depth - 1),
            _ => {
                text.push('(');
                for _ in 0..=self.below(3) {
                    self.push_type(text, depth - 1);
                }
                text.push(')');
            }
        }
    }

    fn push_array(&mut self, text: &mut String, depth: usize) {
        text.push('a');
        if self.one_in(2) {
            return self.push_type(text, depth);
        }
        text.push('{');
        text.push(*self.pick(&BASIC) as char);
        self.push_type(text, depth);
        text.push('}');
    }

    /// A value of each complete type in `signature`.
    pub(crate) fn values(&mut self, signature: Signature<'_>) -> Vec<Value> {
        signature.types().map(|kind| self.value(kind, 4)).collect()
    }

    fn value(&mut self, kind: Type<'_>, depth: usize) -> Value {
        let bits = if self.one_in(4) { 0 } else { self.number() };
        match kind {
            Type::Byte => Value::Byte(bits as u8),
            Type::Boolean => Value::Boolean(bits % 2 == 1),
            Type::Int16 => Value::Int16(bits as i16),
            Type::Uint16 => Value::Uint16(bits as u16),
            Type::Int32 => Value::Int32(bits as i32),
            Type::Uint32 => Value::Uint32(bits as u32),
            Type::Int64 => Value::Int64(bits as i64),
            Type::Uint64 => Value::Uint64(bits),
            // A number that is equal to itself.
            Type::Double => Value::Double(bits as u32 as f64 / 7.0),
            Type::String => Value::String(self.text()),
            Type::ObjectPath => Value::ObjectPath(path(&self.path()).into()),
            Type::Signature => {
                Value::Signature(Signature::new(&self.signature()).expect("valid").into())
            }
            Type::UnixFd => Value::UnixFd(bits as u32),
            Type::Variant => Value::Variant(self.variant(depth).into()),
            Type::Array(element) => self.array(element, depth),
            Type::Struct(fields) => {
                Value::Struct(fields.types().map(|kind| self.value(kind, depth)).collect())
            }
            Type::DictEntry(types) => {
                let mut types = types.types().map(|kind| self.value(kind, depth));
                let (key, value) = (types.next(), types.next());
                Value::DictEntry(Box::new((key.expect("a key"), value.expect("a value"))))
            }
        }
    }

    fn variant(&mut self, depth: usize) -> Value {
        let mut text = String::new();
        self.push_type(&mut text, depth);
        let kind = Signature::new(&text).expect("valid").single().expect("one type");
        self.value(kind, depth.saturating_sub(1))
    }

    fn array(&mut self, element: Signature<'_>, depth: usize) -> Value {
        let kind = element.single().expect("one type");
        let len = self.below(4);
        if kind == Type::Byte {
            return Value::Bytes((0..len).map(|_| self.number() as u8).collect());
        }
        let items = (0..len).map(|_| self.value(kind, depth)).collect();
        Value::Array { element: element.into(), items }
    }

    pub(crate) fn text(&mut self) -> String {
        let len = if self.one_in(8) { self.below(100) } else { self.below(12) };
        (0..len)
            .map(|_| *self.pick(&['a', 'Z', '0', ' ', '~', '\u{7f}', 'é', '\u{ffff}', '🦀']))
            .collect()
    }

    fn path(&mut self) -> String {
        (0..=self.below(3)).map(|_| format!("/{}", self.element())).collect()
    }

    fn dotted(&mut self) -> String {
        let rest: String = (0..=self.below(3)).map(|_| format!(".{}", self.element())).collect();
        self.element() + &rest
    }

    fn element(&mut self) -> String {
        let mut text = String::from(*self.pick(b"aZ_") as char);
        for _ in 0..self.below(12) {
            text.push(*self.pick(b"abzAZ09_") as char);
        }
        text
    }

    /// A valid message with a random body.
    pub(crate) fn message(&mut self) -> Vec<u8> {
        let text = self.signature();
        let signature = Signature::new(&text).expect("valid");
        let values = self.values(signature);
        self.message_of(signature, &values)
    }

    /// A valid message with this body and random header fields.
    pub(crate) fn message_of(&mut self, signature: Signature<'_>, values: &[Value]) -> Vec<u8> {
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
        if self.one_in(2) {
            builder = builder.interface(interface);
        }
        if self.one_in(2) {
            builder = builder.destination(BusName::new(&dotted).expect("valid"));
        }
        if self.one_in(2) {
            builder = builder.sender(BusName::new(":1.42").expect("valid"));
        }
        let endian = *self.pick(&[Endian::Little, Endian::Big]);
        let builder = builder.flags(Flags::from_bits(self.number() as u8)).endian(endian);
        let mut bytes = Vec::new();
        builder
            .write_with(&mut bytes, call, signature, |writer| {
                values.iter().for_each(|value| value.write(writer));
            })
            .expect("small enough");
        bytes
    }

    /// Changes a message a little, and mostly keeps its lengths right.
    pub(crate) fn mutate(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(3) {
            let at = self.below(bytes.len());
            match self.below(6) {
                0 => bytes[at] ^= 1 << self.below(8),
                1 | 2 => {
                    bytes[at] =
                        *self.pick(b"\x00\x01\x02\x07\x08\xff\xc0ybnqiuxtdsoghva(){}./:-_0Z")
                }
                3 => bytes[at] = bytes[at].wrapping_add(*self.pick(&[1, 4, 8, 252, 255])),
                4 => bytes.insert(at, *self.pick(b"\x00\x01as")),
                _ => drop(bytes.remove(at)),
            }
            if bytes.is_empty() {
                return;
            }
        }
        if !self.one_in(8) {
            mend_body_len(bytes);
        }
    }
}

/// Writes into the header how long the body of the message is, if that can be said.
pub(crate) fn mend_body_len(bytes: &mut [u8]) {
    let Some(endian) = bytes.first().copied().and_then(Endian::from_mark) else { return };
    let Some(fields_len) = bytes.get(12..16).and_then(<[u8]>::first_chunk) else { return };
    let body_start = (endian.u32(*fields_len) as usize).saturating_add(16).next_multiple_of(8);
    if let Some(body_len) = bytes.len().checked_sub(body_start) {
        bytes[4..8].copy_from_slice(&endian.u32_bytes(body_len as u32));
    }
}

fn path(text: &str) -> ObjectPath<'_> {
    ObjectPath::new(text).expect("valid")
}

const BASIC: [u8; 13] = *b"ybnqiuxtdsogh";
