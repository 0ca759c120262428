//! The input of the bus that caused effects.

use bus::{Body, PeerId};
use wire::Message;

use crate::fd_quota::CountedFd;
use crate::outgoing::{SharedFds, SharedSlice};

/// The input of the bus that caused effects.
pub(super) enum EffectOrigin<'m> {
    /// An input that no peer sent. The daemon may have queried something for the bus and have
    /// descriptors that belong to the reply.
    Bus { fds: Option<SharedFds> },
    /// A message from a peer.
    Peer {
        from: PeerId,
        /// Whether the sender is not flooding.
        is_calm: bool,
        message: &'m Message<'m>,
        /// The memory of the message.
        slice: &'m SharedSlice,
        fds: Option<SharedFds>,
    },
}

impl EffectOrigin<'_> {
    /// The descriptors of the message from a peer.
    pub(super) fn fds(&self) -> &[CountedFd] {
        match self {
            Self::Peer { fds: Some(fds), .. } => fds,
            Self::Peer { fds: None, .. } | Self::Bus { .. } => &[],
        }
    }

    /// Whether it is a reply from a peer.
    pub(super) const fn is_reply(&self) -> bool {
        matches!(self, Self::Peer { message, .. } if message.message_type().is_reply())
    }

    /// Whether it is a message from a peer with a destination.
    pub(super) fn is_addressed(&self) -> bool {
        matches!(self, Self::Peer { message, .. } if message.destination().is_some())
    }

    /// The body of an outgoing message, except bodies that the bus wrote itself.
    pub(super) fn body(&self, body: Body) -> &[u8] {
        match (body, self) {
            (Body::OfInput, Self::Peer { message, .. }) => message.body(),
            _ => &[],
        }
    }
}
