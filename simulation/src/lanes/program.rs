//! A program with lanes: the client library's core, between the simulated connection to the bus and
//! real sockets of lanes.
//!
//! Each method is about one system call, so that the world can do anything between two of them.

use std::io::IoSlice;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use client::core::{
    ClientHandshake, Core, CoreConfig, HandshakeConfig, HandshakeStage, LaneTransmit, LaneUse,
    MessageDisposition,
};
use client::wire::framer::Space;
use client::wire::names::BusNameBuf;
use client::wire::sasl::client::{AuthenticationPlan, DirectAttempt, FdNegotiation, NoCookies};
use kernel::credentials::Ids;
use kernel::machine::{self, SocketId};
use lane::{FRAME_LEN_MAX, LaneCounters, LaneKey};
use unix::transfer::{self, TransferWait};

use crate::setting::{BUS_SOCKET, OWNER};

/// A connection that is established, with its lanes.
pub(super) struct ProgramConnection {
    pub(super) core: Core<OwnedFd>,
    pub(super) name: BusNameBuf,
    socket: SocketId,
    lanes: Vec<(LaneKey, Arc<[OwnedFd]>)>,
    /// True if the bus has closed the connection.
    pub(super) has_ended: bool,
    /// The number of messages that were sent on lanes.
    pub(super) on_lanes: usize,
    /// The time at which the program has sent the latest message, which may leave later.
    pub(super) sent_at: Option<Duration>,
}

/// A connection whose handshake is running.
pub(super) struct NewConnection {
    socket: SocketId,
    handshake: ClientHandshake<OwnedFd>,
}

/// The progress of a handshake.
pub(super) enum ConnectionStage {
    New(NewConnection),
    Established(ProgramConnection),
}

impl NewConnection {
    /// Connects to the bus. At most `capacity` bytes are in transit in each direction.
    pub(super) fn open(pid: u32, capacity: usize) -> Self {
        let owner = Ids { pid: Some(pid), uid: OWNER, gid: OWNER };
        let socket = machine::with(|machine| machine.connect(BUS_SOCKET, owner, capacity));
        let handshake = ClientHandshake::start(HandshakeConfig {
            plan: AuthenticationPlan::Pipelined(DirectAttempt::External { uid: OWNER }),
            fds: FdNegotiation::Requested,
            core: CoreConfig::default(),
        });
        Self { socket: socket.expect("the bus listens"), handshake }
    }

    /// Sends and reads at most this number of bytes. Also returns true if there were any.
    pub(super) fn advance(mut self, most: usize) -> (ConnectionStage, bool) {
        let Self { socket, handshake } = &mut self;
        let bytes = handshake.poll_transmit();
        let bytes = &bytes[..bytes.len().min(most)];
        let sent = machine::with(|machine| machine.send(*socket, bytes, Vec::new()));
        handshake.transmitted(sent);
        let data = machine::with(|machine| machine.receive(*socket, most));
        if data.bytes.is_empty() {
            return (ConnectionStage::New(self), sent > 0);
        }
        let Self { socket, handshake } = self;
        let stage = match handshake.handle_received(&data.bytes, data.descriptors, &mut NoCookies) {
            Ok(HandshakeStage::Unfinished(handshake)) => {
                ConnectionStage::New(Self { socket, handshake })
            }
            Ok(HandshakeStage::Established(established)) => {
                let name = established.unique_name.expect("the bus has given a name");
                let mut core = established.core;
                core.set_lane_use(LaneUse::On, name.as_name());
                ConnectionStage::Established(ProgramConnection {
                    core,
                    name,
                    socket,
                    lanes: Vec::new(),
                    has_ended: false,
                    on_lanes: 0,
                    sent_at: None,
                })
            }
            Err(error) => panic!("the handshake failed: {error}"),
        };
        (stage, true)
    }

    pub(super) fn close(self) {
        machine::with(|machine| machine.close(self.socket));
    }
}

