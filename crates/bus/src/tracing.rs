//! Traces: messages are recorded with their recipients, for readers that do not get copies.
//!
//! The bus reports which messages a trace requests ([`Traced`]). The recipients of a message are
//! the recipients of all [`Effect::Send`](crate::Effect::Send)s with the same head. The daemon
//! writes the records.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize, Serializer};
use wire::Message;
use wire::match_rule::MatchRule;

use crate::hash::KeyedState;
use crate::matching::{MatchIndex, MatchedMessage, MatchedRecipients, RuleId, SavedRule};
use crate::registry::{OwnerChange, Registry};
use crate::saved_state::SavedStateError;
use crate::types::{
    Body, Effects, FlightRecorder, Forward, MatchingTime, PeerId, Span, Stopwatch, Time,
    TraceAudience, Traced, TracedMessage, TracedOwner,
};

/// The traces that are running.
#[derive(Debug, Deserialize)]
#[serde(try_from = "SavedTraces<'static>")]
pub(crate) struct Tracing {
    hasher: KeyedState,
    /// True if any message is recorded.
    is_on: bool,
    recorder: FlightRecorder,
    stopwatch: Option<Stopwatch>,
    /// The number of traces that record all messages.
    whole: usize,
    /// The rules of the other traces.
    rules: MatchIndex,
    by_peer: BTreeMap<PeerId, Running>,
    /// Connections with a trace rule that matches the current message.
    readers: MatchedRecipients,
}

/// The trace of one connection.
#[derive(Debug)]
struct Running {
    /// Size of its ring, in bytes.
    bytes: u64,
    /// Its rules; empty if it records all messages.
    rules: Vec<RuleId>,
}

/// The traces in the saved state.
#[derive(Serialize, Deserialize)]
struct SavedTraces<'r> {
    hasher: KeyedState,
    recorder: FlightRecorder,
    traces: Vec<SavedTrace<'r>>,
}

/// The trace of one connection in the saved state.
#[derive(Serialize, Deserialize)]
struct SavedTrace<'r> {
    peer: PeerId,
    bytes: u64,
    rules: Vec<SavedRule<'r>>,
}

impl Serialize for Tracing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let trace = |(&peer, running): (_, &Running)| SavedTrace {
            peer,
            bytes: running.bytes,
            rules: running.rules.iter().map(|rule| self.rules.save(*rule)).collect(),
        };
        let traces = self.by_peer.iter().map(trace).collect();
        let (hasher, recorder) = (self.hasher.clone(), self.recorder);
        SavedTraces { hasher, recorder, traces }.serialize(serializer)
    }
}

impl TryFrom<SavedTraces<'_>> for Tracing {
    type Error = SavedStateError;

    fn try_from(saved: SavedTraces<'_>) -> Result<Self, SavedStateError> {
        let SavedTraces { hasher, recorder, traces } = saved;
        let mut tracing = Self::new(hasher, recorder);
        for SavedTrace { peer, bytes, rules: own } in traces {
            tracing.whole += usize::from(own.is_empty());
            let rules = own.into_iter().map(|rule| tracing.rules.restore(rule, 0));
            let rules = rules.collect::<Result<_, _>>()?;
            tracing.by_peer.insert(peer, Running { bytes, rules });
        }
        tracing.rules.order_buckets()?;
        tracing.update();
        Ok(tracing)
    }
}

/// Methods that start and end traces.
impl Tracing {
    pub(crate) fn new(hasher: KeyedState, recorder: FlightRecorder) -> Self {
        let mut tracing = Self {
            is_on: false,
            recorder,
            stopwatch: None,
            whole: 0,
            rules: MatchIndex::new(hasher.clone()),
            hasher,
            by_peer: BTreeMap::new(),
            readers: MatchedRecipients::default(),
        };
        tracing.set_recorder(recorder);
        tracing
    }

    /// Sets the clock that measures searches of match rules.
    pub(crate) const fn set_stopwatch(&mut self, stopwatch: Stopwatch) {
        self.stopwatch = Some(stopwatch);
    }

