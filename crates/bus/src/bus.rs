//! The bus: its components, and the order in which they handle each input.

use alloc::boxed::Box;
use core::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use wire::Message;
use wire::message::MessageType;

use crate::access::mediation::Mediator;
use crate::accounting::{
    Gauges, Incident, IncidentKind, MemberCounts, MemberUse, QueueAccount, Totals,
};
use crate::activation::Activation;
use crate::driver::{self, CredentialSubject, Driver};
use crate::hash::{HashKey, KeyedState};
use crate::matching::RuleMatching;
use crate::policy::PeerAttributes;
use crate::reloads::Reloads;
use crate::replacements::Replacements;
use crate::routing::{Router, RouterWithoutRules};
use crate::types::{
    Amount, BodyValidation, BusIdentity, BusLimits, Configuration, ConnectionCredentials,
    ContainerId, DescriptorPassing, DisconnectReason, Effect, Effects, End, ForeignError, Input,
    LimitHit, LogEvent, MessageProgress, PeerId, PeerSnapshot, Process, RefusalReason, Replacement,
    Stopwatch, Time,
};
use crate::well_known::DRIVER_NAME;

/// A message bus, without the sockets.
///
/// Its methods are of three kinds:
///
/// - [`handle`](Self::handle) takes an event and appends the actions that it requires.
/// - [`next_deadline`](Self::next_deadline) and [`is_accepting`](Self::is_accepting) are called
///   after that, before the daemon waits for the next event.
/// - The others read the state, or store facts that the daemon has learned.
///
/// The caller provides the time, which must not go back.
///
/// A bus can be saved in any format of serde, and restored later, also by another program. Then it
/// continues as if nothing had happened. The security modules and the stopwatch are not saved.
#[derive(Debug)]
pub struct Bus {
    router: Router,
    activation: Activation,
    reloads: Reloads,
    replacements: Replacements,
    checks: Checks,
}

/// Everything of a bus that is saved, except its match rules.
#[derive(Debug, Serialize)]
pub struct SavedBus<'b> {
    router: &'b Router,
    activation: &'b Activation,
    reloads: &'b Reloads,
    replacements: &'b Replacements,
}

/// A [`SavedBus`] that was decoded, and has no match rules yet.
#[derive(Debug, Deserialize)]
pub struct BusWithoutRules {
    router: RouterWithoutRules,
    activation: Activation,
    reloads: Reloads,
    replacements: Replacements,
}

/// The times at which a bus checks its invariants.
#[derive(Clone, Copy, Debug)]
enum Checks {
    /// The bus does not check its invariants.
    Off,
    /// The bus checks them after this many inputs without a check.
    On { unchecked: usize },
}

impl Default for Checks {
    /// Checks in debug builds.
    fn default() -> Self {
        if cfg!(debug_assertions) { Self::On { unchecked: 0 } } else { Self::Off }
    }
}

/// Methods that create and set up a bus.
impl Bus {
    /// Creates a bus without connections.
    pub fn new(identity: BusIdentity, config: Configuration, hash_key: impl Into<HashKey>) -> Self {
        let hasher = KeyedState::new(hash_key.into());
        Self {
            router: Router::new(identity, config, hasher),
            activation: Activation::default(),
            reloads: Reloads::default(),
            replacements: Replacements::default(),
            checks: Checks::default(),
        }
    }

    /// Stops the checks of invariants, so that the cost of messages can be measured in debug
    /// builds, too.
    pub const fn stop_checking(&mut self) {
        self.checks = Checks::Off;
    }

    /// Adds security modules that decide what connections may do.
    #[must_use]
    pub fn mediated_by(mut self, mediator: Box<dyn Mediator>) -> Self {
        self.router.access.set_mediator(mediator);
        self
    }

    /// Sets the clock that measures the time of match rule searches for traces. Without this call
    /// these times are not measured.
    pub const fn set_stopwatch(&mut self, stopwatch: Stopwatch) {
        self.router.tracing.set_stopwatch(stopwatch);
    }
}

