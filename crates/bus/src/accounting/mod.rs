//! Accounting: totals, statistics of members, queues, and the history of incidents.
//!
//! This module takes no decisions, except that [`Queue`] decides whether another message fits.

mod counters;
mod history;
mod members;
mod peer;
mod queue;
mod shares;

use alloc::borrow::Cow;
use core::time::Duration;

use serde::{Deserialize, Serialize};
use wire::Message;
use wire::message::MessageType;

use crate::hash::KeyedState;
use crate::types::{Amount, LaneCounts, PeerId, PeerSnapshot, Process, Time, WithheldBy};

use counters::BusCounters;
pub use counters::{Gauges, Totals};
use history::History;
pub(crate) use history::MissedCount;
pub use history::{Incident, IncidentKind, IncidentReason};
pub(crate) use members::Counted;
pub use members::{MemberCounts, MemberUse};
use members::{MemberId, Members};
pub(crate) use peer::{Losing, PeerStatistics};
pub(crate) use queue::Queue;
pub(crate) use shares::QueueAccount;

/// The counters and the history of a bus.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Accounting {
    counters: BusCounters,
    members: Members,
    /// The row in which the message that is being handled was counted.
    current: Counted,
    history: History,
    /// The account that pays for signals of the bus while the current input is handled.
    payer: QueueAccount,
    /// The time when the first connection was accepted.
    started: Option<Time>,
}

/// The numbers of deliveries and recipients at some moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeliveryMark {
    deliveries: u64,
    recipients: u64,
}

/// Methods that count events.
impl Accounting {
    pub(crate) fn new(hasher: KeyedState) -> Self {
        Self {
            counters: BusCounters::default(),
            members: Members::new(hasher),
            current: Counted::NOT,
            history: History::default(),
            payer: QueueAccount::Unaccounted,
            started: None,
        }
    }

    /// Counts a connection that the bus accepted.
    pub(crate) fn connected(&mut self, now: Time) {
        self.started.get_or_insert(now);
        self.counters.totals.connected += 1;
    }

    /// Counts a connection that the bus closed.
    pub(crate) const fn disconnected_by_bus(&mut self) {
        self.counters.totals.disconnected += 1;
    }

    /// Counts a message whose body the bus validated.
    #[inline]
    pub(crate) const fn validated(&mut self, body_len: u64) {
        self.counters.totals.validated += 1;
        self.counters.totals.validated_bytes += body_len;
    }

    /// Counts a message that the bus received from a connection.
    #[inline]
    pub(crate) fn received(
        &mut self,
        sender: &mut PeerStatistics,
        message: &Message<'_>,
        now: Time,
    ) {
        let (bytes, fds) = (message.bytes().len() as u64, u64::from(message.unix_fds()));
        self.counters.totals.messages += 1;
        self.counters.totals.bytes += bytes;
        sender.sent.add(Amount { messages: 1, bytes, fds });
        sender.peak_sent_bytes = sender.peak_sent_bytes.max(bytes);
        sender.peak_sent_fds = sender.peak_sent_fds.max(fds);
        if self.members.is_on() {
            let member = self.members.count(sender.last_member, message);
            self.current = Counted { member, at: now };
            if member != MemberId::NONE {
                sender.last_member = member;
            }
        }
    }

    /// Returns the present numbers of deliveries, for [`Self::settle_member`].
    #[inline]
    pub(crate) const fn mark_deliveries(&self) -> DeliveryMark {
        let BusCounters { totals, recipients, .. } = &self.counters;
        DeliveryMark { deliveries: totals.deliveries, recipients: *recipients }
    }

    /// Counts the deliveries since `mark` for the member of the message that was handled.
    #[inline]
    pub(crate) fn settle_member(&mut self, mark: DeliveryMark) {
        if self.current.member != MemberId::NONE {
            let now = self.mark_deliveries();
            let counts = self.members.counts_mut(self.current.member);
            counts.deliveries += now.deliveries - mark.deliveries;
            let recipients = now.recipients - mark.recipients;
            counts.most_recipients = counts.most_recipients.max(recipients);
        }
    }

    /// Removes the recipients since `mark` from the count, because they are monitors.
    pub(crate) const fn uncount_recipients(&mut self, mark: DeliveryMark) {
        self.counters.recipients = mark.recipients;
    }

    /// Counts a message of a peer that was queued for a recipient.
    #[inline]
    pub(crate) const fn delivered(&mut self) {
        self.counters.totals.deliveries += 1;
        self.counters.recipients += 1;
    }

    /// Counts a message of the bus itself that was queued for a recipient.
    #[inline]
    pub(crate) const fn delivered_own(&mut self) {
        self.counters.totals.deliveries += 1;
    }

