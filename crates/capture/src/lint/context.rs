//! Facts that several rules derive from a recording, computed once.

use std::collections::HashSet;
use std::ops::Deref;
use std::sync::OnceLock;

use foldhash::fast::RandomState;

use super::audience::{RuleAudience, RuleSelection};
use super::changes::{self, PropertyChange};
use super::finding::{Cost, Finding};
use super::patterns::grouped;
use super::traffic::CheckedTraffic;
use super::{deadlocks, queries};
use crate::activation::{FailedStart, failed_starts};
use crate::model::{Capture, CapturedMessage, CapturedMessageId};
use crate::subscriptions::{MatchRuleHistory, MatchRuleLifetime};

/// The checked traffic, with the facts that several rules derive from it.
pub(super) struct LintContext<'c> {
    traffic: CheckedTraffic<'c>,
    derived: Derived<'c>,
}

/// Derived facts, each computed when a rule first uses it.
#[derive(Default)]
struct Derived<'c> {
    methods: OnceLock<MessageGroups<'c>>,
    callers: OnceLock<MessageGroups<'c>>,
    callees: OnceLock<MessageGroups<'c>>,
    emissions: OnceLock<MessageGroups<'c>>,
    changes: OnceLock<Vec<PropertyChange<'c>>>,
    subscriptions: OnceLock<MatchRuleHistory>,
    audience: OnceLock<RuleAudience<'c>>,
    deadlocked: OnceLock<HashSet<CapturedMessageId, RandomState>>,
    failed_starts: OnceLock<Vec<FailedStart<'c>>>,
    calls_of_failed_starts: OnceLock<HashSet<CapturedMessageId, RandomState>>,
}

/// Groups of messages, each in the order of the recording.
pub(super) type MessageGroups<'c> = Vec<Vec<CapturedMessage<'c>>>;

impl<'c> Deref for LintContext<'c> {
    type Target = CheckedTraffic<'c>;

    fn deref(&self) -> &CheckedTraffic<'c> {
        &self.traffic
    }
}

impl<'c> LintContext<'c> {
    pub(super) fn new(capture: &'c Capture) -> Self {
        Self { traffic: CheckedTraffic::new(capture), derived: Derived::default() }
    }

