//! The sockets of lanes.

use std::io::{self, IoSlice};
use std::mem;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use lane::{FRAME_LEN_MAX, LaneCounters, LaneKey};
use unix::poll::{wait_for_data, which_have_data};
use unix::transfer::{self, TransferWait};

use super::group::IncomingSockets;
use super::socket::{BusSocket, SocketReadOutcome};
use super::{ConnectionLink, LinkState};
use crate::core::{Core, Ended, LANES_MAX, LaneTransmit, OpenedLane, Receiver, SystemError};

/// The sockets of all lanes of a connection.
#[derive(Debug, Default)]
pub(super) struct LaneSockets {
    /// For threads that send. They have the lock.
    open: Vec<WatchedLane>,
    /// The same sockets, for the thread that reads. It takes them, because it does not keep the lock.
    read: Vec<LaneSocket>,
}

#[derive(Debug)]
struct WatchedLane {
    socket: LaneSocket,
    /// True if the socket is in the group, or will be when there is one.
    is_watched: bool,
}

#[derive(Clone, Debug)]
struct LaneSocket {
    key: LaneKey,
    /// The descriptors of the message that opened the lane. The socket is the first.
    descriptors: Arc<[OwnedFd]>,
}

/// What a thread needs to read from the bus and from lanes without the lock.
pub(super) struct LinkReader {
    receiver: Box<Receiver<OwnedFd>>,
    lanes: Vec<LaneSocket>,
}

/// These need the lock. Lanes are added and removed only while nobody reads.
impl LaneSockets {
    /// Adds a lane, which gets its key when it is in the group.
    fn add(
        &mut self,
        group: &IncomingSockets,
        descriptors: &Arc<[OwnedFd]>,
        key: impl FnOnce() -> LaneKey,
    ) -> io::Result<()> {
        group.add(&descriptors[0])?;
        let socket = LaneSocket { key: key(), descriptors: Arc::clone(descriptors) };
        self.read.push(socket.clone());
        self.open.push(WatchedLane { socket, is_watched: true });
        Ok(())
    }

    /// Removes the lanes that have ended from the lists and from the group, in which the kernel
    /// would keep them, because the bus has a copy of their sockets.
    fn keep(&mut self, group: &IncomingSockets, is_open: impl Fn(LaneKey) -> bool) {
        self.read.retain(|lane| is_open(lane.key));
        for lane in self.open.extract_if(.., |lane| !is_open(lane.socket.key)) {
            // It fails only if the group does not have it.
            let _ = group.remove(lane.socket.fd());
        }
    }

    /// Closes all sockets, because the bus went away.
    pub(super) fn clear(&mut self, group: &IncomingSockets) {
        self.keep(group, |_| false);
    }

    /// Keeps the group from being readable because of lanes that need not be read: a message of
    /// theirs waits for a message of the bus.
    fn watch(&mut self, group: &IncomingSockets, core: &Core<OwnedFd>) {
        for lane in &mut self.open {
            if lane.is_watched != core.waits_for_bus(lane.socket.key) {
                continue;
            }
            let changed = match lane.is_watched {
                true => group.remove(lane.socket.fd()),
                false => group.add(lane.socket.fd()),
            };
            // Without memory for it, the group stays as it is: it wakes the program too often, or
            // the next message of the bus does.
            lane.is_watched ^= changed.is_ok();
        }
    }

    /// Sends a message on its lane. Returns false if the lane is full or has ended.
    fn send(&self, LaneTransmit { key, packet }: LaneTransmit<'_>) -> bool {
        let Some(lane) = self.open.iter().find(|lane| lane.socket.key == key) else { return false };
        let packet = [IoSlice::new(packet)];
        transfer::send(lane.socket.fd(), &packet, &[], TransferWait::Never).is_ok()
    }
}

impl LinkReader {
    /// Reads from the bus and from the lanes, like [`BusSocket::receive`] does from the bus. A
    /// message is expected on the lane `expected`.
    pub(super) fn receive(
        &mut self,
        bus: &BusSocket,
        timeout: Option<Duration>,
        expected: Option<LaneKey>,
    ) -> Result<SocketReadOutcome, Ended> {
        let Self { receiver, lanes } = self;
        if !receiver.has_lanes() {
            return receive_from_bus(bus, receiver, timeout);
        }
        if receiver.must_read_lanes() {
            if receiver.must_read_bus() {
                read_bus(bus, lanes, receiver)?;
            }
            read_unread(lanes, receiver)?;
            return Ok(SocketReadOutcome::Bytes(1));
        }
        let expected = lanes.iter().find(|lane| Some(lane.key) == expected);
        if !expected.is_some_and(|lane| lane.busy_poll(receiver, timeout))
            && wait_and_read(bus, lanes, receiver, timeout)? == LaneWait::TimedOut
        {
            return Ok(SocketReadOutcome::Nothing);
        }
        if receiver.must_read_lanes() {
            read_unread(lanes, receiver)?;
        }
        Ok(SocketReadOutcome::Bytes(1))
    }
}

