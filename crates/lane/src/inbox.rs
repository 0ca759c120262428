//! Received messages of lanes, until it is their turn.

use std::collections::VecDeque;

use crate::frame::FrameHeader;

/// The key of a lane of this connection. Keys are not reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LaneKey(pub(crate) u64);

/// The received messages of all lanes, in the order in which they were sent.
#[derive(Debug)]
pub struct LaneInbox<M> {
    waiting: VecDeque<(FrameHeader, LaneKey, M)>,
}

impl<M> Default for LaneInbox<M> {
    fn default() -> Self {
        Self { waiting: VecDeque::new() }
    }
}

impl<M> LaneInbox<M> {
    /// Adds a received message. Messages of one lane keep their order, whatever time they state.
    pub fn add(&mut self, key: LaneKey, header: FrameHeader, message: M) {
        let later = |(other, of, _): &&(FrameHeader, LaneKey, M)| {
            // Not by the time alone: a program may be interrupted between reading the clock and the
            // number of messages, so a later time can come with a smaller number.
            *of != key && *other > header
        };
        let overtaken = self.waiting.iter().rev().take_while(later).count();
        let place = self.waiting.len() - overtaken;
        self.waiting.insert(place, (header, key, message));
    }

    /// Takes the next message if it is its turn: the connection has processed `received` messages
    /// of the bus, and `queued` is the number that the bus has queued for it.
    pub fn take_due(
        &mut self,
        received: u64,
        queued: impl FnOnce() -> u64,
    ) -> Option<(LaneKey, M)> {
        let (header, ..) = self.waiting.front()?;
        // The bus may have dropped a message that it had queued.
        let is_due = header.behind <= received || queued() <= received;
        if !is_due {
            return None;
        }
        self.waiting.pop_front().map(|(_, key, message)| (key, message))
    }

    /// True if a message of this lane waits.
    pub fn holds(&self, key: LaneKey) -> bool {
        self.waiting.iter().any(|(_, of, _)| *of == key)
    }

    /// True if no message waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// True if a lane should not be read, because many of its messages wait. Then it need not be
    /// read before they are processed: what comes behind them cannot have caused them.
    pub fn has_many_of(&self, key: LaneKey) -> bool {
        self.waiting.iter().filter(|(_, of, _)| *of == key).count() >= WAITING_MAX
    }

    /// Removes the messages of a lane that has violated the protocol.
    pub fn discard(&mut self, key: LaneKey) {
        self.waiting.retain(|(_, of, _)| *of != key);
    }
}

/// The number of waiting messages of a lane from which on it is not read.
const WAITING_MAX: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn header(behind: u64, sent_at: u64) -> FrameHeader {
        FrameHeader { behind, sent_at }
    }

    const A: LaneKey = LaneKey(0);
    const B: LaneKey = LaneKey(1);

    #[test]
    fn messages_of_several_lanes_are_ordered_by_number_and_time() {
        let mut inbox = LaneInbox::default();
        inbox.add(B, header(0, 20), "second");
        inbox.add(A, header(0, 10), "first");
        inbox.add(A, header(0, 5), "of the same lane, with a wrong time");
        inbox.add(B, header(1, 15), "last");
        let all: Vec<_> =
            std::iter::from_fn(|| inbox.take_due(1, || 1)).map(|(_, text)| text).collect();
        assert_eq!(all, ["first", "of the same lane, with a wrong time", "second", "last"]);
    }

    #[test]
    fn many_messages_of_one_lane_leave_room_for_another() {
        let mut inbox = LaneInbox::default();
        (0..WAITING_MAX).for_each(|_| inbox.add(A, header(1, 1), "message"));
        assert_eq!([A, B].map(|key| inbox.has_many_of(key)), [true, false]);
        assert_eq!([A, B].map(|key| inbox.holds(key)), [true, false]);
    }

    #[test]
    fn a_message_waits_for_those_of_the_bus_before_it() {
        let mut inbox = LaneInbox::default();
        inbox.add(A, header(3, 1), "message");
        assert_eq!(inbox.take_due(2, || 3), None);
        assert_eq!(inbox.take_due(3, || 3), Some((A, "message")));
        inbox.add(A, header(9, 1), "behind messages that the bus has dropped");
        assert!(inbox.take_due(3, || 4).is_none());
        assert!(inbox.take_due(4, || 4).is_some());
    }
}
