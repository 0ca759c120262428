//! The rights of the client towards the connections and names on the bus.

use std::collections::HashMap;

use sandbox::{AccessLevel, NameAccess, SandboxRules};
use wire::names::BusName;

/// The unique names that the client may see, with its rights towards them.
///
/// Rights only grow: a connection keeps the rights of all names that it once had. The client gets
/// messages of a connection late, so it must be able to reply after the connection has released a
/// name.
#[derive(Debug, Default)]
pub(super) struct VisibleNames {
    peers: HashMap<Box<str>, NameAccess>,
    own: Option<Box<str>>,
}

impl VisibleNames {
    /// Returns the level of access to a name of any kind, or to a text that is not a name.
    pub(super) fn level_of(&self, name: &str, rules: &SandboxRules) -> Option<AccessLevel> {
        if name.starts_with(':') {
            self.peers.get(name).and_then(NameAccess::level)
        } else {
            rules.level_of(name)
        }
    }

    /// Returns the rights towards the sender or recipient of a message. `None` stands for the bus.
    pub(super) fn access(&self, name: Option<BusName<'_>>, rules: &SandboxRules) -> NameAccess {
        match name {
            None => NameAccess::of_level(AccessLevel::Talk),
            Some(name) if name.is_unique() => {
                self.peers.get(name.as_str()).cloned().unwrap_or_default()
            }
            Some(name) => rules.access([name.as_str()]),
        }
    }

    /// Records that a connection owns a well-known name.
    pub(super) fn add_owner(&mut self, peer: &str, name: &str, rules: &SandboxRules) {
        self.add(peer, rules.access([name]));
    }

    /// Records that a connection has sent a message to the client, which may now follow its life.
    pub(super) fn add_sender(&mut self, peer: &str) {
        self.add(peer, NameAccess::of_level(AccessLevel::See));
    }

    /// Records the unique name of the client, which may send messages to itself.
    pub(super) fn set_own(&mut self, name: &str) {
        self.add(name, NameAccess::of_level(AccessLevel::Talk));
        self.own = Some(name.into());
    }

    /// The unique name of the client, once it is known.
    pub(super) fn own(&self) -> Option<&str> {
        self.own.as_deref()
    }

    fn add(&mut self, peer: &str, access: NameAccess) {
        match self.peers.get_mut(peer) {
            Some(known) => known.merge(access),
            None if access.is_visible() => {
                self.peers.insert(peer.into(), access);
            }
            None => {}
        }
    }
}
