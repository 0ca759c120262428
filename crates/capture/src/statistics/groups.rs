//! Traffic and durations of groups of messages.

use std::collections::HashMap;
use std::time::Duration;

use foldhash::fast::RandomState;
use wire::message::MessageType;

use super::key::{By, Key, Names};
use super::percentiles::Percentiles;
use super::summary;
use crate::model::{CallOutcome, Capture, Message};
use crate::record::BusId;
use crate::table::{Cell, Column, Table, Unit};

/// Messages by what they have in common.
#[derive(Debug)]
pub struct Groups<'c> {
    by: By,
    names: Names<'c>,
    places: HashMap<(BusId, Key), u32, RandomState>,
    groups: Vec<(BusId, Key, Group)>,
    span: summary::Span,
}

/// What messages of a group are, together.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Group {
    /// How many.
    pub messages: u64,
    /// Bytes that they had.
    pub bytes: u64,
    /// Calls among them.
    pub calls: u64,
    /// Signals among them.
    pub signals: u64,
    /// Calls of each outcome, by [`CallOutcome`].
    outcomes: [u64; CallOutcome::ALL.len()],
    /// From call to return, in nanoseconds; only of calls that returned.
    pub durations: Vec<u64>,
    /// How long callers waited in all other calls, in nanoseconds, all together.
    pub failed_total: u64,
    /// The longest of these waits.
    pub failed_max: u64,
}

impl Group {
    /// Counts a message.
    pub fn add(&mut self, message: &Message<'_>) {
        self.messages += 1;
        self.bytes += u64::from(message.len());
        match message.kind() {
            MessageType::MethodCall => self.add_call(message),
            MessageType::Signal => self.signals += 1,
            _ => {}
        }
    }

    fn add_call(&mut self, call: &Message<'_>) {
        self.calls += 1;
        let Some(outcome) = call.outcome() else { return };
        self.outcomes[outcome as usize] += 1;
        let waited = call.waited().map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        if outcome == CallOutcome::Returned {
            self.durations.extend(waited);
            return;
        }
        let waited = waited.unwrap_or_default();
        self.failed_total = self.failed_total.saturating_add(waited);
        self.failed_max = self.failed_max.max(waited);
    }

    /// How many calls had this outcome.
    pub const fn calls_that(&self, outcome: CallOutcome) -> u64 {
        self.outcomes[outcome as usize]
    }

    /// Calls that got an error, or that timed out, or whose callee left.
    pub const fn failures(&self) -> u64 {
        self.calls_that(CallOutcome::Failed)
            + self.calls_that(CallOutcome::TimedOut)
            + self.calls_that(CallOutcome::CalleeLeft)
    }

    /// Calls whose callers left before a reply, or were waiting when the recording ended.
    pub const fn unanswered(&self) -> u64 {
        self.calls_that(CallOutcome::CallerLeft) + self.calls_that(CallOutcome::Waiting)
    }

    /// Time that callers have waited, whatever came of it.
    fn waited(&self) -> u64 {
        self.durations.iter().fold(self.failed_total, |sum, &nanos| sum.saturating_add(nanos))
    }
}

/// What of the groups a table tells.
#[derive(Clone, Copy, PartialEq, Eq)]
enum View {
    Everything,
    Traffic,
    Times,
}

impl<'c> Groups<'c> {
    /// No messages yet.
    pub fn new(capture: &'c Capture, by: By) -> Self {
        Self {
            by,
            names: Names::new(capture),
            places: HashMap::default(),
            groups: Vec::new(),
            span: summary::Span::default(),
        }
    }

    /// Counts a message of the capture.
    pub fn add(&mut self, message: &Message<'c>) {
        self.span.add(message.at());
        let Some(key) = self.by.key(message, &mut self.names) else { return };
        let next = self.groups.len() as u32;
        let place = *self.places.entry((message.bus(), key)).or_insert(next);
        if place == next {
            self.groups.push((message.bus(), key, Group::default()));
        }
        self.groups[place as usize].2.add(message);
    }

    /// All groups.
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().map(|(_, _, group)| group)
    }

    /// All that is known of each group, those with most messages first.
    pub fn table(&self) -> Table {
        self.rows(View::Everything, |group| group.messages)
    }

    /// How many messages each group is, those with most first.
    pub fn traffic(&self) -> Table {
        self.rows(View::Traffic, |group| group.messages)
    }

    /// How long the calls of each group took, those first that callers have waited longest for, all
    /// calls together. Groups without calls are not there.
    pub fn times(&self) -> Table {
        self.rows(View::Times, Group::waited)
    }

    fn rows(&self, view: View, order: impl Fn(&Group) -> u64) -> Table {
        let mut rows: Vec<_> = self.groups.iter().collect();
        if view == View::Times {
            rows.retain(|(_, _, group)| group.calls > 0);
        }
        rows.sort_by_cached_key(|(_, _, group)| std::cmp::Reverse(order(group)));
        let mut columns = self.by.columns();
        if view == View::Times {
            columns.retain(|column| column.name != "type");
        }
        let labels = columns.len();
        columns.extend(view.columns());
        let mut table = Table::new(columns);
        let messages = self.groups().map(|group| group.messages).sum();
        for (bus, key, group) in rows {
            let mut row = self.names.cells(self.by, *bus, *key);
            row.truncate(labels);
            row.extend(view.cells(group, messages, self.span.length()));
            table.push(row);
        }
        table
    }
}

