//! Who is at the other end of a message, as rules name them.

use hashbrown::HashMap;

use super::rule::{NamePattern, is_below};
use crate::names::Names;
use crate::peers::Peer;

/// Who gets what a connection sends, or has sent what it gets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Party<'a> {
    /// A connection: all names count that it owns, or waits for.
    Peer {
        /// The connection.
        peer: &'a Peer,
        /// Who has which.
        names: &'a Names,
    },
    /// Nobody but a name: the bus itself, or a service that is yet to be started.
    Name(&'a str),
}

impl<'a> Party<'a> {
    /// Whether a pattern matches a name of this party.
    pub(super) fn is(self, pattern: &NamePattern) -> bool {
        match (self, pattern) {
            (_, NamePattern::Any) => true,
            (Self::Name(name), pattern) => pattern.matches(name),
            (Self::Peer { peer, names }, NamePattern::One(name)) => has(peer, names, name),
            (Self::Peer { peer, names }, NamePattern::Prefix(prefix)) => {
                all_names(peer, names).any(|name| is_below(name, prefix))
            }
        }
    }

    /// Calls `found` with what stands in a map under each name of this party.
    pub(super) fn for_each_of<V, S: core::hash::BuildHasher>(
        self,
        map: &'a HashMap<alloc::boxed::Box<str>, V, S>,
        mut found: impl FnMut(&'a V),
    ) {
        match self {
            _ if map.is_empty() => {}
            Self::Name(name) => map.get(name).into_iter().for_each(found),
            // Whichever takes fewer steps.
            Self::Peer { peer, names } if peer.names.len() < map.len() => {
                all_names(peer, names).filter_map(|name| map.get(name)).for_each(found);
            }
            Self::Peer { peer, names } => map.iter().for_each(|(name, value)| {
                if has(peer, names, name) {
                    found(value);
                }
            }),
        }
    }
}

fn has(peer: &Peer, names: &Names, name: &str) -> bool {
    peer.unique_name() == Some(name)
        || names.find(name).is_some_and(|id| names.is_in_queue(id, peer.id))
}

/// The unique name of a connection, and those that it owns or waits for.
fn all_names<'a>(peer: &'a Peer, names: &'a Names) -> impl Iterator<Item = &'a str> {
    peer.unique_name().into_iter().chain(peer.names.values().map(|id| names.text(*id)))
}
