//! The bus: its state, and what each input does to it.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;

use crate::activation::Starts;
use crate::config::{Configuration, Identity, Limits};
use crate::effects::{Barrier, DisconnectReason, Effect, Effects, Event};
use crate::end::End;
use crate::error::ErrorKind;
use crate::hash::{HashKey, KeyedState};
use crate::history::{Culprit, History, Trouble};
use crate::input::{Amount, Credentials, FdPassing, Input, PeerId, Process};
use crate::matches::{MatchIndex, Recipients, RouteCache};
use crate::mediation::Mediator;
use crate::members::{Counted, Members};
use crate::names::{Names, UniqueNames};
use crate::peers::{Peer, Peers, Room, RuleIndex, Stage};
use crate::policy::ClientPolicies;
use crate::reloads::Reloads;
use crate::replies::Replies;
use crate::shares::Account;
use crate::time::Time;
use crate::traces::Traces;

/// A message bus, without the sockets.
///
/// Its methods are of three kinds:
///
/// - [`handle`](Self::handle) takes what has happened and appends what shall be done. It is the only
///   way to change anything.
/// - [`next_deadline`](Self::next_deadline) and [`is_accepting`](Self::is_accepting) are asked after
///   that, before waiting for the next thing to happen.
/// - The others only look.
///
/// Time is what the caller says it is, and must not go back.
#[derive(Debug)]
pub struct Bus {
    pub(crate) identity: Identity,
    pub(crate) config: Configuration,
    pub(crate) peers: Peers,
    pub(crate) unique_names: UniqueNames,
    pub(crate) names: Names,
    pub(crate) plain_rules: MatchIndex,
    pub(crate) eavesdropping_rules: MatchIndex,
    pub(crate) monitoring_rules: MatchIndex,
    pub(crate) routes: RouteCache,
    pub(crate) recipients: Recipients,
    pub(crate) replies: Replies,
    pub(crate) policies: ClientPolicies,
    /// Who asks the security modules, where they have a say.
    pub(crate) mediator: Option<Box<dyn Mediator>>,
    /// Whether the policy or a security module could refuse anybody anything.
    pub(crate) restricts: bool,
    pub(crate) starts: Starts,
    pub(crate) reloads: Reloads,
    /// Connections that have not said Hello, and since when. How long they may take is for the
    /// configuration to say, which may be read again meanwhile.
    pub(crate) waited_for: BTreeSet<(Time, PeerId)>,
    pub(crate) next_unique: u64,
    pub(crate) next_serial: u32,
    /// Counted up whenever a name has another owner.
    pub(crate) owner_generation: u64,
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) counters: Counters,
    pub(crate) members: Members,
    /// Where the message that is being handled was counted.
    pub(crate) counted: Counted,
    pub(crate) history: History,
    pub(crate) traces: Traces,
    /// When the first thing happened.
    pub(crate) started: Option<Time>,
    /// The account that pays for the signals that the bus emits while it handles the current input.
    pub(crate) acting: Account,
    pub(crate) now: Time,
}

/// What the statistics need and the state does not tell.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    pub(crate) rules: usize,
    pub(crate) peak_rules: usize,
    pub(crate) peak_rules_per_peer: usize,
    /// Unique names, and places in queues for others.
    pub(crate) names: usize,
    pub(crate) peak_names: usize,
    pub(crate) peak_names_per_peer: usize,
    /// Connections that were accepted.
    pub(crate) connected: u64,
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    /// Messages whose bodies were validated.
    pub(crate) validated: u64,
    /// Bytes of these bodies.
    pub(crate) validated_bytes: u64,
    /// Bytes that the daemon has copied in memory, of messages that it passes on.
    pub(crate) copied_bytes: u64,
    /// Bytes that were written to connections.
    pub(crate) written_bytes: u64,
    pub(crate) deliveries: u64,
    /// Messages of peers that were queued for connections other than monitors.
    pub(crate) recipients: u64,
    pub(crate) lost: u64,
    pub(crate) refused: u64,
    /// Messages that the policy kept from somebody, by [`Barrier`].
    pub(crate) withheld: [u64; Barrier::ALL.len()],
    pub(crate) disconnected_by_bus: u64,
}

