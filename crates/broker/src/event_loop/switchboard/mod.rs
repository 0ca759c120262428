//! The switchboard connects the bus with its connections. It applies the effects of the bus, queues
//! and writes messages, and ends connections.
//!
//! ```text
//!   effects ─▶ apply ─▶ queues ─▶ flush (deliver) ─▶ sockets
//!                                   └─▶ full sockets, held senders (flow)
//!   sockets ─▶ receive ─▶ the event loop, which routes each message
//! ```

mod deliver;
mod flow;
mod receive;
mod saved;
mod timed;

use std::collections::BTreeMap;
use std::mem;
use std::rc::Rc;
use std::time::Duration;

use bus::{
    Body, CallId, Delivery, Details, Effect, Effects, Fds, ForeignError, HeldFds, Input, LaneEnds,
    LaneId, LaneRequest, LogEvent, PeerId, PidFd, TraceRequest, Urgency,
};

use super::loop_state::LoopState;
use super::memory_trimmer::MemoryTrimmer;
use super::origin::EffectOrigin;
use super::tracing::TraceControl;
use super::work::{Buffers, TurnRecipients, Work};
use crate::back_pressure::{HoldLimits, Writing};
use crate::connection::{Connection, End, Phase, Queued, Role};
use crate::fd_quota::FdQuotas;
use crate::fds_in_kernel::UserFds;
use crate::lanes::LaneTable;
use crate::outgoing::{Backing, Charge, Load, Outgoing, OutgoingBody, SharedFds, SharedSlice};
use crate::read_budget::InteractiveTraffic;
use deliver::watch;
pub(super) use flow::is_unread;
use flow::kernel_user;
pub(super) use receive::{ReadOutcome, framer_limits, kernel_user_of};
pub(super) use saved::{RestoredConnections, SavedConnections};

/// The bus with its connections and their descriptors.
pub(super) struct Switchboard {
    pub(super) state: LoopState,
    pub(super) desk: TraceControl,
    pub(super) work: Work,
    pub(super) buffers: Buffers,
    pub(super) interactive: InteractiveTraffic,
    /// Descriptors of messages that are held for activation.
    held_fds: BTreeMap<HeldFds, SharedFds>,
    pub(super) lanes: LaneTable,
    /// The time when the traffic on lanes is next reported to the bus.
    traffic_due: Duration,
    /// Descriptors that were written and not yet received.
    pub(super) user_fds: UserFds,
    /// Descriptors that were received and not yet written.
    pub(super) fd_quotas: FdQuotas,
    pub(super) trimmer: MemoryTrimmer,
}

impl Switchboard {
    pub(super) fn new(state: LoopState) -> Self {
        let open_files = sys::rlimit::open_files_max();
        Self {
            state,
            desk: TraceControl::default(),
            work: Work::default(),
            buffers: Buffers::default(),
            interactive: InteractiveTraffic::default(),
            held_fds: BTreeMap::new(),
            lanes: LaneTable::default(),
            traffic_due: Duration::ZERO,
            user_fds: UserFds::within(open_files),
            fd_quotas: FdQuotas::within(open_files),
            trimmer: MemoryTrimmer::begin(),
        }
    }

    fn note_freed(&mut self) {
        self.trimmer.note_freed(self.state.now, &mut self.state.alarm);
    }
}

/// Handling inputs and applying effects.
impl Switchboard {
    /// Hands an input to the bus whose effects need no other part of the daemon, and applies them.
    pub(super) fn handle(&mut self, input: Input<'_>) {
        let mut effects = mem::take(&mut self.buffers.effects);
        self.handle_with(&mut effects, input, None);
        self.buffers.effects = effects;
        self.write_long_queues();
    }

    /// Hands the answer of a query to the bus, and applies the resulting effects. `fds` are sent
    /// with the reply that the answer causes. The bus makes no queries about answers.
    pub(super) fn answer(&mut self, input: Input<'_>, fds: Option<SharedFds>) {
        let mut effects = mem::take(&mut self.buffers.effects_of_answers);
        self.handle_with(&mut effects, input, fds);
        self.buffers.effects_of_answers = effects;
    }

    /// Hands an input to the bus, which stores its effects in `effects`, and applies them.
    fn handle_with(&mut self, effects: &mut Effects, input: Input<'_>, fds: Option<SharedFds>) {
        effects.clear();
        self.state.bus.handle(self.state.time(), input, effects);
        let origin = EffectOrigin::Bus { fds };
        self.begin_applying(effects, &origin);
        effects.list().iter().for_each(|effect| self.apply(effect, effects, &origin));
    }