impl ProgramConnection {
    /// Sends the message for a lane, if there is one, and at most `most` of the bytes for the bus.
    /// Returns true if anything was sent.
    pub(super) fn flush(&mut self, most: usize) -> bool {
        let mut acted = self.flush_lane();
        let mut rest = most;
        while let Some(transmit) = self.core.poll_transmit()
            && rest > 0
        {
            let bytes = &transmit.bytes[..transmit.bytes.len().min(rest)];
            let copies = transmit.descriptors.iter().map(OwnedFd::try_clone);
            let descriptors = copies.collect::<Result<_, _>>().expect("descriptors are left");
            let sent = machine::with(|machine| machine.send(self.socket, bytes, descriptors));
            if sent == 0 {
                break;
            }
            self.core.transmitted(sent);
            rest -= sent;
            acted = true;
        }
        acted
    }

    fn flush_lane(&mut self) -> bool {
        self.core.send_on_lane(self.sent_at, |LaneTransmit { key, packet }| {
            let lane = self.lanes.iter().find(|(other, _)| *other == key);
            let packet = [IoSlice::new(packet)];
            let send = |lane| transfer::send(lane, &packet, &[], TransferWait::Never);
            let is_sent = lane.is_some_and(|(_, lane)| send(&lane[0]).is_ok());
            self.on_lanes += usize::from(is_sent);
            is_sent
        })
    }

    /// The lanes that can be read now. If some must be read, no others.
    pub(super) fn readable_lanes(&mut self) -> Vec<LaneKey> {
        let receiver = self.core.take_receiver().expect("nobody else reads");
        let keys = match receiver.must_read_lanes() {
            true => receiver.unread_lanes().collect(),
            false => {
                let keys = self.lanes.iter().map(|(key, _)| *key);
                keys.filter(|key| !receiver.holds_message_of(*key)).collect()
            }
        };
        self.core.return_receiver(receiver);
        keys
    }

    /// Reads a packet of a lane. Returns true if there was one, or the lane has ended.
    pub(super) fn read_lane(&mut self, key: LaneKey) -> bool {
        let Some((_, lane)) = self.lanes.iter().find(|(other, _)| *other == key) else {
            return false;
        };
        let mut receiver = self.core.take_receiver().expect("nobody else reads");
        let received = transfer::receive_packet(&lane[0], receiver.packet_space(FRAME_LEN_MAX));
        let acted = match received {
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                receiver.handle_empty_lane(key);
                false
            }
            Ok(len) if len > 0 => {
                let unread = || transfer::receivable(&lane[0]).expect("it is a socket");
                receiver.handle_packet(key, len, unread);
                true
            }
            _ => {
                receiver.handle_lane_end(key);
                true
            }
        };
        self.core.return_receiver(receiver);
        acted
    }

    /// Reads at most this number of bytes of the bus. Returns true if there were any.
    pub(super) fn read_bus(&mut self, most: usize) -> bool {
        let mut receiver = self.core.take_receiver().expect("nobody else reads");
        let room = match receiver.space() {
            Space::Scratch(space) => space.len(),
            Space::Large { room, .. } => room,
        };
        let data = machine::with(|machine| machine.receive(self.socket, most.min(room)));
        let acted = !data.bytes.is_empty();
        if acted {
            receiver.space().put(&data.bytes);
            receiver.handle_received(data.bytes.len(), data.descriptors);
        }
        self.core.return_receiver(receiver);
        self.has_ended |= data.has_ended;
        acted
    }

    /// Files the next message.
    pub(super) fn next_message(&mut self) -> Option<MessageDisposition> {
        if self.core.take_lane_change() {
            while let Some(opened) = self.core.poll_opened() {
                let [_, counters @ ..] = &*opened.descriptors else { panic!("four descriptors") };
                let counters: &[OwnedFd; 3] = counters.try_into().expect("four descriptors");
                let counters = LaneCounters::map(counters.each_ref().map(AsFd::as_fd));
                let key = self.core.add_lane(&opened.partner, counters.expect("counters"));
                self.lanes.push((key, opened.descriptors));
            }
            self.lanes.retain(|(key, _)| self.core.is_lane_open(*key));
        }
        self.core.poll_message()
    }

    /// True if the connection has this many lanes.
    pub(super) fn lane_count(&self) -> usize {
        self.lanes.len()
    }

    pub(super) fn close(self) {
        machine::with(|machine| machine.close(self.socket));
    }

    /// From now on, many bytes can be in transit.
    pub(super) fn widen(&self) {
        machine::with(|machine| machine.set_capacity(self.socket, 1 << 20));
    }
}
