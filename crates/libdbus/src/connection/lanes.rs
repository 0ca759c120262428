//! Messages that travel on lanes instead of the bus; see the crate [`lane`].
//!
//! A connection reads from the bus and from its lanes, and puts the messages into its queue in the
//! order that the bus promises. So everything behind the queue is the same with and without lanes.

use std::collections::{HashMap, VecDeque};
use std::ffi::{CStr, CString};
use std::io::{ErrorKind, IoSlice};
use std::num::NonZeroU32;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use lane::{
    BusyPoll, CALLS_MAX, CallRoute, CheckedMessage, FRAME_LEN_MAX, FrameStamp, LaneCounters,
    LaneFrame, LaneInbox, LaneKey, LaneSet, RequestOutcome,
};
use rustix::event::{EventfdFlags, eventfd};
use sys::poll::{Interest, Poller, which_have_data};
use sys::transfer::{self, TransferWait};
use wire::Message;
use wire::body::EncodeArgs;
use wire::message::{Builder, Flags};

use super::{ConnectionState, DBusConnection, LOCAL_INTERFACE, LOCAL_PATH};
use crate::message::{DBusMessageContent, HeaderField, HeaderValue, MessageRef, code, kind};
use crate::misc::variable;
use crate::transport::TransferState;

/// The lanes of a connection, and the messages that wait for their turn.
#[derive(Default)]
pub(super) struct MergedLanes {
    lanes: LaneSet,
    sockets: Vec<OpenSocket>,
    inbox: LaneInbox<LaneMessage>,
    /// Messages of the bus that were read, until everything before them was read from lanes.
    from_bus: VecDeque<(DBusMessageContent, usize)>,
    /// Why messages that were read are not in the queue of the program.
    pause: Option<PauseReason>,
    /// What the main loop waits for. `None` without lanes.
    group: Option<SocketGroup>,
    /// The field with the unique name of the connection, once it has one and may ask for lanes.
    sender: Option<HeaderField>,
    /// True if the program waits for the socket of the connection itself, so lanes must end.
    is_stopped: bool,
    /// The serial of the call that makes this connection a monitor, which must not send.
    monitor_call: Option<u32>,
    /// Calls of this library, which the program does not see, by their serial.
    own_calls: HashMap<u32, OwnCall>,
    /// How the calls travel that were sent on lanes and wait for a reply, by their serial.
    waiting: HashMap<u32, CallRoute>,
    /// The space for a packet; empty until it is needed.
    packet: Vec<u8>,
    /// The lane of the latest packet.
    latest: Option<LaneKey>,
    busy_poll: BusyPoll,
}

/// Readable if the socket of the connection or of a lane is, or messages wait that were read.
struct SocketGroup {
    poller: Poller,
    alarm: OwnedFd,
}

/// Why a connection does not put all messages that it has read into the queue of the program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PauseReason {
    /// The program has too many messages.
    QueueFull,
    /// Lanes are so busy that the program must process messages first, and the connection must read
    /// from the bus.
    LanesBusy,
}

impl SocketGroup {
    /// A group with the socket of a connection. `None` without memory or descriptors.
    fn new(socket: &OwnedFd) -> Option<Self> {
        let poller = Poller::new().ok()?;
        let alarm = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok()?;
        poller.add(socket, 0, Interest::Read).ok()?;
        poller.add(&alarm, 0, Interest::Read).ok()?;
        Some(Self { poller, alarm })
    }
}

struct OpenSocket {
    key: LaneKey,
    socket: Arc<OwnedFd>,
}

/// A received message of a lane.
struct LaneMessage {
    /// `None` if the message is longer than the program accepts. Then the connection ends when it
    /// is its turn, as over the bus.
    content: Option<DBusMessageContent>,
    /// The length of the message in bytes.
    bytes: usize,
    role: CheckedMessage,
}

/// A call of this library whose reply the program does not see.
enum OwnCall {
    /// It asks for a lane to this connection.
    Request(Box<str>),
    /// It ends a lane.
    Release,
}

