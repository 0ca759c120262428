//! The bus: its state, and what each input does to it.

use core::cmp::Reverse;

use alloc::collections::BTreeMap;
use alloc::collections::BinaryHeap;
use alloc::string::String;

use wire::Message;

use crate::config::{Configuration, Identity};
use crate::effects::{
    Body, Delivery, DisconnectReason, Effect, Effects, Event, Fds, Span, Urgency,
};
use crate::error::ErrorKind;
use crate::hash::KeyedState;
use crate::input::{Amount, Asker, Credentials, FdPassing, Input, PeerId};
use crate::matches::{MatchIndex, Recipients, RouteCache};
use crate::names::{Names, UniqueNames};
use crate::peers::{Peer, Peers, RuleIndex, Stage};
use crate::replies::Replies;
use crate::time::Time;

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
    pub(crate) auth_deadlines: BinaryHeap<Reverse<(Time, PeerId)>>,
    pub(crate) next_unique: u64,
    pub(crate) next_serial: u32,
    /// Counted up whenever a name has another owner.
    pub(crate) owner_generation: u64,
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) counters: Counters,
    pub(crate) now: Time,
}

/// What the statistics need and the state does not tell.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    pub(crate) rules: usize,
    pub(crate) peak_rules: usize,
    pub(crate) peak_rules_per_peer: usize,
    pub(crate) peak_names: usize,
    pub(crate) peak_names_per_peer: usize,
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    pub(crate) deliveries: u64,
    pub(crate) lost_signals: u64,
    pub(crate) refused: u64,
    pub(crate) disconnected_by_bus: u64,
}

impl Bus {
    /// A bus without connections. `hash_key` is a random number that no peer knows; it decides
    /// nothing that can be seen from outside.
    pub fn new(identity: Identity, config: Configuration, hash_key: u64) -> Self {
        let hasher = KeyedState::new(hash_key);
        Self {
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
            replies: Replies::new(hasher),
            auth_deadlines: BinaryHeap::new(),
            next_unique: 0,
            next_serial: 1,
            owner_generation: 0,
            environment: BTreeMap::new(),
            counters: Counters::default(),
            now: Time::default(),
        }
    }

    /// Takes one input and appends to `effects` what shall be done about it, in order.
    pub fn handle(&mut self, now: Time, input: Input<'_>, effects: &mut Effects) {
        self.now = now;
        match input {
            Input::Message { from, message } => self.message(from, &message, effects),
            Input::Written { to, amount } => self.written(to, amount, effects),
            Input::Connected { peer, credentials } => self.connected(peer, credentials),
            Input::Authenticated { peer, uid, fds } => self.authenticated(peer, uid, fds),
            Input::Disconnected { peer } => self.disconnected(peer, effects),
            Input::DeadlinePassed => self.deadline_passed(effects),
            Input::Reconfigured { outcome, asker } => self.reconfigured(outcome, asker, effects),
        }
    }

    /// When [`Input::DeadlinePassed`] is due, if ever.
    pub fn next_deadline(&self) -> Option<Time> {
        let auth = self.auth_deadlines.peek().map(|Reverse((time, _))| *time);
        [auth, self.replies.next_deadline()].into_iter().flatten().min()
    }

    /// Whether more connections may be accepted: not while too many have yet to say Hello.
    pub fn is_accepting(&self) -> bool {
        (self.peers.incomplete as u64) < self.config.limits.max_incomplete_connections
    }

    /// The configuration in force.
    pub const fn configuration(&self) -> &Configuration {
        &self.config
    }

    /// The unique name of a connection, once it has said Hello.
    pub fn unique_name(&self, peer: PeerId) -> Option<&str> {
        self.peers.get(peer)?.unique_name()
    }

    /// What the bus knows of the process at the other end of a connection.
    pub fn credentials(&self, peer: PeerId) -> Option<&Credentials> {
        self.peers.get(peer).map(|peer| &peer.credentials)
    }

    /// The well-known names that a connection owns.
    pub fn owned_names(&self, peer: PeerId) -> impl Iterator<Item = &str> {
        let names = self.peers.get(peer).into_iter().flat_map(|peer| &peer.names);
        names.filter(move |id| self.names.owner(**id) == peer).map(|id| self.names.text(*id))
    }

    fn connected(&mut self, id: PeerId, credentials: Credentials) {
        self.peers.insert(id, credentials);
        if let Some(timeout) = self.config.limits.auth_timeout {
            self.auth_deadlines.push(Reverse((self.now.after(timeout), id)));
        }
    }

