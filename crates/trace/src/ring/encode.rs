//! The bytes of records.

use crate::record::{
    BUS, DELIVERED, Entry, Kind, MESSAGE_FIXED, Message, NAMELESS, Party, Recipients,
};

/// The parts of a record behind its header, in their order.
pub(super) struct Encoded<'a, const WORDS: usize> {
    pub(super) kind: Kind,
    pub(super) words: [u64; WORDS],
    pub(super) recipients: Recipients<'a>,
    pub(super) rest: [&'a [u8]; 2],
}

impl<const WORDS: usize> Encoded<'_, WORDS> {
    #[inline]
    pub(super) const fn len(&self) -> usize {
        8 * WORDS + self.tail_len()
    }

    /// Bytes behind the words.
    #[inline]
    pub(super) const fn tail_len(&self) -> usize {
        self.recipients.len() * DELIVERED + self.rest[0].len() + self.rest[1].len()
    }
}

/// Numbers alone.
#[inline]
const fn numbers(kind: Kind, words: [u64; 3]) -> Encoded<'static, 3> {
    Encoded { kind, words, recipients: Recipients::List(&[]), rest: [&[], &[]] }
}

impl<'a> Entry<'a> {
    /// The parts of what is no message; a message has parts of its own.
    #[inline]
    pub(super) fn encode(self) -> Result<Encoded<'a, 3>, Message<'a>> {
        Ok(match self {
            Self::Message(message) => return Err(message),
            Self::Written { to, total } => numbers(Kind::Written, [to, total, 0]),
            Self::Joined { peer, pid, uid } => {
                numbers(Kind::Joined, [peer, pid.into(), uid.into()])
            }
            Self::Left { peer, why } => texts(Kind::Left, [peer, 0, 0], why, ""),
            Self::Starting { name, by } => texts(Kind::Starting, [by.code(), 0, 0], name, ""),
            Self::Started { name, failure } => {
                let len = short(name).len() as u64;
                texts(Kind::Started, [len, 0, 0], name, failure)
            }
            Self::Dropped { to, count, why } => texts(Kind::Dropped, [to, count, 0], why, ""),
            Self::Owned { name, peer } => texts(Kind::Owned, [peer, 0, 0], name, ""),
        })
    }
}

impl<'a> Message<'a> {
    /// The parts, of which there will be no more bytes than `len_max`, and none of the message
    /// behind its first `kept`. One that is too long loses its end; if that is not enough its
    /// recipients theirs.
    #[inline]
    pub(super) fn encode(&self, len_max: usize, kept: usize) -> Encoded<'a, 4> {
        let room = len_max - MESSAGE_FIXED;
        let recipients = self.recipients.up_to(room / DELIVERED);
        let bytes = self.bytes.up_to(kept.min(room - recipients.len() * DELIVERED));
        let lens = pair(self.len, bytes.len() as u32);
        let copies = pair(recipients.len() as u32, self.first as u32);
        let words = [self.from.code(), self.routed_after.as_nanos() as u64, lens, copies];
        Encoded { kind: Kind::Message, words, recipients, rest: [bytes.0, bytes.1] }
    }
}

impl Party {
    const fn code(self) -> u64 {
        match self {
            Self::Peer(number) => number,
            Self::Nameless => NAMELESS,
            Self::Bus => BUS,
        }
    }
}

/// Numbers and one or two texts.
fn texts<'a>(kind: Kind, words: [u64; 3], text: &'a str, more: &'a str) -> Encoded<'a, 3> {
    let rest = [short(text).as_bytes(), short(more).as_bytes()];
    Encoded { rest, ..numbers(kind, words) }
}

/// Two halves of a word, the first in its lower one.
#[inline]
pub(super) const fn pair(first: u32, second: u32) -> u64 {
    first as u64 | (second as u64) << 32
}

/// A text that fits into every ring.
fn short(text: &str) -> &str {
    let end = (0..=text.len().min(TEXT_MAX)).rfind(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

/// Bytes of a name or a reason.
const TEXT_MAX: usize = 1024;
