//! The filter of a container: what the programs in it may see, and to whom they may send.
//!
//! The rules are about well-known names. A message to a well-known name needs a right for this
//! name. A message to a unique name, or from one, needs a right for one of the names that the
//! connection owns. Rights are computed when a message first needs them, and again after the names
//! of a connection or the rules have changed. A connection that was once visible stays visible until
//! it ends, so that programs can observe its end.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use sandbox::{AccessLevel, NameAccess, SandboxRules};
use serde::{Deserialize, Serialize};
use wire::Message;
use wire::names::BusName;

use crate::registry::Registry;
use crate::types::PeerId;

/// The rules of a container, and which connections it sees.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ContainerFilter {
    rules: ContainerRules,
    /// The connections that the container sees even if they own no visible name: they have sent it
    /// a message, or they owned a visible name before.
    seen: BTreeSet<PeerId>,
    /// The rights towards connections, as far as they were needed. The daemon chooses the ids, so
    /// the hasher does not need a secret key.
    #[serde(skip)]
    of_peers: HashMap<PeerId, NameAccess, FixedState>,
    /// The rights towards well-known names, as far as they were needed.
    #[serde(skip)]
    of_names: BTreeMap<Box<str>, NameAccess>,
}

/// The rules of a container.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ContainerRules {
    pub(crate) names: SandboxRules,
    pub(crate) unique_names: UniqueNames,
    pub(crate) broadcasts: OutgoingBroadcasts,
    pub(crate) descriptors: DescriptorRules,
}

/// The connections whose beginning and end a container learns from NameOwnerChanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) enum UniqueNames {
    /// Only connections that it sees.
    #[default]
    Visible,
    /// All connections, as programs on an accessibility bus need.
    All,
}

/// The connections outside that get broadcasts from a container.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) enum OutgoingBroadcasts {
    /// All subscribers get them.
    #[default]
    ToAll,
    /// Only subscribers to which the container may also send the signal.
    ToPermitted,
}

/// The messages with descriptors that may pass.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) enum DescriptorRules {
    /// All messages may have descriptors.
    #[default]
    Any,
    /// Only messages to and from the owners of names that these rules select.
    Selected { sent: SandboxRules, received: SandboxRules },
}

/// Why a message must not pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FilterDenial {
    /// The recipient is hidden, so its sender gets the error for a name without an owner.
    Hidden,
    /// The recipient is visible, or the recipient has the filter.
    Denied,
}

impl ContainerFilter {
    pub(crate) fn new(rules: ContainerRules) -> Self {
        let (of_peers, of_names) = (HashMap::default(), BTreeMap::new());
        Self { rules, seen: BTreeSet::new(), of_peers, of_names }
    }

    pub(crate) const fn rules(&self) -> &SandboxRules {
        &self.rules.names
    }

    /// Applies other rules from now on. Connections that were visible stay visible.
    pub(crate) fn set_rules(&mut self, rules: SandboxRules, registry: &Registry) {
        let visible = registry.well_known_names().filter(|name| self.level_of(name).is_some());
        let owners: Vec<PeerId> = visible.filter_map(|name| registry.owner_of(name)).collect();
        self.seen.extend(owners);
        self.of_peers.clear();
        self.of_names.clear();
        self.rules.names = rules;
    }

    /// Makes a connection visible until it ends.
    pub(crate) fn see(&mut self, peer: PeerId) {
        self.seen.insert(peer);
    }

    /// Updates the rights towards the connections that have lost or got a well-known name. A visible
    /// connection stays visible without the name.
    pub(crate) fn owner_changed(&mut self, name: &str, old: Option<PeerId>, new: Option<PeerId>) {
        for peer in [old, new].into_iter().flatten() {
            self.of_peers.remove(&peer);
        }
        if let Some(old) = old
            && self.level_of(name).is_some()
        {
            self.see(old);
        }
    }

    /// Forgets a connection that has ended.
    pub(crate) fn forget(&mut self, peer: PeerId) {
        self.of_peers.remove(&peer);
        self.seen.remove(&peer);
    }

    /// The level of access to a well-known name; `None` if it is hidden.
    pub(crate) fn level_of(&self, name: &str) -> Option<AccessLevel> {
        self.rules.names.level_of(name)
    }

    /// True if the container sees a connection by its unique name.
    pub(crate) fn sees(&mut self, peer: PeerId, registry: &Registry) -> bool {
        self.seen.contains(&peer) || self.access_to(peer, registry).is_visible()
    }

    /// True if the container learns of the beginning and the end of all connections.
    pub(crate) fn hears_of_all_unique_names(&self) -> bool {
        self.rules.unique_names == UniqueNames::All
    }

