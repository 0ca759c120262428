//! The times when processes had a processor, if recorded.

use std::collections::HashMap;
use std::time::Duration;

use foldhash::fast::RandomState;

use crate::model::{Capture, CapturedMessage, RecordedPeerId};
use crate::percentiles::cells;
use crate::record::{Fact, ProcessorUse, RecordedTime, nanos};
use crate::table::{Cell, Column, ColumnUnit, DataTable};

/// The times when processes had a processor, as reported by the kernel.
#[derive(Debug, Default)]
pub struct ProcessorRecord {
    by_pid: HashMap<u32, ProcessorHistory, RandomState>,
}

/// The times when one process was observed, and when it had a processor.
#[derive(Debug, Default)]
struct ProcessorHistory {
    /// Periods of observation, ascending and disjoint.
    watched: Vec<(RecordedTime, RecordedTime)>,
    /// Periods with a processor, ascending; each with the total length of the previous ones.
    spans: Vec<(RecordedTime, RecordedTime, Duration)>,
}

/// The processor time of a party while another one waited for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProcessorTurn {
    /// The time from when the process had work until it got a processor.
    pub wake_up: Duration,
    /// The time that it had a processor.
    pub on: Duration,
    /// The time that it had no processor after it was woken.
    pub off: Duration,
}

impl ProcessorRecord {
    /// Collects the processor times of a recording. Most recordings have none.
    pub fn of(capture: &Capture) -> Self {
        let mut all = Self::default();
        for (_, _, fact) in capture.facts() {
            if let Fact::Ran(ran) = fact {
                all.by_pid.entry(ran.pid).or_default().add(ran);
            }
        }
        all
    }

    /// Returns true if no processor times are known.
    pub fn is_empty(&self) -> bool {
        self.by_pid.is_empty()
    }

    /// The times when each observed process had a processor: process by process, each in
    /// chronological order.
    pub fn spans(&self) -> impl Iterator<Item = (u32, RecordedTime, RecordedTime)> {
        self.by_pid.iter().flat_map(|(&pid, history)| {
            history.spans.iter().map(move |&(from, to, _)| (pid, from, to))
        })
    }

    /// The processor time of the process of a connection between two points in time; `None` if it
    /// was not observed all the time.
    pub fn turn(
        &self,
        capture: &Capture,
        peer: RecordedPeerId,
        from: RecordedTime,
        to: RecordedTime,
    ) -> Option<ProcessorTurn> {
        let pid = capture.directory().peer(peer).process.as_ref()?.pid?;
        self.by_pid.get(&pid)?.turn(from, to)
    }

    /// The processor time of the service from receiving a call until it sent the reply, without the
    /// time that the reply waited for the bus. `None` if the times are not from the bus, because a
    /// monitor may read a call after it has woken the service.
    pub fn service(&self, call: &CapturedMessage<'_>) -> Option<ProcessorTurn> {
        let reply = call.partner()?;
        let from = routed(call)?.min(reply.at());
        let sent = reply.at().before(self.reply_wait(call, from));
        self.turn(call.capture(), reply.from()?, from, sent)
    }

    /// The minimum time that a reply waited until the bus received it: since the service, which had
    /// the call since `from`, last had a processor. Zero if it is unknown.
    pub(super) fn reply_wait(&self, call: &CapturedMessage<'_>, from: RecordedTime) -> Duration {
        let wait = || {
            let reply = call.partner()?;
            let process = call.capture().directory().peer(reply.from()?).process.as_ref()?;
            self.by_pid.get(&process.pid?)?.idle_before(from, reply.at())
        };
        wait().unwrap_or_default()
    }

    /// The time from when the caller could read the reply until it got a processor. `None` if the
    /// times are not from the bus.
    pub fn return_wake_up(&self, call: &CapturedMessage<'_>) -> Option<Duration> {
        let pid = call.capture().directory().peer(call.from()?).process.as_ref()?.pid?;
        self.by_pid.get(&pid)?.wake_up(routed(&call.partner()?)?)
    }
}

/// Returns the pids of the buses and of all connections, each with the connection that represents
/// it: the first one, or the connection of the bus.
pub fn processes(capture: &Capture) -> HashMap<u32, RecordedPeerId> {
    let of_peers = capture.directory().peers();
    let of_peers = of_peers.filter_map(|(id, peer)| Some((peer.process.as_ref()?.pid?, id)));
    let of_buses = capture.facts().iter().filter_map(|(_, bus, fact)| match fact {
        Fact::Bus { process } => {
            Some((process.pid?, capture.directory().by_unique(*bus, capture.driver())?))
        }
        _ => None,
    });
    let all: Vec<_> = of_buses.chain(of_peers).collect();
    all.into_iter().rev().collect()
}