    /// Traces the effects of an input, before they are applied.
    #[inline]
    pub(super) fn begin_applying(&mut self, effects: &Effects, origin: &EffectOrigin<'_>) {
        if !effects.traced().is_empty() {
            self.desk.trace(&mut self.state, effects, origin);
        }
        self.buffers.copied += effects.bytes_len() as u64;
        self.buffers.queues.staging.begin_input();
    }

    /// Applies an effect: queues messages and marks connections, but writes nothing. Effects on
    /// services and the configuration are handled by the event loop.
    #[inline]
    pub(super) fn apply(&mut self, effect: &Effect, effects: &Effects, origin: &EffectOrigin<'_>) {
        match effect {
            Effect::Send(delivery) => self.send(delivery, effects, origin),
            Effect::Disconnect { peer, reason } => self.end(*peer, End::Bus(*reason)),
            Effect::Log(event) => self.log_event(event),
            Effect::CloseRing { peer } => self.desk.traces.end(*peer),
            Effect::HoldFds(held) => self.hold_fds(*held, origin),
            Effect::ReleaseFds(held) => {
                self.held_fds.remove(held);
            }
            Effect::OpenRing { call, request } => self.open_ring(*call, **request),
            Effect::ReadDetails { subject, peer, call } => {
                self.read_details(*subject, *peer, *call);
            }
            Effect::OpenLane { lane, ends, request } => self.open_lane(*lane, *ends, *request),
            Effect::CloseLane { lane } => self.lanes.close(*lane),
            Effect::NoteNameChanges { peer, count } => {
                self.lanes.publish_name_changes(*peer, *count);
            }
            Effect::CloseContainer { container } => self.work.closed_containers.push(*container),
            Effect::RemoveContainer { container } => self.work.removed_containers.push(*container),
            Effect::OpenContainer { .. }
            | Effect::Start { .. }
            | Effect::Abandon { .. }
            | Effect::Reload { .. }
            | Effect::Replace { .. } => {
                unreachable!("only messages and deadlines cause these effects")
            }
        }
    }

    /// Keeps the descriptors of a message that is held for activation.
    fn hold_fds(&mut self, held: HeldFds, origin: &EffectOrigin<'_>) {
        if let EffectOrigin::Peer { fds: Some(fds), .. } = origin {
            self.held_fds.insert(held, fds.clone());
        }
    }

    /// Checks, in debug builds, that only descriptors of held messages are kept.
    #[inline]
    pub(super) fn check_held_fds(&self) {
        if cfg!(debug_assertions) && !self.held_fds.is_empty() {
            let waiting = self.state.bus.held_messages_with_fds();
            assert_eq!(self.held_fds.len(), waiting, "descriptors of messages that wait");
        }
    }

    /// Answers a call that requests the ring of a trace.
    fn open_ring(&mut self, call: CallId, request: TraceRequest) {
        let (outcome, fds) = match self.desk.open_ring(&self.state, call.peer, request) {
            Ok((facts, fds)) => (Ok(facts), Some(fds)),
            Err(error) => (Err(ForeignError::new(error)), None),
        };
        self.answer(Input::RingOpened { call, request, outcome }, fds);
    }

    /// The kernel's facts about the process of a connection. Facts that the kernel does not report
    /// are omitted.
    pub(super) fn details_of(&self, peer: PeerId) -> Details {
        self.state.table.get(peer).map(|connection| details_of(connection).0).unwrap_or_default()
    }

    /// Creates the sockets of a lane, which the bus then sends to its ends.
    fn open_lane(&mut self, lane: LaneId, ends: LaneEnds, request: LaneRequest) {
        let LaneEnds { one, other } = ends;
        let users = [one, other].map(|end| kernel_user(&self.state.bus, end));
        let outcome = self.lanes.open(lane, ends, users, &mut self.fd_quotas);
        for peer in [ends.one, ends.other] {
            self.lanes.publish_queued(peer, &self.state.bus);
            // The request has no effect before this one, so everything before it is queued.
            self.lanes.publish_routed(peer, &self.state.bus);
        }
        self.answer(Input::LaneOpened { lane, request, outcome }, None);
    }

    /// Tells the ends of lanes that the bus has routed a message of this connection.
    #[inline]
    pub(super) fn publish_routed(&mut self, from: PeerId) {
        if self.lanes.are_used() {
            self.lanes.publish_routed(from, &self.state.bus);
        }
    }

