//! The sockets of lanes.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use lane::{FRAME_LEN_MAX, LaneCounters, LaneKey};
use unix::poll::{Interest, Poller, wait_for_data, which_have_data};
use unix::transfer::{self, TransferWait};

use super::socket::{BusSocket, SocketReadOutcome};
use super::{ConnectionLink, LinkState};
use crate::core::{Core, Ended, LANES_MAX, LaneTransmit, OpenedLane, Receiver, SystemError};

/// The sockets of all lanes of a connection.
#[derive(Debug, Default)]
pub(super) struct LaneSockets {
    /// The reader of lanes holds the lock while it waits. The list is changed only while nobody
    /// reads.
    sockets: RwLock<Vec<LaneSocket>>,
    /// Readable if the socket of the bus or of a lane is, for programs that wait for one
    /// descriptor. Others do not pay for it: they wait for the sockets themselves.
    group: OnceLock<Poller>,
}

#[derive(Debug)]
struct LaneSocket {
    key: LaneKey,
    /// The descriptors of the message that opened the lane. The socket is the first.
    descriptors: Arc<[OwnedFd]>,
    /// True if the socket is in the group.
    is_watched: bool,
}

impl LaneSockets {
    fn read(&self) -> RwLockReadGuard<'_, Vec<LaneSocket>> {
        self.sockets.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Vec<LaneSocket>> {
        self.sockets.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The group of all sockets.
    fn group(&self, bus: &BusSocket) -> io::Result<&Poller> {
        // While the lock is held, no lane is added or removed.
        let sockets = self.read();
        if let Some(group) = self.group.get() {
            return Ok(group);
        }
        let group = Poller::new()?;
        for socket in [bus.as_fd()].into_iter().chain(sockets.iter().map(LaneSocket::socket)) {
            group.add(socket, 0, Interest::Read)?;
        }
        Ok(self.group.get_or_init(|| group))
    }

    /// Removes the socket of the bus from the group, before another one takes its place.
    pub(super) fn forget_bus(&self, bus: &BusSocket) {
        // It fails only if the group does not have it.
        let _ = self.group.get().map(|group| group.remove(bus));
    }

    /// Adds a socket of the bus to the group, which has taken the place of an earlier one.
    pub(super) fn watch_bus(&self, bus: &BusSocket) -> io::Result<()> {
        match self.group.get() {
            Some(group) => group.add(bus, 0, Interest::Read),
            None => Ok(()),
        }
    }

    /// Adds a lane, which gets its key when it is in the group.
    fn add(&self, descriptors: &Arc<[OwnedFd]>, key: impl FnOnce() -> LaneKey) -> io::Result<()> {
        let mut sockets = self.write();
        if let Some(group) = self.group.get() {
            group.add(&descriptors[0], 0, Interest::Read)?;
        }
        let descriptors = Arc::clone(descriptors);
        sockets.push(LaneSocket { key: key(), descriptors, is_watched: true });
        Ok(())
    }

    /// Removes the lanes that have ended from the list and from the group, in which the kernel
    /// would keep them, because the bus has a copy of their sockets.
    fn remove(&self, has_ended: impl Fn(LaneKey) -> bool) {
        for lane in self.write().extract_if(.., |lane| has_ended(lane.key)) {
            // It fails only if the group does not have it.
            let _ = self.group.get().map(|group| group.remove(lane.socket()));
        }
    }

    /// Keeps the group from being readable because of lanes that need not be read: a message of
    /// theirs waits for a message of the bus.
    #[inline]
    pub(super) fn watch(&self, core: &Core<OwnedFd>) {
        if let Some(group) = self.group.get() {
            self.watch_in(group, core);
        }
    }

    fn watch_in(&self, group: &Poller, core: &Core<OwnedFd>) {
        // While another thread reads, it has the lock.
        let is_outdated = |lane: &LaneSocket| lane.is_watched == core.waits_for_bus(lane.key);
        if !core.has_receiver() || !self.read().iter().any(is_outdated) {
            return;
        }
        for lane in self.write().iter_mut().filter(|lane| is_outdated(lane)) {
            let changed = match lane.is_watched {
                true => group.remove(lane.socket()),
                false => group.add(lane.socket(), 0, Interest::Read),
            };
            // Without memory for it, the group stays as it is: it wakes the program too often, or
            // the next message of the bus does.
            lane.is_watched ^= changed.is_ok();
        }
    }

    /// Sends a message on its lane. Returns false if the lane is full or has ended.
    fn send(&self, LaneTransmit { key, packet }: LaneTransmit<'_>) -> bool {
        let sockets = self.read();
        let Some(lane) = sockets.iter().find(|lane| lane.key == key) else { return false };
        let packet = [IoSlice::new(packet)];
        transfer::send(lane.socket(), &packet, &[], TransferWait::Never).is_ok()
    }

    /// Reads from the bus and from the lanes, like [`BusSocket::receive`] does from the bus. A
    /// message is expected on the lane `expected`.
    pub(super) fn receive(
        &self,
        bus: &BusSocket,
        receiver: &mut Receiver<OwnedFd>,
        timeout: Option<Duration>,
        expected: Option<LaneKey>,
    ) -> Result<SocketReadOutcome, Ended> {
        if !receiver.has_lanes() {
            return receive_from_bus(bus, receiver, timeout);
        }
        let lanes = self.read();
        if receiver.must_read_lanes() {
            if receiver.must_read_bus() {
                read_bus(bus, &lanes, receiver)?;
            }
            read_unread(&lanes, receiver)?;
            return Ok(SocketReadOutcome::Bytes(1));
        }
        let expected = lanes.iter().find(|lane| Some(lane.key) == expected);
        if !expected.is_some_and(|lane| lane.busy_poll(receiver, timeout))
            && wait_and_read(bus, &lanes, receiver, timeout)? == LaneWait::TimedOut
        {
            return Ok(SocketReadOutcome::Nothing);
        }
        if receiver.must_read_lanes() {
            read_unread(&lanes, receiver)?;
        }
        Ok(SocketReadOutcome::Bytes(1))
    }

    /// Closes all sockets, because the bus went away.
    pub(super) fn clear(&self) {
        self.remove(|_| true);
    }

    /// Closes the sockets of lanes that have ended.
    fn keep(&self, is_open: impl Fn(LaneKey) -> bool) {
        if self.read().iter().any(|lane| !is_open(lane.key)) {
            self.remove(|key| !is_open(key));
        }
    }
}

impl LaneSocket {
    fn socket(&self) -> BorrowedFd<'_> {
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
        match transfer::receive_packet(self.socket(), receiver.packet_space(FRAME_LEN_MAX)) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                receiver.handle_empty_lane(self.key);
                LaneRead::Empty
            }
            Ok(len) if len > 0 => {
                // It does not fail for a socket. Without the length, the rest is taken for later.
                let unread = || transfer::receivable(self.socket()).unwrap_or(0);
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
    let sockets = select(lanes, waited).map(LaneSocket::socket);
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
        let sockets = select(lanes, unread).map(LaneSocket::socket);
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

impl ConnectionLink {
    /// A descriptor that is readable if the socket of the bus or of a lane is.
    pub(crate) fn incoming(&self) -> io::Result<BorrowedFd<'_>> {
        Ok(self.lanes.group(&self.socket)?.as_fd())
    }

    /// Sends the message that may travel on a lane, if there is one.
    pub(crate) fn send_on_lane(&self, state: &mut LinkState) {
        state.core.send_on_lane(|transmit| self.lanes.send(transmit));
    }

    /// Adds the lanes that the bus has opened, and closes those that have ended.
    pub(super) fn update_lanes(&self, state: &mut LinkState) {
        while let Some(opened) = state.core.poll_opened() {
            if self.add_lane(state, &opened).is_err() {
                state.core.refuse_lane(&opened.partner);
            }
        }
        self.lanes.keep(|key| state.core.is_lane_open(key));
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
        self.lanes.add(&opened.descriptors, key)
    }
}

pub(super) fn ended_by(error: io::Error) -> Ended {
    Ended::System(SystemError::from(error))
}

/// The number of packets of each lane that are read when the connection has ended. Its partner does
/// not know that, and can go on sending.
const READ_AT_END_MAX: usize = 1024;
