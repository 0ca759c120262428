//! Access control: may a connection own a name, see messages to others, send or receive a message?
//!
//! The security modules of the kernel are asked first, if there are any, then the rules of the
//! configuration. Both have to agree. On a bus that restricts nothing, a message costs one
//! comparison here, and one for each recipient. On others it costs one more for its sender and one
//! for each recipient, if it is of a class that they all may send and receive; only for the rest
//! are the rules searched.

mod explain;
pub mod mediation;

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;

use wire::Message;

use explain::{counted_rules, explain};
pub(crate) use explain::{describe_delivery, describe_process};
use mediation::{Claim, Mediator, Module, Objection, Transit};

use crate::policy::{
    ClientPolicies, ClientPolicy, Counterpart, DeliveryKind, MessageClass, PolicyDecision,
    PolicyQuery, Reply, Verdict,
};
use crate::registry::{PeerNames, Registry};
use crate::types::{BusError, Configuration, Effects, ErrorKind, LogEvent, PeerId, WithheldBy};
use crate::well_known::DRIVER_NAME;

/// The rules and the security modules that decide what connections may do.
#[derive(Debug)]
pub(crate) struct Access {
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
    reply: Reply,
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
        reply: Reply,
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
        let reply = Reply::to_others(message);
        Self { message, from: Some(from), to: Some(to), reply, sent, received }
    }

    /// A message to the bus itself, or to a service that is yet to be started, of which nothing is
    /// known but its name.
    pub(crate) const fn to_nobody(message: &'m Message<'m>, from: PeerId) -> Self {
        let reply = Reply::to_others(message);
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

/// Why access is denied.
#[derive(Clone, Debug)]
pub(crate) struct Denial(DeniedBy);

#[derive(Clone, Debug)]
enum DeniedBy {
    /// Rules of the configuration, of which this many match.
    Rules { side: RuleSide, count: usize },
    /// A security module.
    Module(Objection),
}

/// The rules of the sender, or those of the recipient.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RuleSide {
    Sender,
    Recipient,
}

impl Denial {
    const fn of_rules(side: RuleSide, count: usize) -> Self {
        Self(DeniedBy::Rules { side, count })
    }

    /// What withholds the message.
    pub(crate) const fn withheld_by(&self) -> WithheldBy {
        match &self.0 {
            DeniedBy::Rules { side: RuleSide::Sender, .. } => WithheldBy::SendPolicy,
            DeniedBy::Rules { side: RuleSide::Recipient, .. } => WithheldBy::ReceivePolicy,
            DeniedBy::Module(objection) => objection.withheld_by(),
        }
    }

    /// The error for the sender.
    pub(crate) fn error(&self, query: &AccessQuery<'_>, registry: &Registry) -> BusError {
        explain(&self.0, query, registry)
    }
}

/// The rules of connections.
impl Access {
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
    pub(crate) fn modules(&self) -> impl Iterator<Item = Module> {
        self.mediator.iter().flat_map(|mediator| mediator.modules()).copied()
    }
}

/// Decisions.
impl Access {
    /// Whether a message may pass.
    #[inline(never)]
    pub(crate) fn check(
        &mut self,
        query: &AccessQuery<'_>,
        registry: &Registry,
        config: &Configuration,
        fx: &mut Effects,
    ) -> Result<(), Denial> {
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
    ) -> Result<(), Denial> {
        let (Some(mediator), Some(from)) = (&mut self.mediator, query.from) else { return Ok(()) };
        let to = mediation::recipient(query, registry, &config.services);
        let AccessQuery { message, reply, .. } = *query;
        let (sender, label) = (registry[from].unique_name(), registry[from].security_label());
        let opinion = mediator.on_message(&Transit { message, sender, label, to, reply });
        let audited = opinion.check(|module| {
            audit(module, from, &describe_delivery("this message", query, registry), fx);
        });
        audited.map_err(|objection| Denial(DeniedBy::Module(objection)))
    }

