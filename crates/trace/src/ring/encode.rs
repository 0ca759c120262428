//! Encodes records into the words of a ring.

use crate::program::{Participant, TEXT_LEN_MAX, start_of};
use crate::record::{
    BUS, DELIVERED, Entry, MESSAGE_FIXED, MessageRecord, NAMELESS, NO_OWNER, NOT_KNOWN, Party,
    Recipients, RecordKind, Stages, TEXT_END,
};

/// The body of a record, in parts in the order in which they are written.
pub(super) struct Encoded<'a, const WORDS: usize> {
    pub(super) kind: RecordKind,
    pub(super) words: [u64; WORDS],
    pub(super) recipients: Recipients<'a>,
    pub(super) rest: [&'a [u8]; 2],
}

impl<const WORDS: usize> Encoded<'_, WORDS> {
    #[inline]
    pub(super) const fn len(&self) -> usize {
        8 * WORDS + self.tail_len()
    }

    /// The length of the body behind the words, in bytes.
    #[inline]
    pub(super) const fn tail_len(&self) -> usize {
        self.recipients.len() * DELIVERED + self.rest[0].len() + self.rest[1].len()
    }
}

/// A body that consists of numbers.
#[inline]
const fn numbers(kind: RecordKind, words: [u64; 3]) -> Encoded<'static, 3> {
    Encoded { kind, words, recipients: Recipients::List(&[]), rest: [&[], &[]] }
}

impl<'a> Entry<'a> {
    /// Encodes a record that is not a message. Returns a message as it is, as its body has other parts.
    #[inline]
    pub(super) fn encode(self) -> Result<Encoded<'a, 3>, MessageRecord<'a>> {
        Ok(match self {
            Self::Message(message) => return Err(message),
            Self::Written { to, total } => numbers(RecordKind::Written, [to, total, 0]),
            Self::Joined { peer, pid, uid } => {
                numbers(RecordKind::Joined, [peer, pid.into(), uid.into()])
            }
            Self::Left { peer, why } => texts(RecordKind::Left, [peer, 0, 0], why, ""),
            Self::Starting { name, by } => texts(RecordKind::Starting, [by.code(), 0, 0], name, ""),
            Self::Started { name, failure } => {
                let len = short(name).len() as u64;
                texts(RecordKind::Started, [len, 0, 0], name, failure)
            }
            Self::Dropped { to, count, why } => texts(RecordKind::Dropped, [to, count, 0], why, ""),
            Self::Owned { name, peer } => texts(RecordKind::Owned, [peer, 0, 0], name, ""),
            Self::Participant(participant) => participant.encode(),
            Self::OwnerChanged { name, old, new } => {
                let [old, new] = [old, new].map(|owner| owner.unwrap_or(NO_OWNER));
                texts(RecordKind::OwnerChanged, [old, new, 0], name, "")
            }
            Self::Replaced { old, new, paused } => {
                let (len, paused) = (short(old).len() as u64, paused.as_nanos() as u64);
                texts(RecordKind::Replaced, [len, paused, 0], old, new)
            }
        })
    }
}

impl<'a> MessageRecord<'a> {
    /// Encodes a message in at most `len_max` bytes, with at most its first `kept` bytes. If that is too long, the
    /// bytes of the message are cut first, and then the recipients.
    #[inline]
    pub(super) fn encode(&self, len_max: usize, kept: usize) -> Encoded<'a, 6> {
        let room = len_max - MESSAGE_FIXED;
        let recipients = self.recipients.up_to(room / DELIVERED);
        let bytes = self.bytes.up_to(kept.min(room - recipients.len() * DELIVERED));
        let lens = pair(self.len, bytes.len() as u32);
        let copies = pair(recipients.len() as u32, self.first as u32);
        let [read, begun, after, took] = Stages::to_numbers(self.stages);
        let (begun, matching) = (pair(read, begun), pair(after, took));
        let routed = self.routed_after.as_nanos() as u64;
        let words = [self.from.code(), routed, lens, copies, begun, matching];
        Encoded { kind: RecordKind::Message, words, recipients, rest: [bytes.0, bytes.1] }
    }
}

impl<'a> Participant<'a> {
    fn encode(self) -> Encoded<'a, 3> {
        let Self { who, pid, uid, started, program } = self;
        let started = match started {
            Some(started) => started,
            None => NOT_KNOWN,
        };
        let words = [who.code(), pair(pid, uid), started as u64];
        let rest: [&[u8]; 2] = [start_of(program, TEXT_LEN_MAX).as_bytes(), TEXT_END.as_bytes()];
        Encoded { rest, ..numbers(RecordKind::Participant, words) }
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

/// A body of numbers and one or two texts.
fn texts<'a>(kind: RecordKind, words: [u64; 3], text: &'a str, more: &'a str) -> Encoded<'a, 3> {
    let rest = [short(text).as_bytes(), short(more).as_bytes()];
    Encoded { rest, ..numbers(kind, words) }
}

/// A word of two halves, the first being the lower one.
#[inline]
pub(super) const fn pair(first: u32, second: u32) -> u64 {
    first as u64 | (second as u64) << 32
}

/// The start of a text, short enough for every ring.
fn short(text: &str) -> &str {
    start_of(text, TEXT_MAX)
}

/// The maximum length of a name or a reason in bytes.
const TEXT_MAX: usize = 1024;
