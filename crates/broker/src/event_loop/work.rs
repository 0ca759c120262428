//! State that the loop keeps between turns: lists of connections to handle, and reusable memory.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use bus::{ContainerId, Effects, PeerId, Urgency};

use crate::back_pressure::Loads;
use crate::outgoing::QueueMemory;

/// Connections to handle, by what they need.
#[derive(Debug, Default)]
pub(super) struct Work {
    /// Connections to write to, with a queued message that a peer waits for.
    pub(super) awaited: Vec<PeerId>,
    /// Other connections to write to.
    pub(super) passing: Vec<PeerId>,
    /// Connections with long queues, to write to as soon as all effects of the current input are
    /// applied.
    pub(super) long: Vec<PeerId>,
    /// Connections with messages that were read and not routed yet.
    pub(super) backlog: VecDeque<PeerId>,
    /// Containers whose sockets are to be closed, because connections have ended.
    pub(super) closed_containers: Vec<ContainerId>,
    /// Containers that were removed, because connections have ended.
    pub(super) removed_containers: Vec<ContainerId>,
    /// Connections to be closed.
    pub(super) ended: Vec<PeerId>,
    /// Connections with a deadline: their sockets are full, or their descriptors wait for a
    /// message.
    pub(super) timed: Vec<PeerId>,
    /// The recipients of the messages that the connection being read has sent in this turn.
    pub(super) recipients: TurnRecipients,
}

/// The recipients of several messages of one sender. Variants further down count more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) enum TurnRecipients {
    /// No message was delivered.
    #[default]
    Nothing,
    /// All of them were broadcasts.
    Broadcast,
    /// One of them had a destination.
    Addressed,
    /// One of them had a destination, and its recipient had nothing unread.
    Ready,
}

impl Work {
    /// Adds a connection with a queued message to the list for its urgency.
    #[inline]
    pub(super) fn mark(&mut self, peer: PeerId, urgency: Urgency) {
        match urgency {
            Urgency::Awaited => self.awaited.push(peer),
            Urgency::Passing => self.passing.push(peer),
        }
    }
}

/// Memory that is reused in every turn.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// Buffers to read into. One is taken while a connection is handled; parts of others may be
    /// lent to queues.
    pub(super) scratch: Vec<Rc<Vec<u8>>>,
    pub(super) fds: Vec<OwnedFd>,
    pub(super) effects: Effects,
    pub(super) effects_of_answers: Effects,
    /// The effects of writes on the bus, which are rarely any.
    pub(super) effects_of_writes: Effects,
    pub(super) released: Loads,
    /// Bytes of messages that were copied in memory since the last report to the bus.
    pub(super) copied: u64,
    pub(super) queues: QueueMemory,
}
