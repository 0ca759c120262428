//! Messages that travel on lanes instead of the bus; see the crate [`lane`].

use std::mem;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use lane::{
    CALLS_MAX, CallRoute, CheckedMessage, LaneCounters, LaneKey, LaneSet, RequestOutcome, STAMP_LEN,
};
use wire::message::{Builder, FixedHeader, Flags, Message};
use wire::names::{BusName, BusNameBuf};

use super::calls::{CallHandle, ReplyTarget};
use super::incoming::{Incoming, PooledBytes};
use super::known_headers::RecognizedMessage;
use super::{Core, MessageDisposition, RECEIVER_TAKEN};

/// Whether a connection asks for lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LaneUse {
    /// All messages go to the bus.
    #[default]
    Off,
    /// Messages to partners with which many are exchanged go directly.
    On,
}

/// The lanes of a connection, and the message that is to be sent on one.
pub(super) struct LaneTraffic<D> {
    lanes: LaneSet,
    lane_use: LaneUse,
    /// The unique name of the connection, once it has used lanes.
    name: Option<BusNameBuf>,
    pub(super) chosen: Option<ChosenLane>,
    opened: Vec<OpenedLane<D>>,
    /// True if a lane has ended whose socket is not closed yet.
    has_ended: bool,
}

/// The lane for the message at the end of the queue, which is the only one there.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChosenLane {
    key: LaneKey,
    /// The serial of the message, once it is written.
    serial: Option<NonZeroU32>,
}

/// A message to send on a lane.
#[derive(Clone, Copy, Debug)]
pub struct LaneTransmit<'a> {
    /// The lane for the message.
    pub key: LaneKey,
    /// The packet to send: the message and its stamp.
    pub packet: &'a [u8],
}

/// A lane that the bus has opened.
pub struct OpenedLane<D> {
    /// The unique name of the connection at the other end.
    pub partner: Box<str>,
    /// The socket, and the counters for [`LaneCounters::map`].
    pub descriptors: Arc<[D]>,
}

impl<D> Default for LaneTraffic<D> {
    fn default() -> Self {
        Self {
            lanes: LaneSet::default(),
            lane_use: LaneUse::Off,
            name: None,
            chosen: None,
            opened: Vec::new(),
            has_ended: false,
        }
    }
}

impl<D> LaneTraffic<D> {
    /// Counts complete messages that are sent to the bus.
    pub(super) fn count_messages(&mut self, mut messages: &[u8]) {
        while let Some(header) = messages.first_chunk()
            && let Ok(header) = FixedHeader::parse(header)
        {
            self.lanes.count_sent();
            messages = messages.get(header.message_len()..).unwrap_or_default();
        }
    }

    pub(super) const fn count_received(&mut self) {
        self.lanes.count_received();
    }

    /// Adds the sender to a message for a lane. On other messages the bus does that.
    pub(super) fn complete<'a>(&'a self, message: &Builder<'a>) -> Builder<'a> {
        match (&self.chosen, &self.name) {
            (Some(_), Some(name)) => message.sender(name.as_name()),
            _ => *message,
        }
    }

    /// True if a signal of the bus opens a lane.
    pub(super) fn is_opening(&self, signal: &Message<'_>) -> bool {
        self.name.is_some() && lane::is_opening(signal)
    }

    /// Forgets all lanes, because the bus went away.
    pub(super) fn interrupt(&mut self) {
        *self = Self { name: self.name.take(), lane_use: self.lane_use, ..Self::default() };
    }

    /// Continues to count the messages of a new connection, which has this unique name.
    pub(super) fn resume(&mut self, new: Self, unique_name: Option<BusNameBuf>) {
        let name = self.name.take().and(unique_name);
        *self = Self { name, lane_use: self.lane_use, ..new };
    }

    /// Takes note of the answer to a request for a lane.
    pub(super) fn handle_request(&mut self, asked: &str, reply: &Incoming<D>) {
        self.lanes.handle_request(asked, RequestOutcome::of(&reply.message()));
    }
}

/// Methods that use lanes, or end them.
impl<D> Core<D> {
    /// Sets whether this connection, which has this unique name, asks for lanes.
    pub fn set_lane_use(&mut self, lane_use: LaneUse, name: BusName<'_>) {
        self.lanes.lane_use = lane_use;
        match lane_use {
            LaneUse::On => self.lanes.name = Some(name.into()),
            LaneUse::Off => {
                let partners: Vec<Box<str>> = self.lanes.lanes.partners().map(Into::into).collect();
                partners.iter().for_each(|partner| self.release_lane(partner));
            }
        }
    }

