//! Traffic and durations of groups of messages.

use std::collections::HashMap;
use std::time::Duration;

use foldhash::fast::RandomState;
use wire::message::MessageType;

use super::key::{CanonicalNames, GroupKeyKind, MessageGroupKey};
use crate::model::{CallOutcome, Capture, CapturedMessage};
use crate::percentiles::{Percentiles, cells};
use crate::recipients::{SignalRecipients, UnknownReason, is_broadcast};
use crate::record::{BusId, TimeSpan};
use crate::table::{Cell, Column, ColumnUnit, DataTable};

/// Messages grouped by a key.
#[derive(Debug)]
pub struct GroupedTraffic<'c> {
    by: GroupKeyKind,
    names: CanonicalNames<'c>,
    places: HashMap<(BusId, MessageGroupKey), u32, RandomState>,
    groups: Vec<(BusId, MessageGroupKey, MessageGroup)>,
    span: TimeSpan,
    /// The recipients of broadcast signals, or the reason why they are unknown; `None` if they are
    /// not counted.
    recipients: Option<Result<SignalRecipients, UnknownReason>>,
}

/// The totals of a group of messages.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MessageGroup {
    /// The number of messages.
    pub messages: u64,
    /// The size of the messages in bytes.
    pub bytes: u64,
    /// The number of calls.
    pub calls: u64,
    /// The number of signals.
    pub signals: u64,
    /// The number of calls with each outcome, indexed by [`CallOutcome`].
    outcomes: [u64; CallOutcome::ALL.len()],
    /// The durations in nanoseconds from call to reply, of calls with a successful reply.
    pub durations: Vec<u64>,
    /// The total wait of callers in all other calls, in nanoseconds.
    pub failed_total: u64,
    /// The longest of these waits in nanoseconds.
    pub failed_max: u64,
    /// The recipients of broadcast signals in the group.
    audience: GroupAudience,
}

/// The recipients of the broadcast signals whose recipients are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct GroupAudience {
    signals: u64,
    /// The total number of recipients.
    recipients: u64,
    /// The recipients of the signal with the most recipients.
    peak: u64,
}

impl GroupAudience {
    fn add(&mut self, recipients: u64) {
        self.signals += 1;
        self.recipients += recipients;
        self.peak = self.peak.max(recipients);
    }

    fn merge(&mut self, other: Self) {
        self.signals += other.signals;
        self.recipients += other.recipients;
        self.peak = self.peak.max(other.peak);
    }

    fn cells(&self) -> [Cell; 2] {
        let peak = if self.signals == 0 { Cell::Absent } else { Cell::Count(self.peak) };
        [Cell::mean(self.recipients, self.signals), peak]
    }
}

impl MessageGroup {
    /// Adds the counts of another group.
    pub(crate) fn merge(&mut self, other: Self) {
        self.messages += other.messages;
        self.bytes += other.bytes;
        self.calls += other.calls;
        self.signals += other.signals;
        for (sum, count) in self.outcomes.iter_mut().zip(other.outcomes) {
            *sum += count;
        }
        self.durations.extend(other.durations);
        self.failed_total = self.failed_total.saturating_add(other.failed_total);
        self.failed_max = self.failed_max.max(other.failed_max);
        self.audience.merge(other.audience);
    }

    /// Adds a message to the group.
    pub fn add(&mut self, message: &CapturedMessage<'_>) {
        self.messages += 1;
        self.bytes += u64::from(message.len());
        match message.kind() {
            MessageType::MethodCall => self.add_call(message),
            MessageType::Signal => self.signals += 1,
            _ => {}
        }
    }

    fn add_call(&mut self, call: &CapturedMessage<'_>) {
        self.calls += 1;
        let Some(outcome) = call.outcome() else { return };
        self.outcomes[outcome as usize] += 1;
        let waited = call.waited().map(crate::record::nanos);
        if outcome == CallOutcome::Returned {
            self.durations.extend(waited);
            return;
        }
        let waited = waited.unwrap_or_default();
        self.failed_total = self.failed_total.saturating_add(waited);
        self.failed_max = self.failed_max.max(waited);
    }

    /// The number of calls with this outcome.
    pub const fn calls_that(&self, outcome: CallOutcome) -> u64 {
        self.outcomes[outcome as usize]
    }

    /// The number of calls that failed, timed out, or whose callee disconnected.
    pub const fn failures(&self) -> u64 {
        self.calls_that(CallOutcome::Failed)
            + self.calls_that(CallOutcome::TimedOut)
            + self.calls_that(CallOutcome::CalleeLeft)
    }