impl LaneSocket {
    fn fd(&self) -> BorrowedFd<'_> {
        self.descriptors[0].as_fd()
    }

    /// Waits for a packet for a short time without sleeping, if that is worthwhile. Returns true if
    /// the lane was read, or has ended.
    fn busy_poll(&self, receiver: &mut Receiver<OwnedFd>, timeout: Option<Duration>) -> bool {
        let read =
            |receiver: &mut _| Some(self.receive(receiver)).filter(|it| *it != LaneRead::Empty);
        receiver.busy_poll(timeout, read).is_some()
    }

    /// Reads a packet without waiting.
    fn receive(&self, receiver: &mut Receiver<OwnedFd>) -> LaneRead {
        match transfer::receive_packet(self.fd(), receiver.packet_space(FRAME_LEN_MAX)) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                receiver.handle_empty_lane(self.key);
                LaneRead::Empty
            }
            Ok(len) if len > 0 => {
                // It does not fail for a socket. Without the length, the rest is taken for later.
                let unread = || transfer::receivable(self.fd()).unwrap_or(0);
                receiver.handle_packet(self.key, len, unread);
                LaneRead::Packet
            }
            _ => {
                receiver.handle_lane_end(self.key);
                LaneRead::Ended
            }
        }
    }

    /// Reads what the partner has sent before the end of the connection.
    fn receive_rest(&self, receiver: &mut Receiver<OwnedFd>) {
        let mut rest = READ_AT_END_MAX;
        while rest > 0 && self.receive(receiver) == LaneRead::Packet {
            rest -= 1;
        }
    }
}

/// The result of reading from a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LaneRead {
    Packet,
    Empty,
    /// The lane was shut down, or its partner has violated the protocol.
    Ended,
}

/// The result of waiting for the bus and the lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LaneWait {
    Read,
    TimedOut,
}

/// Sleeps until the bus or a lane can be read, and reads it.
fn wait_and_read(
    bus: &BusSocket,
    lanes: &[LaneSocket],
    receiver: &mut Receiver<OwnedFd>,
    timeout: Option<Duration>,
) -> Result<LaneWait, Ended> {
    let waited = bits(lanes, |lane| !receiver.holds_message_of(lane.key));
    let sockets = select(lanes, waited).map(LaneSocket::fd);
    let ready = wait_for_data([bus.as_fd()].into_iter().chain(sockets), timeout);
    let ready = ready.map_err(ended_by)?;
    if ready == 0 {
        return Ok(LaneWait::TimedOut);
    }
    match ready & 1 {
        0 => read_ready(lanes, waited, ready >> 1, receiver),
        _ => read_bus(bus, lanes, receiver)?,
    }
    Ok(LaneWait::Read)
}

/// Reads from the bus without waiting.
fn read_bus(
    bus: &BusSocket,
    lanes: &[LaneSocket],
    receiver: &mut Receiver<OwnedFd>,
) -> Result<(), Ended> {
    match receive_from_bus(bus, receiver, Some(Duration::ZERO)) {
        Ok(SocketReadOutcome::Bytes(_)) => Ok(()),
        Ok(SocketReadOutcome::Nothing) => {
            receiver.handle_empty_bus();
            Ok(())
        }
        Err(ended) => {
            // What was read is processed before the end of the connection.
            lanes.iter().for_each(|lane| lane.receive_rest(receiver));
            receiver.handle_last_packet();
            Err(ended)
        }
    }
}

/// Reads the lanes that must be read before the next message is processed.
fn read_unread(lanes: &[LaneSocket], receiver: &mut Receiver<OwnedFd>) -> Result<(), Ended> {
    loop {
        let is_unread = |lane: &LaneSocket| receiver.unread_lanes().any(|key| key == lane.key);
        let unread = bits(lanes, is_unread);
        let sockets = select(lanes, unread).map(LaneSocket::fd);
        let ready = match unread.count_ones() {
            0 => return Ok(()),
            // Reading is as cheap as asking whether it can be read.
            1 => 1,
            _ => which_have_data(sockets).map_err(ended_by)?,
        };
        // Before the others are read: what has caused their messages can come now.
        for (_, lane) in
            select(lanes, unread).enumerate().filter(|(order, _)| !is_set(ready, *order))
        {
            receiver.handle_empty_lane(lane.key);
        }
        read_ready(lanes, unread, ready, receiver);
    }
}

