//! The records of a ring, and how to decode them.

use std::time::Duration;

use crate::layout::Layout;
use crate::program::Participant;

/// The kind of a record, with its number in the ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum RecordKind {
    /// Padding: the next record is at the start of the ring.
    Padding = 0,
    /// A message was routed.
    Message = 1,
    /// Bytes were written to the socket of a connection.
    Written = 2,
    /// A connection got its unique name.
    Joined = 3,
    /// A connection was closed.
    Left = 4,
    /// The bus starts a service.
    Starting = 5,
    /// The start of a service has succeeded or failed.
    Started = 6,
    /// Messages to a connection were dropped.
    Dropped = 7,
    /// A well-known name had this owner when the reader began.
    Owned = 8,
    /// A connection exists, with its program.
    Participant = 9,
    /// The owner of a well-known name has changed.
    OwnerChanged = 10,
    /// Another program has continued the bus.
    Replaced = 11,
}

impl RecordKind {
    pub(crate) const fn from_code(code: u32) -> Option<Self> {
        Some(match code {
            0 => Self::Padding,
            1 => Self::Message,
            2 => Self::Written,
            3 => Self::Joined,
            4 => Self::Left,
            5 => Self::Starting,
            6 => Self::Started,
            7 => Self::Dropped,
            8 => Self::Owned,
            9 => Self::Participant,
            10 => Self::OwnerChanged,
            11 => Self::Replaced,
            _ => return None,
        })
    }
}

/// The sender of a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Party {
    /// The connection with this number in its unique name, 7 for `:1.7`.
    Peer(u64),
    /// A connection that does not have a unique name yet.
    Nameless,
    /// The bus, which has no connection.
    Bus,
}

impl Party {
    const fn from_code(code: u64) -> Self {
        match code {
            NAMELESS => Self::Nameless,
            BUS => Self::Bus,
            number => Self::Peer(number),
        }
    }
}

/// The content of a record. A number of a connection is the one in its unique name, 7 for `:1.7`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry<'a> {
    /// A message was routed. The time of the record is the time at which the bus received it.
    Message(MessageRecord<'a>),
    /// Bytes were written to the socket of a connection. All copies whose [`Delivered::end`] is at most `total` were
    /// written completely.
    Written {
        /// The number of the connection.
        to: u64,
        /// Bytes written since the connection was made.
        total: u64,
    },
    /// A connection got its unique name.
    Joined {
        /// The number of the connection.
        peer: u64,
        /// Its process id, or 0 if it is unknown.
        pid: u32,
        /// Its user id, or `u32::MAX` if it is unknown.
        uid: u32,
    },
    /// A connection was closed.
    Left {
        /// The number of the connection.
        peer: u64,
        /// The reason, in words.
        why: &'a str,
    },
    /// The bus starts a service.
    Starting {
        /// The name of the service.
        name: &'a str,
        /// The sender of the message that caused the start.
        by: Party,
    },
    /// The start of a service has succeeded or failed.
    Started {
        /// The name of the service.
        name: &'a str,
        /// The failure, in words, or an empty text if the start has succeeded.
        failure: &'a str,
    },
    /// Messages to a connection were dropped.
    Dropped {
        /// The number of the connection.
        to: u64,
        /// The number of dropped messages.
        count: u64,
        /// The reason, in words.
        why: &'a str,
    },
    /// The owner of a well-known name at the start of the trace. Signals of the bus report later changes.
    Owned {
        /// The well-known name of the service.
        name: &'a str,
        /// The number of the owner's connection.
        peer: u64,
    },
    /// A connection exists, and runs this program. Only in rings of participants.
    Participant(Participant<'a>),
    /// The owner of a well-known name has changed. Only in rings of participants.
    OwnerChanged {
        /// The well-known name of the service.
        name: &'a str,
        /// The old owner, if there was one.
        old: Option<u64>,
        /// The new owner, if there is one.
        new: Option<u64>,
    },
    /// Another program has continued the bus, with all its connections. No record is missing here.
    Replaced {
        /// The version of the program before.
        old: &'a str,
        /// The version of the program that continues.
        new: &'a str,
        /// How long the bus paused before this record.
        paused: Duration,
    },
}

/// A message as its recipients get it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageRecord<'a> {
    /// The time from receiving the message until it was routed.
    pub routed_after: Duration,
    /// The stages of that time, or `None` if the bus did not measure them.
    pub stages: Option<Stages>,
    /// The sender of the message.
    pub from: Party,
    /// The length of the message in bytes.
    pub len: u32,
    /// The first bytes of the message, as many as were written.
    pub bytes: Parts<'a>,
    /// The recipients. A long list is cut.
    pub recipients: Recipients<'a>,
    /// Why the first recipient gets a copy. All others have a match rule for the message.
    pub first: FirstRecipient,
}