/// Methods that save and restore a bus in two parts.
impl Bus {
    /// Everything of the bus that is saved, except its [match rules](Self::rules).
    pub const fn without_rules(&self) -> SavedBus<'_> {
        let Self { router, activation, reloads, replacements, checks: _ } = self;
        SavedBus { router, activation, reloads, replacements }
    }

    /// The match rules of all connections. They are often the largest part of a bus, so another
    /// thread may save and restore them.
    pub const fn rules(&self) -> &RuleMatching {
        &self.router.matching
    }
}

impl BusWithoutRules {
    /// Adds the match rules of all connections.
    #[must_use]
    pub fn with_rules(self, rules: RuleMatching) -> Bus {
        let Self { router, activation, reloads, replacements } = self;
        let (router, checks) = (router.with_rules(rules), Checks::default());
        Bus { router, activation, reloads, replacements, checks }
    }
}

impl Serialize for Bus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.without_rules(), self.rules()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Bus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (bus, rules) = <(BusWithoutRules, RuleMatching)>::deserialize(deserializer)?;
        Ok(bus.with_rules(rules))
    }
}

/// Methods that handle inputs.
impl Bus {
    /// Handles one input and appends the actions that it requires to `effects`, in order.
    ///
    /// # Panics
    ///
    /// Panics in debug builds if an invariant is violated after the input ([`Self::check`]).
    pub fn handle(&mut self, now: Time, input: Input<'_>, effects: &mut Effects) {
        self.router.now = now;
        self.dispatch(input, effects);
        self.router.end_watched_lanes(effects);
        if self.router.containers.labels_messages() {
            self.router.label_deliveries(effects);
        }
        if cfg!(debug_assertions) {
            self.check_sometimes();
        }
    }

    fn dispatch(&mut self, input: Input<'_>, fx: &mut Effects) {
        match input {
            Input::Message { from, message } => self.message(from, &message, fx),
            Input::DescriptorsLost { from, message } => self.descriptors_lost(from, &message, fx),
            Input::Written { to, amount, copied } => self.written(to, amount, copied, fx),
            Input::Connected { peer, credentials, container } => {
                self.connected(peer, credentials, container, fx);
            }
            Input::Authenticated { peer, uid, fds } => self.authenticated(peer, uid, fds),
            Input::Undelivered(undelivered) => self.router.undelivered(undelivered, fx),
            Input::AttributesRead { peer, attributes } => self.attributes_read(peer, attributes),
            Input::Disconnected { peer, end } => self.disconnected(peer, &end, fx),
            Input::DeadlinePassed => self.deadline_passed(fx),
            Input::DetailsRead { subject, peer, details, call } => {
                let described = CredentialSubject { subject, process: Some(peer) };
                driver::details_read(described, &details, call, &mut self.router, fx);
            }
            Input::RingOpened { call, request, outcome } => {
                driver::ring_opened(call, request, outcome, &mut self.router, fx);
            }
            Input::StartFailed { start, failure } => {
                self.activation.start_failed(start, failure, &mut self.router, fx);
            }
            Input::ContainerOpened { container, call, outcome } => {
                driver::container_opened(container, call, outcome, &mut self.router, fx);
            }
            Input::ContainerExpired { container } => {
                driver::stop_container(container, &mut self.router, fx);
            }
            Input::LaneOpened { lane, request, outcome } => {
                driver::lane_opened(lane, request, outcome, &mut self.router, fx);
            }
            Input::LaneTraffic { peer, traffic } => self.router.note_lane_traffic(peer, traffic),
            Input::Replaced { outcome } => self.replaced(outcome, fx),
            Input::Reconfigured { outcome } => self.reconfigured(outcome, fx),
        }
    }

    /// Handles a message: checks it, counts it and passes it to the router or the driver.
    fn message(&mut self, from: PeerId, message: &Message<'_>, fx: &mut Effects) {
        let router = &mut self.router;
        let Some(peer) = router.registry.get_mut(from) else { return };
        if peer.is_monitor() {
            return disconnect(from, DisconnectReason::MonitorSpoke, fx);
        }
        if message.unix_fds() > 0 && peer.fds == DescriptorPassing::Refused {
            return disconnect(from, DisconnectReason::FdsNotAgreed, fx);
        }
        if router.config.body_validation == BodyValidation::On {
            router.accounting.validated(message.body().len() as u64);
            if let Err(error) = message.validate_body() {
                return disconnect(from, DisconnectReason::InvalidMessage(error), fx);
            }
        }
        let (user, is_active) = (peer.user, peer.is_active());
        router.accounting.set_payer(QueueAccount::User(user));
        let mark = router.accounting.mark_deliveries();
        router.accounting.received(&mut peer.statistics, message, router.now);
        self.route(from, is_active, message, fx);
        let accounting = &mut self.router.accounting;
        accounting.set_payer(QueueAccount::Unaccounted);
        accounting.settle_member(mark);
    }

