//! Access control: may a connection own a name, see messages to others, send or receive a message?
//!
//! The security modules of the kernel are asked first, if there are any, then the rules of the
//! configuration. Both must allow an action. On a bus without restrictions, access control costs
//! one comparison per message and one per recipient. On other buses it costs one more for the
//! sender and one more for each recipient, as long as the class of the message is allowed for all
//! messages. The rules are searched only for the remaining messages.

mod describe;
pub mod mediation;

use alloc::boxed::Box;
use alloc::rc::Rc;

use wire::Message;

pub(crate) use describe::{describe_delivery, describe_process};
use mediation::{Claim, Mediator, Transit};

use crate::policy::{
    ClientPolicies, ClientPolicy, Counterpart, DeliveryKind, MessageClass, PolicyDecision,
    PolicyQuery, PolicyVerdict, ReplyClass,
};
use crate::registry::{PeerNames, Registry};
use crate::types::{
    AccessDenial, Configuration, DeniedDelivery, Effects, LogEvent, LoggedPermission, MediatorKind,
    OwningDeniedBy, PeerId, RefusalReason,
};
use crate::well_known::DRIVER_NAME;

/// Decides by rules and security modules what connections may do.
#[derive(Debug)]
pub(crate) struct AccessControl {
    policies: ClientPolicies,
    mediator: Option<Box<dyn Mediator>>,
    /// True if the configuration or a security module could deny any message or name to any
    /// connection.
    denies: bool,
    /// True if that is the case, or containers have filters.
    restricts: bool,
}

/// A question: may this message go from this sender to this recipient?
#[derive(Clone, Copy, Debug)]
pub(crate) struct AccessQuery<'m> {
    pub(crate) message: &'m Message<'m>,
    /// The sender; `None` for the bus itself.
    pub(crate) from: Option<PeerId>,
    /// The recipient; `None` for the bus itself, and for a service that is not running yet.
    pub(crate) to: Option<PeerId>,
    pub(crate) reply: ReplyClass,
    /// The kind of delivery, for the rules of the sender.
    sent: DeliveryKind,
    /// The kind of delivery, for the rules of the recipient.
    received: DeliveryKind,
}

impl<'m> AccessQuery<'m> {
    /// Asks about a message to the connection that it is addressed to.
    #[inline]
    pub(crate) const fn to_addressee(
        message: &'m Message<'m>,
        from: PeerId,
        to: PeerId,
        reply: ReplyClass,
    ) -> Self {
        let (sent, received) = (DeliveryKind::Addressed, DeliveryKind::Addressed);
        Self { message, from: Some(from), to: Some(to), reply, sent, received }
    }

    /// Asks about a copy for a subscriber or an eavesdropper.
    pub(crate) const fn to_observer(message: &'m Message<'m>, from: PeerId, to: PeerId) -> Self {
        let (sent, received) = match message.destination() {
            None => (DeliveryKind::Broadcast, DeliveryKind::Addressed),
            Some(_) => (DeliveryKind::Addressed, DeliveryKind::Overheard),
        };
        let reply = ReplyClass::to_others(message);
        Self { message, from: Some(from), to: Some(to), reply, sent, received }
    }

    /// Asks about a message to the bus itself, or to a service that is not running yet and of which
    /// only the name is known.
    pub(crate) const fn without_recipient(message: &'m Message<'m>, from: PeerId) -> Self {
        let reply = ReplyClass::to_others(message);
        let (sent, received) = (DeliveryKind::WithoutRecipient, DeliveryKind::WithoutRecipient);
        Self { message, from: Some(from), to: None, reply, sent, received }
    }

    /// Asks about a message that the bus itself sends.
    pub(crate) const fn of_bus(message: &'m Message<'m>, to: PeerId, class: MessageClass) -> Self {
        let MessageClass { reply, delivery, .. } = class;
        Self { message, from: None, to: Some(to), reply, sent: delivery, received: delivery }
    }

    const fn sent_class(&self) -> MessageClass {
        MessageClass::new(self.message.message_type(), self.reply, self.sent)
    }

    const fn received_class(&self) -> MessageClass {
        MessageClass::new(self.message.message_type(), self.reply, self.received)
    }
}

