//! The report of `timeline`: blocked callers, slow calls, and the start of services.

use capture::Capture;
use capture::activation::failed_starts;
use capture::model::Health;
use capture::query::Query;
use capture::record::{CaptureMethod, nanos};
use capture::statistics::Caveat;
use capture::table::DataTable;
use capture::text::Style;
use capture::text::columns::folded;
use capture::text::units::{counted, duration, grouped};
use capture::timeline::{
    BusShares, StartUp, blocked, blocked_table, bus_shares, failed_starts_table, parties, shares,
    slowest, slowest_table, start_ups,
};
use serde::Serialize;

/// The figures of the report, which are serialized for `--json`.
#[derive(Debug, Serialize)]
pub(super) struct TimelineScreen {
    #[serde(flatten)]
    source: TimelineSource,
    /// The origin of the times.
    times: TimeOrigin,
    /// The number of messages whose headers were cut, which are missing in all tables.
    headers_cut: u64,
    /// Notes about messages that were read late.
    late: Vec<String>,
    /// Notes about pauses of a bus whose program was replaced.
    replaced: Vec<String>,
    blocked: DataTable,
    slowest: DataTable,
    #[serde(skip_serializing_if = "Option::is_none")]
    phases: Option<DataTable>,
    #[serde(skip_serializing_if = "Option::is_none")]
    in_bus: Option<BusShares>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parties: Option<DataTable>,
    /// Services that did not start.
    failed_starts: DataTable,
    start_ups: Vec<StartUpReport>,
    start_ups_omitted: usize,
}

/// The source of the messages.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum TimelineSource {
    /// Recordings that were read.
    Recordings {
        /// The paths of their files.
        files: Vec<String>,
        /// The heading with these paths.
        #[serde(skip)]
        heading: String,
    },
    /// A bus that is watched live.
    Bus {
        /// The name of the bus for headings.
        bus: String,
    },
}

/// The origin of the times: a bus that traced itself, or a monitor that read copies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
enum TimeOrigin {
    Bus,
    Monitor,
}

/// The start of one service.
#[derive(Debug, Serialize)]
struct StartUpReport {
    service: String,
    length_ns: u64,
    steps_omitted: usize,
    steps: DataTable,
}

impl TimelineScreen {
    /// Computes the report for the calls that a query selects, and for all service starts.
    pub(super) fn of(
        source: TimelineSource,
        capture: &Capture,
        query: &Query,
        rows: usize,
    ) -> Self {
        let mut matcher = query.matcher();
        let mut selects = |message: &capture::model::CapturedMessage<'_>| matcher.selects(message);
        let phases = shares(capture, &mut selects);
        let in_bus = bus_shares(capture, &mut selects);
        let mut waits = blocked_table(&blocked(capture, &mut selects));
        waits.truncate(rows);
        let waits = source.fit_columns(waits);
        let mut failed = failed_starts_table(&failed_starts(capture, |_| true));
        failed.truncate(rows);
        let failed_starts = source.fit_columns(failed);
        let start_ups = start_ups(capture);
        let shown = start_ups.iter().take(rows.min(START_UPS.max(rows / 2)));
        let shown: Vec<_> = shown.map(|one| StartUpReport::of(one, capture, rows)).collect();
        let calls = source.fit_columns(slowest_table(&slowest(capture, &mut selects, rows)));
        Self {
            source,
            times: TimeOrigin::of(capture),
            headers_cut: capture.messages().filter(|one| one.health() == Health::HeaderCut).count()
                as u64,
            late: Caveat::of_lateness(capture).iter().map(Caveat::to_string).collect(),
            replaced: Caveat::of_replacements(capture).iter().map(Caveat::to_string).collect(),
            blocked: waits,
            slowest: calls,
            phases,
            in_bus,
            parties: parties(capture, &mut selects),
            failed_starts,
            start_ups_omitted: start_ups.len() - shown.len(),
            start_ups: shown,
        }
    }

    /// Returns the report as text.
    pub(super) fn text(&self, style: Style) -> String {
        let mut text = style.strong(self.source.name()) + "\n";
        text += &note_lines(self.times.note(), style);
        let notes = self.late.iter().chain(&self.replaced);
        let notes = notes.map(|caveat| format!("note: {caveat}"));
        for note in self.headers_note().into_iter().chain(notes) {
            text += &note_lines(&note, style);
        }
        let heading = text.lines().count();
        let about = "callers that sent no other message until the reply";
        text += &section(style, "Blocked callers", about, &self.blocked);
        let about = match self.parties {
            Some(_) => "when the service was woken, and how long it had a processor",
            None if self.slowest.shows("bar", style) => self.times.about_bars(),
            None => "from call to reply",
        };
        text += &section(style, "Slowest calls", about, &self.slowest);
        if let Some(phases) = &self.phases {
            text += &section(style, "Where call time went", "share of the total", phases);
            if self.parties.is_none() {
                text += &note_lines(SERVICE_NOTE, style);
            }
        }
        if let Some(in_bus) = &self.in_bus {
            let about = "share of the time until the last copy was written";
            text += &section(style, "Where the bus spends its time", about, &in_bus.table);
            for note in bus_notes(in_bus) {
                text += &note_lines(&note, style);
            }
        }
        if let Some(parties) = &self.parties {
            let about = "from the context switches of their processes";
            text += &section(style, "Wake-ups and processor time of the peers", about, parties);
        }
        let about = "with the responsible service if it is another one";
        text += &section(style, "Services that did not start", about, &self.failed_starts);
        for start in &self.start_ups {
            text += &start.text(style);
        }
        if self.start_ups_omitted > 0 {
            let more = counted(self.start_ups_omitted as u64, "start", "starts");
            text += &format!("\n{}\n", style.pale(format!("{more} more; --top=0 shows all")));
        }
        if text.lines().count() == heading && self.headers_cut == 0 {
            text += "\n  no call got a reply, and no service started\n";
        }
        text
    }

