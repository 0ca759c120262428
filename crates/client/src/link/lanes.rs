//! The sockets of lanes.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use lane::{FRAME_LEN_MAX, LaneCounters, LaneKey};
use unix::poll::wait_for_data;
use unix::transfer::{self, DescriptorDelivery, TransferWait};

use super::socket::{BusSocket, SocketReadOutcome};
use super::{ConnectionLink, LinkState};
use crate::core::{Ended, LaneReading, LaneTransmit, OpenedLane, Receiver, SystemError};

/// The sockets of all lanes of a connection.
#[derive(Debug, Default)]
pub(super) struct LaneSockets {
    /// The reader holds the lock while it waits. The list is changed only while nobody reads.
    sockets: RwLock<Vec<LaneSocket>>,
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
        let all = [bus.as_fd()].into_iter().chain(lanes.iter().map(LaneSocket::socket));
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
        let mut open = u64::MAX;
        for (place, lane) in select(&lanes, ready >> 1) {
            if lane.receive(receiver) == LaneRead::Ended {
                open &= !(1 << place);
            }
        }
        let is_alone = ready & 1 == 0 && !was_pending && lanes.len() == 1;
        if !is_alone {
            read_rest(&lanes, open, receiver)?;
        }
        // The messages that were read are processed before the end of the connection.
        from_bus.map(|_| SocketReadOutcome::Bytes(1))
    }

    /// Closes all sockets, because the bus went away.
    pub(super) fn clear(&self) {
        self.write().clear();
    }

    /// Closes the sockets of lanes that have ended.
    fn keep(&self, is_open: impl Fn(LaneKey) -> bool) {
        if self.read().iter().any(|lane| !is_open(lane.key)) {
            self.write().retain(|lane| is_open(lane.key));
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
        let is_wanted = |(_, lane): &(usize, &LaneSocket)| !receiver.has_many_of(lane.key);
        let wanted = select(lanes, open).filter(is_wanted);
        let wanted = wanted.fold(0, |bits, (place, _)| bits | 1 << place);
        let waited = select(lanes, wanted).map(|(_, lane)| lane.socket());
        let ready = wait_for_data(waited, Some(Duration::ZERO)).map_err(ended_by)?;
        if ready == 0 {
            receiver.set_lanes(match select(lanes, open & !wanted).next() {
                None => LaneReading::Complete,
                Some(_) => LaneReading::Partial,
            });
            return Ok(());
        }
        for (order, (place, lane)) in select(lanes, wanted).enumerate() {
            if ready & (1 << order) != 0 && lane.receive(receiver) == LaneRead::Ended {
                open &= !(1 << place);
            }
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
        let key = state.core.add_lane(&opened.partner, counters);
        self.lanes.write().push(LaneSocket { key, descriptors: Arc::clone(&opened.descriptors) });
        Ok(())
    }
}

fn ended_by(error: io::Error) -> Ended {
    Ended::System(SystemError::from(error))
}
