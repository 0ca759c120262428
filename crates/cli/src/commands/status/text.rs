//! A report as text, as wide as it may be.

use std::time::Duration;

use sys::process;

use super::dict::Dict;
use super::incidents;
use super::report::{Numbers, Report};
use crate::columns::{Fit, fit, folded};
use crate::units::{bytes, counted, elapsed, grouped};
use capture::text::Style;
use capture::text::visible::printable;

/// The report, with at most `top` entries in each part; 0 is all.
pub(super) fn render(report: &Report, style: Style, top: u32) -> String {
    let mut page = Page { text: String::new(), style };
    page.heading(report);
    match &report.numbers {
        Numbers::Own { totals, connections, members, counted_for, history } => {
            page.totals(totals);
            page.connections(connections);
            page.members(members, Duration::from_micros(*counted_for));
            incidents::render(&mut page, history, top);
        }
        Numbers::DebugStats { totals, connections } => {
            page.debug_stats(totals);
            page.other_connections(connections, top);
        }
        Numbers::Nothing => page.line(
            "It tells nothing about itself: it has neither org.diligence.Statistics1 nor \
             org.freedesktop.DBus.Debug.Stats.",
        ),
    }
    page.text
}

/// A text in the making.
pub(super) struct Page {
    text: String,
    pub(super) style: Style,
}

/// A column of a table.
#[derive(Clone, Copy)]
struct Column {
    title: &'static str,
    width: usize,
    fit: Fit,
    /// What stands in it.
    cell: fn(&Dict) -> String,
    /// Whether what stands in it is bad news.
    alarm: fn(&Dict) -> bool,
    /// Where it is left out.
    place: Place,
}

/// Whether a line is there if it has nothing to tell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Always,
    IfAny,
}

/// On which lines a column stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Everywhere,
    /// Where there is room.
    Wide,
}

const fn number(title: &'static str, width: usize, cell: fn(&Dict) -> String) -> Column {
    Column { title, width, fit: Fit::Number, cell, alarm: |_| false, place: Place::Everywhere }
}

const fn name(title: &'static str, width: usize, cell: fn(&Dict) -> String) -> Column {
    Column { title, width, fit: Fit::Start, cell, alarm: |_| false, place: Place::Everywhere }
}

impl Column {
    const fn alarms(self, alarm: fn(&Dict) -> bool) -> Self {
        Self { alarm, ..self }
    }

    const fn if_wide(self) -> Self {
        Self { place: Place::Wide, ..self }
    }
}

impl Page {
    pub(super) fn line(&mut self, line: impl AsRef<str>) {
        self.text.push_str(line.as_ref().trim_end());
        self.text.push('\n');
    }

    /// The title of a part, with an empty line above it.
    pub(super) fn part(&mut self, title: &str, more: &str) {
        let (title, more) = (self.style.strong(title), self.style.pale(more));
        self.line("");
        self.line(format!("{title}, {more}"));
    }

