//! The phases of a call through the bus and back, as the bus measured them.

use std::time::Duration;

use super::ProcessorRecord;
use super::bus_time::held_for_start;
use crate::model::{Capture, CapturedMessage};
use crate::percentiles::cells;
use crate::record::nanos;
use crate::table::{Cell, Column, ColumnUnit, DataTable};

worded_enum! {
    /// A phase of a call and its reply.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    pub enum CallPhase {
        /// The bus holds the call until a service that is being started owns the name.
        Start = "start",
        /// The bus has received the call and is finding the recipient.
        RouteCall = "route call",
        /// The call is copied, and waits until the service reads it.
        SendCall = "send call",
        /// The service has the call, until the bus receives its reply.
        Service = "service",
        /// The reply waits in a socket until the bus receives it, because the bus is busy or has no
        /// processor. This is a part of [`Service`](Self::Service) unless the times are known when
        /// the service had a processor.
        AwaitBus = "bus wait",
        /// The bus is finding the recipient of the reply.
        RouteReply = "route reply",
        /// The reply is copied, and waits until the caller reads it.
        SendReply = "send reply",
    }
}

impl CallPhase {
    /// Returns true if the phase is only shown when it took time, because most recordings do not
    /// have it.
    pub const fn is_rare(self) -> bool {
        matches!(self, Self::Start | Self::AwaitBus)
    }
}

/// The durations of the phases of a call. The time that the call waited in the socket of the caller
/// is unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallTimes {
    phases: [Duration; CallPhase::ALL.len()],
}

impl CallTimes {
    /// Returns the phases of a call with a reply; `None` if the bus did not record all of them.
    /// With `processors`, the time that the reply waited for the bus is separate from the time of
    /// the service.
    pub fn of(call: &CapturedMessage<'_>, processors: &ProcessorRecord) -> Option<Self> {
        let reply = call.partner()?;
        let (call_routed, call_sent) = stamps(call)?;
        let (reply_routed, reply_sent) = stamps(&reply)?;
        let answered = reply.at().since(call.at())?;
        // The bus may receive the reply before it records that it has sent the call.
        let call_sent = call_sent.min(answered);
        let call_routed = call_routed.min(call_sent);
        let started = held_for_start(call).min(call_routed);
        let service = answered - call_sent;
        let waited = processors.reply_wait(call, call.at().after(call_sent)).min(service);
        Some(Self {
            phases: [
                started,
                call_routed - started,
                call_sent - call_routed,
                service - waited,
                waited,
                reply_routed,
                reply_sent.saturating_sub(reply_routed),
            ],
        })
    }

    /// The duration of a phase.
    pub const fn time(&self, phase: CallPhase) -> Duration {
        self.phases[phase as usize]
    }

    /// The time from when the bus received the call until it had written the reply: the
    /// [duration](CapturedMessage::duration) of the call.
    pub fn total(&self) -> Duration {
        self.phases.iter().sum()
    }

    /// The part of the total that was spent inside the bus.
    pub fn in_bus(&self) -> Duration {
        self.total().saturating_sub(self.time(CallPhase::Start) + self.time(CallPhase::Service))
    }

    /// The time from when the bus received the call until it had written it.
    pub fn delivered(&self) -> Duration {
        self.time(CallPhase::Start)
            + self.time(CallPhase::RouteCall)
            + self.time(CallPhase::SendCall)
    }
}

/// The time when a message was routed, and when the copy for its destination was written.
fn stamps(message: &CapturedMessage<'_>) -> Option<(Duration, Duration)> {
    let routed = message.routed_after()?;
    let addressed = message.deliveries()?.iter().find(|delivery| delivery.rules == 0);
    match addressed {
        Some(delivery) => Some((routed, delivery.written_after?.max(routed))),
        // Messages to the bus itself are not written to a socket.
        None if message.destination_id() == message.capture().driver() => Some((routed, routed)),
        None => None,
    }
}

/// Computes the share of each phase in the time of calls, by the total size of call and reply.
/// `None` if the bus recorded no call completely.
pub fn shares<'c>(
    capture: &'c Capture,
    mut selects: impl FnMut(&CapturedMessage<'c>) -> bool,
) -> Option<DataTable> {
    let processors = ProcessorRecord::of(capture);
    let mut sums = SIZES.map(|_| CallTimeSum::default());
    let mut all = CallTimeSum::default();
    for call in capture.messages().filter(|call| selects(call)) {
        let times = call.expects_reply().then(|| CallTimes::of(&call, &processors)).flatten();
        let Some(times) = times else { continue };
        let size = u64::from(call.len()) + call.partner().map_or(0, |reply| reply.len().into());
        sums[size_class(size)].add(&times);
        all.add(&times);
    }
    let shown = all.shown();
    let mut table = DataTable::new(columns(&shown));
    for ((_, label), sum) in SIZES.iter().zip(&mut sums).filter(|(_, sum)| !sum.totals.is_empty()) {
        table.push(sum.cells(label, &shown));
    }
    (!all.totals.is_empty()).then(|| {
        table.push(all.cells("all", &shown));
        table
    })
}

fn columns(shown: &[CallPhase]) -> Vec<Column> {
    let start = [
        Column::text("size"),
        Column::number("calls", ColumnUnit::Count).helpful(),
        Column::number("p50", ColumnUnit::Time).helpful(),
        Column::number("p99", ColumnUnit::Time).spare(),
    ];
    let phases = shown.iter().map(|phase| {
        let column = Column::number(phase.as_str(), ColumnUnit::Share);
        if *phase == CallPhase::RouteReply { column.helpful() } else { column }
    });
    start.into_iter().chain(phases).collect()
}

#[derive(Clone, Default)]
struct CallTimeSum {
    totals: Vec<u64>,
    phases: [u64; CallPhase::ALL.len()],
}

impl CallTimeSum {
    fn add(&mut self, times: &CallTimes) {
        self.totals.push(nanos(times.total()));
        for (sum, &time) in self.phases.iter_mut().zip(&times.phases) {
            *sum += nanos(time);
        }
    }

    /// The phases that a table shows: all except rare ones that took no time.
    fn shown(&self) -> Vec<CallPhase> {
        let is_shown = |phase: &CallPhase| !phase.is_rare() || self.phases[*phase as usize] > 0;
        CallPhase::ALL.into_iter().filter(is_shown).collect()
    }

    fn cells(&mut self, label: &str, shown: &[CallPhase]) -> Vec<Cell> {
        let whole = self.phases.iter().sum();
        let [p50, p99] = cells(&mut self.totals, [|times| times.p50, |times| times.p99]);
        let start = [Cell::text(label), Cell::Count(self.totals.len() as u64), p50, p99];
        let parts = shown.iter().map(|&phase| Cell::share(self.phases[phase as usize], whole));
        start.into_iter().chain(parts).collect()
    }
}

/// The index in [`SIZES`] of a size in bytes.
pub(super) fn size_class(size: u64) -> usize {
    SIZES.iter().position(|(max, _)| size <= *max).unwrap_or(SIZES.len() - 1)
}

/// The size classes: the largest size in bytes, and the label.
pub(super) const SIZES: [(u64, &str); 4] = [
    (1 << 10, "up to 1 KiB"),
    (16 << 10, "up to 16 KiB"),
    (256 << 10, "up to 256 KiB"),
    (u64::MAX, "more"),
];
