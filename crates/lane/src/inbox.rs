//! Received messages of lanes, until it is their turn.

use std::collections::VecDeque;

use crate::frame::FrameStamp;

/// The key of a lane of this connection. Keys are not reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LaneKey(pub(crate) u64);

/// The received messages of all lanes, in the order in which they were sent.
///
/// It knows which lanes must be read before the next message is processed, of a lane or of the bus:
/// each one, until it is empty or one of its messages waits. What is behind a waiting message cannot
/// have caused it.
///
/// A partner can state a wrong number or time. But only a few messages of its lane, and what the
/// socket holds then, can precede a message of the bus or of another lane that was read before
/// them, at least in part. Messages that are sent later state a larger number and time, or lie.
#[derive(Debug)]
pub struct LaneInbox<M> {
    waiting: VecDeque<WaitingFrame<M>>,
    /// The lanes that are open, in any order.
    lanes: Vec<InboxLane>,
    /// The number of messages of the bus that the connection has processed.
    received: u64,
    /// The number of packets that were read.
    read: u64,
}

#[derive(Debug)]
struct WaitingFrame<M> {
    stamp: FrameStamp,
    key: LaneKey,
    /// The number of packets that were read before it.
    place: u64,
    message: M,
}

#[derive(Debug)]
struct InboxLane {
    key: LaneKey,
    content: LaneContent,
    /// What can precede the next message of the bus.
    before_bus: FramesAhead,
    /// What can precede the message of another lane that has waited for longest.
    before_lanes: FramesAhead,
}

/// The packets of a lane that can precede a message that was read before them.
#[derive(Clone, Copy, Debug)]
struct FramesAhead {
    /// The number of this message.
    number: u64,
    rest: AheadRest,
}

#[derive(Clone, Copy, Debug)]
enum AheadRest {
    Frames(u32),
    /// Packets of this length were in the socket after the message was read.
    Bytes(u64),
}

impl FramesAhead {
    const fn of(number: u64) -> Self {
        Self { number, rest: AheadRest::Frames(FRAMES_AHEAD_MAX) }
    }

    /// Counts a packet of this length that states that it precedes the message with this number.
    /// Returns true if that can be true.
    fn count(&mut self, number: u64, len: usize, unread: impl Fn() -> u64) -> bool {
        if self.number != number {
            *self = Self::of(number);
        }
        match &mut self.rest {
            AheadRest::Frames(0) => self.rest = AheadRest::Bytes(unread()),
            AheadRest::Frames(rest) => *rest -= 1,
            AheadRest::Bytes(rest) => match rest.checked_sub(len as u64) {
                Some(less) => *rest = less,
                None => return false,
            },
        }
        true
    }
}

/// A received packet of a lane.
#[derive(Debug)]
pub struct LaneFrame<M> {
    /// The stamp of the packet.
    pub stamp: FrameStamp,
    /// The length of the packet in bytes.
    pub len: usize,
    /// The message in it.
    pub message: M,
}

/// What is in the socket of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LaneContent {
    /// Possibly a message that must be processed next.
    Unread,
    /// Nothing that must be processed before what was read.
    Empty,
}

impl<M> Default for LaneInbox<M> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), lanes: Vec::new(), received: 0, read: 0 }
    }
}

/// Methods that tell which lanes to read.
impl<M> LaneInbox<M> {
    /// Adds a lane, which is unread.
    pub fn open(&mut self, key: LaneKey) {
        let (content, ahead) = (LaneContent::Unread, FramesAhead::of(0));
        self.lanes.push(InboxLane { key, content, before_bus: ahead, before_lanes: ahead });
    }

    /// Removes a lane from which everything was read. Its messages still wait.
    pub fn close(&mut self, key: LaneKey) {
        self.lanes.retain(|lane| lane.key != key);
    }

    /// Removes all lanes, which are not read any more. Their messages still wait.
    pub fn close_all(&mut self) {
        self.lanes.clear();
    }

    /// True if a lane is open.
    #[inline]
    pub const fn has_lanes(&self) -> bool {
        !self.lanes.is_empty()
    }

    /// Notes that messages of the bus were read, so all lanes must be read behind them.
    #[inline]
    pub fn restart(&mut self) {
        self.lanes.iter_mut().for_each(|lane| lane.content = LaneContent::Unread);
    }