impl Bus {
    /// A bus without connections.
    pub fn new(identity: Identity, config: Configuration, hash_key: impl Into<HashKey>) -> Self {
        let hasher = KeyedState::new(hash_key.into());
        let traces = Traces::new(hasher.clone(), config.flight_recorder);
        Self {
            restricts: config.policy.restricts(),
            mediator: None,
            identity,
            config,
            peers: Peers::default(),
            unique_names: UniqueNames::default(),
            names: Names::new(hasher.clone()),
            plain_rules: MatchIndex::new(hasher.clone()),
            eavesdropping_rules: MatchIndex::new(hasher.clone()),
            monitoring_rules: MatchIndex::new(hasher.clone()),
            routes: RouteCache::new(hasher.clone()),
            recipients: Recipients::default(),
            members: Members::new(hasher.clone()),
            counted: Counted::NOT,
            traces,
            replies: Replies::new(hasher),
            policies: ClientPolicies::default(),
            starts: Starts::default(),
            reloads: Reloads::default(),
            waited_for: BTreeSet::new(),
            next_unique: 0,
            next_serial: 1,
            owner_generation: 0,
            environment: BTreeMap::new(),
            counters: Counters::default(),
            history: History::default(),
            started: None,
            acting: Account::Nobody,
            now: Time::default(),
        }
    }

    /// The same bus, on which security modules have a say.
    #[must_use]
    pub fn mediated_by(mut self, mediator: Box<dyn Mediator>) -> Self {
        self.mediator = Some(mediator);
        self.restricts = true;
        self
    }

    /// Takes one input and appends to `effects` what shall be done about it, in order.
    pub fn handle(&mut self, now: Time, input: Input<'_>, effects: &mut Effects) {
        self.now = now;
        match input {
            Input::Message { from, message } => self.message(from, &message, effects),
            Input::DescriptorsLost { from, message } => {
                self.descriptors_lost(from, &message, effects);
            }
            Input::Written { to, amount, copied } => self.written(to, amount, copied, effects),
            Input::Connected { peer, credentials } => self.connected(peer, credentials),
            Input::Authenticated { peer, uid, fds } => self.authenticated(peer, uid, fds),
            Input::Undelivered(undelivered) => self.undelivered(undelivered, effects),
            Input::Vetted { peer, standing } => self.vetted(peer, standing),
            Input::Disconnected { peer, end } => self.disconnected(peer, &end, effects),
            Input::Described { peer, process } => self.described(peer, process),
            Input::Unserved(unserved) => self.not_served(unserved, effects),
            Input::Fault { fault, text } => self.fault(fault, text, effects),
            Input::DeadlinePassed => self.deadline_passed(effects),
            Input::Identified { peer, details, asker } => {
                self.identified(peer, details, asker, effects);
            }
            Input::RingOpened { asker, wish, outcome } => {
                self.ring_opened(asker, wish, outcome, effects);
            }
            Input::StartFailed { start, failure } => self.start_failed(start, &failure, effects),
            Input::Reconfigured { outcome } => self.reconfigured(outcome, effects),
        }
    }

    /// When [`Input::DeadlinePassed`] is due, if ever.
    pub fn next_deadline(&self) -> Option<Time> {
        let auth = self.next_auth_deadline();
        let replies = self.replies.next_deadline();
        let starts = self.starts.next_deadline();
        [auth, replies, starts, self.reloads.due()].into_iter().flatten().min()
    }

    /// When the next connection must have said Hello.
    fn next_auth_deadline(&self) -> Option<Time> {
        let (since, _) = self.waited_for.first()?;
        Some(since.after(self.config.limits.auth_timeout?))
    }

    /// Whether more connections may be accepted: not while too many have yet to say Hello. One may
    /// always try.
    pub fn is_accepting(&self) -> bool {
        (self.peers.incomplete as u64) < self.config.limits.max_incomplete_connections.max(1)
    }

    /// Whether a user has so many connections that have not said Hello that, while the bus is
    /// not [accepting](Self::is_accepting), his next ones should wait and those of others should not.
    pub fn is_crowding(&self, uid: Option<u32>) -> bool {
        let share = (self.config.limits.max_incomplete_connections / 2).max(1);
        self.incomplete_of(uid) >= share
    }

    /// How many connections of a user have not said Hello.
    pub fn incomplete_of(&self, uid: Option<u32>) -> u64 {
        self.peers.incomplete_of(uid) as u64
    }

    /// Whether labels of connections have to be known.
    pub fn asks_for_labels(&self) -> bool {
        self.mediator.is_some()
    }

    /// The configuration in force.
    pub const fn configuration(&self) -> &Configuration {
        &self.config
    }

    /// The limits that hold for a connection.
    pub fn limits_of(&self, peer: PeerId) -> &Limits {
        self.config.limits_of(self.peers.get(peer).and_then(|peer| peer.uid))
    }

