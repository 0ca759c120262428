//! Records messages and events for active traces.
//!
//! Nothing here runs while no trace is active.

use std::io;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use bus::{Delivery, Effect, Effects, LogEvent, PeerId, Replacement, Traced};
use bus::{RingContents, RingFacts, TraceRequest, TracedMessage, TracedOwner};
use trace::layout::VERSION;
use trace::record::{FirstRecipient, MessageRecord, Parts, Party, Recipients};
use trace::{Delivered, Entry};

use super::loop_state::LoopState;
use super::origin::EffectOrigin;
use crate::busconfig::OwnSettings;
use crate::connection::End;
use crate::fault::Fault;
use crate::log::Severity;
use crate::outgoing::SharedFds;
use crate::table::ConnectionTable;
use crate::trace::{
    Active, Changed, Dump, Dumped, ProcessArrival, ProcessOwner, RecorderRing, RestoredRings, Ring,
    RingError, Traces, for_reader,
};

/// The active traces, and a flight recorder file that is being written.
#[derive(Debug, Default)]
pub(super) struct TraceControl {
    pub(super) traces: Traces,
    /// The flight recorder file that a thread is writing, if there is one.
    dump: Option<Dump>,
    /// The directory of flight recorder files.
    folder: PathBuf,
}

impl TraceControl {
    /// Continues the traces of a restored state.
    pub(super) fn adopt(&mut self, state: &mut LoopState, own: &OwnSettings, rings: RestoredRings) {
        self.folder = own.flight_folder();
        let (traces, error) = Traces::adopt(rings);
        self.traces = traces;
        if let Some(error) = error {
            state.fault(Fault::Traces(error));
        }
        self.save_at_crash(state);
    }

    /// Records the effects of an input, before they are applied.
    #[inline(never)]
    pub(super) fn trace(
        &mut self,
        state: &mut LoopState,
        effects: &Effects,
        origin: &EffectOrigin<'_>,
    ) {
        let Some(active) = self.traces.active() else { return };
        let now = active.clock.routed();
        self.collect_copies(state, effects, origin);
        for traced in effects.traced() {
            match traced {
                Traced::Joined(peer) => self.trace_joined(state, now, *peer),
                Traced::Owner(owner) => self.trace_owner(state, Duration::from_nanos(now), owner),
                Traced::Message(message) => {
                    self.trace_message(state, now, message, effects, origin)
                }
            }
        }
    }

    /// Computes where in the streams of their recipients the messages will end.
    fn collect_copies(
        &mut self,
        state: &mut LoopState,
        effects: &Effects,
        origin: &EffectOrigin<'_>,
    ) {
        let Some(active) = self.traces.active() else { return };
        active.copies.clear();
        for effect in effects.list() {
            let Effect::Send(Delivery { to, head, body, .. }) = *effect else { continue };
            let Some(number) = state.bus.recipient_number(to) else { continue };
            let Some(connection) = state.table.get_mut(to) else { continue };
            let len = head.len() + origin.body(body).len();
            connection.traced_end = connection.traced_end.max(connection.queue.end()) + len as u64;
            let delivered = Delivered { to: number, end: connection.traced_end };
            active.copies.add(effects.unlabeled(head), to, delivered);
        }
        active.copies.finish();
    }

    fn trace_message(
        &mut self,
        state: &mut LoopState,
        now: u64,
        traced: &TracedMessage,
        effects: &Effects,
        origin: &EffectOrigin<'_>,
    ) {
        let from = match traced.from {
            None => Party::Bus,
            Some(peer) => state.bus.unique_number(peer).map_or(Party::Nameless, Party::Peer),
        };
        let Some(active) = self.traces.active() else { return };
        let (received, stages) = match (traced.since, traced.from) {
            // The message was held for a service.
            (Some(since), _) => (since.as_nanos(), None),
            (None, None) => (now, None),
            (None, Some(_)) => match active.received() {
                Some(received) => (received, active.stages(traced.matching)),
                None => (now, None),
            },
        };
        let Active { rings, copies, .. } = active;
        let (first, recipients) = copies.of(traced.head);
        let is_addressed = first.is_some() && first == traced.addressee;
        let bytes = Parts(effects.bytes(traced.head), origin.body(traced.body));
        let message = MessageRecord {
            routed_after: Duration::from_nanos(now.saturating_sub(received)),
            stages,
            from,
            len: bytes.len() as u32,
            bytes,
            recipients: Recipients::List(recipients),
            first: if is_addressed { FirstRecipient::Addressee } else { FirstRecipient::Listener },
        };
        let received = Duration::from_nanos(received);
        rings.write_message(received, &message, traced.audience);
    }