    /// Reports the traffic on lanes to the bus, unless that happened recently.
    #[inline]
    pub(super) fn count_lane_traffic(&mut self) {
        if self.lanes.are_used() && self.state.now >= self.traffic_due {
            self.traffic_due = self.state.now.saturating_add(TRAFFIC_AGE_MAX);
            self.read_lane_traffic();
        }
    }

    #[cold]
    fn read_lane_traffic(&mut self) {
        let Self { lanes, state, buffers, .. } = self;
        for (peer, traffic) in lanes.traffic() {
            let input = Input::LaneTraffic { peer, traffic };
            state.bus.handle(state.time(), input, &mut buffers.effects_of_answers);
        }
    }

    /// Answers a call that requests the kernel's facts about a process. Facts that the kernel does
    /// not report are omitted.
    fn read_details(&mut self, subject: PeerId, peer: PeerId, call: CallId) {
        let Some(connection) = self.state.table.get(peer) else { return };
        let (details, fds) = details_of(connection);
        self.answer(Input::DetailsRead { subject, peer, details, call }, fds);
    }

    /// Writes the queues that became long. This waits until all effects of an input are applied: a
    /// failed write causes an error message, which must not overtake the other messages of that
    /// input.
    #[inline]
    pub(super) fn write_long_queues(&mut self) {
        while let Some(peer) = self.work.long.pop() {
            self.flush_one(peer);
        }
        if self.buffers.queues.staging.is_long() {
            self.flush();
        }
    }

    /// Appends a message to the queue of its recipient.
    fn send(&mut self, delivery: &Delivery, effects: &Effects, origin: &EffectOrigin<'_>) {
        let fds = self.fds_of(delivery, origin);
        let Self { state, buffers, work, interactive, lanes, .. } = self;
        let LoopState { table, bus, poller, now, .. } = state;
        let Some(connection) = table.get_mut(delivery.to) else { return };
        let (from, body) = body_of(delivery, origin, connection.writing);
        let charge = connection.charge_for(origin.is_reply());
        let head = effects.bytes(delivery.head);
        let fd_count = fds.as_ref().map_or(0, |fds| fds.len() as u32);
        let load = Load { bytes: head.len() + body.len(), fds: fd_count };
        let message = Outgoing { from, head, body, fds };
        let Queued { copied, is_flowing, is_newly_dirty, is_long } =
            connection.enqueue(message, charge, *now, &mut buffers.queues);
        buffers.copied += copied as u64;
        if matches!(origin, EffectOrigin::Peer { is_calm: true, .. })
            && !connection.budget.is_flood()
        {
            interactive.note_message(*now);
        }
        work.recipients = work.recipients.max(match origin.is_addressed() {
            true if is_flowing && charge != Charge::Never => TurnRecipients::Ready,
            true => TurnRecipients::Addressed,
            false => TurnRecipients::Broadcast,
        });
        if is_newly_dirty {
            work.mark(delivery.to, delivery.urgency);
        }
        if lanes.are_used() {
            lanes.publish_queued(delivery.to, bus);
        }
        if is_long {
            work.long.push(delivery.to);
        }
        let is_held =
            delivery.urgency == Urgency::Awaited && connection.sent.is_over(&connection.limits);
        let watched = match is_held {
            // It may owe a reply now, and then it must not be held.
            true => watch(connection, poller, bus, *now, work),
            false => Ok(()),
        };
        if let Err(error) = watched {
            self.unwatched(delivery.to, error);
        }
        if let (Charge::OnSender, Some(from)) = (charge, from) {
            self.charge_sender(from, load);
        }
        if fd_count > 0 && !is_flowing {
            self.watch_time(delivery.to);
        }
    }

    fn fds_of(&mut self, delivery: &Delivery, origin: &EffectOrigin<'_>) -> Option<SharedFds> {
        match (delivery.fds, origin) {
            (Fds::None, _) => None,
            (Fds::OfInput, EffectOrigin::Peer { fds, .. })
            | (Fds::OfProcess(_) | Fds::OfRing | Fds::OfRecorder, EffectOrigin::Bus { fds }) => {
                fds.clone()
            }
            (Fds::Held(held), _) => self.held_fds.get(&held).cloned(),
            (Fds::OfLane(lane), _) => self.lanes.take_descriptors(lane, delivery.to),
            (
                Fds::OfInput | Fds::OfProcess(_) | Fds::OfRing | Fds::OfRecorder,
                EffectOrigin::Bus { .. } | EffectOrigin::Peer { .. },
            ) => None,
        }
    }
}

