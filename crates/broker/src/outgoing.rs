//! What waits to be written to one connection.
//!
//! Small messages lie one behind the other in one buffer, so that many of them leave in one system
//! call; longer bodies are shared by all recipients, and copied only if the memory that they were
//! read to is needed before they have left. Descriptors go
//! with the first byte of their message, and a message with descriptors leaves in a call of its
//! own, since the receiver's kernel would otherwise hand them out with an earlier message.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use bus::{Amount, PeerId};
use sys::transfer::{MAX_DESCRIPTORS, Wait, send};

/// Descriptors that travel with one message, for all its recipients.
pub(crate) type SharedFds = Rc<[OwnedFd]>;

/// A message to queue.
pub(crate) struct Outgoing<'m> {
    /// Who sent it; `None` for the bus itself.
    pub(crate) from: Option<PeerId>,
    pub(crate) head: &'m [u8],
    pub(crate) body: OutgoingBody<'m>,
    pub(crate) fds: Option<SharedFds>,
}

/// A body, in whichever memory it is.
#[derive(Clone)]
pub(crate) enum OutgoingBody<'m> {
    /// To be copied.
    Bytes(&'m [u8]),
    /// To be shared.
    Shared(Stretch),
}

impl OutgoingBody<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Shared(stretch) => stretch.range.len(),
        }
    }
}

/// A part of memory that several hold.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    pub(crate) memory: Rc<Vec<u8>>,
    pub(crate) range: Range<usize>,
    pub(crate) tenure: Tenure,
}

impl Stretch {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.memory[self.range.clone()]
    }
}

/// How long memory may be held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tenure {
    /// As long as anybody needs it: it belongs to the message alone.
    Kept,
    /// Until it is asked back: it is memory that others read into.
    Lent,
}

/// A stretch of bytes to write.
#[derive(Debug)]
enum Segment {
    /// So many bytes of the common buffer.
    Buffer(usize),
    /// Bytes that others may have to write too.
    Shared(Stretch),
}

impl Segment {
    fn len(&self) -> usize {
        match self {
            Self::Buffer(len) => *len,
            Self::Shared(stretch) => stretch.range.len(),
        }
    }
}

/// What an entry of the queue is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// A message, of which the bus is told when it has left.
    Message,
    /// Lines of the handshake.
    Handshake,
}

/// A message in the queue.
#[derive(Debug)]
struct Entry {
    kind: Kind,
    /// Bytes that have not left.
    left: usize,
    /// Bytes in the whole message.
    len: usize,
    from: Option<PeerId>,
    /// Until they have left, with the first byte.
    fds: Option<SharedFds>,
    /// Descriptors with the whole message.
    fd_count: u32,
    charge: Charge,
}

impl Entry {
    fn load(&self) -> Load {
        Load { bytes: self.len, fds: self.fd_count }
    }
}

/// What a message takes up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Load {
    pub(crate) bytes: usize,
    /// Descriptors.
    pub(crate) fds: u32,
}

/// Whether a message is held against its sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Charge {
    /// It is about to leave, or its recipient reads nothing, which is not the sender's fault.
    Free,
    /// It waits because its recipient is slow.
    OnSender,
}

/// What a write has done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    /// What has left.
    pub(crate) written: Amount,
    pub(crate) outcome: Outcome,
}

/// How a write ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// The queue is empty.
    Empty,
    /// The socket is full.
    Blocked,
    /// The peer is gone.
    Gone,
}

/// The queue of one connection: first in, first out. While it is empty it has no memory.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    contents: Option<Box<Contents>>,
    /// Bytes that have left since the connection was made.
    left: u64,
}

/// Memory of queues that have become empty, for those that are about to be filled.
#[derive(Debug, Default)]
pub(crate) struct Spare {
    #[expect(clippy::vec_box, reason = "the boxes move between queues and this list")]
    contents: Vec<Box<Contents>>,
}

impl Spare {
    fn take(&mut self) -> Box<Contents> {
        self.contents.pop().unwrap_or_default()
    }

    fn give(&mut self, mut contents: Box<Contents>) {
        contents.reset();
        if self.contents.len() < SPARE_MAX {
            self.contents.push(contents);
        }
    }
}

impl Queue {
    /// Bytes that wait.
    pub(crate) fn len(&self) -> usize {
        self.contents.as_ref().map_or(0, |contents| contents.bytes)
    }

    /// Bytes that have left since the connection was made.
    pub(crate) const fn left(&self) -> u64 {
        self.left
    }

    /// Bytes that will have left when the queue is empty.
    pub(crate) fn end(&self) -> u64 {
        self.left + self.len() as u64
    }

