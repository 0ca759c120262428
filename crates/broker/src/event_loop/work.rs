//! What the loop remembers from turn to turn: connections that need something, and memory that is kept.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use bus::{Effects, PeerId, Urgency};

use crate::back_pressure::Loads;
use crate::outgoing::Spare;

/// Connections that need something.
#[derive(Debug, Default)]
pub(super) struct Work {
    /// To be written to, a message in the queue being awaited by somebody.
    pub(super) awaited: Vec<PeerId>,
    /// To be written to.
    pub(super) passing: Vec<PeerId>,
    /// To be written to as soon as all effects of the current input are applied: their queues are
    /// long.
    pub(super) long: Vec<PeerId>,
    /// With messages that were read and not routed yet.
    pub(super) backlog: VecDeque<PeerId>,
    /// To be closed.
    pub(super) ended: Vec<PeerId>,
    /// That may not stay as they are: whose sockets are full, or with descriptors that wait for
    /// their message.
    pub(super) timed: Vec<PeerId>,
    /// Whether something of the connection that is being read went to a recipient that had nothing
    /// unread.
    pub(super) reached_ready: bool,
}

impl Work {
    /// Adds a connection that has something queued to the list for its urgency.
    #[inline]
    pub(super) fn mark(&mut self, peer: PeerId, urgency: Urgency) {
        match urgency {
            Urgency::Awaited => self.awaited.push(peer),
            Urgency::Passing => self.passing.push(peer),
        }
    }
}

/// Memory that is used in every turn and kept.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// Where bytes are read to. One is taken while one connection's are looked at; parts of others
    /// may be lent to queues.
    pub(super) scratch: Vec<Rc<Vec<u8>>>,
    pub(super) fds: Vec<OwnedFd>,
    pub(super) effects: Effects,
    pub(super) effects_of_answers: Effects,
    /// What the bus wants done about writes. It is rarely anything.
    pub(super) effects_of_writes: Effects,
    pub(super) released: Loads,
    /// Bytes of messages that were copied in memory since the bus was told.
    pub(super) copied: u64,
    pub(super) spare: Spare,
}
