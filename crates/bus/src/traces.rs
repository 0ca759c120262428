//! Traces: messages that are written down, with what became of them, for those who look on without
//! getting copies.
//!
//! The bus says of each message that somebody wants to have written down ([`Traced`]); who gets it say
//! the [`Effect::Send`](crate::Effect::Send)s with the same head. The daemon writes.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use wire::Message;
use wire::match_rule::MatchRule;

use crate::activation::Held;
use crate::bus::Bus;
use crate::config::FlightRecorder;
use crate::effects::{Body, Effects, Fds, Span};
use crate::hash::KeyedState;
use crate::input::PeerId;
use crate::matches::{MatchIndex, RuleId, Subject};
use crate::names::OwnerChange;
use crate::peers::Stage;
use crate::route::Forward;
use crate::time::Time;

/// What is written down.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Traced {
    /// A message.
    Message(TracedMessage),
    /// A connection has got its name.
    Joined(PeerId),
    /// A well-known name has another owner. Only the flight recorder gets it.
    Owner(TracedOwner),
}

/// A well-known name that has another owner. Connections are given by the number in their unique
/// name, since the old one may be gone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TracedOwner {
    /// The name.
    pub name: Box<str>,
    /// The owner so far.
    pub old: Option<u64>,
    /// The owner from now on.
    pub new: Option<u64>,
}

/// A message that is written down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TracedMessage {
    /// The header, or all of it: the head of the sends that belong to it.
    pub head: Span,
    /// What comes behind.
    pub body: Body,
    /// Who sent it; `None` for the bus itself.
    pub from: Option<PeerId>,
    /// For whom it is, if that is somebody.
    pub addressee: Option<PeerId>,
    /// When it came, if that was earlier than what is being handled: it has waited for a service.
    pub since: Option<Time>,
    /// When the bus searched its match rules for the recipients, if it did so and has a [`Stopwatch`].
    pub matching: Option<Matching>,
    /// Who wants it.
    pub audience: Audience,
}

/// A counter that runs at a constant rate. Its readings are written into traces and decide nothing.
pub type Stopwatch = fn() -> u64;

/// Two readings of a [`Stopwatch`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Matching {
    /// Before the search.
    pub begun: u64,
    /// After it.
    pub ended: u64,
}

/// Who wants to have a message written down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Audience {
    /// All who want every message, and the flight recorder.
    All,
    /// A connection that wants some.
    One(PeerId),
}

/// The traces that run.
#[derive(Debug)]
pub(crate) struct Traces {
    /// Whether anything is written down at all.
    is_on: bool,
    recorder: FlightRecorder,
    stopwatch: Option<Stopwatch>,
    /// Traces of all messages.
    whole: usize,
    /// Rules of all others.
    rules: MatchIndex,
    by_peer: BTreeMap<PeerId, Running>,
}

/// A trace that runs.
#[derive(Debug)]
struct Running {
    /// Bytes of its ring.
    bytes: u64,
    /// Its rules; none if it wants all messages.
    rules: Vec<RuleId>,
}

impl Traces {
    pub(crate) fn new(hasher: KeyedState, recorder: FlightRecorder) -> Self {
        let (rules, by_peer) = (MatchIndex::new(hasher), BTreeMap::new());
        let mut traces = Self { is_on: false, recorder, stopwatch: None, whole: 0, rules, by_peer };
        traces.set_recorder(recorder);
        traces
    }

    #[inline]
    pub(crate) const fn is_on(&self) -> bool {
        self.is_on
    }

    /// The count of the stopwatch, if anything is written down and there is one.
    #[inline]
    pub(crate) fn stopwatch(&self) -> Option<u64> {
        if self.is_on { self.stopwatch.map(|read| read()) } else { None }
    }

    /// How many connections have one.
    pub(crate) fn len(&self) -> usize {
        self.by_peer.len()
    }

    /// Bytes of all rings that connections have asked for.
    pub(crate) fn bytes(&self) -> u64 {
        self.by_peer.values().map(|running| running.bytes).sum()
    }

    pub(crate) fn has(&self, peer: PeerId) -> bool {
        self.by_peer.contains_key(&peer)
    }

    pub(crate) fn set_recorder(&mut self, recorder: FlightRecorder) {
        self.recorder = recorder;
        self.update();
    }

    /// Begins a trace of what matches one of the rules, or of everything if there are none.
    pub(crate) fn begin(&mut self, peer: PeerId, bytes: u64, rules: Vec<MatchRule>) {
        self.end(peer);
        let add = |rule| self.rules.add(peer, rule, 0);
        let rules: Vec<RuleId> = rules.into_iter().filter_map(add).collect();
        self.whole += usize::from(rules.is_empty());
        self.by_peer.insert(peer, Running { bytes, rules });
        self.update();
    }

    /// Ends the trace of a connection. Returns whether it had one.
    pub(crate) fn end(&mut self, peer: PeerId) -> bool {
        let Some(running) = self.by_peer.remove(&peer) else { return false };
        self.whole -= usize::from(running.rules.is_empty());
        running.rules.into_iter().for_each(|rule| self.rules.delete(rule));
        self.update();
        true
    }

    fn update(&mut self) {
        self.is_on = self.recorder == FlightRecorder::On || !self.by_peer.is_empty();
    }

    fn wants_all(&self) -> bool {
        self.whole > 0 || self.recorder == FlightRecorder::On
    }
}

impl Bus {
    /// The number in the unique name of a connection, 7 for `:1.7`, once it has one.
    #[inline]
    pub fn unique_number(&self, peer: PeerId) -> Option<u64> {
        self.peers.get(peer)?.unique
    }