    /// Passes a message to the component that handles its destination.
    #[inline]
    fn route(&mut self, from: PeerId, is_active: bool, message: &Message<'_>, fx: &mut Effects) {
        match message.destination() {
            None if message.message_type() != MessageType::Signal => {
                driver::call_without_destination(from, message, &mut self.router, fx);
            }
            Some(name) if name == DRIVER_NAME.as_str() => self.driver().handle(from, message, fx),
            _ if !is_active => self.refuse_unregistered(from, message, fx),
            None => self.router.broadcast(from, message, fx),
            Some(name) => {
                if let Err(no_owner) = self.router.unicast(from, name, message, fx) {
                    self.activation.send_to_absent(no_owner, &mut self.router, fx);
                }
            }
        }
    }

    const fn driver(&mut self) -> Driver<'_> {
        let Self { router, activation, reloads, replacements, .. } = self;
        Driver { router, activation, reloads, replacements }
    }

    /// Disconnects a peer that sends a message to another peer before it has called Hello. For
    /// monitors, the message has no recipient.
    fn refuse_unregistered(&mut self, from: PeerId, message: &Message<'_>, fx: &mut Effects) {
        let router = &mut self.router;
        if router.is_watched() {
            let forward = router.forward(from, message, fx);
            router.show_monitors(&forward, None, fx);
        }
        disconnect(from, DisconnectReason::NotRegistered, fx);
    }

    /// Drops a message whose descriptors were lost, and sends an error to its sender.
    fn descriptors_lost(&mut self, from: PeerId, message: &Message<'_>, fx: &mut Effects) {
        let router = &mut self.router;
        let Some(peer) = router.registry.get_mut(from) else { return };
        if !peer.is_active() {
            return disconnect(from, DisconnectReason::NotRegistered, fx);
        }
        router.accounting.received(&mut peer.statistics, message, router.now);
        router.refuse(from, message, &RefusalReason::FdsLost, fx);
    }

    #[inline]
    fn written(&mut self, id: PeerId, amount: Amount, copied: u64, fx: &mut Effects) {
        let router = &mut self.router;
        router.accounting.written(amount.bytes, copied);
        let Some(peer) = router.registry.get_mut(id) else { return };
        peer.queue.pop(amount);
        peer.statistics.received.add(amount);
        if peer.statistics.losing.is_some()
            && peer.queue.keeps_up()
            && let Some(lost) = router.stop_losing(id)
        {
            fx.log(LogEvent::CaughtUp { peer: id, lost });
        }
    }
}

/// New and ending connections.
impl Bus {
    fn connected(
        &mut self,
        id: PeerId,
        credentials: ConnectionCredentials,
        container: Option<ContainerId>,
        fx: &mut Effects,
    ) {
        let Router { registry, containers, accounting, config, now, .. } = &mut self.router;
        accounting.connected(*now);
        let limits = config.limits_of(credentials.uid);
        registry.connect(id, credentials, limits, *now);
        let Some(container) = container else { return };
        match containers.admit(container, id, limits) {
            Ok(description) => registry[id].container = Some(Box::new(description)),
            Err(reason) => disconnect(id, reason, fx),
        }
    }

    fn authenticated(&mut self, id: PeerId, user: Option<u32>, fds: DescriptorPassing) {
        let Router { registry, config, .. } = &mut self.router;
        registry.authenticate(id, user, fds, config);
    }

    fn attributes_read(&mut self, id: PeerId, attributes: PeerAttributes) {
        if let Some(peer) = self.router.registry.get_mut(id) {
            peer.set_attributes(attributes);
        }
    }

