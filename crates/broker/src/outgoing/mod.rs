//! The queue of messages to write to one connection.
//!
//! Small messages are copied once, into a [staging area](Staging) that all recipients share, and
//! messages that follow each other there are written with one slice. If a socket is full, its queue
//! copies the rest of its messages into memory of its own. Longer bodies are not copied, unless
//! their memory is needed again before they are written. Descriptors are sent with the first byte of their message, and a
//! message with descriptors is written in a separate call, because the kernel would otherwise
//! deliver them with an earlier message.

mod saved;
mod staging;

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::mem;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;

use bus::{Amount, PeerId};
use serde::{Deserialize, Serialize};
use sys::transfer::{MAX_DESCRIPTORS, TransferShortage, TransferWait, send};
use wire::message::{FixedHeader, MessageType};

pub(crate) use crate::back_pressure::Load;
use crate::fd_quota::CountedFd;
pub(crate) use saved::SavedQueue;
pub(crate) use staging::Staging;

/// Descriptors that travel with one message, for all its recipients.
pub(crate) type SharedFds = Rc<[CountedFd]>;

/// A message to queue.
pub(crate) struct Outgoing<'m> {
    /// The sender; `None` for the bus itself.
    pub(crate) from: Option<PeerId>,
    pub(crate) head: &'m [u8],
    pub(crate) body: OutgoingBody<'m>,
    pub(crate) fds: Option<SharedFds>,
}

/// The body of a message to queue.
#[derive(Clone)]
pub(crate) enum OutgoingBody<'m> {
    /// Bytes to be copied.
    Bytes(&'m [u8]),
    /// Memory that is shared by all recipients.
    Shared(SharedSlice),
}

impl OutgoingBody<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Shared(slice) => slice.range.len(),
        }
    }
}

/// A part of memory that several queues share.
#[derive(Clone, Debug)]
pub(crate) struct SharedSlice {
    pub(crate) memory: Rc<Vec<u8>>,
    pub(crate) range: Range<usize>,
    pub(crate) backing: Backing,
}

impl SharedSlice {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.memory[self.range.clone()]
    }
}

/// The owner of the memory of a slice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Backing {
    /// The message alone, so the memory may be held as long as a queue needs it.
    Owned,
    /// A scratch buffer that the loop reads into, so the memory has to be returned on request.
    Scratch,
}

/// A slice of bytes to write.
#[derive(Debug)]
enum Segment {
    /// Bytes of this queue alone.
    Own(Chunk),
    /// These bytes of the staging area.
    Staged(Range<usize>),
    /// Bytes that other queues may have to write too.
    Shared(SharedSlice),
}

impl Segment {
    fn len(&self) -> usize {
        match self {
            Self::Own(chunk) => chunk.bytes().len(),
            Self::Staged(range) => range.len(),
            Self::Shared(slice) => slice.range.len(),
        }
    }
}

/// Memory of one queue for consecutive messages. It is freed as soon as it is written, so a long
/// queue needs little more memory than its messages.
#[derive(Debug)]
struct Chunk {
    memory: Vec<u8>,
    /// The position of the first unwritten byte.
    start: usize,
}

impl Chunk {
    fn bytes(&self) -> &[u8] {
        &self.memory[self.start..]
    }

    const fn has_room(&self, len: usize) -> bool {
        self.memory.capacity() - self.memory.len() >= len
    }
}

/// Where the bytes of a queued message are copied to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CopyTarget {
    /// The staging area. The queue must be written before the loop waits again.
    Staging,
    /// Memory of the queue.
    Queue,
}

/// The kind of a queue entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum EntryKind {
    /// A message, whose complete write is reported to the bus.
    Message,
    /// Lines of the handshake.
    Handshake,
}

/// A message in the queue.
#[derive(Debug)]
struct QueueEntry {
    kind: EntryKind,
    /// Number of bytes not yet written.
    left: usize,
    /// Number of bytes of the whole message.
    len: usize,
    from: Option<PeerId>,
    /// The descriptors, until they are sent with the first byte.
    fds: Option<SharedFds>,
    /// Number of descriptors of the whole message.
    fd_count: u32,
    charge: Charge,
}

