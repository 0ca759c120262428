//! The number of context switches of processes for each call.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use wire::message::MessageType;

use super::UnknownReason;
use crate::model::{Capture, CapturedMessage, RecordedPeerId};
use crate::record::{BusId, Fact, ProcessorUse};
use crate::table::{Cell, Column, ColumnUnit, DataTable};

/// Creates a table of how often each observed process got a processor, the most frequent first. A
/// call counts for its caller, for its callee, and for the bus.
///
/// # Errors
///
/// If the recording observed no process.
pub fn switches<'c>(
    capture: &'c Capture,
    mut selects: impl FnMut(&CapturedMessage<'c>) -> bool,
) -> Result<DataTable, UnknownReason> {
    let mut sums: BTreeMap<u32, SwitchSum> = BTreeMap::new();
    for (_, bus, fact) in capture.facts() {
        match fact {
            Fact::Ran(ran) => sums.entry(ran.pid).or_default().add(ran),
            Fact::Bus { process } => {
                if let Some(pid) = process.pid {
                    sums.entry(pid).or_default().bus = Some(*bus);
                }
            }
            _ => {}
        }
    }
    sums.retain(|_, sum| sum.watched_ns > 0);
    for call in capture.messages().filter(|it| it.kind() == MessageType::MethodCall && selects(it))
    {
        let ends = [call.from(), call.partner().and_then(|reply| reply.from())];
        for pid in ends.into_iter().flatten().filter_map(|peer| pid_of(capture, peer)) {
            sums.entry(pid).and_modify(|sum| sum.calls += 1);
        }
        let buses = sums.values_mut().filter(|sum| sum.bus == Some(call.bus()));
        buses.for_each(|sum| sum.calls += 1);
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(pid, sum)| (Reverse(sum.resumed), *pid));
    if sums.is_empty() { Err(UnknownReason::Switches) } else { Ok(table(capture, &sums)) }
}

/// The totals of one observed process.
#[derive(Debug, Default)]
struct SwitchSum {
    bus: Option<BusId>,
    calls: u64,
    resumed: u64,
    preempted: u64,
    held_up_ns: u64,
    on_ns: u64,
    watched_ns: u64,
    lost: u64,
    /// The largest value of any observed period.
    unfollowed: u64,
}

impl SwitchSum {
    fn add(&mut self, ran: &ProcessorUse) {
        self.resumed += ran.resumed;
        self.preempted += ran.preempted;
        self.held_up_ns = self.held_up_ns.saturating_add(ran.held_up_ns);
        self.on_ns += ran.spans.iter().map(|(_, length)| length).sum::<u64>();
        let watched = ran.until.since(ran.from).unwrap_or_default();
        self.watched_ns += u64::try_from(watched.as_nanos()).unwrap_or(0);
        self.lost += ran.lost;
        self.unfollowed = self.unfollowed.max(ran.unfollowed);
    }
}

fn table(capture: &Capture, sums: &[(u32, SwitchSum)]) -> DataTable {
    let mut table = DataTable::new([
        Column::text("process"),
        Column::number("calls", ColumnUnit::Count),
        Column::number("switches", ColumnUnit::Count),
        Column::number("per 100 calls", ColumnUnit::Count),
        Column::number("on processor", ColumnUnit::Time),
        Column::number("share", ColumnUnit::Share),
        Column::number("preempted", ColumnUnit::Count),
        Column::number("held up", ColumnUnit::Time),
        Column::number("lost", ColumnUnit::Count),
        Column::number("threads unfollowed", ColumnUnit::Count),
    ]);
    for (pid, sum) in sums {
        let per_100 = (sum.resumed * 100).checked_div(sum.calls);
        table.push([
            Cell::Text(label(capture, *pid, sum)),
            Cell::Count(sum.calls),
            Cell::Count(sum.resumed),
            per_100.map_or(Cell::Absent, Cell::Count),
            Cell::Time(Duration::from_nanos(sum.on_ns)),
            Cell::share(sum.on_ns, sum.watched_ns),
            Cell::Count(sum.preempted),
            Cell::Time(Duration::from_nanos(sum.held_up_ns)),
            Cell::Count(sum.lost),
            Cell::Count(sum.unfollowed),
        ]);
    }
    table
}

fn label(capture: &Capture, pid: u32, sum: &SwitchSum) -> String {
    if sum.bus.is_some() {
        return format!("the bus [{pid}]");
    }
    let peer = capture.directory().peers().find(|(id, _)| pid_of(capture, *id) == Some(pid));
    let label = peer.map(|(id, _)| capture.program_label(id));
    format!("{} [{pid}]", label.unwrap_or("a process"))
}

fn pid_of(capture: &Capture, peer: RecordedPeerId) -> Option<u32> {
    capture.directory().peer(peer).process.as_ref()?.pid
}