    fn disconnected(&mut self, id: PeerId, end: &End, fx: &mut Effects) {
        let Self { router, activation, reloads, replacements, .. } = self;
        let Some(peer) = router.registry.get(id) else { return };
        let was_active = peer.is_active();
        router.accounting.set_payer(QueueAccount::User(peer.user));
        router.stop_losing(id);
        router.settle_withheld(id);
        router.note_end(id, end);
        router.forget_lanes(id, fx);
        router.registry.stop_waiting(id);
        router.matching.forget(id);
        router.tracing.end(id);
        activation.forget(id, router, fx);
        reloads.forget(id);
        replacements.forget(id);
        if was_active {
            router.registry.close(id);
            driver::release_all_names(id, router, fx);
            router.drop_calls(id, fx);
        }
        driver::leave_containers(id, router, fx);
        router.containers.forget(id);
        router.accounting.set_payer(QueueAccount::Unaccounted);
        router.registry.remove(id);
    }
}

/// Deadlines and new configurations.
impl Bus {
    /// The time at which [`Input::DeadlinePassed`] is due, if any.
    pub fn next_deadline(&self) -> Option<Time> {
        let (calls, starts) = (self.router.calls.next_deadline(), self.activation.next_deadline());
        [self.next_hello_deadline(), calls, starts, self.reloads.due()].into_iter().flatten().min()
    }

    /// The time by which the next connection must call Hello.
    fn next_hello_deadline(&self) -> Option<Time> {
        let (since, _) = self.router.registry.first_waiting()?;
        Some(since.after(self.router.config.limits.auth_timeout?))
    }

    fn deadline_passed(&mut self, fx: &mut Effects) {
        let now = self.router.now;
        while self.next_hello_deadline().is_some_and(|deadline| deadline <= now)
            && let Some((_, id)) = self.router.registry.first_waiting()
        {
            self.router.registry.stop_waiting(id);
            disconnect(id, DisconnectReason::AuthTimeout, fx);
        }
        self.router.expire_calls(fx);
        self.activation.end_late_starts(&mut self.router, fx);
        if let Some(caller) = self.reloads.begin_due(now) {
            fx.push(Effect::Reload { caller });
        }
    }

    fn replaced(&mut self, outcome: Result<Replacement, ForeignError>, fx: &mut Effects) {
        let outcome = outcome.map_err(RefusalReason::ReplacementFailed);
        for call in self.replacements.take() {
            match &outcome {
                Ok(replacement) => driver::replaced(call, replacement, &mut self.router, fx),
                Err(reason) => self.router.send_error(call.peer, call.serial, reason, fx),
            }
        }
    }

    fn reconfigured(
        &mut self,
        outcome: Result<Box<Configuration>, ForeignError>,
        fx: &mut Effects,
    ) {
        let error = outcome.map(|config| self.reconfigure(*config, fx)).err();
        let reason = error.map(RefusalReason::ReloadFailed);
        for (caller, serials) in self.reloads.take() {
            for serial in serials {
                match &reason {
                    None => self.router.send_return(caller, serial, fx),
                    Some(reason) => self.router.send_error(caller, serial, reason, fx),
                }
            }
        }
    }

    fn reconfigure(&mut self, config: Configuration, fx: &mut Effects) {
        let router = &mut self.router;
        let has_same_services = router.config.services.names().eq(config.services.names());
        router.config = config;
        let Router { config, tracing, access, registry, containers, .. } = &mut *router;
        tracing.set_recorder(config.flight_recorder);
        access.reconfigure(registry, config);
        access.set_filters(containers.have_filters());
        for peer in registry.iter_mut() {
            peer.set_limits(config.limits_of(peer.user));
        }
        router.end_forbidden_lanes(fx);
        router.end_surplus_lanes(fx);
        if !has_same_services {
            driver::announce_services(router, fx);
        }
        if let Some(timeout) = router.config.limits.reply_timeout {
            router.calls.hasten(router.now.after(timeout));
        }
    }
}

/// Questions of the daemon.
impl Bus {
    /// True if more connections may be accepted. It is false while too many have yet to call Hello,
    /// but one is always accepted.
    pub fn is_accepting(&self) -> bool {
        let max = self.router.config.limits.max_incomplete_connections.max(1);
        (self.router.registry.unregistered() as u64) < max
    }

