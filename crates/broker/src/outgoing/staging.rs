//! The staging area: small messages of the present turn, each stored once for all its recipients.

use std::ops::Range;

/// Bytes of messages that were queued and not written yet. They are discarded when the last queue
/// has been written.
#[derive(Debug, Default)]
pub(crate) struct Staging {
    bytes: Vec<u8>,
    /// The number of queues with segments in the staging area.
    users: usize,
    /// The last message, if its next recipient may get it, too.
    last: Option<StagedMessage>,
}

/// A message in the staging area.
#[derive(Debug)]
struct StagedMessage {
    /// The address of the header from which it was copied. It identifies the message as long as the
    /// effects of one input are applied.
    source: usize,
    range: Range<usize>,
}

impl Staging {
    /// Notes that the effects of another input are applied, whose messages are different ones.
    #[inline]
    pub(crate) fn begin_input(&mut self) {
        self.last = None;
    }

    /// True if the queues should be written, so that the staging area does not grow further.
    #[inline]
    pub(crate) const fn is_long(&self) -> bool {
        self.bytes.len() > LENGTH_MAX
    }

    pub(super) const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Stores a message, unless it is the last one.
    pub(super) fn stage(&mut self, head: &[u8], body: &[u8]) -> Range<usize> {
        let source = head.as_ptr().addr();
        let len = head.len() + body.len();
        if let Some(last) = &self.last
            && last.source == source
            && last.range.len() == len
        {
            return last.range.clone();
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(head);
        self.bytes.extend_from_slice(body);
        let range = start..self.bytes.len();
        self.last = Some(StagedMessage { source, range: range.clone() });
        range
    }

    pub(super) fn bytes(&self, range: &Range<usize>) -> &[u8] {
        &self.bytes[range.clone()]
    }

    /// Counts a queue that begins to use the staging area.
    pub(super) const fn add_user(&mut self) {
        self.users += 1;
    }

    /// Notes that a queue does not use the staging area any more.
    pub(super) fn remove_user(&mut self) {
        self.users -= 1;
        if self.users == 0 {
            self.last = None;
            self.bytes.clear();
            self.bytes.shrink_to(CAPACITY_KEPT);
        }
    }
}

/// If more bytes are staged, the queues are written before more messages are routed.
const LENGTH_MAX: usize = 128 << 10;

/// The capacity in bytes that is kept while the staging area is empty.
const CAPACITY_KEPT: usize = 2 * LENGTH_MAX;
