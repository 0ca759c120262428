//! Details of a call with its reply, or of a signal, with their times in the bus.

use std::fmt::Write as _;
use std::io;
use std::time::Duration;

use notation::busctl::push_tree;
use wire::message::{Flags, MessageType};

use super::body::{ShownBody, push_named};
use crate::model::{CallOutcome, Capture, CapturedMessage, MessageBuffer, RecordedPeerId};
use crate::recipients::{SignalRecipients, UnknownReason, is_broadcast};
use crate::record::{CaptureMethod, RecordedClock, RecordedTime};
use crate::table::{Cell, Column, ColumnUnit, DataTable};
use crate::text::Style;
use crate::text::units::{clock_time, counted, date_and_time, duration};
use crate::text::visible;
use crate::timeline::{BusTime, CallPhase, CallTimes, ProcessorRecord, ProcessorTurn};

/// Formats everything that is known about single messages of a capture.
#[derive(Debug)]
pub struct CallDetails<'c> {
    capture: &'c Capture,
    processors: ProcessorRecord,
    /// Computed for the first broadcast signal whose recipients the bus did not record.
    recipients: Option<Result<SignalRecipients, UnknownReason>>,
    buffer: MessageBuffer,
    style: Style,
}

impl<'c> CallDetails<'c> {
    /// Creates a formatter for messages of a capture.
    pub fn new(capture: &'c Capture, style: Style) -> Self {
        let processors = ProcessorRecord::of(capture);
        Self { capture, processors, recipients: None, buffer: MessageBuffer::default(), style }
    }

    /// Returns the details of a message, together with its reply or call.
    ///
    /// # Errors
    ///
    /// If the recording cannot be read.
    pub fn of(&mut self, message: &CapturedMessage<'c>) -> io::Result<String> {
        let first = message.call().unwrap_or(*message);
        let reply = first.partner();
        let mut text = self.style.strong(heading(&first)) + "\n";
        for (name, value) in facts(&first) {
            let _ = writeln!(text, "  {name:<10}{}", visible::printable(&value));
        }
        self.push_phases(&mut text, &first);
        for message in std::iter::once(first).chain(reply) {
            self.push_bus_time(&mut text, &message);
        }
        self.push_copies(&mut text, &first);
        self.push_processors(&mut text, &first);
        for message in std::iter::once(first).chain(reply) {
            text.push('\n');
            self.push_message(&mut text, &message)?;
        }
        Ok(text)
    }

    /// The serial, size and arguments of a message.
    fn push_message(&mut self, text: &mut String, message: &CapturedMessage<'c>) -> io::Result<()> {
        let mut body = ShownBody::read(message, &mut self.buffer)?;
        body.escape();
        let kind = kind(message);
        let (number, size) =
            (message.id().number(), counted(message.len().into(), "byte", "bytes"));
        let _ = write!(text, "{kind} #{number}: serial {}, {size}", message.serial());
        if message.unix_fds() > 0 {
            let fds = counted(message.unix_fds().into(), "descriptor", "descriptors");
            let _ = write!(text, ", {fds}");
        }
        for (flag, words) in FLAGS {
            // Replies always have the first flag, and the others have no meaning in them.
            if kind == "call" && message.flags().contains(flag) {
                let _ = write!(text, ", {words}");
            }
        }
        text.push('\n');
        if let Some(problem) = body.problem {
            let _ = writeln!(text, "  ({})", problem.sentence(message));
        } else if body.values.is_empty() {
            text.push_str("  no arguments\n");
        }
        let mut values = String::new();
        for (name, value) in body.named() {
            push_named(&mut values, name, |text| push_tree(text, value, INDENT));
        }
        let mut lines = values.split_inclusive('\n');
        text.extend(lines.by_ref().take(LINES_MAX));
        match lines.count() {
            0 => {}
            more => {
                _ = writeln!(
                    text,
                    "  {}, printed by --format busctl",
                    counted(more as u64, "more line", "more lines")
                )
            }
        }
        Ok(())
    }

    /// The phases of a call with their durations.
    fn push_phases(&self, text: &mut String, first: &CapturedMessage<'c>) {
        if first.kind() != MessageType::MethodCall {
            return;
        }
        let Some(times) = CallTimes::of(first, &self.processors) else {
            let _ = writeln!(text, "\nphases: unknown: {}", why_unknown(first));
            return;
        };
        let mut table = phase_table();
        let total = times.total();
        let mut at = first.at();
        for phase in CallPhase::ALL {
            let (time, from) = (times.time(phase), at);
            at = at.after(time);
            if phase.is_rare() && time.is_zero() {
                continue;
            }
            let share = Cell::share(time.as_nanos() as u64, total.as_nanos() as u64);
            table.push(row(phase.as_str(), Cell::Time(time), share, from, at));
        }
        table.push(row("all", Cell::Time(total), Cell::Absent, first.at(), at));
        text.push('\n');
        text.push_str(&table.to_text(self.style));
    }