    /// True if a user has too many connections without Hello, so that its next connections should wait
    /// while the bus is not [accepting](Self::is_accepting). Connections of other users should not
    /// wait.
    pub fn is_crowding(&self, uid: Option<u32>) -> bool {
        let share = (self.router.config.limits.max_incomplete_connections / 2).max(1);
        self.incomplete_of(uid) >= share
    }

    /// Number of connections of a user that have not called Hello.
    pub fn incomplete_of(&self, uid: Option<u32>) -> u64 {
        self.router.registry.unregistered_of(uid) as u64
    }

    /// True if the security labels of connections are needed.
    pub const fn asks_for_labels(&self) -> bool {
        self.router.access.needs_labels()
    }

    /// The configuration that is in force.
    pub const fn configuration(&self) -> &Configuration {
        &self.router.config
    }

    /// The user of the bus.
    pub const fn owner(&self) -> u32 {
        self.router.identity.uid
    }

    /// Continues in another process, with this process id and security label.
    pub fn move_to(&mut self, pid: u32, security_label: Option<Box<[u8]>>) {
        let identity = &mut self.router.identity;
        (identity.pid, identity.security_label) = (pid, security_label);
    }

    /// The number of connections, including those that have not called Hello. This call visits each
    /// connection.
    pub fn connection_count(&self) -> usize {
        self.router.registry.iter().count()
    }

    /// The limits for a connection.
    pub fn limits_of(&self, peer: PeerId) -> &BusLimits {
        self.router.limits_of(peer)
    }

    /// The limit that ended a connection, if any.
    pub fn limit_hit_by(&self, peer: PeerId, end: &End) -> Option<LimitHit> {
        self.router.limit_hit_by(peer, end)
    }

    /// The unique name of a connection, once it has called Hello.
    pub fn unique_name(&self, peer: PeerId) -> Option<&str> {
        self.router.registry.get(peer)?.unique_name()
    }

    /// The number in the unique name of a connection, 7 for `:1.7`, once it has called Hello.
    #[inline]
    pub fn unique_number(&self, peer: PeerId) -> Option<u64> {
        self.router.registry.get(peer)?.number()
    }

    /// Like [`Self::unique_number`], but `None` for a monitor, which cannot be a recipient.
    #[inline]
    pub fn recipient_number(&self, peer: PeerId) -> Option<u64> {
        self.router.registry.get(peer).filter(|peer| !peer.is_monitor())?.number()
    }

    /// All connections that have called Hello, each with the number in its unique name.
    pub fn participants(&self) -> impl Iterator<Item = (PeerId, u64)> {
        self.router.registry.numbers()
    }

    /// The credentials of a connection, as reported by the kernel.
    #[inline]
    pub fn credentials(&self, peer: PeerId) -> Option<&ConnectionCredentials> {
        self.router.registry.get(peer).map(|peer| &peer.credentials)
    }

    /// The user who created the container of a connection, if it is in one. Only this user may
    /// connect.
    pub fn container_user(&self, peer: PeerId) -> Option<u32> {
        let container = self.router.registry.get(peer)?.container.as_deref()?;
        self.router.containers.get(container.id).map(|container| container.uid)
    }

    /// The user that a connection has authenticated as.
    pub fn user(&self, peer: PeerId) -> Option<u32> {
        self.router.registry.get(peer)?.user
    }

    /// The description of the process of a connection, if it was looked up.
    pub fn process(&self, peer: PeerId) -> Option<&Process> {
        self.router.registry.get(peer)?.process.as_deref()
    }

    /// A description of a connection; `None` if it is gone.
    pub fn snapshot(&self, peer: PeerId) -> Option<PeerSnapshot> {
        self.router.registry.snapshot(peer)
    }

    /// True if a connection has calls to answer.
    #[inline]
    pub fn owes_replies(&self, peer: PeerId) -> bool {
        self.router.calls.of_peer(peer).1 > 0
    }

    /// The well-known names that a connection owns.
    pub fn owned_names(&self, peer: PeerId) -> impl Iterator<Item = &str> {
        self.router.registry.owned_names(peer)
    }