impl QueueEntry {
    fn load(&self) -> Load {
        Load { bytes: self.len, fds: self.fd_count }
    }
}

/// Whether a queued message counts against its sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Charge {
    /// Never: the recipient asked for it (a reply), or the bus itself sent it.
    Never,
    /// Not now: it will be written soon, or its recipient does not keep up, which is not the
    /// sender's fault.
    Free,
    /// Yes: it waits for a recipient that reads more slowly than the sender writes.
    OnSender,
}

/// The result of a write.
#[derive(Debug)]
pub(crate) struct WriteProgress {
    /// The bytes and messages that were written.
    pub(crate) written: Amount,
    /// Bytes that were moved in memory since the last write.
    pub(crate) moved: u64,
    pub(crate) outcome: Outcome,
}

/// How a write ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The queue is empty.
    Empty,
    /// The socket is full.
    Blocked,
    /// The kernel does not accept an entry that cannot be dropped: the rest of a partly written
    /// message, or an error of the bus.
    Starved,
    /// The next message has more descriptors than may be written now.
    OverAllowance,
    /// The kernel did not accept this message; it was removed from the queue.
    Dropped(Dropped),
    /// The peer has closed the connection.
    Gone,
}

/// A message that was removed from a queue because the kernel did not accept it.
#[derive(Debug)]
pub(crate) struct Dropped {
    /// The peer that sent it; `None` for the bus itself.
    pub(crate) from: Option<PeerId>,
    /// The beginning of the message, its header or more.
    pub(crate) head: Vec<u8>,
    pub(crate) amount: Amount,
    pub(crate) shortage: TransferShortage,
}

/// The queue of one connection: first in, first out. It uses no memory while it is empty.
#[derive(Debug, Default)]
pub(crate) struct WriteQueue {
    contents: Option<Box<Contents>>,
    /// Number of bytes that have left the queue since the connection was accepted.
    left: u64,
    /// How many of these bytes were dropped.
    dropped: u64,
}

/// Memory that all queues share.
#[derive(Debug, Default)]
pub(crate) struct QueueMemory {
    pub(crate) staging: Staging,
    /// Memory of empty queues, kept for the next queues.
    #[expect(clippy::vec_box, reason = "the boxes move between queues and this list")]
    spare: Vec<Box<Contents>>,
}

impl QueueMemory {
    fn take(&mut self) -> Box<Contents> {
        self.spare.pop().unwrap_or_default()
    }

    fn give(&mut self, mut contents: Box<Contents>) {
        contents.reset();
        if self.spare.len() < SPARE_MAX {
            self.spare.push(contents);
        }
    }
}

impl WriteQueue {
    /// Number of queued bytes.
    pub(crate) fn len(&self) -> usize {
        self.contents.as_ref().map_or(0, |contents| contents.bytes)
    }

    /// Number of bytes that have left the queue since the connection was accepted.
    pub(crate) const fn left(&self) -> u64 {
        self.left
    }

    /// Number of bytes that were written to the socket since the connection was accepted.
    pub(crate) const fn written(&self) -> u64 {
        self.left - self.dropped
    }

    /// The value of [`left`](Self::left) when the queue is empty.
    pub(crate) fn end(&self) -> u64 {
        self.left + self.len() as u64
    }

    /// The queued messages, with the unwritten part of the first one.
    pub(crate) fn amount(&self) -> Amount {
        let mut amount = Amount::default();
        for entry in self.contents.iter().flat_map(|contents| &contents.entries) {
            if entry.kind == EntryKind::Message {
                amount.messages += 1;
                amount.bytes += entry.left as u64;
                amount.fds += entry.fds.as_ref().map_or(0, |fds| fds.len() as u64);
            }
        }
        amount
    }

