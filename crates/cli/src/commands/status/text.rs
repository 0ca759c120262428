//! The report as text, folded to the width of the terminal.

use std::time::Duration;

use sys::process;

use super::dict::StatusDict;
use super::incidents;
use super::report::{BusNumbers, BusReport};
use capture::table::{Cell, Column, ColumnUnit, DataTable};
use capture::text::Style;
use capture::text::columns::{Fit, fit, folded};
use capture::text::units::{bytes, counted, elapsed, grouped};

/// Formats the report, with at most `top` entries in each part; 0 means all.
pub(super) fn render(report: &BusReport, style: Style, top: u32) -> String {
    let mut page = StatusPage { text: String::new(), style };
    page.heading(report);
    match &report.numbers {
        BusNumbers::Own { totals, connections, members, counted_for, history } => {
            page.totals(totals);
            page.connections(connections);
            page.members(members, Duration::from_micros(*counted_for));
            incidents::render(&mut page, history, top);
        }
        BusNumbers::DebugStats { totals, connections } => {
            page.debug_stats(totals);
            page.other_connections(connections, top);
        }
        BusNumbers::Nothing {} => page.line(
            "The bus has no statistics: it supports neither org.diligence.Statistics1 nor \
             org.freedesktop.DBus.Debug.Stats.",
        ),
    }
    page.text
}

/// A builder for the text of the report.
pub(super) struct StatusPage {
    text: String,
    pub(super) style: Style,
}

/// The display of a line that has no entries.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FactDisplay {
    Always,
    IfAny,
}

impl StatusPage {
    pub(super) fn line(&mut self, line: impl AsRef<str>) {
        self.text.push_str(line.as_ref().trim_end());
        self.text.push('\n');
    }

    /// Adds the title of a part, with an empty line above it.
    pub(super) fn section(&mut self, title: &str, more: &str) {
        let (title, more) = (self.style.strong(title), self.style.pale(more));
        self.line("");
        self.line(format!("{title}, {more}"));
    }

    fn heading(&mut self, report: &BusReport) {
        let BusReport { choice, id, pid, uid, numbers } = report;
        let mut words = Vec::new();
        if let Some(pid) = pid {
            words.push(format!("process {}", process_of(Some(*pid), None)));
        }
        words.extend(uid.map(|uid| format!("user {uid}")));
        if let BusNumbers::Own { totals, .. } = numbers {
            let uptime = Duration::from_micros(totals.count("Uptime"));
            words.push(format!("up {}", elapsed(uptime)));
        }
        words.push(format!("id {id}"));
        let choice = self.style.strong(choice);
        self.line(choice);
        for line in folded(&words.join(", "), self.style.width) {
            let line = self.style.pale(line);
            self.line(line);
        }
    }

    fn totals(&mut self, totals: &StatusDict) {
        let count = |key| totals.count(key);
        let number = |key| grouped(count(key));
        let style = self.style;
        let disconnects = totals.counts("DisconnectCauses").into_iter();
        let (by_peers, by_bus): (Vec<_>, Vec<_>) =
            disconnects.partition(|(cause, _)| *cause == "closed");
        let closed: u64 = by_peers.iter().map(|(_, count)| count).sum();
        self.line("");
        self.fact(
            "connections",
            &format!(
                "{} now, {} before Hello, {}; {} since the start, {} closed",
                number("Connections"),
                number("IncompleteConnections"),
                counted(count("Monitors"), "monitor", "monitors"),
                number("Connected"),
                grouped(closed),
            ),
        );
        if count("Containers") > 0 {
            self.fact("containers", &number("Containers"));
        }
        self.fact(
            "names, rules",
            &format!(
                "{}, {}",
                counted(count("Names"), "name", "names"),
                counted(count("MatchRules"), "match rule", "match rules"),
            ),
        );
        self.fact(
            "messages",
            &format!(
                "{} in, {}; {} out",
                number("Messages"),
                bytes(count("Bytes") as f64),
                number("Deliveries"),
            ),
        );
        let forbidden = totals.text("LanesForbidden").filter(|reason| !reason.is_empty());
        if count("Lanes") + count("LaneMessages") > 0 || forbidden.is_some() {
            let forbidden = forbidden.map(|reason| format!("; none now: {reason}"));
            self.fact(
                "lanes",
                &format!(
                    "{} open; {}, {}{}",
                    number("Lanes"),
                    counted(count("LaneMessages"), "message", "messages"),
                    bytes(count("LaneBytes") as f64),
                    forbidden.unwrap_or_default(),
                ),
            );
        }
        if count("Messages") > 0 {
            self.fact("copies", &copies(totals));
        }
        self.fact(
            "waiting",
            &format!(
                "{} to be read, {}; {}",
                counted(count("QueuedMessages"), "message", "messages"),
                bytes(count("QueuedBytes") as f64),
                counted(count("PendingReplies"), "open call", "open calls"),
            ),
        );
        let refusals = totals.counts("RefusalCauses").into_iter();
        let (errors, refusals): (Vec<_>, Vec<_>) =
            refusals.partition(|(cause, _)| is_ordinary_error(cause));
        if !errors.is_empty() {
            self.fact("errors", &listed(&errors));
        }
        self.causes("disconnected", &by_bus, FactDisplay::Always);
        self.causes("refused", &refusals, FactDisplay::Always);
        for (what, causes, shown) in FAILURE_ROWS {
            self.causes(what, &totals.counts(causes), *shown);
        }
        if let losing @ 1.. = count("LosingConnections") {
            let text = counted(losing, "connection loses signals", "connections lose signals");
            self.fact_with("now", &text, |text| style.alarm(text));
        }
    }

