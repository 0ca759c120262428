//! `diligence monitor`: prints the messages on a bus as they are sent, with names and durations.

mod waits;

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _, stdout};
use std::time::Duration;

use capture::model::{CapturedMessage, MessageBuffer};
use capture::query::Query;
use capture::record::{RecordedTime, RecordingRecord};
use capture::show::{Controls, LineClock, MessageFormat, MessageLines};
use capture::text::units::duration;
use capture::text::visible::printable;
use chrono::{DateTime, Local, Offset as _, TimeZone as _};
use clap::{ArgAction, Args, ValueEnum};
use sys::clock::monotonic;
use wire::names::BusName;

use crate::amount;
use crate::bus_choice::BusChoice;
use crate::json_choice::{JsonChoice, JsonLayout};
use crate::live::{LiveError, LiveEvent, LiveLoop, LiveOutput, LiveTraffic};
use crate::output::{controls, print_message, print_to_stderr};
use crate::rule::match_rule;
use crate::style::ColorChoice;
use waits::LinePrinter;

/// Arguments of `diligence monitor`.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct MonitorArgs {
    #[command(flatten)]
    bus: BusChoice,
    /// Names whose messages are shown, then a query: `member:Get* dur>50ms` [default: all]
    #[arg(value_name = "NAME... [QUERY]")]
    words: Vec<String>,
    /// Show only messages that match this match rule; can be repeated
    #[arg(long = "match", value_name = "RULE", value_parser = match_rule)]
    rules: Vec<String>,
    /// Output format [default: line on a terminal, busctl elsewhere]
    #[arg(long, value_enum, conflicts_with_all = ["json", "j"])]
    format: Option<MonitorFormat>,
    #[command(flatten)]
    color: ColorChoice,
    #[command(flatten)]
    json: JsonChoice,
    /// Exit after this number of messages
    #[arg(short = 'N', long, value_name = "COUNT")]
    limit_messages: Option<u64>,
    /// Exit after this time: seconds, or a number with a unit such as 500ms
    #[arg(long, value_name = "TIME", value_parser = amount::time)]
    timeout: Option<Duration>,
    /// The name, as an option like in gdbus
    #[arg(short, long, value_name = "NAME", hide = true)]
    dest: Option<String>,
    /// The object path, as an option like in gdbus
    #[arg(short, long, value_name = "PATH", hide = true)]
    object_path: Option<String>,
    /// Options of `busctl` without effect here: lines are never shortened, and there is no pager
    /// and no heading
    #[arg(short = 'l', long = "full", aliases = ["no-pager", "no-legend"], hide = true, action = ArgAction::Count)]
    _as_it_is: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum MonitorFormat {
    /// One line per message: time, caller, callee, member, and for replies the duration and result
    Line,
    /// Like `busctl monitor`, with an additional line of names and durations
    Busctl,
    /// Like `gdbus monitor`, one line per message
    Gdbus,
    /// Like the output of `dbus-monitor`
    DbusSend,
}

impl MonitorArgs {
    /// Prints messages until the user or a limit ends the command.
    pub(crate) fn run(self) -> Result<(), LiveError> {
        let (names, query) = names_and_query(&self.words);
        let rules = self.words[names.len()..].iter().filter(|word| is_rule(word)).count();
        if rules > 1 {
            print_to_stderr(&format!(
                "diligence monitor: only messages that match all {rules} rules are shown; with --match \
                 before each rule, messages that match any rule are shown\n"
            ));
        }
        let of_object = self.object_path.as_ref().map(|path| format!("path:{path} "));
        let query = Query::parse(&(of_object.unwrap_or_default() + &query))?;
        let ends = names
            .iter()
            .chain(&self.dest)
            .flat_map(|name| [format!("sender='{name}'"), format!("destination='{name}'")]);
        let rules: Vec<String> = self.rules.iter().cloned().chain(ends).collect();
        let signals = LiveOutput::Lines.block_signals()?;
        let mut printer = Printer::new(&query, self.form(), self.limit_messages);
        let mut events = LiveLoop::open(self.bus.place(), &rules, signals, &mut |record| {
            printer.take(record);
        })?;
        events.end_after(self.timeout);
        follow(events, printer)
    }

