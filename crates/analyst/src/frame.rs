//! How answers travel: JSON, and columns of numbers behind it.
//!
//! ```text
//! 0   u32   bytes of the frame, these included; a multiple of 8
//! 4   u32   bytes of the JSON
//! 8   ...   the JSON, an object; with spaces to a multiple of 8
//!     ...   each column that `columns` names, with zeros to a multiple of 8
//! ```
//!
//! All numbers are in the order of little-endian machines, on which alone browsers run.

use serde::Serialize;
use serde_json::{Map, Value};

/// The version of the format. A page that was made for another one says so instead of guessing.
pub const VERSION: u32 = 2;

/// A frame while it is put together.
#[derive(Debug, Default)]
pub struct Frame {
    head: Map<String, Value>,
    columns: Vec<Value>,
    data: Vec<u8>,
}

/// Numbers of one type, one for each row.
#[derive(Clone, Copy, Debug)]
pub enum Column<'c> {
    /// 8 bits each.
    U8(&'c [u8]),
    /// 32 bits each.
    U32(&'c [u32]),
    /// Floating-point numbers, which hold whole ones up to 2^53 exactly.
    F64(&'c [f64]),
    /// 32 bits each, told in as few as hold all of them.
    Packed(&'c [u32]),
}

/// How a packed column is told. Numbers of fewer bits are signed, so that the highest of 32 bits,
/// which is nobody or nothing, is -1 in all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Packing {
    /// All are this one.
    Same(u32),
    I8,
    I16,
    U32,
}

impl Frame {
    /// A frame of a kind, with nothing in it.
    pub fn new(kind: &str) -> Self {
        Self::default().with("kind", kind)
    }

    /// The same with a value in its JSON.
    ///
    /// # Panics
    ///
    /// If the value cannot be JSON, as a map whose keys are no texts.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Serialize) -> Self {
        let value = serde_json::to_value(value).expect("what is told can be JSON");
        self.head.insert(key.to_owned(), value);
        self
    }

    /// The same with a column.
    #[must_use]
    pub fn with_column(mut self, name: &str, column: Column<'_>) -> Self {
        let mut head = serde_json::json!({
            "name": name,
            "type": column.type_name(),
            "length": column.len(),
        });
        if let Some(Packing::Same(number)) = column.packing() {
            head["value"] = number.into();
        }
        self.columns.push(head);
        column.write(&mut self.data);
        pad(&mut self.data, 0);
        self
    }

    /// The bytes of the whole.
    pub fn into_bytes(mut self) -> Vec<u8> {
        if !self.columns.is_empty() {
            self.head.insert("columns".to_owned(), self.columns.into());
        }
        let mut json = serde_json::to_vec(&self.head).expect("a map of texts can be JSON");
        pad(&mut json, b' ');
        let len = PREFIX_LEN + json.len() + self.data.len();
        let mut bytes = Vec::with_capacity(len);
        bytes.extend_from_slice(&u32_of(len).to_le_bytes());
        bytes.extend_from_slice(&u32_of(json.len()).to_le_bytes());
        bytes.extend_from_slice(&json);
        bytes.extend_from_slice(&self.data);
        bytes
    }
}

impl Column<'_> {
    fn packing(self) -> Option<Packing> {
        match self {
            Self::Packed(numbers) => Some(Packing::of(numbers)),
            Self::U8(_) | Self::U32(_) | Self::F64(_) => None,
        }
    }

    fn type_name(self) -> &'static str {
        match self {
            Self::U8(_) => "u8",
            Self::U32(_) => "u32",
            Self::F64(_) => "f64",
            Self::Packed(numbers) => Packing::of(numbers).type_name(),
        }
    }

    const fn len(self) -> usize {
        match self {
            Self::U8(numbers) => numbers.len(),
            Self::U32(numbers) | Self::Packed(numbers) => numbers.len(),
            Self::F64(numbers) => numbers.len(),
        }
    }

    fn write(self, data: &mut Vec<u8>) {
        match self {
            Self::U8(numbers) => data.extend_from_slice(numbers),
            Self::U32(numbers) => numbers.iter().for_each(|n| data.extend(n.to_le_bytes())),
            Self::F64(numbers) => numbers.iter().for_each(|n| data.extend(n.to_le_bytes())),
            Self::Packed(numbers) => Packing::of(numbers).write(numbers, data),
        }
    }
}

