//! The spans of messages and starts of services in a trace.

use std::ops::Range;
use std::time::Duration;

use wire::message::MessageType;

use super::driver;
use crate::model::{Capture, CapturedMessage, CapturedMessageId, RecordedPeerId};
use crate::record::RecordedTime;
use crate::timeline::{
    BusPhase, BusTime, CallPhase, CallTimes, ProcessorRecord, StartUp, processes,
};

/// An activity of one connection over a time span.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ConnectionSpan {
    pub(super) from: RecordedTime,
    pub(super) to: RecordedTime,
    pub(super) peer: RecordedPeerId,
    pub(super) role: TraceSpanRole,
    pub(super) message: Option<CapturedMessageId>,
    /// A part of the span with its own name: for [`TraceSpanRole::Dispatches`], the search of match
    /// rules.
    pub(super) inside: Option<(RecordedTime, RecordedTime)>,
    /// For [`TraceSpanRole::Writes`], the number in the recipient's unique name.
    pub(super) recipient: Option<u64>,
}

impl ConnectionSpan {
    const fn new(
        peer: RecordedPeerId,
        role: TraceSpanRole,
        (from, to): (RecordedTime, RecordedTime),
        message: Option<CapturedMessageId>,
    ) -> Self {
        Self { from, to, peer, role, message, inside: None, recipient: None }
    }

    /// Returns true if the span has no duration, so that it can share a track with spans.
    pub(super) fn is_point(&self) -> bool {
        self.from >= self.to
    }
}

/// The activity of a connection in a span.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum TraceSpanRole {
    /// The service is starting.
    Starts,
    /// The process has a processor.
    Runs,
    /// The connection waits for the reply to its call.
    Calls,
    /// The connection serves a call until it replies.
    Serves,
    /// The bus receives a message and finds its recipients.
    Routes,
    /// The bus reads messages from a socket.
    Receives,
    /// The bus finds the recipients of a message.
    Dispatches,
    /// The bus sends the copies of a message.
    Sends,
    /// The bus writes one of several copies, from the first bytes to the last.
    Writes,
    /// The connection emits a signal, shown as a point.
    Emits,
    /// The connection waits for a reply that is not in the recording.
    NeverAnswered,
}

#[derive(Debug, Default)]
pub(super) struct Spans {
    all: Vec<ConnectionSpan>,
}

impl Spans {
    pub(super) fn add(&mut self, message: &CapturedMessage<'_>, processors: &ProcessorRecord) {
        self.add_bus(message);
        match (message.kind(), message.partner()) {
            (MessageType::MethodCall, Some(reply)) => self.add_call(message, &reply, processors),
            (MessageType::MethodCall, None) if message.expects_reply() => {
                self.add_unanswered(message);
            }
            (MessageType::Signal | MessageType::MethodCall, _) => {
                self.add_point(message, TraceSpanRole::Emits);
            }
            _ => {}
        }
    }

    pub(super) fn add_start_up(&mut self, start_up: &StartUp) {
        let ends = start_up.milestones.first().zip(start_up.milestones.last());
        if let Some((first, last)) = ends {
            self.all.push(ConnectionSpan::new(
                start_up.peer,
                TraceSpanRole::Starts,
                (first.at, last.at),
                None,
            ));
        }
    }

    /// Adds the times when processes had a processor, on the track of the first connection of each
    /// process.
    pub(super) fn add_processors(&mut self, capture: &Capture, processors: &ProcessorRecord) {
        let peers = processes(capture);
        for (pid, from, to) in processors.spans() {
            if let Some(&peer) = peers.get(&pid) {
                self.all.push(ConnectionSpan::new(peer, TraceSpanRole::Runs, (from, to), None));
            }
        }
    }

    /// Returns the spans in chronological order; of spans that begin together, the longer first.
    /// Messages that the bus read together share one span for reading.
    pub(super) fn sorted(mut self) -> Vec<ConnectionSpan> {
        self.all.sort_by_key(|span| (span.from, std::cmp::Reverse(span.to), span.role));
        self.all.dedup_by(|next, span| {
            let place = |span: &ConnectionSpan| (span.role, span.peer, span.from, span.to);
            span.role == TraceSpanRole::Receives && place(span) == place(next)
        });
        self.all
    }

    fn add_call(
        &mut self,
        call: &CapturedMessage<'_>,
        reply: &CapturedMessage<'_>,
        processors: &ProcessorRecord,
    ) {
        let Some(duration) = call.duration() else { return self.add_unanswered(call) };
        let times = CallTimes::of(call, processors);
        let message = Some(call.id());
        let delivered = times.map_or(call.at(), |times| call.at().after(times.delivered()));
        let returned = call.at().after(duration);
        if let Some(peer) = call.from() {
            self.all.push(ConnectionSpan::new(
                peer,
                TraceSpanRole::Calls,
                (call.at(), returned),
                message,
            ));
        }
        if let Some(peer) = reply.from() {
            let to =
                times.map_or(reply.at(), |times| delivered.after(times.time(CallPhase::Service)));
            self.all.push(ConnectionSpan::new(
                peer,
                TraceSpanRole::Serves,
                (delivered.min(to), to),
                message,
            ));
        }
    }

    /// Adds a call without a reply, which lasts until the caller disconnected or the recording
    /// ended.
    fn add_unanswered(&mut self, call: &CapturedMessage<'_>) {
        let Some(peer) = call.from() else { return };
        let to = call.at().after(call.waited().unwrap_or_default());
        let (role, message) = (TraceSpanRole::NeverAnswered, Some(call.id()));
        self.all.push(ConnectionSpan::new(peer, role, (call.at(), to), message));
    }

    fn add_point(&mut self, message: &CapturedMessage<'_>, role: TraceSpanRole) {
        if let Some(peer) = message.from() {
            let at = message.at();
            self.all.push(ConnectionSpan::new(peer, role, (at, at), Some(message.id())));
        }
    }

    /// Adds the phases of a message that the bus measured.
    fn add_bus(&mut self, message: &CapturedMessage<'_>) {
        let Some((time, copies)) = BusTime::of(message).zip(message.deliveries()) else { return };
        let Some(peer) = driver(message.capture(), message.bus()) else { return };
        let received = message.at();
        let place = |span: Range<Duration>| (received.after(span.start), received.after(span.end));
        let span = |role, range| ConnectionSpan::new(peer, role, place(range), Some(message.id()));
        if let Some((read, dispatched)) =
            time.span(BusPhase::Receive).zip(time.span(BusPhase::Dispatch))
        {
            self.all.push(span(TraceSpanRole::Receives, read));
            let matching = time.span(BusPhase::Match).filter(|matching| !matching.is_empty());
            let inside = matching.map(place);
            self.all.push(ConnectionSpan { inside, ..span(TraceSpanRole::Dispatches, dispatched) });
        } else {
            self.all.push(span(TraceSpanRole::Routes, Duration::ZERO..time.routed()));
        }
        let sent = copies.iter().filter_map(|copy| copy.written_after).max();
        if let Some(sent) = sent.filter(|sent| *sent > time.routed()) {
            self.all.push(span(TraceSpanRole::Sends, time.routed()..sent));
        }
        for copy in copies {
            let Some((begun, written)) = copy.begun_after.zip(copy.written_after) else { continue };
            // A single copy is written when its message is sent.
            if copies.len() > 1 || begun < written {
                let recipient = Some(copy.recipient);
                self.all.push(ConnectionSpan {
                    recipient,
                    ..span(TraceSpanRole::Writes, begun..written)
                });
            }
        }
    }
}
