//! Converts the trace that the Diligence bus writes about its messages to records.
//!
//! The bus records that it has routed a message before the copies are written. For each connection
//! it records how many bytes were written, but not of which messages. [`Assembler`] combines both.

mod participant;
mod pending;

use std::time::Duration;

use ::trace::record::{Entry, FirstRecipient, MessageRecord, Party};

use crate::record::{
    BusId, Fact, GapCause, RawMessage, RecordedProcess, RecordedTime, RecordingGap,
    RecordingRecord, Routing, Trace, TracedDelivery, nanos,
};
use pending::PendingItems;

/// Converts the entries in the ring of a bus to records, in the order in which the bus wrote them:
/// for messages, the order in which it routed them. The bus may have read some of them well before
/// it routed them, so their times may go back slightly.
///
/// A message is returned when all its copies have been written, or when [`AssemblerLimits`] is
/// exceeded: then without the times that are not known. Later records wait for it.
///
/// ```
/// use capture::record::{BusId, RecordingRecord};
/// use capture::trace::{Assembler, AssemblerLimits};
/// use std::time::Duration;
/// use trace::record::{Entry, FirstRecipient, MessageRecord, Parts, Party, Recipients};
/// use trace::Delivered;
///
/// let mut assembler = Assembler::new(BusId(0), 0, AssemblerLimits::default());
/// let copies = [Delivered { to: 7, end: 120 }];
/// let message = MessageRecord {
///     routed_after: Duration::from_micros(2),
///     stages: None,
///     from: Party::Peer(5),
///     len: 4,
///     bytes: Parts(b"l\x01", b"\x00\x01"),
///     recipients: Recipients::List(&copies),
///     first: FirstRecipient::Addressee,
/// };
/// assembler.push(Duration::from_micros(10), &Entry::Message(message));
/// assert!(assembler.next_record().is_none(), "the copy was not written yet");
/// assembler.push(Duration::from_micros(15), &Entry::Written { to: 7, total: 120 });
/// let Some(RecordingRecord::Message(message)) = assembler.next_record() else { panic!("it was written") };
/// let delivery = message.trace.expect("it is traced").deliveries[0];
/// assert_eq!(delivery.written_after, Some(Duration::from_micros(5)));
/// ```
#[derive(Debug)]
pub struct Assembler {
    bus: BusId,
    /// The nanoseconds from the monotonic clock to the time of day.
    clock: i64,
    limits: AssemblerLimits,
    pending: PendingItems,
    now: Duration,
}

/// The limits up to which messages wait for their copies to be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AssemblerLimits {
    /// The maximum time since a message was routed.
    pub time: Duration,
    /// The maximum number of bytes of all waiting records.
    pub bytes: usize,
}

/// One second and 64 MiB.
impl Default for AssemblerLimits {
    fn default() -> Self {
        Self { time: Duration::from_secs(1), bytes: 64 << 20 }
    }
}

/// A record that waits to be returned.
#[derive(Debug)]
enum AssembledItem {
    Message(TracedHeader),
    /// Boxed, since facts are much larger than messages, and rare.
    Fact(Box<Fact>),
    Gap {
        cause: GapCause,
        lost: Option<u64>,
    },
}

/// A message without its bytes and its deliveries.
#[derive(Clone, Copy, Debug)]
struct TracedHeader {
    routing: Routing,
    len: u32,
}

impl Assembler {
    /// Creates an assembler for a bus whose ring has this [`clock`](trace::Follower::clock).
    pub fn new(bus: BusId, clock: i64, limits: AssemblerLimits) -> Self {
        Self { bus, clock, limits, pending: PendingItems::default(), now: Duration::ZERO }
    }

    /// Adds the next entry of the ring, with its time by the monotonic clock.
    pub fn push(&mut self, at: Duration, entry: &Entry<'_>) {
        self.now = self.now.max(at);
        match *entry {
            Entry::Message(message) => self.message(at, &message),
            Entry::Written { to, total } => self.pending.written(to, total, at),
            Entry::Left { peer, .. } => {
                self.pending.left(peer);
                self.other(at, entry);
            }
            Entry::Joined { .. }
            | Entry::Starting { .. }
            | Entry::Started { .. }
            | Entry::Dropped { .. }
            | Entry::Owned { .. }
            | Entry::Participant(_)
            | Entry::OwnerChanged { .. }
            | Entry::Replaced { .. } => self.other(at, entry),
        }
    }

    /// Records that entries with this number of messages were overwritten before they were read.
    /// Waiting messages are returned without the times that are not known.
    pub fn missed(&mut self, count: u64) {
        self.gap(GapCause::Overrun, Some(count));
    }

    /// Records that entries are missing because the file is truncated, with the number of messages,
    /// if known.
    pub fn cut(&mut self, count: Option<u64>) {
        self.gap(GapCause::CutFile, count);
    }

    fn gap(&mut self, cause: GapCause, lost: Option<u64>) {
        self.pending.give_up_all();
        self.pending.push(self.now, self.now, AssembledItem::Gap { cause, lost }, &[]);
    }

