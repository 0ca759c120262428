//! A message on its way from one connection to others.

use wire::Message;
use wire::limits::{ARRAY_LEN_MAX, MESSAGE_LEN_MAX};
use wire::message::FixedHeader;

use super::{Body, Fds, PeerId, Span};

/// A message of a connection, with its header as recipients see it. If the message was held for a
/// service, its body follows the header.
#[derive(Clone, Copy)]
pub(crate) struct Forward<'m> {
    pub(crate) message: &'m Message<'m>,
    /// The connection that sent it.
    pub(crate) from: PeerId,
    /// The stamped header, or the whole message.
    pub(crate) head: Span,
    /// The location of the body.
    pub(crate) body: Body,
    /// The location of the descriptors.
    pub(crate) fds: Fds,
}

impl Forward<'_> {
    /// Length of the message in bytes, as recipients get it.
    #[inline]
    pub(crate) fn len(&self) -> u64 {
        (self.header_len() + self.message.body().len()) as u64
    }

    #[inline]
    fn header_len(&self) -> usize {
        match self.body {
            Body::OfInput => self.head.len(),
            Body::InHead => self.head.len() - self.message.body().len(),
        }
    }

    /// True if the name of the sender makes the message or its header longer than the maximum.
    #[inline]
    pub(crate) fn is_too_long(&self) -> bool {
        self.len() > MESSAGE_LEN_MAX as u64 || self.header_len() > FixedHeader::LEN + ARRAY_LEN_MAX
    }
}