    /// Adds the bytes that were written and copied since the last call.
    #[inline]
    pub(crate) const fn written(&mut self, written: u64, copied: u64) {
        self.counters.totals.written_bytes += written;
        self.counters.totals.copied_bytes += copied;
    }

    /// Counts the messages that a connection has exchanged on its lanes since the last call.
    pub(crate) fn lane_traffic(&mut self, peer: &mut PeerStatistics, traffic: LaneCounts) {
        let before = peer.lanes;
        peer.lanes.advance(traffic);
        let totals = &mut self.counters.totals;
        // A connection can state any number.
        let messages = peer.lanes.sent - before.sent;
        totals.lane_messages = totals.lane_messages.saturating_add(messages);
        let bytes = peer.lanes.sent_bytes - before.sent_bytes;
        totals.lane_bytes = totals.lane_bytes.saturating_add(bytes);
    }

    /// Counts a message that was dropped for a recipient because of `cause`.
    #[inline]
    pub(crate) fn lost(&mut self, cause: &'static str) {
        self.counters.totals.lost += 1;
        self.history.count(IncidentKind::Lost, cause);
    }

    /// Counts a message that was refused because of `cause`.
    pub(crate) fn refused(&mut self, cause: &'static str) {
        self.counters.totals.refused += 1;
        self.history.count(IncidentKind::Refused, cause);
    }

    /// Counts a message that was withheld from a connection.
    pub(crate) const fn withheld(&mut self, by: WithheldBy) {
        self.counters.withheld[by as usize] += 1;
    }

    /// The row in which the message that is being handled was counted.
    #[inline]
    pub(crate) const fn current(&self) -> Counted {
        self.current
    }

    /// Replaces the row of the message that is being handled, and returns the previous one.
    #[inline]
    pub(crate) const fn replace_current(&mut self, counted: Counted) -> Counted {
        core::mem::replace(&mut self.current, counted)
    }

    /// Counts the reply to a call.
    #[inline]
    pub(crate) fn answered(&mut self, call: Counted, reply: MessageType, now: Time) {
        if call.member != MemberId::NONE {
            self.members.answered(call, reply, now);
        }
    }

    /// The account that pays for signals of the bus.
    #[inline]
    pub(crate) const fn payer(&self) -> QueueAccount {
        self.payer
    }

    /// Sets the account that pays for signals of the bus.
    #[inline]
    pub(crate) const fn set_payer(&mut self, account: QueueAccount) {
        self.payer = account;
    }
}

/// The history of incidents.
impl Accounting {
    /// Counts an incident, even if the history does not keep an entry of it.
    pub(crate) fn count(&mut self, kind: IncidentKind, cause: impl Into<Cow<'static, str>>) {
        self.history.count(kind, cause);
    }

    /// Adds an entry for an incident that was already counted.
    pub(crate) fn add_incident(&mut self, incident: Incident) {
        self.history.add(incident);
    }

    /// Counts more messages that a connection missed since its entry was made.
    pub(crate) fn add_missed(
        &mut self,
        kind: IncidentKind,
        peer: &PeerSnapshot,
        missed: &mut MissedCount,
    ) {
        self.history.add_more(kind, peer, missed);
    }

    /// Adds the description of a process to the entries of its connection.
    pub(crate) fn describe(&mut self, peer: PeerId, process: &Process) {
        self.history.describe(peer, process);
    }
}

/// Reading of the counters.
impl Accounting {
    pub(crate) fn totals(&self) -> Totals {
        self.counters.totals()
    }

    /// Time since the first connection was accepted.
    pub(crate) fn uptime(&self, now: Time) -> Duration {
        self.started.map_or(Duration::ZERO, |started| now.since(started))
    }

    /// Starts counting members if that has not started yet. Returns the time at which it started.
    pub(crate) const fn count_members(&mut self, now: Time) -> Time {
        self.members.start(now)
    }

    pub(crate) fn members(&self) -> impl ExactSizeIterator<Item = MemberUse<'_>> {
        self.members.iter()
    }

    /// The counters of the members that do not have a row.
    pub(crate) const fn other_members(&self) -> MemberCounts {
        self.members.other()
    }

    /// The most recent incidents by kind, and each kind from the oldest to the newest.
    pub(crate) fn incidents(&self) -> impl Iterator<Item = &Incident> {
        self.history.iter()
    }

    /// The number of occurrences of each cause of each kind of incident.
    pub(crate) fn causes(&self) -> impl Iterator<Item = (IncidentKind, &str, u64)> {
        let withheld = WithheldBy::ALL
            .into_iter()
            .map(|by| (IncidentKind::Withheld, by.word(), self.counters.withheld[by as usize]));
        self.history.totals().chain(withheld.filter(|(.., count)| *count > 0))
    }
}