    /// Puts a message at the end.
    pub(crate) fn push(&mut self, message: Outgoing<'_>, charge: Charge, spare: &mut Spare) {
        let contents = self.contents.get_or_insert_with(|| spare.take());
        contents.push(message, Kind::Message, charge);
    }

    /// Puts bytes at the end that are no message: answers in the handshake.
    pub(crate) fn push_raw(&mut self, bytes: &[u8], spare: &mut Spare) {
        if !bytes.is_empty() {
            let body = OutgoingBody::Bytes(&[]);
            let lines = Outgoing { from: None, head: bytes, body, fds: None };
            let contents = self.contents.get_or_insert_with(|| spare.take());
            contents.push(lines, Kind::Handshake, Charge::Free);
        }
    }

    /// Writes as much as the socket takes without waiting. `released` is told of each message
    /// that was held against its sender and has left.
    pub(crate) fn write_to(
        &mut self,
        socket: BorrowedFd<'_>,
        spare: &mut Spare,
        released: impl FnMut(PeerId, Load),
    ) -> Progress {
        let mut written = Amount::default();
        let waiting = self.len();
        let outcome = match &mut self.contents {
            Some(contents) => contents.write_to(socket, &mut written, released),
            None => Outcome::Empty,
        };
        self.left += (waiting - self.len()) as u64;
        if outcome == Outcome::Empty
            && let Some(contents) = self.contents.take()
        {
            spare.give(contents);
        }
        Progress { written, outcome }
    }

    /// Copies what was lent and has not left.
    pub(crate) fn return_lent(&mut self) {
        if let Some(contents) = &mut self.contents {
            contents.return_lent();
        }
    }

    /// Holds all messages against their senders, or none. `changed` is told of each that changes.
    pub(crate) fn set_charges(&mut self, charge: Charge, changed: impl FnMut(PeerId, Load)) {
        if let Some(contents) = &mut self.contents {
            contents.set_charges(charge, changed);
        }
    }
}

/// What a queue holds.
#[derive(Debug, Default)]
struct Contents {
    buffer: Vec<u8>,
    /// Where in the buffer the first byte stands that has not left.
    start: usize,
    segments: VecDeque<Segment>,
    entries: VecDeque<Entry>,
    bytes: usize,
    /// How many entries have descriptors.
    with_fds: usize,
}

impl Contents {
    fn push(&mut self, message: Outgoing<'_>, kind: Kind, charge: Charge) {
        let len = message.head.len() + message.body.len();
        self.buffer.extend_from_slice(message.head);
        let mut copied = message.head.len();
        if let OutgoingBody::Bytes(bytes) = message.body {
            self.buffer.extend_from_slice(bytes);
            copied += bytes.len();
        }
        match self.segments.back_mut() {
            Some(Segment::Buffer(count)) => *count += copied,
            _ => self.segments.push_back(Segment::Buffer(copied)),
        }
        let Outgoing { from, body, fds, .. } = message;
        if let OutgoingBody::Shared(stretch) = body
            && !stretch.range.is_empty()
        {
            self.segments.push_back(Segment::Shared(stretch));
        }
        self.with_fds += usize::from(fds.is_some());
        let fd_count = fds.as_ref().map_or(0, |fds| fds.len() as u32);
        self.entries.push_back(Entry { kind, left: len, len, from, fds, fd_count, charge });
        self.bytes += len;
    }