/// The result of reading a packet.
enum PacketRead {
    Message(LaneFrame<LaneMessage>),
    Nothing,
    /// The lane was shut down, and everything was read.
    Ended,
    /// The partner has violated the protocol. That ends the lane only: the partner must not be able
    /// to end the connection.
    Invalid,
}

impl MergedLanes {
    /// The lanes of a connection with this socket. A server has none.
    pub(super) fn new(socket: &OwnedFd, is_server: bool) -> Self {
        let is_enabled = !is_server && variable(VARIABLE).as_deref() == Some(b"1");
        let group = is_enabled.then(|| SocketGroup::new(socket)).flatten();
        Self { group, ..Self::default() }
    }

    /// What the main loop waits for to read, if it is not the socket of the connection.
    pub(super) fn group(&self) -> Option<&impl AsFd> {
        self.group.as_ref().map(|group| &group.poller)
    }

    /// The sockets of all lanes.
    pub(super) fn sockets(&self) -> Vec<Arc<OwnedFd>> {
        self.sockets.iter().map(|lane| Arc::clone(&lane.socket)).collect()
    }

    /// Why messages that were read are not in the queue of the program, if there are some.
    pub(super) const fn pause(&self) -> Option<PauseReason> {
        self.pause
    }

    /// Leaves messages that were read for later.
    fn begin_pause(&mut self, reason: PauseReason) {
        self.pause = Some(reason);
        if let (PauseReason::LanesBusy, Some(group)) = (reason, &self.group) {
            // It fails only if it is readable already.
            let _ = rustix::io::write(&group.alarm, &1_u64.to_ne_bytes());
        }
    }

    fn end_pause(&mut self) {
        if let (Some(PauseReason::LanesBusy), Some(group)) = (self.pause.take(), &self.group) {
            // It fails only if it is not readable any more.
            let _ = rustix::io::read(&group.alarm, &mut [0; 8]);
        }
    }

    /// Counts a message that is sent to the bus.
    pub(super) const fn count_sent(&mut self) {
        self.lanes.count_sent();
    }

    /// Adds messages that were read from the bus.
    pub(super) fn add_from_bus(&mut self, messages: Vec<(DBusMessageContent, usize)>) {
        self.from_bus.extend(messages);
    }

    /// True if lanes are enabled.
    pub(super) const fn are_enabled(&self) -> bool {
        self.group.is_some()
    }

    /// True if this connection may ask for lanes and send on them.
    const fn is_on(&self) -> bool {
        self.sender.is_some() && !self.is_stopped && self.monitor_call.is_none()
    }

    /// The unique name of the connection, once it has one and may ask for lanes.
    fn own_name(&self) -> Option<&str> {
        self.sender.as_ref().and_then(HeaderField::text)
    }

    /// True if this name is the unique name of the connection.
    fn is_own_name(&self, name: Option<&str>) -> bool {
        name.is_some() && self.own_name() == name
    }

    /// Reads the lanes that must be read before the next message is processed.
    fn fill_inbox(&mut self, message_bytes_max: usize) -> InboxFilling {
        loop {
            let unread: Vec<LaneKey> = self.inbox.unread().collect();
            let ready = match unread.as_slice() {
                [] => return InboxFilling::Complete,
                // Reading is as cheap as asking whether it can be read.
                [_] => 1,
                several => {
                    let sockets = several.iter().filter_map(|key| self.socket_of(*key));
                    // Without memory for the question, all lanes are read.
                    which_have_data(sockets.map(|socket| socket.as_fd())).unwrap_or(u64::MAX)
                }
            };
            let is_ready = |order: &usize| ready & (1 << order) != 0;
            // Before the others are read: what has caused their messages can come now.
            let empty = unread.iter().enumerate().filter(|(order, _)| !is_ready(order));
            empty.for_each(|(_, key)| self.inbox.note_empty(*key));
            for (_, &key) in unread.iter().enumerate().filter(|(order, _)| is_ready(order)) {
                let Some(socket) = self.socket_of(key).cloned() else { continue };
                match self.receive(key, &socket, message_bytes_max) {
                    PacketRead::Nothing => self.inbox.note_empty(key),
                    PacketRead::Message(frame) => {
                        // It does not fail for a socket. Without the length, the rest is for later.
                        let unread = || transfer::receivable(&*socket).unwrap_or(0);
                        self.latest = Some(key);
                        self.inbox.add(key, frame, !self.from_bus.is_empty(), unread);
                    }
                    PacketRead::Ended => return InboxFilling::Ended(key),
                    PacketRead::Invalid => return InboxFilling::Invalid(key),
                }
            }
        }
    }

