//! The format of frames: JSON, followed by columns of numbers.
//!
//! ```text
//! 0   u32   bytes of the frame, these included; a multiple of 8
//! 4   u32   bytes of the JSON
//! 8   ...   the JSON, an object; with spaces to a multiple of 8
//!     ...   each column that `columns` names, with zeros to a multiple of 8
//! ```
//!
//! All numbers are little-endian, the byte order of every machine that browsers run on.

use serde::Serialize;

use crate::answers::AnswerBody;
use crate::feed::MessagesHead;

/// The version of the format. A page for another version reports an error instead of showing wrong
/// data.
pub const VERSION: u32 = 3;

/// The JSON of a frame, without the list of its columns.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FrameHead<'a> {
    /// The first frame of the stream.
    Hello(HelloHead<'a>),
    /// New messages, in columns, with the texts and connections that they name.
    Messages(MessagesHead<'a>),
    /// Messages of a bus that were not captured, counted since the capture began.
    Missing {
        /// Messages that the bus had overwritten before they were read.
        overrun: u64,
        /// The number of times that the bus closed the connection. Messages until the next
        /// connection are missing too.
        disconnected: u64,
    },
    /// The oldest messages of a bus were dropped. All other messages follow again.
    Reset {
        /// The number of messages that precede the first one that follows.
        before: u64,
    },
    /// The last frame of the stream.
    End {
        /// The reason why the stream ended early; `None` if the recording is complete.
        why: Option<String>,
    },
    /// The answer to a question of the page.
    Answer {
        /// The answer, under the name of its question.
        answer: AnswerBody,
    },
    /// The answer to a question that cannot be answered.
    Refusal {
        /// The reason, as a sentence.
        message: String,
        /// The column of the error in the query, in characters from 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        column: Option<usize>,
        /// True if more text after the query can make it valid.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        unfinished: bool,
    },
    /// The question names rows of messages that have been dropped in the meantime.
    Moved {
        /// The number of messages that precede the first one.
        before: u64,
    },
}

/// The content of the first frame.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HelloHead<'a> {
    /// The version of the format: [`VERSION`].
    pub version: u32,
    /// The version of the program.
    pub program: &'a str,
    /// The title of the page.
    pub title: &'a str,
    /// The kind of data on the page.
    pub mode: PageMode,
    /// True if the page can read the objects on the bus.
    pub objects: bool,
    /// True if the page may call methods and set properties.
    pub calls: bool,
}

/// The kind of data that a page shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PageMode {
    /// Recordings that the program reads.
    Recording,
    /// The messages of a running bus.
    Live,
    /// A recording inside a saved page.
    Embedded,
}

/// The names of all columns in all frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ColumnName {
    /// The time from the previous message to this one.
    Step,
    /// The time of a message.
    At,
    /// The type of a message.
    Kind,
    /// The flags of a message.
    Flags,
    /// The completeness and validity of a message.
    Health,
    /// The bus of a message.
    Bus,
    /// The sender of a message, or the start of a span of processor time.
    From,
    /// The recipient of a message.
    To,
    /// The destination field of a message.
    Destination,
    /// The path field of a message.
    Path,
    /// The interface field of a message.
    Interface,
    /// The member field of a message; for an error, the name of the error.
    Member,
    /// The number of rows between a reply and its call.
    Answers,
    /// The size of a message in bytes.
    Size,
    /// The time until the bus had routed a message.
    Routed,
    /// The time until the bus had delivered a message.
    Delivered,
    /// The number of rows of `recipients` that belong to a message.
    Copies,
    /// The recipients of all copies.
    Recipients,
    /// One bit for each message: set if a query selects it.
    Selected,
    /// The bytes of a file.
    File,
    /// The connection that represents a process.
    Peer,
    /// The end of a span of processor time.
    Until,
    /// The nanoseconds that a process ran within a span.
    On,
}

/// The description of a column in the JSON of a frame.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ColumnHead {
    /// The name of the column.
    pub name: ColumnName,
    /// The storage type of the numbers.
    #[serde(rename = "type")]
    pub packing: ColumnType,
    /// The number of numbers in the column.
    pub length: usize,
    /// The value of all numbers, if the type is `same`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<u32>,
}

/// The storage type of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ColumnType {
    /// Unsigned numbers of 8 bits.
    U8,
    /// Unsigned numbers of 32 bits.
    U32,
    /// Floating-point numbers of 64 bits.
    F64,
    /// Numbers of 8 bits, sign-extended to 32.
    I8,
    /// Numbers of 16 bits, sign-extended to 32.
    I16,
    /// No bytes: all numbers are equal.
    Same,
}