impl Packing {
    fn of(numbers: &[u32]) -> Self {
        match numbers {
            [first, rest @ ..] if rest.iter().all(|number| number == first) => Self::Same(*first),
            _ if fit(numbers, |number| i8::try_from(number).is_ok()) => Self::I8,
            _ if fit(numbers, |number| i16::try_from(number).is_ok()) => Self::I16,
            _ => Self::U32,
        }
    }

    const fn type_name(self) -> &'static str {
        match self {
            Self::Same(_) => "same",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::U32 => "u32",
        }
    }

    fn write(self, numbers: &[u32], data: &mut Vec<u8>) {
        match self {
            Self::Same(_) => {}
            Self::I8 => data.extend(numbers.iter().map(|&n| n as u8)),
            Self::I16 => numbers.iter().for_each(|&n| data.extend((n as u16).to_le_bytes())),
            Self::U32 => numbers.iter().for_each(|n| data.extend(n.to_le_bytes())),
        }
    }
}

/// Whether all numbers, as signed ones, fit.
fn fit(numbers: &[u32], fits: impl Fn(i32) -> bool) -> bool {
    numbers.iter().all(|&number| fits(number.cast_signed()))
}

fn pad(bytes: &mut Vec<u8>, with: u8) {
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), with);
}

/// Frames are told in pieces that are far from 4 GiB.
fn u32_of(len: usize) -> u32 {
    u32::try_from(len).expect("a frame is shorter than 4 GiB")
}

/// Two lengths.
const PREFIX_LEN: usize = 8;

/// So that a column of any type can be looked at in place.
const ALIGNMENT: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_lie_behind_the_json_at_multiples_of_eight() {
        let frame = Frame::new("test").with("rows", 3);
        let frame = frame.with_column("kind", Column::U8(&[1, 2, 3]));
        let bytes = frame.with_column("at", Column::F64(&[0.5])).into_bytes();
        let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!((number(0), number(0) % 8, number(4) % 8), (bytes.len(), 0, 0));
        let (json, data) = bytes[8..].split_at(number(4));
        let json: Value = serde_json::from_slice(json).unwrap();
        assert_eq!(json["kind"], "test");
        assert_eq!(
            json["columns"][1],
            serde_json::json!({"name": "at", "type": "f64", "length": 1})
        );
        assert_eq!(data[..8], [1, 2, 3, 0, 0, 0, 0, 0]);
        assert_eq!(data[8..], 0.5_f64.to_le_bytes());
    }

    #[test]
    fn packed_columns_take_as_few_bytes_as_hold_all_of_their_numbers() {
        for (numbers, packing, bytes) in [
            (&[7, 7, 7][..], Packing::Same(7), &[][..]),
            (&[u32::MAX], Packing::Same(u32::MAX), &[]),
            (&[0, 127, u32::MAX], Packing::I8, &[0, 127, 255]),
            (&[0, 128], Packing::I16, &[0, 0, 128, 0]),
            (&[0x7fff, u32::MAX], Packing::I16, &[255, 127, 255, 255]),
            (&[0, 0x8000], Packing::U32, &[0, 0, 0, 0, 0, 128, 0, 0]),
            (&[], Packing::I8, &[]),
        ] {
            let mut data = Vec::new();
            Column::Packed(numbers).write(&mut data);
            assert_eq!((Packing::of(numbers), &data[..]), (packing, bytes), "{numbers:?}");
        }
    }
}