    /// Reads a packet of a lane without waiting.
    fn receive(&mut self, key: LaneKey, socket: &OwnedFd, message_bytes_max: usize) -> PacketRead {
        self.packet.resize(FRAME_LEN_MAX, 0);
        let len = match transfer::receive_packet(socket, &mut self.packet) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => return PacketRead::Nothing,
            Ok(len) if len > 0 => len,
            _ => return PacketRead::Ended,
        };
        match FrameStamp::split(&self.packet[..len]) {
            Some((message, stamp)) => match self.check(key, message, message_bytes_max) {
                Some(message) => PacketRead::Message(LaneFrame { stamp, len, message }),
                None => PacketRead::Invalid,
            },
            None => PacketRead::Invalid,
        }
    }

    /// Checks a message that came on a lane.
    fn check(&self, key: LaneKey, bytes: &[u8], bytes_max: usize) -> Option<LaneMessage> {
        let message = Message::parse(bytes).ok()?;
        let role = CheckedMessage::of(&message, self.own_name()?, self.lanes.partner(key)?)?;
        let content = match bytes.len() <= bytes_max {
            true => Some(DBusMessageContent::of(&message, Vec::new()).ok()?),
            false => None,
        };
        Some(LaneMessage { content, bytes: bytes.len(), role })
    }

    /// The lane on which a message is expected next: the one of this call, or else the latest one.
    /// `None` if the bus has messages for this connection.
    pub(super) fn expected(&self, call: Option<u32>) -> Option<ExpectedPacket> {
        if self.sockets.is_empty() || self.lanes.queued() > self.lanes.received() {
            return None;
        }
        let key = match call {
            Some(serial) => match self.waiting.get(&serial)? {
                CallRoute::Lane(key) => Some(*key),
                CallRoute::Bus | CallRoute::Resumed(_) => None,
            },
            None => self.latest,
        };
        let socket = Arc::clone(self.socket_of(key?)?);
        Some(ExpectedPacket { socket, busy_poll: self.busy_poll })
    }

    /// Takes note of a wait for an expected packet.
    pub(super) fn note_wait(&mut self, expected: &ExpectedPacket) {
        self.busy_poll = expected.busy_poll;
    }

    /// True unless a message replies to a call of this connection that its sender did not get; see
    /// [`LaneSet::may_answer`].
    fn may_answer(&self, content: &mut DBusMessageContent) -> bool {
        if content.flags & Flags::LANE_REPLY.bits() == 0 || !content.is_reply() {
            return true;
        }
        content.flags &= !Flags::LANE_REPLY.bits();
        let route = self.waiting.get(&content.reply_serial());
        route.is_some_and(|route| self.lanes.may_answer(route, content.str(code::SENDER)))
    }

    /// The socket of an open lane.
    fn socket_of(&self, key: LaneKey) -> Option<&Arc<OwnedFd>> {
        self.sockets.iter().find(|lane| lane.key == key).map(|lane| &lane.socket)
    }
}

/// A lane on which a packet is expected soon.
pub(super) struct ExpectedPacket {
    socket: Arc<OwnedFd>,
    busy_poll: BusyPoll,
}

impl ExpectedPacket {
    /// Waits for the packet for a short time without sleeping, if that is worthwhile. Returns true
    /// if it has arrived.
    pub(super) fn wait(&mut self, timeout: Option<Duration>) -> bool {
        let has_packet = || transfer::receivable(&*self.socket).ok().filter(|len| *len > 0);
        self.busy_poll.poll(timeout, has_packet).is_some()
    }
}