    /// Informs the assembler that the ring has no more entries at this time of the monotonic clock.
    /// Without it, waiting messages are given up only when more entries are added.
    pub fn idle(&mut self, now: Duration) {
        self.now = self.now.max(now);
    }

    /// Ends the input: messages no longer wait.
    pub fn finish(&mut self) {
        self.pending.give_up_all();
    }

    /// Returns true if there is a next record.
    pub fn is_ready(&self) -> bool {
        let is_over = self.pending.len_bytes() > self.limits.bytes;
        let deadline = self.now.checked_sub(self.limits.time);
        self.pending.is_ready(is_over, deadline)
    }

    /// Returns the next complete record.
    pub fn next_record(&mut self) -> Option<RecordingRecord<'_>> {
        if !self.is_ready() {
            return None;
        }
        let (bus, clock) = (self.bus, self.clock);
        let taken = self.pending.take()?;
        let at = time(clock, taken.at);
        Some(match taken.item {
            AssembledItem::Fact(fact) => RecordingRecord::Fact { at, bus, fact: *fact },
            AssembledItem::Gap { cause, lost } => {
                // A gap before the first entry has no time.
                let at = (taken.at > Duration::ZERO).then_some(at);
                RecordingRecord::Gap(RecordingGap { at, bus, cause, lost })
            }
            AssembledItem::Message(TracedHeader { routing, len }) => {
                let trace = Some(Trace { routing, deliveries: taken.deliveries });
                RecordingRecord::Message(RawMessage {
                    at,
                    bus,
                    bytes: taken.bytes,
                    len,
                    place: None,
                    trace,
                })
            }
        })
    }

    fn message(&mut self, at: Duration, message: &MessageRecord<'_>) {
        let routing = Routing { after: message.routed_after, stages: message.stages };
        let header = TracedHeader { routing, len: message.len };
        let bytes = [message.bytes.0, message.bytes.1];
        self.pending.push(at, at + message.routed_after, AssembledItem::Message(header), &bytes);
        for (index, copy) in message.recipients.iter().enumerate() {
            let rules = u32::from(index > 0 || message.first == FirstRecipient::Listener);
            let recipient = copy.to;
            let delivery =
                TracedDelivery { recipient, begun_after: None, written_after: None, rules };
            let start = copy.end.saturating_sub(message.len.into());
            self.pending.add_copy(delivery, start..copy.end);
        }
    }

    fn other(&mut self, at: Duration, entry: &Entry<'_>) {
        if let Some(fact) = fact_of(entry, at, self.clock) {
            self.fact(at, fact);
        }
    }

    /// Adds a fact, with its time by the monotonic clock.
    pub(crate) fn fact(&mut self, at: Duration, fact: Fact) {
        self.pending.push(at, at, AssembledItem::Fact(Box::new(fact)), &[]);
    }
}

/// Converts an entry that is not about a message to a fact. `clock` is the clock of the ring.
pub(crate) fn fact_of(entry: &Entry<'_>, at: Duration, clock: i64) -> Option<Fact> {
    Some(match *entry {
        Entry::Joined { peer, pid, uid } => {
            let process = RecordedProcess {
                pid: (pid != 0).then_some(pid),
                uid: (uid != u32::MAX).then_some(uid),
                ..RecordedProcess::default()
            };
            Fact::Peer { unique: unique(peer), process: Some(process) }
        }
        Entry::Starting { name, by } => {
            let by = match by {
                Party::Peer(number) => Some(unique(number)),
                Party::Nameless | Party::Bus => None,
            };
            Fact::Starting { name: name.to_owned(), by }
        }
        Entry::Started { name, failure } => {
            Fact::Started { name: name.to_owned(), failure: non_empty(failure) }
        }
        Entry::Dropped { to, count, why } => {
            Fact::Dropped { recipient: Some(unique(to)), why: why.to_owned(), count }
        }
        Entry::Owned { name, peer } => {
            Fact::Owner { name: name.to_owned(), unique: Some(unique(peer)), since: None }
        }
        Entry::Participant(participant) => participant::fact(&participant, clock)?,
        Entry::OwnerChanged { name, new, .. } => {
            let since = new.map(|_| time(clock, at));
            Fact::Owner { name: name.to_owned(), unique: new.map(unique), since }
        }
        Entry::Replaced { old, new, paused } => {
            let (old, new) = (old.to_owned(), new.to_owned());
            Fact::Replaced { old, new, paused_ns: nanos(paused) }
        }
        Entry::Left { peer, why } => Fact::Left { unique: unique(peer), why: non_empty(why) },
        Entry::Message(_) | Entry::Written { .. } => return None,
    })
}

fn unique(number: u64) -> String {
    format!(":1.{number}")
}

fn non_empty(words: &str) -> Option<String> {
    (!words.is_empty()).then(|| words.to_owned())
}

fn time(clock: i64, at: Duration) -> RecordedTime {
    RecordedTime(clock.saturating_add(i64::try_from(at.as_nanos()).unwrap_or(i64::MAX)))
}