/// The time when the bus began to send a message, if the bus recorded itself. The recipient may
/// run, and even be done, before the bus records that it has sent the message.
fn routed(message: &CapturedMessage<'_>) -> Option<RecordedTime> {
    Some(message.at().after(message.routed_after()?))
}

impl ProcessorHistory {
    fn add(&mut self, ran: &ProcessorUse) {
        // Lost records, and runs of other threads, may be anywhere in the period.
        if ran.lost == 0 && ran.unfollowed == 0 {
            match self.watched.last_mut() {
                Some((_, end)) if *end == ran.from => *end = ran.until,
                _ => self.watched.push((ran.from, ran.until)),
            }
        }
        for &(after, length) in &ran.spans {
            let from = ran.from.after(Duration::from_nanos(after));
            self.add_span(from, from.after(Duration::from_nanos(length)));
        }
    }

    fn add_span(&mut self, from: RecordedTime, to: RecordedTime) {
        match self.spans.last_mut() {
            // A run continues from one period into the next.
            Some((_, end, _)) if *end >= from => *end = (*end).max(to),
            Some(&mut (start, end, before)) => {
                let all = before + end.since(start).unwrap_or_default();
                self.spans.push((from, to, all));
            }
            None => self.spans.push((from, to, Duration::ZERO)),
        }
    }

    fn turn(&self, from: RecordedTime, to: RecordedTime) -> Option<ProcessorTurn> {
        if !self.watched.iter().any(|(start, end)| *start <= from && to <= *end) {
            return None;
        }
        let all = to.since(from)?;
        let wake_up = self.wake_up(from)?.min(all);
        let on = self.had_until(to).saturating_sub(self.had_until(from));
        Some(ProcessorTurn { wake_up, on, off: all.saturating_sub(wake_up + on) })
    }

    /// The time without a processor before `to`; `None` if the process was not observed since
    /// `from`, or had no processor since then.
    fn idle_before(&self, from: RecordedTime, to: RecordedTime) -> Option<Duration> {
        if !self.watched.iter().any(|(start, end)| *start <= from && to <= *end) {
            return None;
        }
        let next = self.spans.partition_point(|(start, ..)| *start < to);
        let (_, end, _) = self.spans[next.checked_sub(1)?];
        if end <= from { None } else { Some(to.since(end).unwrap_or_default()) }
    }

    /// The time from `at` until the process next had a processor.
    fn wake_up(&self, at: RecordedTime) -> Option<Duration> {
        let next = self.spans.partition_point(|(_, end, _)| *end <= at);
        let (start, ..) = self.spans.get(next)?;
        let is_watched =
            |(from, until): &&(RecordedTime, RecordedTime)| *from <= at && *start <= *until;
        self.watched.iter().find(is_watched)?;
        Some(start.since(at).unwrap_or_default())
    }

    /// The total time with a processor until `at`, since the start of the observation.
    fn had_until(&self, at: RecordedTime) -> Duration {
        let next = self.spans.partition_point(|(start, ..)| *start <= at);
        let Some((start, end, before)) = next.checked_sub(1).map(|last| self.spans[last]) else {
            return Duration::ZERO;
        };
        before + end.min(at).since(start).unwrap_or_default()
    }
}

/// Creates a table of the processor times of the parties to calls with replies; `None` if the
/// recording lacks processor times.
pub fn parties<'c>(
    capture: &'c Capture,
    mut selects: impl FnMut(&CapturedMessage<'c>) -> bool,
) -> Option<DataTable> {
    let processors = ProcessorRecord::of(capture);
    if processors.is_empty() {
        return None;
    }
    let mut parts = PARTS.map(|_| Vec::new());
    for call in capture.messages().filter(|it| it.expects_reply() && selects(it)) {
        if let Some(turn) = processors.service(&call) {
            let times = [turn.wake_up, turn.on, turn.off];
            parts.iter_mut().zip(times).for_each(|(part, time)| part.push(nanos(time)));
        }
        parts[CALLER].extend(processors.return_wake_up(&call).map(nanos));
    }
    let mut table = DataTable::new(columns());
    for (name, times) in PARTS.into_iter().zip(&mut parts) {
        let row = [Cell::text(name), Cell::Count(times.len() as u64)];
        table.push(row.into_iter().chain(cells(
            times,
            [|times| times.p50, |times| times.p99, |times| times.max, |times| times.total],
        )));
    }
    Some(table)
}

fn columns() -> [Column; 6] {
    [
        Column::text("part"),
        Column::number("calls", ColumnUnit::Count),
        Column::number("p50", ColumnUnit::Time),
        Column::number("p99", ColumnUnit::Time),
        Column::number("max", ColumnUnit::Time),
        Column::number("total", ColumnUnit::Time),
    ]
}

/// The rows of the table, in chronological order.
const PARTS: [&str; 4] = [
    "service is woken",
    "service has a processor",
    "service waits or has no processor",
    "caller is woken for the reply",
];

/// The index of the caller's row.
const CALLER: usize = 3;