/// The result of reading from all lanes.
enum InboxFilling {
    /// All that can precede the waiting messages was read.
    Complete,
    /// This lane has ended.
    Ended(LaneKey),
    /// The partner of this lane has violated the protocol.
    Invalid(LaneKey),
}

/// Methods that send messages on lanes.
impl ConnectionState {
    /// Sends a message on a lane, if it may travel on one now.
    pub(super) fn send_on_lane(&mut self, content: &DBusMessageContent) -> bool {
        let merged = &mut self.lanes;
        if merged.sockets.is_empty() || !merged.is_on() || !is_ordinary(content) {
            return false;
        }
        let Some(destination) = content.str(code::DESTINATION) else { return false };
        // As on the bus, not too many calls may wait. The bus refuses those that are too many.
        let waits = content.expects_reply();
        let has_room =
            || merged.waiting.len() < CALLS_MAX && !merged.waiting.contains_key(&content.serial);
        if waits && !has_room() {
            return false;
        }
        let answered = NonZeroU32::new(content.reply_serial()).filter(|_| content.is_reply());
        let Some(key) = merged.lanes.route(destination, answered) else { return false };
        let mut packet = content.header_with(merged.sender.as_ref());
        let len = packet.len() + content.body.len();
        if !LaneSet::fits(len, content.fds.len()) {
            return false;
        }
        let lane = merged.sockets.iter().find(|lane| lane.key == key);
        let (Some(stamp), Some(lane)) = (merged.lanes.stamp(key, None), lane) else { return false };
        // The kernel sends one part faster than several.
        packet.extend_from_slice(&content.body);
        if is_doubtful(content) && !is_acceptable(&packet) {
            return false;
        }
        packet.extend_from_slice(&stamp.to_bytes());
        let packet = [IoSlice::new(&packet)];
        if transfer::send(&lane.socket, &packet, &[], TransferWait::Never).is_err() {
            return false;
        }
        merged.lanes.count_lane_sent(len);
        if waits {
            merged.waiting.insert(content.serial, CallRoute::Lane(key));
        }
        true
    }

    /// Takes note of a message of the program that goes to the bus. After many calls to one
    /// connection, asks for a lane to it.
    pub(super) fn note_sent(&mut self, content: &DBusMessageContent) {
        if self.lanes.sender.is_none() || content.kind != kind::METHOD_CALL {
            return;
        }
        let Some(destination) = content.str(code::DESTINATION) else { return };
        match lane::is_bus(destination) {
            true if content.str(code::MEMBER) == Some(BECOME_MONITOR) => {
                self.lanes.monitor_call = Some(content.serial);
            }
            true => {}
            false => self.count_partner(destination),
        }
    }

    fn count_partner(&mut self, name: &str) {
        let merged = &mut self.lanes;
        if merged.is_on()
            && merged.sockets.len() < LANES_MAX
            && merged.lanes.count_call(name)
            && let Some(serial) = self.send_own(&lane::request(), &(name,))
        {
            self.lanes.own_calls.insert(serial, OwnCall::Request(name.into()));
        }
    }

    /// Puts a message of this library into the queue, and returns its serial.
    fn send_own(&mut self, message: &Builder<'_>, arguments: &impl EncodeArgs) -> Option<u32> {
        let serial = self.next_serial();
        let mut bytes = Vec::new();
        message.write(&mut bytes, NonZeroU32::new(serial)?, arguments).ok()?;
        let mut content = DBusMessageContent::parse(&bytes, Vec::new()).ok()?;
        content.locked = true;
        self.queue_for_bus(MessageRef::new(content));
        Some(serial)
    }
}

/// Methods that begin and end lanes.
impl ConnectionState {
    /// Lets the connection, which has got this unique name, ask for lanes.
    pub(super) fn allow_lanes(&mut self, name: &CString) {
        if self.lanes.are_enabled() {
            let value = HeaderValue::Text(name.clone());
            self.lanes.sender = Some(HeaderField { code: code::SENDER, value });
        }
    }