    fn trace_joined(&mut self, state: &mut LoopState, now: u64, peer: PeerId) {
        let Some(number) = state.bus.unique_number(peer) else { return };
        let entry = joined(&state.bus, peer, number);
        let Some(active) = self.traces.active() else { return };
        active.rings.write(now, entry);
        if let Some(arrival) = arrival(&state.bus, &state.table, peer) {
            active.joined(Duration::from_nanos(now), arrival);
            self.list_participants(state);
            self.expect_late_programs(state);
        }
    }

    /// Writes the programs that took longer to look up than the bus waits.
    pub(super) fn write_late_programs(&mut self, state: &mut LoopState) {
        if let Some(active) = self.traces.active() {
            active.write_late(sys::clock::monotonic());
            self.expect_late_programs(state);
        }
    }

    fn expect_late_programs(&mut self, state: &mut LoopState) {
        if self.traces.active().is_some_and(|active| active.expects_late()) {
            state.alarm.no_later_than(state.now + LOOKUP_LOOK);
        }
    }

    fn trace_owner(&mut self, state: &mut LoopState, now: Duration, owner: &TracedOwner) {
        let Some(recorder) = self.traces.recorder() else { return };
        recorder.participants.owner_changed(now, owner);
        self.list_participants(state);
    }

    /// Writes all participants again, if that is due.
    fn list_participants(&mut self, state: &mut LoopState) {
        let Some(recorder) = self.traces.recorder() else { return };
        if !recorder.participants.is_due() {
            return;
        }
        match recorder.participants.list(&state.bus) {
            Ok(Changed::Nothing) => {}
            Ok(Changed::Memory) => self.save_at_crash(state),
            Err(error) => self.dump_failed(state, "memory".to_owned(), error),
        }
    }

    /// Records that a connection ends. The bus must still know it.
    #[cold]
    pub(super) fn trace_left(&mut self, state: &mut LoopState, peer: PeerId, end: &End) {
        self.traces.end(peer);
        let Some(number) = state.bus.unique_number(peer) else { return };
        // The first of each was recorded when it happened.
        let losses = [(state.bus.losing(peer), NOT_READ), (state.bus.withheld(peer), WITHHELD)];
        let Some(active) = self.traces.active() else { return };
        let now = active.clock.now();
        for (lost, why) in losses {
            let count = lost.unwrap_or_default().saturating_sub(1);
            if count > 0 {
                active.rings.write(now, Entry::Dropped { to: number, count, why });
            }
        }
        let why = if *end == End::Closed { String::new() } else { end.to_string() };
        let why = why.as_str();
        active.rings.write(now, Entry::Left { peer: number, why });
        active.left(Duration::from_nanos(now), number, why);
        self.list_participants(state);
    }

    /// Records that this program has continued the bus.
    pub(super) fn trace_replaced(&mut self, replacement: &Replacement) {
        let Replacement { old_version: old, new_version: new, paused } = replacement;
        if let Some(active) = self.traces.active() {
            let entry = Entry::Replaced { old, new, paused: *paused };
            active.rings.write(active.clock.now(), entry);
        }
    }

    /// Records log events that concern messages.
    #[cold]
    pub(super) fn trace_event(&mut self, state: &LoopState, event: &LogEvent) {
        let number = |peer: &PeerId| state.bus.unique_number(*peer);
        let why: String;
        let entry = match event {
            LogEvent::LosingSignals { peer, .. } => {
                number(peer).map(|to| Entry::Dropped { to, count: 1, why: NOT_READ })
            }
            LogEvent::CaughtUp { peer, lost } if *lost > 1 => {
                number(peer).map(|to| Entry::Dropped { to, count: lost - 1, why: NOT_READ })
            }
            LogEvent::Withheld { peer, reason, .. } => {
                why = reason.to_string();
                number(peer).map(|to| Entry::Dropped { to, count: 1, why: &why })
            }
            LogEvent::Starting { name, requester, .. } => {
                let by = number(requester).map_or(Party::Nameless, Party::Peer);
                Some(Entry::Starting { name, by })
            }
            LogEvent::Started { name } => Some(Entry::Started { name, failure: "" }),
            LogEvent::StartFailed { name, problem, .. } => {
                why = problem.describe(name).to_string();
                Some(Entry::Started { name, failure: &why })
            }
            _ => None,
        };
        if let (Some(entry), Some(active)) = (entry, self.traces.active()) {
            active.rings.write(active.clock.now(), entry);
        }
    }

