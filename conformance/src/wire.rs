//! Simple encoding and decoding of D-Bus messages, which allows every violation of the format.
//!
//! This is a second implementation of the format, independent from the one of the bus, so that a
//! shared misunderstanding cannot hide. The writer checks nothing: tests build malformed messages
//! with it. The reader panics at everything that the specification forbids.

use std::collections::BTreeMap;

/// The byte order of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireByteOrder {
    /// Least significant byte first, `l`.
    Little,
    /// Most significant byte first, `B`.
    Big,
}

/// A value of any D-Bus type.
#[derive(Debug, Clone, PartialEq)]
pub enum PlainValue {
    /// An unsigned byte, `y`.
    Byte(u8),
    /// A boolean, type `b`.
    Bool(bool),
    /// A signed 16-bit integer, `n`.
    I16(i16),
    /// An unsigned 16-bit integer, `q`.
    U16(u16),
    /// A signed 32-bit integer, `i`.
    I32(i32),
    /// An unsigned 32-bit integer, `u`.
    U32(u32),
    /// A signed 64-bit integer, `x`.
    I64(i64),
    /// An unsigned 64-bit integer, `t`.
    U64(u64),
    /// A double-precision number, `d`.
    Double(f64),
    /// A string, type `s`.
    Str(String),
    /// An object path, `o`.
    Path(String),
    /// A signature, type `g`.
    Signature(String),
    /// A file descriptor, `h`: an index into the descriptors of the message.
    Fd(u32),
    /// An array, `a`, with the signature of its elements.
    Array(String, Vec<Self>),
    /// A struct, type `(...)`.
    Struct(Vec<Self>),
    /// A dictionary entry, `{...}`.
    Entry(Box<Self>, Box<Self>),
    /// A variant, type `v`.
    Variant(Box<Self>),
}

impl PlainValue {
    /// Creates a value of type string.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::Str(text.to_owned())
    }

    /// Creates an array of strings.
    #[must_use]
    pub fn texts(texts: &[&str]) -> Self {
        Self::Array("s".to_owned(), texts.iter().map(|text| Self::text(text)).collect())
    }

    /// Wraps a value in a variant.
    #[must_use]
    pub fn variant(value: Self) -> Self {
        Self::Variant(Box::new(value))
    }

    /// The signature of the value.
    #[must_use]
    pub fn signature(&self) -> String {
        match self {
            Self::Byte(_) => "y".to_owned(),
            Self::Bool(_) => "b".to_owned(),
            Self::I16(_) => "n".to_owned(),
            Self::U16(_) => "q".to_owned(),
            Self::I32(_) => "i".to_owned(),
            Self::U32(_) => "u".to_owned(),
            Self::I64(_) => "x".to_owned(),
            Self::U64(_) => "t".to_owned(),
            Self::Double(_) => "d".to_owned(),
            Self::Str(_) => "s".to_owned(),
            Self::Path(_) => "o".to_owned(),
            Self::Signature(_) => "g".to_owned(),
            Self::Fd(_) => "h".to_owned(),
            Self::Array(element, _) => format!("a{element}"),
            Self::Struct(fields) => format!("({})", signature_of(fields)),
            Self::Entry(key, value) => format!("{{{}{}}}", key.signature(), value.signature()),
            Self::Variant(_) => "v".to_owned(),
        }
    }

    /// The text of a string, object path or signature.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(text) | Self::Path(text) | Self::Signature(text) => Some(text),
            _ => None,
        }
    }

    /// The number, if it is of type `u`.
    #[must_use]
    pub fn as_u32(&self) -> Option<u32> {
        match self {
            Self::U32(number) => Some(*number),
            _ => None,
        }
    }

    /// The elements of an array.
    #[must_use]
    pub fn elements(&self) -> Option<&[Self]> {
        match self {
            Self::Array(_, elements) => Some(elements),
            _ => None,
        }
    }

    /// The strings of an array of strings.
    #[must_use]
    pub fn strings(&self) -> Option<Vec<&str>> {
        self.elements()?.iter().map(Self::as_str).collect()
    }

    /// The entries of a dictionary from strings to variants, with the values taken out of the
    /// variants.
    #[must_use]
    pub fn entries(&self) -> Option<BTreeMap<&str, &Self>> {
        self.elements()?.iter().map(Self::open_entry).collect()
    }

    fn open_entry(&self) -> Option<(&str, &Self)> {
        let Self::Entry(key, value) = self else { return None };
        let Self::Variant(inner) = &**value else { return None };
        Some((key.as_str()?, inner))
    }
}

/// The signature of several consecutive values.
#[must_use]
pub fn signature_of(values: &[PlainValue]) -> String {
    values.iter().map(PlainValue::signature).collect()
}

