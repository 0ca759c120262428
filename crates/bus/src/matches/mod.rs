//! Who wants to see a message: the match rules of all connections, indexed.
//!
//! A rule lives in exactly one bucket, under the most selective thing that it asks for:
//!
//! | it asks for | bucket |
//! | --- | --- |
//! | an argument equal to a text | (index, text, member) |
//! | a path | (path, member) |
//! | the namespace of argument 0 | (namespace, member) |
//! | the namespace of a path | (namespace, member) |
//! | a sender | (sender, member) |
//! | an interface | (interface, member) |
//! | less | (member) |
//!
//! where the member is part of the key if the rule asks for one. A message looks into the buckets
//! that could hold a rule for it, a handful of hash probes, and compares only what it finds there;
//! rules for other things cost nothing, however many there are. The arguments of a message are
//! read only where a rule for its member asks for one.

mod args;
mod index;
mod route_cache;

pub(crate) use index::{ArgsRead, MatchIndex, Recipients, Removed, RuleId};
pub(crate) use route_cache::RouteCache;

use args::Args;
use wire::Message;
use wire::match_rule::{Arg, MatchSubject};
use wire::message::MessageType;

use crate::input::PeerId;
use crate::names::Names;
use crate::peers::{DRIVER_NAME, Peers};

/// A message as rules see it: with names resolved to those who own them now.
pub(crate) struct Subject<'a> {
    message: &'a Message<'a>,
    args: Args<'a>,
    /// Who sent it; `None` for the bus itself.
    sender: Option<PeerId>,
    /// Who is its addressed recipient, if it is one that exists.
    addressed: Option<PeerId>,
    peers: &'a Peers,
    names: &'a Names,
}

impl<'a> Subject<'a> {
    /// A message from `sender`, `None` for the bus itself, to `addressed`, if that is somebody.
    #[inline]
    pub(crate) const fn new(
        message: &'a Message<'a>,
        sender: Option<PeerId>,
        addressed: Option<PeerId>,
        peers: &'a Peers,
        names: &'a Names,
    ) -> Self {
        Self { message, args: Args::new(message), sender, addressed, peers, names }
    }

    fn owns(&self, peer: PeerId, name: &str) -> bool {
        if name.starts_with(':') {
            self.peers.get(peer).is_some_and(|peer| peer.unique_name() == Some(name))
        } else {
            self.names.owner_of(name) == Some(peer)
        }
    }

    /// All names that a rule could call the sender by.
    fn sender_names(&self) -> impl Iterator<Item = &str> {
        let peer = self.sender.and_then(|id| self.peers.get(id));
        let owned = peer.into_iter().flat_map(|peer| peer.names.values()).copied();
        let owned = owned.filter(|&id| Some(self.names.owner(id)) == self.sender);
        let own = match peer {
            Some(peer) => peer.unique_name(),
            None => Some(DRIVER_NAME.as_str()),
        };
        own.into_iter().chain(owned.map(|id| self.names.text(id)))
    }
}

impl MatchSubject for Subject<'_> {
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
            Some(peer) => self.owns(peer, name),
            None => name == DRIVER_NAME.as_str(),
        }
    }

    fn is_destination(&self, name: &str) -> bool {
        match (self.message.destination(), self.addressed) {
            (None, _) => false,
            (Some(_), Some(peer)) => self.owns(peer, name),
            (Some(destination), None) => destination == name,
        }
    }

    fn arg(&self, index: u8) -> Option<Arg<'_>> {
        self.args.get(index)
    }
}
