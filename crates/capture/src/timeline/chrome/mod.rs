//! Traces for ui.perfetto.dev, chrome://tracing and speedscope, in the "trace event format" as
//! JSON.

mod event;
mod spans;
mod tracks;

use std::io::{self, Write};

use wire::message::MessageType;

use super::{ProcessorRecord, start_ups};
use crate::model::{Capture, CapturedMessage};
use crate::record::{BusId, RecordedTime};
use event::{Micros, TraceEvent, TraceEventArguments, TraceEventPhase};
use spans::{ConnectionSpan, Spans, TraceSpanRole};
use tracks::{Track, Tracks};

/// Writes the selected messages as a trace.
///
/// Each process has a track with its calls, the calls that it serves, and its number of pending
/// calls. An arrow leads from each call to its service. Signals and calls without a reply are
/// points. If the bus recorded itself, its handling of each message is on its own track, with the
/// search of match rules inside of the dispatch, and a point for each of several copies where it
/// was written; services then have calls from the time when they received them. If processor times
/// are known, each process has a lane with them. Times are microseconds since the earliest event.
///
/// # Errors
///
/// If writing to `out` fails.
pub fn chrome_trace<'c>(
    capture: &'c Capture,
    mut selects: impl FnMut(&CapturedMessage<'c>) -> bool,
    out: impl Write,
) -> io::Result<()> {
    let processors = ProcessorRecord::of(capture);
    let mut spans = Spans::default();
    for message in capture.messages().filter(|message| selects(message)) {
        spans.add(&message, &processors);
    }
    spans.add_processors(capture, &processors);
    for start_up in start_ups(capture) {
        spans.add_start_up(&start_up);
    }
    let spans = spans.sorted();
    let start = spans.first().map_or(RecordedTime(0), |span| span.from);
    let mut writer =
        ChromeTraceWriter { capture, tracks: Tracks::new(capture), start, out, is_first: true };
    writer.begin()?;
    for span in &spans {
        writer.span(span)?;
    }
    writer.counters(&spans)?;
    writer.end()
}

struct ChromeTraceWriter<'c, W> {
    capture: &'c Capture,
    tracks: Tracks<'c>,
    /// The time that is written as 0.
    start: RecordedTime,
    out: W,
    is_first: bool,
}

