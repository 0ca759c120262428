//! The sockets of lanes.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use lane::{FRAME_LEN_MAX, LaneCounters, LaneKey};
use unix::poll::{Interest, Poller, wait_for_data};
use unix::transfer::{self, DescriptorDelivery, TransferWait};

use super::socket::{BusSocket, SocketReadOutcome};
use super::{ConnectionLink, LinkState};
use crate::core::{Ended, LaneReading, LaneTransmit, OpenedLane, Receiver, SystemError};

/// The sockets of all lanes of a connection.
#[derive(Debug, Default)]
pub(super) struct LaneSockets {
    /// The reader holds the lock while it waits. The list is changed only while nobody reads.
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
}

/// The result of reading from a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LaneRead {
    Packet,
    Nothing,
    Ended,
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
        sockets.push(LaneSocket { key: key(), descriptors: Arc::clone(descriptors) });
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

    /// Sends a message on its lane. Returns false if the lane is full or has ended.
    fn send(&self, transmit: &LaneTransmit<'_, OwnedFd>) -> bool {
        let sockets = self.read();
        let Some(lane) = sockets.iter().find(|lane| lane.key == transmit.key) else { return false };
        let header = transmit.header.to_bytes();
        let slices = [IoSlice::new(&header), IoSlice::new(transmit.bytes)];
        let descriptors: Vec<BorrowedFd<'_>> =
            transmit.descriptors.iter().map(AsFd::as_fd).collect();
        transfer::send(lane.socket(), &slices, &descriptors, TransferWait::Never).is_ok()
    }

    /// Reads from the bus and from the lanes, like [`BusSocket::receive`] does from the bus.
    pub(super) fn receive(
        &self,
        bus: &BusSocket,
        receiver: &mut Receiver<OwnedFd>,
        timeout: Option<Duration>,
    ) -> Result<SocketReadOutcome, Ended> {
        let lanes = self.read();
        if lanes.is_empty() {
            let was_pending = receiver.lanes() == LaneReading::Pending;
            receiver.set_lanes(LaneReading::Complete);
            return match was_pending {
                true => Ok(SocketReadOutcome::Nothing),
                false => receive_from_bus(bus, receiver, timeout),
            };
        }
        let timeout = match receiver.lanes() {
            LaneReading::Complete | LaneReading::Partial => timeout,
            LaneReading::Pending => Some(Duration::ZERO),
        };
        let mut open = u64::MAX;
        let wanted = wanted(&lanes, open, receiver);
        let waited = select(&lanes, wanted).map(|(_, lane)| lane.socket());
        let all = [bus.as_fd()].into_iter().chain(waited);
        let ready = wait_for_data(all, timeout).map_err(ended_by)?;
        let was_pending = receiver.lanes() == LaneReading::Pending;
        if ready == 0 && !was_pending {
            return Ok(SocketReadOutcome::Nothing);
        }
        let mut from_bus = Ok(SocketReadOutcome::Nothing);
        if ready & 1 != 0 {
            receiver.set_lanes(LaneReading::Pending);
            from_bus = receive_from_bus(bus, receiver, Some(Duration::ZERO));
        }
        read_ready(&lanes, (wanted, ready >> 1), &mut open, receiver);
        let is_alone = ready & 1 == 0 && !was_pending && lanes.len() == 1;
        if !is_alone {
            read_rest(&lanes, open, receiver)?;
        }
        // The messages that were read are processed before the end of the connection.
        from_bus.map(|_| SocketReadOutcome::Bytes(1))
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

    /// Reads a packet without waiting.
    fn receive(&self, receiver: &mut Receiver<OwnedFd>) -> LaneRead {
        let mut descriptors = Vec::new();
        let space = receiver.packet_space(FRAME_LEN_MAX);
        let received =
            transfer::receive(self.socket(), space, &mut descriptors, TransferWait::Never);
        match received {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => LaneRead::Nothing,
            Ok(received)
                if received.bytes > 0 && received.descriptors == DescriptorDelivery::Complete =>
            {
                receiver.handle_packet(self.key, received.bytes, descriptors);
                LaneRead::Packet
            }
            _ => {
                receiver.handle_lane_end(self.key);
                LaneRead::Ended
            }
        }
    }
}

/// Reads lanes until each is empty, or many of its messages wait. `open` has a bit for each lane
/// that has not ended.
fn read_rest(
    lanes: &[LaneSocket],
    mut open: u64,
    receiver: &mut Receiver<OwnedFd>,
) -> Result<(), Ended> {
    receiver.set_lanes(LaneReading::Pending);
    loop {
        let wanted = wanted(lanes, open, receiver);
        let waited = select(lanes, wanted).map(|(_, lane)| lane.socket());
        let ready = wait_for_data(waited, Some(Duration::ZERO)).map_err(ended_by)?;
        if ready == 0 {
            receiver.set_lanes(match select(lanes, open & !wanted).next() {
                None => LaneReading::Complete,
                Some(_) => LaneReading::Partial,
            });
            return Ok(());
        }
        read_ready(lanes, (wanted, ready), &mut open, receiver);
    }
}

/// The lanes to read, a bit for each: those that are open, and of which not many messages wait.
fn wanted(lanes: &[LaneSocket], open: u64, receiver: &Receiver<OwnedFd>) -> u64 {
    let wanted = select(lanes, open).filter(|(_, lane)| !receiver.has_many_of(lane.key));
    wanted.fold(0, |bits, (place, _)| bits | 1 << place)
}

/// Reads a packet from each lane that is ready. `ready` has a bit for each lane in `waited`, in
/// their order.
fn read_ready(
    lanes: &[LaneSocket],
    (waited, ready): (u64, u64),
    open: &mut u64,
    receiver: &mut Receiver<OwnedFd>,
) {
    for (order, (place, lane)) in select(lanes, waited).enumerate() {
        if ready & (1 << order) != 0 && lane.receive(receiver) == LaneRead::Ended {
            *open &= !(1 << place);
        }
    }
}

/// The lanes whose bit is set, each with its place.
fn select(lanes: &[LaneSocket], bits: u64) -> impl Iterator<Item = (usize, &LaneSocket)> {
    lanes.iter().enumerate().filter(move |(place, _)| bits & (1 << place) != 0)
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
        while let Some(transmit) = state.core.poll_lane_transmit() {
            match self.lanes.send(&transmit) {
                true => state.core.lane_transmitted(),
                false => state.core.lane_refused(),
            }
        }
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

fn ended_by(error: io::Error) -> Ended {
    Ended::System(SystemError::from(error))
}