    /// The unique name of a connection, once it has said Hello.
    pub fn unique_name(&self, peer: PeerId) -> Option<&str> {
        self.peers.get(peer)?.unique_name()
    }

    /// What the bus knows of the process at the other end of a connection.
    pub fn credentials(&self, peer: PeerId) -> Option<&Credentials> {
        self.peers.get(peer).map(|peer| &peer.credentials)
    }

    /// As whom a connection has authenticated.
    pub fn user(&self, peer: PeerId) -> Option<u32> {
        self.peers.get(peer)?.uid
    }

    /// What the process of a connection is called, if somebody has looked it up.
    pub fn process(&self, peer: PeerId) -> Option<&Process> {
        self.peers.get(peer)?.process.as_deref()
    }

    /// Whether a connection has calls to answer.
    pub fn owes_replies(&self, peer: PeerId) -> bool {
        self.replies.of_peer(peer).1 > 0
    }

    /// The well-known names that a connection owns.
    pub fn owned_names(&self, peer: PeerId) -> impl Iterator<Item = &str> {
        let names = self.peers.get(peer).into_iter().flat_map(|peer| peer.names.values());
        names.filter(move |id| self.names.owner(**id) == peer).map(|id| self.names.text(*id))
    }

    /// What services get into their environment on top of what the daemon was started with.
    pub fn activation_environment(&self) -> impl Iterator<Item = (&str, &str)> {
        self.environment.iter().map(|(name, value)| (&**name, &**value))
    }

    fn connected(&mut self, id: PeerId, credentials: Credentials) {
        self.started.get_or_insert(self.now);
        self.counters.connected += 1;
        self.peers.insert(id, credentials, self.now);
        self.waited_for.insert((self.now, id));
        self.peers[id].waited_since = Some(self.now);
        self.peers[id].room = Room::within(self.config.limits_of(self.peers[id].uid));
    }

    fn authenticated(&mut self, id: PeerId, uid: Option<u32>, fds: FdPassing) {
        if let Some(peer) = self.peers.get_mut(id)
            && peer.stage == Stage::Handshake
        {
            peer.uid = uid;
            peer.fds = fds;
            peer.stage = Stage::Unregistered;
            peer.room = Room::within(self.config.limits_of(uid));
        }
    }

    /// The time in which a connection must say Hello no longer runs.
    fn stop_waiting_for(&mut self, id: PeerId) {
        if let Some(since) = self.peers[id].waited_since.take() {
            self.waited_for.remove(&(since, id));
        }
    }

    fn written(&mut self, id: PeerId, amount: Amount, copied: u64, fx: &mut Effects) {
        self.counters.written_bytes += amount.bytes;
        self.counters.copied_bytes += copied;
        let Some(peer) = self.peers.get_mut(id) else { return };
        peer.discharge(amount);
        if peer.losing.is_some()
            && peer.keeps_up()
            && let Some(lost) = self.stop_losing(id)
        {
            fx.log(Event::CaughtUp { peer: id, lost });
        }
    }

    fn disconnected(&mut self, id: PeerId, end: &End, fx: &mut Effects) {
        let Some(peer) = self.peers.get(id) else { return };
        let was_active = peer.is_active();
        self.acting = Account::User(peer.uid);
        self.stop_losing(id);
        self.settle_withheld(id);
        self.note_end(id, end);
        self.stop_waiting_for(id);
        self.drop_rules(id);
        self.traces.end(id);
        self.drop_waiting(id, fx);
        self.reloads.forget(id);
        if was_active {
            self.peers[id].stage = Stage::Gone;
            self.drop_names(id, fx);
            self.drop_replies(id, fx);
        }
        self.acting = Account::Nobody;
        let peer = self.peers.remove(id);
        if let Some(unique) = peer.and_then(|peer| peer.unique) {
            self.unique_names.remove(&unique);
        }
    }

    fn settle_withheld(&mut self, id: PeerId) {
        if let Some(peer) = self.peers.get_mut(id) {
            let who = Culprit::nameless(peer);
            self.history.add_more(Trouble::Withheld, &who, &mut peer.withheld);
        }
    }

    fn note_end(&mut self, id: PeerId, end: &End) {
        self.history.count(Trouble::Disconnected, end.cause());
        if *end != End::Closed {
            if !self.peers.get(id).is_some_and(Peer::is_complete) {
                self.history.count(Trouble::TurnedAway, end.cause());
            }
            self.counters.disconnected_by_bus += 1;
            let reached = self.reached_by(id, end);
            self.note(Trouble::Disconnected, end.cause(), id, &format!("{end}"), reached);
        }
    }

