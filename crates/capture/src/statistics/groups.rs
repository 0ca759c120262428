//! Traffic and durations of groups of messages.

use std::collections::HashMap;
use std::time::Duration;

use foldhash::fast::RandomState;
use wire::message::MessageType;

use super::key::{By, Key, Names};
use crate::model::{CallOutcome, Capture, Message};
use crate::percentiles::{Percentiles, cells};
use crate::recipients::{Recipients, Unknowable, is_broadcast};
use crate::record::{BusId, TimeSpan};
use crate::table::{Cell, Column, Table, Unit};

/// Messages by what they have in common.
#[derive(Debug)]
pub struct Groups<'c> {
    by: By,
    names: Names<'c>,
    places: HashMap<(BusId, Key), u32, RandomState>,
    groups: Vec<(BusId, Key, Group)>,
    span: TimeSpan,
    /// Recipients of broadcast signals, or why they are unknown; `None` if they are not counted.
    recipients: Option<Result<Recipients, Unknowable>>,
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
    /// Recipients of its broadcast signals.
    audience: Audience,
}

/// The recipients of broadcast signals, of those signals whose recipients are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Audience {
    signals: u64,
    /// Of all these signals together.
    recipients: u64,
    /// Of the signal with the most recipients.
    peak: u64,
}

impl Audience {
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

impl Group {
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

impl<'c> Groups<'c> {
    /// No messages yet.
    pub fn new(capture: &'c Capture, by: By) -> Self {
        Self {
            by,
            names: Names::new(capture),
            places: HashMap::default(),
            groups: Vec::new(),
            span: TimeSpan::default(),
            recipients: None,
        }
    }

    /// No messages yet; counts how many recipients broadcast signals have, if the recording shows it.
    pub fn with_recipients(capture: &'c Capture, by: By) -> Self {
        Self { recipients: Some(Recipients::find(capture)), ..Self::new(capture, by) }
    }

    /// Why recipients of broadcast signals in these groups were not counted; `None` if they were, or if
    /// there are no such signals.
    pub fn unknown_recipients(&self) -> Option<Unknowable> {
        let has_signals = self.groups().any(|group| group.signals > 0);
        let reason = self.recipients.as_ref()?.as_ref().err()?;
        has_signals.then_some(*reason)
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
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().map(|(_, _, group)| group)
    }

    /// All that is known of each group, those with most messages first.
    pub fn table(&self) -> Table {
        let view = match self.recipients {
            Some(_) => View::EverythingWithRecipients,
            None => View::Everything,
        };
        self.rows(view, |group| group.messages)
    }

    /// The groups that have a signal with more than three recipients, the one with most
    /// recipients first; `None` if recipients are not known.
    pub fn most_recipients(&self) -> Option<Table> {
        let is_known = matches!(self.recipients, Some(Ok(_)));
        is_known.then(|| self.rows(View::Recipients, |group| group.audience.peak))
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

    fn cells(self, group: &Group, messages: u64, span: Duration) -> Vec<Cell> {
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

const CALLS: Column = Column::number("calls", Unit::Count);

/// How long callers waited in all calls, whatever came of them: the order of the table.
const WAITED: Column = Column::number("waited", Unit::Time);

const TRAFFIC: &[Column] = &[
    Column::number("messages", Unit::Count),
    Column::number("share", Unit::Share).helpful(),
    Column::number("rate", Unit::Rate).helpful(),
    Column::number("bytes", Unit::Bytes).helpful(),
    CALLS.spare(),
    SIGNALS.spare(),
];

/// The traffic beside much else: names are worth more room than what follows from other columns.
fn spared_traffic() -> Vec<Column> {
    let is_derived = |column: &Column| column.unit == Unit::Share;
    TRAFFIC.iter().map(|it| if is_derived(it) { it.spare() } else { *it }).collect()
}

const SIGNALS: Column = Column::number("signals", Unit::Count);

/// Of broadcast signals: on average, and of the signal with the most.
const RECIPIENTS: [Column; 2] =
    [Column::number("recipients", Unit::Mean), Column::number("peak recipients", Unit::Count)];

/// Signals of services reach up to this number of recipients without being worth a look.
const RECIPIENTS_USUAL: u64 = 3;

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