    /// Appends a message to the queue. Returns the number of bytes that were copied.
    pub(crate) fn push(
        &mut self,
        message: Outgoing<'_>,
        charge: Charge,
        target: CopyTarget,
        memory: &mut QueueMemory,
    ) -> usize {
        let contents = self.contents.get_or_insert_with(|| memory.take());
        contents.push(message, EntryKind::Message, charge, target, &mut memory.staging)
    }

    /// Appends bytes that are not a message: replies in the handshake.
    pub(crate) fn push_raw(&mut self, bytes: &[u8], memory: &mut QueueMemory) {
        if !bytes.is_empty() {
            let body = OutgoingBody::Bytes(&[]);
            let lines = Outgoing { from: None, head: bytes, body, fds: None };
            let contents = self.contents.get_or_insert_with(|| memory.take());
            let (kind, target) = (EntryKind::Handshake, CopyTarget::Queue);
            contents.push(lines, kind, Charge::Free, target, &mut memory.staging);
        }
    }

    /// Whether messages with descriptors are queued.
    pub(crate) fn has_fds(&self) -> bool {
        self.contents.as_ref().is_some_and(|contents| contents.with_fds > 0)
    }

    /// Number of descriptors that the next write sends.
    pub(crate) fn fds_of_first(&self) -> u64 {
        self.contents.as_ref().map_or(0, |contents| contents.fds_of_first())
    }

    /// Writes as much as the socket accepts without blocking, and up to `fds_max` descriptors.
    /// `released` is called for each fully written message that counted against its sender.
    pub(crate) fn write_to(
        &mut self,
        socket: BorrowedFd<'_>,
        fds_max: u64,
        memory: &mut QueueMemory,
        released: impl FnMut(PeerId, Load),
    ) -> WriteProgress {
        let mut written = Amount::default();
        let waiting = self.len();
        let staging = &mut memory.staging;
        let outcome = match &mut self.contents {
            Some(contents) => {
                let outcome = contents.write_to(socket, fds_max, staging, &mut written, released);
                contents.leave_staging(staging);
                outcome
            }
            None => Outcome::Empty,
        };
        self.left += (waiting - self.len()) as u64;
        if let Outcome::Dropped(dropped) = &outcome {
            self.dropped += dropped.amount.bytes;
        }
        let moved = self.contents.as_mut().map_or(0, |contents| mem::take(&mut contents.moved));
        self.give_back(memory);
        WriteProgress { written, moved, outcome }
    }

    /// Removes the first message, unless it is partly written.
    pub(crate) fn drop_first(
        &mut self,
        shortage: TransferShortage,
        memory: &mut QueueMemory,
        released: impl FnMut(PeerId, Load),
    ) -> Option<Dropped> {
        let waiting = self.len();
        let dropped = self.contents.as_mut()?.drop_first(shortage, &memory.staging, released);
        let count = (waiting - self.len()) as u64;
        self.left += count;
        self.dropped += count;
        self.give_back(memory);
        dropped
    }

    /// Returns the memory of an empty queue.
    fn give_back(&mut self, memory: &mut QueueMemory) {
        if self.len() == 0
            && let Some(contents) = self.contents.take()
        {
            memory.give(contents);
        }
    }

    /// Discards what is queued, because the connection is closed.
    pub(crate) fn discard(&mut self, memory: &mut QueueMemory) {
        if let Some(contents) = &mut self.contents {
            contents.segments.clear();
            contents.leave_staging(&mut memory.staging);
        }
        self.contents = None;
    }

    /// Copies lent memory that is not yet written.
    pub(crate) fn return_lent(&mut self) {
        if let Some(contents) = &mut self.contents {
            contents.return_lent();
        }
    }

    /// Counts all chargeable messages against their senders, or none. `changed` is called for each
    /// message that changes.
    pub(crate) fn set_charges(&mut self, charge: Charge, changed: impl FnMut(PeerId, Load)) {
        if let Some(contents) = &mut self.contents {
            contents.set_charges(charge, changed);
        }
    }
}

