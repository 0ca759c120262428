//! What is written into a ring, and how its bytes are read.

use std::time::Duration;

use crate::layout::Layout;
use crate::program::Participant;

/// What a record is about: its number in the ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Kind {
    /// Nothing: the ring ends here, and goes on at its start.
    Padding = 0,
    /// A message.
    Message = 1,
    /// Bytes have left for a connection.
    Written = 2,
    /// A connection is there.
    Joined = 3,
    /// A connection is gone.
    Left = 4,
    /// A service is started.
    Starting = 5,
    /// What came of that.
    Started = 6,
    /// Messages were kept from a connection.
    Dropped = 7,
    /// A name has an owner.
    Owned = 8,
    /// A connection, with its program.
    Participant = 9,
    /// A name has another owner than before.
    OwnerChanged = 10,
}

impl Kind {
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
            _ => return None,
        })
    }
}

/// Who has sent something.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Party {
    /// The connection with this number in its unique name, 7 for `:1.7`.
    Peer(u64),
    /// A connection that has no name yet.
    Nameless,
    /// The bus itself.
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

/// What the bus has seen. Connections are called by the number in their unique name, 7 for `:1.7`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry<'a> {
    /// A message was routed. The time of the record is that at which it was received.
    Message(Message<'a>),
    /// So many bytes have left for a connection since it was made, all messages to it taken
    /// together. A copy whose [`Delivered::end`] is no larger has left.
    Written {
        /// The connection.
        to: u64,
        /// Bytes.
        total: u64,
    },
    /// A connection has got its unique name.
    Joined {
        /// The connection.
        peer: u64,
        /// Its process; 0 if that is not known.
        pid: u32,
        /// Its user; `u32::MAX` if that is not known.
        uid: u32,
    },
    /// A connection is gone.
    Left {
        /// The connection.
        peer: u64,
        /// Why, in words.
        why: &'a str,
    },
    /// A service is started.
    Starting {
        /// Its name.
        name: &'a str,
        /// Who asked for it.
        by: Party,
    },
    /// What came of starting a service.
    Started {
        /// Its name.
        name: &'a str,
        /// What went wrong, in words; empty if nothing did.
        failure: &'a str,
    },
    /// Messages were kept from a connection.
    Dropped {
        /// The connection.
        to: u64,
        /// How many.
        count: u64,
        /// Why, in words.
        why: &'a str,
    },
    /// A well-known name has this owner, found so when somebody began to look. Changes after that
    /// are told by messages of the bus.
    Owned {
        /// The name.
        name: &'a str,
        /// The connection.
        peer: u64,
    },
    /// A connection is there, and this is its program. Only in rings of participants.
    Participant(Participant<'a>),
    /// A well-known name has another owner than before. Only in rings of participants.
    OwnerChanged {
        /// The name.
        name: &'a str,
        /// The owner so far.
        old: Option<u64>,
        /// The owner from now on.
        new: Option<u64>,
    },
}

/// A message, as its recipients got it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message<'a> {
    /// From when it was received until it was routed.
    pub routed_after: Duration,
    /// How long the parts of that took; `None` if the bus did not measure them.
    pub stages: Option<Stages>,
    /// Who sent it.
    pub from: Party,
    /// Bytes that it has.
    pub len: u32,
    /// Those that were kept, from the first one on.
    pub bytes: Parts<'a>,
    /// Who gets a copy. A long list is cut like a long message is.
    pub recipients: Recipients<'a>,
    /// Why the first of them does; all others have asked for it.
    pub first: First,
}

/// The parts of the time from when the bus received a message until it had routed it. Each time counts
/// from when the bus began to read the message, in whole nanoseconds of at most 4.29 s.
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

    /// When the bus began to search its match rules for recipients, and how long that took. `None` if
    /// the message has a destination, so that no match rules decide who gets it.
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

/// Why somebody gets a copy of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum First {
    /// It has asked for it.
    Listener = 0,
    /// The message is for it.
    Addressee = 1,
}

/// Bytes in one or two pieces, so that nobody has to put them together.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a>(pub &'a [u8], pub &'a [u8]);

impl PartialEq for Parts<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Parts<'_> {}

impl<'a> Parts<'a> {
    /// Bytes in both.
    pub const fn len(&self) -> usize {
        self.0.len() + self.1.len()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// No more than the first `len` bytes.
    #[must_use]
    pub fn up_to(self, len: usize) -> Self {
        let first = len.min(self.0.len());
        Self(&self.0[..first], &self.1[..self.1.len().min(len - first)])
    }

    /// All bytes.
    pub fn iter(&self) -> impl Iterator<Item = &'a u8> {
        self.0.iter().chain(self.1)
    }
}

/// One copy of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivered {
    /// To whom.
    pub to: u64,
    /// Bytes that will have left for that connection, all its messages taken together, when this
    /// copy has.
    pub end: u64,
}

