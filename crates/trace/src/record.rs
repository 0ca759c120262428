//! What is written into a ring, and how its bytes are read.

use std::time::Duration;

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
}

/// A message, as its recipients got it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message<'a> {
    /// From when it was received until it was routed.
    pub routed_after: Duration,
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
    pub(crate) fn decode(kind: Kind, bytes: &'a [u8]) -> Option<Self> {
        if kind == Kind::Message {
            return Message::decode(bytes).map(Self::Message);
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
        })
    }
}

impl<'a> Message<'a> {
    fn decode(bytes: &'a [u8]) -> Option<Self> {
        let (fixed, rest) = bytes.split_at_checked(MESSAGE_FIXED)?;
        let word = |index: usize| u64_at(fixed, 8 * index);
        let ((len, kept), (copies, first)) = (halves(word(2)), halves(word(3)));
        let (recipients, rest) = rest.split_at_checked(copies as usize * DELIVERED)?;
        Some(Self {
            from: Party::from_code(word(0)),
            routed_after: Duration::from_nanos(word(1)),
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
/// Bytes of a message's, which has one more.
pub(crate) const MESSAGE_FIXED: usize = 8 * 4;
/// No connection ever has these numbers: they would have to be counted up to.
pub(crate) const BUS: u64 = u64::MAX;
pub(crate) const NAMELESS: u64 = u64::MAX - 1;