/// Returns the error for the sender of a message that was denied.
pub(crate) fn deny(
    denial: AccessDenial,
    query: &AccessQuery<'_>,
    registry: &Registry,
) -> RefusalReason {
    let delivery = describe_delivery(query, registry);
    RefusalReason::AccessDenied(Box::new(DeniedDelivery { denial, delivery }))
}

/// Configuration of the access control.
impl AccessControl {
    pub(crate) fn new(config: &Configuration) -> Self {
        let denies = config.policy.restricts();
        let policies = ClientPolicies::default();
        Self { policies, mediator: None, denies, restricts: denies }
    }

    /// Adds the security modules that also decide.
    pub(crate) fn set_mediator(&mut self, mediator: Box<dyn Mediator>) {
        self.mediator = Some(mediator);
        (self.denies, self.restricts) = (true, true);
    }

    /// Returns the policy for a connection that calls Hello.
    pub(crate) fn policy_for(
        &mut self,
        peer: PeerId,
        registry: &Registry,
        config: &Configuration,
    ) -> Rc<ClientPolicy> {
        let peer = &registry[peer];
        self.policies.of(&config.policy, peer.user, peer.attributes())
    }

    /// Applies a new configuration, also to all existing connections.
    pub(crate) fn reconfigure(&mut self, registry: &mut Registry, config: &Configuration) {
        self.denies = config.policy.restricts() || self.mediator.is_some();
        self.policies.clear();
        for peer in registry.iter_mut().filter(|peer| peer.is_registered()) {
            let policy = self.policies.of(&config.policy, peer.user, peer.attributes());
            peer.set_policy(policy);
        }
    }

    /// Records whether containers have filters, after a change of them or of the configuration.
    pub(crate) const fn set_filters(&mut self, have_filters: bool) {
        self.restricts = self.denies || have_filters;
    }

    /// True if any message could be denied to any connection. If false, no question needs to be
    /// asked.
    #[inline]
    pub(crate) const fn restricts(&self) -> bool {
        self.restricts
    }

    /// True if the security labels of connections are needed for decisions.
    pub(crate) const fn needs_labels(&self) -> bool {
        self.mediator.is_some()
    }

    /// The security modules that take part in decisions.
    pub(crate) fn modules(&self) -> impl Iterator<Item = MediatorKind> {
        self.mediator.iter().flat_map(|mediator| mediator.modules()).copied()
    }
}

/// Decisions about single actions.
impl AccessControl {
    /// Decides whether a message may be delivered.
    #[inline(never)]
    pub(crate) fn check(
        &mut self,
        query: &AccessQuery<'_>,
        registry: &Registry,
        config: &Configuration,
        fx: &mut Effects,
    ) -> Result<(), AccessDenial> {
        self.mediate(query, registry, config, fx)?;
        let class = query.sent_class();
        if let Some(from) = query.from
            && !registry[from].sends_all(class)
        {
            check_sending(query, from, registry, fx)?;
        }
        check_receiving(query, registry)
    }

    /// Decides by the security modules alone. Hello is decided by this function only, since its
    /// caller does not have a policy yet.
    pub(crate) fn mediate(
        &mut self,
        query: &AccessQuery<'_>,
        registry: &Registry,
        config: &Configuration,
        fx: &mut Effects,
    ) -> Result<(), AccessDenial> {
        let (Some(mediator), Some(from)) = (&mut self.mediator, query.from) else { return Ok(()) };
        let to = mediation::recipient(query, registry, &config.services);
        let AccessQuery { message, reply, .. } = *query;
        let (sender, label) = (registry[from].unique_name(), registry[from].security_label());
        let decision = mediator.on_message(&Transit { message, sender, label, to, reply });
        let audited = decision.check(|module| {
            let delivery = Box::new(describe_delivery(query, registry));
            log_allowed(from, LoggedPermission::Delivery { module, delivery }, fx);
        });
        audited.map_err(AccessDenial::Module)
    }