    /// The time that the bus took for a message. For calls and replies the phases of the call show
    /// it, unless the bus measured the stages of routing.
    fn push_bus_time(&self, text: &mut String, message: &CapturedMessage<'c>) {
        let Some(time) = BusTime::of(message) else { return };
        let is_in_phases = !is_broadcast(message) && message.kind() != MessageType::Signal;
        if is_in_phases && !time.is_measured() {
            return;
        }
        let total = time.total().unwrap_or(time.routed());
        let mut table = phase_table();
        for (phase, length) in time.phases() {
            let Some(span) = time.span(phase) else { continue };
            let share = Cell::share(length.as_nanos() as u64, total.as_nanos() as u64);
            let [from, until] = [span.start, span.end].map(|after| message.at().after(after));
            table.push(row(phase.as_str(), Cell::Time(length), share, from, until));
        }
        let _ = writeln!(text, "\n{} #{} in the bus", kind(message), message.id().number());
        text.push_str(&table.to_text(self.style));
    }

    /// The connections that got the message and its reply, and when.
    fn push_copies(&mut self, text: &mut String, first: &CapturedMessage<'c>) {
        let mut table = DataTable::new([
            Column::text("copy of"),
            Column::text("to"),
            Column::text("by"),
            Column::text("queued (UTC)"),
            Column::text("first byte").spare(),
            Column::text("written"),
            Column::number("after", ColumnUnit::Time).spare(),
        ]);
        for message in std::iter::once(*first).chain(first.partner()) {
            let queued = message.at().after(message.routed_after().unwrap_or_default());
            for copy in message.copies().into_iter().flatten() {
                let peer = self.capture.peer_numbered(message.bus(), copy.recipient);
                let name = format!(":1.{}", copy.recipient);
                let time = |after: Option<Duration>| after.map(|it| message.at().after(it));
                let written = time(copy.written_after);
                // Most copies are written with one call.
                let begun = time(copy.begun_after).filter(|&begun| Some(begun) != written);
                table.push([
                    Cell::Text(format!("{} #{}", kind(&message), message.id().number())),
                    Cell::Text(peer.map_or(name, |peer| short(self.capture, peer))),
                    Cell::text(if copy.rules == 0 { "address" } else { "rule" }),
                    Cell::Text(clock_time(queued)),
                    Cell::text_or_absent(begun.map(clock_time)),
                    Cell::Text(written.map_or_else(|| "not written".into(), clock_time)),
                    Cell::time_or_absent(copy.written_after),
                ]);
            }
        }
        match table.rows() {
            [] => self.push_recipients(text, first),
            _ => {
                text.push('\n');
                text.push_str(&table.to_text(self.style));
            }
        }
    }

    /// The number of connections that got a signal, if the recording has no copies of it.
    fn push_recipients(&mut self, text: &mut String, signal: &CapturedMessage<'c>) {
        if !is_broadcast(signal) {
            return;
        }
        let found = self.recipients.get_or_insert_with(|| SignalRecipients::find(self.capture));
        let count = match found {
            Ok(recipients) => recipients.of(signal),
            Err(unknowable) => Err(*unknowable),
        };
        text.push('\n');
        let _ = match count {
            Ok(Some(count)) if signal.deliveries().is_some() => {
                writeln!(text, "recipients: {count}, as the bus recorded")
            }
            Ok(Some(count)) => writeln!(text, "recipients: {count}, by the match rules"),
            Ok(None) => writeln!(text, "recipients: unknown"),
            Err(why) => writeln!(text, "recipients: unknown: {why}"),
        };
    }

    /// Appends the times when the processes of caller and callee ran on a processor, if that was
    /// recorded.
    fn push_processors(&self, text: &mut String, call: &CapturedMessage<'c>) {
        if call.partner().is_none() || self.processors.is_empty() {
            return;
        }
        text.push('\n');
        let callee = self.processors.service(call);
        if let Some(ProcessorTurn { wake_up, on, off }) = callee {
            let [wake_up, on, off] = [wake_up, on, off].map(duration);
            let _ = writeln!(
                text,
                "callee: was scheduled after {wake_up}, ran for {on}, did not run for {off}"
            );
        }
        let caller = self.processors.return_wake_up(call);
        if let Some(wake_up) = caller {
            let _ = writeln!(text, "caller: was scheduled {} after the reply", duration(wake_up));
        }
        if callee.is_none() && caller.is_none() {
            text.push_str(
                "processors: the times at which caller and callee ran were not recorded\n",
            );
        }
    }
}

fn phase_table() -> DataTable {
    DataTable::new([
        Column::text("phase"),
        Column::number("time", ColumnUnit::Time),
        Column::number("share", ColumnUnit::Share),
        Column::text("from (UTC)"),
        Column::text("until"),
    ])
}

