//! The first screen: who was blocked, what was slow, how services came up.

use capture::Capture;
use capture::model::Health;
use capture::query::Query;
use capture::record::Method;
use capture::table::Table;
use capture::text::Style;
use capture::text::columns::folded;
use capture::text::units::{counted, duration, grouped};
use capture::timeline::{
    StartUp, blocked, blocked_table, parties, shares, slowest, slowest_table, start_ups,
};
use serde::Serialize;

/// What is told.
#[derive(Debug, Serialize)]
pub(super) struct Screen {
    #[serde(flatten)]
    source: Source,
    /// Whether times are those of a bus, or those at which a monitor read.
    times: Times,
    /// Messages whose headers were cut, so that they are in no table.
    headers_cut: u64,
    blocked: Table,
    slowest: Table,
    #[serde(skip_serializing_if = "Option::is_none")]
    phases: Option<Table>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parties: Option<Table>,
    start_ups: Vec<Start>,
    start_ups_omitted: usize,
}

/// What is told of.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Source {
    /// Recordings.
    Recordings {
        /// The names of their files.
        files: Vec<String>,
        /// The same, for people.
        #[serde(skip)]
        heading: String,
    },
    /// A bus that is watched.
    Bus {
        /// Its name.
        bus: String,
    },
}

/// Whose times the recording has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Times {
    Bus,
    Monitor,
}

/// How a service came up.
#[derive(Debug, Serialize)]
struct Start {
    service: String,
    length_ns: u64,
    steps_omitted: usize,
    steps: Table,
}

impl Screen {
    /// Looks at the calls that a query selects, but for the recorder's own, and all start-ups.
    pub(super) fn of(source: Source, capture: &Capture, query: &Query, rows: usize) -> Self {
        let mut matcher = query.traffic();
        let mut selects = |message: &capture::model::Message<'_>| matcher.selects(message);
        let phases = shares(capture, &mut selects);
        let mut waits = blocked_table(&blocked(capture, &mut selects));
        waits.truncate(rows);
        let waits = source.fit(waits);
        let start_ups = start_ups(capture);
        let shown = start_ups.iter().take(rows.min(START_UPS.max(rows / 2)));
        let shown: Vec<_> = shown.map(|one| Start::of(one, capture, rows)).collect();
        let calls = source.fit(slowest_table(&slowest(capture, &mut selects, rows)));
        Self {
            source,
            times: Times::of(capture),
            headers_cut: capture.messages().filter(|one| one.health() == Health::HeaderCut).count()
                as u64,
            blocked: waits,
            slowest: calls,
            phases,
            parties: parties(capture, &mut selects),
            start_ups_omitted: start_ups.len() - shown.len(),
            start_ups: shown,
        }
    }

    /// As people read it.
    pub(super) fn text(&self, style: Style) -> String {
        let mut text = style.strong(self.source.name()) + "\n";
        for line in folded(self.times.note(), style.width.saturating_sub(2)) {
            text += &format!("  {}\n", style.pale(line));
        }
        if let Some(note) = self.headers_note() {
            for line in folded(&note, style.width.saturating_sub(2)) {
                text += &format!("  {}\n", style.pale(line));
            }
        }
        let heading = text.lines().count();
        let about = "they sent nothing else until the answer came";
        text += &part(style, "Who was blocked on whom", about, &self.blocked);
        let about = match self.parties {
            Some(_) => "when the service was woken, and how long it had a processor",
            None if self.slowest.shows("bar", style) => self.times.about_bars(),
            None => "from call to reply",
        };
        text += &part(style, "Slowest calls", about, &self.slowest);
        if let Some(phases) = &self.phases {
            text += &part(style, "Where the time of calls went", "share of the total", phases);
            if self.parties.is_none() {
                for line in folded(SERVICE_NOTE, style.width.saturating_sub(2)) {
                    text += &format!("  {}\n", style.pale(line));
                }
            }
        }
        if let Some(parties) = &self.parties {
            let about = "as the kernel has switched their processes";
            text += &part(style, "What the parties to calls did", about, parties);
        }
        for start in &self.start_ups {
            text += &start.text(style);
        }
        if self.start_ups_omitted > 0 {
            let more = counted(self.start_ups_omitted as u64, "start-up", "start-ups");
            text += &format!("\n{}\n", style.pale(format!("{more} more; --top=0 shows all")));
        }
        if text.lines().count() == heading && self.headers_cut == 0 {
            text += "\n  no call was answered, and no service came up\n";
        }
        text
    }

    /// What is not shown, and not known.
    fn headers_note(&self) -> Option<String> {
        match self.headers_cut {
            0 => None,
            cut => Some(format!(
                "note: the headers of {} were cut: which of them are calls with their replies, and which \
                 services came up, is not known",
                counted(cut, "message", "messages")
            )),
        }
    }
}

impl Source {
    /// Of a bus there are no numbers of messages by which to find them again.
    fn fit(&self, table: Table) -> Table {
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

impl Times {
    /// Of a recording of several buses, all of them must have recorded themselves.
    fn of(capture: &Capture) -> Self {
        let buses = capture.buses();
        let is_traced = buses.iter().all(|bus| bus.method == Method::Trace);
        if is_traced && !buses.is_empty() { Self::Bus } else { Self::Monitor }
    }

    const fn note(self) -> &'static str {
        match self {
            Self::Bus => {
                "times are those of the bus, which has recorded itself: from when it received the \
                 call until it had written the reply"
            }
            Self::Monitor => {
                "times are estimates, from when a monitor read the call until it read the reply; \
                 what of it was the bus is not known"
            }
        }
    }

    const fn about_bars(self) -> &'static str {
        match self {
            Self::Bus => "the part of the bus is pale",
            Self::Monitor => "from call to reply",
        }
    }
}

impl Start {
    fn of(start_up: &StartUp, capture: &Capture, rows: usize) -> Self {
        let steps = start_up.table(capture, rows);
        let all = start_up.milestones.len() + start_up.path.len();
        Self {
            service: capture.label(start_up.peer).into_owned(),
            length_ns: u64::try_from(start_up.length().as_nanos()).unwrap_or(u64::MAX),
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
        part(style, &format!("Start of {}", self.service), &(length + &omitted), &self.steps)
    }
}

/// A table with its title; nothing if it has no row.
fn part(style: Style, title: &str, about: &str, table: &Table) -> String {
    if table.rows().is_empty() {
        return String::new();
    }
    let about = match table.omitted() {
        0 => about.to_owned(),
        omitted => format!("{about}; {} more", grouped(omitted as u64)),
    };
    format!("\n{}, {}\n{}", style.strong(title), style.pale(about), table.to_text(style))
}

/// What the recording does not show without scheduler facts.
const SERVICE_NOTE: &str = "note: \"service\" includes the time that replies waited for the bus; \
                            record with --switches to tell them apart";

/// Start-ups of one screen.
const START_UPS: usize = 3;