    /// Decides by the security modules whether a connection may own a name.
    pub(crate) fn mediate_owning(
        &mut self,
        owner: PeerId,
        name: &str,
        registry: &Registry,
        config: &Configuration,
        fx: &mut Effects,
    ) -> Result<(), RefusalReason> {
        let Some(mediator) = &mut self.mediator else { return Ok(()) };
        let context = config.security_contexts.get(name).map(|context| &**context);
        let peer = &registry[owner];
        let decision = mediator.on_owning(&Claim { label: peer.security_label(), name, context });
        let peer_name = peer.name().as_str();
        let outcome = decision.check(|module| {
            let (peer, owner, name) = (owner, peer_name.into(), name.into());
            log_allowed(peer, LoggedPermission::Owning { module, owner, name }, fx);
        });
        outcome.map_err(|objection| RefusalReason::OwningDenied {
            owner: peer_name.into(),
            name: name.into(),
            by: OwningDeniedBy::Module(objection),
        })
    }

    /// Decides by the policy rules whether a connection may own a name.
    pub(crate) fn check_owning(
        &self,
        owner: PeerId,
        name: &str,
        registry: &Registry,
    ) -> Result<(), RefusalReason> {
        let peer = &registry[owner];
        if peer.policy().is_some_and(|policy| policy.may_own(name) == PolicyVerdict::Allow) {
            return Ok(());
        }
        Err(RefusalReason::OwningDenied {
            owner: peer.name().as_str().into(),
            name: name.into(),
            by: OwningDeniedBy::Policy,
        })
    }

    /// Decides by the security modules whether a connection may see messages to others.
    pub(crate) fn mediate_eavesdropping(
        &mut self,
        peer: PeerId,
        registry: &Registry,
        fx: &mut Effects,
    ) -> Result<(), RefusalReason> {
        let Some(mediator) = &mut self.mediator else { return Ok(()) };
        let decision = mediator.on_eavesdropping(registry[peer].security_label());
        let name = registry[peer].name().as_str();
        let outcome = decision.check(|module| {
            let permission = LoggedPermission::Eavesdropping { module, name: name.into() };
            log_allowed(peer, permission, fx);
        });
        outcome.map_err(|objection| RefusalReason::EavesdroppingDenied {
            name: name.into(),
            objection,
        })
    }
}

/// Logs an allowed action if the rule or the security module that allowed it requests a record.
fn log_allowed(peer: PeerId, permission: LoggedPermission, fx: &mut Effects) {
    fx.log(LogEvent::Allowed { peer, permission });
}

/// Decides by the send rules of the sender. The rule may request a log record.
fn check_sending(
    query: &AccessQuery<'_>,
    from: PeerId,
    registry: &Registry,
    fx: &mut Effects,
) -> Result<(), AccessDenial> {
    let Some(policy) = registry[from].policy() else { return Ok(()) };
    let AccessQuery { message, reply, sent: delivery, .. } = *query;
    let counterpart = match (query.to, message.destination()) {
        (Some(to), _) => Counterpart::Peer(registry.names_of(to)),
        (None, name) => Counterpart::Name(name.map_or("", |name| name.as_str())),
    };
    match policy.send.judge(&PolicyQuery { message, reply, delivery, counterpart }) {
        PolicyDecision::Pass => Ok(()),
        PolicyDecision::PassLogged(count) => {
            let delivery = Box::new(describe_delivery(query, registry));
            log_allowed(from, LoggedPermission::Unenforced { rules: count, delivery }, fx);
            Ok(())
        }
        PolicyDecision::Refuse(count) => Err(AccessDenial::SendRules(count)),
    }
}

/// Decides by the receive rules of the recipient.
pub(crate) fn check_receiving(
    query: &AccessQuery<'_>,
    registry: &Registry,
) -> Result<(), AccessDenial> {
    let Some(to) = query.to else { return Ok(()) };
    let recipient = &registry[to];
    if recipient.receives_all(query.received_class()) {
        return Ok(());
    }
    let Some(policy) = recipient.policy() else { return Ok(()) };
    let AccessQuery { message, reply, received: delivery, .. } = *query;
    let counterpart: Counterpart<'_, PeerNames<'_>> = match query.from {
        Some(from) => Counterpart::Peer(registry.names_of(from)),
        None => Counterpart::Name(DRIVER_NAME.as_str()),
    };
    match policy.receive.judge(&PolicyQuery { message, reply, delivery, counterpart }) {
        PolicyDecision::Pass | PolicyDecision::PassLogged(_) => Ok(()),
        PolicyDecision::Refuse(count) => Err(AccessDenial::ReceiveRules(count)),
    }
}
