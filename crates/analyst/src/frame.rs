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

/// The version of the format. A page that was made for another version reports this instead of
/// showing something wrong.
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
        /// How often the bus closed the connection. Messages until the next connection are missing too.
        disconnected: u64,
    },
    /// The oldest messages of a bus were dropped. All other messages follow again.
    Reset {
        /// How many messages precede the first one that follows.
        before: u64,
    },
    /// The last frame of the stream.
    End {
        /// Why the stream ended early; `None` if the recording is complete.
        why: Option<String>,
    },
    /// The answer to a question.
    Answer {
        /// The answer, under the name of its question.
        answer: AnswerBody,
    },
    /// The answer to a question that cannot be answered.
    Refusal {
        /// The reason, as a sentence.
        message: String,
        /// The column at which the query is wrong, in characters from 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        column: Option<usize>,
        /// Whether more text after the query can make it valid.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        unfinished: bool,
    },
    /// The question names rows of messages that have been dropped since.
    Moved {
        /// How many messages precede the first one.
        before: u64,
    },
}

/// What the stream begins with.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HelloHead<'a> {
    /// The version of the format: [`VERSION`].
    pub version: u32,
    /// The version of the program.
    pub program: &'a str,
    /// The title of the page.
    pub title: &'a str,
    /// What the page shows.
    pub mode: PageMode,
    /// Whether the page can ask the bus for its objects.
    pub objects: bool,
    /// Whether the page may call methods and set properties.
    pub calls: bool,
}

/// What the page shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PageMode {
    /// Recordings that the program reads.
    Recording,
    /// A running bus.
    Live,
    /// A recording inside a saved page.
    Embedded,
}

/// The names of all columns in all frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ColumnName {
    /// Time from the message before to this message.
    Step,
    /// Time of a message.
    At,
    /// Type of a message.
    Kind,
    /// Flags of a message.
    Flags,
    /// How much of a message is known, and whether it is valid.
    Health,
    /// Bus of a message.
    Bus,
    /// Sender of a message; start of a stretch of processor time.
    From,
    /// Recipient of a message.
    To,
    /// Destination field of a message.
    Destination,
    /// Path field of a message.
    Path,
    /// Interface field of a message.
    Interface,
    /// Member field of a message; the name of an error.
    Member,
    /// How many rows before a reply its call is.
    Answers,
    /// Bytes of a message.
    Size,
    /// Time until the bus had routed a message.
    Routed,
    /// Time until the bus had delivered a message.
    Delivered,
    /// How many rows of `recipients` belong to a message.
    Copies,
    /// Recipients of all copies.
    Recipients,
    /// One bit for each message: whether a query selects it.
    Selected,
    /// Bytes of a file.
    File,
    /// The connection that stands for a process.
    Peer,
    /// End of a stretch of processor time.
    Until,
    /// Nanoseconds that a process ran within a stretch.
    On,
}

/// What the JSON of a frame says about a column of it.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ColumnHead {
    /// The name.
    pub name: ColumnName,
    /// How the numbers are stored.
    #[serde(rename = "type")]
    pub packing: ColumnType,
    /// How many numbers the column has.
    pub length: usize,
    /// The value of all numbers of the type `same`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<u32>,
}

/// How the numbers of a column are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ColumnType {
    /// 8 bits, unsigned.
    U8,
    /// 32 bits, unsigned.
    U32,
    /// Floating-point numbers of 64 bits.
    F64,
    /// 8 bits, sign-extended to 32.
    I8,
    /// 16 bits, sign-extended to 32.
    I16,
    /// No bytes: all numbers are equal.
    Same,
}

/// A frame while it is put together.
#[derive(Debug)]
pub struct PageFrame {
    /// A JSON object.
    head: Vec<u8>,
    columns: Vec<ColumnHead>,
    data: Vec<u8>,
}

/// The numbers of a column, one for each row.
#[derive(Clone, Copy, Debug)]
pub enum FrameColumn<'c> {
    /// 8 bits each.
    U8(&'c [u8]),
    /// 32 bits each.
    U32(&'c [u32]),
    /// Floating-point numbers, which hold whole ones up to 2^53 exactly.
    F64(&'c [f64]),
    /// 32 bits each, stored in as few bits as hold all of them.
    Packed(&'c [u32]),
}

/// How a packed column is stored. Numbers of fewer than 32 bits are signed, so that the largest number
/// of 32 bits, which stands for an absent value, is -1 in all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Packing {
    /// All numbers have this value.
    Same(u32),
    I8,
    I16,
    U32,
}

impl PageFrame {
    /// A frame without columns.
    ///
    /// # Panics
    ///
    /// If the head cannot be written as JSON, which is a bug.
    pub fn new(head: &FrameHead<'_>) -> Self {
        let head = serde_json::to_vec(head).expect("a head can be written as JSON");
        Self { head, columns: Vec::new(), data: Vec::new() }
    }

    /// The frame that answers a question.
    pub fn answer(answer: AnswerBody) -> Self {
        Self::new(&FrameHead::Answer { answer })
    }

    /// The same frame with one more column.
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

    /// The bytes of the frame.
    pub fn into_bytes(self) -> Vec<u8> {
        let mut json = self.head;
        if !self.columns.is_empty() {
            // The head is an object with at least its kind, so a member can follow.
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

/// Whether all numbers fit after a cast to signed numbers.
fn fit(numbers: &[u32], fits: impl Fn(i32) -> bool) -> bool {
    numbers.iter().all(|&number| fits(number.cast_signed()))
}

fn pad(bytes: &mut Vec<u8>, with: u8) {
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), with);
}

/// A length for a prefix. Frames are far shorter than 4 GiB.
fn u32_of(len: usize) -> u32 {
    u32::try_from(len).expect("a frame is shorter than 4 GiB")
}

/// Bytes of the two lengths at the start.
const PREFIX_LEN: usize = 8;

/// Bytes. A column of any type can be viewed in place at a multiple of this.
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