    /// Ends all lanes, because the program waits for the socket of the connection itself. The
    /// replies of the bus wake a program that does so already.
    pub(super) fn stop_lanes(&mut self) {
        self.lanes.is_stopped = true;
        let partners: Vec<Box<str>> = self.lanes.lanes.partners().map(Into::into).collect();
        partners.iter().for_each(|partner| self.release_lane(partner));
    }

    /// Asks the bus to end a lane. Both ends notice that at their sockets.
    fn release_lane(&mut self, partner: &str) {
        if self.lanes.monitor_call.is_none()
            && let Some(serial) = self.send_own(&lane::release(), &(partner,))
        {
            self.lanes.own_calls.insert(serial, OwnCall::Release);
        }
    }

    /// Adds a lane that the bus has opened.
    fn open_lane(&mut self, partner: &str, fds: Vec<OwnedFd>) {
        match self.add_lane(partner, fds) {
            Some(()) if self.lanes.is_stopped => self.release_lane(partner),
            Some(()) => {}
            // It cannot be used, and has no calls.
            None => drop(self.send_own(&lane::resume(), &(partner, Vec::<u32>::new()))),
        }
    }

    fn add_lane(&mut self, partner: &str, fds: Vec<OwnedFd>) -> Option<()> {
        let merged = &mut self.lanes;
        let [socket, counters @ ..] = <[OwnedFd; 4]>::try_from(fds).ok()?;
        let counters = LaneCounters::map(counters.each_ref().map(AsFd::as_fd)).ok()?;
        if merged.sockets.len() >= LANES_MAX {
            return None;
        }
        merged.group.as_ref()?.poller.add(&socket, 0, Interest::Read).ok()?;
        let key = merged.lanes.open(partner, counters);
        merged.inbox.open(key);
        merged.sockets.push(OpenSocket { key, socket: Arc::new(socket) });
        Some(())
    }

    /// Closes the socket of a lane that has ended.
    fn end_lane(&mut self, key: LaneKey) {
        let merged = &mut self.lanes;
        merged.lanes.end(key);
        merged.inbox.close(key);
        let Some(at) = merged.sockets.iter().position(|lane| lane.key == key) else { return };
        let OpenSocket { socket, .. } = merged.sockets.swap_remove(at);
        if let Some(group) = &merged.group {
            // It fails only if the socket is not in the group.
            let _ = group.poller.remove(&socket);
        }
        self.defer_drop(socket);
    }

    /// Asks the bus to end a lane whose partner has violated the protocol.
    fn fail_lane(&mut self, key: LaneKey) {
        if let Some(partner) = self.lanes.lanes.give_up(key).map(str::to_owned) {
            self.release_lane(&partner);
        }
    }

    /// Forgets all lanes, because the connection has ended.
    pub(super) fn forget_lanes(&mut self) {
        let merged = std::mem::take(&mut self.lanes);
        self.defer_drop((merged.sockets, merged.group));
    }

    /// Tells the bus which calls of ended lanes wait for replies.
    fn resume_calls(&mut self) {
        while self.lanes.monitor_call.is_none()
            && let Some(ended) = self.lanes.lanes.take_ended()
        {
            let of_lane = CallRoute::Lane(ended.key);
            let mut calls = Vec::new();
            for (serial, route) in &mut self.lanes.waiting {
                if *route == of_lane {
                    *route = CallRoute::Resumed(ended.partner.clone());
                    calls.push(*serial);
                }
            }
            self.send_own(&lane::resume(), &(&*ended.partner, calls));
        }
    }
}