/// The copies of a message.
#[derive(Clone, Copy, Debug)]
pub enum Recipients<'a> {
    /// To be written.
    List(&'a [Delivered]),
    /// As they stand in a ring.
    Bytes(&'a [u8]),
}

impl Recipients<'_> {
    /// How many there are.
    #[inline]
    pub const fn len(&self) -> usize {
        match self {
            Self::List(list) => list.len(),
            Self::Bytes(bytes) => bytes.len() / DELIVERED,
        }
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// No more than the first `len` of them.
    #[must_use]
    pub fn up_to(self, len: usize) -> Self {
        match self {
            Self::List(list) => Self::List(&list[..list.len().min(len)]),
            Self::Bytes(bytes) => Self::Bytes(&bytes[..bytes.len().min(len * DELIVERED)]),
        }
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = Delivered> {
        (0..self.len()).map(|index| match self {
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

/// How many records stand before one, and how many of these are messages. Both wrap around.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Place {
    pub(crate) records: u32,
    pub(crate) messages: u32,
}

impl Place {
    /// Behind a record that stands here.
    #[inline]
    pub(crate) const fn after(self, kind: Kind) -> Self {
        let messages = self.messages.wrapping_add(matches!(kind, Kind::Message) as u32);
        Self { records: self.records.wrapping_add(1), messages }
    }

    /// What was missed of what should have come next. Who goes back has missed nothing.
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
    /// All of them.
    pub records: u32,
    /// Messages among them.
    pub messages: u32,
}

/// A record as it is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record<'a> {
    /// Its number, from 0; it wraps around.
    pub number: u32,
    /// When, by the monotonic clock.
    pub at: Duration,
    /// What.
    pub entry: Entry<'a>,
}

impl<'a> Entry<'a> {
    /// What the bytes behind a record's header say; `None` if that is nothing.
    pub(crate) fn decode(layout: Layout, kind: Kind, bytes: &'a [u8]) -> Option<Self> {
        if kind == Kind::Message {
            return Message::decode(layout, bytes).map(Self::Message);
        }
        let (numbers, text) = bytes.split_at_checked(NUMBERS)?;
        let number = |index: usize| u64_at(numbers, 8 * index);
        let text = std::str::from_utf8(text).ok()?.trim_end_matches('\0');
        Some(match kind {
            Kind::Padding | Kind::Message => return None,
            Kind::Written => Self::Written { to: number(0), total: number(1) },
            Kind::Joined => {
                Self::Joined { peer: number(0), pid: number(1) as u32, uid: number(2) as u32 }
            }
            Kind::Left => Self::Left { peer: number(0), why: text },
            Kind::Starting => Self::Starting { name: text, by: Party::from_code(number(0)) },
            Kind::Started => {
                let (name, failure) = text.split_at_checked(usize::try_from(number(0)).ok()?)?;
                Self::Started { name, failure }
            }
            Kind::Dropped => Self::Dropped { to: number(0), count: number(1), why: text },
            Kind::Owned => Self::Owned { name: text, peer: number(0) },
            Kind::Participant => {
                let ((pid, uid), started) = (halves(number(1)), number(2) as i64);
                Self::Participant(Participant {
                    who: Party::from_code(number(0)),
                    pid,
                    uid,
                    started: Some(started).filter(|&at| at != NOT_KNOWN),
                    // The records that are not filled end with zeros, as a text may.
                    program: text.strip_suffix(TEXT_END)?,
                })
            }
            Kind::OwnerChanged => {
                let owner = |index| Some(number(index)).filter(|&owner| owner != NO_OWNER);
                Self::OwnerChanged { name: text, old: owner(0), new: owner(1) }
            }
        })
    }
}

impl<'a> Message<'a> {
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
            first: if first == 0 { First::Listener } else { First::Addressee },
        })
    }
}

fn delivered(bytes: &[u8]) -> Delivered {
    Delivered { to: u64_at(bytes, 0), end: u64_at(bytes, 8) }
}

/// The halves of a word.
#[inline]
pub(crate) const fn halves(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes))
}

/// Bytes of one copy.
pub(crate) const DELIVERED: usize = 16;
/// Bytes of the words that a record has behind its header.
const NUMBERS: usize = 8 * 3;
/// Bytes of the words of a message.
pub(crate) const MESSAGE_FIXED: usize = 8 * 6;
/// No connection ever has these numbers: they would have to be counted up to.
pub(crate) const BUS: u64 = u64::MAX;
pub(crate) const NAMELESS: u64 = u64::MAX - 1;
pub(crate) const NO_OWNER: u64 = u64::MAX;
/// The time of a start that is not known.
pub(crate) const NOT_KNOWN: i64 = i64::MIN;
/// What a text that may end with zeros is written with.
pub(crate) const TEXT_END: &str = "\n";
