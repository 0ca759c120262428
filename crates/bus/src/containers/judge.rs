//! Decisions about messages and names by the filters of containers.

use sandbox::AccessLevel;
use wire::Message;
use wire::names::BusName;

use super::Containers;
use super::filter::{ContainerFilter, FilterDenial};
use crate::policy::ReplyClass;
use crate::registry::Registry;
use crate::types::{ContainerId, PeerId};

/// A message between two connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilteredMessage<'m> {
    pub(crate) message: &'m Message<'m>,
    pub(crate) from: PeerId,
    pub(crate) to: PeerId,
    pub(crate) reply: ReplyClass,
}

/// What the filter of a connection says about a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FilteredLevel {
    /// The connection has no filter.
    Unfiltered,
    /// The name is hidden from the connection.
    Hidden,
    /// The connection has this level of access.
    Level(AccessLevel),
}

impl FilteredLevel {
    /// True if the connection has at least this level of access.
    pub(crate) fn is_at_least(self, wanted: AccessLevel) -> bool {
        match self {
            Self::Unfiltered => true,
            Self::Hidden => false,
            Self::Level(level) => level >= wanted,
        }
    }
}

impl Containers {
    /// True if any container has a filter.
    pub(crate) fn have_filters(&self) -> bool {
        self.all.values().any(|container| container.filter.is_some())
    }

    /// True if a connection may know a container: its own, or any if it has no filter.
    pub(crate) fn shows(&self, id: ContainerId, to: PeerId, registry: &Registry) -> bool {
        container_of(to, registry) == Some(id) || !self.filters(to, registry)
    }

    /// True if a connection is in a container with a filter.
    pub(crate) fn filters(&self, peer: PeerId, registry: &Registry) -> bool {
        let container = container_of(peer, registry).and_then(|id| self.get(id));
        container.is_some_and(|container| container.filter.is_some())
    }

    /// The filter of a connection, unless the other end is in the same container.
    fn filter_between(
        &mut self,
        peer: PeerId,
        other: PeerId,
        registry: &Registry,
    ) -> Option<&mut ContainerFilter> {
        let id = container_of(peer, registry)?;
        if container_of(other, registry) == Some(id) {
            return None;
        }
        self.all.get_mut(&id)?.filter.as_mut()
    }

    /// Decides whether a call, a reply or a signal may reach the connection that it is addressed
    /// to.
    pub(crate) fn judge_addressed(
        &mut self,
        delivery: FilteredMessage<'_>,
        registry: &Registry,
    ) -> Result<(), FilterDenial> {
        let FilteredMessage { message, from, to, .. } = delivery;
        // Only returns and errors are replies: a call or a signal could name a pending call, too.
        let reply = match message.message_type().is_reply() {
            true => delivery.reply,
            false => ReplyClass::No,
        };
        if reply == ReplyClass::Unrequested && self.are_together(from, to, registry) {
            return Err(FilterDenial::Denied);
        }
        if let Some(filter) = self.filter_between(from, to, registry) {
            let name = message.destination();
            match (reply, name) {
                // A reply to a well-known name would show whether the caller owns the name.
                (ReplyClass::Requested, Some(name))
                    if name.is_unique() && filter.may_send_descriptors(message, to, registry) => {}
                (ReplyClass::No, Some(name)) => {
                    filter.judge_addressed(message, name, to, registry)?;
                }
                _ if name.is_some_and(|name| is_visible(filter, name, to, registry)) => {
                    return Err(FilterDenial::Denied);
                }
                _ => return Err(FilterDenial::Hidden),
            }
        }
        match self.filter_between(to, from, registry) {
            Some(filter)
                if reply == ReplyClass::Unrequested
                    || !filter.may_receive_descriptors(message, from, registry) =>
            {
                Err(FilterDenial::Denied)
            }
            _ => Ok(()),
        }
    }

    /// True if two connections are in the same container with a filter.
    fn are_together(&self, peer: PeerId, other: PeerId, registry: &Registry) -> bool {
        self.filters(peer, registry)
            && container_of(peer, registry) == container_of(other, registry)
    }