    fn access_to(&mut self, peer: PeerId, registry: &Registry) -> &NameAccess {
        let compute = || self.rules.names.access(registry.owned_names(peer));
        self.of_peers.entry(peer).or_insert_with(compute)
    }

    fn access_to_name(&mut self, name: &str) -> &NameAccess {
        // The programs in the container choose the names.
        if self.of_names.len() >= KNOWN_NAMES_MAX {
            self.of_names.clear();
        }
        if !self.of_names.contains_key(name) {
            self.of_names.insert(name.into(), self.rules.names.access([name]));
        }
        &self.of_names[name]
    }

    /// Decides about a call or signal to a connection outside, by the name in its header.
    pub(crate) fn judge_addressed(
        &mut self,
        message: &Message<'_>,
        name: BusName<'_>,
        to: PeerId,
        registry: &Registry,
    ) -> Result<(), FilterDenial> {
        let is_unique = name.is_unique();
        let access = match is_unique {
            true => self.access_to(to, registry),
            false => self.access_to_name(name.as_str()),
        };
        let (may_send, is_visible) = (access.may_send(message), access.is_visible());
        if may_send && self.may_send_descriptors(message, to, registry) {
            return Ok(());
        }
        match is_visible || is_unique && self.sees(to, registry) {
            true => Err(FilterDenial::Denied),
            false => Err(FilterDenial::Hidden),
        }
    }

    /// Decides about a message to a name without an owner, whose service would be started.
    pub(crate) fn judge_absent(
        &mut self,
        message: &Message<'_>,
        name: &str,
    ) -> Result<(), FilterDenial> {
        let access = self.access_to_name(name);
        match (access.may_send(message), access.is_visible()) {
            (true, _) => Ok(()),
            (false, true) => Err(FilterDenial::Denied),
            (false, false) => Err(FilterDenial::Hidden),
        }
    }

    /// True if a connection outside may get a broadcast from the container.
    pub(crate) fn may_broadcast(
        &mut self,
        message: &Message<'_>,
        to: PeerId,
        registry: &Registry,
    ) -> bool {
        self.may_send_descriptors(message, to, registry)
            && (self.rules.broadcasts == OutgoingBroadcasts::ToAll
                || self.access_to(to, registry).may_send(message))
    }

    /// True if the container may get a broadcast of a connection outside.
    pub(crate) fn may_hear(
        &mut self,
        message: &Message<'_>,
        from: PeerId,
        registry: &Registry,
    ) -> bool {
        self.access_to(from, registry).may_receive_broadcasts()
            && self.may_receive_descriptors(message, from, registry)
    }

    /// True if the descriptors of a message may leave the container.
    pub(crate) fn may_send_descriptors(
        &self,
        message: &Message<'_>,
        to: PeerId,
        registry: &Registry,
    ) -> bool {
        match &self.rules.descriptors {
            DescriptorRules::Selected { sent, .. } if message.unix_fds() > 0 => {
                select(sent, to, registry)
            }
            DescriptorRules::Any | DescriptorRules::Selected { .. } => true,
        }
    }

    /// True if the descriptors of a message may enter the container.
    pub(crate) fn may_receive_descriptors(
        &self,
        message: &Message<'_>,
        from: PeerId,
        registry: &Registry,
    ) -> bool {
        match &self.rules.descriptors {
            DescriptorRules::Selected { received, .. } if message.unix_fds() > 0 => {
                select(received, from, registry)
            }
            DescriptorRules::Any | DescriptorRules::Selected { .. } => true,
        }
    }

    /// Checks that what is remembered is correct.
    ///
    /// # Panics
    ///
    /// Panics if an invariant is violated.
    pub(crate) fn check(&self, registry: &Registry) {
        for peer in &self.seen {
            assert!(registry.get(*peer).is_some(), "{peer} is visible and gone");
        }
        for (&peer, access) in &self.of_peers {
            assert!(registry.get(peer).is_some(), "{peer} has rights and is gone");
            let computed = self.rules.names.access(registry.owned_names(peer));
            assert_eq!(access, &computed, "the rights towards {peer}");
        }
        for (name, access) in &self.of_names {
            assert_eq!(access, &self.rules.names.access([&**name]), "the rights towards {name}");
        }
    }
}

/// True if a rule selects one of the names that a connection owns.
fn select(rules: &SandboxRules, peer: PeerId, registry: &Registry) -> bool {
    registry.owned_names(peer).any(|name| rules.level_of(name).is_some())
}

/// Maximum number of well-known names whose rights are remembered.
const KNOWN_NAMES_MAX: usize = 1024;