    /// Calls `send` with the message that is to be sent on a lane, if there is one. It returns
    /// whether the lane has accepted the packet; if not, the message goes to the bus. Returns true
    /// if there was a message.
    ///
    /// `now` is the time on the monotonic clock, if it was read after everything that can have
    /// caused the message.
    #[inline]
    pub fn send_on_lane(
        &mut self,
        now: Option<Duration>,
        send: impl FnOnce(LaneTransmit<'_>) -> bool,
    ) -> bool {
        let chosen = self.lanes.chosen;
        if let Some(ChosenLane { key, .. }) = chosen {
            match self.try_lane(key, now, send) {
                true => self.lanes.chosen = None,
                false => self.lane_refused(),
            }
        }
        chosen.is_some()
    }

    fn try_lane(
        &mut self,
        key: LaneKey,
        now: Option<Duration>,
        send: impl FnOnce(LaneTransmit<'_>) -> bool,
    ) -> bool {
        let Some(stamp) = self.lanes.lanes.stamp(key, now) else { return false };
        let len = self.outgoing.len();
        self.outgoing.bytes.extend_from_slice(&stamp.to_bytes());
        let transmit = self.outgoing.transmit();
        let is_sent =
            transmit.is_some_and(|transmit| send(LaneTransmit { key, packet: transmit.bytes }));
        self.outgoing.bytes.truncate(self.outgoing.bytes.len() - STAMP_LEN);
        if is_sent {
            self.outgoing.transmitted(len);
            self.lanes.lanes.count_lane_sent(len);
        }
        is_sent
    }

    /// Records that the message could not be sent on its lane, so that it goes to the bus.
    fn lane_refused(&mut self) {
        if let Some(chosen) = self.lanes.chosen.take() {
            self.lanes.lanes.count_sent();
            let bus = |serial| self.calls.set_route(serial, CallRoute::Bus);
            chosen.serial.into_iter().for_each(bus);
        }
    }

    /// The next lane that the bus has opened. Then call [`add_lane`](Self::add_lane).
    pub fn poll_opened(&mut self) -> Option<OpenedLane<D>> {
        self.lanes.opened.pop()
    }

    /// Adds an opened lane with its counters, and returns its key. If the connection does not want
    /// lanes any more, this also asks the bus to end it.
    ///
    /// # Panics
    ///
    /// While the receiver is [taken](Self::take_receiver).
    pub fn add_lane(&mut self, partner: &str, counters: LaneCounters) -> LaneKey {
        if self.lanes.lane_use == LaneUse::Off {
            self.release_lane(partner);
        }
        let key = self.lanes.lanes.open(partner, counters);
        // Messages of the bus that were read already can depend on its first messages.
        self.receiver.as_mut().expect(RECEIVER_TAKEN).inbox.open(key);
        key
    }

    /// True if a lane was opened or has ended since the last call of this method, and the receiver
    /// is not taken. Then add the [opened lanes](Self::poll_opened), and close the sockets of those
    /// that are not [open](Self::is_lane_open).
    pub fn take_lane_change(&mut self) -> bool {
        let lanes = &mut self.lanes;
        self.receiver.is_some() && (mem::take(&mut lanes.has_ended) || !lanes.opened.is_empty())
    }

    /// True if the messages of a lane wait until a message of the bus arrives.
    pub fn waits_for_bus(&self, key: LaneKey) -> bool {
        self.receiver.as_ref().is_some_and(|receiver| receiver.holds_message_of(key))
    }

    /// True if lanes must be read before a message that was received can be processed.
    pub fn must_read_lanes(&self) -> bool {
        self.receiver.as_ref().is_some_and(|receiver| receiver.must_read_lanes())
    }

    /// The lane on which a message is expected next: the one of this call, or else the latest one.
    /// `None` if the bus has messages for this connection.
    pub fn expected_lane(&self, call: Option<CallHandle>) -> Option<LaneKey> {
        let lanes = &self.lanes.lanes;
        if lanes.is_empty() || lanes.queued() > lanes.received() {
            return None;
        }
        match call {
            Some(call) => match self.calls.route_of(call.serial())? {
                CallRoute::Lane(key) => Some(*key),
                CallRoute::Bus | CallRoute::Resumed(_) => None,
            },
            None => self.receiver.as_ref()?.latest_lane,
        }
    }

    /// True if a lane has not ended.
    pub fn is_lane_open(&self, key: LaneKey) -> bool {
        self.lanes.lanes.is_open(key)
    }

    /// Number of lanes that have not ended.
    pub fn lane_count(&self) -> usize {
        self.lanes.lanes.len()
    }

    /// Number of lanes that this connection can send on now.
    pub fn usable_lane_count(&self) -> usize {
        match self.lanes.lane_use {
            LaneUse::On if self.ended.is_none() => self.lane_count(),
            LaneUse::On | LaneUse::Off => 0,
        }
    }

    /// Chooses the lane for a message, if it may travel on one now.
    #[inline]
    pub(super) fn choose_lane(&mut self, message: &Builder<'_>) {
        if self.has_lanes() {
            self.choose_open_lane(message);
        }
    }

    fn choose_open_lane(&mut self, message: &Builder<'_>) {
        self.lane_refused();
        let may_use = self.lanes.lane_use == LaneUse::On && self.calls.len() < CALLS_MAX;
        if !may_use || self.outgoing.len() > 0 {
            return;
        }
        let Some(recipient) = message.recipient() else { return };
        let key = self.lanes.lanes.route(recipient.as_str(), message.answered_call());
        self.lanes.chosen = key.map(|key| ChosenLane { key, serial: None });
    }

    /// Records the serial of the message for the chosen lane. If it is too large for a lane,
    /// or no lane was chosen, it goes to the bus.
    pub(super) fn confirm_lane(&mut self, serial: NonZeroU32, len: usize, descriptors: u32) {
        match &mut self.lanes.chosen {
            Some(chosen) if LaneSet::fits(len, descriptors as usize) => {
                chosen.serial = Some(serial);
            }
            Some(_) => self.lane_refused(),
            None => self.lanes.lanes.count_sent(),
        }
    }

    /// Records how a call travels. After many calls to one recipient, asks for a lane.
    pub(super) fn note_call(&mut self, message: &Builder<'_>, serial: NonZeroU32) {
        match (&self.lanes.chosen, message.recipient()) {
            (Some(chosen), _) => self.calls.set_route(serial, CallRoute::Lane(chosen.key)),
            (None, Some(recipient)) => self.count_partner(recipient.as_str()),
            (None, None) => {}
        }
    }

    /// Counts a call of a peer. After many calls, asks for a lane.
    pub(super) fn note_request(&mut self, caller: Option<&str>) {
        if let Some(caller) = caller {
            self.count_partner(caller);
        }
    }

    #[inline]
    fn count_partner(&mut self, name: &str) {
        if self.lanes.lane_use == LaneUse::On {
            self.count_possible_partner(name);
        }
    }

    fn count_possible_partner(&mut self, name: &str) {
        if self.lane_count() >= LANES_MAX
            || lane::is_bus(name)
            || !self.lanes.lanes.count_call(name)
        {
            return;
        }
        let request = lane::request();
        // If it cannot be sent, the connection has ended.
        if let Ok(serial) = self.send(&request, &(name,), Vec::new()) {
            self.calls.add(serial, None, ReplyTarget::Lane(name.into()));
        }
    }

    pub(super) fn file_opened(&mut self, opened: Incoming<D>) -> MessageDisposition {
        if let (Some(partner), Some(descriptors)) =
            (lane::opened_partner(&opened.message()), opened.shared_descriptors())
        {
            self.lanes.opened.push(OpenedLane { partner: partner.into(), descriptors });
        }
        MessageDisposition::Ignored
    }

    /// True if a lane is ending.
    pub(super) const fn has_ending_lanes(&self) -> bool {
        self.lanes.lanes.has_ending()
    }

    /// True if a lane is open or ending.
    #[inline]
    pub(super) const fn has_lanes(&self) -> bool {
        !self.lanes.lanes.is_empty()
    }

    /// Takes the next packet of a lane, if it is its turn.
    pub(super) fn next_packet(&mut self) -> Option<(LaneKey, PooledBytes)> {
        let receiver = self.receiver.as_mut()?;
        let lanes = &self.lanes.lanes;
        let due = receiver.inbox.take_due(lanes.received(), || lanes.queued());
        if due.is_none() && receiver.inbox.is_read() {
            self.resume_calls();
        }
        due
    }

    /// True if a reply that came over the bus can answer the call with this serial.
    pub(super) fn may_answer(&self, reply: &Message<'_>, call: NonZeroU32) -> bool {
        if !reply.flags().contains(Flags::LANE_REPLY) {
            return true;
        }
        let sender = reply.sender().map(BusName::as_str);
        let route = self.calls.route_of(call);
        // If no call waits, the reply may be late.
        route.is_none_or(|route| self.lanes.lanes.may_answer(route, sender))
    }

    /// Takes note of the message in a packet. Returns false if it must be ignored.
    pub(super) fn accept(&mut self, key: LaneKey, message: &Message<'_>) -> bool {
        let (own, partner) = (self.lanes.name.as_ref(), self.lanes.lanes.partner(key));
        let checked = own.zip(partner).and_then(|(own, partner)| {
            CheckedMessage::of(message, own.as_name().as_str(), partner)
        });
        self.accept_checked(key, checked, message.reply_serial(), message.bytes().len())
    }

    /// Like [`accept`](Self::accept), for the message in `bytes` with a known header. The same
    /// header was accepted before, but maybe on another lane.
    pub(super) fn accept_recognized(
        &mut self,
        key: LaneKey,
        message: &RecognizedMessage,
        bytes: &[u8],
    ) -> bool {
        let RecognizedMessage { header, answered_call, .. } = message;
        let partner = self.lanes.lanes.partner(key).map(str::as_bytes);
        let is_of_partner = partner == Some(header.sender_bytes(bytes));
        let checked = is_of_partner.then(|| match header.expects_reply() {
            true => CheckedMessage::Call(header.serial()),
            false => CheckedMessage::Other,
        });
        self.accept_checked(key, checked, *answered_call, bytes.len())
    }

    /// Takes note of a message of this length, which was checked.
    fn accept_checked(
        &mut self,
        key: LaneKey,
        checked: Option<CheckedMessage>,
        answered_call: Option<NonZeroU32>,
        len: usize,
    ) -> bool {
        let lanes = &mut self.lanes.lanes;
        let Some(checked) = checked else {
            self.fail_lane(key);
            return false;
        };
        let route = answered_call.and_then(|call| self.calls.route_of(call));
        if route.is_some_and(|route| *route != CallRoute::Lane(key)) {
            // The partner did not get this call.
            self.foreign_replies += 1;
            return false;
        }
        if let CheckedMessage::Call(serial) = checked {
            lanes.expect_reply(key, serial);
        }
        lanes.count_lane_received(len);
        true
    }

    /// Asks the bus to end a lane whose partner has violated the protocol.
    pub(super) fn fail_lane(&mut self, key: LaneKey) {
        if let Some(partner) = self.lanes.lanes.give_up(key).map(str::to_owned) {
            self.release_lane(&partner);
        }
    }

    /// Ends a lane that was opened, and cannot be used without its counters.
    pub fn refuse_lane(&mut self, partner: &str) {
        self.resume_partner(partner, &[]);
    }

    /// Asks the bus to end the lane to a partner. Both ends notice that at their sockets.
    fn release_lane(&mut self, partner: &str) {
        let release = lane::release().flags(Flags::NO_REPLY_EXPECTED);
        // If it cannot be sent, the connection has ended.
        let _ = self.send(&release, &(partner,), Vec::new());
    }

    /// Ends the lanes from which everything was read.
    pub(super) fn end_lanes(&mut self) {
        let Some(receiver) = &mut self.receiver else { return };
        for key in receiver.ended.drain(..) {
            self.lanes.lanes.end(key);
            self.lanes.has_ended = true;
        }
    }

    /// Tells the bus which calls of ended lanes wait for replies.
    fn resume_calls(&mut self) {
        while let Some(ended) = self.lanes.lanes.take_ended() {
            if self.lanes.chosen.is_some_and(|chosen| chosen.key == ended.key) {
                // It was not sent on the lane, and now goes to the bus.
                self.lane_refused();
            }
            let calls = self.calls.take_lane(ended.key, &ended.partner);
            self.resume_partner(&ended.partner, &calls);
        }
    }

    /// Tells the bus that the lane to a partner ended, and which calls on it wait for replies.
    fn resume_partner(&mut self, partner: &str, calls: &[u32]) {
        // If it cannot be sent, the connection has ended, and its calls have failed.
        let _ = self.send(&lane::resume(), &(partner, calls), Vec::new());
    }
}

/// The number of lanes from which on a connection asks for no more. A reader waits for the sockets
/// of all of them and of the bus at once.
pub(crate) const LANES_MAX: usize = unix::poll::AT_ONCE_MAX - 1;