/// The contents of a queue.
#[derive(Debug, Default)]
struct Contents {
    segments: VecDeque<Segment>,
    entries: VecDeque<QueueEntry>,
    bytes: usize,
    /// Number of entries with descriptors.
    with_fds: usize,
    /// Number of bytes that were moved in memory.
    moved: u64,
    /// Whether it is counted as a user of the staging area.
    is_staged: bool,
}

impl Contents {
    fn push(
        &mut self,
        message: Outgoing<'_>,
        kind: EntryKind,
        charge: Charge,
        target: CopyTarget,
        staging: &mut Staging,
    ) -> usize {
        let len = message.head.len() + message.body.len();
        let inline = match message.body {
            OutgoingBody::Bytes(bytes) => bytes,
            OutgoingBody::Shared(_) => &[],
        };
        let copied = match target {
            CopyTarget::Staging => self.stage(message.head, inline, staging),
            CopyTarget::Queue => {
                push_own(&mut self.segments, &[message.head, inline]);
                message.head.len() + inline.len()
            }
        };
        let Outgoing { from, body, fds, .. } = message;
        if let OutgoingBody::Shared(slice) = body
            && !slice.range.is_empty()
        {
            self.segments.push_back(Segment::Shared(slice));
        }
        self.with_fds += usize::from(fds.is_some());
        let fd_count = fds.as_ref().map_or(0, |fds| fds.len() as u32);
        self.entries.push_back(QueueEntry { kind, left: len, len, from, fds, fd_count, charge });
        self.bytes += len;
        copied
    }

    /// Appends a segment of the staging area. Returns the number of bytes that were copied.
    fn stage(&mut self, head: &[u8], inline: &[u8], staging: &mut Staging) -> usize {
        if !mem::replace(&mut self.is_staged, true) {
            staging.add_user();
        }
        let before = staging.len();
        let range = staging.stage(head, inline);
        match self.segments.back_mut() {
            Some(Segment::Staged(last)) if last.end == range.start => last.end = range.end,
            _ => self.segments.push_back(Segment::Staged(range)),
        }
        staging.len() - before
    }

    /// Copies the unwritten segments of the staging area into memory of the queue, so that the
    /// staging area can be reused.
    fn leave_staging(&mut self, staging: &mut Staging) {
        if !mem::replace(&mut self.is_staged, false) {
            return;
        }
        if self.segments.iter().any(|segment| matches!(segment, Segment::Staged(_))) {
            self.copy_staged(staging);
        }
        staging.remove_user();
    }

    #[cold]
    fn copy_staged(&mut self, staging: &Staging) {
        for segment in mem::take(&mut self.segments) {
            match segment {
                Segment::Staged(range) => {
                    self.moved += range.len() as u64;
                    push_own(&mut self.segments, &[staging.bytes(&range)]);
                }
                other => self.segments.push_back(other),
            }
        }
    }

