//! The filters of containers, applied to messages and names.

use alloc::boxed::Box;

use sandbox::AccessLevel;
use wire::Message;
use wire::message::{Flags, MessageType};
use wire::names::BusName;

use super::router::Router;
use crate::access::{AccessQuery, deny, describe_delivery};
use crate::calls::PendingCallId;
use crate::containers::{FilterDenial, FilteredLevel, FilteredMessage};
use crate::registry::Peer;
use crate::types::{
    AccessDenial, ContainerId, Effects, HiddenRecipient, PeerId, RefusalReason, WithheldBy,
};

/// The subject of a signal of the bus itself, which may be hidden from some subscribers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SignalSubject<'n> {
    /// Everybody may know of it.
    Bus,
    /// A name has another owner.
    Name {
        /// The unique or well-known name.
        name: BusName<'n>,
        /// The connection that lost the name.
        old: Option<PeerId>,
        /// The connection that got the name.
        new: Option<PeerId>,
    },
    /// A container has ended, which its connections could know of.
    Container(ContainerId),
}

impl Router {
    /// Decides by the filters of containers whether an addressed message may be delivered. A
    /// recipient that is hidden from the sender causes the same error as a name without an owner.
    pub(super) fn check_filters(&mut self, query: &AccessQuery<'_>) -> Result<(), RefusalReason> {
        let AccessQuery { message, from: Some(from), to: Some(to), reply, .. } = *query else {
            return Ok(());
        };
        if self.containers.are_none() {
            return Ok(());
        }
        let delivery = FilteredMessage { message, from, to, reply };
        match self.containers.judge_addressed(delivery, &self.registry) {
            Ok(()) => Ok(()),
            Err(FilterDenial::Hidden) => Err(self.hidden(query)),
            Err(FilterDenial::Denied) => Err(deny(AccessDenial::Container, query, &self.registry)),
        }
    }

    /// The error for a message whose recipient is hidden from the sender.
    #[cold]
    fn hidden(&self, query: &AccessQuery<'_>) -> RefusalReason {
        let answer = absent(query.message);
        let delivery = describe_delivery(query, &self.registry);
        RefusalReason::Hidden(Box::new(HiddenRecipient { answer, delivery }))
    }

    /// Makes the sender of an addressed message visible to the container of its recipient.
    #[inline(never)]
    pub(super) fn show_sender(&mut self, from: PeerId, to: PeerId) {
        if !self.containers.are_none() {
            self.containers.show(from, to, &self.registry);
        }
    }

    /// Sends an error instead of a reply that the filter of a container does not let pass, because
    /// no other reply will come.
    #[cold]
    pub(super) fn replace_reply(
        &mut self,
        call: PendingCallId,
        reply: &Message<'_>,
        caller: PeerId,
        reason: &RefusalReason,
        fx: &mut Effects,
    ) {
        let Some(serial) = reply.reply_serial() else { return };
        let counted = self.calls.take(call);
        self.accounting.answered(counted, MessageType::Error, self.now);
        self.send_error(caller, serial, reason, fx);
    }

    /// Decides by the filters of containers whether a message may start the service of a name
    /// without an owner.
    pub(crate) fn check_start_filter(
        &mut self,
        from: PeerId,
        message: &Message<'_>,
        name: &str,
    ) -> Result<(), RefusalReason> {
        let query = AccessQuery::without_recipient(message, from);
        match self.containers.judge_absent(from, message, name, &self.registry) {
            Ok(()) => Ok(()),
            Err(FilterDenial::Hidden) => Err(self.hidden(&query)),
            Err(FilterDenial::Denied) => Err(deny(AccessDenial::Container, &query, &self.registry)),
        }
    }

    /// Decides by the filters of containers whether a connection may get a copy of a message. If
    /// not, the copy is counted, but not logged: it is normal that a sandboxed program subscribes
    /// to more than it may know.
    pub(super) fn may_observe(&mut self, query: &AccessQuery<'_>) -> bool {
        let AccessQuery { message, from: Some(from), to: Some(to), reply, .. } = *query else {
            return true;
        };
        let delivery = FilteredMessage { message, from, to, reply };
        let may_observe = self.containers.may_observe(delivery, &self.registry);
        if !may_observe {
            self.accounting.withheld(WithheldBy::Container);
        }
        may_observe
    }

    /// Decides by the filters of containers whether a connection may get a signal of the bus.
    pub(super) fn may_hear_of(&mut self, to: PeerId, subject: SignalSubject<'_>) -> bool {
        let Self { containers, registry, .. } = self;
        match subject {
            SignalSubject::Bus => true,
            SignalSubject::Name { name, old, new } => {
                // One of both is present, or the signal would say nothing.
                let Some(owner) = old.or(new) else { return true };
                containers.hears_of(to, name, owner, registry)
                    || new.is_some_and(|new| containers.hears_of(to, name, new, registry))
            }
            SignalSubject::Container(container) => containers.shows(container, to, registry),
        }
    }

    /// Records that containers have got or lost a filter.
    pub(crate) fn filters_changed(&mut self) {
        self.access.set_filters(self.containers.have_filters());
    }

    /// The connection that a name refers to, if `observer` sees the name.
    pub(crate) fn resolve_for(&mut self, observer: PeerId, name: BusName<'_>) -> Option<PeerId> {
        let owner = self.registry.resolve(name)?;
        self.containers.sees(observer, name, owner, &self.registry).then_some(owner)
    }

    /// The connection whose process represents a connection; `None` if it has ended.
    pub(crate) fn representative_of(&self, peer: PeerId) -> Option<&Peer> {
        self.containers.representative_of(peer, &self.registry)
    }

    /// The level of access of a connection to a well-known name, by the filter of its container.
    pub(crate) fn filtered_level(&self, peer: PeerId, name: &str) -> FilteredLevel {
        self.containers.level_of(peer, name, &self.registry)
    }

    /// True if a connection has at least this level of access to a well-known name.
    pub(crate) fn has_access(&self, peer: PeerId, name: &str, wanted: AccessLevel) -> bool {
        self.filtered_level(peer, name).is_at_least(wanted)
    }
}

/// The error for a message to a name without an owner.
fn absent(message: &Message<'_>) -> RefusalReason {
    let name = message.destination().map_or("", |name| name.as_str()).into();
    match message.flags().contains(Flags::NO_AUTO_START) {
        true => RefusalReason::NotStarted { name },
        false => RefusalReason::NotActivatable { name },
    }
}
