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
pub const VERSION: u32 = 1;

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
        self.columns.push(serde_json::json!({
            "name": name,
            "type": column.type_name(),
            "length": column.len(),
        }));
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
    const fn type_name(self) -> &'static str {
        match self {
            Self::U8(_) => "u8",
            Self::U32(_) => "u32",
            Self::F64(_) => "f64",
        }
    }

    const fn len(self) -> usize {
        match self {
            Self::U8(numbers) => numbers.len(),
            Self::U32(numbers) => numbers.len(),
            Self::F64(numbers) => numbers.len(),
        }
    }

    fn write(self, data: &mut Vec<u8>) {
        match self {
            Self::U8(numbers) => data.extend_from_slice(numbers),
            Self::U32(numbers) => numbers.iter().for_each(|n| data.extend(n.to_le_bytes())),
            Self::F64(numbers) => numbers.iter().for_each(|n| data.extend(n.to_le_bytes())),
        }
    }
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
}
