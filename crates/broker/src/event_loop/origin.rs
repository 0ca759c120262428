//! What the bus was handling when effects came of it.

use bus::{Body, PeerId};
use wire::Message;

use crate::outgoing::{SharedFds, SharedSlice};

/// What the bus was handling when effects came of it.
pub(super) enum EffectOrigin<'m> {
    /// Nothing that a peer sent. The daemon may have learned something for the bus and have
    /// descriptors that go with the answer.
    Bus { fds: Option<SharedFds> },
    /// A message.
    Peer {
        from: PeerId,
        /// Whether the sender does not flood.
        is_calm: bool,
        message: &'m Message<'m>,
        /// Where its bytes are.
        slice: &'m SharedSlice,
        fds: Option<SharedFds>,
    },
}

impl EffectOrigin<'_> {
    /// Whether a peer answers a call.
    pub(super) const fn is_reply(&self) -> bool {
        matches!(self, Self::Peer { message, .. } if message.message_type().is_reply())
    }

    /// The body of a message that is sent, beside what the bus wrote itself.
    pub(super) fn body(&self, body: Body) -> &[u8] {
        match (body, self) {
            (Body::OfInput, Self::Peer { message, .. }) => message.body(),
            _ => &[],
        }
    }
}
