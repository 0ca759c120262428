//! What happens to a bus.

use alloc::boxed::Box;

use wire::Message;

use super::{
    Amount, CallId, Configuration, ConnectionCredentials, DescriptorPassing, Details, End,
    ForeignError, KernelShortage, PeerId, RingFacts, StartFailure, StartId, TraceRequest,
};
use crate::policy::PeerAttributes;

/// What happens to a bus. Messages are valid in their headers; the bus checks their bodies.
#[derive(Clone, Debug)]
pub enum Input<'a> {
    /// A connection was accepted. The handshake has not begun.
    Connected {
        /// The new connection.
        peer: PeerId,
        /// Who is at its other end.
        credentials: ConnectionCredentials,
    },
    /// The handshake of a connection has ended well.
    Authenticated {
        /// The connection.
        peer: PeerId,
        /// As whom it authenticated, which need not be whom the kernel named; `None` if anonymous.
        uid: Option<u32>,
        /// Whether descriptors may be passed.
        fds: DescriptorPassing,
    },
    /// What the policy asks of a connection was learnt: before [`Self::Authenticated`], and again
    /// before [`Self::Reconfigured`] brings a policy that asks for more.
    AttributesRead {
        /// The connection.
        peer: PeerId,
        /// What there is to know.
        attributes: PeerAttributes,
    },
    /// A message came, and with it the descriptors that it announces.
    Message {
        /// Whom it came from.
        from: PeerId,
        /// The message.
        message: Message<'a>,
    },
    /// A message came, but not all of the descriptors that it announces: the daemon had no room for
    /// them.
    DescriptorsLost {
        /// Whom it came from.
        from: PeerId,
        /// The message.
        message: Message<'a>,
    },
    /// Messages that were queued for a connection have left.
    Written {
        /// The connection.
        to: PeerId,
        /// What has left since the last such input.
        amount: Amount,
        /// Bytes of all messages that the daemon has copied in memory since the last such input.
        copied: u64,
    },
    /// The kernel did not take a message that was queued for a connection, which is still there.
    Undelivered(Undelivered<'a>),
    /// A connection has ended; its descriptor is closed, its queue is gone.
    Disconnected {
        /// The connection.
        peer: PeerId,
        /// How that came.
        end: End,
    },
    /// The time that [`Bus::next_deadline`](crate::Bus::next_deadline) named has come.
    DeadlinePassed,
    /// What an [`Effect::ReadDetails`](crate::Effect::ReadDetails) asked for.
    DetailsRead {
        /// The connection.
        peer: PeerId,
        /// What there is to know.
        details: Details,
        /// Whom to answer.
        call: CallId,
    },
    /// What an [`Effect::OpenRing`](crate::Effect::OpenRing) asked for.
    RingOpened {
        /// Whom to answer.
        call: CallId,
        /// What was asked for.
        request: TraceRequest,
        /// What the ring is like, the daemon having its descriptor; or why there is none.
        outcome: Result<RingFacts, ForeignError>,
    },
    /// What an [`Effect::Start`](crate::Effect::Start) asked for has gone wrong. It is no harm to
    /// say that of one that is over.
    StartFailed {
        /// Which start.
        start: StartId,
        /// Why.
        failure: StartFailure,
    },
    /// The configuration was read again, or could not be.
    Reconfigured {
        /// The new configuration, or what is wrong with it: then the old one holds.
        outcome: Result<Box<Configuration>, ForeignError>,
    },
}

/// A message that the kernel did not take.
#[derive(Clone, Copy, Debug)]
pub struct Undelivered<'a> {
    /// The connection that it was queued for.
    pub to: PeerId,
    /// The connection that sent it; `None` for the bus itself.
    pub from: Option<PeerId>,
    /// The beginning of the message, at least its header.
    pub head: &'a [u8],
    /// What it took up in the queue.
    pub amount: Amount,
    /// What the kernel lacks.
    pub shortage: KernelShortage,
}