/// The stages of the time from receiving a message until it was routed. Each time counts from when the bus began to
/// read the message, in whole nanoseconds, up to 4.29 s.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stages {
    read_after: u32,
    begun_after: u32,
    matching: Option<Matching>,
}

/// When the bus searched its match rules for the recipients of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Matching {
    after: u32,
    took: u32,
}

impl Stages {
    /// The message was read after `read_after`, and the bus began to route it after `begun_after`.
    pub fn new(read_after: Duration, begun_after: Duration) -> Self {
        let nanos = |time: Duration| Self::nanos(time.as_nanos() as u64);
        Self { read_after: nanos(read_after), begun_after: nanos(begun_after), matching: None }
    }

    /// The bus searched its match rules, from `after` on and for `took`.
    #[must_use]
    pub fn with_matching(self, after: Duration, took: Duration) -> Self {
        let nanos = |time: Duration| Self::nanos(time.as_nanos() as u64);
        let matching = Matching { after: nanos(after), took: nanos(took) };
        Self { matching: Some(matching), ..self }
    }

    /// When the bus had read the bytes.
    pub fn read_after(&self) -> Duration {
        Duration::from_nanos(self.read_after.into())
    }

    /// When the bus began to route the message. Messages that were read together are routed one after
    /// the other.
    pub fn begun_after(&self) -> Duration {
        Duration::from_nanos(self.begun_after.into())
    }

    /// The time at which the bus began to search its match rules for recipients, and the duration
    /// of the search. `None` if the message has a destination, so that match rules do not determine
    /// its recipients.
    pub fn matching(&self) -> Option<(Duration, Duration)> {
        let nanos = |nanos: u32| Duration::from_nanos(nanos.into());
        self.matching.map(|matching| (nanos(matching.after), nanos(matching.took)))
    }

    /// The four numbers that stand for stages in rings and files: after how many nanoseconds the
    /// message was read and its routing begun, after how many the search of match rules began and how
    /// long it took. [`Self::ABSENT`] stands for what was not measured.
    pub fn to_numbers(stages: Option<Self>) -> [u32; 4] {
        let Some(Self { read_after, begun_after, matching }) = stages else {
            return [Self::ABSENT; 4];
        };
        let (after, took) = matching
            .map_or((Self::ABSENT, Self::ABSENT), |matching| (matching.after, matching.took));
        [read_after, begun_after, after, took]
    }

    /// The stages for which these numbers stand.
    pub fn from_numbers([read_after, begun_after, after, took]: [u32; 4]) -> Option<Self> {
        if read_after == Self::ABSENT || begun_after == Self::ABSENT {
            return None;
        }
        let is_known = after != Self::ABSENT && took != Self::ABSENT;
        let matching = is_known.then_some(Matching { after, took });
        Some(Self { read_after, begun_after, matching })
    }

    /// The number that stands for this many nanoseconds.
    #[inline]
    pub const fn nanos(nanos: u64) -> u32 {
        if nanos < Self::ABSENT as u64 { nanos as u32 } else { Self::ABSENT - 1 }
    }

    /// Stands for a time that was not measured.
    pub const ABSENT: u32 = u32::MAX;

    /// Stands for every time that is as long as this, or longer.
    pub const LATEST: Duration = Duration::from_nanos((Self::ABSENT - 1) as u64);
}