/// Methods that receive from the bus and from lanes.
impl ConnectionState {
    /// Reads lanes, and puts all messages whose turn it is into the queue, unless it
    /// [pauses](PauseReason). When the connection has ended, it does not pause. Returns `Closed` if
    /// the connection must end.
    pub(super) fn process(&mut self, connection: &DBusConnection, is_end: bool) -> TransferState {
        let mut has_new = false;
        self.lanes.inbox.restart();
        self.lanes.end_pause();
        // The partner of a lane can send for ever. It does not know that the connection has ended.
        let mut rest = if is_end { READ_AT_END_MAX } else { READ_AT_ONCE_MAX };
        let outcome = loop {
            if !self.lanes.sockets.is_empty() {
                match rest {
                    0 if is_end => self.lanes.inbox.close_all(),
                    0 => {
                        self.lanes.begin_pause(PauseReason::LanesBusy);
                        break TransferState::Open;
                    }
                    _ if connection.is_full(self) && !is_end => {
                        self.lanes.begin_pause(PauseReason::QueueFull);
                        break TransferState::Open;
                    }
                    _ => {}
                }
                match self.lanes.fill_inbox(self.limits.message_bytes) {
                    InboxFilling::Complete => {}
                    InboxFilling::Ended(key) => {
                        self.end_lane(key);
                        continue;
                    }
                    InboxFilling::Invalid(key) => {
                        rest = rest.saturating_sub(1);
                        self.fail_lane(key);
                        continue;
                    }
                }
            }
            if !self.lanes.lanes.is_empty() {
                let lanes = &self.lanes.lanes;
                let due = self.lanes.inbox.take_due(lanes.received(), || lanes.queued());
                if let Some((key, message)) = due {
                    rest = rest.saturating_sub(1);
                    let LaneMessage { content: Some(content), bytes, role } = message else {
                        break TransferState::Closed;
                    };
                    has_new |= self.enqueue_of_lane(connection, key, content, bytes, role);
                    if self.lanes.has_nothing_read() && !is_end {
                        break TransferState::Open;
                    }
                    continue;
                }
                self.resume_calls();
            }
            match self.lanes.from_bus.pop_front() {
                Some((content, bytes)) => {
                    has_new |= self.enqueue_of_bus(connection, content, bytes);
                }
                None => break TransferState::Open,
            }
        };
        if has_new {
            self.wake_main_loop();
        }
        outcome
    }

    /// Puts a message of a lane into the queue, unless it replies to a call that its sender did not
    /// get.
    fn enqueue_of_lane(
        &mut self,
        connection: &DBusConnection,
        key: LaneKey,
        content: DBusMessageContent,
        bytes: usize,
        role: CheckedMessage,
    ) -> bool {
        let is_of_lane =
            || self.lanes.waiting.get(&content.reply_serial()) == Some(&CallRoute::Lane(key));
        if content.is_reply() && !is_of_lane() {
            return false;
        }
        if let CheckedMessage::Call(serial) = role {
            self.lanes.lanes.expect_reply(key, serial);
        }
        self.lanes.lanes.count_lane_received(bytes);
        self.enqueue(connection, content, bytes);
        true
    }

    /// Puts a message of the bus into the queue, unless it is for this library.
    fn enqueue_of_bus(
        &mut self,
        connection: &DBusConnection,
        mut content: DBusMessageContent,
        bytes: usize,
    ) -> bool {
        self.lanes.lanes.count_received();
        // A monitor also gets the messages for others.
        if self.lanes.sender.is_some() {
            let is_own = self.lanes.is_own_name(content.str(code::DESTINATION));
            if is_own && !self.lanes.may_answer(&mut content) {
                return false;
            }
            let sender = content.str(code::SENDER).unwrap_or_default();
            if is_own && lane::is_bus(sender) {
                if self.handle_own(&mut content) {
                    return false;
                }
            } else if content.kind == kind::METHOD_CALL && !lane::is_bus(sender) {
                self.count_partner(sender);
            }
        }
        self.enqueue(connection, content, bytes);
        true
    }