    pub(crate) fn set_recorder(&mut self, recorder: FlightRecorder) {
        self.recorder = recorder;
        self.update();
    }

    /// Starts a trace of the messages that match one of the rules, or of all messages if there are
    /// no rules.
    pub(crate) fn begin(&mut self, peer: PeerId, bytes: u64, rules: Vec<MatchRule>) {
        self.end(peer);
        let add = |rule| self.rules.add(peer, rule, 0);
        let rules: Vec<RuleId> = rules.into_iter().filter_map(add).collect();
        self.whole += usize::from(rules.is_empty());
        self.by_peer.insert(peer, Running { bytes, rules });
        self.update();
    }

    /// Ends the trace of a connection. Returns false if it did not have one.
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

    /// True if any message is recorded.
    #[inline]
    pub(crate) const fn is_on(&self) -> bool {
        self.is_on
    }

    /// Number of connections with a trace.
    pub(crate) fn len(&self) -> usize {
        self.by_peer.len()
    }

    /// Size of the rings of all traces, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.by_peer.values().map(|running| running.bytes).sum()
    }

    /// True if a connection has a trace.
    pub(crate) fn has(&self, peer: PeerId) -> bool {
        self.by_peer.contains_key(&peer)
    }

    fn wants_all(&self) -> bool {
        self.whole > 0 || self.recorder == FlightRecorder::On
    }

    /// Checks that every trace has a live connection, and that all counters are right.
    ///
    /// # Panics
    ///
    /// Panics if an invariant is violated.
    pub(crate) fn check(&self, registry: &Registry) {
        for (peer, running) in &self.by_peer {
            assert!(registry.get(*peer).is_some(), "{peer} has a trace and is gone");
            running.rules.iter().for_each(|rule| assert_eq!(self.rules.owner(*rule), *peer));
        }
        let whole = self.by_peer.values().filter(|running| running.rules.is_empty()).count();
        assert_eq!(self.whole, whole, "traces of all messages");
        let rules: usize = self.by_peer.values().map(|running| running.rules.len()).sum();
        assert_eq!(self.rules.len(), rules, "rules of traces");
        self.rules.check();
        let is_on = self.recorder == FlightRecorder::On || !self.by_peer.is_empty();
        assert_eq!(self.is_on, is_on, "whether anything is recorded");
    }
}

/// Methods that record messages.
impl Tracing {
    /// The reading of the stopwatch, if messages are recorded and a stopwatch is set.
    #[inline]
    pub(crate) fn stopwatch(&self) -> Option<u64> {
        if self.is_on { self.stopwatch.map(|read| read()) } else { None }
    }

    /// Records that the search of match rules for the last recorded message has ended. The search
    /// began at this reading of the stopwatch.
    #[inline]
    pub(crate) fn matched_since(&self, begun: Option<u64>, head: Span, fx: &mut Effects) {
        if let Some((begun, ended)) = begun.zip(self.stopwatch()) {
            fx.note_matching(head, MatchingTime { begun, ended });
        }
    }

    /// Records that a connection has got its unique name.
    pub(crate) fn record_arrival(&self, peer: PeerId, fx: &mut Effects) {
        if self.is_on {
            fx.trace(Traced::Joined(peer));
        }
    }

    /// Records that the owner of a well-known name has changed.
    pub(crate) fn record_owner(&self, change: &OwnerChange, registry: &Registry, fx: &mut Effects) {
        if self.recorder == FlightRecorder::On {
            let number = |peer: Option<PeerId>| registry.get(peer?)?.number();
            let (old, new) = (number(change.old), number(change.new));
            fx.trace(Traced::Owner(TracedOwner { name: change.name.clone(), old, new }));
        }
    }

    /// Records a message of a connection, if a trace requests it. A message that was held for a
    /// service was received at `since`.
    #[inline]
    pub(crate) fn record(
        &mut self,
        forward: &Forward<'_>,
        addressee: Option<PeerId>,
        since: Option<Time>,
        registry: &Registry,
        fx: &mut Effects,
    ) {
        if self.is_on {
            self.record_forward(forward, addressee, since, registry, fx);
        }
    }