    fn form(&self) -> MonitorOutput {
        let usual =
            if stdout().is_terminal() { MonitorFormat::Line } else { MonitorFormat::Busctl };
        match (self.json.layout(), self.format.unwrap_or(usual)) {
            (Some(layout), _) => MonitorOutput::Json(layout),
            (None, MonitorFormat::Line) => {
                let clock = LineClock::TimeOfDay(local_time);
                MonitorOutput::Lines(Box::new(LinePrinter::new(MessageLines::new(
                    self.color.of_lines(),
                    clock,
                ))))
            }
            (None, MonitorFormat::Busctl) => MonitorOutput::Blocks,
            (None, MonitorFormat::Gdbus) => MonitorOutput::Tool(MessageFormat::Gdbus),
            (None, MonitorFormat::DbusSend) => MonitorOutput::Tool(MessageFormat::DbusSend),
        }
    }
}

/// Prints messages until an event ends the command.
fn follow(mut events: LiveLoop, mut printer: Printer<'_>) -> Result<(), LiveError> {
    loop {
        printer.flush()?;
        if printer.is_full() {
            break;
        }
        match events.next(None, &mut |record| printer.take(record))? {
            LiveEvent::Notice(notice) => print_message("diligence monitor", &notice),
            LiveEvent::BusGone => {
                printer.finish(events.watch().clock().now())?;
                return Err(LiveError::Gone);
            }
            LiveEvent::End => break,
            LiveEvent::Records
            | LiveEvent::Due
            | LiveEvent::Inputs(_)
            | LiveEvent::Redraw
            | LiveEvent::ChildEnded
            | LiveEvent::Readable => {}
        }
    }
    Ok(printer.finish(events.watch().clock().now())?)
}

/// Shifts a time by the offset of the local time zone, so that formatting it as UTC shows local
/// time.
fn local_time(at: RecordedTime) -> RecordedTime {
    let utc = DateTime::from_timestamp_nanos(at.0);
    let offset = Local.offset_from_utc_datetime(&utc.naive_utc()).fix().local_minus_utc();
    RecordedTime(at.0.saturating_add(i64::from(offset) * NANOS_PER_SECOND))
}

/// The format of printed messages.
#[derive(Debug)]
enum MonitorOutput {
    /// A line for each message, and one for each call that ends without a reply.
    Lines(Box<LinePrinter>),
    /// Blocks of lines, with names and durations.
    Blocks,
    /// The format of another tool.
    Tool(MessageFormat),
    /// One JSON object per message.
    Json(JsonLayout),
}

/// Prints the selected messages.
#[derive(Debug)]
struct Printer<'q> {
    traffic: LiveTraffic,
    matcher: capture::query::Matcher<'q>,
    shape: MonitorOutput,
    controls: Controls,
    left: Option<u64>,
    text: String,
    buffer: MessageBuffer,
}

impl<'q> Printer<'q> {
    fn new(query: &'q Query, shape: MonitorOutput, left: Option<u64>) -> Self {
        let traffic = LiveTraffic::new(MESSAGES_KEPT, monotonic());
        let (text, buffer) = (String::new(), MessageBuffer::default());
        let controls = controls();
        Self { traffic, matcher: query.matcher(), shape, controls, left, text, buffer }
    }

    const fn is_full(&self) -> bool {
        matches!(self.left, Some(0))
    }

    fn take(&mut self, record: RecordingRecord<'_>) {
        let Some(id) = self.traffic.push(record) else { return };
        let message = self.traffic.capture().message(id);
        if let MonitorOutput::Lines(lines) = &mut self.shape {
            lines.forget_answered(&message);
        }
        if self.is_full() || !self.matcher.selects(&message) {
            return;
        }
        if let Some(left) = &mut self.left {
            *left -= 1;
        }
        // The message is in memory, so reading it cannot fail.
        let _ = push(&mut self.shape, &mut self.text, &message, &mut self.buffer, self.controls);
    }

    /// Prints a line for each call that is still pending at this time.
    fn finish(&mut self, now: RecordedTime) -> io::Result<()> {
        if let MonitorOutput::Lines(lines) = &mut self.shape {
            lines.push_waiting(&mut self.text, now);
        }
        self.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        if let MonitorOutput::Lines(lines) = &mut self.shape {
            lines.push_abandoned(&mut self.text, self.traffic.capture());
        }
        let mut stdout = stdout().lock();
        stdout.write_all(self.text.as_bytes())?;
        self.text.clear();
        stdout.flush()
    }
}

