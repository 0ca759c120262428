//! A message, as match rules see it.

use wire::Message;
use wire::match_rule::{MatchArgument, MatchSubject};
use wire::message::MessageType;

use super::args::Args;
use crate::registry::{Peer, Registry};
use crate::types::PeerId;
use crate::well_known::DRIVER_NAME;

/// A message as match rules see it: with names resolved to their current owners.
pub(crate) struct MatchedMessage<'a> {
    message: &'a Message<'a>,
    args: Args<'a>,
    /// The connection that sent it; `None` for the bus itself.
    sender: Option<PeerId>,
    /// The connection that it is addressed to, if any.
    addressed: Option<PeerId>,
    registry: &'a Registry,
}

impl<'a> MatchedMessage<'a> {
    /// A message from `sender` (`None` for the bus itself) to `addressed`, if it has a recipient.
    #[inline]
    pub(crate) const fn new(
        message: &'a Message<'a>,
        sender: Option<PeerId>,
        addressed: Option<PeerId>,
        registry: &'a Registry,
    ) -> Self {
        Self { message, args: Args::new(message), sender, addressed, registry }
    }

    /// All names that a rule could use for the sender.
    pub(super) fn sender_names(&self) -> impl Iterator<Item = &str> {
        let unique = match self.sender {
            Some(peer) => self.registry.get(peer).and_then(Peer::unique_name),
            None => Some(DRIVER_NAME.as_str()),
        };
        let owned = self.sender.into_iter().flat_map(|peer| self.registry.owned_names(peer));
        unique.into_iter().chain(owned)
    }

    /// The connection that sent it; `None` for the bus itself.
    pub(super) const fn sender(&self) -> Option<PeerId> {
        self.sender
    }
}

impl MatchSubject for MatchedMessage<'_> {
    fn message_type(&self) -> MessageType {
        self.message.message_type()
    }

    fn path(&self) -> Option<&str> {
        self.message.path().map(|path| path.as_str())
    }

    fn interface(&self) -> Option<&str> {
        self.message.interface().map(|interface| interface.as_str())
    }

    fn member(&self) -> Option<&str> {
        self.message.member().map(|member| member.as_str())
    }

    fn is_sender(&self, name: &str) -> bool {
        match self.sender {
            Some(peer) => self.registry.owns(peer, name),
            None => name == DRIVER_NAME.as_str(),
        }
    }

    fn is_destination(&self, name: &str) -> bool {
        match (self.message.destination(), self.addressed) {
            (None, _) => false,
            (Some(_), Some(peer)) => self.registry.owns(peer, name),
            (Some(destination), None) => destination == name,
        }
    }

    fn arg(&self, index: u8) -> Option<MatchArgument<'_>> {
        self.args.get(index)
    }
}