    /// Records a message of the bus itself, if a trace requests it.
    #[inline]
    pub(crate) fn record_own(
        &mut self,
        head: Span,
        addressee: Option<PeerId>,
        registry: &Registry,
        fx: &mut Effects,
    ) {
        if self.is_on {
            self.record_bus(head, addressee, registry, fx);
        }
    }

    #[cold]
    fn record_forward(
        &mut self,
        forward: &Forward<'_>,
        addressee: Option<PeerId>,
        since: Option<Time>,
        registry: &Registry,
        fx: &mut Effects,
    ) {
        let Forward { head, body, from, .. } = *forward;
        let from = Some(from);
        let audience = TraceAudience::All;
        let traced = TracedMessage { head, body, from, addressee, since, matching: None, audience };
        if !self.rules.is_empty() {
            let message = MatchedMessage::new(forward.message, from, addressee, registry);
            self.find_readers(&message);
        }
        self.push(traced, fx);
    }

    #[cold]
    fn record_bus(
        &mut self,
        head: Span,
        addressee: Option<PeerId>,
        registry: &Registry,
        fx: &mut Effects,
    ) {
        let (body, from, since) = (Body::InHead, None, None);
        let audience = TraceAudience::All;
        let traced = TracedMessage { head, body, from, addressee, since, matching: None, audience };
        if !self.rules.is_empty() {
            let message = Message::parse(fx.bytes(head)).expect("the bus wrote it");
            self.find_readers(&MatchedMessage::new(&message, None, addressee, registry));
        }
        self.push(traced, fx);
    }

    fn find_readers(&mut self, message: &MatchedMessage<'_>) {
        self.readers.clear();
        self.rules.find_all(message, &mut self.readers);
    }

    fn push(&self, traced: TracedMessage, fx: &mut Effects) {
        if self.wants_all() {
            fx.trace(Traced::Message(traced));
        }
        if !self.rules.is_empty() {
            for &peer in self.readers.list() {
                let audience = TraceAudience::One(peer);
                fx.trace(Traced::Message(TracedMessage { audience, ..traced }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::corruption::each_is_reported;

    use crate::types::{BusLimits, ConnectionCredentials};

    const READER: PeerId = PeerId::new(0, 0);

    fn registry() -> Registry {
        let mut registry = Registry::new(KeyedState::new(0.into()));
        let limits = BusLimits::default();
        registry.connect(READER, ConnectionCredentials::default(), &limits, Time::default());
        registry.connect(
            PeerId::new(1, 0),
            ConnectionCredentials::default(),
            &limits,
            Time::default(),
        );
        registry
    }

    /// A trace with a rule, and a trace of all messages.
    fn tracing() -> Tracing {
        let mut tracing = Tracing::new(KeyedState::new(0.into()), FlightRecorder::Off);
        let rule = MatchRule::parse("member='A'").expect("a rule");
        tracing.begin(READER, 1, [rule].into());
        tracing.begin(PeerId::new(1, 0), 1, Vec::new());
        tracing
    }

    #[test]
    fn the_check_reports_every_corruption() {
        let registry = registry();
        each_is_reported(
            tracing,
            |tracing| tracing.check(&registry),
            &[
                ("traces of all messages", |tracing| tracing.whole = 0),
                ("whether anything is recorded", |tracing| tracing.is_on = false),
                ("the rules of a trace", |tracing| {
                    tracing.by_peer.get_mut(&READER).expect("it has a trace").rules.clear();
                    tracing.whole += 1;
                }),
                ("the owner of a rule", |tracing| {
                    let rules = tracing.by_peer.remove(&READER).expect("it has a trace");
                    tracing.by_peer.get_mut(&PeerId::new(1, 0)).expect("a trace").rules =
                        rules.rules;
                    tracing.whole = 0;
                }),
                ("a trace of a connection that is gone", |tracing| {
                    tracing.begin(PeerId::new(9, 0), 1, Vec::new());
                }),
            ],
        );
    }
}