    fn write_to(
        &mut self,
        socket: BorrowedFd<'_>,
        written: &mut Amount,
        mut released: impl FnMut(PeerId, Load),
    ) -> Outcome {
        while self.bytes > 0 {
            let (asked, result) = self.write_once(socket);
            match result {
                Ok(count) => {
                    self.advance(count, written, &mut released);
                    if count < asked {
                        return Outcome::Blocked;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Outcome::Blocked,
                Err(_) => return Outcome::Gone,
            }
        }
        Outcome::Empty
    }

    fn return_lent(&mut self) {
        for segment in &mut self.segments {
            if let Segment::Shared(stretch) = segment
                && stretch.tenure == Tenure::Lent
            {
                let memory = Rc::new(stretch.bytes().to_vec());
                let range = 0..memory.len();
                *stretch = Stretch { memory, range, tenure: Tenure::Kept };
            }
        }
    }

    fn set_charges(&mut self, charge: Charge, mut changed: impl FnMut(PeerId, Load)) {
        for entry in self.entries.iter_mut().filter(|entry| entry.charge != charge) {
            entry.charge = charge;
            if let Some(from) = entry.from {
                changed(from, entry.load());
            }
        }
    }

    /// One system call: how many bytes it was given, and what became of them.
    fn write_once(&self, socket: BorrowedFd<'_>) -> (usize, io::Result<usize>) {
        // By far the most frequent case: small messages, one behind the other.
        if self.with_fds == 0
            && let (1, Some(Segment::Buffer(len))) = (self.segments.len(), self.segments.front())
        {
            let slice = IoSlice::new(&self.buffer[self.start..][..*len]);
            return (*len, send(socket, &[slice], &[], Wait::Never));
        }
        let limit = self.bytes_before_next_fds();
        let mut slices = [IoSlice::new(&[]); SLICES_MAX];
        let mut count = 0;
        let mut asked = 0;
        let mut buffer = &self.buffer[self.start..];
        for segment in self.segments.iter().take(SLICES_MAX) {
            let bytes = match segment {
                Segment::Buffer(len) => buffer.split_off(..*len).unwrap_or_default(),
                Segment::Shared(stretch) => stretch.bytes(),
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
            None => send(socket, slices, &[], Wait::Never),
            Some(fds) => {
                let mut borrowed = [socket; MAX_DESCRIPTORS];
                borrowed.iter_mut().zip(fds.iter()).for_each(|(slot, fd)| *slot = fd.as_fd());
                send(socket, slices, &borrowed[..fds.len()], Wait::Never)
            }
        };
        (asked, result)
    }

    /// How many bytes may leave in one call: up to the next message with descriptors, or if that
    /// is the first, that message.
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
            if entry.kind == Kind::Message {
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
                Segment::Buffer(len) => {
                    *len -= taken;
                    self.start += taken;
                }
                Segment::Shared(stretch) => stretch.range.start += taken,
            }
            if taken == left {
                self.segments.pop_front();
            }
            count -= taken;
        }
        self.compact();
    }

    /// Gives back the front of the buffer when it is mostly bytes that have left.
    fn compact(&mut self) {
        if self.start >= COMPACT_MIN && self.start >= self.buffer.len() / 2 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
    }

    /// Makes it ready to be filled again. What was large is not kept.
    fn reset(&mut self) {
        if self.buffer.capacity() > SPARE_CAPACITY {
            *self = Self::default();
            return;
        }
        self.buffer.clear();
        self.start = 0;
        self.segments.clear();
        self.entries.clear();
        self.bytes = 0;
        self.with_fds = 0;
    }
}

/// Slices in one call. Runs of small messages are one slice, so only large ones need many.
const SLICES_MAX: usize = 64;

/// From how many bytes on that have left the buffer is moved together.
const COMPACT_MIN: usize = 64 * 1024;

/// Bytes of buffer that are kept for the next queue.
const SPARE_CAPACITY: usize = 64 * 1024;

/// How many queues are kept: as many as are mostly filled at the same time.
const SPARE_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use std::fs::File;

    use sys::transfer::receive;

    use super::*;

    const A: PeerId = PeerId::new(0, 0);
    const B: PeerId = PeerId::new(1, 0);

    const fn bytes(count: usize) -> Load {
        Load { bytes: count, fds: 0 }
    }

    fn push(queue: &mut Queue, from: PeerId, head: &[u8], body: OutgoingBody<'_>) {
        queue.push(
            Outgoing { from: Some(from), head, body, fds: None },
            Charge::Free,
            &mut Spare::default(),
        );
    }

    fn write(queue: &mut Queue, socket: &OwnedFd) -> Progress {
        queue.write_to(socket.as_fd(), &mut Spare::default(), |_, _| {})
    }

    fn open_files(count: usize) -> SharedFds {
        let open = || OwnedFd::from(File::open("/dev/null").expect("it is always there"));
        (0..count).map(|_| open()).collect()
    }