    /// Handles a message of the bus to this library. Returns false if it is for the program.
    fn handle_own(&mut self, content: &mut DBusMessageContent) -> bool {
        if content.is_reply() {
            if self.lanes.monitor_call == Some(content.reply_serial()) {
                let failed = content.kind == kind::ERROR;
                self.lanes.monitor_call.take_if(|_| failed);
            }
            return match self.lanes.own_calls.remove(&content.reply_serial()) {
                None => false,
                Some(OwnCall::Release) => true,
                Some(OwnCall::Request(name)) => {
                    let bytes = content.to_bytes();
                    let reply = Message::parse(&bytes);
                    let outcome =
                        reply.map_or(RequestOutcome::Refused, |reply| RequestOutcome::of(&reply));
                    self.lanes.lanes.handle_request(&name, outcome);
                    true
                }
            };
        }
        if content.kind != kind::SIGNAL || content.fds.is_empty() {
            return false;
        }
        let bytes = content.to_bytes();
        let Some(signal) = Message::parse(&bytes).ok().filter(lane::is_opening) else {
            return false;
        };
        if let Some(partner) = lane::opened_partner(&signal) {
            self.open_lane(partner, std::mem::take(&mut content.fds));
        }
        true
    }

    /// Takes note that a call has its reply.
    pub(super) fn note_reply(&mut self, serial: u32) {
        if !self.lanes.waiting.is_empty() {
            self.lanes.waiting.remove(&serial);
        }
    }
}

impl MergedLanes {
    /// True if nothing that was read waits. Then the program waits for the sockets.
    fn has_nothing_read(&self) -> bool {
        self.from_bus.is_empty() && self.inbox.is_empty()
    }
}

/// True if the bus would pass a message on as it is. Others go to the bus, which ends the
/// connection or removes fields.
fn is_ordinary(content: &DBusMessageContent) -> bool {
    let has = |code| content.text(code).is_some();
    let is_complete = match content.kind {
        kind::METHOD_CALL => has(code::PATH) && has(code::MEMBER),
        kind::SIGNAL => has(code::PATH) && has(code::INTERFACE) && has(code::MEMBER),
        kind::METHOD_RETURN => content.reply_serial() != 0,
        kind::ERROR => content.reply_serial() != 0 && has(code::ERROR_NAME),
        _ => false,
    };
    let is_known = |field: &HeaderField| (code::PATH..=code::UNIX_FDS).contains(&field.code);
    let fds = content.number(code::UNIX_FDS).unwrap_or_default() as usize;
    is_complete && content.fields.iter().all(is_known) && fds == content.fds.len()
}

/// True if a receiver may refuse a message that a program can create with this library: its path or
/// interface belongs to the library itself, or its values can be nested too deeply.
fn is_doubtful(content: &DBusMessageContent) -> bool {
    let types = content.str(code::SIGNATURE).unwrap_or_default();
    let is_local = |code, local: &CStr| content.text(code) == Some(local);
    types.len() > NESTING_MAX
        || types.contains('v')
        || is_local(code::PATH, LOCAL_PATH)
        || is_local(code::INTERFACE, LOCAL_INTERFACE)
}

/// True if the other end of a lane accepts the message in these bytes. A bus disconnects the sender
/// of others.
fn is_acceptable(bytes: &[u8]) -> bool {
    let is_valid = |message: Message<'_>| {
        let names = message.destination().zip(message.sender());
        names.and_then(|(to, from)| CheckedMessage::of(&message, to.as_str(), from.as_str()))
    };
    Message::parse(bytes).ok().and_then(is_valid).is_some()
}

/// Arrays, and structures, can be nested up to this depth.
const NESTING_MAX: usize = 32;

impl DBusMessageContent {
    /// True for a call that gets a reply.
    fn expects_reply(&self) -> bool {
        self.kind == kind::METHOD_CALL && self.flags & Flags::NO_REPLY_EXPECTED.bits() == 0
    }
}

/// The variable of the environment that allows lanes.
const VARIABLE: &str = "DILIGENCE_LANES";

/// The method that makes a connection a monitor.
const BECOME_MONITOR: &str = "BecomeMonitor";

/// The number of lanes from which on a connection asks for no more, and accepts no more.
const LANES_MAX: usize = sys::poll::AT_ONCE_MAX - 1;

/// The number of messages of lanes that are read before the program processes them and the
/// connection reads from the bus.
const READ_AT_ONCE_MAX: usize = 256;

/// The number of messages of lanes that are read when the connection has ended.
const READ_AT_END_MAX: usize = 1024;