    /// Decides whether a connection may get a copy of a message that is not addressed to it.
    pub(crate) fn may_observe(
        &mut self,
        delivery: FilteredMessage<'_>,
        registry: &Registry,
    ) -> bool {
        let FilteredMessage { message, from, to, .. } = delivery;
        let is_broadcast = message.destination().is_none();
        // Observers of addressed messages are privileged, so they are outside, and see everything.
        if is_broadcast
            && let Some(filter) = self.filter_between(from, to, registry)
            && !filter.may_broadcast(message, to, registry)
        {
            return false;
        }
        match self.filter_between(to, from, registry) {
            Some(filter) => is_broadcast && filter.may_hear(message, from, registry),
            None => true,
        }
    }

    /// Decides whether a message may start the service of a name without an owner.
    pub(crate) fn judge_absent(
        &mut self,
        from: PeerId,
        message: &Message<'_>,
        name: &str,
        registry: &Registry,
    ) -> Result<(), FilterDenial> {
        match self.filter_of(from, registry) {
            Some(filter) => filter.judge_absent(message, name),
            None => Ok(()),
        }
    }

    /// The level of access of a connection to a well-known name.
    pub(crate) fn level_of(&self, peer: PeerId, name: &str, registry: &Registry) -> FilteredLevel {
        let container = container_of(peer, registry).and_then(|id| self.all.get(&id));
        match container.and_then(|container| container.filter.as_ref()) {
            None => FilteredLevel::Unfiltered,
            Some(filter) => {
                filter.level_of(name).map_or(FilteredLevel::Hidden, FilteredLevel::Level)
            }
        }
    }

    /// True if a connection sees a name, whose owner is `owner`.
    pub(crate) fn sees(
        &mut self,
        peer: PeerId,
        name: BusName<'_>,
        owner: PeerId,
        registry: &Registry,
    ) -> bool {
        match self.filter_between(peer, owner, registry) {
            Some(filter) => is_visible(filter, name, owner, registry),
            None => true,
        }
    }

    /// True if a connection may learn that a name has another owner.
    pub(crate) fn hears_of(
        &mut self,
        peer: PeerId,
        name: BusName<'_>,
        owner: PeerId,
        registry: &Registry,
    ) -> bool {
        let Some(filter) = self.filter_between(peer, owner, registry) else { return true };
        name.is_unique() && filter.hears_of_all_unique_names()
            || is_visible(filter, name, owner, registry)
    }

    /// Makes a connection visible to another one, if it is hidden from it.
    pub(crate) fn show(&mut self, shown: PeerId, to: PeerId, registry: &Registry) {
        if let Some(filter) = self.filter_between(to, shown, registry) {
            filter.see(shown);
        }
    }

    /// Updates what containers may do with connections that have lost or got a well-known name.
    pub(crate) fn owner_changed(&mut self, name: &str, old: Option<PeerId>, new: Option<PeerId>) {
        for filter in self.all.values_mut().filter_map(|container| container.filter.as_mut()) {
            filter.owner_changed(name, old, new);
        }
    }

    /// Forgets a connection that has ended.
    pub(crate) fn forget(&mut self, peer: PeerId) {
        self.labeled.remove(&peer);
        for filter in self.all.values_mut().filter_map(|container| container.filter.as_mut()) {
            filter.forget(peer);
        }
    }

    fn filter_of(&mut self, peer: PeerId, registry: &Registry) -> Option<&mut ContainerFilter> {
        self.all.get_mut(&container_of(peer, registry)?)?.filter.as_mut()
    }
}

fn container_of(peer: PeerId, registry: &Registry) -> Option<ContainerId> {
    Some(registry.get(peer)?.container.as_deref()?.id)
}

fn is_visible(
    filter: &mut ContainerFilter,
    name: BusName<'_>,
    owner: PeerId,
    registry: &Registry,
) -> bool {
    match name.is_unique() {
        true => filter.sees(owner, registry),
        false => filter.level_of(name.as_str()).is_some(),
    }
}