impl View {
    fn columns(self) -> Vec<Column> {
        match self {
            // Names are worth more room than what can be reckoned from other columns.
            Self::Everything => {
                let traffic = TRAFFIC.iter().map(|column| match column.unit {
                    Unit::Share => column.spare(),
                    _ => *column,
                });
                traffic.chain(TIMES.iter().copied()).collect()
            }
            Self::Traffic => TRAFFIC.to_vec(),
            Self::Times => [&[CALLS, WAITED], TIMES].concat(),
        }
    }

    fn cells(self, group: &Group, messages: u64, span: Duration) -> Vec<Cell> {
        let calls = Cell::Count(group.calls);
        let waited = nanos(group.waited());
        match self {
            Self::Everything => {
                let mut cells = traffic(group, messages, span);
                cells.extend(times(group));
                cells
            }
            Self::Traffic => traffic(group, messages, span),
            Self::Times => [calls, waited].into_iter().chain(times(group)).collect(),
        }
    }
}

const CALLS: Column = Column::number("calls", Unit::Count);

/// How long callers waited in all calls, whatever came of them: the order of the table.
const WAITED: Column = Column::number("waited", Unit::Time);

const TRAFFIC: &[Column] = &[
    Column::number("messages", Unit::Count),
    Column::number("share", Unit::Share).helpful(),
    Column::number("rate", Unit::Rate).helpful(),
    Column::number("bytes", Unit::Bytes).helpful(),
    CALLS.spare(),
    Column::number("signals", Unit::Count).spare(),
];

fn traffic(group: &Group, messages: u64, span: Duration) -> Vec<Cell> {
    vec![
        Cell::Count(group.messages),
        Cell::share(group.messages, messages),
        Cell::rate(group.messages, span),
        Cell::Bytes(group.bytes),
        counted(group.calls),
        counted(group.signals),
    ]
}

const TIMES: &[Column] = &[
    Column::number("p50", Unit::Time).spare(),
    Column::number("p90", Unit::Time).spare(),
    Column::number("p99", Unit::Time),
    Column::number("max", Unit::Time).spare(),
    Column::number("total", Unit::Time),
    Column::number("errors", Unit::Count),
    Column::number("time-outs", Unit::Count).helpful(),
    Column::number("callee left", Unit::Count).helpful(),
    Column::number("unanswered", Unit::Count).helpful(),
    Column::number("caller left", Unit::Count).spare(),
    Column::number("waiting", Unit::Count).spare(),
    Column::number("unknown", Unit::Count).spare(),
    Column::number("mean", Unit::Time).spare(),
    Column::number("failed total", Unit::Time).spare(),
    Column::number("failed max", Unit::Time).spare(),
];

fn times(group: &Group) -> [Cell; 15] {
    let percentiles = Percentiles::of(&mut group.durations.clone());
    let time = |of: fn(&Percentiles) -> Duration| {
        percentiles.as_ref().map_or(Cell::Absent, |found| Cell::Time(of(found)))
    };
    [
        time(|found| found.p50),
        time(|found| found.p90),
        time(|found| found.p99),
        time(|found| found.max),
        time(|found| found.total),
        counted(group.calls_that(CallOutcome::Failed)),
        counted(group.calls_that(CallOutcome::TimedOut)),
        counted(group.calls_that(CallOutcome::CalleeLeft)),
        counted(group.unanswered()),
        counted(group.calls_that(CallOutcome::CallerLeft)),
        counted(group.calls_that(CallOutcome::Waiting)),
        counted(group.calls_that(CallOutcome::Unknown)),
        time(Percentiles::mean),
        nanos(group.failed_total),
        nanos(group.failed_max),
    ]
}

/// How many, where none is nothing to look at.
const fn counted(count: u64) -> Cell {
    if count == 0 { Cell::Absent } else { Cell::Count(count) }
}

/// How long, where no time is nothing to look at.
const fn nanos(nanos: u64) -> Cell {
    if nanos == 0 { Cell::Absent } else { Cell::nanos(nanos) }
}