    /// Adds a line with the number of events and their causes.
    fn causes(&mut self, what: &str, causes: &[(&str, u64)], shown: FactDisplay) {
        let style = self.style;
        match (causes, shown) {
            ([], FactDisplay::IfAny) => {}
            ([], FactDisplay::Always) => self.fact(what, "0"),
            _ => self.fact_with(what, &listed(causes), |text| style.alarm(text)),
        }
    }

    fn fact(&mut self, what: &str, text: &str) {
        self.fact_with(what, text, str::to_owned);
    }

    /// Adds a fact, folded into several lines if needed. `paint` changes each line.
    fn fact_with(&mut self, what: &str, text: &str, paint: impl Fn(&str) -> String) {
        let room = self.style.width.saturating_sub(LABEL_WIDTH + 4);
        let mut what = what;
        for line in folded(text, room) {
            let label = self.style.pale(fit(what, LABEL_WIDTH, Fit::Start));
            self.line(format!("  {label}  {}", paint(&line)));
            what = "";
        }
    }

    fn connections(&mut self, connections: &[StatusDict]) {
        self.section("Connections", "with the most traffic first");
        let has_lanes = connections.iter().any(|it| !it.texts("LanePartners").is_empty());
        let columns = [
            Column::text("name"),
            Column::text("process"),
            Column::number("sent", ColumnUnit::Count),
            Column::number("received", ColumnUnit::Count).spare(),
            Column::number("waiting", ColumnUnit::Bytes),
            Column::number("lost", ColumnUnit::Count),
        ];
        let lanes = has_lanes.then(|| Column::text("lanes to"));
        let mut table =
            DataTable::new(columns.into_iter().chain(lanes).chain([Column::text("names")]));
        for it in connections {
            let lost = it.count("LostMessages");
            let lanes = has_lanes.then(|| Cell::text(partners_of(it)));
            let cells = [
                Cell::text(it.text("UniqueName").unwrap_or("?")),
                Cell::text(process_of(it.number("ProcessID"), it.text("Program"))),
                Cell::Count(it.count("SentMessages") + it.count("LaneSentMessages")),
                Cell::Count(it.count("ReceivedMessages") + it.count("LaneReceivedMessages")),
                Cell::Bytes(it.count("QueuedBytes")).alarm_if(it.is_set("Losing")),
                Cell::Count(lost).alarm_if(lost > 0),
            ];
            table.push(cells.into_iter().chain(lanes).chain([Cell::text(names_of(it))]));
        }
        self.table(&table);
    }

    fn members(&mut self, members: &[StatusDict], counted_for: Duration) {
        if members.is_empty() {
            // Counting has a small cost, so the bus starts it at the first request.
            return self
                .section("Members", "counting starts now; run the command again to see them");
        }
        let since = format!("with the most messages first, in the last {}", elapsed(counted_for));
        self.section("Members", &since);
        let mut table = DataTable::new([
            Column::text("member"),
            Column::number("messages", ColumnUnit::Count),
            Column::number("bytes", ColumnUnit::Bytes),
            Column::number("largest", ColumnUnit::Bytes).spare(),
            Column::number("max to", ColumnUnit::Count).spare(),
            Column::number("errors", ColumnUnit::Count),
            Column::number("reply", ColumnUnit::Time),
            Column::number("longest", ColumnUnit::Time).spare(),
        ]);
        for it in members {
            let errors = it.count("Errors");
            let answered = it.count("Returns") + errors;
            let time = |nanos| if answered == 0 { Cell::Absent } else { Cell::nanos(nanos) };
            table.push([
                Cell::text(member_of(it)),
                Cell::Count(it.count("Messages")),
                Cell::Bytes(it.count("Bytes")),
                Cell::Bytes(it.count("LargestMessage")),
                Cell::Count(it.count("MostRecipients")),
                Cell::Count(errors).alarm_if(errors > 0),
                time(it.count("ReplyTime") / answered.max(1)),
                time(it.count("LongestReplyTime")),
            ]);
        }
        self.table(&table);
    }