    /// A note about messages whose headers were cut.
    fn headers_note(&self) -> Option<String> {
        match self.headers_cut {
            0 => None,
            cut => Some(format!(
                "note: the headers of {} were cut: their calls, replies and service starts are unknown",
                counted(cut, "message", "messages")
            )),
        }
    }
}

impl TimelineSource {
    /// Removes the message numbers for a bus, because its messages are not stored in a file.
    fn fit_columns(&self, table: DataTable) -> DataTable {
        match self {
            Self::Recordings { .. } => table,
            Self::Bus { .. } => table.without(&["number"]),
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Recordings { heading, .. } => heading.clone(),
            Self::Bus { bus } => bus.clone(),
        }
    }
}

impl TimeOrigin {
    /// Returns `Bus` only if all buses of the recording traced themselves.
    fn of(capture: &Capture) -> Self {
        let buses = capture.buses();
        let is_traced = buses.iter().all(|bus| bus.method == CaptureMethod::Trace);
        if is_traced && !buses.is_empty() { Self::Bus } else { Self::Monitor }
    }

    const fn note(self) -> &'static str {
        match self {
            Self::Bus => {
                "timestamps were taken by the bus itself; a duration is from when it received the call \
                 until it had written the reply"
            }
            Self::Monitor => {
                "timestamps are from when a monitor received its copy, so durations are estimates; \
                 the share of the bus, and how long the bus held signals, are unknown"
            }
        }
    }

    const fn about_bars(self) -> &'static str {
        match self {
            Self::Bus => "▒ is the time in the bus",
            Self::Monitor => "from call to reply",
        }
    }
}

impl StartUpReport {
    fn of(start_up: &StartUp, capture: &Capture, rows: usize) -> Self {
        let steps = start_up.table(capture, rows);
        let all = start_up.milestones.len() + start_up.path.len();
        Self {
            service: capture.label(start_up.peer).into_owned(),
            length_ns: nanos(start_up.length()),
            steps_omitted: all - steps.rows().len(),
            steps,
        }
    }

    fn text(&self, style: Style) -> String {
        let length = duration(std::time::Duration::from_nanos(self.length_ns));
        let omitted = match self.steps_omitted {
            0 => String::new(),
            1 => String::from("; 1 shorter step is left out"),
            omitted => format!("; {} shorter steps are left out", grouped(omitted as u64)),
        };
        section(style, &format!("Start of {}", self.service), &(length + &omitted), &self.steps)
    }
}

/// Notes about phases that the bus did not measure, and about messages that are not counted.
fn bus_notes(in_bus: &BusShares) -> Vec<String> {
    let mut notes = Vec::new();
    if !in_bus.has_stages {
        notes.push(String::from(STAGES_NOTE));
    }
    if in_bus.omitted > 0 {
        notes.push(format!(
            "note: {} not counted, because the bus did not measure all phases, or did not write all \
             copies while the recording lasted",
            counted(in_bus.omitted, "message is", "messages are")
        ));
    }
    notes
}

/// Formats a note as indented lines.
fn note_lines(note: &str, style: Style) -> String {
    let lines = folded(note, style.width.saturating_sub(2));
    lines.into_iter().map(|line| format!("  {}\n", style.pale(line))).collect()
}

/// A table below its title; empty if the table has no rows.
fn section(style: Style, title: &str, about: &str, table: &DataTable) -> String {
    if table.rows().is_empty() {
        return String::new();
    }
    let about = match table.omitted() {
        0 => about.to_owned(),
        omitted => format!("{about} ({} more)", grouped(omitted as u64)),
    };
    format!("\n{}{}", heading(style, title, &about), table.to_text(style))
}

/// A title and its description, folded to the width.
fn heading(style: Style, title: &str, about: &str) -> String {
    let lines = folded(&format!("{title}, {about}"), style.width);
    let mut lines = lines.iter();
    let first = lines.next().map_or("", String::as_str);
    let first = match first.strip_prefix(title) {
        Some(rest) => format!("{}{}", style.strong(title), style.pale(rest)),
        None => style.strong(first),
    };
    let more = lines.map(|line| format!("{}\n", style.pale(line)));
    more.fold(first + "\n", |text, line| text + &line)
}

/// The note that is printed if the recording has no scheduler records.
const SERVICE_NOTE: &str = "note: \"service\" includes the time that replies waited for the bus; \
                            record with --switches to tell them apart";

/// The limit of the figures in recordings of older buses, and of machines without a suitable clock.
const STAGES_NOTE: &str = "note: \"route\" is receiving, dispatch and match rules together: the bus did not \
                           measure them, see \"What is in a ring\" in docs/trace.md";

/// The minimum number of service starts in the report.
const START_UPS: usize = 3;
