//! Bytes and descriptors that have arrived, until they are messages.

use std::collections::VecDeque;
use std::time::Duration;

use lane::{BusyPoll, FrameStamp, LaneFrame, LaneInbox, LaneKey};
use wire::framer::{Frame, Framer, FramerLimits, SCRATCH_LEN_MIN, Space};
use wire::message::{InvalidMessage, Message};

use super::incoming::PooledBytes;

/// The part of a [`Core`](super::Core) that a reader needs while it waits for bytes. It can be
/// [taken](super::Core::take_receiver) out, so that other threads use the core meanwhile.
pub struct Receiver<D> {
    framer: Framer,
    scratch: Vec<u8>,
    /// Received descriptors that are not assigned to a message yet.
    arrived: VecDeque<D>,
    /// The space for a packet of a lane; empty until it is needed.
    packet: Vec<u8>,
    pub(super) inbox: LaneInbox<PooledBytes>,
    /// Lanes from which everything was read, because they were shut down.
    pub(super) ended: Vec<LaneKey>,
    /// True if bytes of the bus were received since the last complete message was cut.
    has_bytes: bool,
    /// The number of packets that were read since the socket of the bus was.
    packets: u32,
    /// The lane of the latest packet.
    pub(super) latest_lane: Option<LaneKey>,
    busy_poll: BusyPoll,
}

impl<D> Receiver<D> {
    pub(super) fn new(limits: FramerLimits) -> Self {
        Self {
            framer: Framer::new(limits),
            scratch: vec![0; SCRATCH_LEN],
            arrived: VecDeque::new(),
            packet: Vec::new(),
            inbox: LaneInbox::default(),
            ended: Vec::new(),
            has_bytes: false,
            packets: 0,
            latest_lane: None,
            busy_poll: BusyPoll::default(),
        }
    }

    /// The buffer for the next received bytes. It is never empty.
    pub fn space(&mut self) -> Space<'_> {
        self.framer.space(&mut self.scratch)
    }

    /// Records that `count` bytes were read into [`space`](Self::space), and the descriptors that
    /// arrived with them.
    pub fn handle_received(&mut self, count: usize, descriptors: impl IntoIterator<Item = D>) {
        self.framer.received(count);
        self.note_bytes(descriptors);
    }

    fn note_bytes(&mut self, descriptors: impl IntoIterator<Item = D>) {
        self.has_bytes = true;
        self.packets = 0;
        self.inbox.restart();
        let before = self.arrived.len();
        self.arrived.extend(descriptors);
        // The kernel passes at most 253 at once, so the cast is lossless.
        self.framer.received_fds((self.arrived.len() - before) as u32);
    }

    /// True if [lanes must be read](Self::unread_lanes) before a message that was received can be
    /// processed.
    pub fn must_read_lanes(&self) -> bool {
        (self.has_bytes || !self.inbox.is_empty()) && !self.inbox.is_read()
    }

    /// True if there are lanes to read.
    pub fn has_lanes(&self) -> bool {
        self.inbox.has_lanes()
    }

    /// True if nothing has arrived since the last message was cut, except a part of the next one.
    pub(super) fn is_empty(&self) -> bool {
        !self.has_bytes && self.inbox.is_empty()
    }

    /// True if the bus must be read before lanes, because many packets were read since. A busy lane
    /// must not keep the connection from hearing of the bus.
    pub fn must_read_bus(&self) -> bool {
        self.packets >= PACKETS_MAX
    }

    /// Records that nothing was in the socket of the bus.
    pub fn handle_empty_bus(&mut self) {
        self.packets = 0;
    }

    /// The lanes to read, a packet of each, before the next message is processed.
    pub fn unread_lanes(&self) -> impl Iterator<Item = LaneKey> {
        self.inbox.unread()
    }

    /// True if a message of this lane waits. Until it is processed, the lane need not be read.
    pub fn holds_message_of(&self, key: LaneKey) -> bool {
        self.inbox.holds(key)
    }

    /// Calls `read` until it returns a value, for a short time, if that is worthwhile; see
    /// [`BusyPoll`].
    pub fn busy_poll<T>(
        &mut self,
        timeout: Option<Duration>,
        mut read: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<T> {
        let mut busy_poll = self.busy_poll;
        let found = busy_poll.poll(timeout, || read(self));
        self.busy_poll = busy_poll;
        found
    }

    /// The buffer for a packet of a lane.
    pub fn packet_space(&mut self, len: usize) -> &mut [u8] {
        if self.packet.len() < len {
            self.packet.resize(len, 0);
        }
        &mut self.packet[..len]
    }

    /// Records a packet of `len` bytes that was read into [`packet_space`](Self::packet_space).
    /// `unread` is the length of the packets that are still in the socket.
    pub fn handle_packet(&mut self, key: LaneKey, len: usize, unread: impl Fn() -> u64) {
        self.packets += 1;
        self.latest_lane = Some(key);
        // A packet that is too short for a stamp is an invalid message, too.
        let (message, stamp) = FrameStamp::split(&self.packet[..len]).unwrap_or_default();
        let frame = LaneFrame { stamp, len, message: PooledBytes::copy_of(message) };
        self.inbox.add(key, frame, self.has_bytes, unread);
    }

    /// Records that nothing was in the socket of a lane.
    pub fn handle_empty_lane(&mut self, key: LaneKey) {
        self.inbox.note_empty(key);
    }

    /// Records that a lane was shut down, and everything was read from it.
    pub fn handle_lane_end(&mut self, key: LaneKey) {
        self.inbox.close(key);
        self.ended.push(key);
    }

    /// Records that the connection has ended, so no lane is read any more.
    pub fn handle_last_packet(&mut self) {
        self.inbox.close_all();
    }

    /// Records bytes that were read behind the end of the handshake, with their descriptors.
    pub(super) fn handle_bytes(&mut self, bytes: &[u8], descriptors: impl IntoIterator<Item = D>) {
        self.framer.park(&self.scratch);
        self.framer.keep(bytes);
        self.framer.unpark(&mut self.scratch);
        self.note_bytes(descriptors);
    }

    /// Cuts the next complete message from the received bytes.
    pub(super) fn next(&mut self) -> Result<Option<PooledBytes>, InvalidMessage> {
        if !self.has_bytes || !self.inbox.is_read() {
            return Ok(None);
        }
        Ok(match self.framer.next(&self.scratch)? {
            None => {
                self.has_bytes = false;
                None
            }
            Some(Frame::Scratch(bytes)) => Some(PooledBytes::copy_of(bytes)),
            Some(Frame::Owned(bytes)) => Some(PooledBytes::own(bytes)),
        })
    }

    /// Takes the descriptors of a message.
    pub(super) fn take_descriptors(
        &mut self,
        message: &Message<'_>,
    ) -> Result<Vec<D>, InvalidMessage> {
        let count = self.framer.claim_fds(message)? as usize;
        Ok(self.arrived.drain(..count).collect())
    }
}

/// The number of packets of lanes after which the bus is read.
const PACKETS_MAX: u32 = 64;

/// Maximum number of bytes in one read: a burst of small messages, or a part of a large one.
const SCRATCH_LEN: usize = 2 * SCRATCH_LEN_MIN;
