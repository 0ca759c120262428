//! The way of a call through the bus and back, as the bus has stamped it.

use std::time::Duration;

use super::ProcessorRecord;
use super::bus_time::held_for_start;
use crate::model::{Capture, CapturedMessage};
use crate::percentiles::cells;
use crate::record::nanos;
use crate::table::{Cell, Column, ColumnUnit, DataTable};

worded_enum! {
    /// A part of the way of a call.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    pub enum CallPhase {
        /// The bus holds the call until a service that is being started owns the name.
        Start = "start",
        /// The bus has received the call, and finds out who gets it.
        RouteCall = "route call",
        /// The call waits for the service to take it, and is copied.
        SendCall = "send call",
        /// The service has the call, until the bus receives its reply.
        Service = "service",
        /// The reply waits in a socket until the bus receives it: the bus is busy, or has no processor. It is
        /// a part of [`Service`](Self::Service) unless it is known when the service had a processor.
        AwaitBus = "bus wait",
        /// The bus finds out who gets the reply.
        RouteReply = "route reply",
        /// The reply waits for the caller to take it, and is copied.
        SendReply = "send reply",
    }
}

impl CallPhase {
    /// Whether it is shown only where it took time, since most recordings have nothing of it.
    pub const fn is_rare(self) -> bool {
        matches!(self, Self::Start | Self::AwaitBus)
    }
}

/// How long each part of the way of a call took. How long the call waited in the socket of the
/// caller before the bus received it is known to nobody.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallTimes {
    phases: [Duration; CallPhase::ALL.len()],
}

impl CallTimes {
    /// The way of an answered call; `None` if the bus has not recorded all of it. With `processors` the
    /// time that the reply waited for the bus is separate from the time of the service.
    pub fn of(call: &CapturedMessage<'_>, processors: &ProcessorRecord) -> Option<Self> {
        let reply = call.partner()?;
        let (call_routed, call_sent) = stamps(call)?;
        let (reply_routed, reply_sent) = stamps(&reply)?;
        let answered = reply.at().since(call.at())?;
        // The bus may have the reply before it gets to note that the call had left.
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

    /// How long a part took.
    pub const fn time(&self, phase: CallPhase) -> Duration {
        self.phases[phase as usize]
    }

    /// From when the bus received the call until it had written the reply: the
    /// [duration](CapturedMessage::duration) of the call.
    pub fn total(&self) -> Duration {
        self.phases.iter().sum()
    }

    /// What of it was the bus.
    pub fn in_bus(&self) -> Duration {
        self.total().saturating_sub(self.time(CallPhase::Start) + self.time(CallPhase::Service))
    }

    /// From when the bus received the call until it had left it.
    pub fn delivered(&self) -> Duration {
        self.time(CallPhase::Start)
            + self.time(CallPhase::RouteCall)
            + self.time(CallPhase::SendCall)
    }
}

/// When a message was routed, and when the copy for whom it is addressed to had left.
fn stamps(message: &CapturedMessage<'_>) -> Option<(Duration, Duration)> {
    let routed = message.routed_after()?;
    let addressed = message.deliveries()?.iter().find(|delivery| delivery.rules == 0);
    match addressed {
        Some(delivery) => Some((routed, delivery.written_after?.max(routed))),
        // The bus takes what is for itself.
        None if message.destination_id() == message.capture().driver() => Some((routed, routed)),
        None => None,
    }
}

/// What part of the time of calls each part of their way is, by the size of call and reply together.
/// `None` if the bus has recorded no call whole.
pub fn shares<'c>(
    capture: &'c Capture,
    mut selects: impl FnMut(&CapturedMessage<'c>) -> bool,
) -> Option<DataTable> {
    let processors = ProcessorRecord::of(capture);
    let mut sums = SIZES.map(|_| CallTimeSum::default());
    let mut all = CallTimeSum::default();
    for call in capture.messages().filter(|call| selects(call)) {
        let way = call.expects_reply().then(|| CallTimes::of(&call, &processors)).flatten();
        let Some(way) = way else { continue };
        let size = u64::from(call.len()) + call.partner().map_or(0, |reply| reply.len().into());
        sums[size_class(size)].add(&way);
        all.add(&way);
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
    fn add(&mut self, way: &CallTimes) {
        self.totals.push(nanos(way.total()));
        for (sum, &time) in self.phases.iter_mut().zip(&way.phases) {
            *sum += nanos(time);
        }
    }

    /// The phases that a table shows: all but rare ones that took no time.
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

/// The place in [`SIZES`] of a size in bytes.
pub(super) fn size_class(size: u64) -> usize {
    SIZES.iter().position(|(max, _)| size <= *max).unwrap_or(SIZES.len() - 1)
}

/// Classes of sizes: the most bytes, and what they are called.
pub(super) const SIZES: [(u64, &str); 4] = [
    (1 << 10, "up to 1 KiB"),
    (16 << 10, "up to 16 KiB"),
    (256 << 10, "up to 256 KiB"),
    (u64::MAX, "more"),
];