/// A frame under construction.
#[derive(Debug)]
pub struct PageFrame {
    /// The head of the frame, a JSON object.
    head: Vec<u8>,
    columns: Vec<ColumnHead>,
    data: Vec<u8>,
}

/// The numbers of a column, one for each row.
#[derive(Clone, Copy, Debug)]
pub enum FrameColumn<'c> {
    /// Numbers of 8 bits each.
    U8(&'c [u8]),
    /// Numbers of 32 bits each.
    U32(&'c [u32]),
    /// Floating-point numbers, which represent integers up to 2^53 exactly.
    F64(&'c [f64]),
    /// Numbers of 32 bits, stored in as few bits as all of them need.
    Packed(&'c [u32]),
}

/// The storage of a packed column. Numbers of fewer than 32 bits are signed, so that the largest
/// number of 32 bits, which represents an absent value, is -1 in all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Packing {
    /// All numbers have this value.
    Same(u32),
    I8,
    I16,
    U32,
}

impl PageFrame {
    /// Creates a frame without columns.
    ///
    /// # Panics
    ///
    /// If the head cannot be serialized as JSON, which would be a bug.
    pub fn new(head: &FrameHead<'_>) -> Self {
        let head = serde_json::to_vec(head).expect("a head can be written as JSON");
        Self { head, columns: Vec::new(), data: Vec::new() }
    }

    /// Creates the frame that answers a question.
    pub fn answer(answer: AnswerBody) -> Self {
        Self::new(&FrameHead::Answer { answer })
    }

    /// Adds a column to the frame.
    #[must_use]
    pub fn with_column(mut self, name: ColumnName, column: FrameColumn<'_>) -> Self {
        let value = match column.packing() {
            Some(Packing::Same(number)) => Some(number),
            _ => None,
        };
        let (packing, length) = (column.column_type(), column.len());
        self.columns.push(ColumnHead { name, packing, length, value });
        column.write(&mut self.data);
        pad(&mut self.data, 0);
        self
    }

    /// Returns the bytes of the frame.
    pub fn into_bytes(self) -> Vec<u8> {
        let mut json = self.head;
        if !self.columns.is_empty() {
            // The head is an object with at least one member, so another one can follow.
            json.pop();
            json.extend_from_slice(b",\"columns\":");
            let columns = serde_json::to_vec(&self.columns);
            json.extend(columns.expect("names and numbers can be written as JSON"));
            json.push(b'}');
        }
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

impl FrameColumn<'_> {
    fn packing(self) -> Option<Packing> {
        match self {
            Self::Packed(numbers) => Some(Packing::of(numbers)),
            Self::U8(_) | Self::U32(_) | Self::F64(_) => None,
        }
    }

    fn column_type(self) -> ColumnType {
        match self {
            Self::U8(_) => ColumnType::U8,
            Self::U32(_) => ColumnType::U32,
            Self::F64(_) => ColumnType::F64,
            Self::Packed(numbers) => Packing::of(numbers).column_type(),
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

    const fn column_type(self) -> ColumnType {
        match self {
            Self::Same(_) => ColumnType::Same,
            Self::I8 => ColumnType::I8,
            Self::I16 => ColumnType::I16,
            Self::U32 => ColumnType::U32,
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

/// Returns true if all numbers fit after a cast to signed numbers.
fn fit(numbers: &[u32], fits: impl Fn(i32) -> bool) -> bool {
    numbers.iter().all(|&number| fits(number.cast_signed()))
}

fn pad(bytes: &mut Vec<u8>, with: u8) {
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), with);
}

/// A length as a prefix. Frames are far shorter than 4 GiB.
fn u32_of(len: usize) -> u32 {
    u32::try_from(len).expect("a frame is shorter than 4 GiB")
}

/// The size of the two lengths at the start, in bytes.
const PREFIX_LEN: usize = 8;

/// The alignment in bytes. A column of any type can be viewed in place at a multiple of it.
const ALIGNMENT: usize = 8;

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn columns_lie_behind_the_json_at_multiples_of_eight() {
        let frame = PageFrame::new(&FrameHead::Reset { before: 3 });
        let frame = frame.with_column(ColumnName::Kind, FrameColumn::U8(&[1, 2, 3]));
        let bytes = frame.with_column(ColumnName::At, FrameColumn::F64(&[0.5])).into_bytes();
        let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!((number(0), number(0) % 8, number(4) % 8), (bytes.len(), 0, 0));
        let (json, data) = bytes[8..].split_at(number(4));
        let json: Value = serde_json::from_slice(json).unwrap();
        assert_eq!((&json["kind"], &json["before"]), (&"reset".into(), &3.into()));
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
            FrameColumn::Packed(numbers).write(&mut data);
            assert_eq!((Packing::of(numbers), &data[..]), (packing, bytes), "{numbers:?}");
        }
    }
}
