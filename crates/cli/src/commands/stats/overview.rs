//! The overview: the contents of the recording, the busiest connections, and the longest waits.

use std::panic::resume_unwind;
use std::thread;
use std::time::Duration;

use capture::Capture;
use capture::query::{Query, QueryMatches, RecorderMessageCount};
use capture::record::EndCause;
use capture::statistics::{Caveat, CopyStatistics, GroupKeyKind, GroupedTraffic, Summary};
use capture::table::DataTable;
use capture::text::Style;
use capture::text::columns::folded;
use capture::text::units::{self, bytes, counted, grouped};
use serde::Serialize;

use crate::recording;

/// The figures of the overview, which are serialized for `--json`.
#[derive(Debug, Serialize)]
pub(super) struct Overview {
    files: Vec<String>,
    /// The number of messages that several of the files contain.
    repeated_messages: u64,
    #[serde(skip)]
    heading: String,
    summary: Summary,
    copies: CopyStatistics,
    /// The number of messages that are not counted, because the recorder sent or received them.
    recorder_messages: RecorderMessageCount,
    ended: Vec<EndCause>,
    caveats: Vec<String>,
    senders: DataTable,
    members: DataTable,
    times: DataTable,
    /// Signals with more recipients than usual; `None` if recipients are not known.
    most_recipients: Option<DataTable>,
}

impl Overview {
    /// Computes the overview for the messages that a query selects.
    pub(super) fn of(capture: &Capture, query: &Query) -> Self {
        // The figures are independent of each other, so they are computed in parallel.
        let matches = &query.matches(capture);
        let (summary, senders, members, copies) = thread::scope(|scope| {
            let members = scope.spawn(|| groups(capture, matches, GroupKeyKind::Member));
            let copies = scope.spawn(|| CopyStatistics::of(capture, query, matches));
            let (summary, senders) =
                (sum(capture, matches), groups(capture, matches, GroupKeyKind::Sender));
            let members = members.join().unwrap_or_else(|panic| resume_unwind(panic));
            (summary, senders, members, copies.join().unwrap_or_else(|panic| resume_unwind(panic)))
        });
        let caveats = Caveat::of(capture, &summary);
        Self {
            files: capture.files_read().map(|path| path.display().to_string()).collect(),
            repeated_messages: capture.repeated_messages(),
            heading: recording::heading(capture),
            caveats: caveats.iter().map(Caveat::to_string).collect(),
            summary,
            copies,
            recorder_messages: query.of_recorder(capture),
            ended: capture.endings(),
            senders: senders.traffic(),
            members: members.traffic(),
            times: members.times(),
            most_recipients: members.most_recipients(),
        }
    }

    /// Returns the complete overview as JSON.
    pub(super) fn json(&self) -> String {
        recording::json(self)
    }

    /// Returns text with the usual number of rows for each table, or with `top` rows; 0 means all
    /// rows.
    pub(super) fn text(&self, style: Style, top: Option<usize>) -> String {
        let mut text = style.strong(&self.heading) + "\n";
        for sentence in self.sentences() {
            for line in folded(&sentence, style.width.saturating_sub(2)) {
                text += &format!("  {line}\n");
            }
        }
        for caveat in &self.caveats {
            for line in folded(&format!("note: {caveat}"), style.width.saturating_sub(2)) {
                text += &format!("  {}\n", style.pale(line));
            }
        }
        let parts = [
            (
                Some(&self.senders),
                "Busiest connections",
                "messages that each connection has sent",
                6,
            ),
            (Some(&self.members), "Most used members", "with the replies", 6),
            (Some(&self.times), "Longest waits", "by total time", 7),
            (self.most_recipients.as_ref(), "Signals with the most recipients", "more than 3", 5),
        ];
        for (table, title, about, rows) in parts {
            let Some(table) = table else { continue };
            if table.rows().is_empty() {
                continue;
            }
            let mut table = table.clone();
            match top.unwrap_or(rows) {
                0 => {}
                rows => table.truncate(rows),
            }
            let about = match table.omitted() {
                0 => about.to_owned(),
                omitted => format!("{about} ({} more)", grouped(omitted as u64)),
            };
            text += &format!("\n{}, {}\n", style.strong(title), style.pale(about));
            text += &table.to_text(Style { width: style.width, ..style });
        }
        text
    }