/// Writes values in one byte order, aligned as the format requires.
#[derive(Debug)]
pub struct ValueWriter {
    bytes: Vec<u8>,
    order: WireByteOrder,
}

impl ValueWriter {
    /// A writer with an empty buffer.
    #[must_use]
    pub fn new(order: WireByteOrder) -> Self {
        Self { bytes: Vec::new(), order }
    }

    /// Writes zero bytes up to a multiple of `alignment`.
    pub fn align(&mut self, alignment: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(alignment), 0);
    }

    /// Writes one value with its alignment.
    pub fn value(&mut self, value: &PlainValue) {
        self.align(alignment(&value.signature()));
        match value {
            PlainValue::Byte(byte) => self.bytes.push(*byte),
            PlainValue::Bool(truth) => self.number(u32::from(*truth).to_le_bytes()),
            PlainValue::I16(number) => self.number(number.to_le_bytes()),
            PlainValue::U16(number) => self.number(number.to_le_bytes()),
            PlainValue::I32(number) => self.number(number.to_le_bytes()),
            PlainValue::U32(number) | PlainValue::Fd(number) => self.number(number.to_le_bytes()),
            PlainValue::I64(number) => self.number(number.to_le_bytes()),
            PlainValue::U64(number) => self.number(number.to_le_bytes()),
            PlainValue::Double(number) => self.number(number.to_bits().to_le_bytes()),
            PlainValue::Str(text) | PlainValue::Path(text) => self.string(text),
            PlainValue::Signature(text) => self.signature(text),
            PlainValue::Array(element, values) => self.array(element, values),
            PlainValue::Struct(fields) => self.values(fields),
            PlainValue::Entry(key, value) => {
                self.value(key);
                self.value(value);
            }
            PlainValue::Variant(inner) => {
                self.signature(&inner.signature());
                self.value(inner);
            }
        }
    }

    /// Writes several consecutive values.
    pub fn values(&mut self, values: &[PlainValue]) {
        values.iter().for_each(|value| self.value(value));
    }

    /// The bytes that were written.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }

    fn number<const N: usize>(&mut self, mut little: [u8; N]) {
        if self.order == WireByteOrder::Big {
            little.reverse();
        }
        self.bytes.extend(little);
    }

    fn string(&mut self, text: &str) {
        self.number(length(text.len()).to_le_bytes());
        self.bytes.extend(text.bytes());
        self.bytes.push(0);
    }

    fn signature(&mut self, text: &str) {
        // Tests write signatures of more than 255 bytes; their length byte wraps on purpose.
        self.bytes.push(text.len().to_le_bytes()[0]);
        self.bytes.extend(text.bytes());
        self.bytes.push(0);
    }

    fn array(&mut self, element: &str, values: &[PlainValue]) {
        let at = self.bytes.len();
        self.number([0; 4]);
        self.align(alignment(element));
        let start = self.bytes.len();
        self.values(values);
        let mut patch = length(self.bytes.len() - start).to_le_bytes();
        if self.order == WireByteOrder::Big {
            patch.reverse();
        }
        self.bytes[at..at + 4].copy_from_slice(&patch);
    }
}

/// Reads values; panics at everything that the format forbids.
#[derive(Debug)]
pub struct ValueReader<'a> {
    bytes: &'a [u8],
    at: usize,
    order: WireByteOrder,
}

impl<'a> ValueReader<'a> {
    /// A reader at the start of `bytes`, to which alignment is relative.
    #[must_use]
    pub fn new(bytes: &'a [u8], order: WireByteOrder) -> Self {
        Self { bytes, at: 0, order }
    }

    /// The number of bytes that were read.
    #[must_use]
    pub fn position(&self) -> usize {
        self.at
    }

    /// Skips zero bytes up to a multiple of `alignment`.
    ///
    /// # Panics
    ///
    /// If one of them is not zero.
    pub fn align(&mut self, alignment: usize) {
        let gap = self.at.next_multiple_of(alignment) - self.at;
        assert!(self.take(gap).iter().all(|byte| *byte == 0), "padding that is not zero");
    }

    /// Reads the values of a signature.
    ///
    /// # Panics
    ///
    /// If the bytes or the signature are not valid.
    pub fn values(&mut self, signature: &str) -> Vec<PlainValue> {
        let mut rest = signature;
        let mut values = Vec::new();
        while !rest.is_empty() {
            let (first, others) = rest.split_at(first_type(rest));
            values.push(self.value(first));
            rest = others;
        }
        values
    }

