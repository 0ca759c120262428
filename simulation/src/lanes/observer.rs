//! A monitor, which must see all messages, also if their sender had a lane.

use std::collections::BTreeSet;

use client::wire::message::{Message, MessageType};

use super::knowledge::MessageArguments;
use crate::peer::{ArrivedMessage, SimulatedPeer};
use crate::user::SimulatedUser;
use crate::world::{call_bus, hello, strings};
use wire::body::Value;

/// A monitor of the bus.
pub(super) struct LaneObserver {
    peer: SimulatedPeer,
    seen: BTreeSet<u64>,
    /// The number of the first message that it must see, once the bus has made it a monitor.
    sees_from: Option<u64>,
    replies: usize,
}

impl LaneObserver {
    pub(super) fn connect() -> Self {
        let mut peer = SimulatedPeer::connect(2, ROOT, CAPACITY);
        let serial = peer.next_serial();
        peer.send(hello(serial));
        let serial = peer.next_serial();
        let arguments = [strings(&[]), Value::Uint32(0)];
        peer.send(call_bus("Monitoring.BecomeMonitor", serial, &arguments));
        Self { peer, seen: BTreeSet::new(), sees_from: None, replies: 0 }
    }

    /// Sends and reads everything. `next_message` is the number of the next message of a program.
    /// Returns true if anything was sent or read.
    pub(super) fn read(&mut self, next_message: u64) -> bool {
        let acted = self.peer.flush(usize::MAX) | self.peer.read(usize::MAX);
        for arrived in std::mem::take(&mut self.peer.received) {
            let ArrivedMessage::Received(bytes) = arrived else { continue };
            let message = Message::parse(&bytes).expect("the bus sends valid messages");
            if self.sees_from.is_none() {
                self.replies += usize::from(message.message_type() == MessageType::MethodReturn);
                if self.replies == REPLIES {
                    self.sees_from = Some(next_message);
                }
            }
            if let Ok((number, ..)) = message.read::<MessageArguments>() {
                self.seen.insert(number);
            }
        }
        self.peer.take_unhandled();
        acted
    }

    /// True if it should have seen this message, which was received, and has not.
    pub(super) fn has_missed(&self, number: u64) -> bool {
        self.sees_from.is_some_and(|from| number >= from) && !self.seen.contains(&number)
    }

    pub(super) fn leave(mut self) {
        self.peer.leave();
    }
}

/// The replies to Hello and to BecomeMonitor.
const REPLIES: usize = 2;

/// The user of a monitor: root, whose limits are its own.
const ROOT: SimulatedUser = SimulatedUser { uid: 0, passes_descriptors: true, container: None };

/// The number of bytes that can be in transit to a monitor.
const CAPACITY: usize = 1 << 20;