fn push(
    shape: &mut MonitorOutput,
    text: &mut String,
    message: &CapturedMessage<'_>,
    buffer: &mut MessageBuffer,
    controls: Controls,
) -> io::Result<()> {
    match shape {
        MonitorOutput::Lines(lines) => lines.push(text, message, buffer),
        MonitorOutput::Tool(format) => format.push(text, message, buffer, controls),
        MonitorOutput::Json(JsonLayout::Line) => {
            MessageFormat::Json.push(text, message, buffer, controls)
        }
        MonitorOutput::Json(JsonLayout::Lossless) => {
            MessageFormat::Lossless.push(text, message, buffer, controls)
        }
        MonitorOutput::Blocks => {
            let start = text.len();
            MessageFormat::Busctl.push(text, message, buffer, controls)?;
            insert_line(text, start, &peers_line(message));
            Ok(())
        }
        MonitorOutput::Json(layout @ JsonLayout::Lines) => {
            let mut line = String::new();
            MessageFormat::Json.push(&mut line, message, buffer, controls)?;
            text.push_str(&layout.format(line));
            Ok(())
        }
    }
}

/// Inserts a line after the first line of the block that begins at `start`.
fn insert_line(text: &mut String, start: usize, line: &str) {
    let end = text[start..].find('\n').map_or(text.len(), |place| start + place + 1);
    text.insert_str(end, line);
}

/// The line with peers and duration: `  mail[43] -> shell[12], after 1.20 ms`.
fn peers_line(message: &CapturedMessage<'_>) -> String {
    let capture = message.capture();
    let name = |peer: Option<capture::model::RecordedPeerId>, name: &str| {
        let peer = peer.map(|peer| match capture.process_label(peer) {
            Some(process) => format!("{} {process}", capture.label(peer)),
            None => capture.label(peer).into_owned(),
        });
        peer.unwrap_or_else(|| name.to_owned())
    };
    let mut line = format!("  {}", name(message.from(), message.sender()));
    if !message.destination().is_empty() {
        let _ = write!(line, " -> {}", name(message.to(), message.destination()));
    }
    if let Some(time) = message.duration().filter(|_| message.kind().is_reply()) {
        let _ = write!(line, ", after {}", duration(time));
    }
    format!("{}\n", printable(&line))
}

/// Splits the words into names of connections, and the query.
fn names_and_query(words: &[String]) -> (&[String], String) {
    let is_name = |word: &String| BusName::new(word).is_ok();
    let names = words.iter().take_while(|word| is_name(word)).count();
    (&words[..names], words[names..].join(" "))
}

/// Returns true if a word is a match rule. dbus-monitor accepts several as alternatives.
fn is_rule(word: &str) -> bool {
    (word.contains("='") || word.contains("=\"") || word.contains(',')) && match_rule(word).is_ok()
}

const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// The minimum number of kept messages, in which calls and names are found.
const MESSAGES_KEPT: usize = 50_000;

const LONG_HELP: &str = "\
A name selects messages from it and to it, like in `busctl monitor`. Messages of this program itself \
are omitted. `diligence record` writes the same messages into a file.

On a terminal each message is one line, with local time. A call is printed when it is made. Its reply \
repeats the name of the call, with the time that the caller waited and the result: returned, the name \
of the error, timed out, or callee left. If a caller disconnects before the reply, a line reports it. At \
the end there is a line for each call that is still pending. --format selects another output format, \
and --format line selects this one for a pipe or a file, where lines are not shortened.

The words after the names are a query; see docs/query.md. A query that matches no message is not an \
error here, because matching messages may still arrive; for a recording, `show` explains why no message \
matches.

The exit status is 0 if --timeout, --limit-messages, Ctrl-C or SIGTERM ended it, 1 if the bus \
disconnected or could not be watched, and 2 if the command line is wrong.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_before_the_query() {
        for (words, names, query) in [
            (&["org.example.Mail", ":1.5", "member:Get*"][..], 2, "member:Get*"),
            (&["dur>50ms", "org.example.Mail"], 0, "dur>50ms org.example.Mail"),
            (&["Get"], 0, "Get"),
            (&[], 0, ""),
        ] {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            let (found, rest) = names_and_query(&words);
            assert_eq!((found.len(), rest.as_str()), (names, query), "{words:?}");
        }
    }

    #[test]
    fn lines_are_inserted_after_the_first_line_of_a_block() {
        let mut text = "before\nfirst\nsecond\n".to_owned();
        insert_line(&mut text, 7, "  new\n");
        assert_eq!(text, "before\nfirst\n  new\nsecond\n");
    }
}