    /// Whether the security modules let a connection own a name.
    pub(crate) fn mediate_owning(
        &mut self,
        owner: PeerId,
        name: &str,
        registry: &Registry,
        config: &Configuration,
        fx: &mut Effects,
    ) -> Result<(), BusError> {
        let Some(mediator) = &mut self.mediator else { return Ok(()) };
        let context = config.security_contexts.get(name).map(|context| &**context);
        let peer = &registry[owner];
        let opinion = mediator.on_owning(&Claim { label: peer.security_label(), name, context });
        let peer_name = peer.name();
        let outcome = opinion.check(|module| {
            audit(module, owner, &format!("{peer_name} to own {name}"), fx);
        });
        outcome.map_err(|objection| {
            ErrorKind::AccessDenied.because(format!(
                "Connection \"{peer_name}\" is not allowed to own the service \"{name}\" {}",
                objection.because()
            ))
        })
    }

    /// Whether the rules let a connection own a name.
    pub(crate) fn check_owning(
        &self,
        owner: PeerId,
        name: &str,
        registry: &Registry,
    ) -> Result<(), BusError> {
        let peer = &registry[owner];
        if peer.policy().is_some_and(|policy| policy.may_own(name) == Verdict::Allow) {
            return Ok(());
        }
        Err(ErrorKind::AccessDenied.because(format!(
            "Connection \"{}\" is not allowed to own the service \"{name}\" due to security \
             policies in the configuration file",
            peer.name()
        )))
    }

    /// Whether the security modules let a connection see messages to others.
    pub(crate) fn mediate_eavesdropping(
        &mut self,
        peer: PeerId,
        registry: &Registry,
        fx: &mut Effects,
    ) -> Result<(), BusError> {
        let Some(mediator) = &mut self.mediator else { return Ok(()) };
        let opinion = mediator.on_eavesdropping(registry[peer].security_label());
        let name = registry[peer].name();
        let outcome =
            opinion.check(|module| audit(module, peer, &format!("{name} to eavesdrop"), fx));
        outcome.map_err(|objection| {
            let why = objection.because();
            let text = format!("Connection \"{name}\" is not allowed to eavesdrop {why}");
            ErrorKind::AccessDenied.because(text)
        })
    }
}

/// Logs that a security module wants to have a record of what it allows.
fn audit(module: Module, peer: PeerId, what: &str, fx: &mut Effects) {
    let what = format!("{} audits {what}", module.name());
    fx.log(LogEvent::Allowed { peer, what });
}

/// Whether the rules of the sender let a message pass. A rule may ask for a record of that.
fn check_sending(
    query: &AccessQuery<'_>,
    from: PeerId,
    registry: &Registry,
    fx: &mut Effects,
) -> Result<(), Denial> {
    let Some(policy) = registry[from].policy() else { return Ok(()) };
    let AccessQuery { message, reply, sent: delivery, .. } = *query;
    let counterpart = match (query.to, message.destination()) {
        (Some(to), _) => Counterpart::Peer(registry.names_of(to)),
        (None, name) => Counterpart::Name(name.map_or("", |name| name.as_str())),
    };
    match policy.send.judge(&PolicyQuery { message, reply, delivery, counterpart }) {
        PolicyDecision::Pass => Ok(()),
        PolicyDecision::PassLogged(count) => {
            let what = counted_rules("Would reject message", count);
            let what = describe_delivery(&what, query, registry);
            fx.log(LogEvent::Allowed { peer: from, what });
            Ok(())
        }
        PolicyDecision::Refuse(count) => Err(Denial::of_rules(RuleSide::Sender, count)),
    }
}

/// Whether the rules of the recipient let a message pass.
pub(crate) fn check_receiving(query: &AccessQuery<'_>, registry: &Registry) -> Result<(), Denial> {
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
        PolicyDecision::Refuse(count) => Err(Denial::of_rules(RuleSide::Recipient, count)),
    }
}
