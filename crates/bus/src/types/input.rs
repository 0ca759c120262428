//! Inputs: the events that the daemon reports to the bus.

use alloc::boxed::Box;

use wire::Message;

use super::{
    Amount, CallId, Configuration, ConnectionCredentials, ContainerId, ContainerSocket,
    DescriptorPassing, Details, End, ForeignError, KernelShortage, LaneCounts, LaneId, LaneRequest,
    PeerId, Replacement, RingFacts, StartFailure, StartId, TraceRequest,
};
use crate::policy::PeerAttributes;

/// An event for the bus. The headers of messages are valid; the bus checks their bodies.
#[derive(Clone, Debug)]
pub enum Input<'a> {
    /// A connection was accepted. The handshake has not begun.
    Connected {
        /// The id of the new connection.
        peer: PeerId,
        /// The credentials of the socket.
        credentials: ConnectionCredentials,
        /// The container whose socket it connected to, if any.
        container: Option<ContainerId>,
    },
    /// The handshake of a connection has succeeded.
    Authenticated {
        /// The connection that has authenticated.
        peer: PeerId,
        /// The user that it authenticated as, which may differ from the user of the socket; `None`
        /// if anonymous.
        uid: Option<u32>,
        /// Whether descriptors can be passed.
        fds: DescriptorPassing,
    },
    /// The facts that the policy needs about a connection. This input precedes
    /// [`Self::Authenticated`], and precedes [`Self::Reconfigured`] if the new policy needs more
    /// facts.
    AttributesRead {
        /// The connection that they describe.
        peer: PeerId,
        /// The facts about the connection.
        attributes: PeerAttributes,
    },
    /// A message was received with all descriptors that it announces.
    Message {
        /// The sender of the message.
        from: PeerId,
        /// The message that was received.
        message: Message<'a>,
    },
    /// A message was received without some of the descriptors that it announces, because the daemon
    /// has reached its limit of descriptors.
    DescriptorsLost {
        /// The sender of the message.
        from: PeerId,
        /// The message that was received.
        message: Message<'a>,
    },
    /// Messages that were queued for a connection were written to its socket.
    Written {
        /// The recipient of the messages.
        to: PeerId,
        /// The amount that was written since the last such input.
        amount: Amount,
        /// Bytes of all messages that the daemon copied in memory since the last such input.
        copied: u64,
    },
    /// The kernel did not accept a message that was queued for a connection. The connection still
    /// exists.
    Undelivered(Undelivered<'a>),
    /// A connection has ended. Its descriptor is closed, and its queue was freed.
    Disconnected {
        /// The connection that has ended.
        peer: PeerId,
        /// The reason of the end.
        end: End,
    },
    /// The time that [`Bus::next_deadline`](crate::Bus::next_deadline) returned has been reached.
    DeadlinePassed,
    /// The result of an [`Effect::ReadDetails`](crate::Effect::ReadDetails).
    DetailsRead {
        /// The connection that the call names.
        subject: PeerId,
        /// The connection whose process was described.
        peer: PeerId,
        /// The facts that were read.
        details: Details,
        /// The call to answer.
        call: CallId,
    },
    /// The result of an [`Effect::OpenRing`](crate::Effect::OpenRing).
    RingOpened {
        /// The call to answer.
        call: CallId,
        /// The requested kind of ring.
        request: TraceRequest,
        /// Facts about the ring, whose descriptor the daemon holds, or the error.
        outcome: Result<RingFacts, ForeignError>,
    },
    /// An [`Effect::Start`](crate::Effect::Start) has failed. The input is ignored if the start has
    /// already ended.
    StartFailed {
        /// The id of the start.
        start: StartId,
        /// The reason of the failure.
        failure: StartFailure,
    },
    /// The result of an [`Effect::OpenContainer`](crate::Effect::OpenContainer).
    ContainerOpened {
        /// The container whose socket was opened.
        container: ContainerId,
        /// The call to answer, if its sender expects a reply.
        call: Option<CallId>,
        /// The socket on which the daemon listens, or the error.
        outcome: Result<ContainerSocket, ForeignError>,
    },
    /// The pipe that determines the lifetime of a container was closed.
    ContainerExpired {
        /// The container to stop.
        container: ContainerId,
    },
    /// The result of an [`Effect::OpenLane`](crate::Effect::OpenLane).
    LaneOpened {
        /// The lane whose sockets were opened.
        lane: LaneId,
        /// The call to answer.
        request: LaneRequest,
        /// The error, if it could not be opened.
        outcome: Result<(), ForeignError>,
    },
    /// The messages that a connection has exchanged on its lanes so far.
    LaneTraffic {
        /// The connection, which has or had a lane.
        peer: PeerId,
        /// Its messages since it got its first lane.
        traffic: LaneCounts,
    },
    /// Another program has replaced the daemon, or could not replace it.
    Replaced {
        /// The versions of both programs, or the error. After an error the old program continues.
        outcome: Result<Replacement, ForeignError>,
    },
    /// The configuration was read again, or reading it failed.
    Reconfigured {
        /// The new configuration, or the error. After an error the old configuration stays in
        /// force.
        outcome: Result<Box<Configuration>, ForeignError>,
    },
}

/// A message that the kernel did not accept.
#[derive(Clone, Copy, Debug)]
pub struct Undelivered<'a> {
    /// The connection that it was queued for.
    pub to: PeerId,
    /// The connection that sent it; `None` for the bus itself.
    pub from: Option<PeerId>,
    /// The beginning of the message, with at least its header.
    pub head: &'a [u8],
    /// The amount that it used in the queue.
    pub amount: Amount,
    /// The resource that the kernel lacks.
    pub shortage: KernelShortage,
}
