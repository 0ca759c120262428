//! Queued bytes and descriptors that are not sent yet.

use std::collections::VecDeque;

/// The input of one send: bytes, and descriptors to send with the first byte.
#[derive(PartialEq, Eq, Debug)]
pub struct Transmit<'a, D> {
    /// At least one byte. Report the number of bytes that the socket accepted with
    /// [`transmitted`](super::Core::transmitted).
    pub bytes: &'a [u8],
    /// The descriptors. They are sent with the first byte, even if not all bytes are.
    pub descriptors: &'a [D],
}

/// Queued messages in one buffer, so that many leave with one system call.
///
/// ```text
///   bytes   sent.......|waiting.........................|
///                      sent       ^ mark: 2 descriptors   ^ mark: 1 descriptor
/// ```
///
/// A send ends before the next mark, so that descriptors travel with the message that they belong
/// to.
#[derive(Debug)]
pub(super) struct OutgoingQueue<D> {
    pub(super) bytes: Vec<u8>,
    /// Number of sent bytes: `sent <= bytes.len()`, and no mark is before it.
    sent: usize,
    marks: VecDeque<DescriptorMark>,
    /// The descriptors of all marks, in order.
    descriptors: Vec<D>,
}

/// A message with descriptors.
#[derive(Clone, Copy, Debug)]
struct DescriptorMark {
    /// Offset of the message in the bytes.
    at: usize,
    descriptors: usize,
}

impl<D> OutgoingQueue<D> {
    pub(super) const fn new() -> Self {
        Self { bytes: Vec::new(), sent: 0, marks: VecDeque::new(), descriptors: Vec::new() }
    }

    /// Number of bytes that are not sent yet.
    pub(super) const fn len(&self) -> usize {
        self.bytes.len() - self.sent
    }

    /// Attaches `descriptors` to the message that begins at byte `at`.
    pub(super) fn attach(&mut self, at: usize, descriptors: Vec<D>) {
        if !descriptors.is_empty() {
            self.marks.push_back(DescriptorMark { at, descriptors: descriptors.len() });
            self.descriptors.extend(descriptors);
        }
    }

    /// Appends another queue, of which nothing was sent yet.
    pub(super) fn append(&mut self, other: Self) {
        let at = self.bytes.len();
        let marks = other.marks.into_iter();
        self.marks.extend(marks.map(|mark| DescriptorMark { at: at + mark.at, ..mark }));
        self.bytes.extend_from_slice(&other.bytes);
        self.descriptors.extend(other.descriptors);
    }

    /// The next bytes and descriptors to send.
    #[inline]
    pub(super) fn transmit(&self) -> Option<Transmit<'_, D>> {
        if self.len() == 0 {
            return None;
        }
        if self.marks.is_empty() {
            return Some(Transmit { bytes: &self.bytes[self.sent..], descriptors: &[] });
        }
        Some(self.transmit_up_to_mark())
    }

    fn transmit_up_to_mark(&self) -> Transmit<'_, D> {
        let mut marks = self.marks.iter().peekable();
        let first = marks.next_if(|mark| mark.at == self.sent);
        let end = marks.next().map_or(self.bytes.len(), |mark| mark.at);
        let descriptors = first.map_or(0, |mark| mark.descriptors);
        Transmit {
            bytes: &self.bytes[self.sent..end],
            descriptors: &self.descriptors[..descriptors],
        }
    }

    /// Records that `count` bytes were sent, and the descriptors with the first of them.
    pub(super) fn transmitted(&mut self, count: usize) {
        if count == 0 {
            return;
        }
        if let Some(mark) = self.marks.front().filter(|mark| mark.at == self.sent) {
            self.descriptors.drain(..mark.descriptors);
            self.marks.pop_front();
        }
        self.sent += count;
        debug_assert!(self.sent <= self.bytes.len(), "more was sent than there is");
        self.reclaim();
    }

    /// Frees the memory of sent bytes, if that is cheap.
    fn reclaim(&mut self) {
        if self.sent == self.bytes.len() {
            self.bytes.clear();
            self.bytes.shrink_to(CAPACITY_KEPT);
            self.sent = 0;
        } else if self.sent >= CAPACITY_KEPT {
            self.bytes.drain(..self.sent);
            self.marks.iter_mut().for_each(|mark| mark.at -= self.sent);
            self.sent = 0;
        }
    }
}

/// Capacity in bytes that stays allocated while the queue is empty.
const CAPACITY_KEPT: usize = 256 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(messages: &[(&str, usize)]) -> OutgoingQueue<usize> {
        let mut outgoing = OutgoingQueue::new();
        for (index, (text, descriptors)) in messages.iter().enumerate() {
            outgoing.attach(outgoing.bytes.len(), vec![index; *descriptors]);
            outgoing.bytes.extend_from_slice(text.as_bytes());
        }
        outgoing
    }

    fn check(messages: &[(&str, usize)], most: usize, expected: &[(&str, &[usize])]) {
        let mut outgoing = queue(messages);
        let mut found = Vec::new();
        while let Some(transmit) = outgoing.transmit() {
            let taken = transmit.bytes.len().min(most);
            let text = String::from_utf8(transmit.bytes[..taken].to_vec()).expect("ASCII");
            found.push((text, transmit.descriptors.to_vec()));
            outgoing.transmitted(taken);
        }
        let found: Vec<_> = found.iter().map(|(text, fds)| (text.as_str(), &fds[..])).collect();
        assert_eq!(found, expected, "{messages:?}");
        assert_eq!(outgoing.len(), 0);
    }

    #[test]
    fn queued_messages_are_sent_together_up_to_the_next_descriptors() {
        check(&[], 9, &[]);
        check(&[("a", 0), ("b", 0)], 9, &[("ab", &[])]);
        check(&[("a", 0), ("b", 2), ("c", 0)], 9, &[("a", &[]), ("bc", &[1, 1])]);
        check(&[("a", 1), ("b", 1)], 9, &[("a", &[0]), ("b", &[1])]);
    }

    #[test]
    fn partial_sends_take_the_descriptors_with_the_first_byte() {
        check(&[("abc", 1), ("d", 1)], 2, &[("ab", &[0]), ("c", &[]), ("d", &[1])]);
    }

    #[test]
    fn appended_queues_keep_their_descriptors() {
        let mut outgoing = queue(&[("a", 1), ("b", 0)]);
        outgoing.append(queue(&[("c", 0), ("d", 2)]));
        let mut found = Vec::new();
        while let Some(Transmit { bytes, descriptors }) = outgoing.transmit() {
            found.push((bytes.to_vec(), descriptors.to_vec()));
            outgoing.transmitted(found.last().map_or(0, |(bytes, _)| bytes.len()));
        }
        assert_eq!(found, [(b"abc".to_vec(), vec![0]), (b"d".to_vec(), vec![1, 1])]);
    }

    #[test]
    fn memory_is_reclaimed_while_more_is_added() {
        let mut outgoing = queue(&[(&"x".repeat(CAPACITY_KEPT + 8), 0), ("end", 1)]);
        outgoing.transmitted(CAPACITY_KEPT);
        assert_eq!(outgoing.bytes.len(), 8 + 3);
        assert_eq!(outgoing.transmit().map(|t| t.bytes.len()), Some(8));
        outgoing.transmitted(8);
        let last = outgoing.transmit().expect("the end");
        assert_eq!((last.bytes, last.descriptors), (&b"end"[..], &[1][..]));
    }
}