    fn described(&mut self, id: PeerId, process: Process) {
        self.history.describe(id, &process);
        if let Some(peer) = self.peers.get_mut(id) {
            peer.process = Some(Box::new(process));
        }
    }

    /// Gives a connection its unique name.
    pub(crate) fn admit(&mut self, id: PeerId) {
        let unique = self.next_unique;
        self.next_unique += 1;
        self.stop_waiting_for(id);
        self.peers.register(id, unique);
        self.unique_names.insert(unique, id);
        self.choose_policy(id);
        self.note_new_name(id);
    }

    /// Forgets the calls of a connection, and tells those who have called it that no answer comes.
    pub(crate) fn drop_replies(&mut self, id: PeerId, fx: &mut Effects) {
        while self.replies.pop_call_by(id).is_some() {}
        while let Some(owed) = self.replies.pop_owed_by(id) {
            let error = ErrorKind::NoReply
                .because("Message recipient disconnected from message bus without replying");
            self.send_error(owed.caller, owed.serial, &error, fx);
        }
    }

    pub(crate) fn drop_rules(&mut self, id: PeerId) {
        let Some(peer) = self.peers.get_mut(id) else { return };
        self.counters.rules -= core::mem::take(&mut peer.rule_count);
        for rule in core::mem::take(&mut peer.rules) {
            self.rules_mut(rule.index).delete(rule.id);
        }
    }

    /// Whether anybody sees messages that are for others, other than by eavesdropping.
    pub(crate) fn is_watched(&self) -> bool {
        self.traces.is_on() || !self.monitoring_rules.is_empty()
    }

    pub(crate) const fn rules(&self, index: RuleIndex) -> &MatchIndex {
        match index {
            RuleIndex::Plain => &self.plain_rules,
            RuleIndex::Eavesdropping => &self.eavesdropping_rules,
            RuleIndex::Monitoring => &self.monitoring_rules,
        }
    }

    pub(crate) const fn rules_mut(&mut self, index: RuleIndex) -> &mut MatchIndex {
        match index {
            RuleIndex::Plain => &mut self.plain_rules,
            RuleIndex::Eavesdropping => &mut self.eavesdropping_rules,
            RuleIndex::Monitoring => &mut self.monitoring_rules,
        }
    }

    fn deadline_passed(&mut self, fx: &mut Effects) {
        while let Some(&(_, id)) = self.waited_for.first()
            && self.next_auth_deadline().is_some_and(|deadline| deadline <= self.now)
        {
            self.stop_waiting_for(id);
            self.disconnect(id, DisconnectReason::AuthTimeout, fx);
        }
        while let Some(late) = self.replies.pop_expired(self.now) {
            let error = ErrorKind::NoReply
                .because("Message did not receive a reply (timeout by message bus)");
            self.send_error(late.caller, late.serial, &error, fx);
        }
        self.end_late_starts(fx);
        if let Some(caller) = self.reloads.begin_due(self.now) {
            fx.push(Effect::Reload { caller });
        }
    }

    fn reconfigured(&mut self, outcome: Result<Box<Configuration>, String>, fx: &mut Effects) {
        let error = outcome.map(|config| self.reconfigure(*config, fx)).err();
        let error = error.map(|text| ErrorKind::Failed.because(text));
        for (caller, serials) in self.reloads.take() {
            for serial in serials {
                match &error {
                    None => self.send_return(caller, serial, fx),
                    Some(error) => self.send_error(caller, serial, error, fx),
                }
            }
        }
    }

    fn reconfigure(&mut self, config: Configuration, fx: &mut Effects) {
        let has_same_services = self.config.services.names().eq(config.services.names());
        self.restricts = config.policy.restricts() || self.mediator.is_some();
        self.config = config;
        self.traces.set_recorder(self.config.flight_recorder);
        self.choose_policies();
        for peer in self.peers.iter_mut() {
            peer.room = Room::within(self.config.limits_of(peer.uid));
        }
        if !has_same_services {
            self.announce_services(fx);
        }
        if let Some(timeout) = self.config.limits.reply_timeout {
            self.replies.hasten(self.now.after(timeout));
        }
    }

    pub(crate) fn disconnect(&mut self, peer: PeerId, reason: DisconnectReason, fx: &mut Effects) {
        fx.push(Effect::Disconnect { peer, reason });
    }
}
