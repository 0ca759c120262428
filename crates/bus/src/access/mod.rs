//! Access control: may a connection own a name, see messages to others, send or receive a message?
//!
//! The security modules of the kernel are asked first, if there are any, then the rules of the
//! configuration. Both have to agree. On a bus that restricts nothing, a message costs one
//! comparison here, and one for each recipient. On others it costs one more for its sender and one
//! for each recipient, if it is of a class that they all may send and receive; only for the rest
//! are the rules searched.

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

/// The rules and the security modules that decide what connections may do.
#[derive(Debug)]
pub(crate) struct AccessControl {
    policies: ClientPolicies,
    mediator: Option<Box<dyn Mediator>>,
    /// Whether any message or name could be refused to any connection.
    restricts: bool,
}

/// A question: may this message go from one end to the other?
#[derive(Clone, Copy, Debug)]
pub(crate) struct AccessQuery<'m> {
    pub(crate) message: &'m Message<'m>,
    /// The sender; `None` for the bus itself.
    pub(crate) from: Option<PeerId>,
    /// The recipient; `None` for the bus itself, and for a service that is yet to be started.
    pub(crate) to: Option<PeerId>,
    reply: ReplyClass,
    /// What the delivery is for the rules of the sender.
    sent: DeliveryKind,
    /// What it is for the rules of the recipient.
    received: DeliveryKind,
}

impl<'m> AccessQuery<'m> {
    /// A message to the connection that it is addressed to.
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

    /// A copy for a subscriber or an eavesdropper.
    pub(crate) const fn to_listener(message: &'m Message<'m>, from: PeerId, to: PeerId) -> Self {
        let (sent, received) = match message.destination() {
            None => (DeliveryKind::Broadcast, DeliveryKind::Addressed),
            Some(_) => (DeliveryKind::Addressed, DeliveryKind::Overheard),
        };
        let reply = ReplyClass::to_others(message);
        Self { message, from: Some(from), to: Some(to), reply, sent, received }
    }

    /// A message to the bus itself, or to a service that is yet to be started, of which nothing is
    /// known but its name.
    pub(crate) const fn to_nobody(message: &'m Message<'m>, from: PeerId) -> Self {
        let reply = ReplyClass::to_others(message);
        let (sent, received) = (DeliveryKind::ToNobody, DeliveryKind::ToNobody);
        Self { message, from: Some(from), to: None, reply, sent, received }
    }

    /// A message of the bus itself.
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

/// The error for the sender of a message that may not pass.
pub(crate) fn deny(
    denial: AccessDenial,
    query: &AccessQuery<'_>,
    registry: &Registry,
) -> RefusalReason {
    let delivery = describe_delivery(query, registry);
    RefusalReason::AccessDenied(Box::new(DeniedDelivery { denial, delivery }))
}

/// The rules of connections.
impl AccessControl {
    pub(crate) fn new(config: &Configuration) -> Self {
        let restricts = config.policy.restricts();
        Self { policies: ClientPolicies::default(), mediator: None, restricts }
    }

    /// Lets security modules decide, too.
    pub(crate) fn set_mediator(&mut self, mediator: Box<dyn Mediator>) {
        self.mediator = Some(mediator);
        self.restricts = true;
    }

    /// The rules for a connection that calls Hello.
    pub(crate) fn policy_for(
        &mut self,
        peer: PeerId,
        registry: &Registry,
        config: &Configuration,
    ) -> Rc<ClientPolicy> {
        let peer = &registry[peer];
        self.policies.of(&config.policy, peer.user, peer.attributes())
    }

    /// Applies another configuration, also to all connections.
    pub(crate) fn reconfigure(&mut self, registry: &mut Registry, config: &Configuration) {
        self.restricts = config.policy.restricts() || self.mediator.is_some();
        self.policies.clear();
        for peer in registry.iter_mut().filter(|peer| peer.is_registered()) {
            let policy = self.policies.of(&config.policy, peer.user, peer.attributes());
            peer.set_policy(policy);
        }
    }

    /// Whether any message could be refused to any connection. If not, no question has to be asked.
    #[inline]
    pub(crate) const fn restricts(&self) -> bool {
        self.restricts
    }

    /// Whether the labels of connections have to be known.
    pub(crate) const fn needs_labels(&self) -> bool {
        self.mediator.is_some()
    }

    /// The security modules that decide.
    pub(crate) fn modules(&self) -> impl Iterator<Item = MediatorKind> {
        self.mediator.iter().flat_map(|mediator| mediator.modules()).copied()
    }
}

/// Decisions.
impl AccessControl {
    /// Whether a message may pass.
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

    /// Whether the security modules let a message pass. This is all that decides about Hello, since
    /// the caller has no rules yet.
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
        let opinion = mediator.on_message(&Transit { message, sender, label, to, reply });
        let audited = opinion.check(|module| {
            let delivery = Box::new(describe_delivery(query, registry));
            log_allowed(from, LoggedPermission::Delivery { module, delivery }, fx);
        });
        audited.map_err(AccessDenial::Module)
    }

    /// Whether the security modules let a connection own a name.
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
        let opinion = mediator.on_owning(&Claim { label: peer.security_label(), name, context });
        let peer_name = peer.name().as_str();
        let outcome = opinion.check(|module| {
            let (peer, owner, name) = (owner, peer_name.into(), name.into());
            log_allowed(peer, LoggedPermission::Owning { module, owner, name }, fx);
        });
        outcome.map_err(|objection| RefusalReason::OwningDenied {
            owner: peer_name.into(),
            name: name.into(),
            by: OwningDeniedBy::Module(objection),
        })
    }

    /// Whether the rules let a connection own a name.
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

    /// Whether the security modules let a connection see messages to others.
    pub(crate) fn mediate_eavesdropping(
        &mut self,
        peer: PeerId,
        registry: &Registry,
        fx: &mut Effects,
    ) -> Result<(), RefusalReason> {
        let Some(mediator) = &mut self.mediator else { return Ok(()) };
        let opinion = mediator.on_eavesdropping(registry[peer].security_label());
        let name = registry[peer].name().as_str();
        let outcome = opinion.check(|module| {
            let permission = LoggedPermission::Eavesdropping { module, name: name.into() };
            log_allowed(peer, permission, fx);
        });
        outcome.map_err(|objection| RefusalReason::EavesdroppingDenied {
            name: name.into(),
            objection,
        })
    }
}

/// Logs what a rule or a security module allows and wants to be logged.
fn log_allowed(peer: PeerId, permission: LoggedPermission, fx: &mut Effects) {
    fx.log(LogEvent::Allowed { peer, permission });
}

/// Whether the rules of the sender let a message pass. A rule may ask for a record of that.
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

/// Whether the rules of the recipient let a message pass.
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