    /// Reads a value of a single complete type.
    ///
    /// # Panics
    ///
    /// If the bytes or the signature are not valid.
    pub fn value(&mut self, signature: &str) -> PlainValue {
        self.align(alignment(signature));
        let (kind, inside) = signature.split_at(1);
        match kind {
            "y" => PlainValue::Byte(self.take(1)[0]),
            "b" => PlainValue::Bool(self.boolean()),
            "n" => PlainValue::I16(i16::from_le_bytes(self.number())),
            "q" => PlainValue::U16(u16::from_le_bytes(self.number())),
            "i" => PlainValue::I32(i32::from_le_bytes(self.number())),
            "u" => PlainValue::U32(u32::from_le_bytes(self.number())),
            "h" => PlainValue::Fd(u32::from_le_bytes(self.number())),
            "x" => PlainValue::I64(i64::from_le_bytes(self.number())),
            "t" => PlainValue::U64(u64::from_le_bytes(self.number())),
            "d" => PlainValue::Double(f64::from_bits(u64::from_le_bytes(self.number()))),
            "s" => PlainValue::Str(self.string()),
            "o" => PlainValue::Path(self.string()),
            "g" => PlainValue::Signature(self.signature()),
            "a" => self.array(inside),
            "(" => PlainValue::Struct(self.values(&inside[..inside.len() - 1])),
            "{" => self.entry(&inside[..inside.len() - 1]),
            "v" => {
                let signature = self.signature();
                assert_eq!(first_type(&signature), signature.len(), "one type in a variant");
                PlainValue::variant(self.value(&signature))
            }
            other => panic!("no type {other}"),
        }
    }

    fn boolean(&mut self) -> bool {
        match u32::from_le_bytes(self.number()) {
            0 => false,
            1 => true,
            other => panic!("boolean {other}"),
        }
    }

    fn entry(&mut self, signature: &str) -> PlainValue {
        let mut pair = self.values(signature).into_iter();
        let (Some(key), Some(value), None) = (pair.next(), pair.next(), pair.next()) else {
            panic!("a dictionary entry of {signature}");
        };
        PlainValue::Entry(Box::new(key), Box::new(value))
    }

    fn array(&mut self, element: &str) -> PlainValue {
        let length = u32::from_le_bytes(self.number()) as usize;
        self.align(alignment(element));
        let end = self.at + length;
        let mut values = Vec::new();
        while self.at < end {
            values.push(self.value(element));
        }
        assert_eq!(self.at, end, "the length of an array");
        PlainValue::Array(element.to_owned(), values)
    }

    fn string(&mut self) -> String {
        let length = u32::from_le_bytes(self.number()) as usize;
        self.text(length)
    }

    fn signature(&mut self) -> String {
        let length = usize::from(self.take(1)[0]);
        self.text(length)
    }

    fn text(&mut self, length: usize) -> String {
        let text = String::from_utf8(self.take(length).to_vec()).expect("a text is UTF-8");
        assert_eq!(self.take(1), [0], "a text ends with NUL");
        text
    }

    fn number<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes: [u8; N] = self.take(N).try_into().expect("take gives what it was asked");
        if self.order == WireByteOrder::Big {
            bytes.reverse();
        }
        bytes
    }

    fn take(&mut self, count: usize) -> &'a [u8] {
        let taken = &self.bytes[self.at..self.at + count];
        self.at += count;
        taken
    }
}

/// The length of the first complete type of a signature.
fn first_type(signature: &str) -> usize {
    match signature.as_bytes()[0] {
        b'a' => 1 + first_type(&signature[1..]),
        b'(' | b'{' => {
            let mut end = 1;
            while !matches!(signature.as_bytes()[end], b')' | b'}') {
                end += first_type(&signature[end..]);
            }
            end + 1
        }
        _ => 1,
    }
}

fn alignment(signature: &str) -> usize {
    match signature.as_bytes()[0] {
        b'y' | b'g' | b'v' => 1,
        b'n' | b'q' => 2,
        b'x' | b't' | b'd' | b'(' | b'{' => 8,
        _ => 4,
    }
}

fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).expect("tests write less than 4 GiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_messages_are_read_back() {
        let values = [
            PlainValue::Byte(1),
            PlainValue::Array(
                "(sv)".into(),
                vec![PlainValue::Struct(vec![
                    PlainValue::text("key"),
                    PlainValue::variant(PlainValue::texts(&["a", ""])),
                ])],
            ),
            PlainValue::Array("{su}".into(), vec![]),
            PlainValue::Double(-0.5),
            PlainValue::Bool(true),
            PlainValue::I64(-3),
            PlainValue::Signature("a{sv}".into()),
        ];
        for order in [WireByteOrder::Little, WireByteOrder::Big] {
            let mut writer = ValueWriter::new(order);
            writer.values(&values);
            let bytes = writer.finish();
            let mut reader = ValueReader::new(&bytes, order);
            assert_eq!(reader.values(&signature_of(&values)), values, "{order:?}");
            assert_eq!(reader.position(), bytes.len());
        }
    }
}