    /// Writes everything, reading it at the other end whenever the socket is full. Returns what
    /// came, and how many descriptors with each read that had some.
    fn drain(queue: &mut Queue) -> (Vec<u8>, Vec<usize>) {
        let (ours, theirs) = sys::socket::socket_pair().unwrap();
        let (mut bytes, mut counts) = (Vec::new(), Vec::new());
        let mut buffer = vec![0; 1 << 16];
        loop {
            let outcome = write(queue, &ours).outcome;
            loop {
                let mut fds = Vec::new();
                match receive(&theirs, &mut buffer, &mut fds, Wait::Never) {
                    Ok(received) => bytes.extend_from_slice(&buffer[..received.bytes]),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) => panic!("{error}"),
                }
                counts.extend(Some(fds.len()).filter(|&count| count > 0));
            }
            match outcome {
                Outcome::Empty => return (bytes, counts),
                Outcome::Blocked => {}
                Outcome::Gone => panic!("the other end is open"),
            }
        }
    }

    #[test]
    fn bytes_leave_in_the_order_in_which_they_came() {
        let large = Rc::new((0..1_000_000_u32).flat_map(u32::to_le_bytes).collect::<Vec<u8>>());
        let mut queue = Queue::default();
        let mut expected = Vec::new();
        for round in 0..200_u8 {
            let head = [round; 40];
            push(&mut queue, A, &head, OutgoingBody::Bytes(b"body"));
            expected.extend_from_slice(&head);
            expected.extend_from_slice(b"body");
            if round % 50 == 7 {
                let tenure = if round < 100 { Tenure::Kept } else { Tenure::Lent };
                let (memory, range) = (Rc::clone(&large), 8..large.len());
                let body = OutgoingBody::Shared(Stretch { memory, range, tenure });
                push(&mut queue, B, b"large", body);
                expected.extend_from_slice(b"large");
                expected.extend_from_slice(&large[8..]);
            }
        }
        assert_eq!(queue.len(), expected.len());
        let (bytes, _) = drain(&mut queue);
        assert!(bytes == expected, "what came is not what was sent");
        assert_eq!(Rc::strong_count(&large), 1, "nobody holds it any longer");
        assert!(queue.contents.is_none(), "an empty queue has no memory");
    }

    #[test]
    fn lent_memory_can_be_asked_back() {
        let memory = Rc::new(vec![7; 1 << 20]);
        let mut queue = Queue::default();
        let range = 100..memory.len();
        let stretch = Stretch { memory: Rc::clone(&memory), range, tenure: Tenure::Lent };
        push(&mut queue, A, b"head", OutgoingBody::Shared(stretch));
        let (ours, _theirs) = sys::socket::socket_pair().unwrap();
        assert_eq!(write(&mut queue, &ours).outcome, Outcome::Blocked);
        assert_eq!(Rc::strong_count(&memory), 2);
        queue.return_lent();
        assert_eq!(Rc::strong_count(&memory), 1);
        let (bytes, _) = drain(&mut queue);
        assert!(bytes.iter().all(|&byte| byte == 7), "what is left is what it was");
    }

    #[test]
    fn descriptors_leave_with_their_own_message() {
        let mut queue = Queue::default();
        for (head, count) in [(b"a", 0), (b"b", 2), (b"c", 0), (b"d", 3), (b"e", 253)] {
            let fds = (count > 0).then(|| open_files(count));
            let body = OutgoingBody::Bytes(b"-");
            queue.push(
                Outgoing { from: None, head, body, fds },
                Charge::Free,
                &mut Spare::default(),
            );
        }
        let (ours, _theirs) = sys::socket::socket_pair().unwrap();
        let progress = write(&mut queue, &ours);
        let all = Amount { messages: 5, bytes: 10, fds: 258 };
        assert_eq!((progress.written, progress.outcome), (all, Outcome::Empty));
    }

    #[test]
    fn a_reader_gets_descriptors_apart_from_what_has_none() {
        let mut queue = Queue::default();
        for (head, count) in [(b"a", 0), (b"b", 2), (b"c", 0), (b"d", 3)] {
            let fds = (count > 0).then(|| open_files(count));
            let body = OutgoingBody::Bytes(b"-");
            queue.push(
                Outgoing { from: None, head, body, fds },
                Charge::Free,
                &mut Spare::default(),
            );
        }
        assert_eq!(drain(&mut queue), (b"a-b-c-d-".to_vec(), vec![2, 3]));
    }

    #[test]
    fn only_charged_messages_are_released_and_each_once() {
        let mut queue = Queue::default();
        push(&mut queue, A, &[0; 10], OutgoingBody::Bytes(&[0; 5]));
        push(&mut queue, B, &[0; 20], OutgoingBody::Bytes(&[]));
        let mut changed = Vec::new();
        queue.set_charges(Charge::OnSender, |from, len| changed.push((from, len)));
        queue.set_charges(Charge::OnSender, |from, len| changed.push((from, len)));
        assert_eq!(changed, [(A, bytes(15)), (B, bytes(20))]);
        push(&mut queue, A, &[0; 30], OutgoingBody::Bytes(&[]));
        let (ours, _theirs) = sys::socket::socket_pair().unwrap();
        let mut released = Vec::new();
        queue.write_to(ours.as_fd(), &mut Spare::default(), |from, len| released.push((from, len)));
        assert_eq!(released, [(A, bytes(15)), (B, bytes(20))]);
    }

    #[test]
    fn a_peer_that_is_gone_is_told_from_one_that_is_slow() {
        let (ours, theirs) = sys::socket::socket_pair().unwrap();
        let mut queue = Queue::default();
        push(&mut queue, A, &vec![0; 1 << 20], OutgoingBody::Bytes(&[]));
        let progress = write(&mut queue, &ours);
        assert_eq!(progress.outcome, Outcome::Blocked);
        assert_eq!(progress.written.messages, 0);
        drop(theirs);
        assert_eq!(write(&mut queue, &ours).outcome, Outcome::Gone);
    }
}