impl<W: Write> ChromeTraceWriter<'_, W> {
    fn begin(&mut self) -> io::Result<()> {
        let start = self.start;
        write!(self.out, r#"{{"displayTimeUnit":"ms","otherData":{{"start_ns":{}}},"#, start.0)?;
        write!(self.out, r#""traceEvents":["#)
    }

    fn end(mut self) -> io::Result<()> {
        writeln!(self.out, "\n]}}")?;
        self.out.flush()
    }

    fn event(&mut self, event: &TraceEvent<'_>) -> io::Result<()> {
        let comma = if self.is_first { "\n" } else { ",\n" };
        self.is_first = false;
        self.out.write_all(comma.as_bytes())?;
        serde_json::to_writer(&mut self.out, event).map_err(io::Error::from)
    }

    fn span(&mut self, span: &ConnectionSpan) -> io::Result<()> {
        let (track, is_new) = self.tracks.place(span);
        if is_new {
            self.announce(track, span)?;
        }
        let name = self.name_of(span);
        let message = span.message.map(|id| self.capture.message(id));
        let phase = if span.is_point() { TraceEventPhase::Instant } else { TraceEventPhase::Begin };
        let mut event = TraceEvent::new(phase, &name, track);
        event.ts = Some(self.micros(span.from));
        event.s = (phase == TraceEventPhase::Instant).then_some("t");
        event.args = message.as_ref().map(TraceEventArguments::of);
        self.event(&event)?;
        match span.role {
            TraceSpanRole::Calls => self.arrow(TraceEventPhase::FlowStart, span, track)?,
            TraceSpanRole::Serves => self.arrow(TraceEventPhase::FlowEnd, span, track)?,
            _ => {}
        }
        if let Some(inside) = span.inside.filter(|_| phase == TraceEventPhase::Begin) {
            self.matching(inside, span, track)?;
        }
        if phase == TraceEventPhase::Begin {
            // Viewers match the end by name and arguments. A start with a duration would be
            // shorter, but viewers add the two as floating-point numbers, and then spans overlap.
            event.ph = TraceEventPhase::End;
            event.ts = Some(self.micros(span.to));
            self.event(&event)?;
        }
        Ok(())
    }

    /// Writes the search of match rules inside of the open span.
    fn matching(
        &mut self,
        (from, to): (RecordedTime, RecordedTime),
        span: &ConnectionSpan,
        track: Track,
    ) -> io::Result<()> {
        let name = format!("match {}", self.member_of(span));
        for (phase, at) in [(TraceEventPhase::Begin, from), (TraceEventPhase::End, to)] {
            let mut event = TraceEvent::new(phase, &name, track);
            event.ts = Some(self.micros(at));
            self.event(&event)?;
        }
        Ok(())
    }

    fn arrow(
        &mut self,
        phase: TraceEventPhase,
        span: &ConnectionSpan,
        track: Track,
    ) -> io::Result<()> {
        let mut event = TraceEvent::new(phase, "call", track);
        event.ts = Some(self.micros(span.from));
        event.id = span.message.map(|id| id.number());
        // The arrow ends in the span that begins there, not in the next one.
        event.bp = (phase == TraceEventPhase::FlowEnd).then_some("e");
        self.event(&event)
    }

    /// Writes the names of the process and the lane of a track.
    fn announce(&mut self, track: Track, span: &ConnectionSpan) -> io::Result<()> {
        let process = self.tracks.process_label(span.peer);
        let mut event = TraceEvent::new(TraceEventPhase::Metadata, "process_name", track);
        event.args = Some(TraceEventArguments::Name { name: &process });
        self.event(&event)?;
        let lane = self.tracks.lane_label(span);
        let mut event = TraceEvent::new(TraceEventPhase::Metadata, "thread_name", track);
        event.args = Some(TraceEventArguments::Name { name: &lane });
        self.event(&event)
    }

    fn name_of(&self, span: &ConnectionSpan) -> String {
        let member = self.member_of(span);
        match span.role {
            TraceSpanRole::Routes => format!("route {member}"),
            TraceSpanRole::Receives => format!("receive {member}"),
            TraceSpanRole::Dispatches => format!("dispatch {member}"),
            TraceSpanRole::Sends => format!("send {member}"),
            TraceSpanRole::Writes => {
                format!("write {member} to :1.{}", span.recipient.unwrap_or_default())
            }
            TraceSpanRole::Starts => format!("{} starts", self.capture.program_label(span.peer)),
            TraceSpanRole::Runs => "runs".to_owned(),
            TraceSpanRole::Calls
            | TraceSpanRole::Serves
            | TraceSpanRole::Emits
            | TraceSpanRole::NeverAnswered => member,
        }
    }

    /// The method or signal of a span; for a reply, the method of its call.
    fn member_of(&self, span: &ConnectionSpan) -> String {
        let message = span.message.map(|id| self.capture.message(id));
        let asked = message.map(|message| message.call().unwrap_or(message));
        asked.map(|asked| asked.full_member()).unwrap_or_default()
    }

    /// Writes the number of pending calls of each process whenever it changes.
    fn counters(&mut self, spans: &[ConnectionSpan]) -> io::Result<()> {
        let calls = spans.iter().filter(|span| span.role == TraceSpanRole::Calls);
        let mut changes: Vec<_> = calls
            .flat_map(|span| {
                let process = self.tracks.process(span.peer);
                [(span.from, process, 1_i64), (span.to, process, -1)]
            })
            .collect();
        // At the same time, calls end before others begin.
        changes.sort_unstable_by_key(|&(at, process, change)| (at, change, process));
        let mut pending = std::collections::HashMap::new();
        for (at, process, change) in changes {
            let count = pending.entry(process).or_insert(0_i64);
            *count += change;
            let track = Track { process, thread: 0 };
            let mut event = TraceEvent::new(TraceEventPhase::Counter, "pending calls", track);
            event.ts = Some(self.micros(at));
            event.args = Some(TraceEventArguments::Pending { pending: (*count).max(0) });
            self.event(&event)?;
        }
        Ok(())
    }

    const fn micros(&self, at: RecordedTime) -> Micros {
        Micros::between(self.start, at)
    }
}

/// The connection of the bus, if it sent a message.
fn driver(capture: &Capture, bus: BusId) -> Option<crate::model::RecordedPeerId> {
    capture.directory().by_unique(bus, capture.driver())
}

impl<'c> TraceEventArguments<'c> {
    fn of(message: &CapturedMessage<'c>) -> Self {
        let reply = message.partner().filter(|_| message.kind() == MessageType::MethodCall);
        let error = reply.filter(|reply| reply.kind() == MessageType::Error);
        TraceEventArguments::Message {
            number: message.id().number(),
            reply: reply.map(|reply| reply.id().number()),
            from: message.sender(),
            to: message.destination(),
            path: message.path(),
            bytes: message.len(),
            reply_bytes: reply.map(|reply| reply.len()),
            error: error.map(|error| error.member()),
        }
    }
}