    /// Measures how long the search of match rules takes, for traces. Without this call it is not
    /// measured.
    pub fn set_stopwatch(&mut self, stopwatch: Stopwatch) {
        self.traces.stopwatch = Some(stopwatch);
    }

    /// The search of match rules for the message that was traced last has ended; it began at this
    /// count of the stopwatch.
    #[inline]
    pub(crate) fn matched_since(&self, begun: Option<u64>, head: Span, fx: &mut Effects) {
        if let Some((begun, ended)) = begun.zip(self.traces.stopwatch()) {
            fx.note_matching(head, Matching { begun, ended });
        }
    }

    /// The same, of a connection that takes part: a monitor is no recipient of anything.
    #[inline]
    pub fn recipient_number(&self, peer: PeerId) -> Option<u64> {
        self.peers.get(peer).filter(|peer| peer.stage != Stage::Monitor)?.unique
    }

    /// All connections that have a name, and the names that they own.
    pub fn participants(&self) -> impl Iterator<Item = (PeerId, u64)> {
        self.unique_names.iter().map(|(&number, &peer)| (peer, number))
    }

    /// How many messages a connection has lost since it last kept up, if it does not now.
    pub fn losing(&self, peer: PeerId) -> Option<u64> {
        Some(self.peers.get(peer)?.losing.as_ref()?.missed.messages)
    }

    /// How many messages the policy has kept from a connection.
    pub fn withheld(&self, peer: PeerId) -> Option<u64> {
        Some(self.peers.get(peer)?.withheld.messages)
    }

    /// Has it written down that a connection has got its name.
    pub(crate) fn trace_arrival(&self, peer: PeerId, fx: &mut Effects) {
        if self.traces.is_on() {
            fx.trace(Traced::Joined(peer));
        }
    }

    /// Has it written down that a well-known name has another owner.
    pub(crate) fn trace_owner(&self, change: &OwnerChange, fx: &mut Effects) {
        if self.traces.recorder == FlightRecorder::On {
            let number = |peer: Option<PeerId>| self.unique_number(peer?);
            let (old, new) = (number(change.old), number(change.new));
            fx.trace(Traced::Owner(TracedOwner { name: change.name.clone(), old, new }));
        }
    }

    /// Has a message written down, if somebody wants that.
    #[inline]
    pub(crate) fn trace(
        &mut self,
        forward: &Forward<'_>,
        addressee: Option<PeerId>,
        fx: &mut Effects,
    ) {
        if self.traces.is_on() {
            self.trace_forward(forward, addressee, None, fx);
        }
    }

    /// Has a message written down that has waited for a service, which is there.
    pub(crate) fn trace_late(
        &mut self,
        forward: &Forward<'_>,
        since: Time,
        addressee: PeerId,
        fx: &mut Effects,
    ) {
        if self.traces.is_on() {
            self.trace_forward(forward, Some(addressee), Some(since), fx);
        }
    }

    /// Has a message written down that has waited in vain.
    pub(crate) fn trace_held(&mut self, held: &Held, fx: &mut Effects) {
        if !self.traces.is_on() {
            return;
        }
        let Some(peer) = self.peers.get(held.from) else { return };
        let message = Message::parse(&held.bytes).expect("it was valid when it came");
        let head = fx.stamp_whole(&message, &peer.sender);
        let (from, body, fds) = (held.from, Body::InHead, Fds::None);
        let forward = Forward { message: &message, from, head, body, fds };
        self.trace_forward(&forward, None, Some(held.since), fx);
    }

    /// Has a message of the bus itself written down, if somebody wants that.
    #[inline]
    pub(crate) fn trace_own(&mut self, head: Span, addressee: Option<PeerId>, fx: &mut Effects) {
        if self.traces.is_on() {
            self.trace_bus(head, addressee, fx);
        }
    }

    #[cold]
    fn trace_forward(
        &mut self,
        forward: &Forward<'_>,
        addressee: Option<PeerId>,
        since: Option<Time>,
        fx: &mut Effects,
    ) {
        let Forward { head, body, from, .. } = *forward;
        let from = Some(from);
        let audience = Audience::All;
        let traced = TracedMessage { head, body, from, addressee, since, matching: None, audience };
        self.find_tracers(forward.message, from, addressee);
        self.trace_for_all(traced, fx);
    }

    #[cold]
    fn trace_bus(&mut self, head: Span, addressee: Option<PeerId>, fx: &mut Effects) {
        let (body, from, since) = (Body::InHead, None, None);
        let audience = Audience::All;
        let traced = TracedMessage { head, body, from, addressee, since, matching: None, audience };
        if !self.traces.rules.is_empty() {
            let message = Message::parse(fx.bytes(head)).expect("the bus wrote it");
            self.find_tracers(&message, None, addressee);
        }
        self.trace_for_all(traced, fx);
    }

    /// Fills `self.recipients` with those whose traces ask for a message by a rule.
    fn find_tracers(
        &mut self,
        message: &Message<'_>,
        sender: Option<PeerId>,
        addressee: Option<PeerId>,
    ) {
        let Self { peers, names, traces, recipients, .. } = self;
        recipients.clear();
        if !traces.rules.is_empty() {
            let subject = Subject::new(message, sender, addressee, peers, names);
            traces.rules.find_all(&subject, recipients);
        }
    }

    fn trace_for_all(&self, traced: TracedMessage, fx: &mut Effects) {
        if self.traces.wants_all() {
            fx.trace(Traced::Message(traced));
        }
        if !self.traces.rules.is_empty() {
            for &peer in self.recipients.list() {
                fx.trace(Traced::Message(TracedMessage {
                    audience: Audience::One(peer),
                    ..traced
                }));
            }
        }
    }
}
