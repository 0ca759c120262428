//! Traces that ui.perfetto.dev, chrome://tracing and speedscope open: the "trace event format", as
//! JSON.

mod event;
mod spans;
mod tracks;

use std::io::{self, Write};

use wire::message::MessageType;

use super::{Processors, start_ups};
use crate::model::{Capture, Message};
use crate::record::{BusId, Time};
use event::{Args, Event, Micros, Phase};
use spans::{Role, Span, Spans};
use tracks::{Track, Tracks};

/// Writes the messages that are selected as a trace.
///
/// Each process has a track: what it calls, what it serves, and how many of its calls are pending;
/// an arrow leads from each call to who serves it. Signals and calls without an answer are points.
/// If the bus has recorded, what it did with each message is on its own track, with the search of match
/// rules inside of the dispatch, a point for each of several copies where it was written, and services
/// have calls from when they had them. If it is known when processes had a processor, a lane of each shows
/// that. Times are microseconds since the first of it.
pub fn chrome_trace<'c>(
    capture: &'c Capture,
    mut selects: impl FnMut(&Message<'c>) -> bool,
    out: impl Write,
) -> io::Result<()> {
    let processors = Processors::of(capture);
    let mut spans = Spans::default();
    for message in capture.messages().filter(|message| selects(message)) {
        spans.add(&message, &processors);
    }
    spans.add_processors(capture, &processors);
    for start_up in start_ups(capture) {
        spans.add_start_up(&start_up);
    }
    let spans = spans.sorted();
    let start = spans.first().map_or(Time(0), |span| span.from);
    let mut writer = Writer { capture, tracks: Tracks::new(capture), start, out, is_first: true };
    writer.begin()?;
    for span in &spans {
        writer.span(span)?;
    }
    writer.counters(&spans)?;
    writer.end()
}

struct Writer<'c, W> {
    capture: &'c Capture,
    tracks: Tracks<'c>,
    /// The time that is 0.
    start: Time,
    out: W,
    is_first: bool,
}

impl<W: Write> Writer<'_, W> {
    fn begin(&mut self) -> io::Result<()> {
        let start = self.start;
        write!(self.out, r#"{{"displayTimeUnit":"ms","otherData":{{"start_ns":{}}},"#, start.0)?;
        write!(self.out, r#""traceEvents":["#)
    }

    fn end(mut self) -> io::Result<()> {
        writeln!(self.out, "\n]}}")?;
        self.out.flush()
    }

    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        let comma = if self.is_first { "\n" } else { ",\n" };
        self.is_first = false;
        self.out.write_all(comma.as_bytes())?;
        serde_json::to_writer(&mut self.out, event).map_err(io::Error::from)
    }

    fn span(&mut self, span: &Span) -> io::Result<()> {
        let (track, is_new) = self.tracks.place(span);
        if is_new {
            self.announce(track, span)?;
        }
        let name = self.name_of(span);
        let message = span.message.map(|id| self.capture.message(id));
        let phase = if span.is_point() { Phase::Instant } else { Phase::Begin };
        let mut event = Event::new(phase, &name, track);
        event.ts = Some(self.micros(span.from));
        event.s = (phase == Phase::Instant).then_some("t");
        event.args = message.as_ref().map(Args::of);
        self.event(&event)?;
        match span.role {
            Role::Calls => self.arrow(Phase::FlowStart, span, track)?,
            Role::Serves => self.arrow(Phase::FlowEnd, span, track)?,
            _ => {}
        }
        if let Some(inside) = span.inside.filter(|_| phase == Phase::Begin) {
            self.matching(inside, span, track)?;
        }
        if phase == Phase::Begin {
            // Viewers match the end by name and arguments. A start with a length would be shorter to
            // write, but viewers add the two as floating-point numbers, and then spans overlap.
            event.ph = Phase::End;
            event.ts = Some(self.micros(span.to));
            self.event(&event)?;
        }
        Ok(())
    }

    /// The search of match rules, inside of the span that is open.
    fn matching(&mut self, (from, to): (Time, Time), span: &Span, track: Track) -> io::Result<()> {
        let name = format!("match {}", self.member_of(span));
        for (phase, at) in [(Phase::Begin, from), (Phase::End, to)] {
            let mut event = Event::new(phase, &name, track);
            event.ts = Some(self.micros(at));
            self.event(&event)?;
        }
        Ok(())
    }

    fn arrow(&mut self, phase: Phase, span: &Span, track: Track) -> io::Result<()> {
        let mut event = Event::new(phase, "call", track);
        event.ts = Some(self.micros(span.from));
        event.id = span.message.map(|id| id.number());
        // It ends in the span that begins there, not in the next one.
        event.bp = (phase == Phase::FlowEnd).then_some("e");
        self.event(&event)
    }

    /// What process and lane of a track are called.
    fn announce(&mut self, track: Track, span: &Span) -> io::Result<()> {
        let process = self.tracks.process_label(span.peer);
        let mut event = Event::new(Phase::Metadata, "process_name", track);
        event.args = Some(Args::Name { name: &process });
        self.event(&event)?;
        let lane = self.tracks.lane_label(span);
        let mut event = Event::new(Phase::Metadata, "thread_name", track);
        event.args = Some(Args::Name { name: &lane });
        self.event(&event)
    }

    fn name_of(&self, span: &Span) -> String {
        let member = self.member_of(span);
        match span.role {
            Role::Routes => format!("route {member}"),
            Role::Receives => format!("receive {member}"),
            Role::Dispatches => format!("dispatch {member}"),
            Role::Sends => format!("send {member}"),
            Role::Writes => format!("write {member} to :1.{}", span.recipient.unwrap_or_default()),
            Role::Starts => format!("{} starts", self.capture.program_label(span.peer)),
            Role::Runs => "runs".to_owned(),
            Role::Calls | Role::Serves | Role::Emits | Role::NeverAnswered => member,
        }
    }

    /// The method or signal of a span; of a reply that of its call.
    fn member_of(&self, span: &Span) -> String {
        let message = span.message.map(|id| self.capture.message(id));
        let asked = message.map(|message| message.call().unwrap_or(message));
        asked.map(|asked| asked.full_member()).unwrap_or_default()
    }

    /// How many calls each process has pending, whenever that changes.
    fn counters(&mut self, spans: &[Span]) -> io::Result<()> {
        let calls = spans.iter().filter(|span| span.role == Role::Calls);
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
            let mut event = Event::new(Phase::Counter, "pending calls", track);
            event.ts = Some(self.micros(at));
            event.args = Some(Args::Pending { pending: (*count).max(0) });
            self.event(&event)?;
        }
        Ok(())
    }

    const fn micros(&self, at: Time) -> Micros {
        Micros::between(self.start, at)
    }
}

/// The connection that is the bus, if it ever said anything.
fn driver(capture: &Capture, bus: BusId) -> Option<crate::model::PeerId> {
    capture.directory().by_unique(bus, capture.driver())
}

impl<'c> Args<'c> {
    fn of(message: &Message<'c>) -> Self {
        let reply = message.partner().filter(|_| message.kind() == MessageType::MethodCall);
        let error = reply.filter(|reply| reply.kind() == MessageType::Error);
        Args::Message {
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