    /// A sentence about calls and replies whose outcome is unknown because the capture cut
    /// messages.
    fn unknown(&self) -> Option<String> {
        let Summary { unknown_outcome: calls, unknown_call: replies, .. } = self.summary;
        if calls + replies == 0 {
            return None;
        }
        let (calls, replies) =
            (counted(calls, "call", "calls"), counted(replies, "reply", "replies"));
        Some(format!(
            "messages were cut, so the outcome of {calls} and the calls of {replies} are unknown"
        ))
    }

    fn sentences(&self) -> Vec<String> {
        let summary = &self.summary;
        let mut sentences = vec![format!(
            "{}, {} in {}{}",
            counted(summary.messages, "message", "messages"),
            bytes(summary.bytes as f64),
            units::duration(summary.span),
            rate(summary.messages, summary.span),
        )];
        let kinds = [
            counted(summary.calls, "call", "calls"),
            counted(summary.returns, "return", "returns"),
            counted(summary.errors, "error", "errors"),
            counted(summary.signals, "signal", "signals"),
        ];
        sentences.push(kinds.join(", "));
        sentences.extend(share_of_bus(summary));
        sentences.extend(self.recorder_messages.sentence());
        let copies = self.copies.to_string();
        sentences.extend((!copies.is_empty()).then_some(copies));
        let until: Vec<_> = self.ended.iter().map(EndCause::to_string).collect();
        if !until.is_empty() {
            sentences.push(format!("recorded until {}", until.join(", and until ")));
        }
        let problems = [
            (summary.caller_left, "unanswered when the caller disconnected"),
            (summary.waiting, "waiting at the end"),
            (summary.time_outs, "timed out"),
            (summary.callee_left, "lost because the callee disconnected"),
            (summary.late, "replied late"),
            (summary.undelivered, "errors for undelivered messages"),
            (summary.orphans, "replies without a call"),
            (summary.cut, "cut"),
            (summary.redacted, "redacted"),
            (summary.invalid, "invalid"),
            (summary.unknown, "of unknown type"),
        ];
        let problems = problems.iter().filter(|(count, _)| *count > 0);
        let problems: Vec<_> = problems
            .map(|(count, what)| match (*count, *what) {
                (1, "replies without a call") => String::from("1 reply without a call"),
                (count, what) => format!("{} {what}", grouped(count)),
            })
            .collect();
        if !problems.is_empty() {
            sentences.push(problems.join(", "));
        }
        sentences.extend(self.unknown());
        sentences
    }
}

/// The share of calls to the bus itself, among the calls with a known destination.
fn share_of_bus(summary: &Summary) -> Option<String> {
    let known = summary.calls.saturating_sub(summary.calls_to_unknown);
    let share = units::share(summary.driver_calls as f64 / known as f64);
    match (summary.calls, known) {
        (0, _) => None,
        (_, 0) => Some(String::from(
            "the share of calls to the bus itself is unknown, because headers were cut",
        )),
        (all, known) if known < all => Some(format!(
            "{share} of {} with a known destination are to the bus itself",
            counted(known, "call", "calls")
        )),
        _ => Some(format!("{share} of the calls are to the bus itself")),
    }
}

fn sum(capture: &Capture, matches: &QueryMatches) -> Summary {
    let mut summary = Summary::default();
    matches.messages(capture).for_each(|message| summary.add(&message));
    summary.complete(capture, |message| matches.has(message));
    summary
}

fn groups<'c>(
    capture: &'c Capture,
    matches: &QueryMatches,
    by: GroupKeyKind,
) -> GroupedTraffic<'c> {
    let mut groups = match by {
        GroupKeyKind::Member => GroupedTraffic::with_recipients(capture, by),
        _ => GroupedTraffic::new(capture, by),
    };
    matches.messages(capture).for_each(|message| groups.add(&message));
    groups
}

/// Returns the table as text, with a line about omitted rows below it.
pub(super) fn with_omitted(table: &DataTable, style: Style) -> String {
    let mut text = table.to_text(style);
    if table.rows().is_empty() {
        text += &format!("{}\n", style.pale("no messages for this table"));
    }
    if table.omitted() > 0 {
        let omitted = grouped(table.omitted() as u64);
        text += &format!("{}\n", style.pale(format!("and {omitted} more; --top=0 shows all")));
    }
    text
}

fn rate(count: u64, span: Duration) -> String {
    match span.is_zero() {
        true => String::new(),
        false => format!(", {}/s", units::count(count as f64 / span.as_secs_f64())),
    }
}