/// Limits, and closing of connections.
impl Switchboard {
    /// Applies changed limits to all connections.
    pub(super) fn limits_changed(&mut self) {
        let LoopState { table, bus, .. } = &mut self.state;
        let limits = framer_limits(bus);
        let mut peers = Vec::new();
        for connection in table.iter_mut() {
            connection.limits = HoldLimits::within(bus.limits_of(connection.peer));
            if let Phase::Messages(stream) = &mut connection.phase {
                stream.framer.set_limits(limits);
            }
            peers.push(connection.peer);
        }
        peers.into_iter().for_each(|peer| self.update_interest(peer));
    }

    fn log_event(&mut self, event: &LogEvent) {
        if let LogEvent::BecameMonitor { peer } = event
            && let Some(connection) = self.state.table.get_mut(*peer)
        {
            connection.role = Role::Monitor;
        }
        if self.desk.traces.is_on() {
            self.desk.trace_event(&self.state, event);
        }
        self.state.log_event(event);
    }

    /// Marks a connection to be closed at the end of the turn.
    pub(super) fn end(&mut self, peer: PeerId, end: End) {
        if let Some(connection) = self.state.table.get_mut(peer)
            && connection.end.is_none()
        {
            connection.end = Some(end);
            self.work.ended.push(peer);
        }
    }

    /// Closes the connections that have ended, and those that end as a result. Returns whether
    /// there were any.
    pub(super) fn close_ended(&mut self) -> bool {
        let is_needed = !self.work.ended.is_empty();
        while !self.work.ended.is_empty() {
            for peer in mem::take(&mut self.work.ended) {
                self.close(peer);
            }
            self.flush();
        }
        is_needed
    }

    fn close(&mut self, peer: PeerId) {
        let Some(connection) = self.state.table.get(peer) else { return };
        let end = connection.end.unwrap_or(End::Closed);
        self.state.log_end(peer, &end);
        if self.desk.traces.is_on() {
            self.desk.trace_left(&mut self.state, peer, &end);
        }
        let user = kernel_user(&self.state.bus, peer);
        let Some(mut connection) = self.state.table.remove(peer) else { return };
        let released = &mut self.buffers.released;
        connection.queue.set_charges(Charge::Free, |from, load| released.add(from, load));
        connection.queue.discard(&mut self.buffers.queues);
        self.close_socket(*connection, user);
        self.note_freed();
        self.release_senders();
        if let Some(traffic) = self.lanes.traffic_of(peer) {
            self.handle(Input::LaneTraffic { peer, traffic });
        }
        self.handle(Input::Disconnected { peer, end });
        self.lanes.forget(peer);
    }
}

/// Reads the kernel's facts about the process behind a connection, and its pidfd.
fn details_of(connection: &Connection) -> (Details, Option<SharedFds>) {
    let mut details = Details::default();
    let mut fds = None;
    // The kernel has no facts about a peer on a network.
    if let Ok(known) = sys::credentials::peer_credentials(&connection.socket) {
        details.groups = known.groups.map(Into::into);
        details.security_label = known.security_label.map(Into::into);
        fds = known.pidfd.map(|pidfd| Rc::from([pidfd.into()]));
        if fds.is_some() {
            details.pidfd = PidFd::Held;
        }
    }
    (details, fds)
}

/// The sender of a message, and its body.
fn body_of<'m>(
    delivery: &Delivery,
    origin: &EffectOrigin<'m>,
    writing: Writing,
) -> (Option<PeerId>, OutgoingBody<'m>) {
    match (delivery.body, origin) {
        (Body::OfInput, EffectOrigin::Peer { from, message, slice, .. }) => {
            let is_shared = match slice.backing {
                Backing::Owned => true,
                // A body that has to wait cannot be lent.
                Backing::Scratch => writing.is_flowing() && message.body().len() >= LENT_BODY_MIN,
            };
            let body = if is_shared {
                let start = slice.range.start + message.header_bytes().len();
                let range = start..slice.range.end;
                let memory = Rc::clone(&slice.memory);
                OutgoingBody::Shared(SharedSlice { memory, range, backing: slice.backing })
            } else {
                OutgoingBody::Bytes(message.body())
            };
            (Some(*from), body)
        }
        _ => (None, OutgoingBody::Bytes(&[])),
    }
}

/// The minimum size in bytes of a body that is written from its read buffer, instead of copied to
/// each recipient's queue. A second slice costs a write as much as copying some hundred bytes, and
/// few large writes cause the fewest wake-ups while messages are small.
const LENT_BODY_MIN: usize = 4096;

/// How long the statistics of traffic on lanes may be out of date.
const TRAFFIC_AGE_MAX: Duration = Duration::from_millis(100);