fn row(name: &str, time: Cell, share: Cell, from: RecordedTime, until: RecordedTime) -> [Cell; 5] {
    [Cell::text(name), time, share, Cell::Text(clock_time(from)), Cell::Text(clock_time(until))]
}

/// The first line, such as `call #1410 org.example.Mail.GetCount`.
fn heading(first: &CapturedMessage<'_>) -> String {
    let (kind, number) = (kind(first), first.id().number());
    visible::printable(&format!("{kind} #{number} {}", first.full_member())).trim_end().to_owned()
}

fn kind(message: &CapturedMessage<'_>) -> &'static str {
    match message.kind() {
        MessageType::MethodCall => "call",
        MessageType::MethodReturn => "return",
        MessageType::Error => "error",
        MessageType::Signal => "signal",
        MessageType::Unknown(_) => "message",
    }
}

/// The known facts about a call or signal, with their labels.
fn facts<'c>(first: &CapturedMessage<'c>) -> Vec<(&'static str, String)> {
    let capture = first.capture();
    let is_call = first.kind() == MessageType::MethodCall;
    let to = party(capture, first.destination(), first.to());
    let bus = capture.buses().get(usize::from(first.bus().0));
    let time = match bus.map(|bus| bus.clock) {
        Some(RecordedClock::Absent) => "not recorded".to_owned(),
        _ => date_and_time(first.at()),
    };
    let mut facts = vec![
        ("time", time),
        ("bus", capture.bus_label(first.bus()).into_owned()),
        (if is_call { "caller" } else { "sender" }, party(capture, first.sender(), first.from())),
        (if is_call { "callee" } else { "recipient" }, to),
        ("object", first.path().to_owned()),
    ];
    if first.kind().is_reply() {
        facts.push(("call", format!("serial {}, not in the recording", first.reply_serial())));
    }
    facts.extend(first.outcome().map(|outcome| ("outcome", outcome_of(first, outcome))));
    facts.retain(|(_, value)| !value.is_empty());
    facts
}

/// The outcome of a call, such as `failed after 9.00 ms: org.example.Error.Busy`.
fn outcome_of(call: &CapturedMessage<'_>, outcome: CallOutcome) -> String {
    let mut text = outcome.as_str().to_owned();
    if let Some(waited) = call.waited() {
        let _ = write!(text, " after {}", duration(waited));
    }
    if let Some(error) = call.partner().filter(|reply| reply.kind() == MessageType::Error) {
        let _ = write!(text, ": {}", error.member());
    }
    text
}

/// A name in a message, with the known facts about its connection: `org.example.Mail, :1.9,
/// maild[812]`.
fn party(capture: &Capture, name: &str, peer: Option<RecordedPeerId>) -> String {
    let mut parts = vec![name];
    let process = peer.and_then(|id| capture.process_label(id));
    if let Some(id) = peer {
        let peer = capture.directory().peer(id);
        let names = peer.names.iter().take(NAMES_MAX).copied();
        let names = std::iter::once(peer.unique).chain(names).map(|it| capture.strings().get(it));
        parts.extend(names.filter(|known| *known != name));
        parts.extend(process.as_deref());
        parts.extend(peer.process.as_ref().and_then(|process| process.unit.as_deref()));
    }
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

/// The unique name of a connection, with its well-known name or program.
fn short(capture: &Capture, id: RecordedPeerId) -> String {
    let unique = capture.strings().get(capture.directory().peer(id).unique);
    match capture.program_label(id) {
        label if label == unique => label.to_owned(),
        label => format!("{label} ({unique})"),
    }
}

/// The reason why the phases of a call are unknown.
fn why_unknown(call: &CapturedMessage<'_>) -> &'static str {
    let method = call.capture().buses().get(usize::from(call.bus().0)).map(|bus| bus.method);
    match method.unwrap_or_default() {
        _ if call.partner().is_none() => "the call has no reply",
        CaptureMethod::Trace => "the bus did not record all times of the call",
        CaptureMethod::Monitor => "recorded by a monitor, with the times of its copies",
        CaptureMethod::Eavesdrop => {
            "recorded by eavesdropping, with the times at which copies were read"
        }
        CaptureMethod::Unknown => "the file does not state how it was recorded",
    }
}

const FLAGS: [(Flags, &str); 3] = [
    (Flags::NO_REPLY_EXPECTED, "no reply expected"),
    (Flags::NO_AUTO_START, "no auto start"),
    (Flags::ALLOW_INTERACTIVE_AUTHORIZATION, "interactive authorization allowed"),
];

/// The maximum number of well-known names shown for a connection.
const NAMES_MAX: usize = 3;

/// The maximum number of lines shown for the arguments of a message.
const LINES_MAX: usize = 50;

/// The indentation of arguments, in columns.
const INDENT: usize = 2;
