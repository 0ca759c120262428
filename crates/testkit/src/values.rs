//! Random types and values.

use wire::body::Value;
use wire::names::ObjectPath;
use wire::signature::{Signature, Type};

use crate::random::Random;

impl Random {
    /// Returns a signature with a few complete types.
    pub fn signature(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..self.below(5) {
            self.push_type(&mut text, 4);
        }
        text
    }

    fn push_type(&mut self, text: &mut String, depth: usize) {
        match self.below(if depth == 0 { 7 } else { 12 }) {
            0..7 => text.push(self.pick(&BASIC) as char),
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
        if self.once_in(2) {
            return self.push_type(text, depth);
        }
        text.push('{');
        text.push(self.pick(&BASIC) as char);
        self.push_type(text, depth);
        text.push('}');
    }

    /// Returns a value for each complete type in `signature`.
    pub fn values(&mut self, signature: Signature<'_>) -> Vec<Value> {
        signature.types().map(|kind| self.value(kind, 4)).collect()
    }

    /// Returns a value of this type, with containers nested at most `depth` levels.
    pub fn value(&mut self, kind: Type<'_>, depth: usize) -> Value {
        let bits = if self.once_in(4) { 0 } else { self.number() };
        match kind {
            Type::Byte => Value::Byte(bits as u8),
            Type::Boolean => Value::Boolean(bits % 2 == 1),
            Type::Int16 => Value::Int16(bits as i16),
            Type::Uint16 => Value::Uint16(bits as u16),
            Type::Int32 => Value::Int32(bits as i32),
            Type::Uint32 => Value::Uint32(bits as u32),
            Type::Int64 => Value::Int64(bits as i64),
            Type::Uint64 => Value::Uint64(bits),
            // Not NaN, so that it equals itself.
            Type::Double => Value::Double(bits as u32 as f64 / 7.0),
            Type::String => Value::String(self.text()),
            Type::ObjectPath => {
                Value::ObjectPath(ObjectPath::new(&self.path()).expect("valid").into())
            }
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

    /// Returns a text with UTF-8 characters of every length.
    pub fn text(&mut self) -> String {
        let len = if self.once_in(8) { self.below(100) } else { self.below(12) };
        (0..len)
            .map(|_| self.pick(&['a', 'Z', '0', ' ', '~', '\u{7f}', 'é', '\u{ffff}', '🦀']))
            .collect()
    }

    /// Returns a random object path.
    pub fn path(&mut self) -> String {
        (0..=self.below(3)).map(|_| format!("/{}", self.element())).collect()
    }

    /// Returns a name with at least two elements: an interface, an error, a well-known name.
    pub fn dotted(&mut self) -> String {
        let rest: String = (0..=self.below(3)).map(|_| format!(".{}", self.element())).collect();
        self.element() + &rest
    }

    /// Returns an element of a name or path: a member.
    pub fn element(&mut self) -> String {
        let mut text = String::from(self.pick(b"aZ_") as char);
        for _ in 0..self.below(12) {
            text.push(self.pick(b"abzAZ09_") as char);
        }
        text
    }
}

/// True if a value contains a descriptor, which not all forms can express.
pub fn has_descriptor(value: &Value) -> bool {
    match value {
        Value::UnixFd(_) => true,
        Value::Variant(inside) => has_descriptor(inside),
        Value::Array { items, .. } | Value::Struct(items) => items.iter().any(has_descriptor),
        Value::DictEntry(entry) => has_descriptor(&entry.0) || has_descriptor(&entry.1),
        _ => false,
    }
}

const BASIC: [u8; 13] = *b"ybnqiuxtdsogh";