    /// Creates or returns the ring that a call asks for, with its descriptors.
    pub(super) fn open_ring(
        &mut self,
        state: &LoopState,
        peer: PeerId,
        request: TraceRequest,
    ) -> Result<(RingFacts, SharedFds), RingError> {
        match request {
            TraceRequest::New { bytes, kept, contents } => {
                self.begin_trace(state, peer, bytes, kept, contents)
            }
            TraceRequest::FlightRecorder => self.lend_recorder(),
        }
    }

    fn begin_trace(
        &mut self,
        state: &LoopState,
        peer: PeerId,
        bytes: u64,
        kept: u32,
        contents: RingContents,
    ) -> Result<(RingFacts, SharedFds), RingError> {
        let (mut ring, descriptor) = Ring::new(bytes, kept, contents)?;
        write_participants(&state.bus, &mut ring);
        let facts = RingFacts { version: VERSION, bytes: ring.len(), kept };
        self.traces.begin(peer, ring);
        Ok((facts, Rc::from([descriptor.into()])))
    }

    fn lend_recorder(&mut self) -> Result<(RingFacts, SharedFds), RingError> {
        let recorder = self.traces.recorder().ok_or(RingError::NoFlightRecorder)?;
        let facts = RingFacts { version: VERSION, bytes: recorder.ring().len(), kept: u32::MAX };
        let messages = for_reader(recorder.descriptor())?;
        let participants = for_reader(recorder.participants.descriptor())?;
        Ok((facts, Rc::from([messages.into(), participants.into()])))
    }

    /// Creates, resizes or removes the flight recorder according to the configuration.
    pub(super) fn set_recorder(&mut self, state: &mut LoopState, own: &OwnSettings) {
        self.folder = own.flight_folder();
        let wanted = own.flight_recorder.filter(|&len| len > 0);
        let has = self.traces.recorder().map(|recorder| recorder.wanted_len());
        if wanted == has {
            return;
        }
        match wanted.map(RecorderRing::new).transpose() {
            Ok(recorder) => {
                sys::crash::forget();
                self.traces.set_recorder(recorder);
                self.find_participants(state);
                self.save_at_crash(state);
                self.warn_if_small(state);
            }
            Err(error) => {
                state.fault(Fault::NoFlightRecorder(error));
            }
        }
    }

    /// Records the connections that already exist.
    fn find_participants(&mut self, state: &mut LoopState) {
        let deadline = sys::clock::monotonic() + PRESENT_MAX;
        let Some(active) = self.traces.active() else { return };
        for (peer, _) in state.bus.participants() {
            let Some(arrival) = arrival(&state.bus, &state.table, peer) else { continue };
            let now = sys::clock::monotonic();
            match now < deadline {
                true => active.joined(now, arrival),
                false => active.found(now, arrival.owner),
            }
        }
        let Some(recorder) = active.rings.recorder() else { return };
        if let Err(error) = recorder.participants.list(&state.bus) {
            self.dump_failed(state, "memory".to_owned(), error);
        }
    }

    /// Prepares the flight recorder to be written to a file if the bus crashes.
    fn save_at_crash(&mut self, state: &mut LoopState) {
        let folder = self.folder.clone();
        let Some(recorder) = self.traces.recorder() else { return };
        if let Err(error) = recorder.save_at_crash(&folder) {
            self.dump_failed(state, folder.display().to_string(), error);
        }
    }

    /// Logs the size of the flight recorder if it is smaller than configured.
    fn warn_if_small(&mut self, state: &mut LoopState) {
        let Some(recorder) = self.traces.recorder() else { return };
        let (wanted, len) = (recorder.wanted_len(), recorder.ring().len());
        if len < wanted {
            let line =
                format!("The flight recorder has {len} bytes, the maximum, instead of {wanted}");
            state.log.write(Severity::Warning, line);
        }
    }