    /// Notes that nothing was in a lane.
    pub fn note_empty(&mut self, key: LaneKey) {
        if let Some(lane) = self.lane(key) {
            lane.content = LaneContent::Empty;
        }
    }

    fn lane(&mut self, key: LaneKey) -> Option<&mut InboxLane> {
        self.lanes.iter_mut().find(|lane| lane.key == key)
    }

    /// The lanes to read before a message is processed, a packet of each.
    #[inline]
    pub fn unread(&self) -> impl Iterator<Item = LaneKey> {
        let is_unread =
            |lane: &&InboxLane| lane.content == LaneContent::Unread && !self.holds(lane.key);
        self.lanes.iter().filter(is_unread).map(|lane| lane.key)
    }

    /// True if the next message can be processed, because no lane must be read before.
    #[inline]
    pub fn is_read(&self) -> bool {
        self.unread().next().is_none()
    }
}

/// Methods that add and take messages.
impl<M> LaneInbox<M> {
    /// Adds a received packet. Messages of one lane keep their order, whatever time they state.
    ///
    /// `bus_waits` is true if a message of the bus was read, at least in part, and not processed.
    /// `unread` is the length of the packets in the socket of the lane, which is rarely needed.
    pub fn add(
        &mut self,
        key: LaneKey,
        frame: LaneFrame<M>,
        bus_waits: bool,
        unread: impl Fn() -> u64,
    ) {
        let LaneFrame { mut stamp, len, message } = frame;
        let next = self.received + 1;
        if bus_waits
            && stamp.behind < next
            && let Some(lane) = self.lane(key)
            && !lane.before_bus.count(next, len, &unread)
        {
            stamp.behind = next;
        }
        let later = |other: &&WaitingFrame<M>| {
            // Not by the time alone: a program may be interrupted between reading the clock and the
            // number of messages, so a later time can come with a smaller number.
            other.key != key && other.stamp > stamp
        };
        let mut at = self.waiting.len() - self.waiting.iter().rev().take_while(later).count();
        let first = self.waiting.range(at..).map(|other| other.place).min();
        if let Some(first) = first
            && let Some(lane) = self.lane(key)
            && !lane.before_lanes.count(first, len, &unread)
        {
            at = self.waiting.len();
            stamp = self.waiting[at - 1].stamp;
        }
        self.waiting.insert(at, WaitingFrame { stamp, key, place: self.read, message });
        self.read += 1;
        // What has caused the message can have come on any other lane meanwhile.
        self.restart();
    }

    /// Takes the next message if it is its turn: no lane is unread, the connection has processed
    /// `received` messages of the bus, and `queued` is the number that the bus has queued for it.
    pub fn take_due(
        &mut self,
        received: u64,
        queued: impl FnOnce() -> u64,
    ) -> Option<(LaneKey, M)> {
        self.received = received;
        let stamp = self.waiting.front()?.stamp;
        // The bus may have dropped a message that it had queued.
        let is_due = self.is_read() && (stamp.behind <= received || queued() <= received);
        if !is_due {
            return None;
        }
        // Its lane is unread from now on.
        self.waiting.pop_front().map(|frame| (frame.key, frame.message))
    }

    /// True if a message of this lane waits.
    #[inline]
    pub fn holds(&self, key: LaneKey) -> bool {
        self.waiting.iter().any(|frame| frame.key == key)
    }

    /// True if no message waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

/// The number of messages of a lane that precede one that was read before them, until the bytes in
/// the socket are counted.
const FRAMES_AHEAD_MAX: u32 = 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(behind: u64, sent_at: u64) -> FrameStamp {
        FrameStamp { behind, sent_at }
    }

    fn add(
        inbox: &mut LaneInbox<&'static str>,
        key: LaneKey,
        stamp: FrameStamp,
        message: &'static str,
    ) {
        inbox.add(key, LaneFrame { stamp, len: 40, message }, false, || unreachable!());
    }

    const A: LaneKey = LaneKey(0);
    const B: LaneKey = LaneKey(1);

    #[test]
    fn messages_of_several_lanes_are_ordered_by_number_and_time() {
        let mut inbox = LaneInbox::default();
        add(&mut inbox, B, stamp(0, 20), "second");
        add(&mut inbox, A, stamp(0, 10), "first");
        add(&mut inbox, A, stamp(0, 5), "of the same lane, with a wrong time");
        add(&mut inbox, B, stamp(1, 15), "last");
        let all: Vec<_> =
            std::iter::from_fn(|| inbox.take_due(1, || 1)).map(|(_, text)| text).collect();
        assert_eq!(all, ["first", "of the same lane, with a wrong time", "second", "last"]);
    }