    /// Number of messages that were dropped for a connection since it last kept up; `None` if it
    /// keeps up.
    pub fn losing(&self, peer: PeerId) -> Option<u64> {
        Some(self.router.registry.get(peer)?.statistics.losing.as_ref()?.missed.messages)
    }

    /// The messages that are queued for a connection and have not left its queue.
    pub fn queued(&self, peer: PeerId) -> Option<Amount> {
        Some(self.router.registry.get(peer)?.queue.amount())
    }

    /// The counters by which the ends of a connection's lanes keep the order of messages.
    pub fn progress(&self, peer: PeerId) -> Option<MessageProgress> {
        let peer = self.router.registry.get(peer)?;
        let statistics = &peer.statistics;
        let queued = statistics.received.messages + peer.queue.amount().messages;
        Some(MessageProgress { routed: statistics.sent.messages, queued })
    }

    /// Number of messages that a policy withheld from a connection.
    pub fn withheld(&self, peer: PeerId) -> Option<u64> {
        Some(self.router.registry.get(peer)?.statistics.withheld.messages)
    }

    /// The variables that services get in addition to the environment of the daemon.
    pub fn activation_environment(&self) -> impl Iterator<Item = (&str, &str)> {
        self.activation.environment()
    }
}

/// Statistics and the history.
impl Bus {
    /// The counters since the bus started.
    #[must_use]
    pub fn totals(&self) -> Totals {
        self.router.accounting.totals()
    }

    /// The present state in numbers. This call visits each connection.
    #[must_use]
    pub fn gauges(&self) -> Gauges {
        self.router.gauges()
    }

    /// Time since the first connection was accepted.
    #[must_use]
    pub fn uptime(&self) -> Duration {
        self.router.accounting.uptime(self.router.now)
    }

    /// Starts counting members if that has not started yet. Returns the time since it started.
    pub fn count_members(&mut self, now: Time) -> Duration {
        now.since(self.router.accounting.count_members(now))
    }

    /// The members that were called or emitted since counting started, in the order in which they
    /// first appeared.
    pub fn members(&self) -> impl ExactSizeIterator<Item = MemberUse<'_>> {
        self.router.accounting.members()
    }

    /// The counters of the members that do not have a row.
    #[must_use]
    pub const fn other_members(&self) -> MemberCounts {
        self.router.accounting.other_members()
    }

    /// The most recent incidents by kind, and each kind from the oldest to the newest.
    pub fn incidents(&self) -> impl Iterator<Item = &Incident> {
        self.router.accounting.incidents()
    }

    /// The number of occurrences of each cause of each kind of incident.
    pub fn causes(&self) -> impl Iterator<Item = (IncidentKind, &str, u64)> {
        self.router.accounting.causes()
    }

    /// Counts an incident that only the daemon knows of, and adds it to the history: a rejected
    /// peer, or a failure of the operating system.
    pub fn note_incident(&mut self, incident: Incident) {
        self.router.accounting.count(incident.kind, incident.cause.clone());
        self.router.accounting.add_incident(incident);
    }

    /// Stores the description of the process of a connection.
    pub fn describe(&mut self, peer: PeerId, process: Process) {
        self.router.accounting.describe(peer, &process);
        if let Some(peer) = self.router.registry.get_mut(peer) {
            peer.process = Some(Box::new(process));
        }
    }
}

/// Methods that check invariants.
impl Bus {
    /// Counts the messages with descriptors that wait for a service. The daemon must hold exactly
    /// the descriptors of these messages, see [`Effect::HoldFds`](crate::Effect::HoldFds). The time
    /// is proportional to the number of waiting messages.
    #[must_use]
    pub fn held_messages_with_fds(&self) -> usize {
        self.activation.held_messages_with_fds()
    }

