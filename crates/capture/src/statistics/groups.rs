//! Traffic and durations of groups of messages.

use std::collections::HashMap;
use std::time::Duration;

use foldhash::fast::RandomState;
use wire::message::MessageType;

use super::key::{CanonicalNames, GroupKeyKind, MessageGroupKey};
use crate::model::{CallOutcome, Capture, CapturedMessage};
use crate::percentiles::{Percentiles, cells};
use crate::recipients::{SignalRecipients, Unknowable, is_broadcast};
use crate::record::{BusId, TimeSpan};
use crate::table::{Cell, Column, ColumnUnit, DataTable};

/// Messages by what they have in common.
#[derive(Debug)]
pub struct GroupedTraffic<'c> {
    by: GroupKeyKind,
    names: CanonicalNames<'c>,
    places: HashMap<(BusId, MessageGroupKey), u32, RandomState>,
    groups: Vec<(BusId, MessageGroupKey, MessageGroup)>,
    span: TimeSpan,
    /// Recipients of broadcast signals, or why they are unknown; `None` if they are not counted.
    recipients: Option<Result<SignalRecipients, Unknowable>>,
}

/// What messages of a group are, together.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MessageGroup {
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
    /// Recipients of its broadcast signals.
    audience: GroupAudience,
}

/// The recipients of broadcast signals, of those signals whose recipients are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct GroupAudience {
    signals: u64,
    /// Of all these signals together.
    recipients: u64,
    /// Of the signal with the most recipients.
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
    /// Takes in what another group has counted.
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

    /// Counts a message.
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
    /// The same with the recipients of signals.
    EverythingWithRecipients,
    Traffic,
    Times,
    /// The signals with more recipients than most.
    Recipients,
}

impl<'c> GroupedTraffic<'c> {
    /// No messages yet.
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

    /// No messages yet; counts how many recipients broadcast signals have, if the recording shows it.
    pub fn with_recipients(capture: &'c Capture, by: GroupKeyKind) -> Self {
        Self { recipients: Some(SignalRecipients::find(capture)), ..Self::new(capture, by) }
    }

    /// Why recipients of broadcast signals in these groups were not counted; `None` if they were, or if
    /// there are no such signals.
    pub fn unknown_recipients(&self) -> Option<Unknowable> {
        let has_signals = self.groups().any(|group| group.signals > 0);
        let reason = self.recipients.as_ref()?.as_ref().err()?;
        has_signals.then_some(*reason)
    }

    /// Counts a message of the capture.
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

    /// All groups.
    pub fn groups(&self) -> impl Iterator<Item = &MessageGroup> {
        self.groups.iter().map(|(_, _, group)| group)
    }

    /// All that is known of each group, those with most messages first.
    pub fn table(&self) -> DataTable {
        let view = match self.recipients {
            Some(_) => View::EverythingWithRecipients,
            None => View::Everything,
        };
        self.rows(view, |group| group.messages)
    }

    /// The groups that have a signal with more than three recipients, the one with most
    /// recipients first; `None` if recipients are not known.
    pub fn most_recipients(&self) -> Option<DataTable> {
        let is_known = matches!(self.recipients, Some(Ok(_)));
        is_known.then(|| self.rows(View::Recipients, |group| group.audience.peak))
    }

    /// How many messages each group is, those with most first.
    pub fn traffic(&self) -> DataTable {
        self.rows(View::Traffic, |group| group.messages)
    }

    /// How long the calls of each group took, those first that callers have waited longest for, all
    /// calls together. Groups without calls are not there.
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

/// How long callers waited in all calls, whatever came of them: the order of the table.
const WAITED: Column = Column::number("waited", ColumnUnit::Time);

const TRAFFIC: &[Column] = &[
    Column::number("messages", ColumnUnit::Count),
    Column::number("share", ColumnUnit::Share).helpful(),
    Column::number("rate", ColumnUnit::Rate).helpful(),
    Column::number("bytes", ColumnUnit::Bytes).helpful(),
    CALLS.spare(),
    SIGNALS.spare(),
];

/// The traffic beside much else: names are worth more room than what follows from other columns.
fn spared_traffic() -> Vec<Column> {
    let is_derived = |column: &Column| column.unit == ColumnUnit::Share;
    TRAFFIC.iter().map(|it| if is_derived(it) { it.spare() } else { *it }).collect()
}

const SIGNALS: Column = Column::number("signals", ColumnUnit::Count);

/// Of broadcast signals: on average, and of the signal with the most.
const RECIPIENTS: [Column; 2] = [
    Column::number("recipients", ColumnUnit::Mean),
    Column::number("peak recipients", ColumnUnit::Count),
];

/// Signals of services reach up to this number of recipients without being worth a look.
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

/// How many, where none is nothing to look at.
const fn counted(count: u64) -> Cell {
    if count == 0 { Cell::Absent } else { Cell::Count(count) }
}

/// How long, where no time is nothing to look at.
const fn nanos(nanos: u64) -> Cell {
    if nanos == 0 { Cell::Absent } else { Cell::nanos(nanos) }
}