    fn heading(&mut self, report: &Report) {
        let Report { choice, id, pid, uid, numbers } = report;
        let mut words = Vec::new();
        if let Some(pid) = pid {
            words.push(format!("process {}", process_of(Some(*pid), None)));
        }
        words.extend(uid.map(|uid| format!("user {uid}")));
        if let Numbers::Own { totals, .. } = numbers {
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

    fn totals(&mut self, totals: &Dict) {
        let count = |key| totals.count(key);
        let number = |key| grouped(count(key));
        let style = self.style;
        self.line("");
        self.fact(
            "connections",
            &format!(
                "{} now, {} before Hello, {}; {} since the start",
                number("Connections"),
                number("IncompleteConnections"),
                counted(count("Monitors"), "monitor", "monitors"),
                number("Connected"),
            ),
        );
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
        for (what, causes, shown) in TROUBLES {
            self.causes(what, &totals.counts(causes), *shown);
        }
        if let losing @ 1.. = count("LosingConnections") {
            let text = counted(losing, "connection loses signals", "connections lose signals");
            self.fact_with("now", &text, |text| style.alarm(text));
        }
    }

    /// How often something has happened, and why.
    fn causes(&mut self, what: &str, causes: &[(&str, u64)], shown: Shown) {
        let causes: Vec<_> = causes.iter().filter(|(cause, _)| *cause != "closed").collect();
        let all: u64 = causes.iter().map(|(_, count)| count).sum();
        let style = self.style;
        let words: Vec<_> =
            causes.iter().map(|(cause, n)| format!("{} {cause}", grouped(*n))).collect();
        match (all, shown) {
            (0, Shown::IfAny) => {}
            (0, Shown::Always) => self.fact(what, "0"),
            _ => {
                let text = format!("{}: {}", grouped(all), words.join(", "));
                self.fact_with(what, &text, |text| style.alarm(text));
            }
        }
    }

    fn fact(&mut self, what: &str, text: &str) {
        self.fact_with(what, text, str::to_owned);
    }

    /// A fact in as many lines as it takes, each changed by `paint`.
    fn fact_with(&mut self, what: &str, text: &str, paint: impl Fn(&str) -> String) {
        let room = self.style.width.saturating_sub(LABEL_WIDTH + 4);
        let mut what = what;
        for line in folded(text, room) {
            let label = self.style.pale(fit(what, LABEL_WIDTH, Fit::Start));
            self.line(format!("  {label}  {}", paint(&line)));
            what = "";
        }
    }

    fn connections(&mut self, connections: &[Dict]) {
        self.part("Connections", "with the most traffic first");
        self.table(
            &[
                name("NAME", 8, |it| it.text("UniqueName").unwrap_or("?").to_owned()),
                name("PROCESS", 20, |it| process_of(it.number("ProcessID"), it.text("Program"))),
                number("SENT", 11, |it| grouped(it.count("SentMessages"))),
                number("RECEIVED", 11, |it| grouped(it.count("ReceivedMessages"))).if_wide(),
                number("WAITING", 9, |it| bytes(it.count("QueuedBytes") as f64))
                    .alarms(|it| it.is_set("Losing")),
                number("LOST", 7, |it| grouped(it.count("LostMessages")))
                    .alarms(|it| it.count("LostMessages") > 0),
            ],
            Column { fit: Fit::End, ..name("NAMES", 0, names_of) },
            connections,
        );
    }

    fn members(&mut self, members: &[Dict], counted_for: Duration) {
        if members.is_empty() {
            // It costs a little, so the bus begins when somebody wants to know.
            return self.part("Members", "are counted from this question on: ask again");
        }
        let since = format!("with the most messages first, in the last {}", elapsed(counted_for));
        self.part("Members", &since);
        self.table(
            &[
                number("MESSAGES", 11, |it| grouped(it.count("Messages"))),
                number("BYTES", 8, |it| bytes(it.count("Bytes") as f64)),
                number("LARGEST", 8, |it| bytes(it.count("LargestMessage") as f64)).if_wide(),
                number("MAX TO", 6, |it| grouped(it.count("MostRecipients"))).if_wide(),
                number("ERRORS", 7, |it| grouped(it.count("Errors")))
                    .alarms(|it| it.count("Errors") > 0),
                number("REPLY", 8, mean_reply_time),
                number("LONGEST", 8, |it| reply_time(it.count("LongestReplyTime"), it)).if_wide(),
            ],
            Column { fit: Fit::End, ..name("MEMBER", 0, member_of) },
            members,
        );
    }

    fn debug_stats(&mut self, totals: &Dict) {
        self.line("");
        for key in totals.0.keys() {
            if let Some(number) = totals.number(key) {
                let key = self.style.pale(fit(key, 32, Fit::Start));
                self.line(format!("  {key} {:>12}", grouped(number)));
            }
        }
    }

    fn other_connections(&mut self, connections: &[Dict], top: u32) {
        if connections.is_empty() {
            return;
        }
        self.part("Connections", "with the longest queues first");
        let shown = if top == 0 { connections.len() } else { connections.len().min(top as usize) };
        self.table(
            &[
                name("NAME", 8, |it| it.text("UniqueName").unwrap_or("?").to_owned()),
                number("NAMES", 6, |it| grouped(it.count("BusNames"))),
                number("RULES", 6, |it| grouped(it.count("MatchRules"))),
                number("WAITING", 9, |it| bytes(it.count("OutgoingBytes") as f64)),
                number("PEAK", 9, |it| bytes(it.count("PeakOutgoingBytes") as f64)),
            ],
            name("PROCESS", 0, |it| process_of(it.number("ProcessID"), None)),
            &connections[..shown],
        );
    }

    /// Rows of columns; the last column takes the rest of the line.
    fn table(&mut self, columns: &[Column], last: Column, rows: &[Dict]) {
        if rows.is_empty() {
            return self.line("  none");
        }
        let is_wide = self.style.width >= WIDE;
        let columns = columns.iter().filter(|it| is_wide || it.place == Place::Everywhere);
        let columns: Vec<&Column> = columns.collect();
        let taken: usize = columns.iter().map(|column| column.width + 2).sum();
        let rest = self.style.width.saturating_sub(taken + 2).max(LAST_WIDTH_MIN);
        let columns: Vec<_> =
            columns.into_iter().copied().chain([Column { width: rest, ..last }]).collect();
        let titles = columns.iter().map(|it| fit(it.title, it.width, it.fit));
        let titles = self.style.pale(titles.collect::<Vec<_>>().join("  ").trim_end());
        self.line(format!("  {titles}"));
        for row in rows {
            let cells = columns.iter().map(|column| {
                let text = fit(&printable(&(column.cell)(row)), column.width, column.fit);
                if (column.alarm)(row) { self.style.alarm(text) } else { text }
            });
            let line = cells.collect::<Vec<_>>().join("  ");
            self.line(format!("  {line}"));
        }
    }
}

/// A process, with its name if it is one of this machine that is still there.
pub(super) fn process_of(pid: Option<u64>, known_as: Option<&str>) -> String {
    let Some(pid) = pid else { return String::from("?") };
    let comm = known_as.map(str::to_owned);
    let comm = comm.or_else(|| process::comm(u32::try_from(pid).ok()?));
    comm.map_or_else(|| pid.to_string(), |comm| format!("{pid} {comm}"))
}

fn names_of(connection: &Dict) -> String {
    let monitor = connection.is_set("Monitor").then_some("(monitor)");
    let names = connection.texts("Names").into_iter().chain(monitor);
    names.collect::<Vec<_>>().join(" ")
}

fn member_of(member: &Dict) -> String {
    match (member.text("Interface"), member.text("Member")) {
        (Some(""), Some(member)) => member.to_owned(),
        (Some(interface), Some(member)) => format!("{interface}.{member}"),
        _ => String::from("(all others)"),
    }
}

/// How often each byte was moved, and each message validated.
fn copies(totals: &Dict) -> String {
    let per = |part, whole| totals.count(part) as f64 / totals.count(whole).max(1) as f64;
    format!(
        "each byte read once, copied {:.2} times in the bus, written {:.2} times; \
         {:.2} validations per message",
        per("CopiedBytes", "Bytes"),
        per("WrittenBytes", "Bytes"),
        per("ValidatedMessages", "Messages"),
    )
}

fn mean_reply_time(member: &Dict) -> String {
    let answered = member.count("Returns") + member.count("Errors");
    reply_time(member.count("ReplyTime") / answered.max(1), member)
}

/// A time in nanoseconds, if the member was answered at all.
fn reply_time(nanoseconds: u64, member: &Dict) -> String {
    if member.count("Returns") + member.count("Errors") == 0 {
        return String::from("-");
    }
    match nanoseconds as f64 / 1e3 {
        micros if micros < 999.5 => format!("{micros:.0} \u{b5}s"),
        micros if micros < 9_995.0 => format!("{:.1} ms", micros / 1e3),
        micros if micros < 999_500.0 => format!("{:.0} ms", micros / 1e3),
        micros => format!("{:.1} s", micros / 1e6),
    }
}

/// What may be wrong: a word, the key that holds the causes, and whether to say that nothing is.
const TROUBLES: &[(&str, &str, Shown)] = &[
    ("disconnected", "DisconnectCauses", Shown::Always),
    ("turned away", "TurnedAwayCauses", Shown::IfAny),
    ("delayed", "DelayCauses", Shown::IfAny),
    ("refused", "RefusalCauses", Shown::Always),
    ("withheld", "WithholdingCauses", Shown::IfAny),
    ("lost", "LossCauses", Shown::Always),
    ("not started", "FailedStartCauses", Shown::IfAny),
    ("faults", "FaultCauses", Shown::IfAny),
];

/// Cells of what stands before the totals.
const LABEL_WIDTH: usize = 12;

/// Cells of a line on which all columns have room.
const WIDE: usize = 100;

/// Cells of the last column, even if the line gets too long by that.
const LAST_WIDTH_MIN: usize = 12;