    /// The number of calls whose caller disconnected before a reply, or was waiting when the
    /// recording ended.
    pub const fn unanswered(&self) -> u64 {
        self.calls_that(CallOutcome::CallerLeft) + self.calls_that(CallOutcome::Waiting)
    }

    /// The total wait of callers, whatever the outcome.
    fn waited(&self) -> u64 {
        self.durations.iter().fold(self.failed_total, |sum, &nanos| sum.saturating_add(nanos))
    }
}

/// The columns of a table of groups.
#[derive(Clone, Copy, PartialEq, Eq)]
enum View {
    Everything,
    /// All columns, including the recipients of signals.
    EverythingWithRecipients,
    Traffic,
    Times,
    /// Only signals with more recipients than usual.
    Recipients,
}

impl<'c> GroupedTraffic<'c> {
    /// Creates an empty collection.
    pub fn new(capture: &'c Capture, by: GroupKeyKind) -> Self {
        Self {
            by,
            names: CanonicalNames::new(capture),
            places: HashMap::default(),
            groups: Vec::new(),
            span: TimeSpan::default(),
            recipients: None,
        }
    }

    /// Creates an empty collection that also counts the recipients of broadcast signals, if the
    /// recording shows them.
    pub fn with_recipients(capture: &'c Capture, by: GroupKeyKind) -> Self {
        Self { recipients: Some(SignalRecipients::find(capture)), ..Self::new(capture, by) }
    }

    /// The reason why recipients of broadcast signals were not counted; `None` if they were, or if
    /// there are no such signals.
    pub fn unknown_recipients(&self) -> Option<UnknownReason> {
        let has_signals = self.groups().any(|group| group.signals > 0);
        let reason = self.recipients.as_ref()?.as_ref().err()?;
        has_signals.then_some(*reason)
    }

    /// Adds a message of the capture to its group.
    pub fn add(&mut self, message: &CapturedMessage<'c>) {
        self.span.add(message.at());
        let Some(key) = self.by.key(message, &mut self.names) else { return };
        let next = self.groups.len() as u32;
        let place = *self.places.entry((message.bus(), key)).or_insert(next);
        if place == next {
            self.groups.push((message.bus(), key, MessageGroup::default()));
        }
        let group = &mut self.groups[place as usize].2;
        group.add(message);
        if let Some(Ok(recipients)) = &mut self.recipients
            && is_broadcast(message)
            && let Ok(Some(count)) = recipients.of(message)
        {
            group.audience.add(count);
        }
    }

    /// Returns all groups, in no particular order.
    pub fn groups(&self) -> impl Iterator<Item = &MessageGroup> {
        self.groups.iter().map(|(_, _, group)| group)
    }

    /// Creates a table with all columns, sorted by the number of messages.
    pub fn table(&self) -> DataTable {
        let view = match self.recipients {
            Some(_) => View::EverythingWithRecipients,
            None => View::Everything,
        };
        self.rows(view, |group| group.messages)
    }

    /// Creates a table of the groups that have a signal with more than three recipients, sorted by
    /// recipients; `None` if recipients are unknown.
    pub fn most_recipients(&self) -> Option<DataTable> {
        let is_known = matches!(self.recipients, Some(Ok(_)));
        is_known.then(|| self.rows(View::Recipients, |group| group.audience.peak))
    }

    /// Creates a table of the traffic of each group, sorted by the number of messages.
    pub fn traffic(&self) -> DataTable {
        self.rows(View::Traffic, |group| group.messages)
    }

    /// Creates a table of the durations of the calls in each group, sorted by the total wait of
    /// callers. Groups without calls are omitted.
    pub fn times(&self) -> DataTable {
        self.rows(View::Times, MessageGroup::waited)
    }

    fn rows(&self, view: View, order: impl Fn(&MessageGroup) -> u64) -> DataTable {
        let mut rows: Vec<_> = self.groups.iter().collect();
        match view {
            View::Times => rows.retain(|(_, _, group)| group.calls > 0),
            View::Recipients => {
                rows.retain(|(_, _, group)| group.audience.peak > RECIPIENTS_USUAL);
            }
            View::Everything | View::EverythingWithRecipients | View::Traffic => {}
        }
        rows.sort_by_cached_key(|(_, _, group)| std::cmp::Reverse(order(group)));
        let mut columns = self.by.columns();
        if matches!(view, View::Times | View::Recipients) {
            columns.retain(|column| column.name != "type");
        }
        let labels = columns.len();
        columns.extend(view.columns());
        let mut table = DataTable::new(columns);
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
            Self::Everything => [spared_traffic(), TIMES.to_vec()].concat(),
            Self::EverythingWithRecipients => {
                let recipients = RECIPIENTS.map(Column::helpful);
                [spared_traffic(), TIMES.to_vec(), recipients.to_vec()].concat()
            }
            Self::Traffic => TRAFFIC.to_vec(),
            Self::Recipients => [&[SIGNALS], &RECIPIENTS[..]].concat(),
            Self::Times => [&[CALLS, WAITED], TIMES].concat(),
        }
    }

    fn cells(self, group: &MessageGroup, messages: u64, span: Duration) -> Vec<Cell> {
        let calls = Cell::Count(group.calls);
        let waited = nanos(group.waited());
        match self {
            Self::Everything => {
                traffic(group, messages, span).into_iter().chain(times(group)).collect()
            }
            Self::EverythingWithRecipients => {
                let traffic = traffic(group, messages, span).into_iter();
                traffic.chain(times(group)).chain(group.audience.cells()).collect()
            }
            Self::Recipients => {
                [counted(group.signals)].into_iter().chain(group.audience.cells()).collect()
            }
            Self::Traffic => traffic(group, messages, span),
            Self::Times => [calls, waited].into_iter().chain(times(group)).collect(),
        }
    }
}