    /// Starts to write the flight recorder to a file.
    pub(super) fn dump_recorder(&mut self, state: &mut LoopState) {
        if self.dump.is_some() {
            return state.log.write(Severity::Info, "The flight recorder is already being written");
        }
        let folder = self.folder.clone();
        self.write_late_programs(state);
        let Some(recorder) = self.traces.recorder() else {
            let line = "There is no flight recorder to write; enable it with --flight-recorder";
            return state.log.write(Severity::Notice, line);
        };
        sys::crash::forget();
        let dumped = recorder.dump(&folder);
        self.save_at_crash(state);
        match dumped {
            Ok(dump) => {
                self.dump = Some(dump);
                state.alarm.no_later_than(state.now + DUMP_LOOK);
            }
            Err(error) => self.dump_failed(state, folder.display().to_string(), error),
        }
    }

    /// Whether a thread is writing a flight recorder file.
    pub(super) const fn is_dumping(&self) -> bool {
        self.dump.is_some()
    }

    /// If the file is complete, logs its path and size; otherwise sets the alarm for the next look.
    pub(super) fn check_dump(&mut self, state: &mut LoopState) {
        match self.dump.take_if(|dump| dump.is_finished()) {
            Some(dump) => self.log_dumped(state, dump.finish()),
            None if self.dump.is_some() => state.alarm.no_later_than(state.now + DUMP_LOOK),
            None => {}
        }
    }

    /// Writes the flight recorder to a file, if there is one, and waits until it is written.
    pub(super) fn dump_at_exit(&mut self, state: &mut LoopState) {
        self.finish_dump(state);
        if self.traces.recorder().is_some() {
            self.dump_recorder(state);
            self.finish_dump(state);
        }
        sys::crash::forget();
    }

    /// Waits until the file is written, if one is being written.
    fn finish_dump(&mut self, state: &mut LoopState) {
        if let Some(dump) = self.dump.take() {
            self.log_dumped(state, dump.finish());
        }
    }

    fn log_dumped(&mut self, state: &mut LoopState, Dumped { path, outcome }: Dumped) {
        let path = path.display().to_string();
        match outcome {
            Ok(len) => {
                let line = format!("Wrote the flight recorder to {path} ({len} bytes)");
                state.log.write(Severity::Notice, line);
            }
            Err(error) => self.dump_failed(state, path, error),
        }
    }

    fn dump_failed(&mut self, state: &mut LoopState, place: String, error: io::Error) {
        state.fault(Fault::FlightRecorderDump { place, error });
    }
}

/// Records existing connections and owners in a new ring.
fn write_participants(bus: &bus::Bus, ring: &mut Ring) {
    let now = sys::clock::monotonic();
    for (peer, number) in bus.participants() {
        ring.write(now, joined(bus, peer, number));
        for name in bus.owned_names(peer) {
            ring.write(now, Entry::Owned { name, peer: number });
        }
    }
}

fn joined(bus: &bus::Bus, peer: PeerId, number: u64) -> Entry<'static> {
    let (pid, uid) = process(bus, peer);
    Entry::Joined { peer: number, pid, uid }
}

fn process(bus: &bus::Bus, peer: PeerId) -> (u32, u32) {
    let pid = bus.credentials(peer).and_then(|known| known.pid).unwrap_or(0);
    (pid, bus.user(peer).unwrap_or(u32::MAX))
}

fn arrival<'t>(
    bus: &bus::Bus,
    table: &'t ConnectionTable,
    peer: PeerId,
) -> Option<ProcessArrival<'t>> {
    let (pid, uid) = process(bus, peer);
    let socket = &table.get(peer)?.socket;
    Some(ProcessArrival {
        owner: ProcessOwner { peer: bus.unique_number(peer)?, pid, uid },
        socket,
    })
}

/// The reason for lost messages in trace entries.
const NOT_READ: &str = "it does not read";

/// The reason for withheld messages; the record of the first one contains the rule.
const WITHHELD: &str = "the policy withholds them";

/// How long the bus looks up the programs of existing connections when the flight recorder starts.
const PRESENT_MAX: Duration = Duration::from_millis(50);

/// The interval of checks for late programs.
const LOOKUP_LOOK: Duration = Duration::from_millis(100);

/// The interval of checks whether a file is written.
const DUMP_LOOK: Duration = Duration::from_millis(20);