    fn debug_stats(&mut self, totals: &StatusDict) {
        self.line("");
        for key in totals.0.keys() {
            if let Some(number) = totals.number(key) {
                let key = self.style.pale(fit(key, 32, Fit::Start));
                self.line(format!("  {key} {:>12}", grouped(number)));
            }
        }
    }

    fn other_connections(&mut self, connections: &[StatusDict], top: u32) {
        if connections.is_empty() {
            return;
        }
        self.section("Connections", "with the longest queues first");
        let shown = if top == 0 { connections.len() } else { connections.len().min(top as usize) };
        let mut table = DataTable::new([
            Column::text("name"),
            Column::text("process"),
            Column::number("names", ColumnUnit::Count),
            Column::number("rules", ColumnUnit::Count),
            Column::number("waiting", ColumnUnit::Bytes),
            Column::number("peak", ColumnUnit::Bytes),
        ]);
        for it in &connections[..shown] {
            table.push([
                Cell::text(it.text("UniqueName").unwrap_or("?")),
                Cell::text(process_of(it.number("ProcessID"), None)),
                Cell::Count(it.count("BusNames")),
                Cell::Count(it.count("MatchRules")),
                Cell::Bytes(it.count("OutgoingBytes")),
                Cell::Bytes(it.count("PeakOutgoingBytes")),
            ]);
        }
        self.table(&table);
    }

    fn table(&mut self, table: &DataTable) {
        if table.rows().is_empty() {
            return self.line("  none");
        }
        let width = self.style.width.saturating_sub(2);
        for line in table.to_text(Style { width, ..self.style }).lines() {
            self.line(format!("  {line}"));
        }
    }
}

/// Formats a process, with its name if it is known or if the process runs on this machine.
pub(super) fn process_of(pid: Option<u64>, known_as: Option<&str>) -> String {
    let Some(pid) = pid else { return String::from("?") };
    let comm = known_as.map(str::to_owned);
    let comm = comm.or_else(|| process::comm(u32::try_from(pid).ok()?));
    comm.map_or_else(|| pid.to_string(), |comm| format!("{pid} {comm}"))
}

/// The number of lanes of a connection, and the names at their other ends.
fn partners_of(connection: &StatusDict) -> String {
    let mut partners = connection.texts("LanePartners");
    partners.sort_by_key(|name| (name.len(), name.to_string()));
    match partners.len() {
        0 | 1 => partners.join(""),
        count => format!("{count}: {}", partners.join(" ")),
    }
}

fn names_of(connection: &StatusDict) -> String {
    let monitor = connection.is_set("Monitor").then_some("(monitor)");
    let names = connection.texts("Names").into_iter().chain(monitor);
    names.collect::<Vec<_>>().join(" ")
}

fn member_of(member: &StatusDict) -> String {
    match (member.text("Interface"), member.text("Member")) {
        (Some(""), Some(member)) => member.to_owned(),
        (Some(interface), Some(member)) => format!("{interface}.{member}"),
        _ => String::from("(all others)"),
    }
}

/// How often each byte was copied and written, and each message validated.
fn copies(totals: &StatusDict) -> String {
    let per = |part, whole| totals.count(part) as f64 / totals.count(whole).max(1) as f64;
    format!(
        "each byte read once, copied {:.2} times in the bus, written {:.2} times; \
         {:.2} validations per message",
        per("CopiedBytes", "Bytes"),
        per("WrittenBytes", "Bytes"),
        per("ValidatedMessages", "Messages"),
    )
}

/// The sum of counts, and each with its name.
fn listed(counts: &[(&str, u64)]) -> String {
    let all: u64 = counts.iter().map(|(_, count)| count).sum();
    let words: Vec<_> =
        counts.iter().map(|(name, count)| format!("{} {name}", grouped(*count))).collect();
    format!("{}: {}", grouped(all), words.join(", "))
}

/// True for the cause of an error that is normal in the life of a program, such as a call to a
/// name without an owner. The bus logs only the others, which the policy or a limit causes.
fn is_ordinary_error(cause: &str) -> bool {
    let is_error_name = cause.starts_with(|first: char| first.is_ascii_uppercase());
    is_error_name && !matches!(cause, "AccessDenied" | "LimitsExceeded")
}

/// Rows about failures: the label, the key with the causes, and the display of a row without
/// entries.
const FAILURE_ROWS: &[(&str, &str, FactDisplay)] = &[
    ("rejected", "RejectedCauses", FactDisplay::IfAny),
    ("delayed", "DelayCauses", FactDisplay::IfAny),
    ("withheld", "WithholdingCauses", FactDisplay::IfAny),
    ("lost", "LossCauses", FactDisplay::Always),
    ("not started", "FailedStartCauses", FactDisplay::IfAny),
    ("faults", "FaultCauses", FactDisplay::IfAny),
];

/// The width of the labels in cells.
const LABEL_WIDTH: usize = 12;