const CALLS: Column = Column::number("calls", ColumnUnit::Count);

/// The column of the total wait of callers, whatever the outcome. It determines the order of the
/// table.
const WAITED: Column = Column::number("waited", ColumnUnit::Time);

const TRAFFIC: &[Column] = &[
    Column::number("messages", ColumnUnit::Count),
    Column::number("share", ColumnUnit::Share).helpful(),
    Column::number("rate", ColumnUnit::Rate).helpful(),
    Column::number("bytes", ColumnUnit::Bytes).helpful(),
    CALLS.spare(),
    SIGNALS.spare(),
];

/// The traffic columns of a wide table. Names need more space than columns that can be derived from
/// others.
fn spared_traffic() -> Vec<Column> {
    let is_derived = |column: &Column| column.unit == ColumnUnit::Share;
    TRAFFIC.iter().map(|it| if is_derived(it) { it.spare() } else { *it }).collect()
}

const SIGNALS: Column = Column::number("signals", ColumnUnit::Count);

/// The columns for recipients of broadcast signals: the average, and the maximum.
const RECIPIENTS: [Column; 2] = [
    Column::number("recipients", ColumnUnit::Mean),
    Column::number("peak recipients", ColumnUnit::Count),
];

/// The number of recipients up to which signals of services are considered usual.
const RECIPIENTS_USUAL: u64 = 3;

fn traffic(group: &MessageGroup, messages: u64, span: Duration) -> Vec<Cell> {
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
    Column::number("p50", ColumnUnit::Time).spare(),
    Column::number("p90", ColumnUnit::Time).spare(),
    Column::number("p99", ColumnUnit::Time),
    Column::number("max", ColumnUnit::Time).spare(),
    Column::number("total", ColumnUnit::Time),
    Column::number("errors", ColumnUnit::Count),
    Column::number("time-outs", ColumnUnit::Count).helpful(),
    Column::number("callee left", ColumnUnit::Count).helpful(),
    Column::number("unanswered", ColumnUnit::Count).helpful(),
    Column::number("caller left", ColumnUnit::Count).spare(),
    Column::number("waiting", ColumnUnit::Count).spare(),
    Column::number("unknown", ColumnUnit::Count).spare(),
    Column::number("mean", ColumnUnit::Time).spare(),
    Column::number("failed total", ColumnUnit::Time).spare(),
    Column::number("failed max", ColumnUnit::Time).spare(),
];

fn times(group: &MessageGroup) -> [Cell; 15] {
    let [p50, p90, p99, max, total, mean] = cells(
        &mut group.durations.clone(),
        [|it| it.p50, |it| it.p90, |it| it.p99, |it| it.max, |it| it.total, Percentiles::mean],
    );
    [
        p50,
        p90,
        p99,
        max,
        total,
        counted(group.calls_that(CallOutcome::Failed)),
        counted(group.calls_that(CallOutcome::TimedOut)),
        counted(group.calls_that(CallOutcome::CalleeLeft)),
        counted(group.unanswered()),
        counted(group.calls_that(CallOutcome::CallerLeft)),
        counted(group.calls_that(CallOutcome::Waiting)),
        counted(group.calls_that(CallOutcome::Unknown)),
        mean,
        nanos(group.failed_total),
        nanos(group.failed_max),
    ]
}

/// A cell with a number; zero is left empty.
const fn counted(count: u64) -> Cell {
    if count == 0 { Cell::Absent } else { Cell::Count(count) }
}

/// A cell with a duration; zero is left empty.
const fn nanos(nanos: u64) -> Cell {
    if nanos == 0 { Cell::Absent } else { Cell::nanos(nanos) }
}