    fn authenticated(&mut self, id: PeerId, uid: Option<u32>, fds: FdPassing) {
        if let Some(peer) = self.peers.get_mut(id) {
            peer.uid = uid;
            peer.fds = fds;
            peer.stage = Stage::Unregistered;
        }
    }

    fn written(&mut self, id: PeerId, amount: Amount, fx: &mut Effects) {
        let Some(peer) = self.peers.get_mut(id) else { return };
        peer.discharge(amount);
        let resumes_at = self.config.limits.max_outgoing_bytes / 2;
        if let Some(lost) = peer.losing
            && peer.queued.bytes <= resumes_at
        {
            peer.losing = None;
            fx.push(Effect::Log(Event::CaughtUp { peer: id, lost }));
        }
    }

    fn disconnected(&mut self, id: PeerId, fx: &mut Effects) {
        let Some(peer) = self.peers.get(id) else { return };
        if peer.is_active() {
            self.leave(id, fx);
        }
        self.drop_rules(id);
        let peer = self.peers.remove(id);
        if let Some(unique) = peer.and_then(|peer| peer.unique) {
            self.unique_names.remove(&unique);
        }
    }

    /// Takes an active connection out of everything that others can see: rules, names, calls.
    pub(crate) fn leave(&mut self, id: PeerId, fx: &mut Effects) {
        self.drop_rules(id);
        self.drop_names(id, fx);
        while self.replies.pop_call_by(id).is_some() {}
        while let Some(owed) = self.replies.pop_owed_by(id) {
            let error = ErrorKind::NoReply
                .because("Message recipient disconnected from message bus without replying");
            self.send_error(owed.caller, owed.serial, &error, fx);
        }
    }

    fn drop_rules(&mut self, id: PeerId) {
        let Some(peer) = self.peers.get_mut(id) else { return };
        self.counters.rules -= core::mem::take(&mut peer.rule_count);
        for rule in core::mem::take(&mut peer.rules) {
            self.rules_mut(rule.index).delete(rule.id);
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
        while let Some(Reverse((time, id))) = self.auth_deadlines.peek().copied()
            && time <= self.now
        {
            self.auth_deadlines.pop();
            if self.peers.get(id).is_some_and(|peer| !peer.is_complete()) {
                self.disconnect(id, DisconnectReason::AuthTimeout, fx);
            }
        }
        while let Some(late) = self.replies.pop_expired(self.now) {
            let error = ErrorKind::NoReply
                .because("Message did not receive a reply (timeout by message bus)");
            self.send_error(late.caller, late.serial, &error, fx);
        }
    }

    fn reconfigured(
        &mut self,
        outcome: Result<alloc::boxed::Box<Configuration>, String>,
        asker: Option<Asker>,
        fx: &mut Effects,
    ) {
        let result = outcome.map(|config| self.config = *config);
        let Some(Asker { peer, serial }) = asker else { return };
        match result {
            Ok(()) => self.send_return(peer, serial, &(), fx),
            Err(text) => self.send_error(peer, serial, &ErrorKind::Failed.because(text), fx),
        }
    }

    pub(crate) fn disconnect(&mut self, peer: PeerId, reason: DisconnectReason, fx: &mut Effects) {
        self.counters.disconnected_by_bus += 1;
        fx.push(Effect::Disconnect { peer, reason });
    }

    /// Queues a message that is whole in `head` for one connection.
    pub(crate) fn deliver_own(&mut self, to: PeerId, head: Span, fds: Fds, fx: &mut Effects) {
        if let Some(peer) = self.peers.get_mut(to) {
            peer.charge(head.len() as u64, u64::from(fds != Fds::None));
            self.counters.deliveries += 1;
            let urgency = Urgency::Awaited;
            fx.push(Effect::Send(Delivery { to, head, body: Body::InHead, fds, urgency }));
        }
    }

    /// Whether the queue of `peer` has no room for another message. One message may go beyond the
    /// limit, so that a limit below the size of messages does not stop everything.
    pub(crate) fn is_full(&self, peer: &Peer, fds: u32) -> bool {
        let limits = &self.config.limits;
        peer.queued.bytes >= limits.max_outgoing_bytes
            || (fds > 0 && peer.queued.fds >= limits.max_outgoing_unix_fds)
    }

    /// Checks the body of a message and ends the connection that sent an invalid one.
    pub(crate) fn is_valid(
        &mut self,
        from: PeerId,
        message: &Message<'_>,
        fx: &mut Effects,
    ) -> bool {
        match message.validate_body() {
            Ok(()) => true,
            Err(error) => {
                self.disconnect(from, DisconnectReason::InvalidMessage(error), fx);
                false
            }
        }
    }
}