    fn write_to(
        &mut self,
        socket: BorrowedFd<'_>,
        fds_max: u64,
        staging: &Staging,
        written: &mut Amount,
        mut released: impl FnMut(PeerId, Load),
    ) -> Outcome {
        while self.bytes > 0 {
            if self.with_fds > 0 && written.fds + self.fds_of_first() > fds_max {
                return Outcome::OverAllowance;
            }
            let (asked, result) = self.write_once(socket, staging);
            match result {
                Ok(count) => {
                    self.advance(count, written, &mut released);
                    if count < asked {
                        return Outcome::Blocked;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Outcome::Blocked,
                Err(error) => {
                    return match TransferShortage::of(&error) {
                        None => Outcome::Gone,
                        Some(shortage) => self
                            .drop_first(shortage, staging, released)
                            .map_or(Outcome::Starved, Outcome::Dropped),
                    };
                }
            }
        }
        Outcome::Empty
    }

    /// Number of descriptors that the next write sends.
    fn fds_of_first(&self) -> u64 {
        let fds = self.entries.front().and_then(|entry| entry.fds.as_ref());
        fds.map_or(0, |fds| fds.len() as u64)
    }

    /// Removes the first message, unless it is partly written: then the rest must follow. An error
    /// of the bus also stays, because its replacement would be an error of the bus too.
    fn drop_first(
        &mut self,
        shortage: TransferShortage,
        staging: &Staging,
        mut released: impl FnMut(PeerId, Load),
    ) -> Option<Dropped> {
        let first = self.entries.front()?;
        let is_whole = first.left == first.len && first.kind == EntryKind::Message;
        // The header is in one piece, at the front.
        let front = self.front(staging);
        if !is_whole || (first.from.is_none() && begins_with_error(front)) {
            return None;
        }
        let head = front[..front.len().min(first.len)].to_vec();
        let entry = self.entries.pop_front()?;
        self.with_fds -= usize::from(entry.fds.is_some());
        self.bytes -= entry.len;
        self.advance_segments(entry.len);
        if let (Charge::OnSender, Some(from)) = (entry.charge, entry.from) {
            released(from, entry.load());
        }
        let (bytes, fds) = (entry.len as u64, entry.fd_count.into());
        let amount = Amount { messages: 1, bytes, fds };
        Some(Dropped { from: entry.from, head, amount, shortage })
    }

    fn return_lent(&mut self) {
        for segment in &mut self.segments {
            if let Segment::Shared(slice) = segment
                && slice.backing == Backing::Scratch
            {
                self.moved += slice.range.len() as u64;
                let memory = Rc::new(slice.bytes().to_vec());
                let range = 0..memory.len();
                *slice = SharedSlice { memory, range, backing: Backing::Owned };
            }
        }
    }

    fn set_charges(&mut self, charge: Charge, mut changed: impl FnMut(PeerId, Load)) {
        let changes =
            |entry: &&mut QueueEntry| entry.charge != charge && entry.charge != Charge::Never;
        for entry in self.entries.iter_mut().filter(changes) {
            entry.charge = charge;
            if let Some(from) = entry.from {
                changed(from, entry.load());
            }
        }
    }

    /// Makes one system call. Returns how many bytes it was given, and its result.
    fn write_once(&self, socket: BorrowedFd<'_>, staging: &Staging) -> (usize, io::Result<usize>) {
        // The most frequent case by far: consecutive small messages.
        if self.with_fds == 0 && self.segments.len() == 1 {
            let bytes = self.front(staging);
            return (bytes.len(), send(socket, &[IoSlice::new(bytes)], &[], TransferWait::Never));
        }
        let limit = self.bytes_before_next_fds();
        let mut slices = [IoSlice::new(&[]); SLICES_MAX];
        let mut count = 0;
        let mut asked = 0;
        for segment in self.segments.iter().take(SLICES_MAX) {
            let bytes = match segment {
                Segment::Own(chunk) => chunk.bytes(),
                Segment::Staged(range) => staging.bytes(range),
                Segment::Shared(slice) => slice.bytes(),
            };
            let bytes = &bytes[..bytes.len().min(limit - asked)];
            slices[count] = IoSlice::new(bytes);
            count += 1;
            asked += bytes.len();
            if asked == limit {
                break;
            }
        }
        let slices = &slices[..count];
        let result = match self.entries.front().and_then(|entry| entry.fds.as_ref()) {
            None => send(socket, slices, &[], TransferWait::Never),
            Some(fds) => {
                let mut borrowed = [socket; MAX_DESCRIPTORS];
                borrowed.iter_mut().zip(fds.iter()).for_each(|(slot, fd)| *slot = fd.as_fd());
                send(socket, slices, &borrowed[..fds.len()], TransferWait::Never)
            }
        };
        (asked, result)
    }

    /// The bytes of the first segment.
    fn front<'s>(&'s self, staging: &'s Staging) -> &'s [u8] {
        match self.segments.front() {
            Some(Segment::Own(chunk)) => chunk.bytes(),
            Some(Segment::Staged(range)) => staging.bytes(range),
            Some(Segment::Shared(slice)) => slice.bytes(),
            None => &[],
        }
    }

    /// The maximum number of bytes for one call: up to the next message with descriptors, or only
    /// that message if it is the first.
    fn bytes_before_next_fds(&self) -> usize {
        if self.with_fds == 0 {
            return self.bytes;
        }
        let mut bytes = 0;
        for (index, entry) in self.entries.iter().enumerate() {
            match (index, &entry.fds) {
                (0, Some(_)) => return entry.left,
                (_, Some(_)) => return bytes,
                (_, None) => bytes += entry.left,
            }
        }
        bytes
    }

    fn advance(
        &mut self,
        count: usize,
        written: &mut Amount,
        released: &mut impl FnMut(PeerId, Load),
    ) {
        self.bytes -= count;
        self.advance_entries(count, written, released);
        self.advance_segments(count);
    }

    fn advance_entries(
        &mut self,
        mut count: usize,
        written: &mut Amount,
        released: &mut impl FnMut(PeerId, Load),
    ) {
        while count > 0
            && let Some(entry) = self.entries.front_mut()
        {
            if let Some(fds) = entry.fds.take() {
                written.fds += fds.len() as u64;
                self.with_fds -= 1;
            }
            let taken = count.min(entry.left);
            entry.left -= taken;
            count -= taken;
            if entry.kind == EntryKind::Message {
                written.bytes += taken as u64;
                written.messages += u64::from(entry.left == 0);
            }
            if entry.left > 0 {
                return;
            }
            if let (Charge::OnSender, Some(from)) = (entry.charge, entry.from) {
                released(from, entry.load());
            }
            self.entries.pop_front();
        }
    }

    fn advance_segments(&mut self, mut count: usize) {
        while count > 0
            && let Some(segment) = self.segments.front_mut()
        {
            let left = segment.len();
            let taken = left.min(count);
            match segment {
                Segment::Own(chunk) => chunk.start += taken,
                Segment::Staged(range) => range.start += taken,
                Segment::Shared(slice) => slice.range.start += taken,
            }
            if taken == left {
                self.segments.pop_front();
            }
            count -= taken;
        }
    }

    /// Prepares the contents for reuse. The memory of a long queue is not kept.
    fn reset(&mut self) {
        if self.entries.capacity() > ENTRIES_KEPT {
            *self = Self::default();
            return;
        }
        self.segments.clear();
        self.entries.clear();
        self.bytes = 0;
        self.with_fds = 0;
        self.moved = 0;
    }
}

/// Appends bytes to memory of the queue. They are in one chunk, so that a header is never divided.
fn push_own(segments: &mut VecDeque<Segment>, parts: &[&[u8]]) {
    let len = parts.iter().map(|part| part.len()).sum();
    let capacity = match segments.back_mut() {
        Some(Segment::Own(chunk)) if chunk.has_room(len) => {
            parts.iter().for_each(|part| chunk.memory.extend_from_slice(part));
            return;
        }
        Some(Segment::Own(chunk)) => (2 * chunk.memory.capacity()).min(CHUNK_MAX),
        _ => CHUNK_MIN,
    };
    let mut memory = Vec::with_capacity(capacity.max(len));
    parts.iter().for_each(|part| memory.extend_from_slice(part));
    segments.push_back(Segment::Own(Chunk { memory, start: 0 }));
}

/// Whether a message is an error, given its unwritten beginning.
fn begins_with_error(front: &[u8]) -> bool {
    let header = front.first_chunk().map(FixedHeader::parse);
    header.is_some_and(|header| header.is_ok_and(|it| it.message_type == MessageType::Error))
}

/// Slices per call. Consecutive small messages are one slice, so only large messages need many.
const SLICES_MAX: usize = 64;

/// The capacity of the first chunk of a queue in bytes. Each further chunk has twice as much.
const CHUNK_MIN: usize = 4 << 10;

/// The largest capacity of a chunk in bytes, unless a message is longer.
const CHUNK_MAX: usize = 64 << 10;

/// The number of entries whose memory is kept for the next queue.
const ENTRIES_KEPT: usize = 256;

/// The number of queues that are kept: as many as are usually filled at the same time.
const SPARE_MAX: usize = 64;

#[cfg(test)]
mod tests;