/// Reads a packet from each lane that is ready. `ready` has a bit for each lane in `waited`, in
/// their order.
fn read_ready(lanes: &[LaneSocket], waited: u64, ready: u64, receiver: &mut Receiver<OwnedFd>) {
    for (_, lane) in select(lanes, waited).enumerate().filter(|(order, _)| is_set(ready, *order)) {
        lane.receive(receiver);
    }
}

const fn is_set(bits: u64, place: usize) -> bool {
    bits & (1 << place) != 0
}

/// A bit for each lane of which the condition is true.
fn bits(lanes: &[LaneSocket], is: impl Fn(&LaneSocket) -> bool) -> u64 {
    let all = lanes.iter().enumerate().filter(|(_, lane)| is(lane));
    all.fold(0, |bits, (place, _)| bits | 1 << place)
}

/// The lanes whose bit is set.
fn select(lanes: &[LaneSocket], bits: u64) -> impl Iterator<Item = &LaneSocket> {
    let all = lanes.iter().enumerate().filter(move |(place, _)| is_set(bits, *place));
    all.map(|(_, lane)| lane)
}

pub(super) fn receive_from_bus(
    bus: &BusSocket,
    receiver: &mut Receiver<OwnedFd>,
    timeout: Option<Duration>,
) -> Result<SocketReadOutcome, Ended> {
    let mut descriptors = Vec::new();
    let outcome = bus.receive(receiver.space(), &mut descriptors, timeout)?;
    if let SocketReadOutcome::Bytes(count) = outcome {
        receiver.handle_received(count, descriptors);
    }
    Ok(outcome)
}

impl LinkState {
    /// Takes what a thread needs to read without the lock. `None` if another thread has it.
    pub(super) fn take_reader(&mut self) -> Option<LinkReader> {
        let receiver = self.core.take_receiver()?;
        Some(LinkReader { receiver, lanes: mem::take(&mut self.lanes.read) })
    }

    /// Puts the reader back, with what it has read.
    pub(super) fn return_reader(&mut self, reader: LinkReader) {
        self.lanes.read = reader.lanes;
        self.core.return_receiver(reader.receiver);
    }

    /// Sends the message that may travel on a lane, if there is one. `now` is the time now, if the
    /// clock has just been read.
    pub(crate) fn send_on_lane(&mut self, now: Option<Duration>) {
        self.core.send_on_lane(now, |transmit| self.lanes.send(transmit));
    }
}

impl ConnectionLink {
    /// A descriptor that is readable if the socket of the bus or of a lane is.
    pub(crate) fn incoming(&self) -> io::Result<BorrowedFd<'_>> {
        let state = self.lock();
        let lanes = state.lanes.open.iter().map(|lane| lane.socket.fd());
        self.group.get_or_create([self.socket.as_fd()].into_iter().chain(lanes))
    }

    /// Adds the lanes that the bus has opened, and closes those that have ended.
    pub(super) fn update_lanes(&self, state: &mut LinkState) {
        while let Some(opened) = state.core.poll_opened() {
            if self.add_lane(state, &opened).is_err() {
                state.core.refuse_lane(&opened.partner);
            }
        }
        state.lanes.keep(&self.group, |key| state.core.is_lane_open(key));
    }

    fn add_lane(&self, state: &mut LinkState, opened: &OpenedLane<OwnedFd>) -> io::Result<()> {
        if state.core.lane_count() >= LANES_MAX {
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        let [_socket, counters @ ..] = &*opened.descriptors else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let counters: &[OwnedFd; 3] =
            counters.try_into().map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
        let counters = LaneCounters::map(counters.each_ref().map(AsFd::as_fd))?;
        let key = || state.core.add_lane(&opened.partner, counters);
        state.lanes.add(&self.group, &opened.descriptors, key)
    }

    /// Keeps programs that wait for the [group](Self::incoming) from being woken in vain.
    #[inline]
    pub(super) fn watch_lanes(&self, state: &mut LinkState) {
        // While another thread reads, it has the messages that wait.
        if self.group.exists() && state.core.has_receiver() {
            state.lanes.watch(&self.group, &state.core);
        }
    }
}

pub(super) fn ended_by(error: io::Error) -> Ended {
    Ended::System(SystemError::from(error))
}

/// The number of packets of each lane that are read when the connection has ended. Its partner does
/// not know that, and can go on sending.
const READ_AT_END_MAX: usize = 1024;