    /// Calls grouped by caller, destination, interface and method.
    pub(super) fn methods(&self) -> &MessageGroups<'c> {
        self.derived.methods.get_or_init(|| {
            grouped(&self.calls, |call| {
                let method = (call.interface_id(), call.member_id());
                (call.bus(), call.sender_id(), call.destination_id(), method)
            })
        })
    }

    /// Calls grouped by caller.
    pub(super) fn callers(&self) -> &MessageGroups<'c> {
        self.derived
            .callers
            .get_or_init(|| grouped(&self.calls, |call| (call.bus(), call.sender_id())))
    }

    /// Groups calls by callee, interface and method.
    pub(super) fn by_method<'m>(
        &self,
        calls: impl IntoIterator<Item = &'m CapturedMessage<'c>>,
    ) -> MessageGroups<'c>
    where
        'c: 'm,
    {
        grouped(calls, |call| (self.callee(call), call.interface_id(), call.member_id()))
    }

    /// Calls grouped by callee, without calls to the bus itself.
    pub(super) fn callees(&self) -> &MessageGroups<'c> {
        self.derived.callees.get_or_init(|| {
            let calls = self.calls.iter().filter(|call| !call.is_driver_traffic());
            grouped(calls, |call| self.callee(call))
        })
    }

    /// Signals grouped by sender, interface and member, without signals of the bus itself.
    pub(super) fn emissions(&self) -> &MessageGroups<'c> {
        self.derived.emissions.get_or_init(|| {
            let signals = self.signals.iter().filter(|signal| !signal.is_driver_traffic());
            grouped(signals, |signal| {
                (signal.bus(), signal.sender_id(), signal.interface_id(), signal.member_id())
            })
        })
    }

    /// Like [`Self::emissions`], without signals that have a destination.
    pub(super) fn broadcasts(&self) -> MessageGroups<'c> {
        let is_broadcast = |signal: &&CapturedMessage<'c>| signal.destination_id().is_none();
        let broadcasts = self
            .emissions()
            .iter()
            .map(|signals| signals.iter().filter(is_broadcast).copied().collect::<Vec<_>>());
        broadcasts.filter(|signals| !signals.is_empty()).collect()
    }

    /// The decoded `PropertiesChanged` signals.
    pub(super) fn changes(&self) -> &[PropertyChange<'c>] {
        self.derived.changes.get_or_init(|| changes::read(self))
    }

    /// The match rules of all connections except instruments.
    pub(super) fn subscriptions(&self) -> &MatchRuleHistory {
        self.derived.subscriptions.get_or_init(|| {
            // An excerpt lacks signals that rules matched, and calls that removed rules.
            let is_excerpt = self.capture.is_excerpt();
            let is_wanted = |bus, peer| {
                !is_excerpt
                    && !self.is_observer(peer)
                    && !self.has_no_clock(bus)
                    && !self.lacks_headers(bus)
            };
            MatchRuleHistory::find(self.capture, is_wanted).without_doubtful()
        })
    }

    /// The recipients of broadcast signals.
    pub(super) fn audience(&self) -> &RuleAudience<'c> {
        self.derived.audience.get_or_init(|| RuleAudience::find(self, self.subscriptions()))
    }

    /// The match rules, each with the signals that it matched.
    pub(super) fn selections(&self) -> impl Iterator<Item = (&MatchRuleLifetime, &RuleSelection)> {
        self.subscriptions().all.iter().zip(&self.audience().selected)
    }

    /// Returns true if the call is one of two calls by which two programs waited for each other.
    pub(super) fn is_deadlocked(&self, call: &CapturedMessage<'_>) -> bool {
        let find = || deadlocks::find(self).iter().flat_map(|(a, b)| [a.id(), b.id()]).collect();
        self.derived.deadlocked.get_or_init(find).contains(&call.id())
    }

    /// The services that failed to start.
    pub(super) fn failed_starts(&self) -> &[FailedStart<'c>] {
        self.derived.failed_starts.get_or_init(|| {
            failed_starts(self.capture, |call| {
                self.may_be_judged(call) && (call.partner().is_some() || self.shows_replies(call))
            })
        })
    }

    /// Returns true if a call got no reply because its service failed to start.
    pub(super) fn lacks_its_service(&self, call: &CapturedMessage<'_>) -> bool {
        let find = || {
            let calls = self.failed_starts().iter().flat_map(|start| &start.calls);
            calls.map(CapturedMessage::id).collect()
        };
        self.derived.calls_of_failed_starts.get_or_init(find).contains(&call.id())
    }
}

/// Constructors that many rules share.
impl LintContext<'_> {
    /// Creates a finding about the caller of calls of one method. The calls are its evidence, each
    /// adds the cost of a call, and the query selects them. Panics if `calls` is empty.
    pub(super) fn of_calls(&self, calls: &[CapturedMessage<'_>]) -> Finding {
        Finding::new(self.party(self.sender(&calls[0])))
            .shown_by(calls)
            .costs(Cost::of_calls(calls))
            .query(queries::calls(self, &calls[0]))
    }

    /// Creates a finding about the callee of calls of one method, which is the subject. The calls
    /// are its evidence, and the query selects all calls of the method. Panics if `calls` is empty.
    pub(super) fn of_callee(&self, calls: &[CapturedMessage<'_>]) -> Finding {
        Finding::new(self.party(self.callee(&calls[0])))
            .about(calls[0].full_member())
            .shown_by(calls)
            .query(queries::calls_to(self, &calls[0]))
    }

    /// Creates a finding about the sender of signals with one member, which is the subject. Panics
    /// if `signals` is empty.
    pub(super) fn of_signals(&self, signals: &[CapturedMessage<'_>]) -> Finding {
        Finding::new(self.party(self.sender(&signals[0])))
            .about(signals[0].full_member())
            .shown_by(signals)
            .costs(Cost::of_signals(signals))
            .query(queries::signals(self, &signals[0]))
    }
}