    #[test]
    fn each_lane_is_read_until_it_is_empty_or_a_message_waits() {
        let unread = |inbox: &LaneInbox<_>| inbox.unread().collect::<Vec<_>>();
        let mut inbox = LaneInbox::default();
        inbox.open(A);
        inbox.open(B);
        inbox.note_empty(B);
        assert_eq!(unread(&inbox), [A]);
        add(&mut inbox, A, stamp(0, 2), "effect");
        assert_eq!(unread(&inbox), [B], "its cause may have come");
        assert_eq!(inbox.take_due(0, || 0), None);
        add(&mut inbox, B, stamp(0, 1), "cause");
        assert!(inbox.is_read());
        assert_eq!(inbox.take_due(0, || 0), Some((B, "cause")));
        assert_eq!(unread(&inbox), [B]);
        inbox.note_empty(B);
        assert_eq!(inbox.take_due(0, || 0), Some((A, "effect")));
        inbox.note_empty(A);
        assert!(inbox.is_read());
        inbox.restart();
        assert_eq!(unread(&inbox), [A, B], "the bus was read");
    }

    #[test]
    fn a_lane_that_was_closed_is_not_read() {
        let mut inbox = LaneInbox::default();
        inbox.open(A);
        add(&mut inbox, A, stamp(0, 1), "last");
        inbox.close(A);
        assert_eq!(inbox.take_due(0, || 0), Some((A, "last")));
        assert!(inbox.is_read());
    }

    #[test]
    fn a_message_waits_for_those_of_the_bus_before_it() {
        let mut inbox = LaneInbox::default();
        add(&mut inbox, A, stamp(3, 1), "message");
        assert_eq!(inbox.take_due(2, || 3), None);
        assert_eq!(inbox.take_due(3, || 3), Some((A, "message")));
        add(&mut inbox, A, stamp(9, 1), "behind messages that the bus has dropped");
        assert!(inbox.take_due(3, || 4).is_none());
        assert!(inbox.take_due(4, || 4).is_some());
    }

    #[test]
    fn wrong_numbers_do_not_delay_a_message_of_the_bus_for_ever() {
        let mut inbox = LaneInbox::default();
        inbox.open(A);
        assert_eq!(inbox.take_due(4, || 5), None);
        let in_socket = 3;
        let mut before = 0;
        for at in 0.. {
            let frame = LaneFrame { stamp: stamp(0, at), len: 40, message: () };
            inbox.add(A, frame, true, || in_socket * 40);
            let Some(_) = inbox.take_due(4, || 5) else { break };
            before += 1;
        }
        assert_eq!(before, u64::from(FRAMES_AHEAD_MAX) + 1 + in_socket);
        assert!(inbox.is_read(), "so the message of the bus is processed");
        assert_eq!(inbox.take_due(5, || 6), Some((A, ())));
        let frame = LaneFrame { stamp: stamp(0, 0), len: 40, message: () };
        inbox.add(A, frame, true, || 0);
        assert_eq!(inbox.take_due(5, || 6), Some((A, ())), "before the next message of the bus");
    }

    #[test]
    fn wrong_times_do_not_delay_a_message_of_another_lane_for_ever() {
        let mut inbox = LaneInbox::default();
        inbox.open(A);
        inbox.open(B);
        let add = |inbox: &mut LaneInbox<_>, key, sent_at| {
            let frame = LaneFrame { stamp: stamp(0, sent_at), len: 40, message: sent_at };
            inbox.add(key, frame, false, || 3 * 40);
        };
        add(&mut inbox, B, 1000);
        for at in 0..u64::from(FRAMES_AHEAD_MAX) + 1 + 3 {
            add(&mut inbox, A, at);
            assert_eq!(inbox.take_due(0, || 0), Some((A, at)));
        }
        add(&mut inbox, A, 0);
        assert_eq!(inbox.take_due(0, || 0), Some((B, 1000)));
        assert_eq!(inbox.take_due(0, || 0), None, "the other lane may hold its cause");
        add(&mut inbox, B, 2000);
        assert_eq!(inbox.take_due(0, || 0), Some((A, 0)));
        add(&mut inbox, A, 500);
        assert_eq!(inbox.take_due(0, || 0), Some((A, 500)), "before the next message");
    }
}