/// Why a recipient gets a copy of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum FirstRecipient {
    /// It has a match rule for the message.
    Listener = 0,
    /// It is the destination of the message.
    Addressee = 1,
}

/// Bytes in one or two pieces, so that they need not be copied together.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a>(pub &'a [u8], pub &'a [u8]);

impl PartialEq for Parts<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Parts<'_> {}

impl<'a> Parts<'a> {
    /// The length of both pieces in bytes.
    pub const fn len(&self) -> usize {
        self.0.len() + self.1.len()
    }

    /// True if the length is 0.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// At most the first `len` bytes.
    #[must_use]
    pub fn up_to(self, len: usize) -> Self {
        let first = len.min(self.0.len());
        Self(&self.0[..first], &self.1[..self.1.len().min(len - first)])
    }

    /// The bytes of both pieces.
    pub fn iter(&self) -> impl Iterator<Item = &'a u8> {
        self.0.iter().chain(self.1)
    }
}

/// One copy of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivered {
    /// The number of the recipient's connection.
    pub to: u64,
    /// How many bytes the bus will have written to the socket of this connection when it has written this copy.
    pub end: u64,
}

/// The copies of a message.
#[derive(Clone, Copy, Debug)]
pub enum Recipients<'a> {
    /// Copies to be written.
    List(&'a [Delivered]),
    /// Copies as they are encoded in a ring.
    Bytes(&'a [u8]),
}

impl Recipients<'_> {
    /// The number of copies.
    #[inline]
    pub const fn len(&self) -> usize {
        match self {
            Self::List(list) => list.len(),
            Self::Bytes(bytes) => bytes.len() / DELIVERED,
        }
    }

    /// True if the length is 0.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// At most the first `len` copies.
    #[must_use]
    pub fn up_to(self, len: usize) -> Self {
        match self {
            Self::List(list) => Self::List(&list[..list.len().min(len)]),
            Self::Bytes(bytes) => Self::Bytes(&bytes[..bytes.len().min(len * DELIVERED)]),
        }
    }

    /// Decodes the copies one by one.
    pub fn iter(&self) -> impl Iterator<Item = Delivered> {
        (0..self.len()).map(move |index| match self {
            Self::List(list) => list[index],
            Self::Bytes(bytes) => delivered(&bytes[index * DELIVERED..]),
        })
    }
}

impl PartialEq for Recipients<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Recipients<'_> {}

/// The number of records before a record, and the number of messages among them. Both wrap around.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct RecordPlace {
    pub(crate) records: u32,
    pub(crate) messages: u32,
}

impl RecordPlace {
    /// The place behind a record of this kind that has this place.
    #[inline]
    pub(crate) const fn after(self, kind: RecordKind) -> Self {
        let messages = self.messages.wrapping_add(matches!(kind, RecordKind::Message) as u32);
        Self { records: self.records.wrapping_add(1), messages }
    }

    /// The records that were missed if the record with this place comes where another was expected. `None` if none were,
    /// or if this place is before the expected one.
    pub(crate) fn since(self, expected: Self) -> Option<Missed> {
        let records = self.records.wrapping_sub(expected.records);
        let messages = self.messages.wrapping_sub(expected.messages);
        (1..=u32::MAX / 2)
            .contains(&records)
            .then_some(Missed { records, messages: messages.min(records) })
    }
}

/// Records that were overwritten before they were read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Missed {
    /// The number of records.
    pub records: u32,
    /// The number of messages among them.
    pub messages: u32,
}

/// A record of a ring, decoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceRecord<'a> {
    /// The number of records before it. It wraps around.
    pub number: u32,
    /// The time, by the monotonic clock.
    pub at: Duration,
    /// The content of the record.
    pub entry: Entry<'a>,
}