    /// Checks that every counter equals the sum that it represents, that every match rule and every
    /// name has a live owner, and that every waiter has a live connection. The time is proportional
    /// to the state of the bus.
    ///
    /// # Panics
    ///
    /// Panics if an invariant is violated, which is a bug.
    pub fn check(&self) {
        let Router { registry, containers, lanes, matching, calls, tracing, .. } = &self.router;
        registry.check();
        matching.check(registry);
        calls.check(|peer| registry.get(peer).is_some_and(|peer| peer.is_active()));
        tracing.check(registry);
        containers.check(registry);
        let is_active = |peer| registry.get(peer).is_some_and(|peer| peer.is_active());
        lanes.check(is_active);
        self.activation.check(is_active);
        self.reloads.check(is_active);
        self.replacements.check(is_active);
    }
}

impl Bus {
    /// Checks the invariants after every input while the bus is small, and less often when it is
    /// large, so that the cost of checks per input stays constant.
    fn check_sometimes(&mut self) {
        let Checks::On { unchecked } = &mut self.checks else { return };
        *unchecked += 1;
        if *unchecked > self.router.size() / CHECKED_PER_INPUT {
            *unchecked = 0;
            self.check();
        }
    }
}

/// The part of its state that a bus checks per input, on average.
const CHECKED_PER_INPUT: usize = 64;

fn disconnect(peer: PeerId, reason: DisconnectReason, fx: &mut Effects) {
    fx.push(Effect::Disconnect { peer, reason });
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::num::NonZeroU32;

    use testkit::corruption::each_is_reported;
    use wire::guid::Guid;
    use wire::match_rule::MatchRule;

    use crate::calls::PendingCall;
    use crate::reloads::ReloadPrivilege;
    use crate::types::{CallId, Service};

    const PEER: PeerId = PeerId::new(0, 0);
    const GONE: PeerId = PeerId::new(9, 0);

    /// A bus with one connection that has called Hello.
    fn bus() -> Bus {
        let identity = BusIdentity {
            id: Guid::from_bytes([7; 16]),
            machine_id: None,
            pid: 1,
            uid: 0,
            security_label: None,
        };
        let mut bus = Bus::new(identity, Configuration::default(), 0);
        let credentials = ConnectionCredentials { pid: None, uid: Some(7) };
        bus.connected(PEER, credentials, None, &mut Effects::new());
        bus.authenticated(PEER, Some(7), DescriptorPassing::Refused);
        let Router { access, registry, config, .. } = &mut bus.router;
        let policy = access.policy_for(PEER, registry, config);
        registry.register(PEER, policy);
        bus
    }

    /// Each component tests its own check. This test shows that the check of the bus calls all of
    /// them, and that it compares the components with each other.
    #[test]
    fn the_check_reports_corruptions_of_every_component() {
        each_is_reported(
            bus,
            Bus::check,
            &[
                ("names", |bus| bus.router.registry.close(PEER)),
                ("queues", |bus| {
                    let queue = &mut bus.router.registry[PEER].queue;
                    queue.push(8, 0);
                    queue.pop(Amount { messages: 1, bytes: 4, fds: 0 });
                }),
                ("match rules", |bus| {
                    bus.router.matching.add(GONE, MatchRule::parse("").expect("a rule"));
                }),
                ("pending calls", |bus| {
                    let serial = NonZeroU32::MIN;
                    let call = PendingCall { caller: PEER, serial, callee: GONE };
                    let counted = bus.router.accounting.current();
                    bus.router.calls.expect(call, None, 1, counted).expect("there is room");
                }),
                ("traces", |bus| bus.router.tracing.begin(GONE, 1, [].into())),
                ("starts of services", |bus| {
                    bus.router.config.services.add("a.b", Service::default());
                    let call = CallId { peer: GONE, serial: NonZeroU32::MIN };
                    let (router, fx) = (&mut bus.router, &mut Effects::new());
                    let start = bus.activation.start_for_call(GONE, "a.b", Some(call), router, fx);
                    start.expect("there is a service");
                }),
                ("calls of Reexecute", |bus| {
                    let call = CallId { peer: GONE, serial: NonZeroU32::MIN };
                    bus.replacements.add(call).expect("there is room");
                }),
                ("calls of ReloadConfig", |bus| {
                    let (serial, now) = (Some(NonZeroU32::MIN), Time::default());
                    bus.reloads
                        .add(GONE, serial, ReloadPrivilege::None, now)
                        .expect("there is room");
                }),
            ],
        );
    }
}