impl<'a> Entry<'a> {
    /// Decodes the body of a record. Returns `None` if it is malformed.
    pub(crate) fn decode(layout: Layout, kind: RecordKind, bytes: &'a [u8]) -> Option<Self> {
        if kind == RecordKind::Message {
            return MessageRecord::decode(layout, bytes).map(Self::Message);
        }
        let (numbers, text) = bytes.split_at_checked(NUMBERS)?;
        let number = |index: usize| u64_at(numbers, 8 * index);
        let text = std::str::from_utf8(text).ok()?.trim_end_matches('\0');
        Some(match kind {
            RecordKind::Padding | RecordKind::Message => return None,
            RecordKind::Written => Self::Written { to: number(0), total: number(1) },
            RecordKind::Joined => {
                Self::Joined { peer: number(0), pid: number(1) as u32, uid: number(2) as u32 }
            }
            RecordKind::Left => Self::Left { peer: number(0), why: text },
            RecordKind::Starting => Self::Starting { name: text, by: Party::from_code(number(0)) },
            RecordKind::Started => {
                let (name, failure) = text.split_at_checked(usize::try_from(number(0)).ok()?)?;
                Self::Started { name, failure }
            }
            RecordKind::Dropped => Self::Dropped { to: number(0), count: number(1), why: text },
            RecordKind::Owned => Self::Owned { name: text, peer: number(0) },
            RecordKind::Participant => {
                let ((pid, uid), started) = (halves(number(1)), number(2) as i64);
                Self::Participant(Participant {
                    who: Party::from_code(number(0)),
                    pid,
                    uid,
                    started: Some(started).filter(|&at| at != NOT_KNOWN),
                    // The mark separates the text, which may end with zeros, from the padding.
                    program: text.strip_suffix(TEXT_END)?,
                })
            }
            RecordKind::OwnerChanged => {
                let owner = |index| Some(number(index)).filter(|&owner| owner != NO_OWNER);
                Self::OwnerChanged { name: text, old: owner(0), new: owner(1) }
            }
            RecordKind::Replaced => {
                let (old, new) = text.split_at_checked(usize::try_from(number(0)).ok()?)?;
                Self::Replaced { old, new, paused: Duration::from_nanos(number(1)) }
            }
        })
    }
}

impl<'a> MessageRecord<'a> {
    fn decode(layout: Layout, bytes: &'a [u8]) -> Option<Self> {
        let (fixed, rest) = bytes.split_at_checked(layout.message_fixed())?;
        let word = |index: usize| u64_at(fixed, 8 * index);
        let ((len, kept), (copies, first)) = (halves(word(2)), halves(word(3)));
        let stages = match layout {
            Layout::WithoutStages => None,
            Layout::Current => {
                let ((read, begun), (after, took)) = (halves(word(4)), halves(word(5)));
                Stages::from_numbers([read, begun, after, took])
            }
        };
        let (recipients, rest) = rest.split_at_checked(copies as usize * DELIVERED)?;
        Some(Self {
            from: Party::from_code(word(0)),
            routed_after: Duration::from_nanos(word(1)),
            stages,
            len,
            bytes: Parts(rest.get(..kept as usize)?, &[]),
            recipients: Recipients::Bytes(recipients),
            first: if first == 0 { FirstRecipient::Listener } else { FirstRecipient::Addressee },
        })
    }
}

fn delivered(bytes: &[u8]) -> Delivered {
    Delivered { to: u64_at(bytes, 0), end: u64_at(bytes, 8) }
}

/// The lower and the upper half of a word.
#[inline]
pub(crate) const fn halves(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes))
}

/// The length of an encoded copy in bytes.
pub(crate) const DELIVERED: usize = 16;
/// The length in bytes of the numbers that follow the header of a record that is not a message.
const NUMBERS: usize = 8 * 3;
/// The length in bytes of the numbers that follow the header of a message record.
pub(crate) const MESSAGE_FIXED: usize = 8 * 6;
/// Stand for no connection: the bus numbers connections from 0 on, and never gets that far.
pub(crate) const BUS: u64 = u64::MAX;
pub(crate) const NAMELESS: u64 = u64::MAX - 1;
pub(crate) const NO_OWNER: u64 = u64::MAX;
/// Stands for an unknown time of the start of a process.
pub(crate) const NOT_KNOWN: i64 = i64::MIN;
/// Written behind a text that may end with zeros.
pub(crate) const TEXT_END: &str = "\n";
